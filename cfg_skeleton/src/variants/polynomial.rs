//! Integers of nested loops as polynomials in how many iterations came before and in values from outside the loops,
//! modulo two to the power of their width.

use super::shapes::Copyable;
use crate::ir::operations::Operations;
use crate::ir::{Definition, EdgeArg, Function, InstId, InstKind, Terminator, Value};
use rewright_typeprop::{Model, Scalar, Universe};
use std::collections::BTreeMap;

/// Operations that are looked at for one value.
const MAX_STEPS: usize = 64;

/// Terms of a polynomial, and factors of a term, at most.
const MAX_TERMS: usize = 16;
const MAX_FACTORS: usize = 4;

/// A sum of products, in canonical form: each product's factors are in order, and no coefficient is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Polynomial(BTreeMap<Vec<Factor>, i64>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Factor {
    /// How many iterations of a loop came before: of the outermost one that is looked at, by 0.
    Iterations(usize),
    /// A value from outside the loops.
    Value(Value),
    /// A narrower integer, extended.
    Extended { signed: bool, bits: u32, of: Box<Polynomial> },
}

impl Factor {
    /// Is it another one in different iterations?
    pub(super) fn varies(&self) -> bool {
        match self {
            Factor::Iterations(_) => true,
            Factor::Value(_) => false,
            Factor::Extended { of, .. } => of.varies(),
        }
    }
}

impl Polynomial {
    pub(super) fn constant(n: i64) -> Self {
        Polynomial::from([(vec![], n)])
    }

    fn factor(factor: Factor) -> Self {
        Polynomial::from([(vec![factor], 1)])
    }

    /// The number, if it is one.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.0.iter().next() {
            None => Some(0),
            Some((factors, n)) => (self.0.len() == 1 && factors.is_empty()).then_some(*n),
        }
    }

    pub(super) fn varies(&self) -> bool {
        self.0.keys().flatten().any(Factor::varies)
    }

    /// What the products of factors that vary are multiplied by, products without such factors by `[]`.
    pub(super) fn by_varying(&self) -> BTreeMap<Vec<&Factor>, Polynomial> {
        let mut parts: BTreeMap<Vec<&Factor>, Polynomial> = BTreeMap::new();
        for (factors, n) in &self.0 {
            let (varying, steady): (Vec<&Factor>, Vec<&Factor>) = factors.iter().partition(|factor| factor.varies());
            parts.entry(varying).or_default().0.insert(steady.into_iter().cloned().collect(), *n);
        }
        parts
    }

    /// What it is before the first iterations, and what each iteration adds, by loop; none if it is no such sum.
    pub(super) fn by_iterations(&self) -> Option<(Polynomial, BTreeMap<usize, Polynomial>)> {
        let (mut first, mut steps) = (Polynomial::default(), BTreeMap::new());
        for (varying, part) in self.by_varying() {
            match varying[..] {
                [] => first = part,
                [Factor::Iterations(n)] => _ = steps.insert(*n, part),
                _ => return None,
            }
        }
        Some((first, steps))
    }

    /// This one, and another one some times, modulo two to the power of 64.
    pub(super) fn plus(mut self, times: i64, other: &Polynomial) -> Self {
        for (factors, n) in &other.0 {
            let all = self.0.entry(factors.clone()).or_default();
            *all = all.wrapping_add(n.wrapping_mul(times));
        }
        self.0.retain(|_, n| *n != 0);
        self
    }

    pub(super) fn times(&self, other: &Polynomial) -> Self {
        let mut product = Polynomial::default();
        for (factors, n) in &self.0 {
            for (others, m) in &other.0 {
                let mut all = [factors.as_slice(), others].concat();
                all.sort();
                let sum = product.0.entry(all).or_default();
                *sum = sum.wrapping_add(n.wrapping_mul(*m));
            }
        }
        product.0.retain(|_, n| *n != 0);
        product
    }

    /// Its coefficients as integers of a width have them.
    fn of(mut self, scalar: Scalar) -> Self {
        self.0.values_mut().for_each(|n| *n = scalar.canonical(*n as u64));
        self.0.retain(|_, n| *n != 0);
        self
    }

    fn is_small(&self) -> bool {
        self.0.len() <= MAX_TERMS && self.0.keys().all(|factors| factors.len() <= MAX_FACTORS)
    }
}

impl<const N: usize> From<[(Vec<Factor>, i64); N]> for Polynomial {
    fn from(terms: [(Vec<Factor>, i64); N]) -> Self {
        Polynomial(terms.into_iter().filter(|(_, n)| *n != 0).collect())
    }
}

/// Loops whose values are looked at.
pub(super) struct Iterations<'a> {
    /// Each is in the one before it.
    pub(super) of: Vec<Copyable<'a>>,
    pub(super) universe: &'a Universe,
    pub(super) operations: &'a Operations<'a>,
    /// Parameters of headers which as signed numbers, or as unsigned ones, do not come round.
    pub(super) monotone: Vec<(Value, bool)>,
}

