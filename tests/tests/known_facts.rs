//! Facts of one integer that say what they mean hold where bits and bounds prove it, and nowhere else.

use rewright_tests::domain::{Optimised, failed_examples};

const PACK: &str = "
pack tables
import std.core
/// It fits a byte.
fact small{T <: Int}(x: T)  spec icmp_ult(x, 256)
/// It is a multiple of 8.
fact aligned(x: i64)  spec icmp_eq(band(x, 7), 0)
fn search(x: i64) -> i64  pure  cost 100
fn table(x: i64) -> i64  pure  cost 5
fn words(x: i64) -> i64  pure  cost 5
ruleset found {
  rule in_table(x: i64): search(x) => table(x) when small(x)
  rule in_words(x: i64): search(x) => words(x) when aligned(x)
}
schedule default { repeat 2 { run found } }
example \"a byte\" (x: i8) fires found.in_table: search(uextend{i8, i64}(x)) becomes table(uextend{i8, i64}(x))
example \"masked\" (x: i64) fires found.in_table: search(band(x, 255)) becomes table(band(x, 255))
example \"a mask of nine bits\" (x: i64): search(band(x, 511)) stays
example \"the mean of two bytes\" (x: i8, y: i8) fires found.in_table:
  search(ushr{i64, i64}(iadd(uextend{i8, i64}(x), uextend{i8, i64}(y)), 1))
  becomes table(ushr{i64, i64}(iadd(uextend{i8, i64}(x), uextend{i8, i64}(y)), 1))
example \"their sum\" (x: i8, y: i8): search(iadd(uextend{i8, i64}(x), uextend{i8, i64}(y))) stays
example \"chosen\" (c: i8, x: i64) fires found.in_table: search(select(c, 7, umin(x, 9))) becomes table(select(c, 7, umin(x, 9)))
example \"a byte with its sign\" (x: i8): search(sextend{i8, i64}(x)) stays
example \"a remainder may be by nothing\" (x: i64, y: i8): search(urem(x, uextend{i8, i64}(y))) stays
example \"anything\" (x: i64): search(x) stays
example \"a multiple\" (x: i64) fires found.in_words: search(imul(x, 24)) becomes words(imul(x, 24))
example \"a multiple and four\" (x: i64): search(iadd(imul(x, 24), 4)) stays
";

#[test]
fn facts_hold_where_bounds_prove_them() {
    assert_eq!(failed_examples(PACK), [] as [String; 0]);
}

/// A fact from a branch does not hold everywhere, so it is no fact for rules.
#[test]
fn a_branch_makes_no_fact() {
    let module = "
func %f(%x: i64) -> i64 {
  %n: i64 = const 256
  %c = icmp_ult %x, %n
  br %c, b1, b2
b1:
  %y = search %x
  return %y
b2:
  return %x
}
";
    let done = Optimised::new(PACK, module);
    assert!(done.operations("f").contains(&"search".to_string()), "{}", done.text("f"));
}
