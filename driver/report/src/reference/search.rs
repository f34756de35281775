//! The search of a site: a field, a script, and what there is to find as another script, which a page may load from a
//! disk, where it may not read files.

use super::language::anchored;
use super::page_of;
use super::prose::sentence;
use super::texts::{Kind, PackText, Texts};
use maud::{Markup, html};
use rewright_dsl::codes;
use serde_json::{Value, json};

/// The file of what there is to find.
pub(super) const INDEX: &str = "search-index.js";

/// What searches it.
pub(super) const SCRIPT: (&str, &str) = ("search.js", include_str!("search.js"));

/// The field, which is of no use without a script.
pub(super) fn field() -> Markup {
    html! {
        div.search hidden {
            input type="search" placeholder="Search: iadd, std.arith, identity … ( / )" aria-label="Search" autocomplete="off" spellcheck="false";
            div.found hidden aria-live="polite" {}
        }
        noscript { span.soft { "The search needs JavaScript." } }
    }
}

/// Everything that has a page or a place on one: name, kind, pack, link, a sentence. Words and diagnostics are on the
/// pages of these names.
pub(super) fn index(
    packs: &[(&str, Vec<&PackText>)],
    texts: &Texts<'_>,
    (language, diagnostics): (&str, &str),
) -> String {
    let packs = packs.iter().map(|(name, texts)| {
        let about: Vec<String> = texts.iter().map(|text| sentence(&text.about)).collect();
        json!([name, "pack", "", page_of(name, "html"), about.join(" ")])
    });
    let declarations = texts
        .declarations
        .values()
        .filter(|declaration| declaration.kind != Kind::Example)
        .map(|d| json!([d.title(), d.kind.word(), d.pack, d.href(), sentence(&d.doc)]));
    let words = anchored().into_iter().map(|(anchor, word)| {
        json!([word.word, word.kind, "", format!("{language}#{anchor}"), sentence(&[word.text.to_string()])])
    });
    let codes = codes::all()
        .map(|code| json!([code.code, "diagnostic", "", format!("{diagnostics}#{}", code.code), code.title]));
    let all: Vec<Value> = packs.chain(declarations).chain(words).chain(codes).collect();
    let lines: Vec<String> = all.iter().map(Value::to_string).collect();
    format!("window.REWRIGHT_INDEX = [\n{}\n];\n", lines.join(",\n"))
}
