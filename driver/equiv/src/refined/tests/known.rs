//! What is known of variables that no code writes to, of tables, of where objects end, and of what floats are rounded
//! to.

use super::of_definitions;

fn assert_all(pairs: &[(&str, &str, bool)]) {
    for (before, after, holds) in pairs {
        let found = of_definitions(before, after);
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}

/// A function that gives an `i32`, behind what else its module has.
fn with(more: &str, body: &str) -> String {
    format!("define i32 @f(i32 noundef %x, ptr noundef %q) {{\n{body}\n}}\n{more}")
}

/// Behind a call that may lead to it, what another module's function writes is there in that version alone.
#[test]
fn a_variable_that_one_version_writes_to_is_no_constant() {
    let function = |result: &str, more: &str| {
        let body = format!("call void @h(ptr %q)\n%r = load i32, ptr @v\nret i32 {result}");
        with(&format!("@v = internal global i32 0\n{more}"), &body)
    };
    let writes = "define void @w() {\nstore i32 1, ptr @v\nret void\n}\n";
    assert_all(&[
        (&function("%r", ""), &function("0", ""), true),
        (&function("0", ""), &function("%r", ""), true),
        (&function("0", ""), &function("%r", writes), false),
        (&function("%r", writes), &function("0", ""), false),
    ]);
}

#[test]
fn a_variable_that_nobody_writes_to_is_a_constant() {
    let reads = "%r = load i32, ptr @v\nret i32 %r";
    let variable = "@v = internal global i32 3\n";
    let pair = |variable: &str, more: &str| with(&format!("{variable}{more}"), reads);
    let gone = with("", "ret i32 3");
    let other =
        "define i32 @other(i32 %x) {\n%p = getelementptr i8, ptr @v, i64 0\n%r = load i32, ptr %p\nret i32 %r\n}\n";
    for (before, holds) in [
        (pair(variable, ""), true),
        (pair(variable, other), true),
        (pair("@v = private global i32 3\n", ""), true),
        (pair("@v = internal global i32 4\n", ""), false),
        (pair("@v = global i32 3\n", ""), false),
        (pair("@v = internal externally_initialized global i32 3\n", ""), false),
        (pair("@v = internal global i32 3, section \"s\"\n", ""), false),
        (pair(variable, "@w = global ptr @v\n"), false),
        (pair(variable, "@w = alias i32, ptr @v\n"), false),
        (pair(variable, "define void @set(i32 %x) {\nstore i32 %x, ptr @v\nret void\n}\n"), false),
        (pair(variable, "define ptr @get() {\nret ptr @v\n}\n"), false),
        (pair(variable, "define void @tell() {\ncall void @h(ptr @v)\nret void\n}\n"), false),
        (pair(variable, "define void @keep(ptr %p) {\nstore ptr @v, ptr %p\nret void\n}\n"), false),
        (pair(variable, "define void @read() {\n%r = load volatile i32, ptr @v\nret void\n}\n"), false),
        (
            pair(variable, "define void @far() {\nstore i32 1, ptr getelementptr (i8, ptr @v, i64 0)\nret void\n}\n"),
            false,
        ),
        (
            pair(
                variable,
                "define void @sum() {\n%p = getelementptr i8, ptr @v, i64 0\nstore i32 1, ptr %p\nret void\n}\n",
            ),
            false,
        ),
        (
            pair(
                variable,
                "define void @phi(i1 %c, ptr %o) {\n%p = select i1 %c, ptr @v, ptr %o\nstore i32 1, ptr %p\nret void\n}\n",
            ),
            false,
        ),
        (
            pair(variable, "define void @code() {\ncall void asm sideeffect \"movl $$1, v\", \"\"()\nret void\n}\n"),
            false,
        ),
        (pair(variable, "module asm \".globl v\"\n"), false),
    ] {
        assert_eq!(of_definitions(&before, &gone).proved, holds, "{before}");
    }
    // As a constant, as GlobalOpt leaves it.
    let constant = pair("@v = internal unnamed_addr constant i32 3\n", "");
    let sums = |text: &str| text.replace("ret i32 %r", "%s = add i32 %r, 0\nret i32 %s");
    assert_all(&[
        (&sums(&pair(variable, "")), &constant, true),
        (&pair(variable, ""), &constant.replace("i32 3", "i32 4"), false),
        (&pair("@v = global i32 3\n", ""), &constant, false),
    ]);
}

#[test]
fn what_a_table_holds_is_known() {
    let branches = "switch i32 %x, label %d [ i32 0, label %a\ni32 1, label %b\ni32 2, label %c ]\na:\nbr label %e\nb:\nbr label %e\n\
                    c:\nbr label %e\nd:\nbr label %e\ne:\n";
    let numbers = format!("{branches}%r = phi i32 [ 17, %a ], [ 4, %b ], [ 99, %c ], [ -1, %d ]\nret i32 %r");
    let looked_up = |table: &str, test: &str| {
        with(
            table,
            &format!(
                "entry:\n%c = icmp {test}\nbr i1 %c, label %a, label %b\na:\n%i = zext nneg i32 %x to i64\n\
                 %p = getelementptr inbounds [3 x i32], ptr @t, i64 0, i64 %i\n%v = load i32, ptr %p, align 4\nbr label %b\n\
                 b:\n%r = phi i32 [ %v, %a ], [ -1, %entry ]\nret i32 %r"
            ),
        )
    };
    let table = "@t = private unnamed_addr constant [3 x i32] [i32 17, i32 4, i32 99], align 4\n";
    let before = with("", &numbers);
    assert_all(&[
        (&before, &looked_up(table, "ult i32 %x, 3"), true),
        (&before, &looked_up(&table.replace("i32 4", "i32 5"), "ult i32 %x, 3"), false),
        (&before, &looked_up(table, "ult i32 %x, 4"), false),
        (&before, &looked_up(table, "ult i32 %x, 2"), false),
        (&before, &looked_up(table, "slt i32 %x, 3"), false),
    ]);
    let strings = "@s = private constant [2 x i8] c\"a\\00\"\n@o = private constant [2 x i8] c\"b\\00\"\n";
    let choice =
        "define ptr @f(i32 noundef %x) {\n%c = icmp eq i32 %x, 0\n%r = select i1 %c, ptr @s, ptr @o\nret ptr %r\n}\n";
    let of_table = |table: &str| {
        format!(
            "@t = private constant [2 x ptr] {table}\ndefine ptr @f(i32 noundef %x) {{\n%c = icmp ne i32 %x, 0\n%i = zext i1 %c to i64\n\
             %p = getelementptr inbounds [2 x ptr], ptr @t, i64 0, i64 %i\n%r = load ptr, ptr %p\nret ptr %r\n}}\n"
        )
    };
    let pair = |table: &str| [format!("{strings}{choice}"), format!("{strings}{}", of_table(table))];
    for (table, holds) in [
        ("[ptr @s, ptr @o]", true),
        ("[ptr @o, ptr @s]", false),
        ("[ptr @s, ptr @s]", false),
        ("[ptr @s, ptr null]", false),
        ("[ptr @s, ptr getelementptr (i8, ptr @o, i64 1)]", false),
    ] {
        let [before, after] = pair(table);
        assert_eq!(of_definitions(&before, &after).proved, holds, "{table}");
    }
}

#[test]
fn where_an_object_of_the_module_ends_is_known() {
    let f = |more: &str, body: &str| format!("{more}\ndefine ptr @f(i64 noundef %i) {{\n{body}\n}}\n");
    let sum = |flags: &str, at: &str| {
        format!("%m = and i64 %i, 7\n%q = getelementptr {flags} i8, ptr @v, i64 {at}\nret ptr %q")
    };
    for (variable, at, holds) in [
        ("@v = global [8 x i8] zeroinitializer", "%m", true),
        ("@v = global [7 x i8] zeroinitializer", "%m", true),
        ("@v = global [6 x i8] zeroinitializer", "%m", false),
        ("@v = global [8 x i8] zeroinitializer", "%i", false),
        ("@v = external global [8 x i8]", "%m", false),
        ("@v = weak global [8 x i8] zeroinitializer", "%m", false),
    ] {
        let found = of_definitions(&f(variable, &sum("", at)), &f(variable, &sum("inbounds", at)));
        assert_eq!(found.proved, holds, "{variable}, {at}: {found:?}");
    }
}

#[test]
fn a_float_that_fits_no_integer_is_poison() {
    let f = |from: &str, to: &str, body: &str| {
        format!(
            "declare i32 @llvm.fptosi.sat.i32.f32(float)\ndefine {to} @f({from} noundef %x) {{\n{body}\nret {to} %r\n}}\n"
        )
    };
    let sat = "%r = call i32 @llvm.fptosi.sat.i32.f32(float %x)";
    for (from, to, before, after, holds) in [
        ("float", "i32", "%r = fptosi float %x to i32", sat, true),
        ("float", "i32", sat, "%r = fptosi float %x to i32", false),
        ("double", "i8", "%r = fptosi double %x to i8", "%s = fptosi double %x to i16\n%r = trunc i16 %s to i8", true),
        ("double", "i8", "%s = fptosi double %x to i16\n%r = trunc i16 %s to i8", "%r = fptosi double %x to i8", false),
        ("float", "i8", "%r = fptoui float %x to i8", "%s = fptosi float %x to i16\n%r = trunc i16 %s to i8", true),
        ("float", "i8", "%s = fptosi float %x to i16\n%r = trunc i16 %s to i8", "%r = fptoui float %x to i8", false),
        ("float", "i8", "%r = fptoui float %x to i8", "%r = fptosi float %x to i8", false),
    ] {
        let found = of_definitions(&f(from, to, before), &f(from, to, after));
        assert_eq!(found.proved, holds, "{before}\n{after}\n{found:?}");
    }
}

#[test]
fn a_product_and_a_sum_are_rounded_once_or_twice() {
    let f = |body: &str| {
        format!(
            "declare double @llvm.fmuladd.f64(double, double, double)\ndeclare double @llvm.fma.f64(double, double, double)\n\
             define double @f(double noundef %x, double noundef %y, double noundef %z) {{\n{body}\nret double %r\n}}\n"
        )
    };
    let call = |name: &str, of: &str, x: &str, y: &str| {
        format!("%{name} = call double @llvm.{of}.f64(double %{x}, double %{y}, double %z)\n")
    };
    let [one, turned, fused] =
        [call("r", "fmuladd", "x", "y"), call("r", "fmuladd", "y", "x"), call("r", "fma", "x", "y")];
    let apart = "%p = fmul double %x, %y\n%r = fadd double %p, %z\n";
    let two = |other: &str| {
        format!("{}{}%r = fsub double %a, %b\n", call("a", "fmuladd", "x", "y"), call("b", "fmuladd", other, "y"))
    };
    let once = format!("{}%r = fsub double %a, %a\n", call("a", "fmuladd", "x", "y"));
    for (before, after, holds) in [
        (one.as_str(), turned.as_str(), true),
        (&one, &fused, false),
        (&fused, &one, false),
        (&one, apart, false),
        (apart, &one, false),
        // Two may be one; one is not two.
        (&two("x"), &once, true),
        (&once, &two("x"), false),
        (&two("x"), &two("z"), false),
    ] {
        let found = of_definitions(&f(before), &f(after));
        assert_eq!(found.proved, holds, "{before}\n{after}\n{found:?}");
    }
    // Operands that are equal are not one value.
    let equal = "%d = fneg double %x\n%e = fneg double %d\n";
    let other = format!("{equal}{}", two("e"));
    assert!(!of_definitions(&f(&once), &f(&other)).proved);
}

#[test]
fn a_tag_that_stands_for_several_promises_less() {
    let nodes = "!0 = !{!\"root\"}\n!1 = !{!\"char\", !0, i64 0}\n!2 = !{!\"long\", !1, i64 0}\n!3 = !{!\"int\", !1, i64 0}\n\
                 !4 = !{!\"s\", !2, i64 0, !2, i64 8}\n!5 = !{!4, !2, i64 0}\n!6 = !{!4, !2, i64 8}\n!7 = !{!2, !2, i64 0}\n\
                 !8 = !{!3, !3, i64 0}\n";
    let before = format!(
        "define i64 @f(ptr noundef %p, i1 noundef %c) {{\nbr i1 %c, label %a, label %b\na:\n%x = load i64, ptr %p, !tbaa !5\nbr label %d\n\
         b:\n%q = getelementptr inbounds i8, ptr %p, i64 8\n%y = load i64, ptr %q, !tbaa !6\nbr label %d\nd:\n\
         %r = phi i64 [ %x, %a ], [ %y, %b ]\nret i64 %r\n}}\n{nodes}"
    );
    for (tag, offset, holds) in [("!7", 8, true), ("!5", 8, false), ("!8", 8, false), ("!7", 16, false)] {
        let after = format!(
            "define i64 @f(ptr noundef %p, i1 noundef %c) {{\n%o = select i1 %c, i64 0, i64 {offset}\n\
             %q = getelementptr inbounds i8, ptr %p, i64 %o\n%r = load i64, ptr %q, !tbaa {tag}\nret i64 %r\n}}\n{nodes}"
        );
        let found = of_definitions(&before, &after);
        assert_eq!(found.proved, holds, "{tag} {offset}: {found:?}");
    }
}
