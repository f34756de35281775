//! Loads that are executed earlier, where paths meet, among much that is the same; and blocks that are other ones.

use super::definitions_within;

const FRAME: &str = "declare void @u(i32)\ndeclare void @h() nounwind willreturn memory(none)\n";

/// Is it proved within so few steps that only small questions are asked?
fn proved(before: &str, after: &str) -> bool {
    let function = |body: &str| {
        let (first, second) = (calls(0), calls(4));
        format!(
            "{FRAME}define i32 @f(i1 %c, i1 %d, ptr %p, i32 noundef %n) {{\nentry:\n{first}br label %start\nstart:\n{body}\n\
             {second}ret i32 %n\n}}\n!0 = !{{}}\n"
        )
    };
    definitions_within(&function(before), &function(after), 4_000_000).proved
}

/// Calls in turn, so many that one question about all of them is too much.
fn calls(from: u32) -> String {
    let one = |n: u32| {
        format!(
            "%a{n} = getelementptr i32, ptr %p, i32 {n}\n%v{n} = load i32, ptr %a{n}, !noundef !0\n%r{n} = call i32 @i(i32 %v{n})\n\
             store i32 %r{n}, ptr %a{n}\n"
        )
    };
    (from..from + 4).map(one).collect()
}

/// A loop: what stands before it, in its header and in its body.
fn around(before: &str, header: &str, body: &str) -> String {
    format!(
        "{before}br label %head\nhead:\n{header}%t = icmp slt i32 %m, 8\nbr i1 %t, label %body, label %out\nbody:\n{body}\
         br label %head\nout:\n"
    )
}

const LOAD: &str = "%m = load i32, ptr %p, !noundef !0\n";
const PASSED: &str = "%m = phi i32 [ %e, %start ], [ %k, %body ]\n";
const EARLY: &str = "%e = load i32, ptr %p, !noundef !0\n";
const COUNT: &str = "%k = add i32 %m, 1\nstore i32 %k, ptr %p\n";

#[test]
fn loads_that_loops_carry_are_proved() {
    let again = "%o = load i32, ptr %p, !noundef !0\n%k = add i32 %o, 1\nstore i32 %k, ptr %p\n";
    let field = "%q = getelementptr i32, ptr %p, i32 1\n%w = load i32, ptr %q, !noundef !0\n%y = shl i32 %w, 1\nstore i32 %y, ptr %q\n";
    for body in [COUNT, again] {
        let before = around("", LOAD, &format!("{body}{field}"));
        let after = around(EARLY, PASSED, &format!("{COUNT}{field}"));
        assert!(proved(&before, &after), "{before}{after}");
    }
}

#[test]
fn loads_that_leave_loops_are_proved() {
    let header = "%i = phi i32 [ 0, %start ], [ %k, %body ]\n%z = load i32, ptr %p, !noundef !0\n%m = sub i32 %i, %z\n";
    let without = "%i = phi i32 [ 0, %start ], [ %k, %body ]\n%m = sub i32 %i, %z\n";
    let early = "%z = load i32, ptr %p, !noundef !0\n";
    let body = "%k = add i32 %i, 1\ncall void @h()\n";
    assert!(proved(&around("", header, body), &around(early, without, body)));
}

#[test]
fn wrong_loads_that_loops_carry_are_not() {
    let aliased = format!("{COUNT}store i32 5, ptr %a0\n");
    let called = format!("{COUNT}call void @u(i32 %k)\n");
    for (before, after) in [
        // The place may be written through another pointer, or by a call.
        (around("", LOAD, &aliased), around(EARLY, PASSED, &aliased)),
        (around("", LOAD, &called), around(EARLY, PASSED, &called)),
        // A call that may not return stands before the loop.
        (around("call void @u(i32 1)\n", LOAD, COUNT), around(&format!("{EARLY}call void @u(i32 1)\n"), PASSED, COUNT)),
        // The value of the iteration before.
        (around("", LOAD, COUNT), around(EARLY, "%m = phi i32 [ %e, %start ], [ %m, %body ]\n", COUNT)),
        // Another place.
        (
            around("", LOAD, COUNT),
            around("%x = getelementptr i32, ptr %p, i32 9\n%e = load i32, ptr %x, !noundef !0\n", PASSED, COUNT),
        ),
    ] {
        assert!(!proved(&before, &after), "{before}{after}");
    }
    // The first version loads only where the loop is entered.
    let guarded = |before: &str, body: &str| {
        format!(
            "{before}br label %head\nhead:\n%i = phi i32 [ 0, %start ], [ %k, %body ]\n%t = icmp slt i32 %i, %n\n\
             br i1 %t, label %body, label %out\nbody:\n{body}%k = add i32 %i, %z\nbr label %head\nout:\n"
        )
    };
    let load = "%x = getelementptr i32, ptr %p, i32 99\n%z = load i32, ptr %x, !noundef !0\n";
    assert!(!proved(&guarded("", load), &guarded(load, "")));
}

