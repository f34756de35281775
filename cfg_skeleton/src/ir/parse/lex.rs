//! Tokens of the IR's text.

use super::{ParseError, error_at};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// Letters, digits, `_`, `.`, with an optional leading `%`.
    Word(String),
    /// What stood between quotes.
    Quoted(String),
    /// A whole number, in canonical 64 bits.
    Number(i64),
    /// A number with a point or an exponent.
    Float(f64),
    Punct(char),
    Arrow,
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// All tokens with their offsets.
pub(super) fn lex(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        let mut take = |accept: fn(char) -> bool| {
            let mut end = start + c.len_utf8();
            while let Some((at, next)) = rest.next_if(|(_, n)| accept(*n)) {
                end = at + next.len_utf8();
            }
            &text[start..end]
        };
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let token = match c {
            _ if c.is_whitespace() => continue,
            ';' => {
                take(|c| c != '\n');
                continue;
            }
            '"' => Token::Quoted(quoted(text, start, &mut rest)?),
            '0'..='9' | '-' => {
                let digits = number_text(text, start, &mut rest);
                match (digits, number(digits)) {
                    ("->", _) => Token::Arrow,
                    (_, Some(token)) => token,
                    (_, None) => return Err(error_at(text, start, format!("`{digits}` is not a 64-bit number"))),
                }
            }
            _ if word(c) || c == '%' => Token::Word(take(word).to_string()),
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ':' | '=' | '@' | '!' | '#' => Token::Punct(c),
            _ => return Err(error_at(text, start, format!("unexpected character {c:?}"))),
        };
        tokens.push((start, token));
    }
    Ok(tokens)
}

fn quoted(text: &str, start: usize, rest: &mut Chars<'_>) -> Result<String, ParseError> {
    let mut out = String::new();
    while let Some((_, c)) = rest.next() {
        match c {
            '"' => return Ok(out),
            '\\' => match rest.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, c)) => out.push(c),
                None => break,
            },
            c => out.push(c),
        }
    }
    Err(error_at(text, start, "this string has no end".into()))
}

/// The characters of a number, or `->`.
fn number_text<'t>(text: &'t str, start: usize, rest: &mut Chars<'_>) -> &'t str {
    let mut end = start + 1;
    while let Some((at, _)) = rest.next_if(|(at, c)| {
        let so_far = &text[start..*at];
        let exponent = so_far.ends_with(['e', 'E']) && !so_far.contains('x');
        c.is_ascii_alphanumeric() || matches!(c, '>' | '.') || (exponent && matches!(c, '+' | '-'))
    }) {
        end = at + 1;
    }
    &text[start..end]
}

fn number(s: &str) -> Option<Token> {
    let (negative, digits) = s.strip_prefix('-').map_or((false, s), |d| (true, d));
    let hex = digits.strip_prefix("0x");
    if digits == "inf" {
        return Some(Token::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if hex.is_none() && digits.contains(['.', 'e', 'E']) {
        return s.parse().ok().map(Token::Float);
    }
    let magnitude = match hex {
        Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()? as i64),
        None => digits.parse::<i128>().ok()?,
    };
    i64::try_from(if negative { -magnitude } else { magnitude }).ok().map(Token::Number)
}
