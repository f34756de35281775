//! What goes out against Cranelift's own mid-end, and what seeing sharing, rules about loops and variants of them are worth.
//!
//! One binary: each further one would link everything again.

mod cranelift_expected;
mod extraction;
mod heads;
mod loops;
mod two_loops;
mod variants;
