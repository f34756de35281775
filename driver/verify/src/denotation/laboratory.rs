//! The harness over rule packs: saturates functions under a program of rules and checks their graphs.

use super::inputs::random_inputs;
use super::{DenotationReport, Harness, Limits};
use rewright_cfg_skeleton::egraph::EGraphView;
use rewright_cfg_skeleton::ir::{Cfg, Function};
use rewright_cfg_skeleton::skeleton::{Skeleton, build::build};
use rewright_dsl::egglog::{compile, intern_types};
use rewright_dsl::program::Program;
use rewright_engine::{Engine, EngineError, SaturateOptions};
use rewright_packs as packs;
use rewright_typeprop::Universe;
use std::sync::Arc;

/// A program of rules with its engine.
pub struct Laboratory {
    program: Arc<Program>,
    engine: Engine,
    trap_code: fn(&str) -> u32,
}

/// A function with its saturated graph.
pub struct Saturated {
    /// What goes around the graph.
    pub skeleton: Skeleton,
    /// The graph.
    pub view: EGraphView,
}

impl Laboratory {
    /// Prepares the rules of a checked program. `trap_code` gives the front end's number for a pack's trap code.
    ///
    /// # Errors
    /// When the engine does not accept the rules.
    pub fn new(mut program: Program, trap_code: fn(&str) -> u32) -> Result<Self, EngineError> {
        intern_types(&mut program);
        let program = Arc::new(program);
        let engine = Engine::prepare(&Arc::new(compile(&program)), &program)?;
        Ok(Laboratory { program, engine, trap_code })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Saturates functions in batches, with a log of the rules, under the default schedule.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn saturate(&mut self, functions: &[Function], universe: &Universe) -> Result<Vec<Saturated>, EngineError> {
        let trap_code = |name: &str| (self.trap_code)(name);
        let skeletons: Vec<Skeleton> = functions.iter().map(|f| build(f, &Cfg::new(f), universe, &trap_code)).collect();
        let inputs: Vec<_> = skeletons.iter().map(|s| &s.input).collect();
        let schedule = self.program.schedules.contains_key(packs::SCHEDULE).then(|| packs::SCHEDULE.to_string());
        let options = SaturateOptions { log: true, schedule, ..SaturateOptions::default() };
        let (views, _) = self.engine.saturate(&inputs, &universe.types, &options)?;
        Ok(skeletons.into_iter().zip(views).map(|(skeleton, view)| Saturated { skeleton, view }).collect())
    }

    /// Saturates functions and checks each one's graph on `count` random inputs.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn check(
        &mut self,
        functions: &[Function],
        universe: &Universe,
        seed: u64,
        count: usize,
        limits: Limits,
    ) -> Result<Vec<DenotationReport>, EngineError> {
        let saturated = self.saturate(functions, universe)?;
        let one = |(f, s): (&Function, &Saturated)| {
            let harness = Harness::new(f, universe, &s.skeleton, &s.view);
            let mut report = DenotationReport::default();
            for input in random_inputs(f, universe, seed, count) {
                harness.run(&input, limits, &mut report);
            }
            report
        };
        Ok(functions.iter().zip(&saturated).map(one).collect())
    }
}
