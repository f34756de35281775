//! `validate` of loops of CLIF: what compilers make of them is proved, and what they must not make of them never is.

use super::report;
use crate::ran::rewright;
use std::path::Path;

/// `function: verdict` for each function of two files beside this one.
fn verdicts(name: &str) -> Vec<(String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/validate/loops");
    let found = report(&rewright(&dir, &format!("validate {name}.before.clif {name}.after.clif --format json")));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    found["functions"].as_array().unwrap().iter().map(|f| (text(&f["function"]), text(&f["verdict"]))).collect()
}

/// Moved out of loops, rotated, peeled, unrolled, widened, strength-reduced.
#[test]
fn changed_loops_are_proved() {
    let open: Vec<(String, String)> = verdicts("same").into_iter().filter(|(_, verdict)| verdict != "proved").collect();
    assert_eq!(open, []);
}

/// Other bounds, starts and steps; stores that are swapped, dropped and sunk; loops that no longer end, and endless ones
/// that are gone; traps and loads that are moved too far.
#[test]
fn other_loops_are_never_proved() {
    let all = verdicts("other");
    let open = |verdict: &str| all.iter().filter(|(_, said)| said == verdict).map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(open("proved"), [""; 0]);
    // Runs do not meet the difference, or do not end.
    let unseen = ["%never_ends", "%inf_removed", "%unroll2_swap", "%widen_u", "%load_hoisted_store"];
    assert_eq!(open("tested"), unseen);
    assert_eq!(open("unknown"), ["%inf_made", "%fin_to_inf"]);
}
