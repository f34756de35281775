//! Pairs of functions of which one refines the other, or does not.

mod allocations;
mod callees;
mod calls;
mod conventions;
mod decided;
mod hoisted;
mod inlined;
mod known;
mod lanes;
mod lockstep;
mod mentioned;
mod nans;
mod objects;
mod ordered;
mod promised;
mod promoted;
mod rotated;
mod shared;
mod stored;

use super::super::modules::Module;
use super::super::{Config, Files};
use super::{Decided, compare};
use crate::callees::as_called;
use rewright_llvm::module::{File, read};

const TARGET: &str = "target datalayout = \"e-i64:64\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n";

/// What is decided of the first functions of two files.
fn of_files(before: &File, after: &File) -> Decided {
    within(before, after, super::STEPS)
}

/// The same within this many steps of the solver.
fn within(before: &File, after: &File, solver_steps: u64) -> Decided {
    let called = as_called(before, after, &Default::default());
    let modules = Module::pair([&called[0], &called[1]], [before, after]);
    let files =
        Files { before: &called[0], after: &called[1], modules: [&modules[0], &modules[1]], pairs: vec![(0, 0)] };
    let solver = ["z3", "-in"].map(String::from).to_vec();
    let config = Config {
        methods: vec![],
        runs: 0,
        seed: 0,
        clang: "".into(),
        solver,
        solver_steps,
        whole_modules: false,
        vouched: Default::default(),
        function: None,
        part: None,
        input: None,
        words: None,
    };
    compare(&files, &config).unwrap().remove(0)
}

#[test]
fn a_budget_that_is_spent_is_said() {
    let file =
        |body: &str| read(format!("{TARGET}define i32 @f(i32 %x, i32 %y) {{\n{body}\nret i32 %r\n}}\n")).unwrap();
    let [square, product] = [
        "%s = add i32 %x, %y\n%r = mul i32 %s, %s",
        "%a = mul i32 %x, %x\n%b = mul i32 %x, %y\n\
        %c = shl i32 %b, 1\n%d = mul i32 %y, %y\n%e = add i32 %a, %c\n%r = add i32 %e, %d",
    ]
    .map(file);
    let decided = within(&square, &product, 1000);
    assert!(!decided.proved);
    let said: Vec<&String> = decided.seen.open.keys().collect();
    assert!(said[0].starts_with("solver, 1000 steps for this function are spent"), "{said:?}");
}

/// What is decided of two bodies that give an `i32`.
fn decided(before: &str, after: &str) -> Decided {
    let file = |body: &str| {
        let parameters = "i1 %c, i32 %x, i32 %y, ptr %p, ptr noundef %q, i32 noundef %n, double %d, double %e, i8 %b";
        let more = "@k = external global i32\ndeclare i32 @g(i32)\ndeclare void @h(ptr)\n";
        read(format!("{TARGET}{more}define i32 @f({parameters}) {{\nentry:\n{body}\n}}\n")).unwrap()
    };
    of_files(&file(before), &file(after))
}

/// What is decided of two definitions.
pub(super) fn of_definitions(before: &str, after: &str) -> Decided {
    definitions_within(before, after, super::STEPS)
}

/// The same within this many steps of the solver.
pub(super) fn definitions_within(before: &str, after: &str, solver_steps: u64) -> Decided {
    let more = "declare ptr @g(ptr)\ndeclare void @h(ptr)\ndeclare i32 @i(i32)\n";
    let [before, after] = [before, after].map(|text| read(format!("{TARGET}{more}{text}")).unwrap());
    within(&before, &after, solver_steps)
}

#[test]
fn what_refines_is_proved() {
    for (before, after) in [
        ("%r = add nsw i32 %x, 1\nret i32 %r", "%r = add i32 1, %x\nret i32 %r"),
        ("%r = mul i32 %x, 8\nret i32 %r", "%r = shl i32 %x, 3\nret i32 %r"),
        // A value that is chosen once may be anything; so may one that was chosen twice.
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
            "%a = getelementptr [4 x i32], ptr %p, i64 0, i64 1\nstore i32 %n, ptr %a\n%r = load i32, ptr %a\n\
             ret i32 %r",
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
        let decided = decided(before, after);
        assert!(decided.proved, "{before}\n{after}\n{decided:?}");
    }
}

