//! The bits of NaNs: where they are seen, and where they are not.

use super::datapaths::{datapaths, solver};
use rewright_cfg_skeleton::verdict::Kind;
use rewright_equiv::SOLVER_STEPS;
use rewright_equiv::nests::Checker;
use rewright_mlir::{Options, certificates, pairs, validate_with};

/// A function of two floats that gives one value.
fn function(body: &str, result: &str, ty: &str) -> String {
    format!(
        "func.func @f(%x: f32, %y: f32) -> {ty} {{
           %nan = arith.constant 0x7FC00000 : f32
           %one = arith.constant 1.0 : f32
           %zero = arith.constant 0.0 : f32
           %uno = arith.cmpf uno, %x, %x : f32
           {body}
           return {result} : {ty}
         }}"
    )
}

/// The same in a loop, through an array of the function's own.
fn looping(body: &str, result: &str, ty: &str) -> String {
    format!(
        "func.func @f(%n: index, %a: memref<?xf32>, %y: f32, %b: memref<?x{ty}>, %t: memref<?xf32>) {{
           %nan = arith.constant 0x7FC00000 : f32
           %one = arith.constant 1.0 : f32
           %zero = arith.constant 0.0 : f32
           affine.for %i = 0 to %n {{
             %x = affine.load %a[%i] : memref<?xf32>
             %uno = arith.cmpf uno, %x, %x : f32
             {body}
             affine.store {result}, %b[%i] : memref<?x{ty}>
           }}
           return
         }}"
    )
}

fn verdicts(before: &str, after: &str, result: &str, ty: &str) -> [Kind; 2] {
    [function, looping].map(|of| {
        let (before, after) = (of(before, result, ty), of(after, result, ty));
        validate_with(&before, &after, &Options::default(), &mut datapaths()).functions[0].verdict
    })
}

const BITS: &str = "%r = arith.bitcast %v : f32 to i32";
const KEPT: &str = "%v = arith.addf %x, %zero : f32";

#[test]
fn a_nan_that_is_given_keeps_its_bits() {
    let given = "%v = arith.negf %x : f32\n%w = arith.negf %v : f32";
    let canonical = "%w = arith.select %uno, %nan, %x : f32";
    assert_eq!(verdicts(given, canonical, "%w", "f32"), [Kind::Refuted; 2]);
    for (before, after) in [
        (given, "%w = arith.mulf %x, %one : f32"),
        ("%w = math.absf %x : f32", "%v = arith.mulf %x, %one : f32\n%w = math.absf %v : f32"),
        (
            "%v = arith.mulf %x, %one : f32\n%w = math.absf %v : f32",
            "%v = math.absf %x : f32\n%u = arith.negf %v : f32\n%w = arith.select %uno, %u, %v : f32",
        ),
        ("%w = arith.select %uno, %nan, %x : f32", "%w = arith.mulf %x, %one : f32"),
    ] {
        let found = verdicts(before, after, "%w", "f32");
        assert!(found.iter().all(|kind| *kind != Kind::Proved), "{before} and {after}: {found:?}");
    }
}

#[test]
fn a_nan_of_arithmetic_may_be_another_one() {
    for (before, after) in [
        ("%w = arith.mulf %x, %one : f32", "%w = arith.select %uno, %x, %x : f32"),
        ("%w = arith.mulf %x, %one : f32", "%v = arith.mulf %x, %one : f32\n%w = arith.select %uno, %nan, %v : f32"),
        ("%w = arith.addf %x, %y : f32", "%w = arith.addf %y, %x : f32"),
        (
            "%v = arith.addf %x, %y : f32\n%w = arith.negf %v : f32",
            "%v = arith.addf %y, %x : f32\n%w = arith.negf %v : f32",
        ),
        ("%w = arith.subf %x, %y : f32", "%v = arith.negf %y : f32\n%w = arith.addf %x, %v : f32"),
        ("%v = arith.mulf %x, %one : f32\n%w = math.absf %v : f32", "%w = math.absf %x : f32"),
    ] {
        assert_eq!(verdicts(before, after, "%w", "f32"), [Kind::Proved; 2], "{before} and {after}");
    }
}

#[test]
fn where_bits_are_seen_they_are_compared() {
    let sees = |value: &str, by: &str| format!("{value}\n{by}");
    let sign = "%r = math.copysign %one, %v : f32";
    for (by, ty) in [(BITS, "i32"), (sign, "f32")] {
        let of = |value: &str| sees(value, by);
        // What differs in no bit, also of a NaN.
        for (before, after) in [
            ("%v = arith.addf %x, %y : f32", "%u = arith.addf %x, %y : f32\n%v = arith.select %uno, %u, %u : f32"),
            (
                "%v = arith.select %uno, %x, %y : f32",
                "%u = arith.negf %x : f32\n%w = arith.negf %u : f32\n%v = arith.select %uno, %w, %y : f32",
            ),
        ] {
            assert_eq!(verdicts(&of(before), &of(after), "%r", ty), [Kind::Proved; 2], "{after}");
        }
        let given = "%v = arith.select %uno, %x, %x : f32";
        let canonical = "%v = arith.select %uno, %nan, %x : f32";
        let negated = "%u = arith.negf %x : f32\n%v = arith.select %uno, %u, %x : f32";
        assert_eq!(verdicts(&of(given), &of(negated), "%r", ty), [Kind::Refuted; 2]);
        assert_eq!(verdicts(&of(given), &of(canonical), "%r", ty), [Kind::Refuted; 2]);
        for (before, after) in [
            (given, "%v = arith.subf %x, %zero : f32"),
            ("%v = arith.addf %x, %y : f32", "%v = arith.addf %y, %x : f32"),
            ("%v = arith.negf %x : f32", "%u = arith.subf %zero, %x : f32\n%v = arith.mulf %u, %one : f32"),
            ("%v = arith.mulf %x, %y : f32", "%u = arith.mulf %x, %y : f32\n%v = arith.select %uno, %nan, %u : f32"),
            (KEPT, canonical),
        ] {
            let found = verdicts(&of(before), &of(after), "%r", ty);
            assert!(found.iter().all(|kind| *kind != Kind::Proved), "{before} and {after}: {found:?}");
        }
    }
}

