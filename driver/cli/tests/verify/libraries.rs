//! Rules over values that only a library makes.

use super::{rewright, verify};
use serde_json::Value;
use std::fs;
use std::process::Command;

const VECTORS: &str = "
#include <stdint.h>
#include <stdlib.h>
typedef struct { int64_t n; double x[8]; } V;
V *vec(int64_t n, int64_t seed) {
    V *v = malloc(sizeof *v);
    v->n = n;
    uint64_t random = (uint64_t)seed * 2654435761u + 1;
    for (int i = 0; i < n; i++) random = random * 6364136223846793005u + 1442695040888963407u, v->x[i] = \
    (double)(random >> 11) / 1e15;
    return v;
}
V *add(const V *a, const V *b) { V *v = vec(a->n, 0); for (int i = 0; i < v->n; i++) v->x[i] = a->x[i] + b->x[i]; return v; }
V *scale(const V *a, double s) { V *v = vec(a->n, 0); for (int i = 0; i < v->n; i++) v->x[i] = a->x[i] * s; return v; }
double at(const V *a, int64_t i) { return a->x[i]; }
int64_t traps(const V *a) { __builtin_trap(); return a->n; }
";

const VECTOR_PACK: &str = r#"pack vectors
import std.core
@sample(vec(size, seed))
@observe(at(it, 0))
type Vec
type Hidden
@link("./lib.so", "vec")
fn vec(n: i64, seed: i64) -> Vec  effects allocates(heap)  cost 10
@link("./lib.so", "add")
fn add(a: Vec, b: Vec) -> Vec  effects allocates(heap)  cost 10
@link("./lib.so", "scale")
fn scale(a: Vec, s: f64) -> Vec  pure  cost 10
@link("./lib.so", "at")
fn at(a: Vec, i: i64) -> f64  pure  cost 1
@link("./lib.so", "traps")
fn traps(a: Vec) -> i64  pure  cost 1
@link("./lib.so", "vec")
fn hidden(a: Vec) -> Hidden  pure  cost 1
ruleset r {
  rule exact(a: Vec, i: i64): at(scale(a, 2.0), i) => fmul(at(a, i), 2.0)
  rule wrong(a: Vec, b: Vec, i: i64): fadd(at(a, i), at(b, i)) => fadd(at(a, i), at(a, i))
  unsafe rule fused(a: Vec, b: Vec): add(a, add(b, b)) => add(a, scale(b, 2.0))
    removes allocates(heap)  because "no other code sees the sum"
  @approximate("rounding", 1e-12)
  rule close(a: Vec, s: f64, t: f64): scale(scale(a, s), t) => scale(a, fmul(s, t))
  @approximate("rounding", 1e-18)
  rule too_strict(a: Vec, s: f64, t: f64): scale(scale(a, s), t) => scale(a, fmul(s, t))
  rule trapping(a: Vec): traps(a) => 1
  rule made_to_trap(a: Vec, i: i64): at(a, i) => at(a, traps(a))
  rule from_nowhere(a: Vec): scale(a, 0.0) => 0
  rule guarded(a: Vec, const i: i64): at(a, i) => at(scale(a, 1.0), 0)
    when icmp_eq(i, 0) or icmp_slt(i, 0)
  rule misguarded(a: Vec, const i: i64): at(a, i) => at(a, 0)
    when icmp_sge(i, 0)
  rule never(a: Vec, const i: i64): at(a, i) => at(a, 0)
    when icmp_eq(i, 1000)
  rule unseen(a: Vec): hidden(scale(a, 1.0)) => hidden(a)
  @approximate("negative numbers", 1e-9)
  @sample(fabs(x))
  rule positive(x: f64): sqrt(fmul(x, x)) => x
}
"#;

