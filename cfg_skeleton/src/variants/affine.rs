//! Integers of a loop as functions of how many iterations came before: sums of multiples of that number and of
//! values from outside the loop, modulo two to the power of their width.

use super::shapes::Copyable;
use crate::ir::operations::Operations;
use crate::ir::{Definition, EdgeArg, Function, InstKind, Terminator, Value};
use rewright_typeprop::{Model, Scalar, Universe};
use std::collections::BTreeMap;

/// Operations that are looked at for one value.
const MAX_STEPS: usize = 64;

/// A sum, in canonical form; no factor is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Affine {
    pub(super) offset: i64,
    /// What each iteration adds.
    pub(super) step: i64,
    /// Further terms, with their factors.
    pub(super) terms: BTreeMap<Term, i64>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Term {
    /// A value from outside the loop.
    Value(Value),
    /// A narrower integer that varies, extended.
    Extended { signed: bool, bits: u32, of: Box<Affine> },
}

impl Affine {
    /// Is it, but for the number of the iteration, always the same?
    pub(super) fn is_counter(&self) -> bool {
        !self.terms.keys().any(Term::varies)
    }
}

impl Term {
    /// Is it another one in different iterations?
    pub(super) fn varies(&self) -> bool {
        match self {
            Term::Value(_) => false,
            Term::Extended { of, .. } => of.step != 0 || !of.is_counter(),
        }
    }
}

/// A loop whose values are looked at.
pub(super) struct Iterations<'a> {
    pub(super) of: Copyable<'a>,
    pub(super) universe: &'a Universe,
    pub(super) operations: &'a Operations<'a>,
}

impl Iterations<'_> {
    /// A value in an iteration, if it is such a sum.
    pub(super) fn affine(&self, value: Value) -> Option<Affine> {
        let mut steps = MAX_STEPS;
        self.sum(value, &mut steps)
    }

    fn function(&self) -> &Function {
        self.of.function
    }

    fn sum(&self, value: Value, steps: &mut usize) -> Option<Affine> {
        *steps = steps.checked_sub(1)?;
        let scalar = self.universe.types.scalar(self.function().ty(value)).filter(|scalar| scalar.is_int())?;
        if let Some(n) = self.operations.constant(value) {
            return Some(Affine { offset: n, ..Affine::default() });
        }
        let definition = self.operations.definition(value)?;
        let is_inside = self.of.cfg.loop_contains(self.of.id, definition.block());
        match definition {
            Definition::Param(block, n) if block == self.of.header => self.counter(value, n, scalar, steps),
            Definition::Result(_, inst, _) => match self.operation(value, scalar, steps) {
                // It is computed from something that is none.
                None if !is_inside && !matches!(self.function().inst(inst).kind, InstKind::Const(_)) => outside(value),
                sum => sum,
            },
            Definition::Param(..) if !is_inside => outside(value),
            Definition::Param(..) => None,
        }
    }

    /// A parameter of the header to which each iteration adds a constant.
    fn counter(&self, value: Value, n: usize, scalar: Scalar, steps: &mut usize) -> Option<Affine> {
        let [first, next] = [self.of.before, self.of.latch].map(|from| match &self.function().block(from).term {
            Terminator::Jump(edge) => edge.args.get(n).copied(),
            _ => None,
        });
        let (Some(EdgeArg::Value(first)), Some(EdgeArg::Value(next))) = (first, next) else { return None };
        let (base, step) = self.operations.sum(next)?;
        let first = self.sum(first, steps)?;
        (base == value && first.step == 0).then(|| Affine { step: scalar.canonical(step as u64), ..first })
    }

    fn operation(&self, value: Value, scalar: Scalar, steps: &mut usize) -> Option<Affine> {
        if let Some((model, [x, y])) = self.operations.binary(value) {
            let factor = |value| self.operations.constant(value);
            return match model {
                Model::Add => Some(added(self.sum(x, steps)?, 1, &self.sum(y, steps)?, scalar)),
                Model::Sub => Some(added(self.sum(x, steps)?, -1, &self.sum(y, steps)?, scalar)),
                Model::Mul => match (factor(x), factor(y)) {
                    (_, Some(n)) => Some(added(Affine::default(), n, &self.sum(x, steps)?, scalar)),
                    (Some(n), _) => Some(added(Affine::default(), n, &self.sum(y, steps)?, scalar)),
                    _ => None,
                },
                Model::Shl => {
                    let n = factor(y)?.rem_euclid(i64::from(scalar.bits()));
                    Some(added(Affine::default(), 1 << n, &self.sum(x, steps)?, scalar))
                }
                _ => None,
            };
        }
        let inst = self.function().inst(self.operations.definition(value)?.inst()?);
        let (InstKind::Op { op, .. }, [x]) = (&inst.kind, &inst.args[..]) else { return None };
        let signed = match self.universe.ops.get(*op).model? {
            Model::Zext => false,
            Model::Sext => true,
            _ => return None,
        };
        let bits = self.universe.types.scalar(self.function().ty(*x))?.bits();
        let of = Box::new(self.sum(*x, steps)?);
        let terms = BTreeMap::from([(Term::Extended { signed, bits, of }, 1)]);
        Some(Affine { terms, ..Affine::default() })
    }
}

fn outside(value: Value) -> Option<Affine> {
    Some(Affine { terms: BTreeMap::from([(Term::Value(value), 1)]), ..Affine::default() })
}

/// A sum, and another one some times.
fn added(mut sum: Affine, times: i64, other: &Affine, scalar: Scalar) -> Affine {
    let plus = |n: i64, m: i64| scalar.canonical(n.wrapping_add(m.wrapping_mul(times)) as u64);
    sum.offset = plus(sum.offset, other.offset);
    sum.step = plus(sum.step, other.step);
    for (term, factor) in &other.terms {
        let all = sum.terms.entry(term.clone()).or_default();
        *all = plus(*all, *factor);
    }
    sum.terms.retain(|_, factor| *factor != 0);
    sum
}
