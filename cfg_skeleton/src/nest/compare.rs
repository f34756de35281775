//! Whether two nests do the same: evidence for a verdict, and what it rests on.

mod certify;
mod condition;
mod options;
mod orders;
mod witness;

use super::access::Program;
use super::assumption::allowed;
use super::certificate::{Case, Cells, Changes, Reason};
use super::datapath::{Asked, Means, ValueOracle, aligned};
use super::equal::{Failure, Proof, SPENT};
use super::fit::{Relations, relations};
use super::flatten::{NotPlain, flatten};
use super::lockstep::{Points, observe};
use super::normal::{Normal, normal};
use super::predicate::{Conjunction, Decider};
use super::same::Same;
use super::sizes::{self, Bounds};
use super::updates::may_update;
use super::{Item, Line, Names, Nest, Pool, ValueId, Var, contained, order, overflow};
use rustc_hash::FxHashMap;

use super::difference::Runs;
use crate::verdict::{Evidence, Tier};

pub use certify::certificate;
pub use options::{Options, assumption_of_nans, assumptions};

/// Loops in loops from which on a nest is deep.
const DEEP: usize = 7;

/// Items outside of loops from which on a program is long.
const LONG: usize = 1_000;

/// Compares two nests over the same arguments. The oracle is asked about values that are computed in other ways.
pub fn compare(
    pool: &mut Pool,
    names: &mut Names,
    before: &Nest,
    after: &Nest,
    options: &Options,
    oracle: &mut (dyn ValueOracle + Send),
) -> Evidence {
    let mut comparison = Comparison::new((pool, names), (before, after), options, oracle);
    if !comparison.assumed.is_empty() && comparison.samples(options.rounds, false).is_empty() {
        // Of no sizes anything would hold.
        return Evidence::nothing(format!("no sizes were found for which {} holds", comparison.assumed.join(" and ")));
    }
    comparison.in_any_order()
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
    asked: Asked<'a>,
    /// The bounds of sizes for which something is proved.
    shown: Bounds,
    /// A certificate is wanted: nothing is proved without it.
    is_certifying: bool,
    /// Changes of the first version and of the second one.
    changes: (Changes, Changes),
    /// The proof, by cases of a precondition.
    cases: Vec<Case>,
}

/// A proof, where sizes are at least these.
struct Shown {
    reason: Reason,
    bounds: Bounds,
}

impl From<&Reason> for Tier {
    fn from(reason: &Reason) -> Tier {
        match reason {
            Reason::Sequence => Tier::Sequence,
            Reason::Cells(_) => Tier::Cells,
            Reason::Order(_) => Tier::Order,
        }
    }
}

impl<'a> Comparison<'a> {
    fn new(
        (pool, names): (&'a mut Pool, &'a mut Names),
        (before, after): (&'a Nest, &'a Nest),
        options: &'a Options,
        oracle: &'a mut (dyn ValueOracle + Send),
    ) -> Self {
        let (mut facts, mut assumed) = (sizes::facts(&before.sizes), vec![]);
        for assumption in &options.sizes {
            if let Some(constraint) = assumption.constraint(&before.sizes) {
                facts.push(constraint);
                assumed.push(assumption.to_string());
            }
        }
        facts.extend(options.index_bits.iter().flat_map(|bits| overflow::of_sizes(&before.sizes, *bits)));
        if options.compare_nans {
            pool.compare_nans();
        }
        oracle.begin();
        let (decider, asked) = (Decider::new(options.budget), Asked::new(oracle));
        let (is_certifying, changes) = (false, <(Changes, Changes)>::default());
        let (shown, cases) = (vec![], vec![]);
        Comparison {
            pool,
            names,
            before,
            after,
            options,
            facts,
            assumed,
            decider,
            asked,
            shown,
            is_certifying,
            changes,
            cases,
        }
    }

