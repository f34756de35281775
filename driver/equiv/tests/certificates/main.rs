//! Genuine certificates are accepted; none that says what is wrong, or leaves out what is needed.
//!
//! A corrupted certificate counts if a run shows that what it says is false, or that it says nothing of something that is
//! executed. `REWRIGHT_CORRUPTED=1000` tries that many of each kind.

mod cases;
mod corrupted;
mod ran;

use corrupted::Corruption;
use ran::Ran;
use rand::{Rng as _, SeedableRng as _};
use rewright_cfg_skeleton::nest::certificate::{Certificate, Reason};
use rewright_cfg_skeleton::nest::datapath::NoOracle;
use rewright_cfg_skeleton::nest::{Assumption, Var};
use rewright_equiv::nests::{Checker, Rejected};
use rewright_equiv::{SOLVER, SOLVER_STEPS};
use rewright_mlir::{Certified, Options, Pair, certificates, pairs};
use std::collections::BTreeMap;

fn checker() -> Checker {
    Checker::new(SOLVER.split_whitespace().map(String::from).collect(), SOLVER_STEPS)
}

/// Two versions of a function.
struct Versions {
    before: String,
    after: String,
}

fn versions(arguments: &str, before: &str, after: &str) -> Versions {
    let text = |body: &str| format!("func.func private @ext(f64)\nfunc.func @f({arguments}) {{\n{body}\nreturn\n}}\n");
    Versions { before: text(before), after: text(after) }
}

impl Versions {
    fn pair(&self) -> Pair {
        let (_, pair) = pairs(&self.before, &self.after).pop().expect("a function");
        pair.expect("two nests")
    }

    fn certificate(&self) -> Certificate {
        let (_, found) = self.certificates(&Options::default()).pop().expect("a function");
        found.unwrap_or_else(|reason| panic!("{reason}\n{}", self.after))
    }

    fn certificates(&self, options: &Options) -> Certified {
        certificates(&self.before, &self.after, options, &mut NoOracle)
    }

    fn check(&self, certificate: &Certificate) -> Result<(), Rejected> {
        let Pair { mut pool, before, after, .. } = self.pair();
        checker().check(certificate, (&before, &after), &mut pool, &mut NoOracle)
    }

    /// Runs of both versions, after all steps of the first case, on small sizes that it is about.
    fn runs(&self, certificate: &Certificate) -> Vec<[Ran; 2]> {
        let Pair { mut pool, before, after, .. } = self.pair();
        let case = &certificate.cases[0];
        let nests = checker().after_steps((certificate, case), (&before, &after), &mut pool).expect("genuine steps");
        let conditions = case.precondition.iter().map(|text| {
            text.parse::<Assumption>().expect("a condition").condition(&before.sizes).expect("sizes that there are")
        });
        let conditions: Vec<_> = conditions.collect();
        let mut runs = vec![];
        for n in [0, 1, 2, 3, 5, 6, 9] {
            let sizes = before.sizes.iter().enumerate().map(|(k, size)| (size.var, n + k as i128 % 2));
            let sizes: BTreeMap<Var, i128> = sizes.collect();
            let is_allowed = conditions.iter().all(|(sum, is_zero)| {
                let value = sum.eval(&|var| sizes.get(&var).copied()).expect("sizes have values");
                value == 0 || (value > 0 && !is_zero)
            });
            if is_allowed {
                runs.push([Ran::new(&nests.0, &pool, sizes.clone()), Ran::new(&nests.1, &pool, sizes)]);
            }
        }
        runs
    }
}

