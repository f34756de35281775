// === skewing of a wavefront: proved
#low = affine_map<(d0) -> (d0 + 1)>
#high = affine_map<(d0)[s0] -> (d0 + s0)>
func.func @f(%n: index, %m: index, %a: memref<?x?xf64>) {
  affine.for %i = 1 to %n { affine.for %j = 1 to %m {
    %u = affine.load %a[%i - 1, %j] : memref<?x?xf64>
    %v = affine.load %a[%i, %j - 1] : memref<?x?xf64>
    %w = arith.addf %u, %v : f64
    affine.store %w, %a[%i, %j] : memref<?x?xf64>
  } }
  return
}
// ---
#low = affine_map<(d0) -> (d0 + 1)>
#high = affine_map<(d0)[s0] -> (d0 + s0)>
func.func @f(%n: index, %m: index, %a: memref<?x?xf64>) {
  // The inner loop begins later by the number of the outer one.
  affine.for %i = 1 to %n { affine.for %k = #low(%i) to #high(%i)[%m] {
    %u = affine.load %a[%i - 1, %k - %i] : memref<?x?xf64>
    %v = affine.load %a[%i, %k - %i - 1] : memref<?x?xf64>
    %w = arith.addf %u, %v : f64
    affine.store %w, %a[%i, %k - %i] : memref<?x?xf64>
  } }
  return
}
// === skewing and interchange of a wavefront: proved
func.func @f(%n: index, %a: memref<?x?xf64>) {
  affine.for %i = 1 to %n { affine.for %j = 1 to %n {
    %u = affine.load %a[%i - 1, %j] : memref<?x?xf64>
    %v = affine.load %a[%i, %j - 1] : memref<?x?xf64>
    %w = arith.addf %u, %v : f64
    affine.store %w, %a[%i, %j] : memref<?x?xf64>
  } }
  return
}
// ---
#lo = affine_map<(k)[n] -> (1, k - n + 1)>
#hi = affine_map<(k)[n] -> (n, k)>
func.func @f(%n: index, %a: memref<?x?xf64>) {
  affine.for %k = 2 to affine_map<()[n] -> (2 * n - 1)>()[%n] {
    affine.for %i = max #lo(%k)[%n] to min #hi(%k)[%n] {
      %u = affine.load %a[%i - 1, %k - %i] : memref<?x?xf64>
      %v = affine.load %a[%i, %k - %i - 1] : memref<?x?xf64>
      %w = arith.addf %u, %v : f64
      affine.store %w, %a[%i, %k - %i] : memref<?x?xf64>
    }
  }
  return
}
// === interchange of a wavefront with a dependence on the next column: refuted
func.func @f(%n: index, %a: memref<?x?xf64>) {
  affine.for %i = 1 to %n { affine.for %j = 0 to %n {
    %u = affine.load %a[%i - 1, %j + 1] : memref<?x?xf64>
    affine.store %u, %a[%i, %j] : memref<?x?xf64>
  } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x?xf64>) {
  affine.for %j = 0 to %n { affine.for %i = 1 to %n {
    %u = affine.load %a[%i - 1, %j + 1] : memref<?x?xf64>
    affine.store %u, %a[%i, %j] : memref<?x?xf64>
  } }
  return
}
// === the first iteration peeled: proved if
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
  %c0 = arith.constant 0 : index
  %u0 = memref.load %a[%c0] : memref<?xi32>
  %v0 = arith.addi %u0, %u0 : i32
  memref.store %v0, %a[%c0] : memref<?xi32>
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i] : memref<?xi32>
    %v = arith.addi %u, %u : i32
    affine.store %v, %a[%i] : memref<?xi32>
  }
  return
}
// === the last iteration peeled behind a test: proved
#some = affine_set<()[n] : (n - 1 >= 0)>
func.func @f(%n: index, %a: memref<?xi32>, %x: i32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xi32> }
  return
}
// ---
#some = affine_set<()[n] : (n - 1 >= 0)>
func.func @f(%n: index, %a: memref<?xi32>, %x: i32) {
  affine.for %i = 0 to affine_map<()[n] -> (n - 1)>()[%n] { affine.store %x, %a[%i] : memref<?xi32> }
  affine.if #some()[%n] { affine.store %x, %a[symbol(%n) - 1] : memref<?xi32> }
  return
}
// === index-set splitting at half: proved
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
#half = affine_map<()[n] -> (n floordiv 2)>
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to #half()[%n] {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  affine.for %i = #half()[%n] to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// === index-set splitting that leaves one out: refuted
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to affine_map<()[n] -> (n floordiv 2)>()[%n] {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  affine.for %i = affine_map<()[n] -> ((n + 1) floordiv 2)>()[%n] to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// === unswitching of a test on a size: proved
#big = affine_set<()[m] : (m - 10 >= 0)>
func.func @f(%n: index, %m: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    affine.if #big()[%m] { affine.store %x, %a[%i] : memref<?xf32> } else { affine.store %y, %a[%i] : memref<?xf32> }
  }
  return
}
// ---
#big = affine_set<()[m] : (m - 10 >= 0)>
func.func @f(%n: index, %m: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.if #big()[%m] {
    affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  } else {
    affine.for %i = 0 to %n { affine.store %y, %a[%i] : memref<?xf32> }
  }
  return
}
// === unswitching with the arms swapped: refuted
#big = affine_set<()[m] : (m - 10 >= 0)>
func.func @f(%n: index, %m: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    affine.if #big()[%m] { affine.store %x, %a[%i] : memref<?xf32> } else { affine.store %y, %a[%i] : memref<?xf32> }
  }
  return
}
// ---
#big = affine_set<()[m] : (m - 10 >= 0)>
func.func @f(%n: index, %m: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.if #big()[%m] {
    affine.for %i = 0 to %n { affine.store %y, %a[%i] : memref<?xf32> }
  } else {
    affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  }
  return
}
// === unswitching of a test on data: proved
func.func @f(%n: index, %c: i1, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    scf.if %c { affine.store %x, %a[%i] : memref<?xf32> } else { affine.store %y, %a[%i] : memref<?xf32> }
  }
  return
}
// ---
func.func @f(%n: index, %c: i1, %a: memref<?xf32>, %x: f32, %y: f32) {
  scf.if %c {
    affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  } else {
    affine.for %i = 0 to %n { affine.store %y, %a[%i] : memref<?xf32> }
  }
  return
}
// === scalar expansion: proved
func.func @f(%a: memref<64xf32>, %b: memref<64xf32>) {
  %t = memref.alloca() : memref<f32>
  affine.for %i = 0 to 64 {
    %u = affine.load %a[%i] : memref<64xf32>
    affine.store %u, %t[] : memref<f32>
    %v = affine.load %t[] : memref<f32>
    %w = arith.mulf %v, %v : f32
    affine.store %w, %b[%i] : memref<64xf32>
  }
  return
}
// ---
func.func @f(%a: memref<64xf32>, %b: memref<64xf32>) {
  %t = memref.alloc() : memref<64xf32>
  affine.for %i = 0 to 64 {
    %u = affine.load %a[%i] : memref<64xf32>
    affine.store %u, %t[%i] : memref<64xf32>
  }
  affine.for %i = 0 to 64 {
    %v = affine.load %t[%i] : memref<64xf32>
    %w = arith.mulf %v, %v : f32
    affine.store %w, %b[%i] : memref<64xf32>
  }
  memref.dealloc %t : memref<64xf32>
  return
}
// === scalar expansion with too few cells: refuted
func.func @f(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %u = affine.load %a[%i] : memref<64xf32>
    affine.store %u, %b[%i] : memref<64xf32>
  }
  return
}
// ---
func.func @f(%a: memref<64xf32>, %b: memref<64xf32>) {
  %t = memref.alloc() : memref<32xf32>
  affine.for %i = 0 to 64 {
    %u = affine.load %a[%i] : memref<64xf32>
    affine.store %u, %t[%i mod 32] : memref<32xf32>
  }
  affine.for %i = 0 to 64 {
    %v = affine.load %t[%i mod 32] : memref<32xf32>
    affine.store %v, %b[%i] : memref<64xf32>
  }
  return
}
// === double buffering: proved
func.func @f(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  affine.for %i = 0 to 16 { affine.for %j = 0 to 8 {
    %u = affine.load %a[%i, %j] : memref<16x8xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %b[%i, %j] : memref<16x8xf32>
  } }
  return
}
// ---
func.func @f(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  %buf = memref.alloc() : memref<2x8xf32>
  affine.for %j = 0 to 8 {
    %u = affine.load %a[0, %j] : memref<16x8xf32>
    affine.store %u, %buf[0, %j] : memref<2x8xf32>
  }
  affine.for %i = 0 to 15 {
    affine.for %j = 0 to 8 {
      %u = affine.load %a[%i + 1, %j] : memref<16x8xf32>
      affine.store %u, %buf[(%i + 1) mod 2, %j] : memref<2x8xf32>
    }
    affine.for %j = 0 to 8 {
      %u = affine.load %buf[%i mod 2, %j] : memref<2x8xf32>
      %v = arith.addf %u, %u : f32
      affine.store %v, %b[%i, %j] : memref<16x8xf32>
    }
  }
  affine.for %j = 0 to 8 {
    %u = affine.load %buf[1, %j] : memref<2x8xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %b[15, %j] : memref<16x8xf32>
  }
  memref.dealloc %buf : memref<2x8xf32>
  return
}
// === double buffering with the wrong buffer at the end: refuted
func.func @f(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  affine.for %i = 0 to 16 { affine.for %j = 0 to 8 {
    %u = affine.load %a[%i, %j] : memref<16x8xf32>
    affine.store %u, %b[%i, %j] : memref<16x8xf32>
  } }
  return
}
// ---
func.func @f(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  %buf = memref.alloc() : memref<2x8xf32>
  affine.for %j = 0 to 8 {
    %u = affine.load %a[0, %j] : memref<16x8xf32>
    affine.store %u, %buf[0, %j] : memref<2x8xf32>
  }
  affine.for %i = 0 to 15 {
    affine.for %j = 0 to 8 {
      %u = affine.load %a[%i + 1, %j] : memref<16x8xf32>
      affine.store %u, %buf[(%i + 1) mod 2, %j] : memref<2x8xf32>
    }
    affine.for %j = 0 to 8 {
      %u = affine.load %buf[%i mod 2, %j] : memref<2x8xf32>
      affine.store %u, %b[%i, %j] : memref<16x8xf32>
    }
  }
  affine.for %j = 0 to 8 {
    %u = affine.load %buf[0, %j] : memref<2x8xf32>
    affine.store %u, %b[15, %j] : memref<16x8xf32>
  }
  return
}
// === a bound that is wrong by one: refuted
func.func @f(%a: memref<10xf32>, %x: f32) {
  affine.for %i = 0 to 10 { affine.store %x, %a[%i] : memref<10xf32> }
  return
}
// ---
func.func @f(%a: memref<10xf32>, %x: f32) {
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (9)>}> ({
  ^bb0(%i: index):
    "affine.store"(%x, %a, %i) <{map = affine_map<(d0) -> (d0)>}> : (f32, memref<10xf32>, index) -> ()
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// === generic and pretty forms: proved
#id = affine_map<(d0) -> (d0)>
module {
  func.func private @unused(%p: memref<?xf32>) -> f32
  func.func @f(%a: memref<10xf32>, %x: f32) {
    affine.for %i = 0 to 10 { affine.store %x, %a[%i] : memref<10xf32> }
    return
  }
}
// ---
#id = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<10xf32>, f32) -> (), sym_name = "f"}> ({
  ^bb0(%a: memref<10xf32>, %x: f32):
    "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 2 : index, upperBoundMap = affine_map<() -> (10)>}> ({
    ^bb0(%i: index):
      "affine.store"(%x, %a, %i) <{map = #id}> : (f32, memref<10xf32>, index) -> ()
      %j = "affine.apply"(%i) <{map = affine_map<(d0) -> (d0 + 1)>}> : (index) -> index
      "affine.store"(%x, %a, %j) <{map = #id}> : (f32, memref<10xf32>, index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// === tiles of which the last one is too long: refuted
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %t = 0 to %n step 8 {
    affine.for %i = affine_map<(t) -> (t)>(%t) to affine_map<(t) -> (t + 8)>(%t) { affine.store %x, %a[%i] : memref<?xf32> }
  }
  return
}
// === tiles with the remainder left out: refuted
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %t = 0 to affine_map<()[n] -> (n floordiv 8)>()[%n] {
    affine.for %i = 0 to 8 { affine.store %x, %a[%t * 8 + %i] : memref<?xf32> }
  }
  return
}
// === tiles and a remainder of its own: proved if
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %t = 0 to affine_map<()[n] -> (n floordiv 8)>()[%n] {
    affine.for %i = 0 to 8 { affine.store %x, %a[%t * 8 + %i] : memref<?xf32> }
  }
  affine.for %i = affine_map<()[n] -> ((n floordiv 8) * 8)>()[%n] to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// === dependent statements swapped: refuted
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xi32>
    affine.store %u, %b[%i] : memref<?xi32>
    %c7 = arith.constant 7 : i32
    affine.store %c7, %a[%i] : memref<?xi32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  affine.for %i = 0 to %n {
    %c7 = arith.constant 7 : i32
    affine.store %c7, %a[%i] : memref<?xi32>
    %u = affine.load %a[%i] : memref<?xi32>
    affine.store %u, %b[%i] : memref<?xi32>
  }
  return
}
// === independent statements swapped: proved
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %x: i32) {
  affine.for %i = 0 to %n {
    affine.store %x, %a[2 * %i] : memref<?xi32>
    %u = affine.load %a[2 * %i + 1] : memref<?xi32>
    affine.store %u, %b[%i] : memref<?xi32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>, %x: i32) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i * 2 + 1] : memref<?xi32>
    affine.store %u, %b[%i] : memref<?xi32>
    affine.store %x, %a[%i + %i] : memref<?xi32>
  }
  return
}
// === a loop distributed against a dependence: refuted
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %b[%i - 1] : memref<?xi32>
    affine.store %u, %a[%i] : memref<?xi32>
    %v = affine.load %a[%i] : memref<?xi32>
    affine.store %v, %b[%i] : memref<?xi32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %b[%i - 1] : memref<?xi32>
    affine.store %u, %a[%i] : memref<?xi32>
  }
  affine.for %i = 1 to %n {
    %v = affine.load %a[%i] : memref<?xi32>
    affine.store %v, %b[%i] : memref<?xi32>
  }
  return
}
// === a triangular loop interchanged: proved
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
    affine.store %x, %a[%i, %j] : memref<?x?xf32>
  } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %j = 0 to %n { affine.for %i = affine_map<(j) -> (j)>(%j) to %n {
    affine.store %x, %a[%i, %j] : memref<?x?xf32>
  } }
  return
}
// === a triangular loop interchanged with a wrong bound: refuted
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {
    affine.store %x, %a[%i, %j] : memref<?x?xf32>
  } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %j = 0 to %n { affine.for %i = affine_map<(j) -> (j + 1)>(%j) to %n {
    affine.store %x, %a[%i, %j] : memref<?x?xf32>
  } }
  return
}
