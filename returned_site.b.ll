target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
declare ptr @d(ptr) memory(none) nounwind willreturn
define ptr @f(ptr %p) {
 %q = call ptr @d(ptr returned %p)
 ret ptr %p
}
