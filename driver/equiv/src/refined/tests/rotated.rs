//! Loops among calls and accesses that decide on iterations at their beginning in one version, and at their end in the other.

use super::definitions_within;

const FRAME: &str = "declare void @u(i32)\ndeclare i32 @v(i32)\ndeclare i32 @llvm.smax.i32(i32, i32)\n";

/// Is it proved within so few steps that only small questions are asked?
fn proved(before: &str, after: &str) -> bool {
    let part = |n: u32| {
        format!(
            "%a{n} = getelementptr i32, ptr %p, i32 {n}\n%l{n} = load i32, ptr %a{n}\n%r{n} = call i32 @v(i32 %l{n})\nstore i32 %r{n}, ptr %a{n}\n"
        )
    };
    let first: String = (0..4).map(part).collect();
    let function = |body: &str| {
        format!(
            "{FRAME}define i32 @f(ptr %p, ptr %q, i32 noundef %n) {{\nentry:\n{first}br label %h\n{body}\n}}\n!0 = !{{}}\n"
        )
    };
    definitions_within(&function(before), &function(after), 4_000_000).proved
}

/// `while (*q < n) { v(*q); v(i); *q += n }` among others, and the number of iterations behind it.
fn at_the_beginning(result: &str) -> String {
    format!(
        "h:\n%i = phi i32 [ 0, %entry ], [ %j, %b ]\n%x = load i32, ptr %q, !noundef !0\n%c = icmp slt i32 %x, %n\n\
         br i1 %c, label %b, label %e\n\
         b:\n%y = call i32 @v(i32 %x)\n%z = call i32 @v(i32 %i)\n%w = load i32, ptr %q, !noundef !0\n%s = add i32 %w, %n\n\
         store i32 %s, ptr %q\n%j = add i32 %i, 1\nbr label %h\n\
         e:\ncall void @u(i32 {result})\nret i32 0"
    )
}

/// The same, decided on before the loop by `guard`, and by `again` at its end.
fn at_the_end(guard: &str, again: &str, result: &str) -> String {
    format!(
        "h:\n%x0 = load i32, ptr %q, !noundef !0\n%c0 = icmp {guard}\nbr i1 %c0, label %p, label %e\n\
         p:\nbr label %b\n\
         b:\n%i = phi i32 [ 0, %p ], [ %j, %b ]\n%x = phi i32 [ %x0, %p ], [ %x1, %b ]\n%y = call i32 @v(i32 %x)\n\
         %z = call i32 @v(i32 %i)\n%w = load i32, ptr %q, !noundef !0\n%s = add i32 %w, %n\nstore i32 %s, ptr %q\n%j = add i32 %i, 1\n\
         %x1 = load i32, ptr %q, !noundef !0\n%c = icmp {again}\nbr i1 %c, label %b, label %t\n\
         t:\n%i1 = phi i32 [ %j, %b ]\n%x2 = phi i32 [ %x1, %b ]\nbr label %e\n\
         e:\n%i2 = phi i32 [ 0, %h ], [ %i1, %t ]\n%x3 = phi i32 [ %x0, %h ], [ %x2, %t ]\ncall void @u(i32 {result})\nret i32 0"
    )
}

#[test]
fn a_decision_at_the_end_is_proved() {
    for (before, after) in [("7", "7"), ("%i", "%i2"), ("%x", "%x3")] {
        let (beginning, end) = (at_the_beginning(before), at_the_end("slt i32 %x0, %n", "slt i32 %x1, %n", after));
        assert!(proved(&beginning, &end), "{before}");
        assert!(proved(&end, &beginning), "{after}");
    }
    assert!(proved(&at_the_beginning("%i"), &at_the_end("sgt i32 %n, %x0", "sgt i32 %n, %x1", "%i2")));
}

#[test]
fn another_decision_is_not() {
    let (same, again) = ("slt i32 %x0, %n", "slt i32 %x1, %n");
    for (guard, again, result) in [
        (same, "slt i32 %x, %n", "%i2"),
        (same, "slt i32 %w, %n", "%i2"),
        (same, "sle i32 %x1, %n", "%i2"),
        ("sle i32 %x0, %n", again, "%i2"),
        ("ult i32 %x0, %n", again, "%i2"),
        (same, again, "%x3"),
    ] {
        assert!(!proved(&at_the_beginning("%i"), &at_the_end(guard, again, result)), "{guard}, {again}, {result}");
    }
    assert!(!proved(&at_the_beginning("%x"), &at_the_end(same, again, "%i2")));
}

/// `for (i = 0; i < n; i++) v(i)` with calls on both sides.
fn counting(before: &str, condition: &str, step: &str) -> String {
    format!(
        "h:\n%r = call i32 @v(i32 1)\n{before}br label %l\n\
         l:\n%i = phi i32 [ 0, %h ], [ %j, %b ]\n%c = icmp {condition}\nbr i1 %c, label %b, label %e\n\
         b:\n%y = call i32 @v(i32 %i)\n%z = call i32 @v(i32 %y)\nstore i32 %z, ptr %q\n%j = {step} i32 %i, 1\nbr label %l\n\
         e:\ncall void @u(i32 %i)\n%t = load i32, ptr %p\nret i32 %t"
    )
}

#[test]
fn a_counter_is_known_by_how_far_it_goes() {
    let before = counting("", "slt i32 %i, %n", "add nsw");
    let most = |least: &str| format!("%m = call i32 @llvm.smax.i32(i32 %n, i32 {least})\n");
    assert!(proved(&before, &counting(&most("0"), "ne i32 %i, %m", "add nuw nsw")));
    assert!(!proved(&before, &counting(&most("0"), "ne i32 %i, %n", "add nuw nsw")));
    assert!(!proved(&before, &counting(&most("1"), "ne i32 %i, %m", "add nuw nsw")));
    assert!(!proved(&counting("", "ult i32 %i, %n", "add"), &counting(&most("0"), "ne i32 %i, %m", "add nuw")));
    assert!(!proved(&counting("", "ne i32 %i, %n", "add"), &counting(&most("0"), "ne i32 %i, %m", "add")));
}
