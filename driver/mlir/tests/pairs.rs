//! Pairs of functions with what is true of them.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{NestReport, Options, validate};

/// What is known, and whether a proof has a precondition.
type Outcome = (Kind, bool);
const PROVED: Outcome = (Kind::Proved, false);
const PROVED_IF: Outcome = (Kind::Proved, true);
const REFUTED: Outcome = (Kind::Refuted, false);
const UNKNOWN: Outcome = (Kind::Unknown, false);

fn report(before: &str, after: &str) -> NestReport {
    validate(before, after, &Options::default())
}

/// The outcome for two bodies with the same arguments.
fn outcome(arguments: &str, before: &str, after: &str) -> Outcome {
    let function = |body: &str| format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}\n");
    let report = report(&function(before), &function(after));
    assert_eq!(report.functions.len(), 1, "{report}");
    (report.functions[0].verdict, report.functions[0].precondition.is_some())
}

const LINE: &str = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>";

const TWICE: &str = "affine.for %i = 0 to %n {
  %0 = affine.load %a[%i] : memref<?xf64>
  %1 = arith.addf %0, %0 : f64
  affine.store %1, %b[%i] : memref<?xf64>
}";

/// `TWICE` unrolled by three, with the loop for the rest.
const UNROLLED: &str = "affine.for %i = 0 to affine_map<()[s] -> (s floordiv 3 * 3)>()[%n] step 3 {
  %0 = affine.load %a[%i] : memref<?xf64>
  %1 = arith.addf %0, %0 : f64
  affine.store %1, %b[%i] : memref<?xf64>
  %2 = affine.load %a[%i + 1] : memref<?xf64>
  %3 = arith.addf %2, %2 : f64
  affine.store %3, %b[%i + 1] : memref<?xf64>
  %4 = affine.load %a[%i + 2] : memref<?xf64>
  %5 = arith.addf %4, %4 : f64
  affine.store %5, %b[%i + 2] : memref<?xf64>
}
affine.for %i = affine_map<()[s] -> (s floordiv 3 * 3)>()[%n] to %n {
  %0 = affine.load %a[%i] : memref<?xf64>
  %1 = arith.addf %0, %0 : f64
  affine.store %1, %b[%i] : memref<?xf64>
}";

#[test]
fn unrolling_holds_from_zero_iterations_on() {
    let function = |body: &str| format!("func.func @f({LINE}) {{\n{body}\nreturn\n}}\n");
    let report = report(&function(TWICE), &function(UNROLLED));
    let text = report.to_string();
    assert!(text.contains("f: proved if %n >= 0"), "{text}");
    // The loop for the rest starts below zero.
    assert!(text.contains("otherwise they differ on %n = -1"), "{text}");
}

#[test]
fn tiles_are_the_loop() {
    let tiled = "affine.for %t = 0 to %n step 8 {
      affine.for %i = affine_map<(d) -> (d)>(%t) to min affine_map<(d)[s] -> (d + 8, s)>(%t)[%n] {
        %0 = affine.load %a[%i] : memref<?xf64>
        %1 = arith.addf %0, %0 : f64
        affine.store %1, %b[%i] : memref<?xf64>
      }
    }";
    assert_eq!(outcome(LINE, TWICE, tiled), PROVED);
    assert_eq!(outcome(LINE, tiled, TWICE), PROVED);
    // Tiles that overlap write the same again, which is right; tiles that leave a gap are not.
    let overlapping = tiled.replace("d + 8", "d + 9");
    assert_ne!(outcome(LINE, TWICE, &overlapping), REFUTED);
    assert_eq!(outcome(LINE, TWICE, &tiled.replace("d + 8", "d + 7")), REFUTED);
}

#[test]
fn a_stale_load_is_no_unrolling() {
    let stale = UNROLLED.replace("%3 = arith.addf %2, %2", "%3 = arith.addf %2, %0");
    assert_eq!(outcome(LINE, TWICE, &stale), REFUTED);
}