    /// The evidence; there is none where a proof needs that nothing overflows, or that accesses are within views, and the
    /// options say that this is not to be assumed.
    fn without_assuming(&mut self) -> Evidence {
        let evidence = self.evidence();
        if evidence.proved.is_some()
            && !self.options.in_bounds
            && let Some(assumption) = self.after.assumptions(self.before).first()
        {
            return Evidence::nothing(format!("{assumption}: that is not shown"));
        }
        let (Some(bits), Some(_)) = (self.options.index_bits, evidence.proved) else { return evidence };
        let mut context = self.facts.clone();
        context.extend(sizes::constraints(&self.shown));
        for (which, nest) in [("first", self.before), ("second", self.after)] {
            if let Some(line) = overflow::first(nest, self.pool, &mut self.decider, &context, bits) {
                let reason = format!("arithmetic on `index` may overflow {bits} bits ({which} file, line {line})");
                return Evidence::nothing(reason);
            }
        }
        evidence
    }

    fn evidence(&mut self) -> Evidence {
        if !self.is_certifying && self.same(self.before, self.after, &mut Asked::none()).is_ok() {
            return self.proved(Tier::Sequence);
        }
        let (left, right) = self.normal_forms();
        self.changes = (left.changes.clone(), right.changes.clone());
        let failing = self.failing(&left, &right);
        if let Ok(shown) = self.by_sequence(&left, &right, &failing, false) {
            return self.confirmed(shown);
        }
        // Runs are cheaper than proofs, and most wrong programs are wrong on most sizes.
        let samples = self.samples(0, false);
        if let Some(difference) = self.differing(&samples, &|_| true, 4) {
            return self.refuted(&difference);
        }
        if let Some(difference) = self.differing_soon() {
            return self.refuted(&difference);
        }
        // The meaning of operations is stated for arrays that do not overlap: others may hold what is stored in one of
        // them.
        let differing = match self.overlapping() {
            Some(_) => None,
            None => match self.by_sequence(&left, &right, &failing, true) {
                Ok(shown) => return self.confirmed(shown),
                Err(difference) => difference.filter(|difference| !difference.reason.is_empty()),
            },
        };
        if self.overlapping().is_none()
            && (self.is_deep() || may_update(self.pool, &self.before.items))
            && let Ok(shown) = self.by_order(&left, &right, &failing)
        {
            return self.confirmed(shown);
        }
        let shown = match self.overlapping() {
            Some(pair) => Err(((format!("{pair} may overlap, and accesses change their order"), (0, 0)), None)),
            // Where statements correspond, that is what there is to say of a long program.
            None if differing.as_ref().is_some_and(|found| found.is_asked) && self.before.items.len() > LONG => {
                Err((("".into(), (0, 0)), None))
            }
            None => self
                .by_values(&left, &right, &failing)
                .or_else(|failure| self.by_order(&left, &right, &failing).map_err(|other| (failure, Some(other)))),
        };
        let (reason, lines) = match (shown, differing) {
            (Ok(shown), _) => return self.confirmed(shown),
            // Statements correspond: what is said of their values says most.
            (Err(_), Some(aligned::Difference { lines, reason, values, .. })) => {
                (reason + &self.at_values(values), lines)
            }
            // A proof that was given up says that there might be one.
            (Err(((reason, (0, 0)), Some(other))), None) if reason == SPENT && other.reason != SPENT => {
                (format!("{}, and by the values of cells {SPENT}", other.reason), other.lines)
            }
            // The reason why cells cannot be compared says less than the reason why the order is not kept.
            (Err(((_, (0, 0)), Some(other))), None) => (other.reason, other.lines),
            (Err((failure, _)), None) => failure,
        };
        let rounds = self.options.rounds;
        // Where there are no arrays, an input is a few numbers.
        let seeds = if self.before.arrays.is_empty() { 1_000 } else { 32 };
        let more = [self.samples(rounds, false), self.allowed(sizes::landmarks(self.before, self.after))];
        for samples in more.into_iter().chain([self.samples(rounds, true)]) {
            if let Some(difference) = self.differing(&samples, &|_| true, seeds) {
                return self.refuted(&difference);
            }
        }
        match self.differing_late() {
            Some(difference) => self.refuted(&difference),
            None => Evidence::nothing(reason + &at(lines)),
        }
    }

