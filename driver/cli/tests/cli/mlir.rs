//! `rewright validate` on two files of MLIR.

use super::inputs;
use crate::ran::rewright;
use std::fs;

const BEFORE: &str = "func.func @fill(%n: index, %a: memref<?xf64>, %x: f64) {
  affine.for %i = 0 to %n {
    affine.store %x, %a[%i] : memref<?xf64>
  }
  return
}
";

#[test]
fn versions_of_mlir_are_compared() {
    let dir = inputs();
    let backwards = BEFORE.replace("%a[%i]", "%a[%n - %i - 1]");
    let short = BEFORE.replace("= 0 to", "= 1 to");
    for (name, text) in [("before.mlir", BEFORE), ("backwards.mlir", &backwards), ("short.mlir", &short)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let equal = rewright(dir.path(), "validate before.mlir backwards.mlir");
    assert_eq!(equal.code, Some(0), "{}", equal.stderr);
    assert!(equal.stdout.starts_with("fill: proved (the same value in each cell)\n"), "{}", equal.stdout);
    let wrong = rewright(dir.path(), "validate before.mlir short.mlir --format json");
    assert_eq!(wrong.code, Some(1), "{}", wrong.stderr);
    let report: serde_json::Value = serde_json::from_str(&wrong.stdout).unwrap();
    assert_eq!(report["functions"][0]["verdict"], "refuted", "{report}");
    assert!(report["functions"][0]["before"].as_str().unwrap().starts_with("%a[0] is"), "{report}");
    for (command, complaint) in [
        ("validate before.mlir", "name a second file, or a command that makes one"),
        ("validate before.mlir cut.ll", "before.mlir is MLIR and cut.ll is LLVM IR"),
        ("validate before.mlir none.mlir", "cannot read none.mlir"),
    ] {
        let ran = rewright(dir.path(), command);
        assert_eq!(ran.code, Some(2), "{command}");
        assert!(ran.stderr.contains(complaint), "{command}: {}", ran.stderr);
    }
}

/// The classic unrolling: right for every size that arrays have, and for no other.
const UNROLLED: &str = "#even = affine_map<()[s0] -> ((s0 floordiv 2) * 2)>
func.func @fill(%n: index, %a: memref<?xf64>, %x: f64) {
  affine.for %i = 0 to #even()[%n] step 2 {
    affine.store %x, %a[%i] : memref<?xf64>
    affine.store %x, %a[%i + 1] : memref<?xf64>
  }
  affine.for %i = #even()[%n] to %n {
    affine.store %x, %a[%i] : memref<?xf64>
  }
  return
}
";

