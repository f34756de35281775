// Written by `scripts/mlir_datapaths.py write`.

func.func @demorgan_and(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant -1 : i8
  %2 = arith.xori %x, %1 : i8
  %3 = arith.constant -1 : i8
  %4 = arith.xori %y, %3 : i8
  %5 = arith.ori %2, %4 : i8
  return %5 : i8
}

func.func @demorgan_or(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.constant -1 : i16
    %4 = arith.xori %1, %3 : i16
    %5 = arith.constant -1 : i16
    %6 = arith.xori %2, %5 : i16
    %7 = arith.andi %4, %6 : i16
    affine.store %7, %r[%i] : memref<64xi16>
  }
  return
}

func.func @times_8(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.constant 3 : i32
  %2 = arith.shli %x, %1 : i32
  return %2 : i32
}

func.func @distribute(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = affine.load %mz[%i] : memref<64xi64>
    %4 = arith.muli %1, %2 : i64
    %5 = arith.muli %1, %3 : i64
    %6 = arith.addi %4, %5 : i64
    affine.store %6, %r[%i] : memref<64xi64>
  }
  return
}

func.func @distribute_sub(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.muli %x, %z : i8
  %2 = arith.muli %y, %z : i8
  %3 = arith.subi %1, %2 : i8
  return %3 : i8
}

func.func @associate(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = affine.load %mz[%i] : memref<64xi16>
    %4 = arith.addi %2, %3 : i16
    %5 = arith.addi %1, %4 : i16
    affine.store %5, %r[%i] : memref<64xi16>
  }
  return
}

func.func @associate_mul(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.muli %z, %y : i32
  %2 = arith.muli %x, %1 : i32
  return %2 : i32
}

func.func @carry(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.xori %1, %2 : i64
    %4 = arith.andi %1, %2 : i64
    %5 = arith.constant 1 : i64
    %6 = arith.shli %4, %5 : i64
    %7 = arith.addi %3, %6 : i64
    affine.store %7, %r[%i] : memref<64xi64>
  }
  return
}

func.func @subtract(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant -1 : i8
  %2 = arith.xori %y, %1 : i8
  %3 = arith.constant 1 : i8
  %4 = arith.addi %2, %3 : i8
  %5 = arith.addi %x, %4 : i8
  return %5 : i8
}

func.func @twice(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = arith.addi %1, %1 : i16
    affine.store %2, %r[%i] : memref<64xi16>
  }
  return
}

func.func @difference(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  return %y : i32
}

func.func @exclusive(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %my[%i] : memref<64xi64>
    affine.store %1, %r[%i] : memref<64xi64>
  }
  return
}

func.func @absorb_and(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  return %x : i8
}

func.func @absorb_or(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    affine.store %1, %r[%i] : memref<64xi16>
  }
  return
}

func.func @or_minus_and(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.xori %x, %y : i32
  return %1 : i32
}

func.func @or_plus_and(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.addi %1, %2 : i64
    affine.store %3, %r[%i] : memref<64xi64>
  }
  return
}

func.func @factor_bits(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.ori %y, %z : i8
  %2 = arith.andi %x, %1 : i8
  return %2 : i8
}

func.func @xor_by_or(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.ori %1, %2 : i16
    %4 = arith.andi %1, %2 : i16
    %5 = arith.constant -1 : i16
    %6 = arith.xori %4, %5 : i16
    %7 = arith.andi %3, %6 : i16
    affine.store %7, %r[%i] : memref<64xi16>
  }
  return
}

func.func @or_by_xor(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.xori %x, %y : i32
  %2 = arith.andi %x, %y : i32
  %3 = arith.xori %1, %2 : i32
  return %3 : i32
}

func.func @divide_8(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = arith.constant 3 : i64
    %3 = arith.shrui %1, %2 : i64
    affine.store %3, %r[%i] : memref<64xi64>
  }
  return
}

func.func @modulo_8(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant 7 : i8
  %2 = arith.andi %x, %1 : i8
  return %2 : i8
}

func.func @times_3(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = arith.constant 1 : i16
    %3 = arith.shli %1, %2 : i16
    %4 = arith.addi %3, %1 : i16
    affine.store %4, %r[%i] : memref<64xi16>
  }
  return
}

