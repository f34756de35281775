//! Stack slots, global variables, blocks of memory, calls by pointers, assumptions.

use super::of_definitions;

const GLOBALS: &str = "@k = constant i32 7\n@v = global i32 1\n@w = global i32 2\n@weak = weak constant i32 7\n\
    @other = external global i32\n@a = constant i32 9\ndeclare void @take(ptr)\ndeclare void @llvm.assume(i1)\n\
    declare void @llvm.lifetime.start.p0(i64, ptr)\ndeclare void @llvm.lifetime.end.p0(i64, ptr)\n\
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
    declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n";

/// Bodies, and whether the second one refines the first one.
const OBJECTS: &[(&str, &str, bool)] = &[
    // A slot that is read and written goes.
    ("%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s\nret i32 %r", "ret i32 %x", true),
    ("ret i32 %x", "%s = alloca i32\nstore i32 %x, ptr %s\n%r = load i32, ptr %s\nret i32 %r", true),
    ("ret i32 7", "%s = alloca i32\n%r = load i32, ptr %s\nret i32 %r", false),
    // Slots lie apart from each other and from all that is given.
    (
        "%s = alloca i32\n%t = alloca i32\nstore i32 1, ptr %s\nstore i32 2, ptr %t\n%r = load i32, ptr %s\nret i32 %r",
        "ret i32 1",
        true,
    ),
    (
        "%s = alloca i32\nstore i32 1, ptr %s\nstore i32 2, ptr %p\n%r = load i32, ptr %s\nret i32 %r",
        "store i32 2, ptr %p\nret i32 1",
        true,
    ),
    (
        "store i32 1, ptr %q\nstore i32 2, ptr %p\n%r = load i32, ptr %q\nret i32 %r",
        "store i32 1, ptr %q\nstore i32 2, ptr %p\nret i32 1",
        false,
    ),
    // Other code does not change objects that it does not know; it may change those that it knows.
    (
        "%s = alloca i32\nstore i32 1, ptr %s\ncall void @h(ptr %p)\n%r = load i32, ptr %s\nret i32 %r",
        "call void @h(ptr %p)\nret i32 1",
        true,
    ),
    (
        "%s = alloca i32\nstore i32 1, ptr %s\ncall void @h(ptr %s)\n%r = load i32, ptr %s\nret i32 %r",
        "%s = alloca i32\nstore i32 1, ptr %s\ncall void @h(ptr %s)\nret i32 1",
        false,
    ),
    (
        "%s = alloca i32\nstore ptr %s, ptr %p\nstore i32 1, ptr %s\ncall void @h(ptr %p)\n%r = load i32, ptr %s\nret i32 %r",
        "%s = alloca i32\nstore ptr %s, ptr %p\nstore i32 1, ptr %s\ncall void @h(ptr %p)\nret i32 1",
        false,
    ),
    // A slot has an end, and so have its contents.
    ("ret i32 0", "%s = alloca i32\n%q1 = getelementptr i8, ptr %s, i64 4\nstore i32 1, ptr %q1\nret i32 0", false),
    (
        "%s = alloca i32\n%q1 = getelementptr i8, ptr %s, i64 1\nstore i32 1, ptr %q1, align 1\nret i32 0",
        "unreachable",
        true,
    ),
    ("%s = alloca i32\n%q1 = getelementptr i8, ptr %s, i64 0\nstore i32 1, ptr %q1\nret i32 0", "unreachable", false),
    (
        "%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\nstore i32 1, ptr %s\n\
         call void @llvm.lifetime.end.p0(i64 4, ptr %s)\nret i32 1",
        "%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\nstore i32 1, ptr %s\n\
         call void @llvm.lifetime.end.p0(i64 4, ptr %s)\n%r = load i32, ptr %s\nret i32 %r",
        false,
    ),
    // A store to a slot that a callee sees stays.
    (
        "%s = alloca i32\nstore i32 1, ptr %s\ncall void @h(ptr %s)\nret i32 0",
        "%s = alloca i32\ncall void @h(ptr %s)\nret i32 0",
        false,
    ),
    // A call does not change constants; it may change variables.
    ("%r = load i32, ptr @k\nret i32 %r", "ret i32 7", true),
    ("call void @h(ptr @k)\n%r = load i32, ptr @k\nret i32 %r", "call void @h(ptr @k)\nret i32 7", true),
    ("%r = load i32, ptr @v\nret i32 %r", "ret i32 1", false),
    ("%r = load i32, ptr @weak\nret i32 %r", "ret i32 7", false),
    ("%r = load i32, ptr @k\nret i32 %r", "%r = load i32, ptr @a\nret i32 %r", false),
    ("store i32 1, ptr @k\nret i32 0", "unreachable", true),
    ("store i32 1, ptr @v\nret i32 0", "unreachable", false),
    (
        "store i32 1, ptr @v\nstore i32 2, ptr @w\n%r = load i32, ptr @v\nret i32 %r",
        "store i32 1, ptr @v\nstore i32 2, ptr @w\nret i32 1",
        true,
    ),
    (
        "store i32 1, ptr @v\nstore i32 2, ptr %p\n%r = load i32, ptr @v\nret i32 %r",
        "store i32 1, ptr @v\nstore i32 2, ptr %p\nret i32 1",
        false,
    ),
    ("ret i32 0", "%r = load i32, ptr @v\nret i32 0", true),
    ("ret i32 0", "store i32 1, ptr @v\nret i32 0", false),
    ("%c1 = icmp eq ptr @v, @w\n%r = zext i1 %c1 to i32\nret i32 %r", "ret i32 0", true),
    ("%c1 = icmp eq ptr %p, @w\n%r = zext i1 %c1 to i32\nret i32 %r", "ret i32 0", false),
    // Blocks of memory.
    (
        "call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 4, i1 false)\nret i32 0",
        "store i32 16843009, ptr %p, align 1\nret i32 0",
        true,
    ),
    (
        "call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 4, i1 false)\nret i32 0",
        "store i32 16843009, ptr %p, align 4\nret i32 0",
        false,
    ),
    (
        "call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 4, i1 false)\nret i32 0",
        "call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 3, i1 false)\nret i32 0",
        false,
    ),
    (
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 4, i1 false)\nret i32 0",
        "%v1 = load i32, ptr %q, align 1\nstore i32 %v1, ptr %p, align 1\nret i32 0",
        false,
    ),
    (
        "%v1 = load i8, ptr %q\nstore i8 %v1, ptr %p\nret i32 0",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 1, i1 false)\nret i32 0",
        false,
    ),
    (
        "%v1 = load i16, ptr %q, align 1\nstore i16 %v1, ptr %p, align 1\nret i32 0",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 2, i1 false)\nret i32 0",
        false,
    ),
    (
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @k, i64 4, i1 false)\n%r = load i32, ptr %p, align 1\nret i32 %r",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @k, i64 4, i1 false)\nret i32 7",
        true,
    ),
    // Blocks that overlap are not copied.
    (
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        "call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull %p, ptr %q, i64 16, i1 false)\nret i32 0",
        true,
    ),
    (
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        "call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        true,
    ),
    (
        "call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        false,
    ),
    (
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 16, i1 false)\nret i32 0",
        "call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 16, i1 false)\nret i32 0",
        false,
    ),
    // Calls by a pointer.
    ("%r = call i32 %p(i32 %x)\nret i32 %r", "%r = call i32 %p(i32 %x)\nret i32 %r", true),
    ("%r = call i32 %p(i32 %x)\nret i32 %r", "%r = call i32 %q(i32 %x)\nret i32 %r", false),
    ("%r = call i32 %p(i32 %x)\nret i32 %r", "%r = call i32 %p(i32 7)\nret i32 %r", false),
    (
        "%r = call i32 %q(i32 1)\nret i32 %r",
        "%c1 = icmp eq ptr %q, @i\nbr i1 %c1, label %t, label %e\nt:\n%r = call i32 @i(i32 2)\nret i32 %r\n\
         e:\n%s = call i32 %q(i32 1)\nret i32 %s",
        false,
    ),
    // What is assumed of values.
    (
        "call void @llvm.assume(i1 true) [ \"nonnull\"(ptr %p) ]\n%c1 = icmp eq ptr %p, null\n%r = zext i1 %c1 to i32\nret i32 %r",
        "ret i32 0",
        true,
    ),
    ("ret i32 0", "call void @llvm.assume(i1 true) [ \"nonnull\"(ptr %p) ]\nret i32 0", false),
    ("ret i32 0", "call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 4) ]\nret i32 0", false),
    ("ret i32 0", "call void @llvm.assume(i1 true) [ \"noundef\"(i32 %x) ]\nret i32 0", false),
    ("ret i32 0", "call void @llvm.assume(i1 true) [ \"dereferenceable\"(ptr %p, i64 4) ]\nret i32 0", false),
    ("ret i32 0", "call void @llvm.assume(i1 true) [ \"unheard-of\"(ptr %p) ]\nret i32 0", false),
    (
        "%v1 = load i32, ptr %p\nret i32 %v1",
        "call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 4), \"nonnull\"(ptr %p) ]\n%v1 = load i32, ptr %p\nret i32 %v1",
        true,
    ),
    // Attributes of results and arguments.
    (
        "%r = call i32 @llvm.umin.i32(i32 %x, i32 7)\nret i32 %r",
        "%r = call noundef i32 @llvm.umin.i32(i32 %x, i32 7)\nret i32 %r",
        false,
    ),
    (
        "%r = call noundef i32 @llvm.umin.i32(i32 %x, i32 7)\nret i32 %r",
        "%f = freeze i32 %x\n%r = call i32 @llvm.umin.i32(i32 %f, i32 7)\nret i32 %r",
        true,
    ),
    (
        "%v1 = load i32, ptr %p\ncall void @h(ptr %p)\nret i32 0",
        "%v1 = load i32, ptr %p\ncall void @h(ptr nonnull align 4 %p)\nret i32 0",
        true,
    ),
    ("call void @h(ptr %p)\nret i32 0", "call void @h(ptr nonnull %p)\nret i32 0", false),
    ("call void @h(ptr %p)\nret i32 0", "call void @h(ptr noundef %p)\nret i32 0", false),
    ("call void @h(ptr %p)\nret i32 0", "call void @h(ptr dereferenceable(4) %p)\nret i32 0", false),
    ("call void @h(ptr %p)\nret i32 0", "call void @h(ptr readonly %p)\nret i32 0", false),
    ("%r = call i32 @i(i32 1)\nret i32 %r", "%r = call range(i32 0, 9) i32 @i(i32 1)\nret i32 %r", false),
    ("%r = call i32 @i(i32 1)\nret i32 %r", "%r = call noundef i32 @i(i32 1)\nret i32 %r", false),
];

