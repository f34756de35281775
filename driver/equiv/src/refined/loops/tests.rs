//! Loops that are proved, and loops that must not be.

use super::super::tests::{definitions_within, of_definitions};

/// A loop that sums up what `BODY` makes of `%i` and `%s`, for `%i` from 0 below `%n`: tested before each iteration.
fn counting(before: &str, body: &str) -> String {
    format!(
        "define i32 @f(i32 %n, i32 %x, i32 %y, ptr %p) {{
         e:\n{before}\nbr label %h
         h:\n%i = phi i32 [ 0, %e ], [ %j, %b ]\n%s = phi i32 [ 0, %e ], [ %t, %b ]
         %c = icmp slt i32 %i, %n\nbr i1 %c, label %b, label %o
         b:\n{body}\n%j = add nsw i32 %i, 1\nbr label %h
         o:\nret i32 %s\n}}\n"
    )
}

/// The same, tested before the first iteration and behind each.
fn rotated(before: &str, body: &str) -> String {
    format!(
        "define i32 @f(i32 %n, i32 %x, i32 %y, ptr %p) {{
         e:\n%c0 = icmp slt i32 0, %n\nbr i1 %c0, label %q, label %o
         q:\n{before}\nbr label %b
         b:\n%i = phi i32 [ 0, %q ], [ %j, %b ]\n%s = phi i32 [ 0, %q ], [ %t, %b ]
         {body}\n%j = add nsw i32 %i, 1\n%c = icmp slt i32 %j, %n\nbr i1 %c, label %b, label %o
         o:\n%r = phi i32 [ 0, %e ], [ %t, %b ]\nret i32 %r\n}}\n"
    )
}

const LOAD: &str = "%a = getelementptr i32, ptr %p, i32 %i\n%v = load i32, ptr %a\n";

#[test]
fn loops_that_are_one_are_proved() {
    let sum = "%t = add i32 %s, %i";
    let array = format!("{LOAD}%t = add i32 %s, %v");
    let product = "%m = mul i32 %x, %y\n%t = add i32 %s, %m";
    let quotient = "%m = udiv i32 %x, %y\n%t = add i32 %s, %m";
    let store = "%a = getelementptr i32, ptr %p, i32 %i\nstore i32 %x, ptr %a\n%t = add i32 %s, 1";
    let call = "%u = call i32 @i(i32 %i)\n%t = add i32 %s, %i";
    for (old, new) in [
        (counting("", sum), counting("", "%t = add i32 %i, %s")),
        (counting("", sum), rotated("", sum)),
        (counting("", "%t = add nsw i32 %s, %i"), counting("", sum)),
        // A counter below a bound does not overflow.
        (counting("", sum).replace("nsw ", ""), counting("", sum)),
        // A value that is read may be `undef`, and so may sums of it.
        (counting("", &array), rotated("", &array)),
        (counting("", &array.replace("add", "add nsw")), rotated("", &array)),
        (counting("", store), rotated("", store)),
        (counting("", call), rotated("", call)),
        // A value that does not depend on the iteration is computed once; one that may be undefined, once it is sure to
        // be reached.
        (counting("", product), counting("%m = mul i32 %x, %y", "%t = add i32 %s, %m")),
        (counting("", quotient), rotated("%m = udiv i32 %x, %y", "%t = add i32 %s, %m")),
        // A loop for ever.
        (
            "define void @f() {\ne:\nbr label %l\nl:\nbr label %l\n}\n".into(),
            "define void @f() {\ne:\nbr label %a\na:\nbr label %m\nm:\nbr label %m\n}\n".into(),
        ),
    ] {
        let found = of_definitions(&old, &new);
        assert!(found.proved, "{old}{new}{found:?}");
    }
}

