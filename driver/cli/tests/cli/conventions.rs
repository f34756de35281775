//! Options that all commands share: standard input, colours, how much is said, former names, formats for programs.

use crate::ran::Ran;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PACK: &str = "pack p\nimport std.core\nruleset r {\n  rule a{T <: Int}(x: T):  x+0 => x\n}\n";
const FORMATTED: &str = "pack p\nimport std.core\nruleset r {\n  rule a{T <: Int}(x: T): x + 0 => x\n}\n";
const CLIF: &str =
    "function %f(i32) -> i32 {\nblock0(v0: i32):\n    v1 = iconst.i32 0\n    v2 = iadd v0, v1\n    return v2\n}\n";
const LLVM: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
                    target triple = \"x86_64-pc-linux-gnu\"\n\
                    define i32 @f(i32 %x) {\n  %y = add i32 %x, 0\n  ret i32 %y\n}\n";

fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("p.rw", PACK), ("g.rw", FORMATTED), ("f.clif", CLIF)] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn fed(dir: &Path, args: &str, input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(dir).args(args.split_whitespace());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{args}: {}", ran.stderr);
    ran
}

#[test]
fn a_dash_is_standard_input() {
    let dir = folder();
    for (args, input, code, says) in [
        ("fmt -", PACK, 0, FORMATTED),
        ("fmt --check -", PACK, 1, "-\n"),
        ("fmt --check -", FORMATTED, 0, ""),
        ("check -", PACK, 0, "1 rule, 0 examples: 0 passed"),
        ("test -", PACK, 0, "0 examples: 0 passed"),
        ("verify - --no-cache --samples 10 --threads 1", PACK, 0, "1 rule: 1 equal"),
        ("opt -", CLIF, 0, "return v0"),
        ("opt - -o -", CLIF, 0, "return v0"),
        ("opt f.clif --rules -", PACK, 0, "return v0"),
        ("opt - --language llvm", LLVM, 0, "ret i32 %x"),
        ("run - --fn f 7", CLIF, 0, "7\n"),
        ("why-not identities.add_zero -", CLIF, 0, "in %f"),
        ("difftest -", "test interpret\ntest run\ntarget x86_64\n", 0, "1 file"),
    ] {
        let ran = fed(dir.path(), args, input);
        assert_eq!(ran.code, Some(code), "{args}: {ran:?}");
        assert!(ran.stdout.contains(says), "{args}: {ran:?}");
    }
    for (args, option) in [("check --fix -", "--fix"), ("test -U -", "--update"), ("check --watch -", "--watch")] {
        let ran = fed(dir.path(), args, PACK);
        assert!(ran.code == Some(2) && ran.stderr.contains(&format!("{option} needs files")), "{args}: {ran:?}");
    }
}

#[test]
fn a_diff_is_one_that_patch_takes() {
    let dir = folder();
    let ran = fed(dir.path(), "fmt --check --diff p.rw g.rw", "");
    let expected = "--- p.rw\n+++ p.rw (formatted)\n@@ -1,5 +1,5 @@\n pack p\n import std.core\n ruleset r {\n\
                    -  rule a{T <: Int}(x: T):  x+0 => x\n+  rule a{T <: Int}(x: T): x + 0 => x\n }\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), expected));
    assert_eq!(std::fs::read_to_string(dir.path().join("p.rw")).unwrap(), PACK);
    let coloured = fed(dir.path(), "--color always fmt --diff p.rw", "");
    assert!(coloured.stdout.contains("\x1b[31m-  rule"), "{coloured:?}");
    let listed = fed(dir.path(), "fmt --check --format json p.rw g.rw", "");
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((&listed[0]["formatted"], &listed[1]["formatted"]), (&false.into(), &true.into()));
}

#[test]
fn former_names_are_understood_with_a_warning() {
    let dir = folder();
    std::fs::write(
        dir.path().join("g.json"),
        r#"{"nodes": {"a": {"op": "f", "eclass": "a"}}, "root_eclasses": ["a"]}"#,
    )
    .unwrap();
    for (args, former, present) in [
        ("verify p.rw --no-cache --samples 10 --rule a --threads 1", "--rule", "--filter"),
        ("verify p.rw --no-cache --samples 10 --jobs=1", "--jobs", "--threads"),
        ("extract g.json --method greedy", "--method", "--extract"),
        ("run f.clif --seconds 9 --fn f 7", "--seconds", "--timeout"),
    ] {
        let ran = fed(dir.path(), args, "");
        assert_eq!(ran.code, Some(0), "{args}: {ran:?}");
        let (warning, now) = (format!("warning: `{former}` of `rewright "), format!("is called `{present}` now"));
        assert!(ran.stderr.contains(&warning) && ran.stderr.contains(&now), "{args}: {ran:?}");
        let quiet = fed(dir.path(), &format!("-q {args}"), "");
        assert!(quiet.code == Some(0) && !quiet.stderr.contains("warning:"), "{args}: {quiet:?}");
    }
}

