//! Pairs of functions of which one refines the other, or does not.

use super::super::{Config, Files, Seen};
use super::compare;
use crate::llvm::module::read;

/// What is seen of two bodies that give an `i32`.
fn seen(before: &str, after: &str) -> Seen {
    let file = |body: &str| {
        let parameters = "i1 %c, i32 %x, i32 %y, ptr %p, ptr noundef %q, i32 noundef %n, double %d, double %e, i8 %b";
        let target = "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";
        let more = "@k = external global i32\ndeclare i32 @g(i32)\ndeclare void @h(ptr)\n";
        read(format!("{target}{more}define i32 @f({parameters}) {{\nentry:\n{body}\n}}\n")).unwrap()
    };
    let (before, after) = (file(before), file(after));
    let solver = ["z3", "-in"].map(String::from).to_vec();
    let config = Config { methods: vec![], runs: 0, seed: 0, clang: "".into(), solver };
    compare(&Files::new(&before, &after), &config).unwrap().remove(0)
}

#[test]
fn what_refines_is_proved() {
    for (before, after) in [
        ("%r = add nsw i32 %x, 1\nret i32 %r", "%r = add i32 1, %x\nret i32 %r"),
        ("%r = mul i32 %x, 8\nret i32 %r", "%r = shl i32 %x, 3\nret i32 %r"),
        // What is chosen once may be anything; so may what was chosen twice.
        ("%r = sub i32 %x, %x\nret i32 %r", "%f = freeze i32 %x\n%r = sub i32 %f, %f\nret i32 %r"),
        ("%f = freeze i32 %x\n%r = shl i32 %f, 1\nret i32 %r", "%f = freeze i32 %x\n%r = add i32 %f, %f\nret i32 %r"),
        ("ret i32 undef", "ret i32 7"),
        // Branches.
        (
            "br i1 %c, label %t, label %e\nt:\nbr label %e\ne:\n%r = phi i32 [ %x, %t ], [ %y, %entry ]\nret i32 %r",
            "%r = select i1 %c, i32 %x, i32 %y\nret i32 %r",
        ),
        (
            "switch i32 %n, label %o [\ni32 1, label %a\ni32 -1, label %a\n]\na:\nret i32 1\no:\nret i32 0",
            "%a = icmp eq i32 %n, 1\n%b = icmp eq i32 %n, -1\n%t = or i1 %a, %b\n%r = zext i1 %t to i32\nret i32 %r",
        ),
        // What is undefined already.
        ("%r = udiv i32 %x, 0\nret i32 %r", "ret i32 7"),
        ("unreachable", "ret i32 7"),
        // Memory.
        (
            "store i32 %x, ptr %p\nstore i32 7, ptr %p\n%r = load i32, ptr %q\nret i32 %r",
            "store i32 7, ptr %p\n%r = load i32, ptr %q\nret i32 %r",
        ),
        (
            "%a = getelementptr [4 x i32], ptr %p, i64 0, i64 1\nstore i32 %n, ptr %a\n%r = load i32, ptr %a\nret i32 %r",
            "%a = getelementptr i8, ptr %p, i64 4\nstore i32 %n, ptr %a\nret i32 %n",
        ),
        (
            "br i1 %c, label %t, label %e\nt:\nstore i32 1, ptr %p\nret i32 1\ne:\nstore i32 2, ptr %p\nret i32 2",
            "%r = select i1 %c, i32 1, i32 2\n%f = freeze i32 %r\nstore i32 %r, ptr %p\nret i32 %r",
        ),
        // Calls, and what they leave in memory.
        (
            "%r = call i32 @g(i32 %n)\n%s = mul i32 %r, 8\nret i32 %s",
            "%r = call i32 @g(i32 %n)\n%s = shl i32 %r, 3\nret i32 %s",
        ),
        (
            "store i32 1, ptr %p\nstore i32 2, ptr %p\ncall void @h(ptr %p)\n%r = load i32, ptr %p\nret i32 %r",
            "store i32 2, ptr %p\ncall void @h(ptr %p)\n%r = load i32, ptr %p\nret i32 %r",
        ),
        (
            "br i1 %c, label %t, label %e\nt:\ncall void @h(ptr @k)\nbr label %e\ne:\n%r = mul i32 %n, 2\nret i32 %r",
            "br i1 %c, label %t, label %e\nt:\ncall void @h(ptr @k)\nbr label %e\ne:\n%r = shl i32 %n, 1\nret i32 %r",
        ),
        (
            "%s = alloca i32\nstore i32 %n, ptr %s\ncall void @h(ptr %s)\n%r = load i32, ptr %s\nret i32 %r",
            "%t = alloca i32\nstore i32 %n, ptr %t\ncall void @h(ptr %t)\n%r = load i32, ptr %t\nret i32 %r",
        ),
        // Floats.
        (
            "%s = fadd double %d, %e\n%t = fcmp ole double %s, 1.5\n%r = zext i1 %t to i32\nret i32 %r",
            "%s = fadd double %e, %d\n%t = fcmp oge double 1.5, %s\n%r = zext i1 %t to i32\nret i32 %r",
        ),
        (
            "%t = fcmp ogt double %d, %e\n%r = zext i1 %t to i32\nret i32 %r",
            "%t = fcmp olt double %e, %d\n%r = zext i1 %t to i32\nret i32 %r",
        ),
    ] {
        let seen = seen(before, after);
        let decided = seen.runs > 0 && seen.differs.is_none();
        assert!(decided, "{before}\n{after}\n{:?}, {:?}", seen.differs, seen.open);
    }
}

