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

/// Facts about a value that follow from its definition are known behind many cuts: of each use, where it may be
/// `undef`.
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

/// Some loads, stores and branches, behind which `%r` is what has been read.
fn reads_twice(before: &str, again: &str, stored: &str) -> String {
    format!(
        "%g = getelementptr i8, ptr %q, i64 8\n%h = load ptr, ptr %g\n%v = load i32, ptr %h\n%l = icmp slt i32 %v, %n\n\
         br i1 %l, label %a, label %b\na:\n{before}\n{again}\n%t = add i32 %w, %n\n{stored}\nbr label %b\n\
         b:\n%r = phi i32 [ %z, %a ], [ %v, %entry ]\ncall void @u(i32 %r)\nret i32 %r"
    )
}

#[test]
fn what_has_been_read_or_stored_is_read_again() {
    let chain = "%g2 = getelementptr i8, ptr %q, i64 8\n%h2 = load ptr, ptr %g2\n%w = load i32, ptr %h2";
    let kept = "%w = add i32 %v, 0";
    let stored = |again: &str| format!("store i32 %t, ptr %h\n{again}");
    let (read, forwarded) = (stored("%z = load i32, ptr %h"), stored("%z = add i32 %t, 0"));
    for (before, after) in
        [((chain, &read), (kept, &read)), ((chain, &read), (kept, &forwarded)), ((kept, &read), (chain, &forwarded))]
    {
        assert!(
            proved(&reads_twice("", before.0, before.1), &reads_twice("", after.0, after.1)),
            "{before:?}, {after:?}"
        );
    }
    // Not where something else may have been stored or freed.
    for between in [
        "store i32 7, ptr %p",
        "call void @u(i32 3)",
        "store ptr %p, ptr %g",
        "%o = getelementptr i8, ptr %h, i64 3\nstore i8 1, ptr %o",
        "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 4, i1 false)",
    ] {
        assert!(!proved(&reads_twice(between, chain, &read), &reads_twice(between, kept, &read)), "{between}");
        let between = format!("store i32 %t, ptr %h\n{between}");
        let [read, kept] = ["%z = load i32, ptr %h", "%z = add i32 %t, 0"].map(|again| format!("{between}\n{again}"));
        assert!(!proved(&reads_twice("", chain, &read), &reads_twice("", chain, &kept)), "{between}");
    }
    // Nor as something else than what is there.
    let wrong = "%w = add i32 %v, 1";
    assert!(!proved(&reads_twice("", chain, &read), &reads_twice("", wrong, &read)));
    let narrow = stored("%y = load i16, ptr %h\n%z = zext i16 %y to i32");
    assert!(!proved(&reads_twice("", chain, &narrow), &reads_twice("", chain, &forwarded)));
}

#[test]
fn what_is_read_at_several_places_is_kept_behind_them() {
    let merged = |one: &str, other: &str, behind: &str| {
        format!(
            "br i1 %c, label %a, label %b\na:\n{one}\nbr label %m\nb:\n{other}\nbr label %m\nm:\n{behind}\n\
             call void @u(i32 %r)\nret i32 %r"
        )
    };
    let (stores, reads) = ("store i32 %x, ptr %p", "%y = load i32, ptr %p\nstore i32 %y, ptr %q");
    let again = merged(stores, reads, "%r = load i32, ptr %p");
    let kept = |value: &str| merged(stores, reads, &format!("%r = phi i32 [ {value}, %a ], [ %y, %b ]"));
    let apart = reads.replace("ptr %q", "ptr %p");
    assert!(proved(
        &again.replace(reads, &apart).replace("i32 %x", "i32 %n"),
        &kept("%n").replace(reads, &apart).replace("i32 %x", "i32 %n")
    ));
    // The second store may change it.
    assert!(!proved(&again, &kept("%x")));
    assert!(!proved(&again.replace(reads, &apart), &kept("%n").replace(reads, &apart)));
}

