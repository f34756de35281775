//! Which state calls of a rule read that do not name one.

use rewright_tests::domain::Optimised;

const PACK: &str = "
pack vectors
type i64 model bv64
type f64
type Vector
fn get(v: Vector, i: i64) -> f64 effects reads(memory) cost 20
fn largest(v: Vector) -> f64 effects reads(memory) cost 300
fn index_of_largest(v: Vector) -> i64 effects reads(memory) cost 300
fn set(v: Vector, i: i64, x: f64) -> () effects writes(memory) cost 20
rule largest(v: Vector): get(v, index_of_largest(v)) => largest(v)
schedule default { saturate rules }
";

/// The value at an index, with something between where the index is found and where it is used.
fn operations(between: &str) -> Vec<String> {
    let module = format!(
        "func %f(%v: Vector, %i: i64, %x: f64) -> f64 {{\n  %n = index_of_largest %v\n{between}  %r = get %v, %n\n  return %r\n}}\n"
    );
    Optimised::new(PACK, &module).operations("f")
}

#[test]
fn calls_of_a_rule_read_one_state() {
    assert_eq!(operations(""), ["largest"]);
    assert_eq!(operations("  set %v, %i, %x\n"), ["index_of_largest", "set", "get"]);
}
