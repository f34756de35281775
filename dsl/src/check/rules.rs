//! Stage 3: rules and inferences.

use super::approximate::given_up;
use super::elab::Elab;
use super::families::Choice;
use super::guards::Condition;
use super::nodes::{Around, NodeId, NodeKind, Place};
use super::report::Report;
use super::variables::{state_names, states_in};
use super::{Checker, Written};
use crate::diagnostic::{Applicability, Diagnostic, Fix};
use crate::program::{Conclusion, Guard, Relaxation, Rule, RuleId, Var};
use crate::syntax::ast::{Clause, ClauseKind, Item, ItemKind, Name, Rewrite, RuleBody, RuleItem, RuleStatement, Span};
use rewright_typeprop::{Term, TypeExpr, TypeParam};

/// The ruleset of rules that stand in none.
pub(super) const TOP_RULESET: &str = "rules";

pub(super) const LEFT: Around = Around { place: Place::Left, state: None, dynamic: false };
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

    fn declare_rulesets(&mut self, file: usize) {
        let mut seen: Vec<&'a Name> = Vec::new();
        for item in &self.files[file].file.items {
            let ItemKind::Ruleset { name, .. } = &item.kind else { continue };
            if let Some(first) = seen.iter().find(|n| n.node == name.node) {
                self.report(Report::twice("ruleset", name, first.span));
            }
            seen.push(name);
            let qualified = format!("{}.{}", self.scopes[file].pack, name.node);
            self.program.rulesets.entry(qualified).or_default();
        }
    }

    /// Enters a rule of the family that has this name.
    fn enter(&mut self, set: &str, family: &str, rule: Rule) -> RuleId {
        let id = RuleId(self.program.rules.len() as u32);
        let family = *self.rule_names.entry(family.to_string()).or_insert(id);
        self.program.rules.push(Rule { family, ..rule });
        self.program.rulesets.entry(set.to_string()).or_default().push(id);
        id
    }

    /// Instances of one item share its name.
    fn is_new_name(&mut self, qualified: &str, name: &Name, item: Span) -> bool {
        let earlier = self.rule_names.get(qualified).map(|id| self.program.rule(*id).span);
        let Some(earlier) = earlier.filter(|earlier| *earlier != item) else {
            return true;
        };
        self.report(Report::twice("rule", name, earlier));
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
            None => self.written.push(Written { file, name: rule.name.span, rules }),
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
        if which == 0 && rule.is_unsafe.is_none() {
            self.clauses_of_unsafe(&said);
        }
        let mut elab = self.elab(file, choice.tparams.clone());
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
            None => {
                self.check_effects(shape.left_at, shape.right_at, &left, &right);
                if shape.both_ways {
                    self.check_effects_back(shape.left_at, shape.right_at, &left[0], &right);
                }
                None
            }
        };
        self.check_requires(file, shape.right_at, &left, &right, &guards);
        Some(Rewriting { left, right, guards, tparams, vars, both_ways: shape.both_ways, relaxation })
    }

    fn clauses_of_unsafe(&mut self, clauses: &[&Clause]) {
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
        self.written.push(Written { file, name: name.span, rules });
    }

    /// An inference at one choice of members.
    fn inference(&mut self, file: usize, item: &Item, qualified: &str, choice: &Choice) -> Option<Rule> {
        let ItemKind::Infer { params, fact, clauses, .. } = &item.kind else { return None };
        let mut elab = self.elab(file, choice.tparams.clone());
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
        let (left, guards, right, tparams, vars) = built?;
        let members = instance(choice.members.iter().map(|(param, member)| format!("{param}={member}")));
        Some(Rule {
            span: item.span,
            doc: item.doc.clone(),
            members: choice.names(),
            tparams,
            guards,
            ..Rule::new(format!("{qualified}{members}"), vars, left, right)
        })
    }
}

