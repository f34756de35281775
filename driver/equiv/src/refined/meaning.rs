//! LLVM's semantics of instructions on integers and floats, as terms: the bits of the result, when it is poison, and
//! when the instruction is undefined. From the Language Reference; what our rules make of an opcode is not asked.
//!
//! A value that is poison still has bits, on which no claim may depend.

mod classes;
mod library;

use crate::not_modelled::NotModelled;
use crate::replay::stem;
use rewright_llvm::types::Type;
use rewright_smt::{self as smt, Expr, Format, Script, Sort};
use rewright_typeprop::Model;

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) bits: Expr,
    pub(super) poison: Expr,
    /// Of a pointer: the object that it belongs to.
    pub(super) origin: Option<Expr>,
}

/// What an instruction gives.
pub(super) struct Meaning {
    pub(super) value: Value,
    /// When it is undefined.
    pub(super) undefined: Expr,
    /// Whether a NaN may be among its results, whose bits are open.
    pub(super) open: bool,
}

/// Bits of a type; the reason where it has none here.
pub(super) fn width(ty: &Type) -> Result<u32, NotModelled> {
    match ty {
        Type::Int(n @ 1..=128) => Ok(*n),
        Type::Ptr => Ok(64),
        Type::Word(word) if word == "half" => Ok(16),
        Type::Word(word) if word == "float" => Ok(32),
        Type::Word(word) if word == "double" => Ok(64),
        other => Err(format!("a value of type {other}").into()),
    }
}

/// Is it a half, float or double?
pub(super) fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Word(_))
}

/// The format of such a type.
pub(super) fn format(ty: &Type) -> Option<Format> {
    is_float(ty).then(|| width(ty).ok().and_then(Format::of_width)).flatten()
}

/// An instruction on values, with its flags.
pub(super) struct Operation<'a> {
    pub(super) s: &'a mut Script,
    pub(super) flags: &'a [String],
    pub(super) args: &'a [Value],
    /// Of the result.
    pub(super) ty: &'a Type,
    /// It is the first version's, which may do less than its flags allow.
    pub(super) is_first: bool,
}

