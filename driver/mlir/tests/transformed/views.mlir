// === two halves by subviews: proved
func.func @f(%a: memref<16xf32>, %x: f32) {
  affine.for %i = 0 to 16 { affine.store %x, %a[%i] : memref<16xf32> }
  return
}
// ---
func.func @f(%a: memref<16xf32>, %x: f32) {
  %l = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %h = memref.subview %a[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  affine.for %i = 0 to 8 {
    affine.store %x, %l[%i] : memref<8xf32, strided<[1]>>
    affine.store %x, %h[%i] : memref<8xf32, strided<[1], offset: 8>>
  }
  return
}
// === subviews that overlap: refuted
func.func @f(%a: memref<16xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to 8 { affine.store %x, %a[%i] : memref<16xf32> }
  affine.for %i = 0 to 8 { affine.store %y, %a[%i + 8] : memref<16xf32> }
  return
}
// ---
func.func @f(%a: memref<16xf32>, %x: f32, %y: f32) {
  %h = memref.subview %a[7] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 7>>
  affine.for %i = 0 to 8 { affine.store %x, %a[%i] : memref<16xf32> }
  affine.for %i = 0 to 8 { affine.store %y, %h[%i] : memref<8xf32, strided<[1], offset: 7>> }
  return
}
// === a row by a subview of lower rank: proved
func.func @f(%n: index, %a: memref<?x8xf32>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to 4 { affine.store %x, %a[%i, 2 * %j + 1] : memref<?x8xf32> } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x8xf32>, %x: f32) {
  affine.for %i = 0 to %n {
    %row = memref.subview %a[%i, 1] [1, 4] [1, 2] : memref<?x8xf32> to memref<4xf32, strided<[2], offset: ?>>
    affine.for %j = 0 to 4 { affine.store %x, %row[%j] : memref<4xf32, strided<[2], offset: ?>> }
  }
  return
}
// === a view of a view: proved
func.func @f(%a: memref<8x8xf32>, %x: f32) {
  affine.for %j = 0 to 3 { affine.store %x, %a[5, %j + 3] : memref<8x8xf32> }
  return
}
// ---
func.func @f(%a: memref<8x8xf32>, %x: f32) {
  %v = "memref.subview"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 4, 2>, static_sizes = array<i64: 4, 6>, static_strides = array<i64: 1, 1>}> : (memref<8x8xf32>) -> memref<4x6xf32, strided<[8, 1], offset: 34>>
  %w = memref.subview %v[1, 1] [1, 3] [1, 1] : memref<4x6xf32, strided<[8, 1], offset: 34>> to memref<3xf32, strided<[1], offset: 43>>
  affine.for %j = 0 to 3 { affine.store %x, %w[%j] : memref<3xf32, strided<[1], offset: 43>> }
  return
}
// === all cells by their number: proved
func.func @f(%a: memref<6x4xi32>, %x: i32) {
  affine.for %i = 0 to 6 { affine.for %j = 0 to 4 { affine.store %x, %a[%i, %j] : memref<6x4xi32> } }
  return
}
// ---
func.func @f(%a: memref<6x4xi32>, %x: i32) {
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [24], strides: [1] : memref<6x4xi32> to memref<24xi32>
  affine.for %k = 0 to 24 { affine.store %x, %v[%k] : memref<24xi32> }
  return
}
// === transposed by strides: proved
func.func @f(%a: memref<6x4xi32>, %b: memref<4x6xi32>) {
  affine.for %i = 0 to 6 { affine.for %j = 0 to 4 {
    %u = affine.load %a[%i, %j] : memref<6x4xi32>
    affine.store %u, %b[%j, %i] : memref<4x6xi32>
  } }
  return
}
// ---
func.func @f(%a: memref<6x4xi32>, %b: memref<4x6xi32>) {
  %t = memref.reinterpret_cast %a to offset: [0], sizes: [4, 6], strides: [1, 4] : memref<6x4xi32> to memref<4x6xi32, strided<[1, 4]>>
  affine.for %j = 0 to 4 { affine.for %i = 0 to 6 {
    %u = affine.load %t[%j, %i] : memref<4x6xi32, strided<[1, 4]>>
    affine.store %u, %b[%j, %i] : memref<4x6xi32>
  } }
  return
}
// === casts and copies: proved
func.func @f(%a: memref<12xf64>, %b: memref<?xf64>) {
  affine.for %i = 0 to 12 {
    %u = affine.load %a[%i] : memref<12xf64>
    affine.store %u, %b[%i] : memref<?xf64>
  }
  return
}
// ---
func.func @f(%a: memref<12xf64>, %b: memref<?xf64>) {
  %c = memref.cast %a : memref<12xf64> to memref<?xf64>
  memref.copy %c, %b : memref<?xf64> to memref<?xf64>
  return
}
// === a cast that claims an extent: unknown
func.func @f(%a: memref<?xf64>, %x: f64) {
  affine.for %i = 0 to 12 { affine.store %x, %a[%i] : memref<?xf64> }
  return
}
// ---
func.func @f(%a: memref<?xf64>, %x: f64) {
  %c = memref.cast %a : memref<?xf64> to memref<12xf64>
  affine.for %i = 0 to 12 { affine.store %x, %c[%i] : memref<12xf64> }
  return
}
// === an argument with strides: proved
func.func @f(%n: index, %a: memref<?x4xf32, strided<[8, 1], offset: ?>>, %x: f32) {
  affine.for %i = 0 to %n { affine.for %j = 0 to 4 { affine.store %x, %a[%i, %j] : memref<?x4xf32, strided<[8, 1], offset: ?>> } }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x4xf32, strided<[8, 1], offset: ?>>, %x: f32) {
  affine.for %j = 0 to 4 { affine.for %i = 0 to %n { affine.store %x, %a[%i, %j] : memref<?x4xf32, strided<[8, 1], offset: ?>> } }
  return
}
// === an argument whose rows overlap: unknown
func.func @f(%n: index, %a: memref<?x4xf32, strided<[2, 1], offset: ?>>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i, 0] : memref<?x4xf32, strided<[2, 1], offset: ?>>
    affine.store %y, %a[%i, 2] : memref<?x4xf32, strided<[2, 1], offset: ?>> }
  return
}
// ---
func.func @f(%n: index, %a: memref<?x4xf32, strided<[2, 1], offset: ?>>, %x: f32, %y: f32) {
  affine.for %i = 0 to %n { affine.store %x, %a[%i, 0] : memref<?x4xf32, strided<[2, 1], offset: ?>> }
  affine.for %i = 0 to %n { affine.store %y, %a[%i, 2] : memref<?x4xf32, strided<[2, 1], offset: ?>> }
  return
}
