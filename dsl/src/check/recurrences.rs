//! What declarations say of loops: `@model("theta")`, `@model("leave")`, `recurrence f`, the states that loops go through,
//! and facts that the compiler itself knows.
//!
//! The first operand of all of them stands for a loop: a value of a type that a pack declares for that, without a
//! machine representation. The others are values of one type, which the loop carries or is left with; states have no others.

use super::Checker;
use super::report::Diag;
use crate::program::LoopFact;
use crate::syntax::ast::{Attribute, ExprKind, FnClause, ItemKind, Path, Span};
use rewright_typeprop::ops::LoopRole;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{Effects, Op, OpId, TypeExpr};

/// The model of what a loop carries.
pub(super) const THETA: &str = "theta";

/// The model of what a value is when a loop is left.
pub(super) const LEAVE: &str = "leave";

/// The models of the states that loops go through.
pub(super) const LOOP_STATES: [(&str, LoopRole); 3] =
    [("around", LoopRole::Around), ("left", LoopRole::Left), ("left_last", LoopRole::LeftLast)];

impl Checker<'_> {
    /// `@model("theta")`
    pub(super) fn theta(&mut self, op: OpId, at: Span) {
        let decl = self.program.universe.ops.get(op);
        if !is_of_any_type(decl) || !self.is_carried(decl) {
            let label = "takes a loop and two values of one type, any type";
            return self.misfit(op, at, THETA, label, "fn theta{T}(l: Loop, first: T, next: T) -> T  pure");
        }
        self.program.universe.ops.get_mut(op).in_loop = Some(LoopRole::Theta);
    }

    /// `@model("leave")`
    pub(super) fn leave(&mut self, op: OpId, at: Span) {
        let decl = self.program.universe.ops.get(op);
        let fits = match &decl.params[..] {
            [l, x] => {
                let values = [l, x].iter().all(|p| !p.constant) && self.is_loop(&l.ty) && x.ty == TypeExpr::Param(0);
                values && decl.effects.is_pure() && is_of_any_type(decl)
            }
            _ => false,
        };
        if !fits {
            let label = "takes a loop and one value, of any type";
            return self.misfit(op, at, LEAVE, label, "fn leave{T}(l: Loop, x: T) -> T  pure");
        }
        self.program.universe.ops.get_mut(op).in_loop = Some(LoopRole::Leave);
    }

    /// `@model("around")`, `@model("left")` and `@model("left_last")`
    pub(super) fn loop_state(&mut self, op: OpId, at: Span, model: &str, role: LoopRole) {
        let decl = self.program.universe.ops.get(op);
        let Effects { reads, writes, allocates, io, traps, diverges } = &decl.effects;
        let takes_a_loop = matches!(&decl.params[..], [l] if !l.constant && self.is_loop(&l.ty));
        let only_writes =
            reads.is_empty() && writes.len() == 1 && allocates.is_empty() && !(*io || *traps || *diverges);
        if !takes_a_loop || !only_writes || !decl.tparams.is_empty() || !decl.results.is_empty() {
            let form = format!("fn {}(l: Loop) -> ()  effects writes(memory)", decl.name);
            return self.misfit(op, at, model, "takes a loop, and writes one region", &form);
        }
        self.program.universe.ops.get_mut(op).in_loop = Some(role);
    }

    pub(super) fn misfit(&mut self, op: OpId, at: Span, model: &str, label: &str, form: &str) {
        let message = format!("`{}` does not fit the model `{model}`", self.program.universe.ops.get(op).name);
        let declared = self.op_spans[op.0 as usize];
        let report = Diag::error("RW0313", at, message, label).also(declared, "declared here");
        self.report(report.help(format!("declare it so: `{form}`")));
    }

    /// Is it a pure function of a loop and two values of one type, which it gives?
    fn is_carried(&self, decl: &Op) -> bool {
        let values = match (&decl.params[..], &decl.results[..]) {
            ([l, first, next], [result]) if first.ty == next.ty && first.ty == *result => [l, first, next],
            _ => return false,
        };
        decl.effects.is_pure() && values.iter().all(|p| !p.constant) && self.is_loop(&values[0].ty)
    }

    /// Is it a type of which no machine has values?
    fn is_loop(&self, ty: &TypeExpr) -> bool {
        match ty {
            TypeExpr::App(decl, args) => {
                let types = &self.program.universe.types;
                *decl != TypeDeclId(0) && args.is_empty() && types.decl(*decl).model.is_none()
            }
            _ => false,
        }
    }

    /// `recurrence f` of all functions.
    pub(super) fn recurrences(&mut self) {
        for index in 0..self.fns.len() {
            let (op, file, item) = (self.fns[index].op, self.fns[index].file, self.fns[index].item);
            let ItemKind::Fn(f) = &item.kind else { continue };
            // A second one is reported as such.
            let clause = f.clauses.iter().find_map(|clause| match &clause.node {
                FnClause::Recurrence(step) => Some((clause.span, step)),
                _ => None,
            });
            if let Some((at, step)) = clause
                && let Some(step) = self.step_of_recurrence(op, file, at, step)
            {
                self.program.universe.ops.get_mut(op).in_loop = Some(LoopRole::Recurrence(step));
            }
        }
    }

    /// The function that takes a recurrence from one iteration to the next.
    fn step_of_recurrence(&mut self, op: OpId, file: usize, clause: Span, step: &Path) -> Option<OpId> {
        let scope = &self.scopes[file];
        let (found, ops) = (scope.find_ops(&step.node), &self.program.universe.ops);
        let decl = ops.get(op);
        let declared = self.op_spans[op.0 as usize];
        if decl.model.is_some() || decl.spec.is_some() || decl.in_loop.is_some() || !self.is_carried(decl) {
            let message = format!("`{}` cannot be a recurrence", decl.name);
            self.report(
                Diag::error("RW0314", clause, message, "wants a loop and two values of one type, and nothing else")
                    .also(declared, "declared here")
                    .help("declare it so: `fn sum(l: Loop, first: i64, step: i64) -> i64  pure  recurrence iadd`"),
            );
            return None;
        }
        if found.is_empty() {
            if !scope.is_excused(&step.node) {
                let known = scope.names.ops.keys().map(String::as_str);
                let message = format!("unknown function `{}`", step.node);
                let report = Diag::error("RW0203", step.span, message, "not declared or imported");
                let report = report.nearest(&step.node, known, || None);
                self.report(report);
            }
            return None;
        }
        let own = &decl.params[1].ty;
        let fits = |id: &OpId| {
            let other = ops.get(*id);
            let same = other.params.len() == 2
                && other.params.iter().all(|p| p.ty == *own && !p.constant)
                && other.results == [own.clone()];
            let bounds = || decl.tparams.iter().map(|p| &p.bound).eq(other.tparams.iter().map(|p| &p.bound));
            same && other.tparams.len() == decl.tparams.len() && bounds()
        };
        let Some(id) = found.iter().copied().find(fits) else {
            let message = format!("`{}` is no step of `{}`", step.node, decl.name);
            let label = "does not take two values of that type and give one";
            let mut report = Diag::error("RW0314", step.span, message, label).also(declared, "declared here");
            if let [other, ..] = found[..] {
                report = report.also(self.op_spans[other.0 as usize], "takes other types, or has other bounds");
            }
            self.report(report.help("the type parameters of both must have the same bounds, in the same order"));
            return None;
        };
        let effects = &ops.get(id).effects;
        if !effects.is_pure() || ops.get(id).in_loop.is_some() {
            let message = format!("`{}` has effects, so it is no step of a recurrence", step.node);
            let at = self.op_spans[id.0 as usize];
            self.report(Diag::error("RW0314", step.span, message, "must be pure").also(at, "declared here"));
            return None;
        }
        Some(id)
    }

    /// Facts that the compiler knows, and attributes of facts that say something else.
    pub(super) fn filled_facts(&mut self) {
        for file in 0..self.files.len() {
            for (_, item) in self.items(file) {
                let ItemKind::Fact { name, spec, .. } = &item.kind else { continue };
                let Some(id) = self.fact_spans.iter().position(|span| *span == name.span) else { continue };
                for attribute in &item.attributes {
                    self.filled_fact(id, name.span, spec.is_some(), attribute);
                }
            }
        }
    }

    fn filled_fact(&mut self, id: usize, declared: Span, has_spec: bool, attribute: &Attribute) {
        let [argument] = &attribute.args[..] else { return self.unknown_attribute(attribute, "a fact") };
        let (ExprKind::Path(name) | ExprKind::Str(name)) = &argument.kind else {
            return self.unknown_attribute(attribute, "a fact");
        };
        if attribute.name.node != "model" {
            return self.unknown_attribute(attribute, "a fact");
        }
        let Some(filled) = LoopFact::ALL.into_iter().find(|fact| fact.name() == name) else {
            let known = LoopFact::ALL.map(LoopFact::name);
            let message = format!("unknown model `{name}` of a fact");
            let report = Diag::error("RW0313", argument.span, message, "nothing that the compiler knows");
            let known_ones = || Some(format!("facts that the compiler knows are `{}`", known.join("`, `")));
            return self.report(report.nearest(name, known, known_ones));
        };
        let fact = &self.program.facts[id];
        let fits = match (&fact.tparams[..], &fact.params[..]) {
            ([tparam], [TypeExpr::Param(0), l]) => tparam.bound.is_none() && self.is_loop(l),
            _ => false,
        };
        if !fits || has_spec {
            let message = format!("`{}` does not fit the model `{name}`", fact.name);
            return self.report(
                Diag::error("RW0313", argument.span, message, "is about a value of any type and a loop")
                    .also(declared, "declared here")
                    .help(format!("declare it so: `fact {name}{{T}}(x: T, l: Loop)`")),
            );
        }
        self.program.facts[id].filled = Some(filled);
    }
}

/// Has it one type parameter, which may be any type and is the type of its one result?
fn is_of_any_type(decl: &Op) -> bool {
    decl.tparams.len() == 1 && decl.tparams[0].bound.is_none() && decl.results == [TypeExpr::Param(0)]
}
