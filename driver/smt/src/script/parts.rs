//! Parts of terms: their low bits, and those few bits of a variable by whose values a question may be divided.
//!
//! The low bits of a sum depend on those of its summands alone, and those of a choice on those of what there is to
//! choose from. So what matters of a shift's amount is a variable of a few bits, however wide the amount is, and a
//! question about shifts is the same for all types of amounts. Where an amount is chosen, the question is divided by
//! which one is.

use super::{Expr, Format, Script, Sort};

/// The low bits of a variable.
#[derive(Clone, Copy)]
pub(super) struct Low {
    pub(super) of: Expr,
    pub(super) bits: Expr,
    /// That the one is what the other says; idle as long as nothing else asks for the whole variable.
    pub(super) equation: u32,
}

/// Operations whose low bits depend on those of their operands alone.
const MODULAR: [&str; 8] = ["bvadd", "bvsub", "bvmul", "bvneg", "bvand", "bvor", "bvxor", "bvnot"];

/// A question is divided by a value of at most this many bits: an amount of up to 7 bits, or a float's exponent of 8.
const MOST_PARTS: u32 = 8;

impl Script {
    /// The low bits. Those of a variable are a variable, so that questions which need no other bits of it do not depend
    /// on its width.
    pub fn low(&mut self, x: Expr, width: u32) -> Expr {
        if width >= x.width() {
            return self.resize(x, width);
        }
        if let Some(value) = self.constant(x) {
            return self.bits(width, value);
        }
        if let Some(other) = self.same_low(x, width) {
            return self.low(other, width);
        }
        if let Some((symbol, operands)) = self.modular(x) {
            let operands: Vec<Expr> = operands.into_iter().map(|e| self.low(e, width)).collect();
            return self.apply(symbol, &operands, Sort::Bits(width));
        }
        if let Some([condition, one, other]) = self.choice(x) {
            let (one, other) = (self.low(one, width), self.low(other, width));
            let (yes, no) = (self.bits(1, 1), self.bits(1, 0));
            let chosen = self.choose(condition, yes, no);
            self.chosen.get_or_insert(chosen);
            return self.choose(condition, one, other);
        }
        if self.nodes[x.id as usize].declaration.is_none() {
            return self.resize(x, width);
        }
        if let Some(low) = self.lows.iter().find(|low| low.of == x && low.bits.width() == width) {
            return low.bits;
        }
        let name = format!("{} low {width}", self.name(x).trim_matches('|'));
        let bits = self.variable(&name, Sort::Bits(width));
        let cut = self.extract(x, width - 1, 0);
        let equation = self.apply("=", &[bits, cut], Sort::Bool).id;
        self.lows.push(Low { of: x, bits, equation });
        bits
    }

    /// What is extended or cut, if that has the same low bits.
    fn same_low(&self, x: Expr, width: u32) -> Option<Expr> {
        let node = &self.nodes[x.id as usize];
        let (symbol, arguments) = node.definition.as_ref()?.strip_prefix("((_ ")?.split(')').next()?.split_once(' ')?;
        let id = *node.children.first()?;
        let inner = Expr { id, sort: self.nodes[id as usize].sort };
        let same = match symbol {
            "zero_extend" => true,
            "sign_extend" => width <= inner.width(),
            "extract" => arguments.ends_with(" 0"),
            _ => false,
        };
        same.then_some(inner)
    }

    /// An operation that works modulo any smaller width, and its operands.
    fn modular(&self, x: Expr) -> Option<(&'static str, Vec<Expr>)> {
        let node = &self.nodes[x.id as usize];
        let symbol = node.definition.as_ref()?.strip_prefix('(')?.split(' ').next()?;
        let symbol = MODULAR.into_iter().find(|known| *known == symbol)?;
        Some((symbol, node.children.iter().map(|id| Expr { id: *id, sort: x.sort }).collect()))
    }

    /// The condition of a choice, and what it chooses from.
    fn choice(&self, x: Expr) -> Option<[Expr; 3]> {
        let node = &self.nodes[x.id as usize];
        let &[condition, one, other] = node.children.as_slice() else { return None };
        let term = |id| Expr { id, sort: self.nodes[id as usize].sort };
        node.definition.as_ref()?.starts_with("(ite ").then(|| [condition, one, other].map(term))
    }

    /// What `x & mask` is where the mask keeps low bits: those, with zeros in front.
    pub fn masked(&mut self, x: Expr, mask: Expr) -> Option<Expr> {
        let mask = self.constant(mask)?;
        let kept = (mask.wrapping_add(1).is_power_of_two() && mask > 0).then(|| mask.count_ones())?;
        let low = self.low(x, kept);
        (kept < x.width()).then(|| self.resize(low, x.width()))
    }

    /// The variables that stand for low bits of a variable.
    pub fn lows_of(&self, x: Expr) -> impl Iterator<Item = &str> {
        self.lows.iter().filter(move |low| low.of == x).map(|low| self.name(low.bits))
    }

    /// Remembers the exponent of a variable that is read as a float.
    pub(super) fn note_exponent(&mut self, bits: Expr, format: Format) {
        let variable = self.nodes[bits.id as usize].declaration.is_some();
        if variable && self.exponents.iter().all(|(of, _)| *of != bits) {
            let exponent = self.extract(bits, bits.width() - 2, format.significand - 1);
            self.exponents.push((bits, exponent));
        }
    }

    /// A few bits on which much depends: which amount is chosen, else, of the variables that a question declares, an
    /// amount, else an exponent.
    pub fn part(&self, declared: &[String]) -> Option<Expr> {
        let is_declared = |e: Expr| declared.iter().any(|name| name == self.name(e));
        let amounts = self.lows.iter().map(|low| low.bits).filter(|bits| is_declared(*bits));
        let exponents = self.exponents.iter().filter(|(of, _)| is_declared(*of)).map(|(_, exponent)| *exponent);
        self.chosen.into_iter().chain(amounts).chain(exponents).find(|part| part.width() <= MOST_PARTS)
    }
}
