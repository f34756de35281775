//! What rules about loops are worth: the functions of a file as they are, optimised without such rules, and with them;
//! in cost, in executed instructions, and in processor time.

use crate::LabError;
use rewright_cfg_skeleton::ir::Cfg;
use rewright_clif::executed::Executed;
use rewright_clif::interpret::Functions;
use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::File;
use rewright_native::runtest::{Directive, directives, run_counted};
use rewright_pipeline::optimiser::{Fate, Options};
use std::time::Duration;

/// Instructions that each call may take.
const FUEL: u64 = 100_000_000;

/// Which version of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Version {
    /// As it is.
    Before,
    /// Optimised without rules about loops.
    Without,
    /// Optimised with them.
    With,
}

impl Version {
    /// All of them.
    pub const ALL: [Version; 3] = [Version::Before, Version::Without, Version::With];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Version::Before => "before",
            Version::Without => "without",
            Version::With => "with_loops",
        }
    }
}

/// A version of a function.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it costs.
    pub cost: u64,
    /// Loops that it has.
    pub loops: usize,
    /// Did a budget end before the rules did?
    pub exhausted: bool,
    /// What its directives execute, together: or why one of them is not run.
    pub executed: Result<Executed, String>,
    /// What its directives return.
    results: Vec<String>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Row {
    /// As CLIF writes its name.
    pub name: String,
    /// How many directives it has.
    pub directives: usize,
    /// In the order of [`Version::ALL`].
    pub made: [Made; 3],
}

impl Row {
    /// Do all versions that can be run return the same, and call the same?
    pub fn same(&self) -> bool {
        let ran: Vec<_> = self.made.iter().filter_map(|m| Some((m.executed.as_ref().ok()?, &m.results))).collect();
        ran.windows(2).all(|pair| {
            let [(a, first), (b, second)] = pair else { return true };
            (&a.calls, first) == (&b.calls, second)
        })
    }
}

/// A file.
pub struct Measured {
    /// By function.
    pub rows: Vec<Row>,
    /// Processor time for all functions, rules prepared: without rules about loops, and with them.
    pub times: [Duration; 2],
}

/// Measures a file. `optimisers`: without rules about loops, and with them. `clock` gives this thread's processor time.
///
/// # Errors
/// A function that is not read, or a directive that is invalid.
pub fn measure(
    file: &File,
    optimisers: [&ClifOptimiser; 2],
    options: &Options,
    clock: impl Fn() -> Duration,
) -> Result<Measured, LabError> {
    let (found, mistakes) = directives(file);
    if let Some(mistake) = mistakes.into_iter().next() {
        return Err(LabError::Directive(mistake));
    }
    // One thread does all the work, so that its time is all of it.
    let options = &Options { threads: 1, ..options.clone() };
    // All versions have the prices of the last one, in which control flow may have some.
    let priced = &optimisers[1].optimiser.with_variants(&optimisers[1].optimiser.program().universe, options);
    let (mut times, mut versions) = ([Duration::ZERO; 2], vec![version(file, optimisers[0], priced, &found, None)?]);
    let mut known = vec![];
    for (time, clif) in times.iter_mut().zip(optimisers) {
        let start = clock();
        let outcome = clif.optimise(file, options, |_| true);
        *time = clock().saturating_sub(start);
        let exhausted = outcome.statistics.functions.iter().map(|function| {
            function.as_ref().and_then(|f| f.outcome.as_ref()).is_some_and(|outcome| outcome.exhausted())
        });
        let exhausted: Vec<bool> = exhausted.collect();
        for made in outcome.statistics.wanted() {
            if let Fate::Failed(reason) = &made.fate {
                return Err(LabError::NotChosen(made.name.clone(), reason.clone()));
            }
        }
        let mut made = version(file, clif, priced, &found, Some(&outcome.replaced))?;
        for (made, exhausted) in made.iter_mut().zip(exhausted) {
            made.exhausted = exhausted;
        }
        versions.push(made);
        known = outcome.statistics.functions;
    }
    for (index, outcome) in known.iter().enumerate() {
        let Some(outcome) = outcome.as_ref().and_then(|function| function.outcome.as_ref()) else { continue };
        if outcome.fate != Fate::Optimised {
            continue;
        }
        // How often copies of blocks run is not in the text. The inlined functions cost something in the other versions,
        // too.
        let inlined = outcome.cost_before.saturating_sub(versions[0][index].cost);
        versions[0][index].cost += inlined;
        versions[1][index].cost += inlined;
        versions[2][index].cost = outcome.cost_after;
    }
    let mut columns: Vec<_> = versions.into_iter().map(Vec::into_iter).collect();
    let rows = file.functions.iter().enumerate().map(|(index, function)| {
        let mut next = |version: usize| columns[version].next().expect("a version has all functions");
        let made = [next(0), next(1), next(2)];
        let own = found.iter().filter(|directive| directive.function == index);
        Row { name: function.name(), directives: own.count(), made }
    });
    Ok(Measured { rows: rows.collect(), times })
}

/// A version of all functions, some of them replaced.
fn version(
    file: &File,
    clif: &ClifOptimiser,
    options: &Options,
    directives: &[Directive],
    replaced: Option<&[Option<cranelift_codegen::ir::Function>]>,
) -> Result<Vec<Made>, LabError> {
    let universe = &clif.optimiser.program().universe;
    let texts = file.functions.iter().enumerate();
    let texts: Vec<_> = texts.map(|(i, f)| replaced.and_then(|r| r[i].as_ref()).unwrap_or(&f.func)).collect();
    let mut functions = Functions::new(universe);
    let mut made = vec![];
    for function in &texts {
        let imported = clif.import_function(function, file.endianness());
        let mut this = Made { cost: 0, loops: 0, exhausted: false, executed: Ok(Executed::default()), results: vec![] };
        match imported {
            Ok(imported) => {
                this.cost = clif.optimiser.cost_of(&imported.function, universe, options);
                this.loops = Cfg::new(&imported.function).loop_count();
                functions.add(imported, function);
            }
            // It goes out as it came in.
            Err(reason) => this.executed = Err(reason.to_string()),
        }
        made.push(this);
    }
    for directive in directives {
        let own = &mut made[directive.function];
        let Ok(sum) = &mut own.executed else { continue };
        match run_counted(&functions, texts[directive.function], &directive.text, FUEL) {
            Ok((results, executed)) => {
                sum.add(&executed);
                own.results.push(results);
            }
            Err(why) => own.executed = Err(format!("`{}`: {why}", directive.text)),
        }
    }
    Ok(made)
}
