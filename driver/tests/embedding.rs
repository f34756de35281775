//! The documented examples of embedding programs do what they say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(unreachable_pub, reason = "it is a program of its own elsewhere")]
#[path = "../examples/embedding.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}

#[allow(unreachable_pub, reason = "it is a program of its own elsewhere")]
#[path = "../examples/verifying.rs"]
mod verifying;

/// Rules on functions of a program are tested by it: the right ones agree, the wrong ones are refuted.
#[test]
fn a_program_verifies_rules_on_its_own_functions() {
    verifying::main().unwrap();
}
