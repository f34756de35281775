//! Saturation goes on until nothing changes; a budget that ends it is said.

use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Counts down, one number a round.
const PACK: &str = "\
pack m
import std.core
type P
fn f(p: P, n: i64) -> P pure cost 100
fn g(p: P) -> P pure cost 90

ruleset rules {
  rule done(p: P): f(p, 0) => p
  dynamic rule down(p: P, const n: i64): f(p, n) => f(p, eval(isub(n, 1))) when icmp_sgt(n, 0) == 1
}
schedule default { saturate rules }
schedule short { saturate rules limit 10 rounds }
schedule again { repeat { run rules } }
";

const IR: &str = "\
func %near(%p: P) -> P {
  %n: i64 = const 5
  %x = f %p, %n
  return %x
}
func %far(%p: P) -> P {
  %n: i64 = const 200
  %x = f %p, %n
  return %x
}
func %beyond(%p: P) -> P {
  %n: i64 = const 20000
  %x = f %p, %n
  return %x
}
";

fn folder(examples: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("m.rw"), format!("{PACK}{examples}")).unwrap();
    fs::write(dir.path().join("m.ir"), IR).unwrap();
    dir
}

fn rewright(dir: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rewright")).current_dir(dir.path()).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What `--stats` says as JSON, by function: its fate, and the budgets that ended.
fn stops(dir: &TempDir, more: &[&str]) -> Vec<(String, Value)> {
    let args = [&["opt", "m.ir", "--rules", "m.rw", "--stats", "--format", "json"], more].concat();
    let output = rewright(dir, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let stats: Value = serde_json::from_slice(&output.stderr).unwrap();
    let functions = stats["functions"].as_array().unwrap();
    functions.iter().map(|f| (f["fate"].as_str().unwrap().to_string(), f["stops"].clone())).collect()
}

#[test]
fn what_is_saturated_comes_to_its_end_or_says_what_ended_it() {
    let dir = folder("");
    let [near, far, beyond] = &stops(&dir, &[])[..] else { panic!("three functions") };
    assert_eq!(near, &("optimised".into(), json!([])));
    assert_eq!(far, &("optimised".into(), json!([])));
    let rounds =
        |limit: u64| json!([{ "budget": "rounds", "limit": limit, "ruleset": "m.rules", "ends": "step", "grew": [] }]);
    assert_eq!(beyond, &("unchanged".into(), rounds(1_000)));

    let [near, far, _] = &stops(&dir, &["--budget", "rounds=50"])[..] else { panic!("three functions") };
    assert_eq!(near, &("optimised".into(), json!([])));
    assert_eq!(far, &("unchanged".into(), rounds(50)));

    let [_, far, beyond] = &stops(&dir, &["--budget", "rounds=30000,steps=30000,nodes=150"])[..] else { panic!() };
    for (fate, stops) in [far, beyond] {
        assert_eq!(fate, "unchanged");
        assert_eq!(
            (&stops[0]["budget"], &stops[0]["limit"], &stops[0]["ends"]),
            (&json!("nodes"), &json!(150), &json!("run"))
        );
        assert_eq!(stops[0]["grew"][0]["rule"], "m.rules.down");
    }
    let lines = text(&rewright(&dir, &["opt", "m.ir", "--rules", "m.rw", "--stats", "--budget", "matches=99"]).stderr);
    let line = "  saturation ended at 99 matches in `m.rules`; most of them are of m.rules.down (99 matches, ";
    assert_eq!(lines.lines().filter(|l| l.starts_with(line)).count(), 2, "{lines}");
    assert!(lines.contains("%far: unchanged") && lines.contains(", budget exhausted"), "{lines}");
}

#[test]
fn budgets_that_are_none_are_refused() {
    let dir = folder("");
    for (wrong, said) in [
        ("nodes", "`nodes` is not of the form `nodes=5000`"),
        ("seconds=3", "there is no budget `seconds`: budgets are `matches`, `nodes`, `rounds`, `steps`"),
        ("nodes=0", "`0` is no number from 1 to "),
        ("nodes=-3", "`-3` is no number from 1 to "),
        ("nodes=3,nodes=4", "`nodes` is said twice"),
        ("", "`` is not of the form"),
    ] {
        let output = rewright(&dir, &["opt", "m.ir", "--rules", "m.rw", "--budget", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(text(&output.stderr).contains(said), "{wrong}: {}", text(&output.stderr));
    }
}

#[test]
fn an_example_that_is_cut_short_says_so() {
    let dir = folder(
        "example \"to the end\" (p: P) fires rules.done: f(p, 300) becomes p\n\
         example \"again\" (p: P) using again: f(p, 300) becomes p\n\
         example \"short\" (p: P) using short: f(p, 300) becomes p\n",
    );
    let output = rewright(&dir, &["check", "m.rw"]);
    let said = text(&output.stderr) + &text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a step ended at 10 rounds in `m.rules`"), "{said}");
    assert!(said.contains("short") && !said.contains("to the end"), "{said}");
}

/// Examples run within the budgets that the command line sets.
#[test]
fn examples_have_the_budgets_that_are_asked_for() {
    let dir = folder("example \"far\" (p: P) fires rules.done: f(p, 300) becomes p\n");
    for command in ["check", "test"] {
        assert_eq!(rewright(&dir, &[command, "m.rw"]).status.code(), Some(0), "{command}");
        let output = rewright(&dir, &[command, "m.rw", "--budget", "rounds=50"]);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("a step ended at 50 rounds in `m.rules`"), "{said}");
        let wrong = rewright(&dir, &[command, "m.rw", "--budget", "rounds"]);
        assert_eq!(wrong.status.code(), Some(2), "{command}");
    }
}
