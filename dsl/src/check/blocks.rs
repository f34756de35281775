//! Examples about small programs: `before { .. } after { .. }`.
//!
//! Both blocks see the example's parameters, neither sees the other's variables. A call that takes a state stands in
//! the state of its place, so states are not written. A variable that is set inside an `if` is known there only.

use super::elab::Elab;
use super::nodes::{Around, NodeId, VariableKind};
use super::report::Diag;
use crate::program::{Block, Claim, Statement};
use crate::syntax::ast::{BlockStatement, ExampleItem, Span};

/// Variables of a block that has ended are called this, which no source can write.
const HIDDEN: &str = "?local";

/// A statement while types are open.
enum Open {
    Let(u32, NodeId),
    Do(NodeId),
    Return(NodeId),
    If { cond: NodeId, then: Vec<Open>, els: Vec<Open> },
}

impl Elab<'_> {
    pub(super) fn program_claim(
        &mut self,
        example: &ExampleItem,
        before: &[BlockStatement],
        after: &[BlockStatement],
    ) -> Option<Claim> {
        self.parameters(&example.params, &[], false);
        let mut results: Vec<(NodeId, Span)> = Vec::new();
        let before = self.open_block(before, &mut results);
        let after = self.open_block(after, &mut results);
        if let [(first, first_at), rest @ ..] = &results[..] {
            for (other, other_at) in rest {
                self.must_meet(*first, *first_at, *other, *other_at);
            }
        }
        self.finish(None, false);
        Some(Claim::Program { before: self.close_block(&before)?, after: self.close_block(&after)? })
    }

    /// Elaborates statements; what they return is added to `results`.
    fn open_block(&mut self, statements: &[BlockStatement], results: &mut Vec<(NodeId, Span)>) -> Vec<Open> {
        let first = self.variables.len();
        let mut out = Vec::new();
        for (i, statement) in statements.iter().enumerate() {
            out.push(match statement {
                BlockStatement::Let(name, expr) => {
                    let node = self.expr(expr, Around::EXAMPLE);
                    if let Some(earlier) = self.variable(&name.node) {
                        let earlier = self.variables[earlier as usize].span;
                        self.report(
                            Diag::error("RW0210", name.span, format!("`{}` is set twice", name.node), "again here")
                                .also(earlier, "first here")
                                .help("a variable stands for one value: give this one another name"),
                        );
                    }
                    let ty = self.node(node).ty.clone();
                    Open::Let(self.declare(&name.node, name.span, VariableKind::Value { ty, constant: false }), node)
                }
                BlockStatement::Do(expr) => Open::Do(self.expr(expr, Around::EXAMPLE)),
                BlockStatement::Return(expr) => {
                    if i + 1 < statements.len() {
                        self.report(
                            Diag::error("RW0454", expr.span, "statements after `return`", "nothing follows this")
                                .help("`return` comes last"),
                        );
                    }
                    let node = self.expr(expr, Around::EXAMPLE);
                    results.push((node, expr.span));
                    Open::Return(node)
                }
                BlockStatement::If { cond, then, els } => Open::If {
                    cond: self.expr(cond, Around::EXAMPLE),
                    then: self.open_block(then, results),
                    els: self.open_block(els, results),
                },
            });
        }
        self.variables[first..].iter_mut().for_each(|variable| variable.name = HIDDEN.into());
        out
    }

    fn close_block(&self, statements: &[Open]) -> Option<Block> {
        let close = |statement: &Open| {
            Some(match statement {
                Open::Let(variable, node) => Statement::Let(*variable, self.term(*node)?),
                Open::Do(node) => Statement::Do(self.term(*node)?),
                Open::Return(node) => Statement::Return(self.term(*node)?),
                Open::If { cond, then, els } => Statement::If {
                    cond: self.term(*cond)?,
                    then: self.close_block(then)?,
                    els: self.close_block(els)?,
                },
            })
        };
        statements.iter().map(close).collect()
    }
}