#[test]
fn what_differs_only_for_large_sizes_is_found() {
    let cut = TWICE.replace("to %n", "to min affine_map<()[s] -> (s, 700)>()[%n]");
    assert_eq!(outcome(LINE, TWICE, &cut), REFUTED);
}

#[test]
fn buffers_hold_what_is_copied() {
    let buffered = "%m = memref.alloc(%n) : memref<?xf64>
    affine.for %i = 0 to %n {
      %0 = affine.load %a[%i] : memref<?xf64>
      affine.store %0, %m[%i] : memref<?xf64>
    }
    affine.for %i = 0 to %n {
      %0 = affine.load %m[%i] : memref<?xf64>
      %1 = arith.addf %0, %0 : f64
      affine.store %1, %b[%i] : memref<?xf64>
    }
    memref.dealloc %m : memref<?xf64>";
    assert_eq!(outcome(LINE, TWICE, buffered), PROVED);
    // A buffer of a fixed size is too small for some sizes.
    let fixed = buffered.replace("alloc(%n)", "alloc()").replace("%m : memref<?xf64>", "%m : memref<16xf64>");
    let fixed = fixed.replace("%m[%i] : memref<?xf64>", "%m[%i] : memref<16xf64>");
    let fixed = fixed.replace("alloc() : memref<?xf64>", "alloc() : memref<16xf64>");
    assert_eq!(outcome(LINE, TWICE, &fixed), REFUTED);
    // One that is copied in part holds nothing in the rest.
    let partial = buffered.replacen("affine.for %i = 0", "affine.for %i = 1", 1);
    assert_eq!(outcome(LINE, TWICE, &partial), REFUTED);
}

#[test]
fn undefined_contents_prove_nothing() {
    let body = |index: &str| {
        format!(
            "%m = memref.alloc() : memref<8xf64>
            affine.for %i = 0 to 8 {{
              %0 = affine.load %m[{index}] : memref<8xf64>
              affine.store %0, %a[%i] : memref<?xf64>
            }}"
        )
    };
    let found = outcome(LINE, &body("%i"), &body("7 - %i"));
    assert_eq!(found, UNKNOWN);
}

#[test]
fn an_array_is_new_each_time_it_is_allocated() {
    let fresh = "affine.for %i = 0 to 4 {
      %m = memref.alloc() : memref<1xf64>
      affine.if affine_set<(d) : (d == 0)>(%i) { affine.store %x, %m[0] : memref<1xf64> }
      %0 = affine.load %m[0] : memref<1xf64>
      affine.store %0, %a[%i] : memref<4xf64>
    }";
    let all = "affine.for %i = 0 to 4 { affine.store %x, %a[%i] : memref<4xf64> }";
    let arguments = "%x: f64, %a: memref<4xf64>";
    assert_eq!(outcome(arguments, all, fresh), REFUTED);
    let shared = "%m = memref.alloc() : memref<1xf64>\n".to_string()
        + &fresh.replace("  %m = memref.alloc() : memref<1xf64>\n", "");
    assert_eq!(outcome(arguments, all, &shared), PROVED);
}

#[test]
fn a_dead_store_out_of_bounds_is_undefined() {
    let arguments = "%a: memref<8xf64>";
    let copy = "affine.for %i = 0 to 8 { %0 = affine.load %a[%i] : memref<8xf64>
    affine.store %0, %a[%i] : memref<8xf64> }";
    let dead = |at: &str| {
        format!(
            "%m = memref.alloc() : memref<8xf64>
            affine.for %i = 0 to 8 {{ %0 = affine.load %a[%i] : memref<8xf64>
            affine.store %0, %m[{at}] : memref<8xf64>
            affine.store %0, %a[%i] : memref<8xf64> }}"
        )
    };
    assert_eq!(outcome(arguments, copy, &dead("%i")), PROVED);
    assert_eq!(outcome(arguments, copy, &dead("%i + 1")), REFUTED);
}

