//! Directives of our own CLIF files, through child processes of the real binary: unchanged, imported and exported
//! again, and with compiled code that crashes or does not return.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_clif::read::read;
use rewright_lab::difftest::{Change, Config, collect, difftest};
use rewright_native::isolate::{Call, Engine, Job, Worker};
use rewright_native::jit::Imports;
use rewright_native::runtest::CallOutcome;
use std::path::{Path, PathBuf};

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_rewright"))
}

fn run(text: &str, calls: &[&str]) -> Vec<CallOutcome> {
    let calls = calls.iter().map(|c| Call::Directive { function: 0, text: (*c).to_string() }).collect();
    let job =
        Job { text: text.to_string(), engine: Engine::Jit, target: 0, calls, seconds: 1, imports: Imports::default() };
    Worker::new(program()).run(&job).unwrap()
}

#[test]
fn all_directives_hold_unchanged() {
    let files = collect(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clif")]).unwrap();
    let optimise = |file: &rewright_clif::read::File| vec![Change::Unchanged; file.functions.len()];
    let config = Config { program: program(), seconds: 10, reference: None, progress: &|| () };
    let report = difftest(&files, &optimise, &config);
    assert!(report.is_clean(), "{report:?}");
    // One call of `traps.clif` traps as it stands, and is there to be seen to.
    let mut before: Vec<&str> = report.failed_before.iter().map(|failure| failure.directive.as_str()).collect();
    before.dedup();
    assert_eq!(before, ["print: %divide(4, 0)"], "{report:?}");
    assert_eq!(report.directives.passed + 1, report.directives.total, "{report:?}");
}

#[test]
fn a_wrong_optimiser_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.clif");
    let text = |n: i32| {
        format!(
            "function %f() -> i32 {{\nblock0:\n    v0 = iconst.i32 {n}\n    return v0\n}}\n; run: %f() == 1\n\
             ; print: %f()\n"
        )
    };
    std::fs::write(&path, text(1)).unwrap();
    let wrong = read(&text(2)).unwrap().functions[0].func.clone();
    let optimise = |_: &rewright_clif::read::File| vec![Change::Optimised(Box::new(wrong.clone()))];
    let config = Config { program: program(), seconds: 10, reference: None, progress: &|| () };
    let report = difftest(&[path], &optimise, &config);
    let engines: Vec<&str> = report.mismatches.iter().map(|m| m.engine.as_str()).collect();
    assert_eq!(engines, ["jit host", "cranelift-interpreter", "jit host", "cranelift-interpreter"], "{report:?}");
}

/// Cranelift's interpreter traps there, whatever is read.
#[test]
fn an_offset_below_zero_is_judged_by_what_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("back.clif");
    let text = |read: &str| {
        format!(
            "function %f(i64) -> i64 {{\n    ss0 = explicit_slot 16\nblock0(v0: i64):\n    v1 = stack_addr.i64 ss0\n    \
             store notrap v0, v1\n    v2 = iconst.i64 8\n    v3 = iadd v1, v2\n    store notrap v2, v3\n    {read}\n    \
             return v4\n}}\n; run: %f(3) == 3\n"
        )
    };
    std::fs::write(&path, text("v4 = load.i64 notrap v1")).unwrap();
    for (read_back, wrong) in [("v4 = load.i64 notrap v3-8", false), ("v4 = load.i64 notrap v1+8", true)] {
        let after = read(&text(read_back)).unwrap().functions[0].func.clone();
        let optimise = |_: &rewright_clif::read::File| vec![Change::Optimised(Box::new(after.clone()))];
        let config = Config { program: program(), seconds: 10, reference: None, progress: &|| () };
        let report = difftest(std::slice::from_ref(&path), &optimise, &config);
        assert_eq!(report.mismatches.is_empty(), !wrong, "{report:?}");
        assert_eq!(report.engines.contains_key("cranelift-interpreter"), wrong, "{report:?}");
    }
}

#[test]
fn crashes_and_endless_loops_cost_one_call_each() {
    let text = "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 10\n    brif v0, block1, block4\n\
        block1:\n    v2 = udiv v1, v0\n    v3 = icmp ugt v2, v1\n    trapnz v3, user1\n    v4 = iconst.i32 7\n    v5 \
        = icmp eq v0, v4\n    brif v5, block2, block3\nblock2:\n    jump block2\nblock3:\n    return v2\n\
        block4:\n    v6 = iconst.i64 1\n    v7 = load.i32 v6\n    return v7\n}\n";
    let outcomes = run(text, &["run: %f(5) == 2", "print: %f(0)", "print: %f(7)", "run: %f(2) == 6", "print: %f(10)"]);
    assert!(outcomes[0].holds());
    assert!(matches!(&outcomes[1], CallOutcome::Trapped(signal) if signal == "SIGSEGV"), "{outcomes:?}");
    assert_eq!(outcomes[2], CallOutcome::TimedOut);
    assert_eq!(outcomes[3], CallOutcome::Returned { values: "5".into(), holds: false });
    assert_eq!(outcomes[4], CallOutcome::Returned { values: "1".into(), holds: true });
}

#[test]
fn what_does_not_compile_fails_every_call() {
    let text = "function %f() {\n    fn0 = %nowhere()\nblock0:\n    call fn0()\n    return\n}\n";
    let outcomes = run(text, &["print: %f()", "print: %f()"]);
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes.iter().all(|o| matches!(o, CallOutcome::Failed(m) if m.contains("nowhere"))), "{outcomes:?}");
}
