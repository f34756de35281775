//! The search for a variant of a function that costs less.
//!
//! Each proposed change is made, and what comes out goes through the whole pipeline. The cheapest is taken if it is cheaper
//! than what there is, and changes of it are tried, a bounded number of times. A variant that costs less by its control
//! flow alone is cheaper, too: while variants are tried, branches and jumps back have their prices. Loops are interchanged
//! first, in the function as it was, before loads and stores leave the inner ones; they are unrolled when
//! nothing else gains: a variant with several iterations in one leaves little to find.

use super::rebuilt::rebuilt;
use super::unit::{Chosen, Progress, Unit};
use super::{Batch, Fate, Optimiser, Options, Phase, Rules, VariantFate, VariantRemark};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::ir::cfg::Weighing;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, Function, Terminator, inline};
use rewright_cfg_skeleton::select::INSTRUCTION;
use rewright_cfg_skeleton::select::cost::CostAndSize;
use rewright_cfg_skeleton::variants::{
    Change, Proposal, interchanges, merge_proposals, proposals, speaks_of_loops, vary,
};
use rewright_typeprop::Universe;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Changes of one function of one [`Kind`], each on top of those before.
const MAX_CHANGES: usize = 4;

/// Variants of one function from which the next change is chosen.
const MAX_TRIED: usize = 6;

/// How often a variant is taken apart for what its copies know.
const MAX_RESTRUCTURED: usize = 4;

/// A function of more instructions has no variants.
const MAX_INSTRUCTIONS: usize = 600;

/// Iterations behind one another that keep their tests are to gain one part in so many of what the instructions that they add
/// cost, each executed as often as the loop's header: each test is one more branch to predict.
const PART_GAINED: u64 = 16;

impl Optimiser {
    /// Options for functions of a universe: variants are tried if they are wanted, where a pack speaks of loops or has
    /// statements, and executions are counted, not code. Where they change loops, control flow has its price.
    pub fn with_variants(&self, universe: &Universe, options: &Options) -> Options {
        let mut options = options.clone();
        let has_statements = || universe.ops.iter().any(|(_, op)| op.is_sited());
        let loops = speaks_of_loops(universe);
        options.variants = may_vary(&options) && (loops || has_statements());
        if options.variants && loops {
            options.select.cost = options.select.cost.with_control();
        }
        options
    }

    /// Are variants of loops tried? Then tail calls become loops, too, except where a profile counts blocks of functions as they
    /// are.
    pub fn makes_loops(&self, universe: &Universe, options: &Options) -> bool {
        may_vary(options) && options.counts.is_none() && speaks_of_loops(universe)
    }

    /// Takes cheaper variants of a unit's function for it, as long as some are found.
    pub(super) fn vary(&self, unit: &mut Unit, universe: &Universe, options: &Options, batch: &mut Batch) {
        for kind in [Kind::Interchanged, Kind::Restructured, Kind::Unrolled] {
            let mut gains = Gains::new();
            for _ in 0..MAX_CHANGES {
                let variants = variants(unit, kind, universe, options);
                if !self.take_cheapest(unit, variants, &mut gains, universe, options, batch) {
                    break;
                }
            }
        }
    }

