//! The table against the evaluator: for every model, at every width that it has, on edge values, z3 must agree.
//!
//! z3 is asked whether the table differs from the evaluator anywhere; constants in, constants out.

mod known;

use super::solver::{Answer, Config, Solver};
use super::{Expr, Script, meaning};
use rewright_typeprop::{Evaluation, Model, Repr, Scalar};
use std::time::Duration;

const WORDS: [Repr; 6] = [
    Repr::Scalar(Scalar::I8),
    Repr::Scalar(Scalar::I16),
    Repr::Scalar(Scalar::I32),
    Repr::Scalar(Scalar::I64),
    Repr::Scalar(Scalar::F32),
    Repr::Scalar(Scalar::F64),
];

/// Larger than a word, and the words that go with them.
const LARGER: [Repr; 11] = [
    Repr::Scalar(Scalar::I8),
    Repr::Scalar(Scalar::I32),
    Repr::Scalar(Scalar::I64),
    Repr::Scalar(Scalar::F32),
    Repr::Int128,
    Repr::F16,
    Repr::F128,
    Repr::Lanes(Scalar::I16, 8),
    Repr::Lanes(Scalar::I8, 8),
    Repr::Lanes(Scalar::I32, 4),
    Repr::Lanes(Scalar::F32, 4),
];

/// z3, which the tests need: `scripts/setup.sh` installs it.
fn z3() -> Solver {
    let command = ["z3", "-in"].map(String::from).to_vec();
    Solver::start(Config { command, steps: 0, timeout: Duration::from_secs(120) }).expect("z3 is installed")
}

/// Representations of operands and result at which a model has a meaning: all combinations that the evaluator takes.
fn signatures(model: Model, all: &[Repr]) -> Vec<(Vec<Repr>, Repr)> {
    let mut operands = vec![vec![]];
    for _ in 0..model.arity() {
        operands =
            operands.iter().flat_map(|o: &Vec<Repr>| all.iter().map(|t| [o.as_slice(), &[*t]].concat())).collect();
    }
    let mut found = vec![];
    for types in operands {
        let defined = |result: &&Repr| model.is_defined_at(&types, **result);
        found.extend(all.iter().filter(defined).map(|result| (types.clone(), *result)));
    }
    found
}

/// Operands to try: all pairs of edges, thinned out where there are many.
fn tuples(types: &[Repr], at_most: usize) -> Vec<Vec<i128>> {
    let choices: Vec<Vec<i128>> = types.iter().map(|t| t.edges()).collect();
    let all: usize = choices.iter().map(Vec::len).product();
    // A stride that shares no factor with the sizes visits all of each choice.
    let stride = (all / at_most).max(1) | 1;
    (0..all.min(at_most))
        .map(|n| {
            let mut rest = n * stride % all;
            let pick = |c: &Vec<i128>| {
                let value = c[rest % c.len()];
                rest /= c.len();
                value
            };
            choices.iter().map(pick).collect()
        })
        .collect()
}

fn agrees(solver: &mut Solver, model: Model, types: &[Repr], result: Repr) {
    let mut s = Script::new();
    let mut wrong = vec![];
    let slow = matches!(model, Model::Fma | Model::Sqrt | Model::Fdiv);
    let tuples = tuples(types, if slow { 60 } else { 250 });
    for args in &tuples {
        let operands: Vec<Expr> = types.iter().zip(args).map(|(t, n)| s.bits(t.bits(), t.zero_extended(*n))).collect();
        let Some(m) = meaning(&mut s, model, &operands, result.bits(), result.lanes().is_some()) else {
            // Multipliers for division are tabled at 8 bits only.
            let tabled = matches!(
                model,
                Model::UdivMagic | Model::UdivMagicWide | Model::UdivShift | Model::SdivMagic | Model::SdivShift
            );
            assert!(tabled && result.bits() != 8, "{model:?} {types:?} {result:?} has no meaning in SMT-LIB");
            return;
        };
        let agree = match model.eval_at(types, result, args) {
            Evaluation::Undefined => continue,
            Evaluation::Nan => m.nan,
            Evaluation::Value(value) => {
                let value = s.bits(result.bits(), result.zero_extended(value));
                let (same, number) = (s.equal(m.bits, value), s.not(m.nan));
                s.and(&[same, number])
            }
        };
        wrong.push(s.not(agree));
    }
    assert!(!wrong.is_empty(), "{model:?} {types:?}: nothing was compared");
    let any = s.or(&wrong);
    match solver.ask(&s.asserting(any).text, &[], 1).expect("z3 answers") {
        Answer::Unsat => {}
        Answer::Unknown(why) => panic!("{model:?} {types:?}: {why}"),
        Answer::Sat(_) => {
            let mut differs =
                |e: &Expr| solver.ask(&s.asserting(*e).text, &[], 1).expect("z3 answers") != Answer::Unsat;
            let at: Vec<_> = wrong.iter().zip(&tuples).filter(|(e, _)| differs(e)).map(|(_, t)| t).collect();
            panic!("{model:?} {types:?} -> {result:?} differs from the evaluator at {at:?}");
        }
    }
}

fn agree(models: impl Fn(Model) -> bool) {
    let mut solver = z3();
    for model in Model::ALL.iter().copied().filter(|m| m.memory().is_none() && models(*m)) {
        let signatures = signatures(model, &WORDS);
        assert!(!signatures.is_empty(), "{model:?} has no meaning at any type");
        for (types, result) in signatures {
            agrees(&mut solver, model, &types, result);
        }
    }
}

#[test]
fn integers_agree_with_the_evaluator() {
    agree(|m| m < Model::Fadd && m != Model::Splat && !m.mixes_lanes());
}

#[test]
fn floats_agree_with_the_evaluator() {
    agree(|m| m >= Model::Fadd && !matches!(m, Model::Fma | Model::Sqrt | Model::Fdiv));
}

#[test]
fn slow_floats_agree_with_the_evaluator() {
    agree(|m| matches!(m, Model::Fma | Model::Sqrt | Model::Fdiv));
}

#[test]
fn larger_values_agree_with_the_evaluator() {
    let mut solver = z3();
    let mut models = 0;
    // A caller that asks about `scalar_to_vector` knows which lane it is, and needs no term.
    for model in Model::ALL.iter().copied().filter(|m| m.memory().is_none() && *m != Model::ScalarToVector) {
        let larger = |(types, result): &(Vec<Repr>, Repr)| types.iter().chain([result]).any(|t| t.scalar().is_none());
        let signatures: Vec<_> = signatures(model, &LARGER).into_iter().filter(larger).collect();
        models += usize::from(!signatures.is_empty());
        for (types, result) in signatures {
            agrees(&mut solver, model, &types, result);
        }
    }
    assert!(models > 60, "{models}");
}
