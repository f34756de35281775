//! Subscripts and bounds that are data, calls and divisions: the same instances, in an order that makes no difference.

use rewright_cfg_skeleton::verdict::{Kind, Verdict};
use rewright_mlir::{Options, validate};

fn verdict(arguments: &str, before: &str, after: &str) -> Verdict {
    let file = |body: &str| {
        format!(
            "func.func private @ext(f64)
            func.func @f({arguments}) {{\n%one = arith.constant 1 : index\n{body}\nreturn\n}}\n"
        )
    };
    let report = validate(&file(before), &file(after), &Options::default());
    assert_eq!(report.functions.len(), 1, "{report}");
    report.functions[0].clone()
}

fn is(expected: Kind, arguments: &str, before: &str, after: &str) {
    let found = verdict(arguments, before, after);
    assert!(found.verdict == expected && found.precondition.is_none(), "{found}\n{after}");
}

const BUCKETS: &str = "%n: index, %m: index, %x: memref<?xi32>, %h: memref<?x?xf64>, %w: memref<?x?xf64>";

/// Adds weights to buckets that data names, one row after the other.
fn buckets(outer: &str, inner: &str, update: &str) -> String {
    format!(
        "affine.for {outer} {{
          affine.for {inner} {{
            %0 = affine.load %x[%i] : memref<?xi32>
            %d = arith.index_cast %0 : i32 to index
            %1 = memref.load %h[%j, %d] : memref<?x?xf64>
            %2 = affine.load %w[%i, %j] : memref<?x?xf64>
            {update}
          }}
        }}"
    )
}

const ADD: &str = "%3 = arith.addf %1, %2 : f64\nmemref.store %3, %h[%j, %d] : memref<?x?xf64>";

#[test]
fn buckets_of_different_rows_are_different() {
    let plain = buckets("%i = 0 to %n", "%j = 0 to %m", ADD);
    is(Kind::Proved, BUCKETS, &plain, &buckets("%j = 0 to %m", "%i = 0 to %n", ADD));
    // Two that are in one row may be one, and floats do not add up in any order.
    let backwards = plain.replace("%x[%i]", "%x[%n - 1 - %i]").replace("%w[%i, %j]", "%w[%n - 1 - %i, %j]");
    is(Kind::Refuted, BUCKETS, &plain, &backwards);
    let other = ADD.replace("%h[%j, %d]", "%h[%d, %j]");
    is(Kind::Refuted, BUCKETS, &plain, &buckets("%i = 0 to %n", "%j = 0 to %m", &other));
}

/// A product of a sparse matrix and a vector: rows from `%i` on.
const SPARSE: &str = "%n: index, %r: memref<?xi32>, %c: memref<?xi32>, %v: memref<?xf64>, %x: memref<?xf64>,
    %y: memref<?xf64>";

const ROW: &str = "%p = affine.load %r[%i] : memref<?xi32>
  %q = affine.load %r[%i + 1] : memref<?xi32>
  %a = arith.index_cast %p : i32 to index
  %b = arith.index_cast %q : i32 to index
  scf.for %k = %a to %b step %one {
    %0 = memref.load %c[%k] : memref<?xi32>
    %d = arith.index_cast %0 : i32 to index
    %1 = memref.load %x[%d] : memref<?xf64>
    %2 = memref.load %v[%k] : memref<?xf64>
    %3 = arith.mulf %1, %2 : f64
    %4 = affine.load %y[%i] : memref<?xf64>
    %5 = arith.addf %4, %3 : f64
    affine.store %5, %y[%i] : memref<?xf64>
  }";

#[test]
fn rows_of_a_sparse_matrix_are_independent() {
    let plain = format!("affine.for %i = 0 to %n {{ {ROW} }}");
    let tiled = format!(
        "affine.for %t = 0 to %n step 4 {{
          affine.for %i = affine_map<(d) -> (d)>(%t) to min affine_map<(d)[s] -> (d + 4, s)>(%t)[%n] {{ {ROW} }}
        }}"
    );
    is(Kind::Proved, SPARSE, &plain, &tiled);
    let row = ROW.replace("%i + 1", "%n - %i").replace("[%i]", "[%n - %i - 1]");
    let backwards = format!("affine.for %i = 0 to %n {{ {row} }}");
    is(Kind::Proved, SPARSE, &plain, &backwards);
    is(
        Kind::Refuted,
        SPARSE,
        &plain,
        &plain.replace("%a to %b", "%a to %q1").replace("scf.for", "%q1 = arith.subi %b, %one : index\nscf.for"),
    );
    // Here the bounds may change meanwhile, because rows are written where bounds are read.
    let written =
        plain.replace("affine.store %5, %y[%i]", "memref.store %0, %r[%d] : memref<?xi32>\naffine.store %5, %y[%i]");
    let other =
        backwards.replace("affine.store %5, %y[", "memref.store %0, %r[%d] : memref<?xi32>\naffine.store %5, %y[");
    assert_ne!(verdict(SPARSE, &written, &other).verdict, Kind::Proved);
}

