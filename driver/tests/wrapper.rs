//! `rewright cc` and `rewright wrap` beside the compiler itself: the same files, the same words, the same exit codes;
//! and what remains when something of ours fails. Wants clang 19 and opt 19 (`scripts/setup.sh`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
                    iadd(bxor(x, y), ishl{i32, i32}(band(x, y), 1)) => iadd(x, y)\n}\nschedule default { saturate sums }\n";

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
        ("conftest.c", "int main(void) { return 0; }\n"),
        ("text.s", ".text\n.globl g\ng: ret\n"),
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
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
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

/// Command lines on which nothing of ours is to be seen: no rule matches, or they are the compiler's own business. What
/// stands behind `<` is given on standard input.
const SAME: [&str; 39] = [
    "-E sum.c",
    "-O2 -S sum.c",
    "-O2 -S sum.c -o text.out",
    "-M main.c",
    "-MM main.c",
    "-O2 -MM -MF deps main.c",
    "-O2 -c sum.c warns.c",
    "-O2 sum.c main.c -o program",
    "-O2 -c -x c - -o in.o < int f(void) { return 1; }",
    "-O2 -c - < int f(void) { return 1; }",
    "@args",
    "-O0 -c sum.c",
    "-c sum.c",
    "-O2 -O0 -c sum.c",
    "-O2 -c conftest.c",
    "-O2 -c text.s",
    "-O2 -c text.s warns.c",
    "-O2 -c broken.c",
    "-O2 -c nowhere.c",
    "-O2 -c warns.c -o nowhere/warns.o",
    "-O2 -c warns.c -o /dev/null",
    "-O2 -Wall -c warns.c",
    "-O2 -Wall -Werror -c warns.c",
    "-O2 -MD -c main.c",
    "-O2 -MMD -c main.c -o out.o",
    "-O2 -MMD -MP -MFdeps -MT target -c main.c",
    "-O2 -Wp,-MMD,deps -c main.c",
    "-O2 -g -c main.c",
    "-Os -fPIC -ffunction-sections -I. -include own.h -DX=1 -c warns.c -o w.o",
    "-O2 -fno-such-option -c warns.c",
    "-O2 -c warns.c -o -",
    "-O2 -c -H main.c",
    "-O2 -c -- sum.c",
    "-O2 -c --save-temps sum.c",
    "-O2 -c -frecord-command-line warns.c",
    "-O2 -c -Wa,--noexecstack -Wl,-z,now -lm warns.c",
    "-O2 -c -fsanitize=address warns.c",
    "-O2 -c --target=i386-linux-gnu sum.c",
    "",
];