func.func @times_7(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.constant 3 : i32
  %2 = arith.shli %x, %1 : i32
  %3 = arith.subi %2, %x : i32
  return %3 : i32
}

func.func @negate(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = arith.constant -1 : i64
    %3 = arith.xori %1, %2 : i64
    %4 = arith.constant 1 : i64
    %5 = arith.addi %3, %4 : i64
    affine.store %5, %r[%i] : memref<64xi64>
  }
  return
}

func.func @complement(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.constant -1 : i8
  %2 = arith.subi %1, %x : i8
  return %2 : i8
}

func.func @negate_sum(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.constant 0 : i16
    %4 = arith.subi %3, %1 : i16
    %5 = arith.subi %4, %2 : i16
    affine.store %5, %r[%i] : memref<64xi16>
  }
  return
}

func.func @negate_product(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.muli %x, %y : i32
  return %1 : i32
}

func.func @direction(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.cmpi sgt, %2, %1 : i64
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @inverse(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi sge, %x, %y : i8
  return %1 : i1
}

func.func @inverse_u(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.cmpi ule, %2, %1 : i16
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @equal_by_sub(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi eq, %x, %y : i32
  return %1 : i1
}

func.func @differ_by_xor(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.cmpi ne, %1, %2 : i64
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @below_one(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.constant 0 : i8
  %2 = arith.cmpi eq, %x, %1 : i8
  return %2 : i1
}

func.func @less_or_equal(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.cmpi sle, %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @same_arms(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  return %x : i32
}

func.func @swapped_arms(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    %2 = affine.load %mx[%i] : memref<64xi64>
    %3 = affine.load %my[%i] : memref<64xi64>
    %4 = arith.select %1, %3, %2 : i64
    affine.store %4, %r[%i] : memref<64xi64>
  }
  return
}

func.func @minimum(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.minsi %x, %y : i8
  return %1 : i8
}

func.func @maximum_u(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.maxui %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi16>
  }
  return
}

func.func @least_most(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.addi %x, %y : i32
  return %1 : i32
}

func.func @absolute(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = math.absi %1 : i64
    affine.store %2, %r[%i] : memref<64xi64>
  }
  return
}

func.func @arms_of_sum(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.select %c, %y, %z : i8
  %2 = arith.addi %x, %1 : i8
  return %2 : i8
}

func.func @shift_chain(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = arith.constant 5 : i16
    %3 = arith.shli %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi16>
  }
  return
}

func.func @shift_back(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.constant -16 : i32
  %2 = arith.andi %x, %1 : i32
  return %2 : i32
}

func.func @shift_sum(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    %2 = affine.load %my[%i] : memref<64xi64>
    %3 = arith.addi %1, %2 : i64
    %4 = arith.constant 2 : i64
    %5 = arith.shli %3, %4 : i64
    affine.store %5, %r[%i] : memref<64xi64>
  }
  return
}

func.func @shift_and(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i8 {
  %1 = arith.andi %x, %y : i8
  %2 = arith.constant 3 : i8
  %3 = arith.shrui %1, %2 : i8
  return %3 : i8
}

func.func @by_one(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    affine.store %1, %r[%i] : memref<64xi16>
  }
  return
}

func.func @by_zero(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  return %y : i32
}

func.func @quotient(%mx: memref<64xi64>, %my: memref<64xi64>, %mz: memref<64xi64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi64>
    affine.store %1, %r[%i] : memref<64xi64>
  }
  return
}

func.func @sign_bit(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.constant 1 : i8
  %2 = arith.constant 7 : i8
  %3 = arith.shli %1, %2 : i8
  %4 = arith.andi %x, %3 : i8
  %5 = arith.constant 0 : i8
  %6 = arith.cmpi ne, %4, %5 : i8
  return %6 : i1
}

func.func @round_trip_u(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi16>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    affine.store %1, %r[%i] : memref<64xi16>
  }
  return
}

func.func @round_trip_s(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  return %x : i32
}

func.func @low_sum(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi8>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi8>
    %2 = affine.load %my[%i] : memref<64xi8>
    %3 = arith.addi %1, %2 : i8
    affine.store %3, %r[%i] : memref<64xi8>
  }
  return
}

func.func @low_product(%x: i16, %y: i16, %z: i16, %c: i1, %d: i1) -> i16 {
  %1 = arith.muli %x, %y : i16
  return %1 : i16
}

