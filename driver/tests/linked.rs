//! `eval` over functions of a shared library: what they give is a constant; one that traps or does not come back gives
//! none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "
#include <stdint.h>
int64_t total(const int64_t *p) {
    int64_t sum = 0;
    for (int64_t i = 0; i < p[-2]; i++) sum += p[i];
    return sum;
}
int64_t traps_at_3(int64_t x) { if (x == 3) __builtin_trap(); return x + 1; }
int64_t hangs_at_3(int64_t x) { for (volatile int y = 0; x == 3;) y = 1; return x + 1; }
";

const PACK: &str = r#"
pack linked
import std.core
type List{T}
@link("libm.so.6", "hypot")
fn hypot(x: f64, y: f64) -> f64  pure  cost 100
@link("./lib.so", "total")
fn total(l: List{i64}) -> i64  pure  cost 100
@link("./lib.so", "traps_at_3")
fn traps_at_3(x: i64) -> i64  pure  cost 100
@link("./lib.so", "hangs_at_3")
fn hangs_at_3(x: i64) -> i64  pure  cost 100
ruleset computed {
  dynamic rule long_side(const x: f64, const y: f64): hypot(x, y) => eval(hypot(x, y))
  dynamic rule sum(const l: List{i64}): total(l) => eval(total(l))
  dynamic rule traps(const x: i64): traps_at_3(x) => eval(traps_at_3(x))
  dynamic rule hangs(const x: i64): hangs_at_3(x) => eval(hangs_at_3(x))
}
example "3, 4, 5" () fires computed.long_side: hypot(3.0, 4.0) becomes 5.0
example "a trap is no match" (): traps_at_3(3) stays
"#;

const MODULE: &str = "
func %f -> (f64, i64, i64, i64, i64, i64) {
entry:
  %x: f64 = const 3.0
  %y: f64 = const 4.0
  %a = hypot %x, %y
  %l: List{i64} = const [5, 8, 13]
  %b = total %l
  %three: i64 = const 3
  %four: i64 = const 4
  %c = traps_at_3 %four
  %d = traps_at_3 %three
  %e = hangs_at_3 %four
  %g = hangs_at_3 %three
  return %a, %b, %c, %d, %e, %g
}
";

fn rewright(dir: &Path, args: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.current_dir(dir).args(args.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn functions_of_libraries_are_computed_while_matching() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("lib.c", LIBRARY), ("pack.rw", PACK), ("f.ir", MODULE)] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let mut cc = Command::new("cc");
    cc.current_dir(dir.path()).args(["-O1", "-shared", "-fPIC", "-o", "lib.so", "lib.c"]);
    assert!(cc.status().unwrap().success());
    assert!(rewright(dir.path(), "check pack.rw").contains("2 examples: 2 passed"));
    let text = rewright(dir.path(), "opt f.ir --rules pack.rw");
    for (constant, why) in [("0x4014000000000000", "5.0"), ("const 26", "the sum"), ("const 5", "4 + 1")] {
        assert!(text.contains(constant), "{why}: {text}");
    }
    let calls = |name: &str| text.matches(&format!(" = {name} ")).count();
    assert_eq!([calls("hypot"), calls("total"), calls("traps_at_3"), calls("hangs_at_3")], [0, 0, 1, 1], "{text}");
}
