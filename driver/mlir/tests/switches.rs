//! What is assumed, and what is left of verdicts without it.

use rewright_cfg_skeleton::verdict::{Kind, Verdict};
use rewright_mlir::{Options, validate};

fn verdict(arguments: &str, [before, after]: [&str; 2], options: &Options) -> Verdict {
    let file = |body: &str| format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}\n");
    validate(&file(before), &file(after), options).functions[0].clone()
}

const ARGUMENTS: &str = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>";

/// Copies, and the same backwards.
const PAIR: [&str; 2] = [
    "affine.for %i = 0 to %n {
      %0 = affine.load %a[%i] : memref<?xf64>
      affine.store %0, %b[%i] : memref<?xf64>
    }",
    "affine.for %i = 0 to %n {
      %0 = affine.load %a[%n - 1 - %i] : memref<?xf64>
      affine.store %0, %b[%n - 1 - %i] : memref<?xf64>
    }",
];

#[test]
fn arrays_that_may_overlap_keep_the_order_of_accesses() {
    let options = Options { may_alias: vec![("%a".into(), "%b".into())], ..Options::default() };
    assert_eq!(verdict(ARGUMENTS, PAIR, &Options::default()).verdict, Kind::Proved);
    let found = verdict(ARGUMENTS, PAIR, &options);
    assert!(found.verdict == Kind::Unknown && found.to_string().contains("%a and %b may overlap"), "{found}");
    // Unrolled, the order is the same.
    let unrolled = "affine.for %i = 0 to 8 step 2 {
      %0 = affine.load %a[%i] : memref<?xf64>
      affine.store %0, %b[%i + 1] : memref<?xf64>
      %1 = affine.load %a[%i + 1] : memref<?xf64>
      affine.store %1, %b[%i + 2] : memref<?xf64>
    }";
    let rolled = "affine.for %i = 0 to 8 {
      %0 = affine.load %a[%i] : memref<?xf64>
      affine.store %0, %b[%i + 1] : memref<?xf64>
    }";
    let found = verdict(ARGUMENTS, [rolled, unrolled], &options);
    assert!(found.verdict == Kind::Proved && found.assumptions[0].contains("(but %a and %b may)"), "{found}");
    // Where both are one, what is stored is loaded again.
    let ahead = "affine.for %i = 0 to 8 step 2 {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = affine.load %a[%i + 1] : memref<?xf64>
      affine.store %0, %b[%i + 1] : memref<?xf64>
      affine.store %1, %b[%i + 2] : memref<?xf64>
    }";
    assert_eq!(verdict(ARGUMENTS, [rolled, ahead], &Options::default()).verdict, Kind::Proved);
    let found = verdict(ARGUMENTS, [rolled, ahead], &options);
    assert!(found.verdict == Kind::Refuted && found.to_string().contains("%a and %b are one array"), "{found}");
}

#[test]
fn bounds_say_something_only_where_they_are_assumed() {
    // In bounds, at most 8 iterations are there.
    let arguments = "%n: index, %a: memref<8xf64>, %x: f64";
    let pair = [
        "affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<8xf64> }",
        "affine.for %i = 0 to min affine_map<()[s] -> (s, 8)>()[%n] { affine.store %x, %a[%i] : memref<8xf64> }",
    ];
    assert_eq!(verdict(arguments, pair, &Options::default()).verdict, Kind::Proved);
    let options = Options { in_bounds: false, ..Options::default() };
    let found = verdict(arguments, pair, &options);
    assert!(found.verdict == Kind::Refuted, "{found}");
}

#[test]
fn overflow_is_excluded_by_sizes() {
    let pair = [
        "affine.for %i = 0 to %n { affine.store %x, %a[%i * 4] : memref<?xf64> }",
        "affine.for %i = 0 to affine_map<()[s] -> (s * 4)>()[%n] step 4 { affine.store %x, %a[%i] : memref<?xf64> }",
    ];
    let arguments = "%n: index, %a: memref<?xf64>, %x: f64";
    assert_eq!(verdict(arguments, pair, &Options::default()).verdict, Kind::Proved);
    let bits = Options { index_bits: Some(32), ..Options::default() };
    let found = verdict(arguments, pair, &bits);
    assert!(found.verdict == Kind::Unknown && found.to_string().contains("may overflow 32 bits"), "{found}");
    let small = Options { sizes: vec!["n <= 1000".parse().unwrap(), "n >= 0".parse().unwrap()], ..bits };
    let found = verdict(arguments, pair, &small);
    assert!(found.is_proved() && found.assumptions.iter().any(|a| a.contains("at least 32 bits")), "{found}");
}

