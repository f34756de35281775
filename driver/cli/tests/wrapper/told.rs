//! What `cc` and `wrap` tell of what rules did: by lines of the source, and never with another object.

use super::{ALONE, cc, files, rewright, run, sources};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const TWO_LINES: &str =
    "int sum(int x, int y) {\n  return (x ^ y)\n    + ((x & y) << 1);\n}\nint other(int x) { return x; }\n";

fn object(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name)).unwrap()
}

#[test]
fn remarks_have_lines_and_change_no_object() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("sum.c"), TWO_LINES).unwrap();
    let compiled = |options: &[&str], name: &str| {
        let mut command = cc(&own);
        command.args(options);
        let ran = run(command, dir.path(), &["-g", "-O2", "-c", "sum.c", "-o", name], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        (ran.stderr, object(dir.path(), name))
    };
    let (said, without) = compiled(&["--no-cache"], "without.o");
    assert_eq!(said, "");
    let (told, with) = compiled(&["--no-cache", "--remarks", "--report", "page.html"], "with.o");
    assert!(told.starts_with("sum.c: @sum (sum.c:1): optimised, cost "), "{told}");
    assert!(told.contains("\n  sum.c:3:5: iadd(x, y), was "), "{told}");
    assert!(
        told.contains("mine.sums.carries (mine.rw:5)") && told.ends_with("sum.c: 1 function unchanged\n"),
        "{told}"
    );
    assert!(with == without);
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    for part in ["@sum", "mine.sums.carries", "title=\"sum.c:3:5\"", "rule carries(x: i32, y: i32)", "none is recorded"]
    {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    // An object that was kept without what is told is not reused by a command that wants that; the next one is.
    assert_eq!(compiled(&[], "kept.o"), (String::new(), without.clone()));
    for _ in 0..2 {
        assert_eq!(compiled(&["--remarks"], "kept.o"), (told.clone(), without.clone()));
    }
    assert_eq!(compiled(&[], "kept.o"), (String::new(), without));
    // Without debug information there are no lines.
    let mut command = cc(&own);
    command.arg("--remarks");
    let ran = run(command, dir.path(), &["-O2", "-c", "sum.c", "-o", "no-lines.o"], "");
    assert!(ran.stderr.starts_with("sum.c: @sum: optimised") && !ran.stderr.contains("sum.c:3"), "{ran:?}");
}

/// A user who throws the object away wants to read the remarks.
#[test]
fn remarks_are_made_of_an_object_that_is_thrown_away() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("sum.c"), TWO_LINES).unwrap();
    let mut command = cc(&own);
    command.arg("--remarks");
    let ran = run(command, dir.path(), &["-O2", "-c", "sum.c", "-o", "/dev/null"], "");
    assert!(ran.code == Some(0) && ran.stderr.starts_with("sum.c: @sum: optimised"), "{ran:?}");
    assert!(fs::symlink_metadata("/dev/null").is_ok_and(|null| !null.is_file()) && !dir.path().join("sum.o").exists());
    // Without -O rules do not apply, which is said.
    let mut command = cc(&own);
    command.arg("--remarks");
    let ran = run(command, dir.path(), &["-c", "sum.c", "-o", "/dev/null"], "");
    assert!(ran.code == Some(0) && ran.stderr.contains("sum.c: compiled without rules (not optimised"), "{ran:?}");
}

const NAMES: &str = "namespace lists {\ntemplate <class T> struct Sums {\n  T of(T x, T y) const { return (x ^ y) + ((x & y) << 1); }\n};\n}\n\
    int all(int left, int right) {\n  int both = lists::Sums<int>().of(left, right);\n  return both;\n}\n";

/// With debug information, functions and values have the names of the source.
#[test]
fn remarks_have_names_of_the_source() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("names.cc"), NAMES).unwrap();
    let mut command = cc(&own);
    command.arg("--remarks");
    let ran = run(command, dir.path(), &["-g", "-O2", "-c", "names.cc", "-o", "names.o"], "");
    let function = "names.cc: lists::Sums<int>::of (names.cc:3): optimised";
    assert!(ran.code == Some(0) && ran.stderr.contains(function), "{ran:?}");
    assert!(ran.stderr.contains("names.cc:3:41: iadd(x, y), was "), "{ran:?}");
}

#[test]
fn a_build_has_one_page() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let makefile = "CFLAGS = -O2 -w -g\nall: sum.o main.o in/sum.o text.o\nin/sum.o:\n\tcd in && $(CC) $(CFLAGS) -c sum.c\n\
                    text.o:\n\t$(CC) -O2 -c text.s\n";
    fs::write(dir.path().join("Makefile"), makefile).unwrap();
    fs::create_dir(dir.path().join("in")).unwrap();
    fs::write(dir.path().join("in/sum.c"), TWO_LINES).unwrap();
    let built = |options: &[&str]| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw"]).args(options).args(["--", "make", "-s", "-j2", "all"]);
        let ran = run(command, dir.path(), &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let objects: Vec<_> = files(dir.path()).into_iter().filter(|(name, _)| name.ends_with(".o")).collect();
        for (name, _) in &objects {
            fs::remove_file(dir.path().join(name)).unwrap();
        }
        (ran.stderr, objects)
    };
    let (_, plain) = built(&["--no-cache"]);
    assert_eq!(plain.len(), 4);
    let mut pages = vec![];
    // Afresh, and from objects that were kept.
    for _ in 0..2 {
        let (said, objects) = built(&["--report", "page.html", "--remarks", "--stats"]);
        assert!(objects == plain);
        for part in ["@sum (sum.c:1): optimised", "rules behind changes: 1, most often\n     2  mine.sums.carries"] {
            assert!(said.contains(part), "{part} is not in\n{said}");
        }
        pages.push(fs::read_to_string(dir.path().join("page.html")).unwrap());
    }
    assert_eq!(pages[0], pages[1]);
    let names: Vec<&str> =
        pages[0].split("<h2 id=\"file-").skip(1).map(|part| &part[..part.find('<').unwrap()]).collect();
    assert_eq!(names, ["0\">in/sum.c", "1\">main.c", "2\">sum.c"]);
    assert!(pages[0].contains("<h2>Without rules</h2>"), "assembly is compiled without rules:\n{}", pages[0]);
}

#[test]
fn rules_that_are_not_in_are_said_once_for_a_line_of_a_shell() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let own_program = env!("CARGO_BIN_EXE_rewright");
    let line = |rules: &str| {
        let one = format!("{own_program} cc --rules {rules} -O2 -c sum.c");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{one}; {one} & {one}; wait")]).current_dir(dir.path()).process_group(0);
        shell.env("REWRIGHT_CACHE", own.path().join("cache")).env("HOME", own.path()).env_remove("REWRIGHT_STARTED");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for _ in 0..2 {
        assert_eq!(line("mine.rw"), format!("{ALONE}\n"));
    }
    assert_eq!(line("std"), "");
}

#[test]
fn what_a_build_did_not_ask_for_is_said_by_the_next_one() {
    let (dir, own) = (sources(), tempfile::tempdir().unwrap());
    let build = |options: &[&str]| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw"]).args(options).args(["--", "sh", "-c", "$CC -O2 -c sum.c"]);
        let ran = run(command, dir.path(), &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr
    };
    let said = "1 file from the cache with changes that were made without a record of their rules";
    build(&[]);
    let stats = build(&["--stats"]);
    assert!(stats.contains("(1 from the cache)") && stats.contains(said), "{stats}");
    let stats = build(&["--stats", "--no-cache"]);
    assert!(!stats.contains(said) && stats.contains("rules behind changes: 1"), "{stats}");
}
