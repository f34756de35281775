//! Calls of unknown functions.
//!
//! The behaviour and result of a call depend on the callee, on the arguments, on the calls before it, and on memory.
//! The first three are one number, the *trace*, by functions that a solver may choose: equal calls in equal order have
//! equal traces, and a claim that holds for all such functions holds for those that tell all calls apart. That both
//! versions show a callee the same memory is a claim of its own, for each two calls with equal traces: those have equal
//! names, and equally many calls before them. After a call memory holds anything, if the callee may write; and the
//! callee may not return. If it is said to return, or not to return, the call is undefined otherwise.

use super::super::super::annotations::{has, number};
use super::super::facts;
use super::super::meaning::width;
use super::super::tail_calls::is_tail;
use super::annotated::Said;
use super::{AccessKind, Event, Leaf, Local, Memory, SymbolicExecutor, Terms, Value, blocks};
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{Instruction, Operand, Shape, Template};
use rewright_llvm::effects;
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Expr, Sort};

/// Calls of a version: each is compared with each of the other one's.
const MOST: usize = 60;

/// Does an observable event return?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    Never,
    /// It is undefined where it does.
    Undefined,
    /// It is undefined where it does not.
    Surely,
    Perhaps,
}

/// An observable event.
pub(super) struct Noticed {
    pub(super) returns: Returns,
    /// Memory may be another one behind it.
    pub(super) writes: bool,
    /// Memory may not be there any more behind it.
    pub(super) frees: bool,
}

