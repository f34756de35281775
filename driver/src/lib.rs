//! x
pub mod clif;
pub mod difftest;
pub mod isolate;
pub mod jit;
pub mod runtest;
pub mod saturate;
