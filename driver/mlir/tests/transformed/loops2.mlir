// === a step that does not divide: proved
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 1 to %n step 3 { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %d = arith.subi %n, %c1 : index
  %q = arith.ceildivsi %d, %c3 : index
  scf.for %k = %c0 to %q step %c1 {
    %p = arith.muli %k, %c3 : index
    %i = arith.addi %p, %c1 : index
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}
// === a step that does not divide, rounded down: refuted
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 1 to %n step 3 { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %k = 0 to affine_map<()[n] -> ((n - 1) floordiv 3)>()[%n] { affine.store %x, %a[3 * %k + 1] : memref<?xf32> }
  return
}
// === a loop that counts down: proved
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %b[%i] : memref<?xf32>
    affine.store %u, %a[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %b[-%i + symbol(%n) - 1] : memref<?xf32>
    affine.store %u, %a[symbol(%n) - 1 - %i] : memref<?xf32>
  }
  return
}
// === negative sizes: proved if
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  // With n = -4 the second loop begins at -4.
  affine.for %i = 0 to affine_map<()[s] -> (s - s mod 4)>()[%n] step 4 {
    affine.store %x, %a[%i] : memref<?xf32>
    affine.store %x, %a[%i + 1] : memref<?xf32>
    affine.store %x, %a[%i + 2] : memref<?xf32>
    affine.store %x, %a[%i + 3] : memref<?xf32>
  }
  affine.for %i = affine_map<()[s] -> (s - s mod 4)>()[%n] to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// === a remainder loop that runs for negative sizes only: proved if
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  affine.for %i = %n to 0 { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// === unroll and jam: proved if
func.func @f(%n: index, %a: memref<?x16xf32>, %b: memref<16xf32>) {
  affine.for %i = 0 to %n { affine.for %j = 0 to 16 {
    %u = affine.load %a[%i, %j] : memref<?x16xf32>
    %v = affine.load %b[%j] : memref<16xf32>
    %w = arith.mulf %u, %v : f32
    affine.store %w, %a[%i, %j] : memref<?x16xf32>
  } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x16xf32>, %b: memref<16xf32>) {
  affine.for %i = 0 to affine_map<()[n] -> ((n floordiv 2) * 2)>()[%n] step 2 { affine.for %j = 0 to 16 {
    %v = affine.load %b[%j] : memref<16xf32>
    %u = affine.load %a[%i, %j] : memref<?x16xf32>
    %w = arith.mulf %u, %v : f32
    affine.store %w, %a[%i, %j] : memref<?x16xf32>
    %u1 = affine.load %a[%i + 1, %j] : memref<?x16xf32>
    %w1 = arith.mulf %u1, %v : f32
    affine.store %w1, %a[%i + 1, %j] : memref<?x16xf32>
  } }
  affine.for %i = affine_map<()[n] -> ((n floordiv 2) * 2)>()[%n] to %n { affine.for %j = 0 to 16 {
    %u = affine.load %a[%i, %j] : memref<?x16xf32>
    %v = affine.load %b[%j] : memref<16xf32>
    %w = arith.mulf %u, %v : f32
    affine.store %w, %a[%i, %j] : memref<?x16xf32>
  } }
  return
}
// === fusion of loops with a shift: proved
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %a[%i] : memref<?xf32>
  }
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i - 1] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %a[%i] : memref<?xf32>
    %w = affine.load %a[%i - 1] : memref<?xf32>
    affine.store %w, %b[%i] : memref<?xf32>
  }
  return
}
// === fusion that reads too early: refuted
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %a[%i] : memref<?xf32>
  }
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i + 1] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %a[%i] : memref<?xf32>
    %w = affine.load %a[%i + 1] : memref<?xf32>
    affine.store %w, %b[%i] : memref<?xf32>
  }
  return
}
// === coalesced loops: proved
func.func @f(%n: index, %a: memref<?x12xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to 12 { affine.store %x, %a[%i, %j] : memref<?x12xf32> } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x12xf32>, %x: f32) {
  affine.for %k = 0 to affine_map<()[n] -> (n * 12)>()[%n] {
    affine.store %x, %a[%k floordiv 12, %k mod 12] : memref<?x12xf32>
  }
  return
}
// === coalesced loops with another row: refuted
func.func @f(%n: index, %a: memref<?x12xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to 12 { affine.store %x, %a[%i, %j] : memref<?x12xf32> } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x12xf32>, %x: f32) {
  affine.for %k = 0 to affine_map<()[n] -> (n * 12)>()[%n] {
    affine.store %x, %a[%k floordiv 11, %k mod 11] : memref<?x12xf32>
  }
  return
}
// === a value kept from one iteration to the next: proved if
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = affine.load %a[%i + 1] : memref<?xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  %first = affine.load %a[0] : memref<?xf32>
  %last = affine.for %i = 0 to %n iter_args(%u = %first) -> (f32) {
    %v = affine.load %a[%i + 1] : memref<?xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %b[%i] : memref<?xf32>
    affine.yield %v : f32
  }
  return
}
// === several functions, one of them wrong: refuted
#m = affine_map<(d0)[s0] -> (d0 + s0)>
func.func @g(%a: memref<4xf32>, %x: f32) {
  affine.for %i = 0 to 4 { affine.store %x, %a[%i] : memref<4xf32> }
  return
}
func.func @f(%a: memref<4xf32>, %x: f32) {
  affine.for %i = 0 to 3 { affine.store %x, %a[%i] : memref<4xf32> }
  return
}
// ---
#m = affine_map<(d0)[s0] -> (d0 + s0)>
func.func @f(%a: memref<4xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to 3 {
    %j = affine.apply #m(%i)[%c1]
    affine.store %x, %a[%j] : memref<4xf32>
  }
  return
}
func.func @g(%a: memref<4xf32>, %x: f32) {
  affine.for %i = 0 to 4 { affine.store %x, %a[%i] : memref<4xf32> }
  return
}
