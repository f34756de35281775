//! Loops that do nothing, end, and of which nothing is used.
//!
//! A natural loop goes if
//!
//! 1. none of its instructions has an effect or may trap, and none of its blocks ends in an opaque terminator or
//!    lies in an irreducible region;
//! 2. nothing that is defined in it is used outside, and all its exits are the same edge (target and arguments);
//! 3. it ends, and so does every loop in it. That a program does not end can be observed, so this needs a proof.
//!
//! **The proof.** Let p be a parameter of the header that every back edge sets to p + s, for one constant s. In
//! iteration i it is p0 + i s modulo 2^N. Let a block that belongs to no inner loop and dominates every latch (hence
//! runs once in each iteration, if the inner loops end) leave the loop on a comparison of x = p + k with a value n
//! that the loop does not change. Write s = g m with m odd and g = 2^t, t < N. Then x takes, before it repeats, every
//! value that is congruent to x0 modulo g: r, r + g, .., r + 2^N - g for some r < g that is not known. The loop ends
//! if for every r one of these satisfies the exit condition:
//!
//! | exit when | condition (unsigned; signed comparisons after adding 2^(N-1) to both sides) |
//! |---|---|
//! | x != n | always, as there are two values at least |
//! | x == n | g = 1 |
//! | x >= n, x > n | 2^N - g >= n, resp. > n: the greatest value where r = 0 |
//! | x <= n, x < n | g - 1 <= n, resp. < n: the least value where r = g - 1 |
//!
//! Where n is not a constant, the condition must hold for every n: g = 1 for `>=` and `<=`, never for `>` and `<`.
//! Comparisons, sums and differences are recognised by their models.

use super::is_droppable;
use crate::ir::{BlockId, Cfg, EdgeArg, Function, InstId, InstKind, Loop, LoopId, Terminator, Value};
use rewright_typeprop::{Model, Universe};

#[derive(Clone, Copy)]
struct Definition {
    block: BlockId,
    inst: Option<InstId>,
}

struct Analysis<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    universe: &'a Universe,
    definition: Vec<Option<Definition>>,
}

/// Leads the edges that enter such loops to where the loops exit. The loops become unreachable.
pub(super) fn delete(function: &mut Function, cfg: &Cfg, universe: &Universe) -> bool {
    let analysis = Analysis { function, cfg, universe, definition: definitions(function) };
    let quiet = analysis.quiet_loops();
    if !quiet.contains(&true) {
        return false;
    }
    let escapes = analysis.escapes();
    let mut deleted = vec![false; quiet.len()];
    let mut redirections = vec![];
    for (id, l) in cfg.loops() {
        if l.parent.is_some_and(|p| deleted[p.index()]) {
            deleted[id.index()] = true;
        } else if quiet[id.index()] && !escapes[id.index()] {
            redirections.push((id, l.header));
            deleted[id.index()] = true;
        }
    }
    let definition = analysis.definition;
    let mut changed = false;
    for (id, header) in redirections {
        changed |= redirect(function, cfg, &definition, id, header);
    }
    changed
}

fn definitions(function: &Function) -> Vec<Option<Definition>> {
    let mut definition = vec![None; function.values.len()];
    for b in &function.layout {
        for p in &function.block(*b).params {
            definition[p.index()] = Some(Definition { block: *b, inst: None });
        }
        for id in &function.block(*b).insts {
            for r in &function.inst(*id).results {
                definition[r.index()] = Some(Definition { block: *b, inst: Some(*id) });
            }
        }
    }
    definition
}

fn redirect(
    function: &mut Function,
    cfg: &Cfg,
    definition: &[Option<Definition>],
    id: LoopId,
    header: BlockId,
) -> bool {
    let inside = |arg: &EdgeArg| match arg {
        EdgeArg::Value(v) => definition[v.index()].is_none_or(|d| cfg.loop_contains(id, d.block)),
        EdgeArg::Terminator(_) => true,
    };
    let exits = cfg.loop_exits(function, id);
    let Some((first, rest)) = exits.split_first() else { return false };
    let exit = function.block(first.from).term.edges()[first.slot as usize].clone();
    let same = rest.iter().all(|e| *function.block(e.from).term.edges()[e.slot as usize] == exit);
    let entering = cfg.predecessors(header).iter().filter(|e| !cfg.loop_contains(id, e.from));
    let entering: Vec<_> = entering.collect();
    let opaque = entering.iter().any(|e| matches!(function.block(e.from).term, Terminator::Opaque { .. }));
    if !same || opaque || exit.args.iter().any(inside) {
        return false;
    }
    // The arguments are defined outside, above an exit, hence above the header.
    for e in entering {
        *function.blocks[e.from.index()].term.edges_mut()[e.slot as usize] = exit.clone();
    }
    true
}

