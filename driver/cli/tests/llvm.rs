//! C programs through clang's front end, `rewright opt` and clang's back end: LLVM's verifier accepts what goes out,
//! and the programs print what they print without Rewright. Wants clang 19 and opt 19 (`scripts/setup.sh`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aliases;
mod standalone;
mod validated;
mod wide_stores;

use rewright_wrap::compile::PASSES;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub(super) fn run(command: &mut Command) -> Output {
    let output =
        command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; scripts/setup.sh installs what is missing"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn programs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm");
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The program as LLVM IR. `early`: as clang's front end gives it, without any pass.
pub(super) fn lowered(dir: &TempDir, program: &Path, early: bool, debug: bool) -> PathBuf {
    let (raw, out) = (dir.path().join("raw.ll"), dir.path().join("in.ll"));
    let mut clang = Command::new("clang-19");
    clang.args(["-O2", "-w", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"]).arg(&raw).arg(program);
    if debug {
        clang.arg("-g");
    }
    run(&mut clang);
    if early {
        return raw;
    }
    run(Command::new("opt-19").arg("-S").arg(format!("-passes={PASSES}")).arg(&raw).arg("-o").arg(&out));
    out
}

pub(super) fn prints(dir: &TempDir, ir: &Path, level: &str) -> String {
    let program = dir.path().join("program");
    run(Command::new("clang-19").args([level, "-w", "-x", "ir"]).arg(ir).args(["-lm", "-o"]).arg(&program));
    String::from_utf8(run(&mut Command::new(&program)).stdout).unwrap()
}

/// What a program prints, and the number on its error stream: how often it called its library.
fn counted(library: &Path, ir: &Path, level: &str) -> (String, u32) {
    let Output { stdout, stderr, .. } = run_with(library, ir, level);
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap().trim().parse().unwrap())
}

/// What a program in LLVM IR does with a library in C.
pub(super) fn run_with(library: &Path, ir: &Path, level: &str) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let (object, program) = (dir.path().join("library.o"), dir.path().join("program"));
    run(Command::new("clang-19").args(["-O2", "-c"]).arg(library).arg("-o").arg(&object));
    let mut clang = Command::new("clang-19");
    run(clang
        .args([level, "-w", "-x", "ir"])
        .arg(ir)
        .args(["-x", "none"])
        .arg(&object)
        .args(["-lm", "-o"])
        .arg(&program));
    run(&mut Command::new(&program))
}

pub(super) fn verify(ir: &Path) {
    run(Command::new("opt-19").args(["-passes=verify", "-disable-output"]).arg(ir));
}

