//! Loops as equations: what the pack `std.loops` makes of functions, and that its rules, and only right ones, hold.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::hard_cases::Case;
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::parse::parse;
use rewright_cfg_skeleton::ir::text::print;
use rewright_clif::names::trap_code;
use rewright_dsl::diagnostic::Severity;
use rewright_dsl::load::{Origin, Root};
use rewright_dsl::program::Program;
use rewright_lab::generate::{Generator, Shape};
use rewright_packs as packs;
use rewright_pipeline::optimiser::{Fate, Optimiser, Options};
use rewright_verify::denotation::{DenotationReport, Laboratory, Limits};
use std::path::Path;

pub(super) const WITH_LOOPS: [&str; 2] = ["std", "std.loops"];

fn figure() -> Case {
    Case::with(&WITH_LOOPS, "loops/figure_11_1.clif")
}

#[test]
fn products_by_counters_become_sums() {
    let case = figure();
    case.becomes("livsr", "jump | icmp brif | bxor iadd iadd iadd jump | return");
    let inter = "jump | icmp brif | icmp brif | iadd bxor rotl iadd jump | iadd iadd jump | return";
    case.becomes("inter", inter);
}

#[test]
fn polynomials_are_factored_and_become_chains_of_sums() {
    let case = figure();
    case.becomes("poly", "imul iadd imul iadd return");
    case.becomes("square", "jump | icmp brif | bxor rotl iadd iadd iadd jump | return");
}

#[test]
fn any_counter_and_any_number_of_exits_will_do() {
    let case = figure();
    case.becomes("downward", "ineg imul imul jump | iadd jump | bxor iadd isub icmp brif | return");
    case.becomes("exits", "jump | iadd jump | bxor icmp brif | iadd icmp brif | return");
}

#[test]
fn a_counter_that_steps_in_one_arm_is_no_sum() {
    let form = "jump | icmp brif | ishl iadd bxor band brif | iadd jump | iadd iadd jump | return";
    figure().becomes("conditional", form);
}

pub(super) fn root(text: &str) -> Root {
    Root { origin: Origin::Disk("rules.rw".into()), text: text.into(), library: false }
}

pub(super) fn load(roots: Vec<Root>) -> Program {
    let loaded = packs::load(roots);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    loaded.program
}

/// Optimises the one function of a text with the rules of a pack, and gives its text.
fn optimised(program: Program, text: &str) -> String {
    let mut universe = program.universe.clone();
    let function = parse(text, &mut universe).unwrap().functions.remove(0);
    let optimiser = Optimiser::new(program, trap_code).unwrap();
    let batch = optimiser.optimise(std::slice::from_ref(&function), &universe, &Options::default());
    let one = &batch.outcomes[0];
    assert!(matches!(one.fate, Fate::Optimised), "{:?}", one.fate);
    print(&one.function, &universe)
}

#[test]
fn recurrences_over_types_of_ones_own() {
    let pack = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("loops/domain.rw")).unwrap();
    let text = optimised(
        load(vec![root(&pack)]),
        "func scales { b0(v0: M, v1: i64): v2: i64 = const 0 v3: i64 = const 1 jump b1(v2) b1(v4: i64):
         v5: i8 = icmp_slt{i64} v4, v1 br v5, b2, b3 b2: v6: M = mscale v0, v4 v7: i64 = use v6
         v8: i64 = iadd{i64} v4, v3 jump b1(v8) b3: return }",
    );
    assert_eq!((text.matches("mscale").count(), text.matches("madd").count()), (0, 1), "{text}");
}

#[test]
fn each_of_a_hundred_loops_is_known() {
    let pack = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("loops/domain.rw")).unwrap();
    let one = |n: usize| {
        let [header, body, exit, next] = [1, 2, 3, 4].map(|block| 3 * n + block);
        let [counter, test, scaled, used, counted] = [4, 5, 6, 7, 8].map(|value| 5 * n + value);
        format!(
            "b{header}(v{counter}: i64): v{test}: i8 = icmp_slt{{i64}} v{counter}, v1 br v{test}, b{body}, b{exit}
             b{body}: v{scaled}: M = mscale v0, v{counter} v{used}: i64 = use v{scaled}
             v{counted}: i64 = iadd{{i64}} v{counter}, v3 jump b{header}(v{counted}) b{exit}: jump b{next}(v2) "
        )
    };
    let loops: String = (0..100).map(one).collect();
    let begin = "b0(v0: M, v1: i64): v2: i64 = const 0 v3: i64 = const 1 jump b1(v2)";
    let text = format!("func scales {{ {begin} {loops} b301(v504: i64): return }}");
    let text = optimised(load(vec![root(&pack)]), &text);
    assert_eq!((text.matches("mscale").count(), text.matches("madd").count()), (0, 100), "{text}");
}

