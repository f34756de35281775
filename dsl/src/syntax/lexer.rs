//! Text to tokens and comments. Hand-written: maximal munch, no look-behind, one diagnostic per run of bad text.
//!
//! Every byte of the text is white space, a comment or part of one token, so the formatter loses nothing.

use super::ast::Span;
use super::token::{Comment, Kind, Token};
use crate::diagnostic::{Diagnostic, Label, Severity};

/// What the lexer gives.
#[derive(Debug, Default)]
pub(crate) struct Lexed<'s> {
    /// Tokens in order. Documentation is among them wherever it stands; [`super::structure`] sorts it out.
    pub(crate) tokens: Vec<Token<'s>>,
    /// Other comments in order.
    pub(crate) comments: Vec<Comment<'s>>,
}

/// Symbols, longest first. Those after the grammar's own are lexed only to be answered with a hint.
const SYMBOLS: &[&str] = &[
    "...", "<=>", "==>", "=>", "<=", ">=", "==", "!=", "->", "<:", "<<", ">>", ".+", ".-", ".*", "./", "&&", "||",
    "/*", "*/", "::", "(", ")", "{", "}", ",", ":", ".", "=", "+", "-", "*", "/", "^", "'", "<", ">", "&", "|", "@",
    "[", "]", ";", "!", "%", "?", "~",
];

/// Bytes of text for a token, at least: packs that ship have five.
const BYTES_PER_TOKEN: usize = 4;

/// Longer runs of one symbol are errors whatever follows, so they need not fill the memory.
const MAX_RUN: usize = 4 * super::token::MAX_DEPTH;

/// Tokens of a text. `file` goes into the spans of diagnostics.
pub(crate) fn lex<'s>(file: u32, text: &'s str, diagnostics: &mut Vec<Diagnostic>) -> Lexed<'s> {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        at: 0,
        first_on_line: true,
        run: 0,
        out: Lexed { tokens: Vec::with_capacity(text.len() / BYTES_PER_TOKEN), comments: Vec::new() },
        diagnostics,
    };
    if text.starts_with('\u{feff}') {
        lexer.at = 3;
    }
    lexer.run();
    lexer.out
}

