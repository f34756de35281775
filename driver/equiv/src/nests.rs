//! Checks certificates: does a function of MLIR execute the same sequence in two versions, for the reason that is given?
//!
//! The steps of a [`Certificate`] are done again on both nests ([`replay`]); what each step needs is shown by a solver as
//! a claim about integers without quantifiers ([`claims`]), and at the end both sides must be the same up to names
//! ([`same`]). Values that are computed in other ways are asked of a [`ValueOracle`]. None of this shares code with what
//! finds proofs, but for polynomials and nests themselves.
//!
//! A certificate can only be too weak: whatever it says, what is accepted holds.

mod claims;
mod mapped;
mod replay;
mod same;

use claims::{Formula, Prover};
use replay::Replay;
use rewright_cfg_skeleton::nest::certificate::{Certificate, Step};
use rewright_cfg_skeleton::nest::datapath::ValueOracle;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, Item, Nest, Origin, Pool};

/// Checks certificates with a solver.
pub struct Checker {
    prover: Prover,
}

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Rejected {
    /// A step does not fit the loop that it is about, or there are too few or too many.
    #[error("{0}")]
    Step(String),
    /// The solver does not show what a step needs.
    #[error("{0} is not shown: {1}")]
    Claim(String, String),
    /// After all steps the two versions are not the same.
    #[error("after all steps, {0}")]
    Differs(String),
}

type Checked<T> = Result<T, Rejected>;

impl Checker {
    /// With a solver, which may take so many steps for a claim, and twenty times as many for all.
    pub fn new(solver: Vec<String>, steps: u64) -> Checker {
        Checker { prover: Prover::new(solver, steps) }
    }

    /// Claims that the solver was asked so far.
    pub fn claims(&self) -> u64 {
        self.prover.asked
    }

    /// Checks a certificate of two nests that are read together.
    ///
    /// # Errors
    /// Why it is not accepted.
    pub fn check(
        &mut self,
        certificate: &Certificate,
        (before, after): (&Nest, &Nest),
        pool: &mut Pool,
        oracle: &mut dyn ValueOracle,
    ) -> Checked<()> {
        let context = context(certificate, before)?;
        let (left, _) = self.normal(before, &certificate.before, &context, pool)?;
        let (right, dropped) = self.normal(after, &certificate.after, &context, pool)?;
        for (facts, inside) in dropped {
            self.prover.show("that what is not read is stored in bounds", &facts, &inside)?;
        }
        same::same(pool, &left, &right, oracle)
    }

    /// A nest after all steps, and what its dropped stores need.
    fn normal(
        &mut self,
        nest: &Nest,
        steps: &[Step],
        context: &[Formula],
        pool: &mut Pool,
    ) -> Checked<(Nest, Vec<Needed>)> {
        let mut replay = Replay::new(nest, pool, &mut self.prover, steps, context.to_vec());
        let mut items = replay.items(&nest.items)?;
        replay.end()?;
        let (mut dropped, whole) = (vec![], items.clone());
        let unread = |array: ArrayId| {
            !matches!(nest.array(array).kind, ArrayKind::Argument(_)) && !mapped::reads(pool, &whole, array)
        };
        drop_unread(nest, &mut items, &unread, &mut context.to_vec(), &mut dropped)?;
        Ok((Nest { items, ..nest.clone() }, dropped))
    }
}

/// What a dropped store needs: where it is executed, and that it is in bounds.
type Needed = (Vec<Formula>, Formula);

/// What holds of sizes: what they are, and what the certificate says.
fn context(certificate: &Certificate, nest: &Nest) -> Checked<Vec<Formula>> {
    let mut context = vec![];
    let at_least = |var, bound: i128| Formula::at_least(&Affine::var(var), &Affine::constant(bound));
    for size in &nest.sizes {
        match size.origin {
            Origin::Extent(..) => context.push(at_least(size.var, 0)),
            Origin::Argument(_, Some(width @ 1..=60)) => {
                let half = 1i128 << (width - 1);
                context.push(at_least(size.var, -half));
                context.push(Formula::less(&Affine::var(size.var), &Affine::constant(half)));
            }
            Origin::Argument(..) => {}
        }
    }
    for (name, bound) in &certificate.precondition {
        let mut found = nest.sizes.iter().filter(|size| size.name == *name);
        match (found.next(), found.next()) {
            (Some(size), None) => context.push(at_least(size.var, (*bound).into())),
            _ => return Err(Rejected::Step(format!("there is no size `{name}`, or there are several"))),
        }
    }
    Ok(context)
}

/// Drops stores to arrays of the function's own that nothing reads; where they are, they must be in bounds.
fn drop_unread(
    nest: &Nest,
    items: &mut Vec<Item>,
    unread: &dyn Fn(ArrayId) -> bool,
    given: &mut Vec<Formula>,
    dropped: &mut Vec<Needed>,
) -> Checked<()> {
    let mut kept = vec![];
    for mut item in std::mem::take(items) {
        match &mut item {
            Item::Store(x) if unread(x.array) => {
                let shape = &nest.array(x.array).shape;
                let inside = x.subscripts.iter().zip(shape).map(|(subscript, extent)| {
                    let extent = extent.as_ref()?;
                    let low = Formula::at_least(subscript, &Affine::default());
                    Some(Formula::All(vec![low, Formula::less(subscript, extent)]))
                });
                let inside = inside.collect::<Option<Vec<_>>>();
                let inside = inside.ok_or_else(|| Rejected::Step("an array has no known extent".into()))?;
                dropped.push((given.clone(), Formula::All(inside)));
                continue;
            }
            Item::Alloc(array, _) if unread(*array) => continue,
            Item::For(x) => {
                let length = given.len();
                given.extend(replay::range(x));
                drop_unread(nest, &mut x.body, unread, given, dropped)?;
                given.truncate(length);
                if x.body.is_empty() {
                    continue;
                }
            }
            Item::If(x) => {
                drop_unread(nest, &mut x.then, unread, given, dropped)?;
                drop_unread(nest, &mut x.otherwise, unread, given, dropped)?;
            }
            _ => {}
        }
        kept.push(item);
    }
    *items = kept;
    Ok(())
}
