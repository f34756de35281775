target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @difference(i32 %x, i32 %y) {
  %z = sub i32 %x, %y
  ret i32 %z
}

define void @stores(ptr %p, i32 %i) {
  %at = getelementptr [4 x i32], ptr %p, i32 %i, i64 2
  store i32 7, ptr %p
  ret void
}

define i32 @tells(i32 %x) {
  %y = call i32 @outside(i32 %x)
  %z = call i32 @outside(i32 %y)
  ret i32 %z
}

define i32 @chooses(i32 %x) {
  switch i32 %x, label %other [
    i32 1, label %one
    i32 -7, label %two
  ]

one:
  ret i32 10

two:
  ret i32 20

other:
  ret i32 30
}

; A byte behind the pointer may be another one after the call.
define i8 @reads_again(ptr %p) {
  store i8 9, ptr %p
  call void @changes(ptr %p)
  %x = load i8, ptr %p
  ret i8 %x
}

; Of 128 bits our interpreter has no values.
define i64 @wide(i64 %x, i64 %y) {
  %a = zext i64 %x to i128
  %b = zext i64 %y to i128
  %m = mul i128 %a, %b
  %h = lshr i128 %m, 64
  %r = trunc i128 %h to i64
  ret i64 %r
}

@times = internal global i32 3, align 4

define i32 @rounds(ptr %f, i32 %n) {
entry:
  %most = and i32 %n, 7
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %got = call i32 %f(i32 %i)
  store i32 %got, ptr @times, align 4
  %j = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %j, %most
  br i1 %more, label %loop, label %done

done:
  ret i32 %j
}

define i64 @measures(ptr %s) {
  %n = call i64 @strlen(ptr %s)
  %m = and i64 %n, 15
  ret i64 %m
}

define double @roots(double %x) {
  %p = call double @cbrt(double %x)
  %r = fadd double %p, 1.0
  ret double %r
}

define void @jumps(ptr %p) {
entry:
  %at = load ptr, ptr @blocks
  indirectbr ptr %at, [label %there]

there:
  ret void
}

@blocks = internal constant [1 x ptr] [ptr blockaddress(@jumps, %there)]

declare i32 @outside(i32)
declare void @changes(ptr)
declare i64 @strlen(ptr)
declare double @cbrt(double)

; The argument is a constant, here or when it runs.
define i32 @says(i32 %x) {
  %zero = xor i32 %x, %x
  %y = call i32 @outside(i32 %zero)
  %odd = trunc i32 %y to i1
  %carry = add i1 %odd, true
  %z = zext i1 %carry to i32
  ret i32 %z
}
