target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
declare i32 @d(i32)
define i32 @f(i32 %x, i1 %c) {
 br i1 %c, label %a, label %b
a:
 %r = call i32 @d(i32 noundef %x) nounwind
 ret i32 %r
b:
 %s = call i32 @d(i32 %x)
 ret i32 %s
}
