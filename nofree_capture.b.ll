target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define void @g(ptr nocapture %p) { 
 call void @k(ptr %p)
 ret void
}
define void @k(ptr nocapture %p) { 
 store ptr %p, ptr @glob
 ret void
}
define void @f() {
 %s = alloca i32
 store i32 8, ptr %s
 call void @g(ptr %s)
 call void @ext2()
 ret void
}
