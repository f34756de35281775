//! Branches that other ones have decided, and the blocks that stay.

use super::super::decided::decided;
use super::{TARGET, of_files};
use rewright_llvm::body::{self, Shape};
use rewright_llvm::module::read;

/// The branches that are left of a body, and its blocks.
fn left(text: &str) -> (usize, usize) {
    let file = read(format!("{TARGET}{text}")).unwrap();
    let body = body::read(&file, &file.functions[0]).unwrap();
    let body = decided(&body).unwrap_or(body);
    let branches = body.blocks.iter().flat_map(|block| &block.instructions);
    (branches.filter(|i| matches!(i.shape, Shape::Branch(..))).count(), body.blocks.len())
}

/// A function with two tests of %x, the second one in an arm of the first.
fn tests(first: &str, second: &str) -> String {
    format!(
        "define i32 @f(i32 %x, i32 %y) {{\n%a = {first}\nbr i1 %a, label %t, label %e\nt:\n%b = {second}\n\
         br i1 %b, label %u, label %e\nu:\nret i32 1\ne:\n%r = phi i32 [ 0, %0 ], [ 2, %t ]\nret i32 %r\n}}\n"
    )
}

#[test]
fn the_same_and_the_inverse_are_decided() {
    for (first, second) in [
        ("icmp ne i32 %x, 0", "icmp ne i32 %x, 0"),
        ("icmp ne i32 %x, 0", "icmp eq i32 %x, 0"),
        ("icmp slt i32 %x, %y", "icmp sge i32 %x, %y"),
        ("icmp ugt i32 %x, %y", "icmp ugt i32 %x, %y"),
        ("icmp ugt i32 %x, %y", "icmp eq i8 255, -1"),
        ("icmp ugt i32 %x, %y", "icmp ne i8 3, 4"),
    ] {
        assert_eq!(left(&tests(first, second)).0, 1, "{first}, {second}");
    }
    for (first, second) in [
        ("icmp ne i32 %x, 0", "icmp ne i32 %x, 1"),
        ("icmp ne i32 %x, 0", "icmp ne i32 %y, 0"),
        ("icmp slt i32 %x, %y", "icmp sle i32 %x, %y"),
        ("icmp slt i32 %x, %y", "icmp sge i32 %y, %x"),
        ("icmp slt i32 %x, %y", "icmp samesign ult i32 %x, %y"),
    ] {
        assert_eq!(left(&tests(first, second)).0, 2, "{first}, {second}");
    }
}

/// Where both arms, or others, lead to a block, nothing is decided there.
#[test]
fn arms_that_are_reached_otherwise_decide_nothing() {
    let same = tests("icmp eq i32 %x, 0", "icmp eq i32 %x, 0");
    assert_eq!(left(&same), (1, 4));
    let other = same.replace("label %t, label %e\nt:", "label %s, label %t\ns:\nbr label %t\nt:");
    let other = other.replace("[ 0, %0 ], [ 2, %t ]", "[ 2, %t ]");
    assert_eq!(left(&other).0, 2);
}

/// A value that is read or frozen twice is two values.
#[test]
fn only_what_is_computed_is_the_same_twice() {
    let function = |made: &str| {
        format!(
            "define i1 @f(ptr %p, i32 %x) {{\n%u = {made}\n%a = icmp eq i32 %u, 0\nbr i1 %a, label %t, label %e\nt:\n\
             %v = {made}\n%b = icmp eq i32 %v, 0\nbr i1 %b, label %e, label %e\ne:\nret i1 true\n}}\n"
        )
    };
    let branches = |made: &str| left(&function(made)).0;
    assert_eq!(branches("add i32 %x, 1"), 1);
    for made in ["load i32, ptr %p", "freeze i32 %x", "load volatile i32, ptr %p"] {
        assert_eq!(branches(made), 2, "{made}");
    }
}

/// Only the first version's branches are: the second one may not do less than it says.
#[test]
fn branches_of_the_second_version_stay() {
    let function = |x: &str, second: &str| {
        let text = tests("icmp eq i32 %x, 0", second).replace("@f(i32 %x", &format!("@f(i32 {x}%x"));
        read(format!("{TARGET}{text}")).unwrap()
    };
    let (twice, once) = ("icmp eq i32 %x, 0", "icmp eq i32 0, 0");
    assert!(of_files(&function("", twice), &function("", once)).proved);
    assert!(of_files(&function("noundef ", once), &function("noundef ", twice)).proved);
}