    /// The lines of two values, where they are known.
    fn at_values(&self, (left, right): (Option<ValueId>, Option<ValueId>)) -> String {
        let line = |nest: &Nest, value: Option<ValueId>| nest.lines.get(&value?).copied();
        match (line(self.before, left), line(self.after, right)) {
            (None, None) => String::new(),
            (a, b) => format!(", of the values{}", at((a.unwrap_or(0), b.unwrap_or(0)))),
        }
    }

    /// Whether loops are nested so deeply that their instances are compared sooner than their values.
    fn is_deep(&self) -> bool {
        depth(&self.before.items).max(depth(&self.after.items)) >= DEEP
    }

    /// Two arrays that may overlap and are not only read.
    fn overlapping(&self) -> Option<String> {
        let written = |position: u32| [self.before, self.after].iter().any(|nest| nest.may_write(position));
        let mut pairs = self.options.may_alias.iter();
        let pair = pairs.find(|(a, b)| match (self.before.argument(a), self.before.argument(b)) {
            (Some(a), Some(b)) => written(a) || written(b),
            _ => false,
        });
        pair.map(|(a, b)| format!("{a} and {b}"))
    }

    fn normal_forms(&mut self) -> (Normal, Normal) {
        let mut form = |nest| normal(nest, (self.pool, self.names), &mut self.decider, &self.facts);
        (form(self.before), form(self.after))
    }

