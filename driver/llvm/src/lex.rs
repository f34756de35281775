//! Tokens of textual LLVM IR, each with its place in the text.
//!
//! Words (keywords, opcodes, attributes, types that are words) are not told apart here: LLVM adds attributes with
//! every version, so the list stays open. Comments and white space are dropped.
//!
//! **Invariant**: never fails. Text that is no token of LLVM's becomes [`Kind::Unknown`], and a reader that meets it
//! says that it does not understand the function.

use std::collections::BTreeSet;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `%x`, `%"a b"`, `%3`
    Local,
    /// `@f`
    Global,
    /// `!dbg`, `!12`, `!` before a brace or a string
    Metadata,
    /// `#3`, `#dbg_value`
    Hash,
    /// `add`, `i32`, `noundef`, `entry`
    Word,
    /// `12`, `-3`, `0x3FF0000000000000`, `1.0e+00`
    Number,
    /// `"..."`, `c"..."`
    Text,
    /// One character, or `...`
    Punctuation,
    /// Not LLVM's.
    Unknown,
}

/// A token: `text[start..end]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: usize,
    /// One beyond its last byte.
    pub end: usize,
}

/// May a byte stand in a name or word?
fn in_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'$' | b'-')
}

/// All tokens of `text`. Places are relative to its start.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        if c.is_ascii_whitespace() {
            at += 1;
        } else if c == b';' {
            at = bytes[at..].iter().position(|c| *c == b'\n').map_or(bytes.len(), |n| at + n);
        } else {
            let token = token(text, at);
            at = token.end;
            found.push(token);
        }
    }
    found
}

/// The text with one spelling for each name of a global: `@"x"` and `@"\78"` are `@x`.
pub fn with_plain_globals(text: String) -> String {
    if !text.contains("@\"") {
        return text;
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for token in tokens(&text).iter().filter(|token| token.kind == Kind::Global) {
        let name = &text[token.start..token.end];
        if let Some(quoted) = name.strip_prefix("@\"").and_then(|rest| rest.strip_suffix('"')) {
            out.push_str(&text[done..token.start]);
            out.push_str(&spelled(&unescaped(quoted)));
            done = token.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// The bytes of what stands between quotation marks, with LLVM's escapes (`\5C`) resolved.
pub(crate) fn unescaped(quoted: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (quoted.as_bytes(), vec![], 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (bytes[at], digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'\\', _) if bytes.get(at + 1) == Some(&b'\\') => {
                out.push(b'\\');
                at += 2;
            }
            (b'\\', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// The name of a global as LLVM prints it.
fn spelled(name: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-$._".contains(byte);
    if name.iter().all(is_plain) && name.first().is_some_and(|first| !first.is_ascii_digit()) {
        return format!("@{}", String::from_utf8_lossy(name));
    }
    let escaped = name.iter().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{byte:02X}"),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\{byte:02X}"),
    });
    format!("@\"{}\"", escaped.collect::<String>())
}

/// Names of globals in a text.
pub fn global_names(text: &str) -> BTreeSet<&str> {
    tokens(text).iter().filter(|t| t.kind == Kind::Global).map(|t| &text[t.start..t.end]).collect()
}

fn token(text: &str, start: usize) -> Token {
    let bytes = text.as_bytes();
    let word_end = |from: usize| bytes[from..].iter().position(|c| !in_word(*c)).map_or(bytes.len(), |n| from + n);
    let text_end = |quote: usize| bytes[quote + 1..].iter().position(|c| *c == b'"').map(|n| quote + n + 2);
    let next = bytes.get(start + 1).copied();
    let (kind, end) = match bytes[start] {
        sigil @ (b'%' | b'@') => {
            let kind = if sigil == b'%' { Kind::Local } else { Kind::Global };
            match next {
                Some(b'"') => text_end(start + 1).map_or((Kind::Unknown, bytes.len()), |end| (kind, end)),
                Some(c) if in_word(c) => (kind, word_end(start + 1)),
                _ => (Kind::Unknown, start + 1),
            }
        }
        b'!' => (Kind::Metadata, word_end(start + 1)),
        b'#' => (Kind::Hash, word_end(start + 1)),
        b'"' => text_end(start).map_or((Kind::Unknown, bytes.len()), |end| (Kind::Text, end)),
        b'c' if next == Some(b'"') => text_end(start + 1).map_or((Kind::Unknown, bytes.len()), |end| (Kind::Text, end)),
        b'.' if bytes[start..].starts_with(b"...") => (Kind::Punctuation, start + 3),
        c if c.is_ascii_digit() || (c == b'-' && next.is_some_and(|n| n.is_ascii_digit())) => {
            let mut end = word_end(start + 1);
            // An exponent's sign.
            if end < bytes.len() && bytes[end] == b'+' && bytes[end - 1] == b'e' {
                end = word_end(end + 1);
            }
            (Kind::Number, end)
        }
        c if in_word(c) => (Kind::Word, word_end(start)),
        b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b'=' | b'*' | b':' | b'|' => {
            (Kind::Punctuation, start + 1)
        }
        _ => {
            let length = text[start..].chars().next().map_or(1, char::len_utf8);
            (Kind::Unknown, start + length)
        }
    };
    Token { kind, start, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).iter().map(|t| (t.kind, &text[t.start..t.end])).collect()
    }

    #[test]
    fn a_global_has_one_spelling() {
        for (written, plain) in [
            ("load i32, ptr @\"x\"", "load i32, ptr @x"),
            ("call void @\"\\78\"(ptr @x)", "call void @x(ptr @x)"),
            ("@\"7\" @7", "@\"7\" @7"),
            ("@\"a\\20b\" @\"a b\" @\"\\0a\"", "@\"a b\" @\"a b\" @\"\\0A\""),
        ] {
            assert_eq!(with_plain_globals(written.to_string()), plain);
        }
    }

    #[test]
    fn every_kind_of_token() {
        use Kind::*;
        let text =
            "  %x = call i32 (ptr, ...) @\"a b\"(ptr !5, float 0x3FF0, i8 -1, c\"a\\22\") #3, !dbg !12 ; end\n1.0e+00";
        let expected = [
            (Local, "%x"),
            (Punctuation, "="),
            (Word, "call"),
            (Word, "i32"),
            (Punctuation, "("),
            (Word, "ptr"),
            (Punctuation, ","),
            (Punctuation, "..."),
            (Punctuation, ")"),
            (Global, "@\"a b\""),
            (Punctuation, "("),
            (Word, "ptr"),
            (Metadata, "!5"),
            (Punctuation, ","),
            (Word, "float"),
            (Number, "0x3FF0"),
            (Punctuation, ","),
            (Word, "i8"),
            (Number, "-1"),
            (Punctuation, ","),
            (Text, "c\"a\\22\""),
            (Punctuation, ")"),
            (Hash, "#3"),
            (Punctuation, ","),
            (Metadata, "!dbg"),
            (Metadata, "!12"),
            (Number, "1.0e+00"),
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn nonsense_is_no_panic() {
        for text in ["%", "@\"open", "c\"open", "\u{1F600}é", "^5 ` ~", "!", "#", "-"] {
            let covered: usize = tokens(text).iter().map(|t| t.end - t.start).sum();
            assert!(covered > 0, "{text}");
        }
    }
}
