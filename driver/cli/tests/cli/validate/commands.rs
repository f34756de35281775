//! `validate --after` and `--each`: commands that make the second version, and all that may go wrong with them.

use super::report;
use crate::ran::Ran;
use std::fs;
use std::path::Path;
use std::process::Command;

const F: &str = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 2\n  ret i32 %y\n}\n";

/// Passes of a program that reads and writes a text.
const PASSES: &str = "\
case $1 in
shift) sed 's/mul i32 %x, 2/shl i32 %x, 1/' ;;
keep) cat ;;
wrong) sed 's/shl i32 %x, 1/shl i32 %x, 2/' ;;
again) sed 's/shl i32 %x, 2/shl i32 %x, 3/' ;;
crash) kill -SEGV $$ ;;
fail) echo 'no such pass' >&2; exit 4 ;;
empty) cat >/dev/null ;;
garbage) echo 'error: all is lost' ;;
cut) head -c 50 ;;
bitcode) printf 'BC\\300\\336more' ;;
hang) sleep 100 ;;
esac
";

fn validate(dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(dir).arg("validate").args(args).args(["--method", "replayed,refined"]);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("a folder")).unwrap();
    fs::write(dir.path().join("a folder/in file.ll"), F).unwrap();
    fs::write(dir.path().join("passes.sh"), PASSES).unwrap();
    dir
}

const FILE: &str = "a folder/in file.ll";

#[test]
fn a_command_makes_the_second_version() {
    let dir = files();
    for command in [
        "sh passes.sh shift",
        "sed 's/mul i32 %x, 2/shl i32 %x, 1/' {}",
        "sh -c 'sed \"s/mul i32 %x, 2/shl i32 %x, 1/\" \"$1\" >\"$2\"' sh {} {out}",
        "sh -c 'sed -i \"s/mul i32 %x, 2/shl i32 %x, 1/\" \"$0\" && cat \"$0\"' {}",
    ] {
        let ran = validate(dir.path(), &[FILE, "--after", command]);
        assert!(ran.code == Some(0) && ran.stdout.starts_with("@f: proved (by a solver)\n"), "{command}: {ran:?}");
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), F, "{command}");
    }
    let ran = validate(dir.path(), &[FILE, "--after", "sed 's/mul i32 %x, 2/mul i32 %x, 3/'"]);
    assert!(ran.code == Some(1) && ran.stdout.starts_with("@f: refuted: on ("), "{ran:?}");
}

#[test]
fn the_pass_that_breaks_it_is_named() {
    let dir = files();
    let each = |passes: &str, more: &[&str]| {
        validate(dir.path(), &[&[FILE, "--after", "sh passes.sh {pass}", "--each", passes], more].concat())
    };
    let ran = each("shift,keep,wrong,again", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.ends_with("in file.ll is broken by `wrong`: @f\n"), "{ran:?}");
    assert!(ran.stdout.contains("in file.ll, `shift`:\n@f: proved (by a solver)\n"), "{ran:?}");
    let found = report(&each("shift,keep,wrong,again", &["--format", "json"]));
    assert_eq!(
        (&found["broken_by"][0]["pass"], &found["broken_by"][0]["functions"][0]),
        (&"wrong".into(), &"@f".into())
    );
    let passes: Vec<_> = found["functions"].as_array().unwrap().iter().map(|f| f["pass"].as_str().unwrap()).collect();
    assert_eq!((passes, found["unchanged"].as_u64()), (vec!["shift", "wrong", "again"], Some(1)), "{found}");
    let sound = each("shift,keep", &["--format", "json"]);
    assert!(sound.code == Some(0) && report(&sound)["broken_by"] == serde_json::json!([]), "{sound:?}");
    // The passes before one that fails are reported.
    let ran = each("shift,fail,wrong", &[]);
    assert!(ran.code == Some(2) && ran.stdout.contains("`shift`:\n@f: proved"), "{ran:?}");
    assert!(ran.stderr.contains("`sh passes.sh fail` failed (exit status: 4): no such pass"), "{ran:?}");
}

#[test]
fn commands_that_give_nothing_are_errors() {
    let dir = files();
    for (pass, says) in [
        ("crash", "failed (signal: 11"),
        ("fail", "failed (exit status: 4): no such pass"),
        ("empty", "gave nothing: its standard output is empty"),
        ("garbage", "the output of `sh passes.sh garbage`: 1:1: `error: all is lost` is nothing that LLVM IR has"),
        ("cut", "the output of `sh passes.sh cut`: 1:1: the body of @f has no closing brace"),
        ("bitcode", "this is LLVM bitcode"),
        ("hang", "did not end within 1 s"),
    ] {
        let command = format!("sh passes.sh {pass}");
        let ran = validate(dir.path(), &[FILE, "--after", &command, "--timeout", "1"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{pass}: {ran:?}");
        assert!(ran.stdout.is_empty(), "{pass}: {ran:?}");
    }
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    let dir = files();
    for (args, says) in [
        (&[FILE, "--after", ""][..], "the command is empty"),
        (&[FILE, "--after", "opt 'x"], "a quote in the command is not closed"),
        (&[FILE, "--after", "no-such-program"], "cannot run `no-such-program`"),
        (&[FILE, "--after", "cat", "--each", "a,b"], "has no place for the passes"),
        (&[FILE, "--after", "cat {pass}"], "has a place for a pass: --each says which"),
        (&[FILE, "--after", "cat {pass}", "--each", " , "], "--each names no pass"),
        (&[FILE, "--each", "licm,,gvn"], "a comma without a pass"),
        (&["-", "--after", "cat"], "say with --language"),
        (&[FILE, FILE, "--after", "cat"], "cannot be used with"),
        (&["none.ll", "--after", "cat"], "cannot read none.ll"),
    ] {
        let ran = validate(dir.path(), args);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{args:?}: {ran:?}");
    }
    fs::write(dir.path().join("f.clif"), "function %f() {\nblock0:\n    return\n}\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.current_dir(dir.path()).args(["validate", "f.clif", "--each", "a"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("no usual command for passes of CLIF"), "{said}");
}

/// LLVM's own passes, by the usual command.
#[test]
fn passes_of_llvm_are_run_by_opt() {
    let dir = files();
    let ran =
        validate(dir.path(), &[FILE, "--each", "instcombine,function(early-cse<memssa>,sroa)", "--format", "json"]);
    let found = report(&ran);
    assert_eq!((ran.code, found["files"]["compared"].as_u64()), (Some(0), Some(2)), "{ran:?}");
    let ran = validate(dir.path(), &[FILE, "--after", "opt-19 -passes=instcombine"]);
    assert!(ran.code == Some(0) && ran.stdout.starts_with("@f: proved"), "{ran:?}");
}
