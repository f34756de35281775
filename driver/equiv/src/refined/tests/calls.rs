//! Calls in turn, and what is in memory when they are made.

use super::of_definitions;

const FRAME: &str = "declare void @g(ptr)\ndeclare void @h(ptr)\n";

fn function(body: &str) -> String {
    format!("{FRAME}define i32 @f(ptr %p, i1 %c) {{\n{body}\n}}\n")
}

fn proved(before: &str, after: &str) -> bool {
    of_definitions(&function(before), &function(after)).proved
}

#[test]
fn what_calls_see_is_compared_in_turn() {
    let twice = |first: u32, second: u32, argument: &str| {
        format!(
            "%q = getelementptr inbounds i32, ptr %p, i64 0\nstore i32 {first}, ptr %p\ncall void @g(ptr {argument})\n\
             store i32 {second}, ptr %p\ncall void @g(ptr {argument})\nret i32 0"
        )
    };
    assert!(proved(&twice(1, 2, "%q"), &twice(1, 2, "%p")));
    assert!(!proved(&twice(1, 2, "%p"), &twice(1, 3, "%p")));
    assert!(!proved(&twice(1, 2, "%p"), &twice(3, 2, "%p")));
    assert!(!proved(&twice(1, 2, "%p"), &twice(2, 1, "%p")));
}

#[test]
fn as_many_calls_as_were_made_on_a_way_came_before() {
    let after_arms = |one: &str, other: &str, value: u32| {
        format!(
            "br i1 %c, label %x, label %y\nx:\n{one}br label %z\ny:\n{other}br label %z\nz:\n\
             store i32 {value}, ptr %p\ncall void @g(ptr %p)\nret i32 0"
        )
    };
    let g = "call void @g(ptr %p)\n";
    let both = format!("{g}{g}");
    assert!(proved(&after_arms(g, "", 1), &after_arms(g, "%n = add i32 1, 1\n", 1)));
    for (one, other) in [(g, ""), ("", g), (&both, g), (g, "call void @h(ptr %p)\n")] {
        assert!(!proved(&after_arms(one, other, 1), &after_arms(one, other, 2)), "{one} {other}");
        assert!(!proved(&after_arms(one, other, 1), &after_arms(other, one, 1)), "{one} {other}");
    }
    // On one way a call is made earlier, or not at all.
    assert!(!proved(&after_arms(g, "", 1), &after_arms(g, g, 1)));
    assert!(!proved(&after_arms(&both, g, 1), &after_arms(g, &both, 1)));
}

#[test]
fn what_is_read_is_what_was_written_on_the_way_there() {
    let stores = |x: &str, y: &str, z: &str| {
        format!("br i1 %c, label %x, label %y\nx:\n{x}br label %z\ny:\n{y}br label %z\nz:\n{z}")
    };
    let (store, load) = (|n: u32| format!("store i32 {n}, ptr %p\n"), "%v = load i32, ptr %p\nret i32 %v");
    let chosen = |x: u32, y: u32| format!("%w = select i1 %c, i32 {x}, i32 {y}\nret i32 %w");
    let of = |z: &str| stores(&store(1), &store(2), z);
    assert!(proved(&of(load), &of(&chosen(1, 2))));
    assert!(!proved(&of(load), &of(&chosen(2, 1))));
    assert!(!proved(&of(load), &of("ret i32 1")));
    let one = |z: &str| stores(&store(1), "", z);
    assert!(!proved(&one(load), &one("ret i32 1")));
    // Within an arm, and behind a call that may write, or not return.
    let within = |v: &str| stores(&format!("{}%u = load i32, ptr %p\nret i32 {v}\nw:\n", store(1)), "", "ret i32 0");
    assert!(proved(&within("%u"), &within("1")));
    assert!(!proved(&within("%u"), &within("2")));
    let behind = |v: &str| {
        let call = "call void @g(ptr %p)\n";
        stores(&format!("{}{call}%u = load i32, ptr %p\nret i32 {v}\nw:\n", store(1)), "", "ret i32 0")
    };
    assert!(!proved(&behind("%u"), &behind("1")));
    let kept = |v: &str| behind(v).replace("@g(ptr %p)", "@g(ptr readonly %p) memory(none)");
    assert!(proved(&kept("%u"), &kept("1")));
}

