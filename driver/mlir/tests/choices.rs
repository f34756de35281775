//! Branches that choose a value against selections, and arrays whose strides are not known.

use rewright_cfg_skeleton::verdict::Kind;
use rewright_mlir::{Options, validate};

const ARGUMENTS: &str = "%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %k: i32, %x: i32";

/// A loop over the cells of `%a`.
fn over(body: &str) -> String {
    format!("func.func @f({ARGUMENTS}) {{\naffine.for %i = 0 to %n {{\n{body}\n}}\nreturn\n}}\n")
}

/// The verdict, and its precondition.
fn verdict(before: &str, after: &str) -> (Kind, Option<String>) {
    let report = validate(before, after, &Options::default());
    let found = &report.functions[0];
    (found.verdict, found.precondition.clone())
}

const LOADED: &str = "%zero = arith.constant 0 : i32
%v = affine.load %a[%i] : memref<?xi32>
%d = arith.cmpi sgt, %v, %zero : i32";
const STORED: &str = "affine.store %r, %a[%i] : memref<?xi32>";

fn branch(condition: &str, [then, otherwise]: [&str; 2]) -> String {
    format!("%r = scf.if {condition} -> (i32) {{\nscf.yield {then} : i32\n}} else {{\nscf.yield {otherwise} : i32\n}}")
}

fn select(condition: &str, [then, otherwise]: [&str; 2]) -> String {
    format!("%r = arith.select {condition}, {then}, {otherwise} : i32")
}

#[test]
fn branches_that_compute_are_selections() {
    let plain = ["%x", "%v"];
    let at =
        "%m = arith.constant 5 : index\n%d = arith.cmpi slt, %i, %m : index\n%v = affine.load %a[%i] : memref<?xi32>";
    let sum = "%t = arith.addi %v, %x : i32";
    let inner = "%e = arith.cmpi slt, %v, %k : i32";
    let nested = format!(
        "%r = scf.if %d -> (i32) {{\n%q = scf.if %e -> (i32) {{\nscf.yield %x : i32\n}} else {{\nscf.yield %k : i32\n}}\n\
         scf.yield %q : i32\n}} else {{\n{sum}\nscf.yield %t : i32\n}}"
    );
    let flat = format!("{sum}\n%q = arith.select %e, %x, %k : i32\n{}", select("%d", ["%q", "%t"]));
    for (before, after) in [
        ([LOADED, &branch("%d", plain)], [LOADED, &select("%d", plain)]),
        ([&format!("{LOADED}\n{inner}"), &nested], [&format!("{LOADED}\n{inner}"), &flat]),
        ([at, &branch("%d", plain)], [at, &select("%d", plain)]),
    ] {
        let [before, after] = [before, after].map(|[start, choice]| over(&format!("{start}\n{choice}\n{STORED}")));
        assert_eq!(verdict(&before, &after), (Kind::Proved, None), "{before}{after}");
        assert_eq!(verdict(&after, &before), (Kind::Proved, None), "{after}{before}");
        let swapped = after.replace("%x, %v", "%v, %x").replace("%x, %k", "%k, %x");
        assert_eq!(verdict(&before, &swapped).0, Kind::Refuted, "{before}{swapped}");
    }
}

#[test]
fn an_arm_accesses_no_more_than_a_selection() {
    let load = "%w = affine.load %b[%i] : memref<?xi32>";
    let inside = branch("%d", ["%w", "%v"]).replacen("{\n", &format!("{{\n{load}\n"), 1);
    let inside = over(&format!("{LOADED}\n{inside}\n{STORED}"));
    let always = over(&format!("{LOADED}\n{load}\n{}\n{STORED}", select("%d", ["%w", "%v"])));
    assert_eq!(verdict(&always, &inside), (Kind::Proved, None));
    assert_eq!(verdict(&inside, &always).0, Kind::Refuted);
}

