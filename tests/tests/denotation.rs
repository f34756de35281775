//! The standard packs through the harness, and mutants of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_clif::names::trap_code;
use rewright_dsl::program::{Program, RuleId};
use rewright_lab::generate::{Generator, Shape};
use rewright_packs as packs;
use rewright_pipeline::examples;
use rewright_typeprop::Universe;
use rewright_verify::denotation::{DenotationReport, Harness, Laboratory, Limits, Separation, mutants, separations};
use std::path::Path;

fn program() -> Program {
    let root = packs::root(Path::new(packs::DEFAULT)).unwrap();
    let packs = packs::load(vec![root]);
    assert!(packs.diagnostics.is_empty());
    packs.program
}

/// The subjects of all examples, as functions.
fn subjects(program: &Program, universe: &mut Universe) -> Vec<Function> {
    let all = program.examples.iter();
    all.filter_map(|e| examples::subject(universe, e).ok()).collect()
}

fn names(program: &Program, rules: &[RuleId]) -> Vec<String> {
    rules.iter().map(|r| program.rule(*r).name.clone()).collect()
}

#[track_caller]
fn assert_agreement(
    laboratory: &Laboratory,
    universe: &Universe,
    functions: &[Function],
    reports: &[DenotationReport],
) -> u64 {
    for (f, report) in functions.iter().zip(reports) {
        if let Some(d) = report.disagreements.first() {
            let text = rewright_cfg_skeleton::ir::text::print(f, universe);
            panic!("{d}\n{:?}\n{text}", names(laboratory.program(), &d.rules));
        }
    }
    reports.iter().map(|r| r.comparisons).sum()
}

#[test]
fn classes_of_examples_agree() {
    let mut laboratory = Laboratory::new(program(), trap_code).unwrap();
    let mut universe = laboratory.program().universe.clone();
    let functions = subjects(&laboratory.program().clone(), &mut universe);
    let reports = laboratory.check(&functions, &universe, 1, 12, Limits::default()).unwrap();
    assert!(assert_agreement(&laboratory, &universe, &functions, &reports) > 10_000);
}

#[test]
fn classes_of_random_functions_agree() {
    let mut laboratory = Laboratory::new(program(), trap_code).unwrap();
    let universe = laboratory.program().universe.clone();
    let generator = Generator::new(&universe, trap_code("user1"));
    let functions: Vec<Function> = (0..60)
        .map(|seed| {
            let mut f = generator.function(seed, Shape::default());
            normalise(&mut f);
            f
        })
        .collect();
    let reports = laboratory.check(&functions, &universe, 1, 4, Limits { fuel: 5_000, visits: 3 }).unwrap();
    assert!(assert_agreement(&laboratory, &universe, &functions, &reports) > 10_000);
}

/// Mutants of rules all over the packs that the harness misses, of `count`. Each changes a value of a function that
/// its rule matches; those that do not are no mutants.
fn missed(count: usize) -> Vec<String> {
    // With the types that the engine's rules need.
    let program = Laboratory::new(program(), trap_code).unwrap().program().clone();
    let rules = (0..program.rules.len()).map(|i| RuleId(i as u32));
    let rules: Vec<RuleId> = rules.filter(|r| !mutants(&program, *r).is_empty()).collect();
    let (mut tried, mut missed) = (0, vec![]);
    // Co-prime with any number of rules that is no multiple of it, so that all packs come up.
    for draw in 0..rules.len() {
        if tried == count {
            break;
        }
        let rule = rules[draw * 101 % rules.len()];
        let all = mutants(&program, rule);
        let mutant = &all[draw % all.len()];
        let mut alone = mutant.apply(&program);
        alone.rulesets.values_mut().for_each(|rules| rules.retain(|r| *r == rule));
        let mut alone = Laboratory::new(alone, trap_code).unwrap();
        let found = separations(&program, mutant, trap_code, 1).find(|separation| {
            let saturated = alone.saturate(std::slice::from_ref(&separation.function), &separation.universe).unwrap();
            saturated[0].view.applications.iter().any(|a| a.rule == rule)
        });
        let Some(Separation { universe, function, input }) = found else { continue };
        tried += 1;
        let mut changed = Laboratory::new(mutant.apply(&program), trap_code).unwrap();
        let saturated = &changed.saturate(std::slice::from_ref(&function), &universe).unwrap()[0];
        let harness = Harness::new(&function, &universe, &saturated.skeleton, &saturated.view);
        let mut report = DenotationReport::default();
        harness.run(&input, Limits::default(), &mut report);
        if report.disagreements.is_empty() {
            let text = rewright_cfg_skeleton::ir::text::print(&function, &universe);
            missed.push(format!("{}: {}\n{:?}\n{text}", program.rule(rule).name, mutant.change, input.args));
        }
    }
    assert_eq!(tried, count, "too few mutants change a value");
    missed
}

#[test]
fn mutants_are_found() {
    let missed = missed(4);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
#[ignore = "takes a minute"]
fn fifty_mutants_are_found() {
    let missed = missed(50);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
