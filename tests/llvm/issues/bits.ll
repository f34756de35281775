; Intrinsics on a bit were those on a byte that is 0 or 1.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i1 @reversed() {
  %x = call i1 @llvm.bitreverse.i1(i1 true)
  ret i1 %x
}

; The larger one of 0 and -1.
define i1 @largest() {
  %x = call i1 @llvm.smax.i1(i1 true, i1 false)
  ret i1 %x
}

define i1 @saturated() {
  %x = call i1 @llvm.uadd.sat.i1(i1 true, i1 true)
  ret i1 %x
}

define i8 @rotated(i1 %b) {
  %x = call i1 @llvm.fshl.i1(i1 %b, i1 %b, i1 true)
  %y = zext i1 %x to i8
  ret i8 %y
}

declare i1 @llvm.bitreverse.i1(i1)
declare i1 @llvm.smax.i1(i1, i1)
declare i1 @llvm.uadd.sat.i1(i1, i1)
declare i1 @llvm.fshl.i1(i1, i1, i1)