/// What tells an instance from the others of its family, after its name.
fn instance(parts: impl Iterator<Item = String>) -> String {
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

/// One rewriting while it is elaborated.
pub(super) struct Shape {
    /// What is matched; the first is what is rewritten.
    pub(super) patterns: Vec<NodeId>,
    pub(super) right: NodeId,
    pub(super) conditions: Vec<Condition>,
    pub(super) left_at: Span,
    pub(super) right_at: Span,
    pub(super) both_ways: bool,
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

impl Elab<'_> {
    fn rewrite(&mut self, rewrite: &Rewrite, dynamic: bool) -> Shape {
        let left = self.side(&rewrite.left, LEFT);
        let right = self.side(&rewrite.right, Around { place: Place::Right, state: None, dynamic });
        Shape {
            patterns: vec![left],
            right,
            conditions: Vec::new(),
            left_at: rewrite.left.expr.span,
            right_at: rewrite.right.expr.span,
            both_ways: rewrite.both_ways,
        }
    }

    /// Types of the sides, conditions, and all else that holds of every rule.
    fn finish_rewriting(&mut self, shape: &mut Shape, clauses: &[&Clause]) {
        let (l, r) = (self.node(shape.patterns[0]).ty.clone(), self.node(shape.right).ty.clone());
        let met = if shape.both_ways { self.solver.unify(&r, &l) } else { self.solver.subtype(&r, &l) };
        if let Err(clash) = met {
            let (l, r) = (self.show(&l), self.show(&r));
            let why = self.explain(&clash);
            self.report(
                Report::error(
                    "RW0301",
                    shape.right_at,
                    format!("the left side is `{l}`, the right side `{r}`"),
                    if matches!(clash, super::solve::Clash::Different) { format!("of type `{r}`") } else { why },
                )
                .also(shape.left_at, format!("of type `{l}`")),
            );
        }
        for clause in clauses {
            if let ClauseKind::When(exprs) = &clause.kind {
                shape.conditions.extend(self.conditions(exprs, GUARD));
            }
        }
        self.finish(Some(shape.patterns[0]), true);
        self.rule_checks(shape);
    }

    /// What holds of every rule, beyond types.
    fn rule_checks(&mut self, shape: &Shape) {
        let Shape { patterns, right, conditions, left_at, right_at, both_ways } = shape;
        let (left, right) = (patterns[0], *right);
        if !matches!(self.node(left).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Report::error(
                    "RW0401",
                    *left_at,
                    "the left side must be a call",
                    "would match every value of its type",
                )
                .help("put the call on the left, and turn the arrow's meaning around if need be"),
            );
            return;
        }
        if *both_ways && !matches!(self.node(right).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Report::error(
                    "RW0402",
                    *right_at,
                    "`<=>` with a bare variable or literal on one side",
                    "the way back would match every value",
                )
                .help("write `=>`")
                .repair_arrow(*left_at, *right_at),
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
        patterns.iter().for_each(|pattern| self.variables_in(*pattern, &mut bound));
        self.bound_by_facts(conditions, &mut bound);
        self.must_be_bound(right, &bound, "on the right");
        for condition in conditions {
            for node in condition.nodes() {
                self.must_be_bound(node, &bound, "in a condition");
            }
        }
        if *both_ways {
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
                    Report::error("RW0403", *right_at, message, "the way back cannot know it")
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
        self.must_be_determined(shape);
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
    fn must_be_determined(&mut self, shape: &Shape) {
        if self.failed {
            return;
        }
        let left: Option<Vec<Term>> = shape.patterns.iter().map(|pattern| self.term(*pattern)).collect();
        let (Some(left), Some(right)) = (left, self.term(shape.right)) else { return };
        let mut known = Vec::new();
        left.iter().for_each(|term| type_arguments(term, &mut known));
        let mut wanted = Vec::new();
        type_arguments(&right, &mut wanted);
        let mut ways = vec![(wanted.clone(), known.clone(), shape.right_at)];
        if shape.both_ways {
            ways.push((known, wanted, shape.left_at));
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

    fn build(&self, shape: &Shape) -> Option<(Vec<Term>, Term, Vec<Guard>)> {
        let guards = shape.conditions.iter().map(|c| self.close_guard(c)).collect::<Option<Vec<_>>>()?;
        let left = shape.patterns.iter().map(|pattern| self.term(*pattern)).collect::<Option<Vec<_>>>()?;
        Some((left, self.term(shape.right)?, guards))
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
