//! Checks certificates: does a function of MLIR do the same in two versions, for the reason that is given?
//!
//! The steps of a [`Certificate`] are done again on both nests ([`replay`]). At the end both are the same up to names
//! ([`same`]), leave the same in each cell ([`cells`], by where values come from: [`flow`]), or execute the same
//! instances of statements in an order that makes no difference ([`order`]). What is needed is shown by a solver, as
//! claims about integers without quantifiers ([`claims`]). Values that are computed in other ways are asked of a
//! [`ValueOracle`]. None of this shares code with what finds proofs, but for polynomials and nests themselves.
//!
//! A certificate can only be too weak: whatever it says, what is accepted holds.

mod accesses;
mod alike;
mod cells;
mod claims;
mod flow;
mod mapped;
mod order;
mod replay;
mod same;
mod statements;

use accesses::Accesses;
use cells::Cells;
use claims::{Formula, Prover};
use replay::Replay;
use rewright_cfg_skeleton::nest::certificate::{Certificate, Reason, Step};
use rewright_cfg_skeleton::nest::datapath::ValueOracle;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, ArrayKind, Assumption, Item, Nest, Origin, Pool};
use statements::Statements;
use std::str::FromStr;

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

/// What is shown, or why it is not.
pub type Checked<T> = Result<T, Rejected>;

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
        if !after.parallel.is_empty() {
            let what = "certificates do not say that iterations of parallel loops are independent";
            return Err(Rejected::Step(what.into()));
        }
        oracle.begin();
        let context = context(certificate, before)?;
        let (left, right) = self.after_steps(certificate, (before, after), pool)?;
        match &certificate.reason {
            Reason::Sequence => self.sequence((left, right), &context, pool, oracle),
            Reason::Cells(said) => {
                let first = Accesses::new(&left, pool, certificate.in_bounds)?;
                let second = Accesses::new(&right, pool, false)?;
                let (before, after, prover) = (&first, &second, &mut self.prover);
                cells::same(Cells { pool, prover, oracle, before, after, context }, said)
            }
            Reason::Order(said) => {
                let (first, second) = (Statements::new(&left)?, Statements::new(&right)?);
                order::same((&*pool, &mut self.prover), (&first, &second), &context, said)
            }
        }
    }

    /// Both nests after all steps: the numbers in a certificate are about these.
    ///
    /// # Errors
    /// Where a step cannot be done.
    pub fn after_steps(
        &mut self,
        certificate: &Certificate,
        (before, after): (&Nest, &Nest),
        pool: &mut Pool,
    ) -> Checked<(Nest, Nest)> {
        let context = context(certificate, before)?;
        let left = self.normal(before, &certificate.before, &context, pool)?;
        Ok((left, self.normal(after, &certificate.after, &context, pool)?))
    }

    fn normal(&mut self, nest: &Nest, steps: &[Step], context: &[Formula], pool: &mut Pool) -> Checked<Nest> {
        let mut replay = Replay::new(nest, pool, &mut self.prover, steps, context.to_vec());
        let items = replay.items(&nest.items)?;
        replay.end()?;
        Ok(Nest { items, ..nest.clone() })
    }

    /// Both execute the same, but for stores that nothing reads.
    fn sequence(
        &mut self,
        (mut left, mut right): (Nest, Nest),
        context: &[Formula],
        pool: &Pool,
        oracle: &mut dyn ValueOracle,
    ) -> Checked<()> {
        without_unread(&mut left, pool, context)?;
        for (facts, inside) in without_unread(&mut right, pool, context)? {
            self.prover.show("that what is not read is stored in bounds", &facts, &inside)?;
        }
        same::same(pool, &left, &right, oracle)
    }
}

/// Drops what nothing reads; what these stores need.
fn without_unread(nest: &mut Nest, pool: &Pool, context: &[Formula]) -> Checked<Vec<Needed>> {
    let (mut dropped, mut items) = (vec![], std::mem::take(&mut nest.items));
    let whole = items.clone();
    let unread = |array: ArrayId| {
        !matches!(nest.array(array).kind, ArrayKind::Argument(_)) && !mapped::reads(pool, &whole, array)
    };
    drop_unread(nest, &mut items, &unread, &mut context.to_vec(), &mut dropped)?;
    nest.items = items;
    Ok(dropped)
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
    for text in &certificate.precondition {
        let read = Assumption::from_str(text).ok();
        let condition = read.and_then(|assumption| assumption.condition(&nest.sizes));
        let (sum, is_zero) = condition.ok_or_else(|| Rejected::Step(format!("`{text}` is no condition on sizes")))?;
        context.push(if is_zero { Formula::equal(&sum, &Affine::default()) } else { Formula::NotNegative(sum) });
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
