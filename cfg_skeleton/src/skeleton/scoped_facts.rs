//! Tests and values that are decided by what is known where they stand: ranges and bits of integers, and which are less
//! than which.
//!
//! What is known everywhere comes from the e-graph's nodes and from what arrives at parameters of blocks
//! ([`crate::egraph::known`]). In a block holds besides, how a branch came out that has led there, that checks have not
//! trapped which stand before, and so on up the dominator tree ([`scope`]).
//!
//! A condition that varies in a loop says something of one iteration. A block that the place of its test dominates, and
//! that lies in the same loops, is executed in the same iteration: each way into another one leads past the header, which
//! dominates both.
//!
//! **Invariant**: what decides a check was tested strictly before it, so no two checks go because of each other.

mod integers;
mod order;
mod scope;

use super::branch_facts::fact;
use super::variance::Variance;
use super::{CheckKey, SiteId, SkeletonArg, StatementKind};
use crate::Saturated;
use crate::egraph::known::{Computes, IntTerm, terms};
use crate::egraph::{ClassId, InputId};
use crate::ir::{BlockId, InstId, InstKind, Terminator, Value};
use integers::Integers;
use rewright_typeprop::{Known, Model, Repr};
use rustc_hash::FxHashMap;
use scope::Scope;
use smallvec::SmallVec;
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
}

/// What is known on the way into a block, or past a check.
#[derive(Clone, Copy, Debug)]
enum Assumption {
    /// The class is other than zero, or zero.
    Condition(ClassId, bool),
    /// The class is this constant.
    Constant(ClassId, i64),
}

/// Decides what it can.
pub(super) fn decide(given: Saturated) -> Decisions {
    let mut decisions = Decisions::default();
    walk(given, &mut decisions);
    decisions
}

/// What is known of integers at the ends of blocks.
pub struct KnownAtEnds(FxHashMap<BlockId, Scope>);

impl KnownAtEnds {
    /// Finds out.
    pub fn new(given: Saturated) -> Self {
        KnownAtEnds(walk(given, &mut Decisions::default()))
    }

    /// What is known of a class at the end of a block, whenever that is executed; `None` where it is no integer.
    pub fn known(&self, block: BlockId, class: ClassId) -> Option<Known> {
        self.0.get(&block)?.known(class)
    }
}

/// Goes through all blocks; gives what holds at the end of each.
fn walk(given: Saturated, decisions: &mut Decisions) -> FxHashMap<BlockId, Scope> {
    let integers = Rc::new(Integers::new(given.view.classes.len(), integer_terms(given)));
    let has_loops = given.cfg.loop_count() > 0;
    let variance = has_loops.then(|| Variance::new(given.cfg, given.skeleton, given.view));
    let mut decider = Decider { given, integers, variance, ends: FxHashMap::default() };
    for block in given.cfg.reverse_post_order() {
        decider.block(*block, decisions);
    }
    decider.ends
}

/// The nodes of integers, and what arrives at parameters of blocks.
fn integer_terms(given: Saturated) -> Vec<IntTerm> {
    let Saturated { function: f, universe, skeleton: s, view, .. } = given;
    let mut found = terms(view, universe);
    let mut arriving: FxHashMap<(BlockId, usize), Option<SmallVec<[usize; 3]>>> = FxHashMap::default();
    for edge in s.layout.iter().flat_map(|block| &s.blocks[block.index()].edges) {
        for (index, arg) in edge.args.iter().enumerate() {
            let known = arriving.entry((edge.target, index)).or_insert_with(|| Some(SmallVec::new()));
            match (arg, &mut *known) {
                (SkeletonArg::Node(input), Some(classes)) => classes.push(view.class_of(*input).index()),
                _ => *known = None,
            }
        }
    }
    for block in s.layout.iter().filter(|block| **block != f.entry()) {
        for (index, value) in f.block(*block).params.iter().enumerate() {
            let Some(scalar) = universe.types.scalar(f.ty(*value)).filter(|scalar| scalar.is_int()) else { continue };
            let Some(Some(children)) = arriving.remove(&(*block, index)) else { continue };
            let class = view.class_of(s.blocks[block.index()].params[index]).index();
            found.push(IntTerm { class, bits: scalar.bits(), computes: Computes::OneOf, children });
        }
    }
    found
}

struct Decider<'a> {
    given: Saturated<'a>,
    integers: Rc<Integers>,
    /// Where the function has loops.
    variance: Option<Variance>,
    /// By block: what holds at its end.
    ends: FxHashMap<BlockId, Scope>,
}

impl Decider<'_> {
    /// Decides what stands in a block, in order.
    fn block(&mut self, block: BlockId, decisions: &mut Decisions) {
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

    /// What holds where a block begins.
    fn beginning(&self, block: BlockId) -> Scope {
        let cfg = self.given.cfg;
        let mut scope = Scope::new(self.integers.clone());
        let Some(parent) = cfg.idom(block) else { return scope };
        if cfg.loops_around(block).eq(cfg.loops_around(parent)) {
            scope.clone_from(&self.ends[&parent]);
        } else {
            let above: Vec<BlockId> =
                std::iter::successors(Some(parent), |block| cfg.idom(*block)).take(MAX_DEPTH).collect();
            for above in above.into_iter().rev() {
                let checks = self.given.skeleton.sites(above).filter_map(|site| self.condition(site));
                let checks = checks.map(|(condition, _)| Assumption::Condition(condition, false));
                for assumption in self.way_in(above).into_iter().chain(checks) {
                    self.assume(&mut scope, assumption, above, block);
                }
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
        if let Some(variance) = &self.variance {
            let cfg = self.given.cfg;
            let in_both = |l: &_| cfg.loop_contains(*l, at) && cfg.loop_contains(*l, here);
            if !variance.loops(class).is_some_and(|loops| loops.iter().all(in_both)) {
                return;
            }
        }
        match assumption {
            Assumption::Condition(class, holds) => scope.assume(class, holds),
            Assumption::Constant(class, constant) => scope.assume_constant(class, constant),
        }
    }

    /// What the only way into a block tells.
    fn way_in(&self, block: BlockId) -> Option<Assumption> {
        let Saturated { function: f, cfg, universe, .. } = self.given;
        if let Some(fact) = fact(f, cfg, block) {
            return Some(Assumption::Condition(self.class(fact.condition)?, fact.holds));
        }
        let [edge] = cfg.predecessors(block) else { return None };
        let Terminator::Switch { index, targets, .. } = &f.block(edge.from).term else { return None };
        let is_case = (edge.slot as usize) < targets.len();
        let scalar = universe.types.scalar(f.ty(*index))?;
        is_case.then_some(Assumption::Constant(self.class(*index)?, scalar.canonical(edge.slot.into())))
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
