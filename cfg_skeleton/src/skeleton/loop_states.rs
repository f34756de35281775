//! The states that loops go through, as equations: the class of a header's state holds `around(l)` in the state in which the loop
//! is entered, and that of the state behind a loop `left(l)` in the state at the end of an iteration, where a pack declares
//! such operations. So a rule sees what each iteration writes, and may say what all of them together leave behind.
//!
//! For that the block that a loop exits to has a state of its own: elsewhere the state behind a loop is that of the block
//! which it is left from. This is so of loops with one exit, to a block that nothing else enters, which leave no other loop,
//! and in which the exiting block ends in the state of the header, or in that at the end of the iteration.

use super::SimpleLoop;
use super::loops::{Equation, Parts};
use super::nodes::Nodes;
use super::roles::{Role, Roles};
use crate::egraph::{Head, InputId, Node};
use crate::ir::{BlockId, Cfg, EdgeId, Function, InstKind, LoopId, RegionId, Terminator};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{OpId, Universe};
use smallvec::{SmallVec, smallvec};

/// The state of a region that a loop leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct LeftState {
    /// The loop's header.
    pub header: BlockId,
    /// The region.
    pub region: RegionId,
    /// The state, as the block behind the loop has it.
    pub state: InputId,
    /// The same, as a function of the state at the end of an iteration.
    pub left: InputId,
}

/// Does a pack speak of the states of loops?
pub(super) fn are_wanted(universe: &Universe) -> bool {
    universe.ops.iter().any(|(_, op)| op.in_loop.is_some_and(LoopRole::is_state))
}

/// Blocks in which the state behind a loop begins, each with the loop's header.
pub(super) fn exits(f: &Function, cfg: &Cfg) -> Vec<(BlockId, BlockId)> {
    let exits = cfg.loops().filter_map(|(id, l)| Some((exit(f, cfg, id)?.1, l.header)));
    exits.collect()
}

/// The one edge that leaves a loop, and no other loop, and the block to which only it leads.
fn exit(f: &Function, cfg: &Cfg, id: LoopId) -> Option<(EdgeId, BlockId)> {
    let [edge] = cfg.loop_exits(f, id)[..] else { return None };
    let block = f.block(edge.from);
    let target = block.term.edges()[edge.slot as usize].target;
    let left = cfg.loops_around(edge.from).take_while(|l| !cfg.loop_contains(*l, target)).count();
    let is_opaque = matches!(block.term, Terminator::Opaque { .. });
    (left == 1 && !is_opaque && cfg.predecessors(target).len() == 1).then_some((edge, target))
}

/// Of the loops that rules may speak of.
pub(super) fn of_loops(
    parts: &Parts<'_>,
    roles: &Roles<'_>,
    loops: &[SimpleLoop],
    nodes: &mut Nodes<'_>,
) -> (Vec<LeftState>, Vec<Equation>) {
    let (mut left, mut equations) = (vec![], vec![]);
    for l in loops {
        let data = &parts.blocks[l.header.index()];
        for (region, begins) in &data.tokens {
            let row = region.index();
            let Some(writes) = written(parts, roles, l, row) else { continue };
            let ops = |role| of_role(parts.universe, role, writes);
            let [entered, closed] = [l.before, l.latch].map(|block| parts.blocks[block.index()].end[row]);
            for op in ops(LoopRole::Around) {
                let around = Node { head: Head::Op(op), types: smallvec![], children: smallvec![l.constant, entered] };
                equations.push((*begins, around));
            }
            let exit = parts.cfg.loop_with_header(l.header).and_then(|id| exit(parts.function, parts.cfg, id));
            let Some((edge, target)) = exit else { continue };
            let ends = parts.blocks[edge.from.index()].end[row];
            let role = match () {
                () if ends == *begins => LoopRole::Left,
                () if ends == closed => LoopRole::LeftLast,
                () => continue,
            };
            let tokens = &parts.blocks[target.index()].tokens;
            let Some((_, state)) = tokens.iter().find(|(other, _)| other == region) else { continue };
            for op in ops(role) {
                let input = nodes.add(Head::Op(op), smallvec![], smallvec![l.constant, closed]);
                equations.push((*state, nodes.node(input).clone()));
                left.push(LeftState { header: l.header, region: *region, state: *state, left: input });
            }
        }
    }
    (left, equations)
}

/// The regions, by name, that all writes of a loop to one region say that they write.
fn written<'a>(parts: &Parts<'a>, roles: &Roles<'a>, l: &SimpleLoop, row: usize) -> Option<&'a [String]> {
    let id = parts.cfg.loop_with_header(l.header)?;
    let insts = parts.cfg.loop_blocks(id).iter().flat_map(|block| &parts.function.block(*block).insts);
    let mut writes = insts.filter_map(|inst| {
        let inst = parts.function.inst(*inst);
        match (roles.of(inst), &inst.kind) {
            (Role::Write { region, .. }, InstKind::Op { op, .. }) if region.index() == row => {
                Some(&parts.universe.ops.get(*op).effects.writes[..])
            }
            _ => None,
        }
    });
    let first = writes.next()?;
    writes.all(|other| other == first).then_some(first)
}

fn of_role(universe: &Universe, role: LoopRole, writes: &[String]) -> SmallVec<[OpId; 1]> {
    let ops = universe.ops.iter().filter(|(_, op)| op.in_loop == Some(role) && op.effects.writes == writes);
    ops.map(|(id, _)| id).collect()
}