/// A counter of another width: it does not overflow, or the first version is undefined.
#[test]
fn counters_may_be_wider() {
    let loops = |width: &str, extended: &str, ends: &str| {
        format!(
            "define void @f(i32 %n, ptr %p) {{\ne:\n{ends}\nbr label %h
             h:\n%i = phi {width} [ 0, %e ], [ %j, %b ]\n%c = icmp slt {width} %i, %m\nbr i1 %c, label %b, label %o
             b:\n{extended}\n%a = getelementptr i32, ptr %p, i64 %w\nstore i32 7, ptr %a
             %j = add nsw {width} %i, 1\nbr label %h\no:\nret void\n}}\n"
        )
    };
    let narrow = loops("i32", "%w = sext i32 %i to i64", "%m = add i32 %n, 0");
    let wide = loops("i64", "%w = add i64 %i, 0", "%m = sext i32 %n to i64");
    let found = of_definitions(&narrow, &wide);
    assert!(found.proved, "{found:?}");
    let unsigned = wide.replace("sext", "zext");
    assert!(!of_definitions(&narrow, &unsigned).proved);
    // Without the promise the narrow one begins again.
    let wraps = narrow.replace("nsw ", "").replace("slt", "ne");
    assert!(!of_definitions(&wraps, &wide.replace("slt", "ne")).proved);
}

#[test]
fn loops_that_differ_are_not_proved() {
    let sum = "%t = add i32 %s, %i";
    let frozen = "%t = add i32 %f, %f";
    let array = format!("{LOAD}%t = add i32 %s, %v");
    let store = "%a = getelementptr i32, ptr %p, i32 %i\nstore i32 %x, ptr %a\n%t = add i32 %s, 1";
    let quotient = "%m = udiv i32 %x, %y\n%t = add i32 %s, %m";
    let calls = "%u = call i32 @i(i32 %i)\n%t = call i32 @i(i32 %x)";
    let usual = counting("", sum);
    for (old, new) in [
        // Bounds, beginnings, steps, operators.
        (usual.clone(), usual.replace("slt", "sle")),
        (usual.clone(), usual.replace("%i = phi i32 [ 0", "%i = phi i32 [ 1")),
        (usual.clone(), usual.replace("%s = phi i32 [ 0", "%s = phi i32 [ 1")),
        (usual.clone(), usual.replace("%i, 1", "%i, 2")),
        (usual.clone(), counting("", "%t = sub i32 %s, %i")),
        (usual.clone(), usual.replace("ret i32 %s", "ret i32 %i")),
        (usual.clone(), rotated("", sum).replace("slt i32 %j", "sle i32 %j")),
        // The first iteration without a test.
        (usual.clone(), rotated("", sum).replace("slt i32 0, %n", "sle i32 0, %n")),
        // More promises.
        (usual.clone(), counting("", "%t = add nsw i32 %s, %i")),
        // Each use of what was frozen sees something else.
        (counting("%f = freeze i32 %x", frozen), counting("", "%t = add i32 %x, %x")),
        (
            counting("", &format!("{LOAD}%f = freeze i32 %v\n{frozen}")),
            counting("", &format!("{LOAD}%t = add i32 %v, %v")),
        ),
        (counting("", &format!("{LOAD}%g = add i32 %s, %v\n%t = freeze i32 %g")), counting("", &array)),
        // Stores that are not made, or made with something else.
        (counting("", store), counting("", "%t = add i32 %s, 1")),
        (counting("", store), counting("", &store.replace("%x, ptr", "%y, ptr"))),
        (counting("", store), counting("", &store.replace("i32, ptr %p, i32 %i", "i8, ptr %p, i32 %i"))),
        // A division, or a load, although there may be no iteration.
        (counting("", quotient), counting("%m = udiv i32 %x, %y", "%t = add i32 %s, %m")),
        (
            counting("", "%v = load i32, ptr %p\n%t = add i32 %s, %v"),
            counting("%v = load i32, ptr %p", "%t = add i32 %s, %v"),
        ),
        // A load before stores that may change what is there.
        (
            counting("", "%v = load i32, ptr %p\nstore i32 %i, ptr %p\n%t = add i32 %s, %v"),
            rotated("%v = load i32, ptr %p", "store i32 %i, ptr %p\n%t = add i32 %s, %v"),
        ),
        // Calls in another order, and fewer.
        (counting("", calls), counting("", "%t = call i32 @i(i32 %x)\n%u = call i32 @i(i32 %i)")),
        (counting("", calls), counting("", "%t = call i32 @i(i32 %x)")),
        // An endless loop is not one that ends, and the other way round.
        (
            "define void @f() {\ne:\nbr label %l\nl:\nbr label %l\n}\n".into(),
            "define void @f() {\nret void\n}\n".into(),
        ),
        (
            "define void @f() {\ne:\nbr label %a\na:\nret void\n}\n".into(),
            "define void @f() {\ne:\nbr label %l\nl:\nbr label %l\n}\n".into(),
        ),
    ] {
        let found = of_definitions(&old, &new);
        assert!(!found.proved, "{old}{new}");
    }
}

