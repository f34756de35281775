//! The words of the rule language, from the table that `rewright explain` prints.

use super::prose::prose;
use maud::{Markup, html};
use rewright_dsl::words::{self, Word};

/// Words with their anchors, in order.
pub(super) fn anchored() -> Vec<(String, &'static Word)> {
    words::all().enumerate().map(|(i, word)| (format!("word-{}", i + 1), word)).collect()
}

/// The page.
pub(super) fn page() -> Markup {
    let words = anchored();
    html! {
        h1 { "The rule language" }
        p { "Each word with its meaning. " code { "rewright explain WORD" } " prints the same." }
        nav.contents { p { @for (anchor, word) in &words { a href=(format!("#{anchor}")) { (word.word) } " " } } }
        @for (anchor, word) in &words {
            article.entry id=(anchor) {
                header {
                    h3 { a href=(format!("#{anchor}")) { (word.word) } }
                    span.soft { (word.kind) }
                }
                div.doc { (prose(word.text)) }
                @if !word.example.is_empty() { pre { code { (word.example) } } }
            }
        }
    }
}
