//! What runs add to a verdict: a check of each proof, inputs on which versions differ, and how far a condition reaches.

use super::super::assumption::allowed;
use super::super::certificate::Case;
use super::super::difference::{Difference, Runs, executes, find, returns};
use super::super::sizes::{self, Bounds};
use super::super::{Line, Nest, Size, ValueId, Var};
use super::{Asked, Comparison, Shown};
use crate::verdict::{Counterexample, Evidence, Side, Statement, Tier};
use rustc_hash::FxHashMap;

/// Values of one size that show where versions differ.
const SMALL: std::ops::RangeInclusive<i128> = 0..=8;

/// Steps of a short run.
const SHORT: u64 = 10_000;

/// Steps of a long run.
const LONG: u64 = 20_000_000;

/// Factors that a pattern is looked for with.
const FACTORS: std::ops::RangeInclusive<i128> = 2..=6;

impl Comparison<'_> {
    /// A proof is run, too: where that shows a difference, one of the two is wrong.
    pub(super) fn confirmed(&mut self, shown: Shown) -> Evidence {
        let (tier, Shown { reason, bounds }) = (Tier::from(&shown.reason), shown);
        let mut precondition = self.assumed.clone();
        precondition.extend(sizes::show(&bounds, &self.before.sizes));
        let (before, after) = std::mem::take(&mut self.changes);
        self.cases = vec![Case { precondition, before, after, reason }];
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
        let condition = condition.join(" and ");
        if !self.something_is_executed(&inside) {
            return Evidence::nothing(format!(
                "it was only shown where {condition}, and nothing was seen to happen there"
            ));
        }
        let (exact, outside) = self.outside(&bounds, &inside);
        if exact == Some(false)
            && let Some(found) = self.condition()
        {
            // Bounds say less than is known.
            let (_, outside) = self.outside(&bounds, &|sizes| found.holds(sizes));
            let precondition = Some(found.text());
            self.cases = found.cases;
            return Evidence { precondition, exact: Some(true), outside, ..proved };
        }
        self.shown = bounds;
        Evidence { precondition: Some(condition), exact, outside, ..proved }
    }

    /// Whether a statement is executed for some sizes of which `inside` holds.
    fn something_is_executed(&self, inside: &dyn Fn(&FxHashMap<Var, i128>) -> bool) -> bool {
        let mut samples = self.samples(self.options.rounds, false);
        samples.retain(|sizes| inside(sizes));
        samples.iter().any(|sizes| executes(self.pool, self.before, sizes, self.options.fuel))
    }

    /// An input outside of the bounds on which versions differ, and whether they do for all sizes there that were tried
    /// and for which one of them executes a statement.
    fn outside(
        &self,
        bounds: &Bounds,
        inside: &dyn Fn(&FxHashMap<Var, i128>) -> bool,
    ) -> (Option<bool>, Option<Counterexample>) {
        let mut samples = self.samples(self.options.rounds, true);
        samples.extend(self.allowed(sizes::beyond(&self.before.sizes, bounds)));
        samples.retain(|sizes| !inside(sizes));
        let (mut first, mut agree, mut differ) = (None, false, false);
        for sizes in &samples {
            match self.differing(std::slice::from_ref(sizes), &|_| true, 1) {
                Some(difference) => {
                    differ = true;
                    first.get_or_insert_with(|| Counterexample::from(&difference));
                }
                None => {
                    let runs = |nest| executes(self.pool, nest, sizes, self.options.fuel);
                    agree |= runs(self.before) || runs(self.after);
                }
            }
        }
        ((agree || differ).then_some(!agree), first)
    }

    pub(super) fn refuted(&mut self, difference: &Difference) -> Evidence {
        let mut found = Counterexample { pattern: self.pattern(difference), ..difference.into() };
        found.statements.extend(self.computing());
        let condition = self.condition();
        if let (Some(condition), Some(sizes)) = (&condition, self.sizes_of(difference))
            && condition.is_idle_elsewhere
            && !condition.holds(&sizes)
            && !executes(self.pool, self.before, &sizes, self.options.fuel)
            && let Some(case) = condition.cases.first()
        {
            // For these sizes the first version does nothing: they are outside of a condition.
            let (tier, precondition) = (Tier::from(&case.reason), Some(condition.text()));
            self.cases.clone_from(&condition.cases);
            return Evidence { precondition, exact: Some(true), outside: Some(found), ..self.proved(tier) };
        }
        let holds_if = condition.map(|condition| condition.text());
        Evidence { refuted: Some(found), holds_if, ..Evidence::default() }
    }

    /// The sizes of a difference.
    fn sizes_of(&self, difference: &Difference) -> Option<FxHashMap<Var, i128>> {
        let value = |name: &str| difference.sizes.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
        self.before.sizes.iter().map(|size| Some((size.var, value(&size.name)?))).collect()
    }

    /// The statements that compute what makes the versions differ, where all their statements correspond.
    fn computing(&self) -> Vec<Statement> {
        let Err(Some(found)) = self.same(self.before, self.after, &mut Asked::trusting()) else { return vec![] };
        let statement = |side, nest: &Nest, value: Option<ValueId>, other: Line| {
            let line = nest.lines.get(&value?).copied().filter(|line| *line != other)?;
            Some(Statement { side, line, iteration: vec![], text: None })
        };
        let (left, right) = found.values;
        let first = statement(Side::First, self.before, left, found.lines.0);
        first.into_iter().chain(statement(Side::Second, self.after, right, found.lines.1)).collect()
    }

    /// For which small values of one size there is a difference, where it is not all of them: that shows a factor that
    /// does not divide, or a loop that runs once too often.
    fn pattern(&self, difference: &Difference) -> Option<String> {
        let at = self.sizes_of(difference)?;
        for size in &self.before.sizes {
            let samples = SMALL.map(|value| {
                let mut sample = at.clone();
                sample.insert(size.var, value);
                sample
            });
            let samples: Vec<_> = samples.filter(|s| allowed(s, &self.facts).as_ref() == Some(s)).collect();
            let tried: Vec<i128> = samples.iter().map(|sample| sample[&size.var]).collect();
            let differing: Vec<i128> =
                samples.iter().filter(|sample| self.differs(sample)).map(|s| s[&size.var]).collect();
            if !differing.is_empty() && differing.len() < tried.len() {
                let (first, last) = (SMALL.start(), SMALL.end());
                let values = differing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let meaning = meaning(size, &tried, &differing).map_or(String::new(), |text| format!(" ({text})"));
                let seen = format!("a difference is seen at {} = {values} of {first} to {last}", size.name);
                return Some(seen + &meaning);
            }
        }
        None
    }

    fn differs(&self, sizes: &FxHashMap<Var, i128>) -> bool {
        self.differing(std::slice::from_ref(sizes), &|_| true, 1).is_some()
    }

    /// What short runs on many sizes show.
    pub(super) fn differing_soon(&self) -> Option<Difference> {
        let runs = Runs { fuel: self.options.fuel.min(SHORT), ..self.runs(1) };
        let samples = self.samples(self.options.rounds, false);
        find(self.pool, [self.before, self.after], &samples, &|_| true, &runs)
    }

    /// Runs both versions once with many more steps, if the first one returns in no ordinary run: its loops have large constant
    /// bounds.
    pub(super) fn differing_late(&self) -> Option<Difference> {
        let mut samples = self.samples(0, false);
        samples.sort_by_key(|sizes| sizes.values().sum::<i128>());
        samples.truncate(3);
        let is_short = samples.iter().any(|sizes| returns(self.pool, self.before, sizes, &self.runs(1)));
        samples.truncate(usize::from(!is_short));
        let runs = Runs { fuel: self.options.fuel.max(LONG), ..self.runs(1) };
        find(self.pool, [self.before, self.after], &samples, &|_| true, &runs)
    }

    pub(super) fn differing(
        &self,
        samples: &[FxHashMap<Var, i128>],
        wanted: &dyn Fn(&FxHashMap<Var, i128>) -> bool,
        seeds: u64,
    ) -> Option<Difference> {
        find(self.pool, [self.before, self.after], samples, wanted, &self.runs(seeds))
    }
}

/// What the values of a size at which there is a difference have in common, in terms of unrolling and tiling.
fn meaning(size: &Size, tried: &[i128], differing: &[i128]) -> Option<String> {
    let name = &size.name;
    let agreeing: Vec<i128> = tried.iter().filter(|v| !differing.contains(v)).copied().collect();
    // One multiple says nothing: zero iterations are one of everything.
    let factor = FACTORS
        .rev()
        .find(|k| agreeing.len() > 1 && tried.iter().all(|v| (v.rem_euclid(*k) == 0) == agreeing.contains(v)));
    if let Some(factor) = factor {
        return Some(format!("where {name} is no multiple of {factor}: what is left of an unrolled or tiled loop"));
    }
    let (least, most) = (*differing.first()?, *differing.last()?);
    if agreeing.iter().all(|v| *v < least) {
        return Some(format!("from {least} on: a trip count, or an offset, that small sizes do not reach"));
    }
    (agreeing.iter().all(|v| *v > most))
        .then(|| format!("up to {most} only: a loop that is taken to run at least once, or more often"))
}
