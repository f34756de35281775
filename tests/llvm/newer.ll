; What LLVM 20 to 22 write that LLVM 19 does not know; `opt-22 -passes=verify` accepts it.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%pair = type { i32, i32 }
@table = internal constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]

; Poison flags: `samesign`, `nusw`, `nneg`, `disjoint`, and those of `trunc`.
define i32 @flags(i32 %x, i32 noundef range(i32 0, 100) %y, i64 %z) {
  %less = icmp samesign ult i32 %x, %y
  %low = trunc nuw nsw i64 %z to i32
  %both = or disjoint i32 %low, %y
  %wide = zext nneg i32 %y to i64
  %far = getelementptr nusw nuw [4 x i32], ptr @table, i64 0, i64 %wide
  %at = load i32, ptr %far, align 4
  %sum = add i32 %both, 0
  %one = mul i32 %sum, 1
  %chosen = select i1 %less, i32 %one, i32 %at
  ret i32 %chosen
}

; Attributes of parameters: `captures`, `initializes`, `dead_on_return`; `lifetime` without a size; debug records.
define void @attributes(ptr noundef writeonly captures(none) initializes((0, 8)) %out, ptr dead_on_return %in) {
  %own = alloca %pair, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %own)
  %first = load i32, ptr %in, align 4
  %more = add i32 %first, 0
  store i32 %more, ptr %own, align 4
  %again = load i32, ptr %own, align 4
  store i32 %again, ptr %out, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  ret void
}

; An address without provenance, a constant for all lanes, and a comparison of floats with flags.
define i64 @others(ptr %p, <4 x i32> %v, float %a) {
  %address = ptrtoaddr ptr %p to i64
  %lanes = add <4 x i32> %v, splat (i32 1)
  %lane = extractelement <4 x i32> %lanes, i64 0
  %wide = sext i32 %lane to i64
  %sum = add i64 %address, %wide
  %same = mul i64 %sum, 1
  %cast = uitofp nneg i64 %same to float
  %less = fcmp nnan olt float %cast, %a
  %more = zext i1 %less to i64
  %all = add i64 %same, %more
  ret i64 %all
}

declare void @llvm.lifetime.start.p0(ptr captures(none))
declare void @llvm.lifetime.end.p0(ptr captures(none))
