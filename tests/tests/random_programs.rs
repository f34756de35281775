//! Random functions do the same before and after optimisation, on our interpreter. `rewright fuzz` runs more of
//! them (`scripts/test.sh` some), larger ones, and as compiled code.

use rewright_clif::optimise::ClifOptimiser;
use rewright_lab::fuzz::{Config, Finding, FuzzReport, fuzz};
use rewright_lab::generate::Shape;
use rewright_packs as packs;
use rewright_pipeline::optimiser::Options;
use std::path::Path;

fn run(seed: u64, count: u64, size: usize) -> FuzzReport {
    let root = packs::root(Path::new(packs::DEFAULT)).expect("the standard packs ship");
    let clif = ClifOptimiser::new(packs::load(vec![root]).program).expect("they lower");
    let config = Config {
        part: &|_| true,
        clif: &clif,
        program: None,
        count,
        seed,
        shape: Shape { size, ..Shape::default() },
        options: Options::default(),
        progress: &|_| {},
        found: &|_| {},
    };
    fuzz(&config)
}

/// Where the first of them comes from.
const SEED: u64 = 1_000_000;
const COUNT: u64 = 500;

#[test]
fn random_functions_keep_their_meaning() {
    println!("seeds {SEED} to {}, size 12", SEED + COUNT - 1);
    let report = run(SEED, COUNT, 12);
    // The seed is the number that `rewright fuzz --count 1 --size 12 --interpret --seed` wants.
    let show = |f: &Finding| {
        format!("seed {}, {}: {}\n{}\nbecomes\n{}", f.seed, f.engine, f.difference, f.original, f.optimised)
    };
    let found: Vec<String> = report.findings.iter().map(show).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(report.changed > COUNT / 2 && report.trapped > COUNT / 5, "{report:?}");
}
