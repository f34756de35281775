// A convolution of seven loops. Tiled in all of them, it has fourteen (`conv.after.mlir`), made by
//     mlir-opt-19 --affine-loop-tile="tile-size=4" conv.before.mlir
// and compared by
//     rewright validate conv.before.mlir conv.after.mlir
// Sums of floats stay as they are, because the three innermost loops fit one tile.

func.func @conv(%n: index, %h: index, %w: index, %in: memref<?x3x?x?xf32>, %k: memref<16x3x3x3xf32>, %out: memref<?x16x?x?xf32>) {
  affine.for %b = 0 to %n {
    affine.for %o = 0 to 16 {
      affine.for %y = 0 to %h {
        affine.for %x = 0 to %w {
          affine.for %c = 0 to 3 {
            affine.for %p = 0 to 3 {
              affine.for %q = 0 to 3 {
                %0 = affine.load %in[%b, %c, %y + %p, %x + %q] : memref<?x3x?x?xf32>
                %1 = affine.load %k[%o, %c, %p, %q] : memref<16x3x3x3xf32>
                %2 = arith.mulf %0, %1 : f32
                %3 = affine.load %out[%b, %o, %y, %x] : memref<?x16x?x?xf32>
                %4 = arith.addf %3, %2 : f32
                affine.store %4, %out[%b, %o, %y, %x] : memref<?x16x?x?xf32>
              }
            }
          }
        }
      }
    }
  }
  return
}
