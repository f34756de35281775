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
        ("validate before.mlir", "name two files"),
        ("validate before.mlir cut.ll", "name two files"),
        ("validate before.mlir none.mlir", "cannot read none.mlir"),
    ] {
        let ran = rewright(dir.path(), command);
        assert_eq!(ran.code, Some(2), "{command}");
        assert!(ran.stderr.contains(complaint), "{command}: {}", ran.stderr);
    }
}
