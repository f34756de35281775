//! Every rule of the standard packs, both sides evaluated at every type instance: on edges and random values, and
//! exhaustively at 8 bits where there are at most two variables. Guards are respected; a rule must fire somewhere.
//!
//! This needs no solver; `rewright verify` begins with the same values.

use rewright_dsl::diagnostic::{Severity, render};
use rewright_dsl::program::{Conclusion, Program, RuleId};
use rewright_packs::{DEFAULT, load, root};
use rewright_typeprop::Term;
use rewright_verify::{Trial, try_rule};
use std::path::Path;

/// Where random values begin.
const SEED: u64 = 1;

fn standard() -> Program {
    let packs = load(vec![root(Path::new(DEFAULT)).expect("the standard packs ship")]);
    let errors: Vec<_> = packs.diagnostics.into_iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{}", render(&errors, &packs.sources, false));
    packs.program
}

/// What is wrong with a rule.
fn faults(program: &Program, trial: &Trial) -> Vec<String> {
    let name = &program.rule(trial.rule).name;
    let mut faults: Vec<String> = vec![];
    faults.extend(trial.untried.iter().map(|types| format!("{name} at {types}: a side has no meaning")));
    for (types, c) in &trial.wrong {
        faults.push(format!("{name} at {types}: {} is not {} where {:?}", c.left, c.right, c.values));
    }
    if faults.is_empty() && trial.agreed == 0 {
        faults.push(format!("{name}: no assignment was compared"));
    }
    faults
}

fn verify_pack(pack: &str) {
    let program = standard();
    let own = (0..program.rules.len() as u32).map(RuleId);
    let own: Vec<RuleId> = own.filter(|r| program.rule(*r).name.starts_with(&format!("{pack}."))).collect();
    assert!(!own.is_empty(), "no rules in {pack}");
    let found: Vec<String> = own.iter().flat_map(|r| faults(&program, &try_rule(&program, *r, SEED))).collect();
    assert!(found.is_empty(), "{} of {} rules:\n{}", found.len(), own.len(), found.join("\n"));
}

macro_rules! packs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            verify_pack(concat!("std.", stringify!($name)));
        }
    )*};
}
packs!(core wide_types fold arith bits shifts compare conditions select extend float memory int128 lanes);

/// A wrong rule is found: the neighbour of each right one that is tempting.
#[test]
fn finds_wrong_rules() {
    let mut program = standard();
    for name in ["std.arith.division.udiv_pow2", "std.compare.direction.sgt", "std.shifts.chains.rotl_back"] {
        let id = program.rules.iter().position(|r| r.name == name).expect(name);
        match &mut program.rules[id].right {
            Conclusion::Equal(Term::Call { args, .. }) => args.reverse(),
            Conclusion::Equal(right) => *right = Term::Var(1),
            Conclusion::Fact(..) => unreachable!("{name} is an equality"),
        }
        let trial = try_rule(&program, RuleId(id as u32), SEED);
        assert!(!trial.wrong.is_empty(), "{name}");
    }
}
