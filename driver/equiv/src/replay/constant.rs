//! Constants: numbers, aggregates, texts, and expressions of them.

use super::choice::{Stop, unsupported};
use super::float::Format;
use super::machine::{Frame, Machine};
use super::value::{Lane, Pointer, Value, ones};
use rewright_llvm::constants;
use rewright_llvm::cursor::Cursor;
use rewright_llvm::grammar::{self, Form};
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::parse;
use rewright_llvm::types::{self, Type};

/// Constants nest at most this deep.
const MAX_NESTED: u32 = 64;

impl<'a> Machine<'a> {
    /// The value of a constant.
    pub(super) fn constant(&mut self, ty: &Type, text: &str) -> Result<Value, Stop> {
        self.constant_at(ty, text, 0)
    }

    fn constant_at(&mut self, ty: &Type, text: &str, depth: u32) -> Result<Value, Stop> {
        if depth > MAX_NESTED {
            return unsupported("a constant that is nested too deeply");
        }
        // Most constants are numbers.
        if let (Type::Int(_) | Type::Ptr, Some(lane)) = (ty, self.number(ty, text)) {
            return Ok(Value::Scalar(lane));
        }
        self.chooser.step()?;
        let first = text.split(['(', ' ', '<', '{', '[']).next().unwrap_or("");
        match first {
            "poison" | "undef" | "zeroinitializer" => return self.everywhere(ty, first),
            "splat" => {
                let parts = self.parts(ty)?;
                let inner = text.trim_start_matches("splat").trim().trim_start_matches('(').trim_end_matches(')');
                let value = self.typed(inner, depth)?;
                return Ok(Value::Parts(vec![value; parts.len()]));
            }
            _ if grammar::is_expression(first) => return self.expression(text, depth),
            _ => {}
        }
        if let Some(types) = self.program.layout.parts(ty)? {
            return self.aggregate(&types, text, depth);
        }
        if let Some(object) = text.starts_with('@').then(|| self.world.object(text)) {
            return match object {
                Some(object) if *ty == Type::Ptr => Ok(Value::Scalar(Lane::pointer(Pointer { object, offset: 0 }))),
                _ => unsupported(format!("the constant {text}")),
            };
        }
        match self.number(ty, text) {
            Some(lane) => Ok(Value::Scalar(lane)),
            None => unsupported(format!("the constant {ty} {text}")),
        }
    }

    fn number(&self, ty: &Type, text: &str) -> Option<Lane> {
        match ty {
            Type::Ptr => (text == "null").then(|| Lane::pointer(Pointer::NULL)),
            Type::Int(width) => {
                let bits = match text {
                    "true" => 1,
                    "false" => 0,
                    _ => match text.strip_prefix("u0x").or_else(|| text.strip_prefix("s0x")) {
                        Some(digits) if text.starts_with('u') => u128::from_str_radix(digits, 16).ok()?,
                        Some(_) => return None,
                        None => text.parse::<u128>().or_else(|_| text.parse::<i128>().map(|n| n as u128)).ok()?,
                    },
                };
                Some(Lane::int(bits & ones(*width)))
            }
            Type::Word(word) if matches!(word.as_str(), "half" | "bfloat") => {
                let digits = text.strip_prefix("0xH").or_else(|| text.strip_prefix("0xR"))?;
                u128::from_str_radix(digits, 16).ok().map(Lane::int)
            }
            _ => {
                let format = Format::of(ty)?;
                // Constants that have no point are read as well: `1e9`.
                let text = if text.contains(['.', 'x']) { text.to_string() } else { text.replacen('e', ".0e", 1) };
                let bits = u128::from(constants::read(ty, &text)?);
                Some(Lane::int(bits & ones(format.width())))
            }
        }
    }

