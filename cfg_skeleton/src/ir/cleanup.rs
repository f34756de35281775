//! Undoes what [`super::normalise`] did in vain, and removes what optimisation has left without a purpose:
//!
//! * branches whose edges are equal or whose operand is a constant ([`mod@blocks`]);
//! * unreachable blocks, empty blocks that only go on, pairs of blocks in a straight line ([`mod@blocks`]);
//! * block parameters whose arguments are all the same value (or the parameter itself), or that are unused
//!   ([`params`], [`dead`]);
//! * unused instructions without effect ([`dead`]);
//! * loops without effect that are known to end and of which nothing is used outside ([`idle_loops`]).
//!
//! [`lift_latches`] is for back ends that give loops no form of their own.
//!
//! Operations are known by the table alone (effects, models). Edges of opaque terminators, and the parameters that
//! they fill, stay as they are.
//!
//! **Invariant**: a verified function stays verified and does the same; a run gets no longer.

mod blocks;
mod dead;
mod idle_loops;
mod latches;
mod params;

pub use blocks::merge as merge_blocks;
pub(crate) use idle_loops::{Purpose, purposes};
pub use latches::lift_latches;

use super::{BlockId, Cfg, EdgeArg, Function, InstKind, OpaqueEffects, Terminator, Value};
use rewright_typeprop::Universe;

/// One step seldom enables another more often than this; stopping early leaves a correct function.
const MAX_ROUNDS: u32 = 16;

/// Cleans up a verified function.
pub fn cleanup(function: &mut Function, universe: &Universe) {
    cleanup_keeping(function, universe, &|_| false);
}

/// The same, but of the blocks that `keep` wants, those stay in which several edges into a loop's header meet: for a
/// back end whose own passes take a loop with one latch for one loop, and one with several for several.
pub fn cleanup_keeping(function: &mut Function, universe: &Universe, keep: &dyn Fn(BlockId) -> bool) {
    for _ in 0..MAX_ROUNDS {
        let mut changed = blocks::fold_terminators(function, universe);
        let mut cfg = Cfg::new(function);
        let before = function.layout.len();
        function.layout.retain(|b| cfg.is_reachable(*b));
        changed |= function.layout.len() != before;
        if cfg.loop_count() > 0 && idle_loops::delete(function, &cfg, universe) {
            changed = true;
            cfg = Cfg::new(function);
            function.layout.retain(|b| cfg.is_reachable(*b));
        }
        changed |= params::remove_redundant(function, &cfg);
        changed |= dead::remove(function, &cfg, universe);
        if function.layout.len() > 1 {
            changed |= blocks::forward(function, &cfg, keep);
            changed |= blocks::merge(function);
        }
        if !changed {
            break;
        }
    }
}

/// The function without those parameters of blocks that are always one other value. Its blocks are the same.
pub(super) fn without_redundant_params(function: &Function, cfg: &Cfg) -> Function {
    let mut plain = function.clone();
    params::remove_redundant(&mut plain, cfg);
    plain
}

/// May an instruction go when its results are unused?
pub(super) fn is_droppable(kind: &InstKind, universe: &Universe) -> bool {
    match kind {
        InstKind::Const(_) => true,
        InstKind::Check { .. } => false,
        InstKind::Opaque { effects, .. } => *effects == OpaqueEffects::Pure,
        InstKind::Op { op, access, .. } => {
            let effects = &universe.ops.get(*op).effects;
            // An operation with an access traps only where the access says so.
            let traps = effects.traps && access.is_none_or(|a| a.trap.is_some());
            effects.is_value() && !traps
        }
    }
}

/// Values that stand for others.
struct Renaming {
    to: Vec<Value>,
    any: bool,
}

impl Renaming {
    fn new(function: &Function) -> Self {
        Renaming { to: (0..function.values.len() as u32).map(Value).collect(), any: false }
    }

    /// From now on, `value` is `by`.
    fn replace(&mut self, value: Value, by: Value) {
        let by = self.find(by);
        debug_assert_ne!(value, by);
        self.to[value.index()] = by;
        self.any = true;
    }

    /// What a value stands for.
    fn find(&mut self, mut value: Value) -> Value {
        while self.to[value.index()] != value {
            let next = self.to[value.index()];
            self.to[value.index()] = self.to[next.index()];
            value = next;
        }
        value
    }

    /// Renames all uses.
    fn apply(mut self, function: &mut Function) -> bool {
        if !self.any {
            return false;
        }
        for b in &function.layout {
            let block = &mut function.blocks[b.index()];
            for id in &block.insts {
                for v in &mut function.insts[id.index()].args {
                    *v = self.find(*v);
                }
            }
            for v in block.term.operands_mut() {
                *v = self.find(*v);
            }
            for edge in block.term.edges_mut() {
                for arg in &mut edge.args {
                    if let EdgeArg::Value(v) = arg {
                        *v = self.find(*v);
                    }
                }
            }
        }
        true
    }
}

/// By block: does an opaque terminator lead here, or is it the entry? Then its parameters stay.
fn pinned_blocks(function: &Function) -> Vec<bool> {
    let mut pinned = vec![false; function.blocks.len()];
    pinned[function.entry().index()] = true;
    for b in &function.layout {
        if let Terminator::Opaque { targets, .. } = &function.block(*b).term {
            for edge in targets {
                pinned[edge.target.index()] = true;
            }
        }
    }
    pinned
}

/// Takes parameters away, with their arguments: `gone[block]` says which.
fn remove_params(function: &mut Function, gone: &[Vec<bool>]) {
    fn keep<T>(gone: &[bool]) -> impl FnMut(&T) -> bool + '_ {
        let mut i = 0;
        move |_| {
            i += 1;
            !gone.get(i - 1).is_some_and(|g| *g)
        }
    }
    for i in 0..function.layout.len() {
        let b: BlockId = function.layout[i];
        let block = &mut function.blocks[b.index()];
        block.params.retain(keep(&gone[b.index()]));
        for edge in block.term.edges_mut() {
            let mut keep = keep(&gone[edge.target.index()]);
            edge.args.retain(|arg| keep(arg));
        }
    }
}

#[cfg(test)]
mod tests;