#[test]
fn a_difference_names_both_statements() {
    let wrong = PAIR[0].replace("%b[%i]", "%b[%n - 1 - %i]");
    let found = verdict(ARGUMENTS, [PAIR[0], &wrong], &Options::default());
    let statements = found.counterexample.unwrap().statements;
    let shown: Vec<_> = statements.iter().map(|s| (s.line, s.iteration.clone(), s.text.clone().unwrap())).collect();
    assert!(
        shown.len() == 2
            && shown.iter().all(|(line, at, text)| *line == 4 && at.len() == 1 && text.starts_with("affine.store")),
        "{shown:?}"
    );
}

#[test]
fn a_condition_says_whether_it_is_exact() {
    let half =
        "affine.for %i = 0 to affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] { affine.store %x, %a[%i] : memref<?xf64> }
      affine.for %i = affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] to %n { affine.store %x, %a[%i] : memref<?xf64> }";
    let all = "affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf64> }";
    let found = verdict("%n: index, %a: memref<?xf64>, %x: f64", [all, half], &Options::default());
    assert_eq!((found.precondition.as_deref(), found.exact), (Some("%n >= 0"), Some(true)), "{found}");
    assert!(found.outside.is_some());
}

#[test]
fn products_of_sizes_are_taken_apart() {
    let nested =
        "affine.for %i = 0 to %n { affine.for %j = 0 to %m { affine.store %x, %a[%i, %j] : memref<?x?xf64> } }";
    let flat = "affine.for %z = 0 to affine_map<()[s, t] -> (s * t)>()[%n, %m] {
      %i = affine.apply affine_map<(d)[s] -> (d floordiv s)>(%z)[%m]
      %j = affine.apply affine_map<(d)[s] -> (d mod s)>(%z)[%m]
      affine.store %x, %a[%i, %j] : memref<?x?xf64>
    }";
    let arguments = "%n: index, %m: index, %a: memref<?x?xf64>, %x: f64";
    let found = verdict(arguments, [nested, flat], &Options::default());
    assert!(found.verdict == Kind::Proved && found.outside.is_some(), "{found}");
    let wrong = flat.replace("d mod s", "d mod s + 1");
    assert_eq!(verdict(arguments, [nested, &wrong], &Options::default()).verdict, Kind::Refuted);
}

/// A sum that an arm of a branch gives: its cell is read outside of the arm.
#[test]
fn a_carried_value_that_leaves_a_branch_is_not_lost() {
    let arguments = "%n: index, %a: memref<?xf64>, %b: memref<1xf64>, %x: f64";
    let body = |last: &str| {
        format!(
            "%r = affine.if affine_set<()[s] : (s - 3 >= 0)>()[%n] -> f64 {{
              %s = affine.for %i = 0 to %n iter_args(%c = %x) -> (f64) {{
                %0 = affine.load %a[%i] : memref<?xf64>
                %1 = arith.addf %c, %0 : f64
                affine.yield {last} : f64
              }}
              affine.yield %s : f64
            }} else {{
              affine.yield %x : f64
            }}
            affine.store %r, %b[0] : memref<1xf64>"
        )
    };
    let found = verdict(arguments, [&body("%1"), &body("%0")], &Options::default());
    assert_eq!(found.verdict, Kind::Refuted, "{found}");
    let found = verdict(arguments, [&body("%1"), &body("%1")], &Options::default());
    assert_eq!(found.verdict, Kind::Proved, "{found}");
    let sum = |from: &str, to: &str, init: &str, result: &str| {
        format!(
            "{result} = affine.for %i = {from} to {to} iter_args(%c = {init}) -> (f64) {{
              %0 = affine.load %a[%i] : memref<?xf64>
              %1 = arith.addf %c, %0 : f64
              affine.yield %1 : f64
            }}\n"
        )
    };
    let store = "affine.store %s, %b[0] : memref<1xf64>";
    let whole = sum("0", "%n", "%x", "%s") + store;
    let parts = sum("0", "4", "%x", "%r") + &sum("4", "%n", "%r", "%s") + store;
    let found = verdict(arguments, [&whole, &parts], &Options::default());
    assert!(found.verdict == Kind::Proved || found.verdict == Kind::Refuted, "{found}");
    let middle = "affine_map<()[s] -> (s floordiv 2)>()[%n]";
    let parts = sum("0", middle, "%x", "%r") + &sum(middle, "%n", "%r", "%s") + store;
    let found = verdict(arguments, [&whole, &parts], &Options::default());
    // Below zero, the middle is behind the end: neither half runs.
    assert!(found.is_proved(), "{found}");
    let wrong = sum("0", middle, "%x", "%r") + &sum(middle, "%n", "%x", "%s") + store;
    assert_eq!(verdict(arguments, [&whole, &wrong], &Options::default()).verdict, Kind::Refuted);
}