/// Is it an intrinsic that only computes? Which of these are known is said where they are computed.
pub(in super::super) fn is_arithmetic(callee: Option<&str>) -> bool {
    const OTHERS: [&str; 6] = ["mem", "lifetime.", "va_", "stack", "trap", "objectsize"];
    let intrinsic = callee.and_then(|name| name.strip_prefix("@llvm."));
    intrinsic.is_some_and(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
}

impl<'a> SymbolicExecutor<'a> {
    pub(super) fn call(&mut self, i: &'a Instruction, callee: Option<&str>, args: &[Operand], at: usize) -> Terms<()> {
        if callee.is_some_and(|callee| callee.starts_with("@llvm.lifetime."))
            && self.choosing.is_first()
            && !self.keys.has_lifetimes()
        {
            // An access that it makes undefined is no harm to ignore here.
            return Ok(());
        }
        if let Some(block) = blocks::of_known_length(i) {
            if is_tail(i) && !self.choosing.is_first() {
                return Err("`tail` at an intrinsic that may access what is on the stack".into());
            }
            return self.block_of_memory(block, at);
        }
        self.assumed.insert("what calls do");
        let effects = effects::of(self.file(), i);
        let said = Said::new(self.version, i);
        let counts = callee.is_some_and(|callee| self.keys.count_values(callee));
        if self.choosing.is_first() || counts {
            self.promised(args, &said, at)?;
        }
        let key = self.keys.of(self.version, i)?;
        let (mut told, mut signature) = (vec![], String::new());
        let pure = matches!(effects, OpaqueEffects::Pure | OpaqueEffects::Pinned);
        if !pure {
            told.push(self.past[at].trace);
        }
        let name = self.called(i, callee, at, &mut told)?;
        for (n, arg) in args.iter().enumerate() {
            let kept = said.arguments.get(n).filter(|_| counts);
            for Value { bits, mut poison, origin } in self.samples(arg, "passed")?.concat() {
                if let Some(said) = kept {
                    let broken = facts::broken(self.s, said, bits);
                    poison = self.s.or(&[poison, broken]);
                }
                told.extend([bits, poison]);
                told.extend(origin);
            }
            signature += &format!(" {}", arg.ty);
        }
        let name = format!("{name}{signature} {}{key}", told.len());
        let time = self.s.unknown(&name, &told, Sort::Bits(64));
        if effects != OpaqueEffects::Pure {
            let undefined = self.s.unknown("a call is undefined", &[time], Sort::Bool);
            self.undefined(at, undefined);
        }
        if !pure {
            let event = self.event_of(i, callee.unwrap_or_default(), effects);
            self.happens(event, (name, time), at)?;
        }
        match self.returned(i, args, &said)? {
            Some(same) => self.define(i, same),
            None if i.ty != Type::Void => self.result(i, &said, time, at, counts)?,
            None => {}
        }
        Ok(())
    }

    /// What a call gives that is said to give an argument, or is undefined.
    fn returned(&mut self, i: &Instruction, args: &[Operand], said: &Said) -> Terms<Option<Local>> {
        let found = args.iter().zip(&said.arguments).find(|(_, said)| has(said, "returned"));
        let Some((arg, _)) = found.filter(|(arg, _)| arg.ty == i.ty) else { return Ok(None) };
        if let Some(Local::Leaf(lanes)) = self.locals.get(arg.text.as_str()) {
            return Ok(Some(Local::Leaf(lanes.clone())));
        }
        if self.is_loose(arg) {
            return Ok(None);
        }
        Ok(Some(Local::Fixed(self.lanes(arg)?)))
    }

    /// How calls are named; `told` is what is called, if others are called by a pointer.
    fn called(&mut self, i: &Instruction, callee: Option<&str>, at: usize, told: &mut Vec<Expr>) -> Terms<String> {
        let by_address = self.keys.by_address() && callee.is_none_or(|callee| !callee.starts_with("@llvm."));
        let pointer = match callee {
            Some(callee) if !by_address => return Ok(callee.to_string()),
            Some(callee) => callee.to_string(),
            None => called_pointer(i).ok_or("it calls what is no pointer")?,
        };
        let Value { bits, poison, .. } = self.settled(&Operand { ty: Type::Ptr, text: pointer }, at)?;
        self.undefined(at, poison);
        if !self.null_is_valid() {
            let some = self.s.nonzero(bits);
            let null = self.s.not(some);
            self.undefined(at, null);
        }
        told.push(bits);
        Ok("what a pointer says".into())
    }

    /// What is noticed of a call.
    fn event_of(&self, i: &Instruction, callee: &str, effects: OpaqueEffects) -> Noticed {
        let attributes = effects::attributes(self.file(), Some(callee), own_attributes(i));
        let says = |word: &str| attributes.iter().flatten().any(|a| a == word);
        let no_unwinding = || says("nounwind") || has(&self.version.definition.attributes, "nounwind");
        Noticed {
            returns: match () {
                () if callee == "@llvm.trap" => Returns::Never,
                () if says("noreturn") => Returns::Undefined,
                () if says("willreturn") && no_unwinding() => Returns::Surely,
                () => Returns::Perhaps,
            },
            writes: effects == OpaqueEffects::Writes,
            frees: !(says("nofree") && says("nosync")),
        }
    }

    /// Adds an observable event: the name that it shares with events of the other version that may be the same, and its
    /// number.
    pub(super) fn happens(&mut self, event: Noticed, (name, time): (String, Expr), at: usize) -> Terms<()> {
        if self.events.len() == MOST {
            return Err("it has too many calls".into());
        }
        let reached = self.reached[at];
        // If it does not return, memory is not observable any more.
        if event.returns != Returns::Never {
            let before = self.past[at].calls;
            self.events.push(Event { reached, trace: time, name, before, memory: self.memory });
        }
        let one = self.s.bits(8, 1);
        self.past[at].calls = self.s.apply("bvadd", &[self.past[at].calls, one], Sort::Bits(8));
        self.past[at].trace = time;
        self.trace = self.s.choose(reached, time, self.trace);
        match event.returns {
            Returns::Never => self.reached[at] = Expr::FALSE,
            Returns::Undefined => {
                let returns = self.returns_from(time);
                self.undefined(at, returns);
                self.reached[at] = Expr::FALSE;
            }
            Returns::Surely => {
                let returns = self.returns_from(time);
                let left = self.s.not(returns);
                self.undefined(at, left);
            }
            Returns::Perhaps => {
                let returns = self.returns_from(time);
                self.reached[at] = self.s.and(&[reached, returns]);
                self.assume_reached(at);
            }
        }
        if event.writes {
            if event.frees {
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

    fn returns_from(&mut self, time: Expr) -> Expr {
        self.s.unknown("returns", &[time], Sort::Bool)
    }

    /// What others leave in a chain beside that of bytes.
    fn left_by(&mut self, what: &str, chain: Expr, reached: Expr, time: Expr) -> Expr {
        let time = self.s.unknown(&format!("time of {what}"), &[time], Sort::Bits(64));
        smt::given(self.s, chain, reached, time)
    }

    /// The promises about arguments hold, or it is undefined: those of the first version, and what the second one
    /// promises where that is more.
    fn promised(&mut self, args: &[Operand], said: &Said, at: usize) -> Terms<()> {
        for (arg, said) in args.iter().zip(&said.arguments) {
            let defined = has(said, "noundef");
            let readable = number(said, "dereferenceable");
            // Of what has several lanes it is no harm to ignore that.
            if (!defined && readable.is_none()) || self.scalars(&arg.ty)?.len() != 1 {
                continue;
            }
            let pointer = self.settled(arg, at)?;
            let broken = facts::broken(self.s, said, pointer.bits);
            let bad = self.s.or(&[pointer.poison, broken]);
            self.undefined(at, if defined { bad } else { pointer.poison });
            if let (Some(bytes), true) = (readable, pointer.origin.is_some()) {
                self.accessed(pointer, (bytes, 1), at, AccessKind::Promised, vec![])?;
            }
        }
        Ok(())
    }

    fn result(&mut self, i: &'a Instruction, said: &Said, time: Expr, at: usize, counts: bool) -> Terms<()> {
        let types = self.scalars(&i.ty)?;
        let mut lanes = vec![];
        for (n, ty) in types.iter().enumerate() {
            let which = if types.len() == 1 { String::new() } else { format!(" {n}") };
            lanes.push(self.result_lane(ty, &which, said, time, at, counts)?);
        }
        self.undefined_matters = true;
        self.define(i, Local::of(lanes));
        Ok(())
    }

    /// Its attributes count in the first version, and where those of the second one say more, in both.
    pub(super) fn result_lane(
        &mut self,
        ty: &Type,
        which: &str,
        said: &Said,
        time: Expr,
        at: usize,
        counts: bool,
    ) -> Terms<Leaf> {
        let counts = counts || self.choosing.is_first();
        let bits = width(ty)?;
        let value = self.s.unknown(&format!("result{which} of {bits}"), &[time], Sort::Bits(bits));
        let mut poison = self.s.unknown(&format!("result{which} is poison"), &[time], Sort::Bool);
        let noundef = has(&said.result, "noundef");
        if counts {
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
        if let (Some(mask), true) = (mask, noundef && counts) {
            let some = self.s.nonzero(mask);
            self.undefined(at, some);
            self.settled.insert(mask);
        }
        // Other lanes choose apart.
        let key = if which.is_empty() || mask.is_none() { time } else { value.bits };
        // Calls are the same calls in both versions where they are told the same, however that is written.
        let place = mask.map(|_| self.s.unknown(&format!("given by calls{which}"), &[], Sort::Bool));
        Ok(Leaf { value, mask, key, computed: false, place })
    }
}

/// The value that a call by a pointer calls: what stands before the arguments.
fn called_pointer(i: &Instruction) -> Option<String> {
    let Template { pieces, holes } = &i.template;
    if pieces.iter().any(|piece| piece.split_whitespace().any(|word| word == "asm")) {
        return None;
    }
    holes.iter().zip(&pieces[1..]).find(|(_, behind)| behind.starts_with('(')).map(|(hole, _)| hole.clone())
}

fn own_attributes(i: &Instruction) -> &[String] {
    match &i.shape {
        Shape::Call { attributes, .. } => attributes,
        _ => &[],
    }
}
