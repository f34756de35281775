//! A function without the arms of a branch, over the same e-graph: control goes from the branch to the block where its
//! arms meet, and what they would have carried there must be computed otherwise: by a `select`, a minimum, or whatever
//! rules find.
//!
//! Blocks between the two are left out. That is right where they
//!
//! 1. lead nowhere else, and nothing else leads to them or to where they meet;
//! 2. have no effect, cannot trap and have no loops.
//!
//! A value that is computed in an arm is then computed whichever arm would have been taken; costs say whether that is
//! cheaper.

use super::{Shortcut, SkeletonEdge, StatementKind};
use crate::Saturated;
use crate::egraph::{Head, InputId};
use crate::ir::{BlockId, Cfg, Edge, Terminator};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Blocks with parameters of which it is known what they are by the condition of a branch: inner before outer ones.
pub fn merges(given: Saturated) -> Vec<BlockId> {
    let Saturated { cfg, universe, skeleton, .. } = given;
    let is_met = |head: Head| matches!(head, Head::Op(op) if universe.ops.get(op).at_merges);
    let equations = skeleton.input.equations.iter().filter(|(_, node)| is_met(node.head));
    let met: FxHashSet<InputId> = equations.map(|(param, _)| *param).collect();
    if met.is_empty() {
        return vec![];
    }
    let order = cfg.reverse_post_order().iter().copied();
    order.filter(|block| skeleton.blocks[block.index()].params.iter().any(|param| met.contains(param))).collect()
}

/// The function without the arms that meet in a block, unless they must stay.
pub fn past_arms(given: Saturated, block: BlockId) -> Option<Shortcut> {
    let Saturated { function, cfg, skeleton, .. } = given;
    let branch = cfg.idom(block)?;
    let between = between(given, branch, block)?;
    let is_silent = |block: &BlockId| {
        let data = &skeleton.blocks[block.index()];
        let mut statements = skeleton.sites(*block).map(|site| &skeleton.statement(site).kind);
        data.tokens.is_empty() && statements.all(|kind| matches!(kind, StatementKind::Check { observes: false, .. }))
    };
    if !between.iter().all(is_silent) || !skeleton.blocks[block.index()].tokens.is_empty() {
        return None;
    }
    let mut function = function.clone();
    function.blocks[branch.index()].term = Terminator::Jump(Edge { target: block, args: SmallVec::new() });
    function.blocks[block.index()].params.clear();
    let weighing = cfg.weighing();
    let cfg = Cfg::new(&function).weighed(weighing);
    function.layout.retain(|block| cfg.is_reachable(*block));
    let mut skeleton = skeleton.clone();
    let data = &mut skeleton.blocks[branch.index()];
    data.edges = vec![SkeletonEdge { target: block, args: SmallVec::new() }];
    data.operands.clear();
    skeleton.blocks[block.index()].params.clear();
    skeleton.layout.retain(|block| cfg.is_reachable(*block));
    Some(Shortcut { function, cfg, skeleton })
}

/// The blocks between a branch and where its arms meet, if they are nothing but its arms.
fn between(given: Saturated, branch: BlockId, block: BlockId) -> Option<Vec<BlockId>> {
    let Saturated { function, cfg, .. } = given;
    let same_loop = |other: BlockId| cfg.loop_of(other) == cfg.loop_of(branch) && !cfg.is_irreducible(other);
    let Terminator::Branch { .. } = function.block(branch).term else { return None };
    let mut found: Vec<BlockId> = vec![];
    let mut work = vec![branch];
    while let Some(at) = work.pop() {
        let term = &function.block(at).term;
        if !matches!(term, Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Switch { .. }) {
            return None;
        }
        for edge in term.edges() {
            let target = edge.target;
            if target == block || found.contains(&target) {
                continue;
            }
            // A way back to the branch, or into a loop, is no arm.
            if target == branch || !cfg.dominates(branch, target) || !same_loop(target) {
                return None;
            }
            found.push(target);
            work.push(target);
        }
    }
    let is_arm = |from: BlockId| from == branch || found.contains(&from);
    let entered = cfg.predecessors(block).iter().all(|edge| is_arm(edge.from));
    (entered && same_loop(block)).then_some(found)
}
