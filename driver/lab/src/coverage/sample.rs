//! Instances of a rule that Cranelift's pass makes cheaper.

use super::instance::{ClifInstance, Unable};
use super::isle::Rule;
use crate::LabError;
use crate::midend::Cranelift;
use cranelift_codegen::ir;
use cranelift_codegen::settings::{self, Flags};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::Function;
use rewright_clif::import::import;
use rewright_clif::optimise::ClifOptimiser;
use rewright_pipeline::optimiser::Options;
use thiserror::Error;

/// How long to search.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Instances that are tried.
    pub samples: u32,
    /// Instances that Cranelift makes cheaper, after which no more are tried.
    pub enough: usize,
}

/// An instance that Cranelift makes cheaper.
#[derive(Clone, Debug)]
pub struct Case {
    /// As CLIF.
    pub text: String,
    /// As our IR.
    pub function: Function,
    /// The cost of what Cranelift makes of it, under the packs' table.
    pub theirs: u64,
}

/// Why a rule has no instances.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NoInstance {
    /// It is not of a term of Cranelift's mid-end.
    #[error("defines `{0}`")]
    Defines(String),
    /// It has no pattern.
    #[error("has no left side")]
    NoLeftSide,
    /// Its pattern has a term that is no instruction.
    #[error("`{0}` stands for no instruction")]
    Term(String),
}

/// Makes instances, and prices them.
pub struct Sampler<'a> {
    clif: &'a ClifOptimiser,
    cranelift: Cranelift,
    flags: Flags,
}

impl<'a> Sampler<'a> {
    /// For the rules of an optimiser, against Cranelift for this host.
    pub fn new(clif: &'a ClifOptimiser) -> Result<Self, LabError> {
        let cranelift = Cranelift::host()?;
        Ok(Sampler { clif, cranelift, flags: Flags::new(settings::builder()) })
    }

    /// Instances of a rule that Cranelift makes cheaper; why the rule has none at all.
    pub fn cases(&self, rule: &Rule, effort: Effort, seed: u64) -> Result<Vec<Case>, NoInstance> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        if !matches!(rule.of.as_str(), "simplify" | "simplify_skeleton") {
            return Err(NoInstance::Defines(rule.of.clone()));
        }
        let pattern = rule.pattern.as_ref().ok_or(NoInstance::NoLeftSide)?;
        let mut cases: Vec<Case> = vec![];
        for n in 0..effort.samples {
            let text = match ClifInstance::new(pattern, &format!("instance{n}"), &mut rng) {
                Ok(ClifInstance(text)) => text,
                Err(Unable::Clash) => continue,
                Err(Unable::Term(term)) => return Err(NoInstance::Term(term)),
            };
            cases.extend(self.case(text));
            if cases.len() >= effort.enough {
                break;
            }
        }
        Ok(cases)
    }

    fn case(&self, text: String) -> Option<Case> {
        let original = cranelift_reader::parse_functions(&text).ok()?.pop()?;
        cranelift_codegen::verify_function(&original, &self.flags).ok()?;
        let (optimised, _) = self.cranelift.optimise(&original).ok()?;
        let (function, before) = self.priced(&original)?;
        let (_, theirs) = self.priced(&optimised)?;
        (theirs < before).then_some(Case { text, function, theirs })
    }

    fn priced(&self, function: &ir::Function) -> Option<(Function, u64)> {
        let imported = import(function, &self.clif.names, ir::Endianness::Little).ok()?;
        let universe = &self.clif.optimiser.program().universe;
        let cost = self.clif.optimiser.cost_of(&imported.function, universe, &Options::default());
        Some((imported.function, cost))
    }
}
