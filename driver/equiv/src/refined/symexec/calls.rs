//! Calls of what nobody knows.
//!
//! What a call does and gives depends on who is called, on the arguments, on the calls before it, and on memory. The
//! first three are one number, the *trace*, by functions that a solver may choose: equal calls in equal order have
//! equal traces, and whatever holds for all such functions holds for those that tell all calls apart. That both
//! versions show a callee the same memory is claimed apart, for each two calls with equal traces. Behind a call memory
//! holds anything, if it may write; and it may not return: where it is said to return, or not to, it is undefined
//! otherwise.

use super::super::super::annotations::{has, number};
use super::super::facts;
use super::annotated::Said;
use super::super::meaning::width;
use super::{Access, Event, Leaf, Local, Memory, SymbolicExecutor, Terms, Value};
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::effects;
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Address, Expr, Sort};

/// Calls of a version: each is compared with each of the other one's.
const MOST: usize = 24;

/// Is it an intrinsic that only computes? Which of these are known is said where they are computed.
pub(in super::super) fn is_arithmetic(callee: Option<&str>) -> bool {
    const OTHERS: [&str; 6] = ["mem", "lifetime.", "va_", "stack", "trap", "objectsize"];
    let intrinsic = callee.and_then(|name| name.strip_prefix("@llvm."));
    intrinsic.is_some_and(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
}

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn call(&mut self, i: &'a Instruction, callee: Option<&str>, args: &[Operand], at: usize) -> Terms<()> {
        let callee = callee.ok_or("it calls what a pointer says")?;
        if callee.starts_with("@llvm.lifetime.") && self.choosing.is_first() && !self.keys.has_lifetimes() {
            // An access that it makes undefined is no harm to ignore here.
            return Ok(());
        }
        self.assumed.insert("what calls do");
        let effects = effects::of(self.file(), i);
        let said = Said::new(self.version, i);
        if self.choosing.is_first() {
            self.promised(args, &said, at)?;
        }
        let key = self.keys.of(self.version, i)?;
        let (mut told, mut signature) = (vec![], String::new());
        let pure = matches!(effects, OpaqueEffects::Pure | OpaqueEffects::Pinned);
        if !pure {
            told.push(self.trace);
        }
        for arg in args {
            for Value { bits, poison, origin } in self.samples(arg, "passed")?.concat() {
                told.extend([bits, poison]);
                told.extend(origin);
            }
            signature += &format!(" {}", arg.ty);
        }
        let time = self.s.unknown(&format!("{callee}{signature} {}{key}", told.len()), &told, Sort::Bits(64));
        if effects != OpaqueEffects::Pure {
            let undefined = self.s.unknown("a call is undefined", &[time], Sort::Bool);
            self.undefined(at, undefined);
        }
        if !pure {
            self.happens(i, callee, effects, time, at)?;
        }
        if i.ty != Type::Void {
            self.result(i, &said, time, at)?;
        }
        Ok(())
    }

    /// A call that somebody may notice.
    fn happens(&mut self, i: &Instruction, callee: &str, effects: OpaqueEffects, time: Expr, at: usize) -> Terms<()> {
        if self.events.len() == MOST {
            return Err("it has too many calls".into());
        }
        let reached = self.reached[at];
        // What is in memory then nobody sees any more.
        if callee != "@llvm.trap" {
            self.events.push(Event { reached, trace: time, memory: self.memory });
        }
        self.trace = self.s.choose(reached, time, self.trace);
        let attributes = effects::attributes(self.file(), Some(callee), own_attributes(i));
        let says = |word: &str| attributes.iter().flatten().any(|a| a == word);
        let returns = match callee {
            "@llvm.trap" => Expr::FALSE,
            _ => self.s.unknown("returns", &[time], Sort::Bool),
        };
        if says("noreturn") {
            self.undefined(at, returns);
            self.reached[at] = Expr::FALSE;
        } else if says("willreturn") && (says("nounwind") || has(&self.version.definition.attributes, "nounwind")) {
            let left = self.s.not(returns);
            self.undefined(at, left);
        } else {
            self.reached[at] = self.s.and(&[reached, returns]);
        }
        if effects == OpaqueEffects::Writes {
            if !(says("nofree") && says("nosync")) {
                self.epoch = self.s.choose(reached, time, self.epoch);
            }
            for n in 0..2 {
                let Memory { bits, poison_memory, origins } = self.memory[n];
                self.memory[n] = Memory {
                    bits: smt::given(self.s, bits, reached, time),
                    poison_memory: self.left_by("poison", poison_memory, reached, time),
                    origins: self.left_by("objects", origins, reached, time),
                };
            }
            self.mask = self.left_by("undef", self.mask, reached, time);
        }
        Ok(())
    }

    /// What others leave in a chain beside that of bytes.
    fn left_by(&mut self, what: &str, chain: Expr, reached: Expr, time: Expr) -> Expr {
        let time = self.s.unknown(&format!("time of {what}"), &[time], Sort::Bits(64));
        smt::given(self.s, chain, reached, time)
    }

    /// What the first version promises of arguments holds, or it is undefined. (The second one promises no more.)
    fn promised(&mut self, args: &[Operand], said: &Said, at: usize) -> Terms<()> {
        for (arg, said) in args.iter().zip(&said.arguments) {
            let defined = has(said, "noundef");
            let readable = number(said, "dereferenceable");
            // Of what has several lanes it is no harm to ignore that.
            if (!defined && readable.is_none()) || self.scalars(&arg.ty)?.len() != 1 {
                continue;
            }
            let Value { bits, poison, origin } = self.settled(arg, at)?;
            let broken = facts::broken(self.s, said, bits);
            let bad = self.s.or(&[poison, broken]);
            self.undefined(at, if defined { bad } else { poison });
            if let (Some(bytes), Some(origin)) = (readable, origin) {
                let (reached, epoch, promises) = (self.reached[at], self.epoch, vec![]);
                let place = Address::sum(self.s, &[bits]);
                let address = bits;
                self.accesses.push(Access { reached, address, place, origin, bytes, writes: false, epoch, promises });
            }
        }
        Ok(())
    }

    fn result(&mut self, i: &'a Instruction, said: &Said, time: Expr, at: usize) -> Terms<()> {
        let types = self.scalars(&i.ty)?;
        let mut lanes = vec![];
        for (n, ty) in types.iter().enumerate() {
            let which = if types.len() == 1 { String::new() } else { format!(" {n}") };
            lanes.push(self.result_lane(ty, &which, said, time, at)?);
        }
        self.undefined_matters = true;
        self.define(i, Local::of(lanes));
        Ok(())
    }

    fn result_lane(&mut self, ty: &Type, which: &str, said: &Said, time: Expr, at: usize) -> Terms<Leaf> {
        let bits = width(ty)?;
        let value = self.s.unknown(&format!("result{which} of {bits}"), &[time], Sort::Bits(bits));
        let mut poison = self.s.unknown(&format!("result{which} is poison"), &[time], Sort::Bool);
        let noundef = has(&said.result, "noundef");
        if self.choosing.is_first() {
            let broken = facts::broken(self.s, &said.result, value);
            poison = self.s.or(&[poison, broken]);
            if noundef {
                self.undefined(at, poison);
            }
        }
        let origin =
            (*ty == Type::Ptr).then(|| self.s.unknown(&format!("object of a result{which}"), &[time], Sort::Bits(64)));
        let value = Value { bits: value, poison, origin };
        let name = format!("undef bits of a result{which} of {bits}");
        let mask = self.given.undefined.then(|| self.s.unknown(&name, &[time], Sort::Bits(bits)));
        if let (Some(mask), true) = (mask, noundef && self.choosing.is_first()) {
            let some = self.s.nonzero(mask);
            self.undefined(at, some);
        }
        // Other lanes choose apart.
        let key = if which.is_empty() || mask.is_none() { time } else { value.bits };
        Ok(Leaf { value, mask, key, computed: false, place: None })
    }
}

fn own_attributes(i: &Instruction) -> &[String] {
    match &i.shape {
        Shape::Call { attributes, .. } => attributes,
        _ => &[],
    }
}