#[test]
fn nothing_of_ours_is_to_be_seen() {
    for line in SAME {
        let (line, stdin) = line.split_once('<').unwrap_or((line, ""));
        let args: Vec<&str> = line.split_whitespace().collect();
        let (plain, ours, own) = (sources(), sources(), tempfile::tempdir().unwrap());
        let expected = run(Command::new("clang-19"), plain.path(), &args, stdin);
        let got = run(cc(&own), ours.path(), &args, stdin);
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
    assert_eq!(run(cc(&own), ours.path(), &args, ""), expected);
    assert_eq!(files(ours.path()), files(plain.path()));
    assert!(ours.path().join("out dir/a b.d").is_file());
    assert_eq!(log(&own)[0]["files"], 1);
}

/// Compiles `sum.c` and gives the object and what the log says last.
fn compile_sum(own: &TempDir, dir: &Path, more: &[&str]) -> (Vec<u8>, serde_json::Value) {
    let args = [&["-O2", "-c", "sum.c"], more].concat();
    let ran = run(cc(own), dir, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    (fs::read(dir.join("sum.o")).unwrap(), log(own).pop().unwrap())
}

#[test]
fn objects_are_found_again_where_nothing_has_changed() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let (object, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&1.into(), &0.into()), "{facts}");
    assert_eq!(facts["rules"]["mine.sums.carries"], 1);
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let (again, facts) = compile_sum(&own, dir.path(), &["-MD"]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&1.into(), &1.into()), "{facts}");
    assert_eq!(again, object);
    // What the front end writes is written all the same.
    assert!(fs::read_to_string(dir.path().join("sum.d")).unwrap().contains("sum.c"));
    // Another option, another pack, another file.
    assert_eq!(compile_sum(&own, dir.path(), &["-fPIC"]).1["cached"], 0);
    fs::write(dir.path().join("mine.rw"), PACK.replace("carries", "carry")).unwrap();
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 0);
    fs::write(dir.path().join("mine.rw"), PACK).unwrap();
    assert_eq!(compile_sum(&own, dir.path(), &[]).1["cached"], 1);
    fs::write(dir.path().join("sum.c"), SUM.replace("<< 1", "<< 2")).unwrap();
    let (other, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((&facts["optimised"], &facts["cached"]), (&0.into(), &0.into()));
    assert_ne!(other, object);
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
fn a_cache_that_is_spoilt_is_no_cache() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let (object, _) = compile_sum(&own, dir.path(), &[]);
    for name in files(&own.path().join("cache")).into_keys() {
        fs::write(own.path().join("cache").join(name), "spoilt").unwrap();
    }
    let (again, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((again, &facts["cached"]), (object.clone(), &0.into()));
    fs::remove_dir_all(own.path().join("cache")).unwrap();
    fs::write(own.path().join("cache"), "no folder").unwrap();
    let (again, facts) = compile_sum(&own, dir.path(), &[]);
    assert_eq!((again, &facts["cached"]), (object, &0.into()));
}

#[test]
fn commands_at_once_share_a_cache() {
    let own = tempfile::tempdir().unwrap();
    let folders: Vec<TempDir> = (0..4).map(|_| sources()).collect();
    let running: Vec<_> = folders
        .iter()
        .map(|dir| cc(&own).current_dir(dir.path()).args(["-O2", "-c", "sum.c"]).spawn().unwrap())
        .collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let objects: Vec<_> = folders.iter().map(|dir| fs::read(dir.path().join("sum.o")).unwrap()).collect();
    assert!(objects.iter().all(|o| *o == objects[0]));
    assert_eq!(log(&own).len(), 4);
}

#[test]
fn packs_that_are_missing_or_wrong_leave_the_compiler_alone() {
    let own = tempfile::tempdir().unwrap();
    for (pack, complaint) in [("nope.rw", "cannot read nope.rw"), ("wrong.rw", "the packs have mistakes")] {
        let (plain, ours) = (sources(), sources());
        run(Command::new("clang-19"), plain.path(), &["-O2", "-c", "sum.c"], "");
        let mut command = rewright(&own);
        command.args(["cc", "--rules", pack]);
        let ran = run(command, ours.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(0));
        assert!(ran.stderr.contains("sum.c: compiled without rules") && ran.stderr.contains(complaint), "{ran:?}");
        assert_eq!(files(ours.path()), files(plain.path()));
        let strict = sources();
        let mut command = rewright(&own);
        command.args(["cc", "--rules", pack, "--strict"]);
        let ran = run(command, strict.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(complaint), "{ran:?}");
        assert!(!strict.path().join("sum.o").exists());
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", pack, "--", "touch", "started"]);
        let ran = run(command, strict.path(), &[], "");
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(complaint) && !strict.path().join("started").exists(), "{ran:?}");
    }
}

