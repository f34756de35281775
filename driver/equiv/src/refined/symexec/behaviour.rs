//! What a version does, as terms.

use super::{Leaf, Object, Value};
use rewright_llvm::types::Type;
use rewright_smt::{Address, Expr};
use std::collections::BTreeSet;

/// A scalar, computed twice.
pub(in super::super) type Samples = [Value; 2];

/// What leaves a version, by lane, computed twice.
pub(in super::super) type Whole = [Vec<Value>; 2];

/// The memory of a version, as what is written to it has been computed twice.
#[derive(Clone, Copy)]
pub(in super::super) struct Memory {
    /// Values.
    pub(in super::super) bits: Expr,
    /// Bits that are poison.
    pub(in super::super) poison_memory: Expr,
    /// Objects of pointers.
    pub(in super::super) origins: Expr,
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum AccessKind {
    Read,
    Write,
    /// The memory is only promised to be there.
    Promised,
}

/// An access to memory.
pub(in super::super) struct Access {
    pub(in super::super) reached: Expr,
    pub(in super::super) address: Expr,
    /// The same as a sum.
    pub(in super::super) place: Address,
    /// The object that the pointer belongs to.
    pub(in super::super) origin: Expr,
    pub(in super::super) bytes: u64,
    pub(in super::super) kind: AccessKind,
    /// It is seen to be one that the function and its parameters allow.
    pub(in super::super) allowed: bool,
    /// The calls that may have freed memory before it.
    pub(in super::super) epoch: Expr,
    /// What its metadata promise.
    pub(in super::super) promises: Vec<String>,
}

/// What a version does.
pub(in super::super) struct Behaviour {
    pub(in super::super) undefined: Expr,
    /// Each of the conditions under which it is undefined.
    pub(in super::super) undefined_when: Vec<Expr>,
    pub(in super::super) returned: Option<Whole>,
    /// The types of the lanes of what it returns.
    pub(in super::super) result: Vec<Type>,
    pub(in super::super) memory: [Memory; 2],
    pub(in super::super) accesses: Vec<Access>,
    /// When it returns.
    pub(in super::super) returns: Expr,
    /// The observable calls, as a number: other calls have another number.
    pub(in super::super) trace: Expr,
    pub(in super::super) events: Vec<Event>,
    /// Stack slots: their memory is not observable any more when it returns.
    pub(in super::super) slots: Vec<Expr>,
    /// What is known of these, and of global variables, where it begins at the entry.
    pub(in super::super) objects: Vec<Object>,
    /// What is known of where objects lie.
    pub(in super::super) facts: Expr,
    /// Variables that stand for what it may choose.
    pub(in super::super) choices: Vec<Expr>,
    /// What stands for something that is not modelled in all its parts: a counterexample may rest on that.
    pub(in super::super) assumed: BTreeSet<&'static str>,
    /// It has something that may be `undef`.
    pub(in super::super) undefined_matters: bool,
    /// It has chosen something.
    pub(in super::super) chooses: bool,
    /// What is known where it begins, since what came before was defined.
    pub(in super::super) begun: Begun,
    /// Where it ends before the function does.
    pub(in super::super) arrived: Vec<Arrived>,
    /// Choices of what has been read.
    pub(in super::super) chosen: Vec<Chosen>,
    /// What is computed with choices of its own.
    pub(in super::super) contexts: Vec<Context>,
}

impl Behaviour {
    /// All that others may see of it, and what it depends on, except for what it returns.
    pub(in super::super) fn terms(&self) -> Vec<Expr> {
        let of_memory = |memory: &[Memory; 2]| {
            memory.iter().flat_map(|memory| [memory.bits, memory.poison_memory, memory.origins]).collect::<Vec<_>>()
        };
        let mut all = vec![self.undefined, self.returns, self.trace, self.facts];
        all.extend(of_memory(&self.memory));
        for event in &self.events {
            all.extend([event.reached, event.trace, event.before]);
            all.extend(of_memory(&event.memory));
        }
        all.extend(self.accesses.iter().flat_map(|access| [access.reached, access.address, access.origin]));
        all
    }
}

/// What is there before.
pub(in super::super) struct Begun {
    /// What is known of it: that computing it was defined.
    pub(in super::super) known: Expr,
    /// What has been asked for, by the candidate that has asked and which it is, if it is the same for each use.
    pub(in super::super) values: Vec<((usize, usize), Value)>,
    /// Bases that have been read again.
    pub(in super::super) read: Vec<(usize, Leaf)>,
}

impl Default for Begun {
    fn default() -> Begun {
        Begun { known: Expr::TRUE, values: vec![], read: vec![] }
    }
}

/// Choices that a version makes.
#[derive(Clone)]
pub(in super::super) struct Context {
    /// In computing what.
    pub(in super::super) within: String,
    /// How many uses of each thing come before.
    pub(in super::super) skipped: usize,
}

/// A choice that a version has made of what it has read.
#[derive(Clone)]
pub(in super::super) struct Chosen {
    /// Where it has been read, in which memory.
    pub(in super::super) address: Expr,
    pub(in super::super) memory: Expr,
    /// Which use it is, of what, in which sample.
    pub(in super::super) which: String,
    pub(in super::super) choice: Expr,
}

/// Control has come to a cut.
pub(in super::super) struct Arrived {
    pub(in super::super) cut: usize,
    pub(in super::super) reached: Expr,
    /// By the candidate that has asked, and which of the values that are asked for together.
    pub(in super::super) values: Vec<((usize, usize), Samples)>,
    /// Of these, those of which each use may see another value, if the version is not undefined then.
    pub(in super::super) settled: BTreeSet<(usize, usize)>,
    /// Readings that have been asked for, and when they hold.
    pub(in super::super) readings: Vec<(usize, Expr)>,
}

/// An observable call.
pub(in super::super) struct Event {
    pub(in super::super) reached: Expr,
    /// Behind it.
    pub(in super::super) trace: Expr,
    /// How calls that may be this one are named.
    pub(in super::super) name: String,
    /// How many calls came before it.
    pub(in super::super) before: Expr,
    /// What the callee sees.
    pub(in super::super) memory: [Memory; 2],
}
