//! The shell of every page of HTML: what it may load, and what is around its contents.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing is loaded, run or sent.
const ALONE: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A page that needs nothing else: no script, no font, no file beside it, and it forbids all of them.
pub(crate) fn alone(title: &str, style: &str, contents: &Markup) -> String {
    let style = html! { style { (PreEscaped(style)) } };
    page(&format!("Rewright: {title}"), ALONE, &style, contents)
}

/// A page with what else belongs into its head, under a policy for its contents.
pub(crate) fn page(title: &str, policy: &str, head: &Markup, contents: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                (head)
            }
            body { (contents) }
        }
    };
    page.into_string()
}
