//! Half-typed text: every question is answered somehow, and every place in an answer is one of the text.

use crate::support::{shipped, snapshot};
use lsp_types::{Position, Range, Url};
use proptest::prelude::*;
use rewright_dsl::syntax::parse;
use rewright_lsp::position::{Encoding, Lines};
use rewright_lsp::snapshot::Snapshot;
use rewright_lsp::{completion, findings, format, hints, hover, navigation, rename, symbols, tokens};
use rewright_packs::Evidence;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// Is a position one of the text: on a line that is there, not behind its end, between characters?
fn is_in(position: Position, text: &str, lines: &Lines) -> bool {
    lines.position(text, lines.offset(text, position)) == position
}

/// Asks everything that an editor may ask about a text and a place in it.
fn ask(text: &str, offset: u32, encoding: Encoding) {
    let snapshot: Snapshot = snapshot(text, encoding);
    let file = snapshot.file("/t.rw").expect("the document is analysed");
    let lines = snapshot.lines(file);
    let inside = |range: Range| {
        assert!(is_in(range.start, text, &lines) && is_in(range.end, text, &lines), "{range:?}");
        assert!(range.start <= range.end, "{range:?}");
    };
    let url = |_: &str| Url::parse("file:///t.rw").ok();
    for found in &snapshot.packs().diagnostics {
        let shown = findings::diagnostic(&snapshot, found, &url);
        assert!(!shown.message.is_empty());
        if found.primary.span.file == file {
            inside(shown.range);
        }
    }
    findings::actions(&snapshot, file, (0, text.len() as u32), &url);
    findings::fix_all(&snapshot, file, Url::parse("file:///t.rw").expect("a URL"));
    if let Some(hover) = hover::hover(&snapshot, file, offset, &|_| Evidence::new()) {
        inside(hover.range.expect("a range"));
    }
    for item in completion::completions(&snapshot, file, offset, &|| vec!["std".into()]) {
        let Some(lsp_types::CompletionTextEdit::Edit(edit)) = item.text_edit else { panic!("{}: no edit", item.label) };
        inside(edit.range);
        assert!(lines.offset(text, edit.range.end) == offset, "{}: {:?}", item.label, edit.range);
    }
    if let Some((keys, _)) = navigation::keys(&snapshot, file, offset) {
        let mentions = navigation::mentions(&snapshot, &keys);
        assert!(!mentions.is_empty());
    }
    drop(rename::subject(&snapshot, file, offset));
    for hint in hints::hints(&snapshot, file, (0, text.len() as u32)) {
        assert!(is_in(hint.position, text, &lines), "{:?}", hint.position);
    }
    // Relative to each other they never go back.
    let (mut line, mut column) = (0, 0);
    for token in tokens::tokens(&snapshot, file) {
        (line, column) = (line + token.delta_line, token.delta_start + if token.delta_line == 0 { column } else { 0 });
        let start = Position { line, character: column };
        inside(Range { start, end: Position { line, character: column + token.length } });
    }
    let declared = symbols::declared(&parse(file, text).0);
    for symbol in symbols::outline(&declared, text, &lines) {
        inside(symbol.range);
        inside(symbol.selection_range);
        // A client refuses an outline in which this does not hold.
        assert!(symbol.range.start <= symbol.selection_range.start && symbol.selection_range.end <= symbol.range.end);
    }
    if let Ok(formatted) = rewright_dsl::fmt::format(text) {
        format::edits(text, &formatted, &lines).iter().for_each(|edit| inside(edit.range));
    }
}

#[test]
fn every_pack_that_ships_breaks_off_anywhere() {
    for (number, (_, text)) in shipped().iter().enumerate() {
        let end = text.floor_char_boundary(text.len() * (2 * (number % 7) + 1) / 14);
        ask(&text[..end], end as u32, ENCODINGS[number % 3]);
    }
}

#[test]
fn a_rule_is_typed_key_by_key() {
    let before = "//! Größe ∀ 𝄞\npack t\nimport std.core\nfn twice{T <: Int}(x: T) -> T  pure\nruleset r {\n";
    let typed =
        "  @x(\"é𝄞\") unsafe dynamic rule a{T <: Int}(x: T, const c: T): twice(iadd(x, c)) after s => x when c != 0";
    let after =
        "\n  rule last(x: i32): twice(x) => iadd(x, x)\n}\nexample \"é\" (x: i32) fires r.last: twice(x) stays\n";
    for (end, _) in typed.char_indices().chain([(typed.len(), ' ')]) {
        for rest in ["", after] {
            let text = format!("{before}{}{rest}", &typed[..end]);
            ask(&text, (before.len() + end) as u32, ENCODINGS[end % 3]);
        }
    }
}

/// Whatever is half-typed, the items around it are there.
#[test]
fn what_stands_around_a_half_typed_rule_keeps_its_meaning() {
    let before = "pack t\nimport std.core\nfn twice(x: i32) -> i32  pure\nruleset r {\n";
    let typed = "  rule a{T <: Int}(x: T): iadd(twice(x), 0) => x when x == 0";
    let after = "\n  rule last(x: i32): twice(x) => iadd(x, x)\n}\n";
    for end in 3..=typed.len() {
        let text = format!("{before}{}{after}", &typed[..end]);
        let snapshot = snapshot(&text, Encoding::Utf8);
        let at = (text.rfind("twice(").expect("in the last rule")) as u32;
        let (_, meanings) = snapshot.named(0, at).unwrap_or_else(|| panic!("{:?}", &typed[..end]));
        assert_eq!(meanings[0].0.start as usize, text.find("twice").expect("declared"), "{:?}", &typed[..end]);
        let names: Vec<String> = symbols::declared(&parse(0, &text).0)
            .iter()
            .flat_map(|one| &one.inside)
            .map(|one| one.name.clone())
            .collect();
        assert!(names.contains(&"last".to_string()), "{:?}: {names:?}", &typed[..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: ProptestConfig::default().cases / 4,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_edit_of_any_pack_is_survived(
        which in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec((any::<u16>(), 0usize..40, 0usize..16), 1..6),
        place in any::<prop::sample::Index>(),
        encoding in 0usize..3,
    ) {
        const PIECES: [&str; 16] = [
            "", "(", "}", "\"", "é𝄞", "\n", "\nrule ", "=>", ".", "/// x\n", "\\", ",", "{", "// x\r\n", "import ", "@",
        ];
        let packs = shipped();
        let mut text = which.get(&packs).1.clone();
        for (at, length, piece) in cuts {
            let at = text.floor_char_boundary(usize::from(at) % (text.len() + 1));
            let end = text.floor_char_boundary((at + length).min(text.len())).max(at);
            text.replace_range(at..end, PIECES[piece]);
        }
        let offset = text.floor_char_boundary(place.index(text.len() + 1));
        // A place between the halves of a line's end is no place in an editor.
        prop_assume!(!text[..offset].ends_with('\r'));
        ask(&text, offset as u32, ENCODINGS[encoding]);
    }
}
