//! What the comparison sees, what it leaves out, and what random functions are made of.

use super::*;
use rewright_cfg_skeleton::ir::parse::parse;
use rewright_cfg_skeleton::ir::{Access, Cfg, Inst, InstKind, Terminator};
use rewright_packs as packs;
use std::path::Path;

fn clif() -> ClifOptimiser {
    let root = packs::root(Path::new(packs::DEFAULT)).unwrap();
    ClifOptimiser::new(packs::load(vec![root]).program).unwrap()
}

/// What comparing two functions on one call gives, and the report of it.
fn compare(results: &str, before: &str, after: &str, args: &[i64]) -> (Option<String>, FuzzReport) {
    let clif = clif();
    let mut universe = clif.optimiser.program().universe.clone();
    let mut function = |body: &str| {
        let text = format!("func f -> ({results}) {{ regions memory b0(v0: i64, v1: f64): {body} }}");
        let f = parse(&text, &mut universe).unwrap().functions.remove(0);
        assert_eq!(verify::verify(&f, &universe), []);
        f
    };
    let (before, after) = (function(before), function(after));
    let config = Config {
        part: &|_| true,
        clif: &clif,
        program: None,
        count: 1,
        seed: 0,
        shape: Shape::default(),
        options: Options::default(),
        progress: &|_| {},
        found: &|_| {},
    };
    let file = outside::file();
    let outside = Outside::new(&clif, &file);
    let universe = &clif.optimiser.program().universe;
    let mut tester =
        Tester { config: &config, universe, outside: &outside, worker: None, report: FuzzReport::default() };
    let call = Call { args: args.to_vec(), memory: vec![0; MEMORY_BYTES] };
    let difference = tester.compare(&before, &after, &[call], true, true);
    (difference.map(|d| d.text), tester.report)
}

const NAN: i64 = 0x7ff8_0000_0000_0001;
/// `v2 = v1 - v1`, which is some NaN where v1 is infinite.
const MINUS: &str = "v2: f64 = fsub{f64} v1, v1";

fn infinity() -> i64 {
    f64::INFINITY.to_bits() as i64
}

#[test]
fn a_nan_of_arithmetic_is_any_nan() {
    let (difference, report) =
        compare("f64", &format!("{MINUS} return v2"), &format!("v2: f64 = const {NAN} return v2"), &[infinity()]);
    assert_eq!(difference, None);
    assert_eq!((report.interpreted, report.nan_dependent), (1, 0), "a float result is compared up to NaN");
    // No NaN before: a NaN after is a difference.
    let (difference, _) =
        compare("f64", &format!("{MINUS} return v2"), &format!("v2: f64 = const {NAN} return v2"), &[0]);
    assert!(difference.unwrap().starts_with("result 0 is 0 before"));
}

#[test]
fn what_depends_on_the_bits_of_a_nan_is_counted_and_left_out() {
    let before = format!("{MINUS} v3: i64 = bitcast{{f64, i64}} v2 return v3, v0");
    let bits = |n: i64, second: &str| format!("v3: i64 = const {n} v4: i64 = const 5 return v3, {second}");
    let (difference, report) = compare("i64, i64", &before, &bits(NAN, "v0"), &[infinity()]);
    assert_eq!(difference, None);
    assert_eq!((report.interpreted, report.nan_dependent), (1, 1));
    // Where no NaN comes up, every bit counts.
    let (difference, report) = compare("i64, i64", &before, &bits(1, "v0"), &[0]);
    assert!(difference.unwrap().starts_with("result 0 is 0 before and 1 after"));
    assert_eq!(report.nan_dependent, 0);
    let (difference, _) = compare("i64, i64", &before, &bits(0, "v4"), &[0]);
    assert!(difference.unwrap().starts_with("result 1 is"));
}

