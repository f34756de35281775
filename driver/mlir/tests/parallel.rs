//! Parallel loops: iterations are executed in any order, so a proof needs that it makes no difference.

use rewright_cfg_skeleton::verdict::{Kind, Verdict};
use rewright_mlir::{Options, own_text, validate};

fn verdict(arguments: &str, before: &str, after: &str) -> Verdict {
    let file = |body: &str| {
        format!(
            "func.func private @ext(f32)
            func.func @f({arguments}) {{\n{body}\nreturn\n}}\n"
        )
    };
    let report = validate(&file(before), &file(after), &Options::default());
    assert_eq!(report.functions.len(), 1, "{report}");
    report.functions[0].clone()
}

const ROWS: &str =
    "%n: index, %m: index, %a: memref<?x?xf32>, %p: memref<?xindex>, %v: memref<?xf32>, %w: memref<?xf32>";

/// A loop of both kinds.
fn loops(body: &str) -> [String; 2] {
    [format!("affine.for %i = 0 to %n {{ {body} }}"), format!("affine.parallel (%i) = (0) to (%n) {{ {body} }}")]
}

const SCALE: &str = "%x = affine.load %v[%i] : memref<?xf32>
  %y = arith.addf %x, %x : f32
  affine.store %y, %v[%i] : memref<?xf32>";

const SHIFT: &str = "%x = affine.load %v[%i] : memref<?xf32>
  affine.store %x, %v[%i + 1] : memref<?xf32>";

const COUNT: &str = "%z = arith.constant 0.0 : f32
  %r = affine.for %j = 0 to %m iter_args(%s = %z) -> f32 {
    %x = affine.load %a[%i, %j] : memref<?x?xf32>
    %t = arith.addf %s, %x : f32
    affine.yield %t : f32
  }
  affine.store %r, %v[%i] : memref<?xf32>";

const BUFFER: &str = "%t = memref.alloc() : memref<2xf32>
  %x = affine.load %v[%i] : memref<?xf32>
  affine.store %x, %t[1] : memref<2xf32>
  %y = affine.load %t[1] : memref<2xf32>
  affine.store %y, %w[%i] : memref<?xf32>
  memref.dealloc %t : memref<2xf32>";

const SCATTER: &str = "%k = affine.load %p[%i] : memref<?xindex>
  %x = affine.load %v[%i] : memref<?xf32>
  memref.store %x, %w[%k] : memref<?xf32>";

const CALL: &str = "%x = affine.load %v[%i] : memref<?xf32>
  func.call @ext(%x) : (f32) -> ()";

const SAME: &str = "%z = arith.constant 0.0 : f32
  affine.store %z, %v[0] : memref<?xf32>";

#[test]
fn independent_iterations_may_be_parallel() {
    for body in [SCALE, COUNT, BUFFER] {
        let [plain, parallel] = loops(body);
        for (before, after) in [(&plain, &parallel), (&parallel, &plain), (&parallel, &parallel)] {
            let found = verdict(ROWS, before, after);
            assert_eq!(found.verdict, Kind::Proved, "{found}\n{after}");
        }
    }
}

#[test]
fn iterations_that_collide_may_not() {
    for body in [SHIFT, SCATTER, CALL] {
        let [plain, parallel] = loops(body);
        let found = verdict(ROWS, &plain, &parallel);
        assert_eq!(found.verdict, Kind::Refuted, "{found}\n{parallel}");
        let pattern = found.counterexample.and_then(|found| found.pattern).unwrap_or_default();
        assert!(pattern.contains("iterations of the parallel loop at line"), "{pattern}");
        // Where the first version may choose an order, the second one has chosen one.
        let found = verdict(ROWS, &parallel, &plain);
        assert_eq!(found.verdict, Kind::Proved, "{found}");
    }
    let [plain, parallel] = loops(SAME);
    let found = verdict(ROWS, &plain, &parallel);
    assert_eq!(found.verdict, Kind::Unknown, "{found}");
    assert!(found.reasons[0].ends_with("the iterations (%i = 0) and (%i = 1) where %n = 2"), "{found}");
}

