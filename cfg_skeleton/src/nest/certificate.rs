//! Why two nests do the same, as data: what a proof found, and nothing of how.
//!
//! A certificate has a case for each set of sizes that a proof is about. A case first says what was done to each version:
//! which cells were joined, and which loops never run or run once, are rerolled, merged, untiled or split, and which
//! bounds others imply, in the order in which loops are met, innermost first. Then it gives the [`Reason`] why what
//! results does the same. The checker does the same steps and shows each claim; nothing in here is believed. That
//! iterations of parallel loops do not collide, and that arithmetic does not overflow, follows from the versions alone:
//! a certificate says no more of it than that it is claimed.
//!
//! Accesses have numbers: loads, stores and allocations, in the order of the text after all steps; a store behind a
//! branch on data is a load of its cell and then a store of one of the two values. Statements have numbers, too: all
//! that is no load, and what is returned at the end.

use super::affine::{Affine, Atom, Var};
use super::constraint::Constraint;
use serde::{Deserialize, Serialize};

/// The form of certificates. It changes with what a step means.
pub const FORMAT: u32 = 3;

/// The certificates of the functions of two files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificates {
    /// Of this form.
    pub format: u32,
    /// One for each function that is certified.
    pub functions: Vec<Certificate>,
}

impl Certificates {
    /// The certificate of a function, if there is one.
    ///
    /// # Errors
    /// There are several.
    pub fn of(&self, function: &str) -> Result<Option<&Certificate>, String> {
        let mut own = self.functions.iter().filter(|certificate| certificate.function == function);
        match (own.next(), own.next()) {
            (found, None) => Ok(found),
            _ => Err("there are several certificates of it".into()),
        }
    }
}

/// Why a function does the same in two versions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Its name.
    pub function: String,
    /// Whether accesses of the first version are taken to be in bounds.
    pub in_bounds: bool,
    /// Arguments of the first version, by name, whose arrays may overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_alias: Vec<(String, String)>,
    /// This many bits hold sizes and what is computed of them; without, arithmetic on `index` is taken not to overflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_bits: Option<u32>,
    /// Sizes are at most this, where that made nests of the functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<i64>,
    /// Both versions do the same for the sizes of each case.
    pub cases: Vec<Case>,
}

/// Why two versions do the same for some sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Conditions on sizes, each as an [`Assumption`](super::Assumption) is written: where all hold.
    pub precondition: Vec<String>,
    /// What is done to the first version.
    pub before: Changes,
    /// What is done to the second version.
    pub after: Changes,
    /// Why what results does the same.
    pub reason: Reason,
}

/// Changes that bring a version into the form that the reason is about.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Cells, by the numbers of their arrays, of which the first one begins with what the second one ends with, and is
    /// no other from the beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<(u32, u32)>,
    /// Transformations of loops, in order.
    pub steps: Vec<Step>,
}

impl Certificate {
    /// The sizes that it is about, as a condition; nothing where these are all.
    #[must_use]
    pub fn precondition(&self) -> Option<String> {
        let several = self.cases.len() > 1;
        let case = |case: &Case| match case.precondition.as_slice() {
            [_, _, ..] if several => format!("({})", case.precondition.join(" and ")),
            all => all.join(" and "),
        };
        let cases: Vec<String> = self.cases.iter().map(case).collect();
        (!cases.iter().any(String::is_empty)).then(|| cases.join(" or "))
    }
}

/// Why two nests do the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reason {
    /// They execute the same sequence.
    Sequence,
    /// They leave the same in each cell, and give the same results.
    Cells(Cells),
    /// They execute the same instances of statements, and those that touch one cell in the same order.
    Order(Order),
}

/// Where values come from in both versions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// In the first version.
    pub before: Flow,
    /// In the second version.
    pub after: Flow,
    /// Stores that write the same.
    pub relations: Vec<Relation>,
    /// Why subscripts of the second version are in bounds where the array's type does not say so.
    pub touched: Vec<Touched>,
}

/// Which stores write what is read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The sources of each load, by the load's number; in terms of the variables of the loops around.
    pub loads: Vec<(u32, Vec<Piece>)>,
    /// What the cells of arguments hold at the end, by the positions of the arguments; in terms of [`cell_var`].
    pub last: Vec<(u32, Vec<Piece>)>,
}

/// Where contents come from while all facts hold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// The facts.
    pub guard: Vec<Fact>,
    /// What wrote the contents, if anything did: an access, and the variables of its loops.
    pub source: Option<Instance>,
}

/// An access, or a statement, and the variables of its loops.
pub type Instance = (u32, Vec<Polynomial>);

/// That a polynomial is zero, or is not negative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// It is zero.
    Zero(Polynomial),
    /// It is at least zero.
    NotNegative(Polynomial),
}

/// Two stores that write the same: the second one, wherever it is executed and `only` holds, and the first one at `at`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// The first version's store.
    pub before: u32,
    /// The second version's store.
    pub after: u32,
    /// The variables of the first store's loops, in terms of those of the second one's.
    pub at: Vec<Polynomial>,
    /// Polynomials that are zero.
    pub only: Vec<Polynomial>,
}

/// A subscript of the second version that is one of the first, too.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Touched {
    /// The second version's access.
    pub access: u32,
    /// Which of its subscripts.
    pub dimension: u32,
    /// Accesses of the first version, one of which is executed and has this subscript.
    pub by: Vec<Instance>,
}

/// How statements of the second version are statements of the first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// For each statement of the second version, by its number, the first version's instance that it is, in terms of
    /// the variables of the loops and bindings around.
    pub matches: Vec<Instance>,
    /// For each statement of the first version, instances of the second, one of which it is; in terms of the variables
    /// of the loops and bindings around.
    pub instances: Vec<Vec<Instance>>,
}

/// The variable of the loop that runs once and is the branch with this number, from 1 in the order of the text, where
/// orders are compared.
#[must_use]
pub fn branch_var(number: u32) -> Var {
    super::statements::branch_var(number)
}

/// The variable that stands for a subscript of any cell.
#[must_use]
pub fn cell_var(dimension: u32) -> Var {
    super::access::unknown(2, dimension)
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
    /// Its body is this many copies.
    Reroll(u32),
    /// The same, where what it carries from one copy to the next is in no cell: it is given to one.
    RerollCarried(u32),
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
    /// The same by a size: a binding in the loop is the quotient of its variable by that size.
    SplitBySize {
        /// The variable of the size.
        size: u32,
        /// The variable of the inner loop.
        var: u32,
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
    /// The polynomial; `None` where a divisor is not positive.
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

impl From<&Constraint> for Fact {
    fn from(constraint: &Constraint) -> Fact {
        let polynomial = (&constraint.expr).into();
        if constraint.equality { Fact::Zero(polynomial) } else { Fact::NotNegative(polynomial) }
    }
}

/// Polynomials as data.
pub(crate) fn polynomials(affines: &[Affine]) -> Vec<Polynomial> {
    affines.iter().map(Polynomial::from).collect()
}
