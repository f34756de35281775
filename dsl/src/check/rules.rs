//! Stage 3: rules. Each item becomes a rule per choice of family members, rewriting and direction.
//!
//! One rewriting is elaborated by [`super::rewritings`], or by [`super::match_blocks`] where it stands in a block.

use super::Checker;
use super::approximate::given_up;
use super::families::Choice;
use super::report::Diag;
use super::variables::{state_names, states_in};
use crate::diagnostic::{Applicability, Diagnostic, Fix};
use crate::program::{Conclusion, Guard, Relaxation, Rule, RuleId, Var};
use crate::syntax::ast::{Clause, ClauseKind, Item, ItemKind, Name, Rewrite, RuleBody, RuleItem, RuleStatement, Span};
use rewright_typeprop::{Term, TypeParam};

/// The ruleset of rules that stand in none.
pub(super) const TOP_RULESET: &str = "rules";

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

    fn declare_rulesets(&mut self, file: usize) {
        let mut seen: Vec<&'a Name> = Vec::new();
        for (_, item) in self.items(file) {
            let ItemKind::Ruleset { name, .. } = &item.kind else { continue };
            if let Some(first) = seen.iter().find(|n| n.node == name.node) {
                self.report(Diag::twice("ruleset", name, first.span));
            }
            seen.push(name);
            let qualified = format!("{}.{}", self.scopes[file].pack, name.node);
            self.program.rulesets.entry(qualified).or_default();
        }
    }

    /// Enters a rule of the family that has this name.
    pub(super) fn enter(&mut self, set: &str, family: &str, rule: Rule) -> RuleId {
        let id = RuleId(self.program.rules.len() as u32);
        let family = *self.rule_names.entry(family.to_string()).or_insert(id);
        self.program.rules.push(Rule { family, ..rule });
        self.program.rulesets.entry(set.to_string()).or_default().push(id);
        id
    }

    /// Notes which rules about lists are not written out for all lengths, as has been reported.
    pub(super) fn note_cut_short(&mut self) {
        let reported =
            |name: Span| self.diagnostics.iter().any(|d| d.code == super::CUT_SHORT && d.primary.span == name);
        let cut = self.written.iter().filter(|rule| reported(rule.name)).filter_map(|rule| rule.rules.first());
        self.program.cut_short = cut.map(|rule| self.program.rule(*rule).family).collect();
    }

    /// Instances of one item share its name.
    pub(super) fn is_new_name(&mut self, qualified: &str, name: &Name, item: Span) -> bool {
        let earlier = self.rule_names.get(qualified).map(|id| self.program.rule(*id).span);
        let Some(earlier) = earlier.filter(|earlier| *earlier != item) else {
            return true;
        };
        self.report(Diag::twice("rule", name, earlier));
        false
    }

    fn check_rule(&mut self, file: usize, set: &str, item: &Item, rule: &RuleItem) {
        let name = format!("{set}.{}", rule.name.node);
        if !rule.lengths.is_empty() && self.rejected_rules.contains(&name) {
            // Another instance has told why.
            return;
        }
        let fresh = self.is_new_name(&name, &rule.name, item.span);
        if !fresh {
            self.rejected_rules.push(name);
            return;
        }
        let (errors, before) = (self.errors(), self.diagnostics.len());
        let mut made: Vec<(String, Rule)> = Vec::new();
        let choices = self.choices(&rule.tparams, &self.scopes[file].clone());
        for (choice, which) in
            choices.iter().flat_map(|choice| (0..rewrites(&rule.body).max(1)).map(move |which| (choice, which)))
        {
            match self.rewriting(file, item, rule, which, choice) {
                Some(rewriting) if self.errors() == errors => {
                    made.extend(self.make(item, rule, &name, which, rewriting, choice));
                }
                _ => {
                    // With an empty list a rule may say nothing; then there is no such instance.
                    if rule.lengths.iter().any(|(_, length)| *length == 0) {
                        self.diagnostics.truncate(before);
                    } else {
                        self.name_members(before, choice);
                        self.rejected_rules.push(name);
                    }
                    return;
                }
            }
        }
        self.drop_senseless(&choices, &mut made);
        made.iter_mut().for_each(|(_, rule)| self.samples_of_rule(file, item, rule));
        let rules: Vec<RuleId> = made.into_iter().map(|(family, rule)| self.enter(set, &family, rule)).collect();
        match self.written.last_mut().filter(|last| last.name == rule.name.span) {
            Some(last) => last.rules.extend(rules),
            None => self.note_written(file, rule.name.span, rules),
        }
    }

    /// The rules, with their families, of one rewriting: one or two directions.
    fn make(
        &self,
        item: &Item,
        rule: &RuleItem,
        name: &str,
        which: usize,
        rewriting: Rewriting,
        choice: &Choice,
    ) -> impl Iterator<Item = (String, Rule)> + use<> {
        let Rewriting { left, right, guards, tparams, vars, both_ways, relaxation } = rewriting;
        let number = if which == 0 { String::new() } else { format!(".{}", which + 1) };
        let lengths = rule.lengths.iter().map(|(list, length)| format!("{list}={length}"));
        let instance =
            instance(lengths.chain(choice.members.iter().map(|(param, member)| format!("{param}={member}"))));
        let there = Rule {
            span: item.span,
            doc: item.doc.clone(),
            members: choice.names(),
            tparams,
            guards,
            dynamic: rule.dynamic.is_some(),
            is_block: matches!(rule.body, RuleBody::Block { .. }),
            relaxation,
            approximate: given_up(item),
            ..Rule::new(format!("{name}{number}{instance}"), vars, left, Conclusion::Equal(right.clone()))
        };
        let back = both_ways.then(|| Rule {
            name: format!("{name}{number}.back{instance}"),
            left: vec![right],
            right: Conclusion::Equal(there.left[0].clone()),
            ..there.clone()
        });
        let back = back.map(|back| (format!("{name}.back"), back));
        std::iter::once((name.to_string(), there)).chain(back)
    }

    /// The `which`-th rewriting of a rule, elaborated by itself; its other patterns are conditions.
    fn rewriting(
        &mut self,
        file: usize,
        item: &Item,
        rule: &RuleItem,
        which: usize,
        choice: &Choice,
    ) -> Option<Rewriting> {
        let mut said = Vec::new();
        clauses(&rule.body, &mut said);
        // If the author says what a rule removes, only that one word is missing: what goes is no second mistake.
        let removes = |clause: &&Clause| matches!(clause.kind, ClauseKind::Removes(_));
        let is_plain = rule.is_unsafe.is_none() && !said.iter().any(removes);
        if which == 0 && rule.is_unsafe.is_none() {
            self.clauses_of_unsafe(&said);
        }
        let mut elab = self.elab(file, choice.tparams.clone());
        elab.unbounded = rule.tparams.iter().map(|p| p.bound.is_none().then_some(p.name.span)).collect();
        elab.parameters(&rule.params, &states(&rule.body), true);
        let shape = match &rule.body {
            RuleBody::Rewrite { rewrite, .. } => Some(elab.rewrite(rewrite, rule.dynamic.is_some())),
            RuleBody::Block { statements, span } => elab.block(statements, *span, which, rule.dynamic.is_some()),
        };
        let parts = shape.and_then(|mut shape| {
            elab.finish_rewriting(&mut shape, &said);
            let (left, right, guards) = elab.build(&shape)?;
            Some((shape, left, right, guards, elab.tparams.clone(), elab.program_variables()))
        });
        let mut diagnostics = std::mem::take(&mut elab.diagnostics);
        make_dynamic(item, rule, &mut diagnostics);
        self.diagnostics.extend(diagnostics);
        let (shape, left, right, guards, tparams, vars) = parts?;
        let vars = vars?;
        let relaxation = match rule.is_unsafe {
            Some(at) => self.relaxation(at, file, &shape, &said, (&left[0], &right)),
            None if is_plain => {
                self.check_effects(shape.left_at, shape.right_at, &left, &right);
                if shape.both_ways {
                    self.check_effects_back(shape.left_at, shape.right_at, &left[0], &right);
                }
                None
            }
            None => None,
        };
        self.check_regions((shape.left_at, shape.right_at), &left, &right);
        self.check_requires(file, shape.right_at, &left, &right, &guards);
        Some(Rewriting { left, right, guards, tparams, vars, both_ways: shape.both_ways, relaxation })
    }

    pub(super) fn clauses_of_unsafe(&mut self, clauses: &[&Clause]) {
        let removes = clauses.iter().find(|clause| matches!(clause.kind, ClauseKind::Removes(_)));
        let because = clauses.iter().find(|clause| matches!(clause.kind, ClauseKind::Because(_)));
        let (word, span, help) = match (removes, because) {
            (Some(removes), _) => ("removes", removes.span, "write `unsafe rule`, or leave it out if nothing goes"),
            (None, Some(because)) => {
                ("because", because.span, "a plain rule removes no effect, and needs no reason: leave it out")
            }
            (None, None) => return,
        };
        self.report(
            Diag::error("RW0407", span, format!("`{word}` outside an unsafe rule"), "not allowed here").help(help),
        );
    }
}