pub(super) fn rewright(args: &[&str], file: &Path, out: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = run(command.arg(args[0]).arg(file).args(&args[1..]).arg(out));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn optimised_programs_print_the_same() {
    let mut changed = 0;
    for program in programs() {
        for (early, debug, how) in
            [(false, false, &[][..]), (false, true, &[]), (true, false, &[]), (false, true, &["--standalone"])]
        {
            let dir = tempfile::tempdir().unwrap();
            let before = lowered(&dir, &program, early, debug);
            let after = dir.path().join("out.ll");
            let said = rewright(&[&["opt", "--extract", "greedy", "--stats"], how, &["-o"]].concat(), &before, &after);
            assert!(!said.contains("failed"), "{}: {said}", program.display());
            changed += said.matches(": optimised").count();
            verify(&after);
            let expected = prints(&dir, &before, "-O0");
            for level in ["-O0", "-O2"] {
                assert_eq!(prints(&dir, &after, level), expected, "{} at {level}", program.display());
            }
        }
    }
    assert!(changed > 3, "rules changed {changed} functions only");
}

#[test]
fn functions_taken_in_and_written_again_do_the_same() {
    for program in programs() {
        for (early, debug) in [(false, true), (true, false)] {
            let dir = tempfile::tempdir().unwrap();
            let before = lowered(&dir, &program, early, debug);
            let again = tempfile::tempdir().unwrap();
            rewright(&["corpus", "--rewrite"], &before, again.path());
            let after = again.path().join(before.file_name().unwrap());
            let (old, new) = (fs::read_to_string(&before).unwrap(), fs::read_to_string(&after).unwrap());
            assert!(old != new, "functions get new names");
            verify(&after);
            assert_eq!(prints(&dir, &after, "-O2"), prints(&dir, &before, "-O0"), "{}", program.display());
        }
    }
}

/// More values are alive in the loop than there are registers; an address is used on either side of a branch.
#[test]
fn nothing_is_computed_again_for_want_of_registers() {
    const LIVE: std::ops::Range<u32> = 0..14;
    let all = |text: &dyn Fn(u32) -> String| LIVE.map(text).collect::<String>();
    let program = format!(
        "int use(char *p, int i);\nint f(char *w, int *in, int k, int m, int odd) {{\n{}int s = 0; char *q;\ndo {{\n\
         q = w;\nif (in[20] == k) {{ char *p = w + (unsigned)(a0 - k);\n\
         if ((unsigned)k < (unsigned)m) {{ s += use(p, m - 1); s += use(q, k); }} q = p; }}\n\
         s += use(q, s);\nif ((odd ^ 1) & 1) k++;\n{}}} while (s < 100000);\n\
         return s + (odd & ~1) + (odd & 1); }}\n",
        all(&|i| format!("int a{i} = in[{i}];\n")),
        all(&|i| format!("if (s == {i} * 7 + 3) s += a{i};\n")),
    );
    let dir = tempfile::tempdir().unwrap();
    let (source, after) = (dir.path().join("live.c"), dir.path().join("out.ll"));
    fs::write(&source, program).unwrap();
    let before = lowered(&dir, &source, false, false);
    // By these costs there is something to gain.
    let said = rewright(&["opt", "--extract", "greedy", "--profile", "latency", "--stats", "-o"], &before, &after);
    assert!(said.contains(": optimised"), "{said}");
    verify(&after);
    let addresses = |file: &Path| fs::read_to_string(file).unwrap().matches(" = getelementptr").count();
    assert_eq!(addresses(&after), addresses(&before));
}

/// The same of both, except for a count of calls at the end of what is printed.
#[test]
fn c_functions_are_what_packs_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/functions");
    let pack = folder.join("pack.rw");
    let (mut files, mut said) = (vec![], vec![]);
    for name in ["program", "library"] {
        for debug in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let before = lowered(&dir, &folder.join(name).with_extension("c"), false, debug);
            let after = dir.path().join("out.ll");
            said.push(rewright(&["opt", "--rules", pack.to_str().unwrap(), "--stats", "-o"], &before, &after));
            verify(&after);
            files.push((dir, before, after));
        }
    }
    let [program, debugged, library, _] = &files[..] else { unreachable!() };
    let prints = |program: &Path, library: &Path| {
        let executable = files[0].0.path().join("program");
        run(Command::new("clang-19")
            .args(["-O2", "-w", "-x", "ir"])
            .args([program, library])
            .arg("-o")
            .arg(&executable));
        let printed = String::from_utf8(run(&mut Command::new(&executable)).stdout).unwrap();
        let (rest, calls) = printed.trim_end().rsplit_once(' ').map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
        (rest, calls.parse::<u64>().unwrap())
    };
    let (printed, calls) = prints(&program.1, &library.1);
    // Copies, searches, cubes and `small`: each was counted, and none is left. Of three traces two are of what is symmetric.
    assert_eq!(calls / 100, 2_220_101, "{printed}");
    for (program, library) in [(&program.2, &library.1), (&debugged.2, &library.2)] {
        let (again, calls) = prints(program, library);
        assert_eq!((again, calls / 100), (printed.clone(), 1));
    }
    for function in ["repeated", "place", "kept", "copied", "narrow", "scaled"] {
        assert!(said[0].contains(&format!("@{function}: optimised")), "{function}: {}", said[0]);
    }
    // Where it is symmetric on one way only, and where the functions themselves are defined, nothing changes.
    assert!(said[0].contains("@either: unchanged"), "{}", said[0]);
    assert!(!said[2].contains(": optimised"), "{}", said[2]);
}