/// An array's neighbours in order: what is read may be `undef`, unless the branch has seen it.
const SWAP: &str = "define void @f(ptr %p, i32 %n) {
     e:\nbr label %k
     k:\n%j = phi i32 [ 0, %e ], [ %j1, %m ]\n%j1 = add nsw i32 %j, 1\n%d = icmp slt i32 %j1, %n
     br i1 %d, label %b, label %o
     b:\n%x = sext i32 %j to i64\n%q = getelementptr inbounds i32, ptr %p, i64 %x\n%v = load i32, ptr %q
     %x1 = sext i32 %j1 to i64\n%q1 = getelementptr inbounds i32, ptr %p, i64 %x1\n%v1 = load i32, ptr %q1
     %z = icmp sgt i32 %v, %v1\nbr i1 %z, label %t, label %m
     t:\nstore i32 %v1, ptr %q\nstore i32 %v, ptr %q1\nbr label %m\nm:\nbr label %k\no:\nret void\n}\n";

/// Two products of arrays, which may be one.
const DOT: &str = "define i32 @f(ptr %p, ptr %r, i32 %n) {
     e:\nbr label %h
     h:\n%i = phi i32 [ 0, %e ], [ %j, %b ]\n%s = phi i32 [ 0, %e ], [ %t, %b ]
     %c = icmp slt i32 %i, %n\nbr i1 %c, label %b, label %o
     b:\n%x = sext i32 %i to i64\n%q = getelementptr inbounds i32, ptr %p, i64 %x\n%v = load i32, ptr %q
     %y = getelementptr inbounds i32, ptr %r, i64 %x\n%w = load i32, ptr %y
     %m = mul nsw i32 %v, %w\n%t = add nsw i32 %s, %m\n%j = add nsw i32 %i, 1\nbr label %h
     o:\nret i32 %s\n}\n";

/// A loop with two entries.
const TWO_ENTRIES: &str = "define i32 @f(i32 %n, i1 %b) {
     e:\nbr i1 %b, label %x, label %y
     x:\n%i = phi i32 [ 0, %e ], [ %k, %y ]\n%j = add i32 %i, 1\n%c = icmp ult i32 %j, %n\nbr i1 %c, label %y, label %o
     y:\n%k = phi i32 [ 5, %e ], [ %j, %x ]\n%d = icmp ult i32 %k, %n\nbr i1 %d, label %x, label %o
     o:\n%r = phi i32 [ %j, %x ], [ %k, %y ]\nret i32 %r\n}\n";

