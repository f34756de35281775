//! x
pub mod clif;
pub mod saturate;
