//! Two loops: one after the other, as one; one in the other, the other way round.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::variants::{optimiser, options};
use rewright_cfg_skeleton::variants::Change;
use rewright_clif::read::read;
use rewright_extract::clock;
use rewright_lab::loops::measure;
use rewright_pipeline::optimiser::VariantFate;
use std::path::Path;

/// Optimises a story of `tests/loops`: how many variants of a kind each of its functions takes.
fn story(name: &str, is_of_kind: fn(Change) -> bool, wanted: &[(&str, usize)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops").join(name);
    let file = read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (without, with) = (optimiser(&["std"]), optimiser(&["std", "std.loops"]));
    let measured = measure(&file, [&without, &with], &options(true), clock::now).unwrap();
    let outcome = with.optimise(&file, &options(true), |_| true);
    assert_eq!(measured.rows.len(), wanted.len());
    for (n, row) in measured.rows.iter().enumerate() {
        assert!(row.same(), "{row:?}");
        let taken = |fate: &VariantFate| matches!(fate, VariantFate::Taken { .. });
        let variants = &outcome.statistics.outcome(n).unwrap().variants;
        let of_kind = variants.iter().filter(|v| is_of_kind(v.change) && taken(&v.fate)).count();
        let [_, before, after] = [0, 1, 2].map(|version| row.made[version].executed.as_ref().unwrap().instructions);
        assert_eq!((row.name.as_str(), of_kind), wanted[n], "{variants:?}");
        assert!(after < before, "{} {before} {after}", row.name);
    }
}

#[test]
fn loops_that_follow_one_another() {
    let is_fused = |change| matches!(change, Change::Fused(_));
    story("fusion.clif", is_fused, &[("%sum_and_max", 2), ("%scaled", 1), ("%one_further", 0)]);
}

#[test]
fn loops_around_loops() {
    let is_interchanged = |change| matches!(change, Change::Interchanged(_));
    let wanted = [("%columns", 2), ("%product", 1), ("%greatest", 1), ("%across", 0)];
    story("interchange.clif", is_interchanged, &wanted);
}
