// Written by `scripts/mlir_datapaths.py write`.

func.func @mul_div(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant 1 : i8
  %2 = arith.ori %z, %1 : i8
  %3 = arith.divsi %y, %2 : i8
  %4 = arith.muli %x, %3 : i8
  return %4 : i8
}

func.func @self_quotient(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = arith.constant 1 : i16
    affine.store %1, %r[%i] : memref<64xi16>
  }
  return
}

func.func @float_quotient(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.constant 1.0 : f32
  return %1 : f32
}

func.func @float_sum(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = affine.load %my[%i] : memref<64xf64>
    %3 = affine.load %mz[%i] : memref<64xf64>
    %4 = arith.addf %2, %3 : f64
    %5 = arith.addf %1, %4 : f64
    affine.store %5, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_product(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.mulf %y, %z : f32
  %2 = arith.mulf %x, %1 : f32
  return %2 : f32
}

func.func @float_distribute(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = affine.load %my[%i] : memref<64xf64>
    %3 = affine.load %mz[%i] : memref<64xf64>
    %4 = arith.mulf %1, %2 : f64
    %5 = arith.mulf %1, %3 : f64
    %6 = arith.addf %4, %5 : f64
    affine.store %6, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_cancel(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  return %x : f32
}

func.func @float_self(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = arith.constant 0.0 : f64
    affine.store %1, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_zero(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.constant 0.0 : f32
  return %1 : f32
}

func.func @float_plus_zero(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    affine.store %1, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_negate(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.negf %x : f32
  return %1 : f32
}

func.func @float_third(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = arith.constant 0.3333333333333333 : f64
    %3 = arith.mulf %1, %2 : f64
    affine.store %3, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_order(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpf oge, %x, %y : f32
  return %1 : i1
}

func.func @float_equal(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = arith.constant true
    affine.store %1, %r[%i] : memref<64xi1>
  }
  return
}

func.func @float_minimum(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.minimumf %x, %y : f32
  return %1 : f32
}

func.func @float_square(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = math.absf %1 : f64
    affine.store %2, %r[%i] : memref<64xf64>
  }
  return
}

func.func @float_sub_swap(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.subf %y, %x : f32
  %2 = arith.negf %1 : f32
  return %2 : f32
}

func.func @halve(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = arith.constant 1 : i16
    %3 = arith.shrsi %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi16>
  }
  return
}

func.func @remainder(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.constant 7 : i32
  %2 = arith.andi %x, %1 : i32
  return %2 : i32
}

func.func @shift_forth(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    affine.store %1, %r[%i] : memref<64xi64>
  }
  return
}

func.func @shift_back(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  return %x : i8
}

func.func @mean(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.constant 1 : i16
    %4 = arith.shrui %1, %3 : i16
    %5 = arith.constant 1 : i16
    %6 = arith.shrui %2, %5 : i16
    %7 = arith.addi %4, %6 : i16
    affine.store %7, %r[%i] : memref<64xi16>
  }
  return
}

func.func @less_by_sign(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi slt, %x, %y : i32
  return %1 : i1
}

func.func @not_less(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.cmpi slt, %2, %1 : i64
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @signedness(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi ult, %x, %y : i8
  return %1 : i1
}

func.func @swapped(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    %2 = affine.load %mx[%i] : memref<64xi16>
    %3 = affine.load %my[%i] : memref<64xi16>
    %4 = arith.select %1, %3, %2 : i16
    affine.store %4, %r[%i] : memref<64xi16>
  }
  return
}

func.func @minimum_u(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.minui %x, %y : i32
  return %1 : i32
}

func.func @successor(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = arith.constant true
    affine.store %1, %r[%i] : memref<64xi1>
  }
  return
}

func.func @demorgan_wrong(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant -1 : i8
  %2 = arith.xori %x, %1 : i8
  %3 = arith.constant -1 : i8
  %4 = arith.xori %y, %3 : i8
  %5 = arith.andi %2, %4 : i8
  return %5 : i8
}

func.func @twice_off(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = arith.constant 2 : i16
    %3 = arith.shli %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi16>
  }
  return
}

func.func @times_7_off(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.constant 3 : i32
  %2 = arith.shli %x, %1 : i32
  %3 = arith.constant 1 : i32
  %4 = arith.subi %2, %3 : i32
  return %4 : i32
}

func.func @abs_negated(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    affine.store %1, %r[%i] : memref<64xi64>
  }
  return
}

func.func @divide_10(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant 3 : i8
  %2 = arith.shrui %x, %1 : i8
  return %2 : i8
}

func.func @extension(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi8>
    %2 = arith.extsi %1 : i8 to i16
    affine.store %2, %r[%i] : memref<64xi16>
  }
  return
}

func.func @wide_sum(%x: i16, %y: i16, %z: i16, %c: i1, %d: i1) -> i32 {
  %1 = arith.extui %x : i16 to i32
  %2 = arith.extui %y : i16 to i32
  %3 = arith.addi %1, %2 : i32
  return %3 : i32
}

func.func @wide_product(%mx: memref<64xi32>, %my: memref<64xi32>, %mz: memref<64xi32>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi32>
    %2 = affine.load %my[%i] : memref<64xi32>
    %3 = arith.extsi %1 : i32 to i64
    %4 = arith.extsi %2 : i32 to i64
    %5 = arith.muli %3, %4 : i64
    affine.store %5, %r[%i] : memref<64xi64>
  }
  return
}

func.func @truncated(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i16 {
  %1 = arith.extsi %x : i8 to i16
  return %1 : i16
}

func.func @truth_or(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    %2 = affine.load %md[%i] : memref<64xi1>
    %3 = arith.xori %1, %2 : i1
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @truth_implies(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.constant true
  %2 = arith.xori %d, %1 : i1
  %3 = arith.ori %c, %2 : i1
  return %3 : i1
}