#[test]
fn a_precondition_is_met_by_what_is_assumed() {
    let dir = inputs();
    let half = UNROLLED
        .replace("  affine.for %i = #even()[%n] to %n {\n    affine.store %x, %a[%i] : memref<?xf64>\n  }\n", "");
    for (name, text) in [("before.mlir", BEFORE), ("after.mlir", UNROLLED), ("half.mlir", &half)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let run = |file: &str, more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rewright"));
        let command = command.current_dir(dir.path()).args(["validate", "before.mlir", file]).args(more);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let proved = ["--require", "proved"];
    let (code, said, _) = run("after.mlir", &proved);
    assert!(code == 1 && said.starts_with("fill: proved if %n >= 0"), "{said}");
    for assumed in ["n >= 0", "%n > 3", "n == 8", "n >= 2 and n <= 90"] {
        let (code, said, _) = run("after.mlir", &[&proved[..], &["--assume", assumed]].concat());
        let listed = said.contains(assumed.split(" and ").next().unwrap());
        assert!(code == 0 && said.starts_with("fill: proved (") && listed, "{assumed}: {said}");
    }
    // Not all that is assumed is enough.
    assert_eq!(run("after.mlir", &[&proved[..], &["--assume", "n >= -5"]].concat()).0, 1);
    // Of no sizes anything would hold.
    let (code, said, _) = run("after.mlir", &[&proved[..], &["--assume", "n >= 1", "--assume", "n <= 0"]].concat());
    assert!(code == 1 && said.contains("fill: unknown: no sizes were found"), "{said}");
    // A refutation is for sizes that are allowed.
    let (code, said, _) = run("half.mlir", &[]);
    assert!(code == 1 && said.contains("a difference is seen at %n = 1, 3, 5, 7 of 0 to 8"), "{said}");
    let (code, said, _) = run("half.mlir", &["--assume", "n >= 100"]);
    assert!(code == 1 && said.contains("refuted: on %n = 1"), "{said}");
    assert_ne!(run("half.mlir", &["--assume", "n == 4"]).0, 1);
    // For which sizes it is right is said, and proved.
    let (_, said, _) = run("half.mlir", &[]);
    assert!(said.contains("proved to do the same if %n % 2 == 0"), "{said}");
    let (code, said, _) = run("half.mlir", &[&proved[..], &["--assume", "n % 2 == 0"]].concat());
    assert!(code == 0 && said.contains("fill: proved (") && said.contains("n % 2 == 0"), "{said}");
    for (assumed, says) in [
        ("k >= 0", "no function of the first version has these sizes; there are %n"),
        ("n", "it needs one of `>=`"),
        ("n*n >= 0", "is no number, no name of a size"),
    ] {
        let (code, _, said) = run("after.mlir", &["--assume", assumed]);
        assert!(code == 2 && said.contains(says), "{assumed}: {said}");
    }
}

#[test]
fn functions_of_other_dialects_and_of_one_name_are_counted() {
    let dir = inputs();
    let other = "llvm.func @g(%x: i32) -> i32 {\n  llvm.return %x : i32\n}\n";
    fs::write(dir.path().join("a.mlir"), format!("{BEFORE}{BEFORE}{other}module @m {{\n{BEFORE}}}\n")).unwrap();
    let ran = rewright(dir.path(), "validate a.mlir a.mlir");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("g: unknown: the first file: functions of `llvm.func` are not known"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("fill: unknown: the first file defines several functions of this name").count(), 2);
    assert!(
        ran.stdout
            .contains("m::fill: unknown: the first file: functions of a module within another one are not compared"),
        "{}",
        ran.stdout
    );
}

/// Loops as data says, blocks, and a loop that is a nest, too.
const FUNCTIONS: &str = "func.func @gcd(%a: i32, %b: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi ne, %y, %zero : i32
    scf.condition(%c) %x, %y : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %m = arith.remui %x, %y : i32
    scf.yield %y, %m : i32, i32
  }
  return %r#0 : i32
}
func.func @larger(%a: i32, %b: i32) -> i32 {
  %c = arith.cmpi sgt, %a, %b : i32
  cf.cond_br %c, ^bb1(%a : i32), ^bb1(%b : i32)
^bb1(%r: i32):
  return %r : i32
}
func.func @sum(%n: index) -> i64 {
  %z = arith.constant 0 : i64
  %s = affine.for %i = 0 to min affine_map<()[s] -> (s, s floordiv 2 * 2)>()[%n] iter_args(%c = %z) -> (i64) {
    %v = arith.index_cast %i : index to i64
    %w = arith.addi %c, %v : i64
    affine.yield %w : i64
  }
  return %s : i64
}
func.func @odd(%a: vector<4xi32>) -> vector<4xi32> {
  return %a : vector<4xi32>
}
func.func @pick(%a: i32, %b: i32) -> i32 {
  cf.switch %a : i32, [
    default: ^bb1(%b : i32),
    -4: ^bb1(%a : i32),
    7: ^bb2
  ]
^bb1(%r: i32):
  return %r : i32
^bb2:
  %s = arith.addi %a, %b : i32
  return %s : i32
}
";

