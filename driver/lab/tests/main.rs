//! What goes out against Cranelift's own mid-end, and what seeing sharing and rules about loops are worth.
//!
//! One binary: each further one would link everything again.

mod cranelift_expected;
mod extraction;
mod loops;
