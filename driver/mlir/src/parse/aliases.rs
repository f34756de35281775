//! Aliases of attributes and types: `#map = affine_map<(d0) -> (d0)>`, `!t = i32`.
//!
//! Each use is replaced by what the alias stands for before anything else is read, so the readers of types and
//! attributes meet no alias. Lines keep their numbers.

use super::cursor::Cursor;
use crate::lex::{Kind, Token, tokens};
use crate::syntax::Unsupported;
use rustc_hash::FxHashMap;

/// Aliases of aliases grow exponentially; a text that is longer than this, in bytes, is not read.
const MOST: usize = 64 << 20;

/// What aliases stand for, without aliases and in one line.
type Aliases<'a> = FxHashMap<&'a str, String>;

/// The text without aliases.
///
/// # Errors
///
/// An alias is defined twice, or the text would be too long.
pub(super) fn expanded(source: &str) -> Result<String, Unsupported> {
    let tokens = tokens(source);
    let (mut aliases, mut definitions) = (Aliases::default(), vec![]);
    let mut at = 0;
    while at < tokens.len() {
        if !is_definition(&tokens, at) {
            at += 1;
            continue;
        }
        let end = value_end(&tokens, at + 2);
        let Token { text: name, line, .. } = tokens[at];
        // Where something was written says nothing of what it does.
        let value = match tokens[at + 2].text {
            "loc" => "loc(unknown)".to_string(),
            _ => in_one_line(source, &tokens[at + 2..end], &aliases),
        };
        if value.len() > MOST {
            return Err(Unsupported { line, what: format!("`{name}` stands for too long a text") });
        }
        if aliases.insert(name, value).is_some() {
            return Err(Unsupported { line, what: format!("`{name}` is defined twice") });
        }
        definitions.push(at..end);
        at = end;
    }
    let (mut result, mut copied) = (String::new(), 0);
    let mut definitions = definitions.into_iter().peekable();
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        if let Some(definition) = definitions.next_if(|definition| definition.start == at) {
            result += &source[copied..token.start];
            copied = tokens[definition.end - 1].end();
            result.extend(source[token.start..copied].chars().filter(|c| *c == '\n'));
            at = definition.end;
            continue;
        }
        if let Some(value) = used(&tokens, at).and_then(|name| aliases.get(name)) {
            result += &source[copied..token.start];
            result += value;
            copied = token.end();
        }
        if result.len() > MOST {
            return Err(Unsupported { line: token.line, what: "its aliases stand for too long a text".into() });
        }
        at += 1;
    }
    result += &source[copied..];
    Ok(result)
}

/// Whether an alias is defined here. Nothing else that begins so is followed by `=`.
fn is_definition(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(tokens[at].kind, Kind::Hash | Kind::Bang) && tokens.get(at + 1).is_some_and(|next| next.text == "=")
}

/// The alias that is used here, if one is: `#dialect<..>` and `#dialect.name` are not aliases.
fn used<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let Token { kind, text, .. } = tokens[at];
    let is_alias = matches!(kind, Kind::Hash | Kind::Bang)
        && !text.contains('.')
        && tokens.get(at + 1).is_none_or(|next| next.text != "<");
    is_alias.then_some(text)
}

/// Tokens as they are in the source, without comments and ends of lines, and without aliases.
fn in_one_line(source: &str, value: &[Token<'_>], aliases: &Aliases<'_>) -> String {
    let (mut text, mut end) = (String::new(), None);
    for (at, token) in value.iter().enumerate() {
        if end.is_some_and(|end| end < token.start) {
            text.push(' ');
        }
        let stands_for = used(value, at).and_then(|name| aliases.get(name));
        text += stands_for.map_or(&source[token.start..token.end()], String::as_str);
        end = Some(token.end());
        if text.len() > MOST {
            break;
        }
    }
    text
}

/// The end of the attribute or type that begins here: `3 : i64`, `affine_map<..>`, `#d.a<..>`, `[..]`, `@f::@g`, `(t) -> u`.
fn value_end(tokens: &[Token<'_>], start: usize) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut at = start;
    if text(at) == "-" {
        at += 1;
    }
    let is_bracket = |at: usize| matches!(text(at), "<" | "[" | "(" | "{");
    at = if is_bracket(at) { balanced_end(tokens, at) } else { at + 1 };
    // `distinct[0]<..>`.
    while matches!(text(at), "<" | "[") || (text(at) == "(" && text(at - 1) == "loc") {
        at = balanced_end(tokens, at);
    }
    while text(at) == ":" && text(at + 1) == ":" {
        at += 3;
    }
    if text(at) == "->" || text(at) == ":" {
        at = value_end(tokens, at + 1);
    }
    at.min(tokens.len() - 1).max(start)
}

/// The place behind the bracket that closes the one here.
fn balanced_end(tokens: &[Token<'_>], start: usize) -> usize {
    let mut cursor = Cursor::new("", tokens);
    cursor.go_to(start);
    cursor.skip_balanced();
    cursor.position()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_is_what_the_alias_stands_for() {
        let source = "#map = affine_map<(d0) ->\n  (d0)> // of one\n!t = i8\n#all = [#map, 2 : i64]\n#c-1 = -1 : index\n\
                      !f = (!t) -> memref<4x!t>\n#l = loc(\"a\":1:2)\n%a = \"o\"() {m = #map, c = #c-1, a = #all} : !f loc(#l)\n";
        let expected = "\n // of one\n\n\n\n\n\n\
                        %a = \"o\"() {m = affine_map<(d0) -> (d0)>, c = -1 : index, \
                        a = [affine_map<(d0) -> (d0)>, 2 : i64]} : (i8) -> memref<4xi8> loc(loc(unknown))\n";
        assert_eq!(expanded(source).expect("it is short"), expected);
    }

    #[test]
    fn attributes_of_dialects_are_no_aliases() {
        let source = "#arith = 1 : i64\n\"o\"() {a = #arith.fastmath<nnan>, b = #arith<\"x\">, c = #other} : () -> ()";
        assert_eq!(expanded(source).expect("it is short"), source.replace("#arith = 1 : i64", ""));
    }

    #[test]
    fn aliases_have_one_meaning_and_a_bound() {
        assert!(expanded("#a = 1\n#a = 2").is_err());
        let doubled = |n: usize| format!("#a{} = [#a{n}, #a{n}]\n", n + 1);
        let source = format!("#a0 = 1\n{}\"o\"() {{a = #a40}}", (0..40).map(doubled).collect::<String>());
        assert!(expanded(&source).is_err());
    }
}