#[test]
fn what_does_not_refine_has_an_answer_against_it() {
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
        // The least number divided by -1 is undefined, and poison may be that.
        (
            "%v = add nsw i32 %x, %y\n%m = mul i32 %v, 0\n%r = udiv i32 %m, %n\nret i32 %r",
            "%v = add nsw i32 %x, %y\n%m = mul i32 %v, 0\n%r = sdiv i32 %m, %n\nret i32 %r",
        ),
        (
            "%v = add nsw i32 %x, %y\n%m = mul i32 %v, 0\n%r = urem i32 %m, %n\nret i32 %r",
            "%v = add nsw i32 %x, %y\n%m = mul i32 %v, 0\n%r = srem i32 %m, %n\nret i32 %r",
        ),
        ("ret i32 7", "ret i32 undef"),
        ("ret i32 7", "unreachable"),
    ] {
        let decided = decided(before, after);
        assert!(!decided.proved && decided.model.is_some(), "{before}\n{after}\n{decided:?}");
    }
}

const CALLS: &str = "it depends on what calls do";

#[test]
fn what_is_not_modelled_is_neither() {
    for (before, after, reason) in [
        ("%r = call i32 %q()\nret i32 %r", "ret i32 7", CALLS),
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
        // Whether there is memory at `%q` is unknown.
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
        let decided = decided(before, after);
        assert!(!decided.proved, "{before}\n{after}\n{decided:?}");
        let said: Vec<&str> = decided.seen.open.keys().map(|said| said.as_str()).collect();
        assert_eq!(said, [reason], "{after}");
    }
}

/// The result may be `undef` where it was frozen before.
#[test]
fn a_freeze_that_is_needed_stays() {
    // Not poison, or the branch would be undefined; `undef` passes it.
    let test = "%t = icmp ule i32 0, %v\nbr i1 %t, label %a, label %a\na:\n";
    let frozen = "%w = freeze i32 %v\n";
    for value in
        ["%v = add i32 %x, 0\n", "%v = load i32, ptr %p\n", "%v = call i32 @i(i32 7)\n", "%v = add i32 undef, 0\n"]
    {
        for use_of in ["ret i32 %w", "store i32 %w, ptr %p\nret i32 0", "%r = call i32 @i(i32 %w)\nret i32 %r"] {
            let function = |body: String| format!("define i32 @f(i32 %x, ptr %p) {{\nentry:\n{body}\n}}\n");
            let before = function(format!("{value}{test}{frozen}{use_of}"));
            let after = function(format!("{value}{test}{}", use_of.replace("%w", "%v")));
            assert!(!of_definitions(&before, &after).proved, "{after}");
            let direct = function(format!("{value}{frozen}{test}{use_of}").replace("0, %v", "0, %w"));
            assert!(of_definitions(&direct, &direct.replace("ule i32 0, %w", "uge i32 %w, 0")).proved, "{direct}");
        }
    }
}

/// `undef` may be what makes poison, however the test of it comes out.
#[test]
fn a_branch_on_what_may_be_poison_is_undefined() {
    let function = |condition: &str| {
        format!("define i32 @f() {{\n{condition}br i1 %c, label %a, label %b\na:\nret i32 1\nb:\nret i32 2\n}}\n")
    };
    let poisoned = function("%x = add nsw i8 undef, 100\n%c = icmp slt i8 %x, -128\n");
    let defined = poisoned.replace("nsw ", "");
    let decided = of_definitions(&defined, &poisoned);
    assert!(!decided.proved && decided.model.is_some(), "{decided:?}");
    assert!(of_definitions(&poisoned, &defined).proved);
}

