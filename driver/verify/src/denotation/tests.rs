//! Right graphs agree on all runs; wrong unions are found.

use super::*;
use rewright_cfg_skeleton::egraph::{Application, InputId};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::parse::parse;
use rewright_cfg_skeleton::skeleton::build::build;
use rewright_cfg_skeleton::testing::random::{self, Random};
use rewright_cfg_skeleton::testing::{trap_code, universe, view};
use rewright_typeprop::RuleId;

const ADDRESS: i64 = 1 << 16;

/// Inputs of functions whose first parameter is an address.
fn inputs(seed: u64, count: u64) -> Vec<Input> {
    let mut random = Random(seed);
    let mut memory = Memory::default();
    memory.add(ADDRESS as u64, (0..64).collect());
    let args = |r: &mut Random| vec![ADDRESS, i64::from(r.draw() as i32) >> r.below(32), r.below(5) as i64 - 1];
    (0..count).map(|seed| Input { args: args(&mut random), memory: memory.clone(), seed }).collect()
}

fn skeleton_of(f: &Function, u: &Universe) -> Skeleton {
    build(f, &Cfg::new(f), u, &trap_code)
}

fn function(u: &mut Universe, body: &str) -> Function {
    let text = format!("func f -> (i32) {{ regions a, b b0(v0: i64, v1: i32, v2: i32): {body} }}");
    let f = parse(&text, u).unwrap().functions.remove(0);
    assert_eq!(rewright_cfg_skeleton::ir::verify::verify(&f, u), []);
    f
}

fn input_of(skeleton: &Skeleton, v: u32) -> InputId {
    skeleton.value_input[v as usize].unwrap()
}

/// Unites the nodes of two values, and gives what the harness says.
fn unite(body: &str, a: u32, b: u32) -> DenotationReport {
    let mut u = universe();
    let f = function(&mut u, body);
    let skeleton = skeleton_of(&f, &u);
    let view = view(&skeleton.input, &[(input_of(&skeleton, a), input_of(&skeleton, b))]);
    check(&f, &u, &skeleton, &view, &inputs(1, 10), Limits::default())
}

#[test]
fn graphs_without_rules_agree() {
    let u = universe();
    let mut comparisons = 0;
    for seed in 0..400 {
        let mut f = random::function(seed, 12, &u);
        if seed % 2 == 0 {
            normalise(&mut f);
        }
        let skeleton = skeleton_of(&f, &u);
        let view = skeleton.input.unsaturated();
        let report = check(&f, &u, &skeleton, &view, &inputs(seed, 4), Limits { fuel: 300, visits: 4 });
        let text = || rewright_cfg_skeleton::ir::text::print(&f, &u);
        assert!(report.disagreements.is_empty(), "{}\n{}", report.disagreements[0], text());
        comparisons += report.comparisons;
    }
    assert!(comparisons > 10_000, "{comparisons}");
}

#[test]
fn wrong_unions_are_found() {
    let u = universe();
    let (mut tried, mut found) = (0, 0);
    for seed in 0..200 {
        let f = random::function(seed, 8, &u);
        let skeleton = skeleton_of(&f, &u);
        let params = &f.block(f.entry()).params;
        let pair = (input_of(&skeleton, params[1].0), input_of(&skeleton, params[2].0));
        let view = view(&skeleton.input, &[pair]);
        let report = check(&f, &u, &skeleton, &view, &inputs(seed, 3), Limits { fuel: 300, visits: 4 });
        tried += u64::from(report.visits > 0);
        found += u64::from(!report.disagreements.is_empty());
    }
    assert!(tried > 100);
    assert_eq!(found, tried);
}

