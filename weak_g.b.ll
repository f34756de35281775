target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define weak i32 @g(ptr %p) memory(none) { 
 ret i32 1
}
define i32 @f(ptr %p) {
 store i32 7, ptr %p
 %c = call i32 @g(ptr %p)
 ret i32 7
}