#[test]
fn a_first_version_with_several_results_is_not_refuted() {
    let [_, parallel] = loops(SHIFT);
    let other = SHIFT.replace("%i + 1", "%i + 2");
    let found = verdict(ROWS, &parallel, &loops(&other)[0]);
    assert_eq!(found.verdict, Kind::Unknown, "{found}");
    assert!(found.reasons[0].contains("in the first file iterations of the parallel loop at line 3"), "{found}");
}

#[test]
fn all_forms_are_read() {
    let plain = "affine.for %i = 0 to %n step 4 { affine.for %j = 0 to 8 {
      %x = affine.load %a[%i, %j] : memref<?x?xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %a[%i, %j] : memref<?x?xf32> } }";
    let body = "%x = memref.load %a[%i, %j] : memref<?x?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %a[%i, %j] : memref<?x?xf32>";
    let generic = |bounds: &str, end: &str| format!("{bounds} ({{\n^bb0(%i: index, %j: index):\n{body}\n{end}\n}})");
    let constants = "%zero = arith.constant 0 : index\n%four = arith.constant 4 : index
      %one = arith.constant 1 : index\n%eight = arith.constant 8 : index\n";
    let forms = [
        format!("affine.parallel (%i, %j) = (0, max(0, -1)) to (%n, min(8, 9)) step (4, 1) {{ {body} }}"),
        format!(
            "{constants}scf.parallel (%i, %j) = (%zero, %zero) to (%n, %eight) step (%four, %one) {{ {body}\nscf.reduce }}"
        ),
        format!("scf.forall (%i, %j) = (0, 0) to (%n, 8) step (4, 1) {{ {body} }} {{mapping = []}}"),
        generic(
            "\"affine.parallel\"(%n) <{lowerBoundsGroups = dense<1> : tensor<2xi32>,
              lowerBoundsMap = affine_map<() -> (0, 0)>, reductions = [], steps = [4, 1],
              upperBoundsGroups = dense<[1, 2]> : tensor<2xi32>, upperBoundsMap = affine_map<(d0) -> (d0, 8, 9)>}>",
            "\"affine.yield\"() : () -> ()",
        ) + " : (index) -> ()",
        generic(
            "\"scf.forall\"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0, 0>,
              staticStep = array<i64: 4, 1>, staticUpperBound = array<i64: -9223372036854775808, 8>}>",
            "\"scf.forall.in_parallel\"() ({\n^bb0:\n}) : () -> ()",
        ) + " : (index) -> ()",
    ];
    for form in forms {
        let found = verdict(ROWS, plain, &form);
        assert_eq!(found.verdict, Kind::Proved, "{found}\n{form}");
    }
}

/// What iterations give, combined by an operation from a first value.
fn reduced(ty: &str, by: &str, first: &str, body: &str) -> [String; 2] {
    let value = format!("%x = memref.load %q[%i] : memref<?x{ty}>");
    let constants =
        format!("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%z = arith.constant {first} : {ty}\n");
    let end = format!("memref.store %r, %q[%c0] : memref<?x{ty}>");
    let plain = format!(
        "{constants}%r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> ({ty}) {{ {value}
         {}\nscf.yield %t : {ty} }}\n{end}",
        body.replace("%l", "%s").replace("%h", "%x").replace("BY", by)
    );
    let parallel = format!(
        "{constants}%r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> {ty} {{ {value}
         scf.reduce(%x : {ty}) {{\n^bb0(%l: {ty}, %h: {ty}):\n{}\nscf.reduce.return %t : {ty}\n}} }}\n{end}",
        body.replace("BY", by)
    );
    [plain, parallel]
}

#[test]
fn what_gives_the_same_in_each_order_may_be_reduced_in_parallel() {
    let all = ["addi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"];
    for (by, ty) in all.iter().flat_map(|by| ["i32", "i8"].map(|ty| (by, ty))) {
        let arguments = format!("%n: index, %q: memref<?x{ty}>");
        let [plain, parallel] = reduced(ty, by, "3", &format!("%t = arith.BY %l, %h : {ty}"));
        for (before, after) in [(&plain, &parallel), (&parallel, &plain), (&parallel, &parallel)] {
            let found = verdict(&arguments, before, after);
            assert_eq!(found.verdict, Kind::Proved, "{found}\n{after}");
        }
        // Another first value, and another operation.
        let [_, other] = reduced(ty, by, "1", &format!("%t = arith.BY %l, %h : {ty}"));
        let next = all[(all.iter().position(|name| name == by).unwrap_or(0) + 1) % all.len()];
        let [_, another] = reduced(ty, next, "3", &format!("%t = arith.BY %l, %h : {ty}"));
        for after in [other, another] {
            let found = verdict(&arguments, &plain, &after);
            assert_ne!(found.verdict, Kind::Proved, "{found}\n{plain}\n{after}");
        }
    }
}

