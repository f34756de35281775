//! Datapaths of MLIR: pairs that compute the same in another way, pairs that do not, and certificates.

use rewright_cfg_skeleton::nest::certificate::{Case, Certificate, Polynomial, Step};
use rewright_cfg_skeleton::nest::datapath::NoOracle;
use rewright_cfg_skeleton::verdict::Kind;
use rewright_equiv::datapath::Datapaths;
use rewright_equiv::nests::{Checker, Rejected};
use rewright_equiv::{SOLVER, SOLVER_STEPS};
use rewright_mlir::{NestReport, Options, Pair, certificates, pairs, validate_with};
use rewright_pipeline::optimiser::Optimiser;

pub(super) fn solver() -> Vec<String> {
    SOLVER.split_whitespace().map(String::from).collect()
}

pub(super) fn datapaths() -> Datapaths {
    let packs = rewright_packs::load_applied(vec![rewright_packs::root("std".as_ref()).expect("std ships")]);
    Datapaths::new(Optimiser::on_demand(packs.program, |_| 0), solver(), SOLVER_STEPS)
}

fn data(name: &str) -> String {
    std::fs::read_to_string(format!("{}/mlir/datapath/{name}.mlir", env!("CARGO_MANIFEST_DIR")))
        .expect("a file of this folder")
}

fn report(name: &str) -> NestReport {
    let sides = ["before", "after"].map(|side| data(&format!("{name}.{side}")));
    validate_with(&sides[0], &sides[1], &Options::default(), &mut datapaths())
}

#[test]
fn equal_datapaths_are_proved() {
    let report = report("equal");
    assert!(report.functions.len() >= 60, "{report}");
    assert!(report.functions.iter().all(|f| f.is_proved()), "{report}");
}

#[test]
fn no_wrong_datapath_is_proved() {
    let report = report("different");
    assert!(report.functions.len() >= 30, "{report}");
    let undecided: Vec<&str> =
        report.functions.iter().filter(|f| f.verdict != Kind::Refuted).map(|f| f.function.as_str()).collect();
    // Where x is 0, the first version has no result that the second one could miss.
    assert_eq!(undecided, ["self_quotient"], "{report}");
    assert_eq!(report.counts.proved, 0);
}

/// Statements that are each made of the two before. In the second version every tenth one is computed in another way,
/// and one of these may be wrong.
fn chain(statements: usize, wrong_at: Option<usize>) -> [String; 2] {
    let statement = |second: bool, n: usize, x: &str, y: &str| match n % 10 {
        9 if second => {
            let one = if wrong_at == Some(n) { "%a" } else { "%one" };
            format!(
                "  %s{n} = arith.xori {x}, %ones : i32\n  %t{n} = arith.subi {y}, %s{n} : i32\n  \
                 %v{n} = arith.subi %t{n}, {one} : i32\n"
            )
        }
        4 => format!("  memref.store {x}, %m[%i] : memref<8xi32>\n  %v{n} = memref.load %m[%i] : memref<8xi32>\n"),
        9 => format!("  %v{n} = arith.addi {x}, {y} : i32\n"),
        _ => format!("  %v{n} = arith.{} {x}, {y} : i32\n", ["addi", "xori", "subi"][n % 3]),
    };
    [false, true].map(|second| {
        let mut text = "func.func @chain(%a: i32, %b: i32, %m: memref<8xi32>) -> i32 {\n".to_string();
        text += "  %i = arith.constant 3 : index\n";
        text += "  %one = arith.constant 1 : i32\n  %ones = arith.constant -1 : i32\n";
        let (mut x, mut y) = ("%a".to_string(), "%b".to_string());
        for n in 0..statements {
            text += &statement(second, n, &x, &y);
            (x, y) = (y, format!("%v{n}"));
        }
        text + &format!("  return {y} : i32\n}}\n")
    })
}

#[test]
fn long_chains_of_statements_are_proved_and_wrong_ones_are_named() {
    let validate = |[before, after]: &[String; 2]| validate_with(before, after, &Options::default(), &mut datapaths());
    let report = validate(&chain(2_000, None));
    assert_eq!(report.functions[0].verdict, Kind::Proved, "{report}");
    let versions = chain(2_000, Some(1_509));
    let report = validate(&versions);
    assert_eq!(report.functions[0].verdict, Kind::Refuted, "{report}");
    let wrong = versions[1].lines().position(|line| line.starts_with("  %v1509 =")).expect("the statement") as u32 + 1;
    let statements = &report.functions[0].counterexample.as_ref().expect("an input").statements;
    assert!(statements.iter().any(|statement| statement.line == wrong), "{report}");
}

