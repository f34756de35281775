//! Intrinsics of x86 on vectors, as Intel's manual says them: shifts of all lanes by one amount, of each by its own, horizontal
//! sums, and what chooses bytes.
//!
//! A name is that of an instruction set, of an operation, and of the lanes: `avx2.psrl.d`.

use super::{SymbolicExecutor, Terms, Value};
use rewright_smt::{Expr, Sort};

impl SymbolicExecutor<'_> {
    /// What an intrinsic gives; `None` where it is none of these.
    pub(super) fn x86(&mut self, name: &str, args: &[Vec<Value>]) -> Terms<Option<Vec<Value>>> {
        let mut words = name.split('.');
        let (Some("sse2" | "ssse3" | "avx2" | "avx512"), Some(operation)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let lanes = words.next().unwrap_or_default();
        let (Some(xs), Some(ys)) = (args.first(), args.get(1)) else { return Ok(None) };
        if args.len() > 2 || xs.is_empty() || ys.is_empty() {
            return Ok(None);
        }
        let found = match (operation, lanes) {
            ("psll" | "psrl" | "psra", "w" | "d" | "q") => Some(self.shifted(&operation[1..], xs, ys)),
            ("pslli" | "psrli" | "psrai", "w" | "d" | "q") => match ys.as_slice() {
                [amount] => {
                    let all = xs.iter().map(|x| self.shift(&operation[1..4], *x, amount.bits, amount.poison));
                    Some(all.collect())
                }
                _ => None,
            },
            ("psllv" | "psrlv" | "psrav", _) if xs.len() == ys.len() => {
                let all = xs.iter().zip(ys).map(|(x, y)| self.shift(&operation[1..4], *x, y.bits, y.poison));
                Some(all.collect())
            }
            ("phadd" | "phsub", "w" | "d" | "sw") if xs.len() == ys.len() => {
                Some(self.horizontal(&operation[2..], lanes == "sw", xs, ys))
            }
            ("psign", "b" | "w" | "d") if xs.len() == ys.len() => {
                Some(xs.iter().zip(ys).map(|(x, y)| self.signed_as(*x, *y)).collect())
            }
            ("pavg", "b" | "w") if xs.len() == ys.len() => {
                Some(xs.iter().zip(ys).map(|(x, y)| self.average(*x, *y)).collect())
            }
            ("pmulh" | "pmulhu", "w") if xs.len() == ys.len() => {
                let signed = operation == "pmulh";
                Some(xs.iter().zip(ys).map(|(x, y)| self.upper_product(*x, *y, signed)).collect())
            }
            ("pmadd", "wd") if xs.len() == ys.len() => Some(self.sums_of_products(xs, ys)),
            ("pshuf", "b") if xs.len() == ys.len() => Some(self.bytes_chosen(xs, ys)),
            _ => None,
        };
        Ok(found)
    }

    /// All lanes by the amount that the lower half of 128 bits is.
    fn shifted(&mut self, kind: &str, xs: &[Value], amount: &[Value]) -> Vec<Value> {
        let lanes = (64 / amount[0].bits.width()) as usize;
        let low = &amount[..lanes.min(amount.len())];
        let bits: Vec<Expr> = low.iter().rev().map(|lane| lane.bits).collect();
        let bits = self.s.concat(&bits);
        let poison: Vec<Expr> = low.iter().map(|lane| lane.poison).collect();
        let poison = self.s.or(&poison);
        xs.iter().map(|x| self.shift(kind, *x, bits, poison)).collect()
    }

    /// A shift by as many bits as there are, or more, leaves nothing, or the sign.
    fn shift(&mut self, kind: &str, x: Value, amount: Expr, poison: Expr) -> Value {
        let width = x.bits.width();
        let all = self.s.bits(amount.width(), width.into());
        let beyond = self.relation("bvuge", amount, all);
        let by = self.s.resize(amount, width);
        let most = self.s.bits(width, u128::from(width) - 1);
        let (symbol, rest) = match kind {
            "sll" => ("bvshl", self.s.bits(width, 0)),
            "srl" => ("bvlshr", self.s.bits(width, 0)),
            _ => ("bvashr", self.s.apply("bvashr", &[x.bits, most], x.bits.sort())),
        };
        let shifted = self.s.apply(symbol, &[x.bits, by], x.bits.sort());
        let bits = self.s.choose(beyond, rest, shifted);
        Value { bits, poison: self.s.or(&[x.poison, poison]), origin: None }
    }

    /// Sums, or differences, of neighbours: within each 128 bits those of the first operand, then those of the second one.
    fn horizontal(&mut self, kind: &str, saturating: bool, xs: &[Value], ys: &[Value]) -> Vec<Value> {
        let group = (128 / xs[0].bits.width()) as usize;
        let mut found = vec![];
        for (x, y) in xs.chunks(group).zip(ys.chunks(group)) {
            for pair in x.chunks(2).chain(y.chunks(2)) {
                let [one, other] = pair else { continue };
                found.push(self.sum(kind, saturating, *one, *other));
            }
        }
        found
    }

    fn sum(&mut self, kind: &str, saturating: bool, x: Value, y: Value) -> Value {
        let symbol = if kind == "add" { "bvadd" } else { "bvsub" };
        let width = x.bits.width();
        if !saturating {
            let bits = self.s.apply(symbol, &[x.bits, y.bits], x.bits.sort());
            return self.bits_of(bits, &[x, y]);
        }
        let sort = Sort::Bits(width + 1);
        let (a, b) = (self.s.sign_extend(x.bits, width + 1), self.s.sign_extend(y.bits, width + 1));
        let exact = self.s.apply(symbol, &[a, b], sort);
        let most = self.s.bits(width + 1, (1 << (width - 1)) - 1);
        let least = self.s.apply("bvnot", &[most], sort);
        let (above, below) = (self.relation("bvsgt", exact, most), self.relation("bvslt", exact, least));
        let cut = self.s.choose(above, most, exact);
        let cut = self.s.choose(below, least, cut);
        let bits = self.s.resize(cut, width);
        self.bits_of(bits, &[x, y])
    }

    /// Negated where the other one is negative, nothing where it is.
    fn signed_as(&mut self, x: Value, y: Value) -> Value {
        let zero = self.s.bits(x.bits.width(), 0);
        let minus = self.s.apply("bvneg", &[x.bits], x.bits.sort());
        let negative = self.relation("bvslt", y.bits, zero);
        let some = self.s.nonzero(y.bits);
        let bits = self.s.choose(negative, minus, x.bits);
        let bits = self.s.choose(some, bits, zero);
        self.bits_of(bits, &[x, y])
    }

    /// Rounded up.
    fn average(&mut self, x: Value, y: Value) -> Value {
        let width = x.bits.width();
        let sort = Sort::Bits(width + 1);
        let (a, b, one) =
            (self.s.resize(x.bits, width + 1), self.s.resize(y.bits, width + 1), self.s.bits(width + 1, 1));
        let sum = self.s.apply("bvadd", &[a, b], sort);
        let sum = self.s.apply("bvadd", &[sum, one], sort);
        let bits = self.s.extract(sum, width, 1);
        self.bits_of(bits, &[x, y])
    }

    fn upper_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let width = x.bits.width();
        let mut wide = |e| if signed { self.s.sign_extend(e, 2 * width) } else { self.s.resize(e, 2 * width) };
        let (a, b) = (wide(x.bits), wide(y.bits));
        let product = self.s.apply("bvmul", &[a, b], Sort::Bits(2 * width));
        let bits = self.s.extract(product, 2 * width - 1, width);
        self.bits_of(bits, &[x, y])
    }

    /// Neighbours' products, twice as wide, added.
    fn sums_of_products(&mut self, xs: &[Value], ys: &[Value]) -> Vec<Value> {
        let mut found = vec![];
        for (x, y) in xs.chunks(2).zip(ys.chunks(2)) {
            let width = 2 * x[0].bits.width();
            let sort = Sort::Bits(width);
            let mut products = vec![];
            for (x, y) in x.iter().zip(y) {
                let (a, b) = (self.s.sign_extend(x.bits, width), self.s.sign_extend(y.bits, width));
                products.push(self.s.apply("bvmul", &[a, b], sort));
            }
            let bits = if products.len() == 2 { self.s.apply("bvadd", &products, sort) } else { products[0] };
            found.push(self.bits_of(bits, &[x, y].concat()));
        }
        found
    }

    /// Bytes of the same 128 bits by their lowest four bits; nothing where the highest bit is set.
    fn bytes_chosen(&mut self, xs: &[Value], ys: &[Value]) -> Vec<Value> {
        let mut found = vec![];
        for (bytes, indices) in xs.chunks(16).zip(ys.chunks(16)) {
            for index in indices {
                let low = self.s.extract(index.bits, 3, 0);
                let mut chosen = bytes[0];
                for (n, byte) in bytes.iter().enumerate().skip(1) {
                    let here = self.s.bits(4, n as u128);
                    let here = self.s.equal(low, here);
                    chosen = self.choose(here, *byte, chosen);
                }
                let zero = self.s.bits(8, 0);
                let none = self.relation("bvslt", index.bits, zero);
                let nothing = Value { bits: zero, poison: Expr::FALSE, origin: None };
                let mut byte = self.choose(none, nothing, chosen);
                byte.poison = self.s.or(&[byte.poison, index.poison]);
                found.push(byte);
            }
        }
        found
    }
}