impl Analysis<'_> {
    /// By loop: no effects, and it ends.
    fn quiet_loops(&self) -> Vec<bool> {
        let mut quiet = vec![true; self.cfg.loop_count()];
        for b in self.cfg.reverse_post_order() {
            if let Some(l) = self.cfg.loop_of(*b) {
                quiet[l.index()] &= self.is_quiet(*b);
            }
        }
        // Inner loops first.
        for (id, l) in self.cfg.loops().rev() {
            quiet[id.index()] = quiet[id.index()] && self.ends(id, l);
            if let Some(parent) = l.parent {
                quiet[parent.index()] &= quiet[id.index()];
            }
        }
        quiet
    }

    fn is_quiet(&self, b: BlockId) -> bool {
        let block = self.function.block(b);
        !self.cfg.is_irreducible(b)
            && !matches!(block.term, Terminator::Opaque { .. })
            && block.insts.iter().all(|i| is_droppable(&self.function.inst(*i).kind, self.universe))
    }

    /// By loop: something that is defined in it is used outside.
    fn escapes(&self) -> Vec<bool> {
        let mut escapes = vec![false; self.cfg.loop_count()];
        let mut visit = |value: Value, at: BlockId| {
            let Some(home) = self.definition[value.index()] else { return };
            for l in self.cfg.loops_around(home.block) {
                if self.cfg.loop_contains(l, at) {
                    break;
                }
                escapes[l.index()] = true;
            }
        };
        for b in self.cfg.reverse_post_order() {
            let block = self.function.block(*b);
            let edges = block.term.edges();
            let carried = edges.iter().flat_map(|e| &e.args).filter_map(|a| match a {
                EdgeArg::Value(v) => Some(v),
                EdgeArg::Terminator(_) => None,
            });
            let insts = block.insts.iter().flat_map(|i| &self.function.inst(*i).args);
            insts.chain(block.term.operands()).chain(carried).for_each(|v| visit(*v, *b));
        }
        escapes
    }

    fn ends(&self, id: LoopId, l: &Loop) -> bool {
        self.cfg.loop_blocks(id).iter().any(|b| {
            self.cfg.loop_of(*b) == Some(id)
                && l.latches.iter().all(|latch| self.cfg.dominates(*b, *latch))
                && self.leaves(id, l, *b)
        })
    }

    /// Is the branch at the end of this block sure to leave the loop at last?
    fn leaves(&self, id: LoopId, l: &Loop, b: BlockId) -> bool {
        let Terminator::Branch { cond, then, els } = &self.function.block(b).term else { return false };
        let (then_stays, else_stays) =
            (self.cfg.loop_contains(id, then.target), self.cfg.loop_contains(id, els.target));
        if then_stays == else_stays {
            return false;
        }
        let exit_when = else_stays;
        if let Some((model, [x, y])) = self.operation(*cond)
            && let Some((relation, signed)) = Relation::of(model)
        {
            let relation = if exit_when { relation } else { relation.negated() };
            return self.reaches(id, l, x, relation, signed, Bound::Value(y))
                || self.reaches(id, l, y, relation.swapped(), signed, Bound::Value(x));
        }
        let relation = if exit_when { Relation::Ne } else { Relation::Eq };
        self.reaches(id, l, *cond, relation, false, Bound::Zero)
    }

    fn reaches(&self, id: LoopId, l: &Loop, x: Value, relation: Relation, signed: bool, n: Bound) -> bool {
        let Some(scalar) = self.universe.types.scalar(self.function.ty(x)).filter(|s| s.is_int()) else { return false };
        let n = match n {
            Bound::Zero => Some(0),
            Bound::Value(v) => match self.constant(v) {
                Some(n) => Some(scalar.zero_extended(n)),
                None if self.is_defined_in(id, v) => return false,
                None => None,
            },
        };
        let flip = if signed { 1 << (scalar.bits() - 1) } else { 0 };
        let step = self.step(id, l, x).map(|s| scalar.zero_extended(s));
        step.is_some_and(|s| relation.has_exit(s.trailing_zeros(), scalar.bits(), n.map(|n| n ^ flip)))
    }

    fn is_defined_in(&self, id: LoopId, v: Value) -> bool {
        self.definition[v.index()].is_none_or(|d| self.cfg.loop_contains(id, d.block))
    }

    fn constant(&self, v: Value) -> Option<i64> {
        match self.function.inst(self.definition[v.index()]?.inst?).kind {
            InstKind::Const(n) => Some(n),
            _ => None,
        }
    }

    /// A binary operation with a model.
    fn operation(&self, v: Value) -> Option<(Model, [Value; 2])> {
        let inst = self.function.inst(self.definition[v.index()]?.inst?);
        let InstKind::Op { op, .. } = &inst.kind else { return None };
        Some((self.universe.ops.get(*op).model?, inst.args.as_slice().try_into().ok()?))
    }

    /// `v` as another value plus a constant.
    fn sum(&self, v: Value) -> Option<(Value, i64)> {
        match self.operation(v)? {
            (Model::Add, [x, c]) if self.constant(c).is_some() => Some((x, self.constant(c)?)),
            (Model::Add, [c, x]) => Some((x, self.constant(c)?)),
            (Model::Sub, [x, c]) => Some((x, self.constant(c)?.wrapping_neg())),
            _ => None,
        }
    }

    /// What each iteration adds to `x`, a parameter of the header or one plus a constant.
    fn step(&self, id: LoopId, l: &Loop, x: Value) -> Option<i64> {
        let params = &self.function.block(l.header).params;
        let position = |v: Value| params.iter().position(|p| *p == v);
        let index = position(x).or_else(|| position(self.sum(x)?.0))?;
        let mut step = None;
        for e in self.cfg.predecessors(l.header).iter().filter(|e| self.cfg.loop_contains(id, e.from)) {
            let EdgeArg::Value(next) = self.function.block(e.from).term.edges()[e.slot as usize].args[index] else {
                return None;
            };
            let (base, by) = self.sum(next)?;
            if base != params[index] || step.is_some_and(|s| s != by) {
                return None;
            }
            step = Some(by);
        }
        step
    }
}

