//! Certificates of each kind of proof: several cases of sizes, parallel loops, carried values, calls, and what is assumed.

use super::{Versions, versions};
use rewright_cfg_skeleton::nest::certificate::{Certificate, Reason, Step};
use rewright_mlir::Options;

const SUM: &str = "%n: index, %a: memref<?xf64>, %b: memref<1xf64>, %x: f64";

/// A sum in one loop, and in one that is unrolled by two, with what is left in a loop behind it.
fn sums() -> Versions {
    let one = "%v = affine.load %a[%i] : memref<?xf64>\n%t = arith.addf %s, %v : f64\naffine.yield %t : f64";
    let before = format!(
        "%r = affine.for %i = 0 to %n iter_args(%s = %x) -> f64 {{ {one} }}\naffine.store %r, %b[0] : memref<1xf64>"
    );
    let after = format!(
        "%q = affine.for %i = 0 to affine_map<()[s] -> ((s floordiv 2) * 2)>()[%n] step 2 iter_args(%s = %x) -> f64 {{
           %v = affine.load %a[%i] : memref<?xf64>\n%t = arith.addf %s, %v : f64
           %w = affine.load %a[%i + 1] : memref<?xf64>\n%u = arith.addf %t, %w : f64\naffine.yield %u : f64 }}
         %r = affine.for %i = affine_map<()[s] -> ((s floordiv 2) * 2)>()[%n] to %n iter_args(%s = %q) -> f64 {{ {one} }}
         affine.store %r, %b[0] : memref<1xf64>"
    );
    versions(SUM, &before, &after)
}

#[test]
fn carried_values_that_are_rolled_up_have_certificates() {
    let of = sums();
    let certificate = of.certificate();
    assert_eq!(of.check(&certificate), Ok(()), "{certificate:?}");
    let after = &certificate.cases[0].after;
    assert!(matches!(certificate.cases[0].reason, Reason::Sequence), "{certificate:?}");
    assert_eq!(after.joined.len(), 1, "{after:?}");
    assert!(after.steps.contains(&Step::RerollCarried(2)), "{after:?}");
    let rejected = |change: &dyn Fn(&mut Certificate), what: &str| {
        let mut other = certificate.clone();
        change(&mut other);
        assert!(of.check(&other).is_err(), "{what}");
    };
    rejected(&|c| c.cases[0].after.joined.clear(), "cells are apart");
    rejected(&|c| c.cases[0].after.joined[0] = swapped(c.cases[0].after.joined[0]), "the other way round");
    rejected(&|c| c.cases[0].before.joined.push((0, 1)), "arrays of arguments");
    rejected(&|c| c.cases.clear(), "it says nothing");
    for copies in [0, 1, 3, 4] {
        let other = |step: &mut Step| {
            if let Step::RerollCarried(n) = step {
                *n = copies;
            }
        };
        rejected(&|c| c.cases[0].after.steps.iter_mut().for_each(other), "another number of copies");
    }
}

fn swapped((a, b): (u32, u32)) -> (u32, u32) {
    (b, a)
}

/// Cells that are used again, or begin before a loop that they are carried through, are not one.
#[test]
fn cells_that_are_two_are_not_joined() {
    let of = sums();
    let certificate = of.certificate();
    for (from, to) in [
        // The sum of the first loop is used again.
        ("affine.store %r", "%z = arith.addf %r, %q : f64\naffine.store %z"),
        // The second loop begins with something else.
        ("iter_args(%s = %q)", "iter_args(%s = %x)"),
        // Not all of it is carried on.
        ("arith.addf %t, %w", "arith.addf %s, %w"),
    ] {
        let after = of.after.replacen(from, to, 1);
        assert_ne!(after, of.after);
        let other = Versions { before: of.before.clone(), after };
        assert!(other.check(&certificate).is_err(), "{}", other.after);
    }
}

/// Where a size is negative, the second version leaves out the last iteration of an odd number.
#[test]
fn each_of_several_cases_of_sizes_is_shown() {
    let fill = |to: &str| format!("affine.for %i = 0 to {to} {{ affine.store %x, %a[%i] : memref<?xf64> }}");
    let of = versions(
        "%n: index, %m: index, %a: memref<?xf64>, %x: f64",
        &fill("%n"),
        &format!(
            "affine.if affine_set<()[m] : (m >= 0)>()[%m] {{ {} }} else {{ {} }}",
            fill("%n"),
            fill("affine_map<()[n] -> ((n floordiv 2) * 2)>()[%n]")
        ),
    );
    let certificate = of.certificate();
    assert_eq!(of.check(&certificate), Ok(()), "{certificate:?}");
    assert!(certificate.cases.len() > 1, "{certificate:?}");
    for number in 0..certificate.cases.len() {
        let mut other = certificate.clone();
        other.cases[number].precondition.clear();
        assert!(of.check(&other).is_err(), "case {number} of {certificate:?}");
    }
}

const LOOP: &str = "affine.for %i = 0 to %n";
const PARALLEL: &str = "affine.parallel (%i) = (0) to (%n)";

