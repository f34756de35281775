// === software pipelining: proved if
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    %v = math.sqrt %u : f32
    affine.store %v, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  %first = affine.load %a[0] : memref<?xf32>
  %last = affine.for %i = 1 to %n iter_args(%u = %first) -> (f32) {
    %next = affine.load %a[%i] : memref<?xf32>
    %v = math.sqrt %u : f32
    affine.store %v, %b[%i - 1] : memref<?xf32>
    affine.yield %next : f32
  }
  %v = math.sqrt %last : f32
  affine.store %v, %b[symbol(%n) - 1] : memref<?xf32>
  return
}
// === a load that runs ahead beyond the array: proved if
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  %first = affine.load %a[0] : memref<?xf32>
  %last = affine.for %i = 0 to affine_map<()[n] -> (n - 1)>()[%n] iter_args(%u = %first) -> (f32) {
    %next = affine.load %a[%i + 1] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
    affine.yield %next : f32
  }
  affine.if affine_set<()[n] : (n - 1 >= 0)>()[%n] { affine.store %last, %b[symbol(%n) - 1] : memref<?xf32> }
  return
}
// === a load of one cell more: refuted
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[%i] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) {
  %first = affine.load %a[0] : memref<?xf32>
  %last = affine.for %i = 0 to %n iter_args(%u = %first) -> (f32) {
    %next = affine.load %a[%i + 1] : memref<?xf32>
    affine.store %u, %b[%i] : memref<?xf32>
    affine.yield %next : f32
  }
  return
}
// === a store that does not vary moved behind the loop: proved
func.func @f(%n: index, %a: memref<1xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[0] : memref<1xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<1xf32>, %x: f32) {
  affine.if affine_set<()[n] : (n - 1 >= 0)>()[%n] { affine.store %x, %a[0] : memref<1xf32> }
  return
}
// === a store that does not vary, executed always: proved if
func.func @f(%n: index, %a: memref<1xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[0] : memref<1xf32> }
  return
}
// ---
func.func @f(%n: index, %a: memref<1xf32>, %x: f32) {
  affine.store %x, %a[0] : memref<1xf32>
  return
}
// === a load hoisted over a store to another cell: proved
func.func @f(%n: index, %a: memref<?xf32>) {
  affine.for %i = 1 to %n {
    %u = affine.load %a[0] : memref<?xf32>
    affine.store %u, %a[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>) {
  affine.if affine_set<()[n] : (n - 2 >= 0)>()[%n] {
    %u = affine.load %a[0] : memref<?xf32>
    affine.for %i = 1 to %n { affine.store %u, %a[%i] : memref<?xf32> }
  }
  return
}
// === a load hoisted over a store to its own cell: refuted
func.func @f(%n: index, %a: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %u = affine.load %a[2] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.store %v, %a[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>) {
  affine.if affine_set<()[n] : (n - 1 >= 0)>()[%n] {
    %u = affine.load %a[2] : memref<?xf32>
    %v = arith.addf %u, %u : f32
    affine.for %i = 0 to %n { affine.store %v, %a[%i] : memref<?xf32> }
  }
  return
}
// === a scatter backwards: refuted
func.func @f(%n: index, %p: memref<?xindex>, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %k = affine.load %p[%i] : memref<?xindex>
    %u = affine.load %b[%i] : memref<?xf32>
    memref.store %u, %a[%k] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %p: memref<?xindex>, %a: memref<?xf32>, %b: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %k = affine.load %p[symbol(%n) - 1 - %i] : memref<?xindex>
    %u = affine.load %b[symbol(%n) - 1 - %i] : memref<?xf32>
    memref.store %u, %a[%k] : memref<?xf32>
  }
  return
}
// === bounds from memref.dim: proved
func.func @f(%a: memref<?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %a, %c1 : memref<?x?xf32>
  scf.for %i = %c0 to %m step %c1 { scf.for %j = %c0 to %n step %c1 { memref.store %x, %a[%i, %j] : memref<?x?xf32> } }
  return
}
// ---
func.func @f(%a: memref<?x?xf32>, %x: f32) {
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %one = "arith.constant"() <{value = 1 : index}> : () -> index
  %n = "memref.dim"(%a, %one) : (memref<?x?xf32>, index) -> index
  %m = "memref.dim"(%a, %zero) : (memref<?x?xf32>, index) -> index
  "scf.for"(%zero, %n, %one) ({
  ^bb0(%j: index):
    "scf.for"(%zero, %m, %one) ({
    ^bb0(%i: index):
      "memref.store"(%x, %a, %i, %j) <{nontemporal = false}> : (f32, memref<?x?xf32>, index, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  "func.return"() : () -> ()
}
// === a dead store left out: proved
func.func @f(%n: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    affine.store %x, %a[%i] : memref<?xf32>
    affine.store %y, %a[%i] : memref<?xf32>
  }
  return
}
// ---
func.func @f(%n: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n { affine.store %y, %a[%i] : memref<?xf32> }
  return
}
// === a store that a call may see left out: refuted
func.func private @see()
func.func @f(%n: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    affine.store %x, %a[%i] : memref<?xf32>
    func.call @see() : () -> ()
    affine.store %y, %a[%i] : memref<?xf32>
  }
  return
}
// ---
func.func private @see()
func.func @f(%n: index, %a: memref<?xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n {
    func.call @see() : () -> ()
    affine.store %y, %a[%i] : memref<?xf32>
  }
  return
}
// === loops of other lengths fused behind a test: proved
#inside = affine_set<(i)[m] : (m - i - 1 >= 0)>
func.func @f(%a: memref<20xf32>, %b: memref<12xf32>, %x: f32) {
  affine.for %i = 0 to 20 { affine.store %x, %a[%i] : memref<20xf32> }
  affine.for %i = 0 to 12 {
    %u = affine.load %a[%i] : memref<20xf32>
    affine.store %u, %b[%i] : memref<12xf32>
  }
  return
}
// ---
#inside = affine_set<(i) : (11 - i >= 0)>
func.func @f(%a: memref<20xf32>, %b: memref<12xf32>, %x: f32) {
  affine.for %i = 0 to 20 {
    affine.store %x, %a[%i] : memref<20xf32>
    affine.if #inside(%i) {
      %u = affine.load %a[%i] : memref<20xf32>
      affine.store %u, %b[%i] : memref<12xf32>
    }
  }
  return
}
// === a set with an equality: proved
#corner = affine_set<(i, j)[n] : (i - j == 0, n - i - 1 >= 0)>
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i, %i] : memref<?x?xf32> }
  return
}
// ---
#corner = affine_set<(i, j)[n] : (i - j == 0, n - i - 1 >= 0)>
func.func @f(%n: index, %a: memref<?x?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to %n {
    "affine.if"(%i, %j, %n) <{condition = #corner}> ({
      affine.store %x, %a[%i, %j] : memref<?x?xf32>
      affine.yield
    }, {
    }) : (index, index, index) -> ()
  } }
  return
}
// === tiles counted by a quotient that is rounded up: proved
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<?xf32> }
  return
}
// ---
#end = affine_map<(t)[n] -> (32 * t + 32, n)>
func.func @f(%n: index, %a: memref<?xf32>, %x: f32) {
  affine.for %t = 0 to affine_map<()[n] -> (n ceildiv 32)>()[%n] {
    affine.for %i = affine_map<(t) -> (32 * t)>(%t) to min #end(%t)[%n] { affine.store %x, %a[%i] : memref<?xf32> }
  }
  return
}
// === memory spaces and layouts that say nothing: proved
func.func @f(%a: memref<8xf32, 1>, %x: f32) {
  affine.for %i = 0 to 8 { affine.store %x, %a[%i] : memref<8xf32, 1> }
  return
}
// ---
func.func @f(%a: memref<8xf32, 1>, %x: f32) {
  affine.for %i = 0 to 8 step 4 { affine.for %j = 0 to 4 { affine.store %x, %a[%i + %j] : memref<8xf32, 1> } }
  return
}
// === time tiles of a stencil without skewing: refuted
func.func @f(%a: memref<34xf32>) {
  affine.for %t = 0 to 8 { affine.for %i = 1 to 33 {
    %u = affine.load %a[%i - 1] : memref<34xf32>
    %v = affine.load %a[%i + 1] : memref<34xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %a[%i] : memref<34xf32>
  } }
  return
}
// ---
func.func @f(%a: memref<34xf32>) {
  affine.for %x = 1 to 33 step 8 { affine.for %t = 0 to 8 { affine.for %i = affine_map<(x) -> (x)>(%x) to affine_map<(x) -> (x + 8)>(%x) {
    %u = affine.load %a[%i - 1] : memref<34xf32>
    %v = affine.load %a[%i + 1] : memref<34xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %a[%i] : memref<34xf32>
  } } }
  return
}
// === time tiles of a skewed stencil: proved
func.func @f(%a: memref<34xf32>) {
  affine.for %t = 0 to 8 { affine.for %i = 1 to 33 {
    %u = affine.load %a[%i - 1] : memref<34xf32>
    %v = affine.load %a[%i + 1] : memref<34xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %a[%i] : memref<34xf32>
  } }
  return
}
// ---
#lo = affine_map<(x, t) -> (x, t + 1)>
#hi = affine_map<(x, t) -> (x + 8, t + 33)>
func.func @f(%a: memref<34xf32>) {
  affine.for %x = 1 to 41 step 8 { affine.for %t = 0 to 8 { affine.for %k = max #lo(%x, %t) to min #hi(%x, %t) {
    %u = affine.load %a[%k - %t - 1] : memref<34xf32>
    %v = affine.load %a[%k - %t + 1] : memref<34xf32>
    %w = arith.addf %u, %v : f32
    affine.store %w, %a[%k - %t] : memref<34xf32>
  } } }
  return
}
