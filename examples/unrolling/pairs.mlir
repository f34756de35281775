// Two results per turn, all taps at once.
#even = affine_map<()[s0] -> ((s0 floordiv 2) * 2)>
func.func @filter(%n: index, %h: memref<4xf32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  affine.for %i = 0 to #even()[%n] step 2 {
    %zero0 = arith.constant 0.0 : f32
    %a00 = affine.load %h[0] : memref<4xf32>
    %b00 = affine.load %x[%i] : memref<?xf32>
    %p00 = arith.mulf %a00, %b00 : f32
    %s00 = arith.addf %zero0, %p00 : f32
    %a01 = affine.load %h[1] : memref<4xf32>
    %b01 = affine.load %x[%i + 1] : memref<?xf32>
    %p01 = arith.mulf %a01, %b01 : f32
    %s01 = arith.addf %s00, %p01 : f32
    %a02 = affine.load %h[2] : memref<4xf32>
    %b02 = affine.load %x[%i + 2] : memref<?xf32>
    %p02 = arith.mulf %a02, %b02 : f32
    %s02 = arith.addf %s01, %p02 : f32
    %a03 = affine.load %h[3] : memref<4xf32>
    %b03 = affine.load %x[%i + 3] : memref<?xf32>
    %p03 = arith.mulf %a03, %b03 : f32
    %s03 = arith.addf %s02, %p03 : f32
    affine.store %s03, %y[%i] : memref<?xf32>
    %zero1 = arith.constant 0.0 : f32
    %a10 = affine.load %h[0] : memref<4xf32>
    %b10 = affine.load %x[%i + 1] : memref<?xf32>
    %p10 = arith.mulf %a10, %b10 : f32
    %s10 = arith.addf %zero1, %p10 : f32
    %a11 = affine.load %h[1] : memref<4xf32>
    %b11 = affine.load %x[%i + 2] : memref<?xf32>
    %p11 = arith.mulf %a11, %b11 : f32
    %s11 = arith.addf %s10, %p11 : f32
    %a12 = affine.load %h[2] : memref<4xf32>
    %b12 = affine.load %x[%i + 3] : memref<?xf32>
    %p12 = arith.mulf %a12, %b12 : f32
    %s12 = arith.addf %s11, %p12 : f32
    %a13 = affine.load %h[3] : memref<4xf32>
    %b13 = affine.load %x[%i + 4] : memref<?xf32>
    %p13 = arith.mulf %a13, %b13 : f32
    %s13 = arith.addf %s12, %p13 : f32
    affine.store %s13, %y[%i + 1] : memref<?xf32>
  }
  return
}
