//! Conditions of a rule where its values are made by code: what they look at is computed beside the sides, and judged
//! afterwards.
//!
//! It does not judge facts without a `spec`, nor which type a value has.

use crate::code::{Built, Code, Operand};
use crate::typing::fact_types;
use rewright_cfg_skeleton::ir::Value;
use rewright_dsl::program::{Guard, Program};
use rewright_typeprop::{Term, Ty};

/// A condition over the first results of a function.
pub(super) enum Condition {
    /// This one is not 0.
    Holds(usize),
    /// These are equal, or not.
    Equal(usize, usize, bool),
    /// Other classes may well have equal values.
    Always,
    Not(Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

/// What a rule's terms are about.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) targs: &'a [Ty],
    pub(super) vars: &'a [Option<Operand>],
}

impl Condition {
    /// Writes what a guard looks at; `results` are those of the function so far.
    pub(super) fn write(
        code: &mut Code<'_>,
        context: Context<'_>,
        guard: &Guard,
        results: &mut Vec<Value>,
    ) -> Built<Condition> {
        let mut look = |code: &mut Code<'_>, term: &Term, targs: &[Ty], vars: &[Option<Operand>]| -> Built<usize> {
            let (value, ty) = code.term(term, targs, vars)?;
            code.universe.types.scalar(ty).ok_or("a condition of it is about what is no machine value")?;
            results.push(value);
            Ok(results.len() - 1)
        };
        let Context { program, targs, vars } = context;
        Ok(match guard {
            Guard::Holds(term) => Condition::Holds(look(code, term, targs, vars)?),
            Guard::Compare { equal, left, right } => {
                Condition::Equal(look(code, left, targs, vars)?, look(code, right, targs, vars)?, *equal)
            }
            Guard::Class { same: true, left, right } => {
                Condition::Equal(look(code, left, targs, vars)?, look(code, right, targs, vars)?, true)
            }
            Guard::Class { same: false, .. } => Condition::Always,
            Guard::Not(inner) => Condition::Not(Box::new(Condition::write(code, context, inner, results)?)),
            Guard::Or(first, second) => {
                let first = Condition::write(code, context, first, results)?;
                Condition::Or(Box::new(first), Box::new(Condition::write(code, context, second, results)?))
            }
            Guard::Fact(fact, args) => {
                let fact = &program.facts[fact.0 as usize];
                let unknown = || format!("the meaning of `{}` is unknown: it has no `spec`", fact.name);
                let spec = fact.spec.as_ref().ok_or_else(unknown)?;
                let args = args.iter().map(|arg| code.term(arg, targs, vars)).collect::<Built<Vec<Operand>>>()?;
                let own = fact_types(fact, args.iter().map(|(_, ty)| Some(*ty)));
                let own: Vec<Ty> = own.into_iter().map(|ty| ty.unwrap_or(Ty::ANY)).collect();
                let args: Vec<Option<Operand>> = args.into_iter().map(Some).collect();
                Condition::Holds(look(code, spec, &own, &args)?)
            }
            Guard::Is(..) => return Err("a condition of it asks for a type".into()),
        })
    }

    /// Does it hold of these results?
    pub(super) fn holds(&self, results: &[i64]) -> bool {
        match self {
            Condition::Holds(n) => results[*n] != 0,
            Condition::Equal(left, right, equal) => (results[*left] == results[*right]) == *equal,
            Condition::Always => true,
            Condition::Not(inner) => !inner.holds(results),
            Condition::Or(first, second) => first.holds(results) || second.holds(results),
        }
    }
}
