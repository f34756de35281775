//! Packs that are tests themselves: every example of `tests/packs` holds, and every rule takes part in one.

use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::{Severity, render};
use rewright_engine::Budget;
use rewright_packs as packs;
use rewright_pipeline::examples;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn examples_hold_and_cover_every_rule() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packs");
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder exists").map(|e| e.expect("readable").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let root = packs::root(&path).expect("readable");
        let loaded = packs::load(vec![root]);
        let shown = render(&loaded.diagnostics, &loaded.sources, false);
        assert!(loaded.diagnostics.iter().all(|d| d.severity != Severity::Error), "{shown}");
        let own: BTreeSet<&String> = loaded.roots.iter().collect();
        let program = loaded.program.clone();
        let clif = ClifOptimiser::new(loaded.program).expect("a program");
        let all: Vec<usize> =
            (0..program.examples.len()).filter(|i| own.contains(&program.examples[*i].pack)).collect();
        let mut fired = BTreeSet::new();
        for outcome in examples::run(&clif.optimiser, &all, &Budget::default()) {
            let title = &program.examples[outcome.example].title;
            assert!(outcome.failure.is_none(), "{}: {title}: {:?}", path.display(), outcome.failure);
            fired.extend(outcome.fired.iter().map(|rule| program.rule(*rule).family));
        }
        for rule in program.rules.iter().filter(|rule| !rule.law) {
            assert!(fired.contains(&rule.family), "{} never fires", rule.name);
        }
    }
}