#[test]
fn bits_that_are_seen_of_what_is_stored_are_compared() {
    let through = |value: &str| {
        format!(
            "{value}\naffine.store %v, %t[%i] : memref<?xf32>
             %u = affine.load %t[%i] : memref<?xf32>\n%r = arith.bitcast %u : f32 to i32"
        )
    };
    let [straight, crossed] = ["%v = arith.addf %x, %y : f32", "%v = arith.addf %y, %x : f32"];
    let found = |before: &str, after: &str| {
        let (before, after) = (looping(&through(before), "%r", "i32"), looping(&through(after), "%r", "i32"));
        let kind = validate_with(&before, &after, &Options::default(), &mut datapaths()).functions[0].verdict;
        let certificate =
            certificates(&before, &after, &Options::default(), &mut datapaths()).pop().expect("a function").1;
        (kind == Kind::Proved, certificate.is_ok())
    };
    assert_eq!(found(straight, straight), (true, true));
    assert_eq!(found(straight, crossed), (false, false));
}

#[test]
fn a_certificate_of_other_bits_is_refused() {
    let of =
        |value: &str, seen: &str| looping(&format!("{value}\n{seen}"), "%r", if seen == BITS { "i32" } else { "f32" });
    let [straight, crossed] = ["%v = arith.addf %x, %y : f32", "%v = arith.addf %y, %x : f32"];
    let sum = "%r = arith.addf %v, %one : f32";
    let before = of(straight, sum);
    let found = certificates(&before, &of(crossed, sum), &Options::default(), &mut datapaths());
    let certificate = found.into_iter().next().expect("a function").1.expect("arithmetic sees no bits");
    let accepts = |before: &str, after: &str| {
        let (_, pair) = pairs(before, after).pop().expect("a function");
        let mut pair = pair.expect("two nests");
        let mut checker = Checker::new(solver(), SOLVER_STEPS);
        let mut oracle = datapaths().by_solver_only();
        checker.check(&certificate, (&pair.before, &pair.after), &mut pair.pool, &mut oracle).is_ok()
    };
    assert!(accepts(&before, &of(crossed, sum)));
    assert!(!accepts(&of(straight, BITS), &of(crossed, BITS)));
}

/// A value that is right for the first version, which may give any NaN, is not right for the second one.
#[test]
fn nans_that_are_given_and_computed_do_not_change_places() {
    let chosen = |yes: &str, no: &str| {
        format!(
            "%m = arith.mulf %x, %one : f32\n%c = arith.cmpf olt, %y, %zero : f32\n\
             %w = arith.select %c, {yes}, {no} : f32"
        )
    };
    let found = verdicts(&chosen("%m", "%x"), &chosen("%x", "%m"), "%w", "f32");
    assert!(found.iter().all(|kind| *kind != Kind::Proved), "{found:?}");
    assert_eq!(verdicts(&chosen("%m", "%x"), &chosen("%x", "%x"), "%w", "f32"), [Kind::Proved; 2]);
}

/// A caller may see what the function that it calls makes of a NaN.
#[test]
fn bits_that_one_function_sees_are_compared_in_those_that_it_calls() {
    let module = |body: &str, caller: &str| {
        format!(
            "func.func @g(%x: f32) -> f32 {{
               %one = arith.constant 1.0 : f32
               {body}
               return %w : f32
             }}
             func.func @f(%x: f32) -> i32 {{
               {caller}
               %r = arith.bitcast %v : f32 to i32
               return %r : i32
             }}"
        )
    };
    let (calls, is_alone) = ("%v = func.call @g(%x) : (f32) -> f32", "%v = arith.negf %x : f32");
    for (caller, proved) in [(calls, false), (is_alone, true)] {
        let [before, after] =
            ["%w = arith.mulf %x, %one : f32", "%m = arith.mulf %x, %one : f32\n%w = arith.mulf %m, %one : f32"]
                .map(|body| module(body, caller));
        let report = validate_with(&before, &after, &Options::default(), &mut datapaths());
        let g = report.functions.iter().find(|f| f.function == "g").expect("it is compared");
        assert_eq!(g.verdict == Kind::Proved, proved, "{report}");
    }
}
