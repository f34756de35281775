//! Rendering must stand any span and any text.

use super::{Diagnostic, Label, Severity, Sources, render, to_json};
use crate::syntax::ast::Span;

fn diagnostic(spans: &[(u32, u32, u32)]) -> Diagnostic {
    let mut labels =
        spans.iter().map(|&(file, start, end)| Label { span: Span { file, start, end }, text: "here".into() });
    Diagnostic {
        code: "RW0105",
        severity: Severity::Error,
        message: "wrong".into(),
        primary: labels.next().expect("a primary label"),
        secondary: labels.collect(),
        help: Some("mend it".into()),
        fix: None,
    }
}

#[test]
fn any_span_in_any_text() {
    let texts = ["", "a", "é∀𝄞", "a\n\nb\r\nc\n", "a\u{2028}b\u{85}c\u{b}d\u{c}e\n", "\t\ta\tb\n", "\u{301}\u{200d}\n"];
    for text in texts {
        let sources = Sources { files: vec![("p".into(), text.into()), ("p".into(), "other".into())] };
        for start in 0..=text.len() as u32 + 2 {
            for end in 0..=text.len() as u32 + 2 {
                for color in [false, true] {
                    let diagnostics = [
                        diagnostic(&[(0, start, end), (0, end, start), (1, start, end)]),
                        diagnostic(&[(7, start, end)]),
                    ];
                    let rendered = render(&diagnostics, &sources, color);
                    assert!(rendered.contains("wrong") && rendered.contains("mend it"), "{rendered}");
                    assert_eq!(rendered.contains('\u{1b}'), color);
                    assert_eq!(to_json(&diagnostics, &sources).len(), 2);
                }
            }
        }
    }
}

#[test]
fn lines_and_columns_count_characters_from_one() {
    let sources = Sources { files: vec![("p".into(), "é = ∀\n  x\n".into())] };
    let json = to_json(&[diagnostic(&[(0, 5, 8), (0, 11, 12)])], &sources);
    let place = |place: &super::SourceLocation| (place.line, place.column, place.end_line, place.end_column);
    assert_eq!(place(&json[0].primary.place), (1, 5, 1, 6));
    assert_eq!(place(&json[0].secondary[0].place), (2, 3, 2, 4));
}

#[test]
fn long_lines_are_not_printed() {
    let text = format!("{}x\nshort\n", " ".repeat(1_000_000));
    let sources = Sources { files: vec![("p".into(), text)] };
    let rendered = render(&[diagnostic(&[(0, 1_000_000, 1_000_001), (0, 1_000_002, 1_000_003)])], &sources, false);
    assert!(rendered.len() < 300 && rendered.contains("p:1:1000001: here") && rendered.contains("p:2:1"), "{rendered}");
}
