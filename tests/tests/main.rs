//! Tests that need more than one crate.
//!
//! One binary: each further one would link everything again.

mod costs;
mod datapaths;
mod denotation;
mod effect_traces;
mod emitted;
mod hard_cases;
mod heads;
mod import_cycles;
mod known_facts;
mod layout;
mod loop_ends;
mod loops;
mod match_blocks;
mod merged_writes;
mod merges;
mod moving_statements;
mod nans;
mod negative_stories;
mod overloads;
mod packs;
mod paper;
mod paper_limits;
mod prepared;
mod random_programs;
mod readers;
mod rules_hold;
mod states;
mod typed_calls;
mod wide_stores;