struct Lexer<'s, 'd> {
    file: u32,
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    first_on_line: bool,
    /// How many equal symbols were lexed last, side by side.
    run: usize,
    out: Lexed<'s>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'s> Lexer<'s, '_> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.first_on_line = true;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.bytes[self.at..].starts_with(b"//") => self.comment(),
                b'"' => self.string(),
                b'0'..=b'9' => self.number(),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                    let end = self.end_of(self.at, is_word_byte);
                    self.token(Kind::Word, end);
                }
                _ => self.symbol(),
            }
        }
    }

    fn end_of(&self, from: usize, inside: impl Fn(u8) -> bool) -> usize {
        self.bytes[from..].iter().position(|&byte| !inside(byte)).map_or(self.bytes.len(), |length| from + length)
    }

    fn token(&mut self, kind: Kind, end: usize) {
        self.out.tokens.push(Token {
            kind,
            text: &self.text[self.at..end],
            start: self.at as u32,
            end: end as u32,
            first_on_line: self.first_on_line,
            starts_item: false,
            starts_statement: false,
            reserved: false,
        });
        self.at = end;
        self.first_on_line = false;
    }

    fn report(&mut self, code: &'static str, message: String, span: (usize, usize), label: &str, help: Option<&str>) {
        self.diagnostics.push(Diagnostic {
            code,
            severity: Severity::Error,
            message,
            primary: Label {
                span: Span { file: self.file, start: span.0 as u32, end: span.1 as u32 },
                text: label.to_owned(),
            },
            secondary: Vec::new(),
            help: help.map(str::to_owned),
            fix: None,
        });
    }

    fn comment(&mut self) {
        let end = self.end_of(self.at, |byte| byte != b'\n');
        let text = self.text[self.at..end].trim_end();
        let end = self.at + text.len();
        let kind = if text.starts_with("//!") {
            Some(Kind::PackDoc)
        } else if text.starts_with("///") && !text.starts_with("////") {
            Some(Kind::Doc)
        } else {
            None
        };
        match kind {
            Some(kind) => self.token(kind, end),
            None => {
                self.out.comments.push(Comment {
                    text,
                    start: self.at as u32,
                    end: end as u32,
                    first_on_line: self.first_on_line,
                });
                self.at = end;
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') if self.bytes.get(at + 1).is_some_and(|&byte| byte != b'\n') => at += 2,
                Some(byte) if *byte != b'\n' => at += 1,
                _ => {
                    let end = start + self.text[start..at].trim_end().len();
                    self.report(
                        "RW0102",
                        "this string does not end".into(),
                        (start, end),
                        "no closing `\"` on this line",
                        Some("a string ends on the line where it begins; write `\\n` for a new line"),
                    );
                    return self.token(Kind::Bad, end);
                }
            }
        }
        // `at` may have jumped over the first byte of a longer character, never into the middle past a quote.
        let end = at + 1;
        let text = &self.text[start..end];
        match unescape(&text[1..text.len() - 1]) {
            Ok(_) => self.token(Kind::Str, end),
            Err((from, to)) => {
                self.report(
                    "RW0103",
                    "unknown escape in a string".into(),
                    (start + 1 + from, start + 1 + to),
                    "not an escape",
                    Some(r#"escapes are \" \\ \n \t \r and \u{hex}"#),
                );
                self.token(Kind::Bad, end);
            }
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let mut end = self.end_of(start, is_word_byte);
        let mut kind = Kind::Int;
        let hexadecimal = self.text[start..end].starts_with("0x");
        if !hexadecimal {
            if self.bytes.get(end) == Some(&b'.') && self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
                end = self.end_of(end + 1, is_word_byte);
                kind = Kind::Float;
            }
            if matches!(self.bytes[end - 1], b'e' | b'E')
                && matches!(self.bytes.get(end), Some(b'+' | b'-'))
                && self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
            {
                end = self.end_of(end + 1, is_word_byte);
            }
            if self.text[start..end].bytes().any(|byte| matches!(byte, b'e' | b'E')) {
                kind = Kind::Float;
            }
        }
        let text = &self.text[start..end];
        let (ok, help) = match kind {
            Kind::Float => (float(text).is_some(), "floats are written 1.5, 1e9 or 2.5e-3"),
            _ => (
                int(text).is_some(),
                "integers are written 255, 0xff or 0b1111, `_` may separate digits, and they fit 128 bits",
            ),
        };
        let has_suffix =
            ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "L", "UL", "ul", "u", "f"]
                .into_iter()
                .any(|suffix| {
                    text.strip_suffix(suffix).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
                });
        let help = if has_suffix { "a literal has no suffix: its type is what the operation wants" } else { help };
        if !ok {
            self.report("RW0103", format!("`{text}` is not a number"), (start, end), "malformed number", Some(help));
        }
        self.token(if ok { kind } else { Kind::Bad }, end);
    }

    fn symbol(&mut self) {
        let rest = &self.bytes[self.at..];
        let alone = matches!(rest[0], b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b'@' | b'^' | b'\'');
        let symbol = if alone {
            Some(&self.text[self.at..self.at + 1])
        } else {
            SYMBOLS.iter().copied().find(|symbol| rest.starts_with(symbol.as_bytes()))
        };
        if let Some(symbol) = symbol {
            let end = self.at + symbol.len();
            match self.out.tokens.last_mut().filter(|last| last.is_symbol(symbol)) {
                Some(last) if self.run >= MAX_RUN => {
                    last.end = end as u32;
                    self.at = end;
                    return;
                }
                Some(_) => self.run += 1,
                None => self.run = 1,
            }
            return self.token(Kind::Symbol, end);
        }
        let run: usize = self.text[self.at..].chars().take_while(|&c| is_foreign(c)).map(char::len_utf8).sum();
        let end = self.at + run.max(1);
        let shown: String = self.text[self.at..end].chars().take(20).flat_map(char::escape_debug).collect();
        let what = if shown.chars().count() == 1 { "character" } else { "characters" };
        self.report(
            "RW0101",
            format!("unexpected {what} `{shown}`"),
            (self.at, end),
            "not part of the language",
            Some(match shown.starts_with('#') {
                true if self.text[end..].starts_with("include") => "a pack is imported by its name: `import std.core`",
                true => "comments are written `// ..`, to the end of the line",
                false => match shown.chars().next() {
                    Some('“' | '”' | '„' | '‟' | '«' | '»') => "strings stand in plain quotes: `\"..\"`",
                    Some('⇒' | '→' | '⟶' | '⟹') => {
                        "arrows are plain characters: `=>`, and `->` before a result"
                    }
                    Some('−' | '–' | '—') => "a minus is the plain character `-`",
                    Some('×' | '·') => "a product is written `*`",
                    Some('≤' | '≥' | '≠') => "comparisons are written `<=`, `>=` and `!=`",
                    _ if shown.starts_with("\\u{a0}") => {
                        "a space that does not break the line stands here: write a plain one"
                    }
                    _ => "names are ASCII letters, digits and `_`; other text belongs in strings and comments",
                },
            }),
        );
        self.token(Kind::Bad, end);
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// A character that begins no token.
fn is_foreign(c: char) -> bool {
    !c.is_ascii() || matches!(c, '$' | '#' | '`' | '\\') || (c.is_ascii_control() && !matches!(c, '\n' | '\t' | '\r'))
}

/// The value of an integer as written, with an optional sign.
pub(crate) fn int(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if digits.starts_with('_') {
        return None;
    }
    i128::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).ok()
}

/// The value of a float as written, with an optional sign.
pub(crate) fn float(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok().filter(|value: &f64| value.is_finite())
}

/// The value of a string's inside, or the byte range of its first bad escape.
pub(crate) fn unescape(text: &str) -> Result<String, (usize, usize)> {
    let mut value = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c != '\\' {
            value.push(c);
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at + 1..];
        let (c, length) = match rest.chars().next() {
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some('r') => ('\r', 1),
            Some(c @ ('"' | '\\')) => (c, 1),
            Some('u') => {
                let hex = rest[1..].strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
                let c = hex
                    .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
                    .and_then(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?));
                match (hex, c) {
                    (Some(hex), Some(c)) => (c, hex.len() + 3),
                    _ => return Err((at, at + 2)),
                }
            }
            other => return Err((at, at + 1 + other.map_or(0, char::len_utf8))),
        };
        value.push(c);
        at += 1 + length;
    }
    Ok(value)
}

/// A string as written, from its value: the inverse of [`unescape`], with quotes.
pub(crate) fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if c.is_control() => text.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
