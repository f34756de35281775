//! Properties of the formatter and, with it, of the parser.

use super::generate::Gen;
use super::{format, print};
use crate::syntax::ast::File;
use crate::syntax::token::Kind;
use crate::syntax::{parse, parse_lossless};
use crate::testing::{cut, packs};
use proptest::prelude::*;

/// A tree without its places.
fn bare(file: &File) -> String {
    let debug = format!("{file:?}");
    let mut out = String::with_capacity(debug.len());
    let mut rest = &debug[..];
    while let Some(at) = rest.find("Span { file:") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').expect("the debug form closes its braces") + 1..];
    }
    out.push_str(rest);
    out
}

fn reparsed(text: &str) -> File {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    file
}

/// The tokens of a text, torn apart and with comments between them.
fn scattered(text: &str, noise: &[u8]) -> (String, usize) {
    let parsed = parse_lossless(0, text);
    let (mut out, mut comments) = (String::new(), 0);
    let mut comment = |out: &mut String, before: &str| {
        out.push_str(before);
        out.push_str(&format!("// c{comments}\n"));
        comments += 1;
    };
    for (i, token) in parsed.lexed.tokens.iter().enumerate() {
        out.push_str(token.text);
        if matches!(token.kind, Kind::Doc | Kind::PackDoc) {
            out.push('\n');
        }
        match noise.get(i % noise.len().max(1)).copied().unwrap_or(0) {
            0..=150 => out.push(' '),
            151..=180 => out.push('\n'),
            181..=195 => out.push_str("\n\n\n  "),
            196..=210 => comment(&mut out, "\n"),
            211..=225 => comment(&mut out, "  "),
            226..=235 => comment(&mut out, "\n\n\n"),
            236..=245 => {
                comment(&mut out, " ");
                comment(&mut out, "\n  ");
                out.push('\n');
            }
            _ => out.push_str("\t  "),
        }
    }
    (out, comments)
}

/// Whatever the text, its diagnostics can be shown, and what can be formatted keeps its tree.
fn survives(text: &str) -> Result<(), TestCaseError> {
    let (file, diagnostics) = parse(0, text);
    for diagnostic in &diagnostics {
        let span = diagnostic.primary.span;
        prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
    }
    let sources = crate::diagnostic::Sources { files: vec![("t".into(), text.to_owned())] };
    crate::diagnostic::render(&diagnostics, &sources, false);
    crate::diagnostic::to_json(&diagnostics, &sources);
    if let Ok(formatted) = format(text) {
        prop_assert_eq!(bare(&file), bare(&parse(0, &formatted).0), "of\n{}", text);
        prop_assert_eq!(&format(&formatted).expect("it parses"), &formatted, "of\n{}", text);
    }
    Ok(())
}

#[test]
fn a_comma_that_goes_takes_no_meaning_along() {
    let text = "dynamic rule a(const x: i32): f(x,) => eval(x + 1,)\n";
    let once = format(text).expect("it parses");
    assert_eq!(once, "dynamic rule a(const x: i32): f(x) => eval(x + 1)\n");
    assert_eq!(bare(&reparsed(text)), bare(&reparsed(&once)));
}

#[test]
fn an_else_without_statements_goes_and_its_comments_stay_with_the_if() {
    let text = "example \"e\" (x: i32) {\n  before {\n    if (x) { do f(x) } else {\n      if (x) { do f(x) } else { // y\n\n      }\n      \
                if (x) { do g(x) } else {\n        // z\n      }\n    }\n  }\n  after { return x }\n}\n";
    let once = format(text).expect("it parses");
    assert!(once.contains("    } else {\n      if (x) { do f(x) } // y\n"), "{once}");
    assert!(once.contains("      if (x) { do g(x) }\n      // z\n    }\n"), "{once}");
    assert_eq!(format(&once).expect("it parses"), once);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_is_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let file = Gen::new(&bytes, true).file();
        let text = print(&file);
        let back = reparsed(&text);
        prop_assert_eq!(bare(&file), bare(&back), "{}", text);
        prop_assert_eq!(format(&text).expect("it parses"), text);
    }

    #[test]
    fn formatting_keeps_tree_and_comments_and_is_idempotent(
        bytes in proptest::collection::vec(any::<u8>(), 0..800),
        noise in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let text = print(&Gen::new(&bytes, false).file());
        let tree = bare(&reparsed(&text));
        let (torn, comments) = scattered(&text, &noise);
        prop_assert_eq!(&tree, &bare(&reparsed(&torn)), "{}", torn);
        let once = format(&torn).expect("it parses");
        prop_assert_eq!(&tree, &bare(&reparsed(&once)), "{}", once);
        for i in 0..comments {
            prop_assert_eq!(once.matches(&format!("// c{i}\n")).count(), 1, "c{} in\n{}\n{}", i, torn, once);
        }
        prop_assert!(!once.contains("\n\n\n") && !once.contains(" \n"), "{}", once);
        let twice = format(&once).expect("it parses");
        prop_assert_eq!(&once, &twice, "of\n{}", torn);
    }

    #[test]
    fn parser_never_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        cuts in proptest::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 0..6),
    ) {
        let mut text = print(&Gen::new(&bytes, true).file());
        cut(&mut text, &cuts);
        survives(&text)?;
    }

    #[test]
    fn parser_never_panics_on_broken_packs(
        which in any::<prop::sample::Index>(),
        (begin, length) in (any::<prop::sample::Index>(), 0..4000_usize),
        cuts in proptest::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 1..8),
    ) {
        let pack = which.get(packs());
        let begin = pack.floor_char_boundary(begin.index(pack.len()));
        let end = pack.floor_char_boundary((begin + length).min(pack.len()));
        let mut text = pack[begin..end].to_owned();
        cut(&mut text, &cuts);
        survives(&text)?;
    }

    #[test]
    fn parser_never_panics_on_noise(text in "[ -~\n\u{e9}]{0,300}") {
        parse(0, &text);
    }
}
