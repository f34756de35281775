//! What attributes say of the memory that a function accesses.

use crate::annotations::table::{AnnotationTarget, Runs, runs};

/// Does an attribute of a function limit the memory that it accesses?
pub(super) fn is_about_memory(attribute: &str) -> bool {
    runs(AnnotationTarget::Function, attribute) == Runs::Check && attribute != "noreturn"
}

/// Does an attribute of a function say nothing of runs that return, beside what it accesses?
pub(super) fn is_harmless_of_function(attribute: &str) -> bool {
    runs(AnnotationTarget::Function, attribute) == Runs::Ignore
}
