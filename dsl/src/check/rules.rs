//! Stage 3: rules and inferences.

use super::elab::{Around, Elab, NodeId, NodeKind, Place};
use super::guards::Condition;
use super::report::Report;
use super::variables::state_names;
use super::{Checker, Written};
use crate::program::{Conclusion, Rule, RuleId};
use crate::syntax::ast::{Clause, ClauseKind, Item, ItemKind, Name, Rewrite, RuleBody, RuleItem};
use rewright_typeprop::{Term, TypeExpr};

/// The ruleset of rules that stand in none.
pub(super) const TOP_RULESET: &str = "rules";

const LEFT: Around = Around { place: Place::Left, state: None, dynamic: false };
const GUARD: Around = Around { place: Place::Guard, state: None, dynamic: false };

impl<'a> Checker<'a> {
    pub(super) fn check_rules(&mut self) {
        for file in 0..self.files.len() {
            self.declare_rulesets(file);
            for (ruleset, item) in self.items(file) {
                let set = ruleset.map_or(TOP_RULESET, |n| n.node.as_str());
                let set = format!("{}.{set}", self.scopes[file].pack);
                match &item.kind {
                    ItemKind::Rule(rule) => {
                        self.rule_attributes(item);
                        self.check_rule(file, &set, item, rule);
                    }
                    ItemKind::Infer { name, .. } => {
                        self.rule_attributes(item);
                        self.check_infer(file, &set, item, name);
                    }
                    _ => {}
                }
            }
        }
    }

    fn rule_attributes(&mut self, item: &Item) {
        for attribute in &item.attributes {
            self.unknown_attribute(attribute, "a rule");
        }
    }

    fn declare_rulesets(&mut self, file: usize) {
        let mut seen: Vec<&'a Name> = Vec::new();
        for item in &self.files[file].file.items {
            let ItemKind::Ruleset { name, .. } = &item.kind else { continue };
            if let Some(first) = seen.iter().find(|n| n.node == name.node) {
                let first = first.span;
                self.report(
                    Report::error(
                        "RW0210",
                        name.span,
                        format!("ruleset `{}` is declared twice", name.node),
                        "again here",
                    )
                    .also(first, "first declared here"),
                );
            }
            seen.push(name);
            let qualified = format!("{}.{}", self.scopes[file].pack, name.node);
            self.program.rulesets.entry(qualified).or_default();
        }
    }

    /// Enters a rule; its name must be new.
    fn enter(&mut self, set: &str, rule: Rule) -> RuleId {
        let id = RuleId(self.program.rules.len() as u32);
        self.rule_names.insert(rule.name.clone(), id);
        self.program.rules.push(rule);
        self.program.rulesets.entry(set.to_string()).or_default().push(id);
        id
    }

    fn is_new_name(&mut self, qualified: &str, name: &Name) -> bool {
        let Some(earlier) = self.rule_names.get(qualified).map(|id| self.program.rule(*id).span) else {
            return true;
        };
        self.report(
            Report::error("RW0210", name.span, format!("rule `{}` is declared twice", name.node), "again here")
                .also(earlier, "first declared here"),
        );
        false
    }

    /// What cannot be accepted whatever it says.
    fn not_yet(&mut self, rule: &RuleItem) -> bool {
        let mut rejected = false;
        if let Some(at) = rule.is_unsafe {
            rejected = true;
            self.report(
                Report::error("RW0451", at, "`unsafe` rules are not yet supported", "drops an effect")
                    .also(rule.name.span, "this rule is left out"),
            );
        }
        if let RuleBody::Block { span, .. } = &rule.body {
            rejected = true;
            self.report(
                Report::error(
                    "RW0453",
                    rule.name.span,
                    "`match` blocks are not yet supported",
                    "this rule is left out",
                )
                .also(*span, "several patterns at once")
                .help("write a rule with one pattern: `rule name(..): lhs => rhs`"),
            );
        }
        if !rejected && let Some(param) = rule.params.iter().find(|p| p.variadic) {
            rejected = true;
            self.report(super::decls::variadic(param.name.span));
        }
        rejected
    }

