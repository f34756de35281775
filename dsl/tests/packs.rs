//! Packs as data: those in `packs/pass` have no syntax error; those in `packs/fail` have the ones in their `.stderr`;
//! those in `packs/fmt` are formatted into their `.formatted`. `BLESS=1` writes the latter two; read the difference
//! before keeping it.

mod expected;

use expected::{compare, packs};
use rewright_dsl::diagnostic::{Sources, render};
use rewright_dsl::fmt::format;
use rewright_dsl::syntax::parse;
use std::path::Path;

/// Name, text, and rendered diagnostics.
fn read(path: &Path) -> (String, String) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let (_, diagnostics) = parse(0, &text);
    (text.clone(), render(&diagnostics, &Sources { files: vec![(name, text)] }, false))
}

#[test]
fn pass() {
    for path in packs("tests/packs/pass").into_iter().chain(packs("../stdlib_rules/std")) {
        let (text, rendered) = read(&path);
        assert!(rendered.is_empty(), "{}\n{rendered}", path.display());
        let once = format(&text).expect("it parses");
        assert_eq!(format(&once).as_ref(), Ok(&once), "{}", path.display());
    }
}

#[test]
fn fail() {
    compare("tests/packs/fail", "stderr", |path| read(path).1);
}

#[test]
fn fmt() {
    compare("tests/packs/fmt", "formatted", |path| {
        let (text, errors) = read(path);
        let once = format(&text).unwrap_or(errors);
        assert_eq!(format(&once).as_ref(), Ok(&once), "formatting twice");
        once
    });
}
