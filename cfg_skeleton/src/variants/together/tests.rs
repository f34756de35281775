//! Loops that count in all ways do the same with several iterations behind one test.

use crate::ir::interp::Outcome;
use crate::ir::normalise::normalise;
use crate::ir::parse::parse;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function, LoopId};
use crate::testing::random::{Random, run_with};
use crate::testing::universe;
use crate::variants::check::check;
use crate::variants::tests::mutate;
use crate::variants::{Change, Proposal, changed, vary};
use rewright_typeprop::Universe;

/// A loop from v1 by `step` while `test` holds of v4, or of v7, the next one, and v2; it gives a sum over the counter, which tells
/// how often it has run. The test comes first or last.
fn counts(step: i64, test: &str, is_first: bool) -> String {
    let body = "  v5: i8 = imul{i8} v12, v10
  v6: i8 = iadd{i8} v5, v4
  v7: i8 = iadd{i8} v4, v11\n";
    let control = match is_first {
        true => format!(
            "b1(v4: i8, v12: i8):\n  v8: i8 = {test}\n  br v8, b2, b3\nb2:\n{body}  jump b1(v7, v6)\nb3:\n  return v12\n"
        ),
        false => format!("b1(v4: i8, v12: i8):\n{body}  v8: i8 = {test}\n  br v8, b1(v7, v6), b3\nb3:\n  return v6\n"),
    };
    format!(
        "func f -> (i8) {{
b0(v0: i64, v1: i8, v2: i8):
  v3: i8 = const 1
  v9: i8 = const 100
  v10: i8 = const 3
  v11: i8 = const {step}
  jump b1(v1, v3)
{control}}}"
    )
}

fn parsed(text: &str, universe: &mut Universe) -> Function {
    let mut f = parse(text, universe).unwrap_or_else(|e| panic!("{e:?}\n{text}")).functions.remove(0);
    normalise(&mut f);
    f
}

fn proposal(cfg: &Cfg, times: u64) -> Proposal {
    let header = cfg.natural_loop(LoopId(0)).header;
    Proposal { of: Some(LoopId(0)), header, change: Change::Together(times) }
}

/// Compares the loop and its variant from all places near the bound and the ends. Was there a variant?
fn compare(text: &str, times: u64, universe: &mut Universe) -> bool {
    let original = parsed(text, universe);
    let cfg = Cfg::new(&original);
    let proposal = proposal(&cfg, times);
    let Some(variant) = vary(&original, &cfg, universe, proposal).unwrap_or_else(|e| panic!("{e}\n{text}")) else {
        return false;
    };
    assert_same(&original, &variant, universe, text);
    true
}

/// From all places near the bound and the ends.
fn assert_same(original: &Function, variant: &Function, universe: &Universe, text: &str) {
    for bound in [-128i8, -126, -60, -1, 0, 1, 60, 126, 127] {
        let near = (-6..=6).flat_map(|by| [bound, -128].map(|place: i8| place.wrapping_add(by)));
        for first in near {
            let args = [0, i64::from(first), i64::from(bound)];
            let before = run_with(original, universe, &args, 3_000);
            if before.outcome != Outcome::OutOfFuel {
                let after = run_with(variant, universe, &args, 9_000);
                assert_eq!(before, after, "{first} {bound}\n{text}\n{}", print(variant, universe));
            }
        }
    }
}

#[test]
fn loops_that_count_do_the_same() {
    let mut universe = universe();
    let mut made = 0;
    for comparison in ["ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
        for (step, times) in [(1, 2), (1, 4), (-1, 3), (2, 4), (-3, 2), (5, 4), (40, 2), (-60, 2), (-128, 2)] {
            for (sides, is_first) in [("v4, v2", true), ("v2, v4", true), ("v7, v2", false), ("v4, v9", false)] {
                let text = counts(step, &format!("icmp_{comparison}{{i8}} {sides}"), is_first);
                made += usize::from(compare(&text, times, &mut universe));
            }
        }
    }
    assert!(made > 100, "{made}");
}

#[test]
fn a_counter_that_goes_to_zero() {
    let mut universe = universe();
    for step in [-1, 1, -2] {
        let text = counts(step, "icmp_ne{i8} v4, v2", true)
            .replace("v8: i8 = icmp_ne{i8} v4, v2\n", "")
            .replace("br v8", "br v4");
        assert!(compare(&text, 4, &mut universe), "{text}");
    }
}

/// One operand, constant, edge or instruction is wrong: it is rejected, or makes no difference.
#[test]
fn what_differs_is_rejected() {
    let mut universe = universe();
    let mut random = Random(11);
    let (mut rejected, mut accepted) = (0, 0);
    for (test, step, is_first) in [
        ("icmp_slt{i8} v4, v2", 1, true),
        ("icmp_ult{i8} v7, v2", 3, false),
        ("icmp_sgt{i8} v4, v9", -2, true),
        ("icmp_ne{i8} v7, v2", -1, false),
    ] {
        let text = counts(step, test, is_first);
        let original = parsed(&text, &mut universe);
        let cfg = Cfg::new(&original);
        let (variant, witness) = changed(&original, &cfg, &universe, proposal(&cfg, 3)).unwrap();
        for _ in 0..150 {
            let mut mutant = variant.clone();
            mutate(&mut mutant, &mut random);
            if !verify(&mutant, &universe).is_empty() || check(&original, &mutant, &universe, &witness).is_err() {
                rejected += 1;
            } else {
                accepted += 1;
                assert_same(&original, &mutant, &universe, &text);
            }
        }
    }
    assert!(rejected > 300 && accepted > 20, "{rejected} {accepted}");
}
