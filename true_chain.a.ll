target datalayout = "e-i64:64"
target triple = "x86_64-pc-linux-gnu"
declare void @ext(ptr)
declare void @ext2()
declare void @free(ptr)
@glob = global ptr null
@n = global i32 0
define i32 @g(ptr %p) { 
 %v = load i32, ptr %p
 ret i32 %v
}
define i32 @h(ptr %p) { 
 %v = call i32 @g(ptr %p)
 %w = add i32 %v, 1
 ret i32 %w
}
define i32 @f(ptr %p) {
 %c = call i32 @h(ptr %p)
 ret i32 0
}