#[test]
fn what_a_zero_trip_loop_guards_stays_guarded() {
    let inside = "affine.for %i = 0 to %n {
      %0 = affine.load %a[0] : memref<?xf64>
      affine.store %0, %b[%i] : memref<?xf64>
    }";
    let hoisted = "%0 = affine.load %a[0] : memref<?xf64>
    affine.for %i = 0 to %n { affine.store %0, %b[%i] : memref<?xf64> }";
    assert_eq!(outcome(LINE, inside, hoisted), PROVED_IF);
    assert_eq!(outcome(LINE, hoisted, inside), PROVED);
    let arguments = "%n: index, %x: i32, %y: i32, %a: memref<?xi32>";
    let inside = "affine.for %i = 0 to %n { %0 = arith.divsi %x, %y : i32
    affine.store %0, %a[%i] : memref<?xi32> }";
    let hoisted = "%0 = arith.divsi %x, %y : i32
    affine.for %i = 0 to %n { affine.store %0, %a[%i] : memref<?xi32> }";
    assert_eq!(outcome(arguments, inside, hoisted), REFUTED);
    assert_eq!(outcome(arguments, inside, inside), PROVED);
}

const GRID: &str = "%n: index, %m: index, %a: memref<?x?xf64>, %x: f64";

/// A nest over a grid that reads at an offset, with its two loops in either order.
fn grid(offset: &str, swapped: bool) -> String {
    let (first, second) = ("affine.for %i = 1 to %n {", "affine.for %j = 1 to %m {");
    let (first, second) = if swapped { (second, first) } else { (first, second) };
    format!(
        "{first} {second}
        %0 = affine.load %a[{offset}] : memref<?x?xf64>
        %1 = arith.mulf %0, %x : f64
        affine.store %1, %a[%i, %j] : memref<?x?xf64>
        }} }}"
    )
}

#[test]
fn interchange_needs_dependences_that_allow_it() {
    for offset in ["%i, %j", "%i - 1, %j", "%i, %j - 1", "%i - 1, %j - 1"] {
        assert_eq!(outcome(GRID, &grid(offset, false), &grid(offset, true)), PROVED, "{offset}");
    }
    assert_eq!(outcome(GRID, &grid("%i - 1, %j + 1", false), &grid("%i - 1, %j + 1", true)), REFUTED);
}

#[test]
fn sums_of_floats_keep_their_order() {
    let sum = |at: &str| {
        format!(
            "affine.for %i = 0 to %n {{ %0 = affine.load %a[{at}] : memref<?xf64>
            %1 = affine.load %b[0] : memref<?xf64>
            %2 = arith.addf %1, %0 : f64
            affine.store %2, %b[0] : memref<?xf64> }}"
        )
    };
    assert_eq!(outcome(LINE, &sum("%i"), &sum("%n - %i - 1")), REFUTED);
    assert_eq!(outcome(LINE, &sum("%i"), &sum("%i").replace("%1, %0", "%0, %1")), PROVED);
}

#[test]
fn carried_values_are_cells() {
    let carried = "%z = arith.constant 0.0 : f64
    %s = affine.for %i = 0 to %n iter_args(%c = %z) -> (f64) {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = arith.addf %c, %0 : f64
      affine.yield %1 : f64
    }
    affine.store %s, %b[0] : memref<?xf64>";
    let unrolled = "%z = arith.constant 0.0 : f64
    %s = affine.for %i = 0 to affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] step 2 iter_args(%c = %z) -> (f64) {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = arith.addf %c, %0 : f64
      %2 = affine.load %a[%i + 1] : memref<?xf64>
      %3 = arith.addf %1, %2 : f64
      affine.yield %3 : f64
    }
    %t = affine.for %i = affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] to %n iter_args(%c = %s) -> (f64) {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = arith.addf %c, %0 : f64
      affine.yield %1 : f64
    }
    affine.store %t, %b[0] : memref<?xf64>";
    assert_eq!(outcome(LINE, carried, unrolled), PROVED_IF);
    assert_eq!(outcome(LINE, carried, &unrolled.replace("%c = %s", "%c = %z")), REFUTED);
    // The same in memory, once for each iteration: only the last value stays.
    let memory = "%z = arith.constant 0.0 : f64
    affine.store %z, %b[0] : memref<?xf64>
    affine.for %i = 0 to %n {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = affine.load %b[0] : memref<?xf64>
      %2 = arith.addf %1, %0 : f64
      affine.store %2, %b[0] : memref<?xf64>
    }";
    assert_eq!(outcome(LINE, carried, memory), PROVED);
}

