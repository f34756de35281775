//! Loops that differ in what is poison for some operands, in what wraps around, and in what a signature promises of values.

use super::nests::verdict;

/// Is it proved, without a condition?
fn is_proved(versions: &[String; 2], kind: &str) -> bool {
    let (verdict, precondition, _) = verdict(versions, kind);
    verdict == "proved" && precondition.is_none()
}

/// A loop over `%i` from 0 to `count`, with its own labels, that goes on at a label.
fn counting(name: &str, count: &str, body: &str, next: &str) -> String {
    format!(
        "{name}:\n  br label %{name}.x\n{name}.x:\n  %{name}.i = phi i64 [ 0, %{name} ], [ %{name}.n, %{name}.b ]\n  \
         %{name}.c = icmp slt i64 %{name}.i, {count}\n  br i1 %{name}.c, label %{name}.b, label %{next}\n\
         {name}.b:\n{}  %{name}.n = add nsw i64 %{name}.i, 1\n  br label %{name}.x\n",
        body.replace("%i", &format!("%{name}.i")).replace("%t", &format!("%{name}.t"))
    )
}

/// Each `inbounds` is about the number that the offset has become, which is 0 for 2^62.
#[test]
fn what_is_within_an_object_may_have_wrapped_around() {
    let first = "  %t1 = add i64 %m, %i\n  %t2 = getelementptr inbounds i8, ptr %a, i64 %t1\n  store i8 %x, ptr %t2\n";
    let second =
        "  %t1 = trunc i64 %i to i8\n  %t2 = getelementptr inbounds i8, ptr %a, i64 %i\n  store i8 %t1, ptr %t2\n";
    let function = |product: &str, bodies: [&str; 2]| {
        format!(
            "define void @f(ptr noalias noundef %a, i64 noundef %n, i8 noundef %x) {{\nentry:\n  %g = icmp sge i64 %n, 4\n  \
             %m = {product} i64 %n, 4\n  br i1 %g, label %near, label %end\n{}{}end:\n  ret void\n}}\n",
            counting("near", "7", bodies[0], "far"),
            counting("far", "7", bodies[1], "end")
        )
    };
    let versions = |product: &str| [function(product, [first, second]), function(product, [second, first])];
    assert!(!is_proved(&versions("mul"), "ll"));
    assert_eq!(verdict(&versions("mul"), "ll").1.as_deref(), Some("no address wraps around"));
}

/// CLIF promises nothing of an address, whatever is first in its sum.
#[test]
fn sums_in_either_order_may_wrap_around() {
    let function = |sum: &str, writes: [&str; 2]| {
        let body = |n: usize, write: &str| {
            let write = write.replace("v9", &format!("v9{n}")).replace("vi", &format!("v{n}0"));
            format!(
                "block{n}0(v{n}0: i64):\n    v{n}1 = icmp slt v{n}0, v5\n    brif v{n}1, block{n}1, block{n}2\n\
                 block{n}1:\n{write}    v{n}2 = iadd v{n}0, v6\n    jump block{n}0(v{n}2)\n"
            )
        };
        format!(
            "function %f(i64, i64, i8) {{\nblock0(v0: i64, v1: i64, v2: i8):\n    v3 = iconst.i64 4\n    v4 = imul v1, v3\n    \
             v5 = iconst.i64 3\n    v6 = iconst.i64 1\n    v7 = iconst.i64 0\n    v8 = icmp sge v1, v3\n    brif v8, block9, block42\n\
             block9:\n    jump block30(v7)\n{}block32:\n    jump block40(v7)\n{}block42:\n    return\n}}\n",
            body(3, writes[0]),
            body(4, writes[1])
        )
        .replace("SUM", sum)
    };
    let [far, near] = [
        "    v94 = iadd v4, vi\n    v9 = iadd SUM\n    store notrap v2, v9\n",
        "    v9 = iadd vi, v0\n    v95 = ireduce.i8 vi\n    store notrap v95, v9\n",
    ];
    for sum in ["v94, v0", "v0, v94"] {
        // Each `v94` is one value of one block.
        let sum = &sum.replace("v94", "v4");
        let far = far.replace("    v94 = iadd v4, vi\n", "");
        let versions = [function(sum, [&far, near]), function(sum, [near, &far])];
        assert!(!is_proved(&versions, "clif"), "{}", versions[0]);
    }
}

