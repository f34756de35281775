//! Tests and values that are decided by what is known where they stand: ranges and bits of integers, and which are less
//! than which.
//!
//! Facts that hold everywhere come from the e-graph's nodes ([`crate::egraph::known`]) and from what arrives at
//! parameters of blocks ([`arriving`]). Within a block, it is also known how a branch that led there came out, that
//! checks have not trapped which stand before, and so on up the dominator tree ([`scope`]).
//!
//! A condition that varies in a loop says something of one iteration. A block that the place of its test dominates, and
//! that lies in the same loops, is executed in the same iteration: each way into another one leads past the header, which
//! dominates both.
//!
//! **Invariant**: what decides a check was tested strictly before it, so no two checks go because of each other.

mod arriving;
mod integers;
mod order;
mod scope;

use super::variance::Variance;
use super::{CheckKey, SiteId, StatementKind};
use crate::Saturated;
use crate::egraph::{ClassId, InputId};
use crate::ir::{BlockId, EdgeId, InstId, InstKind, Terminator, Value};
use arriving::Arriving;
use integers::Integers;
use rewright_typeprop::{Known, Model, Repr};
use rustc_hash::{FxHashMap, FxHashSet};
pub(super) use scope::Scope;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How many blocks up the dominator tree conditions are looked for where a loop begins or ends.
const MAX_DEPTH: usize = 16;

/// What is decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// By block: is what it branches on other than zero?
    pub(super) branches: FxHashMap<BlockId, bool>,
    /// By block: what it switches on, in canonical form.
    pub(super) switches: FxHashMap<BlockId, i64>,
    /// By check that is a statement of its own: does it trap?
    pub(super) checks: FxHashMap<SiteId, bool>,
    /// Values of pure instructions, in canonical form.
    pub(super) values: FxHashMap<InstId, i64>,
    /// Parameters of blocks, by block and position, in canonical form.
    pub(super) params: FxHashMap<(BlockId, u32), i64>,
}

/// What is known on the way into a block, or past a check.
#[derive(Clone, Copy, Debug)]
enum Assumption {
    /// The class is other than zero, or zero.
    Condition(ClassId, bool),
    /// The class is this constant.
    Constant(ClassId, i64),
}

/// What is known of integers at the ends of blocks, and what that decides.
pub struct KnownAtEnds {
    ends: FxHashMap<BlockId, Scope>,
    pub(super) decisions: Decisions,
}

impl KnownAtEnds {
    /// Finds out.
    pub fn new(given: Saturated) -> Self {
        let mut decisions = Decisions::default();
        let ends = walk(given, &mut decisions);
        KnownAtEnds { ends, decisions }
    }

    /// What is known of a class at the end of a block, whenever that is executed; `None` where it is no integer.
    pub fn known(&self, block: BlockId, class: ClassId) -> Option<Known> {
        self.ends.get(&block)?.known(class)
    }

    /// What holds when an edge is taken.
    pub(super) fn on_edge(&self, given: Saturated, edge: EdgeId) -> Option<Scope> {
        self.ends.get(&edge.from).map(|end| behind(given, edge, end))
    }
}

/// What holds when an edge is taken, from what holds at the end of its block.
fn behind(given: Saturated, edge: EdgeId, end: &Scope) -> Scope {
    let mut scope = end.clone();
    if let Some(assumption) = tells(given, edge) {
        scope.hold(assumption);
    }
    scope
}

/// What it tells that an edge is taken.
fn tells(given: Saturated, edge: EdgeId) -> Option<Assumption> {
    let Saturated { function: f, universe, skeleton, view, .. } = given;
    let class = |value: Value| skeleton.value_input[value.index()].map(|input| view.class_of(input));
    match &f.block(edge.from).term {
        Terminator::Branch { cond, .. } => Some(Assumption::Condition(class(*cond)?, edge.slot == 0)),
        Terminator::Switch { index, targets, .. } if (edge.slot as usize) < targets.len() => {
            let scalar = universe.types.scalar(f.ty(*index))?;
            Some(Assumption::Constant(class(*index)?, scalar.canonical(edge.slot.into())))
        }
        _ => None,
    }
}

/// Goes through all blocks; gives what holds at the end of each.
fn walk(given: Saturated, decisions: &mut Decisions) -> FxHashMap<BlockId, Scope> {
    let has_loops = given.cfg.loop_count() > 0;
    let variance = has_loops.then(|| Variance::new(given.cfg, given.skeleton, given.view));
    let arriving = Arriving::new(given);
    let integers = arriving.settled(|integers| Decider::new(given, integers, variance.as_ref()));
    decisions.params = arriving.constants(&integers);
    let mut decider = Decider::new(given, integers, variance.as_ref());
    given.cfg.reverse_post_order().iter().for_each(|block| decider.decide(*block, decisions));
    decider.ends
}

struct Decider<'a> {
    given: Saturated<'a>,
    integers: Rc<Integers>,
    /// Where the function has loops.
    variance: Option<&'a Variance>,
    /// By block: what holds at its end.
    ends: FxHashMap<BlockId, Scope>,
}

impl<'a> Decider<'a> {
    fn new(given: Saturated<'a>, integers: Rc<Integers>, variance: Option<&'a Variance>) -> Self {
        Decider { given, integers, variance, ends: FxHashMap::default() }
    }

