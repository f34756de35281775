//! `rewright cc` and `rewright wrap` beside the compiler itself: the same files, the same words, the same exit codes;
//! and what remains when something of ours fails. Wants clang 19 and opt 19 (`scripts/setup.sh`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builds;
mod cache;
mod declared;
mod hermetic;
mod languages;
mod linked;
mod missed;
mod told;
mod validated;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// LLVM does not know that this is a sum.
const SUM: &str = "int sum(int x, int y) { return (x ^ y) + ((x & y) << 1); }\n";

const PACK: &str = "pack mine\nimport std.core\n\nruleset sums {\n  rule carries(x: i32, y: i32): \
                    iadd(bxor(x, y), ishl{i32, i32}(band(x, y), 1)) => iadd(x, y)\n}\n\
                    schedule default { saturate sums }\n";

/// What a command says first that applies this pack alone.
const ALONE: &str =
    "note: only the rules of the packs named by `--rules` are applied; `--rules std` adds those that ship";

/// A folder of sources.
fn sources() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("sum.c", SUM),
        ("warns.c", "int f(int x) { int unused; return x * 3; }\n"),
        (
            "main.c",
            "#include \"own.h\"\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", sum(TWO, 40)); return 0; }\n",
        ),
        ("own.h", "#define TWO 2\nint sum(int x, int y);\n"),
        ("broken.c", "int f( { return 1; }\n"),
        // Warnings that only the back end gives: that this is called, and that a loop is not what a pragma wants.
        ("called.c", "__attribute__((warning(\"never\"))) int g(int);\nint f(int x) { return g(x); }\n"),
        (
            "loop.c",
            "int g(int);\nint f(int *a, int n) {\n  int s = 0;\n#pragma clang loop vectorize(enable)\n  \
             for (int i = 0; i < n; i++) s += g(a[i]);\n  return s;\n}\n",
        ),
        ("plus.cc", "int f(int x) { return x; }\n"),
        ("loop-free.c", "int twice(int x) { return x + x; }\n"),
        ("conftest.c", "int main(void) { return 0; }\n"),
        ("text.s", ".text\n.globl g\ng: ret\n.section .note.GNU-stack,\"\",@progbits\n"),
        ("args", "-O2 -c sum.c"),
        ("mine.rw", PACK),
        ("none.rw", "pack none\nimport std.core\n"),
        ("wrong.rw", "pack wrong\nimport std.core\nruleset r {\n  rule f(x: i32): nothing(x) => x\n}\n"),
        ("in dir/a b.c", "#include \"../own.h\"\nint twice(int x) { return sum(x, x) + TWO; }\n"),
    ];
    for folder in ["in dir", "out dir"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[derive(PartialEq, Eq, Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a compiler in a folder with what stands in `stdin`.
fn run(mut command: Command, dir: &Path, args: &[&str], stdin: &str) -> Ran {
    fs::write(dir.join("stdin"), stdin).unwrap();
    let stdin = Stdio::from(fs::File::open(dir.join("stdin")).unwrap());
    let output = command.current_dir(dir).args(args).stdin(stdin).output().unwrap();
    fs::remove_file(dir.join("stdin")).unwrap();
    // An object on standard output is no text.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let mut stderr = text(output.stderr);
    if command.get_args().next().is_some_and(|name| name == "cc") {
        // Of which commands it is said has a test of its own.
        stderr = stderr.replacen(&format!("{ALONE}\n"), "", 1);
    }
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr }
}

/// `rewright` with a cache, a log and a default folder of its own, outside of the sources.
fn rewright(own: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.env("REWRIGHT_CACHE", own.path().join("cache")).env("REWRIGHT_LOG", own.path().join("log"));
    command.env("HOME", own.path()).env_remove("REWRIGHT_SERVER").env_remove("REWRIGHT_STARTED");
    command
}

fn cc(own: &TempDir) -> Command {
    let mut command = rewright(own);
    command.args(["cc", "--rules", "mine.rw"]);
    command
}

/// One that names no packs in dependency files.
fn cc_alone(own: &TempDir) -> Command {
    let mut command = cc(own);
    command.arg("--no-pack-dependencies");
    command
}

fn log(own: &TempDir) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(own.path().join("log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every file below, with its permissions and content.
fn files(dir: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = path.metadata().unwrap().permissions().mode();
                let name = path.strip_prefix(dir).unwrap().display().to_string();
                found.insert(name, (mode, fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// A program in the place of another.
fn script(own: &TempDir, name: &str, text: &str) -> std::path::PathBuf {
    let path = own.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Command lines on which nothing of ours is to be seen: no rule matches, or there is nothing for rules to see. The
/// text behind `<` is given on standard input.
const SAME: [&str; 35] = [
    "-E sum.c",
    "-M main.c",
    "-MM main.c",
    "-O2 -MM -MF deps main.c",
    "-O2 -c conftest.c",
    "-O2 -c broken.c",
    "-O2 -c nowhere.c",
    "-O2 -c warns.c -o nowhere/warns.o",
    "-O2 -c warns.c -o /dev/null",
    "-O2 -Wall -c warns.c",
    "-O2 -Wall -Werror -c warns.c",
    "-O2 -MD -c main.c",
    "-O2 -MMD -c main.c -o out.o",
    "-O2 -MMD -MP -MFdeps -MT target -c main.c",
    "-O2 -g -c main.c",
    "-Os -fPIC -ffunction-sections -I. -include own.h -DX=1 -c warns.c -o w.o",
    "-O2 -fno-such-option -c warns.c",
    "-O2 -c -H main.c",
    "-O2 -c -Wa,--noexecstack -Wl,-z,now -lm warns.c",
    "-O2 -Werror -c loop.c",
    "-O2 -c -print-search-dirs warns.c",
    "-O2 -c warns.c loop-free.c",
    "-O2 -w loop-free.c main.c -c -MMD",
    "-O2 -Wall warns.c loop-free.c",
    "-O2 -Wall -MD -I. -DX=1 -g0 main.c warns.c loop-free.c sum.o -o program-1.2",
    "-O2 loop-free.c -shared -fPIC -s -lm -z now -o lib.so",
    "-O2 loop-free.c -L. -lnone -o program",
    "-O2 broken.c loop-free.c -o program",
    "-O2 loop-free.c nowhere.c -c",
    "-O2 -c warns.c loop-free.c -o both.o",
    "-O0 conftest.c -o conftest",
    "-c -x c - -o /dev/null < int f(void) { return 1; }",
    "--version",
    "-O2 sum.o -o program -shared",
    "",
];

#[test]
fn nothing_of_ours_is_to_be_seen() {
    for line in SAME {
        let (line, stdin) = line.split_once('<').unwrap_or((line, ""));
        let args: Vec<&str> = line.split_whitespace().collect();
        let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
        let expected = run(Command::new("clang-19"), plain.path(), &args, stdin);
        let got = run(cc_alone(&own), ours.path(), &args, stdin);
        if args.contains(&"-g") {
            // The folder is in the object.
            assert_eq!(got, expected, "{line}");
            continue;
        }
        assert_eq!(got, expected, "{line}");
        assert_eq!(files(ours.path()), files(plain.path()), "{line}");
    }
}

/// Rules change `added`, through which `leave` goes, and not `f`, which is left with something to clean up.
const UNWINDING: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <unwind.h>
static jmp_buf out;
static struct _Unwind_Exception exception;
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *e, struct _Unwind_Context *context, void *p) {
    if (actions & _UA_END_OF_STACK) longjmp(out, 1);
    return _URC_NO_REASON;
}
__attribute__((noinline)) void leave(int *x) { if (*x == 42) _Unwind_ForcedUnwind(&exception, stop, 0); }
__attribute__((noinline)) int added(int *x, int y) {
    *x = (*x ^ y) + ((*x & y) << 1);
    leave(x);
    *x = 0;
    return y;
}
static void report(int *x) { printf("left with %d\n", *x); }
__attribute__((noinline)) int f(int y) { __attribute__((cleanup(report))) int x = 2; return added(&x, y); }
int main(void) {
    if (!setjmp(out)) { printf("%d\n", f(1)); f(40); }
    return 0;
}
"#;

#[test]
fn what_unwinds_cleans_up() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("unwinding.c"), UNWINDING).unwrap();
    let flags = ["-O2", "-fexceptions", "-c", "unwinding.c"];
    assert_eq!(run(cc(&own), dir.path(), &flags, "").code, Some(0));
    let [facts] = &log(&own)[..] else { panic!("one command") };
    assert_eq!((&facts["optimised"], &facts["passed_through"]), (&1.into(), &2.into()), "{facts}");
    assert_eq!(run(cc(&own), dir.path(), &["unwinding.o", "-o", "program"], "").code, Some(0));
    let ran = run(Command::new("./program"), dir.path(), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "left with 0\n1\nleft with 42\n"), "{ran:?}");
}

#[test]
fn spaces_in_paths() {
    let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
    let args = ["-O2", "-MMD", "-c", "in dir/a b.c", "-o", "out dir/a b.o"];
    let expected = run(Command::new("clang-19"), plain.path(), &args, "");
    assert_eq!(run(cc_alone(&own), ours.path(), &args, ""), expected);
    assert_eq!(files(ours.path()), files(plain.path()));
    assert!(ours.path().join("out dir/a b.d").is_file());
    assert_eq!(log(&own)[0]["files"], 1);
}

#[test]
fn costs_come_from_profiles_and_configurations() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    // Where all but the sum is free, there is nothing to gain.
    let free = "{\"costs\": {\"constant\": 0, \"operations\": {\"bxor\": 0, \"band\": 0, \"ishl\": 0}}}";
    fs::write(dir.path().join("free.json"), free).unwrap();
    let compiled = |options: &[&str]| {
        let ran = run(cc(&own), dir.path(), &[options, &["-O2", "-c", "sum.c"]].concat(), "");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{options:?}");
        let facts = log(&own).pop().unwrap();
        (facts["optimised"].as_u64().unwrap(), facts["cached"].as_u64().unwrap())
    };
    assert_eq!(compiled(&["--profile", "latency"]), (1, 0));
    assert_eq!(compiled(&["--config", "free.json"]), (0, 0));
    // The nearest configuration counts as in other commands; what is kept by content knows what it says.
    fs::rename(dir.path().join("free.json"), dir.path().join("rewright.json")).unwrap();
    assert_eq!(compiled(&[]), (0, 1));
    assert_eq!(compiled(&["--profile", "size"]), (0, 0));
    fs::remove_file(dir.path().join("rewright.json")).unwrap();
    assert_eq!(compiled(&[]), (1, 0));
    for (option, complaint) in [(["--profile", "fastest"], "no profile `fastest`"), (["--config", "gone"], "gone")] {
        let ran = run(cc(&own), dir.path(), &[&option[..], &["--strict", "-O2", "-c", "sum.c"]].concat(), "");
        assert!(ran.code == Some(2) && ran.stderr.contains(complaint), "{ran:?}");
        let mut wrap = rewright(&own);
        wrap.args(["wrap", "--rules", "mine.rw"]).args(option).args(["--", "touch", "started"]);
        let ran = run(wrap, dir.path(), &[], "");
        assert!(ran.code == Some(2) && ran.stderr.contains(complaint), "{ran:?}");
        assert!(!dir.path().join("started").exists());
    }
}

#[test]
fn steps_that_fail_leave_the_compiler_alone() {
    let steps = [
        ("exit 3", "failed"),
        // The output is cut off.
        ("opt-19 \"$@\"; for last; do :; done; sed -i '/xor/q' \"$last\"", "cut off"),
        ("for last; do :; done; printf 'BC\\300\\336' > \"$last\"", "bitcode"),
        ("for last; do :; done; printf 'define i32* @f() {\\n}\\n' > \"$last\"", "typed pointers"),
        ("kill -9 $$", "failed"),
    ];
    let plain = sources();
    run(Command::new("clang-19"), plain.path(), &["-O2", "-c", "sum.c"], "");
    for (text, complaint) in steps {
        let (ours, own) = (sources(), tempfile::tempdir().unwrap());
        let opt = script(&own, "opt", text);
        let mut command = cc(&own);
        command.env("REWRIGHT_OPT", &opt);
        let ran = run(command, ours.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(0), "{text}: {ran:?}");
        assert!(ran.stderr.contains(complaint), "{text}: {ran:?}");
        assert_eq!(files(ours.path()), files(plain.path()), "{text}");
        let mut command = cc(&own);
        command.env("REWRIGHT_OPT", &opt).arg("--strict");
        fs::remove_file(ours.path().join("sum.o")).unwrap();
        let ran = run(command, ours.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(2), "{text}: {ran:?}");
        assert!(!ours.path().join("sum.o").exists(), "{text}");
    }
}

#[test]
fn no_compiler_is_a_message() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let mut command = cc(&own);
    command.env("REWRIGHT_CLANG", "/nowhere/clang");
    let ran = run(command, dir.path(), &["-O2", "-c", "sum.c"], "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot run /nowhere/clang"), "{ran:?}");
}

/// Waits for a file by which a command says how far it has come.
fn appears(file: &Path) {
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < Duration::from_secs(100), "{} is not reached", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_compiler_that_is_killed_leaves_no_object() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let before = files(dir.path());
    let started = own.path().join("started");
    // The back end writes a part of the object, and does not come to an end.
    let clang = script(
        &own,
        "clang",
        &format!(
            "case \" $* \" in *' -x ir '*) for last; do :; done; echo half > \"$last\"; touch '{}'; exec sleep 60;; \
             esac\n\
             exec clang-19 \"$@\"",
            started.display()
        ),
    );
    let mut command = cc(&own);
    let mut child = command
        .env("REWRIGHT_CLANG", clang)
        .env("TMPDIR", own.path())
        .current_dir(dir.path())
        .args(["-O2", "-c", "sum.c"])
        .spawn()
        .unwrap();
    appears(&started);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(files(dir.path()), before);
    // The next process removes what it left.
    let left = || -> Vec<_> {
        let names = fs::read_dir(own.path()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("rewright-")).collect()
    };
    let [folder] = &left()[..] else { panic!("{:?}", left()) };
    fs::File::open(folder).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let mut command = cc(&own);
    command.env("TMPDIR", own.path());
    assert_eq!(run(command, dir.path(), &["-O2", "-c", "sum.c"], "").code, Some(0));
    assert_eq!(left(), Vec::<std::path::PathBuf>::new());
}

/// As on a disk with room for this many blocks in a file and no more: where the compiler succeeds, so do we, and a run
/// that fails leaves nothing.
#[test]
fn a_full_disk_leaves_no_object() {
    let mut ends = BTreeSet::new();
    for blocks in [0, 1, 2, 3, 4, 8, 16, 1 << 20] {
        let limited = |own: &TempDir| {
            let text = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &text, "sh"]).env("HOME", own.path()).env("TMPDIR", own.path());
            command
        };
        let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
        let mut command = limited(&own);
        command.arg("clang-19");
        let expected = run(command, plain.path(), &["-O2", "-c", "sum.c"], "");
        let mut command = limited(&own);
        command.args([env!("CARGO_BIN_EXE_rewright"), "cc", "--rules", "mine.rw"]).env_remove("REWRIGHT_SERVER");
        let got = run(command, ours.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(got.code, expected.code, "{blocks} blocks: {got:?} {expected:?}");
        let names = |dir: &TempDir| files(dir.path()).into_keys().collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&plain), "{blocks} blocks: {got:?}");
        if got.code == Some(0) {
            let linked = run(Command::new("clang-19"), ours.path(), &["-w", "main.c", "sum.o", "-o", "program"], "");
            assert_eq!(linked.code, Some(0), "{blocks} blocks: {linked:?}");
            assert_eq!(run(Command::new("./program"), ours.path(), &[], "").stdout, "42\n");
        }
        ends.insert(got.code);
    }
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), [Some(0), Some(1)]);
}
