target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define void @g(ptr %p, i32 %n) { 
 %c = icmp eq i32 %n, 0
 br i1 %c, label %a, label %b
a:
 store i32 1, ptr %p
 ret void
b:
 %m = sub i32 %n, 1
 call void @h(ptr %p, i32 %m)
 ret void
}
define void @h(ptr %p, i32 %n) { 
 call void @g(ptr %p, i32 %n)
 ret void
}
define i32 @f(ptr %p) {
 store i32 7, ptr %p
 call void @h(ptr %p, i32 5)
 %v = load i32, ptr %p
 ret i32 %v
}
