//! x
pub mod clif;
