//! A rule at one instance: what is verified, and what can be asked of it without verifying it.

use super::concrete::Concrete;
use super::encode::{self, Encoding, OutOfScope, Question};
use super::sample::{Effort, Tried, try_values};
use rewright_dsl::program::{Program, Rule, VarKind};
use rewright_typeprop::eval::repr_of;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Model, Op, OpId, Repr, Term, Ty, TypeExpr, Universe};
use std::collections::BTreeSet;

/// A rule at one instance.
pub(super) struct Case<'p> {
    pub(super) program: &'p Program,
    pub(super) rule: &'p Rule,
    /// `None` for a type without representation.
    pub(super) targs: Vec<Option<Repr>>,
    /// The types for people and examples; empty where the instance stands for all types.
    pub(super) types: Vec<Ty>,
}

impl Case<'_> {
    /// The question that settles it, if it can be asked.
    pub(super) fn question(&self) -> Result<Question, OutOfScope> {
        encode::question(self.program, self.rule, &self.targs, Encoding::PLAIN)
    }

    /// Both sides on values alone.
    pub(super) fn tried(&self, effort: Effort) -> Tried {
        try_values(self.concrete(), effort)
    }

    pub(super) fn concrete(&self) -> Concrete<'_> {
        Concrete { program: self.program, rule: self.rule, targs: &self.targs }
    }

    /// Is it the other instance, up to how many lanes vectors have?
    pub(super) fn lanes_as_in(&self, other: &Case<'_>) -> bool {
        let pattern = |case: &Case<'_>| -> Vec<_> {
            let counts: Vec<_> = case.targs.iter().map(|repr| repr.and_then(Repr::lanes)).collect();
            let first = |n: &Option<u32>| n.map(|n| counts.iter().position(|c| *c == Some(n)));
            case.targs.iter().map(|repr| repr.map(|r| (r.lane(), r.bits()))).zip(counts.iter().map(first)).collect()
        };
        let vectors = self.targs.iter().flatten().any(|repr| repr.lanes().is_some());
        vectors && pattern(self) == pattern(other)
    }

    pub(super) fn shown(&self) -> Vec<String> {
        let types = &self.program.universe.types;
        let named = self.rule.tparams.iter().zip(&self.types);
        named.map(|(p, ty)| format!("{} = {}", p.name, types.display(*ty))).collect()
    }

    /// A library that alone knows what a function of the rule computes, and may not be called.
    pub(super) fn refused(&self) -> Option<&str> {
        let ops = &self.program.universe.ops;
        let mentioned = mentioned(self.program, self.rule);
        let mut unknown = mentioned.into_iter().map(|op| ops.get(op)).filter(|op| op.spec.is_none());
        unknown.find_map(|op| op.link.as_ref().filter(|link| !link.allowed).map(|link| link.library.as_str()))
    }

    /// Is it about values that its pack says how to make, or about memory that only a library looks at or changes?
    pub(super) fn needs_library(&self) -> bool {
        let own = |decl: &TypeDeclId| self.program.samples.get(decl).is_some_and(|sample| sample.make.is_some());
        let made = |ty: &TypeExpr| matches!(ty, TypeExpr::App(decl, _) if own(decl));
        let ops = &self.program.universe.ops;
        let mentioned = mentioned(self.program, self.rule);
        let effects = mentioned.into_iter().map(|op| ops.get(op)).any(Op::is_linked_effect);
        effects || self.rule.vars.iter().any(|var| matches!(&var.kind, VarKind::Value { ty, .. } if made(ty)))
    }

    /// Does a side call a function whose only meaning is the code of a library, or of an embedding program?
    pub(super) fn calls_outside(&self) -> bool {
        let Universe { ops, hosts, .. } = &self.program.universe;
        let registered = |op: &Op| op.host && hosts.get(&op.name).is_some();
        let mentioned = mentioned(self.program, self.rule);
        mentioned
            .into_iter()
            .map(|op| ops.get(op))
            .any(|op| (op.is_linked_value() || registered(op)) && op.model.is_none() && op.spec.is_none())
    }

    /// Are there both products and shifts left?
    pub(super) fn multiplies_and_shifts(&self) -> bool {
        let models: Vec<Model> = mentioned(self.program, self.rule)
            .into_iter()
            .filter_map(|op| self.program.universe.ops.get(op).model)
            .collect();
        models.contains(&Model::Mul) && models.contains(&Model::Shl)
    }

    /// The width of the widest operand.
    pub(super) fn widest(&self) -> u32 {
        let types = &self.program.universe.types;
        let own = self.rule.vars.iter().filter_map(|v| match &v.kind {
            VarKind::Value { ty, .. } => repr_of(types, ty, &self.targs),
            VarKind::State => None,
        });
        own.chain(self.targs.iter().copied().flatten()).map(Repr::bits).max().unwrap_or(0)
    }
}

/// The operations that a rule and its meanings mention.
pub(super) fn mentioned(program: &Program, rule: &Rule) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    let mut todo: Vec<&Term> = rule.terms().collect();
    todo.extend(program.facts.iter().filter_map(|f| f.spec.as_ref()));
    while let Some(term) = todo.pop() {
        todo.extend(term.parts());
        let ops = &program.universe.ops;
        if let Term::Call { op, .. } = term
            && found.insert(ops.whole(*op))
        {
            let op = ops.get(ops.whole(*op));
            todo.extend(op.spec.iter().chain(op.checks.iter().filter_map(|c| c.condition.as_ref())));
        }
    }
    found
}
