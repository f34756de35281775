//! Packs and modules by their texts: what is refused, which examples fail, what goes out.
//!
//! For tests: what should hold and does not is a panic with the diagnostics.

use rewright_cfg_skeleton::ir::parse::Request;
use rewright_cfg_skeleton::ir::text::Printer;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::{Diagnostic, Severity, render};
use rewright_dsl::load::{Origin, Root};
use rewright_engine::Budget;
use rewright_native::module::{ModuleOptimiser, ModuleOutcome};
use rewright_packs as packs;
use rewright_pipeline::examples;
use rewright_pipeline::front::FrontEnd;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction, Options};

fn load(pack: &str) -> packs::Packs {
    packs::load(vec![Root { origin: Origin::Disk("pack.rw".into()), text: pack.into(), library: false }])
}

fn errors(packs: &packs::Packs) -> Vec<Diagnostic> {
    packs.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect()
}

/// The mistakes of a pack: code and message of each.
pub fn mistakes(pack: &str) -> Vec<(String, String)> {
    errors(&load(pack)).into_iter().map(|d| (d.code.to_string(), d.message)).collect()
}

/// The program of a pack without mistakes, for a module.
fn program(pack: &str, module: &str) -> rewright_dsl::program::Program {
    let root = Root { origin: Origin::Disk("pack.rw".into()), text: pack.into(), library: false };
    let packs = packs::load_for(vec![root], module);
    let errors = errors(&packs);
    assert!(errors.is_empty(), "{}", render(&errors, &packs.sources, false));
    packs.program
}

/// Titles of the examples of a pack that do not hold.
pub fn failed_examples(pack: &str) -> Vec<String> {
    let clif = ClifOptimiser::new(program(pack, "")).expect("rules that the check accepts form a program");
    let program = clif.optimiser.program();
    let all: Vec<usize> = (0..program.examples.len()).collect();
    let outcomes = examples::run(&clif.optimiser, &all, &Budget::default());
    let failed = outcomes.iter().filter(|o| o.failure.is_some());
    failed.map(|o| program.examples[o.example].title.clone()).collect()
}

/// A module that went through the rules of a pack.
pub struct Optimised {
    /// As read, with the rules.
    pub before: ModuleOptimiser,
    /// What goes out.
    pub after: ModuleOutcome,
}

impl Optimised {
    /// Optimises a module. No function may fail.
    pub fn new(pack: &str, module: &str) -> Optimised {
        Optimised::with(pack, module, &[])
    }

    /// The same, with functions that have constants for some parameters: `new = f(_, 3)`.
    pub fn with(pack: &str, module: &str, specialised: &[&str]) -> Optimised {
        let before = ModuleOptimiser::new(program(pack, module), module);
        let mut before = before.unwrap_or_else(|e| panic!("{e}\n{module}"));
        for text in specialised {
            let request = Request::read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            FrontEnd::specialise(&mut before, &request).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
        let after = before.optimise(&Options { log: true, variants: true, ..Options::default() }, |_| true);
        for function in after.statistics.wanted() {
            assert!(matches!(function.fate, Fate::Optimised | Fate::Unchanged), "{:?}\n{module}", function.fate);
        }
        Optimised { before, after }
    }

    /// What became of a function.
    pub fn outcome(&self, name: &str) -> &OptimisedFunction {
        let index = self.before.function(name).expect("the module has this function");
        self.after.statistics.outcome(index).expect("all were asked for")
    }

    /// A function that goes out, as text.
    pub fn text(&self, name: &str) -> String {
        Printer(&self.outcome(name).function, &self.after.universe).to_string()
    }

    /// Operations of a function that goes out, in order of the text, without types and suffixes of overloads.
    pub fn operations(&self, name: &str) -> Vec<String> {
        let text = self.text(name);
        let operation = |line: &str| {
            let right = line.trim().split(" = ").last()?;
            let word = right.split([' ', '{', '.']).next()?.to_string();
            let known = self.after.universe.ops.overloads(&word);
            (!known.is_empty()).then_some(word)
        };
        text.lines().filter_map(operation).collect()
    }

    /// Qualified names of the rules that took part in a function.
    pub fn rules(&self, name: &str) -> Vec<&str> {
        let program = self.before.optimiser.program();
        self.outcome(name).rules.iter().map(|r| program.rule(*r).name.as_str()).collect()
    }

    /// Operations of a function whose statements rules have let go.
    pub fn relaxed(&self, name: &str) -> Vec<&str> {
        self.outcome(name).relaxed.iter().map(|r| r.operation.as_str()).collect()
    }
}
