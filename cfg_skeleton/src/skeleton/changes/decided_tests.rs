//! Tests that an earlier branch has decided, and values that it has shown to be constant.
//!
//! A test is decided where something as true was branched on, where that is its negation, or where its conjunction
//! with what was branched on is 0 or the fact itself ([`crate::skeleton::Conjunction`]). A value is constant behind a
//! branch on its equality with one, and a condition is itself: 0 on one side, and 1 on the other if it is a comparison.
//!
//! Constants are put only where an instruction's operands become constants altogether, or where it has checks that one
//! may settle: anywhere else a value that is there anyway is cheaper.

use super::{Change, Reader};
use crate::egraph::{ClassId, Head, InputId, NodeId};
use crate::ir::{BlockId, Cfg, InstId, InstKind, Value};
use crate::skeleton::Test;
use crate::skeleton::branch_facts::{Fact, fact, facts};
use rewright_typeprop::Model;
use smallvec::SmallVec;

impl Reader<'_> {
    /// Whether what is tested in a block is other than zero, as far as earlier branches tell.
    pub(super) fn known(&self, test: Test, block: BlockId, condition: InputId) -> Option<bool> {
        let condition = self.view.class_of(condition);
        let tested = self.truths.get(&condition);
        let direct = facts(self.f, self.cfg, block).find_map(|fact| {
            let (class, truth) = self.classes(fact)?;
            let negated = || self.negates(condition, class) || self.negates(class, condition);
            match class == condition || truth.is_some() && truth == tested {
                true => Some(fact.holds),
                false => negated().then_some(!fact.holds),
            }
        });
        direct.or_else(|| {
            self.s.conjunctions.iter().filter(|c| c.test == test).find_map(|c| {
                let both = self.view.class_of(c.both);
                match self.view.class(both).constant {
                    Some(0) => Some(false),
                    _ => (both == self.view.class_of(c.fact)).then_some(true),
                }
            })
        })
    }

    /// The class of what was branched on, and that of its truth.
    fn classes(&self, fact: Fact) -> Option<(ClassId, Option<&ClassId>)> {
        let class = self.view.class_of(self.s.value_input[fact.condition.index()]?);
        Some((class, self.truths.get(&class)))
    }

    /// Does a class say that another one is zero?
    fn negates(&self, class: ClassId, other: ClassId) -> bool {
        self.compared(class, Model::Eq).any(|(value, with)| value == other && with == 0)
    }

    /// What a class compares with which constant.
    fn compared(&self, class: ClassId, model: Model) -> impl Iterator<Item = (ClassId, i64)> {
        let constant = |class: ClassId| self.view.class(class).constant;
        self.view.class(class).nodes.iter().flat_map(move |id| {
            let node = self.view.node(*id);
            let found = match (node.head, &*node.children) {
                (Head::Op(op), [a, b]) if self.universe.ops.get(op).model == Some(model) => [(*a, *b), (*b, *a)],
                _ => return SmallVec::<[(ClassId, i64); 2]>::new(),
            };
            found.into_iter().filter_map(|(value, with)| Some((value, constant(with)?))).collect()
        })
    }

    /// Is it 0 or 1?
    fn is_comparison(&self, node: NodeId) -> bool {
        let model = |op| self.universe.ops.get(op).model;
        matches!(self.view.node(node).head, Head::Op(op) if model(op).is_some_and(Model::is_comparison))
    }

    /// The outcome of an instruction that is a comparison.
    fn comparison(&self, block: BlockId, inst: InstId) -> Option<i64> {
        let [value] = self.f.inst(inst).results[..] else { return None };
        let input = self.s.value_input[value.index()]?;
        let mut nodes = self.view.class(self.view.class_of(input)).nodes.iter();
        if !nodes.any(|id| self.is_comparison(*id)) || self.constant(input).is_some() {
            return None;
        }
        self.known(Test::Value(value), block, input).map(i64::from)
    }

    /// Classes that are constant because of a fact.
    fn settled(&self, fact: Fact) -> Vec<(ClassId, i64)> {
        let Some((class, _)) = self.classes(fact) else { return vec![] };
        let model = if fact.holds { Model::Eq } else { Model::Ne };
        let mut settled: Vec<_> = self.compared(class, model).collect();
        let comparison = || self.view.class(class).nodes.iter().any(|id| self.is_comparison(*id));
        if !fact.holds || comparison() {
            settled.push((class, i64::from(fact.holds)));
        }
        settled.retain(|(class, _)| self.view.class(*class).constant.is_none());
        settled
    }
}

/// Comparisons whose outcome is known where they are computed, and other integers that are constant there.
pub(super) fn values(reader: &Reader<'_>, block: BlockId) -> impl Iterator<Item = Change> {
    reader.f.block(block).insts.iter().filter_map(move |inst| {
        let decided = reader.decisions.values.get(inst).copied();
        let constant = decided.or_else(|| reader.comparison(block, *inst))?;
        Some(Change::Settle { block, inst: *inst, constant })
    })
}

/// Operands that are constant behind a branch.
pub(super) fn constants(reader: &Reader<'_>, cfg: &Cfg) -> Vec<Change> {
    let Reader { f, s, view, universe, .. } = reader;
    let mut found = vec![];
    for block in &s.layout {
        let Some(fact) = fact(f, cfg, *block) else { continue };
        let settled = reader.settled(fact);
        if settled.is_empty() {
            continue;
        }
        let known = |value: Value| {
            let class = view.class_of(s.value_input[value.index()]?);
            let (_, constant) = settled.iter().find(|(settled, _)| *settled == class)?;
            universe.types.scalar(f.ty(value)).is_some_and(|scalar| scalar.is_int()).then_some(*constant)
        };
        let is_constant = |value: Value| {
            let input = s.value_input[value.index()];
            known(value).is_some() || input.is_some_and(|input| view.class(view.class_of(input)).constant.is_some())
        };
        let worth = |inst: InstId| {
            let inst = f.inst(inst);
            let InstKind::Op { op, access: None, .. } = &inst.kind else { return false };
            let op = universe.ops.get(*op);
            let taken = op.params.iter().all(|p| !p.constant);
            taken && (!op.checks.is_empty() || op.effects.is_pure() && inst.args.iter().all(|arg| is_constant(*arg)))
        };
        let behind = s.layout.iter().filter(|b| cfg.dominates(*block, **b)).flat_map(|b| &f.block(*b).insts);
        for inst in behind.filter(|inst| worth(**inst)) {
            for (index, arg) in (0u32..).zip(&f.inst(*inst).args) {
                if let Some(constant) = known(*arg) {
                    found.push(Change::Operand { block: *block, inst: *inst, index, constant });
                }
            }
        }
    }
    found
}
