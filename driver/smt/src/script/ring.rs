//! Sums and products of bit vectors up to the laws of a commutative ring: terms that are equal by these are one term.
//!
//! A term is a sum of products of terms that are neither, each with a coefficient modulo 2 to the width. The facts that an
//! induction step needs of products (`(i + 1) * k` is `i * k + k`) are seen here, which solvers find hard where both
//! factors are open.

use super::{Expr, Script, Sort};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Products of a sum; a sum of more is a term of which nothing is known.
const MOST_PRODUCTS: usize = 24;

/// Factors of a product.
const MOST_FACTORS: usize = 6;

/// A sum: by the factors of a product (terms, in order), how often it occurs; never 0 times.
type Sum = BTreeMap<Vec<u32>, u128>;

/// Sums that terms are.
#[derive(Default)]
pub(super) struct Ring {
    sums: FxHashMap<u32, Sum>,
    terms: FxHashMap<(u32, Sum), Expr>,
}

/// A coefficient's bits.
fn kept(width: u32, n: u128) -> u128 {
    if width < 128 { n & ((1 << width) - 1) } else { n }
}

fn add(width: u32, into: &mut Sum, other: &Sum, times: u128) {
    for (product, n) in other {
        let total = into.entry(product.clone()).or_default();
        *total = kept(width, total.wrapping_add(n.wrapping_mul(times)));
    }
    into.retain(|_, n| *n != 0);
}

fn product(width: u32, x: &Sum, y: &Sum) -> Sum {
    let mut all = Sum::new();
    for (left, n) in x {
        for (right, m) in y {
            let mut factors = [left.as_slice(), right].concat();
            factors.sort_unstable();
            add(width, &mut all, &Sum::from([(factors, kept(width, n.wrapping_mul(*m)))]), 1);
        }
    }
    all
}

impl Script {
    /// The sum that an application is, if it is a sum or product.
    pub(super) fn sum_of(&self, symbol: &str, args: &[Expr], sort: Sort) -> Option<Sum> {
        let Sort::Bits(width) = sort else { return None };
        let operand = |n: usize| args.get(n).map(|arg| self.sum(*arg));
        let constant = |n: u128| Sum::from([(vec![], kept(width, n))]);
        let minus = u128::MAX;
        let mut sum = Sum::new();
        match symbol {
            "bvadd" => args.iter().for_each(|arg| add(width, &mut sum, &self.sum(*arg), 1)),
            "bvsub" if args.len() == 2 => {
                add(width, &mut sum, &operand(0)?, 1);
                add(width, &mut sum, &operand(1)?, minus);
            }
            "bvneg" => add(width, &mut sum, &operand(0)?, minus),
            "bvnot" => {
                add(width, &mut sum, &operand(0)?, minus);
                add(width, &mut sum, &constant(1), minus);
            }
            "bvshl" => {
                let by = u32::try_from(self.constant(*args.get(1)?)?).ok().filter(|by| *by < width)?;
                add(width, &mut sum, &operand(0)?, 1 << by);
            }
            _ if symbol == "bvmul" || symbol == format!("|bvmul of {width}|") => {
                sum = constant(1);
                for arg in args {
                    let other = self.sum(*arg);
                    if sum.len() * other.len() > MOST_PRODUCTS {
                        return None;
                    }
                    sum = product(width, &sum, &other);
                }
            }
            _ => return None,
        }
        let is_small = sum.len() <= MOST_PRODUCTS && sum.keys().all(|factors| factors.len() <= MOST_FACTORS);
        is_small.then_some(sum)
    }

    /// The sum that a term is.
    fn sum(&self, term: Expr) -> Sum {
        if let Some(n) = self.constant(term) {
            return if n == 0 { Sum::new() } else { Sum::from([(vec![], n)]) };
        }
        self.ring.sums.get(&term.id).cloned().unwrap_or_else(|| Sum::from([(vec![term.id], 1)]))
    }

    /// A term that is known to be a sum.
    pub(super) fn term_of(&mut self, sum: &Sum, sort: Sort) -> Option<Expr> {
        let Sort::Bits(width) = sort else { return None };
        match sum.iter().collect::<Vec<_>>().as_slice() {
            [] => return Some(self.bits(width, 0)),
            [(factors, n)] if factors.is_empty() => return Some(self.bits(width, **n)),
            [(factors, 1)] if factors.len() == 1 => return Some(Expr { id: factors[0], sort }),
            _ => {}
        }
        self.ring.terms.get(&(width, sum.clone())).copied()
    }

