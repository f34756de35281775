//! Representations: of one 64-bit word, and larger.
//!
//! Programs compute with words, which are [`Scalar`]s. A larger representation says what the values of a type are, so
//! that rules over it have a meaning and can be evaluated on both sides.
//!
//! **Invariant**: an operation on vectors that has a value here has the same in all lanes where its operands do. So a
//! vector's value is that of a lane, and a constant is a vector with that value in all lanes. Most operations work on
//! each lane by itself, and an equation between these holds for vectors if it holds for one lane. Others
//! ([`Model::mixes_lanes`]) put a lane elsewhere: a proof about them looks at every lane. A constant of
//! `Int128`, `F16` and `F128` has no form: no literal and no folding has that type.

pub(super) mod soft_float;

use super::{Evaluation, Model, Scalar};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What the values of a type are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Repr {
    /// One word.
    Scalar(Scalar),
    /// A 128-bit integer.
    Int128,
    /// An IEEE-754 binary16.
    F16,
    /// An IEEE-754 binary128.
    F128,
    /// This many lanes.
    Lanes(Scalar, u32),
    /// A word that is an address. Its *provenance*, which says what it may be used for, belongs to its value and is in
    /// no bit of it: no program computes it, but code that asks whether two pointers are one has to.
    Pointer,
}

impl Repr {
    /// The representation of one word, if it is that.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Repr::Scalar(scalar) => Some(scalar),
            Repr::Pointer => Some(Scalar::I64),
            Repr::Int128 | Repr::F16 | Repr::F128 | Repr::Lanes(..) => None,
        }
    }

    /// The name that packs use in `model`: `bv8` .. `bv128`, `fp16` .. `fp128`, `ptr64`, and `bv32x4` for four
    /// lanes of `bv32`.
    pub fn from_name(name: &str) -> Option<Repr> {
        match name {
            "bv128" => return Some(Repr::Int128),
            "fp16" => return Some(Repr::F16),
            "fp128" => return Some(Repr::F128),
            "ptr64" => return Some(Repr::Pointer),
            _ => {}
        }
        if let Some(scalar) = Scalar::from_name(name) {
            return Some(Repr::Scalar(scalar));
        }
        let (lane, count) = name.split_once('x')?;
        let count: u32 = count.parse().ok().filter(|n| (2..=256).contains(n))?;
        Some(Repr::Lanes(Scalar::from_name(lane)?, count))
    }

    /// The word, or a lane: what a constant is.
    pub fn lane(self) -> Option<Scalar> {
        match self {
            Repr::Scalar(lane) | Repr::Lanes(lane, _) => Some(lane),
            Repr::Pointer => Some(Scalar::I64),
            Repr::Int128 | Repr::F16 | Repr::F128 => None,
        }
    }

    /// How many lanes, if it is a vector.
    pub fn lanes(self) -> Option<u32> {
        match self {
            Repr::Lanes(_, count) => Some(count),
            Repr::Scalar(_) | Repr::Int128 | Repr::F16 | Repr::F128 | Repr::Pointer => None,
        }
    }

    /// Is it, or is each lane, an integer?
    pub fn is_int(self) -> bool {
        self.lane().map_or(self == Repr::Int128, Scalar::is_int)
    }

    /// Width in bits of the value, or of a lane.
    pub fn bits(self) -> u32 {
        self.lane().map_or(if self == Repr::F16 { 16 } else { 128 }, Scalar::bits)
    }

    /// Width in bits of the value, with all lanes.
    pub fn total_bits(self) -> u32 {
        self.bits() * self.lanes().unwrap_or(1)
    }

    /// The canonical form of a value: see [`Scalar::canonical`]; of a vector that of a lane.
    pub fn canonical(self, raw: u128) -> i128 {
        match self.lane() {
            Some(lane) => lane.canonical(raw as u64).into(),
            None => self.cut(raw) as i128,
        }
    }

    /// The bits of a canonical value, without its sign.
    pub fn zero_extended(self, value: i128) -> u128 {
        match self.lane() {
            Some(lane) => lane.zero_extended(value as i64).into(),
            None => self.cut(value as u128),
        }
    }

    /// The low bits, as many as a value has.
    fn cut(self, raw: u128) -> u128 {
        raw & (u128::MAX >> (128 - self.bits()))
    }

    /// Is a canonical value of this type, or of a lane, a NaN?
    pub fn is_nan(self, canonical: i128) -> bool {
        match self.lane() {
            Some(lane) => lane.is_nan(canonical as i64),
            None => soft_float::is_nan(self, canonical as u128),
        }
    }
}