/// A condition that has held in another iteration of an inner loop.
const STALE: &str = "define i32 @f(i32 %n, ptr %p) {
     e:\nbr label %h
     h:\n%i = phi i32 [ 0, %e ], [ %j, %l ]\n%v = load i32, ptr %p\n%c = icmp eq i32 %v, 0\nbr i1 %c, label %k, label %o
     k:\ncall ptr @g(ptr %p)\n%w = load i32, ptr %p\n%z = icmp eq i32 %w, 3\nbr i1 %z, label %k, label %l
     l:\n%j = add i32 %i, 1\n%d = icmp ult i32 %j, %n\nbr i1 %d, label %h, label %o
     o:\n%r = phi i32 [ %v, %h ], [ %w, %l ]\nret i32 %r\n}\n";

#[test]
fn what_is_read_and_computed_in_loops() {
    for (old, changes, holds) in [
        (SWAP, vec![("add nsw i32 %j, 1", "add nsw i32 1, %j")], true),
        (SWAP, vec![("sgt i32 %v, %v1", "sge i32 %v, %v1")], false),
        (SWAP, vec![("store i32 %v1, ptr %q\n", "store i32 %v, ptr %q\n")], false),
        (DOT, vec![("%s, %m", "%m, %s"), ("%v, %w", "%w, %v")], true),
        (DOT, vec![("ptr %r, i64 %x", "ptr %p, i64 %x")], false),
        (TWO_ENTRIES, vec![("add i32 %i, 1", "sub i32 %i, -1")], true),
        (TWO_ENTRIES, vec![("5, %e", "6, %e")], false),
        (TWO_ENTRIES, vec![("ult i32 %k", "ule i32 %k")], false),
        (STALE, vec![("add i32 %i, 1", "add i32 1, %i")], true),
        (STALE, vec![("%w, %l", "0, %l")], false),
    ] {
        let new = changes.iter().fold(old.to_string(), |text, (was, is)| {
            assert!(text.contains(was), "{was}");
            text.replace(was, is)
        });
        let found = of_definitions(old, &new);
        assert_eq!(found.proved, holds, "{new}{found:?}");
    }
}

