//! What loops carry, as equations: the class of a header's parameter holds `theta(l, first, next)`, too, where a pack
//! declares such an operation.
//!
//! A value is what it is *now*: a parameter from one visit of its block to the next, everything else as long as its
//! operands are what they are. Members of a class are equal whenever both have a value. `theta(l, a, x)` is what `a` was
//! when `l` was entered, then what `x` was at the end of the iteration before; so it is the parameter.

use super::variance::sources;
use super::{SimpleLoop, Skeleton, SkeletonArg, SkeletonBlock};
use crate::egraph::{Head, InputId, LoopInput, Node};
use crate::ir::{Cfg, EdgeId, Function, Terminator};
use crate::skeleton::nodes::Nodes;
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{OpId, Ty, Universe};
use smallvec::smallvec;

/// A node, and the node whose class holds it as well.
type Equation = (InputId, Node<InputId>);

/// Loops whose headers can have further parameters, and what the parameters that they have are.
pub(super) fn carried(
    f: &Function,
    cfg: &Cfg,
    universe: &Universe,
    blocks: &[SkeletonBlock],
    nodes: &mut Nodes<'_>,
) -> (Vec<SimpleLoop>, Vec<Equation>) {
    let (mut loops, mut equations) = (vec![], vec![]);
    if cfg.loop_count() == 0 {
        return (loops, equations);
    }
    for (theta, of_loops) in thetas(universe) {
        for (number, (id, l)) in cfg.loops().enumerate() {
            let (closing, entering): (Vec<&EdgeId>, Vec<&EdgeId>) =
                cfg.predecessors(l.header).iter().partition(|edge| cfg.loop_contains(id, edge.from));
            let ([latch], [before]) = (&closing[..], &entering[..]) else { continue };
            let is_opaque = |edge: &EdgeId| matches!(f.block(edge.from).term, Terminator::Opaque { .. });
            if is_opaque(latch) || is_opaque(before) {
                continue;
            }
            let constant = nodes.constant(of_loops, number as i64);
            loops.push(SimpleLoop { constant, header: l.header, before: before.from, latch: latch.from });
            for (index, param) in f.block(l.header).params.iter().enumerate() {
                let argument = |edge: &EdgeId| blocks[edge.from.index()].edges[edge.slot as usize].args[index];
                if let (SkeletonArg::Node(first), SkeletonArg::Node(next)) = (argument(before), argument(latch)) {
                    let children = smallvec![constant, first, next];
                    let node = Node { head: Head::Op(theta), types: smallvec![f.ty(*param)], children };
                    equations.push((blocks[l.header.index()].params[index], node));
                }
            }
        }
    }
    (loops, equations)
}

/// Operations that say what a loop carries, with the type of what stands for loops there.
fn thetas(universe: &Universe) -> impl Iterator<Item = (OpId, Ty)> {
    universe.ops.iter().filter(|(_, op)| op.in_loop == Some(LoopRole::Theta)).filter_map(|(id, op)| {
        let of_loops = universe.types.find_instance(&op.params.first()?.ty, &[])?;
        Some((id, of_loops))
    })
}

/// What an engine is told of loops.
pub(super) fn inputs(cfg: &Cfg, skeleton: &Skeleton) -> Vec<LoopInput> {
    if skeleton.loops.is_empty() {
        return vec![];
    }
    let sources = sources(skeleton);
    let input = |l: &SimpleLoop| LoopInput {
        constant: l.constant,
        // A block that dominates the one before the loop is not in the loop, so it is not executed while that runs.
        enters: sources
            .iter()
            .filter(|(_, home)| home.is_none_or(|home| cfg.dominates(home, l.before)))
            .map(|(input, _)| *input)
            .collect(),
        carried: skeleton.loops.iter().map(|other| cfg.dominates(other.header, l.before)).collect(),
    };
    skeleton.loops.iter().map(input).collect()
}
