//! Calls of functions that the second version does not call any more.

use super::{TARGET, of_files};
use rewright_llvm::module::read;

const OTHERS: &str = "declare i32 @i(i32)\ndeclare void @h(ptr)\n";

/// A module with functions of both versions, and what is compared first.
fn module(function: &str, others: &str) -> String {
    format!("{TARGET}{function}\n{others}{OTHERS}")
}

fn proved(before: &str, others: &str, after: &str) -> bool {
    let [before, after] = [before, after].map(|function| read(module(function, others)).unwrap());
    of_files(&before, &after).proved
}

/// A call in a loop of a function with two ways through it.
const CALLS: &str = "define i32 @f(i32 noundef %n) {\ne:\nbr label %l\nl:\n%k = phi i32 [ 0, %e ], [ %j, %l ]\n\
                     %r = call i32 @g(i32 %k)\n%j = add i32 %k, %r\n%c = icmp slt i32 %j, %n\n\
                     br i1 %c, label %l, label %o\no:\nret i32 %r\n}\n";
const INLINED: &str = "define i32 @f(i32 noundef %n) {\ne:\nbr label %l\nl:\n%k = phi i32 [ 0, %e ], [ %j, %m ]\n\
                       %z = icmp eq i32 %k, 3\nbr i1 %z, label %m, label %x\nx:\n%v = call i32 @i(i32 %k)\n\
                       br label %m\nm:\n%r = phi i32 [ ELSE, %l ], [ %v, %x ]\n%j = add i32 %k, %r\n\
                       %c = icmp slt i32 %j, %n\nbr i1 %c, label %l, label %o\no:\nret i32 %r\n}\n";

fn callee(head: &str, body: &str) -> String {
    format!("define {head}i32 @g(i32 %a) {{\nl:\n{body}\n}}\n")
}

const TWO_WAYS: &str = "%c = icmp eq i32 %a, 3\nbr i1 %c, label %o, label %x\nx:\n%v = call i32 @i(i32 %a)\nret i32 %v\n\
                        o:\nret i32 7";

#[test]
fn callees_that_only_the_first_version_calls_are_inlined() {
    let others = callee("internal ", TWO_WAYS);
    assert!(proved(CALLS, &others, &INLINED.replace("ELSE", "7")));
    assert!(!proved(CALLS, &others, &INLINED.replace("ELSE", "8")));
}

/// Another module may have the body that runs, or the body means something else in the caller.
#[test]
fn callees_of_which_the_body_is_another_one_are_not() {
    let after = INLINED.replace("ELSE", "7");
    assert!(proved(CALLS, &callee("", TWO_WAYS), &after));
    for head in ["weak ", "linkonce_odr "] {
        assert!(!proved(CALLS, &callee(head, TWO_WAYS), &after), "{head}");
    }
    let others = callee("internal ", TWO_WAYS).replace("%a) {", "%a) null_pointer_is_valid {");
    assert!(!proved(CALLS, &others, &after));
}

/// What a callee reads must be the same in both modules.
#[test]
fn globals_of_callees_are_compared() {
    let [read, told] = ["%v = load i32, ptr @x\nret i32 %v", "ret i32 6"];
    let before = "define i32 @f() {\n%r = call i32 @g()\nret i32 %r\n}\n";
    for (first, holds) in [(6, true), (5, false)] {
        let [old, new] =
            [(before, first), (&format!("define i32 @f() {{\n{told}\n}}\n"), 6)].map(|(function, number)| {
                let others = format!("@x = internal constant i32 {number}\ndefine internal i32 @g() {{\n{read}\n}}\n");
                rewright_llvm::module::read(module(function, &others)).unwrap()
            });
        assert_eq!(of_files(&old, &new).proved, holds, "{first}");
    }
}