/// A stored value is known behind cuts if it is a constant or a parameter, too.
#[test]
fn constants_and_parameters_are_in_memory() {
    let behind = |stored: &str, between: &str, last: &str| {
        format!(
            "store i32 {stored}, ptr %p\nbr i1 %c, label %a, label %b\na:\n{between}\nbr label %b\nb:\n{last}\n\
             call void @u(i32 %r)\nret i32 %r"
        )
    };
    let (read, far) = ("%r = load i32, ptr %p", "%v = load i32, ptr %q\nstore i32 %v, ptr %q");
    let is = |value: &str| format!("%r = add i32 {value}, 0");
    for value in ["7", "%n"] {
        assert!(proved(&behind(value, far, read), &behind(value, far, &is(value))), "{value}");
        for between in ["store i32 8, ptr %q", "store i8 0, ptr %p", "call void @u(i32 1)"] {
            assert!(!proved(&behind(value, between, read), &behind(value, between, &is(value))), "{value}, {between}");
        }
        assert!(!proved(&behind(value, far, read), &behind(value, far, &is("9"))), "{value}");
    }
    // Each use of it may be another value, if it may be `undef`.
    let one = "%y = load i32, ptr %p\n%f = freeze i32 %y\n%r = sub i32 %f, %f";
    let several = |value: &str| format!("%f = freeze i32 {value}\n%r = sub i32 %f, {value}");
    assert!(proved(&behind("%n", far, one), &behind("%n", far, &several("%n"))));
    assert!(!proved(&behind("%x", far, one), &behind("%x", far, &several("%x"))));
}

/// A value that only the first version keeps may be another one at each use, as what the second one reads again.
#[test]
fn what_is_kept_before_may_be_undef() {
    let behind = |read: &str, used: &str| {
        format!(
            "{read}\nbr i1 %c, label %a, label %b\na:\n%o = load i32, ptr %q, !noundef !0\nbr label %b\nb:\n{used}\n\
             %r = sub i32 %s, %t\ncall void @u(i32 %r)\nret i32 %r"
        )
    };
    let load = |to: &str| format!("{to} = load i32, ptr %p");
    let uses = |of: &str| format!("%s = add i32 {of}, 0\n%t = add i32 {of}, 0");
    let frozen = |of: &str| format!("%f = freeze i32 {of}\n{}", uses("%f"));
    let both = |uses: String| behind(&load("%v"), &format!("{}\n{uses}", load("%w")));
    assert!(proved(&both(uses("%v")), &both(uses("%w"))));
    assert!(proved(&both(uses("%w")), &both(uses("%v"))));
    assert!(!proved(&both(frozen("%v")), &both(uses("%w"))));
    assert!(!proved(&both(frozen("%w")), &both(uses("%v"))));
}

/// A location that is read in each iteration, though nothing changes it, may be read before the loop; not where
/// something may change it.
#[test]
fn what_loops_read_is_read_before() {
    let looping = |before: &str, inside: &str, more: &str| {
        format!(
            "{before}\nbr label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n%s = phi i32 [ 0, %entry ], [ %t, %l ]\n\
             {inside}\n{more}\n%t = add i32 %s, %v\n%j = add i32 %i, 1\n%d = icmp ult i32 %j, 9\n\
             br i1 %d, label %l, label %e\ne:\nret i32 %t"
        )
    };
    let load = "%v = load i32, ptr %p";
    assert!(proved(&looping("", load, ""), &looping(load, "", "")));
    assert!(proved(&looping("", load, "store i32 %v, ptr %p"), &looping(load, "", "store i32 %v, ptr %p")));
    for changes in ["store i32 %i, ptr %p", "store i32 %i, ptr %q", "call void @u(i32 %i)"] {
        assert!(!proved(&looping("", load, changes), &looping(load, "", changes)), "{changes}");
    }
}