    /// Terms whose sum a term is, a constant among them: itself where the laws are not known.
    pub(crate) fn summands(&mut self, term: Expr) -> Vec<Expr> {
        let sum = self.sum(term);
        if !self.laws || sum.len() < 2 {
            return vec![term];
        }
        sum.iter().map(|(factors, n)| self.times(factors, *n, term.sort)).collect()
    }

    /// A product with a coefficient.
    fn times(&mut self, factors: &[u32], n: u128, sort: Sort) -> Expr {
        let factors = factors.iter().map(|id| Expr { id: *id, sort });
        let product = factors.reduce(|x, y| self.apply("bvmul", &[x, y], sort));
        let Sort::Bits(width) = sort else { unreachable!("only bit vectors are sums") };
        let times = self.bits(width, n);
        match product {
            Some(product) if n == 1 => product,
            Some(product) => self.apply("bvmul", &[times, product], sort),
            None => times,
        }
    }

    /// A product of sums as a sum of products, where nothing is known of products: else the solver could not know that.
    pub(super) fn multiplied_out(&mut self, sum: &Sum, sort: Sort) -> Option<Expr> {
        if sum.len() < 2 {
            return None;
        }
        let products: Vec<Expr> = sum.iter().map(|(factors, n)| self.times(factors, *n, sort)).collect();
        Some(self.apply("bvadd", &products, sort))
    }

    /// Remembers that a term is a sum: the term of this sum, unless there is another one.
    pub(super) fn note_sum(&mut self, term: Expr, sum: Sum) {
        self.ring.terms.entry((term.width(), sum.clone())).or_insert(term);
        self.ring.sums.insert(term.id, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_are_one_term() {
        let mut s = Script::new();
        s.laws = true;
        let sort = Sort::Bits(8);
        let [x, y] = ["x", "y"].map(|name| s.variable(name, sort));
        let [zero, one, two, five] = [0, 1, 2, 5].map(|n| s.bits(8, n));
        let mut apply = |symbol: &str, args: &[Expr]| s.apply(symbol, args, sort);
        let next = apply("bvadd", &[x, one]);
        let [turned, product, difference] =
            [apply("bvmul", &[next, y]), apply("bvmul", &[y, x]), apply("bvsub", &[next, one])];
        assert_eq!(apply("bvadd", &[product, y]), turned);
        assert_eq!(difference, x);
        assert_eq!(apply("bvsub", &[turned, turned]), zero);
        let (doubled, shifted) = (apply("bvadd", &[x, x]), apply("bvshl", &[x, one]));
        assert_eq!([doubled, apply("bvmul", &[two, x])], [shifted; 2]);
        let (not, minus) = (apply("bvnot", &[x]), apply("bvneg", &[x]));
        assert_eq!(apply("bvsub", &[minus, one]), not);
        // 2^8 times something is nothing, and 128 times 2, too.
        let many = (0..7).fold(x, |x, _| apply("bvadd", &[x, x]));
        assert_ne!(many, zero);
        assert_eq!(apply("bvadd", &[many, many]), zero);
        // An operand that is no sum is a term.
        let [and, other] = [apply("bvand", &[x, five]), apply("bvand", &[y, five])];
        assert_ne!(and, other);
        assert_eq!(apply("bvadd", &[and, other]), apply("bvadd", &[other, and]));
    }

    /// Where nothing is known of products, it is known what sums of them are.
    #[test]
    fn products_of_sums_are_sums() {
        let mut s = Script::new();
        (s.laws, s.opaque) = (true, true);
        let sort = Sort::Bits(8);
        let [x, y] = ["x", "y"].map(|name| s.variable(name, sort));
        let three = s.bits(8, 3);
        let sum = s.apply("bvadd", &[x, three], sort);
        let product = s.apply("bvmul", &[sum, y], sort);
        let other = s.apply("bvmul", &[y, x], sort);
        let claim = s.equal(product, other);
        let text = s.asserting(claim).text;
        // It is still a product of what it is a product of.
        for part in ["(bvadd |x| (_ bv3 8))", "(bvmul (_ bv3 8) |y|)", "(|bvmul of 8| |x| |y|)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn widths_are_told_apart() {
        let mut s = Script::new();
        s.laws = true;
        let (x, y) = (s.variable("x", Sort::Bits(8)), s.variable("y", Sort::Bits(16)));
        let (one, wide) = (s.bits(8, 1), s.bits(16, 1));
        let [short, long] = [s.apply("bvadd", &[x, one], Sort::Bits(8)), s.apply("bvadd", &[y, wide], Sort::Bits(16))];
        assert_ne!(short, long);
        assert_eq!((short.width(), long.width()), (8, 16));
    }
}