#[test]
fn what_depends_on_the_order_may_not() {
    for (ty, by, body) in [
        ("f32", "addf", "%t = arith.BY %l, %h : f32"),
        ("f64", "mulf", "%t = arith.BY %h, %l : f64"),
        ("i32", "subi", "%t = arith.BY %l, %h : i32"),
        ("i32", "addi", "%u = arith.BY %l, %h : i32\n%t = arith.muli %u, %h : i32"),
        ("i32", "addi", "%t = arith.BY %h, %h : i32"),
        ("i32", "addi", "%t = arith.BY %l, %h overflow<nsw> : i32"),
    ] {
        let arguments = format!("%n: index, %q: memref<?x{ty}>");
        let [plain, parallel] = reduced(ty, by, if ty.starts_with('f') { "1.0" } else { "1" }, body);
        let found = verdict(&arguments, &plain, &parallel);
        let said = format!("{found} {}", found.counterexample.clone().and_then(|c| c.pattern).unwrap_or_default());
        assert_ne!(found.verdict, Kind::Proved, "{found}");
        assert!(said.contains("are combined in any order by"), "{said}");
        // One of the orders, and the same choice of them.
        for after in [&plain, &parallel] {
            let found = verdict(&arguments, &parallel, after);
            assert_eq!(found.verdict, Kind::Proved, "{found}");
        }
    }
}

#[test]
fn reductions_begin_with_neutral_elements() {
    for (kind, by, ty, neutral) in [
        ("addi", "addi", "i32", "0"),
        ("muli", "muli", "i16", "1"),
        ("andi", "andi", "i8", "-1"),
        ("ori", "ori", "i64", "0"),
        ("maxs", "maxsi", "i32", "-2147483648"),
        ("mins", "minsi", "i8", "127"),
        ("maxu", "maxui", "i32", "0"),
        ("minu", "minui", "i64", "-1"),
    ] {
        let arguments = format!("%n: index, %q: memref<?x{ty}>");
        let [plain, _] = reduced(ty, by, neutral, &format!("%t = arith.BY %l, %h : {ty}"));
        let parallel = format!(
            "%r = affine.parallel (%i) = (0) to (%n) reduce (\"{kind}\") -> ({ty}) {{
               %x = affine.load %q[%i] : memref<?x{ty}>\naffine.yield %x : {ty} }}
             affine.store %r, %q[0] : memref<?x{ty}>"
        );
        let found = verdict(&arguments, &plain, &parallel);
        assert_eq!(found.verdict, Kind::Proved, "{found}\n{parallel}");
    }
    let assign = "%r = affine.parallel (%i) = (0) to (%n) reduce (\"assign\") -> (f32) {
      %x = affine.load %v[%i] : memref<?xf32>\naffine.yield %x : f32 }";
    let found = verdict(ROWS, assign, assign);
    assert!(found.reasons[0].contains("the reduction `assign` is not known"), "{found}");
}

#[test]
fn own_text_has_one_of_the_orders() {
    let [_, parallel] = loops(SCALE);
    let text = own_text(&format!("func.func @f({ROWS}) {{\n{parallel}\nreturn\n}}\n"));
    assert!(text.left_out.is_empty(), "{:?}", text.left_out);
    assert!(text.doubts[0].1.to_string().contains("in any order"), "{:?}", text.doubts);
    let [_, sum] = reduced("i32", "addi", "0", "%t = arith.BY %l, %h : i32");
    let text = own_text(&format!("func.func @f(%n: index, %q: memref<?xi32>) {{\n{sum}\nreturn\n}}\n"));
    assert!(text.left_out.is_empty() && text.text.contains("iadd{i32}"), "{:?}{}", text.left_out, text.text);
}
