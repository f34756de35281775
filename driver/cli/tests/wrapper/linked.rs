//! Sources that are compiled and linked by one command: rules apply as they do where objects come first.

use super::{SUM, cc, files, log, rewright, run, script, sources};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Compiles and links, and runs what comes out.
fn linked(own: &TempDir, dir: &Path, line: &str, program: &str) {
    let args: Vec<&str> = line.split_whitespace().collect();
    let ran = run(cc(own), dir, &args, "");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{line}");
    assert_eq!(run(Command::new(dir.join(program)), dir, &[], "").stdout, "42\n", "{line}");
}

/// Files compiled, and functions that rules changed, in the whole log.
fn counts(own: &TempDir) -> (u64, u64) {
    let sum = |name: &str| log(own).iter().map(|facts| facts[name].as_u64().unwrap()).sum();
    (sum("files"), sum("optimised"))
}

#[test]
fn rules_apply_to_what_is_linked_at_once() {
    for (line, program, files) in [
        ("-O2 sum.c main.c -o program", "program", 2),
        ("-O2 main.c -lm sum.c -Wl,--as-needed -z now", "a.out", 2),
        ("-O2 -pthread -MMD -I. main.c sum.c -o out", "out", 2),
        ("@linked", "program", 2),
    ] {
        let (dir, own) = (sources(), tempfile::tempdir().unwrap());
        fs::write(dir.path().join("linked"), "-O2 'sum.c' main.c\n\"-o\" program").unwrap();
        linked(&own, dir.path(), line, program);
        assert_eq!(counts(&own), (files, 1), "{line}");
        // From the cache, the same.
        let first = fs::read(dir.path().join(program)).unwrap();
        linked(&own, dir.path(), line, program);
        assert_eq!(counts(&own), (2 * files, 2), "{line}");
        assert!(log(&own)[files as usize..].iter().all(|facts| facts["cached"] == 1), "{line}");
        assert_eq!(fs::read(dir.path().join(program)).unwrap(), first, "{line}");
    }
}

/// Which of two definitions a linker takes depends on their order; so do libraries.
#[test]
fn the_order_of_inputs_stays() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let two = "int sum(int x, int y) { return (x ^ y) + ((x & y) << 1); }\n";
    fs::write(dir.path().join("other.c"), two.replace("sum(", "other(")).unwrap();
    for (name, text) in [("first.c", "1"), ("second.c", "2")] {
        fs::write(dir.path().join(name), format!("int __attribute__((weak)) which(void) {{ return {text}; }}\n"))
            .unwrap();
    }
    let main = "#include <stdio.h>\nint which(void), other(int, int);\n\
        int main(void) { printf(\"%d\\n\", other(which(), 40)); return 0; }\n";
    fs::write(dir.path().join("asks.c"), main).unwrap();
    assert_eq!(run(cc(&own), dir.path(), &["-O2", "-c", "second.c", "other.c"], "").code, Some(0));
    for (line, printed) in [
        ("-O2 asks.c first.c second.o other.o -o program", "41\n"),
        ("-O2 second.o asks.c other.o first.c -o program", "42\n"),
        ("-O2 asks.c other.c second.c first.c -o program", "42\n"),
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        let ran = run(cc(&own), dir.path(), &args, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}");
        assert_eq!(run(Command::new("./program"), dir.path(), &[], "").stdout, printed, "{line}");
    }
}

/// The user sees the linker's messages; nothing of ours is left.
#[test]
fn links_that_fail_fail() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let before = files(dir.path());
    let mut command = cc(&own);
    command.env("TMPDIR", own.path());
    let ran = run(command, dir.path(), &["-O2", "main.c", "-o", "program"], "");
    assert!(ran.code == Some(1) && ran.stderr.contains("undefined reference to `sum'"), "{ran:?}");
    assert_eq!(files(dir.path()), before);
    let left = fs::read_dir(own.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("rewright-")).count(), 0);
}

/// Where something of ours fails for one file, the compiler takes that file, and the others keep what rules made of
/// them.
#[test]
fn a_file_that_fails_is_left_to_the_compiler() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("again.c"), SUM.replace("sum(", "again(")).unwrap();
    let opt = script(
        &own,
        "opt",
        &format!("[ -e '{0}' ] && exit 3; touch '{0}'; exec opt-19 \"$@\"", own.path().join("once").display()),
    );
    let mut command = cc(&own);
    command.env("REWRIGHT_OPT", &opt);
    let ran = run(command, dir.path(), &["-O2", "sum.c", "again.c", "main.c", "-o", "program"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stderr.matches("compiled without rules").count(), 2, "{ran:?}");
    assert!(ran.stderr.contains("again.c: compiled") && ran.stderr.contains("main.c: compiled"), "{ran:?}");
    assert_eq!(counts(&own), (1, 1));
    assert_eq!(run(Command::new("./program"), dir.path(), &[], "").stdout, "42\n");
}

#[test]
fn a_build_that_links_at_once() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--stats", "--format", "json", "--", "sh", "-c"]);
    let ran = run(command, dir.path(), &["$CC -O2 sum.c main.c -o program && ./program"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{ran:?}");
    let facts: serde_json::Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!((&facts["files"], &facts["optimised"], &facts["handed_over"]), (&2.into(), &1.into(), &0.into()));
}
