//! Documentation as HTML. It is written in Markdown; tags in it are text.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, Parser, html::push_html};

/// Lines of a documentation comment.
pub(super) fn prose(text: &str) -> Markup {
    let events = Parser::new(text).map(|event| match event {
        Event::Html(tag) | Event::InlineHtml(tag) => Event::Text(tag),
        other => other,
    });
    let mut html = String::new();
    push_html(&mut html, events);
    PreEscaped(html)
}

/// The first sentence of it, as plain text.
pub(super) fn sentence(lines: &[String]) -> String {
    let paragraph: Vec<&str> = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    paragraph.split_inclusive(". ").next().unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_text() {
        let html = prose("a `<b>` <script>x</script>\n\n<img src=x>").into_string();
        assert!(
            !html.contains("<script") && !html.contains("<img") && html.contains("<code>&lt;b&gt;</code>"),
            "{html}"
        );
    }

    #[test]
    fn a_sentence_ends_with_its_paragraph() {
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        assert_eq!(sentence(&lines("One\n two. Three.\n")), "One two.");
        assert_eq!(sentence(&lines("One\n\ntwo.")), "One");
        assert_eq!(sentence(&[]), "");
    }
}
