//! Stack slots that are values.

use super::of_definitions;

const DECLARED: &str = "declare void @llvm.lifetime.start.p0(i64, ptr)\ndeclare void @llvm.lifetime.end.p0(i64, ptr)\n\
    declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\ndeclare ptr @llvm.stacksave.p0()\n\
    declare void @llvm.stackrestore.p0(ptr)\n\
    !0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !3}\n!2 = !{!4, !4, i64 0}\n!4 = !{!\"float\", !3}\n!3 = !{!\"char\", !5}\n\
    !5 = !{!\"root\"}\n!6 = !{i32 0, i32 2}\n!7 = !{}\n";

/// Bodies, and whether the second one refines the first one.
const PROMOTED: &[(&str, &str, bool)] = &[
    // A read gives what was written last; a part that is not written is `undef`, anew for each read.
    ("%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s\nret i32 %r", "ret i32 %x", true),
    ("ret i32 %x", "%s = alloca i32\nstore i32 %y, ptr %s\n%r = load i32, ptr %s\nret i32 %r", false),
    ("%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", "ret i32 %x", false),
    ("%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", "ret i32 %n", true),
    ("%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", "ret i32 poison", false),
    ("ret i32 undef", "%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", true),
    ("%f = freeze i32 undef\nret i32 %f", "%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", false),
    (
        "ret i32 0",
        "%s = alloca i32\n%a = load i32, ptr %s\n%b = load i32, ptr %s\n%r = sub i32 %a, %b\nret i32 %r",
        false,
    ),
    (
        "ret i32 0",
        "%s = alloca i32\n%f = freeze i32 undef\nstore i32 %f, ptr %s\n%a = load i32, ptr %s\n%b = load i32, ptr %s\n\
         %r = sub i32 %a, %b\nret i32 %r",
        true,
    ),
    (
        "%f = freeze i32 %x\nret i32 %f",
        "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    // Each way has its value.
    (
        "%s = alloca i32\nbr i1 %c, label %a, label %b\na:\nstore i32 1, ptr %s\nbr label %e\nb:\nstore i32 2, ptr %s\n\
         br label %e\ne:\n%r = load i32, ptr %s\nret i32 %r",
        "%r = select i1 %c, i32 1, i32 2\nret i32 %r",
        true,
    ),
    (
        "%s = alloca i32\nbr i1 %c, label %a, label %b\na:\nstore i32 1, ptr %s\nbr label %e\nb:\nstore i32 2, ptr %s\n\
         br label %e\ne:\n%r = load i32, ptr %s\nret i32 %r",
        "%r = select i1 %c, i32 2, i32 1\nret i32 %r",
        false,
    ),
    (
        "%s = alloca i32\nbr i1 %c, label %a, label %e\na:\nstore i32 %n, ptr %s\nbr label %e\ne:\n\
         %r = load i32, ptr %s\nret i32 %r",
        "br i1 %c, label %a, label %a\na:\nret i32 %n",
        true,
    ),
    (
        "br i1 %c, label %a, label %a\na:\nret i32 %n",
        "%s = alloca i32\nbr i1 %c, label %a, label %e\na:\nstore i32 %n, ptr %s\nbr label %e\ne:\n\
         %r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    (
        "%s = alloca i32\nstore i32 7, ptr %s\nswitch i32 %n, label %o [\ni32 1, label %e\ni32 2, label %e\n]\no:\n\
         store i32 %n, ptr %s\nbr label %e\ne:\n%r = load i32, ptr %s\nret i32 %r",
        "%t = add i32 %n, -1\n%i = icmp ult i32 %t, 2\n%r = select i1 %i, i32 7, i32 %n\nret i32 %r",
        true,
    ),
    // Code that nothing reaches.
    (
        "%s = alloca i32\nstore i32 7, ptr %s\nbr label %e\nu:\nstore i32 8, ptr %s\nbr label %e\ne:\n\
         %k = phi i32 [ 1, %entry ], [ 2, %u ]\n%v = load i32, ptr %s\n%r = add i32 %v, %k\nret i32 %r",
        "ret i32 8",
        true,
    ),
    (
        "%s = alloca i32\nstore i32 7, ptr %s\nbr label %e\nu:\nstore i32 8, ptr %s\nbr label %e\ne:\n\
         %k = phi i32 [ 1, %entry ], [ 2, %u ]\n%v = load i32, ptr %s\n%r = add i32 %v, %k\nret i32 %r",
        "ret i32 10",
        false,
    ),
    // A slot has an end and an alignment.
    ("ret i32 %x", "%s = alloca i32\nstore i32 %x, ptr %s, align 8\n%r = load i32, ptr %s\nret i32 %r", false),
    ("ret i32 %x", "%s = alloca i32, align 8\nstore i32 %x, ptr %s, align 8\n%r = load i32, ptr %s\nret i32 %r", true),
    (
        "ret i32 %x",
        "%s = alloca [2 x i32], align 8\n%a = getelementptr i32, ptr %s, i64 1\nstore i32 %x, ptr %a, align 8\n\
         %r = load i32, ptr %a\nret i32 %r",
        false,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\n%a = getelementptr i32, ptr %s, i64 1\nstore i32 %x, ptr %a\n%r = load i32, ptr %a\n\
         ret i32 %r",
        false,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\n%a = getelementptr inbounds i8, ptr %s, i64 8\n%b = getelementptr i8, ptr %a, i64 -8\n\
         store i32 %x, ptr %b\n%r = load i32, ptr %b\nret i32 %r",
        false,
    ),
    ("ret i32 %x", "%s = alloca i32\nstore i64 0, ptr %s, align 4\nret i32 %x", false),
    ("%s = alloca i32\nstore i64 0, ptr %s, align 4\nret i32 %x", "unreachable", true),
    // Parts are apart, or one memory.
    (
        "%s = alloca { i32, i32 }\n%a = getelementptr { i32, i32 }, ptr %s, i64 0, i32 1\nstore i32 %x, ptr %s\n\
         store i32 %y, ptr %a\n%r = load i32, ptr %s\nret i32 %r",
        "ret i32 %x",
        true,
    ),
    (
        "%s = alloca { i32, i32 }\n%a = getelementptr { i32, i32 }, ptr %s, i64 0, i32 1\nstore i32 %x, ptr %s\n\
         store i32 %y, ptr %a\n%r = load i32, ptr %s\nret i32 %r",
        "ret i32 %y",
        false,
    ),
    (
        "%s = alloca { i32, i32 }\n%a = getelementptr i8, ptr %s, i64 2\nstore i32 -1, ptr %s\n\
         store i32 0, ptr %a, align 2\n%r = load i32, ptr %s\nret i32 %r",
        "ret i32 -1",
        false,
    ),
    (
        "%s = alloca i64\nstore i64 0, ptr %s\nstore i8 1, ptr %s\n%t = load i64, ptr %s\n%r = trunc i64 %t to i32\n\
         ret i32 %r",
        "ret i32 0",
        false,
    ),
    (
        "%s = alloca i64\nstore double %d, ptr %s\n%t = load i64, ptr %s\n%r = trunc i64 %t to i32\nret i32 %r",
        "ret i32 0",
        false,
    ),
    (
        "%s = alloca [3 x i32]\ncall void @llvm.memset.p0.i64(ptr align 4 %s, i8 0, i64 8, i1 false)\n\
         %a = getelementptr i32, ptr %s, i64 1\n%r = load i32, ptr %a\nret i32 %r",
        "ret i32 0",
        true,
    ),
    (
        "ret i32 0",
        "%s = alloca [3 x i32]\ncall void @llvm.memset.p0.i64(ptr align 4 %s, i8 0, i64 8, i1 false)\n\
         %a = getelementptr i32, ptr %s, i64 2\n%r = load i32, ptr %a\nret i32 %r",
        false,
    ),
    (
        "ret i32 0",
        "%s = alloca [3 x i32]\ncall void @llvm.memset.p0.i64(ptr align 4 %s, i8 0, i64 6, i1 false)\n\
         %a = getelementptr i32, ptr %s, i64 1\n%r = load i32, ptr %a\nret i32 %r",
        false,
    ),
    (
        "ret i32 0",
        "%s = alloca i32\ncall void @llvm.memset.p0.i64(ptr align 8 %s, i8 0, i64 4, i1 false)\n\
         %r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    (
        "ret i32 0",
        "%s = alloca i32\ncall void @llvm.memset.p0.i64(ptr align 4 %s, i8 1, i64 4, i1 false)\n\
         %r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    // Pointers in slots, and to slots in slots.
    (
        "%s = alloca ptr\nstore ptr %q, ptr %s\n%t = load ptr, ptr %s\nstore i32 1, ptr %t\nret i32 0",
        "store i32 1, ptr %q\nret i32 0",
        true,
    ),
    (
        "%s = alloca ptr\n%t = alloca i32\nstore i32 1, ptr %t\nstore ptr %t, ptr %s\n%u = load ptr, ptr %s\n\
         store i32 2, ptr %u\n%r = load i32, ptr %t\nret i32 %r",
        "ret i32 2",
        true,
    ),
    (
        "%s = alloca ptr\n%t = alloca i32\nstore i32 1, ptr %t\nstore ptr %t, ptr %s\n%u = load ptr, ptr %s\n\
         store i32 2, ptr %u\n%r = load i32, ptr %t\nret i32 %r",
        "ret i32 1",
        false,
    ),
    (
        "%s = alloca ptr\n%t = alloca i32\nstore i32 1, ptr %t\nstore ptr %t, ptr %s\n%u = load ptr, ptr %s\n\
         call void @h(ptr %u)\n%r = load i32, ptr %t\nret i32 %r",
        "%t = alloca i32\nstore i32 1, ptr %t\ncall void @h(ptr %t)\nret i32 1",
        false,
    ),
    (
        "%s = alloca i32\n%t = alloca i32\nstore i32 1, ptr %s\nstore i32 2, ptr %t\n%p1 = select i1 %c, ptr %s, ptr %t\n\
         store i32 3, ptr %p1\n%r = load i32, ptr %s\nret i32 %r",
        "ret i32 1",
        false,
    ),
    // Lifetimes.
    (
        "%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\nstore i32 %x, ptr %s\n\
         %r = load i32, ptr %s\ncall void @llvm.lifetime.end.p0(i64 4, ptr %s)\nret i32 %r",
        "ret i32 %x",
        true,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\nstore i32 %x, ptr %s\n\
         call void @llvm.lifetime.end.p0(i64 4, ptr %s)\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\nstore i32 %x, ptr %s\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\n\
         %r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    (
        "ret i32 1",
        "%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\nstore i32 1, ptr %s\n\
         call void @llvm.lifetime.start.p0(i64 4, ptr %s)\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\nbr i1 %c, label %a, label %e\na:\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\n\
         br label %e\ne:\nstore i32 %x, ptr %s\nret i32 %x",
        false,
    ),
    (
        "%m = call ptr @llvm.stacksave.p0()\nret i32 %x",
        "%m = call ptr @llvm.stacksave.p0()\n%s = alloca i32\nstore i32 %x, ptr %s\n\
         call void @llvm.stackrestore.p0(ptr %m)\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    // A promise about a read is one about the value.
    (
        "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s, !range !6\nret i32 %r",
        "%r = and i32 %x, 1\nret i32 %r",
        true,
    ),
    ("ret i32 %x", "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s, !range !6\nret i32 %r", false),
    (
        "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s, !noundef !7\nret i32 %r",
        "%r = freeze i32 %x\nret i32 %r",
        true,
    ),
    ("ret i32 %x", "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s, !noundef !7\nret i32 %r", false),
    ("ret i32 0", "%s = alloca i32\n%r = load i32, ptr %s, !noundef !7\nret i32 0", false),
    (
        "ret i32 0",
        "%s = alloca ptr\nstore ptr %p, ptr %s\n%r = load ptr, ptr %s, !nonnull !7, !noundef !7\nret i32 0",
        false,
    ),
    // Accesses as several types.
    (
        "ret i32 %x",
        "%s = alloca i32\nstore i32 %x, ptr %s, !tbaa !0\n%r = load i32, ptr %s, !tbaa !0\nret i32 %r",
        true,
    ),
    (
        "ret i32 %x",
        "%s = alloca i32\nstore i32 %x, ptr %s, !tbaa !0\n%r = load i32, ptr %s, !tbaa !2\nret i32 %r",
        false,
    ),
    // Loops.
    (
        "%s = alloca i32\nstore i32 0, ptr %s\nbr label %l\nl:\n%i = load i32, ptr %s\n%j = add i32 %i, 3\n\
         store i32 %j, ptr %s\n%k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %e\ne:\n%r = load i32, ptr %s\n\
         ret i32 %r",
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 3\n%k = icmp ult i32 %j, %n\n\
         br i1 %k, label %l, label %e\ne:\nret i32 %j",
        true,
    ),
    (
        "%s = alloca i32\nstore i32 0, ptr %s\nbr label %l\nl:\n%i = load i32, ptr %s\n%j = add i32 %i, 3\n\
         store i32 %j, ptr %s\n%k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %e\ne:\n%r = load i32, ptr %s\n\
         ret i32 %r",
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 3\n%k = icmp ult i32 %j, %n\n\
         br i1 %k, label %l, label %e\ne:\nret i32 %i",
        false,
    ),
    (
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 3\n%k = icmp ult i32 %j, %n\n\
         br i1 %k, label %l, label %e\ne:\nret i32 %j",
        "%s = alloca i32\nbr label %l\nl:\n%i = load i32, ptr %s\n%j = add i32 %i, 3\nstore i32 %j, ptr %s\n\
         %k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %e\ne:\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    // The slot of each iteration is a new one.
    (
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 3\n%k = icmp ult i32 %j, %n\n\
         br i1 %k, label %l, label %e\ne:\nret i32 0",
        "%s = alloca i32\nbr label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %m ]\n\
         call void @llvm.lifetime.start.p0(i64 4, ptr %s)\n%f = icmp eq i32 %i, 0\nbr i1 %f, label %z, label %m\n\
         z:\nstore i32 0, ptr %s\nbr label %m\nm:\n%r = load i32, ptr %s\n%j = add i32 %i, 3\n\
         %k = icmp ult i32 %j, %n\nbr i1 %k, label %l, label %e\ne:\nret i32 %r",
        false,
    ),
];

#[test]
fn slots_that_are_values() {
    for (n, (before, after, refines)) in PROMOTED.iter().enumerate() {
        let function = |body: &str| {
            let parameters = "i1 %c, i32 %x, i32 %y, ptr %p, ptr noundef %q, i32 noundef %n, double %d";
            format!("{DECLARED}define i32 @f({parameters}) {{\nentry:\n{body}\n}}\n")
        };
        let decided = of_definitions(&function(before), &function(after));
        assert_eq!(decided.proved, *refines, "{n}: {before}\n--\n{after}\n{:?}", decided.seen.open);
    }
}