/// An overflow that runs do not meet: where memory or a loop carries it, a branch on it is undefined, a selection is not.
#[test]
fn branches_on_what_may_be_undefined_are_not_proved() {
    let rare = "%c = arith.constant 77777 : i32\n%one = arith.constant 1 : i32\n%low = arith.constant 5 : i32
%k1 = arith.xori %k, %c : i32\n%k2 = arith.addi %k1, %one overflow<nsw> : i32\n%p = arith.andi %k2, %low : i32";
    let in_memory = format!("{rare}\naffine.store %p, %b[%i] : memref<?xi32>\n{}", LOADED.replace("%a[%i]", "%b[%i]"));
    let selected = "%u = affine.load %a[%i] : memref<?xi32>\n%r = arith.select %d, %x, %u : i32\n\
                    affine.store %r, %a[%i] : memref<?xi32>";
    let branched = "scf.if %d {\naffine.store %x, %a[%i] : memref<?xi32>\n}";
    let carried = |choice: &str| {
        over(&format!("%zero = arith.constant 0 : i32\n%d = arith.cmpi sgt, %q, %zero : i32\n{choice}\n{rare}\naffine.yield %p : i32"))
            .replace("affine.for %i = 0 to %n", "%s = affine.for %i = 0 to %n iter_args(%q = %x) -> (i32)")
    };
    for [before, after] in
        [[selected, branched].map(|choice| over(&format!("{in_memory}\n{choice}"))), [selected, branched].map(carried)]
    {
        assert_eq!(verdict(&before, &after).0, Kind::Unknown, "{before}{after}");
    }
}

#[test]
fn strides_that_are_not_known_are_a_condition() {
    let ty = "memref<?x?xf32, strided<[?, 1], offset: ?>>";
    let loops = |[outer, inner]: [&str; 2], ty: &str, more: &str| {
        format!(
            "func.func @f(%i1: index, %j1: index, %a: {ty}, %x: f32) {{\n{more}\naffine.for %{outer} = 0 to %{outer}1 {{\n\
             affine.for %{inner} = 0 to %{inner}1 {{\n%v = affine.load %a[%i, %j] : {ty}\n%w = arith.addf %v, %x : f32\n\
             affine.store %w, %a[%i, %j] : {ty}\n}}\n}}\nreturn\n}}\n"
        )
    };
    let before = loops(["i", "j"], ty, "");
    let apart = Some("no two cells of %a are in one place".to_string());
    assert_eq!(verdict(&before, &loops(["j", "i"], ty, "")), (Kind::Proved, apart));
    assert_eq!(
        verdict(&before, &loops(["j", "i"], ty, "").replace("%a[%i, %j] : memref", "%a[%j, %i] : memref")).0,
        Kind::Refuted
    );
    // Cells are known to meet.
    for ty in ["memref<?x?xf32, strided<[0, ?], offset: ?>>", "memref<4x4xf32, strided<[2, 1]>>"] {
        assert_eq!(verdict(&loops(["i", "j"], ty, ""), &loops(["j", "i"], ty, "")).0, Kind::Unknown, "{ty}");
    }
    // A cast that claims a stride is right for some arrays only.
    let identity = "memref<?x?xf32>";
    let cast = format!("%c = memref.cast %a : {ty} to {identity}");
    let claimed =
        loops(["i", "j"], ty, &cast).replace(&format!("%a[%i, %j] : {ty}"), &format!("%c[%i, %j] : {identity}"));
    assert_eq!(verdict(&before, &claimed).0, Kind::Unknown);
}

#[test]
fn a_power_that_may_be_undefined_is_not_executed_anew() {
    let function = |body: &str| {
        format!(
            "func.func @f(%c: i1, %x: i32, %y: i32) -> i32 {{\n%two = arith.constant 2 : i32\n{body}\nreturn %r : i32\n}}"
        )
    };
    let power = |exponent: &str| format!("%p = math.ipowi %x, {exponent} : i32");
    let branch = |exponent: &str| {
        let arms = "scf.yield %p : i32\n} else {\nscf.yield %y : i32\n}";
        function(&format!("%r = scf.if %c -> (i32) {{\n{}\n{arms}", power(exponent)))
    };
    let select = |exponent: &str| function(&format!("{}\n%r = arith.select %c, %p, %y : i32", power(exponent)));
    assert_ne!(verdict(&branch("%y"), &select("%y")).0, Kind::Proved);
    assert_eq!(verdict(&select("%two"), &select("%two").replace("%p", "%q")).0, Kind::Proved);
}
