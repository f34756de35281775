//! What costs, profiles and counts change in the CLIF that goes out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::{read_bytes, write};
use rewright_dsl::program::Program;
use rewright_packs as packs;
use rewright_pipeline::costs::model;
use rewright_pipeline::optimiser::Options;
use rewright_project::costs::{CostFile, Costs};
use std::path::Path;

fn program() -> Program {
    packs::load(vec![packs::root(Path::new("std")).unwrap()]).program
}

fn costs(text: &str) -> Costs {
    serde_json::from_str::<CostFile>(&format!("{{\"costs\": {text}}}")).unwrap().costs
}

/// What comes of a function of CLIF under costs.
fn emitted(text: &str, costs: &Costs, profile: Option<&str>) -> String {
    let program = program();
    let cost = model(costs, profile, &program.universe).unwrap();
    let clif = ClifOptimiser::new(program).unwrap();
    let file = read_bytes(text.as_bytes()).unwrap();
    let mut options = Options::default();
    options.select.cost = cost;
    let outcome = clif.optimise(&file, &options, |_| true);
    let replaced: Vec<_> = outcome.replaced.iter().map(Option::as_ref).collect();
    write(&file, &replaced)
}

#[test]
fn a_division_is_multiplied_out_unless_code_is_to_be_small() {
    let text =
        "function %f(i64) -> i64 {\nblock0(v0: i64):\n    v1 = iconst.i64 7\n    v2 = udiv v0, v1\n    return v2\n}\n";
    let plain = Costs::default();
    assert!(emitted(text, &plain, None).contains("umulhi"));
    assert!(emitted(text, &plain, Some("latency")).contains("umulhi"));
    assert!(emitted(text, &plain, Some("size")).contains("udiv"));
    // A user whose multiplier is slow.
    assert!(emitted(text, &costs(r#"{ "operations": { "umulhi": 400 } }"#), None).contains("udiv"));
}

#[test]
fn what_only_rare_blocks_need_is_computed_there_each_time() {
    let arms = |mark: &str| {
        format!(
            "function %f(i64, i64, i64) -> i64 {{\nblock0(v0: i64, v1: i64, v2: i64):\n    v3 = imul v0, v0\n    brif \
             v1, \
             block1, block2\n\nblock1{mark}:\n    return v3\n\nblock2:\n    brif v2, block3, block4\n\n\
             block3{mark}:\n    return v3\n\nblock4:\n    return v0\n}}\n"
        )
    };
    let products = |mark| emitted(&arms(mark), &Costs::default(), None).matches("imul").count();
    assert_eq!([products(""), products(" cold")], [1, 2]);
}

#[test]
fn a_loop_weighs_as_often_as_it_counts() {
    let program = program();
    let clif = ClifOptimiser::new(program).unwrap();
    let cost = |bound: &str| {
        let text = format!(
            "function %f(i64) -> i64 {{\nblock0(v0: i64):\n    v1 = iconst.i64 0\n    jump block1(v1)\n\n\
             block1(v2: i64):\n    v5 = iconst.i64 1\n    v6 = iconst.i64 {bound}\n    v3 = iadd v2, v5\n    v4 = \
             icmp ult v3, v6\n    \
             brif v4, block1(v3), block2\n\nblock2:\n    return v3\n}}\n"
        );
        let file = read_bytes(text.as_bytes()).unwrap();
        let imported = clif.import(&file, 0).unwrap();
        clif.optimiser.cost_of(&imported.function, &clif.optimiser.program().universe, &Options::default())
    };
    let [one, two, thousand] = ["1", "2", "1000"].map(cost);
    assert_eq!(thousand - one, 999 * (two - one));
}