#[test]
fn memory_and_control_that_depend_on_a_nan_are_left_out() {
    let at = "v5: i64 = const 8 v6: i64 = const 16";
    let before = format!("{MINUS} {at} store{{f64}} v0, v2, v5 @region0 store{{i64}} v0, v0, v6 @region0 return v0");
    let stores = |n: i64, second: &str| {
        format!(
            "v2: f64 = const {n} {at} store{{f64}} v0, v2, v5 @region0 store{{i64}} v0, {second}, v6 @region0 return v0"
        )
    };
    let (difference, report) = compare("i64", &before, &stores(NAN, "v0"), &[infinity()]);
    assert_eq!((difference, report.nan_dependent), (None, 1));
    let (difference, _) = compare("i64", &before, &stores(0, "v5"), &[0]);
    assert!(difference.unwrap().starts_with("byte 1"), "without a NaN all bytes are compared");
    // Three NaNs give three addresses; the one that compiled code makes may give a fourth.
    let store = |address: &str| {
        format!(
            "{MINUS} v3: i64 = bitcast{{f64, i64}} v2 v4: i64 = const 7 v5: i64 = band{{i64}} v3, v4 {address}
                 v7: i64 = const 0 v8: i8 = const 1 store{{i8}} v6, v8, v7 @region0 return v0"
        )
    };
    let (before, after) = (store("v6: i64 = iadd{i64} v0, v5"), store("v6: i64 = iadd{i64} v0, v4"));
    let (difference, report) = compare("i64", &before, &after, &[infinity()]);
    assert_eq!((difference, report.nan_dependent), (None, 1));
    let (difference, _) = compare("i64", &before, &after, &[0]);
    assert!(difference.is_some());
    let branch = format!(
        "{MINUS} v3: i64 = bitcast{{f64, i64}} v2 v4: i64 = const 0 v7: i8 = icmp_slt{{i64}} v3, v4
         br v7, b1, b2 b1: trap 1 b2: return v0"
    );
    let (difference, report) = compare("i64", &branch, "trap 1", &[infinity()]);
    assert_eq!((difference, report.nan_dependent), (None, 1));
    let (difference, report) = compare("i64", &branch, "trap 1", &[0]);
    assert!(difference.is_some());
    assert_eq!(report.nan_dependent, 0);
}

#[test]
fn random_functions_hold_everything() {
    let clif = clif();
    let universe = &clif.optimiser.program().universe;
    let file = outside::file();
    let outside = Outside::new(&clif, &file);
    let mut generator = Generator::new(universe, trap_code("heap_oob"));
    generator.add_opaque(&outside.prototypes);
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut payloads = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let f = generator.function(seed, Shape::default());
        assert_eq!(verify::verify(&f, universe), []);
        let cfg = Cfg::new(&f);
        let mut note = |what, holds: bool| *seen.entry(what).or_default() += u32::from(holds);
        note("nested loops", cfg.loops().any(|(_, l)| l.depth > 1));
        note("irreducible", f.layout.iter().any(|b| cfg.is_irreducible(*b)));
        note("branch", f.blocks.iter().any(|b| matches!(b.term, Terminator::Branch { .. })));
        note("switch", f.blocks.iter().any(|b| matches!(b.term, Terminator::Switch { .. })));
        note("regions", f.insts.iter().any(|i| access(i).is_some_and(|a| a.region.0 > 0)));
        let pointer = f.block(f.entry()).params[0];
        note("computed address", f.insts.iter().any(|i| access(i).is_some() && i.args[0] != pointer));
        note("constant offset", f.insts.iter().any(|i| access(i).is_some() && i.args[0] == pointer));
        note("check", f.insts.iter().any(|i| matches!(i.kind, InstKind::Check { .. })));
        for inst in &f.insts {
            match &inst.kind {
                InstKind::Opaque { payload, .. } => _ = payloads.insert(*payload),
                InstKind::Op { .. } if !inst.results.is_empty() => {
                    let scalar = universe.types.scalar(f.ty(inst.results[0]));
                    note("float", matches!(scalar, Some(Scalar::F32 | Scalar::F64)));
                }
                _ => {}
            }
        }
    }
    for (what, count) in &seen {
        assert!(*count >= 10, "{what}: {count} of 200; {seen:?}");
    }
    assert_eq!(payloads.len(), 8, "every call and every opaque instruction");
}

fn access(inst: &Inst) -> Option<Access> {
    match inst.kind {
        InstKind::Op { access, .. } => access,
        _ => None,
    }
}
