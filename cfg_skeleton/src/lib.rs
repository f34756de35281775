//! What a function is: SSA over a control-flow graph, and the same function as an e-graph beside a skeleton.
//!
//! ```text
//! Function --normalise--> Function --skeleton::build--> Skeleton + EGraphInput
//!      (a saturation engine turns EGraphInput into EGraphView)
//! EGraphView + Skeleton --select--> Selection --validate--> Selection --elaborate--> Function
//! ```
//!
//! This crate names no rule language, no saturation engine and no code generator. It knows operations only
//! through `rewright_typeprop::OpTable`.

mod addresses;
pub mod egraph;
pub mod elaborate;
pub mod ir;
pub mod nest;
mod saturated;
pub mod select;
pub mod skeleton;
#[doc(hidden)]
pub mod testing;
pub mod variants;
pub mod verdict;

pub use saturated::Saturated;