impl Operation<'_> {
    /// What an instruction that is no call gives.
    pub(super) fn instruction(mut self, opcode: &str, from: &Type) -> Result<Meaning, NotModelled> {
        let width = width(self.ty)?;
        let unknown = || Err(format!("`{opcode}`").into());
        let floats = is_float(from) || is_float(self.ty);
        let of_floats = |flag: &str| if FAST.contains(&flag) { self.is_first } else { STRICT.contains(&flag) };
        let allows = |flag: &str| FLAGS.contains(&flag) || (floats && opcode != "select" && of_floats(flag));
        if let Some(flag) = self.flags.iter().find(|flag| !allows(flag)) {
            return Err(format!("`{opcode} {flag}`").into());
        }
        if floats && self.flags.iter().any(|flag| STRICT.contains(&flag.as_str())) {
            return self.strict(opcode, from);
        }
        match (opcode, self.args) {
            ("add" | "sub" | "mul" | "shl" | "lshr" | "ashr" | "and" | "or" | "xor", [x, y]) => {
                Ok(self.arithmetic(opcode, *x, *y))
            }
            ("udiv" | "urem" | "sdiv" | "srem", [x, y]) => Ok(self.division(opcode, *x, *y)),
            ("select", [c, x, y]) => {
                let chosen = self.is_one(c.bits);
                let bits = self.s.choose(chosen, x.bits, y.bits);
                let poison = self.s.choose(chosen, x.poison, y.poison);
                let poison = self.s.or(&[c.poison, poison]);
                Ok(exact(bits, poison))
            }
            ("zext" | "ptrtoint" | "ptrtoaddr" | "inttoptr", [x]) => {
                let negative = if self.says("nneg") { self.is_negative(x.bits) } else { Expr::FALSE };
                let bits = self.s.resize(x.bits, width);
                let poison = self.s.or(&[x.poison, negative]);
                Ok(exact(bits, poison))
            }
            ("sext", [x]) => Ok(exact(self.s.sign_extend(x.bits, width), x.poison)),
            ("bitcast", [x]) if x.bits.width() == width => Ok(exact(x.bits, x.poison)),
            ("trunc", [x]) => {
                let bits = self.s.resize(x.bits, width);
                let mut poison = vec![x.poison];
                for (flag, signed) in [("nuw", false), ("nsw", true)] {
                    if self.says(flag) {
                        poison.push(self.is_cut(x.bits, bits, signed));
                    }
                }
                let poison = self.s.or(&poison);
                Ok(exact(bits, poison))
            }
            ("fneg", _) => self.model(Model::Fneg),
            ("fadd", [x, y]) => self.in_any_order(Model::Fadd, *x, *y),
            ("fmul", [x, y]) => self.in_any_order(Model::Fmul, *x, *y),
            ("fsub", _) => self.model(Model::Fsub),
            ("fdiv", _) => self.model(Model::Fdiv),
            ("fpext", _) => self.model(Model::Fpromote),
            ("fptrunc", _) => self.model(Model::Fdemote),
            ("fptosi" | "fptoui", _) => self.without_fraction(opcode == "fptosi", from).map_or_else(unknown, Ok),
            ("sitofp", _) => self.model(Model::FcvtFromSint),
            ("uitofp", [x]) => {
                let poison = if self.says("nneg") { self.is_negative(x.bits) } else { Expr::FALSE };
                let mut meaning = self.model(Model::FcvtFromUint)?;
                meaning.value.poison = self.s.or(&[meaning.value.poison, poison]);
                Ok(meaning)
            }
            _ => match (opcode.split_once(' '), from) {
                (Some(("icmp" | "fcmp", relation)), _) => self.comparison(relation, is_float(from)),
                _ => unknown(),
            },
        }
    }

    /// With flags by which some operands and results are poison.
    fn strict(self, opcode: &str, from: &Type) -> Result<Meaning, NotModelled> {
        let flags: Vec<String> = self.flags.iter().filter(|flag| !STRICT.contains(&flag.as_str())).cloned().collect();
        let (s, ty) = (self.s, self.ty);
        let mut meaning =
            Operation { s, flags: &flags, args: self.args, ty, is_first: self.is_first }.instruction(opcode, from)?;
        let operands = self.args.iter().filter_map(|arg| Some((arg.bits, format(from)?)));
        let results = format(ty).map(|format| (meaning.value.bits, format));
        let mut poison = vec![meaning.value.poison];
        for (bits, format) in operands.chain(results) {
            let float = s.float(bits, format);
            for (flag, symbol) in [("nnan", "fp.isNaN"), ("ninf", "fp.isInfinite")] {
                if self.flags.iter().any(|f| f == flag || f == "fast") {
                    poison.push(s.apply(symbol, &[float], Sort::Bool));
                }
            }
        }
        meaning.value.poison = s.or(&poison);
        Ok(meaning)
    }

    fn says(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    fn apply(&mut self, symbol: &str, x: Expr, y: Expr) -> Expr {
        self.s.apply(symbol, &[x, y], x.sort())
    }

    fn holds(&mut self, symbol: &str, x: Expr, y: Expr) -> Expr {
        self.s.apply(symbol, &[x, y], Sort::Bool)
    }

    fn is_one(&mut self, x: Expr) -> Expr {
        let one = self.s.bits(1, 1);
        self.s.equal(x, one)
    }

    fn is_negative(&mut self, x: Expr) -> Expr {
        let zero = self.s.bits(x.width(), 0);
        self.holds("bvslt", x, zero)
    }

    /// Is something else when it is extended again?
    fn is_cut(&mut self, whole: Expr, low: Expr, signed: bool) -> Expr {
        let again = if signed { self.s.sign_extend(low, whole.width()) } else { self.s.resize(low, whole.width()) };
        let same = self.s.equal(whole, again);
        self.s.not(same)
    }

    /// A sum, difference or product does not fit its type.
    fn overflows(&mut self, symbol: &str, x: Expr, y: Expr, signed: bool) -> Expr {
        let more = if symbol == "bvmul" { 2 * x.width() } else { x.width() + 1 };
        let mut wide = |e| if signed { self.s.sign_extend(e, more) } else { self.s.resize(e, more) };
        let (x_wide, y_wide) = (wide(x), wide(y));
        let exact = self.apply(symbol, x_wide, y_wide);
        let low = self.s.extract(exact, x.width() - 1, 0);
        self.is_cut(exact, low, signed)
    }

    fn arithmetic(&mut self, opcode: &str, x: Value, y: Value) -> Meaning {
        let (a, b) = (x.bits, y.bits);
        let mut poison = vec![x.poison, y.poison];
        let symbol = match opcode {
            "lshr" => "bvlshr",
            "ashr" => "bvashr",
            "shl" => "bvshl",
            "add" => "bvadd",
            "sub" => "bvsub",
            "mul" => "bvmul",
            "and" => "bvand",
            "or" => "bvor",
            _ => "bvxor",
        };
        let bits = self.apply(symbol, a, b);
        if matches!(opcode, "shl" | "lshr" | "ashr") {
            let all = self.s.bits(a.width(), a.width().into());
            // Of a type that cannot hold its own width no amount is too large.
            if a.width() > 1 {
                poison.push(self.holds("bvuge", b, all));
            } else {
                poison.push(self.is_one(b));
            }
            let back = |this: &mut Self, symbol: &str| {
                let back = this.apply(symbol, bits, b);
                let same = this.s.equal(back, a);
                this.s.not(same)
            };
            for (flag, symbol) in [("nuw", "bvlshr"), ("nsw", "bvashr"), ("exact", "bvshl")] {
                if self.says(flag) {
                    poison.push(back(self, symbol));
                }
            }
        } else {
            for (flag, signed) in [("nuw", false), ("nsw", true)] {
                if self.says(flag) {
                    poison.push(self.overflows(symbol, a, b, signed));
                }
            }
            if self.says("disjoint") {
                let common = self.apply("bvand", a, b);
                poison.push(self.s.nonzero(common));
            }
        }
        let poison = self.s.or(&poison);
        exact(bits, poison)
    }

    fn division(&mut self, opcode: &str, x: Value, y: Value) -> Meaning {
        let (a, b) = (x.bits, y.bits);
        let symbol = format!("bv{opcode}");
        let bits = self.apply(&symbol, a, b);
        let some = self.s.nonzero(b);
        let mut undefined = vec![y.poison, self.s.not(some)];
        if opcode.starts_with('s') {
            let least = self.s.bits(a.width(), 1 << (a.width() - 1));
            let minus_one = self.s.bits(a.width(), u128::MAX);
            let (least, minus_one) = (self.s.equal(a, least), self.s.equal(b, minus_one));
            // Poison may be any number, the least one too.
            let least = self.s.or(&[least, x.poison]);
            undefined.push(self.s.and(&[least, minus_one]));
        }
        let mut poison = vec![x.poison];
        if self.says("exact") {
            let rest = self.apply(if opcode == "udiv" { "bvurem" } else { "bvsrem" }, a, b);
            poison.push(self.s.nonzero(rest));
        }
        let (undefined, poison) = (self.s.or(&undefined), self.s.or(&poison));
        Meaning { undefined, ..exact(bits, poison) }
    }

    /// A relation: `slt`, `oeq`.
    fn comparison(mut self, relation: &str, floats: bool) -> Result<Meaning, NotModelled> {
        let model = match (floats, relation) {
            (false, "eq") => Model::Eq,
            (false, "ne") => Model::Ne,
            (false, "slt") => Model::Slt,
            (false, "sle") => Model::Sle,
            (false, "sgt") => Model::Sgt,
            (false, "sge") => Model::Sge,
            (false, "ult") => Model::Ult,
            (false, "ule") => Model::Ule,
            (false, "ugt") => Model::Ugt,
            (false, "uge") => Model::Uge,
            (true, "oeq") => Model::FcmpEq,
            (true, "one") => Model::FcmpOne,
            (true, "olt") => Model::FcmpLt,
            (true, "ole") => Model::FcmpLe,
            (true, "ogt") => Model::FcmpGt,
            (true, "oge") => Model::FcmpGe,
            (true, "ord") => Model::FcmpOrd,
            (true, "uno") => Model::FcmpUno,
            (true, "ueq") => Model::FcmpUeq,
            (true, "une") => Model::FcmpNe,
            (true, "ult") => Model::FcmpUlt,
            (true, "ule") => Model::FcmpUle,
            (true, "ugt") => Model::FcmpUgt,
            (true, "uge") => Model::FcmpUge,
            _ => return Err(format!("a comparison by `{relation}`").into()),
        };
        let mut poison = Expr::FALSE;
        if let (true, [x, y]) = (self.says("samesign"), self.args) {
            let differ = self.apply("bvxor", x.bits, y.bits);
            poison = self.is_negative(differ);
        }
        let mut meaning = self.model(model)?;
        meaning.value.poison = self.s.or(&[meaning.value.poison, poison]);
        Ok(meaning)
    }

    /// What a model says that does not look at the order of its operands: solvers find that hard to see of floats.
    fn in_any_order(&mut self, model: Model, x: Value, y: Value) -> Result<Meaning, NotModelled> {
        let format = Format::of_width(x.bits.width());
        let [one, other] = [x, y].map(|value| format.map_or(value.bits, |format| self.s.float(value.bits, format)));
        let ordered = self.s.name(one) <= self.s.name(other);
        let args = if ordered { [x, y] } else { [y, x] };
        Operation { s: &mut *self.s, flags: &[], args: &args, ty: self.ty, is_first: self.is_first }.model(model)
    }

    /// What a model says, poison if an operand is.
    fn model(&mut self, model: Model) -> Result<Meaning, NotModelled> {
        let bits: Vec<Expr> = self.args.iter().map(|arg| arg.bits).collect();
        let poison: Vec<Expr> = self.args.iter().map(|arg| arg.poison).collect();
        let poison = self.s.or(&poison);
        let width = width(self.ty)?;
        let meaning = smt::meaning(self.s, model, &bits, width, false).ok_or_else(|| format!("`{model:?}`"))?;
        Ok(Meaning { open: meaning.nan != Expr::FALSE, ..exact(meaning.bits, poison) })
    }

    /// A sum, difference or product, and when it does not fit its type.
    pub(super) fn overflowing(mut self, opcode: &str, x: Value, y: Value, signed: bool) -> (Meaning, Expr) {
        let over = self.overflows(&format!("bv{opcode}"), x.bits, y.bits, signed);
        (self.arithmetic(opcode, x, y), over)
    }

    /// Where numbers stand: below, equal, above.
    fn three_way(mut self, symbol: &str, x: Value, y: Value) -> Result<Meaning, NotModelled> {
        let width = width(self.ty)?;
        let [below, above] = [(x, y), (y, x)].map(|(x, y)| self.holds(symbol, x.bits, y.bits));
        let [minus, one, zero] = [u128::MAX, 1, 0].map(|n| self.s.bits(width, n));
        let bits = self.s.choose(above, one, zero);
        let bits = self.s.choose(below, minus, bits);
        let poison = self.s.or(&[x.poison, y.poison]);
        Ok(exact(bits, poison))
    }

    /// Shifted left, or the number nearest to that.
    fn saturating_shift(mut self, signed: bool, x: Value, y: Value) -> Meaning {
        let (width, sort) = (x.bits.width(), x.bits.sort());
        let bits = self.apply("bvshl", x.bits, y.bits);
        let back = self.s.apply(if signed { "bvashr" } else { "bvlshr" }, &[bits, y.bits], sort);
        let fits = self.s.equal(back, x.bits);
        let negative = self.is_negative(x.bits);
        let (least, most) = (1 << (width - 1), (1 << (width - 1)) - 1);
        let [least, most, all] = [least, most, u128::MAX].map(|n| self.s.bits(width, n));
        let nearest = if signed { self.s.choose(negative, least, most) } else { all };
        let bits = self.s.choose(fits, bits, nearest);
        let end = self.s.bits(width, width.into());
        // Of a type that cannot hold its own width no amount is too large.
        let beyond = if width > 1 { self.holds("bvuge", y.bits, end) } else { self.is_one(y.bits) };
        let poison = self.s.or(&[x.poison, y.poison, beyond]);
        exact(bits, poison)
    }

    /// What an intrinsic gives: `smax.i32`, without what all begin with.
    pub(super) fn intrinsic(mut self, name: &str) -> Result<Meaning, NotModelled> {
        let unknown = || Err(format!("it calls @llvm.{name}").into());
        if !self.flags.iter().all(|flag| flag == "noundef" || flag.starts_with("range(")) {
            return Err(format!("it calls @llvm.{name} with promises").into());
        }
        let stem = stem(name);
        // A second operand that says what is poison.
        let promises = |this: &mut Self, model, when: fn(&mut Self, Expr) -> Expr| -> Result<Meaning, NotModelled> {
            let [x, promise] = this.args else { return Err(format!("it calls @llvm.{name}").into()) };
            let bad = when(this, x.bits);
            let promised = this.is_one(promise.bits);
            let mut of_one =
                Operation { s: &mut *this.s, flags: &[], args: &[*x], ty: this.ty, is_first: this.is_first };
            let mut meaning = of_one.model(model)?;
            let broken = this.s.and(&[bad, promised]);
            meaning.value.poison = this.s.or(&[meaning.value.poison, broken]);
            Ok(meaning)
        };
        let is_zero = |this: &mut Self, x: Expr| {
            let some = this.s.nonzero(x);
            this.s.not(some)
        };
        let is_least = |this: &mut Self, x: Expr| {
            let least = this.s.bits(x.width(), 1 << (x.width() - 1));
            this.s.equal(x, least)
        };
        match stem {
            "umin" => self.model(Model::Umin),
            "umax" => self.model(Model::Umax),
            "smin" => self.model(Model::Smin),
            "smax" => self.model(Model::Smax),
            "uadd.sat" => self.model(Model::UaddSat),
            "usub.sat" => self.model(Model::UsubSat),
            "sadd.sat" => self.model(Model::SaddSat),
            "ssub.sat" => self.model(Model::SsubSat),
            "ctpop" => self.model(Model::Popcnt),
            "bswap" => self.model(Model::Bswap),
            "bitreverse" => self.model(Model::Bitrev),
            "ucmp" | "scmp" => match self.args {
                [x, y] => self.three_way(if stem == "ucmp" { "bvult" } else { "bvslt" }, *x, *y),
                _ => unknown(),
            },
            "ushl.sat" | "sshl.sat" => match self.args {
                [x, y] => Ok(self.saturating_shift(stem == "sshl.sat", *x, *y)),
                _ => unknown(),
            },
            "expect" | "ssa.copy" => self.args.first().map_or_else(unknown, |x| Ok(exact(x.bits, x.poison))),
            "abs" => promises(&mut self, Model::Iabs, is_least),
            "ctlz" => promises(&mut self, Model::Clz, is_zero),
            "cttz" => promises(&mut self, Model::Ctz, is_zero),
            "fabs" => self.model(Model::Fabs),
            "sqrt" => self.model(Model::Sqrt),
            "fma" => self.model(Model::Fma),
            "floor" => self.model(Model::Ffloor),
            "ceil" => self.model(Model::Fceil),
            "trunc" => self.model(Model::Ftrunc),
            "copysign" => self.model(Model::Fcopysign),
            "minimum" => self.model(Model::Fmin),
            "maximum" => self.model(Model::Fmax),
            "fshl" | "fshr" => match self.args {
                [x, y, amount] => {
                    let (n, whole) = (x.bits.width(), self.s.concat(&[x.bits, y.bits]));
                    let all = self.s.bits(n, n.into());
                    let by = self.apply("bvurem", amount.bits, all);
                    let by = self.s.resize(by, 2 * n);
                    let bits = if stem == "fshl" {
                        let shifted = self.apply("bvshl", whole, by);
                        self.s.extract(shifted, 2 * n - 1, n)
                    } else {
                        let shifted = self.apply("bvlshr", whole, by);
                        self.s.extract(shifted, n - 1, 0)
                    };
                    let poison = self.s.or(&[x.poison, y.poison, amount.poison]);
                    Ok(exact(bits, poison))
                }
                _ => unknown(),
            },
            "fmuladd" => self.fused_or_not().map_or_else(unknown, Ok),
            "fptosi.sat" => self.model(Model::FcvtToSintSat),
            "fptoui.sat" => self.model(Model::FcvtToUintSat),
            _ => self.of_library(stem).map_or_else(unknown, Ok),
        }
    }
}

/// Flags by which a NaN, or something infinite, is poison.
const STRICT: [&str; 3] = ["nnan", "ninf", "fast"];

/// Flags that allow other results.
const FAST: [&str; 6] = ["nsz", "arcp", "contract", "afn", "reassoc", "fast"];

/// Flags whose meaning is known.
const FLAGS: [&str; 7] = ["nsw", "nuw", "exact", "disjoint", "nneg", "samesign", "noundef"];

fn exact(bits: Expr, poison: Expr) -> Meaning {
    Meaning { value: Value { bits, poison, origin: None }, undefined: Expr::FALSE, open: false }
}
