//! Calls that write and give a value: what is left of two, and what the validator says of wrong answers.

use super::*;
use crate::ir::{Access, RegionId};
use crate::skeleton::StatementKind;
use rewright_typeprop::ops::{Cost, OpParam};
use rewright_typeprop::{Effects, Op, TypeExpr, TypeParam};

/// The test universe with `set{T}(p: T, x: T) -> T`, which reads and writes memory.
fn with_set() -> Universe {
    let mut u = universe();
    let param = |name: &str| OpParam { name: name.into(), ty: TypeExpr::Param(0), constant: false };
    let memory = vec!["memory".to_string()];
    let set = u.ops.declare(Op {
        tparams: vec![TypeParam { name: "T".into(), bound: None }],
        effects: Effects { reads: memory.clone(), writes: memory, ..Effects::default() },
        cost: Cost::Fixed(40),
        ..Op::new("set", vec![param("p"), param("x")], vec![TypeExpr::Param(0)])
    });
    u.ops.declare_parts(set);
    u
}

/// What a rule has said of the second of two calls.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Nothing,
    /// It leaves behind what it would without the first one.
    State,
    /// It gives the same, too.
    Whole,
}

/// `set(p, x); set(p, y)`; the values of these calls are returned.
fn two_calls<'u>(u: &'u Universe, returned: &[usize], said: Said) -> Case<'u> {
    let mut b = Builder::new(u, &["i64", "i64", "i64"]);
    let [p, x, y] = std::array::from_fn(|i| b.param(crate::ir::BlockId(0), i));
    let access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: false };
    let calls = [x, y].map(|value| {
        let inst = b.inst("set", "i64", &[p, value], Some(access));
        b.function.inst(inst).results[0]
    });
    b.ret(&returned.iter().map(|n| calls[*n]).collect::<Vec<_>>());
    let mut case = Case::new(&b, u);
    let parts = u.ops.get(op_id(u, "set")).parts.expect("it has parts");
    let [p, y] = [p, y].map(|value| case.input(value));
    let (state, value) = (Head::Op(parts.state), Head::Op(parts.value));
    let before = case.skeleton.live[0][0];
    let after = |n: usize| match &case.skeleton.statements[n].kind {
        StatementKind::Call { node, after: Some(after), .. } => (*node, after.out),
        other => panic!("{other:?}"),
    };
    let ((_, first), (given, second)) = (after(0), after(1));
    let ours = case.add(value, "i64", &[p, y, first]);
    case.unite(given, ours);
    if said != Said::Nothing {
        let there = case.add(state, "i64", &[p, y, before]);
        case.unite(second, there);
    }
    if said == Said::Whole {
        let there = case.add(value, "i64", &[p, y, before]);
        case.unite(ours, there);
    }
    case
}

#[test]
fn a_call_that_is_hidden_goes_unless_its_value_is_taken() {
    let u = with_set();
    for (returned, said, left) in [
        (&[][..], Said::Whole, 1),
        (&[1], Said::Whole, 1),
        (&[0], Said::Whole, 2),
        (&[0, 1], Said::Whole, 2),
        (&[1], Said::State, 2),
        (&[1], Said::Nothing, 2),
    ] {
        let out = two_calls(&u, returned, said).optimised();
        assert_eq!(listing(&out, &u), vec!["set"; left], "{returned:?}");
    }
}

/// The program without one of the calls, which nothing or half of what is needed has been said of.
fn without(case: &Case<'_>, site: u32) -> Vec<Violation> {
    let mut selection = case.select(Method::Greedy);
    assert!(case.validate(&selection).is_empty());
    let executed = crate::select::executed(&case.view, SiteId(site));
    selection.statements[site as usize] = StatementChoice::Drop;
    selection.defs.retain(|(_, class), _| *class != executed);
    case.validate(&selection)
}

#[test]
fn the_validator_asks_for_the_state_and_the_value() {
    let u = with_set();
    for said in [Said::Nothing, Said::State] {
        let found = without(&two_calls(&u, &[1], said), 0);
        assert!(found.contains(&Violation::WriteInOtherState(SiteId(1))), "{found:?}");
    }
    let found = without(&two_calls(&u, &[], Said::Nothing), 1);
    assert!(found.iter().any(|violation| matches!(violation, Violation::Observed(..))), "{found:?}");
}
