target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define void @g(ptr %fn, ptr %p) nofree nosync memory(read) { 
 call void %fn(ptr %p)
 ret void
}
define i32 @f(ptr %fn, ptr %p) nofree {
 call void @g(ptr %fn, ptr %p)
 ret i32 1
}
