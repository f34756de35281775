//! The words of a CLIF text as Cranelift's lexer would see them: without comments, strings and `%` names.
//!
//! Cranelift's reader says on which line a function begins, not where, and allocates by entity numbers before it
//! looks at them. Both need a look at the text that quotes and comments cannot mislead.
//!
//! What it does not do: it finds no mistakes. A text that the reader refuses still has words.

/// A word: letters, digits and `_`; or a brace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Where it begins, in bytes.
    pub start: usize,
    /// What it is.
    pub text: &'a str,
}

/// All words of a text. Of `test`, `set` and `target` lines, which the reader takes as they are, only the first.
pub fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    let mut depth = 0usize;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let until = |end: Option<usize>| end.unwrap_or(rest.len());
            let word = until(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
            if word > 0 {
                let found = Word { start: at, text: &rest[..word] };
                let raw = depth == 0 && matches!(found.text, "test" | "set" | "target");
                at += if raw { until(rest.find('\n')) } else { word };
                return Some(found);
            }
            let first = rest.chars().next()?;
            let start = at;
            at += match first {
                ';' => until(rest.find('\n')),
                '"' => until(rest[1..].find('"').map(|end| end + 2)),
                '%' => 1 + rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len() - 1),
                _ => first.len_utf8(),
            };
            match first {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            return Some(Word { start, text: &rest[..1] });
        }
    })
}

/// Where the functions of a text begin.
pub fn functions(text: &str) -> Vec<usize> {
    let mut depth = 0usize;
    let mut found = vec![];
    for word in words(text) {
        match word.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "function" if depth == 0 => found.push(word.start),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_comments_and_names_hide_words() {
        let text = "test a \"b\nset c\n\"d ; e\" f ; g \" h\n%i_1 j{k}%{ é l";
        let found: Vec<&str> = words(text).map(|w| w.text).collect();
        assert_eq!(found, ["test", "set", "f", "j", "{", "k", "}", "{", "l"]);
        assert!(words(text).all(|w| text[w.start..].starts_with(w.text)));
    }

    #[test]
    fn functions_begin_outside_braces() {
        let text = "; function\ntest function\nfunction %function() { function } function %g() {}\n";
        assert_eq!(functions(text), [25, 59]);
    }

    #[test]
    fn every_prefix_has_words() {
        let text = "feature \"é\" function %f() {\nblock0: ; é\n}\n";
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(words(&text[..end]).count() <= 6);
        }
    }
}