    /// Notes what holds at the ends of some blocks.
    fn ends_of(&mut self, blocks: &BTreeSet<BlockId>) {
        let cfg = self.given.cfg;
        let mut needed = FxHashSet::default();
        for block in blocks {
            let above = std::iter::successors(Some(*block), |block| self.goes_on_from(*block));
            above.take_while(|block| needed.insert(*block)).for_each(drop);
        }
        for block in cfg.reverse_post_order().iter().filter(|block| needed.contains(block)) {
            let mut scope = self.beginning(*block);
            let conditions = self.given.skeleton.sites(*block).filter_map(|site| self.condition(site));
            conditions.for_each(|(condition, _)| scope.assume(condition, false));
            self.ends.insert(*block, scope);
        }
    }

    /// Decides what stands in a block, in order, and notes what holds at its end.
    fn decide(&mut self, block: BlockId, decisions: &mut Decisions) {
        let Saturated { function: f, skeleton: s, view, .. } = self.given;
        let mut scope = self.beginning(block);
        let mut sites = s.sites(block).peekable();
        for inst in &f.block(block).insts {
            decisions.values.extend(self.value(&scope, *inst).map(|constant| (*inst, constant)));
            while let Some(site) = sites.next_if(|site| s.statement(*site).inst == *inst) {
                let Some((condition, alone)) = self.condition(site) else { continue };
                if alone && let Some(traps) = scope.decides(condition) {
                    decisions.checks.insert(site, traps);
                }
                scope.assume(condition, false);
            }
        }
        match f.block(block).term {
            Terminator::Branch { cond, .. } => {
                let holds = self.class(cond).and_then(|class| scope.decides(class));
                decisions.branches.extend(holds.map(|holds| (block, holds)));
            }
            Terminator::Switch { .. } => {
                let index = view.class_of(s.blocks[block.index()].operands[0]);
                let known = scope.known(index).and_then(Known::single);
                decisions.switches.extend(known.map(|index| (block, index)));
            }
            _ => {}
        }
        self.ends.insert(block, scope);
    }

    /// The closest block above one that lies in no other loops than it: all that holds at its end holds there, too.
    fn goes_on_from(&self, block: BlockId) -> Option<BlockId> {
        let cfg = self.given.cfg;
        self.above(block).find(|above| cfg.loops_around(*above).all(|l| cfg.loop_contains(l, block)))
    }

    /// Blocks above one, the closest first.
    fn above(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        let cfg = self.given.cfg;
        std::iter::successors(cfg.idom(block), |block| cfg.idom(*block)).take(MAX_DEPTH)
    }

    /// What holds where a block begins.
    fn beginning(&self, block: BlockId) -> Scope {
        let start = self.goes_on_from(block);
        let mut scope = start.map_or_else(|| Scope::new(self.integers.clone()), |start| self.ends[&start].clone());
        let left: Vec<BlockId> = self.above(block).take_while(|above| Some(*above) != start).collect();
        for above in left.into_iter().rev() {
            let checks = self.given.skeleton.sites(above).filter_map(|site| self.condition(site));
            let checks = checks.map(|(condition, _)| Assumption::Condition(condition, false));
            for assumption in self.way_in(above).into_iter().chain(checks) {
                self.assume(&mut scope, assumption, above, block);
            }
        }
        if let Some(assumption) = self.way_in(block) {
            self.assume(&mut scope, assumption, block, block);
        }
        scope
    }

    /// Notes what holds at one place at another one that it dominates, if both are executed in one iteration of each
    /// loop in which it varies.
    fn assume(&self, scope: &mut Scope, assumption: Assumption, at: BlockId, here: BlockId) {
        let (Assumption::Condition(class, _) | Assumption::Constant(class, _)) = assumption;
        if let Some(variance) = self.variance {
            let cfg = self.given.cfg;
            let in_both = |l: &_| cfg.loop_contains(*l, at) && cfg.loop_contains(*l, here);
            if !variance.loops(class).is_some_and(|loops| loops.iter().all(in_both)) {
                return;
            }
        }
        scope.hold(assumption);
    }

    /// What the only way into a block tells.
    fn way_in(&self, block: BlockId) -> Option<Assumption> {
        let [edge] = self.given.cfg.predecessors(block) else { return None };
        tells(self.given, *edge)
    }

    fn class(&self, value: Value) -> Option<ClassId> {
        self.given.skeleton.value_input[value.index()].map(|input: InputId| self.given.view.class_of(input))
    }

    /// What a check traps on, and whether it is a statement of its own.
    fn condition(&self, site: SiteId) -> Option<(ClassId, bool)> {
        match &self.given.skeleton.statement(site).kind {
            StatementKind::Check { key: CheckKey::Condition { condition, .. }, value, .. } => {
                Some((self.given.view.class_of(*condition), value.is_none()))
            }
            _ => None,
        }
    }

    /// The value of a pure instruction that is no constant yet.
    fn value(&self, scope: &Scope, inst: InstId) -> Option<i64> {
        let Saturated { function: f, universe, view, .. } = self.given;
        let inst = f.inst(inst);
        let InstKind::Op { op, access: None, .. } = &inst.kind else { return None };
        let op = universe.ops.get(*op);
        let &[value] = inst.results.as_slice() else { return None };
        let class = self.class(value)?;
        let is_integer = matches!(universe.types.repr(f.ty(value)), Some(Repr::Scalar(scalar)) if scalar.is_int());
        if !op.effects.is_pure() || !is_integer || view.class(class).constant.is_some() {
            return None;
        }
        match op.model.is_some_and(Model::is_comparison) {
            true => scope.decides(class).map(i64::from),
            false => scope.narrowed(class).and_then(Known::single),
        }
    }
}

#[cfg(test)]
mod tests;