#[test]
fn objects_are_what_they_are() {
    for (before, after, holds) in OBJECTS {
        let function =
            |body: &str| format!("{GLOBALS}define i32 @f(i32 %x, ptr %p, ptr noundef %q) {{\nentry:\n{body}\n}}\n");
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}

/// Loops of which a few iterations are all.
const LOOPS: &[(&str, &str, bool)] = &[
    (
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%s = phi i32 [ 0, %entry ], [ %t, %l ]\n\
         %t = add i32 %s, %x\n%j = add i32 %i, 1\n%c1 = icmp eq i32 %j, 3\nbr i1 %c1, label %e, label %l\ne:\nret i32 %t",
        "%r = mul i32 %x, 3\nret i32 %r",
        true,
    ),
    (
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%s = phi i32 [ 0, %entry ], [ %t, %l ]\n\
         %t = add i32 %s, %x\n%j = add i32 %i, 1\n%c1 = icmp eq i32 %j, 4\nbr i1 %c1, label %e, label %l\ne:\nret i32 %t",
        "%r = mul i32 %x, 3\nret i32 %r",
        false,
    ),
    (
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 1\n%c1 = icmp eq i32 %j, %x\n\
         br i1 %c1, label %e, label %l\ne:\nret i32 0",
        "ret i32 1",
        false,
    ),
    // It runs for ever.
    ("br label %l\nl:\nbr label %l", "ret i32 0", false),
    ("ret i32 0", "br label %l\nl:\nbr label %l", false),
    (
        "ret i32 0",
        "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%j = add i32 %i, 1\n%c1 = icmp eq i32 %j, %x\n\
         br i1 %c1, label %e, label %l\ne:\nret i32 0",
        false,
    ),
];

#[test]
fn a_few_iterations_are_written_out() {
    for (before, after, holds) in LOOPS {
        let function = |body: &str| format!("define i32 @f(i32 %x) {{\nentry:\n{body}\n}}\n");
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}
