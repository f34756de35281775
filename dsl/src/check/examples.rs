//! Stage 4: examples. Their terms are closed: every type is known. Where no state is written, all of an example
//! stands in one and the same state.

use super::elab::Elab;
use super::nodes::{Around, NodeId, NodeKind, VariableKind};
use super::report::Diag;
use super::resolved::Named;
use super::{Checker, ParsedFile};
use crate::program::{Claim, Example, RuleId, Verdict};
use crate::syntax::ast::{self, ExampleBody, ExampleItem, Item, ItemKind, Param, Path, Side, Span};
use rewright_typeprop::{Ty, TypeExpr};

impl Checker<'_> {
    pub(super) fn check_examples(&mut self, wanted: impl Fn(&ParsedFile) -> bool) {
        for file in (0..self.files.len()).filter(|file| wanted(&self.files[*file])) {
            let mut titles: Vec<(String, ast::Span)> = Vec::new();
            for (_, item) in self.items(file) {
                let ItemKind::Example(example) = &item.kind else { continue };
                for attribute in &item.attributes {
                    self.unknown_attribute(attribute, "an example");
                }
                let title = &example.title;
                if let Some((_, first)) = titles.iter().find(|(t, _)| *t == title.node) {
                    let first = *first;
                    self.report(
                        Diag::error("RW0210", title.span, format!("example `{}` twice", title.node), "again here")
                            .also(first, "first here")
                            .help("reports name an example by its title: give each its own"),
                    );
                }
                titles.push((title.node.clone(), title.span));
                self.check_example(file, item, example);
            }
        }
    }

    fn check_example(&mut self, file: usize, item: &Item, example: &ExampleItem) {
        let before = self.errors();
        let mut fires: Vec<RuleId> = Vec::new();
        for path in &example.fires {
            let Some(rule) = self.find_rule(file, path) else { continue };
            self.note_path(path, Named::Rule(rule));
            fires.push(rule);
        }
        let using = example.using.as_ref().and_then(|path| self.find_schedule(file, path));
        if let (Some(path), Some(schedule)) = (&example.using, &using) {
            self.note_path(path, Named::Schedule(schedule.clone()));
        }
        for param in example.params.iter().filter(|p| p.variadic) {
            self.report(super::decls::variadic(param.name.span));
        }
        let mut elab = self.elab(file, Vec::new());
        let claim = match &example.body {
            ExampleBody::Verdict { subject, verdict } => elab.term_claim(&example.params, subject, verdict),
            ExampleBody::Blocks { before, after } => elab.program_claim(example, before, after),
        };
        let names: Vec<String> = elab.variables.iter().map(|v| v.name.clone()).collect();
        let types: Option<Vec<Option<TypeExpr>>> = elab
            .variables
            .iter()
            .map(|v| match &v.kind {
                VariableKind::State => Some(None),
                VariableKind::Value { ty, .. } => elab.solver.to_expr(ty).map(Some),
            })
            .collect();
        let diagnostics = std::mem::take(&mut elab.diagnostics);
        self.diagnostics.extend(diagnostics);
        let (Some(claim), Some(types)) = (claim, types) else { return };
        if self.errors() > before {
            return;
        }
        let mut params: Vec<Option<Ty>> = Vec::new();
        for ty in types {
            params.push(match ty {
                None => None,
                Some(ty) => Some(match self.program.universe.types.instantiate(&ty, &[]) {
                    Some(ty) => ty,
                    None => return,
                }),
            });
        }
        self.program.examples.push(Example {
            pack: self.scopes[file].pack.clone(),
            title: example.title.node.clone(),
            span: item.span,
            expected: expected(example).unwrap_or(item.span),
            todo: example.todo,
            params,
            names,
            fires,
            using,
            claim,
        });
    }

    /// A rule by `rule`, `ruleset.rule` or `pack.ruleset.rule`; `.back` names the way back.
    fn find_rule(&mut self, file: usize, path: &Path) -> Option<RuleId> {
        let found = self.scopes[file].find_path(&path.node, |name| {
            self.rule_names.contains_key(name) || self.rejected_rules.iter().any(|r| r == name)
        });
        if let [one] = &found[..] {
            return self.rule_names.get(one).copied();
        }
        if !found.is_empty() {
            let places = found.into_iter().map(|name| {
                let place = self.rule_names.get(&name).map(|id| self.program.rule(*id).span);
                (name, place)
            });
            let report = super::name_clashes::several("rules", path, places);
            self.report(report);
            return None;
        }
        let rules = &self.program.rules;
        // Without its ruleset, if only one of the pack's rulesets has it; then in other packs.
        let packs: Vec<String> = std::iter::once(self.scopes[file].pack.clone())
            .chain(self.scopes[file].qualified.keys().cloned())
            .collect();
        for pack in &packs {
            let (start, end) = (format!("{pack}."), format!(".{}", path.node));
            let middle = |name: &str| {
                let rest = name.strip_prefix(&start).and_then(|r| r.strip_suffix(&end));
                rest.is_some_and(|m| !m.contains('.'))
            };
            let families = self.rule_names.iter().filter(|(name, _)| middle(name));
            let mut found: Vec<RuleId> = families.map(|(_, id)| *id).collect();
            found.sort_unstable();
            match found[..] {
                [] => {
                    if self.rejected_rules.iter().any(|r| middle(r)) {
                        return None;
                    }
                }
                [only] => return Some(only),
                [first, second, ..] => {
                    let (a, b) = (self.program.rule(first).clone(), self.program.rule(second).clone());
                    self.report(
                        Diag::error(
                            "RW0215",
                            path.span,
                            format!("several rules are called `{}`", path.node),
                            "which one?",
                        )
                        .also(a.span, format!("`{}`", a.name))
                        .also(b.span, format!("`{}`", b.name))
                        .help("qualify it with its ruleset: `ruleset.rule`"),
                    );
                    return None;
                }
            }
        }
        if self.scopes[file].incomplete {
            return None;
        }
        let prefix = format!("{}.", self.scopes[file].pack);
        let mut known: Vec<String> = Vec::new();
        for rule in rules.iter().filter(|r| !r.law) {
            let local = rule.name.strip_prefix(&prefix).unwrap_or(&rule.name);
            known.push(local.to_string());
            known.push(super::wording::short(local).to_string());
        }
        for rejected in &self.rejected_rules {
            known.push(super::wording::short(rejected).to_string());
        }
        let report =
            Diag::error("RW0205", path.span, format!("unknown rule `{}`", path.node), "not declared or imported")
                .nearest(&path.node, known.iter().map(String::as_str), || {
                    Some("a rule of a ruleset is named with it: `ruleset.rule`".into())
                });
        self.report(report);
        None
    }

    fn find_schedule(&mut self, file: usize, path: &Path) -> Option<String> {
        let found = self.scopes[file].find_path(&path.node, |name| self.program.schedules.contains_key(name));
        match &found[..] {
            [] => {}
            [one] => return Some(one.clone()),
            _ => {
                let places = found.into_iter().map(|name| (name, None));
                self.report(super::name_clashes::several("schedules", path, places));
                return None;
            }
        }
        if !self.scopes[file].incomplete {
            let prefix = format!("{}.", self.scopes[file].pack);
            let schedules = self.program.schedules.keys();
            let known: Vec<String> = schedules.map(|k| k.strip_prefix(&prefix).unwrap_or(k).to_string()).collect();
            let report = Diag::error(
                "RW0206",
                path.span,
                format!("unknown schedule `{}`", path.node),
                "not declared or imported",
            )
            .nearest(&path.node, known.iter().map(String::as_str), || None);
            self.report(report);
        }
        None
    }
}

