//! Stores of LLVM IR beside each other that become one: what is said of the new one, and that it is proved.

use crate::ran::rewright;
use std::fs;

const HEAD: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
                    target triple = \"x86_64-pc-linux-gnu\"\n";
const TYPES: &str = "!0 = !{!1, !1, i64 0}\n!1 = !{!\"char\", !2}\n!2 = !{!\"root\"}\n";

/// What the body of a function `@f(ptr %p, i32 %x)` becomes, and whether that is proved.
fn becomes(parameter: &str, body: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let text =
        format!("{HEAD}define void @f(ptr %p, {parameter}) {{\n{body}  ret void\n}}\ndeclare void @seen()\n{TYPES}");
    fs::write(dir.path().join("f.ll"), text).unwrap();
    let ran = rewright(dir.path(), "opt f.ll --rules std -o g.ll");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = rewright(dir.path(), "validate f.ll g.ll").stdout;
    let new = fs::read_to_string(dir.path().join("g.ll")).unwrap();
    let body = new.split_once("define").unwrap().1.split_once("\n}").unwrap().0;
    (body.lines().filter(|line| line.starts_with("  ")).map(|line| line.trim().to_string() + "\n").collect(), said)
}

/// Two halves of `%x`, at an offset each, with the alignment of each.
fn halves(places: [(u32, u32); 2]) -> String {
    let [(first, align), (second, other)] = places;
    format!(
        "  %low = trunc i32 %x to i16\n  %shifted = lshr i32 %x, 16\n  %high = trunc i32 %shifted to i16\n  \
         %a = getelementptr inbounds i8, ptr %p, i64 {first}\n  store i16 %low, ptr %a, align {align}, !tbaa !0\n  \
         %b = getelementptr inbounds i8, ptr %p, i64 {second}\n  store i16 %high, ptr %b, align {other}, !tbaa !0\n"
    )
}

#[test]
fn the_address_of_the_last_store_says_how_the_new_one_is_aligned() {
    for (places, align) in [([(0, 1), (2, 8)], 2), ([(4, 4), (6, 2)], 2), ([(0, 1), (2, 1)], 1)] {
        let (text, said) = becomes("i32 noundef %x", &halves(places));
        assert!(text.contains("store i32 %x, ptr ") && text.contains(&format!("align {align}\n")), "{text}");
        assert!(!text.contains("!tbaa") && text.matches("store").count() == 1, "{text}");
        assert!(said.contains("@f: proved"), "{text}\n{said}");
    }
}

#[test]
fn what_may_be_poison_is_frozen() {
    let (text, said) = becomes("i32 %x", &halves([(0, 2), (2, 2)]));
    assert!(text.contains("freeze i32 %x") && text.matches("store").count() == 1, "{text}");
    assert!(said.contains("@f: proved"), "{text}\n{said}");
    // One half may be poison, the other is not: it must not become anything.
    let sum = "  %x = add nsw i32 %y, 1\n  %wraps = add i32 %y, 1\n  %low = trunc i32 %wraps to i16\n  \
               %shifted = lshr i32 %x, 16\n  %high = trunc i32 %shifted to i16\n  store i16 %low, ptr %p, align 2\n  \
               %b = getelementptr inbounds i8, ptr %p, i64 2\n  store i16 %high, ptr %b, align 2\n";
    let (text, said) = becomes("i32 %y", sum);
    assert!(said.contains("@f: proved") && !text.contains("nsw"), "{text}\n{said}");
}

#[test]
fn stores_that_others_see_stay() {
    let store = |word: &str, offset: u32| {
        format!(
            "  %p{offset} = getelementptr inbounds i8, ptr %p, i64 {offset}\n  store {word} i16 {offset}, ptr %p{offset}, align 2\n"
        )
    };
    for between in ["", "  call void @seen()\n", "  fence release\n"] {
        let body = store("", 0) + between + &store("", 2);
        let text = becomes("i32 %x", &(body)).0;
        assert_eq!(text.matches("store").count(), if between.is_empty() { 1 } else { 2 }, "{between}: {text}");
    }
    let text = becomes("i32 %x", &(store("volatile", 0) + &store("", 2) + &store("volatile", 4))).0;
    assert_eq!(text.matches("store").count(), 3, "{text}");
}
