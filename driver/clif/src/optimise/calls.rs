//! Bodies, and heads of bodies, in the place of calls of functions of the same file, where that costs less.

use super::{ClifOptimiser, FileOutcome};
use crate::inline::{Calls, Inlined, headed, inlined};
use crate::read::File;
use crate::{tail_calls, told};
use cranelift_codegen::ir as clif;
use rewright_cfg_skeleton::ir::cfg::FREQUENCY_ONE;
use rewright_cfg_skeleton::ir::heads::Head;
use rewright_cfg_skeleton::ir::{BlockId, Cfg};
use rewright_pipeline::optimiser::{Fate, FunctionOutcome, OptimisedFunction, Options};
use std::collections::BTreeMap;

/// A head that may take the place of calls.
struct Beginning {
    function: clif::Function,
    head: Head,
    /// What it costs alone.
    cost: u64,
}

/// What the calls of a caller cost that something has taken the place of, beside what the pipeline counts: as they
/// were, and what is left of that.
struct Prices {
    before: u64,
    after: u64,
}

/// What the calls are that something has taken the place of, by name.
#[derive(Default)]
struct Taken {
    bodies: Vec<String>,
    heads: Vec<String>,
}

impl ClifOptimiser {
    /// Has bodies take the place of calls of small functions of the file, callees first, and heads that of calls
    /// that are left, where that costs less.
    pub(super) fn inline_calls(&self, file: &File, calls: &Calls, options: &Options, outcome: &mut FileOutcome) {
        for caller in calls.order.iter().copied().filter(|caller| calls.any(*caller)) {
            if outcome.statistics.outcome(caller).is_some() {
                let caller = Caller { clif: self, file, calls, options, index: caller };
                let bodies = caller.put_bodies(outcome).unwrap_or_default();
                caller.put_heads(&bodies, outcome);
            }
        }
    }
}

/// A function of a file whose calls something may take the place of.
struct Caller<'a> {
    clif: &'a ClifOptimiser,
    file: &'a File,
    calls: &'a Calls,
    options: &'a Options,
    index: usize,
}

