//! Lines of the input for what remarks speak of. An instruction's number (`!7`) goes with it through the pipeline;
//! those that the text gives none get one for that time.
//!
//! A number may be used once in each function, so what is inlined has none, and no line.

use super::ModuleOutcome;
use super::sides::sides;
use rewright_cfg_skeleton::ir::{Function, Module};
use rewright_pipeline::optimiser::Fate;
use std::collections::{BTreeMap, BTreeSet};

/// Which numbers stand for which lines.
pub(super) struct Lines {
    /// By function and number.
    lines: BTreeMap<(usize, u32), u32>,
    /// By function: numbers that are not the text's.
    given: Vec<BTreeSet<u32>>,
    /// The functions with their numbers.
    functions: Vec<Function>,
}

impl Lines {
    /// Numbers the instructions of a module that was read.
    pub(super) fn number(module: &mut Module) -> Lines {
        let given = vec![BTreeSet::new(); module.functions.len()];
        let mut found = Lines { lines: BTreeMap::new(), given, functions: vec![] };
        for (index, (f, lines)) in module.functions.iter_mut().zip(&module.lines).enumerate() {
            let own: BTreeSet<u32> = f.insts.iter().filter_map(|inst| inst.origin).collect();
            let mut free = (0..).filter(|number| !own.contains(number));
            for (inst, line) in f.insts.iter_mut().zip(lines) {
                if inst.origin.is_none() {
                    inst.origin = free.next();
                    found.given[index].extend(inst.origin);
                }
                if let Some(number) = inst.origin {
                    found.lines.insert((index, number), *line);
                }
            }
        }
        found.functions.clone_from(&module.functions);
        found
    }

    /// Says which lines were changed or relaxed, and takes the numbers away. `log`: puts the texts of changed functions
    /// side by side.
    pub(super) fn finish(&self, done: &mut ModuleOutcome, log: bool) {
        let functions = self.functions.iter().zip(&done.module.functions).zip(&done.statistics.functions);
        let universe = &done.universe;
        done.sides = functions
            .map(|((before, after), outcome)| {
                let is_changed = outcome.as_ref().is_some_and(|outcome| outcome.fate == Fate::Optimised);
                (log && is_changed).then(|| sides(before, after, universe))
            })
            .collect();
        for (index, given) in self.given.iter().enumerate() {
            let clear = |f: &mut Function| {
                for inst in &mut f.insts {
                    inst.origin = inst.origin.filter(|number| !given.contains(number));
                }
            };
            clear(&mut done.module.functions[index]);
            let function = done.statistics.functions[index].as_mut();
            let Some(outcome) = function.and_then(|f| f.outcome.as_mut()) else { continue };
            clear(&mut outcome.function);
            for changed in &mut outcome.changed {
                let lines = changed.was.iter().filter_map(|number| self.lines.get(&(index, *number)));
                changed.lines = lines.copied().collect();
                changed.was.retain(|number| !given.contains(number));
            }
            for relaxed in &mut outcome.relaxed {
                relaxed.line = relaxed.origin.and_then(|number| self.lines.get(&(index, number)).copied());
                relaxed.origin = relaxed.origin.filter(|number| !given.contains(number));
            }
            for moved in &mut outcome.moved_statements {
                moved.line = moved.origin.and_then(|number| self.lines.get(&(index, number)).copied());
                moved.origin = moved.origin.filter(|number| !given.contains(number));
            }
        }
    }
}