/// A loop that promises to end is undefined where it does not.
#[test]
fn loops_of_the_second_version_promise_no_more() {
    let module = |promise: &str| {
        format!(
            "define void @f(i1 %c) {{\ne:\nbr label %l\nl:\nbr i1 %c, label %o, label %l, !llvm.loop !0\no:\nret void\n}}
             !0 = distinct !{{!0, !1}}\n!1 = !{{!\"llvm.loop.{promise}\"}}\n"
        )
    };
    let more = "%d = xor i1 %c, false\nbr label %l";
    let changed = |text: String| text.replacen("br label %l", more, 1).replace("i1 %c, label %o", "i1 %d, label %o");
    for (old, new, holds) in [
        ("unroll.disable", "unroll.enable", true),
        ("mustprogress", "unroll.disable", true),
        ("mustprogress", "mustprogress", true),
        ("unroll.disable", "mustprogress", false),
        ("mustprogress", "parallel_accesses", false),
        ("parallel_accesses", "unroll.disable", true),
    ] {
        assert_eq!(of_definitions(&module(old), &changed(module(new))).proved, holds, "{old}, {new}");
    }
    let all = |text: String| text.replace(") {", ") mustprogress {");
    assert!(of_definitions(&all(module("unroll.disable")), &all(changed(module("mustprogress")))).proved);
}

/// Two loops, the inner one in the outer one, each with a promise or without. A loop that promises to progress does not run
/// for ever without being seen; an inner loop is within what the outer one promises.
#[test]
fn promises_of_loops_are_those_of_the_loops_that_they_meet() {
    let module = |x: &str, [outer, inner]: [bool; 2]| {
        let said = |promises| if promises { "!0" } else { "!1" };
        format!(
            "define void @f(i32 noundef %n, i32 noundef %m) {{\ne:\nbr label %o\no:\n%i = phi i32 [ 0, %e ], [ %k, %end ]\n\
             br label %l\nl:\n%j = phi i32 [ 0, %o ], [ %q, %l ]\n{x}\n%c = icmp eq i32 %q, %m\n\
             br i1 %c, label %end, label %l, !llvm.loop {}\nend:\n%k = add i32 %i, 2\n%d = icmp eq i32 %k, %n\n\
             br i1 %d, label %out, label %o, !llvm.loop {}\nout:\nret void\n}}\n!0 = distinct !{{!0, !2}}\n\
             !1 = distinct !{{!1}}\n!2 = !{{!\"llvm.loop.mustprogress\"}}\n",
            said(inner),
            said(outer)
        )
    };
    let both = [false, true];
    for old in both.into_iter().flat_map(|outer| both.map(|inner| [outer, inner])) {
        for new in both.into_iter().flat_map(|outer| both.map(|inner| [outer, inner])) {
            let before = module("%q = add i32 %j, 2", old);
            let after = module("%h = add i32 %j, 1\n%q = add i32 %h, 1", new);
            // The outer loop promises for the inner one, too, which may be the one that runs for ever.
            let holds = match (old, new) {
                ([true, _], _) | (_, [false, false]) | ([false, true], [false, true]) => true,
                ([false, _], _) => false,
            };
            assert_eq!(of_definitions(&before, &after).proved, holds, "outer and inner: {old:?}, {new:?}");
        }
    }
}

/// A cycle that can be entered at two places is no loop, so what its branches say is no promise: neither of a loop on the way
/// to it nor of a loop that the second version makes of it.
#[test]
fn cycles_with_several_entries_promise_nothing() {
    let module = |x: &str, [on_loop, on_cycle]: [bool; 2]| {
        let said = |promises| if promises { "!0" } else { "!1" };
        let (of_loop, of_cycle) = (said(on_loop), said(on_cycle));
        format!(
            "define i32 @f(i1 noundef %c, i32 noundef %x, i32 noundef %n) {{\ne:\nbr label %l\nl:\n\
             %i = phi i32 [ 0, %e ], [ %j, %l ]\n{x}\n%k = icmp eq i32 %j, %n\nbr i1 %k, label %m, label %l, !llvm.loop {of_loop}\n\
             m:\nbr i1 %c, label %a, label %b\na:\n%s = call i32 @i(i32 3)\n%u = icmp eq i32 %s, 0\n\
             br i1 %u, label %b, label %o, !llvm.loop {of_cycle}\nb:\n%t = call i32 @i(i32 4)\n%v = icmp eq i32 %t, 0\n\
             br i1 %v, label %a, label %o, !llvm.loop {of_cycle}\no:\nret i32 0\n}}\ndeclare i32 @i(i32)\n\
             !0 = distinct !{{!0, !2}}\n!1 = distinct !{{!1}}\n!2 = !{{!\"llvm.loop.mustprogress\"}}\n",
        )
    };
    for (old, new, holds) in [
        ([false, true], [false, false], true),
        ([true, false], [true, false], true),
        ([false, true], [true, true], false),
        ([false, true], [false, true], true),
        ([true, true], [true, true], true),
    ] {
        let before = module("%j = add i32 %i, %x", old);
        let after = module("%w = add i32 %x, %i\n%j = add i32 %w, 0", new);
        assert_eq!(of_definitions(&before, &after).proved, holds, "loop and cycle: {old:?}, {new:?}");
    }
}

/// A loop that does four iterations at once, and another one for the rest: what is done for `%i` four times and, behind
/// that, what is computed of what came out.
fn by_four(state: &str, body: &str, between: &str) -> String {
    format!(
        "define i32 @f(i32 noundef %n, i32 noundef %x, ptr noundef %p) {{
         e:\n%c0 = icmp sgt i32 %n, 0\nbr i1 %c0, label %q, label %o
         q:\n%w = zext nneg i32 %n to i64\n%few = icmp ult i32 %n, 4\nbr i1 %few, label %r, label %vh
         vh:\n%m = and i64 %w, 2147483644\n%v0 = insertelement <4 x i32> poison, i32 %x, i64 0
         %vx = shufflevector <4 x i32> %v0, <4 x i32> poison, <4 x i32> zeroinitializer\nbr label %vb
         vb:\n%k = phi i64 [ 0, %vh ], [ %kn, %vb ]\n{state}
         {body}\n%kn = add nuw i64 %k, 4\n%ck = icmp eq i64 %kn, %m\nbr i1 %ck, label %mid, label %vb
         mid:\n{between}\n%cm = icmp eq i64 %m, %w\nbr i1 %cm, label %o, label %r
         r:\n%i0 = phi i64 [ 0, %q ], [ %m, %mid ]\n%s0 = phi i32 [ 0, %q ], [ %sm, %mid ]\nbr label %b
         b:\n%i = phi i64 [ %i0, %r ], [ %j, %b ]\n%s = phi i32 [ %s0, %r ], [ %t, %b ]
         %a = getelementptr inbounds i32, ptr %p, i64 %i\nREST
         %j = add nuw nsw i64 %i, 1\n%c = icmp eq i64 %j, %w\nbr i1 %c, label %o, label %b
         o:\n%res = phi i32 [ 0, %e ], [ %sm, %mid ], [ %t, %b ]\nret i32 %res\n}}\n\
         declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)\n"
    )
}

