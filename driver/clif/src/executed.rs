//! How much a run executes, and what it calls: two versions of a program are compared by it.

use rewright_cfg_skeleton::ir::interp::Point;
use rewright_cfg_skeleton::ir::{Function, InstKind, Terminator};
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// What a call has executed, those that it makes among it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Executed {
    /// Instructions and terminators, except for constants, and jumps to the block that stands next.
    pub instructions: u64,
    /// By function of the file: the calls of it, except for those of functions that are linked with their callers
    /// (`colocated`), which may be inlined.
    pub calls: BTreeMap<String, Calls>,
}

/// Calls of one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// How many.
    pub count: u64,
    /// A number made from their arguments, in order: equal for equal calls.
    pub trace: u64,
}

impl Calls {
    fn add(&mut self, count: u64, what: impl Hash) {
        let mut hasher = FxHasher::default();
        (self.trace, what).hash(&mut hasher);
        *self = Calls { count: self.count + count, trace: hasher.finish() };
    }
}

impl Executed {
    /// What another call has executed after this one.
    pub fn add(&mut self, other: &Executed) {
        self.instructions += other.instructions;
        for (callee, calls) in &other.calls {
            self.calls.entry(callee.clone()).or_default().add(calls.count, calls.trace);
        }
    }

    /// Control is at a point of a function.
    pub(super) fn reach(&mut self, function: &Function, at: Point) {
        let block = function.block(at.block);
        if let Some(last) = at.executed.checked_sub(1) {
            let inst = function.inst(block.insts[last]);
            self.instructions += u64::from(!matches!(inst.kind, InstKind::Const(_)));
        }
        if at.executed == block.insts.len() {
            self.instructions += u64::from(!goes_to_the_next(function, at));
        }
    }

    /// A function of the file is called.
    pub(super) fn call(&mut self, callee: &str, args: &[i64]) {
        match self.calls.get_mut(callee) {
            Some(calls) => calls.add(1, args),
            None => self.calls.entry(callee.to_string()).or_default().add(1, args),
        }
    }
}

fn goes_to_the_next(function: &Function, at: Point) -> bool {
    let Terminator::Jump(edge) = &function.block(at.block).term else { return false };
    let mut rest = function.layout.iter().skip_while(|block| **block != at.block);
    rest.nth(1) == Some(&edge.target)
}
