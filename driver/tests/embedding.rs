//! The documented example of an embedding program does what it says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(unreachable_pub, reason = "it is a program of its own elsewhere")]
#[path = "../examples/embedding.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}
