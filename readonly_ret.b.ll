target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define ptr @g(ptr readonly %p) { 
 ret ptr %p
}
define i32 @f(ptr %p) {
 store i32 7, ptr %p
 %q = call ptr @g(ptr %p)
 store i32 8, ptr %q
 ret i32 7
}
