//! `arith` and `math`.

use super::{Lowered, Lowering, Meaning, scalar};
use crate::import::arithmetic::{FLOAT, INTEGER, bits_of, predicate};
use crate::syntax::{Op, Unsupported};
use rewright_cfg_skeleton::nest::value::may_trap;

impl Lowering<'_> {
    pub(super) fn arithmetic(&mut self, op: &Op) -> Lowered<()> {
        if op.name == "arith.constant" {
            return self.constant_op(op);
        }
        if !op.regions.is_empty() || op.results.len() != 1 {
            return Err(op.unsupported("one result and no region are expected"));
        }
        let mut operands = vec![];
        for name in &op.operands {
            operands.push(self.value(op, name)?);
        }
        let from = operands.last().map(|(_, ty)| ty.clone()).unwrap_or_default();
        let ty = match op.name.as_str() {
            "arith.cmpi" | "arith.cmpf" => "i1".to_string(),
            "arith.select" => from.clone(),
            _ => op.result_types.first().cloned().unwrap_or_default(),
        };
        let unknown = |ty: &str| op.unsupported(format!("type `{ty}`"));
        let (own_from, own) = (scalar(&from).ok_or_else(|| unknown(&from))?, scalar(&ty).ok_or_else(|| unknown(&ty))?);
        let operands: Vec<String> = operands.into_iter().map(|(value, _)| value).collect();
        self.note_division(op, &operands);
        let promises = op.attributes.iter().any(|(name, text)| name != "predicate" && !text.contains("none"));
        if promises {
            self.doubt(op, "a promise that may be broken");
        }
        let value = self.operation(op, (&from, &own_from), (&ty, &own), &operands)?;
        self.define_result(op, value, &ty)
    }

    fn operation(
        &mut self,
        op: &Op,
        (from, own_from): (&str, &str),
        (ty, own): (&str, &str),
        operands: &[String],
    ) -> Lowered<String> {
        let name = op.name.split_once('.').map_or("", |(_, name)| name);
        let joined = operands.join(", ");
        let is_bit = from == "i1";
        let plain = |own_name: &str| Ok(format!("{own_name}{{{own}}} {joined}"));
        let text = match (name, operands) {
            ("addi" | "subi", [_, _]) if is_bit => plain("bxor"),
            ("muli", [_, _]) if is_bit => plain("band"),
            ("addi", [_, _]) => plain("iadd"),
            ("subi", [_, _]) => plain("isub"),
            ("muli", [_, _]) => plain("imul"),
            ("andi", [_, _]) => plain("band"),
            ("ori", [_, _]) => plain("bor"),
            ("xori", [_, _]) => plain("bxor"),
            ("minsi", [_, _]) if !is_bit => plain("smin"),
            ("maxsi", [_, _]) if !is_bit => plain("smax"),
            ("minui", [_, _]) => plain("umin"),
            ("maxui", [_, _]) => plain("umax"),
            ("divui" | "remui" | "divsi" | "remsi", [_, _]) if !is_bit => {
                let own_name = [("divui", "udiv"), ("remui", "urem"), ("divsi", "sdiv"), ("remsi", "srem")];
                plain(own_name.iter().find(|(n, _)| *n == name).map_or("", |(_, own)| own))
            }
            ("floordivsi", [a, b]) if !is_bit => return Ok(self.rounded_quotient(own, (a, b), false)),
            ("ceildivsi", [a, b]) if !is_bit => return Ok(self.rounded_quotient(own, (a, b), true)),
            ("shli" | "shrsi" | "shrui", [_, amount]) if !is_bit => {
                let width = own.trim_start_matches('i').parse().unwrap_or(0);
                if !self.numbers.get(amount).is_some_and(|amount| (0..width).contains(amount)) {
                    self.doubt(op, "a shift that may be by too much");
                }
                let own_name = [("shli", "ishl"), ("shrsi", "sshr"), ("shrui", "ushr")];
                let own_name = own_name.iter().find(|(n, _)| *n == name).map_or("", |(_, own)| own);
                Ok(format!("{own_name}{{{own}, {own}}} {joined}"))
            }
            ("addf", [_, _]) => plain("fadd"),
            ("subf", [_, _]) => plain("fsub"),
            ("mulf", [_, _]) => plain("fmul"),
            ("divf", [_, _]) => plain("fdiv"),
            ("maximumf", [_, _]) => plain("fmax"),
            ("minimumf", [_, _]) => plain("fmin"),
            ("negf", [_]) => plain("fneg"),
            ("absf", [_]) => plain("fabs"),
            ("sqrt", [_]) => plain("sqrt"),
            ("fma", [_, _, _]) => plain("fma"),
            ("floor", [_]) => plain("floor"),
            ("ceil", [_]) => plain("ceil"),
            ("select", [_, _, _]) => Ok(format!("select{{i8, {own}}} {joined}")),
            ("cmpi", [_, _]) => {
                let predicate = predicate(op, &INTEGER)?;
                let is_signed = predicate.starts_with('s');
                if is_bit && is_signed {
                    return Err(op.unsupported("a signed comparison of `i1`"));
                }
                Ok(format!("icmp_{predicate}{{{own_from}}} {joined}"))
            }
            ("cmpf", [_, _]) => {
                let predicate = predicate(op, &FLOAT)?;
                return self.compared(op, predicate, own_from, &joined);
            }
            ("extsi" | "extui" | "trunci" | "index_cast" | "index_castui", [value]) => {
                return Ok(self.resized(name, (from, own_from), (ty, own), value));
            }
            ("sitofp", [_]) if !is_bit => Ok(format!("fcvt_from_sint{{{own_from}, {own}}} {joined}")),
            ("uitofp", [_]) => Ok(format!("fcvt_from_uint{{{own_from}, {own}}} {joined}")),
            ("extf", [_]) => Ok(format!("fpromote{{{own_from}, {own}}} {joined}")),
            ("truncf", [_]) => Ok(format!("fdemote{{{own_from}, {own}}} {joined}")),
            ("bitcast", [_]) if !is_bit && ty != "i1" => Ok(format!("bitcast{{{own_from}, {own}}} {joined}")),
            _ => Err(op.unsupported("our own text has no such operation")),
        }?;
        Ok(self.compute(own, &text))
    }

    /// Divisions trap where they are undefined in MLIR; a remainder by -1 is 0 where LLVM leaves it undefined.
    fn note_division(&mut self, op: &Op, operands: &[String]) {
        let divisor = operands.get(1).and_then(|divisor| self.numbers.get(divisor)).copied();
        let is_signed = op.name.ends_with("si");
        if !may_trap(&op.name) || divisor.is_some_and(|divisor| divisor != 0 && (divisor != -1 || !is_signed)) {
            return;
        }
        let what = "a division that may be undefined";
        self.undefined.get_or_insert(Unsupported { line: op.line, what: format!("`{}`: {what}", op.name) });
        if op.name == "arith.remsi" && divisor != Some(0) {
            self.doubt(op, what);
        }
    }

    fn compared(&mut self, op: &Op, predicate: &str, ty: &str, operands: &str) -> Lowered<String> {
        let own = match predicate {
            "oeq" => "eq",
            "olt" => "lt",
            "ole" => "le",
            "ogt" => "gt",
            "oge" => "ge",
            "une" => "ne",
            "one" | "ord" | "uno" | "ueq" | "ult" | "ule" | "ugt" | "uge" => predicate,
            "true" => return Ok(self.constant("i8", 1)),
            "false" => return Ok(self.constant("i8", 0)),
            _ => return Err(op.unsupported(format!("predicate `{predicate}`"))),
        };
        Ok(self.compute("i8", &format!("fcmp_{own}{{{ty}}} {operands}")))
    }

    /// An integer in another width.
    fn resized(&mut self, name: &str, (from, own_from): (&str, &str), (ty, own): (&str, &str), value: &str) -> String {
        let bits = |ty: &str| match ty {
            "index" => 64,
            _ => ty.trim_start_matches('i').parse::<u32>().unwrap_or(64),
        };
        let signed = matches!(name, "extsi" | "index_cast");
        let mut value = value.to_string();
        if bits(own_from) < bits(own) {
            let operation = if signed && from != "i1" { "sextend" } else { "uextend" };
            value = self.compute(own, &format!("{operation}{{{own_from}, {own}}} {value}"));
        } else if bits(own_from) > bits(own) {
            value = self.compute(own, &format!("ireduce{{{own_from}, {own}}} {value}"));
        }
        if signed && from == "i1" {
            return self.compute(own, &format!("ineg{{{own}}} {value}"));
        }
        if ty == "i1" && from != "i1" {
            let one = self.constant("i8", 1);
            return self.compute("i8", &format!("band{{i8}} {value}, {one}"));
        }
        value
    }

    /// The quotient of signed numbers, rounded down or up.
    pub(super) fn rounded_quotient(&mut self, ty: &str, (a, b): (&str, &str), up: bool) -> String {
        let quotient = self.compute(ty, &format!("sdiv{{{ty}}} {a}, {b}"));
        let product = self.compute(ty, &format!("imul{{{ty}}} {quotient}, {b}"));
        let rest = self.compute(ty, &format!("isub{{{ty}}} {a}, {product}"));
        let zero = self.constant(ty, 0);
        let inexact = self.compute("i8", &format!("icmp_ne{{{ty}}} {rest}, {zero}"));
        // The rest has the sign of the dividend: the quotient was rounded up where it is not the divisor's.
        let signs = self.compute(ty, &format!("bxor{{{ty}}} {rest}, {b}"));
        let compare = if up { "icmp_sge" } else { "icmp_slt" };
        let wrong = self.compute("i8", &format!("{compare}{{{ty}}} {signs}, {zero}"));
        let both = self.compute("i8", &format!("band{{i8}} {inexact}, {wrong}"));
        let one = self.constant(ty, if up { 1 } else { -1 });
        let other = self.compute(ty, &format!("iadd{{{ty}}} {quotient}, {one}"));
        self.compute(ty, &format!("select{{i8, {ty}}} {both}, {other}, {quotient}"))
    }

    fn constant_op(&mut self, op: &Op) -> Lowered<()> {
        let (text, ty) = crate::import::arithmetic::constant_text(op)?;
        let own = scalar(&ty).ok_or_else(|| op.unsupported(format!("a constant of type `{ty}`")))?;
        if ty == "index" {
            let number = text.replace(' ', "").parse::<i128>().ok().filter(|n| n.abs() < crate::map::LARGEST);
            let number = number.ok_or_else(|| op.unsupported(format!("`{text}` is no index, or too large")))?;
            let value = self.constant("i64", number);
            self.numbers.insert(value.clone(), number);
            return self.define_result(op, value, &ty);
        }
        let bits = bits_of(&text.replace(' ', ""), &ty).ok_or_else(|| op.unsupported(format!("constant `{text}`")))?;
        let number = match ty.as_str() {
            "i1" => bits.to_string(),
            "f32" => format!("0x{:08x}", bits as u32),
            "f64" => format!("0x{:016x}", bits as u64),
            _ => {
                let width: u32 = ty.trim_start_matches('i').parse().unwrap_or(64);
                (((bits << (128 - width)) as i128) >> (128 - width)).to_string()
            }
        };
        let value = self.compute(&own, &format!("const {number}"));
        if let Ok(number) = number.parse() {
            self.numbers.insert(value.clone(), number);
        }
        let [name] = op.results.as_slice() else { return Err(op.unsupported("one result is expected")) };
        self.define(&name.clone(), Meaning::Value(value, ty));
        Ok(())
    }
}
