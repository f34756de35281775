//! Measurements and experiments: whether what goes out is right, and what it is worth.
//!
//! * [`generate`]: random functions; [`fuzz`]: these before and after, and how a difference is reduced;
//!   [`straight_line`]: long ones of one block;
//! * [`difftest`]: the same with files;
//! * [`midend`]: Cranelift's own mid-end and back end, as the yardstick; [`losses`]: why its result is cheaper where it
//!   is;
//! * [`coverage`]: which of its rules the packs cover; [`sharing`]: what seeing sharing is worth;
//!   [`loops`]: what rules about loops are; [`native`]: what functions execute, and whether all versions do the same.
//!
//! Nothing that optimises a function depends on this crate.

pub mod coverage;
pub mod difftest;
mod error;
pub mod fuzz;
pub mod generate;
pub mod loops;
pub mod losses;
pub mod midend;
pub mod native;
pub mod sharing;
pub mod straight_line;
mod written;

pub use error::LabError;
