//! The calls made on the paths to a block, and the conditions that hold on all of them.

use super::SymbolicExecutor;
use rewright_smt::Expr;
use rustc_hash::FxHashSet;

/// The state of calls and conditions at a place.
#[derive(Clone)]
pub(super) struct Past {
    /// How many calls with observable effects.
    pub(super) calls: Expr,
    /// Which ones.
    pub(super) trace: Expr,
    /// The conditions under which the blocks that are on all paths to it are reached.
    pub(super) reached: FxHashSet<Expr>,
}

impl SymbolicExecutor<'_> {
    /// Begins a block: the condition under which it is reached, and the state in which paths meet.
    pub(super) fn enter(&mut self, at: usize) {
        let edges = self.edges_into(at);
        let into: Vec<Expr> = edges.iter().map(|(_, _, when)| *when).collect();
        let reached = if at == 0 { Expr::TRUE } else { self.s.or(&into) };
        self.reached[at] = reached;
        if let Some(((first, ..), others)) = edges.split_first() {
            let mut past = self.past[*first].clone();
            for (from, _, when) in others {
                let other = &self.past[*from];
                past.calls = self.s.choose(*when, other.calls, past.calls);
                past.trace = self.s.choose(*when, other.trace, past.trace);
                past.reached.retain(|condition| other.reached.contains(condition));
            }
            self.past[at] = past;
        }
        self.assume_reached(at);
    }

    /// Edges to a block, in an order that does not depend on which block comes first: what both versions have is one term.
    pub(super) fn edges_into(&self, at: usize) -> Vec<(usize, usize, Expr)> {
        let mut edges: Vec<_> = self.edges.iter().filter(|(_, to, _)| *to == at).copied().collect();
        edges.sort_by_key(|(_, _, when)| *when);
        edges
    }

    /// Notes that what follows in a block matters only where it is reached.
    pub(super) fn assume_reached(&mut self, at: usize) {
        self.past[at].reached.insert(self.reached[at]);
        self.s.assumed.clone_from(&self.past[at].reached);
    }
}
