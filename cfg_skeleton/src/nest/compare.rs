//! Whether two nests do the same: evidence for a verdict, and what it rests on.

use super::access::Program;
use super::assumption::{Assumption, allowed};
use super::equal::{Failure, Proof};
use super::fit::{Relations, relations};
use super::flatten::{NotPlain, flatten};
use super::lockstep::{Points, observe};
use super::normal::{Normal, normal};
use super::predicate::{Conjunction, Decider};
use super::same::Same;
use super::sizes::{self, Bounds};
use super::{Line, Names, Nest, Pool, Var, contained, order};
use rustc_hash::FxHashMap;

use super::difference::Difference;
use crate::verdict::{Counterexample, Evidence, Tier};

/// What is assumed, and how much work is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Accesses of the first nest are in bounds.
    pub in_bounds: bool,
    /// What holds of sizes. Those that speak of a size that a nest does not have are not used there.
    pub sizes: Vec<Assumption>,
    /// Steps of the decision procedure.
    pub budget: u64,
    /// Loads, stores and iterations per run.
    pub fuel: u64,
    /// Mixtures of sizes to run with.
    pub rounds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { in_bounds: true, sizes: vec![], budget: 30_000_000, fuel: 400_000, rounds: 40 }
    }
}

impl Options {
    /// What proofs rest on.
    fn assumptions(&self) -> Vec<String> {
        let mut assumptions = vec!["arrays that are different arguments do not overlap"];
        if self.in_bounds {
            assumptions.push("accesses of the first version are in bounds");
        }
        assumptions.push("arithmetic on `index` does not overflow");
        assumptions.push("sums and products of floats commute, but for the payload of a NaN");
        assumptions.into_iter().map(String::from).collect()
    }
}

/// Values of one size that show where versions differ.
const SMALL: std::ops::RangeInclusive<i128> = 0..=8;

/// Compares two nests over the same arguments.
pub fn compare(pool: &mut Pool, names: &mut Names, before: &Nest, after: &Nest, options: &Options) -> Evidence {
    let (mut facts, mut assumed) = (sizes::facts(&before.sizes), vec![]);
    for assumption in &options.sizes {
        if let Some(constraint) = assumption.constraint(&before.sizes) {
            facts.push(constraint);
            assumed.push(assumption.to_string());
        }
    }
    let decider = Decider::new(options.budget);
    let mut comparison = Comparison { pool, names, before, after, options, facts, assumed, decider };
    if !comparison.assumed.is_empty() && comparison.samples(options.rounds, false).is_empty() {
        // Of no sizes anything would hold.
        return Evidence::nothing(format!("no sizes were found for which {} holds", comparison.assumed.join(" and ")));
    }
    comparison.evidence()
}

struct Comparison<'a> {
    pool: &'a mut Pool,
    names: &'a mut Names,
    before: &'a Nest,
    after: &'a Nest,
    options: &'a Options,
    /// What holds of sizes.
    facts: Conjunction,
    /// What of that is the user's, as text.
    assumed: Vec<String>,
    decider: Decider,
}

/// A proof, where sizes are at least these.
struct Shown {
    tier: Tier,
    bounds: Bounds,
}

