//! What is known of results ([`Model::transfer`]) at the widths of machines: z3 finds no operands that are allowed and
//! whose result is not. Which operands are allowed is drawn at random.

use super::z3;
use crate::solver::Answer;
use crate::{Expr, Script, Sort, meaning};
use rewright_typeprop::{Known, Model};

/// Products and quotients of variables, at widths at which z3 answers.
const HARD: [Model; 7] = [Model::Mul, Model::Udiv, Model::Sdiv, Model::Urem, Model::Srem, Model::Umulhi, Model::Smulhi];

/// A fixed pseudo-random sequence (xorshift; Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small, near an end, or anything.
    fn number(&mut self) -> u64 {
        let number = self.next();
        match self.next() % 4 {
            0 => number % 70,
            1 => !(number % 70),
            2 => (1 << 63 >> (number % 60)) | (number >> 60),
            _ => number,
        }
    }

    /// Bounds, bits, or both.
    fn known(&mut self, bits: u32) -> Known {
        let mask = u64::MAX >> (64 - bits);
        let ends = |a: u64, b: u64| (a.min(b), a.max(b));
        let (least, greatest) = ends(self.number() & mask, self.number() & mask);
        let signed = |number: u64| ((number << (64 - bits)) as i64) >> (64 - bits);
        let (low, high) = (signed(least).min(signed(greatest)), signed(least).max(signed(greatest)));
        let one = self.next() & self.next();
        let zero = self.next() & self.next() & !one;
        let with_bits = Known::with_bits(bits, zero, one);
        match self.next() % 4 {
            0 => Known::within(bits, least, greatest),
            1 => Known::within_signed(bits, low, high),
            2 => with_bits,
            _ => with_bits.meet(Known::within(bits, least, greatest)).unwrap_or(with_bits),
        }
    }
}

/// That an integer is allowed.
fn allowed(s: &mut Script, x: Expr, known: Known) -> Expr {
    let bits = known.bits();
    let raw = |number: i64| u128::from(number as u64 & (u64::MAX >> (64 - bits)));
    let ((least, greatest), (low, high)) = (known.unsigned(), known.signed());
    let ends = [u128::from(least), u128::from(greatest), raw(low), raw(high)].map(|end| s.bits(bits, end));
    let mut all = vec![];
    for (symbol, a, b) in [("bvule", ends[0], x), ("bvule", x, ends[1]), ("bvsle", ends[2], x), ("bvsle", x, ends[3])] {
        all.push(s.apply(symbol, &[a, b], Sort::Bool));
    }
    for place in 0..bits {
        let bit = s.extract(x, place, place);
        for (with, is) in [(Known::with_bits(bits, 1 << place, 0), 1), (Known::with_bits(bits, 0, 1 << place), 0)] {
            if known.meet(with).is_none() {
                let is = s.bits(1, is);
                all.push(s.equal(bit, is));
            }
        }
    }
    s.and(&all)
}

#[test]
fn no_result_is_beyond_what_is_known() {
    let mut solver = z3();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut asked = 0;
    for model in Model::ALL.iter().copied().filter(|model| *model < Model::Fadd) {
        for bits in [8u32, 16, 32, 64] {
            let result = match model {
                Model::Zext | Model::Sext | Model::Concat if bits < 64 => 2 * bits,
                Model::Trunc if bits > 8 => bits / 2,
                Model::Zext | Model::Sext | Model::Concat | Model::Trunc => continue,
                _ if model.is_comparison() || model == Model::Truth => 8,
                _ if HARD.contains(&model) && bits > 16 => continue,
                _ => bits,
            };
            for _ in 0..6 {
                let known: Vec<Known> = (0..model.arity()).map(|_| random.known(bits)).collect();
                let found = model.transfer(result, &known);
                if found.is_top() {
                    continue;
                }
                let mut s = Script::new();
                let operands: Vec<Expr> =
                    (0..known.len()).map(|i| s.variable(&format!("x{i}"), Sort::Bits(bits))).collect();
                let Some(meaning) = meaning(&mut s, model, &operands, result, false) else { continue };
                let mut claims: Vec<Expr> =
                    operands.iter().zip(&known).map(|(x, known)| allowed(&mut s, *x, *known)).collect();
                let inside = allowed(&mut s, meaning.bits, found);
                claims.push(s.not(inside));
                let all = s.and(&claims);
                let answer = solver.ask(&s.asserting(all).text, &[], 1).expect("z3 answers");
                assert_eq!(answer, Answer::Unsat, "{model:?} at {bits} bits of {known:?}: {found:?}");
                asked += 1;
            }
        }
    }
    assert!(asked > 400, "{asked}");
}
