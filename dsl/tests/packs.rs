//! Packs as data: those in `packs/pass` have no syntax error; those in `packs/fail` have the ones in their `.stderr`;
//! those in `packs/fmt` are formatted into their `.formatted`. `BLESS=1` writes the latter two; read the difference
//! before keeping it.

use rewright_dsl::diagnostic::{Sources, render};
use rewright_dsl::fmt::format;
use rewright_dsl::syntax::parse;
use std::path::{Path, PathBuf};

fn packs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packs").join(folder);
    let mut packs: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rw"))
        .collect();
    packs.sort();
    assert!(!packs.is_empty(), "{}", folder.display());
    packs
}

/// Name, text, and rendered diagnostics.
fn read(path: &Path) -> (String, String) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let (_, diagnostics) = parse(0, &text);
    (text.clone(), render(&diagnostics, &Sources { files: vec![(name, text)] }, false))
}

#[test]
fn pass() {
    for path in packs("pass").into_iter().chain(packs("../../../stdlib_rules/std")) {
        let (text, rendered) = read(&path);
        assert!(rendered.is_empty(), "{}\n{rendered}", path.display());
        let once = format(&text).expect("it parses");
        assert_eq!(format(&once).as_ref(), Ok(&once), "{}", path.display());
    }
}

/// Compares with the file beside each pack, or writes it.
fn compare(folder: &str, extension: &str, produce: impl Fn(&Path) -> String) {
    let mut wrong = Vec::new();
    for path in packs(folder) {
        let produced = produce(&path);
        let expected_path = path.with_extension(extension);
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

#[test]
fn fail() {
    compare("fail", "stderr", |path| read(path).1);
}

#[test]
fn fmt() {
    compare("fmt", "formatted", |path| {
        let (text, errors) = read(path);
        let once = format(&text).unwrap_or(errors);
        assert_eq!(format(&once).as_ref(), Ok(&once), "formatting twice");
        once
    });
}
