//! Packs as data, checked with the standard library at hand: those in `check/pass` have no mistake, those in
//! `check/fail` the ones in their `.stderr`. `BLESS=1` writes those; read the difference before keeping it.

mod expected;

use expected::{compare, packs};
use rewright_dsl::check::check;
use rewright_dsl::diagnostic::render;
use rewright_dsl::load::{Origin, Root, load};
use rewright_dsl::program::Program;
use std::path::Path;

/// Checks one root, whose imports are beside it or in the standard library.
fn run(path: &Path, library: bool) -> (Program, String) {
    let dir = path.parent().expect("a folder").to_path_buf();
    let std = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules");
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let loaded = load(vec![Root { origin: Origin::Disk(name), text, library }], &mut |origin: &Origin| {
        let (base, path) = match origin {
            Origin::Std(path) => (&std, path),
            Origin::Disk(path) => (&dir, path),
        };
        std::fs::read_to_string(base.join(path)).map_err(|_| "no such file".into())
    });
    let (program, found) = check(&loaded.files);
    let mut diagnostics = loaded.diagnostics;
    diagnostics.extend(found);
    (program, render(&diagnostics, &loaded.sources, false))
}

#[test]
fn pass() {
    for path in packs("tests/check/pass") {
        let (program, rendered) = run(&path, true);
        assert!(rendered.is_empty(), "{}\n{rendered}", path.display());
        assert!(!program.rules.is_empty());
    }
}

#[test]
fn standard_library() {
    for path in packs("../stdlib_rules/std") {
        let (_, rendered) = run(&path, true);
        assert!(!rendered.contains("Error"), "{}\n{rendered}", path.display());
    }
}

#[test]
fn fail() {
    compare("tests/check/fail", "stderr", |path| run(path, false).1);
}

/// One mistake each of people who begin: it is said once, and there is a word on what to do about it.
#[test]
fn newcomers() {
    let mut wrong = vec![];
    for path in packs("tests/check/newcomers") {
        let (_, rendered) = run(&path, false);
        let has = |what: &str| rendered.lines().filter(|line| line.contains(what)).count();
        if (has("] Error: "), has("] Warning: ")) != (1, 0) || has("│ Help: ") == 0 {
            wrong.push(format!("{}\n{rendered}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    compare("tests/check/newcomers", "stderr", |path| run(path, false).1);
}
