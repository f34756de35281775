//! Expressions as typed nodes: what elaboration builds, and what calls wait for.

use super::solve::{Clash, IType};
use crate::syntax::ast::Span;
use rewright_typeprop::OpId;
use rewright_typeprop::term::Literal;
use std::rc::Rc;

/// A node: an index into [`super::elab::Elab::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// Where an expression stands: decides which names it may introduce and what an omitted state means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExprContext {
    /// A pattern: an omitted state is any state, `_` any value.
    Left,
    /// A replacement: an omitted state is that of the match.
    Right,
    /// A condition: like a replacement.
    Guard,
    /// An example: one state is meant wherever none is written.
    Example,
    /// A clause of a declaration: the state in which the operation itself stands.
    Declaration,
}

/// What surrounds an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) place: ExprContext,
    pub(crate) state: Option<NodeId>,
    /// `dynamic`: `eval` is allowed.
    pub(crate) dynamic: bool,
}

impl Around {
    pub(crate) const LEFT: Around = Around { place: ExprContext::Left, state: None, dynamic: false };
    pub(crate) const GUARD: Around = Around { place: ExprContext::Guard, state: None, dynamic: false };
    pub(crate) const EXAMPLE: Around = Around { place: ExprContext::Example, state: None, dynamic: false };
    pub(crate) const DECLARATION: Around = Around { place: ExprContext::Declaration, state: None, dynamic: false };

    /// On a right side; of a dynamic rule?
    pub(crate) fn right(dynamic: bool) -> Around {
        Around { place: ExprContext::Right, state: None, dynamic }
    }
}

/// A typed node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) ty: IType,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Var(u32),
    Lit(Literal),
    /// Shared with code that looks at it while other parts of the elaboration change.
    Call(Rc<Call>),
    Eval(NodeId),
    /// Reported already.
    Error,
}

/// A call, resolved or not.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// As written: a name or a symbol.
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) candidates: Vec<OpId>,
    pub(crate) explicit: Vec<IType>,
    pub(crate) args: Vec<NodeId>,
    pub(crate) around: Around,
    /// It stands for the state after it.
    pub(crate) wants_state: bool,
    pub(crate) chosen: Option<(OpId, Vec<IType>)>,
    /// Set in the end, for operations that take a state.
    pub(crate) state: Option<NodeId>,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) kind: VariableKind,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum VariableKind {
    Value { ty: IType, constant: bool },
    State,
}

/// Why an operation does not fit a call.
#[derive(Clone, Debug)]
pub(crate) enum Misfit {
    Arity,
    TypeArity,
    TypeArg(usize, Clash),
    /// Which argument, and the type it should have.
    Arg(usize, IType, Clash),
    /// The type that the operation gives.
    Result(IType, Clash),
}