/// A rewrite that is wrong for one value of its operand is not proved, and it is named.
#[test]
fn a_rewrite_that_is_seldom_wrong_is_named() {
    let [before, after] = chain(300, None);
    let line = "  %v209 = arith.addi";
    let at = before.lines().position(|l| l.starts_with(line)).expect("the statement") as u32 + 1;
    let seldom = after.replace(
        "  %v209 = arith.subi %t209, %one : i32",
        "  %w209 = arith.subi %t209, %one : i32\n  %c209 = arith.constant 1234577 : i32\n  \
         %q209 = arith.cmpi eq, %w209, %c209 : i32\n  %v209 = arith.select %q209, %one, %w209 : i32",
    );
    let report = validate_with(&before, &seldom, &Options::default(), &mut datapaths());
    assert_eq!(report.functions[0].verdict, Kind::Unknown, "{report}");
    assert!(
        report.functions[0].reasons.iter().any(|reason| reason.contains(&format!("line {at} of the first"))),
        "{report}"
    );
}

/// Poison: what is right for all numbers is wrong where the second version has none.
#[test]
fn what_makes_poison_is_not_proved() {
    let verdict = |arguments: &str, before: &str, after: &str| {
        let function = |body: &str| format!("func.func @f({arguments}) -> i32 {{\n{body}\n}}\n");
        let report = validate_with(&function(before), &function(after), &Options::default(), &mut datapaths());
        report.functions[0].verdict
    };
    let plain = "%0 = arith.addi %x, %y : i32\nreturn %0 : i32";
    let promised = "%0 = arith.addi %y, %x overflow<nsw> : i32\nreturn %0 : i32";
    assert_eq!(verdict("%x: i32, %y: i32", promised, plain), Kind::Proved);
    assert_ne!(verdict("%x: i32, %y: i32", plain, promised), Kind::Proved);
    // A shift by the whole width is poison, a product by 0 is not.
    let shifted = "%0 = arith.shli %x, %y : i32\n%1 = arith.xori %0, %0 : i32\nreturn %1 : i32";
    let zero = "%0 = arith.constant 0 : i32\nreturn %0 : i32";
    assert_eq!(verdict("%x: i32, %y: i32", shifted, zero), Kind::Proved);
    assert_ne!(verdict("%x: i32, %y: i32", zero, shifted), Kind::Proved);
}

/// Laws of rounded arithmetic prove what they imply, also where operands are long, and nothing else.
#[test]
fn floats_are_proved_by_laws_and_not_by_those_of_reals() {
    let verdict = |before: &str, after: &str| {
        let head = "func.func @f(%x: f64, %y: f64, %z: f64) -> f64 {\n%zero = arith.constant 0.0 : f64\n\
             %minus = arith.constant -0.0 : f64\n%two = arith.constant 2.0 : f64\n%three = arith.constant 3.0 : f64\n\
             %third = arith.constant 0.3333333333333333 : f64\n%four = arith.constant 4.0 : f64\n\
             %quarter = arith.constant 0.25 : f64\n";
        let function = |body: &str| format!("{head}{body}\nreturn %r : f64\n}}\n");
        let report = validate_with(&function(before), &function(after), &Options::default(), &mut datapaths());
        report.functions[0].verdict
    };
    for (before, after) in [
        ("%r = arith.mulf %x, %two : f64", "%r = arith.addf %x, %x : f64"),
        ("%r = arith.divf %x, %four : f64", "%r = arith.mulf %quarter, %x : f64"),
        ("%r = arith.addf %x, %minus : f64", "%r = arith.subf %x, %zero : f64"),
        (
            "%n = arith.negf %y : f64\n%s = arith.addf %n, %x : f64\n%r = arith.mulf %s, %z : f64",
            "%s = arith.subf %x, %y : f64\n%r = arith.mulf %s, %z : f64",
        ),
        (
            "%n = arith.negf %x : f64\n%p = arith.mulf %n, %y : f64\n%r = arith.divf %p, %z : f64",
            "%p = arith.mulf %x, %y : f64\n%q = arith.divf %p, %z : f64\n%r = arith.negf %q : f64",
        ),
        (
            "%n = arith.negf %x : f64\n%m = arith.negf %y : f64\n%r = arith.maximumf %n, %m : f64",
            "%s = arith.minimumf %x, %y : f64\n%r = arith.negf %s : f64",
        ),
        (
            "%c = arith.cmpf olt, %x, %y : f64\n%p = arith.mulf %x, %y : f64\n%r = arith.select %c, %p, %z : f64",
            "%c = arith.cmpf uge, %x, %y : f64\n%p = arith.mulf %y, %x : f64\n%r = arith.select %c, %z, %p : f64",
        ),
    ] {
        assert_eq!(verdict(before, after), Kind::Proved, "{before} / {after}");
    }
    for (before, after) in [
        ("%r = arith.addf %x, %zero : f64", "%r = arith.addf %x, %minus : f64"),
        ("%r = arith.subf %x, %x : f64", "%r = arith.addf %zero, %zero : f64"),
        ("%r = arith.divf %x, %three : f64", "%r = arith.mulf %x, %third : f64"),
        (
            "%n = arith.negf %x : f64\n%m = arith.negf %y : f64\n%r = arith.addf %n, %m : f64",
            "%s = arith.addf %x, %y : f64\n%r = arith.negf %s : f64",
        ),
        (
            "%s = arith.addf %x, %y : f64\n%r = arith.addf %s, %z : f64",
            "%s = arith.addf %y, %z : f64\n%r = arith.addf %x, %s : f64",
        ),
        ("%r = arith.divf %x, %y : f64", "%r = arith.divf %y, %x : f64"),
        (
            "%c = arith.cmpf olt, %x, %y : f64\n%r = arith.select %c, %x, %z : f64",
            "%c = arith.cmpf oge, %x, %y : f64\n%r = arith.select %c, %z, %x : f64",
        ),
        ("%c = arith.cmpf ole, %x, %y : f64\n%r = arith.select %c, %x, %y : f64", "%r = arith.minimumf %x, %y : f64"),
        ("%r = arith.maximumf %x, %zero : f64", "%r = arith.maximumf %x, %minus : f64"),
    ] {
        assert_ne!(verdict(before, after), Kind::Proved, "{before} / {after}");
    }
}