/// An operation that is poison for some operands is no total one, but that stands for it.
#[test]
fn a_total_operation_is_not_made_partial() {
    let function = |element: &str, op: &str| {
        let of_element = op.replace("%v", "%t2");
        let body = format!(
            "  %t1 = getelementptr inbounds {element}, ptr %b, i64 %i\n  %t2 = load {element}, ptr %t1\n  \
             %t3 = {of_element}\n  %t4 = getelementptr inbounds i32, ptr %a, i64 %i\n  store i32 %t3, ptr %t4\n"
        );
        format!(
            "declare i32 @llvm.abs.i32(i32, i1)\ndeclare i32 @llvm.ctlz.i32(i32, i1)\ndeclare i32 @llvm.cttz.i32(i32, i1)\n\
             declare i32 @llvm.fptosi.sat.i32.f32(float)\ndeclare i32 @llvm.fptoui.sat.i32.f32(float)\n\
             define void @f(ptr noalias noundef %a, ptr noalias noundef %b, i64 noundef %n) {{\nentry:\n  br label %one\n\
             {}end:\n  ret void\n}}\n",
            counting("one", "%n", &body, "end")
        )
    };
    let flagged = |name: &str, flag: &str| function("i32", &format!("call i32 @llvm.{name}.i32(i32 %v, i1 {flag})"));
    let mut pairs: Vec<[String; 2]> =
        ["abs", "ctlz", "cttz"].iter().map(|name| ["false", "true"].map(|flag| flagged(name, flag))).collect();
    for name in ["fptosi", "fptoui"] {
        let total = function("float", &format!("call i32 @llvm.{name}.sat.i32.f32(float %v)"));
        pairs.push([total, function("float", &format!("{name} float %v to i32"))]);
    }
    for [total, partial] in pairs {
        assert!(is_proved(&[partial.clone(), total.clone()], "ll"), "{partial}");
        assert!(is_proved(&[partial.clone(), partial.replace("%one.t3", "%one.u")], "ll"), "{partial}");
        assert!(!is_proved(&[total, partial.clone()], "ll"), "{partial}");
    }
}

/// Attributes of values that only the second version's signature has are not proved by loops.
#[test]
fn a_signature_promises_no_more_of_values() {
    let function = |result: &str, parameter: &str| {
        let body = "  %t1 = getelementptr inbounds i32, ptr %a, i64 %i\n  store i32 %s, ptr %t1\n";
        format!(
            "define {result} i32 @f(ptr noalias noundef %a, i64 noundef %n, i32 noundef {parameter} %s) {{\nentry:\n  \
             br label %one\n{}end:\n  ret i32 0\n}}\n",
            counting("one", "%n", body, "end")
        )
    };
    let plain = function("", "");
    assert!(is_proved(&[plain.clone(), plain.replace("%one.t1", "%one.u")], "ll"));
    for promising in [
        function("", "returned"),
        function("", "range(i32 987654322, 987654321)"),
        function("range(i32 5, 9)", ""),
        function("", "range(i32 5, 9)"),
    ] {
        assert!(!is_proved(&[plain.clone(), promising.clone()], "ll"), "{promising}");
        assert!(is_proved(&[promising.clone(), promising.replace("%one.t1", "%one.u")], "ll"), "{promising}");
    }
}

/// An operation on vectors that is not modelled depends on their numbers of lanes.
#[test]
fn lanes_are_counted() {
    let function = |ty: &str| {
        format!(
            "function %f(i32) -> i32 {{\nblock0(v0: i32):\n    v1 = splat.{ty} v0\n    v2 = vhigh_bits.i32 v1\n    return v2\n}}\n"
        )
    };
    assert!(is_proved(&[function("i32x4"), function("i32x4").replace("v2", "v3")], "clif"));
    assert!(!is_proved(&[function("i32x4"), function("i32x2")], "clif"));
}
