//! Why a worker does not do a job.

use crate::jit::JitError;
use crate::runtest::{DirectiveError, TargetError};
use rewright_clif::read::ReadError;
use serde::{Deserialize, Serialize};

/// Why a job's file is not loaded, compiled or measured.
#[derive(Debug, thiserror::Error)]
pub(super) enum JobError {
    /// Its text, or that of another version, is no file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The target's index is too large.
    #[error("the file has no such target")]
    NoTarget,
    /// No target of another version is one of this host.
    #[error("the file has no target for this host")]
    NoHostTarget,
    /// The host does not run the target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Libraries that are not loaded, code that is not compiled or called.
    #[error(transparent)]
    Jit(#[from] JitError),
    /// The directive to measure.
    #[error(transparent)]
    Directive(#[from] DirectiveError),
}

/// The same in words, for the parent: errors do not travel.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(String);

impl From<JobError> for Refusal {
    fn from(error: JobError) -> Self {
        Refusal(error.to_string())
    }
}