/// Functions that change memory and give a value: each call is executed as often and in the same order, another one in
/// its place where a rule says so. The last line is how many were executed that rules replace, or keep.
#[test]
fn writers_with_values_are_replaced_where_they_stand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/writers");
    let pack = folder.join("pack.rw");
    let dir = tempfile::tempdir().unwrap();
    let runs = |program: &Path, level: &str| {
        let printed = String::from_utf8(run_with(&folder.join("library.c"), program, level).stdout).unwrap();
        let (printed, slow) = printed.trim_end().rsplit_once('\n').unwrap();
        (printed.to_string(), slow.parse::<u32>().unwrap())
    };
    let before = lowered(&dir, &folder.join("program.c"), false, false);
    let after = dir.path().join("out.ll");
    let said = rewright(&["opt", "--rules", pack.to_str().unwrap(), "--stats", "-o"], &before, &after);
    verify(&after);
    for function in ["unused", "chained", "twice", "looped"] {
        assert!(said.contains(&format!("@{function}: optimised")), "{function}: {said}");
    }
    assert!(said.contains("@kept: unchanged"), "{said}");
    let (printed, slow) = runs(&before, "-O2");
    assert_eq!(slow, 19, "{printed}");
    // What stays: `push(b, 5)`, the loop's seven choices of a constant, and the one that is not ASCII.
    for level in ["-O0", "-O2"] {
        assert_eq!(runs(&after, level), (printed.clone(), 9), "{level}");
    }
}

/// Functions that change memory and give an error code: what is read right after them is known, and a call that another one
/// hides goes, unless its code is taken. The program says on its error stream how many calls were made.
#[test]
fn error_codes_stay_where_they_are_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/error_codes");
    let pack = folder.join("pack.rw");
    let dir = tempfile::tempdir().unwrap();
    let runs = |program: &Path, level: &str| counted(&folder.join("library.c"), program, level);
    let before = lowered(&dir, &folder.join("program.c"), false, false);
    let after = dir.path().join("out.ll");
    let said = rewright(&["opt", "--rules", pack.to_str().unwrap(), "--stats", "-o"], &before, &after);
    verify(&after);
    for (functions, what) in [
        (
            &["unused", "last", "middle", "decides", "looped", "codes", "kept", "cleared", "filled", "zeros"][..],
            "optimised",
        ),
        (&["first", "all", "one_way", "both_ways", "other_vector", "memory", "kept_code", "before_loop"], "unchanged"),
    ] {
        for function in functions {
            assert!(said.contains(&format!("@{function}: {what}")), "{function}: {said}");
        }
    }
    let (printed, made) = runs(&before, "-O2");
    assert_eq!(made, 90, "{printed}");
    // What goes: two of `unused`, one of `last` and `middle` each time, one of `kept`, `cleared` and `filled`, and those that
    // loops make for nothing.
    for level in ["-O0", "-O2"] {
        assert_eq!(runs(&after, level), (printed.clone(), 71), "{level}");
    }
}

