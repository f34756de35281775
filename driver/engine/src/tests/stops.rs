//! Saturation goes on until nothing changes, and says which budget ended it where one did.

use super::fixture::*;
use crate::{Budget, SaturateOptions};
use rewright_cfg_skeleton::egraph::{BudgetKind, EGraphInput, EGraphView, Extent, Stop};
use rewright_dsl::program::{Conclusion, Schedule, ScheduleStep, StepLimits, VarKind};
use rewright_dsl::syntax::ast::Span;
use rewright_typeprop::Term;

/// `f(x, n) => f(x, n - 1)`, and `f(x, 0) => x`: one round more than `n` says. And `g(x) => g(h(x))`, which has no end.
fn countdown(steps: Vec<ScheduleStep>) -> Fixture {
    let mut f = Fixture::new();
    let (bound, i64) = (f.named("Int"), f.named("i64"));
    f.op("f", Some(bound.clone()), vec![T, i64.clone()], T);
    f.op("g", Some(bound.clone()), vec![T], T);
    f.op("h", Some(bound), vec![T], T);
    let counted = |f: &Fixture, n| f.call("f", vec![x(0), n]);
    let at = |name: &str, args| f.call_at(name, vec![i64.clone()], args, None);
    // One less, and nothing less than 0.
    let less = at("umin", vec![x(1), at("isub", vec![x(1), int(1, i64.clone())])]);
    let (left, right) = (counted(&f, x(1)), counted(&f, Term::Eval(Box::new(less))));
    let mut text = f.int_text(2, &[1], left);
    text.vars[1] = VarKind::Value { ty: i64.clone(), constant: true };
    text.right = Conclusion::Equal(right);
    f.rule("arith", "down", text);
    let left = counted(&f, int(0, i64.clone()));
    f.int_rule("last", 1, &[], left, x(0));
    let text = f.int_text(1, &[], f.call("g", vec![x(0)]));
    let right = f.call("g", vec![f.call("h", vec![x(0)])]);
    f.rule("growing", "grow", RuleText { right: Conclusion::Equal(right), ..text });
    f.program.schedules.insert("test.s".into(), Schedule { at: None, steps, span: Span::default() });
    f
}

fn saturate(ruleset: &str, limits: StepLimits) -> ScheduleStep {
    ScheduleStep::Saturate { ruleset: format!("test.{ruleset}"), limits }
}

/// `f(x, n)`.
fn counts(f: &mut Fixture, n: i64) -> EGraphInput {
    let i64 = f.type_of("i64");
    let mut unit = Unit::new(f);
    let (value, number) = (unit.leaf(0, i64), unit.constant(n, i64));
    unit.op("f", i64, &[value, number]);
    unit.input
}

/// `g(x)`.
fn grows(f: &mut Fixture) -> EGraphInput {
    let i64 = f.type_of("i64");
    let mut unit = Unit::new(f);
    let value = unit.leaf(0, i64);
    unit.op("g", i64, &[value]);
    unit.input
}

fn views(f: &mut Fixture, units: &[EGraphInput], budget: &Budget) -> Vec<EGraphView> {
    let options =
        SaturateOptions { schedule: Some("test.s".into()), budget: budget.clone(), ..SaturateOptions::default() };
    let units: Vec<&EGraphInput> = units.iter().collect();
    let mut engine = f.engine();
    engine.saturate(&units, &f.program.universe.types, &options).expect("it runs").0
}

/// Is the last input node in the class of the first?
fn is_done(view: &EGraphView) -> bool {
    view.input_class[0] == *view.input_class.last().expect("inputs")
}

#[test]
fn what_is_saturated_goes_on_until_nothing_changes() {
    let mut f = countdown(vec![saturate("arith", StepLimits::default())]);
    let units: Vec<EGraphInput> = [1, 9, 200].map(|n| counts(&mut f, n)).into();
    for view in views(&mut f, &units, &Budget::default()) {
        assert!(is_done(&view) && view.stops.is_empty(), "{:?}", view.stops);
    }
}

#[test]
fn a_round_limit_is_said_of_the_units_that_meet_it() {
    let limits = StepLimits { rounds: Some(20), ..StepLimits::default() };
    let mut f = countdown(vec![saturate("arith", limits)]);
    let units: Vec<EGraphInput> = [3, 100, 18].map(|n| counts(&mut f, n)).into();
    let views = views(&mut f, &units, &Budget::default());
    assert!(is_done(&views[0]) && !is_done(&views[1]) && is_done(&views[2]));
    assert_eq!(views[0].stops, []);
    let stop = Stop {
        budget: BudgetKind::Rounds,
        limit: 20,
        ruleset: Some("test.arith".into()),
        extent: Extent::Step,
        grew: vec![],
    };
    assert_eq!(views[1].stops, [stop]);
    assert!(!views[1].exhausted());
}