impl Model {
    /// Gives 0 or 1 of scalars, and all zeros or all ones of each lane.
    pub fn is_comparison(self) -> bool {
        (Model::Eq..=Model::Uge).contains(&self) || (Model::FcmpEq..=Model::FcmpUge).contains(&self)
    }

    /// Does a lane of its result depend on another lane of an operand, or on its place?
    pub fn mixes_lanes(self) -> bool {
        use Model::{FromWords, ScalarToVector, SwidenHigh, SwidenLow, UwidenHigh, UwidenLow};
        matches!(self, SwidenLow | SwidenHigh | UwidenLow | UwidenHigh | ScalarToVector | FromWords)
    }

    /// Does it extend half of the lanes, and with the sign?
    fn widens(self) -> Option<bool> {
        match self {
            Model::SwidenLow | Model::SwidenHigh => Some(true),
            Model::UwidenLow | Model::UwidenHigh => Some(false),
            _ => None,
        }
    }

    pub(super) fn is_shift(self) -> bool {
        (Model::Shl..=Model::Rotr).contains(&self)
    }

    /// Has it a value at these representations, at some operands at least? Some operations have none at 0.
    pub fn is_defined_at(self, types: &[Repr], result: Repr) -> bool {
        [0, 1, 3, 7, 64].iter().any(|n| self.eval_at(types, result, &vec![*n; types.len()]) != Evaluation::Undefined)
    }

    /// [`Model::eval`] at any representation. Values are sign-extended; a vector's is that of a lane, and one whose
    /// lanes differ has none.
    pub fn eval_at(self, types: &[Repr], result: Repr, args: &[i128]) -> Evaluation<i128> {
        if types.len() != args.len() || args.len() != self.arity() {
            return Evaluation::Undefined;
        }
        let words = types.iter().map(|t| t.scalar()).collect::<Option<SmallVec<[Scalar; 4]>>>();
        let narrow: SmallVec<[i64; 4]> = args.iter().map(|v| *v as i64).collect();
        if let (Some(words), Some(result)) = (&words, result.scalar()) {
            return widen(self.eval(words, result, &narrow));
        }
        // Of an amount only the low bits count, whatever its type.
        if self.is_shift() && types[1] == Repr::Int128 {
            let low = i128::from(args[1] as i64);
            return self.eval_at(&[types[0], Repr::Scalar(Scalar::I64)], result, &[args[0], low]);
        }
        if types.iter().chain([&result]).any(|t| matches!(t, Repr::F16 | Repr::F128)) {
            return soft_float::eval(self, types, result, args);
        }
        if result == Repr::Int128 || types.contains(&Repr::Int128) {
            return wide(self, types, result, args).map_or(Evaluation::Undefined, Evaluation::Value);
        }
        // How wide the operand is, is how wide its lanes are.
        if matches!(self, Model::Width | Model::ShiftAmount) {
            let lanes: Option<SmallVec<[Scalar; 4]>> = types.iter().map(|t| t.lane()).collect();
            let (Some(lanes), Some(result)) = (lanes, result.scalar()) else { return Evaluation::Undefined };
            return widen(self.eval(&lanes, result, &narrow));
        }
        if let (Model::ScalarToVector | Model::FromWords, Some(lane)) =
            (self, result.lane().filter(|_| result.lanes().is_some()))
        {
            let fits = match self {
                Model::FromWords => words == Some(SmallVec::from_elem(Scalar::I64, 2)) && result.total_bits() <= 128,
                _ => types[0].scalar() == Some(lane),
            };
            let bits = match self {
                Model::FromWords => u128::from(narrow[0] as u64) | u128::from(narrow[1] as u64) << 64,
                _ => types[0].zero_extended(args[0]),
            };
            let in_lane = |n: u32| result.canonical(bits >> (n * result.bits()));
            let alike = fits && (0..result.lanes().unwrap_or(1)).all(|n| in_lane(n) == in_lane(0));
            return if alike { Evaluation::Value(in_lane(0)) } else { Evaluation::Undefined };
        }
        if let Some(signed) = self.widens() {
            let halves =
                |wide: Scalar, narrow: Scalar| narrow.is_int() && wide.is_int() && wide.bits() == 2 * narrow.bits();
            return match (types[0], result) {
                (Repr::Lanes(narrow, n), Repr::Lanes(wide, m)) if halves(wide, narrow) && n == 2 * m => {
                    Evaluation::Value(if signed { args[0] } else { types[0].zero_extended(args[0]) as i128 })
                }
                _ => Evaluation::Undefined,
            };
        }
        let vectors = types.iter().chain([&result]).filter_map(|t| t.lanes());
        let (same, any) = (vectors.clone().all(|n| Some(n) == result.lanes()), vectors.count() > 0);
        if self == Model::Splat {
            let fits = result.lanes().is_some() && types[0].scalar() == result.lane();
            return if fits { Evaluation::Value(args[0]) } else { Evaluation::Undefined };
        }
        // Beside vectors only an amount and a condition may be scalars: the same for all lanes.
        let broadcast = |i: usize| i == 1 && self.is_shift() || i == 0 && self == Model::Select;
        let mixed = types.iter().enumerate().any(|(i, t)| t.lanes().is_none() && !broadcast(i));
        if !same || any && mixed {
            return Evaluation::Undefined;
        }
        let lanes: SmallVec<[Scalar; 4]> = types.iter().filter_map(|t| t.lane()).collect();
        let Some(lane) = result.lane() else { return Evaluation::Undefined };
        if any && self.is_comparison() {
            let fits = lane.is_int() && lane.bits() == lanes[0].bits();
            return match self.eval(&lanes, Scalar::I8, &narrow) {
                Evaluation::Value(truth) if fits => Evaluation::Value(-i128::from(truth)),
                _ => Evaluation::Undefined,
            };
        }
        if any && lanes.iter().enumerate().any(|(i, l)| !broadcast(i) && l.bits() != lane.bits()) {
            return Evaluation::Undefined;
        }
        widen(self.eval(&lanes, lane, &narrow))
    }
}

