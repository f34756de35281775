//! What trials of rules about a library's functions say: those without an answer, those that see nothing, and what is kept.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const LIBRARY: &str = "
#include <stdint.h>
#include <stdlib.h>
typedef struct { int64_t v; } Num;
Num *num_new(int64_t size, int64_t seed) { Num *n = malloc(sizeof *n); n->v = seed % (size + 2); return n; }
int64_t num_get(const Num *n) { return n->v; }
void num_set(Num *n, int64_t v) { n->v = v; }
int64_t num_always(const Num *n) { return n == 0; }
int64_t num_quotient(const Num *a, const Num *b) { if (b->v == 0) __builtin_trap(); return a->v / b->v; }
int64_t num_per(const Num *a, const Num *b) { if (b->v == 0) __builtin_trap(); return a->v / b->v; }
int64_t num_safe(const Num *a, const Num *b) { return b->v == 0 ? 0 : a->v / b->v; }
void num_minus(Num *r, const Num *a, const Num *b) { r->v = a->v - b->v; }
void num_plus(Num *r, const Num *a, const Num *b) { r->v = a->v + b->v; }
";

const PACK: &str = r#"pack nums
import std.core
@sample(new(size, seed), set(it, 1))
@observe(get(it))
type Num <: ptr
@sample(dark(size, seed))
@observe(always(it))
type Dark <: ptr
@link("./lib.so", "num_new")
fn new(size: i64, seed: i64) -> Num  effects allocates(heap)  cost 9
@link("./lib.so", "num_new")
fn dark(size: i64, seed: i64) -> Dark  effects allocates(heap)  cost 9
@link("./lib.so", "num_get")
fn get(n: Num) -> i64  effects reads(memory)  cost 9
@link("./lib.so", "num_always")
fn always(n: Dark) -> i64  effects reads(memory)  cost 9
@link("./lib.so", "num_set")
fn set(n: Num, v: i64) -> ()  effects writes(memory)  cost 9
@link("./lib.so", "num_set")
fn set_dark(n: Dark, v: i64) -> ()  effects writes(memory)  cost 9
@link("./lib.so", "num_quotient")
fn quotient(a: Num, b: Num) -> i64  effects reads(memory)  cost 20
@link("./lib.so", "num_per")
fn per(a: Num, b: Num) -> i64  effects reads(memory)  cost 19
@link("./lib.so", "num_safe")
fn safe(a: Num, b: Num) -> i64  effects reads(memory)  cost 18
@link("./lib.so", "num_minus")
fn minus(r: Num, a: Num, b: Num) -> ()  effects reads(memory), writes(memory)  cost 9
@link("./lib.so", "num_plus")
fn plus(r: Num, a: Num, b: Num) -> ()  effects reads(memory), writes(memory)  cost 9
ruleset r {
  rule both(a: Num, b: Num): quotient(a, b) => per(a, b)
  rule left(a: Num, b: Num): per(a, b) => safe(a, b)
  rule right(a: Num, b: Num): safe(a, b) => quotient(a, b)
  rule again(r: Num, a: Num, b: Num, s: State): minus(r, a, b) after (minus(r, a, b) after s) => minus(r, a, b) after s
  rule swapped(r: Num, a: Num, b: Num): plus(r, a, b) => plus(r, b, a)
  rule unseen(n: Dark, x: i64): set_dark(n, x) => set_dark(n, 3)
}
"#;

fn built(folder: &Path, library: &str) {
    fs::write(folder.join("lib.c"), library).unwrap();
    let compiled = Command::new("cc").current_dir(folder).args("-O1 -shared -fPIC -o lib.so lib.c".split(' ')).status();
    assert!(compiled.unwrap().success());
}

fn verify(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.current_dir(folder).env("HOME", folder).env_remove("XDG_CACHE_HOME");
    command.args(["verify", "nums.rw", "--threads", "1", "--allow-link", "./lib.so"]).args(more).output().unwrap()
}

