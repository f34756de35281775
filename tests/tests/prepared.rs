//! Engines that prepare rules when they are needed, under the standard packs: what they give depends on neither which
//! rules they know already nor on what they were asked before.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_cfg_skeleton::ir::Cfg;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::skeleton::Skeleton;
use rewright_cfg_skeleton::skeleton::build::build;
use rewright_clif::optimise::{ClifOptimiser, trap_code};
use rewright_clif::read::read_bytes;
use rewright_dsl::egglog::print::{PrintOptions, print};
use rewright_engine::{Engine, SaturateOptions};
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_packs as packs;
use rewright_pipeline::optimiser::{Lowered, Optimiser};
use std::path::Path;
use std::sync::Arc;

/// Functions of a file of `tests/clif`, taken apart.
fn skeletons(clif: &ClifOptimiser, name: &str) -> Vec<Skeleton> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("clif/{name}.clif"));
    let file = read_bytes(&std::fs::read(path).unwrap()).unwrap();
    let functions = (0..file.functions.len()).map(|i| clif.import(&file, i).unwrap().function);
    functions
        .map(|mut function| {
            normalise(&mut function);
            build(&function, &Cfg::new(&function), &clif.optimiser.program().universe, &trap_code)
        })
        .collect()
}

#[test]
fn lowered_rules_are_what_they_were_when_they_were_kept() {
    let root = packs::root(Path::new(packs::DEFAULT)).unwrap();
    let lowered = LlvmOptimiser::lower(packs::load_rules(vec![root]).program);
    let bytes = lowered.to_bytes().unwrap();
    let again = Lowered::from_bytes(&bytes).unwrap();
    assert!(again.to_bytes().unwrap() == bytes);
    let (before, after) = (LlvmOptimiser::of(lowered).optimiser, LlvmOptimiser::of(again).optimiser);
    let text = |optimiser: &Optimiser| print(optimiser.rules(), PrintOptions::default());
    assert!(text(&before) == text(&after));
    assert_eq!(format!("{:?}", before.program().universe.types), format!("{:?}", after.program().universe.types));
    assert_eq!(before.program().rules.len(), after.program().rules.len());
    // Incomplete data give nothing.
    for end in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert!(Lowered::from_bytes(&bytes[..end]).is_none(), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn what_an_engine_knows_already_does_not_show() {
    let root = packs::root(Path::new(packs::DEFAULT)).unwrap();
    let clif = ClifOptimiser::new(packs::load_applied(vec![root]).program).unwrap();
    let program = Arc::new(clif.optimiser.program().clone());
    let rules = Arc::new(clif.optimiser.rules().clone());
    let (mut demand, mut whole) = (Engine::new(&rules, &program), Engine::prepare(&rules, &program).unwrap());
    let schedule = Some(packs::SCHEDULE.to_string());
    let files = ["memory", "arithmetic", "wide_integers"].map(|name| skeletons(&clif, name));
    for log in [false, true] {
        let options = SaturateOptions { schedule: schedule.clone(), log, ..SaturateOptions::default() };
        let view = |engine: &mut Engine, skeleton: &Skeleton| {
            let (views, _) = engine.saturate(&[&skeleton.input], &program.universe.types, &options).unwrap();
            format!("{views:?}")
        };
        // Forwards with few rules known, backwards with those of all functions, and with all rules.
        let forwards: Vec<String> = files.iter().flatten().map(|s| view(&mut demand, s)).collect();
        let mut backwards: Vec<String> = files.iter().flatten().rev().map(|s| view(&mut demand, s)).collect();
        backwards.reverse();
        let known: Vec<String> = files.iter().flatten().map(|s| view(&mut whole, s)).collect();
        for (i, forwards) in forwards.iter().enumerate() {
            assert_eq!(forwards, &backwards[i], "function {i}");
            assert_eq!(forwards, &known[i], "function {i}");
        }
    }
}
