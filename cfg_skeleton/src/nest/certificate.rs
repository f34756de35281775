//! Why two nests execute the same sequence, as data: what was done to bring them into one normal form.
//!
//! A certificate says what a proof found, and nothing of how: which loops never run or run once, which are rerolled,
//! merged, untiled or split, and which bounds others imply, in the order in which loops are met, innermost first. Who
//! checks it does the same steps himself and shows that each may be done; so nothing in here is believed.

use super::affine::{Affine, Atom, Var};
use serde::{Deserialize, Serialize};

/// The form of certificates. It changes with what a step means.
pub const FORMAT: u32 = 1;

/// The certificates of the functions of two files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificates {
    /// Of this form.
    pub format: u32,
    /// One for each function that is certified.
    pub functions: Vec<Certificate>,
}

/// Why a function does the same in two versions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Its name.
    pub function: String,
    /// Sizes are at least these numbers.
    pub precondition: Vec<(String, i64)>,
    /// What is done to the first version.
    pub before: Vec<Step>,
    /// What is done to the second version.
    pub after: Vec<Step>,
}

/// What is done to the loop at hand, which counts from 0 in steps of 1 where it has one lower bound.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Its bounds are the same as these.
    Bounds {
        /// Lower ones; the largest counts.
        lower: Vec<Polynomial>,
        /// Upper ones; the smallest counts.
        upper: Vec<Polynomial>,
    },
    /// It never runs.
    Never,
    /// It runs once, with this value of its variable.
    Once(Polynomial),
    /// Its body comes next.
    Enter,
    /// Its body is so many copies.
    Reroll(u32),
    /// It and the only loop in it are tiles of one loop.
    Untile {
        /// Of this size.
        size: i64,
        /// The variable of the one loop.
        var: u32,
        /// Its upper bounds.
        upper: Vec<Polynomial>,
    },
    /// It is two loops, an outer one over quotients and an inner one over remainders.
    Split {
        /// The divisor.
        size: i64,
        /// The variable of the inner loop.
        var: u32,
        /// Polynomials divided by constants that are, rounded down, these numbers in the inner loop.
        floors: Vec<(Polynomial, i64, i64)>,
    },
    /// It stays as it is.
    Keep,
    /// It continues the loop before it.
    Merge,
}

/// A polynomial as numbers and products.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Polynomial(pub Vec<(i64, Vec<Factor>)>);

/// A factor of a product.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// A variable.
    Var(u32),
    /// A polynomial, divided by a constant and rounded down.
    Floor(Polynomial, i64),
}

impl From<&Affine> for Polynomial {
    fn from(affine: &Affine) -> Polynomial {
        let factor = |atom: &Atom| match atom {
            Atom::Var(Var(n)) => Factor::Var(*n),
            Atom::Floor(inner, divisor) => Factor::Floor(inner.as_ref().into(), *divisor as i64),
        };
        let term = |(atoms, coefficient): (&[Atom], i128)| (coefficient as i64, atoms.iter().map(factor).collect());
        Polynomial(affine.terms().map(term).collect())
    }
}

impl Polynomial {
    /// The polynomial; `None` where a divisor is none.
    #[must_use]
    pub fn read(&self) -> Option<Affine> {
        let mut sum = Affine::default();
        for (coefficient, factors) in &self.0 {
            let mut product = Affine::constant((*coefficient).into());
            for factor in factors {
                let factor = match factor {
                    Factor::Var(n) => Affine::var(Var(*n)),
                    Factor::Floor(inner, divisor) if *divisor > 0 => inner.read()?.floor_div((*divisor).into()),
                    Factor::Floor(..) => return None,
                };
                product = product.product(&factor);
            }
            sum = sum.plus(1, &product);
        }
        (!sum.is_broken()).then_some(sum)
    }
}

/// Polynomials as data.
pub(crate) fn polynomials(affines: &[Affine]) -> Vec<Polynomial> {
    affines.iter().map(Polynomial::from).collect()
}
