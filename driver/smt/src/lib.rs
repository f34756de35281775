//! SMT-LIB: the meaning of operations as terms, and the process that decides them.
//!
//! * [`Script`] holds definitions: every term once, so that a value used twice is printed once.
//! * [`mod@meaning`] is the table: one entry per [`Model`], beside the evaluator's in `typeprop::model`. That the two
//!   agree is tested on edge values at every width (`tests.rs`): z3 evaluates what this table says.
//! * [`solver`] talks to the process.
//!
//! Values are bit vectors, floats too: their bits, read as IEEE-754 where an operation is arithmetic. Where arithmetic
//! gives a NaN its bits are a fresh variable that is some NaN, since the model leaves them open.
//!
//! [`Model`]: rewright_typeprop::Model

mod address;
mod expr;
mod float;
mod integer;
mod meaning;
mod memory;
mod patience;
mod script;
pub mod solver;
#[cfg(test)]
mod tests;

pub use address::Address;
pub use expr::{Expr, Format, Sort};
pub use float::Accepts;
pub use meaning::{Meaning, accepts, meaning};
pub use memory::{given, load, may_differ, read, same, store, store_when, written};
pub use script::{Asserted, Freedom, Maker, Read, Script, name_part};
