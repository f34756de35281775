//! The search for a variant of a function that costs less.
//!
//! Each proposed change is made, and what comes out goes through the whole pipeline. The cheapest is taken if it is cheaper
//! than what there is, and changes of it are tried, a bounded number of times. A variant that costs less by its control
//! flow alone is cheaper, too: while variants are tried, branches and jumps back have their prices. Loops are unrolled when
//! nothing else gains: a variant with several iterations in one leaves little to find.

use super::unit::{Progress, Unit};
use super::{Batch, Fate, Optimiser, Options, Rules, VariantFate, VariantRemark};
use rewright_cfg_skeleton::ir::cfg::Weighing;
use rewright_cfg_skeleton::ir::{Cfg, inline};
use rewright_cfg_skeleton::variants::{Proposal, merge_proposals, proposals, speaks_of_loops, vary};
use rewright_typeprop::Universe;

/// Changes of one function, each on top of those before: so many that do not unroll loops, and then so many that do.
const MAX_CHANGES: usize = 4;

/// Variants of one function from which the next change is chosen.
const MAX_TRIED: usize = 6;

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
            let wanted = |proposal: &Proposal| proposal.change.unrolls() == unrolls;
            for _ in 0..MAX_CHANGES {
                if !self.take_cheapest(unit, wanted, universe, options, batch) {
                    break;
                }
            }
        }
    }

    /// Takes the cheapest of a unit's variants that are wanted, if it is cheaper; was one taken?
    fn take_cheapest(
        &self,
        unit: &mut Unit,
        wanted: impl Fn(&Proposal) -> bool,
        universe: &Universe,
        options: &Options,
        batch: &mut Batch,
    ) -> bool {
        let Some((chosen, built)) = unit.chosen().and_then(|chosen| Some((chosen, chosen.built.as_ref()?))) else {
            return false;
        };
        let before = chosen.cost(universe, options);
        let cfg = Cfg::new(built).weighed(options.select.cost.weighing);
        if inline::instructions(built) > MAX_INSTRUCTIONS {
            return false;
        }
        let mut proposed = merge_proposals(built, &cfg, universe);
        if speaks_of_loops(universe) {
            proposed.extend(proposals(built, &cfg, universe));
        }
        let (mut tried, mut remarks) = (vec![], vec![]);
        // A change that has cost more mostly costs more when another loop is changed, too.
        let was_tried = |proposal: &Proposal| {
            let same = |r: &VariantRemark| (r.header, r.change) == (proposal.header, proposal.change);
            unit.variants
                .iter()
                .any(|remark| same(remark) && !matches!(remark.fate, VariantFate::Second(_) | VariantFate::Untried))
        };
        for proposal in proposed.into_iter().filter(|proposal| wanted(proposal) && !was_tried(proposal)) {
            let mut say = |fate| remarks.push(remark(proposal, fate));
            if tried.len() == MAX_TRIED {
                say(VariantFate::Untried);
                continue;
            }
            match vary(built, &cfg, universe, proposal) {
                Ok(Some(function)) => tried.push((proposal, Unit::new(&function, universe))),
                Ok(None) => {}
                Err(unfaithful) => say(VariantFate::Failed(unfaithful.to_string())),
            }
        }
        let (proposals, mut units): (Vec<Proposal>, Vec<Unit>) = tried.into_iter().unzip();
        self.choose_all(&mut units, universe, options, batch);
        let cost = |unit: &Unit| unit.chosen().map(|chosen| chosen.cost(universe, options));
        let made = (0..units.len()).filter_map(|n| Some((cost(&units[n])?.weighed(), n)));
        let cheapest = made.min().map(|(_, n)| n);
        let cheapest = cheapest.filter(|n| cost(&units[*n]).is_some_and(|cost| cost.weighed() < before.weighed()));
        for (n, (proposal, unit)) in proposals.into_iter().zip(&units).enumerate() {
            let fate = match (&unit.state, cost(unit)) {
                (_, Some(after)) if Some(n) == cheapest => {
                    VariantFate::Taken { before: before.cost, after: after.cost }
                }
                (_, Some(variant)) if variant.weighed() < before.weighed() => VariantFate::Second(variant.cost),
                (_, Some(variant)) if variant.cost < before.cost => VariantFate::Larger(variant.cost),
                (_, Some(variant)) => VariantFate::Dearer(variant.cost),
                (Progress::Done(Fate::Failed(why) | Fate::PassedThrough(why)), None) => {
                    VariantFate::Failed(why.clone())
                }
                (_, None) => continue,
            };
            remarks.push(remark(proposal, fate));
        }
        unit.variants.extend(remarks);
        let Some(cheapest) = cheapest else { return false };
        unit.take(units.swap_remove(cheapest));
        true
    }
}

/// Are variants wanted, and can rules gain by them what counts?
fn may_vary(options: &Options) -> bool {
    let counts_executions = matches!(options.select.cost.weighing, Weighing::Executions { .. });
    options.variants && counts_executions && options.rules != Rules::Nothing
}

fn remark(Proposal { of, header, change }: Proposal, fate: VariantFate) -> VariantRemark {
    VariantRemark { number: of.map(|of| of.index() + 1), change, fate, header }
}
