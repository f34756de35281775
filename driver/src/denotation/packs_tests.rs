//! The standard packs through the harness, and mutants of them.

use super::*;
use crate::clif::names::trap_code;
use crate::generate::{Generator, Shape};
use crate::{examples, packs};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_dsl::program::{Program, RuleId};
use std::collections::BTreeMap;
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
    all.filter_map(|e| examples::build::subject(universe, e).ok()).collect()
}

fn names(program: &Program, rules: &[u32]) -> Vec<String> {
    rules.iter().map(|r| program.rules[*r as usize].name.clone()).collect()
}

#[track_caller]
fn assert_agreement(laboratory: &Laboratory, universe: &Universe, functions: &[Function], reports: &[Report]) -> u64 {
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

/// How many of `count` mutants disagree somewhere on the functions that the rule matches in the original program,
/// and a line for each that does not.
fn hunt(count: usize) -> (usize, usize, Vec<String>) {
    let mut laboratory = Laboratory::new(program(), trap_code).unwrap();
    let program = laboratory.program().clone();
    let mut universe = program.universe.clone();
    let functions = subjects(&program, &mut universe);
    let saturated = laboratory.saturate(&functions, &universe).unwrap();
    let mut matched: BTreeMap<RuleId, Vec<usize>> = BTreeMap::new();
    for (i, s) in saturated.iter().enumerate() {
        for application in &s.view.applications {
            let users = matched.entry(RuleId(application.rule)).or_default();
            if users.last() != Some(&i) {
                users.push(i);
            }
        }
    }
    // Rules spread over the packs, and one place in each.
    let rules: Vec<RuleId> = matched.keys().copied().filter(|r| !mutants(&program, *r).is_empty()).collect();
    let (mut tried, mut found, mut missed) = (0, 0, vec![]);
    for i in 0..count.min(rules.len()) {
        let rule = rules[i * rules.len() / count.min(rules.len())];
        let all = mutants(&program, rule);
        let mutant = &all[i % all.len()];
        let subjects: Vec<Function> = matched[&rule].iter().take(20).map(|f| functions[*f].clone()).collect();
        let mut changed = Laboratory::new(mutant.apply(&program), trap_code).unwrap();
        let reports = changed.check(&subjects, &universe, 1, 96, Limits::default()).unwrap();
        tried += 1;
        if reports.iter().any(|r| !r.disagreements.is_empty()) {
            found += 1;
        } else {
            missed.push(format!("{}: {}", program.rule(rule).name, mutant.change));
        }
    }
    (tried, found, missed)
}

#[test]
fn mutants_are_found() {
    let (tried, found, missed) = hunt(3);
    assert!(found * 3 >= tried * 2, "{found} of {tried}; missed: {missed:#?}");
}

#[test]
#[ignore = "takes minutes"]
fn fifty_mutants_are_found() {
    // The others are right by chance: `n <= 0` for `n == 0`, unsigned.
    let (tried, found, missed) = hunt(50);
    let known = ["ne_ctz_zero: icmp_eq became icmp_ule", "rotl_rotl_const: 0 became 1"];
    let missed: Vec<_> = missed.into_iter().filter(|m| !known.iter().any(|k| m.ends_with(k))).collect();
    let tried = tried - known.len().min(tried - found - missed.len());
    assert!(found * 10 >= tried * 9, "{found} of {tried}; missed: {missed:#?}");
}
