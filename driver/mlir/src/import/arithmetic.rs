//! `arith` and `math`.

use super::cases::Choice;
use super::{Imported, Importer, Meaning};
use crate::map::LARGEST;
use crate::syntax::Op;
use rewright_cfg_skeleton::nest::value::{Constant, Number, Operation, Value, may_trap_on};
use rewright_cfg_skeleton::nest::{Affine, Item, Origin};
use rustc_apfloat::ieee::{BFloat, Double, Half};
use rustc_apfloat::{Float, FloatConvert, StatusAnd};

/// Predicates of `cmpi` by number.
pub(crate) const INTEGER: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// Predicates of `cmpf` by number.
pub(crate) const FLOAT: [&str; 16] =
    ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"];

impl Importer<'_> {
    pub(super) fn arithmetic(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        if op.name == "arith.constant" {
            return self.constant(op);
        }
        if !op.regions.is_empty() || op.results.len() != 1 {
            return Err(op.unsupported("one result and no region are expected"));
        }
        if let Some(meaning) = self.index_arithmetic(op, items)? {
            return self.define_result(op, meaning);
        }
        if let Some(branch) = self.branching(op)? {
            return self.scf_if(&branch, items);
        }
        let choice = self.choice(op).filter(|choice| !self.hides_poison(op, choice));
        if let Some(Choice::One(value)) = choice {
            return self.define_index(op, Some(value));
        }
        let operands = op.operands.iter().map(|name| self.value(op, name)).collect::<Imported<Vec<_>>>()?;
        let ty = op.result_types.first().cloned().unwrap_or_default();
        let from = match op.name.as_str() {
            "arith.select" => ty.clone(),
            _ => op.operand_types.first().cloned().unwrap_or_default(),
        };
        // The pretty form of `select` may name the type of the condition first.
        let (from, ty) = match (op.name.as_str(), op.operand_types.as_slice()) {
            ("arith.select", [_, value, ..]) => (value.clone(), value.clone()),
            _ => (from, ty),
        };
        let name = Self::full_name(op)?;
        let traps = may_trap_on(self.pool, &op.name, &operands);
        let value = Value::Op(Operation { name, flags: flags(op)?, from, ty: ty.clone(), operands });
        let value = self.pool.add(value);
        if traps {
            items.push(Item::Trap(value, op.line));
        }
        let meaning = self.computed(value, ty, op.line, items);
        if let (Some(Choice::Several(cases)), Meaning::Index(index)) = (choice, &meaning) {
            self.choices.extend(index.vars().into_iter().map(|var| (var, cases.clone())));
        }
        self.define_result(op, meaning)
    }

    /// The name with its predicate.
    fn full_name(op: &Op) -> Imported<String> {
        let names: &[&'static str] = match op.name.as_str() {
            "arith.cmpi" => &INTEGER,
            "arith.cmpf" => &FLOAT,
            _ => return Ok(op.name.clone()),
        };
        Ok(format!("{}.{}", op.name, predicate(op, names)?))
    }

    /// Arithmetic on indices that stays affine.
    fn index_arithmetic(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<Option<Meaning>> {
        if op.name == "arith.index_cast" && op.result_types.first().is_some_and(|t| t == "index") {
            return self.cast_to_index(op, items).map(Some);
        }
        if op.operand_types.first().is_none_or(|t| t != "index") {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (op.operands.first(), op.operands.get(1)) else { return Ok(None) };
        let (Meaning::Index(a), Meaning::Index(b)) = (self.meaning(op, a)?, self.meaning(op, b)?) else {
            return Ok(None);
        };
        let flags = flags(op)?;
        if !is_exact_where_flags_hold(&flags) {
            return Ok(None);
        }
        // Sums and products are exact, whatever is on the way to them.
        if !["arith.addi", "arith.subi", "arith.muli"].contains(&op.name.as_str()) {
            self.check(&[a.clone(), b.clone()], op.line, items);
        }
        let positive = b.as_constant().filter(|d| *d > 0);
        let result = match (op.name.as_str(), positive) {
            ("arith.addi", _) => a.plus(1, &b),
            ("arith.subi", _) => a.plus(-1, &b),
            ("arith.muli", _) => a.product(&b),
            ("arith.floordivsi", Some(d)) => a.floor_div(d),
            ("arith.ceildivsi", Some(d)) => a.ceil_div(d),
            ("arith.minsi", _) => return Ok(Some(Meaning::Least(vec![a, b]))),
            ("arith.maxsi", _) => return Ok(Some(Meaning::Greatest(vec![a, b]))),
            _ => return Ok(None),
        };
        if result.is_broken() || result.terms().any(|(_, c)| c.abs() >= LARGEST) {
            return Err(op.unsupported("numbers are too large, or the expression is"));
        }
        if self.loses_poison([&a, &b], [&result]) {
            return Ok(None);
        }
        if !flags.is_empty() {
            self.check(std::slice::from_ref(&result), op.line, items);
        }
        Ok(Some(Meaning::Index(result)))
    }

    /// An integer argument as an index is a size; other data is no size.
    fn cast_to_index(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<Meaning> {
        let Meaning::Scalar(value, ty) = self.operand(op, 0)? else {
            return Err(op.unsupported("the operand is no integer"));
        };
        let width = ty.strip_prefix('i').and_then(|w| w.parse::<u32>().ok());
        match (self.pool.get(value).clone(), width) {
            (Value::Argument(position), Some(width @ 2..=64)) => {
                let name = op.operands[0].clone();
                let var = self.size(&name, position, Origin::Argument(position, Some(width)));
                Ok(Meaning::Index(Affine::var(var)))
            }
            (Value::Constant(Constant { number: Number::Bits(bits), .. }), Some(width @ 1..=64)) => {
                let number = ((bits << (128 - width)) as i128) >> (128 - width);
                Some(number)
                    .filter(|n| n.abs() < LARGEST)
                    .map(|n| Meaning::Index(Affine::constant(n)))
                    .ok_or_else(|| op.unsupported("the number is too large"))
            }
            // No index is wider than 64 bits.
            (Value::Op(cast), Some(64)) if cast.name == "arith.index_cast" && cast.from == "index" => {
                match self.pool.get(cast.operands[0]) {
                    Value::Index(affine) => Ok(Meaning::Index(affine.clone())),
                    _ => Ok(Meaning::Scalar(cast.operands[0], cast.from)),
                }
            }
            (_, Some(1..=64)) => {
                let (name, to) = (op.name.clone(), "index".to_string());
                let cast = Operation { name, flags: vec![], from: ty, ty: to.clone(), operands: vec![value] };
                let value = self.pool.add(Value::Op(cast));
                Ok(self.computed(value, to, op.line, items))
            }
            _ => Err(op.unsupported(format!("an index of `{ty}`"))),
        }
    }

    fn constant(&mut self, op: &Op) -> Imported<()> {
        let (text, ty) = constant_text(op)?;
        if ty == "index" {
            let number = text.replace(' ', "").parse::<i128>().ok().filter(|n| n.abs() < LARGEST);
            let number = number.ok_or_else(|| op.unsupported(format!("`{text}` is no index, or too large")))?;
            return self.define_result(op, Meaning::Index(Affine::constant(number)));
        }
        let text = text.replace(' ', "");
        let number =
            bits_of(&text, &ty).map_or_else(|| Number::Text(narrow_float(&text, &ty).unwrap_or(text)), Number::Bits);
        let value = self.pool.add(Value::Constant(Constant { ty: ty.clone(), number }));
        self.define_result(op, Meaning::Scalar(value, ty))
    }
}

/// The predicate of a comparison, which may be a number.
pub(crate) fn predicate(op: &Op, names: &[&'static str]) -> Imported<&'static str> {
    let text = op.attribute("predicate").unwrap_or_default();
    if let Some(name) = names.iter().find(|name| **name == text) {
        return Ok(name);
    }
    let number = op.integers("predicate")?.first().and_then(|n| names.get(usize::try_from(*n).ok()?));
    number.copied().ok_or_else(|| op.unsupported(format!("predicate `{text}`")))
}

/// The text of a constant and its type.
pub(crate) fn constant_text(op: &Op) -> Imported<(&str, String)> {
    let text = op.attribute("value").ok_or_else(|| op.unsupported("the value is missing"))?;
    match (op.result_types.first(), text.rsplit_once(" : ")) {
        (Some(ty), Some((start, end))) if end.trim() == ty => Ok((start.trim(), ty.clone())),
        (Some(ty), _) => Ok((text.trim(), ty.clone())),
        (None, _) => Err(op.unsupported("the type is missing")),
    }
}

/// The bits of a constant, where its type is known. Decimal numbers of narrow floats are rounded to `f64` first, as MLIR does.
pub(crate) fn bits_of(text: &str, ty: &str) -> Option<u128> {
    let hexadecimal = |digits: &str| digits.strip_prefix("0x").and_then(|hex| u128::from_str_radix(hex, 16).ok());
    if let Some(width) = ty.strip_prefix('i').and_then(|w| w.parse::<u32>().ok()).filter(|w| (1..=64).contains(w)) {
        let value = match text {
            "true" => 1,
            "false" => 0,
            _ => hexadecimal(text).map(|bits| bits as i128).or_else(|| text.parse().ok())?,
        };
        return Some((value as u128) & (u128::MAX >> (128 - width)));
    }
    match ty {
        "f64" => hexadecimal(text).or_else(|| text.parse::<f64>().ok().map(|v| u128::from(v.to_bits()))),
        "f32" => hexadecimal(text).or_else(|| text.parse::<f64>().ok().map(|v| u128::from((v as f32).to_bits()))),
        _ => None,
    }
}

/// A float of 16 bits, whatever its text is, as these bits.
fn narrow_float(text: &str, ty: &str) -> Option<String> {
    let bits = match (text.strip_prefix("0x"), ty) {
        (Some(digits), "f16" | "bf16") => u128::from_str_radix(digits, 16).ok()?,
        (None, "f16") => rounded::<Half>(text.parse().ok()?),
        (None, "bf16") => rounded::<BFloat>(text.parse().ok()?),
        _ => return None,
    };
    Some(format!("0x{bits:04X}"))
}

fn rounded<F>(value: f64) -> u128
where
    F: Float,
    Double: FloatConvert<F>,
{
    let rounded: StatusAnd<F> = Double::from_bits(value.to_bits().into()).convert(&mut false);
    rounded.value.to_bits()
}

/// Whether an operation on indices with these flags gives the exact result wherever that fits: no promise is about another range
/// than that of signed numbers, in which indices are assumed or shown to be.
pub(crate) fn is_exact_where_flags_hold(flags: &[String]) -> bool {
    flags.iter().all(|flag| flag == "nsw")
}

/// Promises of the operation; an attribute that is not known makes it unknown.
pub(crate) fn flags(op: &Op) -> Imported<Vec<String>> {
    let mut flags = vec![];
    for (name, text) in &op.attributes {
        let inner = text.split_once('<').and_then(|(_, t)| t.strip_suffix('>'));
        let names = inner.unwrap_or_default().split(',').map(str::trim).filter(|n| !n.is_empty() && *n != "none");
        match name.as_str() {
            "predicate" => {}
            _ if inner.is_none() => return Err(op.unsupported(format!("attribute `{name} = {text}`"))),
            "overflow" | "overflowFlags" => flags.extend(names.map(String::from)),
            "fastmath" => flags.extend(names.map(|n| format!("fastmath {n}"))),
            other => return Err(op.unsupported(format!("attribute `{other}`"))),
        }
    }
    flags.sort();
    flags.dedup();
    Ok(flags)
}
