//! The table against the evaluator: for every model, at every width that it has, on edge values, z3 must agree.
//!
//! z3 is asked whether the table differs from the evaluator anywhere; constants in, constants out.

use super::solver::{Answer, Config, Solver};
use super::{Expr, Script, meaning};
use crate::verify::sample::edges;
use rewright_typeprop::{Model, Outcome, Scalar};
use std::time::Duration;

const ALL: [Scalar; 6] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];

/// z3, which the tests need: `scripts/setup.sh` installs it.
fn z3() -> Solver {
    let command = ["z3", "-in"].map(String::from).to_vec();
    Solver::start(Config { command, steps: 0, timeout: Duration::from_secs(120) }).expect("z3 is installed")
}

/// Representations of operands and result at which a model has a meaning: all combinations that the evaluator takes.
fn signatures(model: Model) -> Vec<(Vec<Scalar>, Scalar)> {
    let mut operands = vec![vec![]];
    for _ in 0..model.arity() {
        operands = operands.iter().flat_map(|o: &Vec<Scalar>| ALL.map(|t| [o.as_slice(), &[t]].concat())).collect();
    }
    let mut found = vec![];
    for types in operands {
        for result in ALL {
            let zeros = vec![0; types.len()];
            if model.eval(&types, result, &zeros) != Outcome::Undefined {
                found.push((types.clone(), result));
            }
        }
    }
    found
}

/// Operands to try: all pairs of edges, thinned out where there are many.
fn tuples(types: &[Scalar], at_most: usize) -> Vec<Vec<i64>> {
    let choices: Vec<Vec<i64>> = types.iter().map(|t| edges(*t)).collect();
    let all: usize = choices.iter().map(Vec::len).product();
    // A stride that shares no factor with the sizes visits all of each choice.
    let stride = (all / at_most).max(1) | 1;
    (0..all.min(at_most))
        .map(|n| {
            let mut rest = n * stride % all;
            let pick = |c: &Vec<i64>| {
                let value = c[rest % c.len()];
                rest /= c.len();
                value
            };
            choices.iter().map(pick).collect()
        })
        .collect()
}

fn agrees(solver: &mut Solver, model: Model, types: &[Scalar], result: Scalar) {
    let mut s = Script::new();
    let mut wrong = vec![];
    let slow = matches!(model, Model::Fma | Model::Sqrt | Model::Fdiv);
    let tuples = tuples(types, if slow { 60 } else { 250 });
    for args in &tuples {
        let operands: Vec<Expr> =
            types.iter().zip(args).map(|(t, n)| s.bits(t.bits(), t.zero_extended(*n).into())).collect();
        let Some(m) = meaning(&mut s, model, &operands, result.bits()) else {
            // Multipliers for division are tabled at 8 bits only.
            let tabled = matches!(
                model,
                Model::UdivMagic | Model::UdivMagicWide | Model::UdivShift | Model::SdivMagic | Model::SdivShift
            );
            assert!(tabled && result != Scalar::I8, "{model:?} {types:?} {result:?} has no meaning in SMT-LIB");
            return;
        };
        let agree = match model.eval(types, result, args) {
            Outcome::Undefined => continue,
            Outcome::Nan => m.nan,
            Outcome::Value(value) => {
                let value = s.bits(result.bits(), result.zero_extended(value).into());
                let (same, number) = (s.equal(m.bits, value), s.not(m.nan));
                s.and(&[same, number])
            }
        };
        wrong.push(s.not(agree));
    }
    assert!(!wrong.is_empty(), "{model:?} {types:?}: nothing was compared");
    let any = s.or(&wrong);
    match solver.ask(&s.asserting(any), &[]).expect("z3 answers") {
        Answer::Unsat => {}
        Answer::Unknown(why) => panic!("{model:?} {types:?}: {why}"),
        Answer::Sat(_) => {
            let mut differs = |e: &Expr| solver.ask(&s.asserting(*e), &[]).expect("z3 answers") != Answer::Unsat;
            let at: Vec<_> = wrong.iter().zip(&tuples).filter(|(e, _)| differs(e)).map(|(_, t)| t).collect();
            panic!("{model:?} {types:?} -> {result:?} differs from the evaluator at {at:?}");
        }
    }
}

fn agree(models: impl Fn(Model) -> bool) {
    let mut solver = z3();
    for model in Model::ALL.iter().copied().filter(|m| m.memory().is_none() && models(*m)) {
        let signatures = signatures(model);
        assert!(!signatures.is_empty(), "{model:?} has no meaning at any type");
        for (types, result) in signatures {
            agrees(&mut solver, model, &types, result);
        }
    }
}

#[test]
fn integers_agree_with_the_evaluator() {
    agree(|m| m < Model::Fadd && m != Model::Splat);
}

#[test]
fn floats_agree_with_the_evaluator() {
    agree(|m| m >= Model::Fadd && !matches!(m, Model::Fma | Model::Sqrt | Model::Fdiv));
}

#[test]
fn slow_floats_agree_with_the_evaluator() {
    agree(|m| matches!(m, Model::Fma | Model::Sqrt | Model::Fdiv));
}
