target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define void @g(i32 %x) { 
 br label %l
l:
 br label %l
}
define i32 @f(i32 %p) {
 call void @g(i32 %p)
 ret i32 1
}