fn by_cells() -> Vec<Versions> {
    let product = |loops: [&str; 3], close: &str| {
        format!(
            "affine.for {} {{ affine.for {} {{ affine.for {} {{
               %0 = affine.load %a[%i, %k] : memref<?x?xf64>
               %1 = affine.load %b[%k, %j] : memref<?x?xf64>
               %2 = arith.mulf %0, %1 : f64
               %3 = affine.load %c[%i, %j] : memref<?x?xf64>
               %4 = arith.addf %3, %2 : f64
               affine.store %4, %c[%i, %j] : memref<?x?xf64>
             }} }} }} {close}",
            loops[0], loops[1], loops[2]
        )
    };
    let [i, j, k] = ["%i = 0 to %n", "%j = 0 to %m", "%k = 0 to %n"];
    let two = "%n: index, %a: memref<?xf64>, %b: memref<?xf64>";
    let smooth = "%0 = affine.load %a[%i] : memref<?xf64>\n%1 = affine.load %a[%i + 1] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64";
    vec![
        versions(
            "%n: index, %m: index, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>",
            &product([i, j, k], ""),
            &product([k, i, j], ""),
        ),
        versions(
            two,
            &format!(
                "affine.for %i = 0 to %n {{ {smooth}\naffine.store %2, %b[%i] : memref<?xf64> }}
                 affine.for %i = 0 to %n {{ %3 = affine.load %b[%i] : memref<?xf64>
                 %4 = arith.mulf %3, %3 : f64\naffine.store %4, %b[%i] : memref<?xf64> }}"
            ),
            &format!(
                "affine.for %i = 0 to %n {{ {smooth}\n%4 = arith.mulf %2, %2 : f64
                 affine.store %4, %b[%n - 1 - (%n - 1 - %i)] : memref<?xf64> }}"
            ),
        ),
        versions(
            two,
            &format!("affine.for %i = 0 to %n {{ {smooth}\naffine.store %2, %b[%i] : memref<?xf64> }}"),
            &format!(
                "affine.for %j = 0 to %n {{ affine.for %i = affine_map<(d)[s] -> (s - 1 - d)>(%j)[%n] to
                 affine_map<(d)[s] -> (s - d)>(%j)[%n] {{ {smooth}\naffine.store %2, %b[%i] : memref<?xf64> }} }}"
            ),
        ),
        versions(
            two,
            "affine.for %i = 1 to %n { %0 = affine.load %a[%i - 1] : memref<?xf64>
               %1 = affine.load %b[%i] : memref<?xf64>\n%2 = arith.subf %0, %1 : f64
               affine.store %2, %a[%i] : memref<?xf64> }",
            "%m = memref.alloc() : memref<1xf64>
             affine.for %i = 1 to %n { %0 = affine.load %a[%i - 1] : memref<?xf64>
               affine.store %0, %m[0] : memref<1xf64>
               %1 = affine.load %b[%i] : memref<?xf64>\n%3 = affine.load %m[0] : memref<1xf64>
               %2 = arith.subf %3, %1 : f64\naffine.store %2, %a[%i] : memref<?xf64> }",
        ),
        versions(
            "%a: memref<10x10xf64>",
            "affine.for %t = 0 to 4 { affine.for %i = 1 to 9 { affine.for %j = 1 to 9 {
               %0 = affine.load %a[%i - 1, %j] : memref<10x10xf64>\n%1 = affine.load %a[%i, %j - 1] : memref<10x10xf64>
               %2 = arith.addf %0, %1 : f64\naffine.store %2, %a[%i, %j] : memref<10x10xf64> } } }",
            "affine.for %t = 0 to 4 { affine.for %j = 1 to 9 { affine.for %i = 1 to 9 {
               %0 = affine.load %a[%i - 1, %j] : memref<10x10xf64>\n%1 = affine.load %a[%i, %j - 1] : memref<10x10xf64>
               %2 = arith.addf %0, %1 : f64\naffine.store %2, %a[%i, %j] : memref<10x10xf64> } } }",
        ),
    ]
}