#[test]
fn functions_of_mlir_are_run_and_written_as_our_own_text() {
    let dir = inputs();
    fs::write(dir.path().join("f.mlir"), FUNCTIONS).unwrap();
    for (command, result) in [
        ("run f.mlir --fn gcd 12 18", "6"),
        ("run f.mlir --fn larger -- -3 4", "4"),
        ("run f.mlir --fn pick 7 5", "12"),
        ("run f.mlir --fn pick -- -4 5", "-4"),
        ("run f.mlir --fn pick 6 5", "5"),
        ("run f.mlir --fn sum 7", "15"),
        ("run f.mlir --fn sum -- -5", "0"),
    ] {
        let ran = rewright(dir.path(), command);
        assert!(ran.code == Some(0) && ran.stdout.trim() == result, "{command}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("odd is left out: f.mlir: line 28"), "{}", ran.stderr);
    }
    let written = rewright(dir.path(), "opt f.mlir");
    assert!(
        written.code == Some(0) && written.stdout.contains("func %gcd -> (i32)"),
        "{}{}",
        written.stdout,
        written.stderr
    );
    assert!(written.stderr.contains("are written in Rewright's own text"), "{}", written.stderr);
}

#[test]
fn blocks_and_loops_on_data_are_compared_as_functions() {
    let dir = inputs();
    let renamed = FUNCTIONS.replace("%m", "%rest").replace("^bb1", "^join");
    let wrong = FUNCTIONS.replace("sgt", "slt");
    for (name, text) in [("a.mlir", FUNCTIONS), ("b.mlir", &renamed), ("c.mlir", &wrong)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let same = rewright(dir.path(), "validate a.mlir b.mlir");
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    for function in ["gcd: proved", "larger: proved", "sum: proved", "odd: proved"] {
        assert!(same.stdout.contains(function), "{}", same.stdout);
    }
    let other = rewright(dir.path(), "validate a.mlir c.mlir");
    assert!(other.code == Some(1) && other.stdout.contains("larger: refuted"), "{}", other.stdout);
}

#[test]
fn what_is_assumed_of_mlir_has_switches() {
    let dir = inputs();
    let copy = "func.func @copy(%n: index, %a: memref<?xf64>, %b: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %a[%i] : memref<?xf64>
    affine.store %0, %b[%i] : memref<?xf64>
  }
  return
}
";
    fs::write(dir.path().join("a.mlir"), copy).unwrap();
    fs::write(dir.path().join("b.mlir"), copy.replace("[%i]", "[%n - 1 - %i]")).unwrap();
    for (options, says) in [
        ("", "copy: proved"),
        ("--may-alias a,b", "copy: unknown: %a and %b may overlap"),
        ("--index-bits 32", "copy: proved"),
        ("--no-assume-in-bounds", "copy: "),
        ("--compare-nans", "copy: proved"),
    ] {
        let ran = rewright(dir.path(), &format!("validate a.mlir b.mlir {options}"));
        assert!(ran.code == Some(0) && ran.stdout.starts_with(says), "{options}: {}{}", ran.stdout, ran.stderr);
    }
    for (options, says) in [
        ("--may-alias a", "it takes two names of arrays"),
        ("--may-alias a,c", "has these two arrays; there are %a, %b"),
        ("--may-alias a,a", "has these two arrays"),
        ("--index-bits 64", "64 is not in 8..=48"),
    ] {
        let ran = rewright(dir.path(), &format!("validate a.mlir b.mlir {options}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{options}: {}", ran.stderr);
    }
    let ran = rewright(dir.path(), "validate good.clif good.clif --may-alias a,b");
    assert!(ran.code == Some(2) && ran.stderr.contains("--may-alias is about MLIR"), "{}", ran.stderr);
}

const PRODUCT: &str =
    "func.func @product(%n: index, %m: index, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  affine.for %i = 0 to %n { affine.for %j = 0 to %m { affine.for %k = 0 to %n {
    %0 = affine.load %a[%i, %k] : memref<?x?xf64>
    %1 = affine.load %b[%k, %j] : memref<?x?xf64>
    %2 = arith.mulf %0, %1 : f64
    %3 = affine.load %c[%i, %j] : memref<?x?xf64>
    %4 = arith.addf %3, %2 : f64
    affine.store %4, %c[%i, %j] : memref<?x?xf64>
  } } }
  return
}
";

#[test]
fn certificates_of_mlir_are_written_and_checked() {
    let dir = inputs();
    let inside_out = PRODUCT.replace(
        "%i = 0 to %n { affine.for %j = 0 to %m { affine.for %k",
        "%k = 0 to %n { affine.for %j = 0 to %m { affine.for %i",
    );
    let wrong = inside_out.replace("%c[%i, %j]", "%c[%j, %i]");
    for (name, text) in [("a.mlir", PRODUCT), ("b.mlir", &inside_out), ("c.mlir", &wrong)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let written = rewright(dir.path(), "validate a.mlir b.mlir --certificate c.json");
    assert!(written.code == Some(0) && written.stderr.contains("1 certificate in c.json"), "{}", written.stderr);
    let checked = rewright(dir.path(), "validate a.mlir b.mlir --check-certificate c.json");
    assert!(checked.code == Some(0) && checked.stdout.starts_with("product: accepted\n"), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("assumed: arrays that are different arguments do not overlap"),
        "{}",
        checked.stdout
    );
    let other = rewright(dir.path(), "validate a.mlir c.mlir --check-certificate c.json");
    assert!(other.code == Some(1) && other.stdout.starts_with("product: not accepted: "), "{}", other.stdout);
}

const ROWS: &str = "func %rows(%v0: i64, %v1: i32, %v2: i32) {
  %v3: i32 = const 0
  jump outer(%v3)
outer(%v4: i32):
  %v5: i8 = icmp_slt{i32} %v4, %v1
  br %v5, begin, done
begin:
  jump inner(%v3)
inner(%v6: i32):
  %v7: i8 = icmp_slt{i32} %v6, %v2
  br %v7, body, next
body:
  %v8: i64 = sextend{i32, i64} %v4
  %v9: i64 = sextend{i32, i64} %v6
  %v10: i64 = const 256
  %v11: i64 = imul{i64} %v8, %v10
  %v12: i64 = const 4
  %v13: i64 = imul{i64} %v9, %v12
  %v14: i64 = iadd{i64} %v11, %v13
  %v15: i64 = iadd{i64} %v0, %v14
  %v16: i64 = const 0
  %v17: i32 = load{i32} %v15, %v16 @region0
  %v18: i32 = iadd{i32} %v17, %v17
  store{i32} %v15, %v18, %v16 @region0
  %v19: i32 = const 1
  %v20: i32 = iadd{i32} %v6, %v19
  jump inner(%v20)
next:
  %v21: i32 = const 1
  %v22: i32 = iadd{i32} %v4, %v21
  jump outer(%v22)
done:
  return
}
";

