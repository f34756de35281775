target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define ptr @g(ptr returned %p) { 
 store i32 1, ptr %p
 ret ptr %p
}
define ptr @f(ptr returned %p) {
 %q = call ptr @g(ptr %p)
 store i32 2, ptr %p
 ret ptr %p
}