#[test]
fn stops_do_not_depend_on_neighbours() {
    let limits = StepLimits { rounds: Some(20), matches: Some(15), ..StepLimits::default() };
    let mut f = countdown(vec![saturate("arith", limits), saturate("growing", StepLimits::default())]);
    let mut units: Vec<EGraphInput> = (10..26).map(|n| counts(&mut f, n)).collect();
    units.insert(3, grows(&mut f));
    let together = views(&mut f, &units, &Budget::default());
    for (unit, view) in units.iter().zip(&together) {
        let alone = &views(&mut f, std::slice::from_ref(unit), &Budget::default())[0];
        assert_eq!((show(view), &view.stops), (show(alone), &alone.stops));
    }
    assert!(together.iter().any(|view| view.stops.is_empty()), "some are done");
    assert!(together.iter().flat_map(|view| &view.stops).any(|stop| stop.budget == BudgetKind::Matches));
}

#[test]
fn a_step_that_is_cut_short_does_not_end_the_run() {
    let limits = StepLimits { matches: Some(5), ..StepLimits::default() };
    let mut f = countdown(vec![saturate("growing", limits), saturate("arith", StepLimits::default())]);
    let i64 = f.type_of("i64");
    let mut unit = Unit::new(&f);
    let (value, number) = (unit.leaf(0, i64), unit.constant(30, i64));
    unit.op("g", i64, &[value]);
    unit.op("f", i64, &[value, number]);
    let unit = unit.input;
    let view = &views(&mut f, &[unit], &Budget::default())[0];
    assert!(is_done(view), "the second step ran to its end");
    let [Stop { budget: BudgetKind::Matches, limit: 5, extent: Extent::Step, .. }] = view.stops[..] else {
        panic!("{:?}", view.stops)
    };
}

#[test]
fn a_budget_of_the_run_names_the_rules_that_grew() {
    let mut f = countdown(vec![saturate("arith", StepLimits::default()), saturate("growing", StepLimits::default())]);
    let unit = grows(&mut f);
    for (budget, kind, limit) in [
        (Budget::default().with(BudgetKind::Matches, 50), BudgetKind::Matches, 50),
        (Budget::default().with(BudgetKind::Steps, 30), BudgetKind::Steps, 30),
        (Budget::default().with(BudgetKind::Nodes, 64), BudgetKind::Nodes, 64),
    ] {
        let view = &views(&mut f, std::slice::from_ref(&unit), &budget)[0];
        assert!(view.exhausted());
        let [stop] = &view.stops[..] else { panic!("{:?}", view.stops) };
        assert_eq!((stop.budget, stop.limit, stop.extent), (kind, limit, Extent::Run));
        assert_eq!(stop.ruleset.as_deref(), Some("test.growing"));
        let [grew] = stop.grew[..] else { panic!("{:?}", stop.grew) };
        assert_eq!(f.program.rule(grew.rule).name, "test.growing.grow");
        assert!(grew.matches > 0 && grew.nodes == 2 * grew.matches, "{grew:?}");
    }
    // By default, rounds end it.
    let view = &views(&mut f, std::slice::from_ref(&unit), &Budget::default())[0];
    assert_eq!(view.stops.iter().map(|stop| stop.budget).collect::<Vec<_>>(), [BudgetKind::Rounds]);
}

#[test]
fn steps_are_those_of_a_unit_whatever_its_batch() {
    let mut f = countdown(vec![saturate("arith", StepLimits::default())]);
    // Together they would take 5,050 rounds one after the other, and take 100.
    let units: Vec<EGraphInput> = (1..=100).map(|n| counts(&mut f, n)).collect();
    let budget = Budget::default().with(BudgetKind::Steps, 60);
    for (n, view) in (1..).zip(views(&mut f, &units, &budget)) {
        assert_eq!(is_done(&view), n < 60, "{n}: {:?}", view.stops);
        assert_eq!(view.exhausted(), n > 58, "{n}: {:?}", view.stops);
    }
}

#[test]
fn repetitions_without_a_number_go_on_until_nothing_changes() {
    let once = || ScheduleStep::Run { ruleset: "test.arith".into(), limits: StepLimits::default() };
    let mut f = countdown(vec![ScheduleStep::Repeat { count: None, steps: vec![once()] }]);
    let unit = counts(&mut f, 300);
    let view = &views(&mut f, std::slice::from_ref(&unit), &Budget::default())[0];
    assert!(is_done(view) && view.stops.is_empty(), "{:?}", view.stops);
    let view = &views(&mut f, &[unit], &Budget::default().with(BudgetKind::Rounds, 250))[0];
    let [Stop { budget: BudgetKind::Rounds, limit: 250, ruleset: None, .. }] = view.stops[..] else {
        panic!("{:?}", view.stops)
    };
}
