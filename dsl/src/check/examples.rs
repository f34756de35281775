//! Stage 4: examples. Their terms are closed: every type is known. Where no state is written, all of an example
//! stands in one and the same state.

use super::Checker;
use super::elab::{Around, NodeId, NodeKind, Place, VariableKind};
use super::report::Report;
use crate::program::{Example, RuleId, Verdict};
use crate::syntax::ast::{self, ExampleBody, ExampleItem, Item, ItemKind, Path};
use rewright_typeprop::{Ty, TypeExpr};

const EXAMPLE: Around = Around { place: Place::Example, state: None, dynamic: false };

impl Checker<'_> {
    pub(super) fn check_examples(&mut self) {
        for file in 0..self.files.len() {
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
                        Report::error("RW0210", title.span, format!("example `{}` twice", title.node), "again here")
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
        let fires: Vec<RuleId> = example.fires.iter().filter_map(|path| self.find_rule(file, path)).collect();
        let using = example.using.as_ref().and_then(|path| self.find_schedule(file, path));
        let ExampleBody::Verdict { subject, verdict } = &example.body else {
            return self.report(
                Report::error(
                    "RW0454",
                    example.title.span,
                    "examples with `before` and `after` blocks are not yet supported",
                    "this example is left out",
                )
                .help("write `example \"..\" (params): term becomes term`"),
            );
        };
        for param in example.params.iter().filter(|p| p.variadic) {
            self.report(super::decls::variadic(param.name.span));
        }
        let mut elab = self.elab(file, Vec::new());
        let sides = match verdict {
            ast::Verdict::Stays => vec![subject],
            ast::Verdict::Becomes(side) | ast::Verdict::Equals(side) | ast::Verdict::Differs(side) => {
                vec![subject, side]
            }
        };
        elab.parameters(&example.params, &super::variables::state_names(&sides), false);
        let left = elab.side(subject, EXAMPLE);
        let other: Option<NodeId> = match verdict {
            ast::Verdict::Stays => None,
            ast::Verdict::Becomes(side) | ast::Verdict::Equals(side) | ast::Verdict::Differs(side) => {
                let right = elab.side(side, EXAMPLE);
                let (l, r) = (elab.node(left).ty.clone(), elab.node(right).ty.clone());
                if elab.solver.unify(&l, &r).is_err() && elab.solver.subtype(&r, &l).is_err() {
                    let (l, r) = (elab.show(&l), elab.show(&r));
                    elab.report(
                        Report::error(
                            "RW0301",
                            side.expr.span,
                            format!("the term is `{l}`, what it is compared with `{r}`"),
                            format!("of type `{r}`"),
                        )
                        .also(subject.expr.span, format!("of type `{l}`")),
                    );
                }
                Some(right)
            }
        };
        elab.finish(Some(left), false);
        if !elab.failed && matches!(elab.node(left).kind, NodeKind::Lit(_)) {
            elab.report(Report::error(
                "RW0401",
                subject.expr.span,
                "an example is about a call",
                "a literal is what it is",
            ));
        }
        let subject = elab.term(left);
        let other = other.map(|node| elab.term(node));
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
        let (Some(subject), Some(types)) = (subject, types) else { return };
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
        let verdict = match (verdict, other) {
            (ast::Verdict::Stays, _) => Verdict::Stays,
            (ast::Verdict::Becomes(_), Some(Some(term))) => Verdict::Becomes(term),
            (ast::Verdict::Equals(_), Some(Some(term))) => Verdict::Equals(term),
            (ast::Verdict::Differs(_), Some(Some(term))) => Verdict::Differs(term),
            _ => return,
        };
        self.program.examples.push(Example {
            pack: self.scopes[file].pack.clone(),
            title: example.title.node.clone(),
            span: item.span,
            todo: example.todo,
            params,
            names,
            fires,
            using,
            subject,
            verdict,
        });
    }

    /// A rule by `rule`, `ruleset.rule` or `pack.ruleset.rule`; `.back` names the way back.
    fn find_rule(&mut self, file: usize, path: &Path) -> Option<RuleId> {
        let candidates = self.scopes[file].candidates(&path.node);
        if let Some(id) = candidates.iter().find_map(|c| self.rule_names.get(c)) {
            return Some(*id);
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
            let found: Vec<RuleId> =
                (0..rules.len()).filter(|i| middle(&rules[*i].name)).map(|i| RuleId(i as u32)).collect();
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
                        Report::error(
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
        if self.scopes[file].incomplete || candidates.iter().any(|c| self.rejected_rules.contains(c)) {
            return None;
        }
        let prefix = format!("{}.", self.scopes[file].pack);
        let mut known: Vec<String> = Vec::new();
        for rule in rules.iter().filter(|r| !r.law) {
            let local = rule.name.strip_prefix(&prefix).unwrap_or(&rule.name);
            known.push(local.to_string());
            known.push(super::messages::short(local).to_string());
        }
        for rejected in &self.rejected_rules {
            known.push(super::messages::short(rejected).to_string());
        }
        let report =
            Report::error("RW0205", path.span, format!("unknown rule `{}`", path.node), "not declared or imported")
                .nearest(&path.node, known.iter().map(String::as_str), || None);
        self.report(report);
        None
    }

    fn find_schedule(&mut self, file: usize, path: &Path) -> Option<String> {
        let candidates = self.scopes[file].candidates(&path.node);
        if let Some(name) = candidates.iter().find(|c| self.program.schedules.contains_key(*c)) {
            return Some(name.clone());
        }
        if !self.scopes[file].incomplete {
            let prefix = format!("{}.", self.scopes[file].pack);
            let schedules = self.program.schedules.keys();
            let known: Vec<String> = schedules.map(|k| k.strip_prefix(&prefix).unwrap_or(k).to_string()).collect();
            let report = Report::error(
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
