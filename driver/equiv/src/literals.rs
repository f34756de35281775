//! Constants that are more than numbers, as text: what aggregates are made of, and expressions.

use rewright_llvm::body::Shape;
use rewright_llvm::cursor::Cursor;
use rewright_llvm::error::NotUnderstood;
use rewright_llvm::grammar::{self, Form};
use rewright_llvm::instruction::Instruction;
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::parse;
use rewright_llvm::types::{self, Named, Type};

/// The constant that an aggregate, or a vector, is.
pub(crate) enum Literal<'a> {
    /// The same in all scalars: `zeroinitializer`, `undef`, `poison`.
    Everywhere(&'a str),
    /// The same in all parts: `splat (i8 7)`.
    Splat(&'a str),
    /// `c"text"`
    Text(Vec<u8>),
    /// Each with its type: `[i8 1, i8 2]`.
    Parts(Vec<&'a str>),
    /// Something else.
    Other,
}

/// Reads the text of a constant.
pub(crate) fn aggregate(text: &str) -> Literal<'_> {
    let text = text.trim();
    if ["zeroinitializer", "undef", "poison"].contains(&text) {
        return Literal::Everywhere(text);
    }
    if let Some(inner) = text.strip_prefix("splat").and_then(|rest| bracketed(rest.trim(), "(", ")")) {
        return Literal::Splat(inner);
    }
    if let Some(quoted) = bracketed(text, "c\"", "\"") {
        return Literal::Text(characters(quoted));
    }
    let brackets = [("<{", "}>"), ("{", "}"), ("[", "]"), ("<", ">")];
    match brackets.into_iter().find_map(|(open, close)| bracketed(text, open, close)) {
        Some(inner) => Literal::Parts(separated(inner)),
        None => Literal::Other,
    }
}

fn bracketed<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// `i32 7`: a type and a constant.
///
/// # Errors
/// Where no type begins.
pub(crate) fn typed(text: &str) -> Result<(Type, &str), NotUnderstood> {
    let line = tokens(text);
    let mut cursor = Cursor::new(text, &line);
    let ty = types::parse(&mut cursor)?;
    let start = line.get(cursor.at()).map_or(text.len(), |token| token.start);
    Ok((ty, text[start..].trim()))
}

/// What a constant pointer is a sum of: `@g` of `getelementptr (i8, ptr @g, i64 4)`.
pub(crate) fn base<'a>(text: &'a str, named: &Named) -> Option<&'a str> {
    let Shape::Offset { base, .. } = expression(text, named)?.shape else { return None };
    text.find(&base.text).map(|at| &text[at..at + base.text.len()])
}

/// An expression as the instruction that it stands for: `getelementptr inbounds (i8, ptr @g, i64 4)` is the instruction
/// without its brackets. `None` for anything else.
pub(crate) fn expression(text: &str, named: &Named) -> Option<Instruction> {
    let line = tokens(text);
    let at = |i: usize| line.get(i).map_or("", |token| &text[token.start..token.end]);
    // The bracket that the last token closes.
    let mut open = None;
    let mut nested = 0;
    for i in (0..line.len()).rev() {
        match at(i) {
            ")" => nested += 1,
            "(" => nested -= 1,
            _ => {}
        }
        if nested == 0 {
            open = Some(i);
            break;
        }
    }
    let (open, last) = (open?, line.len().checked_sub(1)?);
    if at(open) != "(" || at(last) != ")" || line[0].kind != Kind::Word {
        return None;
    }
    let mut inner = text[line[open].end..line[last].start].to_string();
    if let Some(Form::Binary(_)) = grammar::form(at(0)) {
        // The second operand of an instruction has no type of its own.
        let [first, second] = separated(&inner)[..] else { return None };
        let (_, second) = typed(second).ok()?;
        inner = format!("{first}, {second}");
    }
    let written = format!("%constant = {} {inner}", &text[..line[open].start]);
    parse::instruction(&written, &tokens(&written), named).ok()
}

/// Cuts a list at the commas that stand in no bracket.
pub(crate) fn separated(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (vec![], 0, 0i32);
    for token in tokens(text) {
        match &text[token.start..token.end] {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => {
                found.push(text[start..token.start].trim());
                start = token.end;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

/// The bytes of a text in quotes: `\0A` is one.
fn characters(quoted: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (quoted.as_bytes(), vec![], 0);
    while at < bytes.len() {
        let escaped = (bytes[at] == b'\\').then(|| quoted.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += if bytes[at..].starts_with(b"\\\\") { 2 } else { 1 };
            }
        }
    }
    out
}
