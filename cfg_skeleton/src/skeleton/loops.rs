//! The values that loops carry and that they are left with, as equations: the class of a header's parameter holds
//! `theta(l, first, next)`, too, and that of a parameter of a block that a loop exits to `leave(l, x)`, where a pack
//! declares such operations.
//!
//! A value is what it is *now*: a parameter from one visit of its block to the next, everything else as long as its
//! operands are what they are. Members of a class are equal whenever both have a value. `theta(l, a, x)` is what `a` was
//! when `l` was entered, then what `x` was at the end of the iteration before; so it is the parameter. `leave(l, x)` is what
//! `x` was in the iteration in which `l` was left, whichever exit was taken.
//!
//! Neither says that a loop ends. Facts that follow from being left (that a counter has reached its bound) may be stated
//! only of loops that end whatever their inputs are ([`Stays`]): elsewhere they would make values equal before the loop
//! that are equal only behind it. In `for (i = 0; i != n; i += 2)`, `n` and `2 * (n / 2)` are such values.

use super::variance::sources;
use super::{SimpleLoop, Skeleton, SkeletonArg, SkeletonBlock};
use crate::egraph::{Head, InputId, LoopInput, Node, Stays};
use crate::ir::trip_count::{Continuation, CountedLoops, GoesOn, Limit};
use crate::ir::{Cfg, EdgeId, Function, LoopId, Terminator, Value};
use crate::skeleton::nodes::Nodes;
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::{OpId, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// A node, and the node whose class holds it as well.
pub(super) type Equation = (InputId, Node<InputId>);

/// A function that is taken apart, as far as its values have nodes.
pub(super) struct Parts<'a> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) universe: &'a Universe,
    pub(super) blocks: &'a [SkeletonBlock],
    /// By IR value.
    pub(super) values: &'a [Option<InputId>],
}

/// Loops whose headers can have further parameters, and what the parameters are that they and the blocks behind them have.
pub(super) fn carried(parts: &Parts<'_>, nodes: &mut Nodes<'_>) -> (Vec<SimpleLoop>, Vec<Equation>) {
    let (mut loops, mut equations) = (vec![], vec![]);
    if parts.cfg.loop_count() == 0 {
        return (loops, equations);
    }
    let ops = |role| of_loops(parts.universe, role);
    for (theta, of_loops) in ops(LoopRole::Theta) {
        let own = parts.simple_loops(theta, of_loops, nodes, &mut equations);
        for (leave, of) in ops(LoopRole::Leave) {
            if of == of_loops {
                parts.left(leave, &own, nodes, &mut equations);
            }
        }
        let mut own: Vec<(LoopId, SimpleLoop)> = own.into_iter().collect();
        own.sort_unstable_by_key(|(id, _)| *id);
        loops.extend(own.into_iter().map(|(_, l)| l));
    }
    (loops, equations)
}

/// Operations with a role, with the type of what stands for loops there.
fn of_loops(universe: &Universe, role: LoopRole) -> Vec<(OpId, Ty)> {
    let ops = universe.ops.iter().filter(|(_, op)| op.in_loop == Some(role));
    let with_type = ops.filter_map(|(id, op)| {
        let of_loops = universe.types.find_instance(&op.params.first()?.ty, &[])?;
        Some((id, of_loops))
    });
    with_type.collect()
}

