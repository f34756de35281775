target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define i32 @g(i32 %x) { 
 ret i32 %x
}
define i1 @f(i32 %p) {
 %v = call i32 @g(i32 %p)
 %c = icmp slt i32 %v, 10
 ret i1 %c
}
