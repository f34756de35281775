//! What it is worth to see sharing: each function as it is chosen with the integer program, greedily, by tree costs,
//! and as Cranelift's own mid-end makes it.
//!
//! All are priced as the front end reads them, and compiled by the same back end without its mid-end. Every version is
//! a whole file of CLIF, so that versions can be run against each other ([`rewright_native::isolate::Call::Compare`]).
//! A [`Subject`] has versions: a file of CLIF ([`mod@clif`]), or a module of our own text.

pub mod clif;
mod module;

use crate::LabError;
use crate::midend::{Code, Cranelift};
use rewright_cfg_skeleton::select::{self, Method, Status};
use rewright_clif::read::File;
use rewright_native::isolate;
use rewright_pipeline::optimiser::{Fate, Options};

/// Another method that chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rival {
    /// Our greedy selection, which knows of sharing what its rounds teach it.
    Greedy,
    /// The cheapest trees of the same e-graph.
    Tree,
    /// Cranelift's own mid-end, with its own rules.
    Cranelift,
}

impl Rival {
    /// All of them.
    pub const ALL: [Rival; 3] = [Rival::Greedy, Rival::Tree, Rival::Cranelift];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Rival::Greedy => "greedy",
            Rival::Tree => "tree",
            Rival::Cranelift => "cranelift",
        }
    }
}

/// A version of a function.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it costs.
    pub cost: u64,
    /// What the back end makes of it.
    pub code: Code,
}

/// A version of all functions of a file.
pub struct Version {
    /// By function.
    pub made: Vec<Made>,
    /// How good each choice is known to be: of versions that we choose.
    pub statuses: Vec<Status>,
    /// The version as CLIF.
    pub file: File,
    /// And as another process can run it.
    pub runnable: isolate::Version,
}

/// All versions.
pub struct Versions {
    /// As the integer program chooses.
    pub ours: Version,
    /// As rivals do.
    pub rivals: Vec<(Rival, Version)>,
}

/// Functions of which there are versions.
pub trait Subject {
    /// As `options` choose.
    ///
    /// # Errors
    /// A function that does not go through, and why.
    fn chosen(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError>;

    /// As Cranelift's mid-end makes them of the originals.
    ///
    /// # Errors
    /// A function that it does not take, and why.
    fn by_cranelift(&self, cranelift: &Cranelift, options: &Options) -> Result<Version, LabError>;

    /// As all choose, from what `options` say of everything else.
    ///
    /// # Errors
    /// A function that does not go through, and why.
    fn versions(&self, cranelift: &Cranelift, options: &Options) -> Result<Versions, LabError> {
        let with = |method| {
            let select = select::Options { method, ..options.select.clone() };
            self.chosen(cranelift, &Options { select, ..options.clone() })
        };
        let rival = |rival| match rival {
            Rival::Greedy => with(Method::Greedy),
            Rival::Tree => with(Method::Tree),
            Rival::Cranelift => self.by_cranelift(cranelift, options),
        };
        let rivals = Rival::ALL.into_iter().map(|name| Ok((name, rival(name)?)));
        Ok(Versions { ours: with(Method::Ilp)?, rivals: rivals.collect::<Result<_, LabError>>()? })
    }
}

/// How good a choice is known to be, where there is one.
pub(crate) fn status(name: &str, fate: &Fate, status: Option<Status>) -> Result<Status, LabError> {
    match (fate, status) {
        (Fate::Optimised | Fate::Unchanged, Some(status)) => Ok(status),
        (Fate::PassedThrough(reason) | Fate::Failed(reason), _) => {
            Err(LabError::NotChosen(name.into(), reason.clone()))
        }
        (_, None) => Err(LabError::NotChosen(name.into(), "nothing was chosen".into())),
    }
}