/// Structures that C passes by address: what is known of the functions is seen where the address only stands for a
/// value. The program says on its error stream how many structures were made.
#[test]
fn structures_in_memory_are_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/structures");
    let pack = folder.join("pack.rw");
    let dir = tempfile::tempdir().unwrap();
    let runs = |program: &Path, level: &str| counted(&folder.join("library.c"), program, level);
    for debug in [false, true] {
        let before = lowered(&dir, &folder.join("program.c"), false, debug);
        let after = dir.path().join("out.ll");
        let said = rewright(&["opt", "--rules", pack.to_str().unwrap(), "--stats", "-o"], &before, &after);
        verify(&after);
        let names = ["along", "meets", "walk", "twice", "seen", "chosen", "other_places", "last", "changed"];
        for function in names {
            // With `-g` there is the place as well: `@along (program.c:7): optimised`.
            let about = said.lines().find(|line| line.split([' ', ':']).next() == Some(&format!("@{function}")));
            let about = about.unwrap_or_else(|| panic!("{function}: {said}"));
            assert!(about.contains(": optimised"), "{function}: {said}");
            assert_eq!(about.split(": ").next().is_some_and(|name| name.contains(" (")), debug, "{said}");
        }
        let (printed, made) = runs(&before, "-O2");
        assert_eq!(made, 48, "{printed}");
        for level in ["-O0", "-O2"] {
            assert_eq!(runs(&after, level), (printed.clone(), 22), "{level}");
        }
        // A structure that is made only to be returned is made where the caller wants it.
        let assembly = dir.path().join("out.s");
        run(Command::new("clang-19").args(["-O2", "-w", "-S", "-x", "ir"]).arg(&after).arg("-o").arg(&assembly));
        let text = fs::read_to_string(&assembly).unwrap();
        let along = text.split("\nalong:").nth(1).and_then(|rest| rest.split("\n.Lfunc_end").next()).unwrap();
        assert!(along.contains("vector_add_scaled") && !along.contains("memcpy"), "{along}");
    }
}

#[test]
fn without_rules_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    let pack = dir.path().join("none.rw");
    fs::write(&pack, "pack none\nimport std.core\n").unwrap();
    for program in programs() {
        let before = lowered(&dir, &program, false, true);
        let after = dir.path().join("out.ll");
        rewright(&["opt", "--rules", pack.to_str().unwrap(), "-o"], &before, &after);
        let same = fs::read(&before).unwrap() == fs::read(&after).unwrap();
        assert!(same, "{} changed", program.display());
    }
}

