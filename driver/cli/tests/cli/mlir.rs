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
    // What is refuted is so for sizes that are allowed.
    let (code, said, _) = run("half.mlir", &[]);
    assert!(code == 1 && said.contains("a difference is seen at %n = 1, 3, 5, 7 of 0 to 8"), "{said}");
    let (code, said, _) = run("half.mlir", &["--assume", "n >= 100"]);
    assert!(code == 1 && said.contains("refuted: on %n = 1"), "{said}");
    assert_ne!(run("half.mlir", &["--assume", "n == 4"]).0, 1);
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
    fs::write(dir.path().join("a.mlir"), format!("{BEFORE}{other}module {{\n{BEFORE}}}\n")).unwrap();
    let ran = rewright(dir.path(), "validate a.mlir a.mlir");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("g: unknown: the first file: functions of `llvm.func` are not known"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("fill: unknown: the first file defines several functions of this name").count(), 2);
}
