//! Rules over functions that change something, verified on samples: either side runs in a world of its own.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "
#include <stdint.h>
#include <stdlib.h>
typedef struct { int64_t n; char at[2000]; } Text;
Text *text_new(int64_t size, int64_t seed) {
    Text *t = calloc(1, sizeof *t);
    for (int64_t i = 0; i < size; i++) t->at[t->n++] = 'a' + (seed + i) % 3;
    return t;
}
Text *text_add(Text *t, signed char c) { t->at[t->n++] = c; return t; }
Text *text_add_wide(Text *t, int32_t c) {
    if (c < 128) return text_add(t, c);
    t->at[t->n++] = 0xc0 | c >> 6;
    return text_add(t, (0x80 | (c & 63)) - 256);
}
Text *text_added(const Text *t, signed char c) { Text *copy = malloc(sizeof *copy); *copy = *t; return text_add(copy, c); }
Text *text_cut(Text *t, int64_t n) { if (n < t->n) t->n = n; return t; }
Text *text_resize(Text *t, int64_t n) { for (int64_t i = t->n; i < n; i++) t->at[i] = 0; t->n = n; return t; }
void text_clear(Text *t) { t->n = 0; }
void text_take(Text *t, Text *from) { for (int64_t i = 0; i < from->n; i++) t->at[i] = from->at[i]; t->n = from->n; from->n = 0; }
int64_t text_same(const Text *a, const Text *b) { return a == b; }
int32_t text_set(Text *t, int64_t i, signed char c) { if (i < 0 || i >= t->n) return 1; t->at[i] = c; return 0; }
int32_t text_set_two(Text *t, int64_t i, signed char c) { return 2 * text_set(t, i, c); }
int64_t text_at(const Text *t, int64_t i) { return i < 0 || i >= t->n ? -200 : t->at[i]; }
int64_t text_length(const Text *t) { return t->n; }
int64_t text_hash(const Text *t) { uint64_t h = t->n; for (int64_t i = 0; i < t->n; i++) h = h * 31 + t->at[i]; return h; }
int64_t text_random(const Text *t) { return (int64_t)malloc(16) + t->n; }
uint8_t small(uint8_t x) { return x; }
int64_t wide(uint8_t x) { return x; }
";

