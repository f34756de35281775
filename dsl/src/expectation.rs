//! An example with another expectation, as text: what `rewright test --update` writes.
//!
//! **Invariant**: only what is expected changes. The item comes out in the one way to write it, with its comments but
//! those inside of what is replaced; what stands around it is left alone.

use crate::diagnostic::{Applicability, Fix};
use crate::fmt;
use crate::syntax::ast::{ExampleBody, ExampleItem, ItemKind, Span};
use crate::syntax::parse_lossless;
use crate::syntax::token::Token;

/// What is to be expected instead.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expectation {
    /// What follows the term under test (`becomes x + 1`, `stays`), or the statements of the `after` block.
    pub result: Option<String>,
    /// Positions in `fires` of rules that are to take part no longer.
    pub silent: Vec<usize>,
    /// It is no longer `todo`.
    pub holds: bool,
}

/// The change of a file's text that gives the example at a span another expectation. `None` where no example stands
/// there, or the new one would be no expectation.
pub fn update(text: &str, span: Span, to: &Expectation) -> Option<Fix> {
    let item = text.get(span.start as usize..span.end as usize)?;
    let parsed = parse_lossless(0, item);
    let [only] = &parsed.file.items[..] else { return None };
    let ItemKind::Example(example) = &only.kind else { return None };
    let tokens = &parsed.lexed.tokens;
    let mut edits: Vec<(u32, u32, String)> = vec![];
    if to.holds && example.todo {
        let first = tokens.first()?;
        edits.push((first.start, first.end, String::new()));
    }
    if !to.silent.is_empty() {
        edits.push(headers(tokens, example, &to.silent)?);
    }
    if let Some(result) = &to.result {
        let (start, replacement) = match &example.body {
            ExampleBody::Verdict { subject, .. } => (subject.end(), format!(" {result}")),
            ExampleBody::Blocks { .. } => {
                let begins = |pair: &&[Token<'_>]| matches!(pair, [a, b] if a.is_word("after") && b.is_symbol("{"));
                let after = tokens.windows(2).find(begins)?.first()?;
                (after.start, format!("after {{\n{result}\n}}\n}}"))
            }
        };
        edits.push((start, item.len() as u32, replacement));
    }
    edits.sort();
    let mut changed = String::new();
    let mut at = 0;
    for (start, end, replacement) in edits {
        changed += item.get(at..start as usize)?;
        changed += &replacement;
        at = end as usize;
    }
    changed += item.get(at..)?;
    let formatted = fmt::format(&changed).ok()?;
    Some(Fix { span, replacement: indented(text, span, formatted.trim_end()), applicability: Applicability::Maybe })
}

/// What `fires` and `using` are without some rules.
fn headers(tokens: &[Token<'_>], example: &ExampleItem, silent: &[usize]) -> Option<(u32, u32, String)> {
    let start = tokens.iter().find(|token| token.is_word("fires") && token.start > example.title.span.end)?.start;
    let last = example.fires.last()?.span.end;
    let kept = example.fires.iter().enumerate().filter(|(i, _)| !silent.contains(i));
    let kept: Vec<&str> = kept.map(|(_, path)| path.node.as_str()).collect();
    let mut replacement = if kept.is_empty() { String::new() } else { format!("fires {}", kept.join(", ")) };
    if let Some(using) = example.using.as_ref().filter(|using| (start..last).contains(&using.span.start)) {
        replacement += &format!(" using {}", using.node);
    }
    Some((start, last, replacement))
}

/// Further lines of an item, moved to where it stands.
fn indented(text: &str, span: Span, item: &str) -> String {
    let before = &text[..span.start as usize];
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let indent = if line.trim().is_empty() { line } else { "" };
    item.lines().collect::<Vec<_>>().join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(item: &str, to: &Expectation) -> Option<String> {
        let text = format!("pack p\n\nruleset r {{\n  {item}\n}}\n");
        let start = text.find(item).expect("it is there") as u32;
        let span = Span { file: 0, start, end: start + item.len() as u32 };
        update(&text, span, to).map(|fix| fix.replacement)
    }

    #[test]
    fn only_the_expectation_changes() {
        let result = |result: &str| Expectation { result: Some(result.into()), ..Expectation::default() };
        let becomes = "example \"e\" (x: i32): f(x , 0x0f) after s becomes g(x)";
        assert_eq!(updated(becomes, &result("stays")).unwrap(), "example \"e\" (x: i32): f(x, 0x0f) after s stays");
        let blocks = "example \"e\" (x: i32) { before { return x } // why\n after { do f(x) return x } }";
        assert_eq!(
            updated(blocks, &result("return 1")).unwrap(),
            "example \"e\" (x: i32) {\n    before { return x } // why\n    after { return 1 }\n  }"
        );
        assert_eq!(updated(becomes, &result("becomes f(")), None);
        assert_eq!(updated("rule a(x: i32): f(x) => x", &result("stays")), None);
    }

    #[test]
    fn rules_that_take_no_part_go() {
        let silent = |silent: &[usize]| Expectation { silent: silent.into(), ..Expectation::default() };
        let item = "todo example \"e\" fires a, r.b using s fires c: x stays";
        assert_eq!(updated(item, &silent(&[1])).unwrap(), "todo example \"e\" fires a, c using s: x stays");
        assert_eq!(updated(item, &silent(&[0, 1, 2])).unwrap(), "todo example \"e\" using s: x stays");
        let holds = Expectation { holds: true, ..Expectation::default() };
        assert_eq!(updated(item, &holds).unwrap(), "example \"e\" fires a, r.b, c using s: x stays");
    }
}