/// Pointers to other objects are other pointers, wherever they lie.
#[test]
fn equal_addresses_are_no_equal_pointers() {
    for (before, after) in [
        (
            "define ptr @f(ptr %p, ptr %q) {\n%i = ptrtoint ptr %p to i64\n%j = ptrtoint ptr %q to i64\n\
             %d = sub i64 %j, %i\n%r = getelementptr i8, ptr %p, i64 %d\nret ptr %r\n}\n",
            "define ptr @f(ptr %p, ptr %q) {\nret ptr %q\n}\n",
        ),
        (
            "define ptr @f(ptr %p) {\n%i = ptrtoint ptr %p to i64\n%r = inttoptr i64 %i to ptr\nret ptr %r\n}\n",
            "define ptr @f(ptr %p) {\nret ptr %p\n}\n",
        ),
        (
            "define ptr @f(ptr %p, ptr %q) {\n%c = icmp eq ptr %p, %q\n%r = select i1 %c, ptr %p, ptr %q\nret ptr %r\n\
             }\n",
            "define ptr @f(ptr %p, ptr %q) {\nret ptr %q\n}\n",
        ),
        (
            "define i8 @f(ptr %p, ptr %q) {\n%c = icmp eq ptr %p, %q\nbr i1 %c, label %y, label %n\n\
             y:\n%r = load i8, ptr %p\nret i8 %r\nn:\nret i8 0\n}\n",
            "define i8 @f(ptr %p, ptr %q) {\n%c = icmp eq ptr %p, %q\nbr i1 %c, label %y, label %n\n\
             y:\n%r = load i8, ptr %q\nret i8 %r\nn:\nret i8 0\n}\n",
        ),
        // A pointer in memory became an integer.
        (
            "define void @f(ptr %p, ptr %q) {\nstore ptr %p, ptr %q\nret void\n}\n",
            "define void @f(ptr %p, ptr %q) {\n%i = ptrtoint ptr %p to i64\nstore i64 %i, ptr %q\nret void\n}\n",
        ),
    ] {
        assert!(!of_definitions(before, after).proved, "{before}{after}");
    }
}

/// A called function may free memory.
#[test]
fn an_access_does_not_move_behind_a_call() {
    let before = "define void @f(ptr %p, ptr %q) {\n%r = load i32, ptr %p\ncall void @h(ptr %q)\nret void\n}\n";
    let after = "define void @f(ptr %p, ptr %q) {\ncall void @h(ptr %q)\n%r = load i32, ptr %p\nret void\n}\n";
    assert!(!of_definitions(before, after).proved);
}

/// Annotations that the second version has more of, by place; where it has them in the first one they are no harm.
#[test]
fn stronger_annotations_are_not_proved() {
    let load = |head: &str, how: &str| {
        format!(
            "define i32 @f(ptr %p{head}) {{\n%r = load i32, ptr %p{how}\nret i32 %r\n}}\n!0 = !{{i32 0, i32 5}}\n\
             !1 = !{{}}\n"
        )
    };
    let with = |parameter: &str, function: &str| {
        format!(
            "define ptr @f(ptr {parameter} %p, i32 %n) {function} {{\n%r = getelementptr i8, ptr %p, i64 4\n\
             ret ptr %r\n}}\n"
        )
    };
    let call = |annotation: &str, argument: &str, end: &str| {
        format!("define ptr @f(ptr %p) {{\n%r = call {annotation} ptr @g(ptr {argument} %p) {end}\nret ptr %r\n}}\n")
    };
    let plain = [load("", ", align 4"), with("", ""), call("", "", "")];
    for (n, stronger) in [
        (0, load("", ", align 8")),
        (0, load("", ", align 4, !range !0")),
        (0, load("", ", align 4, !range !{i32 0, i32 5}")),
        (0, load("", ", align 4, !noundef !1")),
        (0, load("", ", align 4, !tbaa !0")),
        (0, load("", ", align 4, !nobody.knows !1")),
        (1, with("nonnull", "")),
        (1, with("noundef", "")),
        (1, with("align 8", "")),
        (1, with("dereferenceable(4)", "")),
        (1, with("captures(none)", "")),
        (1, with("nobody_knows", "")),
        (1, with("", "noreturn")),
        (1, with("", "null_pointer_is_valid")),
        (2, call("nonnull", "", "")),
        (2, call("", "nonnull", "")),
        (2, call("", "noundef", "")),
        (2, call("", "dereferenceable(4)", "")),
        (2, call("", "", "noreturn")),
        (2, call("", "", "memory(none)")),
        (2, call("", "", "nofree")),
    ] {
        let plain = &plain[n];
        assert!(!of_definitions(plain, &stronger).proved, "{plain}{stronger}");
        // Both are in other words what they were, so that they are not the same text.
        let again = plain.replacen("{\n", "{\n%unused = add i32 0, 1\n", 1);
        let dropped = of_definitions(&stronger, &again);
        let kept =
            stronger.contains("nobody") || stronger.contains("null_pointer") || stronger.contains("memory(none)");
        assert!(dropped.proved || kept, "{stronger}{again}{dropped:?}");
        let both = of_definitions(&stronger, &stronger.replacen("{\n", "{\n%unused = add i32 0, 1\n", 1));
        assert!(both.proved || stronger.contains("nobody"), "{stronger}{both:?}");
    }
}