/// A function that promises progress may call one that does not, so that a loop of a callee may run for ever.
#[test]
fn a_caller_promises_nothing_for_its_callees() {
    let endless = "br label %m\nm:\n%c = icmp eq i32 %a, 3\nbr i1 %c, label %m, label %o\no:\nret i32 1";
    let promises = " mustprogress";
    for (of_caller, of_callee, holds) in [("", "", true), (promises, "", false), (promises, promises, true)] {
        let function = |body: &str| format!("define i32 @f(i32 noundef %a){of_caller} {{\nl:\n{body}\n}}\n");
        let others = callee("internal ", endless).replace("%a) {", &format!("%a){of_callee} {{"));
        let before = function("%r = call i32 @g(i32 %a)\nret i32 %r");
        assert_eq!(proved(&before, &others, &function(endless)), holds, "{of_caller}, {of_callee}");
    }
}

/// Slots of a callee are those of its call, and what two calls have is not one slot.
#[test]
fn slots_of_callees_come_with_them() {
    let slot = "%s = alloca i32\nstore i32 %a, ptr %s\ncall void @h(ptr %s)\n%r = load i32, ptr %s\nret i32 %r";
    let before = "define i32 @f(i32 noundef %n) {\n%r = call i32 @g(i32 %n)\nret i32 %r\n}\n";
    let after = |stored: &str| {
        format!(
            "define i32 @f(i32 noundef %n) {{\n%s = alloca i32\nstore i32 {stored}, ptr %s\ncall void @h(ptr %s)\n\
             %r = load i32, ptr %s\nret i32 %r\n}}\n"
        )
    };
    let others = callee("internal ", slot);
    assert!(proved(before, &others, &after("%n")));
    assert!(!proved(before, &others, &after("4")));
}

/// A value that a branch has told is known behind a call, among much that is the same.
#[test]
fn what_branches_tell_is_known_behind_calls() {
    let function = |test: &str, said: &str, more: &str| {
        format!(
            "define ptr @f(ptr noundef %p) {{\ne:\n%x = icmp {test} ptr %p, null\nbr i1 %x, label %a, label %b\n{more}}}\n\
             declare ptr @d(ptr)\ndeclare ptr @m(i64)\n"
        )
        .replace("SAID", said)
    };
    let body = |call: &str, out: &str| {
        format!(
            "{call}:\n%b0 = call ptr @d(ptr noundef SAID %p)\n%b1 = call ptr @d(ptr noundef SAID %p)\n\
             %m = call ptr @m(i64 32)\n%z = icmp eq ptr %m, null\nbr i1 %z, label %{out}, label %s\ns:\n\
             store i32 2, ptr %m\n%q = getelementptr i8, ptr %m, i64 8\nstore ptr %b1, ptr %q\nbr label %{out}\n\
             {out}:\n%r = phi ptr [ null, %e ], [ null, %{call} ], [ %m, %s ]\nret ptr %r\n"
        )
    };
    let [before, after] = [function("ne", "", &body("a", "b")), function("eq", "nonnull", &body("b", "a"))]
        .map(|text| read(format!("{TARGET}{text}")).unwrap());
    assert!(super::within(&before, &after, 1_000_000).proved);
}

