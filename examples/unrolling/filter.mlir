// A filter with four taps: y[i] = h[0] x[i] + h[1] x[i+1] + h[2] x[i+2] + h[3] x[i+3].
func.func @filter(%n: index, %h: memref<4xf32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    %sum = affine.for %k = 0 to 4 iter_args(%acc = %zero) -> (f32) {
      %a = affine.load %h[%k] : memref<4xf32>
      %b = affine.load %x[%i + %k] : memref<?xf32>
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      affine.yield %s : f32
    }
    affine.store %sum, %y[%i] : memref<?xf32>
  }
  return
}
