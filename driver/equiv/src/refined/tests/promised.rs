//! What both versions promise, and only the second body breaks; and what no body breaks by itself.

use super::mentioned::holds;
use super::{TARGET, of_files};
use rewright_llvm::module::read;

/// Is a body replaced by another one in a function of these promises?
fn replaced(parameters: &str, promises: &str, [before, after]: [&str; 2]) -> bool {
    let module = |body: &str| {
        format!(
            "@gg = external global i32\n@kk = external constant i32\n\
             define i32 @f({parameters}) {promises} {{\nentry:\n{body}\n}}\n"
        )
    };
    holds(&module(before), &module(after))
}

/// Reads what a pointer points to, and gives 0.
fn zero_of(pointer: &str) -> String {
    format!("%x = load i32, ptr {pointer}\n%y = freeze i32 %x\n%z = and i32 %y, 0\nret i32 %z")
}

#[test]
fn what_the_second_version_reads_it_may_read() {
    let readable = "ptr align 4 dereferenceable(4) %p";
    for (parameters, promises, pointer, expected) in [
        ("ptr %p", "", "@gg", true),
        ("ptr %p", "memory(read)", "@gg", true),
        ("ptr %p", "memory(none)", "@gg", false),
        ("ptr %p", "readnone", "@gg", false),
        ("ptr %p", "memory(argmem: read)", "@gg", false),
        ("ptr %p", "memory(write)", "@gg", false),
        // Reads of constants are not observable.
        ("ptr %p", "memory(none)", "@kk", true),
        (readable, "memory(argmem: read)", "%p", true),
        (readable, "memory(none)", "%p", false),
        (readable, "memory(argmem: write)", "%p", false),
        ("ptr readonly align 4 dereferenceable(4) %p", "", "%p", true),
        ("ptr writeonly align 4 dereferenceable(4) %p", "", "%p", false),
        ("ptr readnone align 4 dereferenceable(4) %p", "", "%p", false),
    ] {
        let found = replaced(parameters, promises, ["ret i32 0", &zero_of(pointer)]);
        assert_eq!(found, expected, "({parameters}) {promises}: {pointer}");
    }
}

#[test]
fn who_may_write_may_not_read_for_that() {
    let before = "store i32 0, ptr %p, align 4\nret i32 0";
    let after =
        "%x = load i32, ptr %p\n%y = freeze i32 %x\n%z = and i32 %y, 0\nstore i32 %z, ptr %p, align 4\nret i32 %z";
    for (parameters, promises, expected) in [
        ("ptr %p", "", true),
        ("ptr %p", "memory(argmem: readwrite)", true),
        ("ptr %p", "memory(argmem: write)", false),
        ("ptr writeonly %p", "", false),
    ] {
        assert_eq!(replaced(parameters, promises, [before, after]), expected, "({parameters}) {promises}");
    }
}

#[test]
fn what_the_first_version_does_not_keep_it_need_not() {
    // The target of a pointer from memory is no memory of an argument: both read it, or neither.
    let reads = |more: &str| format!("%q = load ptr, ptr %p\n%x = load i32, ptr %q\n{more}ret i32 %x");
    let turned = "%q = load ptr, ptr %p\n%v = load i32, ptr %q\n%x = add i32 %v, 0\nret i32 %x";
    assert!(replaced("ptr %p", "memory(argmem: read)", [&reads(""), turned]));
    let more = zero_of("@gg").replace("%x", "%w").replace("ret i32 %z", "");
    assert!(!replaced("ptr %p", "memory(argmem: read)", [&reads(""), &reads(&more)]));
    // Two pointers to one place are no one pointer.
    let [by_argument, by_name] = ["%p", "@gg"].map(|pointer| {
        format!(
            "%c = icmp eq ptr %p, @gg\nbr i1 %c, label %yes, label %no\nyes:\n%x = load i32, ptr {pointer}\n\
             ret i32 %x\nno:\nret i32 0"
        )
    });
    assert!(!replaced("ptr %p", "memory(argmem: read)", [&by_argument, &by_name]));
}

#[test]
fn loops_read_what_they_may_read() {
    let around = |more: &str| {
        format!(
            "br label %l\nl:\n%i = phi i32 [ 0, %entry ], [ %j, %l ]\n{more}%j = add i32 %i, 1\n\
             %c = icmp ult i32 %j, %n\nbr i1 %c, label %l, label %e\ne:\nret i32 0"
        )
    };
    for (promises, expected) in [("", true), ("memory(read)", true), ("memory(none)", false)] {
        let found = replaced("i32 noundef %n", promises, [&around(""), &around("%x = load i32, ptr @gg\n")]);
        assert_eq!(found, expected, "{promises}");
    }
}

