//! A page of HTML that needs nothing else: no script, no font, no file beside it, and it forbids all of them.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing is loaded, run or sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page around its contents.
pub(crate) fn page(title: &str, style: &str, contents: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Rewright: " (title) }
                style { (PreEscaped(style)) }
            }
            body { (contents) }
        }
    };
    page.into_string()
}
