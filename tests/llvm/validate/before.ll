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

declare i32 @outside(i32)