#[derive(Clone, Copy)]
enum Bound {
    Zero,
    Value(Value),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    /// The relation of a comparison, and whether it is signed.
    fn of(model: Model) -> Option<(Relation, bool)> {
        Some(match model {
            Model::Eq => (Relation::Eq, false),
            Model::Ne => (Relation::Ne, false),
            Model::Slt => (Relation::Lt, true),
            Model::Sle => (Relation::Le, true),
            Model::Sgt => (Relation::Gt, true),
            Model::Sge => (Relation::Ge, true),
            Model::Ult => (Relation::Lt, false),
            Model::Ule => (Relation::Le, false),
            Model::Ugt => (Relation::Gt, false),
            Model::Uge => (Relation::Ge, false),
            _ => return None,
        })
    }

    fn negated(self) -> Relation {
        match self {
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
            Relation::Lt => Relation::Ge,
            Relation::Le => Relation::Gt,
            Relation::Gt => Relation::Le,
            Relation::Ge => Relation::Lt,
        }
    }

    /// `x R y` as `y R' x`.
    fn swapped(self) -> Relation {
        match self {
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            same => same,
        }
    }

    /// The table in the module's header, with g = 2^`t`.
    pub(super) fn has_exit(self, t: u32, bits: u32, n: Option<u64>) -> bool {
        if t >= bits {
            return false;
        }
        let last = (1u64 << t) - 1;
        let top = (u64::MAX >> (64 - bits)) - last;
        match (self, n) {
            (Relation::Ne, _) => true,
            (Relation::Eq, _) => t == 0,
            (Relation::Ge, Some(n)) => top >= n,
            (Relation::Gt, Some(n)) => top > n,
            (Relation::Le, Some(n)) => last <= n,
            (Relation::Lt, Some(n)) => last < n,
            (Relation::Ge | Relation::Le, None) => t == 0,
            (Relation::Gt | Relation::Lt, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Relation::{Eq, Ge, Gt, Le, Lt, Ne};

    /// The table against its meaning, at 4 bits.
    #[test]
    fn exits_are_reached_from_everywhere() {
        const N: u64 = 16;
        for relation in [Eq, Ne, Lt, Le, Gt, Ge] {
            let holds = |x: u64, n: u64| match relation {
                Eq => x == n,
                Ne => x != n,
                Lt => x < n,
                Le => x <= n,
                Gt => x > n,
                Ge => x >= n,
            };
            for step in 1..N {
                let ends = |n| (0..N).all(|x0| (0..N).any(|i| holds((x0 + i * step) % N, n)));
                let t = step.trailing_zeros();
                for n in 0..N {
                    assert_eq!(relation.has_exit(t, 4, Some(n)), ends(n), "{relation:?} {step} {n}");
                }
                assert_eq!(relation.has_exit(t, 4, None), (0..N).all(ends), "{relation:?} {step}");
            }
        }
    }
}
