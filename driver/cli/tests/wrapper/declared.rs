//! C functions that packs declare and no call is of: said where it is known, at the end of a build.

use super::{cc, rewright, run, script};
use std::fs;
use tempfile::TempDir;

const PACK: &str = "pack mine\nimport std.core\n\
    @llvm(\"@lib_max\")\nfn max(a: i32, b: i32) -> i32  pure  cost 50\n\
    @llvm(\"@lib_twice\")\nfn twice(x: i32) -> i32  pure  cost 50\n\
    @llvm(\"@lib_sum\")\nfn sum(n: i32, x: i32, y: i32) -> i32  pure  cost 50\n\
    @llvm(\"@lib_wide\")\nfn wide(x: i64) -> i64  pure  cost 50\n\
    @llvm(\"@lib_fine\")\nfn fine(x: i32) -> i32  pure  cost 50\n\
    rule twice_fine(x: i32): fine(fine(x)) => x\n";

const HEADER: &str = "#define lib_max(a, b) lib_max_of((a), (b))\n\
    static inline int lib_twice(int x) { return x * 2 + 7; }\n\
    int lib_max_of(int a, int b);\nint lib_sum(int n, ...);\nint lib_wide(int x);\nint lib_fine(int x);\n";

const LIBRARY: &str = "#include \"lib.h\"\nint lib_fine(int x) { return x < 0 ? lib_fine(-x) : 9 - x; }\n";

const PROGRAM: &str = "#include \"lib.h\"\nint all(int c) {\n\
    return lib_max(c, 3) + lib_twice(c) + lib_sum(2, c, 4) + lib_wide(c) + lib_fine(lib_fine(c));\n}\n";

fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("mine.rw", PACK), ("lib.h", HEADER), ("lib.c", LIBRARY), ("main.c", PROGRAM)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// What is said of declared functions.
fn said(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines().filter_map(|line| line.split_once(": ").map(|(_, said)| said));
    lines.filter(|said| said.starts_with("no call of ")).collect()
}

const SAID: [&str; 4] = [
    "no call of `lib_max` is the function that a pack declares: it is a macro (`#define lib_max(a,b) lib_max_of((a), (b))`): \
     declare what that calls",
    "no call of `lib_sum` is the function that a pack declares: it takes any number of arguments here, which no declaration \
     in a pack does",
    "no call of `lib_twice` is the function that a pack declares: it is `inline` or `static` in C, so each file has its own: \
     rules are about functions that are called from outside",
    "no call of `lib_wide` is the function that a pack declares: argument 1 (`x`) is `i32` here, and `i64` in the pack",
];

#[test]
fn a_command_by_itself_says_it() {
    let (dir, own) = (folder(), tempfile::tempdir().unwrap());
    // Afresh, and from the cache.
    for _ in 0..2 {
        let ran = run(cc(&own), dir.path(), &["-O2", "-c", "main.c"], "");
        assert_eq!((ran.code, said(&ran.stderr)), (Some(0), SAID.to_vec()), "{ran:?}");
    }
    // A library's own file calls what it defines.
    let ran = run(cc(&own), dir.path(), &["-O2", "-c", "lib.c"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_build_says_it_once_and_of_no_function_that_another_file_calls() {
    let (dir, own) = (folder(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("other.c"), "long lib_wide(long);\nlong other(long x) { return lib_wide(x); }\n")
        .unwrap();
    let build = script(&own, "build", "for file in main lib main other; do $CC -O2 -c $file.c || exit 1; done");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--"]).arg(build);
    let ran = run(command, dir.path(), &[], "");
    assert_eq!((ran.code, said(&ran.stderr)), (Some(0), SAID[..3].to_vec()), "{ran:?}");
}

#[test]
fn a_build_that_calls_none_of_them_is_told() {
    let (dir, own) = (folder(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("other.c"), "long lib_fin(long);\nlong other(long x) { return lib_fin(x); }\n").unwrap();
    let build = |file: &str| {
        let mut command = rewright(&own);
        command.args(["wrap", "--rules", "mine.rw", "--", "sh", "-c"]).arg(format!("$CC -O2 -c {file}.c"));
        let ran = run(command, dir.path(), &[], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr.contains("note: no function that the packs declare is called in the 1 file that was compiled")
    };
    assert!(build("other"));
    assert!(!build("main"));
}