func.func @extended_bits(%mx: memref<64xi32>, %my: memref<64xi32>, %mz: memref<64xi32>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi32>
    %2 = affine.load %my[%i] : memref<64xi32>
    %3 = arith.extui %1 : i32 to i64
    %4 = arith.extui %2 : i32 to i64
    %5 = arith.andi %3, %4 : i64
    affine.store %5, %r[%i] : memref<64xi64>
  }
  return
}

func.func @extended_less(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi ult, %x, %y : i8
  return %1 : i1
}

func.func @extended_s(%mx: memref<64xi16>, %my: memref<64xi16>, %mz: memref<64xi16>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xi16>
    %2 = affine.load %my[%i] : memref<64xi16>
    %3 = arith.cmpi slt, %1, %2 : i16
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @mean_wide(%x: i32, %y: i32, %z: i32, %c: i1, %d: i1) -> i32 {
  %1 = arith.andi %x, %y : i32
  %2 = arith.xori %x, %y : i32
  %3 = arith.constant 1 : i32
  %4 = arith.shrui %2, %3 : i32
  %5 = arith.addi %1, %4 : i32
  return %5 : i32
}

func.func @truth_demorgan(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    %2 = affine.load %md[%i] : memref<64xi1>
    %3 = arith.constant true
    %4 = arith.xori %1, %3 : i1
    %5 = arith.constant true
    %6 = arith.xori %2, %5 : i1
    %7 = arith.ori %4, %6 : i1
    affine.store %7, %r[%i] : memref<64xi1>
  }
  return
}

func.func @truth_xor(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpi ne, %c, %d : i1
  return %1 : i1
}

func.func @truth_select(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    %2 = affine.load %md[%i] : memref<64xi1>
    %3 = arith.andi %1, %2 : i1
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @truth_self(%x: i8, %y: i8, %z: i8, %c: i1, %d: i1) -> i1 {
  return %c : i1
}

func.func @truth_majority(%mx: memref<64xi8>, %my: memref<64xi8>, %mz: memref<64xi8>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mc[%i] : memref<64xi1>
    affine.store %1, %r[%i] : memref<64xi1>
  }
  return
}

func.func @f_twice(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.addf %x, %x : f32
  return %1 : f32
}

func.func @f_subtract(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = affine.load %my[%i] : memref<64xf64>
    %3 = arith.negf %2 : f64
    %4 = arith.addf %1, %3 : f64
    affine.store %4, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_negate_twice(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  return %x : f32
}

func.func @f_abs_negated(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = math.absf %1 : f64
    affine.store %2, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_commute(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.addf %y, %x : f32
  %2 = arith.mulf %z, %1 : f32
  return %2 : f32
}

func.func @f_times_one(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    affine.store %1, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_minus_zero(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  return %x : f32
}

func.func @f_plus_minus_zero(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    affine.store %1, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_signs(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.mulf %x, %y : f32
  return %1 : f32
}

func.func @f_sign_out(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = affine.load %my[%i] : memref<64xf64>
    %3 = arith.mulf %1, %2 : f64
    %4 = arith.negf %3 : f64
    affine.store %4, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_half(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.constant 0.5 : f32
  %2 = arith.mulf %x, %1 : f32
  return %2 : f32
}

func.func @f_direction(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xi1>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = affine.load %my[%i] : memref<64xf64>
    %3 = arith.cmpf ogt, %2, %1 : f64
    affine.store %3, %r[%i] : memref<64xi1>
  }
  return
}

func.func @f_not_less(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> i1 {
  %1 = arith.cmpf uge, %x, %y : f32
  return %1 : i1
}

func.func @f_abs_twice(%mx: memref<64xf64>, %my: memref<64xf64>, %mz: memref<64xf64>, %mc: memref<64xi1>, %md: memref<64xi1>, %r: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %1 = affine.load %mx[%i] : memref<64xf64>
    %2 = math.absf %1 : f64
    affine.store %2, %r[%i] : memref<64xf64>
  }
  return
}

func.func @f_minus_one(%x: f32, %y: f32, %z: f32, %c: i1, %d: i1) -> f32 {
  %1 = arith.negf %x : f32
  return %1 : f32
}
