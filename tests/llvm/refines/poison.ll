; Functions whose results may be poison, and that rules change. After `rewright opt` with the standard packs and
; `equal.rw` each refines what it was: the test says what that means.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; A sum of which only one of two uses has flags.
define i8 @half_flagged(i8 %x, i8 %y, ptr %p) {
  %a = add i8 %x, %y
  store i8 %a, ptr %p, align 1
  %b = add nsw i8 %y, %x
  %c = mul i8 %b, 1
  ret i8 %c
}

define i1 @logical_and(i8 %x, i8 %y, ptr %p) {
  %a = add nsw i8 %y, 100
  %c = icmp slt i8 %x, 1
  %b = icmp slt i8 %a, 7
  %s = select i1 %c, i1 %b, i1 false
  %d = and i1 %c, %b
  %e = zext i1 %d to i8
  store i8 %e, ptr %p, align 1
  ret i1 %s
}

define i1 @logical_or(i8 %x, i8 %y, ptr %p) {
  %a = add nuw i8 %y, 100
  %c = icmp slt i8 %x, 1
  %b = icmp slt i8 %a, 7
  %d = or i1 %c, %b
  %e = zext i1 %d to i8
  store i8 %e, ptr %p, align 1
  %s = select i1 %c, i1 true, i1 %b
  ret i1 %s
}

; An amount that is too large is poison, not taken modulo the width.
define i8 @shifts(i8 %x, i8 %n, ptr %p) {
  %a = shl i8 %x, %n
  %b = mul i8 %a, 2
  store i8 %b, ptr %p, align 1
  %c = lshr i8 %x, 3
  %d = lshr i8 %c, 6
  ret i8 %d
}

define i8 @exact_shift(i8 %x, i8 %n) {
  %a = lshr exact i8 %x, %n
  %b = shl nuw i8 %a, %n
  %c = or i8 %b, 0
  ret i8 %c
}

; The stored value may be poison, and is loaded as it was.
define i8 @stored(i8 %x, i8 %y, ptr %p) {
  %a = add nsw i8 %x, %y
  store i8 %a, ptr %p, align 1
  %l = load i8, ptr %p, align 1
  %b = sub i8 %l, %y
  ret i8 %b
}

; A branch on poison is undefined: no other use may become one.
define i8 @branch(i8 %x, i8 %y, i1 %c) {
entry:
  %a = add nsw i8 %x, 1
  br i1 %c, label %then, label %done
then:
  %b = icmp sgt i8 %a, %x
  br i1 %b, label %more, label %done
more:
  %d = mul i8 %y, 8
  br label %done
done:
  %r = phi i8 [ %y, %entry ], [ %a, %then ], [ %d, %more ]
  ret i8 %r
}

; A quotient that must not be computed where its divisor is 0.
define i8 @guarded(i8 %x, i8 %y) {
entry:
  %z = icmp eq i8 %y, 0
  br i1 %z, label %done, label %then
then:
  %a = udiv i8 %x, %y
  %b = mul i8 %a, 4
  br label %done
done:
  %r = phi i8 [ %x, %entry ], [ %b, %then ]
  ret i8 %r
}

; A difference that flags have made decided.
define i1 @decided(i8 %x) {
  %a = add nsw i8 %x, 1
  %b = icmp sgt i8 %a, %x
  %c = xor i1 %b, true
  %d = xor i1 %c, true
  ret i1 %d
}

; A loop that is entered from a branch: the edge gets a block of its own, and the value that the loop carries is still
; the original's.
define i8 @entered(i8 %x, i1 %c) {
entry:
  %a = add nsw i8 %x, 100
  br i1 %c, label %loop, label %done
loop:
  %i = phi i8 [ 0, %entry ], [ %j, %next ]
  %s = phi i8 [ %a, %entry ], [ %t, %next ]
  %more = icmp ult i8 %i, 3
  br i1 %more, label %next, label %done
next:
  %m = mul i8 %s, 8
  %t = add nsw i8 %m, 1
  %j = add nuw i8 %i, 1
  br label %loop
done:
  %r = phi i8 [ 7, %entry ], [ %s, %loop ]
  ret i8 %r
}

; Two ways to one block, by a block that only jumps on, and takes a value along.
define i8 @forwarded(i8 %x, i8 %y, i1 %c) {
entry:
  %a = add nsw i8 %x, 100
  %b = mul i8 %a, 1
  br i1 %c, label %on, label %test
test:
  %d = icmp sgt i8 %y, 3
  br i1 %d, label %on, label %done
on:
  %p = phi i8 [ %b, %entry ], [ %x, %test ]
  br label %done
done:
  %r = phi i8 [ %p, %on ], [ %y, %test ]
  %s = mul i8 %r, 4
  ret i8 %s
}

; One arm has a flag by which it may be poison, the other one does not: the flag is given up.
define i8 @two_sums(i8 %x, i8 %y, i1 %c, ptr %p) {
entry:
  br i1 %c, label %then, label %done
then:
  %a = add nsw i8 %x, %y
  store i8 %a, ptr %p, align 1
  br label %done
done:
  %b = add nuw i8 %y, %x
  %m = mul i8 %b, 2
  ret i8 %m
}
