//! Both sides of rules as compiled code, beside the evaluator.

use super::{pack, rewright, verify, wrong};
use serde_json::Value;
use std::fs;

/// What compiled code said at each type instance of a rule.
fn compiled(rule: &Value) -> Vec<&Value> {
    rule["instances"].as_array().unwrap().iter().map(|i| &i["compiled"]).collect()
}

/// Wherever the evaluator finds a rule wrong, its code is wrong, too.
#[test]
fn compiled_code_refutes_wrong_rules() {
    for name in ["integers.rw", "larger.rw", "trackers.rw"] {
        for rule in &verify(&wrong(name), &[]).0 {
            let refuted = |c: &&Value| c["same"]["differing"].as_u64().is_some_and(|n| n > 0);
            assert!(compiled(rule).iter().any(refuted), "{rule:#}");
        }
    }
}

/// Words, 128-bit integers, vectors, floats of all kinds, truths, what is computed while matching, and what is derived.
#[test]
fn right_rules_are_right_in_compiled_code() {
    let (_folder, path) = pack(
        "right",
        "  rule words{T <: Int}(x: T, y: T): isub(iadd(x, y), y) => x\n\
         \x20 rule wide(x: i128, y: i128): isub(iadd(x, y), y) => x\n\
         \x20 rule lanes(x: i32x4, y: i32x4): isub(iadd(x, y), y) => x\n\
         \x20 rule floats{F <: Float}(x: F): fneg(fneg(x)) => x\n\
         \x20 rule nans{F <: Float}(x: F, y: F): fmul(x, y) => fmul(fneg(x), fneg(y))\n\
         \x20 rule truths{T <: Int}(x: T): truth(ineg(x)) => truth(x)\n\
         \x20 rule divides{T <: Int}(x: T): udiv(x, 8) => ushr{T, T}(x, 3)\n\
         \x20 dynamic rule computed{T <: Int}(const x: T, const n: i64): ishl{T, i64}(x, n) =>\n\
         \x20   ishl{T, i64}(x, eval(shift_amount(x, n)))\n\
         \x20 rule derived{T <: Int}(x: T): band(x, signed_max(x)) => ushr{T, T}(ishl{T, T}(x, 1), 1)\n",
    );
    let (rules, code) = verify(&path, &[]);
    assert_eq!((rules.len(), code), (9, Some(0)), "{rules:#?}");
    for (rule, compiled) in rules.iter().flat_map(|rule| compiled(rule).into_iter().map(move |c| (rule, c))) {
        assert_eq!(compiled["same"]["differing"], 0, "{rule:#}");
        assert!(compiled["same"]["values"].as_u64().unwrap() > 40, "{rule:#}");
    }
}

/// An operation that is compiled as something else than it means is found by any rule about it, and is no fault of the
/// rule's.
#[test]
fn meanings_that_are_not_compiled_are_found() {
    let (_folder, path) = pack("odd", "  rule none{T <: Int}(x: T): oddly(x, x) => 0\n");
    let declared = "@clif(\"iadd\")\n@model(\"sub\")\nfn oddly{T <: Int}(x: T, y: T) -> T  pure  cost 3\n";
    let text = fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once("\nruleset").unwrap();
    fs::write(&path, format!("{before}{declared}\nruleset{after}")).unwrap();
    let (rules, code) = verify(&path, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(rules[0]["verdict"], "equal", "a disagreement is no verdict");
    let what = compiled(&rules[0])[2]["other"].as_str().unwrap();
    assert!(what.starts_with("the left side is 0x0, compiled 0x") && what.contains("where x = "), "{what}");
    let (_, stderr, code) = rewright(&["verify", path.to_str().unwrap(), "--no-cache"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("RW0705") && stderr.contains("not what its operations mean"), "{stderr}");
}

/// Rules that cannot be compiled are reported, and counted.
#[test]
fn what_is_not_run_is_counted() {
    let (stdout, _, _) = rewright(&["verify", wrong("memory.rw").to_str().unwrap(), "--no-cache"]);
    assert!(stdout.contains("not run: it is about memory"), "{stdout}");
}
