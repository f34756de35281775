//! Right versions made wrong in one place: none is proved.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, validate};

/// What is known, and whether a proof has a precondition.
type Outcome = (Kind, bool);
const PROVED: Outcome = (Kind::Proved, false);
const PROVED_IF: Outcome = (Kind::Proved, true);
const REFUTED: Outcome = (Kind::Refuted, false);

/// Right pairs: a smoothing step in place of a loop nest, tiled, with a buffer, and unrolled.
const PAIRS: [(&str, &str); 3] = [
    (
        "func.func @smooth(%n: index, %m: index, %p: memref<?x32xf64>, %q: memref<?x32xf64>) {
          affine.for %i = 0 to %n {
            affine.for %j = 1 to 31 {
              %0 = affine.load %p[%i, %j - 1] : memref<?x32xf64>
              %1 = affine.load %p[%i, %j + 1] : memref<?x32xf64>
              %2 = arith.subf %0, %1 : f64
              affine.store %2, %q[%i, %j] : memref<?x32xf64>
            }
          }
          return
        }",
        "func.func @smooth(%n: index, %m: index, %p: memref<?x32xf64>, %q: memref<?x32xf64>) {
          affine.for %j = 1 to 31 step 6 {
            affine.for %i = 0 to %n {
              affine.for %k = affine_map<(d) -> (d)>(%j) to affine_map<(d) -> (d + 6)>(%j) {
                %0 = affine.load %p[%i, %k - 1] : memref<?x32xf64>
                %1 = affine.load %p[%i, %k + 1] : memref<?x32xf64>
                %2 = arith.subf %0, %1 : f64
                affine.store %2, %q[%i, %k] : memref<?x32xf64>
              }
            }
          }
          return
        }",
    ),
    (
        "func.func @prefix(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
          affine.for %i = 1 to %n {
            %0 = affine.load %a[%i - 1] : memref<?xi32>
            %1 = affine.load %b[%i] : memref<?xi32>
            %2 = arith.addi %0, %1 : i32
            affine.store %2, %a[%i] : memref<?xi32>
          }
          return
        }",
        "func.func @prefix(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
          affine.for %i = 1 to affine_map<()[s] -> ((s - 1) floordiv 2 * 2 + 1)>()[%n] step 2 {
            %0 = affine.load %a[%i - 1] : memref<?xi32>
            %1 = affine.load %b[%i] : memref<?xi32>
            %2 = arith.addi %0, %1 : i32
            affine.store %2, %a[%i] : memref<?xi32>
            %3 = affine.load %a[%i] : memref<?xi32>
            %4 = affine.load %b[%i + 1] : memref<?xi32>
            %5 = arith.addi %3, %4 : i32
            affine.store %5, %a[%i + 1] : memref<?xi32>
          }
          affine.for %i = affine_map<()[s] -> ((s - 1) floordiv 2 * 2 + 1)>()[%n] to %n {
            %0 = affine.load %a[%i - 1] : memref<?xi32>
            %1 = affine.load %b[%i] : memref<?xi32>
            %2 = arith.addi %0, %1 : i32
            affine.store %2, %a[%i] : memref<?xi32>
          }
          return
        }",
    ),
    (
        "func.func @pipe(%a: memref<24xf32>, %b: memref<24xf32>, %c: memref<24xf32>) {
          affine.for %i = 0 to 24 {
            %0 = affine.load %a[%i] : memref<24xf32>
            %1 = arith.mulf %0, %0 : f32
            affine.store %1, %b[%i] : memref<24xf32>
          }
          affine.for %i = 2 to 24 {
            %0 = affine.load %b[%i - 2] : memref<24xf32>
            %1 = affine.load %b[%i] : memref<24xf32>
            %2 = arith.subf %0, %1 : f32
            affine.store %2, %c[%i] : memref<24xf32>
          }
          return
        }",
        "func.func @pipe(%a: memref<24xf32>, %b: memref<24xf32>, %c: memref<24xf32>) {
          %t = memref.alloc() : memref<24xf32>
          affine.for %i = 0 to 24 {
            %0 = affine.load %a[%i] : memref<24xf32>
            %1 = arith.mulf %0, %0 : f32
            affine.store %1, %t[%i] : memref<24xf32>
            %2 = affine.load %t[%i] : memref<24xf32>
            affine.store %2, %b[%i] : memref<24xf32>
            affine.if affine_set<(d) : (d - 2 >= 0)>(%i) {
              %3 = affine.load %t[%i - 2] : memref<24xf32>
              %4 = affine.load %b[%i] : memref<24xf32>
              %5 = arith.subf %3, %4 : f32
              affine.store %5, %c[%i] : memref<24xf32>
            }
          }
          return
        }",
    ),
];

/// Texts in one place and what they become.
const EDITS: [(&str, &str); 12] = [
    ("- 1]", "- 2]"),
    ("+ 1]", "+ 2]"),
    ("- 2]", "- 1]"),
    ("[%i]", "[%i + 1]"),
    ("%k]", "%k - 1]"),
    ("subf %0, %1", "subf %1, %0"),
    ("subf %3, %4", "subf %4, %3"),
    ("addi", "subi"),
    ("mulf", "addf"),
    ("step 6", "step 7"),
    ("d + 6", "d + 5"),
    ("s - 1) floordiv 2", "s + 1) floordiv 2"),
];

fn outcome(before: &str, after: &str) -> Outcome {
    let report = validate(before, after, &Options::default());
    (report.functions[0].verdict, report.functions[0].precondition.is_some())
}

/// The text with each occurrence replaced, one at a time, and with each store left out.
fn mutants(text: &str) -> Vec<String> {
    let mut mutants = vec![];
    for (from, to) in EDITS {
        for (at, _) in text.match_indices(from) {
            mutants.push(format!("{}{to}{}", &text[..at], &text[at + from.len()..]));
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    for (n, line) in lines.iter().enumerate() {
        if line.contains("affine.store") {
            mutants.push([&lines[..n], &lines[n + 1..]].concat().join("\n"));
        }
    }
    mutants
}

#[test]
fn right_versions_are_proved() {
    for (before, after) in PAIRS {
        assert!(matches!(outcome(before, after), PROVED | PROVED_IF), "{after}");
        assert_eq!(outcome(after, after), PROVED, "{after}");
    }
}

#[test]
fn no_wrong_version_is_proved() {
    let mut refuted = 0;
    for (before, after) in PAIRS {
        for mutant in mutants(after) {
            let found = outcome(before, &mutant);
            assert_eq!(found, REFUTED, "{mutant}");
            refuted += 1;
        }
    }
    assert!(refuted >= 25, "{refuted}");
}
