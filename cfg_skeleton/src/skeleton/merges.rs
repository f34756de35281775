//! What parameters of blocks are where the arms of a branch meet, as equations: the class of such a parameter holds
//! `phi(c, x, y)`, too, where a pack declares that operation, for the condition `c` of the branch and what the arms carry.
//!
//! Let d be the immediate dominator of a block b that several edges enter. Every way to b passes d, and from its last visit
//! of d on it takes one successor. Where that is a block that nothing else enters, and which dominates the start of an
//! edge into b, a way that arrives over the edge has taken it; so the condition at the last visit of d tells between the
//! edges. The values at d are the same when b is entered: a definition that dominates d could be visited again in between
//! only by a way that passes d again. Arms may branch themselves; then the same holds of each. A value that an arm
//! carries out of a loop is a parameter behind that loop, and all conditions are asked in the loop that b is in, so
//! nothing is said to vary less often than it does.
//!
//! A value that is loaded behind such a block is `phi(c, x, y)`, too, if its address is known at d: what a load gives in
//! the states over its edges ([`super::arriving`]). So a load is forwarded that comes after stores in both arms.
//!
//! Members of a class are equal whenever both have a value: the parameter where its block dominates, `phi` as a function
//! of its operands everywhere.

use super::arriving::Arriving;
use super::loops::{Equation, Parts};
use super::nodes::Nodes;
use crate::egraph::{Head, InputId, Node};
use crate::ir::normalise::is_loop_closed;
use crate::ir::{BlockId, EdgeId, Terminator, Value};
use rewright_typeprop::{OpId, Ty};
use smallvec::smallvec;

/// Edges into a block for which it is said.
const MAX_EDGES: usize = 4;
/// Branches that lead to it, one below the other.
const MAX_DEPTH: usize = 8;

/// Over which edge a block is entered.
enum Arms {
    Edge(EdgeId),
    /// By this condition.
    Branch(Value, Box<[Arms; 2]>),
}

/// What parameters are of blocks in which arms meet.
pub(super) fn met(parts: &Parts<'_>, loads: &[Arriving], nodes: &mut Nodes<'_>) -> Vec<Equation> {
    let ops: Vec<OpId> = parts.universe.ops.iter().filter(|(_, op)| op.at_merges).map(|(id, _)| id).collect();
    let mut equations = vec![];
    if ops.is_empty() || !is_loop_closed(parts.function, parts.cfg) {
        return equations;
    }
    for block in parts.cfg.reverse_post_order() {
        let params = &parts.function.block(*block).params;
        let data = &parts.blocks[block.index()];
        let loads = || loads.iter().filter(|arriving| arriving.block == *block);
        if params.is_empty() && loads().next().is_none() {
            continue;
        }
        let Some(arms) = parts.arms(*block) else { continue };
        for (index, param) in params.iter().enumerate() {
            let mut arriving = |edge: &EdgeId, _: &mut Nodes<'_>| parts.argument(edge, index);
            for op in &ops {
                let node = parts.phi(*op, &arms, parts.function.ty(*param), nodes, &mut arriving);
                equations.extend(node.map(|node| (data.params[index], node)));
            }
        }
        for Arriving { load, over, .. } in loads() {
            let Some(ty) = nodes.ty(*load) else { continue };
            let edges = parts.cfg.predecessors(*block);
            let mut arriving = |edge: &EdgeId, _: &mut Nodes<'_>| {
                edges.iter().position(|other| other == edge).map(|position| over[position])
            };
            for op in &ops {
                let node = parts.phi(*op, &arms, ty, nodes, &mut arriving);
                equations.extend(node.map(|node| (*load, node)));
            }
        }
    }
    equations
}

impl Parts<'_> {
    /// Over which edge a block is entered, if conditions of branches above it tell.
    fn arms(&self, block: BlockId) -> Option<Arms> {
        let cfg = self.cfg;
        let edges = cfg.predecessors(block);
        let is_forward = |edge: &EdgeId| {
            !self.is_opaque(edge) && !cfg.dominates(block, edge.from) && cfg.loop_of(edge.from) == cfg.loop_of(block)
        };
        if !(2..=MAX_EDGES).contains(&edges.len()) || !edges.iter().all(is_forward) || cfg.is_irreducible(block) {
            return None;
        }
        self.arms_below(block, cfg.idom(block)?, edges, MAX_DEPTH)
    }

    /// The same of some edges, on a way that is at the end of a block.
    fn arms_below(&self, block: BlockId, at: BlockId, edges: &[EdgeId], depth: usize) -> Option<Arms> {
        if self.cfg.loop_of(at) != self.cfg.loop_of(block) {
            return None;
        }
        let alone = |target: BlockId| target != block && self.cfg.predecessors(target).len() == 1;
        match &self.function.block(at).term {
            Terminator::Jump(edge) if alone(edge.target) => {
                self.arms_below(block, edge.target, edges, depth.checked_sub(1)?)
            }
            Terminator::Branch { cond, then, els } => {
                let side = |slot: u32, target: BlockId| {
                    let takes = |edge: &&EdgeId| {
                        **edge == EdgeId { from: at, slot } || alone(target) && self.cfg.dominates(target, edge.from)
                    };
                    edges.iter().filter(takes).copied().collect::<Vec<EdgeId>>()
                };
                let sides = [side(0, then.target), side(1, els.target)];
                if sides.iter().map(Vec::len).sum::<usize>() != edges.len() {
                    return None;
                }
                let below = |edges: &[EdgeId], target: BlockId| match edges {
                    [edge] => Some(Arms::Edge(*edge)),
                    _ => self.arms_below(block, target, edges, depth.checked_sub(1)?),
                };
                match &sides {
                    // The other arm leads elsewhere.
                    [one, none] if none.is_empty() => below(one, then.target),
                    [none, one] if none.is_empty() => below(one, els.target),
                    [one, other] => {
                        let arms = [below(one, then.target)?, below(other, els.target)?];
                        Some(Arms::Branch(*cond, Box::new(arms)))
                    }
                }
            }
            _ => None,
        }
    }

    /// What a value is of which `arriving` says what it is over each edge; none where it does not say it.
    fn phi(
        &self,
        op: OpId,
        arms: &Arms,
        ty: Ty,
        nodes: &mut Nodes<'_>,
        arriving: &mut dyn FnMut(&EdgeId, &mut Nodes<'_>) -> Option<InputId>,
    ) -> Option<Node<InputId>> {
        let Arms::Branch(condition, below) = arms else { return None };
        let types = &self.universe.types;
        let of_condition = self.function.ty(*condition);
        let bound = self.universe.ops.get(op).tparams.first()?.bound.as_ref()?;
        let bound = types.find_instance(bound, &[of_condition])?;
        if !types.is_subtype(of_condition, bound) {
            return None;
        }
        let mut operand = |arms: &Arms| match arms {
            Arms::Edge(edge) => arriving(edge, nodes),
            Arms::Branch(..) => {
                let Node { head, types, children } = self.phi(op, arms, ty, nodes, arriving)?;
                Some(nodes.add(head, types, children))
            }
        };
        let children = smallvec![self.values[condition.index()]?, operand(&below[0])?, operand(&below[1])?];
        Some(Node { head: Head::Op(op), types: smallvec![of_condition, ty], children })
    }
}