impl Caller<'_> {
    /// Has bodies take the place of a function's calls; gives the names of what it called then.
    fn put_bodies(&self, outcome: &mut FileOutcome) -> Option<Vec<String>> {
        let Caller { clif, file, calls, options, index: caller } = *self;
        let replaced = &outcome.replaced;
        let made = inlined(&file.functions[caller].func, &|name| {
            let callee = calls.function(name).filter(|callee| *callee != caller && !calls.is_recursive(*callee))?;
            Some(replaced[callee].as_ref().unwrap_or(&file.functions[callee].func))
        })?;
        let mut price = 0u64;
        for (frequency, callee) in self.frequencies(&made)? {
            let callee = calls.function(callee)?;
            let body = match outcome.statistics.outcome(callee) {
                Some(known) => known.cost_after,
                None => {
                    let universe = &clif.optimiser.program().universe;
                    clif.optimiser.cost_of(&clif.import(file, callee).ok()?.function, universe, options)
                }
            };
            // What is called, the call, and the return.
            let once = body / FREQUENCY_ONE + 2 * options.select.cost.branch;
            price = price.saturating_add(frequency.saturating_mul(once));
        }
        let bodies: Vec<String> = made.calls.iter().map(|(_, callee)| callee.clone()).collect();
        let taken = Taken { bodies: bodies.clone(), heads: vec![] };
        let prices = Prices { before: price, after: 0 };
        self.take(&made, taken, &prices, outcome).then_some(bodies)
    }

    /// Has heads take the place of a function's calls, except for those that `bodies` have taken the place of:
    /// these stay.
    fn put_heads(&self, bodies: &[String], outcome: &mut FileOutcome) -> Option<()> {
        let Caller { file, calls, options, index: caller, .. } = *self;
        let mut heads: BTreeMap<String, Beginning> = BTreeMap::new();
        for callee in calls.callees(caller) {
            let name = file.functions[*callee].name();
            if !bodies.contains(&name)
                && !heads.contains_key(&name)
                && let Some(found) = self.beginning(*callee, outcome)
            {
                heads.insert(name, found);
            }
        }
        if heads.is_empty() {
            return None;
        }
        let replaced = &outcome.replaced;
        let made = inlined(&file.functions[caller].func, &|name| match heads.get(name) {
            Some(Beginning { function, .. }) => Some(function),
            None if bodies.iter().any(|body| body == name) => {
                let callee = calls.function(name)?;
                Some(replaced[callee].as_ref().unwrap_or(&file.functions[callee].func))
            }
            None => None,
        })?;
        let mut prices = Prices { before: 0, after: 0 };
        // A call or a return, and with each an instruction about the callee's frame.
        let transfer = 2 * options.select.cost.branch;
        for (frequency, callee) in self.frequencies(&made)? {
            if let Some(Beginning { head, cost, .. }) = heads.get(callee) {
                let whole = cost / FREQUENCY_ONE + 2 * transfer;
                let saved = head.saved(*cost, transfer) / FREQUENCY_ONE;
                prices.before = prices.before.saturating_add(frequency.saturating_mul(whole));
                prices.after = prices.after.saturating_add(frequency.saturating_mul(whole.saturating_sub(saved)));
            }
        }
        let names = made.calls.iter().map(|(_, callee)| callee.clone());
        let (heads, bodies) = names.partition(|name| heads.contains_key(name));
        self.take(&made, Taken { bodies, heads }, &prices, outcome).then_some(())
    }

    /// The head of a function as it goes out so far.
    fn beginning(&self, callee: usize, outcome: &FileOutcome) -> Option<Beginning> {
        let Caller { clif, file, options, .. } = *self;
        let original = outcome.replaced[callee].as_ref().unwrap_or(&file.functions[callee].func);
        file.accepts(original).ok()?;
        let imported = clif.import_function(original, file.endianness()).ok()?;
        let universe = &clif.optimiser.program().universe;
        let head = Head::new(&imported.function, universe)?;
        let blocks: Vec<clif::Block> = head.blocks.iter().map(|b| imported.payloads.blocks[b.index()]).collect();
        let cost = clif.optimiser.cost_of(&head.alone(&imported.function), universe, options);
        Some(Beginning { function: headed(original, &blocks)?, head, cost })
    }

    /// The calls that something has taken the place of: how often each is executed, and what it calls.
    fn frequencies<'i>(&self, made: &'i Inlined) -> Option<Vec<(u64, &'i str)>> {
        let Caller { clif, file, options, index: caller, .. } = *self;
        let original = &file.functions[caller].func;
        let imported = clif.import(file, caller).ok()?;
        let cfg = Cfg::new(&imported.function).weighed(options.select.cost.weighing);
        let frequency = |(call, callee): &'i (clif::Inst, String)| {
            let block = original.layout.inst_block(*call)?;
            let ours = imported.payloads.blocks.iter().position(|b| *b == block);
            // A call that is not reached costs nothing.
            Some((ours.map_or(0, |b| cfg.frequency(BlockId(b as u32))), callee.as_str()))
        };
        made.calls.iter().map(frequency).collect()
    }

    /// Optimises a function in which something has taken the place of calls, and takes it if it costs less then;
    /// did it?
    fn take(&self, made: &Inlined, taken: Taken, prices: &Prices, outcome: &mut FileOutcome) -> bool {
        let Caller { clif, file, calls, options, index: caller } = *self;
        let Some(before) = outcome.statistics.outcome(caller) else { return false };
        let (cost_before, bound) = (before.cost_before + prices.before, before.cost_after + prices.before);
        if file.accepts(&made.function).is_err() {
            return false;
        }
        let Ok(mut imported) = clif.import_function(&made.function, file.endianness()) else { return false };
        let universe = &clif.optimiser.program().universe;
        let jumps = match calls.is_only(file, caller) && clif.optimiser.makes_loops(universe, options) {
            true => tail_calls::jump(&made.function, &mut imported, universe),
            false => 0,
        };
        let mut batch = clif.optimiser.optimise(std::slice::from_ref(&imported.function), universe, options);
        outcome.statistics.phases.add(&batch.phases);
        for (rule, report) in batch.rules {
            outcome.statistics.rules.entry(rule).or_default().add(report);
        }
        let mut after = batch.outcomes.pop().expect("one outcome per function that went in");
        after.note_tail_calls(jumps, &imported.function);
        let cost_after = after.cost_after + prices.after;
        if !matches!(after.fate, Fate::Optimised | Fate::Unchanged) || cost_after >= bound {
            return false;
        }
        let Taken { bodies: inlined, heads } = taken;
        let after = OptimisedFunction { fate: Fate::Optimised, cost_before, cost_after, inlined, heads, ..after };
        let accepted = || file.accepts(&made.function);
        let (new, fate, mut names) = clif.exported(&made.function, accepted, file.endianness(), &imported, &after);
        let Some(new) = new else { return false };
        // Its former names are those of the caller: bodies that are new there have numbers of their own.
        let original = &file.functions[caller].func;
        outcome.sides[caller] = options.log.then(|| told::sides(original, &imported, &after, &new));
        // They are those of the function with the bodies in it.
        names.originals.clear();
        let name = file.functions[caller].name();
        outcome.replaced[caller] = Some(new.function);
        outcome.statistics.functions[caller] =
            Some(FunctionOutcome { name, fate, outcome: Some(after), names, unwritten: vec![] });
        true
    }
}
