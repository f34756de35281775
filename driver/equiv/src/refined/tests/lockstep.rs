//! Versions that do the same one after the other, or almost.

use super::definitions_within;

const FRAME: &str = "declare void @u(i32)\ndeclare void @free(ptr)\n";

/// Is it proved within so few steps that only small questions are asked?
fn proved(before: &str, after: &str) -> bool {
    let function = |body: &str| {
        format!(
            "{FRAME}define i32 @f(i1 %c, i32 %x, ptr %p, ptr %q, i32 noundef %n) {{\nentry:\n{body}\n}}\n!0 = !{{}}\n"
        )
    };
    definitions_within(&function(before), &function(after), 4_000_000).proved
}

/// Loads, stores and calls in turn, so many that one question about all of them is too much, with something in their middle.
fn among_others(middle: &str, result: &str) -> String {
    let part = |n: u32| {
        format!(
            "%a{n} = getelementptr i32, ptr %p, i32 {n}\n%v{n} = load i32, ptr %a{n}, !noundef !0\n%s{n} = add i32 %v{n}, %n\n\
             store i32 %s{n}, ptr %q\n%w{n} = load i32, ptr %a{n}, !noundef !0\n%r{n} = call i32 @i(i32 %w{n})\n\
             store i32 %r{n}, ptr %a{n}\n"
        )
    };
    let parts = |from: u32| (from..from + 2).map(part).collect::<String>();
    format!("{}{middle}\n{}ret i32 {result}", parts(0), parts(2))
}

#[test]
fn one_change_among_much_is_proved() {
    for (before, after, result) in [
        ("%m = mul i32 %r0, %r1", "%m = mul i32 %r1, %r0", "%m"),
        ("%l = add i32 %r0, %n\n%m = add i32 %l, %r1", "%l = add i32 %n, %r1\n%m = add i32 %l, %r0", "%m"),
        ("%l = load i32, ptr %p\n%m = shl i32 %l, 1", "%l = load i32, ptr %p\n%m = mul i32 %l, 2", "%m"),
        ("%m = add nsw i32 %r0, %r1", "%m = add i32 %r0, %r1", "%m"),
    ] {
        assert!(proved(&among_others(before, result), &among_others(after, result)), "{before}, {after}");
    }
}

#[test]
fn one_wrong_change_among_much_is_not() {
    for (before, after, result) in [
        ("%m = sub i32 %r0, %r1", "%m = sub i32 %r1, %r0", "%m"),
        ("%m = add i32 %r0, %r1", "%m = add nsw i32 %r0, %r1", "%m"),
        ("%l = load i32, ptr %p\n%m = shl i32 %l, 1", "%l = load i32, ptr %p\n%m = add i32 %l, %l", "%m"),
        ("%l = load i32, ptr %p\n%m = freeze i32 %l", "%l = load i32, ptr %p\n%m = add i32 %l, 0", "%m"),
        ("%l = load i32, ptr %p\nstore i32 1, ptr %q", "store i32 1, ptr %q\n%l = load i32, ptr %p", "%l"),
        ("%l = load i32, ptr %p\ncall void @free(ptr %p)", "call void @free(ptr %p)\n%l = load i32, ptr %p", "%l"),
        ("call void @u(i32 1)\ncall void @u(i32 2)", "call void @u(i32 2)\ncall void @u(i32 1)", "0"),
        ("store i32 %n, ptr %p", "store i32 %x, ptr %p", "0"),
        ("call void @u(i32 1)", "", "0"),
    ] {
        assert!(!proved(&among_others(before, result), &among_others(after, result)), "{before}, {after}");
    }
}