#[test]
fn what_a_block_copies_is_there_on_its_way_alone() {
    let copies = |z: &str| {
        format!(
            "%a = alloca [4 x i8]\ncall void @llvm.memset.p0.i64(ptr %a, i8 0, i64 4, i1 false)\n\
             br i1 %c, label %x, label %z\nx:\ncall void @llvm.memset.p0.i64(ptr %a, i8 1, i64 4, i1 false)\n\
             br label %z\nz:\n{z}"
        )
    };
    let load = "%v = load i32, ptr %a\nret i32 %v";
    let chosen = |x: u32, y: u32| format!("%w = select i1 %c, i32 {x}, i32 {y}\nret i32 %w");
    assert!(proved(&copies(load), &copies(&chosen(0x0101_0101, 0))));
    assert!(!proved(&copies(load), &copies(&chosen(0, 0x0101_0101))));
    assert!(!proved(&copies(load), &copies("ret i32 16843009")));
}

/// Bodies that call functions that only read, and whether the second one refines the first one.
const READING: &[(&str, &str, bool)] = &[
    ("%n = call i64 @length(ptr %p)\nret i32 %x", "ret i32 %x", true),
    ("%n = call i64 @length(ptr %p)\n%m = add i64 %n, 1\nret i32 %x", "ret i32 %x", true),
    ("ret i32 %x", "%n = call i64 @length(ptr %p)\nret i32 %x", false),
    // One that is needed stays, and so does one that may not return, that may unwind or that writes.
    (
        "%n = call i64 @length(ptr %p)\n%m = call i64 @length(ptr %q)\n%r = trunc i64 %m to i32\nret i32 %r",
        "%m = call i64 @length(ptr %q)\n%r = trunc i64 %m to i32\nret i32 %r",
        true,
    ),
    (
        "%n = call i64 @length(ptr %p)\n%m = call i64 @length(ptr %q)\n%r = trunc i64 %m to i32\nret i32 %r",
        "%m = call i64 @length(ptr %p)\n%r = trunc i64 %m to i32\nret i32 %r",
        false,
    ),
    ("%n = call i64 @length(ptr %p)\n%r = trunc i64 %n to i32\nret i32 %r", "ret i32 0", false),
    (
        "%n = call i64 @length(ptr %p)\n%z = icmp eq i64 %n, 0\nbr i1 %z, label %a, label %b\na:\nret i32 1\nb:\nret i32 2",
        "ret i32 1",
        false,
    ),
    ("%n = call i64 @length(ptr %p)\nstore i64 %n, ptr %q\nret i32 %x", "ret i32 %x", false),
    ("%n = call i64 @waits(ptr %p)\nret i32 %x", "ret i32 %x", false),
    ("%n = call i64 @throws(ptr %p)\nret i32 %x", "ret i32 %x", false),
    ("%n = call i64 @writes(ptr %p)\nret i32 %x", "ret i32 %x", false),
    (
        "%n = call i64 @length(ptr %p)\nstore i32 1, ptr %q\n%m = call i64 @writes(ptr %p)\nret i32 %x",
        "store i32 1, ptr %q\nret i32 %x",
        false,
    ),
    // The division by its result is unused, too.
    ("%n = call i64 @length(ptr %p)\n%d = udiv i64 1, %n\nret i32 %x", "ret i32 %x", true),
];

