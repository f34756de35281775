//! What `mlir-opt` makes of structured loops when it lowers them: blocks with branches, loops that decide themselves when
//! they end, and quotients that round down by comparisons and divisions that round towards zero.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{NestReport, Options, validate};

const ARGUMENTS: &str = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>";

fn report(before: &str, after: &str) -> NestReport {
    let function = |body: &str| format!("func.func @f({ARGUMENTS}) {{\n{body}\n}}\n");
    validate(&function(before), &function(after), &Options::default())
}

fn kind(before: &str, after: &str) -> Kind {
    report(before, after).functions[0].verdict
}

const COPY: &str = "affine.for %i = 0 to %n {
  %x = affine.load %a[%i] : memref<?xf64>
  affine.store %x, %b[%i] : memref<?xf64>
}
return";

const BLOCKS: &str = "%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
cf.br ^head(%c0 : index)
^head(%i: index):
%c = arith.cmpi slt, %i, %n : index
cf.cond_br %c, ^body, ^end
^body:
%x = memref.load %a[%i] : memref<?xf64>
memref.store %x, %b[%i] : memref<?xf64>
%next = arith.addi %i, %c1 : index
cf.br ^head(%next : index)
^end:
return";

/// No version with one of these replacements is proved to be a copy.
#[track_caller]
fn none_is_proved(text: &str, replacements: &[(&str, &str)]) {
    for (from, to) in replacements {
        let wrong = text.replace(from, to);
        assert_ne!(kind(COPY, &wrong), Kind::Proved, "{wrong}");
    }
}

#[test]
fn blocks_that_count_are_loops() {
    assert_eq!(kind(COPY, BLOCKS), Kind::Proved, "{}", report(COPY, BLOCKS));
    let other = BLOCKS.replace("slt, %i, %n", "sle, %n, %i").replace("^body, ^end", "^end, ^body");
    assert_eq!(kind(COPY, &other), Kind::Proved, "{}", report(COPY, &other));
    none_is_proved(
        BLOCKS,
        &[
            ("slt", "sle"),
            ("constant 1", "constant 2"),
            ("constant 0", "constant 1"),
            ("^body, ^end", "^end, ^body"),
            ("%b[%i]", "%b[%next]"),
            ("slt, %i, %n", "slt, %n, %i"),
        ],
    );
}

#[test]
fn values_at_the_end_of_a_loop_are_those_of_the_last_test() {
    // Behind the loop, the counter is the first number for which the test fails.
    let after = |stored: &str| {
        format!(
            "{}\n%last = arith.subi %i, %c1 : index\n%y = memref.load %a[%last] : memref<?xf64>\n\
             memref.store %y, %b[{stored}] : memref<?xf64>\nreturn",
            BLOCKS.strip_suffix("\nreturn").unwrap()
        )
    };
    // Where there are iterations, the store does again what the last one did; without one, it is out of bounds.
    assert_ne!(kind(COPY, &after("%i")), Kind::Proved);
    assert_ne!(kind(COPY, &after("%c0")), Kind::Proved);
}

#[test]
fn paths_that_part_meet_again() {
    let before = "affine.for %i = 0 to %n {
      %x = affine.load %a[%i] : memref<?xf64>
      %p = arith.cmpf olt, %x, %x : f64
      %y = scf.if %p -> (f64) {
        %z = arith.addf %x, %x : f64
        scf.yield %z : f64
      } else {
        scf.yield %x : f64
      }
      affine.store %y, %b[%i] : memref<?xf64>
    }
    return";
    let after = BLOCKS.replace(
        "memref.store %x",
        "%p = arith.cmpf olt, %x, %x : f64
cf.cond_br %p, ^then, ^join(%x : f64)
^then:
%z = arith.addf %x, %x : f64
cf.br ^join(%z : f64)
^join(%y: f64):
memref.store %y",
    );
    assert_eq!(kind(before, &after), Kind::Proved, "{}", report(before, &after));
    let wrong = after.replace("^then, ^join(%x : f64)", "^join(%x : f64), ^then");
    assert_ne!(kind(before, &wrong), Kind::Proved);
}

#[test]
fn loops_that_are_left_elsewhere_are_named() {
    let after = BLOCKS.replace(
        "memref.store %x, %b[%i] : memref<?xf64>\n",
        "memref.store %x, %b[%i] : memref<?xf64>\n%q = arith.cmpf une, %x, %x : f64\ncf.cond_br %q, ^end, ^more\n^more:\n",
    );
    let text = report(COPY, &after).to_string();
    assert!(
        text.contains("the loop is left elsewhere than where its iterations begin (second file, line 7)"),
        "{text}"
    );
    let counts = BLOCKS.replace("%next = arith.addi", "%next = arith.muli");
    let text = report(COPY, &counts).to_string();
    assert!(text.contains("it does not count up by a number (second file"), "{text}");
}