impl Parts<'_> {
    fn simple_loops(
        &self,
        theta: OpId,
        of_loops: Ty,
        nodes: &mut Nodes<'_>,
        equations: &mut Vec<Equation>,
    ) -> FxHashMap<LoopId, SimpleLoop> {
        let Parts { function: f, cfg, .. } = *self;
        let counted = CountedLoops::new(f, cfg, self.universe);
        let mut loops = FxHashMap::default();
        for (number, (id, l)) in cfg.loops().enumerate() {
            let (closing, entering): (Vec<&EdgeId>, Vec<&EdgeId>) =
                cfg.predecessors(l.header).iter().partition(|edge| cfg.loop_contains(id, edge.from));
            let ([latch], [before]) = (&closing[..], &entering[..]) else { continue };
            if self.is_opaque(latch) || self.is_opaque(before) {
                continue;
            }
            let constant = nodes.constant(of_loops, number as i64);
            let stays = counted.continuation(id, l).and_then(|found| self.stays(&found, nodes));
            loops.insert(id, SimpleLoop { constant, header: l.header, before: before.from, latch: latch.from, stays });
            for (index, param) in f.block(l.header).params.iter().enumerate() {
                let argument = |edge: &EdgeId| self.argument(edge, index);
                if let (Some(first), Some(next)) = (argument(before), argument(latch)) {
                    let children = smallvec![constant, first, next];
                    let node = Node { head: Head::Op(theta), types: smallvec![f.ty(*param)], children };
                    equations.push((self.blocks[l.header.index()].params[index], node));
                }
            }
        }
        loops
    }

    /// What parameters of blocks behind loops are that one edge enters. An edge may leave several loops at once.
    fn left(
        &self,
        leave: OpId,
        loops: &FxHashMap<LoopId, SimpleLoop>,
        nodes: &mut Nodes<'_>,
        equations: &mut Vec<Equation>,
    ) {
        let Parts { function: f, cfg, .. } = *self;
        for block in cfg.reverse_post_order() {
            let [edge] = cfg.predecessors(*block) else { continue };
            let left = cfg.loops_around(edge.from).take_while(|l| !cfg.loop_contains(*l, *block));
            let constants: Option<Vec<InputId>> = left.map(|l| loops.get(&l).map(|l| l.constant)).collect();
            let Some((outermost, inner)) = constants.as_deref().and_then(<[InputId]>::split_last) else { continue };
            if self.is_opaque(edge) {
                continue;
            }
            for (index, param) in f.block(*block).params.iter().enumerate() {
                let Some(mut x) = self.argument(edge, index) else { continue };
                let ty = f.ty(*param);
                for l in inner {
                    x = nodes.add(Head::Op(leave), smallvec![ty], smallvec![*l, x]);
                }
                let node = Node { head: Head::Op(leave), types: smallvec![ty], children: smallvec![*outermost, x] };
                equations.push((self.blocks[block.index()].params[index], node));
            }
        }
    }

    pub(super) fn is_opaque(&self, edge: &EdgeId) -> bool {
        matches!(self.function.block(edge.from).term, Terminator::Opaque { .. })
    }

    pub(super) fn argument(&self, edge: &EdgeId, index: usize) -> Option<InputId> {
        match self.blocks[edge.from.index()].edges[edge.slot as usize].args.get(index)? {
            SkeletonArg::Node(input) => Some(*input),
            SkeletonArg::Terminator(_) => None,
        }
    }

    /// A test with the counter on the left, as rules state it, whichever way the branch does.
    fn stays(&self, found: &Continuation, nodes: &mut Nodes<'_>) -> Option<Stays> {
        let node = |value: Value| self.values[value.index()];
        let (test, counter) = match found.goes_on {
            GoesOn::NotZero(counter) => (node(counter)?, counter),
            GoesOn::While { model, counter, ref bound } => {
                let ty = self.function.ty(counter);
                let op = self.universe.binary(model, ty)?;
                let bound = match bound {
                    Limit::Value(bound) => node(*bound)?,
                    Limit::Constant(n) => nodes.constant(ty, *n),
                };
                (nodes.add(Head::Op(op), smallvec![ty], smallvec![node(counter)?, bound]), counter)
            }
        };
        let trips = found.trips.map(|trips| {
            let ty = self.function.ty(counter);
            let canonical = self.universe.types.scalar(ty).map_or(trips as i64, |scalar| scalar.canonical(trips));
            nodes.constant(ty, canonical)
        });
        Some(Stays { test, bits: found.bits, trips })
    }
}

/// What an engine is told of loops.
pub(super) fn inputs(cfg: &Cfg, skeleton: &Skeleton) -> Vec<LoopInput> {
    if skeleton.loops.is_empty() {
        return vec![];
    }
    let sources = sources(skeleton);
    let contains = |other: &SimpleLoop, l: &SimpleLoop| {
        cfg.loop_with_header(other.header).is_some_and(|other| cfg.loop_contains(other, l.before))
    };
    let input = |l: &SimpleLoop| {
        let carried: Vec<bool> = skeleton.loops.iter().map(|other| cfg.dominates(other.header, l.before)).collect();
        LoopInput {
            constant: l.constant,
            // A block that dominates the one before the loop is not in the loop, so it is not executed while that runs.
            enters: sources
                .iter()
                .filter(|(_, home)| home.is_none_or(|home| cfg.dominates(home, l.before)))
                .map(|(input, _)| *input)
                .collect(),
            left: skeleton.loops.iter().zip(&carried).map(|(other, above)| *above && !contains(other, l)).collect(),
            carried,
            stays: l.stays,
        }
    };
    skeleton.loops.iter().map(input).collect()
}
