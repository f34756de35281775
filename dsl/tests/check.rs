//! Packs as data, checked with the standard library at hand: those in `check/pass` have no mistake, those in
//! `check/fail` the ones in their `.stderr`. `BLESS=1` writes those; read the difference before keeping it.

use rewright_dsl::check::check;
use rewright_dsl::diagnostic::render;
use rewright_dsl::load::{Origin, Root, load};
use rewright_dsl::program::Program;
use std::path::{Path, PathBuf};

fn packs(folder: &Path) -> Vec<PathBuf> {
    let mut packs: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rw"))
        .collect();
    packs.sort();
    assert!(!packs.is_empty(), "{}", folder.display());
    packs
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(name)
}

/// Checks one root, whose imports are beside it or in the standard library.
fn run(path: &Path, library: bool) -> (Program, String) {
    let dir = path.parent().expect("a folder").to_path_buf();
    let std = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules");
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let loaded = load(vec![Root { origin: Origin::Disk(name), text, library }], &mut |origin| {
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
    for path in packs(&folder("pass")) {
        let (program, rendered) = run(&path, true);
        assert!(rendered.is_empty(), "{}\n{rendered}", path.display());
        assert!(!program.rules.is_empty());
    }
}

#[test]
fn standard_library() {
    for path in packs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdlib_rules/std")) {
        let (_, rendered) = run(&path, true);
        assert!(!rendered.contains("Error"), "{}\n{rendered}", path.display());
    }
}

#[test]
fn fail() {
    let mut wrong = Vec::new();
    for path in packs(&folder("fail")) {
        let produced = run(&path, false).1;
        let expected_path = path.with_extension("stderr");
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if produced == expected && !produced.is_empty() {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_path, &produced).expect("writable");
        } else {
            wrong.push(format!("{}\n{produced}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts these:\n\n{}", wrong.join("\n"));
}
