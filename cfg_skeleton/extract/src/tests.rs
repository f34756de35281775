//! Extraction against brute force, and a solver's faults.

use super::*;

mod ablation;
mod bounds;
mod files;
mod join;
mod random;
mod reductions;
mod solver;
