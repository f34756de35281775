//! Functions of MLIR with arrays of their own, in Rewright's own text.

use super::inputs;
use crate::ran::rewright;
use std::fs;

/// Arrays of functions' own: on the heap and on the stack, in loops and before branches, passed and returned.
const ALLOCATING: &str = "func.func @table(%n: index, %m: index) -> i64 {
  %z = arith.constant 0 : i64
  %t = memref.alloc(%n, %m) : memref<?x?xi64>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %v = affine.apply affine_map<(a, b) -> (a * 10 + b)>(%i, %j)
      %w = arith.index_cast %v : index to i64
      affine.store %w, %t[%i, %j] : memref<?x?xi64>
    }
  }
  %s = affine.for %i = 0 to %n iter_args(%c = %z) -> (i64) {
    %row = memref.alloca(%m) : memref<?xi64>
    affine.for %j = 0 to %m {
      %v = affine.load %t[%i, %j] : memref<?x?xi64>
      affine.store %v, %row[%j] : memref<?xi64>
    }
    %r = affine.for %j = 0 to %m iter_args(%d = %c) -> (i64) {
      %v = affine.load %row[%m - 1 - %j] : memref<?xi64>
      %w = arith.addi %d, %v : i64
      affine.yield %w : i64
    }
    affine.yield %r : i64
  }
  memref.dealloc %t : memref<?x?xi64>
  return %s : i64
}
func.func @made(%n: index, %x: i32) -> (memref<?xi32>, i32) {
  %b = memref.alloc(%n) {alignment = 64} : memref<?xi32>
  affine.for %i = 0 to %n { affine.store %x, %b[%i] : memref<?xi32> }
  return %b, %x : memref<?xi32>, i32
}
func.func @used(%n: index, %x: i32) -> i32 {
  %b, %c = func.call @made(%n, %x) : (index, i32) -> (memref<?xi32>, i32)
  %k = arith.constant 2 : index
  %v = memref.load %b[%k] : memref<?xi32>
  memref.dealloc %b : memref<?xi32>
  %s = arith.addi %v, %c : i32
  return %s : i32
}
func.func @unwritten(%n: index) -> f64 {
  %k = arith.constant 1 : index
  %b = memref.alloca(%n) : memref<?xf64>
  %v = memref.load %b[%k] : memref<?xf64>
  return %v : f64
}
func.func @extent() -> index {
  %b = memref.alloc() : memref<8xi32>
  %d = memref.cast %b : memref<8xi32> to memref<?xi32>
  %e = func.call @length(%d) : (memref<?xi32>) -> index
  memref.dealloc %d : memref<?xi32>
  return %e : index
}
func.func @length(%a: memref<?xi32>) -> index {
  %z = arith.constant 0 : index
  %e = memref.dim %a, %z : memref<?xi32>
  return %e : index
}
func.func @arms(%c: i1, %x: i32) -> i32 {
  %b = memref.alloca() : memref<i32>
  memref.store %x, %b[] : memref<i32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %v = memref.load %b[] : memref<i32>
  return %v : i32
^bb2:
  %n = memref.alloc() : memref<i32>
  memref.copy %b, %n : memref<i32> to memref<i32>
  %w = memref.load %n[] : memref<i32>
  %s = arith.addi %w, %w : i32
  memref.dealloc %n : memref<i32>
  return %s : i32
}
func.func @again(%n: index) {
  %z = arith.constant 0 : index
  cf.br ^bb1(%z : index)
^bb1(%i: index):
  %b = memref.alloca() : memref<4xi32>
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^bb1(%n : index), ^bb2
^bb2:
  return
}
func.func @both() {
  %b = memref.alloca() : memref<4xi32>
  memref.dealloc %b : memref<4xi32>
  return
}
func.func @asks(%n: index) {
  func.call @again(%n) : (index) -> ()
  return
}
";

#[test]
fn functions_of_mlir_that_allocate_are_run() {
    let dir = inputs();
    fs::write(dir.path().join("f.mlir"), ALLOCATING).unwrap();
    let table = |n: i64, m: i64| (0..n).flat_map(|i| (0..m).map(move |j| i * 10 + j)).sum::<i64>();
    for (n, m) in [(0, 0), (0, 7), (7, 0), (1, 1), (3, 5), (64, 3), (9, 130), (-1, 0), (-4, -5)] {
        let ran = rewright(dir.path(), &format!("run f.mlir --fn table -- {n} {m}"));
        // Where an extent is negative there is not that much memory.
        let traps = (n < 0 || m < 0) && n * m != 0;
        let result = if traps { String::new() } else { table(n, m).to_string() };
        assert!(ran.code == Some(i32::from(traps)) && ran.stdout.trim() == result, "{n} {m}: {}", ran.stderr);
    }
    for (call, result) in [
        ("used -- 3 -8", "-16"),
        ("used 70000 5", "10"),
        ("unwritten 2", "0.0"),
        ("extent", "8"),
        ("arms 1 21", "21"),
        ("arms 0 21", "42"),
    ] {
        let ran = rewright(dir.path(), &format!("run f.mlir --fn {call}"));
        assert!(ran.code == Some(0) && ran.stdout.trim() == result, "{call}: {}{}", ran.stdout, ran.stderr);
    }
    // Too many cells: for the machine, and for a number.
    for call in ["table -- -1 3", "table 4611686018427387904 1", "table 4294967296 4294967296", "table -- 6 -1"] {
        let ran = rewright(dir.path(), &format!("run f.mlir --fn {call}"));
        assert!(ran.code != Some(0) && ran.stderr.contains("trapped"), "{call}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn functions_of_mlir_that_allocate_are_written_and_read_again() {
    let dir = inputs();
    fs::write(dir.path().join("f.mlir"), ALLOCATING).unwrap();
    fs::write(dir.path().join("none.rw"), "pack none\nimport std.core\n").unwrap();
    for rules in ["", "--rules none.rw"] {
        let written = rewright(dir.path(), &format!("opt f.mlir -o f.ir {rules}"));
        assert_eq!(written.code, Some(0), "{}", written.stderr);
        for why in [
            "again is left out: f.mlir: line 77: `memref.alloca`: only the first block has arrays on the stack",
            "both is left out: f.mlir: line 85: `memref.dealloc`: an array on the stack is deallocated",
            "asks is left out: f.mlir: line 89: `again`, which it calls, is left out",
        ] {
            assert!(written.stderr.contains(why), "{}", written.stderr);
        }
        let text = fs::read_to_string(dir.path().join("f.ir")).unwrap();
        assert_eq!(text.matches("= calloc ").count(), 8, "{text}");
        // Arrays on the stack are freed at each return.
        assert_eq!(text.matches("  free ").count(), 2 + 1 + 1 + 1 + 3, "{text}");
        let again = rewright(dir.path(), "run f.ir --rules std --rules std.heap --fn table 3 5");
        assert_eq!((again.code, again.stdout.trim()), (Some(0), "180"), "{}", again.stderr);
    }
}