#[test]
fn reports_are_one_json_document() {
    let dir = folder();
    for args in [
        "allow --format json",
        "check p.rw --format json",
        "doc p.rw -o pages --format json",
        "explain RW0301 --format json",
        "explain identities.add_zero --format json",
        "fmt p.rw --check --format json",
        "run f.clif --fn f --format json 7",
        "run f.clif --fn f --compare=2 --format json 7",
        "why-not identities.add_zero f.clif --format json",
    ] {
        let ran = fed(dir.path(), args, "");
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap_or_else(|e| panic!("{args}: {e}: {ran:?}"));
    }
}

#[test]
fn much_or_little_is_said() {
    let dir = folder();
    let [usual, quiet, verbose] = ["", "-q ", "-v "].map(|how| fed(dir.path(), &format!("{how}check g.rw"), ""));
    assert!(usual.stderr.contains("note: p.r.a takes part in no example"), "{usual:?}");
    assert!(!quiet.stderr.contains("note:") && quiet.stderr.contains("RW0501"), "{quiet:?}");
    assert!(verbose.stderr.contains("packs: g.rw") && verbose.stderr.contains("took "), "{verbose:?}");
    assert!(fed(dir.path(), "--color always check g.rw", "").stderr.contains("\x1b["));
    assert!(!usual.stderr.contains("\x1b["));
    assert_eq!(fed(dir.path(), "-q -v check g.rw", "").code, Some(2));
    // Behind `cc` all is the compiler's.
    assert!(fed(dir.path(), "cc -v", "").stderr.contains("clang version"));
}

#[test]
fn who_names_packs_is_told_that_std_is_not_among_them() {
    let dir = folder();
    let note = "`--rules std` adds those that ship";
    for (args, told) in [
        ("opt f.clif --rules g.rw", 1),
        ("run f.clif --fn f --rules g.rw 7", 1),
        ("opt f.clif", 0),
        ("opt f.clif --rules std --rules g.rw", 0),
        ("opt f.clif --rules std.arith", 0),
        ("opt f.clif --rules std.rw", 1),
        ("-q opt f.clif --rules g.rw", 0),
    ] {
        std::fs::copy(dir.path().join("g.rw"), dir.path().join("std.rw")).unwrap();
        let ran = fed(dir.path(), args, "");
        assert_eq!((ran.code, ran.stderr.matches(note).count()), (Some(0), told), "{args}: {ran:?}");
    }
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    let dir = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = fed(dir.path(), &format!("completions {shell}"), "");
        assert!(ran.code == Some(0) && ran.stdout.contains("why-not") && !ran.stdout.contains("isolated"), "{shell}");
    }
    assert_eq!(fed(dir.path(), "man -o man", "").code, Some(0));
    let page = |name: &str| std::fs::read_to_string(dir.path().join("man/man1").join(name)).unwrap();
    assert!(page("rewright.1").contains("why\\-not") && page("rewright-opt.1").contains("bisect\\-limit"));
    assert_eq!(fed(dir.path(), "man opt", "").stdout, page("rewright-opt.1"));
    assert!(fed(dir.path(), "man nosuch", "").stderr.contains("there is no command `nosuch`"));
}

#[test]
fn color_holds_for_help_and_mistakes_in_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    for line in ["--color always chek", "--color=always check --bogus", "check --color always --bogus"] {
        let mistake = fed(dir.path(), line, "");
        assert_eq!((mistake.code, mistake.stderr.contains("\x1b[")), (Some(2), true), "{line}: {}", mistake.stderr);
    }
    assert!(fed(dir.path(), "check --color always --help", "").stdout.contains("\x1b["));
    let plain = fed(dir.path(), "--color never chek", "");
    assert_eq!((plain.code, plain.stderr.contains("\x1b[")), (Some(2), false), "{}", plain.stderr);
}
