//! Functions of floats that are computed by a library: of their results nothing is known but that the same function gives
//! the same for the same operands.

use super::{Meaning, Operation, exact, format, width};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Sort};
use rewright_typeprop::Model;

/// Names of intrinsics, without the types of their operands.
const FUNCTIONS: [&str; 18] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2", "pow", "powi",
    "sin", "sinh", "tan", "tanh",
];

impl Operation<'_> {
    /// What a function of a library gives; `None` where it is no function of a library.
    pub(super) fn of_library(&mut self, stem: &str) -> Option<Meaning> {
        let width = width(self.ty).ok().filter(|_| FUNCTIONS.contains(&stem))?;
        let bits: Vec<Expr> = self.args.iter().map(|arg| arg.bits).collect();
        let poison: Vec<Expr> = self.args.iter().map(|arg| arg.poison).collect();
        let widths: Vec<String> = bits.iter().map(|bits| bits.width().to_string()).collect();
        let bits = self.s.unknown(&format!("{stem} of {}", widths.join(" ")), &bits, Sort::Bits(width));
        Some(Meaning { open: true, ..exact(bits, self.s.or(&poison)) })
    }

    /// A product and a sum, rounded together or one after the other: each instruction chooses. Of the result nothing else
    /// is known but that one way gives the same for the same operands.
    pub(super) fn fused_or_not(&mut self) -> Option<Meaning> {
        let width = width(self.ty).ok()?;
        let [x, y, z] = self.args else { return None };
        let poison = self.s.or(&[x.poison, y.poison, z.poison]);
        let [x, y, z] = [x.bits, y.bits, z.bits];
        let [x, y] = if self.s.name(x) <= self.s.name(y) { [x, y] } else { [y, x] };
        let name = format!("product and sum of {width}");
        let term = self.s.unknown(&name, &[x, y, z], Sort::Bits(width));
        let way = self.s.way_of(term);
        let bits = self.s.unknown(&format!("{name}, {way}"), &[x, y, z], Sort::Bits(width));
        Some(Meaning { open: true, ..exact(bits, poison) })
    }

    /// A number without its fraction as an integer: poison where the type has no such number.
    pub(super) fn without_fraction(&mut self, signed: bool, from: &Type) -> Option<Meaning> {
        let (format, width) = (format(from)?, width(self.ty).ok()?);
        let [x] = self.args else { return None };
        let whole = if signed { Model::FcvtToSintSat } else { Model::FcvtToUintSat };
        let mut meaning = self.model(whole).ok()?;
        let float = self.s.float(x.bits, format);
        let size = x.bits.width();
        let mut is = |symbol: &str, bound: f64| {
            let bits = match size {
                32 => u128::from((bound as f32).to_bits()),
                64 => u128::from(bound.to_bits()),
                _ => return None,
            };
            let bits = self.s.bits(size, bits);
            let bound = self.s.float(bits, format);
            Some(self.s.apply(symbol, &[float, bound], Sort::Bool))
        };
        // Powers of two are exact; beyond the largest one of a type there is what is infinite.
        let end = 2.0_f64.powi(width as i32 - i32::from(signed));
        let below = is("fp.lt", end)?;
        let above = match signed {
            false => is("fp.gt", -1.0)?,
            // Where the number below the least one is no float, no float lies between both.
            true if width <= format.significand => is("fp.gt", -end - 1.0)?,
            true => is("fp.geq", -end)?,
        };
        let fits = self.s.and(&[below, above]);
        let left = self.s.not(fits);
        meaning.value.poison = self.s.or(&[meaning.value.poison, left]);
        meaning.open = false;
        Some(meaning)
    }
}