/// The same, one after the other.
fn one_by_one(body: &str) -> String {
    format!(
        "define i32 @f(i32 noundef %n, i32 noundef %x, ptr noundef %p) {{
         e:\n%c0 = icmp sgt i32 %n, 0\nbr i1 %c0, label %q, label %o
         q:\n%w = zext nneg i32 %n to i64\nbr label %b
         b:\n%i = phi i64 [ 0, %q ], [ %j, %b ]\n%s = phi i32 [ 0, %q ], [ %t, %b ]
         %a = getelementptr inbounds i32, ptr %p, i64 %i\n{body}
         %j = add nuw nsw i64 %i, 1\n%c = icmp eq i64 %j, %w\nbr i1 %c, label %o, label %b
         o:\n%res = phi i32 [ 0, %e ], [ %t, %b ]\nret i32 %res\n}}\n"
    )
}

const STORE: &str = "store i32 %x, ptr %a\n%t = add i32 0, 0";
const STORE_FOUR: &str = "%ak = getelementptr inbounds i32, ptr %p, i64 %k\nstore <4 x i32> %vx, ptr %ak, align 4";
const NOTHING: &str = "%sm = add i32 0, 0";
const SUM: &str = "%v = load i32, ptr %a\n%t = add nsw i32 %s, %v";
const LANES: &str = "%vs = phi <4 x i32> [ zeroinitializer, %vh ], [ %vt, %vb ]";
const SUM_FOUR: &str = "%ak = getelementptr inbounds i32, ptr %p, i64 %k\n%vv = load <4 x i32>, ptr %ak, align 4
                        %vt = add <4 x i32> %vv, %vs";
const REDUCED: &str = "%sm = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %vt)";
const COUNT: &str = "%h = trunc i64 %i to i32\n%u = add i32 %h, %x\nstore i32 %u, ptr %a\n%t = add i32 0, 0";
const COUNTED: &str = "%vi = phi <4 x i32> [ <i32 0, i32 1, i32 2, i32 3>, %vh ], [ %vn, %vb ]";
const COUNT_FOUR: &str = "%ak = getelementptr inbounds i32, ptr %p, i64 %k\n%vu = add <4 x i32> %vi, %vx
                          store <4 x i32> %vu, ptr %ak, align 4
                          %vn = add <4 x i32> %vi, <i32 4, i32 4, i32 4, i32 4>";

/// What the proofs of these loops take is less.
const AT_ONCE_STEPS: u64 = 6_000_000;