/// A block of the first version that is cut has no name that one of a callee has.
#[test]
fn names_of_callees_and_of_cuts_are_apart() {
    let callee = "define internal void @g(ptr %p) {\n%1 = icmp ne ptr %p, null\nbr i1 %1, label %2, label %7\n2:\n\
                  %3 = load volatile i32, ptr %p\n%4 = icmp ne i32 %3, 0\nbr i1 %4, label %5, label %7\n5:\n\
                  %6 = load volatile i32, ptr %p\ncall void @h(ptr %p)\nbr label %7\n7:\nret void\n}\n";
    let caller = "define void @f(ptr noundef %p, ptr noundef %q) {\n%1 = icmp ne ptr %p, null\n\
                  br i1 %1, label %2, label %7\n2:\n%3 = load i32, ptr %q\n%4 = icmp eq i32 %3, 1\n\
                  br i1 %4, label %7, label %5\n5:\n%6 = load volatile i32, ptr %q\ncall void @g(ptr %p)\n\
                  br label %7\n7:\nret void\n}\n";
    let after = "define void @f(ptr noundef %p, ptr noundef %q) {\n%n = icmp eq ptr %p, null\n\
                 br i1 %n, label %o, label %a\na:\n%x = load i32, ptr %q\n%y = icmp eq i32 %x, 1\n\
                 br i1 %y, label %o, label %b\nb:\n%z = load volatile i32, ptr %q\n%v = load volatile i32, ptr %p\n\
                 %w = icmp eq i32 %v, 0\nbr i1 %w, label %o, label %c\nc:\n%u = load volatile i32, ptr %p\n\
                 call void @h(ptr nonnull %p)\nbr label %o\no:\nret void\n}\n";
    assert!(proved(caller, callee, after));
    assert!(!proved(caller, callee, &after.replace("br i1 %w, label %o, label %c", "br i1 %w, label %c, label %o")));
}

/// `tail` says that a call accesses no stack slot of the function that it stands in.
#[test]
fn marks_of_tail_calls_are_about_the_slots_of_their_function() {
    let function = |known: &str, call: &str| {
        format!(
            "define i32 @f() {{\n%s = alloca i32\nstore i32 1, ptr %s\n{known}\n{call}\n%r = load i32, ptr %s\nret i32 %r\n}}\n"
        )
    };
    let known = "call void @h(ptr %s)";
    let others = "define internal void @g() {\ntail call i32 @i(i32 1)\nret void\n}\n";
    let (marked, plain) = ("tail call i32 @i(i32 1)", "call i32 @i(i32 1)");
    assert!(proved(&function(known, "call void @g()"), others, &function(known, plain)));
    assert!(!proved(&function(known, "call void @g()"), others, &function(known, marked)));
    assert!(!proved(&function(known, plain), others, &function(known, marked)));
    // No callee knows the slot.
    let unknown = "call i32 @i(i32 2)";
    assert!(proved(&function(unknown, "call void @g()"), others, &function(unknown, marked)));
    assert!(proved(&function(unknown, plain), others, &function(unknown, marked)));
    let behind = |call: &str| function(unknown, &format!("{call}\ncall void @h(ptr %s)"));
    assert!(proved(&behind(plain), others, &behind(marked)));
    // An intrinsic is given it.
    let filled =
        |mark: &str| function(unknown, &format!("{mark}call void @llvm.memset.p0.i64(ptr %s, i8 7, i64 4, i1 false)"));
    let others = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";
    assert!(proved(&filled(""), others, &filled("")));
    assert!(!proved(&filled(""), others, &filled("tail ")));
    // Memory that is passed on the stack is there as well.
    for head in ["ptr byval(i32) %s", "ptr %s, ..."] {
        let known = if head.ends_with("...") { "call void @llvm.va_start.p0(ptr %s)" } else { known };
        let given = |call: &str| format!("define void @f({head}) {{\n{known}\n{call}\nret void\n}}\n");
        let others = "declare void @llvm.va_start.p0(ptr)\n";
        assert!(proved(&given(plain), others, &given(plain)));
        assert!(!proved(&given(plain), others, &given(marked)), "{head}");
    }
    // The next iteration of a loop may come to know it.
    let again = |call: &str| {
        format!(
            "define void @f(i32 noundef %n) {{\ne:\n%s = alloca i32\nbr label %l\nl:\n%k = phi i32 [ 0, %e ], [ %j, %l ]\n{call}\n\
             call void @h(ptr %s)\n%j = add i32 %k, 1\n%c = icmp ult i32 %j, %n\nbr i1 %c, label %l, label %o\no:\nret void\n}}\n"
        )
    };
    assert!(!proved(&again(plain), others, &again(marked)));
}
