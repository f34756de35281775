//! Vectors and aggregates, lane by lane.

use super::of_definitions;

/// Bodies of a function on vectors, and whether the second one refines the first one.
const VECTORS: &[(&str, &str, bool)] = &[
    ("%r = add <2 x i8> %x, %y\nret <2 x i8> %r", "%r = add <2 x i8> %y, %x\nret <2 x i8> %r", true),
    ("%r = add <2 x i8> %x, %y\nret <2 x i8> %r", "%r = add nsw <2 x i8> %x, %y\nret <2 x i8> %r", false),
    (
        "%r = mul <2 x i8> %x, <i8 2, i8 4>\nret <2 x i8> %r",
        "%r = shl <2 x i8> %x, <i8 1, i8 2>\nret <2 x i8> %r",
        true,
    ),
    (
        "%r = mul <2 x i8> %x, <i8 2, i8 4>\nret <2 x i8> %r",
        "%r = shl <2 x i8> %x, <i8 2, i8 1>\nret <2 x i8> %r",
        false,
    ),
    // A lane of poison, or `undef`, is one's own.
    ("ret <2 x i8> <i8 1, i8 poison>", "ret <2 x i8> <i8 1, i8 7>", true),
    ("ret <2 x i8> <i8 1, i8 7>", "ret <2 x i8> <i8 1, i8 poison>", false),
    ("ret <2 x i8> <i8 1, i8 poison>", "ret <2 x i8> <i8 poison, i8 7>", false),
    ("ret <2 x i8> <i8 1, i8 undef>", "ret <2 x i8> <i8 1, i8 3>", true),
    ("ret <2 x i8> <i8 1, i8 3>", "ret <2 x i8> <i8 1, i8 undef>", false),
    ("%f = freeze <2 x i8> %x\nret <2 x i8> %f", "ret <2 x i8> %x", false),
    ("ret <2 x i8> %x", "%f = freeze <2 x i8> %x\nret <2 x i8> %f", true),
    (
        "%f = freeze <2 x i8> %x\n%r = sub <2 x i8> %f, %f\nret <2 x i8> %r",
        "%f = freeze <2 x i8> %x\n%g = freeze <2 x i8> %x\n%r = sub <2 x i8> %f, %g\nret <2 x i8> %r",
        false,
    ),
    (
        "%v = insertelement <2 x i8> %x, i8 3, i32 1\n%r = insertelement <2 x i8> %v, i8 4, i32 0\nret <2 x i8> %r",
        "ret <2 x i8> <i8 4, i8 3>",
        true,
    ),
    ("%r = insertelement <2 x i8> %x, i8 3, i32 2\nret <2 x i8> %r", "ret <2 x i8> %x", true),
    (
        "%r = insertelement <2 x i8> %x, i8 3, i32 1\nret <2 x i8> %r",
        "%r = insertelement <2 x i8> %x, i8 3, i32 %i\nret <2 x i8> %r",
        false,
    ),
    (
        "%r = shufflevector <2 x i8> %x, <2 x i8> %y, <2 x i32> <i32 1, i32 2>\nret <2 x i8> %r",
        "%a = extractelement <2 x i8> %x, i32 1\n%b = extractelement <2 x i8> %y, i32 0\n\
         %v = insertelement <2 x i8> poison, i8 %a, i32 0\n%r = insertelement <2 x i8> %v, i8 %b, i32 1\nret <2 x i8> %r",
        true,
    ),
    (
        "%r = shufflevector <2 x i8> %x, <2 x i8> %y, <2 x i32> <i32 1, i32 2>\nret <2 x i8> %r",
        "%r = shufflevector <2 x i8> %x, <2 x i8> %y, <2 x i32> <i32 1, i32 poison>\nret <2 x i8> %r",
        false,
    ),
    // Bits of both lanes: one that is poison makes both halves of another cut poison, if they have bits of it.
    ("%r = bitcast <2 x i8> %x to i16\n%s = bitcast i16 %r to <2 x i8>\nret <2 x i8> %s", "ret <2 x i8> %x", true),
    ("ret <2 x i8> %x", "%r = bitcast <2 x i8> %x to i16\n%s = bitcast i16 %r to <2 x i8>\nret <2 x i8> %s", false),
    (
        "%b = bitcast <2 x i8> %x to i16\n%t = trunc i16 %b to i8\n%r = insertelement <2 x i8> %y, i8 %t, i32 0\nret <2 x i8> %r",
        "%t = extractelement <2 x i8> %x, i32 1\n%r = insertelement <2 x i8> %y, i8 %t, i32 0\nret <2 x i8> %r",
        false,
    ),
    // One condition for all lanes, or one for each.
    (
        "%r = select i1 %c, <2 x i8> %x, <2 x i8> %y\nret <2 x i8> %r",
        "%v = insertelement <2 x i1> poison, i1 %c, i32 0\n%w = insertelement <2 x i1> %v, i1 %c, i32 1\n\
         %r = select <2 x i1> %w, <2 x i8> %x, <2 x i8> %y\nret <2 x i8> %r",
        false,
    ),
    // Memory: the first lane has the lowest address.
    (
        "store <2 x i8> %x, ptr %p, align 1\nret <2 x i8> %y",
        "%a = extractelement <2 x i8> %x, i32 0\n%b = extractelement <2 x i8> %x, i32 1\nstore i8 %a, ptr %p\n\
         %q = getelementptr i8, ptr %p, i64 1\nstore i8 %b, ptr %q\nret <2 x i8> %y",
        true,
    ),
    (
        "store <2 x i8> %x, ptr %p, align 1\nret <2 x i8> %y",
        "%a = extractelement <2 x i8> %x, i32 0\nstore i8 %a, ptr %p\nret <2 x i8> %y",
        false,
    ),
    (
        "%v = call <2 x i8> @llvm.umin.v2i8(<2 x i8> %x, <2 x i8> %y)\nret <2 x i8> %v",
        "%c = icmp ult <2 x i8> %x, %y\n%v = select <2 x i1> %c, <2 x i8> %x, <2 x i8> %y\nret <2 x i8> %v",
        false,
    ),
];

