// === an integer sum in parallel: proved
func.func @f(%n: index, %a: memref<?xi32>, %s: i32) -> i32 {
  %r = affine.for %i = 0 to %n iter_args(%t = %s) -> (i32) {
    %u = affine.load %a[%i] : memref<?xi32>
    %v = arith.addi %t, %u : i32
    affine.yield %v : i32
  }
  return %r : i32
}
// ---
func.func @f(%n: index, %a: memref<?xi32>, %s: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%s) -> i32 {
    %u = memref.load %a[%i] : memref<?xi32>
    scf.reduce(%u : i32) {
    ^bb0(%l: i32, %h: i32):
      %v = arith.addi %l, %h : i32
      scf.reduce.return %v : i32
    }
  }
  return %r : i32
}
// === a float sum in parallel: refuted
func.func @f(%n: index, %a: memref<?xf32>, %s: f32) -> f32 {
  %r = affine.for %i = 0 to %n iter_args(%t = %s) -> (f32) {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %t, %u : f32
    affine.yield %v : f32
  }
  return %r : f32
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %s: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%s) -> f32 {
    %u = memref.load %a[%i] : memref<?xf32>
    scf.reduce(%u : f32) {
    ^bb0(%l: f32, %h: f32):
      %v = arith.addf %l, %h : f32
      scf.reduce.return %v : f32
    }
  }
  return %r : f32
}
// === a difference in parallel: refuted
func.func @f(%n: index, %a: memref<?xi32>, %s: i32) -> i32 {
  %r = affine.for %i = 0 to %n iter_args(%t = %s) -> (i32) {
    %u = affine.load %a[%i] : memref<?xi32>
    %v = arith.subi %u, %t : i32
    affine.yield %v : i32
  }
  return %r : i32
}
// ---
func.func @f(%n: index, %a: memref<?xi32>, %s: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%s) -> i32 {
    %u = memref.load %a[%i] : memref<?xi32>
    scf.reduce(%u : i32) {
    ^bb0(%l: i32, %h: i32):
      %v = arith.subi %h, %l : i32
      scf.reduce.return %v : i32
    }
  }
  return %r : i32
}
// === a parallel float sum in one of its orders: proved
func.func @f(%n: index, %a: memref<?xf32>) -> f32 {
  %r = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f32) {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.yield %u : f32
  }
  return %r : f32
}
// ---
func.func @f(%n: index, %a: memref<?xf32>) -> f32 {
  %z = arith.constant 0.0 : f32
  %r = affine.for %i = 0 to %n iter_args(%t = %z) -> f32 {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %t, %u : f32
    affine.yield %v : f32
  }
  return %r : f32
}
// === two reductions over two loops: proved
func.func @f(%n: index, %m: index, %a: memref<?x?xi16>, %b: memref<2xi16>) {
  %z = arith.constant 0 : i16
  %lo = arith.constant -32768 : i16
  %r:2 = affine.for %i = 0 to %n iter_args(%s = %z, %t = %lo) -> (i16, i16) {
    %q:2 = affine.for %j = 0 to %m iter_args(%x = %s, %y = %t) -> (i16, i16) {
      %u = affine.load %a[%i, %j] : memref<?x?xi16>
      %v = arith.ori %x, %u : i16
      %w = arith.maxsi %y, %u : i16
      affine.yield %v, %w : i16, i16
    }
    affine.yield %q#0, %q#1 : i16, i16
  }
  affine.store %r#0, %b[0] : memref<2xi16>
  affine.store %r#1, %b[1] : memref<2xi16>
  return
}
// ---
func.func @f(%n: index, %m: index, %a: memref<?x?xi16>, %b: memref<2xi16>) {
  %r:2 = affine.parallel (%i, %j) = (0, 0) to (%n, %m) reduce ("ori", "maxs") -> (i16, i16) {
    %u = affine.load %a[%i, %j] : memref<?x?xi16>
    affine.yield %u, %u : i16, i16
  }
  affine.store %r#0, %b[0] : memref<2xi16>
  affine.store %r#1, %b[1] : memref<2xi16>
  return
}
// === a sum and a product mixed up: refuted
func.func @f(%n: index, %a: memref<?xi32>) -> i32 {
  %z = arith.constant 1 : i32
  %r = affine.for %i = 0 to %n iter_args(%t = %z) -> (i32) {
    %u = affine.load %a[%i] : memref<?xi32>
    %v = arith.muli %t, %u : i32
    affine.yield %v : i32
  }
  return %r : i32
}
// ---
func.func @f(%n: index, %a: memref<?xi32>) -> i32 {
  %r = affine.parallel (%i) = (0) to (%n) reduce ("addi") -> (i32) {
    %u = affine.load %a[%i] : memref<?xi32>
    affine.yield %u : i32
  }
  return %r : i32
}
// === iterations in two dimensions tiled and in parallel: proved
func.func @f(%n: index, %m: index, %a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  affine.for %i = 0 to %n { affine.for %j = 0 to %m {
    %u = affine.load %b[%j, %i] : memref<?x?xf32>
    affine.store %u, %a[%i, %j] : memref<?x?xf32>
  } }
  return
}
// ---
func.func @f(%n: index, %m: index, %a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  affine.parallel (%x, %y) = (0, 0) to (%n, %m) step (8, 16) {
    affine.parallel (%i, %j) = (%x, %y) to (min(%x + 8, %n), min(%y + 16, %m)) {
      %u = affine.load %b[%j, %i] : memref<?x?xf32>
      affine.store %u, %a[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
// === tiles that overlap in parallel: refuted
func.func @f(%n: index, %a: memref<?xi32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xi32>
    %v = arith.addi %u, %u : i32
    affine.store %v, %a[%i] : memref<?xi32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xi32>) {
  affine.parallel (%x) = (0) to (%n) step (4) {
    affine.for %i = affine_map<(x) -> (x)>(%x) to min affine_map<(x)[n] -> (x + 5, n)>(%x)[%n] {
      %u = affine.load %a[%i] : memref<?xi32>
      %v = arith.addi %u, %u : i32
      affine.store %v, %a[%i] : memref<?xi32>
    }
  }
  return
}
