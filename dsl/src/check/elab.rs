//! Expressions of one rule, declaration or example -> typed nodes.
//!
//! Nodes are built bottom-up. A call is resolved at once if its arguments decide it; otherwise it waits until
//! other constraints have told more ([`super::overload`]). When a whole rule is built, [`super::finish`] closes
//! what is open, gives every reading call its state and turns nodes into terms.

mod calls;

use super::nodes::{Around, ExprContext, Node, NodeId, NodeKind, Variable, VariableKind};
use super::report::{Diag, listed};
use super::resolved::Resolved;
use super::scope::Scope;
use super::solve::{IType, LiteralKind, Solver, rigid};
use crate::diagnostic::Diagnostic;
use crate::program::Fact;
use crate::syntax::ast::{self, Expr, ExprKind, Name, Span};
use rewright_typeprop::term::Literal;
use rewright_typeprop::{Op, OpId, TypeParam, Universe};
use std::cell::RefCell;

/// Deeper expressions are rejected, so that no stage needs an unbounded stack.
const DEPTH: u32 = 200;

/// The elaboration of one rule, declaration or example.
pub(crate) struct Elab<'c> {
    pub(crate) universe: &'c Universe,
    pub(crate) scope: &'c Scope,
    pub(crate) facts: &'c [Fact],
    pub(crate) op_spans: &'c [Span],
    pub(crate) type_spans: &'c [Span],
    /// By operation: which arguments must be known to compute it; `None` if it cannot be computed.
    pub(crate) computable: &'c [Option<Vec<bool>>],
    /// Overloads that are reported to be ambiguous: calls of them stay silent.
    pub(crate) ambiguous: &'c [(OpId, OpId)],
    pub(crate) solver: Solver<'c>,
    pub(crate) tparams: Vec<TypeParam>,
    /// Where the first of them are written, if without a bound.
    pub(crate) unbounded: Vec<Option<Span>>,
    pub(crate) variables: Vec<Variable>,
    /// Names of parts of a `match` block.
    pub(crate) aliases: Vec<(Name, NodeId)>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) waiting: Vec<NodeId>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Something was wrong, reported here or earlier: no term may come out.
    pub(crate) failed: bool,
    pub(crate) depth: u32,
    /// Where what names mean is noted, if that is asked for.
    pub(super) resolved: Option<&'c RefCell<Resolved>>,
}

impl<'c> super::Checker<'c> {
    /// A fresh elaboration in the scope of a file, below the given type parameters.
    pub(super) fn elab(&self, file: usize, tparams: Vec<TypeParam>) -> Elab<'_> {
        let mut solver = Solver::new(&self.program.universe.types, &self.has_subtypes);
        for tparam in &tparams {
            solver.push_rigid(tparam.bound.as_ref().map(rigid));
        }
        Elab {
            universe: &self.program.universe,
            scope: &self.scopes[file],
            facts: &self.program.facts,
            op_spans: &self.op_spans,
            type_spans: &self.type_spans,
            computable: &self.computable,
            ambiguous: &self.ambiguous,
            solver,
            tparams,
            unbounded: Vec::new(),
            variables: Vec::new(),
            aliases: Vec::new(),
            nodes: Vec::new(),
            waiting: Vec::new(),
            diagnostics: Vec::new(),
            failed: false,
            depth: 0,
            resolved: self.resolved.as_ref(),
        }
    }
}

