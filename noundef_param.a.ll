target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define i32 @g(i32 %x) { 
 ret i32 1
}
define i32 @f(i32 %x) {
 %y = add nsw i32 %x, 1
 %r = call i32 @g(i32 %y)
 ret i32 %r
}
