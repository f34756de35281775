//! Loops that differ in one place: what their nests differ on is an input on which both functions are called.

use super::nests::{APART, clif, interchanged, nest, own, single, stencil, verdict};

/// A pair is refuted by an input on which `validate` shows it again.
fn assert_refuted(pair: &[String; 2], kind: &str) {
    let (found, _, shown) = verdict(pair, kind);
    assert_eq!(found, "refuted", "{}\n{}\n{shown}", pair[0], pair[1]);
    assert!(!shown["input"].is_null() && shown["before"] != shown["after"], "{shown}");
}

/// `a[i] = b[i + 1] + c` for `i` below `n`, by steps of one, beginning at `first`.
fn shifted(first: &str, test: &str, body: &str, next: &str) -> String {
    let header = "ptr noalias noundef %a, ptr noalias noundef %b, i64 noundef %n, i32 noundef %k";
    single(header, "i64", test, body, next).replace("[ 0, %entry ]", &format!("[ {first}, %entry ]"))
}

const BODY: &str = "  %q = getelementptr inbounds i32, ptr %b, i64 %i\n  %q1 = getelementptr inbounds i32, ptr %q, i64 1\n  \
                    %v = load i32, ptr %q1, align 4\n  %w = add i32 %v, %k\n  \
                    %p = getelementptr inbounds i32, ptr %a, i64 %i\n  store i32 %w, ptr %p, align 4\n";

#[test]
fn loops_of_llvm_that_differ_in_one_place_are_refuted() {
    let (test, next) = ("slt i64 %i, %n", "add nsw i64 %i, 1");
    let before = shifted("0", test, BODY, next);
    let bounds = ["sle i64 %i, %n", "slt i64 %i, 7", "ne i64 %i, %n", "ult i64 %i, %n"];
    let mut after: Vec<String> = bounds.iter().map(|test| shifted("0", test, BODY, next)).collect();
    after.push(shifted("1", test, BODY, next));
    after.push(shifted("0", test, BODY, "add nsw i64 %i, 2"));
    for [from, to] in [
        // The operator, an operand, subscripts, distances.
        ["add i32 %v, %k", "sub i32 %v, %k"],
        ["add i32 %v, %k", "mul i32 %v, %k"],
        ["add i32 %v, %k", "add i32 %v, 1"],
        ["add i32 %v, %k", "xor i32 %v, %k"],
        ["i64 1\n", "i64 2\n"],
        ["%p = getelementptr inbounds i32", "%p = getelementptr inbounds i64"],
        ["ptr %a, i64 %i", "ptr %b, i64 %i"],
        ["store i32 %w", "store i32 %v"],
    ] {
        assert!(BODY.contains(from), "{from}");
        after.push(shifted("0", test, &BODY.replace(from, to), next));
    }
    for after in after {
        assert_refuted(&[before.clone(), after], "ll");
    }
}

#[test]
fn loops_of_llvm_in_a_wrong_order_are_refuted() {
    for (row, column) in [(1, -1), (-1, 1)] {
        assert_refuted(&interchanged(["32", "32"], APART, &stencil("a", row, column)), "ll");
        assert_refuted(&interchanged(["%n", "9"], APART, &stencil("a", row, column)), "ll");
    }
    // Rows that are as long as they say are right in both orders, longer ones are not.
    let [before, after] = interchanged(["%n", "%n"], APART, &stencil("b", 0, 0).replace("64 x", "5 x"));
    let (found, precondition, shown) = verdict(&[before, after], "ll");
    assert!(found != "proved" || precondition.as_deref() == Some("%n <= 5"), "{shown}");
    // Transposed: the counters change places, the subscripts do not.
    let body = stencil("b", 0, 0);
    let swapped = body.replace("i64 %r, i64 %s", "i64 %s, i64 %r");
    let pair = [nest(["i", "j"], ["6", "7"], APART, &body), nest(["i", "j"], ["6", "7"], APART, &swapped)];
    assert_refuted(&pair, "ll");
}

#[test]
fn loops_of_clif_and_of_our_own_text_that_differ_are_refuted() {
    for flags in ["notrap", "notrap aligned", "aligned"] {
        let before = clif("v4", "v6", flags);
        for [from, to] in [
            ["fadd v15, v16", "fsub v15, v16"],
            ["fadd v15, v16", "fmul v15, v16"],
            ["iconst.i64 32", "iconst.i64 31"],
            ["iconst.i64 9\n", "iconst.i64 8\n"],
            ["v17, v13", "v17, v14"],
            ["v17, v13", "v15, v13"],
        ] {
            assert!(before.contains(from), "{from}");
            assert_refuted(&[before.clone(), clif("v6", "v4", flags).replace(from, to)], "clif");
        }
    }
    let before = own("%x", "%y", 4);
    for after in [own("%y", "%x", 3), own("%y", "%y", 4), own("%y", "%x", 4).replace("fadd", "fsub")] {
        assert_refuted(&[before.clone(), after], "ir");
    }
}

/// Versions that differ where nothing can be observed: no such pair is refuted.
#[test]
fn loops_that_cannot_be_told_apart_are_not_refuted() {
    let (test, next) = ("slt i64 %i, %n", "add nsw i64 %i, 1");
    let before = shifted("0", test, BODY, next);
    for after in [
        // An unused load, of what is read anyway; the other order of a sum; a step back and forth.
        shifted("0", test, &format!("{BODY}  %x = load i32, ptr %q1, align 4\n"), next),
        shifted("0", test, &BODY.replace("%v, %k", "%k, %v"), next),
        shifted(
            "0",
            test,
            &BODY.replace("%w = add i32 %v, %k", "%u = sub i32 %v, 5\n  %z = add i32 %u, %k\n  %w = add i32 %z, 5"),
            next,
        ),
        // Memory that is not there may be written where the behaviour is undefined anyway.
        shifted("0", "sgt i64 %n, %i", BODY, next),
        // Stored twice.
        shifted("0", test, &format!("{BODY}  store i32 %w, ptr %p, align 4\n"), next),
    ] {
        let (found, _, shown) = verdict(&[before.clone(), after.clone()], "ll");
        assert_ne!(found, "refuted", "{after}\n{shown}");
    }
    // Arguments that overlap are not asked for where the first version says that they do not.
    let apart = interchanged(["%n", "8"], APART, &stencil("b", 1, 1));
    let (found, _, shown) = verdict(&apart, "ll");
    assert_ne!(found, "refuted", "{shown}");
    // Undefined behaviour of the first version may become anything.
    let over = "ptr noalias %a, i8 noundef %n";
    let wraps = |next: &str| {
        single(
            over,
            "i8",
            "slt i8 %i, %n",
            "  %r = sext i8 %i to i64\n  %p = getelementptr i8, ptr %a, i64 %r\n  store i8 7, ptr %p, align 1\n",
            next,
        )
    };
    let (found, _, shown) = verdict(&[wraps("add nsw i8 %i, 1"), wraps("add i8 %i, 1")], "ll");
    assert_ne!(found, "refuted", "{shown}");
}