const WHILE: &str = "%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%0 = scf.while (%i = %c0) : (index) -> index {
  %1 = arith.cmpi slt, %i, %n : index
  scf.condition(%1) %i : index
} do {
^bb0(%i: index):
  %1 = arith.addi %i, %c1 : index
  %2 = memref.load %a[%i] : memref<?xf64>
  memref.store %2, %b[%i] : memref<?xf64>
  scf.yield %1 : index
}
return";

#[test]
fn loops_that_decide_when_they_end_may_count() {
    assert_eq!(kind(COPY, WHILE), Kind::Proved, "{}", report(COPY, WHILE));
    none_is_proved(
        WHILE,
        &[
            ("slt", "sle"),
            ("%c1 : index\n  %2", "%c0 : index\n  %2"),
            ("%a[%i]", "%a[%1]"),
            ("slt, %i, %n", "slt, %i, %c1"),
        ],
    );
    // Regions beside each other have one name for several values: the second one is given what the first one computes.
    let shifted = "%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%0:2 = scf.while (%i = %c0) : (index) -> (index, index) {
  %1 = arith.addi %i, %c1 : index
  %2 = arith.cmpi slt, %i, %n : index
  scf.condition(%2) %i, %1 : index, index
} do {
^bb0(%i: index, %k: index):
  %1 = arith.subi %i, %c1 : index
  %2 = memref.load %a[%i] : memref<?xf64>
  memref.store %2, %b[%k] : memref<?xf64>
  %3 = arith.addi %i, %c1 : index
  scf.yield %3 : index
}
return";
    assert_ne!(kind(COPY, shifted), Kind::Proved, "{}", report(COPY, shifted));
    let to = COPY.replace("%b[%i]", "%b[%i + 1]");
    assert_eq!(kind(&to, shifted), Kind::Proved, "{}", report(&to, shifted));
}

/// The quotient of `%n` by 3, rounded down, as `--lower-affine` writes it.
const QUOTIENT: &str = "%c0 = arith.constant 0 : index
%c-1 = arith.constant -1 : index
%c3 = arith.constant 3 : index
%neg = arith.cmpi slt, %n, %c0 : index
%not = arith.subi %c-1, %n : index
%dividend = arith.select %neg, %not, %n : index
%q = arith.divsi %dividend, %c3 : index
%nq = arith.subi %c-1, %q : index
%r = arith.select %neg, %nq, %q : index";

#[test]
fn lowered_quotients_are_quotients() {
    let store = "memref.store %x, %b[%r] : memref<?xf64>\nreturn";
    let load = "%c = arith.constant 0 : index\n%x = memref.load %a[%c] : memref<?xf64>\n";
    let lowered = format!("{load}{QUOTIENT}\n{store}");
    let at = |divided: &str| format!("{load}%r = affine.apply affine_map<()[s] -> ({divided})>()[%n]\n{store}");
    let floor = at("s floordiv 3");
    assert_eq!(kind(&floor, &lowered), Kind::Proved, "{}", report(&floor, &lowered));
    for wrong in ["s ceildiv 3", "s floordiv 2", "(s + 1) floordiv 3"] {
        assert_ne!(kind(&at(wrong), &lowered), Kind::Proved, "{wrong}");
    }
    let remainder = format!(
        "{load}%c0 = arith.constant 0 : index\n%c3 = arith.constant 3 : index\n%m = arith.remsi %n, %c3 : index\n\
         %neg = arith.cmpi slt, %m, %c0 : index\n%up = arith.addi %m, %c3 : index\n%r = arith.select %neg, %up, %m : index\n{store}"
    );
    let modulo = at("s mod 3");
    assert_eq!(kind(&modulo, &remainder), Kind::Proved, "{}", report(&modulo, &remainder));
    let wrong = remainder.replace("slt", "sle");
    assert_ne!(kind(&modulo, &wrong), Kind::Proved);
    // Rounded towards zero it is another number below zero.
    let plain = format!("{load}%c3 = arith.constant 3 : index\n%r = arith.divsi %n, %c3 : index\n{store}");
    let report = report(&floor, &plain);
    assert!(report.functions[0].verdict != Kind::Proved || report.functions[0].precondition.is_some(), "{report}");
}

#[test]
fn what_is_done_where_the_first_version_does_nothing_is_outside_of_a_condition() {
    let before = COPY.replace("0 to %n", "2 to %n");
    let after = before
        .replace("return", "affine.for %i = affine_map<()[s] -> (s)>()[%n] to 2 {\n  %x = affine.load %a[%i] : memref<?xf64>\n  affine.store %x, %b[%i] : memref<?xf64>\n}\nreturn");
    let report = report(&before, &after);
    assert_eq!(report.functions[0].verdict, Kind::Proved, "{report}");
    assert!(report.to_string().contains("proved if %n >= 2"), "{report}");
}
