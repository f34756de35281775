//! What happens to a function: pipeline, front ends, back ends, command line.
//!
//! The driver joins the two halves that do not know each other: `dsl`, which says what the rules are, and
//! `cfg_skeleton`, which says what a function is. [`saturate`] alone names the saturation engine, [`clif`] and what
//! compiles and runs its result name Cranelift, and only [`commands`] prints or decides an exit code;
//! what called code prints, [`isolate`] passes on.

mod bisect;
pub mod cache;
pub mod clif;
pub mod commands;
pub mod config;
pub mod costs;
pub mod counts;
pub mod coverage;
pub mod denotation;
pub mod difftest;
pub mod embed;
pub mod examples;
pub mod files;
pub mod fuzz;
pub mod generate;
pub mod isolate;
pub mod jit;
pub mod linked;
pub mod llvm;
pub mod losses;
pub mod midend;
pub mod module;
mod mutation;
pub mod near;
pub mod packs;
pub mod permission;
pub mod pipeline;
pub mod runtest;
pub mod saturate;
pub mod sharing;
pub mod signatures;
mod sums;
pub mod verify;
pub mod wrapper;