#[test]
fn calls_that_only_read_may_go() {
    let declared = "declare i64 @length(ptr) memory(read) nounwind willreturn\n\
        declare i64 @waits(ptr) memory(read) nounwind\ndeclare i64 @throws(ptr) memory(read) willreturn\n\
        declare i64 @writes(ptr) nounwind willreturn\n";
    for (before, after, holds) in READING {
        let function = |body: &str| format!("{declared}define i32 @f(i32 %x, ptr %p, ptr %q) {{\n{body}\n}}\n");
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}

#[test]
fn a_dead_call_that_writes_or_has_another_effect_stays() {
    let declared = "declare i32 @reads(ptr) memory(read) nounwind willreturn
declare i32 @counts() memory(inaccessiblemem: readwrite) nounwind willreturn
declare i32 @logs(ptr) memory(read, inaccessiblemem: write) nounwind willreturn
declare i32 @older() inaccessiblememonly nounwind willreturn
declare i32 @llvm.x86.rdrand.32()
declare i8 @llvm.x86.atomic.bts.i8(ptr, i8 immarg)
";
    let function = |body: &str| format!("{declared}define i32 @f(ptr %p) {{\n{body}ret i32 1\n}}\n");
    let reads = "%r = call i32 @reads(ptr %p)\n";
    assert!(of_definitions(&function(reads), &function("")).proved);
    for kept in [
        "%k = call i32 @counts()\n",
        "%k = call i32 @logs(ptr %p)\n",
        "%k = call i32 @older()\n",
        "%k = call i32 @llvm.x86.rdrand.32()\n",
        "%k = call i8 @llvm.x86.atomic.bts.i8(ptr %p, i8 1)\n",
    ] {
        assert!(!of_definitions(&function(&format!("{reads}{kept}")), &function("")).proved, "{kept}");
        assert!(!of_definitions(&function(kept), &function("")).proved, "{kept}");
    }
}

#[test]
fn slots_of_other_sizes_are_other_slots() {
    let slots = |first: &str, second: &str| {
        let body = "call void @g(ptr %s)\ncall void @g(ptr %t)\nret i32 0";
        function(&format!("%n = load i64, ptr %p\n%m = shl i64 %n, 1\n%s = {first}\n%t = {second}\n{body}"))
    };
    let [n, m] = ["alloca i32, i64 %n", "alloca i32, i64 %m"];
    for (first, second) in [(m, n), (n, n), (n, "alloca i8, i64 %m")] {
        assert!(!of_definitions(&slots(n, m), &slots(first, second)).proved, "{first}, {second}");
    }
}

#[test]
fn what_a_call_is_given_that_stays_is_computed() {
    let declared = "declare i32 @a(i32) memory(read) nounwind willreturn\n\
        declare i32 @b(i32) memory(read) nounwind willreturn\n";
    let function = |body: &str| format!("{declared}define i32 @f(i32 %x) {{\n{body}ret i32 %x\n}}\n");
    let both = "%r = call i32 @a(i32 %x)\n%s = call i32 @b(i32 %r)\n";
    assert!(of_definitions(&function(both), &function("")).proved);
    let found = of_definitions(&function(both), &function("%s = call i32 @b(i32 %x)\n"));
    assert!(!found.proved);
    assert!(!found.seen.open.keys().any(|reason| reason.contains("before it is there")), "{found:?}");
}

/// The attributes of an intrinsic are LLVM's, whatever its declaration says; those of other functions are as declared.
#[test]
fn declarations_of_intrinsics_need_no_attributes() {
    let module = |callee: &str, attributes: &str, operation: &str| {
        format!(
            "declare i32 {callee}(i32, i32) {attributes}\ndefine i32 @f(i32 %x, i32 %y) {{\n\
             %m = call i32 {callee}(i32 %x, i32 %y)\n%r = {operation}\nret i32 %r\n}}\n"
        )
    };
    let pair = |callee: &str| {
        let attributes = "nocallback nofree nosync nounwind speculatable willreturn memory(none)";
        of_definitions(&module(callee, "", "mul i32 %m, 2"), &module(callee, attributes, "shl i32 %m, 1"))
    };
    assert!(pair("@llvm.umax.i32").proved);
    assert!(!pair("@other").proved);
}
