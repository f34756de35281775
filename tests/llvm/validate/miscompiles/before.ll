; Transformations of kinds that LLVM has made wrongly (see its issues marked `miscompilation`), written anew: before.
; None may be proved.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare i32 @outside(i32)
declare void @tell(i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i8 @llvm.fshl.i8(i8, i8, i8)
declare i8 @llvm.umin.i8(i8, i8)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i8 @llvm.usub.sat.i8(i8, i8)

; Poison of one arm reaches a logical `or`.
define i1 @select_to_or(i1 %a, i1 %b) {
  %r = select i1 %a, i1 true, i1 %b
  ret i1 %r
}

; Poison of one arm reaches a logical `and`.
define i1 @select_to_and(i1 %a, i1 %b) {
  %r = select i1 %a, i1 %b, i1 false
  ret i1 %r
}

; Select arms of a value that only one branch computes.
define i32 @branch_to_select(i1 %c, i32 %x, i32 %y) {
  br i1 %c, label %d, label %o
d:
  %q = udiv i32 %x, %y
  br label %o
o:
  %r = phi i32 [ 0, %0 ], [ %q, %d ]
  ret i32 %r
}

; A branch on poison that was never reached.
define i32 @unswitch_without_freeze(i1 %c, i1 %d) {
  br i1 %c, label %a, label %o
a:
  br i1 %d, label %t, label %o
t:
  ret i32 1
o:
  ret i32 0
}

; Two uses of a frozen value.
define i32 @freeze_dropped(i32 %x) {
  %f = freeze i32 %x
  %r = sub i32 %f, %f
  ret i32 %r
}

; `nsw` kept while reassociating.
define i8 @add_reassociated_nsw(i8 %x, i8 %y, i8 %z) {
  %a = add nsw i8 %x, %y
  %r = add nsw i8 %a, %z
  ret i8 %r
}

; `nsw` kept where a subtraction becomes an addition.
define i8 @sub_to_add_nsw(i8 %x, i8 %y) {
  %n = sub i8 0, %y
  %r = sub nsw i8 %x, %n
  ret i8 %r
}

; `nsw` kept for a factor that is the sign.
define i8 @mul_to_shl_nsw(i8 %x) {
  %r = mul nsw i8 %x, -128
  ret i8 %r
}

; A mask that is too wide for what is shifted out.
define i8 @shl_lshr_exact(i8 %x) {
  %s = lshr i8 %x, 3
  %r = shl i8 %s, 3
  ret i8 %r
}

; Division by a power of two rounds to zero.
define i8 @sdiv_to_ashr(i8 %x) {
  %r = sdiv i8 %x, 4
  ret i8 %r
}

; The remainder has the sign of the dividend.
define i8 @srem_to_and(i8 %x) {
  %r = srem i8 %x, 8
  ret i8 %r
}

; A negated divisor that overflows.
define i8 @sdiv_negated(i8 %x, i8 %y) {
  %q = sdiv i8 %x, %y
  %r = sub i8 0, %q
  ret i8 %r
}

; Two divisors whose product overflows.
define i8 @udiv_twice(i8 %x) {
  %a = udiv i8 %x, 16
  %r = udiv i8 %a, 17
  ret i8 %r
}

; A comparison of sums that may overflow.
define i1 @icmp_add(i8 %x, i8 %y) {
  %a = add i8 %x, 1
  %b = add i8 %y, 1
  %r = icmp slt i8 %a, %b
  ret i1 %r
}

; A comparison of products with an even factor.
define i1 @icmp_mul(i8 %x, i8 %y) {
  %a = mul i8 %x, 6
  %b = mul i8 %y, 6
  %r = icmp eq i8 %a, %b
  ret i1 %r
}

; A range check with the wrong end.
define i1 @icmp_range(i8 %x) {
  %a = icmp sgt i8 %x, -1
  %b = icmp slt i8 %x, 10
  %r = and i1 %a, %b
  ret i1 %r
}

; A sum that is extended before it overflows.
define i16 @zext_of_sum(i8 %x) {
  %a = add i8 %x, 100
  %r = zext i8 %a to i16
  ret i16 %r
}

; A shift that is narrowed to its own width.
define i8 @trunc_of_shift(i16 %x, i16 %n) {
  %s = lshr i16 %x, %n
  %r = trunc i16 %s to i8
  ret i8 %r
}

; A promise that the operand is not the least number.
define i32 @abs_of_least(i32 %x) {
  %r = call i32 @llvm.abs.i32(i32 %x, i1 false)
  ret i32 %r
}

; A promise that the operand is not zero.
define i32 @ctlz_of_zero(i32 %x) {
  %r = call i32 @llvm.ctlz.i32(i32 %x, i1 false)
  ret i32 %r
}

; Shifts that make a rotation, but not by zero.
define i8 @rotate_by_any(i8 %x, i8 %n) {
  %r = call i8 @llvm.fshl.i8(i8 %x, i8 %x, i8 %n)
  ret i8 %r
}

; Saturation that is taken for a minimum.
define i8 @saturated(i8 %x, i8 %y) {
  %r = call i8 @llvm.usub.sat.i8(i8 %x, i8 %y)
  ret i8 %r
}

; Minus zero plus zero is zero.
define float @float_plus_zero(float %x) {
  %r = fadd float %x, 0.0
  ret float %r
}

; Zero minus a number is no negation.
define float @float_negated(float %x) {
  %r = fsub float 0.0, %x
  ret float %r
}

; The other arm of a comparison with NaN.
define i1 @float_compared(float %x, float %y) {
  %c = fcmp olt float %x, %y
  %r = xor i1 %c, true
  ret i1 %r
}

; A store between that may be to the same place.
define i32 @store_forwarded(ptr %p, ptr %q) {
  store i32 1, ptr %p
  store i32 2, ptr %q
  %r = load i32, ptr %p
  ret i32 %r
}

; A store that a call may read.
define void @store_dropped(ptr %p) {
  store i32 1, ptr %p
  call void @tell(i32 0)
  store i32 2, ptr %p
  ret void
}

; A load although the loop may have no iteration.
define i32 @load_hoisted(i32 %n, ptr %p) {
  br label %h
h:
  %i = phi i32 [ 0, %0 ], [ %j, %b ]
  %s = phi i32 [ 0, %0 ], [ %t, %b ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %b, label %o
b:
  %v = load i32, ptr %p
  %t = add i32 %s, %v
  %j = add i32 %i, 1
  br label %h
o:
  ret i32 %s
}

; A loop for ever that is taken to end.
define i32 @endless_loop_dropped(i32 %x) {
  %c = icmp eq i32 %x, 0
  br i1 %c, label %l, label %o
l:
  br label %l
o:
  ret i32 1
}

; A counter that begins again is widened.
define i32 @counter_widened(i8 %n) {
  br label %h
h:
  %i = phi i8 [ 0, %0 ], [ %j, %b ]
  %s = phi i32 [ 0, %0 ], [ %t, %b ]
  %c = icmp ne i8 %i, %n
  br i1 %c, label %b, label %o
b:
  %t = add i32 %s, 1
  %j = add i8 %i, 3
  br label %h
o:
  ret i32 %s
}
