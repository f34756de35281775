//! Commands about packs: their mistakes and repairs, their examples, what is said of their rules.

use super::inputs;
use crate::ran::rewright;
use std::fs;
use std::process::Command;

#[test]
fn a_name_that_clif_does_not_know_is_a_warning() {
    let dir = inputs();
    let pack = "pack names\nimport std.core\n\n@clif(\"iaddd\")\n\
        fn iaddd(x: i32, y: i32) -> i32\n  pure  cost 1  spec iadd(x, y)\n";
    fs::write(dir.path().join("names.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check --format concise names.rw");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("names.rw:5:4: warning[RW0518]: `iaddd` is the name of no instruction"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("1 warning,"), "{}", ran.stdout);
    assert_eq!(rewright(dir.path(), "check --strict names.rw").code, Some(1));
    let ran = rewright(dir.path(), "check --format json names.rw");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["diagnostics"][0]["code"], "RW0518");
}

/// A C function without its `@` is the name of an instruction that is not there.
#[test]
fn a_name_that_llvm_does_not_know_is_a_warning() {
    let dir = inputs();
    let pack =
        "pack names\nimport std.core\n@llvm(\"strlen\")\nfn length(s: ptr) -> i64  effects reads(memory)  cost 40\n";
    fs::write(dir.path().join("names.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check --format concise names.rw");
    let says = "names.rw:4:4: warning[RW0518]: `strlen` is the name of no instruction of LLVM";
    assert!(ran.code == Some(0) && ran.stderr.contains(says), "{}", ran.stderr);
}

/// A pack that gathers others says what it gathers.
#[test]
fn a_pack_without_rules_counts_what_it_imports() {
    let dir = tempfile::tempdir().unwrap();
    let ran = rewright(dir.path(), "check std");
    let (own, rest) = ran.stdout.split_once(" of its own (").unwrap();
    assert!(own == "0 rules" && rest.contains(" packs with ") && rest.contains(" imported), "), "{}", ran.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&rewright(dir.path(), "check std --format json").stdout).unwrap();
    let imported = |what: &str| json["imported"][what].as_u64().unwrap();
    assert!(imported("packs") > 10 && imported("rules") > 100, "{}", json["imported"]);
}

#[test]
fn rules_are_explained_and_so_is_why_they_do_not_match() {
    let dir = tempfile::tempdir().unwrap();
    let clif = "function %f(i32, i32) -> i32 {\nblock0(v0: i32, v1: i32):\n    v2 = iconst.i32 5\n    v3 = iadd v0, v2\n    \
                v4 = isub v3, v1\n    v5 = iconst.i32 0\n    v6 = bor v4, v5\n    return v6\n}\n";
    fs::write(dir.path().join("f.clif"), clif).unwrap();
    let why = |rule: &str| {
        let ran = rewright(dir.path(), &format!("why-not {rule} f.clif --fn f"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    assert!(why("arith.identities.add_zero").contains("operand 2 of `iadd` is not the literal 0, it is 5"));
    let neg = why("identities.sub_neg");
    assert!(neg.contains("operand 2 of `isub` is no `ineg`, it is v1"), "{neg}");
    assert!(why("identities.abs_abs").contains("no operation like the root of its left side, `iabs`"));
    assert!(why("bits.identities.or_zero").contains("took part"));
    assert_eq!(rewright(dir.path(), "why-not nothing f.clif").code, Some(2));
    let explained = rewright(dir.path(), "explain identities.add_zero").stdout;
    assert!(explained.contains("(x: T): iadd(x, 0) => x") && explained.contains("example"));
    assert!(rewright(dir.path(), "explain RW0301").stdout.len() > 20);
    assert_eq!(rewright(dir.path(), "explain RW9999").code, Some(2));
}

/// Words are explained with an example; rules of that name are found by a longer one.
#[test]
fn words_of_the_language_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let removes = rewright(dir.path(), "explain removes").stdout;
    assert!(removes.starts_with("removes (clause of a rule)\n") && removes.contains("    unsafe rule"), "{removes}");
    assert_eq!(rewright(dir.path(), "explain sample").stdout, rewright(dir.path(), "explain @sample").stdout);
    let list = rewright(dir.path(), "explain --list").stdout;
    assert!(["  @observe\n", "  e-graph\n", "  RW0301  "].iter().all(|entry| list.contains(entry)), "{list}");
    assert_eq!(rewright(dir.path(), "explain").code, Some(2));
    for (slip, meant) in [("removez", "removes"), ("@smaple", "@sample"), ("identities.ad_zero", "identities.add_zero")]
    {
        let ran = rewright(dir.path(), &format!("explain {slip}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(&format!("did you mean {meant}?")), "{ran:?}");
    }
}

/// A pack with two slips of the hand.
const SLIPS: &str = "pack slips\nimport std.core\n\nruleset r {\n  rule plus{T <: Int}(x: T): iad(x, 0) => x\n  \
                     rule flip{T <: Int}(x: T): bxro(x, 0) => x\n}\nexample \"plus\" (x: i32) fires r.plus: iadd(x, 0) \
                     becomes x\nexample \"flip\" (x: i32) fires r.flip: bxor(x, 0) becomes x\n";

#[test]
fn misspelt_names_are_fixed_where_only_one_is_near() {
    let dir = inputs();
    let path = dir.path().join("slips.rw");
    fs::write(&path, SLIPS).unwrap();
    let told = rewright(dir.path(), "check slips.rw --format json");
    let report: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    let fixes: Vec<_> = report["diagnostics"].as_array().unwrap().iter().map(|d| d["fix"].clone()).collect();
    assert_eq!(fixes.len(), 2, "{fixes:?}");
    assert!(fixes.iter().all(|fix| fix["applicability"] == "safe"), "{fixes:?}");
    let told = rewright(dir.path(), "check slips.rw --format sarif");
    let report: serde_sarif::sarif::Sarif = serde_json::from_str(&told.stdout).unwrap();
    let results = report.runs[0].results.as_ref().unwrap();
    assert!(
        results.len() == 2 && results.iter().all(|r| r.fixes.as_ref().is_some_and(|f| f.len() == 1)),
        "{results:?}"
    );
    let told = rewright(dir.path(), "check slips.rw --format github");
    assert!(told.stdout.starts_with("::error file=slips.rw,line=5,col="), "{}", told.stdout);
    assert_eq!(fs::read_to_string(&path).unwrap(), SLIPS, "nobody asked for a change");
    let fixed = rewright(dir.path(), "check slips.rw --fix");
    assert_eq!(fixed.code, Some(0), "{}", fixed.stderr);
    assert!(fixed.stderr.contains("slips.rw: 2 fixed"), "{}", fixed.stderr);
    let right = SLIPS.replace("iad(", "iadd(").replace("bxro(", "bxor(");
    assert_eq!(fs::read_to_string(&path).unwrap(), right);
}

#[test]
fn examples_are_filtered_and_tell_how_near_a_rule_came() {
    let dir = inputs();
    let pack = "pack near\nimport std.core\n\nruleset r {\n  rule twice{T <: Int}(x: T): iadd(x, x) => imul(x, 2)\n}\n\
                example \"other\" (x: i32, y: i32) fires r.twice: iadd(x, y) becomes imul(x, 2)\n\
                example \"holds\" (x: i32): bnot(x) stays\n";
    fs::write(dir.path().join("near.rw"), pack).unwrap();
    let ran = rewright(dir.path(), "check near.rw");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 examples: 1 passed, 1 failed"), "{}", ran.stdout);
    assert!(ran.stderr.contains("near.r.twice: at iadd("), "{}", ran.stderr);
    assert!(ran.stderr.contains("would have to be `x` again"), "{}", ran.stderr);
    let ran = rewright(dir.path(), "check near.rw --filter holds");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 example: 1 passed, 0 failed"), "{}", ran.stdout);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let ran = rewright(dir.path(), "test near.rw --filter hodls");
    assert!(ran.stderr.contains("of no example do title, pack or rules contain \"hodls\""), "{}", ran.stderr);
}

#[test]
fn a_watched_pack_is_checked_again() {
    use std::io::{BufRead, BufReader};
    let dir = inputs();
    let path = dir.path().join("slips.rw");
    fs::write(&path, SLIPS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let command = command.current_dir(dir.path()).args(["check", "slips.rw", "--watch"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("2 errors"), "{first}");
    fs::write(&path, SLIPS.replace("iad(", "iadd(").replace("bxro(", "bxor(")).unwrap();
    let second = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(second.contains("2 passed, 0 failed; 0 errors"), "{second}");
}

#[test]
fn a_page_says_what_a_rule_means_where_and_on_what_evidence() {
    let dir = inputs();
    let folder = dir.path().join("packs");
    fs::create_dir(&folder).unwrap();
    let pack = "//! Doubling.\npack pages\nimport std.core\n\nruleset r {\n  /// Twice is a sum.\n  \
                rule twice{T <: Int}(x: T): imul(x, 2) => iadd(x, x)\n  \
                example \"twice\" (x: i32) fires r.twice: imul(x, 2) becomes iadd(x, x)\n}\n";
    fs::write(folder.join("pages.rw"), pack).unwrap();
    fs::write(folder.join("verify.expected"), "# made\npages.r.twice: 4 equal\n").unwrap();
    let ran = rewright(dir.path(), "doc packs -o out");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "1 page in out\n"), "{}", ran.stderr);
    let page = fs::read_to_string(dir.path().join("out/pages.md")).unwrap();
    let parts = [
        "# pages",
        "Doubling.",
        "## r",
        "### twice",
        "Twice is a sum.",
        "rule twice{T <: Int}(x: T): imul(x, 2) => iadd(x, x)",
        "Types: `T` = i8, i16, i32, i64.",
        "Evidence, in type instances: 4 equal.",
        "example \"twice\" (x: i32) fires r.twice: imul(x, 2) becomes iadd(x, x)",
    ];
    let mut rest = page.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing or too early in\n{page}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_code_is_explained_as_it_is_shown() {
    let dir = inputs();
    let explained = rewright(dir.path(), "explain RW0301");
    assert!(explained.stdout.contains("another type"), "{explained:?}");
    for shown in ["[RW0301]", "error[RW0301]", "rw0301"] {
        assert_eq!(rewright(dir.path(), &format!("explain {shown}")).stdout, explained.stdout, "{shown}");
    }
}