const PACK: &str = r#"pack texts
import std.core
type Content <: ptr
@sample(new(size, seed), add(it, 65), cut(it, 1), clear(it))
@observe(hash(it))
type Text <: Content
@sample(other(size, seed))
@observe(hash_other(it))
type Other <: Content
type Hidden <: ptr
@link("./lib.so", "text_new")
fn new(size: i64, seed: i64) -> Text  effects allocates(heap)  cost 9
@link("./lib.so", "text_new")
fn other(size: i64, seed: i64) -> Other  effects allocates(heap)  cost 9
@link("./lib.so", "text_hash")
fn hash(t: Text) -> i64  effects reads(memory)  cost 9
@link("./lib.so", "text_hash")
fn hash_other(t: Other) -> i64  effects reads(memory)  cost 9
@link("./lib.so", "text_add", "signed")
fn add(t: Text, c: i8) -> Text  effects reads(memory), writes(memory)  cost 9
@link("./lib.so", "text_add_wide")
fn add_wide(t: Text, c: i32) -> Text  effects reads(memory), writes(memory)  cost 20
@link("./lib.so", "text_added", "signed")
fn added(t: Text, c: i8) -> Text  effects reads(memory), writes(memory)  cost 20
@link("./lib.so", "text_cut")
fn cut(t: Text, n: i64) -> Text  effects reads(memory), writes(memory)  cost 6
@link("./lib.so", "text_resize")
fn resize(t: Text, n: i64) -> Text  effects reads(memory), writes(memory)  cost 20
@link("./lib.so", "text_clear")
fn clear(t: Text) -> ()  effects writes(memory)  cost 6
@link("./lib.so", "text_take")
fn take(t: Text, from: Text) -> ()  effects reads(memory), writes(memory)  cost 6
@link("./lib.so", "text_length")
fn length{T <: Content}(t: T) -> i64  effects reads(memory)  cost 6
@link("./lib.so", "text_same")
fn same_object(a: Text, b: Text) -> i64  pure  cost 6
@link("./lib.so", "text_random")
fn random(t: Text) -> i64  effects reads(memory)  cost 6
@link("./lib.so", "wide", "unsigned")
fn widened(x: i8) -> i64  pure  cost 6
@link("./lib.so", "text_set", "signed")
fn set(t: Text, i: i64, c: i8) -> i32  effects reads(memory), writes(memory)  cost 9
@link("./lib.so", "text_set_two", "signed")
fn set_two(t: Text, i: i64, c: i8) -> i32  effects reads(memory), writes(memory)  cost 9
@link("./lib.so", "text_at")
fn at(t: Text, i: i64) -> i64  effects reads(memory)  cost 6
fn hide(t: Text) -> Hidden  effects reads(memory), writes(memory)  cost 6
fn hide_again(t: Text) -> Hidden  effects reads(memory), writes(memory)  cost 5
ruleset r {
  dynamic rule narrow(t: Text, const c: i32): add_wide(t, c) => add(t, eval(ireduce{i32, i8}(c))) when icmp_ult(c, 128)
  dynamic rule narrow_always(t: Text, const c: i32): add_wide(t, c) => add(t, eval(ireduce{i32, i8}(c)))
  dynamic rule narrow_signed(t: Text, const c: i32): add_wide(t, c) => add(t, eval(ireduce{i32, i8}(c)))
    when icmp_slt(c, 192)
  rule emptied(t: Text): resize(t, 0) => cut(t, 0)
  rule shortened(t: Text): resize(t, 1) => cut(t, 1)
  rule copied(t: Text, c: i8): add(t, c) => added(t, c)
  rule cleared(t: Text, s: State): clear(t) after (clear(t) after s) => clear(t) after s
  rule cleared_other(t: Text, u: Text, s: State): clear(u) after (clear(t) after s) => clear(u) after s
  rule length_of_empty(t: Text, s: State): length(t) after (clear(t) after s) => 0
  rule length_of_other(t: Text, u: Text, s: State): length(u) after (clear(t) after s) => length(u) after s
  rule length_before(t: Text, s: State): length(t) after (clear(t) after s) => length(t) after s
  rule taken(t: Text, u: Text, s: State): length(t) after (take(t, u) after s) => length(u) after s
  rule twice(t: Text, s: State): (length(t) after s) + (length(t) after s) => (length(t) after s) * 2
  rule twice_later(t: Text, s: State, later: State): (length(t) after s) + (length(t) after later) => (length(t) after s) * 2
  rule never_the_same(t: Text, u: Text): same_object(t, u) => 0
  rule any_of(x: Content): length(x) => length(x) + 0
  rule generic{T <: Content}(x: T): length(x) => length(x) + 0
  rule generic_wrong{T <: Content}(x: T): length(x) => 3
  rule unsteady(t: Text): random(t) => random(t) + 1
  rule unseen(t: Text): hide(t) => hide_again(t)
  rule hidden(t: Text, i: i64, c: i8, d: i8, s: State): set(t, i, d) after (set(t, i, c) after s) => set(t, i, d) after s
  rule hides(t: Text, i: i64, c: i8, d: i8, s: State): set(t, i, d) after (set(t, i, c) after s) => set(t, i, c) after s
  rule other_code(t: Text, i: i64, c: i8, d: i8, s: State):
    set(t, i, d) after (set(t, i, c) after s) => set_two(t, i, d) after s
  rule read_back(t: Text, i: i64, c: i8, s: State): at(t, i) after (set(t, i, c) after s) => sextend{i8, i64}(c)
  rule elsewhere(t: Text, const i: i64, const j: i64, c: i8, s: State):
    at(t, j) after (set(t, i, c) after s) => at(t, j) after s when i != j
  rule code_alone(t: Text, c: i8, s: State): set(t, 0, c) after (clear(t) after s) => set_two(t, 0, c) after (clear(t) after s)
  rule state_alone(t: Text, c: i8, s: State): set(t, 0, c) after (clear(t) after s) => clear(t) after s
  rule no_change(t: Text, i: i64, c: i8, s: State): set(t, i, c) after s => s
  rule same_codes(t: Text, i: i64, c: i8, d: i8, s: State):
    icmp_eq(set(t, i, d) after (set(t, i, c) after s), set(t, i, c) after s) => 1
  rule other_codes(t: Text, i: i64, c: i8, d: i8, s: State):
    icmp_eq(set_two(t, i, d) after (set(t, i, c) after s), set(t, i, c) after s) => 1
  rule no_place(t: Text, c: i8, s: State): set(t, 0, c) after (clear(t) after s) => 1
  rule some_place(t: Text, c: i8, s: State): set(t, 0, c) after (clear(t) after s) => 0
  rule given_back(t: Text, c: i8, s: State): add(t, c) after s => t
  rule length_given(t: Text, i: i64, c: i8, s: State): set(t, i, c) after s => ireduce{i64, i32}(length(t) after s)
  rule emptied_by_value(t: Text, s: State): clear(t) after s => cut(t, 0) after s
  rule shortened_by_value(t: Text, s: State): clear(t) after s => cut(t, 1) after s
  rule positive(x: i8): icmp_slt(widened(x), 0) => 0
}
"#;

