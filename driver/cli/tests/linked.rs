//! `eval` over functions of a shared library: what they give is a constant; one that traps or does not come back gives
//! none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_embed::Embedding;
use rewright_pipeline::optimiser::Options;
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

/// The library, the pack and the module, in a folder.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("lib.c", LIBRARY), ("pack.rw", PACK), ("f.ir", MODULE)] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let mut cc = Command::new("cc");
    cc.current_dir(dir.path()).args(["-O1", "-shared", "-fPIC", "-o", "lib.so", "lib.c"]);
    assert!(cc.status().unwrap().success());
    dir
}

#[test]
fn functions_of_libraries_are_computed_while_matching() {
    let dir = folder();
    assert!(
        rewright(dir.path(), "check pack.rw --allow-link libm.so.6 --allow-link ./lib.so")
            .contains("2 examples: 2 passed")
    );
    let text = rewright(dir.path(), "opt f.ir --rules pack.rw --allow-link libm.so.6 --allow-link ./lib.so");
    for (constant, why) in [("0x4014000000000000", "5.0"), ("const 26", "the sum"), ("const 5", "4 + 1")] {
        assert!(text.contains(constant), "{why}: {text}");
    }
    let calls = |name: &str| text.matches(&format!(" = {name} ")).count();
    assert_eq!([calls("hypot"), calls("total"), calls("traps_at_3"), calls("hangs_at_3")], [0, 0, 1, 1], "{text}");
}

/// The program that embeds names the worker; without one, nothing is computed, and all else is as ever.
#[test]
fn an_embedding_program_has_them_computed_by_a_worker() {
    let dir = folder();
    let library = dir.path().join("lib.so");
    let pack = PACK.replace("./lib.so", library.to_str().unwrap());
    for worker in [None, Some(env!("CARGO_BIN_EXE_rewright"))] {
        let mut embedding = Embedding::new();
        embedding.pack("pack.rw", &pack);
        if let Some(worker) = worker {
            embedding.worker(worker);
            for library in ["libm.so.6", library.to_str().unwrap()] {
                embedding.allow_link(library).unwrap();
            }
        }
        let module = embedding.module(MODULE).unwrap();
        let text = module.optimise(&Options::default(), |_| true).print();
        let calls = |name: &str| text.matches(&format!(" = {name} ")).count();
        let found = [calls("hypot"), calls("total"), calls("traps_at_3"), calls("hangs_at_3")];
        assert_eq!(found, if worker.is_some() { [0, 0, 1, 1] } else { [1, 1, 2, 2] }, "{text}");
    }
}

/// A wrong rule is refuted by what the library gives; of the function alone nothing is known.
#[test]
fn verify_computes_them() {
    let dir = tempfile::tempdir().unwrap();
    let pack = r#"
pack linked
import std.core
@link("libm.so.6", "hypot")
fn hypot(x: f64, y: f64) -> f64  pure  cost 100
dynamic rule longer(const x: f64, const y: f64): hypot(x, y) => eval(hypot(x, hypot(y, 1.0)))
"#;
    std::fs::write(dir.path().join("pack.rw"), pack).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command
        .current_dir(dir.path())
        .args(["verify", "pack.rw", "--no-cache", "--allow-link", "libm.so.6"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && said.contains("left is 0.0, right is 1.0 where x = 0.0, y = 0.0"),
        "{said}"
    );
}