#[test]
fn trials_without_an_answer_are_said() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), LIBRARY);
    fs::write(folder.path().join("nums.rw"), PACK).unwrap();
    let output = verify(folder.path(), &["--format", "json", "--no-cache"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rule = |name: &str| {
        let rules = document["rules"].as_array().unwrap();
        rules.iter().find(|r| r["name"] == format!("nums.r.{name}")).unwrap_or_else(|| panic!("{name}")).clone()
    };
    for (name, why) in
        [("both", "not compared: SIGILL in both sides"), ("left", "not compared: SIGILL in the left side")]
    {
        let rule = rule(name);
        let method = rule["instances"][0]["method"].as_str().unwrap();
        assert!(rule["verdict"] == "tested" && method.ends_with(why), "{rule:#}");
        // All trials are in it.
        let numbers: Vec<usize> = method.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        assert_eq!((numbers[0], numbers[0] + numbers[2]), (numbers[1], 500), "{method}");
        assert!(numbers[2] > 10, "{method}");
    }
    let right = rule("right");
    assert_eq!(
        (&right["verdict"], &right["counterexample"]["right"]),
        (&"counterexample".into(), &"a trap (SIGILL)".into())
    );
    // Wrong only where the result is an operand, and where a change has not made all values 1.
    let again = rule("again");
    assert_eq!(again["verdict"], "counterexample", "{again:#}");
    assert_eq!(rule("swapped")["verdict"], "tested");
    let reason = |name: &str| rule(name)["instances"][0]["reason"].as_str().unwrap().to_string();
    assert!(
        reason("unseen").contains("`@observe` showed the same each time (then always(n) = 0)"),
        "{}",
        reason("unseen")
    );
    assert!(!reason("swapped").contains("showed the same"), "{}", reason("swapped"));
}

#[test]
fn a_function_that_a_library_lacks_is_an_error_where_it_is_linked() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), LIBRARY);
    for (symbol, help) in [("um_per", "did you mean `num_per`"), ("unlike_any", "`nm -D --defined-only`")] {
        let pack = PACK.replace("\"num_per\"", &format!("\"{symbol}\""));
        fs::write(folder.path().join("nums.rw"), &pack).unwrap();
        let output = verify(folder.path(), &["--filter", "both", "--no-cache"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in ["RW0706", "`per` is not there", "cannot link", help] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let line = pack.lines().position(|line| line.contains(symbol)).unwrap() + 1;
        assert!(said.contains(&format!("nums.rw:{line}:")), "{line}: {said}");
    }
}

#[test]
fn verdicts_are_kept_for_as_long_as_the_library_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), LIBRARY);
    fs::write(folder.path().join("nums.rw"), PACK).unwrap();
    let cached = || {
        let output = verify(folder.path(), &["--filter", "swapped"]);
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text.contains("; 1 rule from the cache"))
    };
    assert_eq!((cached(), cached()), ((Some(0), false), (Some(0), true)));
    // The samples are part of it, and the library.
    fs::write(folder.path().join("nums.rw"), PACK.replace("set(it, 1)", "set(it, 2)")).unwrap();
    assert_eq!((cached(), cached()), ((Some(0), false), (Some(0), true)));
    built(folder.path(), &LIBRARY.replace("a->v + b->v", "a->v + 2 * b->v"));
    assert_eq!(cached(), (Some(1), false));
    built(folder.path(), LIBRARY);
    assert_eq!(cached(), (Some(0), true));
}

#[test]
fn rules_about_libraries_have_mutants() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), LIBRARY);
    fs::write(folder.path().join("nums.rw"), PACK).unwrap();
    let output = verify(
        folder.path(),
        &["--filter", "swapped", "--mutate", "--samples", "100", "--mutants", "99", "--format", "json"],
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mutants = document["mutants"].as_array().unwrap();
    let fate = |change: &str| {
        let found = mutants.iter().find(|m| m["change"].as_str().unwrap().contains(change));
        found.unwrap_or_else(|| panic!("{change}: {document:#}"))["fate"].clone()
    };
    assert_eq!(fate("on the right, plus became minus"), "refuted");
    assert_eq!(fate("on the left, plus became minus"), "refuted");
}
