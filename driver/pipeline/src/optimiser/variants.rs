//! The search for a variant of a function that costs less.
//!
//! Each proposed change is made, and what comes out goes through the whole pipeline. The cheapest is taken if it is cheaper
//! than what there is, and changes of it are tried, a bounded number of times. A variant that costs less by its control
//! flow alone is cheaper, too: while variants are tried, branches and jumps back have their prices. Loops are unrolled when
//! nothing else gains: a variant with several iterations in one leaves little to find.

use super::rebuilt::decided;
use super::unit::{Progress, Unit};
use super::{Batch, Fate, Optimiser, Options, Phase, Rules, VariantFate, VariantRemark};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::ir::cfg::Weighing;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::{BlockId, Cfg, inline};
use rewright_cfg_skeleton::select::cost::CostAndSize;
use rewright_cfg_skeleton::skeleton::KnownAtEnds;
use rewright_cfg_skeleton::variants::{Change, Proposal, merge_proposals, proposals, speaks_of_loops, vary};
use rewright_typeprop::Universe;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Changes of one function, each on top of those before: so many that do not unroll loops, and then so many that do.
const MAX_CHANGES: usize = 4;

/// Variants of one function from which the next change is chosen.
const MAX_TRIED: usize = 6;

/// How often a variant is taken apart to decide what its copies know.
const MAX_DECIDED: usize = 4;

/// A function of more instructions has no variants.
const MAX_INSTRUCTIONS: usize = 600;

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
        for unrolls in [false, true] {
            let mut gains = Gains::new();
            for _ in 0..MAX_CHANGES {
                let wanted = |proposal: &Proposal| proposal.change.unrolls() == unrolls;
                let variants = proposed(unit, wanted, universe, options);
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
        let Some(before) = unit.chosen().map(|chosen| chosen.cost(universe, options)) else { return false };
        let cost = |unit: &Unit| unit.chosen().map(|chosen| chosen.cost(universe, options));
        let (mut chosen, mut open): (Vec<Variant>, Vec<Variant>) = (vec![], variants);
        loop {
            let cheapest = chosen.iter().filter_map(|variant| Some(cost(&variant.unit)?.weighed())).min();
            let due = due(&mut open, gains, cheapest.map_or(0, |cheapest| before.weighed().saturating_sub(cheapest)));
            if due.is_empty() {
                break;
            }
            let (places, mut units): (Vec<(usize, Proposal)>, Vec<Unit>) =
                due.into_iter().map(|Variant { number, proposal, unit }| ((number, proposal), unit)).unzip();
            units.iter_mut().for_each(|unit| self.decide(unit, universe, batch));
            self.choose_all(&mut units, universe, options, batch);
            let done = places.into_iter().zip(units);
            chosen.extend(done.map(|((number, proposal), unit)| Variant { number, proposal, unit }));
        }
        chosen.sort_by_key(|variant| variant.number);
        let made = chosen.iter().enumerate().filter_map(|(n, variant)| Some((cost(&variant.unit)?, n)));
        let cheapest = made.min_by_key(|(cost, n)| (cost.weighed(), *n));
        let cheapest = cheapest.filter(|(cost, _)| cost.weighed() < before.weighed()).map(|(_, n)| n);
        for (n, Variant { proposal, unit: variant, .. }) in chosen.iter().enumerate() {
            let after = cost(variant);
            let gain = after.map_or(0, |after| before.weighed().saturating_sub(after.weighed()));
            gains.insert((proposal.header, proposal.change), gain);
            let fate = fate(&variant.state, before, after, Some(n) == cheapest);
            unit.variants.extend(fate.map(|fate| remark(*proposal, fate)));
        }
        let Some(cheapest) = cheapest else { return false };
        unit.take(chosen.swap_remove(cheapest).unit);
        true
    }

    /// Decides what copies know by themselves: most branches that a variant is made for. Running rules to find that costs as
    /// much as all the rest.
    fn decide(&self, unit: &mut Unit, universe: &Universe, batch: &mut Batch) {
        for _ in 0..MAX_DECIDED {
            let Some(function) = unit.current() else { return };
            let decided = batch.phases.time(Phase::Changes, || {
                normalise(function);
                let (cfg, skeleton) = self.build(function, universe);
                let view = &skeleton.input.unsaturated();
                let given = Saturated { function, cfg: &cfg, universe, skeleton: &skeleton, view };
                decided(given, &KnownAtEnds::new(given))
            });
            let Some((function, restructured)) = decided else { return };
            unit.restructured.add(restructured);
            unit.state = Progress::Build(function);
        }
    }
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

/// The variants of a unit's function that are wanted and worth a try. Those that are not tried are noted.
fn proposed(
    unit: &mut Unit,
    wanted: impl Fn(&Proposal) -> bool,
    universe: &Universe,
    options: &Options,
) -> Vec<Variant> {
    let Some(built) = unit.chosen().and_then(|chosen| chosen.built.as_ref()) else { return vec![] };
    if inline::instructions(built) > MAX_INSTRUCTIONS {
        return vec![];
    }
    let cfg = Cfg::new(built).weighed(options.select.cost.weighing);
    let mut proposed = merge_proposals(built, &cfg, universe);
    if speaks_of_loops(universe) {
        proposed.extend(proposals(built, &cfg, universe));
    }
    // A change that has cost more mostly costs more when another loop is changed, too.
    let was_tried = |proposal: &Proposal| {
        let same = |r: &VariantRemark| (r.header, r.change) == (proposal.header, proposal.change);
        let is_over = |fate: &VariantFate| !matches!(fate, VariantFate::Second(_) | VariantFate::Untried);
        unit.variants.iter().any(|remark| same(remark) && is_over(&remark.fate))
    };
    let (mut variants, mut remarks) = (vec![], vec![]);
    for proposal in proposed.into_iter().filter(|proposal| wanted(proposal) && !was_tried(proposal)) {
        let mut say = |fate| remarks.push(remark(proposal, fate));
        if variants.len() == MAX_TRIED {
            say(VariantFate::Untried);
            continue;
        }
        match vary(built, &cfg, universe, proposal) {
            Ok(Some(function)) => {
                let number = variants.len();
                variants.push(Variant { number, proposal, unit: Unit::new(&function, universe) });
            }
            Ok(None) => {}
            Err(unfaithful) => say(VariantFate::Failed(unfaithful.to_string())),
        }
    }
    unit.variants.extend(remarks);
    variants
}

/// What became of a variant that costs `after`; `None` where it came to nothing.
fn fate(state: &Progress, before: CostAndSize, after: Option<CostAndSize>, taken: bool) -> Option<VariantFate> {
    Some(match (state, after) {
        (_, Some(after)) if taken => VariantFate::Taken { before: before.cost, after: after.cost },
        (_, Some(after)) if after.weighed() < before.weighed() => VariantFate::Second(after.cost),
        (_, Some(after)) if after.cost < before.cost => VariantFate::Larger(after.cost),
        (_, Some(after)) => VariantFate::Dearer(after.cost),
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
    VariantRemark { number: of.map(|of| of.index() + 1), change, fate, header }
}
