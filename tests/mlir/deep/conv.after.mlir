// What `mlir-opt-19 --affine-loop-tile="tile-size=4"` makes of `conv.before.mlir`.

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
#map2 = affine_map<(d0) -> (d0 + 4)>
#map3 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func @conv(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?x3x?x?xf32>, %arg4: memref<16x3x3x3xf32>, %arg5: memref<?x16x?x?xf32>) {
    affine.for %arg6 = 0 to %arg0 step 4 {
      affine.for %arg7 = 0 to 16 step 4 {
        affine.for %arg8 = 0 to %arg1 step 4 {
          affine.for %arg9 = 0 to %arg2 step 4 {
            affine.for %arg10 = 0 to 3 step 4 {
              affine.for %arg11 = 0 to 3 step 4 {
                affine.for %arg12 = 0 to 3 step 4 {
                  affine.for %arg13 = #map(%arg6) to min #map1(%arg6)[%arg0] {
                    affine.for %arg14 = #map(%arg7) to #map2(%arg7) {
                      affine.for %arg15 = #map(%arg8) to min #map1(%arg8)[%arg1] {
                        affine.for %arg16 = #map(%arg9) to min #map1(%arg9)[%arg2] {
                          affine.for %arg17 = #map(%arg10) to #map3(%arg10) {
                            affine.for %arg18 = #map(%arg11) to #map3(%arg11) {
                              affine.for %arg19 = #map(%arg12) to #map3(%arg12) {
                                %0 = affine.load %arg3[%arg13, %arg17, %arg15 + %arg18, %arg16 + %arg19] : memref<?x3x?x?xf32>
                                %1 = affine.load %arg4[%arg14, %arg17, %arg18, %arg19] : memref<16x3x3x3xf32>
                                %2 = arith.mulf %0, %1 : f32
                                %3 = affine.load %arg5[%arg13, %arg14, %arg15, %arg16] : memref<?x16x?x?xf32>
                                %4 = arith.addf %3, %2 : f32
                                affine.store %4, %arg5[%arg13, %arg14, %arg15, %arg16] : memref<?x16x?x?xf32>
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
    return
  }
}