/// Big-endian targets, and pointers of other sizes, are not known here.
#[test]
fn other_layouts_are_unknown() {
    let text = |layout: &str, body: &str| {
        format!("target datalayout = \"{layout}\"\ndefine i32 @f(i32 %x) {{\n{body}\nret i32 %r\n}}\n")
    };
    let [one, other] = ["%r = add i32 %x, %x", "%r = mul i32 %x, 2"];
    for (layout, proved) in [("e-i64:64", true), ("E-i64:64", false), ("e-p:32:32", false)] {
        let [before, after] =
            [text(layout, other), text(layout, other).replace("%x, 2", "2, %x")].map(|t| read(t).unwrap());
        assert_eq!(of_files(&before, &after).proved, proved, "{layout}");
    }
    let [before, after] = [text("e-i64:64", one), text("e", one)].map(|t| read(t).unwrap());
    assert!(!of_files(&before, &after).proved);
}

/// Kinds of transformations that compilers have made wrongly.
#[test]
fn miscompiles_are_not_proved() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/validate/miscompiles");
    let [before, after] = ["before.ll", "after.ll"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    let report = super::super::own_changes(&read(before).unwrap(), &after, Default::default()).unwrap();
    let counts = &report.counts;
    assert_eq!((report.functions.len(), counts.proved, counts.refuted), (30, 0, 30), "{:?}", report.functions);
}

/// Of floats that are chosen, only those that are computed may be other NaNs.
#[test]
fn a_nan_that_is_computed_frees_no_other_one() {
    let module = |text: &str| {
        format!(
            "declare float @llvm.fabs.f32(float)\ndefine float @f(float noundef %x, float noundef %y, i1 noundef %c) \
             {{\n{text}\nret float %r\n}}\n"
        )
    };
    let canonical = "%u = fcmp uno float %y, %y\n%k = select i1 %u, float 0x7FF8000000000000, float %y\n";
    let chosen = |before: &str, sum: &str, given: &str| {
        format!("{before}%m = fadd float {sum}\n%r = select i1 %c, float %m, float {given}")
    };
    let given = chosen("", "%x, %y", "%y");
    for (old, new, holds) in [
        (given.clone(), chosen("", "%y, %x", "%y"), true),
        (given, chosen(canonical, "%x, %y", "%k"), false),
        (
            "%m = fadd float %x, %y\n%r = fneg float %m".into(),
            "%m = fadd float %y, %x\n%r = fneg float %m".into(),
            true,
        ),
        (
            "%m = fmul float %x, %x\n%r = call float @llvm.fabs.f32(float %m)".into(),
            "%r = fmul float %x, %x".to_string(),
            false,
        ),
    ] {
        assert_eq!(of_definitions(&module(&old), &module(&new)).proved, holds, "{old} and {new}");
    }
}