    fn check_rule(&mut self, file: usize, set: &str, item: &Item, rule: &RuleItem) {
        let qualified = format!("{set}.{}", rule.name.node);
        let fresh = self.is_new_name(&qualified, &rule.name);
        if self.not_yet(rule) || !fresh {
            self.rejected_rules.push(qualified);
            return;
        }
        let RuleBody::Rewrite { rewrite, clauses } = &rule.body else { return };
        let before = self.errors();
        self.clauses_of_unsafe(clauses);
        let tparams = self.tparams(&rule.tparams, &self.scopes[file].clone());
        let mut elab = self.elab(file, tparams);
        elab.parameters(&rule.params, &state_names(&[&rewrite.left, &rewrite.right]), true);
        let (left, right, conditions) = elab.rewrite(rewrite, clauses, rule.dynamic.is_some());
        elab.rule_checks(left, right, rewrite, &conditions);
        let built = elab.build(left, right, &conditions);
        let diagnostics = std::mem::take(&mut elab.diagnostics);
        let parts = built.map(|(l, r, g)| (l, r, g, elab.tparams.clone(), elab.program_variables()));
        self.diagnostics.extend(diagnostics);
        let Some((left_term, right_term, guards, tparams, vars)) = parts else {
            self.rejected_rules.push(qualified);
            return;
        };
        let Some(vars) = vars else { return };
        self.check_effects(rewrite, &left_term, &right_term);
        if rewrite.both_ways {
            self.check_effects_back(rewrite, &left_term, &right_term);
        }
        if self.errors() > before {
            self.rejected_rules.push(qualified);
            return;
        }
        self.check_requires(file, rewrite.right.expr.span, &left_term, &right_term, &guards);
        let mut made = Rule {
            name: qualified.clone(),
            span: item.span,
            doc: item.doc.clone(),
            tparams,
            vars,
            left: vec![left_term.clone()],
            guards,
            right: Conclusion::Equal(right_term.clone()),
            dynamic: rule.dynamic.is_some(),
            law: false,
        };
        let mut rules = vec![self.enter(set, made.clone())];
        if rewrite.both_ways {
            made.name = format!("{qualified}.back");
            made.left = vec![right_term];
            made.right = Conclusion::Equal(left_term);
            rules.push(self.enter(set, made));
        }
        self.written.push(Written { file, name: rule.name.span, rules });
    }

    fn clauses_of_unsafe(&mut self, clauses: &[Clause]) {
        for clause in clauses {
            let word = match &clause.kind {
                ClauseKind::When(_) => continue,
                ClauseKind::Removes(_) => "removes",
                ClauseKind::Because(_) => "because",
            };
            self.report(
                Report::error("RW0407", clause.span, format!("`{word}` outside an unsafe rule"), "not allowed here")
                    .help("a plain rule removes no effect, and needs no reason: leave it out"),
            );
        }
    }

