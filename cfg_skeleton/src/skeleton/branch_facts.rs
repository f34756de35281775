//! What branches tell of the blocks behind them, as far as the e-graph is needed to say it.
//!
//! A block with one way in, an arm of a branch, knows how the branch's condition came out; so do all blocks that it
//! dominates ([`facts`]). That a fact decides a later test may be a matter of rules: `x < y` implies `x <= y` because
//! both of them together are the first. So for each test of a comparison behind a branch on one with an operand in
//! common, and for each such comparison that is computed there, their conjunction goes into the e-graph, where it is
//! not demanded; [`super::changes()`] looks whether it became 0, or the fact itself.
//!
//! **Invariant**: the number of conjunctions is linear in the number of tests.

use super::nodes::Nodes;
use super::{CheckKey, SiteId, Statement, StatementKind};
use crate::egraph::{ClassId, EGraphView, Head, InputId};
use crate::ir::{BlockId, Cfg, Function, Terminator, Value};
use rewright_typeprop::Universe;
use rustc_hash::FxHashMap;

/// How many blocks up the dominator tree facts are looked for. Chains of tests are shorter.
const MAX_DEPTH: usize = 16;

/// How something is tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// By the branch at the end of a block.
    Branch(BlockId),
    /// By a check.
    Check(SiteId),
    /// Nowhere: it is computed.
    Value(Value),
}

/// A comparison that is tested or computed where another one is known to hold.
#[derive(Clone, Copy, Debug)]
pub struct Conjunction {
    /// The test.
    pub test: Test,
    /// What is known: it is 1.
    pub fact: InputId,
    /// `fact` and what is tested.
    pub both: InputId,
}

/// How a branch came out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// What it branched on.
    pub(super) condition: Value,
    /// It was not zero.
    pub(super) holds: bool,
}

/// What the way into a block tells: that of a branch with another way on.
pub(super) fn fact(f: &Function, cfg: &Cfg, block: BlockId) -> Option<Fact> {
    let [edge] = cfg.predecessors(block) else { return None };
    let Terminator::Branch { cond, .. } = f.block(edge.from).term else { return None };
    Some(Fact { condition: cond, holds: edge.slot == 0 })
}

/// What holds in a block, the nearest fact first.
pub(super) fn facts(f: &Function, cfg: &Cfg, block: BlockId) -> impl Iterator<Item = Fact> {
    let around = std::iter::successors(Some(block), |block| cfg.idom(*block)).take(MAX_DEPTH);
    around.filter_map(|block| fact(f, cfg, block))
}

/// By class of integers: the class of its truth, where some node says it.
pub(crate) fn truths(view: &EGraphView, universe: &Universe) -> FxHashMap<ClassId, ClassId> {
    let nodes = view.nodes.iter().zip(&view.node_class);
    let truths = nodes.filter(|(node, _)| matches!(node.head, Head::Op(op) if universe.ops.get(op).is_copy()));
    truths.map(|(node, class)| (node.children[0], *class)).collect()
}

/// The conjunctions of a function's tests with what is known where they stand.
pub(super) fn conjunctions(
    f: &Function,
    cfg: &Cfg,
    value_input: &[Option<InputId>],
    statements: &[Statement],
    nodes: &mut Nodes<'_>,
) -> Vec<Conjunction> {
    let branches = cfg.reverse_post_order().iter().filter_map(|block| match f.block(*block).term {
        Terminator::Branch { cond, .. } => Some((Test::Branch(*block), *block, value_input[cond.index()]?)),
        _ => None,
    });
    let checks = (0u32..).zip(statements).filter_map(|(site, statement)| match &statement.kind {
        StatementKind::Check { key: CheckKey::Condition { condition, .. }, value: None, .. } => {
            Some((Test::Check(SiteId(site)), statement.block, *condition))
        }
        _ => None,
    });
    let results = cfg.reverse_post_order().iter().flat_map(|block| {
        let insts = f.block(*block).insts.iter().flat_map(|inst| &f.inst(*inst).results);
        insts.filter_map(|value| Some((Test::Value(*value), *block, value_input[value.index()]?)))
    });
    let tests: Vec<_> = branches.chain(checks).chain(results).collect();
    let mut found = vec![];
    for (test, block, tested) in tests {
        for known in facts(f, cfg, block) {
            let Some(condition) = value_input[known.condition.index()] else { continue };
            let related = match (nodes.compared(condition), nodes.compared(tested)) {
                (Some(a), Some(b)) => a.iter().any(|x| b.contains(x)),
                _ => false,
            };
            if !related || nodes.ty(condition) != nodes.ty(tested) {
                continue;
            }
            let fact = match known.holds {
                true => Some(condition),
                false => nodes.is_zero(condition, f.ty(known.condition)),
            };
            if let Some(fact) = fact
                && let Some(both) = nodes.both(fact, tested)
            {
                found.push(Conjunction { test, fact, both });
            }
        }
    }
    found
}