#[test]
fn values_that_are_equal_may_be_united() {
    let report = unite("v3: i32 = iadd{i32} v1, v2 v4: i32 = iadd{i32} v2, v1 return v3", 3, 4);
    assert_eq!(report.disagreements, []);
    let report = unite("v3: i32 = iadd{i32} v1, v2 v4: i32 = isub{i32} v1, v2 return v3", 3, 4);
    assert_eq!(report.disagreements.len(), 1, "congruent classes would follow the deepest one");
    // In a loop: v4 counts up, v5 twice as fast, and they start equal.
    let looping = |step: u32| {
        format!(
            "v3: i32 = const 1 v9: i32 = const {step} v10: i32 = const 9 jump b1(v3, v3) b1(v4: i32, v5: i32):
             v6: i32 = iadd{{i32}} v4, v3 v7: i32 = iadd{{i32}} v5, v9 v8: i8 = icmp_ult{{i32}} v6, v10
             br v8, b1(v6, v7), b2 b2: return v4"
        )
    };
    assert_eq!(unite(&looping(1), 4, 5).disagreements, []);
    assert!(!unite(&looping(2), 4, 5).disagreements.is_empty());
}

#[test]
fn what_must_not_vary_is_followed_through_its_loop() {
    // In the first iteration the counter is what it is said to be in all of them.
    let body = "v3: i32 = const 1 v9: i32 = const 9 jump b1(v3) b1(v4: i32): v5: i32 = iadd{i32} v4, v3
                v6: i8 = icmp_ult{i32} v5, v9 br v6, b1(v5), b2 b2: return v4";
    let report = unite(body, 4, 3);
    let first = &report.disagreements[0];
    assert_eq!((first.first, first.second), (Witness::Earlier(Value(4)), Witness::Value(Value(4))));
    assert_eq!(first.values, ["1", "2"]);
}

#[test]
fn states_are_compared() {
    // Storing what is there changes nothing; storing something else does.
    let body = "v3: i64 = const 8 v4: i32 = load{i32} v0, v3 @region0 store{i32} v0, v4, v3 @region0
                store{i32} v0, v1, v3 @region0 return v4";
    let mut u = universe();
    let f = function(&mut u, body);
    let skeleton = skeleton_of(&f, &u);
    let row = skeleton.live.iter().find(|r| r.iter().any(|s| *s != r[0])).unwrap();
    let mut states: Vec<InputId> = row.clone();
    states.dedup();
    assert_eq!(states.len(), 3);
    let disagreements = |a: usize, b: usize| {
        let view = view(&skeleton.input, &[(states[a], states[b])]);
        check(&f, &u, &skeleton, &view, &inputs(1, 3), Limits::default()).disagreements
    };
    assert_eq!(disagreements(0, 1), []);
    assert!(!disagreements(1, 2).is_empty());
    assert!(!disagreements(0, 2).is_empty());
}

#[test]
fn regions_do_not_disturb_each_other() {
    // Two regions, one behind the other; the second store to region 1 repeats the first.
    let body = "v3: i64 = const 8 v4: i64 = const 32 store{i32} v0, v1, v3 @region1 store{i32} v0, v2, v4 @region2
                store{i32} v0, v1, v3 @region1 v5: i32 = load{i32} v0, v3 @region1 return v5";
    let mut u = universe();
    let f = function(&mut u, body);
    let skeleton = skeleton_of(&f, &u);
    let mut states = skeleton.live[1].clone();
    states.dedup();
    assert_eq!(states.len(), 3);
    let disagreements = |a: usize, b: usize| {
        let view = view(&skeleton.input, &[(states[a], states[b])]);
        check(&f, &u, &skeleton, &view, &inputs(1, 3), Limits::default()).disagreements
    };
    assert_eq!(disagreements(1, 2), []);
    assert!(!disagreements(0, 1).is_empty());
}

#[test]
fn reports_name_the_rules_of_the_class() {
    let mut u = universe();
    let f = function(&mut u, "v3: i32 = isub{i32} v1, v2 return v3");
    let skeleton = skeleton_of(&f, &u);
    let mut view = view(&skeleton.input, &[(input_of(&skeleton, 1), input_of(&skeleton, 3))]);
    let class = view.class_of(input_of(&skeleton, 3));
    view.applications.push(Application { rule: RuleId(7), class });
    let report = check(&f, &u, &skeleton, &view, &inputs(1, 3), Limits::default());
    assert_eq!(report.disagreements[0].rules, [RuleId(7)]);
    assert!(report.disagreements[0].to_string().ends_with("(rules [7])"));
}
