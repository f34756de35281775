//! Tokens of MLIR text.

/// What a token is; its text is that of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `%x`, `%x#1`.
    Value,
    /// `@f`, `@"f"`.
    Symbol,
    /// `#map`.
    Hash,
    /// `^bb0`.
    Label,
    /// `!type`.
    Bang,
    /// A name, with dots.
    Word,
    /// Digits, or `0x` and hexadecimal digits.
    Integer,
    /// A number with a point or an exponent.
    Float,
    /// A string with its quotes.
    Text,
    /// `->`.
    Arrow,
    /// `==`, `>=`, `<=`, or any other character.
    Mark,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// Where it begins.
    pub(crate) start: usize,
    /// Its line, from 1.
    pub(crate) line: u32,
}

impl Token<'_> {
    /// Where it ends.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The name that a symbol, a string or a word is.
    pub(crate) fn name(&self) -> String {
        let text = self.text.strip_prefix('@').unwrap_or(self.text);
        match text.strip_prefix('"') {
            Some(quoted) => unescaped(quoted.strip_suffix('"').unwrap_or(quoted)),
            None => text.to_string(),
        }
    }
}

/// The symbols in the text of an attribute: `f` and `g` of `@f::@"g"`.
pub(crate) fn symbols(text: &str) -> Vec<String> {
    tokens(text).iter().filter(|token| token.kind == Kind::Symbol).map(Token::name).collect()
}

/// What a string stands for: `\67` is `g`.
fn unescaped(quoted: &str) -> String {
    let (mut bytes, mut rest) = (vec![], quoted.as_bytes());
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let (byte, length) = match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => (byte, 2),
            None => match behind.first() {
                Some(b'n') => (b'\n', 1),
                Some(b't') => (b'\t', 1),
                Some(other) => (*other, 1),
                None => (b'\\', 0),
            },
        };
        bytes.push(byte);
        rest = &behind[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// All tokens, and the end.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let (mut result, mut at, mut line) = (vec![], 0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        if first == '\n' {
            line += 1;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (kind, length) = token(rest, first);
        let text = &rest[..length];
        result.push(Token { kind, text, start: at, line });
        line += text.matches('\n').count() as u32;
        at += length;
    }
    result.push(Token { kind: Kind::End, text: "", start: source.len(), line });
    result
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let name = |from: usize, extra: &str| {
        let inside = |c: char| c.is_ascii_alphanumeric() || extra.contains(c);
        rest[from..].find(|c| !inside(c)).map_or(rest.len(), |n| n + from)
    };
    match first {
        '%' => (Kind::Value, name(1, "_.$-#")),
        '@' if rest[1..].starts_with('"') => (Kind::Symbol, 1 + quoted(&rest[1..])),
        '@' => (Kind::Symbol, name(1, "_.$-")),
        '#' => (Kind::Hash, name(1, "_.$-")),
        '^' => (Kind::Label, name(1, "_.$-")),
        '!' => (Kind::Bang, name(1, "_.$-")),
        '"' => (Kind::Text, quoted(rest)),
        '-' if rest.starts_with("->") => (Kind::Arrow, 2),
        '<' | '>' | '=' if rest[1..].starts_with('=') => (Kind::Mark, 2),
        c if c.is_ascii_alphabetic() || c == '_' => (Kind::Word, name(0, "_.$")),
        c if c.is_ascii_digit() => number(rest),
        c => (Kind::Mark, c.len_utf8()),
    }
}

fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

fn number(rest: &str) -> (Kind, usize) {
    let digits = |from: usize| rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| n + from);
    if let Some(hex) = rest.strip_prefix("0x") {
        let length = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        // `0xf32` in a shape is no number, but nothing has an extent of 0.
        return if length > 0 { (Kind::Integer, length + 2) } else { (Kind::Integer, 1) };
    }
    let mut end = digits(0);
    if !rest[end..].starts_with('.') {
        return (Kind::Integer, end);
    }
    end = digits(end + 1);
    let exponent = rest[end..].strip_prefix(['e', 'E']).map(|e| e.strip_prefix(['+', '-']).map_or((e, 1), |e| (e, 2)));
    if let Some((e, skipped)) = exponent
        && e.starts_with(|c: char| c.is_ascii_digit())
    {
        end = digits(end + skipped);
    }
    (Kind::Float, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_comments() {
        let kinds: Vec<(Kind, &str)> =
            tokens("%a#1 = f.g 1.5e-3 -> @\"x\\\"y\" // no\n0x1F ?").iter().map(|t| (t.kind, t.text)).collect();
        let expected = [
            (Kind::Value, "%a#1"),
            (Kind::Mark, "="),
            (Kind::Word, "f.g"),
            (Kind::Float, "1.5e-3"),
            (Kind::Arrow, "->"),
            (Kind::Symbol, "@\"x\\\"y\""),
            (Kind::Integer, "0x1F"),
            (Kind::Mark, "?"),
            (Kind::End, ""),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn names_are_what_their_escapes_stand_for() {
        for (text, name) in [("@f", "f"), ("@\"\\67\\68 i\"", "gh i"), ("\"a\\\"\\n\"", "a\"\n"), ("@\"", "")] {
            assert_eq!(tokens(text)[0].name(), name, "{text}");
        }
        assert_eq!(symbols("[@f::@\"\\67\", 2]"), ["f", "g"]);
    }

    #[test]
    fn any_text_has_tokens() {
        for text in ["\"", "%", "0x", "é\n\"a", "1.e", "\\\"", "-", "@\"", "#é"] {
            assert_eq!(tokens(text).last().map(|t| t.kind), Some(Kind::End), "{text}");
        }
    }
}
