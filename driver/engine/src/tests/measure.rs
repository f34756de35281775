//! Times, by hand: `cargo test -p rewright-engine measure -- --ignored --nocapture`.

use super::fixture::*;
use crate::{Engine, SaturateOptions};
use rewright_cfg_skeleton::egraph::EGraphInput;
use rewright_dsl::egglog::{compile, intern_types};
use std::sync::Arc;
use std::time::Instant;

/// Arithmetic, and as many other operations and rules as a pack has.
fn large(ops: usize, rules: usize) -> Fixture {
    let mut f = Fixture::with_arithmetic();
    let int = Some(f.named("Int"));
    for i in 0..ops {
        f.op(&format!("other{i}"), int.clone(), vec![T, T], T);
    }
    for i in 0..rules {
        let (a, b, c) = (format!("other{}", i % ops), format!("other{}", i * 7 % ops), ["iadd", "isub", "imul"][i % 3]);
        let left = f.call(&a, vec![f.call(c, vec![x(0), x(1)]), f.call(&b, vec![x(0), int_lit(i)])]);
        let right = f.call(&b, vec![x(1), x(0)]);
        f.int_rule(&format!("other{i}"), 2, &[], left, right);
    }
    f
}

fn int_lit(i: usize) -> rewright_typeprop::Term {
    super::fixture::int(i as i128 % 100, T)
}

pub(super) fn random_units(f: &mut Fixture, count: usize, nodes: usize) -> Vec<EGraphInput> {
    let types = ["i8", "i16", "i32", "i64"].map(|name| f.type_of(name));
    let and = if f.program.universe.ops.by_unique("iand").is_some() { "iand" } else { "band" };
    let names = ["iadd", "imul", "isub", and, "ishl", "umin"];
    let mut seed = 12345u64;
    let mut random = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let mut units = Vec::new();
    for _ in 0..count {
        let mut unit = Unit::new(f);
        let ty = types[random(4)];
        let mut ids = vec![unit.leaf(0, ty), unit.leaf(1, ty)];
        ids.extend([0, 1, 2, -1, 65_535].map(|n| unit.constant(n, ty)));
        while ids.len() < nodes {
            let name = names[random(names.len())];
            let recent = ids.len().min(20);
            let args = [ids[ids.len() - 1 - random(recent)], ids[random(ids.len())]];
            ids.push(unit.op(name, ty, &args));
        }
        units.push(unit.input);
    }
    units
}

#[test]
#[ignore = "a measurement"]
fn measure() {
    for (ops, rules) in [(20, 40), (80, 150), (80, 400)] {
        let mut f = large(ops, rules);
        let units = random_units(&mut f, 200, 50);
        intern_types(&mut f.program);
        let start = Instant::now();
        let compiled = Arc::new(compile(&f.program));
        let compile_time = start.elapsed();
        let source = Arc::new(f.program.clone());
        let start = Instant::now();
        let mut engine = Engine::prepare(&compiled, &source).unwrap();
        eprintln!(
            "{} rules, {} tables: compile {compile_time:?}, prepare {:?}",
            compiled.rules.len(),
            compiled.tables.len(),
            start.elapsed()
        );
        let all: Vec<&EGraphInput> = units.iter().collect();
        for log in [false, true] {
            let options = SaturateOptions { log, ..SaturateOptions::default() };
            engine.saturate(&all[..1], &f.program.universe.types, &options).unwrap();
            let (views, report) = engine.saturate(&all, &f.program.universe.types, &options).unwrap();
            let nodes: usize = views.iter().map(|v| v.nodes.len()).sum();
            eprintln!(
                "  log {log}: {} units of 50 -> {nodes} nodes, {} batches, {} steps, {:?}",
                units.len(),
                report.batches,
                report.steps,
                report.times
            );
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn measure_sizes() {
    let mut f = large(80, 150);
    let mut engine = f.engine();
    for nodes in [10, 100, 1_000, 10_000, 100_000] {
        let units = random_units(&mut f, 1, nodes);
        let (views, report) =
            engine.saturate(&[&units[0]], &f.program.universe.types, &SaturateOptions::default()).unwrap();
        eprintln!("{nodes}: {} nodes, exhausted {}, {:?}", views[0].nodes.len(), views[0].exhausted(), report.times);
    }
}

/// Time on a processor: the machine may be shared.
fn cpu() -> std::time::Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0);
    std::time::Duration::from_nanos(nanos)
}

#[test]
#[ignore = "a measurement"]
fn measure_prepare() {
    for rules in [125, 250, 500, 1_000] {
        let mut f = large(80, rules);
        intern_types(&mut f.program);
        let compiled = Arc::new(compile(&f.program));
        let source = Arc::new(f.program.clone());
        let start = cpu();
        let mut engine = Engine::prepare(&compiled, &source).unwrap();
        let prepared = cpu();
        engine.saturate(&[&EGraphInput::default()], &f.program.universe.types, &SaturateOptions::default()).unwrap();
        eprintln!("{} rules: prepare {:?}, empty {:?}", compiled.rules.len(), prepared - start, cpu() - prepared);
    }
}

#[test]
#[ignore = "a measurement"]
fn measure_packs() {
    let root = rewright_packs::root(std::path::Path::new("std.default")).unwrap();
    let mut packs = rewright_packs::load(vec![root]);
    intern_types(&mut packs.program);
    let start = Instant::now();
    let compiled = Arc::new(compile(&packs.program));
    eprintln!(
        "{} rules -> {} egglog rules, {} tables, {} primitives, {} rulesets, compile {:?}",
        packs.program.rules.len(),
        compiled.rules.len(),
        compiled.tables.len(),
        compiled.primitives.len(),
        compiled.rulesets.len(),
        start.elapsed()
    );
    for skipped in &compiled.skipped {
        eprintln!("  skipped {}: {}", packs.program.rule(skipped.rule).name, skipped.reason);
    }
    let source = Arc::new(packs.program);
    let start = cpu();
    let mut engine = Engine::prepare(&compiled, &source).unwrap();
    eprintln!("prepare {:?} on the processor", cpu() - start);
    let mut f = Fixture { program: (*source).clone() };
    for (count, nodes) in [(1, 10), (1, 50), (100, 50), (1, 1_000), (1, 10_000)] {
        let units = random_units(&mut f, count, nodes);
        let all: Vec<&EGraphInput> = units.iter().collect();
        for schedule in [Some("default".to_owned()), None] {
            let options = SaturateOptions { schedule, ..SaturateOptions::default() };
            let (views, report) = engine.saturate(&all, &source.universe.types, &options).unwrap();
            let nodes: usize = views.iter().map(|v| v.nodes.len()).sum();
            let matches: u64 = report.rules.iter().map(|r| r.matches).sum();
            eprintln!(
                "{count} x {}: {nodes} nodes, {matches} matches, {} steps, {} batches, {} exhausted, {:?}",
                all[0].nodes.len(),
                report.steps,
                report.batches,
                report.exhausted,
                report.times
            );
            if count == 100 {
                let mut slow: Vec<_> = report.by_rule(&compiled).into_iter().collect();
                slow.sort_by_key(|(_, r)| std::cmp::Reverse(r.time));
                for (rule, r) in &slow[..8] {
                    eprintln!("    {}: {} matches, {:?}", source.rule(*rule).name, r.matches, r.time);
                }
                let rules: std::time::Duration = report.rules.iter().map(|r| r.time).sum();
                eprintln!("    all rules {rules:?}");
            }
        }
    }
}