fn verified(folder: &Path) -> Vec<Value> {
    fs::write(folder.join("lib.c"), LIBRARY).unwrap();
    fs::write(folder.join("texts.rw"), PACK).unwrap();
    let compiled = Command::new("cc").current_dir(folder).args("-O1 -shared -fPIC -o lib.so lib.c".split(' ')).status();
    assert!(compiled.unwrap().success());
    let output = Command::new(env!("CARGO_BIN_EXE_rewright"))
        .current_dir(folder)
        .args(["verify", "texts.rw", "--threads", "1", "--format", "json", "--no-cache", "--allow-link", "./lib.so"])
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    document["rules"].as_array().unwrap().clone()
}

/// Right rules over states are tested, wrong ones are refuted with values and what happened to them.
#[test]
fn rules_over_states_are_tested_on_samples() {
    let folder = tempfile::tempdir().unwrap();
    let rules = verified(folder.path());
    let rule = |name: &str| {
        rules.iter().find(|r| r["name"] == format!("texts.r.{name}")).unwrap_or_else(|| panic!("{name}")).clone()
    };
    let right = ["narrow", "emptied", "cleared", "length_of_empty", "twice", "any_of", "generic", "positive"];
    let with_codes = ["hidden", "elsewhere", "state_alone", "same_codes", "no_place", "given_back", "emptied_by_value"];
    for name in right.into_iter().chain(with_codes) {
        assert_eq!(rule(name)["verdict"], "tested", "{:#}", rule(name));
    }
    for (name, left, right) in [
        // Beyond the numbers that samples are below, too.
        ("narrow_always", "hash(it) = ", "hash(it) = "),
        ("narrow_signed", "hash(it) = ", "hash(it) = "),
        // Only of an empty text.
        ("shortened", "hash(it) = ", "hash(it) = "),
        // The same content in another object.
        ("copied", "then hash(t) = ", "then hash(t) = "),
        // Only of different objects, or only of one.
        ("cleared_other", "then hash(t) = ", "then hash(t) = "),
        ("length_of_other", "0", ""),
        ("never_the_same", "1", "0"),
        ("length_before", "0", ""),
        ("taken", "0", ""),
        // Between two states anything may happen.
        ("twice_later", "", ""),
        ("generic_wrong", "", "3"),
        // Of calls that give a code: what they leave behind, or the code alone.
        ("hides", "", ""),
        ("other_code", "1", "2"),
        ("code_alone", "1", "2"),
        ("no_change", "then hash(t) = ", "then hash(t) = "),
        // Only past the end.
        ("read_back", "-200", ""),
        ("other_codes", "0", "1"),
        // In place of a write, a call that gives a value.
        ("shortened_by_value", "then hash(t) = ", "then hash(t) = "),
        // The value of a call that stays.
        ("some_place", "1", "0"),
        ("length_given", "", ""),
    ] {
        let rule = rule(name);
        assert_eq!(rule["verdict"], "counterexample", "{rule:#}");
        for (side, shown) in [("left", left), ("right", right)] {
            assert!(rule["counterexample"][side].as_str().unwrap().starts_with(shown), "{rule:#}");
        }
    }
    let values = |name: &str| rule(name)["counterexample"]["values"].to_string();
    assert!(values("length_of_other").contains(r#"["u","t"]"#), "{}", values("length_of_other"));
    assert!(values("twice_later").contains("what happens to t between the states"), "{}", values("twice_later"));
    for (name, why) in [
        ("unsteady", "gives something else when it is run again"),
        ("unseen", "`hide` has no instruction and nothing to call"),
    ] {
        assert_eq!(rule(name)["verdict"], "unknown", "{:#}", rule(name));
        assert!(rule(name)["instances"][0]["reason"].as_str().unwrap().contains(why), "{:#}", rule(name));
    }
    // The verdict says at which types, and of what.
    let types =
        rule("generic")["instances"].as_array().unwrap().iter().map(|i| i["types"][0].clone()).collect::<Vec<_>>();
    assert_eq!(types, ["T = Text", "T = Other"]);
    let tried = rule("any_of")["instances"][0]["reason"].as_str().unwrap().to_string();
    for part in ["new(.., ..)", "clear(it)"] {
        assert!(tried.contains(part), "{tried}");
    }
}
