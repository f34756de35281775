//! Code that runs: compiled by Cranelift, loaded from libraries, always in a process of its own where it is not ours.
//!
//! * [`jit`]: CLIF to machine code in memory, and what it links with;
//! * [`isolate`]: the worker process in which such code runs, and what is said to it; [`foreign`]: functions of
//!   libraries;
//! * [`permission`]: whose code may be called; [`exports`]: what functions a library has; [`runtest`]: run directives, compiled and interpreted;
//! * [`module`]: modules of our own text, read, optimised and made into code.

pub mod exports;
pub mod foreign;
pub mod isolate;
pub mod jit;
pub mod module;
pub mod permission;
pub mod runtest;
