//! What a pack says: text -> [`syntax`] -> [`check`] -> [`program::Program`] -> [`egglog`] text.
//!
//! **Invariants**: `syntax` never fails, it gives a tree and diagnostics; a stage that finds mistakes reports all
//! of them; a `Program` is well-typed. This crate knows no IR and runs nothing: it prints what an engine runs.

pub mod check;
pub mod codes;
mod computable;
pub mod constant;
pub mod diagnostic;
pub mod egglog;
pub mod expectation;
pub mod fmt;
pub mod index;
pub mod instances;
pub mod load;
pub mod nearest;
#[allow(missing_docs, reason = "the line over a variant shows its fields as they are written")]
pub mod program;
pub mod renamed;
pub mod syntax;
#[cfg(test)]
mod testing;
pub mod words;
