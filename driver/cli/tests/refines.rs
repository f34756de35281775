//! What `rewright opt` makes of functions whose values may be poison, by LLVM's semantics: on every input, poison among
//! them, each behaviour of what goes out is one of what came in, or better defined (`inputs`).
//!
//! Functions are those that every export must get right (`named`), some that are written for this, and random ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod inputs;
mod named;
mod random;

use inputs::{Inputs, difference};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_llvm::module::{self, Definition, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where functions and packs are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/llvm/refines")
}

/// What becomes of a file by some options, and what is said of it.
fn optimised(file: &Path, options: &[&str]) -> (File, File, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.arg("opt").arg(file).args(options).arg("--stats").current_dir(folder()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("failed"), "{said}");
    let read = |text: String| module::read(text).unwrap();
    (read(std::fs::read_to_string(file).unwrap()), read(String::from_utf8(output.stdout).unwrap()), said)
}

/// What an SMT solver says of one function in the place of those of a file with its name: is it proved, and has it an
/// answer against it?
fn solved(old: &Path, function: &str, new: &str) -> (bool, bool) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("new.ll");
    std::fs::write(&path, new).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    command.arg("validate").arg(old).arg(&path).args(["--method", "refined", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let verdict = report["functions"].as_array().unwrap().iter().find(|f| f["function"] == function).unwrap();
    // The answer is replayed; where that decides nothing, it is still said.
    let against = verdict["verdict"] == "refuted" || verdict["reasons"].to_string().contains("differs");
    (verdict["verdict"] == "proved", against)
}

fn by_name<'a>(file: &'a File, name: &str) -> (&'a File, &'a Definition) {
    (file, file.functions.iter().find(|f| f.name == name).unwrap())
}

#[test]
fn what_goes_out_refines_what_came_in() {
    let (old, new, said) = optimised(&folder().join("poison.ll"), &["--rules", "equal.rw"]);
    for definition in &old.functions {
        let name = &definition.name;
        assert!(said.contains(&format!("{name}: optimised")), "{name} shows nothing: {said}");
        let found = difference(by_name(&old, name), by_name(&new, name), Inputs::Some);
        assert_eq!(found, None, "{name}:\n{}", new.text);
    }
}

#[test]
fn random_functions_refine_what_they_were() {
    random_functions_refine(&mut ChaCha8Rng::seed_from_u64(seed()), &[]);
}

/// At these costs, rules are used where they usually are not.
#[test]
fn random_functions_refine_what_they_were_at_odd_costs() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("costs.json");
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    for _ in 0..3 {
        std::fs::write(&path, random::costs(&mut rng)).unwrap();
        random_functions_refine(&mut rng, &["--config", path.to_str().unwrap()]);
    }
}

/// Where random numbers come from.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1)
}

fn random_functions_refine(rng: &mut impl Rng, options: &[&str]) {
    let count = std::env::var("REFINES").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let header = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
        target triple = \"x86_64-pc-linux-gnu\"\n\n";
    let functions: String = (0..count).map(|n| random::random(rng, &format!("f{n}"))).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("random.ll");
    std::fs::write(&path, format!("{header}{functions}")).unwrap();
    let (old, new, said) = optimised(&path, options);
    let mut changed = 0;
    for definition in &old.functions {
        let name = &definition.name;
        if !said.contains(&format!("{name}: optimised")) {
            continue;
        }
        changed += 1;
        let (before, after) = (by_name(&old, name), by_name(&new, name));
        let found = difference(before, after, Inputs::Edges);
        let texts = [body_text(&old.text, name), body_text(&new.text, name)];
        assert_eq!(found, None, "seed {}, {name}:\n{}", seed(), texts.join("\n"));
    }
    assert!(changed * 3 > count, "only {changed} of {count} have changed");
}

fn body_text<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!("{name}(")).unwrap();
    &text[start..start + text[start..].find("\n}").unwrap()]
}

#[test]
fn what_does_not_refine_is_found() {
    let wrong = [
        // The flags are those of the other sum.
        ("%r = add i8 %x, 1", "%r = add nsw i8 %x, 1"),
        (
            "%a = add nsw i8 %x, 100\n  %r = select i1 %c, i8 %a, i8 0",
            "%a = add nsw i8 %x, 100\n  %m = sext i1 %c to i8\n  %r = and i8 %m, %a",
        ),
        (
            "%b = icmp slt i8 %x, 7\n  %s = select i1 %c, i1 %b, i1 false\n  %r = zext i1 %s to i8",
            "%b = icmp slt i8 %x, 7\n  %s = and i1 %c, %b\n  %r = zext i1 %s to i8",
        ),
        ("%m = and i8 %y, 7\n  %r = shl i8 %x, %m", "%r = shl i8 %x, %y"),
        // Each use of what is undefined may see another value: the sum of two is no double.
        ("%r = mul i8 %x, 2", "%r = add i8 %x, %x"),
        // Frozen twice, to different values.
        ("%f = freeze i8 %x\n  %r = sub i8 %f, %f", "%f = freeze i8 %x\n  %g = freeze i8 %x\n  %r = sub i8 %f, %g"),
        ("%r = select i1 %c, i8 %x, i8 %y", "br i1 %c, label %t, label %e\nt:\n  ret i8 %x\ne:\n  %r = add i8 %y, 0"),
        ("%r = add i8 %x, 0", "store i8 %x, ptr %p, align 1\n  %r = add i8 %x, 0"),
    ];
    let file = |text: &str| {
        module::read(format!("define i8 @f(i1 %c, i8 %x, i8 %y, ptr %p) {{\ns:\n  {text}\n  ret i8 %r\n}}\n")).unwrap()
    };
    for (old, new) in wrong {
        let (old, new) = (file(old), file(new));
        assert!(difference(by_name(&old, "@f"), by_name(&new, "@f"), Inputs::Some).is_some(), "{}", new.text);
        assert_eq!(difference(by_name(&old, "@f"), by_name(&old, "@f"), Inputs::Some), None, "{}", old.text);
    }
}