/// What tells an instance from the others of its family, after its name.
pub(super) fn instance(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!("[{}]", parts.join(", ")) }
}

/// One rewriting, checked.
struct Rewriting {
    left: Vec<Term>,
    right: Term,
    guards: Vec<Guard>,
    tparams: Vec<TypeParam>,
    vars: Vec<Var>,
    both_ways: bool,
    relaxation: Option<Relaxation>,
}

/// What is computed on the right side of a plain rule wants a dynamic one, and nothing else.
fn make_dynamic(item: &Item, rule: &RuleItem, diagnostics: &mut [Diagnostic]) {
    let (None, RuleBody::Rewrite { rewrite, .. }) = (rule.dynamic, &rule.body) else { return };
    let right = rewrite.right.expr.span;
    let inside = |at: Span| at.start >= right.start && at.end <= right.end;
    let start = rule.is_unsafe.map_or(item.span.start, |before| before.end + 1);
    for found in diagnostics.iter_mut().filter(|d| d.code == "RW0405" && inside(d.primary.span)) {
        let span = Span { start, end: start, ..item.span };
        found.fix = Some(Fix { span, replacement: "dynamic ".into(), applicability: Applicability::Safe });
    }
}

/// How many rewritings a rule has.
fn rewrites(body: &RuleBody) -> usize {
    match body {
        RuleBody::Rewrite { .. } => 1,
        RuleBody::Block { statements, .. } => {
            statements.iter().filter(|s| matches!(s, RuleStatement::Rewrite(_))).count()
        }
    }
}

fn clauses<'r>(body: &'r RuleBody, out: &mut Vec<&'r Clause>) {
    match body {
        RuleBody::Rewrite { clauses, .. } => out.extend(clauses),
        RuleBody::Block { statements, .. } => out.extend(statements.iter().filter_map(|s| match s {
            RuleStatement::Clause(clause) => Some(clause),
            _ => None,
        })),
    }
}

/// Names of states in a rule.
fn states(body: &RuleBody) -> Vec<&str> {
    fn sides(rewrite: &Rewrite) -> Vec<&str> {
        state_names(&[&rewrite.left, &rewrite.right])
    }
    match body {
        RuleBody::Rewrite { rewrite, .. } => sides(rewrite),
        RuleBody::Block { statements, .. } => statements
            .iter()
            .flat_map(|s| match s {
                RuleStatement::Match(_, expr) | RuleStatement::Let(_, expr) => states_in(expr),
                RuleStatement::Rewrite(rewrite) => sides(rewrite),
                RuleStatement::Clause(_) => vec![],
            })
            .collect(),
    }
}
