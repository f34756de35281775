//! Functions of floats that are computed by a library: of their results nothing is known but that the same function gives
//! the same for the same operands.

use super::{Meaning, Operation, exact, width};
use rewright_smt::{Expr, Sort};

/// Names of intrinsics, without the types of their operands.
const FUNCTIONS: [&str; 18] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2", "pow", "powi",
    "sin", "sinh", "tan", "tanh",
];

impl Operation<'_> {
    /// What a function of a library gives; `None` where it is none.
    pub(super) fn of_library(&mut self, stem: &str) -> Option<Meaning> {
        let width = width(self.ty).ok().filter(|_| FUNCTIONS.contains(&stem))?;
        let bits: Vec<Expr> = self.args.iter().map(|arg| arg.bits).collect();
        let poison: Vec<Expr> = self.args.iter().map(|arg| arg.poison).collect();
        let widths: Vec<String> = bits.iter().map(|bits| bits.width().to_string()).collect();
        let bits = self.s.unknown(&format!("{stem} of {}", widths.join(" ")), &bits, Sort::Bits(width));
        Some(Meaning { open: true, ..exact(bits, self.s.or(&poison)) })
    }
}
