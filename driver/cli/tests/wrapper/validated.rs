//! `--validate`: what a wrong rule makes of a file is found before it is an object.

use super::{PACK, cc, files, log, rewright, run, sources};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A rule that is right, and one that is not.
fn packs(dir: &Path) {
    fs::write(dir.join("mine.rw"), PACK).unwrap();
    fs::write(dir.join("bad.rw"), PACK.replace("=> iadd(x, y)", "=> isub(x, y)").replace("pack mine", "pack bad"))
        .unwrap();
}

const LINE: [&str; 3] = ["-O2", "-c", "sum.c"];

#[test]
fn what_is_refuted_is_compiled_without_rules() {
    let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
    packs(ours.path());
    packs(plain.path());
    let expected = run(Command::new("clang-19"), plain.path(), &LINE, "");
    let with = |pack: &str, more: &[&str]| {
        let mut command = rewright(&own);
        command.args(["cc", "--rules", pack]).args(more);
        run(command, ours.path(), &LINE, "")
    };
    // Without validation a wrong rule is believed, and its object is kept: a command that wants validation does not
    // reuse it.
    assert_eq!(with("bad.rw", &[]).code, Some(0));
    assert_ne!(files(ours.path())["sum.o"], files(plain.path())["sum.o"]);
    for _ in 0..2 {
        let got = with("bad.rw", &["--validate"]);
        assert_eq!((got.code, &got.stdout), (expected.code, &expected.stdout), "{got:?}");
        let says = "rewright: sum.c: compiled without rules: what rules make does something else: @sum: refuted: on (";
        assert!(got.stderr.contains(says) && got.stderr.lines().count() == 1, "{got:?}");
        assert_eq!(files(ours.path())["sum.o"], files(plain.path())["sum.o"]);
    }
    fs::remove_file(ours.path().join("sum.o")).unwrap();
    let refused = with("bad.rw", &["--validate", "--strict"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("@sum: refuted"), "{refused:?}");
    assert!(!ours.path().join("sum.o").exists());
    // A rule that is right is used, and found in the cache the second time.
    for cached in [0, 1] {
        let got = with("mine.rw", &["--validate"]);
        assert!(got.code == Some(0) && got.stderr.is_empty(), "{got:?}");
        let last = log(&own).pop().unwrap();
        assert_eq!((last["optimised"].as_u64(), last["cached"].as_u64()), (Some(1), Some(cached)), "{last}");
    }
}

#[test]
fn builds_and_single_files_can_ask_for_it() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    packs(dir.path());
    let mut wrapped = rewright(&own);
    wrapped.args(["wrap", "--rules", "bad.rw", "--validate", "--", "sh", "-c", "$CC -O2 -c sum.c"]);
    let ran = run(wrapped, dir.path(), &[], "");
    assert!(ran.code == Some(0) && ran.stderr.contains("does something else: @sum: refuted"), "{ran:?}");
    let emit = ["-O1", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "sum.c", "-o", "raw.ll"];
    assert_eq!(run(Command::new("clang-19"), dir.path(), &emit, "").code, Some(0));
    let passes = ["-S", "-passes=sroa", "raw.ll", "-o", "sum.ll"];
    assert_eq!(run(Command::new("opt-19"), dir.path(), &passes, "").code, Some(0));
    let text = fs::read_to_string(dir.path().join("sum.ll")).unwrap();
    let opt = |pack: &str| run(rewright(&own), dir.path(), &["opt", "sum.ll", "--rules", pack, "--validate", "-q"], "");
    let right = opt("mine.rw");
    assert!(right.code == Some(0) && right.stdout != text, "{right:?}");
    assert!(right.stderr.starts_with("@sum: proved (by a solver)\nvalidated: 0 functions unchanged"), "{right:?}");
    let wrong = opt("bad.rw");
    assert_eq!((wrong.code, wrong.stdout), (Some(1), text), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("@sum: refuted: on (") && wrong.stderr.contains("goes out as it came in"));
}

#[test]
fn without_a_solver_nothing_is_validated() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let mut command = cc(&own);
    command.arg("--validate").env("PATH", own.path()).env("REWRIGHT_CLANG", "/usr/bin/clang-19");
    command.env("REWRIGHT_OPT", "/usr/bin/opt-19");
    let ran = run(command, dir.path(), &LINE, "");
    assert!(
        ran.code == Some(0) && ran.stderr.contains("compiled without rules: what rules make cannot be compared"),
        "{ran:?}"
    );
}

/// In a run, a function of C that is not in the file gives something made up: that says nothing of rules about it.
#[test]
fn what_packs_say_of_c_functions_is_not_refuted() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let pack = "pack mine\nimport std.core\n@llvm(\"@lib_half\")\nfn half(x: i32) -> i32  pure  cost 50\n\
                @llvm(\"@lib_shift\")\nfn shift(x: i32) -> i32  pure  cost 20\nruleset all {\n  \
                rule quicker(x: i32): half(x) => shift(x)\n  rule wrong(x: i32): imul(x, 7) => iadd(x, 7)\n}\n\
                schedule default { saturate all }\n";
    fs::write(dir.path().join("mine.rw"), pack).unwrap();
    fs::write(dir.path().join("calls.c"), "int lib_half(int);\nint f(int x) { return lib_half(x) * 3; }\n").unwrap();
    fs::write(dir.path().join("plain.c"), "int g(int x) { return x * 7; }\n").unwrap();
    let mut command = cc(&own);
    command.arg("--validate");
    let ran = run(command, dir.path(), &["-O2", "-c", "calls.c"], "");
    let says = "not validated: rules of packs say what @lib_half, @lib_shift do; `rewright verify` tests the rules. If such a call might do anything, the versions would differ on ";
    assert!(ran.code == Some(0) && ran.stderr.contains(says), "{ran:?}");
    let facts = log(&own).pop().unwrap();
    assert_eq!((&facts["optimised"], &facts["fell_back"]), (&1.into(), &0.into()), "{facts}");
    // Of other functions all is as it was.
    let mut command = cc(&own);
    command.arg("--validate");
    let ran = run(command, dir.path(), &["-O2", "-c", "plain.c"], "");
    assert!(ran.stderr.contains("what rules make does something else: @g: refuted"), "{ran:?}");
}
