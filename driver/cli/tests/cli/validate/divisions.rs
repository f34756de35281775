//! Loops that divide: a division by zero is undefined in LLVM IR, and traps in CLIF.

use super::nests::verdict;

const HEADER: &str = "ptr noalias %a, ptr noalias %b, ptr noalias %c, i32 noundef %k, i32 noundef %n";

/// `%d`, which is `c[i]`.
const DIVISOR: &str = "  %s = getelementptr inbounds i32, ptr %c, i64 %r\n  %d = load i32, ptr %s\n";

/// `a[i] = w`, which `body` computes of `%v`, `b[i]`; from the last element on if `backwards`.
fn divided(first: &str, body: &str, backwards: bool) -> String {
    let subscript = match backwards {
        true => "  %m = sub i32 %n, 1\n  %q = sub i32 %m, %i\n  %r = sext i32 %q to i64\n",
        false => "  %r = sext i32 %i to i64\n",
    };
    format!(
        "define void @f({HEADER}) {{\nentry:\n{first}  br label %x\n\
         x:\n  %i = phi i32 [ 0, %entry ], [ %i.n, %y ]\n  %t = icmp slt i32 %i, %n\n  br i1 %t, label %y, label %done\n\
         y:\n{subscript}  %p = getelementptr inbounds i32, ptr %b, i64 %r\n  %v = load i32, ptr %p\n{body}  \
         %o = getelementptr inbounds i32, ptr %a, i64 %r\n  store i32 %w, ptr %o\n  \
         %i.n = add nsw i32 %i, 1\n  br label %x\ndone:\n  ret void\n}}\n"
    )
}

#[test]
fn divisions_are_executed_in_another_order() {
    for operation in ["sdiv", "srem", "udiv", "urem"] {
        for by in ["3", "-7", "-1", "%d", "%k"] {
            let load = if by == "%d" { DIVISOR } else { "" };
            let body = format!("{load}  %w = {operation} i32 %v, {by}\n");
            let (found, precondition, shown) = verdict(&[divided("", &body, false), divided("", &body, true)], "ll");
            assert_eq!((found.as_str(), precondition), ("proved", None), "{operation} {by}: {shown}");
        }
    }
}

#[test]
fn second_versions_divide_no_more_than_first_ones() {
    let plain = "  %w = add i32 %v, 0\n";
    let of = |w: &str| format!("  %e = sub i32 %i, 5\n  %w = {w}\n");
    let hoisted = "  %h = sdiv i32 7, %k\n";
    let wrong = [
        // An unused division in each iteration, and one that is executed where no iteration is.
        (divided("", plain, false), divided("", &format!("  %z = sdiv i32 7, %v\n{plain}"), false)),
        (
            divided("", &format!("{hoisted}  %w = add i32 %v, %h\n"), false),
            divided(hoisted, "  %w = add i32 %v, %h\n", false),
        ),
        (divided("", &of("sdiv i32 %v, 3"), false), divided("", &of("udiv i32 %v, 3"), false)),
        (divided("", &of("sdiv i32 %v, %k"), false), divided("", &of("sdiv i32 %k, %v"), false)),
        (divided("", &of("sdiv i32 %v, 4"), false), divided("", &of("sdiv exact i32 %v, 4"), false)),
        // Quotients of what is negative are rounded towards 0.
        (divided("", &of("sdiv i32 %e, 2"), false), divided("", &of("ashr i32 %e, 1"), false)),
        (divided("", &of("srem i32 %e, 4"), false), divided("", &of("and i32 %e, 3"), false)),
    ];
    for (before, after) in wrong {
        let pair = [before, after];
        let (found, _, shown) = verdict(&pair, "ll");
        assert_ne!(found, "proved", "{}\n{}\n{shown}", pair[0], pair[1]);
    }
}

/// `a[i] = a[i] / DIVISOR`.
const CLIF: &str = "function %f(i64, i32) {\n\
    block0(v0: i64, v1: i32):\n  v3 = iconst.i64 0\n  v20 = iconst.i64 2\n  v22 = iconst.i64 1\n  v23 = iconst.i64 32\n  \
    v24 = iconst.i64 31\n  v25 = iconst.i32 3\n  jump block1(v3)\n\
    block1(v4: i64):\n  v5 = icmp slt v4, v23\n  brif v5, block2, block3\n\
    block2:\n  v26 = isub v24, v4\n  v10 = ishl PLACE, v20\n  v11 = iadd v0, v10\n  v12 = load.i32 notrap v11\n  \
    v13 = sdiv v12, DIVISOR\n  store notrap v13, v11\n  v14 = iadd v4, v22\n  jump block1(v14)\nblock3:\n  return\n}\n";

#[test]
fn divisions_of_clif_that_may_trap_are_named() {
    let pair = |by: &str| ["v4", "v26"].map(|place| CLIF.replace("PLACE", place).replace("DIVISOR", by));
    let (found, _, shown) = verdict(&pair("v25"), "clif");
    assert_eq!(found, "proved", "{shown}");
    let (found, _, shown) = verdict(&pair("v1"), "clif");
    assert_ne!(found, "proved", "{shown}");
    let reasons = shown["reasons"].to_string();
    assert!(found == "refuted" || reasons.contains("a division that may trap"), "{shown}");
}
