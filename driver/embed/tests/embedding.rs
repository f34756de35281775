//! The documented examples of embedding programs do what they say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_embed::Embedding;
use rewright_native::module::ModuleOptimiser;
use rewright_pipeline::optimiser::Options;

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

/// Packs are checked once, engines are kept: modules in turn give what each gives alone, and a pack that comes later
/// counts for the modules after it.
#[test]
fn modules_in_turn_give_what_each_gives_alone() {
    let text = |constant: u32| {
        format!(
            "func %f(%x: i32) -> i32 {{\n  %c: i32 = const {constant}\n  %y = imul %x, %c\n  %z = isub %y, %y\n  \
             %r = iadd %z, %y\n  return %r\n}}\n"
        )
    };
    let core = || {
        let mut embedding = Embedding::new();
        embedding.pack("core.rw", "pack mine\nimport std.core\n");
        embedding
    };
    let optimised = |module: &ModuleOptimiser| module.optimise(&Options::default(), |_| true).print();
    let alone: Vec<String> = (2..8).map(|n| optimised(&core().module(&text(n)).unwrap())).collect();
    let mut embedding = core();
    let modules: Vec<_> = (2..8).map(|n| embedding.module(&text(n)).unwrap()).collect();
    for _ in 0..2 {
        let in_turn: Vec<String> = modules.iter().map(&optimised).collect();
        assert_eq!(in_turn, alone);
    }
    let with_rules = optimised(&embedding.named("std.arith").unwrap().module(&text(2)).unwrap());
    assert!(with_rules != alone[0] && !with_rules.contains("isub"), "{with_rules}");
    assert!(alone[0].contains("isub"), "{}", alone[0]);
}