/// The outcome of an evaluation of words, among those of any size.
pub(crate) fn widen(outcome: Evaluation) -> Evaluation<i128> {
    match outcome {
        Evaluation::Value(value) => Evaluation::Value(value.into()),
        Evaluation::Nan => Evaluation::Nan,
        Evaluation::Undefined => Evaluation::Undefined,
    }
}

/// Where an operand or the result is a 128-bit integer.
fn wide(model: Model, types: &[Repr], result: Repr, args: &[i128]) -> Option<i128> {
    use Model::*;
    if !result.is_int() && model != Select || types.iter().any(|t| t.lanes().is_some()) || result.lanes().is_some() {
        return None;
    }
    let int128 = |t: &Repr| *t == Repr::Int128;
    let all = types.iter().all(int128);
    let fits = match model {
        Zext | Sext => int128(&result) && types[0].is_int() && !int128(&types[0]),
        Trunc => all && !int128(&result),
        Bmask => types[0].is_int(),
        Concat => int128(&result) && types.iter().all(|t| *t == Repr::Scalar(Scalar::I64)),
        Select => types[0].is_int() && types[1] == result && types[2] == result,
        Eq | Ne | Slt | Sle | Sgt | Sge | Ult | Ule | Ugt | Uge => all && result == Repr::Scalar(Scalar::I8),
        Width => all && !int128(&result),
        ShiftAmount => int128(&types[0]) && types[1].is_int() && !int128(&result),
        Shl | Lshr | Ashr | Rotl | Rotr => int128(&types[0]) && int128(&result) && types[1].is_int(),
        _ => all && int128(&result),
    };
    if !fits {
        return None;
    }
    let x = args[0];
    let y = args.get(1).copied().unwrap_or_default();
    let (ux, uy) = (x as u128, y as u128);
    let amount = types.get(1).map_or(0, |t| t.zero_extended(y) % 128) as u32;
    let value = match model {
        Add => x.wrapping_add(y),
        Sub => x.wrapping_sub(y),
        Mul => x.wrapping_mul(y),
        Neg => x.wrapping_neg(),
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        Not => !x,
        Bitrev => x.reverse_bits(),
        Bswap => x.swap_bytes(),
        Width => 128,
        ShiftAmount => amount.into(),
        Shl => x << amount,
        Lshr => (ux >> amount) as i128,
        Ashr => x >> amount,
        Rotl => x.rotate_left(amount),
        Rotr => x.rotate_right(amount),
        Umin => ux.min(uy) as i128,
        Umax => ux.max(uy) as i128,
        Smin => x.min(y),
        Smax => x.max(y),
        Iabs => x.wrapping_abs(),
        Zext => types[0].zero_extended(x) as i128,
        Sext => x,
        Trunc => result.scalar()?.canonical(x as u64).into(),
        Concat => (types[0].zero_extended(x) | types[1].zero_extended(y) << 64) as i128,
        Bmask => -i128::from(x != 0),
        Select => {
            if x != 0 {
                y
            } else {
                args[2]
            }
        }
        Bitselect => (x & y) | (!x & args[2]),
        Eq => i128::from(x == y),
        Ne => i128::from(x != y),
        Slt => i128::from(x < y),
        Sle => i128::from(x <= y),
        Sgt => i128::from(x > y),
        Sge => i128::from(x >= y),
        Ult => i128::from(ux < uy),
        Ule => i128::from(ux <= uy),
        Ugt => i128::from(ux > uy),
        Uge => i128::from(ux >= uy),
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const I8: Repr = Repr::Scalar(Scalar::I8);
    const I64: Repr = Repr::Scalar(Scalar::I64);
    const I32X4: Repr = Repr::Lanes(Scalar::I32, 4);

    #[test]
    fn names() {
        assert_eq!(Repr::from_name("bv128"), Some(Repr::Int128));
        assert_eq!(Repr::from_name("bv32x4"), Some(I32X4));
        assert_eq!(Repr::from_name("ptr64"), Some(Repr::Pointer));
        assert_eq!(Repr::from_name("fp64"), Some(Repr::Scalar(Scalar::F64)));
        for wrong in ["bv128x2", "bv32x", "bv32x1", "bv32x0", "x4", "bv33", "bv8x999999"] {
            assert_eq!(Repr::from_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn wide_integers() {
        let eval = |model: Model, types: &[Repr], result, args: &[i128]| model.eval_at(types, result, args);
        let big = 1i128 << 100;
        assert_eq!(
            eval(Model::Concat, &[I64, I64], Repr::Int128, &[-1, 1]),
            Evaluation::Value((1 << 64) | u64::MAX as i128)
        );
        assert_eq!(eval(Model::Trunc, &[Repr::Int128], I8, &[big + 255]), Evaluation::Value(-1));
        assert_eq!(eval(Model::Zext, &[I8], Repr::Int128, &[-1]), Evaluation::Value(255));
        assert_eq!(eval(Model::Shl, &[I64, Repr::Int128], I64, &[3, big + 65]), Evaluation::Value(6));
        assert_eq!(eval(Model::Shl, &[Repr::Int128, I8], Repr::Int128, &[1, -28]), Evaluation::Value(big));
        assert_eq!(eval(Model::Lshr, &[Repr::Int128, Repr::Int128], Repr::Int128, &[-1, 127]), Evaluation::Value(1));
        assert_eq!(eval(Model::Ult, &[Repr::Int128; 2], I8, &[-1, 1]), Evaluation::Value(0));
        assert_eq!(eval(Model::Add, &[Repr::Int128, I64], Repr::Int128, &[1, 1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Zext, &[Repr::Int128], Repr::Int128, &[1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Concat, &[I8, I8], Repr::Int128, &[1, 1]), Evaluation::Undefined);
    }

    /// [`Model::has_meaning_at`] looks at zeros alone.
    #[test]
    fn whether_there_is_a_value_depends_on_representations_only() {
        let scalars = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];
        let mut reprs: Vec<Repr> = scalars.iter().map(|scalar| Repr::Scalar(*scalar)).collect();
        reprs.extend([
            Repr::Int128,
            Repr::F16,
            Repr::F128,
            Repr::Pointer,
            Repr::Lanes(Scalar::I64, 2),
            I32X4,
            Repr::Lanes(Scalar::F64, 2),
            Repr::Lanes(Scalar::I8, 16),
        ]);
        let nan = i128::from(f64::NAN.to_bits() as i64);
        let values = [1, 2, 3, 5, 7, 64, 127, -1, -128, i128::from(i64::MIN), i128::from(f32::NAN.to_bits()), nan];
        let canonical = |repr: Repr, value: i128| match repr.lane() {
            Some(scalar) if repr != Repr::Int128 => i128::from(scalar.canonical(value as u64)),
            _ => value,
        };
        let mut meanings = 0;
        for model in Model::ALL.iter().filter(|m| m.memory().is_none()) {
            let signatures = (0..reprs.len().pow(model.arity() as u32)).map(|n| {
                let digit = |place: usize| reprs[n / reprs.len().pow(place as u32) % reprs.len()];
                (0..model.arity()).map(digit).collect::<Vec<_>>()
            });
            for types in signatures {
                for result in &reprs {
                    let meaning = model.has_meaning_at(&types, *result);
                    meanings += usize::from(meaning);
                    for shift in 0..values.len() {
                        let args: Vec<i128> = types
                            .iter()
                            .enumerate()
                            .map(|(i, t)| canonical(*t, values[(shift + 5 * i) % values.len()]))
                            .collect();
                        let outcome = model.eval_at(&types, *result, &args);
                        // Vectors whose lanes differ have no value here.
                        if meaning
                            && outcome == Evaluation::Undefined
                            && model.mixes_lanes()
                            && result.lanes().is_some()
                        {
                            continue;
                        }
                        assert_eq!(
                            outcome != Evaluation::Undefined,
                            meaning,
                            "{model:?} {types:?} {result:?} {args:?}"
                        );
                    }
                }
            }
        }
        assert!(meanings > 500, "{meanings}");
    }

    #[test]
    fn lanes() {
        let eval = |model: Model, types: &[Repr], result, args: &[i128]| model.eval_at(types, result, args);
        assert_eq!(eval(Model::Sgt, &[I32X4; 2], I32X4, &[2, 1]), Evaluation::Value(-1));
        assert_eq!(eval(Model::FcmpLt, &[Repr::Lanes(Scalar::F32, 4); 2], I32X4, &[0, 1]), Evaluation::Value(-1));
        assert_eq!(eval(Model::Sgt, &[I32X4; 2], I8, &[2, 1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Shl, &[I32X4, I8], I32X4, &[1, 33]), Evaluation::Value(2));
        assert_eq!(eval(Model::Splat, &[Repr::Scalar(Scalar::I32)], I32X4, &[7]), Evaluation::Value(7));
        assert_eq!(eval(Model::Splat, &[I8], I32X4, &[7]), Evaluation::Undefined);
        assert_eq!(eval(Model::Add, &[I32X4, Repr::Lanes(Scalar::I32, 8)], I32X4, &[1, 1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Add, &[I32X4, Repr::Scalar(Scalar::I32)], I32X4, &[1, 1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Zext, &[Repr::Lanes(Scalar::I16, 4)], I32X4, &[1]), Evaluation::Undefined);
        assert_eq!(eval(Model::Bitcast, &[Repr::Lanes(Scalar::I8, 16)], I32X4, &[1]), Evaluation::Undefined);
    }

    #[test]
    fn lanes_that_are_put_elsewhere() {
        let eval = |model: Model, types: &[Repr], result, args: &[i128]| model.eval_at(types, result, args);
        let i16x8 = Repr::Lanes(Scalar::I16, 8);
        assert_eq!(eval(Model::SwidenHigh, &[i16x8], I32X4, &[-7]), Evaluation::Value(-7));
        assert_eq!(eval(Model::UwidenLow, &[i16x8], I32X4, &[-7]), Evaluation::Value(0xfff9));
        assert_eq!(eval(Model::UwidenLow, &[i16x8], Repr::Lanes(Scalar::I32, 8), &[1]), Evaluation::Undefined);
        assert_eq!(eval(Model::ScalarToVector, &[Repr::Scalar(Scalar::I32)], I32X4, &[0]), Evaluation::Value(0));
        assert_eq!(eval(Model::ScalarToVector, &[Repr::Scalar(Scalar::I32)], I32X4, &[1]), Evaluation::Undefined);
        assert_eq!(eval(Model::ScalarToVector, &[I64], I32X4, &[0]), Evaluation::Undefined);
        let twice = (7i128 << 32) | 7;
        assert_eq!(eval(Model::FromWords, &[I64; 2], I32X4, &[twice, twice]), Evaluation::Value(7));
        assert_eq!(eval(Model::FromWords, &[I64; 2], I32X4, &[twice, 0]), Evaluation::Undefined);
    }

    #[test]
    fn words_are_as_the_scalar_model_has_them() {
        for model in Model::ALL.iter().filter(|m| m.memory().is_none() && m.arity() == 2) {
            for (x, y) in [(5i64, 3i64), (-7, 2), (0, -1)] {
                let scalar = model.eval(&[Scalar::I64; 2], Scalar::I64, &[x, y]);
                let here = model.eval_at(&[I64; 2], I64, &[x.into(), y.into()]);
                match scalar {
                    Evaluation::Value(v) => assert_eq!(here, Evaluation::Value(v.into()), "{model:?}"),
                    other => assert_eq!(format!("{here:?}"), format!("{other:?}"), "{model:?}"),
                }
            }
        }
    }
}