#[test]
fn iterations_of_parallel_loops_are_shown_not_to_collide() {
    let body = |at: &str| {
        format!(
            "{{ %v = affine.load %a[%i] : memref<?xf64>\n%w = arith.addf %v, %v : f64
             affine.store %w, %a[{at}] : memref<?xf64> }}"
        )
    };
    let arguments = "%n: index, %a: memref<?xf64>";
    let of = versions(arguments, &format!("{LOOP} {}", body("%i")), &format!("{PARALLEL} {}", body("%i")));
    let certificate = of.certificate();
    assert_eq!(of.check(&certificate), Ok(()));
    // Without `parallel` both are one text, which says nothing of it.
    let plain = versions(arguments, &format!("{LOOP} {}", body("%i + 1")), &format!("{LOOP} {}", body("%i + 1")));
    let other = versions(arguments, &format!("{LOOP} {}", body("%i + 1")), &format!("{PARALLEL} {}", body("%i + 1")));
    assert_eq!(plain.check(&plain.certificate()), Ok(()));
    assert!(other.check(&plain.certificate()).is_err());
    // Each order of the second version is one of the first.
    let both =
        versions(arguments, &format!("{PARALLEL} {}", body("%i + 1")), &format!("{PARALLEL} {}", body("%i + 1")));
    assert_eq!(both.check(&both.certificate()), Ok(()));
}

#[test]
fn reductions_of_integers_have_certificates_and_those_of_floats_none() {
    let sum = |ty: &str, add: &str, zero: &str| {
        let body = format!("%v = affine.load %a[%i] : memref<?x{ty}>");
        let before = format!(
            "%z = arith.constant {zero} : {ty}\n%r = {LOOP} iter_args(%s = %z) -> {ty} {{ {body}
             %t = arith.{add} %s, %v : {ty}\naffine.yield %t : {ty} }}\naffine.store %r, %b[0] : memref<1x{ty}>"
        );
        let after = format!(
            "%r = {PARALLEL} reduce (\"{add}\") -> ({ty}) {{ {body}\naffine.yield %v : {ty} }}
             affine.store %r, %b[0] : memref<1x{ty}>"
        );
        versions(&format!("%n: index, %a: memref<?x{ty}>, %b: memref<1x{ty}>"), &before, &after)
    };
    let of = sum("i32", "addi", "0");
    assert_eq!(of.check(&of.certificate()), Ok(()));
    let of = sum("f32", "addf", "0.0");
    let (_, found) = of.certificates(&Options::default()).pop().expect("a function");
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn what_is_assumed_is_in_the_certificate() {
    let copy = |at: &str| {
        format!("{LOOP} {{ %v = affine.load %a[{at}] : memref<?xf64>\naffine.store %v, %b[{at}] : memref<?xf64> }}")
    };
    let arguments = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>";
    let same = versions(arguments, &copy("%i"), &copy("%i * 2 - %i"));
    let other_order = versions(arguments, &copy("%i"), &copy("%n - 1 - %i"));
    let overlapping = Options { may_alias: vec![("%a".into(), "%b".into())], ..Options::default() };
    let found = |of: &Versions, options: &Options| of.certificates(options).pop().expect("a function").1;
    let certificate = found(&same, &overlapping).expect("the same order");
    assert_eq!(certificate.may_alias, overlapping.may_alias);
    assert_eq!(same.check(&certificate), Ok(()));
    assert!(found(&other_order, &overlapping).is_err());
    let mut claims_more = found(&other_order, &Options::default()).expect("arrays apart");
    claims_more.may_alias = overlapping.may_alias;
    assert!(other_order.check(&claims_more).is_err());
    let bits = |bits: u32| Options { index_bits: Some(bits), ..Options::default() };
    let certificate = found(&same, &bits(32)).expect("it fits");
    assert_eq!(same.check(&certificate), Ok(()));
    // The sum of a size and a counter does not.
    let shifted = versions(arguments, &copy("%i + symbol(%n)"), &copy("symbol(%n) + %i"));
    let mut claims_more = found(&shifted, &Options::default()).expect("without an overflow");
    assert!(found(&shifted, &bits(32)).is_err());
    claims_more.index_bits = Some(32);
    assert!(shifted.check(&claims_more).is_err());
}

#[test]
fn callees_need_certificates_for_all_sizes() {
    let call = |bound: &str| {
        format!(
            "func.func @g(%n: index, %a: memref<?xf64>, %x: f64) {{
               affine.for %i = 0 to {bound} {{ affine.store %x, %a[%i] : memref<?xf64> }}\n{}return }}
             func.func @f(%n: index, %a: memref<?xf64>, %x: f64) {{
               func.call @g(%n, %a, %x) : (index, memref<?xf64>, f64) -> ()\nreturn }}",
            if bound == "%n" { "" } else { "affine.store %x, %a[%n - 1] : memref<?xf64>\n" }
        )
    };
    let same = Versions { before: call("%n"), after: call("%n").replace("%i", "%j") };
    assert!(same.certificates(&Options::default()).iter().all(|(_, found)| found.is_ok()));
    let for_some = Versions {
        before: call("%n"),
        after: call("%n - 1").replace("to %n - 1", "to affine_map<()[s] -> (s - 1)>()[%n]"),
    };
    let found = for_some.certificates(&Options::default());
    let of = |name: &str| found.iter().find(|(other, _)| other == name).map(|(_, found)| found.clone());
    assert_eq!(of("g").expect("g").map(|c| c.precondition()), Ok(Some("%n >= 1".to_string())));
    assert!(of("f").expect("f").is_err_and(|reason| reason.contains("it calls `g`")));
}
