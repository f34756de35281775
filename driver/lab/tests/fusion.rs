//! Loops that follow one another, as one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::variants::{optimiser, options};
use rewright_cfg_skeleton::variants::Change;
use rewright_clif::read::read;
use rewright_extract::clock;
use rewright_lab::loops::measure;
use rewright_pipeline::optimiser::VariantFate;
use std::path::Path;

#[test]
fn loops_that_follow_one_another() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops/fusion.clif");
    let file = read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (without, with) = (optimiser(&["std"]), optimiser(&["std", "std.loops"]));
    let measured = measure(&file, [&without, &with], &options(true), clock::now).unwrap();
    let outcome = with.optimise(&file, &options(true), |_| true);
    for (n, row) in measured.rows.iter().enumerate() {
        assert!(row.same(), "{row:?}");
        let taken = |fate: &VariantFate| matches!(fate, VariantFate::Taken { .. });
        let variants = &outcome.statistics.outcome(n).unwrap().variants;
        let fused = variants.iter().filter(|v| matches!(v.change, Change::Fused(_)) && taken(&v.fate)).count();
        let [_, before, after] = [0, 1, 2].map(|version| row.made[version].executed.as_ref().unwrap().instructions);
        let wanted = [("%sum_and_max", 2), ("%scaled", 1), ("%one_further", 0)][n];
        assert_eq!((row.name.as_str(), fused), wanted, "{variants:?}");
        assert!(after < before, "{} {before} {after}", row.name);
    }
}
