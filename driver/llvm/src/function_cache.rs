//! What became of functions that were met before: those of a header come with every file, a file may be compiled twice,
//! and an edit leaves most functions as they are.
//!
//! The pipeline sees nothing of a function but what is hashed here: texts, names, attributes and places in the source
//! are what import has read already, or keeps beside the function for the way back.
//!
//! **Invariant**: what is found is what the pipeline would give. It is meant for one set of rules and options.

use rewright_cfg_skeleton::ir::Function;
use rewright_files::cache::Key;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction, Options};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Instructions and values of all functions together, beyond which no more are kept: about 100 MB.
const SIZE: usize = 1_000_000;

/// What became of a function.
#[derive(Clone, Debug)]
pub(super) struct Became {
    pub(super) fate: Fate,
    /// What takes its place.
    pub(super) function: Option<Function>,
    /// What that costs less.
    pub(super) gain: u64,
}

impl Became {
    pub(super) fn of(outcome: &OptimisedFunction) -> Self {
        let function = (outcome.fate == Fate::Optimised).then(|| outcome.function.clone());
        Became { fate: outcome.fate.clone(), function, gain: outcome.cost_before.saturating_sub(outcome.cost_after) }
    }
}

/// Where there are no rules.
impl Default for Became {
    fn default() -> Self {
        Became { fate: Fate::Unchanged, function: None, gain: 0 }
    }
}

/// Functions that were met before.
#[derive(Default, Debug)]
pub struct FunctionCache {
    functions: Mutex<Functions>,
}

#[derive(Default, Debug)]
struct Functions {
    by_key: FxHashMap<Key, Became>,
    /// As [`SIZE`] counts.
    size: usize,
}

impl FunctionCache {
    pub(super) fn find(&self, key: Key) -> Option<Became> {
        self.lock().by_key.get(&key).cloned()
    }

    pub(super) fn keep(&self, key: Key, became: Became) {
        let mut functions = self.lock();
        let size = became.function.as_ref().map_or(1, |f| f.insts.len() + f.values.len());
        if functions.size + size <= SIZE {
            functions.size += size;
            functions.by_key.insert(key, became);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Functions> {
        // Nothing panics while it is held.
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What functions of one file have in common in the eyes of the pipeline: types beyond those of the packs, which rules
/// may meet wherever they come from, and what may not be chosen.
pub(super) fn context(packs: &Universe, universe: &Universe, options: &Options) -> Key {
    let first = packs.types.interned_len() as u32;
    let types: Vec<String> =
        (first..universe.types.interned_len() as u32).map(|ty| universe.types.display(Ty(ty))).collect();
    Key::of_value(0, &(types, &options.select.unavailable))
}

/// What the pipeline sees of a function. Of some, packs know more than LLVM does.
pub(super) fn key(context: Key, function: &Function, more_is_known: bool) -> Key {
    let Function { name: _, results, blocks, layout, insts, values, regions, promises, aliases, objects } = function;
    Key::of_value(
        0,
        &(context, more_is_known, (results, blocks, layout, insts, values, regions, promises, aliases, objects)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{File, read};
    use crate::optimise::{FileOutcome, LlvmOptimiser};
    use crate::sample;

    /// A function of a name, with something that is opaque in it and something for rules.
    fn file(name: &str, callee: &str, amount: u32) -> File {
        read(format!(
            "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\ndeclare i32 {callee}(i32)\n\
             define i32 {name}(i32 %x) {{\n  %y = udiv i32 %x, 8\n  %z = mul i32 %y, {amount}\n  \
             %c = call i32 {callee}(i32 %z)\n  %a = add i32 %c, %x\n  ret i32 %a\n}}\n"
        ))
        .unwrap()
    }

    #[test]
    fn what_is_known_is_what_the_pipeline_gives() {
        let llvm = LlvmOptimiser::new(sample::program());
        let (options, known) = (Options::default(), FunctionCache::default());
        let met = |file: &File| llvm.optimise_unknown(file, &options, |_| true, &known);
        let same = |a: &FileOutcome, b: &FileOutcome| {
            let fates =
                |o: &FileOutcome| o.statistics.wanted().map(|f| (f.name.clone(), f.fate.clone())).collect::<Vec<_>>();
            a.text == b.text && fates(a) == fates(b)
        };
        // The same except for names; another number; the first again.
        let files = [file("@f", "@g", 0), file("@h", "@i", 0), file("@f", "@g", 3), file("@f", "@g", 0)];
        for (file, expected) in files.iter().zip([0, 1, 0, 1]) {
            let outcome = met(file);
            assert_eq!(outcome.known, expected);
            assert_eq!(outcome.statistics.outcome(0).is_none(), expected == 1);
            assert!(same(&outcome, &llvm.optimise(file, &options, |_| true)), "{}", outcome.text);
        }
        let again = met(&files[1]).statistics;
        assert!(again.wanted().map(|f| &f.fate).eq([&Fate::Optimised]));
    }

    #[test]
    fn what_the_pipeline_sees_is_in_the_key() {
        let program = sample::program();
        let packs = &program.universe;
        let usual = context(packs, packs, &Options::default());
        let mut more = packs.clone();
        more.types.named_or_opaque("llvm x86_fp80");
        assert_ne!(context(packs, &more, &Options::default()), usual);
        let unavailable = packs.ops.iter().map(|(op, _)| op).take(1).collect();
        let mut fewer = Options::default();
        fewer.select.unavailable = unavailable;
        assert_ne!(context(packs, packs, &fewer), usual);
        let llvm = LlvmOptimiser::new(program);
        let functions = [file("@f", "@g", 0), file("@h", "@g", 0), file("@f", "@g", 3)]
            .map(|file| llvm.import(&file, |_| true).0.remove(0).unwrap().unwrap().function);
        assert_eq!(key(usual, &functions[0], false), key(usual, &functions[1], false));
        assert_ne!(key(usual, &functions[0], false), key(usual, &functions[2], false));
        assert_ne!(key(usual, &functions[0], false), key(usual, &functions[0], true));
        let mut counted = functions[0].clone();
        counted.blocks[0].cold = true;
        assert_ne!(key(usual, &functions[0], false), key(usual, &counted, false));
    }
}
