//! What `opt --emit egglog` prints of real functions under the standard packs, run by egglog without any primitive of
//! ours: the classes of the input nodes are the same. The texts check that themselves; with `KEEP_EMITTED=folder` they
//! are written there, for egglog's own binary to run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use egglog::EGraph;
use rewright_cfg_skeleton::egraph::{EGraphInput, EGraphView, Head, InputId};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::{Cfg, Function};
use rewright_cfg_skeleton::skeleton::build::build;
use rewright_clif::optimise::{ClifOptimiser, trap_code};
use rewright_clif::read::read_bytes;
use rewright_engine::{Engine, NODE, STATE, SaturateOptions, print_runnable};
use rewright_lab::generate::{Generator, Shape};
use rewright_packs as packs;
use rewright_typeprop::Universe;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Checks of the partition: every member of a class against the first, and the first ones against each other.
fn checks(universe: &Universe, unit: usize, input: &EGraphInput, view: &EGraphView, text: &mut String) -> usize {
    let mut firsts: BTreeMap<&str, Vec<(u32, String)>> = BTreeMap::new();
    let mut united = 0;
    for (i, node) in input.nodes.iter().enumerate() {
        let writes = matches!(node.head, Head::Op(op) if universe.ops.get(op).gives_state());
        let function = if writes || matches!(node.head, Head::Token(_)) { STATE } else { NODE };
        let name = format!("({function} {unit} {i})");
        let class = view.class_of(InputId(i as u32)).0;
        let known = firsts.entry(function).or_default();
        if let Some((_, first)) = known.iter().find(|(c, _)| *c == class) {
            united += 1;
            let _ = writeln!(text, "(check (= {first} {name}))");
            continue;
        }
        for (_, other) in known.iter() {
            let _ = writeln!(text, "(fail (check (= {other} {name})))");
        }
        known.push((class, name));
    }
    united
}

#[test]
fn the_standard_packs_print_what_runs_to_the_same_classes() {
    let root = packs::root(Path::new(packs::DEFAULT)).unwrap();
    let clif = ClifOptimiser::new(packs::load(vec![root]).program).unwrap();
    let program = Arc::new(clif.optimiser.program().clone());
    let universe = &program.universe;
    let mut engine = Engine::prepare(&Arc::new(clif.optimiser.rules().clone()), &program).unwrap();
    let schedule = Some(packs::SCHEDULE.to_string());
    let options = SaturateOptions { schedule, ..SaturateOptions::default() };
    let kept = std::env::var_os("KEEP_EMITTED");
    let mut sources: Vec<(&str, Vec<Function>)> = vec![];
    for name in ["arithmetic", "memory", "division", "simd"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("clif/{name}.clif"));
        let file = read_bytes(&std::fs::read(path).unwrap()).unwrap();
        let functions = (0..file.functions.len()).map(|i| clif.import(&file, i).unwrap().function);
        sources.push((name, functions.collect()));
    }
    let generator = Generator::new(universe, trap_code("heap_oob"));
    let shape = Shape { size: 16, ..Shape::default() };
    sources.push(("random", (0..16).map(|seed| generator.function(seed, shape)).collect()));
    let (mut functions, mut united) = (0, 0);
    for (name, mut sources) in sources {
        let built = sources.iter_mut().map(|f| {
            normalise(f);
            build(f, &Cfg::new(f), universe, &trap_code)
        });
        let mut skeletons: Vec<_> = built.collect();
        // A run whose budget ended has fewer classes than egglog finds without one.
        skeletons.retain(|s| !engine.trace(&[&s.input], &universe.types, &options).unwrap().1.exhausted);
        let inputs: Vec<&EGraphInput> = skeletons.iter().map(|s| &s.input).collect();
        let (views, trace) = engine.trace(&inputs, &universe.types, &options).unwrap();
        assert!(!trace.exhausted && inputs.len() * 2 > sources.len(), "{name}");
        let mut text = print_runnable(engine.program(), &program, &universe.types, &inputs, &trace).unwrap();
        text.push_str("\n; the classes of the run\n");
        for (unit, (input, view)) in inputs.iter().zip(&views).enumerate() {
            united += checks(universe, unit, input, view, &mut text);
        }
        functions += inputs.len();
        if let Some(folder) = &kept {
            std::fs::write(Path::new(folder).join(format!("{name}.egg")), &text).unwrap();
        }
        EGraph::default().parse_and_run_program(None, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert!(functions > 20 && united > 20, "{functions} functions, {united} nodes united with others");
}
