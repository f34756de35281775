//! Calls of functions, uses of operators and facts: their arguments, and what they may mean.

use super::super::nodes::{Around, Call, ExprContext, NodeId, NodeKind};
use super::super::report::{Diag, count};
use super::super::solve::substitute;
use super::super::wording::{operator_of_another_language, short};
use super::Elab;
use crate::program::FactId;
use crate::syntax::ast::{self, Arg, Span};
use rewright_typeprop::OpId;
use std::rc::Rc;

impl Elab<'_> {
    pub(super) fn named_call(
        &mut self,
        callee: &ast::Path,
        targs: &[ast::Type],
        args: &[Arg],
        span: Span,
        around: Around,
        wants_state: bool,
    ) -> NodeId {
        let mut nodes = Vec::new();
        for arg in args {
            nodes.push(match arg {
                Arg::Expr(e) => self.expr(e, around),
                Arg::Splat(name) => {
                    self.report(super::super::decls::variadic(name.span));
                    self.error_node(name.span)
                }
                Arg::For { expr, .. } if around.place == ExprContext::Left => {
                    self.report(
                        Diag::error("RW0404", expr.span, "`for` on a left side", "a pattern builds no list")
                            .help("match the list as `xs...`, and use `for` on the right"),
                    );
                    self.error_node(expr.span)
                }
                Arg::For { list, .. } => {
                    self.report(super::super::decls::variadic(list.span));
                    self.error_node(list.span)
                }
            });
        }
        let explicit = targs.iter().map(|t| self.written_type(t)).collect();
        let name = callee.node.as_str();
        let candidates = self.scope.find_ops(name);
        if candidates.is_empty() {
            if self.scope.is_excused(name) {
                return self.error_node(span);
            }
            let (tables, last) = self.scope.tables(name);
            let known: Vec<String> = tables.iter().flat_map(|t| t.ops.keys()).cloned().collect();
            let is_fact = !self.scope.find_facts(name).is_empty();
            let elsewhere: Vec<_> =
                self.universe.ops.alike(last).iter().map(|id| self.universe.ops.get(*id).pack.clone()).collect();
            let report = if is_fact {
                Diag::error("RW0317", callee.span, format!("fact `{name}` is not a value"), "not allowed here")
                    .help("facts stand after `when`")
            } else {
                Diag::error("RW0201", callee.span, format!("unknown function `{name}`"), "not declared or imported")
                    .nearest(last, known.iter().map(String::as_str), || {
                        elsewhere.first().map(|pack| format!("pack `{pack}` declares it: `import {pack}`"))
                    })
            };
            self.report(report);
            return self.error_node(span);
        }
        let (name, name_span) = (callee.node.clone(), callee.span);
        let args = nodes;
        let call = Call { name, name_span, candidates, explicit, args, around, wants_state, chosen: None, state: None };
        self.call(call, span)
    }

    pub(super) fn operator(&mut self, op: &ast::Name, args: Vec<NodeId>, span: Span, around: Around) -> NodeId {
        let all = self.scope.symbols.get(&op.node).cloned().unwrap_or_default();
        let arity = args.len();
        let candidates: Vec<OpId> =
            all.iter().copied().filter(|id| self.universe.ops.get(*id).params.len() == arity).collect();
        if candidates.is_empty() {
            if !self.scope.incomplete {
                let kind = if arity == 1 { "prefix or postfix" } else { "infix" };
                let help = match op.node.as_str() {
                    "and" => "`and` joins conditions; `&` of `std.core` the bits of values".into(),
                    "or" => "`or` joins conditions; `|` of `std.core` the bits of values".into(),
                    "-" if arity == 1 => "call the operation of `std.core`: `ineg`, `fneg` for floats".into(),
                    symbol if let Some(ours) = operator_of_another_language(symbol) => {
                        format!("call the operation of `std.core`: {ours}")
                    }
                    _ => format!("declare one: `fn name(..) -> .. as \"{}\"`, or import a pack that does", op.node),
                };
                self.report(
                    Diag::error(
                        "RW0213",
                        op.span,
                        format!("no function is {kind} `{}` here", op.node),
                        "unknown operator",
                    )
                    .help(help),
                );
            }
            return self.error_node(span);
        }
        let (name, name_span, explicit) = (op.node.clone(), op.span, Vec::new());
        let wants_state = false;
        let call = Call { name, name_span, candidates, explicit, args, around, wants_state, chosen: None, state: None };
        self.call(call, span)
    }

    fn call(&mut self, call: Call, span: Span) -> NodeId {
        let ty = self.solver.fresh();
        let id = self.push(NodeKind::Call(Rc::new(call)), ty, span);
        if !self.try_choose(id, false) {
            self.waiting.push(id);
        }
        id
    }

    /// Arguments of a fact, each below its parameter.
    pub(crate) fn fact_args(&mut self, id: FactId, args: &[Arg], at: Span, around: Around) -> Option<Vec<NodeId>> {
        let fact = &self.facts[id.0 as usize];
        if fact.params.len() != args.len() {
            let message = format!(
                "fact `{}` takes {}, here are {}",
                short(&fact.name),
                count(fact.params.len(), "argument"),
                args.len()
            );
            self.report(Diag::error("RW0302", at, message, "wrong number").also(fact.span, "declared here"));
            return None;
        }
        let mut nodes = Vec::new();
        let targs = self.solver.instantiate(&fact.tparams);
        for (arg, param) in args.iter().zip(&fact.params) {
            let Arg::Expr(e) = arg else {
                self.report(super::super::decls::variadic(at));
                return None;
            };
            let node = self.expr(e, around);
            let want = substitute(param, &targs);
            let ty = self.node(node).ty.clone();
            if self.solver.subtype(&ty, &want).is_err() {
                let (want, found) = (self.show(&want), self.show(&ty));
                self.report(
                    Diag::error(
                        "RW0301",
                        e.span,
                        format!("expected `{want}`, found `{found}`"),
                        format!("of type `{found}`"),
                    )
                    .also(fact.span, format!("`{}` is about `{want}`", short(&fact.name))),
                );
            }
            nodes.push(node);
        }
        Some(nodes)
    }
}