#[test]
fn a_branch_on_undefined_contents_is_not_forgotten() {
    let arguments = "%a: memref<4xi32>, %x: i32";
    let plain = "affine.store %x, %a[0] : memref<4xi32>";
    let branch = "%m = memref.alloc() : memref<1xi32>
    %0 = affine.load %m[0] : memref<1xi32>
    %1 = arith.cmpi eq, %0, %x : i32
    scf.if %1 { affine.store %x, %m[0] : memref<1xi32> }
    affine.store %x, %a[0] : memref<4xi32>";
    assert_eq!(outcome(arguments, plain, branch), REFUTED);
}

#[test]
fn promises_may_be_dropped_and_not_made() {
    let add = |flags: &str| format!("%0 = arith.addi %x, %x {flags} : i8\naffine.store %0, %a[0] : memref<1xi8>");
    let arguments = "%x: i8, %a: memref<1xi8>";
    assert_eq!(outcome(arguments, &add("overflow<nsw>"), &add("")), PROVED);
    assert_eq!(outcome(arguments, &add(""), &add("overflow<nsw>")), REFUTED);
}

#[test]
fn opaque_calls_keep_their_order() {
    let arguments = "%n: index, %x: f64, %a: memref<4xf64>";
    let call = "func.call @g(%x) : (f64) -> ()";
    let once = format!("affine.for %i = 0 to %n {{ {call} }}");
    let map = "affine_map<()[s] -> (s floordiv 2 * 2)>()[%n]";
    let twice =
        format!("affine.for %i = 0 to {map} step 2 {{ {call}\n{call} }}\naffine.for %i = {map} to %n {{ {call} }}");
    assert_eq!(outcome(arguments, &once, &twice), PROVED_IF);
    let store = "affine.store %x, %a[0] : memref<4xf64>";
    // A function whose body is not known may look at the array.
    assert_eq!(outcome(arguments, &format!("{call}\n{store}"), &format!("{store}\n{call}")), REFUTED);
}

#[test]
fn a_call_is_as_good_as_its_function() {
    let file = |constant: &str| {
        format!(
            "func.func @callee(%a: memref<1xi32>) {{
              %c = arith.constant {constant} : i32
              affine.store %c, %a[0] : memref<1xi32>
              return
            }}
            func.func @caller(%a: memref<1xi32>) {{
              func.call @callee(%a) : (memref<1xi32>) -> ()
              return
            }}"
        )
    };
    let same = report(&file("1"), &file("1"));
    assert_eq!(same.counts.proved, 2, "{same}");
    let other = report(&file("1"), &file("2"));
    assert_eq!((other.counts.refuted, other.counts.unknown), (1, 1), "{other}");
}

/// No run of a few steps comes to the end of such loops.
#[test]
fn large_constant_bounds_are_run_to_their_end() {
    let loops = |columns: u32| {
        format!(
            "affine.for %i = 0 to 600 {{ affine.for %j = 0 to {columns} {{
               %x = affine.load %a[%i, %j] : memref<600x500xi32>
               %y = arith.addi %x, %x : i32
               affine.store %y, %a[%i, %j] : memref<600x500xi32>
             }} }}"
        )
    };
    let arguments = "%a: memref<600x500xi32>";
    assert_eq!(outcome(arguments, &loops(500), &loops(500)), PROVED);
    assert_eq!(outcome(arguments, &loops(500), &loops(499)), REFUTED);
}
