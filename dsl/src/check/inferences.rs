//! Inferences: what makes a fact hold.

use super::Checker;
use super::elab::Elab;
use super::families::Choice;
use super::guards::Condition;
use super::nodes::{Around, NodeId, NodeKind};
use super::report::Diag;
use super::rules::instance;
use crate::program::{Conclusion, Guard, Rule};
use crate::syntax::ast::{Clause, Expr, Item, ItemKind, Name};
use rewright_typeprop::Term;

impl Checker<'_> {
    pub(super) fn check_infer(&mut self, file: usize, set: &str, item: &Item, name: &Name) {
        let ItemKind::Infer { tparams, params, clauses, .. } = &item.kind else { return };
        let qualified = format!("{set}.{}", name.node);
        let before = self.errors();
        let fresh = self.is_new_name(&qualified, name, item.span);
        for param in params.iter().filter(|p| p.variadic) {
            self.report(super::decls::variadic(param.name.span));
        }
        self.clauses_of_unsafe(&clauses.iter().collect::<Vec<_>>());
        let choices = self.choices(tparams, &self.scopes[file].clone());
        let mut made: Vec<(String, Rule)> = Vec::new();
        for choice in &choices {
            let told = self.diagnostics.len();
            match self.inference(file, item, &qualified, choice) {
                Some(rule) if fresh && self.errors() == before => made.push((qualified.clone(), rule)),
                _ => {
                    self.name_members(told, choice);
                    return self.rejected_rules.push(qualified);
                }
            }
        }
        self.drop_senseless(&choices, &mut made);
        let rules = made.into_iter().map(|(family, rule)| self.enter(set, &family, rule)).collect();
        self.note_written(file, name.span, rules);
    }

    /// An inference at one choice of members.
    fn inference(&mut self, file: usize, item: &Item, qualified: &str, choice: &Choice) -> Option<Rule> {
        let ItemKind::Infer { params, fact, clauses, .. } = &item.kind else { return None };
        let mut elab = self.elab(file, choice.tparams.clone());
        elab.parameters(params, &[], true);
        let parts = elab.inferred(fact, clauses).map(|parts| (parts, elab.tparams.clone(), elab.program_variables()));
        let diagnostics = std::mem::take(&mut elab.diagnostics);
        self.diagnostics.extend(diagnostics);
        let ((left, guards, right), tparams, vars) = parts?;
        let members = instance(choice.members.iter().map(|(param, member)| format!("{param}={member}")));
        Some(Rule {
            span: item.span,
            doc: item.doc.clone(),
            members: choice.names(),
            tparams,
            guards,
            ..Rule::new(format!("{qualified}{members}"), vars?, left, right)
        })
    }
}

impl Elab<'_> {
    /// What is matched, on which conditions, and what follows.
    fn inferred(&mut self, fact: &Expr, clauses: &[Clause]) -> Option<(Vec<Term>, Vec<Guard>, Conclusion)> {
        let concluded = self.guard(fact, Around::LEFT);
        if let Some(condition) = &concluded
            && !matches!(condition, Condition::Fact(..))
            && !self.failed
        {
            self.report(
                Diag::error("RW0408", fact.span, "an `infer` concludes a fact", "not a fact")
                    .help("`infer name(params): fact(args) when ..`"),
            );
        }
        if let Some(Condition::Fact(id, _)) = &concluded
            && self.facts[id.0 as usize].filled.is_some()
        {
            self.failed = true;
            let message = "no rule concludes a fact that has a `@model`";
            self.report(
                Diag::error("RW0408", fact.span, message, "the compiler says where it holds")
                    .help("declare a fact of your own, without `@model`"),
            );
        }
        let conditions = self.whens(clauses);
        let (id, args) = match concluded {
            Some(Condition::Fact(id, args)) => (Some(id), args),
            _ => (None, Vec::new()),
        };
        let patterns: Vec<NodeId> =
            args.iter().copied().filter(|arg| matches!(self.node(*arg).kind, NodeKind::Call(_))).collect();
        self.finish(patterns.first().copied(), true);
        for condition in &conditions {
            self.check_computed(condition);
        }
        let mut bound = Vec::new();
        patterns.iter().for_each(|pattern| self.variables_in(*pattern, &mut bound));
        self.bound_by_facts(&conditions, &mut bound);
        if !self.failed {
            args.iter().for_each(|arg| self.must_be_bound(*arg, &bound, "concluded"));
        }
        if !self.failed {
            let nodes = conditions.iter().flat_map(Condition::nodes);
            nodes.for_each(|node| self.must_be_bound(node, &bound, "in a condition"));
        }
        let left = patterns.iter().map(|pattern| self.term(*pattern)).collect::<Option<Vec<_>>>()?;
        let terms = args.iter().map(|arg| self.term(*arg)).collect::<Option<Vec<_>>>()?;
        let guards = conditions.iter().map(|c| self.close_guard(c)).collect::<Option<Vec<_>>>()?;
        Some((left, guards, Conclusion::Fact(id?, terms)))
    }
}
