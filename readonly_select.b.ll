target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define void @g(ptr readonly %p, ptr %q, i1 %c) { 
 %s = select i1 %c, ptr %p, ptr %q
 store i32 1, ptr %s
 ret void
}