/// LLVM 22 accepts what goes out of this file; LLVM 19 would not read it.
#[test]
fn what_newer_versions_write_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let before = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/newer.ll");
    let [after, again] = ["after.ll", "again.ll"].map(|name| dir.path().join(name));
    let said = rewright(&["opt", "--stats", "-o"], &before, &after);
    for function in ["@flags", "@attributes", "@others"] {
        assert!(said.contains(&format!("{function}: optimised")), "{said}");
    }
    let text = fs::read_to_string(&after).unwrap();
    // Operations that stand as they stood keep what they promise; calls keep their attributes, everything its own text.
    for kept in ["icmp samesign ult", "or disjoint i32", "zext nneg i32", "getelementptr nusw nuw i32, ptr @table"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    for kept in ["call void @llvm.lifetime.start.p0(ptr nonnull %", "splat (i32 1)", "ptrtoaddr ptr %p to i64"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(text.contains("initializes((0, 8)) %out, ptr dead_on_return %in)"), "{text}");
    rewright(&["opt", "-o"], &after, &again);
    assert_eq!(text, fs::read_to_string(&again).unwrap(), "there is nothing left to do");
}

/// With `errno` and without it, a function of libm is the same operation, unless it is said to be no function of libm.
#[test]
fn functions_of_libm_with_and_without_errno() {
    const PROGRAM: &str = "#include <math.h>\n#include <stdio.h>\n\
        __attribute__((noinline)) double f(double x, double y) { return cosh(-x) * cosh(y); }\n\
        __attribute__((noinline)) double g(double x) { return (log(x) - 1) / log(x); }\n\
        __attribute__((noinline)) float h(float x, float y) { return hypotf(-x, y); }\n\
        int main(void) { printf(\"%a %a %a\\n\", f(1.5, 0.25), g(3.75), h(2.5f, 0.3f)); return 0; }\n";
    for option in ["-fmath-errno", "-fno-math-errno", "-fno-builtin-log"] {
        let dir = tempfile::tempdir().unwrap();
        let [source, raw, before, after] = ["f.c", "raw.ll", "in.ll", "out.ll"].map(|name| dir.path().join(name));
        let front = ["-O2", "-w", option, "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o"];
        fs::write(&source, PROGRAM).unwrap();
        run(Command::new("clang-19").args(front).args([&raw, &source]));
        let prepare = || {
            run(Command::new("opt-19").arg("-S").arg(format!("-passes={PASSES}")).arg(&raw).arg("-o").arg(&before));
        };
        prepare();
        rewright(&["opt", "--rules", "std", "--rules", "std.libm", "-o"], &before, &after);
        verify(&after);
        let text = fs::read_to_string(&after).unwrap();
        let calls = |name: &str| {
            let body = text.split(&format!("@{name}(")).nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
            body.lines().filter_map(|line| Some(line.split_once("call ")?.1.split_once('(')?.0)).collect::<Vec<_>>()
        };
        assert!(!text.contains("fneg"), "{option}: {text}");
        assert_eq!(calls("f"), ["double @llvm.cosh.f64"; 2], "{option}: {text}");
        // A function that is not to be C's own logarithm may do anything.
        let logarithms =
            if option == "-fno-builtin-log" { vec!["double @log"; 2] } else { vec!["double @llvm.log.f64"] };
        assert_eq!(calls("g"), logarithms, "{option}: {text}");
        assert_eq!(calls("h"), ["float @hypotf"], "{option}: {text}");
        assert_eq!(prints(&dir, &after, "-O2"), prints(&dir, &before, "-O0"), "{option}");
        // Where the program has a function of this name, neither the call nor the intrinsic is libm's.
        fs::write(&source, format!("{PROGRAM}double cosh(double x) {{ return x; }}\n")).unwrap();
        run(Command::new("clang-19").args(front).args([&raw, &source]));
        prepare();
        let said = rewright(&["opt", "--rules", "std.libm", "--stats", "-o"], &before, &after);
        assert!(said.contains("@f: unchanged") && said.contains("@h: optimised"), "{option}: {said}");
    }
}

/// LLVM optimises these itself, and writes them in its own way.
#[test]
fn what_llvm_does_by_itself_is_left_to_it() {
    const PROGRAM: &str = "int tenth(unsigned x) { return x % 10 == 0; }\n\
        unsigned digits(unsigned x) { return x / 10 + x % 7; }\n\
        int nine(int x) { return x * 9; }\n\
        int both(int x, int *p) { return x > 0 && *p > 0; }\n\
        int least(int x, int y) { return x < y ? x : y; }\n\
        unsigned shifted(unsigned x, unsigned char n) { return x << n; }\n";
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("f.c");
    fs::write(&source, PROGRAM).unwrap();
    let before = lowered(&dir, &source, false, false);
    let after = dir.path().join("after.ll");
    let said = rewright(&["opt", "--rules", "std", "--stats", "-o"], &before, &after);
    assert_eq!(said.matches(": unchanged").count(), 6, "{said}");
}

/// The part of a file that is a function's body, by block: the opcodes of its instructions.
fn opcodes(file: &Path, function: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file).unwrap();
    let body = text.split(&format!("@{function}(")).nth(1).unwrap().split("\n}").next().unwrap();
    let mut blocks = vec![vec![]];
    for line in body.lines().skip(1).map(|line| line.split(';').next().unwrap().trim()).filter(|line| !line.is_empty())
    {
        let code = line.split_once(" = ").map_or(line, |(_, code)| code).trim_start_matches("tail ");
        match code.strip_suffix(':') {
            Some(_) if blocks.last().is_some_and(Vec::is_empty) => {}
            Some(_) => blocks.push(vec![]),
            None => blocks.last_mut().unwrap().push(code.split(' ').next().unwrap().to_string()),
        }
    }
    blocks
}