#[test]
fn what_does_not_refine_is_refuted() {
    for (before, after) in [
        ("%r = add i32 %x, 1\nret i32 %r", "%r = add nsw i32 %x, 1\nret i32 %r"),
        ("%r = add i32 %x, 1\nret i32 %r", "%r = add nuw i32 %x, 1\nret i32 %r"),
        (
            "%m = mul i8 %b, 2\n%r = zext i8 %m to i32\nret i32 %r",
            "%m = add i8 %b, %b\n%r = zext i8 %m to i32\nret i32 %r",
        ),
        ("%r = lshr i32 %x, 1\nret i32 %r", "%r = lshr exact i32 %x, 1\nret i32 %r"),
        ("%m = and i32 %y, 31\n%r = shl i32 %x, %m\nret i32 %r", "%r = shl i32 %x, %y\nret i32 %r"),
        ("%f = freeze i32 %x\nret i32 %f", "ret i32 %x"),
        (
            "%f = freeze i32 %x\n%r = sub i32 %f, %f\nret i32 %r",
            "%f = freeze i32 %x\n%g = freeze i32 %x\n%r = sub i32 %f, %g\nret i32 %r",
        ),
        (
            "%r = select i1 %c, i32 %x, i32 %y\nret i32 %r",
            "br i1 %c, label %t, label %e\nt:\nret i32 %x\ne:\nret i32 %y",
        ),
        ("ret i32 %x", "%r = udiv i32 %x, %n\n%s = mul i32 %r, 0\n%t = add i32 %s, %x\nret i32 %t"),
        ("store i32 1, ptr %p\nret i32 0", "store i32 2, ptr %p\nret i32 0"),
        ("store i32 1, ptr %p\nret i32 0", "store i16 1, ptr %p\nret i32 0"),
        (
            "store i32 %n, ptr %p\nret i32 0",
            "%s = add nsw i32 %n, 0\n%t = add nuw i32 %s, 1\n%u = sub i32 %t, 1\nstore i32 %u, ptr %p\nret i32 0",
        ),
        (
            "store i32 1, ptr %p\nstore i32 2, ptr %q\n%r = load i32, ptr %p\nret i32 %r",
            "store i32 1, ptr %p\nstore i32 2, ptr %q\nret i32 1",
        ),
        (
            "%t = fcmp ogt double %d, %e\n%r = zext i1 %t to i32\nret i32 %r",
            "%t = fcmp ugt double %d, %e\n%r = zext i1 %t to i32\nret i32 %r",
        ),
        ("ret i32 7", "ret i32 undef"),
        ("ret i32 7", "unreachable"),
    ] {
        let seen = seen(before, after);
        assert!(seen.differs.is_some(), "{before}\n{after}\n{:?}", seen.open);
    }
}

const CALLS: &str = "it depends on what calls do";

#[test]
fn what_is_not_modelled_is_neither() {
    for (before, after, reason) in [
        ("br label %l\nl:\nbr label %l", "br label %m\nm:\nbr label %m", "it has a loop"),
        ("%r = call i32 %q()\nret i32 %r", "ret i32 7", "it calls what a pointer says"),
        // They are other calls, or in another order, or told other things: perhaps that does not matter.
        ("%r = call i32 @g()\nret i32 0", "ret i32 0", CALLS),
        ("%r = call i32 @g()\ncall void @h()\nret i32 %r", "call void @h()\n%r = call i32 @g()\nret i32 %r", CALLS),
        ("%r = call i32 @g(i32 %n)\nret i32 0", "%m = or i32 %n, 1\n%r = call i32 @g(i32 %m)\nret i32 0", CALLS),
        ("store i32 1, ptr %q\ncall void @h()\nret i32 0", "store i32 2, ptr %q\ncall void @h()\nret i32 0", CALLS),
        (
            "store i32 1, ptr %q\ncall void @h()\nstore i32 2, ptr %q\nret i32 0",
            "store i32 2, ptr %q\ncall void @h()\nstore i32 2, ptr %q\nret i32 0",
            CALLS,
        ),
        (
            "store i32 1, ptr %q\ncall void @h()\n%r = load i32, ptr %q\nret i32 %r",
            "store i32 1, ptr %q\ncall void @h()\n%r = load i32, ptr %q\nret i32 1",
            CALLS,
        ),
        // It may not come back to divide.
        ("call void @h()\n%r = udiv i32 %n, %n\nret i32 %r", "%r = udiv i32 %n, %n\ncall void @h()\nret i32 %r", CALLS),
        // Nobody says that there is memory at `%q`, nor that there is none.
        ("ret i32 0", "%r = load i32, ptr %q\n%s = mul i32 %r, 0\nret i32 0", "it depends on what memory is there"),
        (
            "%a = getelementptr i8, ptr %p, i64 %i\nret i32 0",
            "%a = getelementptr i8, ptr %p, i64 4\nret i32 0",
            "%i is used before it is there",
        ),
        // Whatever it is that differs: where the sum is a NaN its bits are any.
        (
            "%s = fptrunc double %d to float\n%r = bitcast float %s to i32\nret i32 %r",
            "ret i32 5",
            "it depends on the bits of a NaN",
        ),
        (
            "%a = getelementptr i8, ptr %p, i64 4\n%r = load i32, ptr %a\nret i32 %r",
            "%a = getelementptr inbounds i8, ptr %p, i64 4\n%r = load i32, ptr %a\nret i32 %r",
            "it depends on where objects end",
        ),
    ] {
        let seen = seen(before, after);
        assert!(seen.runs == 0 && seen.differs.is_none(), "{before}\n{after}\n{:?}", seen.differs);
        let said: Vec<&str> = seen.open.keys().map(|said| said.as_str()).collect();
        assert_eq!(said, [reason], "{after}");
    }
}