#[test]
fn calls_see_what_is_stored() {
    let arguments = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>, %x: f64";
    let call = "%0 = affine.load %a[%i] : memref<?xf64>\nfunc.call @ext(%0) : (f64) -> ()";
    let store = "affine.store %x, %b[%i] : memref<?xf64>";
    let both = format!("affine.for %i = 0 to %n {{ {call}\n{store} }}");
    let apart = format!("affine.for %i = 0 to %n {{ {call} }}\naffine.for %i = 0 to %n {{ {store} }}");
    is(Kind::Refuted, arguments, &both, &apart);
    let text = verdict(arguments, &both, &apart).to_string();
    assert!(text.contains("call 2") && text.contains("argument 2"), "{text}");
    let backwards = both.replace("%a[%i]", "%a[%n - 1 - %i]");
    is(Kind::Refuted, arguments, &both, &backwards);
    // An array of the function's own that no call is given is not seen.
    let own = |body: &str| {
        let after = "affine.for %i = 0 to 8 { %1 = affine.load %m[%i] : memref<8xf64>
          affine.store %1, %a[%i] : memref<?xf64> }";
        format!("%m = memref.alloc() : memref<8xf64>\n{body}\n{after}")
    };
    let inside = store.replace("%b[%i] : memref<?xf64>", "%m[%i] : memref<8xf64>");
    let both = own(&format!("affine.for %i = 0 to 8 {{ {call}\n{inside} }}"));
    let apart = own(&format!("affine.for %i = 0 to 8 {{ {call} }}\naffine.for %i = 0 to 8 {{ {inside} }}"));
    is(Kind::Proved, arguments, &both, &apart);
}

#[test]
fn divisions_are_executed_for_the_same_operands() {
    let arguments = "%n: index, %m: index, %a: memref<?x?xi32>, %b: memref<?xi32>";
    let loops = |outer: &str, inner: &str, by: &str| {
        format!(
            "affine.for {outer} {{ affine.for {inner} {{
              %0 = affine.load %a[%i, %j] : memref<?x?xi32>
              %1 = affine.load %b[{by}] : memref<?xi32>
              %2 = arith.divsi %0, %1 : i32
              affine.store %2, %a[%i, %j] : memref<?x?xi32>
            }} }}"
        )
    };
    let plain = loops("%i = 0 to %n", "%j = 0 to %m", "%j");
    is(Kind::Proved, arguments, &plain, &loops("%j = 0 to %m", "%i = 0 to %n", "%j"));
    is(Kind::Refuted, arguments, &plain, &loops("%j = 0 to %m", "%i = 0 to %n", "%i"));
    // A division by what may be zero, only to forget the result.
    let more = plain.replace("affine.store", "%3 = arith.divsi %1, %0 : i32\naffine.store");
    is(Kind::Refuted, arguments, &plain, &more);
}

#[test]
fn branches_on_data_move_with_their_statements() {
    let arguments = "%n: index, %m: index, %a: memref<?x?xi1>, %b: memref<?x?xi32>, %x: i32, %y: i32";
    let plain = "affine.for %i = 0 to %n { affine.for %j = 0 to %m {
      %0 = affine.load %a[%i, %j] : memref<?x?xi1>
      scf.if %0 { affine.store %x, %b[%i, %j] : memref<?x?xi32> }
      else { affine.store %y, %b[%i, %j] : memref<?x?xi32> }
    } }";
    is(Kind::Proved, arguments, plain, &plain.replace("%j]", "%m - 1 - %j]"));
    is(Kind::Refuted, arguments, plain, &plain.replace("store %y", "store %x"));
}
