//! The index of diagnostics, from the table that the compiler itself explains them by.

use super::prose::prose;
use maud::{Markup, html};
use rewright_dsl::codes::{Code, STAGES};

/// The page in Markdown.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Diagnostics\n\n<!-- Made from dsl/src/codes; its test writes it with BLESS=1. -->\n\n\
         What each diagnostic means and what to do about it, with a pack that gives it. `rewright explain RW0401` prints \
         the same. In messages `..` stands for what the pack at hand brings.\n",
    );
    for stage in STAGES {
        text += &format!("\n## {}\n", stage.title);
        for code in stage.codes {
            let Code { code: name, title, message, text: meaning, example } = code;
            text += &format!(
                "\n### {name}: {title}\n\n> {}\n\n{meaning}\n\n{}:\n\n```rw,listing\n{example}```\n",
                inline(message),
                by(code)
            );
        }
    }
    text
}

/// Where its example is found out.
fn by(code: &Code) -> &'static str {
    if code.is_verdict() { "`rewright verify` says so of" } else { "`rewright check` says so of" }
}

/// A message has its own backticks, but no other marks.
fn inline(message: &str) -> String {
    message.replace('<', "\\<").replace('*', "\\*").replace('_', "\\_")
}

/// The page in HTML.
pub(super) fn page() -> Markup {
    html! {
        h1 { "Diagnostics" }
        p {
            "What each diagnostic means and what to do about it, with a pack that gives it. "
            code { "rewright explain RW0401" }
            " prints the same. In messages " code { ".." } " stands for what the pack at hand brings."
        }
        nav.contents {
            @for stage in STAGES {
                details open {
                    summary { (stage.title) }
                    p { @for code in stage.codes { a href=(format!("#{}", code.code)) title=(code.title) { (code.code) } " " } }
                }
            }
        }
        @for stage in STAGES {
            h2 { (stage.title) }
            @for code in stage.codes {
                article.entry id=(code.code) {
                    header { h3 { a href=(format!("#{}", code.code)) { (code.code) ": " (code.title) } } }
                    blockquote { (code.message) }
                    div.doc { (prose(code.text)) }
                    div.facts { (prose(&format!("{}:", by(code)))) }
                    pre { code { (code.example) } }
                }
            }
        }
    }
}