/// Iterations of the second version are several of the first one.
#[test]
fn loops_that_do_several_iterations_at_once_are_proved() {
    let unrolled = "%a0 = getelementptr inbounds i32, ptr %p, i64 %k\nstore i32 %x, ptr %a0
                    %a1 = getelementptr inbounds i32, ptr %a0, i64 1\nstore i32 %x, ptr %a1
                    %k2 = add nuw i64 %k, 2\n%a2 = getelementptr inbounds i32, ptr %p, i64 %k2\nstore i32 %x, ptr %a2
                    %a3 = getelementptr inbounds i32, ptr %a2, i64 1\nstore i32 %x, ptr %a3";
    for (old, state, body, between) in [
        (STORE, "", unrolled, NOTHING),
        (STORE, "", STORE_FOUR, NOTHING),
        (SUM, LANES, SUM_FOUR, REDUCED),
        (COUNT, COUNTED, COUNT_FOUR, NOTHING),
        // None is above the bound, which is an `i32`.
        (COUNT, COUNTED, &COUNT_FOUR.replace("%vn = add", "%vn = add nuw nsw"), NOTHING),
    ] {
        let (old, new) = (one_by_one(old), by_four(state, body, between).replace("REST", old));
        let found = definitions_within(&old, &new, AT_ONCE_STEPS);
        assert!(found.proved, "{old}{new}{found:?}");
    }
}

#[test]
fn loops_that_do_other_iterations_at_once_are_not_proved() {
    for (old, state, body, between, changes) in [
        // Beyond the end, or not to it.
        (STORE, "", STORE_FOUR, NOTHING, ("and i64 %w, 2147483644", "add i64 %w, 3")),
        (STORE, "", STORE_FOUR, NOTHING, ("[ %m, %mid ]", "[ %w, %mid ]")),
        // More, or elsewhere, or more aligned than is known.
        (STORE, "", STORE_FOUR, NOTHING, ("ptr %p, i64 %k\nstore", "ptr %p, i64 1\nstore")),
        (STORE, "", STORE_FOUR, NOTHING, ("store <4 x i32> %vx, ptr %ak, align 4", "store <4 x i32> %vx, ptr %ak")),
        (
            STORE,
            "",
            STORE_FOUR,
            NOTHING,
            ("<4 x i32> zeroinitializer\nbr", "<4 x i32> <i32 0, i32 0, i32 1, i32 0>\nbr"),
        ),
        // Other sums.
        (SUM, LANES, SUM_FOUR, REDUCED, ("[ zeroinitializer, %vh ]", "[ <i32 0, i32 0, i32 1, i32 0>, %vh ]")),
        (SUM, LANES, SUM_FOUR, REDUCED, ("%vt = add <4 x i32>", "%vt = sub <4 x i32>")),
        (SUM, LANES, SUM_FOUR, REDUCED, ("%vt = add <4 x i32>", "%vt = add nsw <4 x i32>")),
        (SUM, LANES, SUM_FOUR, REDUCED, ("[ %sm, %mid ]\nbr label %b", "[ 0, %mid ]\nbr label %b")),
        // Other numbers.
        (COUNT, COUNTED, COUNT_FOUR, NOTHING, ("i32 0, i32 1, i32 2, i32 3", "i32 0, i32 2, i32 1, i32 3")),
        (
            COUNT,
            COUNTED,
            COUNT_FOUR,
            NOTHING,
            ("%vi, <i32 4, i32 4, i32 4, i32 4>", "%vi, <i32 4, i32 4, i32 4, i32 5>"),
        ),
    ] {
        let (from, to) = changes;
        let text = by_four(state, body, between);
        assert!(text.contains(from), "{from}");
        let changed = text.replace(from, to).replace("REST", old);
        let found = definitions_within(&one_by_one(old), &changed, AT_ONCE_STEPS);
        assert!(!found.proved, "{from} -> {to}: {changed}");
    }
}
