//! What is decided is true, of all pairs of 8-bit integers.

use super::Decided;
use crate::ir::interp::Outcome;
use crate::ir::parse::parse;
use crate::ir::{BlockId, Cfg, Function, Terminator};
use crate::testing::random::{Random, run_with};
use crate::testing::universe;
use rewright_typeprop::Universe;

const COMPARISONS: [&str; 10] = [
    "icmp_eq", "icmp_ne", "icmp_slt", "icmp_sle", "icmp_sgt", "icmp_sge", "icmp_ult", "icmp_ule", "icmp_ugt",
    "icmp_uge",
];

/// `b1`, and `b2` likewise, test v1 plus something against v2 or a constant; `known` tells what is above them.
fn function(known: &str, ahead: i64, tested: &str, universe: &mut Universe) -> Function {
    let below = |then: &str, x: &str, y: &str| {
        format!("  {x}: i8 = iadd{{i8}} v0, v4\n  {y}: i8 = {}\n  br {y}, {then}\n", tested.replace("here", x))
    };
    let text = format!(
        "func f -> (i8) {{\nb0(v0: i8, v1: i8):\n  v2: i8 = const 0\n  v3: i8 = const 1\n  v4: i8 = const {ahead}\n{known}
           br v20, b1, b2\nb1:\n{}b2:\n{}b3:\n  return v2\nb4:\n  return v3\n}}",
        below("b3, b4", "v30", "v31"),
        below("b3, b4", "v40", "v41"),
    );
    parse(&text, universe).unwrap_or_else(|e| panic!("{e:?}\n{text}")).functions.remove(0)
}

/// By first operand, of those around both ends and the second operand: does the test of a block come out so that the function
/// gives 0? Nothing is said where the function does not come to the block.
fn outcomes(f: &Function, universe: &Universe, block: BlockId, n: i8) -> Vec<bool> {
    let mut only = f.clone();
    let other = BlockId(3 - block.0);
    only.blocks[other.index()].term = Terminator::Trap { code: 1 };
    let around = |place: i8| (-6..=6).map(move |by| place.wrapping_add(by));
    let firsts = [n, 0, i8::MIN].into_iter().flat_map(around);
    let ends = firsts.map(|first| run_with(&only, universe, &[i64::from(first), i64::from(n)], 100).outcome);
    ends.filter_map(|end| if let Outcome::Return(values) = end { Some(values[0] == 0) } else { None }).collect()
}

#[test]
fn what_is_decided_is_true() {
    let mut universe = universe();
    let mut random = Random(7);
    let mut decided = [0, 0];
    for _ in 0..8_000 {
        let small = |random: &mut Random| [0, 1, 2, 3, 5, 8, -1, -2, -3, 100, -128, 127][random.below(12)];
        let (near, by, at) = (small(&mut random), small(&mut random), small(&mut random));
        let (limit, back) = [("smax", "isub"), ("umax", "isub"), ("smin", "iadd"), ("umin", "iadd")][random.below(4)];
        // Mostly what the last number allows.
        let last = match (limit, random.below(4)) {
            (_, 0) => small(&mut random),
            ("smax", _) => (-128 + by) as i8 as i64,
            ("smin", _) => (127 - by) as i8 as i64,
            ("umin", _) => (-1 - by) as i8 as i64,
            _ => by,
        };
        let comparison = COMPARISONS[random.below(COMPARISONS.len())];
        let nearer = format!(
            "  v10: i8 = const {last}\n  v11: i8 = {limit}{{i8}} v1, v10\n  v12: i8 = const {by}\n  v13: i8 = {back}{{i8}} v11, v12\n"
        );
        let known = match random.below(5) {
            0 => format!("  v10: i8 = const {near}\n  v20: i8 = {comparison}{{i8}} v0, v10\n"),
            1 => format!("{nearer}  v20: i8 = {comparison}{{i8}} v13, v0\n"),
            2 => format!("{nearer}  v20: i8 = {comparison}{{i8}} v0, v13\n"),
            3 => format!(
                "  v10: i8 = const {by}\n  v11: i8 = isub{{i8}} v1, v0\n  v20: i8 = {comparison}{{i8}} v11, v10\n"
            ),
            _ => format!(
                "  v10: i8 = const {by}\n  v11: i8 = isub{{i8}} v0, v1\n  v20: i8 = {comparison}{{i8}} v10, v11\n"
            ),
        };
        let other = COMPARISONS[random.below(COMPARISONS.len())];
        let bound = ["v1", "v1", "v3"][random.below(3)];
        let tested = match random.below(3) {
            0 => format!("{other}{{i8}} {bound}, here"),
            _ => format!("{other}{{i8}} here, {bound}"),
        };
        let f = function(&known, at, &tested, &mut universe);
        let cfg = Cfg::new(&f);
        let found = Decided::new(&f, &cfg, &universe);
        for block in [BlockId(1), BlockId(2)] {
            let Terminator::Branch { cond, .. } = f.block(block).term else { panic!() };
            let Some(outcome) = found.outcome(block, cond) else { continue };
            decided[usize::from(outcome)] += 1;
            for n in [-128, -127, -126, -100, -3, -2, -1, 0, 1, 2, 3, 5, 8, 99, 125, 126, 127] {
                let all = outcomes(&f, &universe, block, n);
                assert!(all.iter().all(|holds| *holds == outcome), "{outcome} {n}: {known}{at} {tested}");
            }
        }
    }
    assert!(decided.iter().all(|n| *n > 50), "{decided:?}");
}
