//! Calls of what nobody knows.
//!
//! What a call does and gives depends on who is called, on the arguments, on the calls before it, and on memory. The
//! first three are one number, the *trace*, by functions that a solver may choose: equal calls in equal order have
//! equal traces, and whatever holds for all such functions holds for those that tell all calls apart. That both versions show
//! a callee the same memory is claimed apart, for each two calls with equal traces. Behind a call memory holds anything, if
//! it may write; and unless it is said to return, it may not.

use super::{Event, Local, Side, Terms, Value, width};
use crate::llvm::body::{Instruction, Operand, Shape};
use crate::llvm::effects;
use crate::llvm::types::Type;
use crate::verify::smt::{self, Expr, Sort};
use rewright_cfg_skeleton::ir::OpaqueEffects;

/// Calls of a version: each is compared with each of the other one's.
const MOST: usize = 24;

/// Is it an intrinsic that only computes? Which of these are known is said where they are computed.
pub(super) fn is_arithmetic(callee: Option<&str>) -> bool {
    const OTHERS: [&str; 6] = ["mem", "lifetime.", "va_", "stack", "trap", "objectsize"];
    let intrinsic = callee.and_then(|name| name.strip_prefix("@llvm."));
    intrinsic.is_some_and(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
}

impl<'a> Side<'a> {
    pub(super) fn call(&mut self, i: &'a Instruction, callee: Option<&str>, args: &[Operand], at: usize) -> Terms<()> {
        let callee = callee.ok_or("it calls what a pointer says")?;
        self.assumed.insert("what calls do");
        let effects = effects::of(self.file, i);
        let (mut told, mut signature) = (vec![], String::new());
        let pure = matches!(effects, OpaqueEffects::Pure | OpaqueEffects::Pinned);
        if !pure {
            told.push(self.trace);
        }
        for arg in args {
            let Value { bits, poison } = self.operand(arg)?;
            told.extend([bits, poison]);
            signature += &format!(" {}", bits.width());
        }
        let time = self.s.unknown(&format!("{callee}{signature}{}", told.len()), &told, Sort::Bits(64));
        if !pure {
            if self.events.len() == MOST {
                return Err("it has too many calls".into());
            }
            let reached = self.reached[at];
            self.events.push(Event { reached, trace: time, memory: self.memory, doubt: self.doubt });
            self.trace = self.s.choose(reached, time, self.trace);
            let says = |word: &str| {
                let attributes = effects::attributes(self.file, Some(callee), own_attributes(i));
                attributes.iter().flatten().any(|a| a == word)
            };
            let ends = says("noreturn");
            if !(says("willreturn") && says("nounwind")) {
                let returns = if ends { Expr::FALSE } else { self.s.unknown("returns", &[time], Sort::Bool) };
                self.reached[at] = self.s.and(&[reached, returns]);
            }
            if effects == OpaqueEffects::Writes {
                let doubtful = self.s.unknown("time of poison", &[time], Sort::Bits(64));
                self.memory = smt::given(self.s, self.memory, reached, time);
                self.doubt = smt::given(self.s, self.doubt, reached, doubtful);
            }
        }
        if i.ty != Type::Void {
            let bits = width(&i.ty)?;
            let value = self.s.unknown(&format!("result of {bits}"), &[time], Sort::Bits(bits));
            let poison = self.s.unknown("result is poison", &[time], Sort::Bool);
            self.define(i, Local::Fixed(Value { bits: value, poison }));
        }
        Ok(())
    }
}

fn own_attributes(i: &Instruction) -> &[String] {
    match &i.shape {
        Shape::Call { attributes, .. } => attributes,
        _ => &[],
    }
}