/// Where a function changes, the rest of it is what it was, invariants in loops and what both arms compute as well;
/// except for calls of which only a pack knows that they can be moved.
#[test]
fn values_stay_where_llvm_can_move_them() {
    const PROGRAM: &str = "int weight(int);\n\
        unsigned sum(unsigned *p, unsigned n, unsigned a, unsigned b) {\n\
          unsigned s = 0;\n\
          for (unsigned i = 0; i != n; i++) {\n\
            unsigned x = p[i];\n\
            x |= x >> 1; x |= x >> 2; x |= x >> 4; x |= x >> 8; x |= x >> 16;\n\
            s = (s ^ x) + a * b; }\n\
          return s; }\n\
        unsigned arms(unsigned c, unsigned a, unsigned b, unsigned *p) {\n\
          if (c) { *p = a * b; return b; }\n\
          a |= a >> 1; a |= a >> 2; a |= a >> 4; a |= a >> 8; a |= a >> 16;\n\
          p[1] = a; return c * b; }\n\
        int weights(int *p, int n, int k) { int s = 0; for (int i = 0; i != n; i++) s += p[i] * weight(k); return s; }\n";
    let dir = tempfile::tempdir().unwrap();
    let (source, pack) = (dir.path().join("f.c"), dir.path().join("weights.rw"));
    fs::write(&source, PROGRAM).unwrap();
    fs::write(&pack, "import std.core\n@llvm(\"@weight\")\nfn weight(k: i32) -> i32  pure  cost 100\n").unwrap();
    let before = lowered(&dir, &source, false, false);
    let after = dir.path().join("after.ll");
    let pack = pack.to_str().unwrap();
    let said = rewright(&["opt", "--rules", "std", "--rules", pack, "--stats", "-o"], &before, &after);
    assert_eq!(said.matches(": optimised").count(), 3, "{said}");
    verify(&after);
    let (sum, arms, weights) = (opcodes(&after, "sum"), opcodes(&after, "arms"), opcodes(&after, "weights"));
    let all_bits_below = ["call", "and", "lshr", "icmp", "select"];
    assert_eq!(sum[0], ["br"]);
    assert_eq!(sum[3][..4], ["zext", "getelementptr", "load", "freeze"]);
    assert_eq!(sum[3][4..9], all_bits_below);
    assert_eq!(sum[3][9..], ["xor", "mul", "add", "add", "br"]);
    assert_eq!(arms[1], ["mul", "store", "br"]);
    assert_eq!(arms[2][..5], all_bits_below);
    assert_eq!(arms[2][5..], ["getelementptr", "store", "mul", "br"]);
    assert_eq!(weights[0], ["call", "br"]);
    assert_eq!(weights[3], ["zext", "getelementptr", "load", "mul", "add", "add", "br"]);
}

/// An index that is a product is an index of larger elements; what rounds as it likes is computed where it was.
#[test]
fn elements_and_fused_products_are_operations() {
    let text = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
                target triple = \"x86_64-unknown-linux-gnu\"\n\
                define double @f(ptr %a, i64 %i, double %x) {\n  %five = mul i64 %i, 5\n  \
                %p = getelementptr inbounds double, ptr %a, i64 %five\n  %v = load double, ptr %p, align 8\n  \
                %r = call double @llvm.fmuladd.f64(double %v, double %x, double %v)\n  ret double %r\n}\n\
                declare double @llvm.fmuladd.f64(double, double, double)\n";
    let dir = tempfile::tempdir().unwrap();
    let (before, after) = (dir.path().join("in.ll"), dir.path().join("out.ll"));
    fs::write(&before, text).unwrap();
    rewright(&["opt", "-o"], &before, &after);
    verify(&after);
    let text = fs::read_to_string(&after).unwrap();
    assert!(text.contains("getelementptr [40 x i8], ptr %a, i64 %i"), "{text}");
    assert!(!text.contains(" mul "), "{text}");
    assert_eq!(text.matches("call double @llvm.fmuladd.f64").count(), 1, "{text}");
}
