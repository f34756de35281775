//! The documented examples of embedding programs do what they say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_embed::Embedding;
use rewright_native::module::ModuleOptimiser;
use rewright_pipeline::optimiser::{Fate, Options};
use rewright_typeprop::{Constant, Data};

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

#[allow(unreachable_pub, reason = "it is a program of its own elsewhere")]
#[path = "../examples/jit.rs"]
mod jit;

/// Several threads optimise with one handle; every compiled function computes what its expression says.
#[test]
fn a_jit_optimises_its_functions() {
    jit::main().unwrap();
}

/// A function comes out the same whatever was optimised before it, and on whatever thread.
#[test]
fn functions_do_not_depend_on_each_other() {
    let optimiser = Embedding::new().named("std").unwrap().clif().unwrap();
    let isa = jit::host().unwrap();
    let optimised = |seed: u64| {
        let mut function = jit::lower(&jit::Expr::random(seed), &isa);
        optimiser.optimise_function(&mut function, &*isa, &Options::default());
        function.to_string()
    };
    let alone: Vec<String> = (0..20).map(&optimised).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).rev().for_each(|seed| assert_eq!(optimised(seed), alone[seed as usize])));
        }
    });
}

/// A function that Cranelift's verifier rejects stays as it is, and the outcome says so.
#[test]
fn a_wrong_function_stays() {
    let optimiser = Embedding::new().named("std").unwrap().clif().unwrap();
    let isa = jit::host().unwrap();
    let mut function = jit::lower(&jit::Expr::random(1), &isa);
    function.signature.returns.clear();
    let before = function.to_string();
    let outcome = optimiser.optimise_function(&mut function, &*isa, &Options::default());
    assert!(matches!(outcome.fate, Fate::PassedThrough(_)), "{:?}", outcome.fate);
    assert_eq!(function.to_string(), before);
}

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

/// Constants that the program knows are bound to parameters; compiled code has both functions.
#[test]
fn parameters_are_bound_to_what_the_program_knows() {
    let mut embedding = Embedding::new();
    let pack = "pack mine\nimport std.core\ntype Vector{T}\nhost fn sum(x: Vector{f64}) -> f64  pure  cost 90\n\
                dynamic rule known(const x: Vector{f64}): sum(x) => eval(sum(x))\nschedule default { saturate rules }\n";
    embedding.pack("mine.rw", pack);
    embedding.host("sum", |args| Some(args[0].data()?.doubles()?.iter().sum::<f64>().into()));
    let text = "func %f(%v: Vector{f64}, %x: f64) -> f64 {\n  %s = sum %v\n  %r = fmul %s, %x\n  return %r\n}\n";
    let mut module = embedding.module(text).unwrap();
    let weights = Constant::from(Data::of_f64(&[0.5, 1.5]));
    let index = module.specialise("f", &[Some(weights.clone()), None], Some("g")).unwrap();
    let outcome = module.optimise(&Options::default(), |_| true);
    let cost = |index| outcome.statistics.outcome(index).unwrap().cost_after;
    assert!(cost(index) < cost(0), "{}", outcome.print());
    let code = embedding.code(&module, &outcome).unwrap();
    let called = |name: &str, args: &[Constant]| code.call(name, args).unwrap()[0].float();
    assert_eq!(called("g", &[3.0.into()]), Some(6.0));
    assert_eq!(called("f", &[weights, 3.0.into()]), Some(6.0));
}
