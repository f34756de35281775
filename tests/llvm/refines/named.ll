; The cases that every export of LLVM IR must get right, a function or two each. `driver/cli/tests/refines/named.rs` has a
; test per case; it says how an export would get it wrong, and that this is found.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; `(x +nsw 1) +nsw y` and `x +nsw (y +nsw 1)`.
define i8 @sums(i8 %x, i8 %y, ptr %p) {
  %a = add nsw i8 %x, 1
  %b = add nsw i8 %a, %y
  store i8 %b, ptr %p, align 1
  %c = add nsw i8 %y, 1
  %d = add nsw i8 %x, %c
  ret i8 %d
}

; `select(c, x, 0)`, where x may be poison, against `and(sext c, x)`.
define i8 @choice(i1 %c, i8 %x) {
  %a = add nsw i8 %x, 100
  %s = select i1 %c, i8 %a, i8 0
  %t = mul i8 %s, 1
  ret i8 %t
}

; The other way round: the mask is there, and of one class with the choice.
define i8 @choice_and_mask(i1 %c, i8 %x, ptr %p) {
  %a = add nsw i8 %x, 100
  %m = sext i1 %c to i8
  %b = and i8 %m, %a
  store i8 %b, ptr %p, align 1
  %s = select i1 %c, i8 %a, i8 0
  ret i8 %s
}

; Amounts of the width and above: poison in LLVM, modulo the width here.
define i8 @shift(i8 %x, i8 %n, ptr %p) {
  %a = shl i8 %x, %n
  %b = mul i8 %a, 2
  store i8 %b, ptr %p, align 1
  %m = and i8 %n, 7
  %c = shl i8 %x, %m
  ret i8 %c
}

; `select(c, a, false)` against `c & a`.
define i1 @both(i8 %x, i8 %y) {
  %a = add nsw i8 %y, 100
  %c = icmp slt i8 %x, 1
  %b = icmp slt i8 %a, 7
  %s = select i1 %c, i1 %b, i1 false
  %t = xor i1 %s, true
  %u = xor i1 %t, true
  ret i1 %u
}

; The flagged sum goes to memory, where it may be poison; the same without flags is returned, and must not.
define i8 @stored(i8 %x, i8 %y, ptr %p) {
  %a = add nsw i8 %x, %y
  store i8 %a, ptr %p, align 1
  %b = add i8 %y, %x
  %c = mul i8 %b, 1
  ret i8 %c
}

; The stored value is poison only where it is chosen.
define i8 @stored_choice(i1 %c, i8 %x, ptr %p) {
  %a = add nsw i8 %x, 100
  %s = select i1 %c, i8 %a, i8 0
  %t = mul i8 %s, 1
  store i8 %t, ptr %p, align 1
  ret i8 0
}

; A branch on poison is undefined: that on `both` looks at the second test only where the first holds.
define i8 @branch(i8 %x, i8 %y, ptr %p) {
entry:
  %a = add nsw i8 %y, 100
  %c = icmp slt i8 %x, 1
  %b = icmp slt i8 %a, 7
  %s = select i1 %c, i1 %b, i1 false
  br i1 %s, label %then, label %done
then:
  %d = mul i8 %x, 8
  br label %done
done:
  %r = phi i8 [ 3, %entry ], [ %d, %then ]
  ret i8 %r
}

; The flagged sum of one arm is computed before the branch, where the other arm uses it as well.
define i8 @hoisted(i8 %x, i8 %y, i1 %c) {
entry:
  %a = add i8 %x, %y
  %k = mul i8 %a, 4
  br i1 %c, label %then, label %done
then:
  %b = add nsw i8 %x, %y
  %d = xor i8 %b, 0
  br label %done
done:
  %r = phi i8 [ %k, %entry ], [ %d, %then ]
  ret i8 %r
}