/// Three counters, one of them by a step of one's own; a product; what varies by itself; and arithmetic over all.
const COUNTERS: &str = "func f -> (i64) { b0(v0: i64, v1: i64, v2: i64): v3: i64 = const 0 v4: i64 = const 1
    v5: i64 = const 2 v6: i64 = const 6 v7: i64 = const 3 jump b1(v3, v0, v7, v1, v2)
    b1(v10: i64, v11: i64, v12: i64, v13: i64, v14: i64): v15: i8 = icmp_slt{i64} v10, v6 br v15, b2, b3
    b2: v20: i64 = imul{i64} v11, v1 v21: i64 = imul{i64} v11, v14 v22: i64 = iadd{i64} v11, v1
        v23: i64 = imul{i64} v11, v12 v24: i64 = ushr{i64,i64} v11, v4 v25: i64 = isub{i64} v1, v11
        v26: i64 = ineg{i64} v12 v27: i64 = ishl{i64,i64} v11, v5 v28: i64 = isub{i64} v11, v12
        v29: i64 = imul{i64} v13, v1
        v30: i64 = bxor{i64} v20, v21 v31: i64 = bxor{i64} v30, v22 v32: i64 = bxor{i64} v31, v23
        v33: i64 = bxor{i64} v32, v24 v34: i64 = bxor{i64} v33, v25 v35: i64 = bxor{i64} v34, v26
        v36: i64 = bxor{i64} v35, v27 v37: i64 = bxor{i64} v36, v28 v38: i64 = bxor{i64} v37, v29
        v40: i64 = iadd{i64} v10, v4 v41: i64 = iadd{i64} v11, v2 v45: i64 = imul{i64} v5, v2
        v42: i64 = iadd{i64} v12, v45 v43: i64 = imul{i64} v13, v2 v44: i64 = bxor{i64} v14, v38
        jump b1(v40, v41, v42, v43, v44)
    b3: return v14 }";

/// What the harness says of functions under the rules of packs.
pub(super) fn checked(program: Program, texts: &[&str]) -> Vec<DenotationReport> {
    let mut laboratory = Laboratory::new(program, trap_code).unwrap();
    let mut universe = laboratory.program().universe.clone();
    let functions: Vec<Function> =
        texts.iter().map(|text| parse(text, &mut universe).unwrap().functions.remove(0)).collect();
    laboratory.check(&functions, &universe, 1, 6, Limits::default()).unwrap()
}

#[test]
fn classes_of_loops_agree() {
    let nested = "func g -> (i64) { b0(v0: i64, v1: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 4
        jump b1(v2, v2) b1(v5: i64, v6: i64): v7: i8 = icmp_slt{i64} v5, v4 br v7, b2, b4
        b2: jump b3(v5, v6) b3(v8: i64, v9: i64): v10: i64 = imul{i64} v5, v1 v11: i64 = iadd{i64} v10, v8
        v12: i64 = imul{i64} v11, v11 v13: i64 = bxor{i64} v9, v12 v14: i64 = iadd{i64} v8, v3
        v15: i8 = icmp_slt{i64} v14, v4 br v15, b3(v14, v13), b5 b5: v16: i64 = iadd{i64} v5, v3
        jump b1(v16, v13) b4: return v6 }";
    let program = load(vec![packs::root(Path::new("std.loops")).unwrap()]);
    for report in checked(program, &[COUNTERS, nested]) {
        assert!(report.disagreements.is_empty(), "{}", report.disagreements[0]);
        assert!(report.comparisons > 2_000, "{}", report.comparisons);
    }
}

#[test]
fn classes_of_random_functions_agree() {
    let roots = WITH_LOOPS.map(|name| packs::root(Path::new(name)).unwrap());
    let mut laboratory = Laboratory::new(load(roots.into()), trap_code).unwrap();
    let universe = laboratory.program().universe.clone();
    let generator = Generator::new(&universe, trap_code("user1"));
    let function = |seed| {
        let mut f = generator.function(seed, Shape { depth: 4, ..Shape::default() });
        normalise(&mut f);
        f
    };
    let functions: Vec<Function> = (1_000..1_040).map(function).collect();
    let reports = laboratory.check(&functions, &universe, 1, 4, Limits { fuel: 5_000, visits: 4 }).unwrap();
    for (f, report) in functions.iter().zip(&reports) {
        let Some(d) = report.disagreements.first() else { continue };
        panic!("{d}\n{}", print(f, &universe));
    }
}

