//! C functions that packs declare and no call is of: said where it is known, at the end of a build.

use super::{cc, rewright, run, script};
use std::fs;
use std::process::Command;
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

/// Notes on declared functions that no call is of, each with the line of its declaration.
fn said(stderr: &str) -> Vec<&str> {
    let of_pack = |line: &&str| line.contains("mine.rw:") && line.contains(": note: no call of ");
    stderr.lines().filter(of_pack).map(|line| &line[line.find("mine.rw:").unwrap()..]).collect()
}

const SAID: [&str; 4] = [
    "mine.rw:4: note: no call of `lib_max` is the function that a pack declares: it is a macro (`#define lib_max(a,b) lib_max_of((a), (b))`): \
     declare what that calls",
    "mine.rw:8: note: no call of `lib_sum` is the function that a pack declares: it takes any number of arguments here, which no declaration \
     in a pack does",
    "mine.rw:6: note: no call of `lib_twice` is the function that a pack declares: it is `inline` or `static` in C, so each file has its own: \
     rules are about functions that are called from outside",
    "mine.rw:10: note: no call of `lib_wide` is the function that a pack declares: argument 1 (`x`) is `i32` here, and `i64` in the pack",
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
        ran.stderr
            .contains("mine.rw:12: note: no function that the packs declare is called in the 1 file that was compiled")
    };
    assert!(build("other"));
    assert!(!build("main"));
}

const TRUTHS: &str = "pack truths\nimport std.core\n\
    @llvm(\"@is_low\")\nfn is_low(x: i32, strict: i8) -> i8  pure  cost 90\n\
    @llvm(\"@is_below\")\nfn is_below(x: i32, n: i32) -> i8  pure  cost 9\n\
    @llvm(\"@is_any\")\nfn is_any(x: i32, strict: i8) -> i8  pure  cost 50\n\
    ruleset all {\n  rule strict(x: i32): is_low(x, 1) => is_below(x, 10)\n\
      rule any(x: i32, strict: i8): is_low(x, is_any(x, strict)) => is_any(x, strict)\n}\nschedule default { saturate all }\n";

/// What a program of `bool` functions prints, and which functions it calls.
#[test]
fn a_program_of_truth_values_prints_the_same() {
    let (dir, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let header = "#include <stdbool.h>\nbool is_low(int x, bool strict);\nbool is_below(int x, int n);\nbool is_any(int x, bool strict);\n";
    let library = "#include \"low.h\"\nbool is_low(int x, bool strict) { return strict ? x < 10 : x <= 10; }\n\
                   bool is_below(int x, int n) { return x < n; }\nbool is_any(int x, bool strict) { return x <= 10 && !strict; }\n";
    let program = "#include \"low.h\"\n#include <stdio.h>\n#include <stdlib.h>\n\
        static int count(int n) { int k = 0; for (int i = 0; i < n; i++) if (is_low(i, true)) k += is_low(i, false); return k; }\n\
        static bool chosen(int x, bool c) { bool b = is_low(x, true); return c ? b : !is_low(x, b); }\n\
        static int any(int x) { return is_low(x, is_any(x, false)) + 2 * is_any(x, false); }\n\
        int main(int argc, char **argv) {\n  int n = argc * 100;\n  \
        printf(\"%d %d %d %d %d %d\\n\", count(n), chosen(n, false), chosen(argc, true), any(argc), any(n), is_below(n, 3));\n  return 0;\n}\n";
    for (name, text) in [("low.h", header), ("low.c", library), ("main.c", program), ("mine.rw", TRUTHS)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let plain = run(Command::new("clang-19"), dir.path(), &["-O2", "main.c", "low.c", "-o", "plain"], "");
    let ours = run(cc(&own), dir.path(), &["--remarks", "-O2", "main.c", "low.c", "-o", "ours"], "");
    assert_eq!((plain.code, ours.code), (Some(0), Some(0)), "{ours:?}");
    let printed = |program: &str| run(Command::new(dir.path().join(program)), dir.path(), &[], "").stdout;
    assert_eq!(printed("plain"), "10 1 1 3 0 0\n");
    assert_eq!(printed("ours"), printed("plain"));
    for rule in ["truths.all.strict", "truths.all.any"] {
        assert!(ours.stderr.contains(rule), "{ours:?}");
    }
}

/// A declared function that no file calls, and one that is called and has nearly its name.
#[test]
fn a_slip_in_a_name_is_asked_about() {
    let (dir, own) = (folder(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("mine.rw"), PACK.replace("@lib_fine", "@lib_fien").replace("@lib_wide", "@lib_wode"))
        .unwrap();
    let build = script(&own, "build", "$CC -O2 -c main.c");
    let mut command = rewright(&own);
    command.args(["wrap", "--rules", "mine.rw", "--"]).arg(build);
    let ran = run(command, dir.path(), &[], "");
    let asks =
        "mine.rw:12: note: no file calls `lib_fien`, which a pack declares: did you mean `lib_fine`, which is called?";
    assert!(ran.stderr.contains(asks) && !ran.stderr.contains("lib_wode"), "{ran:?}");
}

/// A pointer that another declared function gives is of that function's type.
#[test]
fn a_pointer_of_another_type_is_named() {
    let (dir, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pack = "pack mine\nimport std.core\ntype List <: ptr\ntype Map <: ptr\n\
                @llvm(\"@map_new\")\nfn new() -> Map  effects allocates(heap)  cost 90\n\
                @llvm(\"@list_size\")\nfn size(l: List) -> i32  effects reads(memory)  cost 9\n";
    fs::write(dir.path().join("mine.rw"), pack).unwrap();
    let program = "void *map_new(void);\nint list_size(void *);\nint f(void) { return list_size(map_new()); }\n";
    fs::write(dir.path().join("main.c"), program).unwrap();
    let ran = run(cc(&own), dir.path(), &["-O2", "-c", "main.c"], "");
    let says = "mine.rw:8: note: no call of `list_size` is the function that a pack declares: argument 1 (`l`) comes from a \
                function that a pack declares to give `Map`, and is `List` in the pack";
    assert_eq!((ran.code, said(&ran.stderr)), (Some(0), vec![says]), "{ran:?}");
}