#[test]
fn joins_and_loops_are_met_together() {
    let joined = |yes: &str, no: &str, then: &str| {
        format!(
            "call void @u(i32 0)\nbr i1 %c, label %a, label %b\na:\ncall void @u(i32 1)\nbr label %j\nb:\nbr label %j\n\
             j:\n%m = phi i32 [ {yes}, %a ], [ {no}, %b ]\n{then}"
        )
    };
    let rest = "call void @u(i32 2)\nret i32 %m";
    assert!(proved(&joined("%x", "undef", rest), &joined("%x", "0", rest)));
    for (yes, no) in [("%x", "undef"), ("%x", "poison"), ("0", "%x"), ("%x", "1")] {
        assert!(!proved(&joined("%x", "0", rest), &joined(yes, no, rest)), "{yes}, {no}");
    }
    let looping = |first: &str, step: &str, next: &str| {
        format!(
            "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%m = phi i32 [ {first}, %entry ], [ {next}, %l ]\n\
             %t = call i32 @i(i32 %i)\n%v = freeze i32 %t\n%w = {step}\ncall void @u(i32 %w)\n%j = add i32 %i, 1\n%d = icmp ult i32 %j, %n\n\
             br i1 %d, label %l, label %e\ne:\nret i32 %m"
        )
    };
    let before = looping("%n", "add i32 %v, %m", "%w");
    assert!(proved(&before, &looping("%n", "add i32 %m, %v", "%w")));
    for (first, step, next) in [
        ("0", "add i32 %v, %m", "%w"),
        ("%n", "add i32 %v, %v", "%w"),
        ("%n", "add nuw i32 %v, %m", "%w"),
        ("%n", "add i32 %v, %m", "%m"),
        ("%n", "add i32 %v, %m", "poison"),
    ] {
        assert!(!proved(&before, &looping(first, step, next)), "{first}, {step}, {next}");
    }
    // A loop that never ends stays, and none is made.
    let [forever, never] =
        ["br label %l\nl:\nbr label %l", "br label %l\nl:\nret i32 0"].map(|end| format!("call void @u(i32 0)\n{end}"));
    assert!(proved(&forever, &forever));
    assert!(!proved(&forever, &never));
    assert!(!proved(&never, &forever));
}

/// What is known of a value by what computes it is known behind many cuts: of each use, where it may be `undef`.
#[test]
fn bounds_of_values_are_known_behind_cuts() {
    let far = |made: &str, middle: &str| {
        let before = format!("%b = load i8, ptr %p\n%z = zext i8 %b to i32\n%m = {made}\n");
        format!("{before}{}", among_others(middle, "%k"))
    };
    let power = |flags: &str| format!("%k = shl {flags} i32 1, %m");
    let wide = |flags: &str| format!("%w = zext {flags} i32 %m to i64\n%d = udiv i64 %w, 3\n%k = trunc i64 %d to i32");
    let below = |n: u32| format!("%c = icmp ult i32 %m, {n}\n%k = select i1 %c, i32 7, i32 %n");
    let seven = "%k = add i32 7, 0".to_string();
    for (made, before, after) in [
        ("and i32 %z, 15", power(""), power("nuw nsw")),
        ("urem i32 %z, 31", power(""), power("nuw nsw")),
        ("lshr i32 %z, 4", power(""), power("nuw nsw")),
        ("add i32 %z, 1", wide(""), wide("nneg")),
        ("and i32 %z, 15", below(16), seven.clone()),
    ] {
        assert!(proved(&far(made, &before), &far(made, &after)), "{made}, {after}");
    }
    for (made, before, after) in [
        ("and i32 %z, 31", power(""), power("nuw nsw")),
        ("urem i32 %z, 33", power(""), power("nuw nsw")),
        ("lshr i32 %z, 3", power(""), power("nuw nsw")),
        ("sub i32 %z, 1", wide(""), wide("nneg")),
        ("and i32 %z, 15", below(15), seven),
    ] {
        assert!(!proved(&far(made, &before), &far(made, &after)), "{made}, {after}");
    }
}

/// A bound that holds when a loop begins need not hold later.
#[test]
fn bounds_in_loops_are_those_of_all_iterations() {
    let looping = |next: &str, flags: &str| {
        format!(
            "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\ncall void @u(i32 1)\n%k = shl {flags} i32 1, %i\n\
             call void @u(i32 2)\n%t = call i32 @i(i32 %n)\n%v = freeze i32 %t\n%j = {next}\n%d = icmp ult i32 %v, %n\n\
             br i1 %d, label %l, label %e\ne:\nret i32 %k"
        )
    };
    assert!(proved(&looping("and i32 %v, 7", ""), &looping("and i32 %v, 7", "nuw nsw")));
    for next in ["and i32 %v, 31", "add i32 %i, 1", "add i32 %v, 0"] {
        assert!(!proved(&looping(next, ""), &looping(next, "nuw nsw")), "{next}");
    }
}

/// Conversions that only one version says more of are in both of them what they are made of.
#[test]
fn conversions_with_flags_are_paired_with_others() {
    let far = |flags: &str| {
        format!(
            "%b = call i32 @i(i32 1)\n%m = and i32 %b, 255\n%w = zext {flags} i32 %m to i64\n{}",
            among_others("%d = udiv i64 %w, 3\n%k = trunc i64 %d to i32", "%k")
        )
    };
    assert!(proved(&far(""), &far("nneg")));
    assert!(proved(&far("nneg"), &far("")));
    let any = |flags: &str| far(flags).replace("and i32 %b, 255", "xor i32 %b, 255");
    assert!(!proved(&any(""), &any("nneg")));
}
