//! Hand-built programs: what goes in, what must come back.

mod budgets;
mod domain;
mod fixture;
mod held;
mod measure;
mod memory;
mod pattern_pairs;
mod scalar;
mod stops;
mod text;