#[test]
fn vectors_lane_by_lane() {
    for (before, after, holds) in VECTORS {
        let function = |body: &str| {
            format!("define <2 x i8> @f(<2 x i8> %x, <2 x i8> %y, i1 %c, ptr %p, i32 %i) {{\n{body}\n}}\n")
        };
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}

/// Bodies of a function that gives a structure.
const STRUCTURES: &[(&str, &str, bool)] = &[
    (
        "%a = insertvalue { i8, i32 } poison, i8 %x, 0\n%b = insertvalue { i8, i32 } %a, i32 %y, 1\nret { i8, i32 } %b",
        "%a = insertvalue { i8, i32 } poison, i32 %y, 1\n%b = insertvalue { i8, i32 } %a, i8 %x, 0\nret { i8, i32 } %b",
        true,
    ),
    (
        "%a = insertvalue { i8, i32 } poison, i8 %x, 0\n%b = insertvalue { i8, i32 } %a, i32 %y, 1\nret { i8, i32 } %b",
        "%a = insertvalue { i8, i32 } poison, i8 %x, 0\nret { i8, i32 } %a",
        false,
    ),
    // The padding between the fields of a structure is not observable.
    (
        "%v = load { i8, i32 }, ptr %p\nret { i8, i32 } %v",
        "%a = load i8, ptr %p\n%q = getelementptr i8, ptr %p, i64 4\n%b = load i32, ptr %q\n\
         %s = insertvalue { i8, i32 } poison, i8 %a, 0\n%v = insertvalue { i8, i32 } %s, i32 %b, 1\nret { i8, i32 } %v",
        true,
    ),
    (
        "store i8 %x, ptr %p\n%q = getelementptr i8, ptr %p, i64 4\nstore i32 %y, ptr %q\nret { i8, i32 } zeroinitializer",
        "%a = insertvalue { i8, i32 } poison, i8 %x, 0\n%b = insertvalue { i8, i32 } %a, i32 %y, 1\n\
         store { i8, i32 } %b, ptr %p\nret { i8, i32 } zeroinitializer",
        false,
    ),
    // A sum and whether it fits.
    (
        "%s = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %y, i32 %z)\n%o = extractvalue { i32, i1 } %s, 1\n\
         %e = zext i1 %o to i32\n%a = insertvalue { i8, i32 } { i8 1, i32 0 }, i32 %e, 1\nret { i8, i32 } %a",
        "%s = add i32 %y, %z\n%o = icmp ult i32 %s, %y\n%e = zext i1 %o to i32\n\
         %a = insertvalue { i8, i32 } { i8 1, i32 0 }, i32 %e, 1\nret { i8, i32 } %a",
        false,
    ),
    (
        "%g = freeze i32 %y\n%s = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %g, i32 1)\n\
         %o = extractvalue { i32, i1 } %s, 1\n%e = zext i1 %o to i32\n\
         %a = insertvalue { i8, i32 } { i8 1, i32 0 }, i32 %e, 1\nret { i8, i32 } %a",
        "%g = freeze i32 %y\n%o = icmp eq i32 %g, -1\n%e = zext i1 %o to i32\n\
         %a = insertvalue { i8, i32 } { i8 1, i32 0 }, i32 %e, 1\nret { i8, i32 } %a",
        true,
    ),
];

#[test]
fn structures_field_by_field() {
    for (before, after, holds) in STRUCTURES {
        let function = |body: &str| format!("define {{ i8, i32 }} @f(i8 %x, i32 %y, i32 %z, ptr %p) {{\n{body}\n}}\n");
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}

/// Classes of floats, and functions of libraries.
const FLOATS: &[(&str, &str, bool)] = &[
    ("%r = call i1 @llvm.is.fpclass.f64(double %d, i32 3)\nret i1 %r", "%r = fcmp uno double %d, 0.0\nret i1 %r", true),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 1)\nret i1 %r",
        "%r = fcmp uno double %d, 0.0\nret i1 %r",
        false,
    ),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 516)\nret i1 %r",
        "%a = call double @llvm.fabs.f64(double %d)\n%r = fcmp oeq double %a, 0x7FF0000000000000\nret i1 %r",
        true,
    ),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 512)\nret i1 %r",
        "%a = call double @llvm.fabs.f64(double %d)\n%r = fcmp oeq double %a, 0x7FF0000000000000\nret i1 %r",
        false,
    ),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 96)\nret i1 %r",
        "%r = fcmp oeq double %d, 0.0\nret i1 %r",
        true,
    ),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 64)\nret i1 %r",
        "%r = fcmp oeq double %d, 0.0\nret i1 %r",
        false,
    ),
    ("%r = call i1 @llvm.is.fpclass.f64(double %d, i32 1023)\nret i1 %r", "ret i1 true", true),
    ("%r = call i1 @llvm.is.fpclass.f64(double %d, i32 1007)\nret i1 %r", "ret i1 true", false),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 60)\nret i1 %r",
        "%b = bitcast double %d to i64\n%n = icmp slt i64 %b, 0\n%o = fcmp ord double %d, 0.0\n%r = and i1 %n, %o\nret i1 %r",
        true,
    ),
    (
        "%r = call i1 @llvm.is.fpclass.f64(double %d, i32 60)\nret i1 %r",
        "%b = bitcast double %d to i64\n%r = icmp slt i64 %b, 0\nret i1 %r",
        false,
    ),
    (
        "%p = call double @llvm.pow.f64(double %d, double %e)\n%r = fcmp ogt double %p, 1.0\nret i1 %r",
        "%p = call double @llvm.pow.f64(double %d, double %e)\n%r = fcmp olt double 1.0, %p\nret i1 %r",
        true,
    ),
    (
        "%p = call double @llvm.pow.f64(double %d, double %e)\n%r = fcmp ogt double %p, 1.0\nret i1 %r",
        "%p = call double @llvm.pow.f64(double %e, double %d)\n%r = fcmp ogt double %p, 1.0\nret i1 %r",
        false,
    ),
    (
        "%p = call double @llvm.sin.f64(double %d)\n%r = fcmp ogt double %p, 1.0\nret i1 %r",
        "%p = call double @llvm.cos.f64(double %d)\n%r = fcmp ogt double %p, 1.0\nret i1 %r",
        false,
    ),
];

#[test]
fn classes_of_floats_and_functions_of_libraries() {
    let declared = "declare i1 @llvm.is.fpclass.f64(double, i32)\ndeclare double @llvm.fabs.f64(double)\n\
        declare double @llvm.pow.f64(double, double)\ndeclare double @llvm.sin.f64(double)\ndeclare double @llvm.cos.f64(double)\n";
    for (before, after, holds) in FLOATS {
        let function = |body: &str| format!("{declared}define i1 @f(double %d, double %e) {{\n{body}\n}}\n");
        let found = of_definitions(&function(before), &function(after));
        assert_eq!(found.proved, *holds, "{before}\n{after}\n{found:?}");
    }
}