const LOOP: &str = "func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  %two = arith.constant 2 : i32
  affine.for %i = 0 to %n {
    %0 = affine.load %a[%i] : memref<?xi32>
    %1 = arith.muli %0, %two : i32
    affine.store %1, %b[%i] : memref<?xi32>
  }
  return
}";

/// Unrolled, with a loop for the rest, and another way to compute the value.
const UNROLLED: &str = "func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  affine.for %i = 0 to affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] step 2 {
    %0 = affine.load %a[%i] : memref<?xi32>
    %1 = arith.addi %0, %0 : i32
    affine.store %1, %b[%i] : memref<?xi32>
    %2 = affine.load %a[%i + 1] : memref<?xi32>
    %3 = arith.addi %2, %2 : i32
    affine.store %3, %b[%i + 1] : memref<?xi32>
  }
  affine.for %i = affine_map<()[s] -> (s floordiv 2 * 2)>()[%n] to %n {
    %0 = affine.load %a[%i] : memref<?xi32>
    %1 = arith.addi %0, %0 : i32
    affine.store %1, %b[%i] : memref<?xi32>
  }
  return
}";

fn checked(certificate: &Certificate, after: &str) -> Result<(), Rejected> {
    let (_, pair) = pairs(LOOP, after).remove(0);
    let Pair { mut pool, before, after, .. } = pair.expect("both versions are nests");
    let mut checker = Checker::new(solver(), SOLVER_STEPS);
    checker.check(certificate, (&before, &after), &mut pool, &mut datapaths().by_solver_only())
}

#[test]
fn certificates_are_accepted_and_corrupted_ones_are_not() {
    let genuine = &certificates(LOOP, UNROLLED, &Options::default(), &mut datapaths()).remove(0).1.unwrap();
    assert_eq!(genuine.precondition().as_deref(), Some("%n >= 0"));
    assert_eq!(checked(genuine, UNROLLED), Ok(()));
    let read: Certificate = serde_json::from_str(&serde_json::to_string(genuine).unwrap()).unwrap();
    assert_eq!(&read, genuine);
    let mut rejected = 0;
    let mut reject = |change: &dyn Fn(&mut Case)| {
        let mut corrupted = genuine.clone();
        change(&mut corrupted.cases[0]);
        assert!(checked(&corrupted, UNROLLED).is_err(), "{corrupted:?}");
        rejected += 1;
    };
    reject(&|c| c.precondition.clear());
    reject(&|c| c.precondition[0] = "%n >= -1".into());
    for n in 0..genuine.cases[0].after.steps.len() {
        reject(&|c| drop(c.after.steps.remove(n)));
        reject(&|c| c.after.steps[n] = Step::Never);
        reject(&|c| c.after.steps[n] = Step::Once(Polynomial(vec![(3, vec![])])));
        reject(&|c| c.after.steps[n] = Step::Reroll(3));
        reject(&|c| {
            let none = Polynomial(vec![(1, vec![])]);
            c.after.steps.insert(n, Step::Bounds { lower: vec![none.clone()], upper: vec![none] });
        });
    }
    assert!(rejected >= 30, "{rejected}");
    // A right certificate of another program.
    for (from, to) in [("i + 1", "i"), ("%2, %2", "%0, %2"), ("step 2", "step 4"), ("to %n {", "to 7 {")] {
        assert!(checked(genuine, &UNROLLED.replace(from, to)).is_err(), "{from}");
    }
    let without = certificates(LOOP, UNROLLED, &Options::default(), &mut NoOracle);
    assert!(without[0].1.is_err());
}