/// Where an example says what it expects.
fn expected(example: &ExampleItem) -> Option<Span> {
    match &example.body {
        ExampleBody::Verdict {
            verdict: ast::Verdict::Becomes(side) | ast::Verdict::Equals(side) | ast::Verdict::Differs(side),
            ..
        } => Some(Span { end: side.end(), ..side.expr.span }),
        ExampleBody::Verdict { subject, verdict: ast::Verdict::Stays } => {
            Some(Span { end: subject.end(), ..subject.expr.span })
        }
        ExampleBody::Blocks { .. } => None,
    }
}

impl Elab<'_> {
    fn term_claim(&mut self, params: &[Param], subject: &Side, verdict: &ast::Verdict) -> Option<Claim> {
        let sides = match verdict {
            ast::Verdict::Stays => vec![subject],
            ast::Verdict::Becomes(side) | ast::Verdict::Equals(side) | ast::Verdict::Differs(side) => {
                vec![subject, side]
            }
        };
        self.parameters(params, &super::variables::state_names(&sides), false);
        let left = self.side(subject, Around::EXAMPLE);
        let other: Option<NodeId> = match verdict {
            ast::Verdict::Stays => None,
            ast::Verdict::Becomes(side) | ast::Verdict::Equals(side) | ast::Verdict::Differs(side) => {
                let right = self.side(side, Around::EXAMPLE);
                self.must_meet(left, subject.expr.span, right, side.expr.span);
                Some(right)
            }
        };
        self.finish(Some(left), false);
        if !self.failed && matches!(self.node(left).kind, NodeKind::Lit(_)) {
            self.report(Diag::error(
                "RW0401",
                subject.expr.span,
                "an example is about a call",
                "a literal is what it is",
            ));
        }
        let subject = self.term(left)?;
        let verdict = match (verdict, other.and_then(|node| self.term(node))) {
            (ast::Verdict::Stays, _) => Verdict::Stays,
            (ast::Verdict::Becomes(_), Some(term)) => Verdict::Becomes(term),
            (ast::Verdict::Equals(_), Some(term)) => Verdict::Equals(term),
            (ast::Verdict::Differs(_), Some(term)) => Verdict::Differs(term),
            (_, None) => return None,
        };
        Some(Claim::Term { subject, verdict })
    }

    /// Compared terms must be of one type.
    pub(super) fn must_meet(&mut self, left: NodeId, left_at: Span, right: NodeId, right_at: Span) {
        let (l, r) = (self.node(left).ty.clone(), self.node(right).ty.clone());
        if self.solver.unify(&l, &r).is_err() && self.solver.subtype(&r, &l).is_err() {
            let (l, r) = (self.show(&l), self.show(&r));
            self.report(
                Diag::error(
                    "RW0301",
                    right_at,
                    format!("the term is `{l}`, what it is compared with `{r}`"),
                    format!("of type `{r}`"),
                )
                .also(left_at, format!("of type `{l}`")),
            );
        }
    }
}