fn by_order() -> Vec<Versions> {
    let buckets = |outer: &str, inner: &str| {
        format!(
            "affine.for {outer} {{ affine.for {inner} {{
               %0 = affine.load %x[%i] : memref<?xi32>
               %d = arith.index_cast %0 : i32 to index
               %1 = memref.load %h[%j, %d] : memref<?x?xf64>
               %2 = affine.load %w[%i, %j] : memref<?x?xf64>
               %3 = arith.addf %1, %2 : f64
               memref.store %3, %h[%j, %d] : memref<?x?xf64>
             }} }}"
        )
    };
    let quotients = |outer: &str, inner: &str| {
        format!(
            "affine.for {outer} {{ affine.for {inner} {{
               %0 = affine.load %a[%i, %j] : memref<?x?xi32>\n%1 = affine.load %b[%j] : memref<?xi32>
               %2 = arith.divsi %0, %1 : i32\naffine.store %2, %a[%i, %j] : memref<?x?xi32>
             }} }}"
        )
    };
    let call = "%0 = affine.load %a[%i] : memref<?xf64>\nfunc.call @ext(%0) : (f64) -> ()";
    let store = "affine.store %x, %m[%i] : memref<8xf64>";
    let own = |body: &str| {
        format!(
            "%m = memref.alloc() : memref<8xf64>\n{body}
             affine.for %i = 0 to 8 {{ %1 = affine.load %m[%i] : memref<8xf64>
             affine.store %1, %a[%i] : memref<?xf64> }}"
        )
    };
    let (i, j) = ("%i = 0 to %n", "%j = 0 to %m");
    vec![
        versions(
            "%n: index, %m: index, %x: memref<?xi32>, %h: memref<?x?xf64>, %w: memref<?x?xf64>",
            &buckets(i, j),
            &buckets(j, i),
        ),
        versions("%n: index, %m: index, %a: memref<?x?xi32>, %b: memref<?xi32>", &quotients(i, j), &quotients(j, i)),
        versions(
            "%n: index, %a: memref<?xf64>, %x: f64",
            &own(&format!("affine.for %i = 0 to 8 {{ {call}\n{store} }}")),
            &own(&format!("affine.for %i = 0 to 8 {{ {call} }}\naffine.for %i = 0 to 8 {{ {store} }}")),
        ),
    ]
}

/// Corrupts certificates, and checks those that say what is wrong.
#[expect(clippy::print_stdout, reason = "with `--nocapture`, what was tried is of interest")]
fn corrupt(all: &[Versions], is_kind: impl Fn(&Reason) -> bool) {
    let wanted: usize = std::env::var("REWRIGHT_CORRUPTED").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let (mut corrupted, mut kinds) = (0, BTreeMap::<Corruption, usize>::new());
    let genuine: Vec<_> = all.iter().map(|of| (of, of.certificate())).collect();
    let genuine: Vec<_> = genuine.into_iter().map(|(of, found)| (of, of.runs(&found), found)).collect();
    for (of, runs, certificate) in &genuine {
        let reason = &certificate.cases[0].reason;
        assert!(is_kind(reason), "{reason:?}\n{}", of.after);
        assert_eq!(of.check(certificate), Ok(()), "{}", of.after);
        assert_eq!(corrupted::wrong(reason, runs), None, "{certificate:?}\n{}", of.after);
    }
    for _ in 0..wanted * 50 {
        let (of, runs, certificate) = &genuine[rng.random_range(0..genuine.len())];
        let mut other = certificate.clone();
        let Some(kind) = corrupted::corrupt(&mut other.cases[0].reason, &mut rng) else { continue };
        let Some(why) = corrupted::wrong(&other.cases[0].reason, runs) else { continue };
        assert!(of.check(&other).is_err(), "{kind:?} is accepted, but {why}:\n{other:?}\n{}", of.after);
        corrupted += 1;
        *kinds.entry(kind).or_default() += 1;
        if corrupted == wanted {
            break;
        }
    }
    println!("{corrupted} corrupted certificates, none accepted: {kinds:?}");
    assert_eq!(corrupted, wanted, "{kinds:?}");
}

#[test]
fn corrupted_certificates_of_cells_are_rejected() {
    corrupt(&by_cells(), |reason| matches!(reason, Reason::Cells(_)));
}

#[test]
fn corrupted_certificates_of_orders_are_rejected() {
    corrupt(&by_order(), |reason| matches!(reason, Reason::Order(_)));
}

/// A certificate is about two programs, and no others.
#[test]
fn certificates_of_other_programs_are_rejected() {
    for of in by_cells().iter().chain(&by_order()) {
        let certificate = of.certificate();
        for (from, to) in
            [("%i]", "%i + 1]"), ("addf", "mulf"), ("to %n", "to 7"), ("[%i", "[%i + 2"), ("divsi", "divui")]
        {
            let after = of.after.replacen(from, to, 1);
            if after != of.after {
                let other = Versions { before: of.before.clone(), after };
                assert!(other.check(&certificate).is_err(), "{from} to {to}\n{}", other.after);
            }
        }
    }
}