/// Functions of our IR are nests again when a certificate is checked.
#[test]
fn certificates_of_our_own_text_and_of_llvm_are_written_and_checked() {
    let dir = inputs();
    let swapped = |text: &str, [a, b]: [&str; 2]| text.replace(a, "X").replace(b, a).replace('X', b);
    let columns = swapped(ROWS, ["%v4, %v1\n", "%v4, %v2\n"]);
    let columns = swapped(&columns, ["%v6, %v2\n", "%v6, %v1\n"]);
    let columns = swapped(&columns, ["sextend{i32, i64} %v4", "sextend{i32, i64} %v6"]);
    let wrong = columns.replace("const 256", "const 260");
    let llvm = |outer: &str, inner: &str| {
        format!(
            "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-unknown-linux-gnu\"
define void @fill(i32 noundef %n, i32 noundef %m, ptr noalias noundef %a, float noundef %x) {{
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %more = icmp slt i32 %i, {outer}
  br i1 %more, label %inner, label %done
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %body ]
  %again = icmp slt i32 %j, {inner}
  br i1 %again, label %body, label %latch
body:
  %row = sext i32 {} to i64
  %column = sext i32 {} to i64
  %p = getelementptr inbounds [64 x float], ptr %a, i64 %row, i64 %column
  store float %x, ptr %p, align 4
  %j.next = add nsw i32 %j, 1
  br label %inner
latch:
  %i.next = add nsw i32 %i, 1
  br label %outer
done:
  ret void
}}
",
            if outer == "%n" { "%i" } else { "%j" },
            if outer == "%n" { "%j" } else { "%i" }
        )
    };
    for (name, text) in [("a.ir", ROWS), ("b.ir", &columns), ("c.ir", &wrong)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    fs::write(dir.path().join("a.ll"), llvm("%n", "%m")).unwrap();
    fs::write(dir.path().join("b.ll"), llvm("%m", "%n")).unwrap();
    for (before, after, function) in [("a.ir", "b.ir", "%rows"), ("a.ll", "b.ll", "@fill")] {
        let method = if before == "a.ll" { "--method nests" } else { "" };
        let proved = rewright(dir.path(), &format!("validate {before} {after} {method} --certificate c.json"));
        let said = proved.stdout.lines().next().unwrap_or_default();
        let condition = said.strip_prefix(&format!("{function}: proved if ")).and_then(|rest| rest.split(" (").next());
        let condition = condition.unwrap_or_else(|| panic!("{}{}", proved.stdout, proved.stderr));
        let checked = rewright(dir.path(), &format!("validate {before} {after} --check-certificate c.json"));
        let accepted = format!("{function}: accepted if {condition}\n");
        assert!(checked.code == Some(0) && checked.stdout.starts_with(&accepted), "{said}\n{}", checked.stdout);
    }
    rewright(dir.path(), "validate a.ir b.ir --certificate c.json");
    let other = rewright(dir.path(), "validate a.ir c.ir --check-certificate c.json");
    assert!(other.code == Some(1) && other.stdout.starts_with("%rows: not accepted: "), "{}", other.stdout);
}

/// Passes of MLIR itself; `scripts/setup.sh --tests` installs them.
#[test]
fn passes_of_mlir_are_compared_with_what_they_read() {
    let dir = inputs();
    fs::write(dir.path().join("a.mlir"), PRODUCT).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rewright"));
    let command = command.current_dir(dir.path()).args(["validate", "a.mlir", "--assume", "n >= 0 and m >= 0"]);
    let command = command.args(["--after", "mlir-opt-19 --{pass}", "--each"]);
    let passes = "affine-loop-tile=tile-size=4,affine-loop-unroll=unroll-factor=3,canonicalize,cse";
    let output = command.args([passes, "--require", "proved"]).output().unwrap();
    let [said, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{said}{errors}");
    assert_eq!(said.matches("product: proved (").count(), 4, "{said}{errors}");
}