impl Iterations<'_> {
    /// A value in an iteration, if it is such a polynomial.
    pub(super) fn polynomial(&self, value: Value) -> Option<Polynomial> {
        let mut steps = MAX_STEPS;
        self.read(value, &mut steps)
    }

    /// A value that the loops do not change, as 64 bits: a narrower one is extended.
    pub(super) fn steady(&self, value: Value, signed: bool) -> Option<Polynomial> {
        let of = self.polynomial(value)?;
        let bits = self.universe.types.scalar(self.function().ty(value))?.bits();
        (!of.varies()).then(|| extended(of, bits, signed))
    }

    fn function(&self) -> &Function {
        self.of[0].function
    }

    fn is_inside(&self, definition: Definition) -> bool {
        self.of[0].cfg.loop_contains(self.of[0].id, definition.block())
    }

    fn read(&self, value: Value, steps: &mut usize) -> Option<Polynomial> {
        *steps = steps.checked_sub(1)?;
        let scalar = self.universe.types.scalar(self.function().ty(value)).filter(|scalar| scalar.is_int())?;
        if let Some(n) = self.operations.constant(value) {
            return Some(Polynomial::constant(n));
        }
        let definition = self.operations.definition(value)?;
        let outside = (!self.is_inside(definition)).then(|| Polynomial::factor(Factor::Value(value)));
        let known = match definition {
            Definition::Param(block, n) => {
                let depth = self.of.iter().position(|l| l.header == block);
                depth.and_then(|depth| self.counter(value, (depth, n), scalar, steps))
            }
            Definition::Result(_, inst, _) => self.operation(value, inst, scalar, steps),
        };
        known.filter(Polynomial::is_small).or(outside)
    }

    /// A parameter of a header to which each iteration adds what the loops do not change.
    fn counter(
        &self,
        value: Value,
        (depth, n): (usize, usize),
        scalar: Scalar,
        steps: &mut usize,
    ) -> Option<Polynomial> {
        let l = self.of[depth];
        let [first, next] = [l.before, l.latch].map(|from| match &self.function().block(from).term {
            Terminator::Jump(edge) => edge.args.get(n).copied(),
            _ => None,
        });
        let (Some(EdgeArg::Value(first)), Some(EdgeArg::Value(next))) = (first, next) else { return None };
        let step = self.step(value, next, steps).filter(|step| !step.varies())?;
        let counted = step.times(&Polynomial::factor(Factor::Iterations(depth)));
        Some(self.read(first, steps)?.plus(1, &counted).of(scalar))
    }

    /// What `next` is more than a parameter.
    fn step(&self, param: Value, next: Value, steps: &mut usize) -> Option<Polynomial> {
        match self.operations.binary(next)? {
            (Model::Add, [x, step]) if x == param => self.read(step, steps),
            (Model::Add, [step, x]) if x == param => self.read(step, steps),
            (Model::Sub, [x, step]) if x == param => Some(Polynomial::default().plus(-1, &self.read(step, steps)?)),
            _ => None,
        }
    }

    fn operation(&self, value: Value, inst: InstId, scalar: Scalar, steps: &mut usize) -> Option<Polynomial> {
        if let Some((model, [x, y])) = self.operations.binary(value) {
            let result = match model {
                Model::Add => self.read(x, steps)?.plus(1, &self.read(y, steps)?),
                Model::Sub => self.read(x, steps)?.plus(-1, &self.read(y, steps)?),
                Model::Mul => self.read(x, steps)?.times(&self.read(y, steps)?),
                Model::Shl => {
                    let n = self.operations.constant(y)?.rem_euclid(i64::from(scalar.bits()));
                    Polynomial::default().plus(1 << n, &self.read(x, steps)?)
                }
                _ => return None,
            };
            return Some(result.of(scalar));
        }
        let inst = self.function().inst(inst);
        let (InstKind::Op { op, .. }, [x]) = (&inst.kind, &inst.args[..]) else { return None };
        let signed = match self.universe.ops.get(*op).model? {
            Model::Zext => false,
            Model::Sext => true,
            _ => return None,
        };
        let bits = self.universe.types.scalar(self.function().ty(*x))?.bits();
        let of = self.read(*x, steps)?;
        // Each iteration of one loop adds the same to it as an integer.
        if self.monotone.contains(&(*x, signed))
            && let Some((first, steps)) = of.by_iterations()
            && let [(n, step)] = &steps.into_iter().collect::<Vec<_>>()[..]
            && let Some(step) = step.as_constant()
        {
            let counted = Polynomial::from([(vec![Factor::Iterations(*n)], step)]);
            return Some(extended(first, bits, signed).plus(1, &counted));
        }
        Some(extended(of, bits, signed))
    }
}

/// An integer of so many bits, extended.
pub(super) fn extended(of: Polynomial, bits: u32, signed: bool) -> Polynomial {
    let narrow = |n: i64| if signed { n } else { n & (u64::MAX >> (64 - bits)) as i64 };
    match of.as_constant() {
        Some(n) if bits < 64 => Polynomial::constant(narrow(n)),
        None if bits < 64 => Polynomial::factor(Factor::Extended { signed, bits, of: Box::new(of) }),
        _ => of,
    }
}