    /// Takes the cheapest of a unit's variants, if it is cheaper; was one taken?
    fn take_cheapest(
        &self,
        unit: &mut Unit,
        variants: Vec<Variant>,
        gains: &mut Gains,
        universe: &Universe,
        options: &Options,
        batch: &mut Batch,
    ) -> bool {
        let most = variants.iter().map(|variant| variant.unit.nearer).max().unwrap_or(0);
        let of = |unit: &Unit, beside| {
            let code = unit.chosen()?.cost(universe, options);
            Some(Cost { code, all: code.plus(CostAndSize { cost: beside, size: 0 }).weighed() })
        };
        let Some(before) = of(unit, most) else { return false };
        let before_it = tests(unit);
        let cost = |unit: &Unit| {
            let due = if tests(unit) > before_it { unit.due } else { 0 };
            of(unit, most - unit.nearer + due)
        };
        let (mut chosen, mut open): (Vec<Variant>, Vec<Variant>) = (vec![], variants);
        loop {
            let cheapest = chosen.iter().filter_map(|variant| Some(cost(&variant.unit)?.all)).min();
            let due = due(&mut open, gains, cheapest.map_or(0, |cheapest| before.all.saturating_sub(cheapest)));
            if due.is_empty() {
                break;
            }
            let (places, mut units): (Vec<(usize, Proposal)>, Vec<Unit>) =
                due.into_iter().map(|Variant { number, proposal, unit }| ((number, proposal), unit)).unzip();
            units.iter_mut().for_each(|unit| self.restructure(unit, universe, options, batch));
            self.choose_all(&mut units, universe, options, batch);
            let done = places.into_iter().zip(units);
            chosen.extend(done.map(|((number, proposal), unit)| Variant { number, proposal, unit }));
        }
        chosen.sort_by_key(|variant| variant.number);
        let made = chosen.iter().enumerate().filter_map(|(n, variant)| Some((cost(&variant.unit)?, n)));
        let cheapest = made.min_by_key(|(cost, n)| (cost.all, *n));
        let cheapest = cheapest.filter(|(cost, _)| cost.all < before.all).map(|(_, n)| n);
        for (n, Variant { proposal, unit: variant, .. }) in chosen.iter().enumerate() {
            let after = cost(variant);
            let gain = after.map_or(0, |after| before.all.saturating_sub(after.all));
            gains.insert((proposal.header, proposal.change), gain);
            let fate = fate(&variant.state, before, after, Some(n) == cheapest);
            let lines = variant.nearer;
            unit.variants.extend(fate.map(|fate| VariantRemark { lines, ..remark(*proposal, fate) }));
        }
        let Some(cheapest) = cheapest else { return false };
        unit.take(chosen.swap_remove(cheapest).unit);
        true
    }

    /// Restructures a variant by what its copies know by themselves, before rules run: so are most branches decided that it is made
    /// for. Running rules to find that costs as much as all the rest.
    fn restructure(&self, unit: &mut Unit, universe: &Universe, options: &Options, batch: &mut Batch) {
        for _ in 0..MAX_RESTRUCTURED {
            let Some(function) = unit.current() else { return };
            let rebuilt = batch.phases.time(Phase::Changes, || {
                normalise(function);
                let (cfg, skeleton) = self.build(function, universe);
                let view = &skeleton.input.unsaturated();
                let given = Saturated { function, cfg: &cfg, universe, skeleton: &skeleton, view };
                rebuilt(given, options)
            });
            let Some((function, restructured)) = rebuilt else { return };
            unit.restructured.add(restructured);
            unit.state = Progress::Build(function);
        }
    }
}

/// The cost of a variant, by which it is compared with the others.
#[derive(Clone, Copy)]
struct Cost {
    /// Of the instructions.
    code: CostAndSize,
    /// Of the instructions, of the cache lines that are moved, and of what is to be gained ([`PART_GAINED`]), as one number
    /// ([`CostAndSize::weighed`]). Lines are counted from the variant that moves the fewest.
    all: u128,
}

/// How many branches there are in what is chosen.
fn tests(unit: &Unit) -> usize {
    let Some(Chosen { function, .. }) = unit.chosen() else { return 0 };
    function.layout.iter().filter(|block| matches!(function.block(**block).term, Terminator::Branch { .. })).count()
}

/// What changes have gained when they were tried last.
type Gains = BTreeMap<(BlockId, Change), u128>;

/// A variant of a unit's function.
struct Variant {
    /// Its position among those that are tried together.
    number: usize,
    proposal: Proposal,
    unit: Unit,
}

/// The variants that are tried next: those that were not tried before, and of the others the one that gained most, unless that
/// was less than half of what one gains now. A change that gained much less than another one mostly does so when another
/// loop is changed, too.
fn due(open: &mut Vec<Variant>, gains: &Gains, gained: u128) -> Vec<Variant> {
    let gain = |variant: &Variant| gains.get(&(variant.proposal.header, variant.proposal.change)).copied();
    let (mut due, known): (Vec<Variant>, Vec<Variant>) =
        std::mem::take(open).into_iter().partition(|variant| gain(variant).is_none());
    *open = known;
    let most =
        (0..open.len()).filter(|n| gain(&open[*n]) > Some(gained / 2)).max_by_key(|n| (gain(&open[*n]), Reverse(*n)));
    due.extend(most.map(|most| open.remove(most)));
    due
}

/// Kinds of changes, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Interchanged,
    Restructured,
    Unrolled,
}