#[test]
fn steps_that_fail_leave_the_compiler_alone() {
    let steps = [
        ("exit 3", "failed"),
        // What comes is cut off.
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
            "case \" $* \" in *' -x ir '*) for last; do :; done; echo half > \"$last\"; touch '{}'; exec sleep 60;; esac\n\
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
    let start = Instant::now();
    while !started.exists() {
        assert!(start.elapsed() < Duration::from_secs(100), "the back end is not reached");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(files(dir.path()), before);
}

/// As on a disk with room for so many blocks in a file and no more: where the compiler succeeds, so do we, and whoever
/// fails leaves nothing.
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

/// A cache in front of us asks for preprocessed text, then for an object, of that text or of the source; another machine
/// gets the text alone.
#[test]
fn a_cache_or_another_machine_in_front() {
    let (dir, own, other) = (sources(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = own.path().join("kept");
    fs::create_dir(&kept).unwrap();
    let front = script(
        &own,
        "front",
        &format!(
            "for last; do :; done; key=$(\"$@\" -E | cksum | tr ' ' -); kept='{}'/$key; [ -f \"$kept\" ] || \"$@\" -o \"$kept\" || exit\n\
             cp \"$kept\" \"${{last%.c}}.o\"",
            kept.display()
        ),
    );
    let mut objects = vec![];
    for _ in 0..2 {
        let mut command = Command::new(&front);
        command.arg(env!("CARGO_BIN_EXE_rewright")).args(["cc", "--rules", "mine.rw"]);
        command.env("HOME", own.path()).env("REWRIGHT_LOG", own.path().join("log")).env_remove("REWRIGHT_SERVER");
        let ran = run(command, dir.path(), &["-O2", "-c", "sum.c"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        objects.push(fs::read(dir.path().join("sum.o")).unwrap());
    }
    // The second time, only text was asked for.
    assert_eq!(log(&own).iter().filter(|line| line["optimised"] == 1).count(), 1);
    run(cc(&own), dir.path(), &["-E", "sum.c", "-o", "sum.i"], "");
    for (own, folder) in [(&own, dir.path()), (&other, other.path())] {
        if own.path() == folder {
            fs::copy(dir.path().join("sum.i"), folder.join("sum.i")).unwrap();
            fs::copy(dir.path().join("mine.rw"), folder.join("mine.rw")).unwrap();
        }
        let ran = run(cc(own), folder, &["-O2", "-c", "sum.i", "-o", "far.o"], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        objects.push(fs::read(folder.join("far.o")).unwrap());
    }
    assert!(objects.windows(2).all(|pair| pair[0] == pair[1]), "objects differ");
}

#[test]
fn a_build_with_spaces_and_parallel_commands() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let place = dir.path().join("a place");
    fs::create_dir(&place).unwrap();
    for name in ["sum.c", "main.c", "own.h", "mine.rw", "warns.c"] {
        fs::copy(dir.path().join(name), place.join(name)).unwrap();
    }
    let makefile =
        "CFLAGS = -O2 -MMD -w\nprogram: sum.o main.o warns.o\n\t$(CC) $^ -o $@\nclean:\n\trm -f *.o program\n";
    fs::write(place.join("Makefile"), makefile).unwrap();
    for (round, cached) in [0, 3].into_iter().enumerate() {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw", "--stats", "--format", "json", "--", "make", "-s", "-j3"]);
        let ran = run(command, &place, &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let facts: serde_json::Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
        let counts = ["files", "cached", "handed_over", "fell_back", "functions", "optimised", "failed"];
        let counts: Vec<u64> = counts.iter().map(|key| facts[key].as_u64().unwrap()).collect();
        assert_eq!(counts, [3, cached, 1, 0, 3, 1, 0], "round {round}: {facts}");
        let program = run(Command::new(place.join("program")), &place, &[], "");
        assert_eq!(program.stdout, "42\n");
        run(Command::new("make"), &place, &["clean"], "");
    }
    // A Makefile with a compiler of its own.
    fs::write(place.join("Makefile"), format!("CC = clang-19\n{makefile}")).unwrap();
    for (option, said) in [("-s", "no command came through `CC`"), ("-se", "3 files compiled with rules")] {
        run(Command::new("make"), &place, &["clean"], "");
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw", "--stats", "--", "make", option]);
        let ran = run(command, &place, &[], "");
        assert!(ran.code == Some(0) && ran.stderr.contains(said), "{ran:?}");
    }
    fs::write(place.join("Makefile"), makefile).unwrap();
    // A build's own exit code.
    fs::write(place.join("main.c"), "int main(void) { return }\n").unwrap();
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--stats", "--", "make", "-s"]);
    let ran = run(command, &place, &[], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("main.c:1:") && ran.stderr.contains("1 rejected by the compiler"), "{ran:?}");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(run(command, &place, &[], "").code, Some(137));
}

#[test]
fn what_rules_see_is_kept_on_demand() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    for source in ["sum.c", "warns.c"] {
        let mut command = cc(&own);
        command.args(["--keep", "kept"]);
        let ran = run(command, dir.path(), &["-O2", "-c", source], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let kept: Vec<_> = files(&dir.path().join("kept")).into_iter().collect();
    let [changed, seen, unchanged] = &kept[..] else { panic!("{kept:?}") };
    let text = |file: &(String, (u32, Vec<u8>))| String::from_utf8_lossy(&file.1.1).into_owned();
    assert_eq!(seen.0.strip_suffix(".ll"), changed.0.strip_suffix(".changed"));
    assert!(seen.0.starts_with("sum-") && text(seen).contains("xor ") && !text(changed).contains("xor "));
    assert!(unchanged.0.starts_with("warns-") && unchanged.0.ends_with(".ll"));
    let ran = run(rewright(&own), dir.path(), &["corpus", "kept"], "");
    assert!(ran.stdout.contains("2 functions, 2 understood"), "{ran:?}");
}

#[test]
fn a_pack_for_functions_that_are_not_there() {
    const ABSENT: &str = "pack absent\nimport std.core\n@llvm(\"@matrix_turn\")\nfn turn(a: ptr) -> ptr  pure  cost 500\n\
                          @llvm(\"@matrix_trace\")\nfn trace(a: ptr) -> i64  effects reads(memory)  cost 900\n\
                          ruleset r {\n  rule twice(a: ptr): turn(turn(a)) => a\n  rule turned(a: ptr): \
                          trace(turn(a)) => trace(a)\n}\nschedule default { saturate r }\n";
    let own = tempfile::tempdir().unwrap();
    let build = "for f in sum main warns; do $CC -O2 -w -c $f.c || exit; done";
    let (plain, ours) = (sources(), sources());
    let mut command = Command::new("sh");
    command.env("CC", "clang-19");
    run(command, plain.path(), &["-c", build], "");
    fs::write(ours.path().join("absent.rw"), ABSENT).unwrap();
    let ran = run(rewright(&own), ours.path(), &["check", "absent.rw"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "absent.rw", "--strict", "--stats", "--", "sh", "-c", build]);
    let ran = run(command, ours.path(), &[], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    fs::remove_file(ours.path().join("absent.rw")).unwrap();
    assert_eq!(files(ours.path()), files(plain.path()));
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        said[0],
        "3 files compiled with rules (0 from the cache), 0 commands handed over, 0 fell back, 0 rejected by the compiler"
    );
    assert_eq!(said[1], "3 functions (0 met before): 0 optimised, 3 unchanged, 0 not understood, 0 failed");
    // And nothing but where the time went.
    assert!(said[2].ends_with(" s, of which") && said[3..].iter().all(|line| line.contains(" %  ")), "{ran:?}");
}

/// `./configure` and CMake write their compiler's path down, and `make` comes later, under the wrapper or not.
#[test]
fn a_compiler_that_is_written_down_stays() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let wrap = |pack: &str, build: &str| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", pack, "--", "sh", "-c", build]);
        let ran = run(command, dir.path(), &[], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    };
    wrap("mine.rw", "echo \"$CC\" >compiler; $CC -O2 -c sum.c");
    let compiler = fs::read_to_string(dir.path().join("compiler")).unwrap().trim().to_string();
    let object = fs::read(dir.path().join("sum.o")).unwrap();
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let facts = |path: &str| fs::metadata(path).unwrap().modified().unwrap();
    let written = facts(&compiler);
    wrap("mine.rw", "$(cat compiler) -O2 -c sum.c; [ $CC = $(cat compiler) ]");
    assert_eq!((fs::read(dir.path().join("sum.o")).unwrap() == object, facts(&compiler)), (true, written));
    fs::remove_file(dir.path().join("sum.o")).unwrap();
    let mut command = Command::new(&compiler);
    command.env("HOME", own.path()).env_remove("REWRIGHT_SERVER");
    assert_eq!(run(command, dir.path(), &["-O2", "-c", "sum.c"], "").code, Some(0));
    assert!(fs::read(dir.path().join("sum.o")).unwrap() == object);
    // Other packs are another compiler; the same ones with another text have one that has changed.
    wrap("none.rw", "[ $CC != $(cat compiler) ]");
    let text = fs::read_to_string(&compiler).unwrap();
    fs::write(dir.path().join("mine.rw"), PACK.replace("carries", "carry")).unwrap();
    wrap("mine.rw", "[ $CC = $(cat compiler) ]");
    assert_ne!(fs::read_to_string(&compiler).unwrap(), text);
    // Where it cannot stay, there is one for the build.
    fs::create_dir(own.path().join("a place")).unwrap();
    let mut command = rewright(&own);
    command.env("HOME", own.path().join("a place")).args(["wrap", "--rules", "mine.rw", "--", "sh", "-c"]);
    let ran = run(command, dir.path(), &["$CC -O2 -c sum.c && $CC -O2 -w sum.o main.c -o program && ./program"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{ran:?}");
}
