//! The binary, as a user runs it.
//!
//! One binary: each further one would link everything again.

mod book;
mod c_functions;
mod cli;
mod confined;
mod diagnostics;
mod examples;
mod faults;
mod fixes;
mod isolated;
mod isolation;
mod languages;
mod linked;
mod llvm;
mod loops;
mod lsp;
mod pages;
mod permission;
mod project;
mod ran;
mod refines;
mod remarks;
mod verify;
mod why_not;
mod wrapper;
