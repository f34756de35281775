target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define i1 @g(ptr %p, ptr %q) { 
 %s = icmp eq ptr %p, %q
 ret i1 %s
}