    /// The same scalar in all parts: `zeroinitializer`.
    pub(super) fn everywhere(&mut self, ty: &Type, what: &str) -> Result<Value, Stop> {
        if let Some(types) = self.program.layout.parts(ty)? {
            let parts = types.iter().map(|ty| self.everywhere(ty, what));
            return Ok(Value::Parts(parts.collect::<Result<_, _>>()?));
        }
        Ok(Value::Scalar(match what {
            "poison" => Lane::POISON,
            "undef" => Lane::undef(self.width(ty)?),
            _ if *ty == Type::Ptr => Lane::pointer(Pointer::NULL),
            _ => Lane::int(0),
        }))
    }

    fn parts(&self, ty: &Type) -> Result<Vec<Type>, Stop> {
        match self.program.layout.parts(ty)? {
            Some(parts) => Ok(parts),
            None => unsupported(format!("parts of {ty}")),
        }
    }

    /// `i32 7`
    fn typed(&mut self, text: &str, depth: u32) -> Result<Value, Stop> {
        let line = tokens(text);
        let mut cursor = Cursor::new(text, &line);
        let ty = types::parse(&mut cursor).map_err(|e| Stop::Unsupported(e.to_string()))?;
        let start = line.get(cursor.at()).map_or(text.len(), |token| token.start);
        self.constant_at(&ty, text[start..].trim(), depth + 1)
    }

    /// `{ i32 1, ptr null }`, `<2 x i8>`'s `<i8 1, i8 2>`, `c"text"`.
    fn aggregate(&mut self, types: &[Type], text: &str, depth: u32) -> Result<Value, Stop> {
        if let Some(quoted) = text.strip_prefix("c\"").and_then(|rest| rest.strip_suffix('"')) {
            let bytes = characters(quoted);
            if bytes.len() != types.len() {
                return unsupported(format!("the constant {text}"));
            }
            return Ok(Value::Parts(bytes.into_iter().map(|b| Value::Scalar(Lane::int(b.into()))).collect()));
        }
        let inner = text.trim();
        let inner = inner.strip_prefix("<{").and_then(|t| t.strip_suffix("}>")).unwrap_or_else(|| {
            let cut = inner.get(1..inner.len().saturating_sub(1));
            cut.unwrap_or("")
        });
        let elements = separated(inner);
        if elements.len() != types.len() {
            return unsupported(format!("the constant {text}"));
        }
        let parts = elements.into_iter().map(|element| self.typed(element, depth));
        Ok(Value::Parts(parts.collect::<Result<_, _>>()?))
    }

    /// `getelementptr inbounds (i8, ptr @g, i64 4)` is the instruction without its brackets.
    fn expression(&mut self, text: &str, depth: u32) -> Result<Value, Stop> {
        let not_read = || Stop::Unsupported(format!("the constant {text}"));
        if depth > 8 {
            return Err(not_read());
        }
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
        let (open, last) = (open.ok_or_else(not_read)?, line.len() - 1);
        if at(open) != "(" || at(last) != ")" || line[0].kind != Kind::Word {
            return Err(not_read());
        }
        let mut inner = text[line[open].end..line[last].start].to_string();
        if let Some(Form::Binary(_)) = grammar::form(at(0)) {
            // The second operand of an instruction has no type of its own.
            let [first, second] = separated(&inner)[..] else { return Err(not_read()) };
            let tokens = tokens(second);
            let mut cursor = Cursor::new(second, &tokens);
            types::parse(&mut cursor).map_err(|e| Stop::Unsupported(e.to_string()))?;
            let start = tokens.get(cursor.at()).ok_or_else(not_read)?.start;
            inner = format!("{first}, {}", &second[start..]);
        }
        let written = format!("%constant = {} {inner}", &text[..line[open].start]);
        let line = tokens(&written);
        let instruction = parse::instruction(&written, &line, &self.program.file.named)
            .map_err(|e| Stop::Unsupported(e.to_string()))?;
        let frame = Frame::default();
        match self.instruction(&frame, &instruction)? {
            Some(value) => Ok(value),
            None => Err(not_read()),
        }
    }
}

/// Cuts a list at the commas that stand in no bracket.
fn separated(text: &str) -> Vec<&str> {
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