/// Values that only a library makes: the pack says how, what there is to see of them, and by how much sides may differ.
#[test]
fn values_of_libraries_are_made_and_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lib.c"), VECTORS).unwrap();
    fs::write(folder.path().join("vectors.rw"), VECTOR_PACK).unwrap();
    let compiled =
        Command::new("cc").current_dir(&folder).args("-O1 -shared -fPIC -o lib.so lib.c".split(' ')).status();
    assert!(compiled.unwrap().success());
    let output = Command::new(env!("CARGO_BIN_EXE_rewright"))
        .current_dir(&folder)
        .args(["verify", "vectors.rw", "--threads", "1", "--format", "json", "--no-cache", "--allow-link", "./lib.so"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rule = |name: &str| {
        let rules = document["rules"].as_array().unwrap();
        rules.iter().find(|r| r["name"] == format!("vectors.r.{name}")).unwrap_or_else(|| panic!("{name}")).clone()
    };
    for (name, method) in [
        ("exact", "500 of 500 values of its pack agree exactly"),
        ("fused", "values of its pack agree exactly"),
        ("close", "values of its pack agree within 1e-12"),
        ("positive", "500 of 500 ordinary values agree within 1e-9"),
    ] {
        let rule = rule(name);
        assert_eq!(rule["verdict"], "tested", "{rule:#}");
        assert!(rule["instances"][0]["method"].as_str().unwrap().ends_with(method), "{rule:#}");
    }
    let wrong = rule("wrong");
    assert_eq!(wrong["verdict"], "counterexample", "{wrong:#}");
    let made = wrong["counterexample"]["values"][1][1].as_str().unwrap();
    assert!(made.starts_with("vec(") && made.contains(", "), "{made}");
    assert_eq!(rule("too_strict")["verdict"], "counterexample");
    assert_eq!(rule("guarded")["verdict"], "tested", "{:#}", rule("guarded"));
    assert_eq!(rule("misguarded")["verdict"], "counterexample", "{:#}", rule("misguarded"));
    for (name, why) in [("made_to_trap", "a trap (SIGILL)"), ("from_nowhere", "a trap (SIGSEGV)")] {
        let rule = rule(name);
        assert_eq!(rule["verdict"], "counterexample", "{rule:#}");
        assert_eq!(rule["counterexample"]["right"], why, "{rule:#}");
    }
    for (name, why) in [
        ("trapping", "no call of it came back: SIGILL in the left side"),
        ("never", "its conditions hold at none of the values"),
        ("unseen", "no `@observe` says what is seen of a `Hidden`"),
    ] {
        let rule = rule(name);
        assert_eq!(rule["verdict"], "unknown", "{rule:#}");
        assert!(rule["instances"][0]["reason"].as_str().unwrap().ends_with(why), "{rule:#}");
    }
}

/// Attributes that say how something is tested are checked like everything else.
#[test]
fn samples_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.rw");
    for (line, why) in [
        ("@sample(seed)\ntype V", "expected `V`, found `i64`"),
        ("@sample(nothing(seed))\ntype V", "nothing"),
        ("@sample\ntype V", "`@sample` takes an expression that makes a value"),
        ("@sample(made(size), size)\ntype V\nfn made(n: i64) -> V  pure", "this does not change `it`"),
        ("@observe\ntype V", "`@observe` takes expressions over `it`"),
        ("@sample(seed)\ntype V <: Int model bv32", "values of `V` are known"),
        (
            "ruleset r {\n  @sample(fabs(x))\n  rule zero(x: f64): fabs(fabs(x)) => fabs(x)\n}",
            "unknown attribute `@sample` on a rule",
        ),
        (
            "ruleset r {\n  @approximate(\"all\", 2.0)\n  rule zero(x: f64): fabs(fabs(x)) => fabs(x)\n}",
            "a tolerance between 0 and 1",
        ),
        (
            "ruleset r {\n  @approximate(\"all\")\n  @sample(fadd(x, y))\n  rule zero(x: f64, y: f64): fadd(x, y) => x\n}",
            "made of one variable",
        ),
    ] {
        fs::write(&path, format!("pack wrong\nimport std.core\n{line}\n")).unwrap();
        let (_, stderr, code) = rewright(&["check", path.to_str().unwrap(), "--format", "concise"]);
        assert_eq!((code, stderr.contains(why)), (Some(1), true), "{line}: {stderr}");
    }
}

/// Functions of an embedding program are there only in that program, and it is said how to verify from there.
#[test]
fn functions_of_programs_are_left_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.rw");
    let text = "pack mine\nimport std.core\n@sample(made(size, seed))\n@observe(seen(it))\ntype V\n\
                host fn made(size: i64, seed: i64) -> V  pure\nhost fn seen(v: V) -> f64  pure\n\
                host fn half(x: f64) -> f64  pure\nruleset r {\n\
                \x20 rule scalar(x: f64): half(x) => x\n  rule value(v: V): seen(v) => 1.0\n}\n";
    fs::write(&path, text).unwrap();
    let (rules, code) = verify(&path, &[]);
    assert_eq!(code, Some(0));
    for rule in rules {
        assert_eq!(rule["verdict"], "unknown", "{rule:#}");
        let reason = rule["instances"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("is a Rust function of a program: verify from there"), "{rule:#}");
    }
}