impl Elab<'_> {
    pub(crate) fn report(&mut self, report: Diag) {
        self.failed = true;
        self.diagnostics.push(report.done());
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn push(&mut self, kind: NodeKind, ty: IType, span: Span) -> NodeId {
        self.nodes.push(Node { kind, ty, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn error_node(&mut self, span: Span) -> NodeId {
        self.failed = true;
        self.push(NodeKind::Error, IType::Error, span)
    }

    pub(crate) fn show(&self, ty: &IType) -> String {
        self.solver.display(ty, &self.tparams)
    }

    /// Declares a variable; the caller has seen to it that the name is free.
    pub(crate) fn declare(&mut self, name: &str, span: Span, kind: VariableKind) -> u32 {
        self.variables.push(Variable { name: name.into(), span, kind });
        self.variables.len() as u32 - 1
    }

    pub(crate) fn variable(&self, name: &str) -> Option<u32> {
        self.variables.iter().position(|v| v.name == name && name != "_").map(|i| i as u32)
    }

    /// A written type: a parameter stands for itself, `_` is open.
    pub(crate) fn written_type(&mut self, ty: &ast::Type) -> IType {
        if let ast::TypeKind::Named { path, args } = &ty.kind
            && path.node == "_"
            && args.is_empty()
        {
            return self.solver.fresh();
        }
        let resolved =
            super::written_types::resolve_type(ty, &self.tparams, self.scope, &self.universe.types, self.type_spans);
        match resolved {
            Ok(ty) => rigid(&ty),
            Err(report) => {
                self.failed = true;
                if let Some(report) = report {
                    self.report(*report);
                }
                IType::Error
            }
        }
    }

    /// A side with its states, innermost last. A state that is named here hides the one around.
    pub(crate) fn side(&mut self, side: &ast::Side, around: Around) -> NodeId {
        let mut state = if side.after.is_empty() { around.state } else { None };
        for after in side.after.iter().rev() {
            state = Some(self.state(after, Around { state, ..around }));
        }
        self.expr(&side.expr, Around { state, ..around })
    }

    /// An expression in state position.
    fn state(&mut self, expr: &Expr, around: Around) -> NodeId {
        match &expr.kind {
            ExprKind::Paren(inner) => self.state(inner, around),
            ExprKind::After(side) => {
                if let Some(outer) = around.state {
                    let at = self.node(outer).span;
                    self.report(
                        Diag::error("RW0310", at, "a state that stands in two states", "the second one")
                            .help("write one chain: `a after b after s`"),
                    );
                }
                let mut state = None;
                for after in side.after.iter().rev() {
                    state = Some(self.state(after, Around { state, ..around }));
                }
                self.state(&side.expr, Around { state, ..around })
            }
            ExprKind::Path(name) if !name.contains('.') => {
                if let Some(outer) = around.state {
                    let at = self.node(outer).span;
                    self.report(
                        Diag::error("RW0310", at, format!("state `{name}` stands in no other state"), "after what?")
                            .help("a state variable ends a chain of `after`"),
                    );
                }
                let index = match self.variable(name) {
                    Some(index) => index,
                    None if matches!(around.place, ExprContext::Left | ExprContext::Example) => {
                        self.declare(name, expr.span, VariableKind::State)
                    }
                    None => {
                        let known: Vec<String> = self.names_of(|k| *k == VariableKind::State);
                        self.report(
                            Diag::error("RW0403", expr.span, format!("state `{name}` is not on the left"), "unbound")
                                .nearest(name, known.iter().map(String::as_str), || {
                                    Some("name the state on the left side: `... after s`".into())
                                }),
                        );
                        return self.error_node(expr.span);
                    }
                };
                if self.variables[index as usize].kind != VariableKind::State {
                    let declared = self.variables[index as usize].span;
                    self.report(
                        Diag::error("RW0310", expr.span, format!("`{name}` is a value, not a state"), "wants a state")
                            .also(declared, "declared here"),
                    );
                    return self.error_node(expr.span);
                }
                self.push(NodeKind::Var(index), IType::State, expr.span)
            }
            _ => {
                let node = match &expr.kind {
                    ExprKind::Call { callee, targs, args } => {
                        self.named_call(callee, targs, args, expr.span, around, true)
                    }
                    _ => self.expr(expr, around),
                };
                let ty = self.node(node).ty.clone();
                if self.solver.unify(&ty, &IType::State).is_err() {
                    let found = self.show(&ty);
                    let message = format!("expected a state, found a value of type `{found}`");
                    let report = Diag::error("RW0310", expr.span, message, "gives no state");
                    let report = report.help(self.why_no_state(node));
                    let called = self.called(node).map(|op| self.op_spans[op.0 as usize]);
                    self.report(match called {
                        Some(declared) => report.also(declared, "declared here"),
                        None => report,
                    });
                    return self.error_node(expr.span);
                }
                node
            }
        }
    }

    /// What to write where an expression is no state.
    fn why_no_state(&self, node: NodeId) -> String {
        let writer = self.called(node).map(|op| self.universe.ops.get(op));
        match writer.filter(|op| !op.effects.writes.is_empty() && !op.results.is_empty()) {
            Some(op) => format!(
                "of functions that write and give a value, the state has a name after those that do nothing else and access \
                 one region: `{}` {}. A rule may put another one with the same effects in its place, `{}(..) => ..`",
                op.name,
                hindrance(op),
                op.name
            ),
            None => "a state is a variable, or a call of a function that writes".into(),
        }
    }

    /// The function that a call is of, where that is known.
    pub(super) fn called(&self, node: NodeId) -> Option<OpId> {
        match &self.node(node).kind {
            NodeKind::Call(call) => call.chosen.as_ref().map(|(op, _)| *op),
            _ => None,
        }
    }

    fn names_of(&self, wanted: impl Fn(&VariableKind) -> bool) -> Vec<String> {
        self.variables.iter().filter(|v| wanted(&v.kind) && v.name != "_").map(|v| v.name.clone()).collect()
    }

    /// An expression in value position.
    pub(crate) fn expr(&mut self, expr: &Expr, around: Around) -> NodeId {
        if self.depth >= DEPTH {
            self.report(
                Diag::error("RW0456", expr.span, "this expression is nested too deeply", "too deep here")
                    .help(format!("at most {DEPTH} levels")),
            );
            return self.error_node(expr.span);
        }
        self.depth += 1;
        let node = self.expr_inner(expr, around);
        self.depth -= 1;
        node
    }

    fn expr_inner(&mut self, expr: &Expr, around: Around) -> NodeId {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Error => self.error_node(span),
            ExprKind::Paren(inner) => self.expr(inner, around),
            ExprKind::Path(name) => self.path(name, span),
            ExprKind::Int { value, .. } => self.literal(Literal::Int(*value), LiteralKind::Int, span),
            ExprKind::Float { value, .. } => self.literal(Literal::Float(*value), LiteralKind::Float, span),
            ExprKind::Str(text) => self.literal(Literal::Str(text.clone()), LiteralKind::Str, span),
            ExprKind::Bool(b) => self.literal(Literal::Int(i128::from(*b)), LiteralKind::Int, span),
            ExprKind::Wildcard if around.place == ExprContext::Left => {
                let ty = self.solver.fresh();
                let index = self.declare("_", span, VariableKind::Value { ty: ty.clone(), constant: false });
                self.push(NodeKind::Var(index), ty, span)
            }
            ExprKind::Wildcard => {
                self.report(
                    Diag::error("RW0403", span, "`_` stands for no value here", "only a pattern may leave it open")
                        .help("name it in the parameter list"),
                );
                self.error_node(span)
            }
            ExprKind::Operator(symbol) => match self.function_value(symbol, span) {
                Some(value) => value,
                None => {
                    let message = format!("the operator `({symbol})` stands for no value here");
                    self.report(
                        Diag::error("RW0202", span, message, "a function as a value is of type `Fn`")
                            .help("declare or import `type Fn`"),
                    );
                    self.error_node(span)
                }
            },
            ExprKind::Eval(inner) => self.eval(inner, span, around),
            ExprKind::After(side) => self.side(side, around),
            ExprKind::Call { callee, targs, args } => self.named_call(callee, targs, args, span, around, false),
            ExprKind::Binary { op, left, right } => {
                let args = vec![self.expr(left, around), self.expr(right, around)];
                self.operator(op, args, span, around)
            }
            ExprKind::Unary { op, expr: inner } => match (op.node.as_str(), &inner.kind) {
                ("-", ExprKind::Int { value, .. }) => {
                    self.literal(Literal::Int(value.wrapping_neg()), LiteralKind::Int, span)
                }
                ("-", ExprKind::Float { value, .. }) => self.literal(Literal::Float(-value), LiteralKind::Float, span),
                _ => {
                    let args = vec![self.expr(inner, around)];
                    self.operator(op, args, span, around)
                }
            },
            ExprKind::Postfix { op, expr: inner } => {
                let args = vec![self.expr(inner, around)];
                self.operator(op, args, span, around)
            }
            ExprKind::Is { .. } => {
                self.report(
                    Diag::error("RW0317", span, "`is` is a condition, not a value", "not allowed here")
                        .help("conditions stand after `when`"),
                );
                self.error_node(span)
            }
        }
    }

    fn literal(&mut self, literal: Literal, kind: LiteralKind, span: Span) -> NodeId {
        let ty = self.solver.fresh_literal(kind);
        self.push(NodeKind::Lit(literal), ty, span)
    }

    /// A function as a value: its name, of the type `Fn` that the pack declares.
    fn function_value(&mut self, name: &str, span: Span) -> Option<NodeId> {
        let [ty] = self.scope.find_types("Fn")[..] else { return None };
        let ty = IType::App(ty, Vec::new());
        Some(self.push(NodeKind::Lit(Literal::Str(name.into())), ty, span))
    }

    fn path(&mut self, name: &str, span: Span) -> NodeId {
        if let Some(index) = self.variable(name) {
            let ty = match &self.variables[index as usize].kind {
                VariableKind::Value { ty, .. } => ty.clone(),
                VariableKind::State => IType::State,
            };
            return self.push(NodeKind::Var(index), ty, span);
        }
        if let Some((_, node)) = self.aliases.iter().find(|(alias, _)| alias.node == name) {
            return *node;
        }
        if self.scope.is_excused(name) {
            return self.error_node(span);
        }
        if !self.scope.find_ops(name).is_empty()
            && let Some(value) = self.function_value(name, span)
        {
            return value;
        }
        let known = self.names_of(|_| true);
        let is_op = !self.scope.find_ops(name).is_empty();
        let is_fact = !self.scope.find_facts(name).is_empty();
        self.report(Diag::error("RW0214", span, format!("unknown variable `{name}`"), "not a parameter").nearest(
            name,
            known.iter().map(String::as_str),
            || {
                Some(if is_op {
                    format!("`{name}` is a function: write `{name}(..)`")
                } else if is_fact {
                    format!("`{name}` is a fact: write `{name}(..)` after `when`")
                } else if matches!(name, "NULL" | "nullptr" | "null" | "nil") {
                    "a null pointer is the literal `0`, at a type below `ptr`".into()
                } else if known.iter().any(|name| name == "it" || name == "seed") {
                    format!("given here: {}", listed(&known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>()))
                } else {
                    format!("declare it in the parameter list: `({name}: ...)`")
                })
            },
        ));
        self.error_node(span)
    }

    fn eval(&mut self, inner: &Expr, span: Span, around: Around) -> NodeId {
        if around.place != ExprContext::Right {
            self.report(
                Diag::error("RW0405", span, "`eval` belongs on a right side", "nothing is computed here")
                    .help("`dynamic rule f(const c: T): lhs => eval(..)`"),
            );
            return self.error_node(span);
        }
        if !around.dynamic {
            self.report(
                Diag::error("RW0405", span, "`eval` outside a dynamic rule", "computed while matching")
                    .help("write `dynamic rule`"),
            );
        }
        let node = self.expr(inner, around);
        let ty = self.node(node).ty.clone();
        self.push(NodeKind::Eval(node), ty, span)
    }
}

/// Why the state after an operation that writes and gives a value has no name.
fn hindrance(op: &Op) -> &'static str {
    let effects = &op.effects;
    match () {
        () if !effects.allocates.is_empty() => "allocates, and what it makes is another one each time",
        () if effects.io => "does io",
        () if effects.traps || effects.diverges => "may not return",
        () if op.results.len() > 1 => "gives several values",
        () => "accesses several regions",
    }
}
