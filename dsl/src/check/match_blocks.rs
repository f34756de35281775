//! `match` blocks: rules about several expressions at once.
//!
//! Each `rewrite` of a block becomes a rule of its own. It rewrites its first pattern; the block's other
//! patterns are conditions: so every rule states one equality, which can be proved and tested by itself. `let`
//! and `match` name parts, which stand for what they were bound to wherever they are mentioned; hash-consing makes
//! them one again.
//!
//! A block does not match its own results again ([`crate::egglog`]): these may have the form of its patterns.
//!
//! **Invariant**: patterns of one rule are connected by variables. Two that share none would join every pair of
//! expressions of a function, and of all functions of a batch.

use super::elab::Elab;
use super::nodes::{Around, NodeId};
use super::report::Diag;
use super::rewritings::Shape;
use crate::syntax::ast::{Expr, ExprKind, Name, Rewrite, RuleStatement, Span};

impl Elab<'_> {
    /// The `which`-th rewriting of a block; `None` if it cannot be told what is rewritten.
    pub(super) fn block(
        &mut self,
        statements: &[RuleStatement],
        span: Span,
        which: usize,
        dynamic: bool,
    ) -> Option<Shape> {
        let right_place = Around::right(dynamic);
        let mut patterns: Vec<(&Name, NodeId, Span)> = Vec::new();
        let mut rewrites: Vec<&Rewrite> = Vec::new();
        for statement in statements {
            match statement {
                RuleStatement::Match(name, expr) => {
                    let node = self.expr(expr, Around::LEFT);
                    self.alias(name, node);
                    patterns.push((name, node, expr.span));
                }
                RuleStatement::Let(name, expr) => {
                    let node = self.expr(expr, right_place);
                    self.alias(name, node);
                }
                RuleStatement::Rewrite(rewrite) => rewrites.push(rewrite),
                RuleStatement::Clause(_) => {}
            }
        }
        let Some(rewrite) = rewrites.get(which) else {
            self.report(
                Diag::error("RW0453", span, "this block rewrites nothing", "has no `rewrite`")
                    .help("`rewrite p => ..`, where `match p = ..` names what is rewritten"),
            );
            return None;
        };
        if which == 0 {
            self.reject_repeated(&rewrites);
        }
        let root = self.root(rewrite, &patterns)?;
        self.must_be_connected(&patterns);
        let right = self.side(&rewrite.right, right_place);
        patterns.swap(0, root);
        Some(Shape {
            left_at: patterns[0].2,
            patterns: patterns.iter().map(|(_, node, _)| *node).collect(),
            right,
            conditions: Vec::new(),
            right_at: rewrite.right.expr.span,
            both_ways: false,
        })
    }

    fn alias(&mut self, name: &Name, node: NodeId) {
        let variable = self.variable(&name.node).map(|index| self.variables[index as usize].span);
        let alias = self.aliases.iter().find(|(alias, _)| alias.node == name.node).map(|(alias, _)| alias.span);
        if let Some(first) = variable.or(alias) {
            self.report(
                Diag::error("RW0210", name.span, format!("`{}` is named twice", name.node), "again here")
                    .also(first, "first here"),
            );
        }
        self.aliases.push((name.clone(), node));
    }

    /// Which pattern a `rewrite` is about: its left side is the name of a `match`.
    fn root(&mut self, rewrite: &Rewrite, patterns: &[(&Name, NodeId, Span)]) -> Option<usize> {
        let left = &rewrite.left;
        if rewrite.both_ways {
            self.report(
                Diag::error("RW0453", left.expr.span, "`<=>` in a `match` block", "rewrites one way only")
                    .help("write `=>`, and a rule of its own for the way back"),
            );
            return None;
        }
        let named = name(&left.expr).filter(|_| left.after.is_empty());
        let found = named.and_then(|named| patterns.iter().position(|(name, ..)| name.node == named));
        if found.is_none() {
            let known = patterns.iter().map(|(name, ..)| name.node.as_str());
            let report =
                Diag::error("RW0453", left.expr.span, "`rewrite` wants the name of a `match`", "names no match")
                    .nearest(named.unwrap_or_default(), known, || {
                        Some("`match p = ..`, then `rewrite p => ..`".into())
                    });
            self.report(report);
        }
        found
    }

    fn reject_repeated(&mut self, rewrites: &[&Rewrite]) {
        for (i, rewrite) in rewrites.iter().enumerate() {
            let earlier = rewrites[..i].iter().find(|r| name(&r.left.expr) == name(&rewrite.left.expr));
            if let Some(earlier) = earlier {
                self.report(
                    Diag::error("RW0453", rewrite.left.expr.span, "rewritten twice in one block", "again here")
                        .also(earlier.left.expr.span, "first here")
                        .help("two results that are both right are two rules"),
                );
            }
        }
    }

    fn must_be_connected(&mut self, patterns: &[(&Name, NodeId, Span)]) {
        let variables = |elab: &Self, node| {
            let mut out = Vec::new();
            elab.variables_in(node, &mut out);
            out
        };
        let Some((_, first, at)) = patterns.first() else { return };
        let mut reached = variables(self, *first);
        let mut left: Vec<_> = patterns[1..].iter().map(|(_, node, span)| (variables(self, *node), *span)).collect();
        while let Some(next) = left.iter().position(|(own, _)| own.iter().any(|v| reached.contains(v))) {
            reached.extend(left.remove(next).0);
        }
        if let Some((_, span)) = left.first() {
            self.report(
                Diag::error("RW0453", *span, "this pattern shares no variable with the others", "unrelated")
                    .also(*at, "the first one")
                    .help("every pair of expressions would match: say what they have in common"),
            );
        }
    }
}

fn name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Path(name) => Some(name),
        ExprKind::Paren(inner) => name(inner),
        _ => None,
    }
}