#[test]
fn loads_on_one_path_to_a_merge() {
    let merge = |one: &str, other: &str, behind: &str| {
        format!(
            "br i1 %c, label %yes, label %no\nyes:\n{one}br label %join\nno:\n{other}br label %join\njoin:\n{behind}\
             call void @u(i32 %m)\n"
        )
    };
    let (one, other) =
        ("%x = load i32, ptr %p, !noundef !0\n%k = add i32 %x, 1\n", "%y = load i32, ptr %p, !noundef !0\n");
    let before = merge(one, "", LOAD);
    assert!(proved(&before, &merge(one, other, "%m = phi i32 [ %x, %yes ], [ %y, %no ]\n")));
    assert!(!proved(&before, &merge(one, other, "%m = phi i32 [ %k, %yes ], [ %y, %no ]\n")));
    let stored = "%x = load i32, ptr %p, !noundef !0\n%k = add i32 %x, 1\nstore i32 %k, ptr %p\n";
    assert!(proved(&merge(stored, "", LOAD), &merge(stored, other, "%m = phi i32 [ %k, %yes ], [ %y, %no ]\n")));
    assert!(!proved(&merge(stored, "", LOAD), &merge(stored, other, "%m = phi i32 [ %x, %yes ], [ %y, %no ]\n")));
}

#[test]
fn conditions_that_are_decided_together() {
    let apart = "br i1 %c, label %second, label %no\nsecond:\nbr i1 %d, label %yes, label %no\n";
    let arms = "yes:\ncall void @u(i32 1)\nbr label %join\nno:\ncall void @u(i32 2)\nbr label %join\njoin:\n";
    let together = |condition: &str| format!("%b = {condition}\nbr i1 %b, label %yes, label %no\n");
    let before = format!("{apart}{arms}");
    assert!(proved(&before, &format!("{}{arms}", together("select i1 %c, i1 %d, i1 false"))));
    // The first version does not look at the second condition where the first one does not hold: it may be poison.
    for wrong in ["and i1 %c, %d", "select i1 %c, i1 true, i1 %d", "select i1 %d, i1 %c, i1 false"] {
        assert!(!proved(&before, &format!("{}{arms}", together(wrong))), "{wrong}");
    }
}

#[test]
fn blocks_that_are_one_and_phis_that_pass_on() {
    let apart = "br i1 %c, label %yes, label %join\nyes:\n%x = load i32, ptr %p, !noundef !0\nbr label %more\nmore:\n\
                 %y = phi i32 [ %x, %yes ]\n%s = add i32 %y, %n\ncall void @u(i32 %s)\nbr label %last\nlast:\n\
                 store i32 %s, ptr %p\nbr label %join\njoin:\n";
    let one = |sum: &str| {
        format!(
            "br i1 %c, label %yes, label %join\nyes:\n%x = load i32, ptr %p, !noundef !0\n%s = {sum}\n\
             call void @u(i32 %s)\nstore i32 %s, ptr %p\nbr label %join\njoin:\n"
        )
    };
    assert!(proved(apart, &one("add i32 %n, %x")));
    assert!(proved(&one("add i32 %n, %x"), apart));
    let floats = |phi: &str, sum: &str| {
        format!(
            "%x = load float, ptr %p, !noundef !0\nbr label %more\nmore:\n{phi}%b = {sum}\nstore float %b, ptr %p\n"
        )
    };
    // A phi with flags does not only pass on.
    let (plain, flagged) = ("%y = phi float [ %x, %start ]\n", "%y = phi nnan float [ %x, %start ]\n");
    assert!(proved(&floats(plain, "fneg float %y"), &floats("", "fneg float %x")));
    assert!(!proved(&floats("", "fneg float %x"), &floats(flagged, "fneg float %y")));
    assert!(!proved(apart, &one("add nsw i32 %n, %x")));
    assert!(!proved(apart, &one("sub i32 %n, %x")));
}
