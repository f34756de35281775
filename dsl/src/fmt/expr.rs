//! Layout of expressions, types, parameters.

use super::Printer;
use super::layout::Op;
use crate::syntax::ast::{Arg, Effect, Expr, ExprKind, Name, Param, Side, TParam, Type, TypeKind};
use crate::syntax::lexer::escape;
use crate::syntax::precedence;
use crate::syntax::token::Kind;

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: &Type) {
        self.seek(ty.span);
        match &ty.kind {
            TypeKind::Int(value) => self.literal(Kind::Int, value.to_string()),
            TypeKind::Named { path, args } => {
                self.path(path);
                if !args.is_empty() {
                    self.list(("{", "}"), false, args, Self::ty);
                }
            }
        }
    }

    pub(super) fn tparams(&mut self, tparams: &[TParam]) {
        if !tparams.is_empty() {
            self.list(("{", "}"), false, tparams, |p, tparam| {
                p.name(&tparam.name);
                if let Some(bound) = &tparam.bound {
                    p.space();
                    p.word("<:");
                    p.ty(bound);
                }
            });
        }
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        self.list(("(", ")"), true, params, |p, param| {
            if param.constant {
                p.word("const");
            }
            p.name(&param.name);
            if param.variadic {
                p.token("...");
            }
            if let Some(ty) = &param.ty {
                p.token(":");
                p.space();
                p.ty(ty);
            }
        });
    }

    pub(super) fn effects(&mut self, effects: &[Effect]) {
        self.commas(effects, |p, effect| {
            p.path(&effect.name);
            if let Some(region) = &effect.region {
                p.token("(");
                p.path(region);
                p.token(")");
            }
        });
    }

    pub(super) fn string(&mut self, value: &str) {
        self.literal(Kind::Str, escape(value));
    }

    pub(super) fn side(&mut self, side: &Side) {
        self.group(|p| {
            p.expr(&side.expr);
            p.indented(|p| {
                for state in &side.after {
                    p.ops.push(Op::Line(1));
                    p.word("after");
                    p.expr(state);
                }
            });
        });
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        self.seek(expr.span);
        match &expr.kind {
            ExprKind::Path(path) => self.segments(path),
            ExprKind::Int { text, .. } | ExprKind::Float { text, .. } => match text.strip_prefix('-') {
                Some(digits) => {
                    self.token("-");
                    self.token(digits);
                }
                None => self.token(text),
            },
            ExprKind::Str(value) => self.string(value),
            ExprKind::Wildcard => self.token("_"),
            ExprKind::Bool(value) => self.token(if *value { "true" } else { "false" }),
            ExprKind::Operator(symbol) => {
                self.token("(");
                self.token(symbol);
                self.token(")");
            }
            ExprKind::Paren(inner) => self.list(("(", ")"), false, std::slice::from_ref(&**inner), Self::expr),
            ExprKind::Eval(inner) => {
                self.token("eval");
                self.list(("(", ")"), false, std::slice::from_ref(&**inner), Self::expr);
            }
            ExprKind::After(side) => self.side(side),
            ExprKind::Call { callee, targs, args } => {
                self.path(callee);
                if !targs.is_empty() {
                    self.list(("{", "}"), false, targs, Self::ty);
                }
                self.list(("(", ")"), true, args, Self::arg);
            }
            ExprKind::Binary { .. } => self.chain(expr),
            ExprKind::Unary { op, expr } => {
                self.name(op);
                if op.node == "not" {
                    self.space();
                }
                self.expr(expr);
            }
            ExprKind::Postfix { op, expr } => {
                self.expr(expr);
                self.name(op);
            }
            ExprKind::Is { expr, ty } => {
                self.expr(expr);
                self.space();
                self.word("is");
                self.ty(ty);
            }
            // Files with errors are not formatted; a tree made by hand shows where it is broken.
            ExprKind::Error => self.token("_"),
        }
    }

    /// A left-leaning chain of operators that bind alike breaks before all of them, or none.
    fn chain(&mut self, expr: &Expr) {
        let mut first = expr;
        let mut rest: Vec<(&Name, &Expr)> = Vec::new();
        while let ExprKind::Binary { op, left, right } = &first.kind {
            if rest.last().is_some_and(|(outer, _)| precedence(&outer.node) != precedence(&op.node)) {
                break;
            }
            rest.push((op, right));
            first = left;
        }
        self.group(|p| {
            p.expr(first);
            p.indented(|p| {
                for (op, right) in rest.into_iter().rev() {
                    p.ops.push(Op::Line(1));
                    p.name(op);
                    p.space();
                    p.expr(right);
                }
            });
        });
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Expr(expr) => self.expr(expr),
            Arg::Splat(name) => {
                self.name(name);
                self.token("...");
            }
            Arg::For { expr, var, list } => {
                self.expr(expr);
                self.space();
                self.word("for");
                self.name(var);
                self.space();
                self.word("in");
                self.name(list);
            }
        }
    }
}
