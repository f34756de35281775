target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @g(ptr %p) nosync { 
 call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 true)
 ret void
}
