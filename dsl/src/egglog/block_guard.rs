//! What a `match` block makes, it does not match: `X * V` and `X * W` become parts of `X * hcat(V, W)`, a product by
//! `X` again, which would go on with each of the others for ever.
//!
//! `(Generation class block)` is 0 for a class that was there when a step began, and 1 for one that the block has made
//! or, where its results have the form of what it matches, rewritten; the larger number stays when classes become one.
//! Patterns of the block ask for 0. Zeros are set by rules of a ruleset that runs before each step that asks.
//!
//! Only where it matters: a result whose operation no pattern of its block begins with is not marked, and patterns
//! that begin with another operation do not ask. A class that was there, and that the block makes again, is marked
//! too. A class that other rules make of a result is not the block's.
//!
//! Left out: patterns and results that are states.

use super::context::{Shared, output};
use super::{Action, Atom, EgglogProgram, EgglogRule, Expr, Ruleset, Sort, TableKind};
use crate::program::{Conclusion, Program, Rule};
use crate::syntax::ast::Span;
use rewright_typeprop::{OpId, Term};
use std::collections::{BTreeMap, BTreeSet};

/// The function.
pub const GENERATION: &str = "Generation";

/// By block, in order: what its patterns begin with and its results have, by the functions' names.
pub(super) struct Generations<'p>(BTreeMap<Span, BTreeSet<&'p str>>);

impl<'p> Generations<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let name = |term: &Term| match term {
            Term::Call { op, .. } if output(program.universe.ops.get(*op)) == Sort::Value => {
                Some(program.universe.ops.get(*op).name.as_str())
            }
            _ => None,
        };
        let (mut matched, mut made): (BTreeMap<_, BTreeSet<_>>, BTreeMap<_, BTreeSet<_>>) = Default::default();
        for rule in program.rules.iter().filter(|rule| rule.is_block) {
            matched.entry(rule.span).or_default().extend(rule.left.iter().filter_map(name));
            made.entry(rule.span).or_default().extend(results(rule).into_iter().filter_map(name));
        }
        let both = matched.into_iter().map(|(span, names)| (span, &names & &made[&span]));
        Generations(both.filter(|(_, names)| !names.is_empty()).collect())
    }

    /// The number of a rule's block, if what this operation gives must not be matched again.
    fn block(&self, program: &Program, rule: &Rule, op: OpId) -> Option<i64> {
        let op = program.universe.ops.get(op);
        let names = self.0.get(&rule.span).filter(|_| rule.is_block)?;
        let number = self.0.keys().position(|span| *span == rule.span)?;
        (names.contains(op.name.as_str()) && output(op) == Sort::Value).then_some(number as i64)
    }

    /// What a pattern asks of the class that it has found.
    pub(super) fn asks(&self, program: &Program, rule: &Rule, op: OpId, class: &str) -> Option<Atom> {
        let block = self.block(program, rule, op)?;
        Some(Atom::Equal(Expr::Int(0), mark(Expr::Var(class.into()), block)))
    }

    /// The results of a rule that are marked, with the mark.
    pub(super) fn marked<'r>(&self, program: &Program, rule: &'r Rule) -> Vec<(&'r Term, i64)> {
        let block = |term: &Term| match term {
            Term::Call { op, .. } => self.block(program, rule, *op),
            _ => None,
        };
        results(rule).into_iter().filter_map(|term| Some((term, block(term)?))).collect()
    }

    /// The rules that set zeros, in a ruleset of their own.
    pub(super) fn declare(&self, shared: &mut Shared<'_>, result: &mut EgglogProgram) {
        if self.0.is_empty() {
            return;
        }
        let ruleset = result.rulesets.len();
        result.rulesets.push(Ruleset { name: shared.names.unique("generations"), combined: None });
        result.generations = Some(ruleset);
        for (block, names) in self.0.values().enumerate() {
            for table in result.tables.iter().filter(|table| table.output == Sort::Value) {
                let TableKind::Op(op) = table.kind else { continue };
                if !names.contains(shared.program.universe.ops.get(op).name.as_str()) {
                    continue;
                }
                let columns = (0..table.columns.len()).map(|i| Expr::Var(format!("?c{i}"))).collect();
                let class = || Expr::Var("?class".into());
                result.rules.push(EgglogRule {
                    name: shared.names.unique(&format!("generations.{block}.{}", table.name)),
                    source: None,
                    ruleset,
                    body: vec![Atom::Equal(class(), Expr::Call(table.name.clone(), columns))],
                    unit: None,
                    root: None,
                    actions: vec![Action::Set(mark(class(), block as i64), 0)],
                });
            }
        }
    }
}

/// The mark of a class in a block.
pub(super) fn mark(class: Expr, block: i64) -> Expr {
    Expr::Call(GENERATION.into(), vec![class, Expr::Int(block)])
}

/// The calls that a rule makes: those of its right side that its left sides are not.
fn results(rule: &Rule) -> Vec<&Term> {
    let mut found = vec![];
    let mut work: Vec<&Term> = match &rule.right {
        Conclusion::Equal(term) => vec![term],
        Conclusion::Fact(..) => vec![],
    };
    while let Some(term) = work.pop() {
        if let Term::Call { args, .. } = term
            && !rule.left.contains(term)
        {
            found.push(term);
            work.extend(args);
        }
    }
    found
}
