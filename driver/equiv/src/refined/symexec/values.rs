//! Operands: values, constants, and which objects pointers belong to.

use super::super::meaning::width;
use super::loose::UndefBits;
use super::{Local, SymbolicExecutor, Terms, Value};
use crate::literals::{self, Literal};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::constants;
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Sort};

/// Constants nest at most this deep.
const MOST_NESTED: u32 = 16;

impl SymbolicExecutor<'_> {
    /// The object of a pointer that an instruction gives. Nothing leads from an address to an object.
    pub(super) fn origin(&mut self, i: &Instruction, args: &[Value]) -> Terms<Expr> {
        match (i.opcode.as_str(), args) {
            ("select", [c, Value { origin: Some(x), .. }, Value { origin: Some(y), .. }]) => {
                let one = self.s.bits(1, 1);
                let first = self.s.equal(c.bits, one);
                Ok(self.s.choose(first, *x, *y))
            }
            ("bitcast", [Value { origin: Some(origin), .. }]) => Ok(*origin),
            ("inttoptr", [x]) => {
                let version = if self.choosing.is_first() { "before" } else { "after" };
                self.assumed.insert("what an address belongs to");
                Ok(self.s.unknown(&format!("object of an address {version}"), &[x.bits], Sort::Bits(64)))
            }
            _ => Err(format!("a pointer from `{}`", i.opcode).into()),
        }
    }

    pub(super) fn choose(&mut self, condition: Expr, x: Value, y: Value) -> Value {
        let bits = self.s.choose(condition, x.bits, y.bits);
        let poison = self.s.choose(condition, x.poison, y.poison);
        let origin = x.origin.zip(y.origin).map(|(x, y)| self.s.choose(condition, x, y));
        for value in [x.bits, y.bits] {
            // A pointer that is chosen is no sum any more.
            self.sums.entry(value).or_insert_with(|| vec![value]);
        }
        Value { bits, poison, origin }
    }

    /// A scalar.
    pub(super) fn operand(&mut self, operand: &Operand) -> Terms<Value> {
        match self.lanes(operand)?[..] {
            [value] => Ok(value),
            _ => Err(format!("a value of type {}", operand.ty).into()),
        }
    }

    /// A value, lane by lane.
    pub(super) fn lanes(&mut self, operand: &Operand) -> Terms<Vec<Value>> {
        let name = operand.text.as_str();
        match self.locals.get(name) {
            Some(Local::Fixed(lanes)) => Ok(lanes.clone()),
            Some(Local::Leaf(lanes)) => {
                let lanes = lanes.clone();
                Ok(lanes.into_iter().map(|leaf| self.use_of(leaf)).collect())
            }
            Some(Local::PerUse) => {
                let (i, at) = *self.made.get(name).ok_or("a value without a definition")?;
                Ok(self.computed(i, at)?.lanes)
            }
            None if operand.is_local() => Err(format!("{name} is used before it is there").into()),
            None => self.constant_lanes(&operand.ty, name, 0),
        }
    }

    /// A constant, lane by lane.
    pub(super) fn constant_lanes(&mut self, ty: &Type, text: &str, depth: u32) -> Terms<Vec<Value>> {
        let unknown = || format!("the constant {text}");
        if depth > MOST_NESTED {
            return Err(unknown().into());
        }
        if let Some(i) = literals::expression(text, &self.file().named) {
            return self.expression(&i);
        }
        let Some(parts) = self.layout.parts(ty)? else {
            let constant = Operand { ty: ty.clone(), text: text.to_string() };
            return Ok(vec![self.constant(&constant)?]);
        };
        let constants: Vec<(Type, &str)> = match literals::aggregate(text) {
            Literal::Everywhere(text) => self.scalars(ty)?.into_iter().map(|ty| (ty, text)).collect(),
            Literal::Splat(inner) => vec![literals::typed(inner)?; parts.len()],
            Literal::Parts(all) if all.len() == parts.len() => {
                all.into_iter().map(literals::typed).collect::<Result<_, _>>()?
            }
            Literal::Text(bytes) if bytes.len() == parts.len() => {
                let lane = |byte: &u8| (self.s.bits(8, (*byte).into()), Expr::FALSE);
                let lanes = bytes.iter().map(lane);
                return Ok(lanes.map(|(bits, poison)| Value { bits, poison, origin: None }).collect());
            }
            _ => return Err(unknown().into()),
        };
        let mut lanes = vec![];
        for (ty, text) in constants {
            lanes.extend(self.constant_lanes(&ty, text, depth + 1)?);
        }
        Ok(lanes)
    }

    /// A constant that an expression is.
    fn expression(&mut self, i: &Instruction) -> Terms<Vec<Value>> {
        match &i.shape {
            Shape::Offset { base, source, indices } => Ok(vec![self.offset(i, base, source, indices)?]),
            Shape::Plain(operands) => {
                let args = self.values(&i.opcode, operands)?;
                let computed = self.of_parts(i, operands, args)?;
                match (computed.undefined, computed.open) {
                    (Expr::FALSE, false) => Ok(computed.lanes),
                    _ => Err(format!("the constant expression `{}`", i.opcode).into()),
                }
            }
            _ => Err(format!("the constant expression `{}`", i.opcode).into()),
        }
    }

    /// A scalar that a constant is.
    pub(super) fn constant(&mut self, operand: &Operand) -> Terms<Value> {
        let Operand { ty, text } = operand;
        let width = width(ty)?;
        let nowhere = (*ty == Type::Ptr).then(|| self.s.bits(64, 0));
        if text == "undef" {
            let bits = match self.undef_bits {
                UndefBits::Chosen => self.choice("undef", width),
                UndefBits::Plain => self.s.bits(width, 0),
                UndefBits::Other => self.s.bits(width, u128::MAX),
            };
            return Ok(Value { bits, poison: Expr::FALSE, origin: nowhere });
        }
        if let (true, Type::Ptr) = (text.starts_with('@'), ty) {
            self.assumed.insert("where globals lie");
            let align = self.alignment(text);
            let bits = self.place(text, align);
            let origin = self.s.unknown(&format!("object {text}"), &[], Sort::Bits(64));
            if !self.version.module.may_be_null(text) {
                self.is_somewhere(bits);
            }
            self.global(text, bits, origin)?;
            return Ok(Value { bits, poison: Expr::FALSE, origin: Some(origin) });
        }
        let number = number(ty, text).ok_or_else(|| format!("the constant {text}"))?;
        let poison = if text == "poison" { Expr::TRUE } else { Expr::FALSE };
        Ok(Value { bits: self.s.bits(width, number), poison, origin: nowhere })
    }

    /// What the address of a global, or of a function, is a multiple of: what it says, or what its type asks for.
    fn alignment(&self, name: &str) -> u64 {
        let module = self.version.module;
        let of_type = || module.variable(name).and_then(|(global, _)| self.layout.alignment(&global.ty).ok());
        module.alignment(name).or_else(of_type).unwrap_or(1)
    }

    /// An unknown address, except that it is aligned.
    pub(super) fn place(&mut self, name: &str, align: u64) -> Expr {
        if align <= 1 || !align.is_power_of_two() {
            return self.s.unknown(name, &[], Sort::Bits(64));
        }
        let low = align.ilog2();
        let high = self.s.unknown(&format!("{name} by {align}"), &[], Sort::Bits(64 - low));
        let zeros = self.s.bits(low, 0);
        self.s.concat(&[high, zeros])
    }
}

/// The bits of a constant that is a number; a poison value has bits, too.
fn number(ty: &Type, text: &str) -> Option<u128> {
    match (ty, text) {
        (_, "poison" | "zeroinitializer") => Some(0),
        (Type::Int(1), "true") => Some(1),
        (Type::Int(1), "false") => Some(0),
        (Type::Int(_), _) => match text.strip_prefix("u0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => text.parse::<i128>().map(|n| n as u128).ok().or_else(|| text.parse().ok()),
        },
        (Type::Word(word), _) if word == "half" => match text.strip_prefix("0xH") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => half(text.parse().ok()?),
        },
        _ => constants::read(ty, text).map(u128::from),
    }
}

/// The bits of a number as a half, if one is exactly that, and no smaller than all normal ones.
fn half(value: f64) -> Option<u128> {
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 15;
    if value == 0.0 {
        return Some(sign);
    }
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023 + 15;
    let fraction = bits & ((1 << 52) - 1);
    let is_exact = (1..31).contains(&exponent) && fraction.trailing_zeros() >= 42;
    is_exact.then(|| sign | (exponent as u128) << 10 | u128::from(fraction >> 42))
}