/// Changes of a kind that may be worth it, and what accesses cost less by being nearer to each other then.
fn proposed(
    (function, cfg): (&Function, &Cfg),
    kind: Kind,
    universe: &Universe,
    options: &Options,
) -> Vec<(Proposal, u64)> {
    let loops = speaks_of_loops(universe);
    if kind == Kind::Interchanged {
        let found = if loops { interchanges(function, cfg, universe) } else { vec![] };
        let price = options.select.cost.line;
        return found.into_iter().map(|(proposal, lines)| (proposal, lines.saturating_mul(price))).collect();
    }
    let mut proposed = merge_proposals(function, cfg, universe);
    if loops {
        proposed.extend(proposals(function, cfg, universe));
    }
    let is_of_kind = |proposal: &Proposal| proposal.change.unrolls() == (kind == Kind::Unrolled);
    proposed.into_iter().filter(is_of_kind).map(|proposal| (proposal, 0)).collect()
}

/// The variants of a kind of a unit's function that are worth a try. Those that are not tried are noted.
fn variants(unit: &mut Unit, kind: Kind, universe: &Universe, options: &Options) -> Vec<Variant> {
    let function = match kind {
        Kind::Interchanged => unit.nested.as_ref(),
        Kind::Restructured | Kind::Unrolled => unit.chosen().and_then(|chosen| chosen.built.as_ref()),
    };
    let Some(function) = function.filter(|function| inline::instructions(function) <= MAX_INSTRUCTIONS) else {
        return vec![];
    };
    // A change that has cost more mostly costs more when another loop is changed, too.
    let was_tried = |proposal: &Proposal| {
        let same = |r: &VariantRemark| (r.header, r.change) == (proposal.header, proposal.change);
        let is_over = |fate: &VariantFate| !matches!(fate, VariantFate::Second(_) | VariantFate::Untried);
        unit.variants.iter().any(|remark| same(remark) && is_over(&remark.fate))
    };
    let (mut variants, mut remarks) = (vec![], vec![]);
    let cfg = Cfg::new(function).weighed(options.select.cost.weighing);
    let proposed = proposed((function, &cfg), kind, universe, options).into_iter();
    for (proposal, nearer) in proposed.filter(|(proposal, _)| !was_tried(proposal)) {
        let mut say = |fate| remarks.push(remark(proposal, fate));
        if variants.len() == MAX_TRIED {
            say(VariantFate::Untried);
            continue;
        }
        match vary(function, &cfg, universe, proposal) {
            Ok(Some(varied)) => {
                let number = variants.len();
                let mut unit = Unit::new(&varied, universe);
                unit.nearer = nearer;
                if let Change::Unrolled(_) = proposal.change {
                    let added = inline::instructions(&varied).saturating_sub(inline::instructions(function)) as u64;
                    unit.due = added * INSTRUCTION * cfg.frequency(proposal.header) / PART_GAINED;
                }
                variants.push(Variant { number, proposal, unit });
            }
            Ok(None) => {}
            Err(unfaithful) => say(VariantFate::Failed(unfaithful.to_string())),
        }
    }
    unit.variants.extend(remarks);
    variants
}

/// What became of a variant that costs `after`; `None` where it came to nothing.
fn fate(state: &Progress, before: Cost, after: Option<Cost>, taken: bool) -> Option<VariantFate> {
    Some(match (state, after) {
        (_, Some(after)) if taken => VariantFate::Taken { before: before.code.cost, after: after.code.cost },
        (_, Some(after)) if after.all < before.all => VariantFate::Second(after.code.cost),
        (_, Some(after)) if after.code.cost < before.code.cost => VariantFate::Larger(after.code.cost),
        (_, Some(after)) => VariantFate::Dearer(after.code.cost),
        (Progress::Done(Fate::Failed(why) | Fate::PassedThrough(why)), None) => VariantFate::Failed(why.clone()),
        (_, None) => return None,
    })
}

/// Are variants wanted, and can rules gain by them what counts?
fn may_vary(options: &Options) -> bool {
    let counts_executions = matches!(options.select.cost.weighing, Weighing::Executions { .. });
    options.variants && counts_executions && options.rules != Rules::Nothing
}

fn remark(Proposal { of, header, change }: Proposal, fate: VariantFate) -> VariantRemark {
    VariantRemark { number: of.map(|of| of.index() + 1), change, fate, lines: 0, header }
}