    fn check_infer(&mut self, file: usize, set: &str, item: &Item, name: &Name) {
        let ItemKind::Infer { tparams, params, fact, clauses, .. } = &item.kind else { return };
        let qualified = format!("{set}.{}", name.node);
        let before = self.errors();
        let fresh = self.is_new_name(&qualified, name);
        for param in params.iter().filter(|p| p.variadic) {
            self.report(super::decls::variadic(param.name.span));
        }
        self.clauses_of_unsafe(clauses);
        let tparams = self.tparams(tparams, &self.scopes[file].clone());
        let mut elab = self.elab(file, tparams);
        elab.parameters(params, &[], true);
        let concluded = elab.guard(fact, LEFT);
        if let Some(condition) = &concluded
            && !matches!(condition, Condition::Fact(..))
            && !elab.failed
        {
            elab.report(
                Report::error("RW0408", fact.span, "an `infer` concludes a fact", "not a fact")
                    .help("`infer name(params): fact(args) when ..`"),
            );
        }
        let mut conditions = Vec::new();
        for clause in clauses {
            if let ClauseKind::When(exprs) = &clause.kind {
                conditions.extend(elab.conditions(exprs, GUARD));
            }
        }
        let roots = match concluded {
            Some(Condition::Fact(id, args)) => Some((id, args)),
            _ => None,
        };
        let root = roots
            .as_ref()
            .and_then(|(_, args)| args.iter().copied().find(|a| matches!(elab.node(*a).kind, NodeKind::Call(_))));
        elab.finish(root, true);
        for condition in &conditions {
            elab.check_computed(condition);
        }
        let mut built = None;
        if let Some((id, args)) = roots {
            let patterns: Vec<NodeId> =
                args.iter().copied().filter(|a| matches!(elab.node(*a).kind, NodeKind::Call(_))).collect();
            let mut bound = Vec::new();
            patterns.iter().for_each(|p| elab.variables_in(*p, &mut bound));
            elab.bound_by_facts(&conditions, &mut bound);
            for arg in args.iter().filter(|_| !elab.failed).copied().collect::<Vec<_>>() {
                elab.must_be_bound(arg, &bound, "concluded");
            }
            for condition in conditions.iter().filter(|_| !elab.failed).cloned().collect::<Vec<_>>() {
                for node in condition.nodes() {
                    elab.must_be_bound(node, &bound, "in a condition");
                }
            }
            let left: Option<Vec<Term>> = patterns.iter().map(|p| elab.term(*p)).collect();
            let terms: Option<Vec<Term>> = args.iter().map(|a| elab.term(*a)).collect();
            let guards: Option<Vec<_>> = conditions.iter().map(|c| elab.close_guard(c)).collect();
            if let (Some(left), Some(terms), Some(guards), Some(vars)) = (left, terms, guards, elab.program_variables())
            {
                built = Some((left, guards, Conclusion::Fact(id, terms), elab.tparams.clone(), vars));
            }
        }
        let diagnostics = std::mem::take(&mut elab.diagnostics);
        self.diagnostics.extend(diagnostics);
        match built {
            Some((left, guards, right, tparams, vars)) if fresh && self.errors() == before => {
                let rule = Rule {
                    name: qualified,
                    span: item.span,
                    doc: item.doc.clone(),
                    tparams,
                    vars,
                    left,
                    guards,
                    right,
                    dynamic: false,
                    law: false,
                };
                let id = self.enter(set, rule);
                self.written.push(Written { file, name: name.span, rules: vec![id] });
            }
            _ => self.rejected_rules.push(qualified),
        }
    }
}

type Built = (Term, Term, Vec<crate::program::Guard>);

