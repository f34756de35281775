//! Constants: numbers, aggregates, texts, and expressions of them.

use super::choice::{Stop, unsupported};
use super::float::Format;
use super::machine::{Frame, Machine};
use super::value::{Lane, Pointer, Value, ones};
use crate::literals::{self, Literal};
use rewright_llvm::constants;
use rewright_llvm::grammar;
use rewright_llvm::types::Type;

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
            _ if grammar::is_expression(first) => return self.expression(text, depth),
            _ => {}
        }
        if let Some(types) = self.program.layout.parts(ty)? {
            if let Literal::Splat(inner) = literals::aggregate(text) {
                return Ok(Value::Parts(vec![self.typed(inner, depth)?; types.len()]));
            }
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

    /// `i32 7`
    fn typed(&mut self, text: &str, depth: u32) -> Result<Value, Stop> {
        let (ty, text) = literals::typed(text).map_err(|e| Stop::Unsupported(e.to_string()))?;
        self.constant_at(&ty, text, depth + 1)
    }

    /// `{ i32 1, ptr null }`, `<2 x i8>`'s `<i8 1, i8 2>`, `c"text"`.
    fn aggregate(&mut self, types: &[Type], text: &str, depth: u32) -> Result<Value, Stop> {
        let elements = match literals::aggregate(text) {
            Literal::Text(bytes) if bytes.len() == types.len() => {
                return Ok(Value::Parts(bytes.into_iter().map(|b| Value::Scalar(Lane::int(b.into()))).collect()));
            }
            Literal::Parts(elements) if elements.len() == types.len() => elements,
            _ => return unsupported(format!("the constant {text}")),
        };
        let parts = elements.into_iter().map(|element| self.typed(element, depth));
        Ok(Value::Parts(parts.collect::<Result<_, _>>()?))
    }

    /// `getelementptr inbounds (i8, ptr @g, i64 4)` is the instruction without its brackets.
    fn expression(&mut self, text: &str, depth: u32) -> Result<Value, Stop> {
        let not_read = || Stop::Unsupported(format!("the constant {text}"));
        if depth > 8 {
            return Err(not_read());
        }
        let instruction = literals::expression(text, &self.program.file.named).ok_or_else(not_read)?;
        let frame = Frame::default();
        match self.instruction(&frame, &instruction)? {
            Some(value) => Ok(value),
            None => Err(not_read()),
        }
    }
}
