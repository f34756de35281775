//! How much of Cranelift's own mid-end the packs cover: its rules (`opts/*.isle`), instantiated.
//!
//! Each rule's left side is a pattern. [`instance`] makes functions of that shape, with random types and constants,
//! until Cranelift's pass makes some of them cheaper, under our table of costs. Ours must make these at least as
//! cheap. A rule of which no instance becomes cheaper brings operations into another form and gains nothing by
//! itself; it is counted apart.
//!
//! Results are compared, not rules: that Cranelift's result comes from the very rule that gave the shape is
//! likely, and does not matter.

mod instance;
mod isle;
mod sample;

pub use instance::{ClifInstance, Unable};
pub use isle::{Pattern, ReadError, Rule, read};
pub use sample::{Case, Effort, Sampler};
