target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define i32 @g(ptr nocapture readonly %p) memory(argmem: read) nofree nosync nounwind norecurse willreturn mustprogress { 
 %v = load i32, ptr %p
 ret i32 %v
}
define i32 @f(ptr nocapture %p) nofree nosync nounwind willreturn {
 store i32 7, ptr %p
 %c = call i32 @g(ptr %p)
 ret i32 7
}
