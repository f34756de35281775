//! Typed terms: the one form in which packs state rule sides, guards, meanings, costs and trap conditions.

use crate::ids::OpId;
use crate::types::TypeExpr;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A typed expression over the variables of the rule or declaration that it stands in.
///
/// Variables are indices into the enclosing parameter list. Type arguments may mention the enclosing type
/// parameters, among them the inferred ones.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Term {
    /// The n-th variable.
    Var(u32),
    /// A literal of the given type: an integer as written, or a float's value. Checked to fit at each instance.
    Lit(Literal, TypeExpr),
    /// An operation on values. `state` is present exactly when the operation reads or writes a region.
    Call {
        /// The overload that was chosen.
        op: OpId,
        /// One per type parameter of the operation.
        targs: Vec<TypeExpr>,
        /// One per parameter of the operation.
        args: Vec<Term>,
        /// The state in which it stands: a state variable, or a call that gives one.
        state: Option<Box<Term>>,
    },
    /// `eval(term)`: computed while matching, from constants. Only on a right side of a dynamic rule.
    Eval(Box<Term>),
}

impl Term {
    /// The terms right below: operands, then the state; what an `eval` computes.
    pub fn parts(&self) -> impl Iterator<Item = &Term> {
        let (operands, last): (&[Term], Option<&Term>) = match self {
            Term::Var(_) | Term::Lit(..) => (&[], None),
            Term::Eval(inner) => (&[], Some(inner)),
            Term::Call { args, state, .. } => (args, state.as_deref()),
        };
        operands.iter().chain(last)
    }

    /// This term and all below it, a term before its parts, from left to right.
    pub fn subterms(&self) -> impl Iterator<Item = &Term> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            let term = todo.pop()?;
            let below = todo.len();
            todo.extend(term.parts());
            todo[below..].reverse();
            Some(term)
        })
    }

    /// The variables that it mentions, wherever it does.
    pub fn variables(&self) -> impl Iterator<Item = u32> {
        self.subterms().filter_map(|term| if let Term::Var(n) = term { Some(*n) } else { None })
    }

    /// The same term with something in the place of its variables and of type parameters.
    pub fn substitute(&self, var: &mut impl FnMut(u32) -> Term, param: &mut impl FnMut(u32) -> TypeExpr) -> Term {
        match self {
            Term::Var(i) => var(*i),
            Term::Lit(literal, ty) => Term::Lit(literal.clone(), ty.substitute(param)),
            Term::Eval(inner) => Term::Eval(Box::new(inner.substitute(var, param))),
            Term::Call { op, targs, args, state } => Term::Call {
                op: *op,
                targs: targs.iter().map(|t| t.substitute(param)).collect(),
                args: args.iter().map(|a| a.substitute(var, param)).collect(),
                state: state.as_ref().map(|s| Box::new(s.substitute(var, param))),
            },
        }
    }
}

/// A literal as a pack writes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Literal {
    /// An integer; hexadecimal ones may exceed the signed range of their type and wrap.
    Int(i128),
    /// A floating-point number, rounded to its type.
    Float(f64),
    /// A string, for domain functions.
    Str(String),
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Int(n) => write!(f, "{n}"),
            Literal::Float(value) => write!(f, "{value}"),
            Literal::Str(text) => write!(f, "{text:?}"),
        }
    }
}