impl Elab<'_> {
    fn rewrite(&mut self, rewrite: &Rewrite, clauses: &[Clause], dynamic: bool) -> (NodeId, NodeId, Vec<Condition>) {
        let left = self.side(&rewrite.left, LEFT);
        let right_place = Around { place: Place::Right, state: None, dynamic };
        let right = self.side(&rewrite.right, right_place);
        let (l, r) = (self.node(left).ty.clone(), self.node(right).ty.clone());
        let met = if rewrite.both_ways { self.solver.unify(&r, &l) } else { self.solver.subtype(&r, &l) };
        if let Err(clash) = met {
            let (l, r) = (self.show(&l), self.show(&r));
            let why = self.explain(&clash);
            self.report(
                Report::error(
                    "RW0301",
                    rewrite.right.expr.span,
                    format!("the left side is `{l}`, the right side `{r}`"),
                    if matches!(clash, super::solve::Clash::Different) { format!("of type `{r}`") } else { why },
                )
                .also(rewrite.left.expr.span, format!("of type `{l}`")),
            );
        }
        let mut conditions = Vec::new();
        for clause in clauses {
            if let ClauseKind::When(exprs) = &clause.kind {
                conditions.extend(self.conditions(exprs, GUARD));
            }
        }
        self.finish(Some(left), true);
        (left, right, conditions)
    }

    /// What holds of every rule, beyond types.
    fn rule_checks(&mut self, left: NodeId, right: NodeId, rewrite: &Rewrite, conditions: &[Condition]) {
        if !matches!(self.node(left).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Report::error(
                    "RW0401",
                    rewrite.left.expr.span,
                    "the left side must be a call",
                    "would match every value of its type",
                )
                .help("put the call on the left, and turn the arrow's meaning around if need be"),
            );
            return;
        }
        if rewrite.both_ways && !matches!(self.node(right).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Report::error(
                    "RW0402",
                    rewrite.right.expr.span,
                    "`<=>` with a bare variable or literal on one side",
                    "the way back would match every value",
                )
                .help("write `=>`"),
            );
            return;
        }
        for condition in conditions {
            self.check_computed(condition);
        }
        if self.failed {
            return;
        }
        let mut bound = Vec::new();
        self.variables_in(left, &mut bound);
        self.bound_by_facts(conditions, &mut bound);
        self.must_be_bound(right, &bound, "on the right");
        for condition in conditions {
            for node in condition.nodes() {
                self.must_be_bound(node, &bound, "in a condition");
            }
        }
        if rewrite.both_ways {
            let mut back = Vec::new();
            self.variables_in(right, &mut back);
            self.bound_by_facts(conditions, &mut back);
            for variable in bound.iter().filter(|v| !back.contains(v)).copied().collect::<Vec<_>>() {
                let variable = self.variables[variable as usize].clone();
                let message = if variable.name.starts_with('_') || variable.name.starts_with('?') {
                    "`<=>`: a part of the left side is missing on the right".to_string()
                } else {
                    format!("`<=>`: `{}` is on the left but not on the right", variable.name)
                };
                self.report(
                    Report::error("RW0403", rewrite.right.expr.span, message, "the way back cannot know it")
                        .also(variable.span, "this one")
                        .help("write `=>`, or mention it on both sides"),
                );
            }
        }
        for index in 0..self.nodes.len() {
            if let NodeKind::Eval(inner) = self.nodes[index].kind
                && !self.failed
                && !self.is_static(inner)
            {
                let part = self.first_dynamic(inner);
                self.report_not_computable(part);
            }
        }
        self.must_be_determined(left, right, rewrite);
    }

    fn report_not_computable(&mut self, part: NodeId) {
        let span = self.node(part).span;
        let report = match &self.node(part).kind {
            NodeKind::Var(v) => {
                let variable = self.variables[*v as usize].clone();
                let message = format!("`eval` of `{}`, which is not a constant", variable.name);
                let report = Report::error("RW0406", span, message, "known only at run time");
                report.also(variable.span, "declared here").help(format!("declare it `const {}`", variable.name))
            }
            NodeKind::Call(call) => Report::error(
                "RW0406",
                span,
                format!("`{}` cannot be computed while matching", call.name),
                "has no meaning to compute by",
            )
            .help("give it a `@model`, a `spec`, or declare it `host fn`"),
            _ => Report::error("RW0406", span, "this cannot be computed while matching", "not a constant"),
        };
        self.report(report);
    }

    /// A type argument on the right must be known from the left.
    fn must_be_determined(&mut self, left: NodeId, right: NodeId, rewrite: &Rewrite) {
        if self.failed {
            return;
        }
        let (Some(l), Some(r)) = (self.term(left), self.term(right)) else { return };
        let mut known = Vec::new();
        type_arguments(&l, &mut known);
        let mut wanted = Vec::new();
        type_arguments(&r, &mut wanted);
        let mut ways = vec![(wanted.clone(), known.clone(), rewrite.right.expr.span)];
        if rewrite.both_ways {
            ways.push((known, wanted, rewrite.left.expr.span));
        }
        for (wanted, known, span) in ways {
            let Some(index) = wanted.into_iter().find(|i| !known.contains(i)) else { continue };
            let name = self.tparams[index as usize].name.clone();
            let message = if name.starts_with('?') {
                "a type on this side is not known from the other".to_string()
            } else {
                format!("type `{name}` on this side is not known from the other")
            };
            self.report(
                Report::error("RW0306", span, message, "of which type?")
                    .help("state type arguments, `f{T}(..)`, with parameters that the pattern determines"),
            );
        }
    }

    fn build(&self, left: NodeId, right: NodeId, conditions: &[Condition]) -> Option<Built> {
        let guards = conditions.iter().map(|c| self.close_guard(c)).collect::<Option<Vec<_>>>()?;
        Some((self.term(left)?, self.term(right)?, guards))
    }
}

/// Type parameters among the type arguments of all calls in a term.
fn type_arguments(term: &Term, out: &mut Vec<u32>) {
    fn params(ty: &TypeExpr, out: &mut Vec<u32>) {
        match ty {
            TypeExpr::Param(i) if !out.contains(i) => out.push(*i),
            TypeExpr::App(_, args) => args.iter().for_each(|a| params(a, out)),
            _ => {}
        }
    }
    match term {
        Term::Var(_) | Term::Lit(..) => {}
        Term::Eval(inner) => type_arguments(inner, out),
        Term::Call { targs, args, state, .. } => {
            targs.iter().for_each(|t| params(t, out));
            args.iter().for_each(|a| type_arguments(a, out));
            if let Some(state) = state {
                type_arguments(state, out);
            }
        }
    }
}
