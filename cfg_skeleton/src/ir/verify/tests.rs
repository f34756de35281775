//! One test per defect, in the text form.

use super::*;
use crate::ir::parse::parse;
use crate::testing::universe;

/// The errors of a function with this body.
fn errors(body: &str) -> Vec<String> {
    let mut u = universe();
    let text = format!("func f -> (i32) {{\n{body}\n}}");
    let module = parse(&text, &mut u).unwrap();
    verify(&module.functions[0], &u).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn fails(body: &str, expected: &[&str]) {
    assert_eq!(errors(body), expected, "{body}");
}

#[test]
fn a_good_function_has_no_errors() {
    fails(
        "b0(v0: i32, v1: i64): jump b1(v0)
         b1(v2: i32): v3: i64 = const 4 v4: i32 = load{i32} v1, v3 @region0 v5: i32 = iadd{i32} v2, v4 br v5, b1(v5), b2
         b2: return v5
         b3: jump b4 b4: v6: i32 = iadd{i32} v5, v5 jump b3",
        &[],
    );
}

#[test]
fn shape() {
    fails("", &["function: a function has at least one block"]);
    fails("b0: jump b7", &["b0, terminator: b7 is not a block of the layout"]);
    fails("b0: jump b0", &["b0, terminator: b0 is the entry and cannot be the target of an edge"]);
    fails("b0: return v3", &["b0, terminator: v3 has no definition"]);
}

#[test]
fn dominance() {
    fails(
        "b0(v0: i32): br v0, b1, b2 b1: v1: i32 = const 1 jump b3 b2: jump b3 b3: return v1",
        &["b3, terminator: the definition of v1 does not dominate this use"],
    );
    fails(
        "b0(v0: i32): v1: i32 = iadd{i32} v2, v0 v2: i32 = const 1 return v1",
        &["b0, instruction 0: the definition of v2 does not dominate this use"],
    );
    fails(
        "b0(v0: i32): v1: i32 = iadd{i32} v1, v0 return v1",
        &["b0, instruction 0: the definition of v1 does not dominate this use"],
    );
}

#[test]
fn types() {
    fails(
        "b0(v0: i32, v1: i64): v2: i32 = iadd{i32} v0, v1 return v1",
        &["b0, instruction 0: v1 has type i64, which is not i32", "b0, terminator: v1 has type i64, which is not i32"],
    );
    fails("b0(v0: i32): v1: i32 = iadd{i32} v0 return v1", &["b0, instruction 0: operands: expected 2, found 1"]);
    fails(
        "b0(v0: i32): v1: i32 = iadd{i32, i32} v0, v0 return v1",
        &["b0, instruction 0: type arguments: expected 1, found 2"],
    );
    fails(
        "b0(v0: f32): v1: f32 = iadd{f32} v0, v0 br v0, b1, b1 b1: trap 0",
        &[
            "b0, instruction 0: type argument f32 of iadd is not below Int",
            "b0, terminator: v0 has type f32, which is not an integer",
        ],
    );
    fails("b0(v0: i32): return", &["b0, terminator: returned values: expected 1, found 0"]);
    fails("b0: v0: i8 = const 255 trap 0", &["b0, instruction 0: 255 is not canonical at this type"]);
}

#[test]
fn memory_and_constants() {
    fails(
        "b0(v0: i64): v1: i32 = load{i32} v0, v0 @region1 return v1",
        &[
            "b0, instruction 0: there is no region 1",
            "b0, instruction 0: v0 stands for a `const` parameter and is not a constant",
        ],
    );
    let access = "b0, instruction 0: iadd: an access goes with exactly the operations that read or write memory";
    fails("b0(v0: i32): v1: i32 = iadd{i32} v0, v0 @region0 return v1", &[access]);
}

#[test]
fn edges() {
    fails(
        "b0(v0: i32): jump b1 b1(v1: i32): return v1",
        &["b0, terminator: arguments of an edge: expected 1, found 0"],
    );
    fails("b0(v0: i64): jump b1(v0) b1(v1: i32): return v1", &["b0, terminator: v0 has type i64, which is not i32"]);
    fails(
        "b0: jump b1(#0) b1(v1: i32): return v1",
        &["b0, terminator: only edges of opaque terminators carry results of the terminator"],
    );
    fails("b0: opaque.end 1 (), [b1(#0)] b1(v1: i32): return v1", &[]);
}
