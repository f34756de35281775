//! Parameters of rules that nothing mentions, values and types, and the change that takes them away.
//!
//! The source text decides where something is to be removed, the checked rule whether it is used: a list that is
//! written out has other names there.

use super::report::Diag;
use super::{Checker, WrittenRule};
use crate::program::Rule;
use crate::syntax::ast::{
    Clause, ClauseKind, Expr, ExprKind, ItemKind, Param, RuleBody, RuleItem, RuleStatement, Span, TParam, Type,
    TypeKind,
};
use indexmap::IndexSet;
use rewright_typeprop::Term;

impl<'a> Checker<'a> {
    /// A rule as it is written; `None` for an inference.
    pub(super) fn rule_item(&self, rule: &WrittenRule) -> Option<&'a RuleItem> {
        self.items(rule.file).into_iter().find_map(|(_, item)| match &item.kind {
            ItemKind::Rule(found) if found.name.span == rule.name => Some(found),
            _ => None,
        })
    }

    pub(super) fn lint_parameters(&mut self, rule: &Rule, written: &WrittenRule) {
        let used: IndexSet<u32> = rule.terms().flat_map(Term::variables).collect();
        let item = self.rule_item(written);
        for (index, var) in rule.vars.iter().enumerate() {
            if used.contains(&(index as u32)) || var.name.starts_with('_') {
                continue;
            }
            let message = format!("parameter `{}` is never used", var.name);
            let place = item.and_then(|item| Some((item, item.params.iter().position(|p| p.name.node == var.name)?)));
            self.report(match place {
                None => Diag::lint("RW0502", written.name, message, "declared by this rule"),
                Some((item, position)) => {
                    let span = item.params[position].name.span;
                    let report = Diag::lint("RW0502", span, message, "nothing mentions it").help("remove it");
                    let places: Option<Vec<Place>> = item.params.iter().map(Place::of_param).collect();
                    match places.and_then(|places| removal(&places, position)) {
                        Some(span) => report.repair(span, ""),
                        None => report,
                    }
                }
            });
        }
        if let Some(item) = item {
            self.lint_type_parameters(item);
        }
    }

    fn lint_type_parameters(&mut self, item: &RuleItem) {
        let mut mentioned: IndexSet<&str> = IndexSet::new();
        item.params.iter().filter_map(|param| param.ty.as_ref()).for_each(|ty| names(ty, &mut mentioned));
        item.tparams.iter().filter_map(|tparam| tparam.bound.as_ref()).for_each(|ty| names(ty, &mut mentioned));
        for_each_expression(&item.body, &mut |expr| {
            expr.walk(&mut |part| match &part.kind {
                ExprKind::Call { targs, .. } => targs.iter().for_each(|ty| names(ty, &mut mentioned)),
                ExprKind::Is { ty, .. } => names(ty, &mut mentioned),
                _ => {}
            })
        });
        let places: Vec<Place> = item.tparams.iter().map(Place::of_type_parameter).collect();
        for (position, tparam) in item.tparams.iter().enumerate() {
            let name = &tparam.name;
            if mentioned.contains(name.node.as_str()) || name.node.starts_with('_') {
                continue;
            }
            let message = format!("type parameter `{}` is never used", name.node);
            let report = Diag::lint("RW0502", name.span, message, "nothing mentions it").help("remove it");
            self.report(match (&places[..], removal(&places, position)) {
                // The braces go as well.
                ([only], _) => {
                    report.repair(Span { start: only.span.start - 1, end: only.span.end + 1, ..only.span }, "")
                }
                (_, Some(span)) => report.repair(span, ""),
                (_, None) => report,
            });
        }
    }
}

/// Where a parameter stands in its list.
struct Place {
    span: Span,
    /// A word before its name belongs to it, whose place is not known.
    has_word: bool,
}

impl Place {
    /// `None` for a list: its dots have no place.
    fn of_param(param: &Param) -> Option<Place> {
        let end = param.ty.as_ref().map_or(param.name.span.end, |ty| ty.span.end);
        (!param.variadic).then_some(Place { span: Span { end, ..param.name.span }, has_word: param.constant })
    }

    fn of_type_parameter(tparam: &TParam) -> Place {
        let end = tparam.bound.as_ref().map_or(tparam.name.span.end, |ty| ty.span.end);
        Place { span: Span { end, ..tparam.name.span }, has_word: false }
    }
}

/// What is to be removed so that one of several is gone, with a comma beside it.
fn removal(places: &[Place], position: usize) -> Option<Span> {
    let own = places.get(position)?;
    match (position.checked_sub(1).and_then(|before| places.get(before)), places.get(position + 1)) {
        (Some(before), _) => Some(Span { start: before.span.end, ..own.span }),
        (None, Some(after)) if !own.has_word && !after.has_word => Some(Span { end: after.span.start, ..own.span }),
        (None, None) if !own.has_word => Some(own.span),
        _ => None,
    }
}

fn names<'t>(ty: &'t Type, out: &mut IndexSet<&'t str>) {
    if let TypeKind::Named { path, args } = &ty.kind {
        out.insert(&path.node);
        args.iter().for_each(|arg| names(arg, out));
    }
}

fn for_each_expression<'b>(body: &'b RuleBody, f: &mut dyn FnMut(&'b Expr)) {
    let clause = |clause: &'b Clause, f: &mut dyn FnMut(&'b Expr)| {
        if let ClauseKind::When(conditions) = &clause.kind {
            conditions.iter().for_each(f);
        }
    };
    match body {
        RuleBody::Rewrite { rewrite, clauses } => {
            [&rewrite.left, &rewrite.right].into_iter().for_each(|side| side.walk(f));
            clauses.iter().for_each(|c| clause(c, f));
        }
        RuleBody::Block { statements, .. } => {
            for statement in statements {
                match statement {
                    RuleStatement::Match(_, expr) | RuleStatement::Let(_, expr) => f(expr),
                    RuleStatement::Rewrite(rewrite) => {
                        [&rewrite.left, &rewrite.right].into_iter().for_each(|side| side.walk(f));
                    }
                    RuleStatement::Clause(c) => clause(c, f),
                }
            }
        }
    }
}
