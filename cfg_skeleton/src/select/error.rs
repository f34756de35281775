//! Why there is no selection.

use super::validate::Violation;
use crate::egraph::ClassId;
use crate::skeleton::SegmentId;
use thiserror::Error;

/// Why there is no selection. The caller keeps the original function; all but contradictions are bugs.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SelectError {
    /// Some class holds two different constants: a rule is wrong.
    #[error("{} classes hold two different constants", .0.len())]
    Contradiction(Vec<ClassId>),
    /// The skeleton, the view and the control-flow graph do not belong together.
    #[error("the skeleton and the view do not belong together")]
    Mismatch,
    /// The selection does not pass the validator.
    #[error("the selection is wrong in {} places, first {:?}", .0.len(), .0.first())]
    Invalid(Vec<Violation>),
    /// Something that is needed can not be had where it is needed. The first few of them.
    #[error("{} needed classes are not available, first {:?}", demands.len(), demands.first())]
    Unavailable {
        /// Where, and what.
        demands: Vec<(SegmentId, ClassId)>,
    },
}
