//! Checks certificates: does a function of MLIR do the same in two versions, for the reason that is given?
//!
//! The steps that a [`Certificate`] lists are done again on both nests ([`joined`], [`replay`]). At the end both are the
//! same up to names ([`same`]), leave the same in each cell ([`cells`], by where values come from: [`flow`]), or
//! execute the same instances of statements in an order that makes no difference ([`order`]). Iterations of parallel
//! loops of the second version are shown not to collide ([`parallel`]), and arithmetic, where that is claimed, not to
//! overflow ([`overflow`]). A solver shows the facts that are needed, as claims about integers without quantifiers
//! ([`claims`]). Values that are computed in other ways are asked of a [`ValueOracle`]. None of this shares code with
//! what finds proofs, except for polynomials and nests themselves.
//!
//! A certificate can only be too weak: whatever it says, what is accepted holds.

mod accesses;
mod alike;
mod carried;
mod cells;
mod claims;
mod flow;
mod joined;
mod mapped;
mod order;
mod overflow;
mod parallel;
mod replay;
mod same;
mod statements;
mod updates;

use accesses::Accesses;
use cells::Cells;
use claims::{Formula, Prover};
use replay::Replay;
use rewright_cfg_skeleton::nest::certificate::{Case, Certificate, Changes, Reason};
use rewright_cfg_skeleton::nest::datapath::{NoOracle, ValueOracle};
use rewright_cfg_skeleton::nest::{
    Affine, ArrayId, ArrayKind, Assumption, Confirmation, For, Item, Nest, Origin, Pool,
};
use statements::Statements;
use std::cell::RefCell;
use std::rc::Rc;
use std::str::FromStr;

/// Checks certificates with a solver.
pub struct Checker {
    prover: Rc<RefCell<Prover>>,
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

/// What of a step does not fit a loop.
fn wrong(what: &str, x: &For) -> Rejected {
    Rejected::Step(format!("the loop of line {}: {what}", x.line))
}

/// What is shown, or why it is not.
pub type Checked<T> = Result<T, Rejected>;

impl Checker {
    /// With a solver, which may take this many steps for a claim, and twenty times as many for all.
    pub fn new(solver: Vec<String>, steps: u64) -> Checker {
        Checker { prover: Rc::new(RefCell::new(Prover::new(solver, steps))) }
    }

    /// Claims that the solver was asked so far.
    pub fn claims(&self) -> u64 {
        self.prover.borrow().asked
    }

    /// The solver, for code that decides in another way.
    pub(crate) fn confirmation(&self) -> Confirmation {
        Some(self.prover.clone())
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
        if certificate.cases.is_empty() {
            return Err(Rejected::Step("it has no case".into()));
        }
        if !certificate.in_bounds
            && let Some(assumption) = after.assumptions(before).first()
        {
            return Err(Rejected::Step(format!("{assumption}: that is not shown")));
        }
        oracle.begin();
        certificate.cases.iter().try_for_each(|case| self.case((certificate, case), (before, after), pool, oracle))
    }

    fn case(
        &mut self,
        (certificate, case): (&Certificate, &Case),
        (before, after): (&Nest, &Nest),
        pool: &mut Pool,
        oracle: &mut dyn ValueOracle,
    ) -> Checked<()> {
        let context = context((certificate, case), before)?;
        let may_alias = &certificate.may_alias;
        let (left, right) = self.after_steps((certificate, case), (before, after), pool)?;
        let prover = &mut *self.prover.borrow_mut();
        if !same::in_any_order(pool, before, after) {
            parallel::independent((pool, prover), after, &context, may_alias)?;
        }
        if let Some(bits) = certificate.index_bits {
            for nest in [before, after] {
                overflow::none((pool, prover), nest, &context, bits)?;
            }
        }
        match &case.reason {
            // The order of all accesses is the same: they may be to one array.
            Reason::Sequence if !may_alias.is_empty() => sequence(prover, (left, right), &context, pool, &mut NoOracle),
            Reason::Sequence => sequence(prover, (left, right), &context, pool, oracle),
            _ if !may_alias.is_empty() => Err(Rejected::Step("the reason is none for arrays that may overlap".into())),
            // Of arrays that are given back, only the statements that write them are compared.
            Reason::Cells(_) if [before, after].iter().any(|nest| !nest.given_back(pool).is_empty()) => {
                Err(Rejected::Step("an array of its own is given back".into()))
            }
            Reason::Cells(said) => {
                let first = Accesses::new(&left, pool, certificate.in_bounds)?;
                let second = Accesses::new(&right, pool, false)?;
                let (before, after) = (&first, &second);
                cells::same(Cells { pool, prover, oracle, before, after, context }, said)
            }
            Reason::Order(said) => {
                let (first, second) = (Statements::new(&left)?, Statements::new(&right)?);
                order::same((&*pool, prover), (&first, &second), &context, said)
            }
        }
    }

    /// Both nests after all steps of a case: the numbers in it are about these.
    ///
    /// # Errors
    /// Where a step cannot be done.
    pub fn after_steps(
        &mut self,
        (certificate, case): (&Certificate, &Case),
        (before, after): (&Nest, &Nest),
        pool: &mut Pool,
    ) -> Checked<(Nest, Nest)> {
        let context = context((certificate, case), before)?;
        let prover = &mut *self.prover.borrow_mut();
        let mut normal = |nest: &Nest, changes: &Changes| {
            let items = joined::joined(nest, pool, &changes.joined)?;
            let mut replay = Replay::new(nest, pool, prover, &changes.steps, context.clone());
            let items = replay.items(&items)?;
            replay.end()?;
            Ok(Nest { items, ..nest.clone() })
        };
        let left = normal(before, &case.before)?;
        Ok((left, normal(after, &case.after)?))
    }
}

/// Both execute the same, except for stores that nothing reads.
fn sequence(
    prover: &mut Prover,
    (mut left, mut right): (Nest, Nest),
    context: &[Formula],
    pool: &Pool,
    oracle: &mut dyn ValueOracle,
) -> Checked<()> {
    without_unread(&mut left, pool, context)?;
    for (facts, inside) in without_unread(&mut right, pool, context)? {
        prover.show("that what is not read is stored in bounds", &facts, &inside)?;
    }
    same::same(pool, &left, &right, oracle)
}

/// Drops what nothing reads; what these stores need.
fn without_unread(nest: &mut Nest, pool: &Pool, context: &[Formula]) -> Checked<Vec<Needed>> {
    let (mut dropped, mut items) = (vec![], std::mem::take(&mut nest.items));
    let (whole, given_back) = (items.clone(), nest.given_back(pool));
    let unread = |array: ArrayId| {
        !matches!(nest.array(array).kind, ArrayKind::Argument(_))
            && !mapped::reads(pool, &whole, array)
            && !given_back.contains(&array)
    };
    drop_unread(nest, &mut items, &unread, &mut context.to_vec(), &mut dropped)?;
    nest.items = items;
    Ok(dropped)
}

/// What a dropped store needs: where it is executed, and that it is in bounds.
type Needed = (Vec<Formula>, Formula);

/// What holds of sizes: what they are, and what a case says.
fn context((certificate, case): (&Certificate, &Case), nest: &Nest) -> Checked<Vec<Formula>> {
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
    if let Some(bits) = certificate.index_bits {
        context.extend(nest.sizes.iter().map(|size| overflow::in_range(&Affine::var(size.var), bits)));
    }
    for text in &case.precondition {
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
