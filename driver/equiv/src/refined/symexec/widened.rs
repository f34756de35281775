//! Integers in more bits: of a sum that does not overflow, that is the sum of its terms in more bits.
//!
//! The bits of what is poison do not matter, so a sum that is poison where it overflows may be any number there. Sums that
//! are written this way are compared as sums, where solvers find the narrow ones hard.

use super::{SymbolicExecutor, Terms};
use rewright_llvm::body::{Operand, Shape};
use rewright_smt::{Expr, Sort};

/// Sums of sums are followed this deep.
const MOST_NESTED: u32 = 40;

impl SymbolicExecutor<'_> {
    /// The bits of an integer with a sign, or without one, in more bits.
    pub(super) fn widened(&mut self, operand: &Operand, signed: bool, width: u32) -> Terms<Expr> {
        self.widened_at(operand, signed, width, 0)
    }

    fn widened_at(&mut self, operand: &Operand, signed: bool, width: u32, depth: u32) -> Terms<Expr> {
        let keeps = if signed { "nsw" } else { "nuw" };
        let made = self.made.get(operand.text.as_str()).copied().filter(|_| !self.is_loose(operand));
        if let Some((i, _)) = made
            && let Shape::Plain(terms) = &i.shape
            && let ("add" | "sub", [x, y]) = (i.opcode.as_str(), terms.as_slice())
            && i.flags.iter().any(|flag| flag == keeps)
            && depth < MOST_NESTED
        {
            let symbol = if i.opcode == "add" { "bvadd" } else { "bvsub" };
            let x = self.widened_at(x, signed, width, depth + 1)?;
            let y = self.widened_at(y, signed, width, depth + 1)?;
            return Ok(self.s.apply(symbol, &[x, y], Sort::Bits(width)));
        }
        let bits = self.operand(operand)?.bits;
        Ok(if signed { self.s.sign_extend(bits, width) } else { self.s.resize(bits, width) })
    }
}