impl Comparison<'_> {
    fn evidence(&mut self) -> Evidence {
        if Same::between(self.pool, self.before, self.after).program() {
            return self.proved(Tier::Sequence);
        }
        let left = normal(self.before, (self.pool, self.names), &mut self.decider, &self.facts);
        let right = normal(self.after, (self.pool, self.names), &mut self.decider, &self.facts);
        let failing = self.failing(&left, &right);
        if let Some(shown) = self.by_sequence(&left, &right, &failing) {
            return self.confirmed(shown);
        }
        // Runs are cheaper than proofs, and most wrong programs are wrong on most sizes.
        let samples = self.samples(0, false);
        if let Some(difference) = self.differing(&samples, &|_| true, 4) {
            return self.refuted(&difference);
        }
        let values = self.by_values(&left, &right, &failing);
        let shown = values.or_else(|failure| self.by_order(&left, &right, &failing).map_err(|other| (failure, other)));
        let (reason, lines) = match shown {
            Ok(shown) => return self.confirmed(shown),
            // What keeps cells from being compared says less than why the order is not kept.
            Err(((reason, (0, 0)), other)) if !reason.is_empty() => (other.reason, other.lines),
            Err((failure, _)) => failure,
        };
        let rounds = self.options.rounds;
        let more = [self.samples(rounds, false), self.allowed(sizes::landmarks(self.before, self.after))];
        for samples in more.into_iter().chain([self.samples(rounds, true)]) {
            if let Some(difference) = self.differing(&samples, &|_| true, 32) {
                return self.refuted(&difference);
            }
        }
        Evidence::nothing(reason + &at(lines))
    }

    /// Where the normal forms are not what the nests do.
    fn failing(&self, left: &Normal, right: &Normal) -> Vec<Conjunction> {
        let conditions = left.conditions.iter().chain(&right.conditions);
        let cases = conditions.flat_map(super::normal::Condition::failing);
        cases.map(|case| case.into_iter().chain(self.facts.iter().cloned()).collect()).collect()
    }

    /// Sizes to run with, among those for which what is assumed holds.
    fn samples(&self, rounds: u64, odd: bool) -> Vec<FxHashMap<Var, i128>> {
        self.allowed(sizes::samples(self.before, rounds, odd))
    }

    fn allowed(&self, samples: Vec<FxHashMap<Var, i128>>) -> Vec<FxHashMap<Var, i128>> {
        if self.assumed.is_empty() {
            return samples;
        }
        let mut found: Vec<FxHashMap<Var, i128>> = vec![];
        for sizes in samples.iter().filter_map(|sample| allowed(sample, &self.facts)) {
            if !found.contains(&sizes) {
                found.push(sizes);
            }
        }
        found
    }

    fn by_sequence(&mut self, left: &Normal, right: &Normal, failing: &[Conjunction]) -> Option<Shown> {
        let same = Same::between(self.pool, &left.nest, &right.nest).program();
        if !same {
            return None;
        }
        let bounds = sizes::excluding(&mut self.decider, &self.before.sizes, failing)?;
        if let Some(whole) = &right.with_unread {
            // What is dropped must not have been out of bounds.
            let flat = flatten(whole, self.pool, self.names).ok()?;
            let program = Program::new(&flat, false).ok()?;
            let context = self.context(&bounds);
            if contained::outside(&Program::empty(self.before), &program, &mut self.decider, &context, true).is_some() {
                return None;
            }
        }
        Some(Shown { tier: Tier::Sequence, bounds })
    }

    fn context(&self, bounds: &Bounds) -> Conjunction {
        let mut context = self.facts.clone();
        context.extend(sizes::constraints(bounds));
        context
    }

    fn by_values(
        &mut self,
        left: &Normal,
        right: &Normal,
        failing: &[Conjunction],
    ) -> Result<Shown, (String, (u32, u32))> {
        let plain = |reason: NotPlain| (reason.to_string(), (0, 0));
        let a = flatten(left.with_unread.as_ref().unwrap_or(&left.nest), self.pool, self.names).map_err(plain)?;
        let b = flatten(right.with_unread.as_ref().unwrap_or(&right.nest), self.pool, self.names).map_err(plain)?;
        let first = Program::new(&a, self.options.in_bounds).map_err(plain)?;
        let untrusted = Program::new(&a, false).map_err(plain)?;
        let second = Program::new(&b, false).map_err(plain)?;
        let relations = self.relations(&first, &second);
        let mut failure = ("no bounds of sizes were found under which loops can be joined".to_string(), (0, 0));
        let (pool, facts) = (&*self.pool, &self.facts);
        let decider = &mut self.decider;
        let mut holds = |bounds: &Bounds| {
            let mut context = facts.clone();
            context.extend(sizes::constraints(bounds));
            if !excluded(decider, failing, &context) {
                return false;
            }
            if let Err(f) = Proof::new(pool, (&first, &second), decider, &relations, context.clone()).show() {
                failure = (f.reason, f.lines);
                return false;
            }
            if let Some(line) = contained::outside(&untrusted, &second, decider, &context, false) {
                failure = ("the access may be out of bounds".to_string(), (0, line));
                return false;
            }
            true
        };
        let found = sizes::weakest(&self.before.sizes, &mut holds);
        found.map(|bounds| Shown { tier: Tier::Cells, bounds }).ok_or(failure)
    }

    /// The same instances of statements, in an order that makes no difference.
    fn by_order(&mut self, left: &Normal, right: &Normal, failing: &[Conjunction]) -> Result<Shown, Failure> {
        let nests = |normal: &'_ Normal| normal.with_unread.clone().unwrap_or_else(|| normal.nest.clone());
        let (first, second) = (nests(left), nests(right));
        let reason = "no bounds of sizes were found under which loops can be joined".to_string();
        let mut failure = Failure { lines: (0, 0), reason };
        let (pool, facts) = (&*self.pool, &self.facts);
        let decider = &mut self.decider;
        let mut holds = |bounds: &Bounds| {
            let mut context = facts.clone();
            context.extend(sizes::constraints(bounds));
            if !excluded(decider, failing, &context) {
                return false;
            }
            match order::show(pool, (&first, &second), decider, context) {
                Ok(()) => true,
                Err(f) => {
                    failure = f;
                    false
                }
            }
        };
        let found = sizes::weakest(&self.before.sizes, &mut holds);
        found.map(|bounds| Shown { tier: Tier::Order, bounds }).ok_or(failure)
    }

    /// Which stores belong together, as runs suggest.
    fn relations(&mut self, first: &Program, second: &Program) -> Relations {
        let mut samples = self.samples(14, false);
        // Large enough for tiles, small enough for deep nests.
        samples.retain(|sizes| sizes.values().sum::<i128>() <= 60);
        samples.truncate(16);
        let mut points = Points::default();
        for (number, sizes) in samples.iter().enumerate() {
            observe(self.pool, first, second, (sizes, number), &mut points);
        }
        relations(first, second, &samples, &points)
    }

    fn proved(&self, tier: Tier) -> Evidence {
        let assumptions = self.options.assumptions().into_iter().chain(self.assumed.clone()).collect();
        Evidence { proved: Some(tier), assumptions, ..Evidence::default() }
    }

    /// A proof is run, too: where that shows a difference, one of the two is wrong.
    fn confirmed(&mut self, Shown { tier, bounds }: Shown) -> Evidence {
        let inside = |sizes: &FxHashMap<Var, i128>| {
            bounds.iter().all(|(var, bound)| bound.is_none_or(|b| sizes.get(var).is_some_and(|s| *s >= b)))
        };
        let proved = self.proved(tier);
        let mut samples = self.samples(2, false);
        samples.truncate(3);
        if let Some(difference) = self.differing(&samples, &inside, 2) {
            return Evidence { refuted: Some((&difference).into()), ..proved };
        }
        let condition = sizes::show(&bounds, &self.before.sizes);
        if condition.is_empty() {
            return proved;
        }
        let samples = self.samples(self.options.rounds, true);
        let outside = self.differing(&samples, &|sizes| !inside(sizes), 1).map(|difference| (&difference).into());
        Evidence { precondition: Some(condition.join(" and ")), outside, ..proved }
    }

    fn refuted(&self, difference: &Difference) -> Evidence {
        let found = Counterexample { pattern: self.pattern(difference), ..difference.into() };
        Evidence { refuted: Some(found), ..Evidence::default() }
    }

    /// For which small values of one size there is a difference, where it is not all of them: that shows a factor that
    /// does not divide, or a loop that runs once too often.
    fn pattern(&self, difference: &Difference) -> Option<String> {
        let value = |name: &str| difference.sizes.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
        let sizes = self.before.sizes.iter();
        let at: FxHashMap<Var, i128> = sizes.map(|size| Some((size.var, value(&size.name)?))).collect::<Option<_>>()?;
        for size in &self.before.sizes {
            let samples = SMALL.map(|value| {
                let mut sample = at.clone();
                sample.insert(size.var, value);
                sample
            });
            let samples: Vec<_> = samples.filter(|s| allowed(s, &self.facts).as_ref() == Some(s)).collect();
            let differs = |sample: &&FxHashMap<Var, i128>| self.differs(sample);
            let differing: Vec<String> = samples.iter().filter(differs).map(|s| s[&size.var].to_string()).collect();
            if !differing.is_empty() && differing.len() < samples.len() {
                let (first, last) = (SMALL.start(), SMALL.end());
                let values = differing.join(", ");
                return Some(format!("a difference is seen at {} = {values} of {first} to {last}", size.name));
            }
        }
        None
    }

    fn differs(&self, sizes: &FxHashMap<Var, i128>) -> bool {
        self.differing(std::slice::from_ref(sizes), &|_| true, 1).is_some()
    }

    fn differing(
        &self,
        samples: &[FxHashMap<Var, i128>],
        wanted: &dyn Fn(&FxHashMap<Var, i128>) -> bool,
        seeds: u64,
    ) -> Option<Difference> {
        super::difference::find(self.pool, self.before, self.after, samples, wanted, (self.options.fuel, seeds))
    }
}

/// Whether no case is possible where the context holds.
fn excluded(decider: &mut Decider, cases: &[Conjunction], context: &Conjunction) -> bool {
    cases.iter().all(|case| {
        let all: Conjunction = case.iter().chain(context).cloned().collect();
        decider.impossible(&all)
    })
}

/// The lines of the two statements in question; 0 where there is none.
fn at(lines: (Line, Line)) -> String {
    match lines {
        (0, 0) => String::new(),
        (a, 0) => format!(" (first file, line {a})"),
        (0, b) => format!(" (second file, line {b})"),
        (a, b) => format!(" (line {a} of the first file, line {b} of the second)"),
    }
}