/// Wrong rules about what loops carry: a run refutes each. Those that bring what varies before its loop are not among
/// them: it has no value there, so nothing can be compared, or selected. `tests/verify/wrong/loops.rw` has one.
#[test]
fn wrong_rules_are_found() {
    let wrong = [
        ("first not scaled", "imul(sum(l, a, s), c) => sum(l, a, imul(s, c)) when enters(c, l), plain(s, l)"),
        ("moved into the step", "iadd(sum(l, a, s), c) => sum(l, a, iadd(s, c)) when enters(c, l), plain(s, l)"),
        (
            "multiplied without the product of the steps",
            "imul(sum(l, a, s), sum(l, b, t)) => sum(l, imul(a, b), iadd(imul(sum(l, a, s), t), imul(sum(l, b, t), s)))
             when plain(s, l), plain(t, l)",
        ),
        ("factored with a first value", "sum(l, a, imul(s, c)) => imul(c, sum(l, a, s)) when enters(c, l)"),
        ("closed with a step that varies", "sum(l, a, s) => iadd(a, imul(s, sum(l, 0, 1)))"),
        (
            "a shift to the right distributes",
            "ushr(sum(l, a, s), c) => sum(l, ushr(a, c), ushr(s, c)) when enters(c, l)",
        ),
        ("powers added", "product(l, a, s) => iadd(a, product(l, 1, s)) when enters(a, l)"),
    ];
    for (name, rule) in wrong {
        let vars: String = ["a", "s", "b", "t", "c"]
            .into_iter()
            .filter(|var| rule.contains(&format!("{var},")) || rule.contains(&format!("{var})")))
            .map(|var| format!(", {var}: i64"))
            .collect();
        let pack = format!(
            "pack wrong import std.core import std.loops import std.fold
             ruleset wrong {{ rule wrong(l: Loop{vars}): {rule} }}
             schedule default {{ repeat 2 {{ run std.loops.laws  run wrong  run std.fold.arithmetic }} }}"
        );
        // What varies in the step: a sum of a sum.
        let reports = checked(load(vec![root(&pack)]), &[COUNTERS, TRIANGLE]);
        assert!(reports.iter().any(|report| !report.disagreements.is_empty()), "{name}: nothing is found");
    }
}

const TRIANGLE: &str = "func t -> (i64) { b0(v0: i64): v1: i64 = const 0 v2: i64 = const 1 v3: i64 = const 5
    jump b1(v1, v0) b1(v4: i64, v5: i64): v6: i8 = icmp_slt{i64} v4, v3 v7: i64 = iadd{i64} v4, v2
    v8: i64 = imul{i64} v4, v3 v9: i64 = iadd{i64} v5, v8 br v6, b1(v7, v9), b2 b2: return v5 }";

/// Functions without loops are what they are without the pack.
#[test]
fn functions_without_loops_do_not_notice() {
    let optimisers = [&WITH_LOOPS[..1], &WITH_LOOPS].map(|names| {
        let roots = names.iter().map(|name| packs::root(Path::new(name)).unwrap()).collect();
        Optimiser::new(load(roots), trap_code).unwrap()
    });
    let universe = optimisers[0].program().universe.clone();
    let generator = Generator::new(&universe, trap_code("user1"));
    let (mut compared, mut seed) = (0, 5_000);
    while compared < 25 {
        let f = generator.function(seed, Shape { size: 25, ..Shape::default() });
        seed += 1;
        // A cycle that several edges enter may become a loop when edges go past blocks.
        let cfg = rewright_cfg_skeleton::ir::Cfg::new(&f);
        if cfg.loop_count() > 0 || f.layout.iter().any(|block| cfg.is_irreducible(*block)) {
            continue;
        }
        let [without, with] = [0, 1].map(|n: usize| {
            let universe = if n == 0 { universe.clone() } else { optimisers[n].program().universe.clone() };
            let batch = optimisers[n].optimise(std::slice::from_ref(&f), &universe, &Options::default());
            print(&batch.outcomes[0].function, &universe)
        });
        assert_eq!(without, with, "seed {}", seed - 1);
        compared += 1;
    }
}
