//! One rewriting, elaborated: its sides, its conditions, and what must hold of any of them.
//!
//! The left side is a call; what the right side and the conditions mention, the left side or a fact binds, types
//! included; where it goes both ways, so does that. Computed parts are computed from constants.

use super::elab::Elab;
use super::guards::Condition;
use super::nodes::{Around, NodeId, NodeKind};
use super::report::Diag;
use super::solve::{Clash, IType, LiteralKind, Solver, substitute};
use super::wording::{quoted, short, signature};
use crate::program::Guard;
use crate::syntax::ast::{Clause, ClauseKind, Rewrite, Span};
use rewright_typeprop::{OpId, Term, TypeExpr};

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

impl Elab<'_> {
    pub(super) fn rewrite(&mut self, rewrite: &Rewrite, dynamic: bool) -> Shape {
        let left = self.side(&rewrite.left, Around::LEFT);
        let right = self.side(&rewrite.right, Around::right(dynamic));
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
    pub(super) fn finish_rewriting(&mut self, shape: &mut Shape, clauses: &[&Clause]) {
        self.root_as_state(shape);
        let (l, r) = (self.node(shape.patterns[0]).ty.clone(), self.node(shape.right).ty.clone());
        let met = if shape.both_ways { self.solver.unify(&r, &l) } else { self.solver.subtype(&r, &l) };
        if let (Err(clash), false) = (met, self.failed) {
            let (l, r) = (self.show(&l), self.show(&r));
            let why = self.explain(&clash);
            let one_is_state = (l == "State") != (r == "State");
            let report = Diag::error(
                "RW0301",
                shape.right_at,
                format!("the left side is {}, the right side {}", quoted(&l), quoted(&r)),
                if matches!(clash, Clash::Different) { format!("of type `{r}`") } else { why },
            )
            .also(shape.left_at, format!("of type `{l}`"));
            self.report(match clash {
                _ if one_is_state => {
                    report.help("a call that writes and gives no value is replaced by one that writes, or by a state")
                }
                Clash::Literal(LiteralKind::Float, _) => report.help("an integer is written without a point: `0`"),
                _ => report,
            });
        }
        shape.conditions = self.whens(clauses.iter().copied());
        self.resolve_waiting();
        let removes = |clause: &&Clause| matches!(clause.kind, ClauseKind::Removes(_));
        self.divide(shape, !clauses.iter().any(removes));
        self.finish(Some(shape.patterns[0]), true);
        self.rule_checks(shape);
    }

    /// What holds of every rule, beyond types.
    fn rule_checks(&mut self, shape: &Shape) {
        let Shape { patterns, right, conditions, left_at, right_at, both_ways } = shape;
        let (left, right) = (patterns[0], *right);
        if !matches!(self.node(left).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Diag::error("RW0401", *left_at, "the left side must be a call", "would match every value of its type")
                    .help("put the call on the left, and turn the arrow's meaning around if need be"),
            );
            return;
        }
        if *both_ways && !matches!(self.node(right).kind, NodeKind::Call(_) | NodeKind::Error) {
            self.report(
                Diag::error(
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
                    Diag::error("RW0403", *right_at, message, "the way back cannot know it")
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
                let report = Diag::error("RW0406", span, message, "known only at run time");
                report.also(variable.span, "declared here").help(format!("declare it `const {}`", variable.name))
            }
            NodeKind::Call(call) => {
                let message = format!("`{}` cannot be computed while matching", call.name);
                let linked = |id: &OpId| self.universe.ops.get(*id).link.is_some();
                match call.candidates.iter().any(linked) {
                    true => Diag::error("RW0406", span, message, "gives what only one run of its library knows")
                        .help("of functions of a library, those that are pure and give a number are computed"),
                    false => Diag::error("RW0406", span, message, "has no meaning to compute by")
                        .help("give it a `@model`, a `spec`, or declare it `host fn`"),
                }
            }
            _ => Diag::error("RW0406", span, "this cannot be computed while matching", "not a constant"),
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
            let help = self.typed_spelling(index).unwrap_or_else(|| {
                "state type arguments, `f{T}(..)`, with parameters that the pattern determines".to_string()
            });
            self.report(Diag::error("RW0306", span, message, "of which type?").help(help));
        }
    }

    /// How to write the call of which one type argument is this inferred parameter, with all of them stated.
    fn typed_spelling(&mut self, unknown: u32) -> Option<String> {
        let is_unknown = |solver: &Solver<'_>, ty: &IType| solver.shallow(ty) == IType::Rigid(unknown);
        let (op, targs) = self.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Call(call) => {
                call.chosen.clone().filter(|(_, targs)| targs.iter().any(|ty| is_unknown(&self.solver, ty)))
            }
            _ => None,
        })?;
        let decl = self.universe.ops.get(op);
        let known = targs.iter().find(|ty| !matches!(self.solver.shallow(ty), IType::Rigid(_)) || self.is_written(ty));
        let mut written = vec![];
        for (param, ty) in decl.tparams.iter().zip(&targs) {
            let example = known.filter(|known| {
                let bound = param.bound.as_ref().map(|bound| substitute(bound, &targs));
                bound.is_none_or(|bound| self.solver.trial(|solver| solver.subtype(known, &bound).is_ok()))
            });
            written.push(match (is_unknown(&self.solver, ty), example) {
                (false, _) => self.show(ty),
                (true, Some(known)) => self.show(known),
                (true, None) => "..".into(),
            });
        }
        let written = format!("{}{{{}}}(..)", short(&decl.name), written.join(", "));
        Some(format!("state its type arguments, for instance `{written}`: {}", signature(decl, self.universe)))
    }

    /// Is it a type parameter that the rule declares?
    fn is_written(&self, ty: &IType) -> bool {
        matches!(self.solver.shallow(ty), IType::Rigid(index) if !self.tparams[index as usize].name.starts_with('?'))
    }

    pub(super) fn build(&self, shape: &Shape) -> Option<(Vec<Term>, Term, Vec<Guard>)> {
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
    for part in term.subterms() {
        if let Term::Call { targs, .. } = part {
            targs.iter().for_each(|ty| params(ty, out));
        }
    }
}