    /// Where the normal forms are not what the nests do.
    fn failing(&self, left: &Normal, right: &Normal) -> Vec<Conjunction> {
        let conditions = left.conditions.iter().chain(&right.conditions);
        let cases = conditions.flat_map(|condition| condition.failing.clone());
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

    /// Whether both execute the same statements on equal values; else which values are not known to be equal, where
    /// statements correspond.
    fn same(&self, left: &Nest, right: &Nest, asked: &mut Asked<'_>) -> Result<(), Option<aligned::Difference>> {
        let (pairs, renaming) = Same::between(self.pool, left, right).but_for_values().ok_or(None)?;
        aligned::equal(self.pool, left, &pairs, &renaming, asked).map_err(Some)
    }

    fn by_sequence(
        &mut self,
        left: &Normal,
        right: &Normal,
        failing: &[Conjunction],
        with_oracle: bool,
    ) -> Result<Shown, Option<aligned::Difference>> {
        if with_oracle {
            let mut asked = std::mem::replace(&mut self.asked, Asked::none());
            let same = self.same(&left.nest, &right.nest, &mut asked);
            self.asked = asked;
            same?;
        } else {
            self.same(&left.nest, &right.nest, &mut Asked::none())?;
        }
        let bounds = sizes::excluding(&mut self.decider, &self.before.sizes, failing).ok_or(None)?;
        if let Some(whole) = &right.with_unread {
            // Accesses that are dropped must not have been out of bounds.
            let flat = flatten(whole, self.pool, self.names).map_err(|_| None)?;
            let program = Program::new(&flat, false).map_err(|_| None)?;
            let context = self.context(&bounds);
            let own = (true, &mut vec![]);
            if contained::outside(&Program::empty(self.before), &program, &mut self.decider, &context, own).is_some() {
                return Err(None);
            }
        }
        Ok(Shown { reason: Reason::Sequence, bounds })
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
        if [self.before, self.after].iter().any(|nest| !nest.given_back(self.pool).is_empty()) {
            return Err(("an array of its own is given back, and its cells are not compared".into(), (0, 0)));
        }
        let plain = |reason: NotPlain| (reason.to_string(), (0, 0));
        let a = flatten(left.with_unread.as_ref().unwrap_or(&left.nest), self.pool, self.names).map_err(plain)?;
        let b = flatten(right.with_unread.as_ref().unwrap_or(&right.nest), self.pool, self.names).map_err(plain)?;
        let first = Program::new(&a, self.options.in_bounds).map_err(plain)?;
        let untrusted = Program::new(&a, false).map_err(plain)?;
        let second = Program::new(&b, false).map_err(plain)?;
        let relations = self.relations(&first, &second);
        let mut found: Option<Cells> = None;
        let mut failure = ("no bounds of sizes were found under which loops can be joined".to_string(), (0, 0));
        let (pool, facts) = (&*self.pool, &self.facts);
        let (decider, asked) = (&mut self.decider, &mut self.asked);
        let mut holds = |bounds: &Bounds| {
            let mut context = facts.clone();
            context.extend(sizes::constraints(bounds));
            if !excluded(decider, failing, &context) {
                return false;
            }
            let proof = Proof::new(pool, (&first, &second), decider, &relations, asked, context.clone());
            let mut cells = match proof.show() {
                Ok(cells) => cells,
                Err(f) => {
                    failure = (f.reason, f.lines);
                    return false;
                }
            };
            if let Some(line) = contained::outside(&untrusted, &second, decider, &context, (false, &mut cells.touched))
            {
                failure = ("the access may be out of bounds".to_string(), (0, line));
                return false;
            }
            // Each bound that holds is weaker than the one before.
            found = Some(cells);
            true
        };
        let bounds = sizes::weakest(&self.before.sizes, &mut holds);
        bounds.zip(found).map(|(bounds, cells)| Shown { reason: Reason::Cells(cells), bounds }).ok_or(failure)
    }

    /// The same instances of statements, in an order that makes no difference.
    fn by_order(&mut self, left: &Normal, right: &Normal, failing: &[Conjunction]) -> Result<Shown, Failure> {
        let nests = |normal: &'_ Normal| normal.with_unread.clone().unwrap_or_else(|| normal.nest.clone());
        let (first, second) = (nests(left), nests(right));
        let reason = "no bounds of sizes were found under which loops can be joined".to_string();
        let mut failure = Failure { lines: (0, 0), reason };
        let (pool, facts) = (&*self.pool, &self.facts);
        let decider = &mut self.decider;
        let mut found = None;
        let mut holds = |bounds: &Bounds| {
            let mut context = facts.clone();
            context.extend(sizes::constraints(bounds));
            if !excluded(decider, failing, &context) {
                return false;
            }
            match order::show(pool, (&first, &second), decider, context) {
                Ok(order) => {
                    found = Some(order);
                    true
                }
                Err(f) => {
                    failure = f;
                    false
                }
            }
        };
        let bounds = sizes::weakest(&self.before.sizes, &mut holds);
        bounds.zip(found).map(|(bounds, order)| Shown { reason: Reason::Order(order), bounds }).ok_or(failure)
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
        let Options { in_bounds, may_alias, index_bits, .. } = self.options;
        let mut assumptions = assumptions(*in_bounds, may_alias, *index_bits, self.pool.sees_nans());
        if self.asked.means.contains(&Means::Rules) {
            assumptions.push("the rules of the packs hold".into());
        }
        assumptions.extend(self.after.assumptions(self.before));
        assumptions.extend(self.assumed.clone());
        Evidence { proved: Some(tier), assumptions, ..Evidence::default() }
    }

    /// What runs are made with.
    fn runs(&self, seeds: u64) -> Runs {
        let mut aliases = vec![];
        for (first, second) in &self.options.may_alias {
            if let (Some(a), Some(b)) = (self.before.argument(first), self.before.argument(second)) {
                aliases.push((a, b));
            }
        }
        Runs { fuel: self.options.fuel, seeds, in_bounds: self.options.in_bounds, backwards: false, aliases }
    }
}

/// Loops around the innermost item.
fn depth(items: &[Item]) -> usize {
    let of = |item: &Item| match item {
        Item::For(x) => 1 + depth(&x.body),
        Item::If(x) => depth(&x.then).max(depth(&x.otherwise)),
        _ => 0,
    };
    items.iter().map(of).max().unwrap_or(0)
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