#[test]
fn what_is_said_of_all_floats_is_not_known_of_others() {
    let nan = "%d = fdiv double 0.0, 0.0\n%c = fcmp uno double %d, %d\n%z = zext i1 %c to i32\nret i32 %z";
    for (promises, body, expected) in [
        ("", nan, true),
        ("\"no-nans-fp-math\"=\"false\"", nan, true),
        ("\"no-nans-fp-math\"=\"true\"", nan, false),
        ("\"no-nans-fp-math\"=\"true\"", "%z = add i32 0, 1\nret i32 %z", true),
    ] {
        assert_eq!(replaced("i32 %x", promises, ["ret i32 1", body]), expected, "{promises}: {body}");
    }
}

#[test]
fn functions_in_a_circle_recur() {
    let module = |[of_f, of_g]: [&str; 2], in_g: &str| {
        format!(
            "declare void @leaf() nocallback\ndeclare void @out() norecurse\n\
             define void @f(i32 %n) {of_f} {{\n%c = icmp eq i32 %n, 0\nbr i1 %c, label %a, label %b\na:\nret void\n\
             b:\n%m = sub i32 %n, 1\ncall void @g(i32 %m)\nret void\n}}\n\
             define void @g(i32 %n) {of_g} {{\n{in_g}\nret void\n}}\n"
        )
    };
    for (before, after, in_g, expected) in [
        (["", ""], ["norecurse", "norecurse"], "", true),
        (["", ""], ["norecurse", "norecurse"], "call void @leaf()", true),
        (["", ""], ["norecurse", "norecurse"], "call void @f(i32 0)", false),
        (["", "norecurse"], ["norecurse", "norecurse"], "call void @f(i32 0)", false),
        (["", ""], ["", "norecurse"], "call void @g(i32 0)", false),
        // It does not run again itself, but may call what called it.
        (["", ""], ["", "norecurse"], "call void @out()", false),
    ] {
        assert_eq!(holds(&module(before, in_g), &module(after, in_g)), expected, "{before:?}, {after:?}: {in_g}");
    }
}

/// Addresses of slots and of globals are not null, unless the global may have no definition or its address is given.
#[test]
fn what_is_somewhere_is_not_null() {
    let module = |declared: &str, promise: &str| {
        let body = format!(
            "define void @f() {{\n%s = alloca i32\ncall void @llvm.lifetime.start.p0(i64 4, ptr %s)\n\
             call void @take(ptr {promise}%s)\ncall void @take(ptr {promise}@g)\n\
             call void @llvm.lifetime.end.p0(i64 4, ptr %s)\nret void\n}}\n"
        );
        let text = format!(
            "{TARGET}{declared}\n{body}declare void @take(ptr)\ndeclare void @llvm.lifetime.start.p0(i64, ptr)\n\
             declare void @llvm.lifetime.end.p0(i64, ptr)\n!0 = !{{i64 0, i64 256}}\n"
        );
        read(text).unwrap()
    };
    for (declared, expected) in [
        ("declare void @g()", true),
        ("@g = external global i32", true),
        ("@g = weak global i32 0", true),
        ("declare extern_weak void @g()", false),
        ("@g = extern_weak global i32", false),
        ("@g = external global i32, !absolute_symbol !0", false),
    ] {
        assert_eq!(of_files(&module(declared, ""), &module(declared, "nonnull ")).proved, expected, "{declared}");
    }
}

/// Scopes that say nothing may be new: all that are told apart only read, or nothing is in a scope that others are apart
/// from.
#[test]
fn scopes_are_new_only_where_they_say_nothing() {
    let function = |load: &str, store: &str| {
        let body = format!(
            "define i32 @f(ptr noundef %p, ptr noundef %q) {{\n%r = load i32, ptr %p{load}\nstore i32 1, ptr %q{store}\n\
             ret i32 %r\n}}\n!0 = distinct !{{!0, !\"domain\"}}\n!1 = distinct !{{!1, !0}}\n!2 = distinct !{{!2, !0}}\n\
             !3 = !{{!1}}\n!4 = !{{!2}}\n!5 = !{{!1, !2}}\n"
        );
        read(format!("{TARGET}{body}")).unwrap()
    };
    let plain = function("", "");
    for (load, store, expected) in [
        (", !alias.scope !3, !noalias !4", "", true),
        (", !alias.scope !3", ", !alias.scope !4", true),
        (", !alias.scope !3, !noalias !4", ", !alias.scope !3", true),
        (", !alias.scope !3, !noalias !4", ", !alias.scope !4", false),
        (", !alias.scope !3, !noalias !4", ", !alias.scope !5", false),
        (", !noalias !5", ", !alias.scope !4", false),
        (", !alias.scope !3", ", !noalias !5", false),
        (", !alias.scope !3", ", !noalias !1", false),
    ] {
        assert_eq!(of_files(&plain, &function(load, store)).proved, expected, "{load} {store}");
    }
}
