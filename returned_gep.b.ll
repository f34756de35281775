target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define ptr @g(ptr returned %p) { 
 %r = getelementptr i8, ptr %p, i64 1
 ret ptr %r
}
define ptr @f(ptr %p) {
 %q = call ptr @g(ptr %p)
 ret ptr %p
}
