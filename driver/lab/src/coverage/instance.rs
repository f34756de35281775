//! A function for a pattern: random types and constants where the pattern leaves them open.
//!
//! Nothing is solved: a choice that does not fit (a variable that stands for values of two types, say) gives no
//! instance, and conditions beside the pattern are met by chance. The caller tries again.

use super::Pattern;
use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::types::*;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Why there is no function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unable {
    /// This choice does not fit; another may.
    Clash,
    /// The pattern has a term that stands for no instruction.
    Term(String),
}

/// A function as CLIF text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClifInstance(pub String);

const INTEGERS: [Type; 5] = [I8, I16, I32, I64, I128];
const OTHERS: [Type; 8] = [F32, F64, I8X16, I16X8, I32X4, I64X2, F32X4, F64X2];
const FLOATS: [&str; 10] =
    ["0.0", "-0.0", "0x1.0p0", "-0x1.0p0", "0x1.8p1", "0x1.0p-3", "0x1.4p2", "+Inf", "-Inf", "+NaN"];

impl ClifInstance {
    /// A function called `%name` whose result, or whose last instruction, has the pattern's shape.
    pub fn new(pattern: &Pattern, name: &str, rng: &mut ChaCha8Rng) -> Result<ClifInstance, Unable> {
        let mut maker = Maker {
            rng,
            types: FxHashMap::default(),
            numbers: FxHashMap::default(),
            conditions: FxHashMap::default(),
            values: FxHashMap::default(),
            params: vec![],
            body: String::new(),
            next: 0,
        };
        let (end, result) = maker.whole(pattern)?;
        let mut text = format!("function %{name}(");
        let types: Vec<String> = maker.params.iter().map(|(_, ty)| ty.to_string()).collect();
        let params: Vec<String> = maker.params.iter().map(|(v, ty)| format!("v{v}: {ty}")).collect();
        let block = if params.is_empty() { "block0".into() } else { format!("block0({})", params.join(", ")) };
        let _ = write!(text, "{}) -> {result} {{\n{block}:\n{}{end}}}\n", types.join(", "), maker.body);
        Ok(ClifInstance(text))
    }
}

struct Maker<'r> {
    rng: &'r mut ChaCha8Rng,
    types: FxHashMap<String, Type>,
    numbers: FxHashMap<String, i64>,
    conditions: FxHashMap<String, String>,
    values: FxHashMap<String, (u32, Type)>,
    params: Vec<(u32, Type)>,
    body: String,
    next: u32,
}

type Made = Result<(u32, Type), Unable>;

/// Operations whose operands have the type of the result.
const PLAIN: &[&str] = &[
    "iadd",
    "isub",
    "imul",
    "band",
    "bor",
    "bxor",
    "bnot",
    "ineg",
    "iabs",
    "smin",
    "smax",
    "umin",
    "umax",
    "bswap",
    "bitrev",
    "clz",
    "ctz",
    "popcnt",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fma",
    "sqrt",
    "ceil",
    "floor",
    "trunc",
    "nearest",
    "fmin",
    "fmax",
    "fneg",
    "fabs",
    "fcopysign",
    "smulhi",
    "umulhi",
    "bitselect",
];

const SHIFTS: &[&str] = &["rotl", "rotr", "ishl", "ushr", "sshr"];

const COMPARISONS: &[&str] = &["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"];

const DIVISIONS: &[&str] = &["udiv", "sdiv", "urem", "srem"];

impl Maker<'_> {
    /// The pattern as the end of a function: what comes after its operands, and the type of the result.
    fn whole(&mut self, pattern: &Pattern) -> Result<(String, Type), Unable> {
        let Pattern::Term(head, args) = pattern else { return Err(Unable::Term("a variable".into())) };
        match (head.as_str(), &args[..]) {
            ("brif", [condition, ..]) => {
                let (c, _) = self.value(condition, None)?;
                let arms = [self.arm(), self.arm()];
                Ok((format!("brif v{c}, block1, block2\nblock1:\n{}block2:\n{}", arms[0], arms[1]), I32))
            }
            ("br_table", [index, ..]) => {
                let (i, _) = self.value(index, Some(I32))?;
                let arms = [self.arm(), self.arm(), self.arm()];
                let [a, b, c] = arms;
                Ok((format!("br_table v{i}, block3, [block1, block2]\nblock1:\n{a}block2:\n{b}block3:\n{c}"), I32))
            }
            ("trapz" | "trapnz", [condition, ..]) => {
                let (c, _) = self.value(condition, None)?;
                Ok((format!("{head} v{c}, user1\n{}", self.arm()), I32))
            }
            _ => {
                let (v, ty) = self.value(pattern, None)?;
                Ok((format!("return v{v}\n"), ty))
            }
        }
    }

    /// The end of one path.
    fn arm(&mut self) -> String {
        if self.rng.random_bool(0.2) {
            return "trap user1\n".into();
        }
        let v = self.fresh();
        format!("v{v} = iconst.i32 {v}\nreturn v{v}\n")
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn param(&mut self, ty: Option<Type>) -> (u32, Type) {
        let ty = ty.unwrap_or_else(|| self.any_type());
        let v = self.fresh();
        self.params.push((v, ty));
        (v, ty)
    }

    fn any_type(&mut self) -> Type {
        let list: &[Type] = if self.rng.random_bool(0.8) { &INTEGERS } else { &OTHERS };
        *list.choose(self.rng).unwrap_or(&I32)
    }

    fn integer(&mut self) -> Type {
        *INTEGERS.choose(self.rng).unwrap_or(&I32)
    }

    fn emit(&mut self, op: &str, args: &[u32], ty: Type) -> (u32, Type) {
        let v = self.fresh();
        let args: Vec<String> = args.iter().map(|a| format!("v{a}")).collect();
        let _ = writeln!(self.body, "v{v} = {op} {}", args.join(", "));
        (v, ty)
    }

    fn value(&mut self, pattern: &Pattern, want: Option<Type>) -> Made {
        let made = match pattern {
            Pattern::Atom(name) if name == "_" => self.param(want),
            Pattern::Atom(name) => match self.values.get(name) {
                Some(known) => *known,
                None => {
                    let made = self.param(want);
                    self.values.insert(name.clone(), made);
                    made
                }
            },
            Pattern::Bind(name, inner) => {
                let made = self.value(inner, want)?;
                if self.values.insert(name.clone(), made).is_some_and(|old| old != made) {
                    return Err(Unable::Clash);
                }
                made
            }
            Pattern::Term(head, args) => self.term(head, args, want)?,
        };
        if want.is_some_and(|want| want != made.1) { Err(Unable::Clash) } else { Ok(made) }
    }

    fn term(&mut self, head: &str, args: &[Pattern], want: Option<Type>) -> Made {
        let unknown = || Unable::Term(head.to_string());
        if DIVISIONS.contains(&head) {
            return self.same(head, args, want.unwrap_or(I32));
        }
        let (first, rest) = args.split_first().ok_or_else(unknown)?;
        match (head, rest) {
            _ if PLAIN.contains(&head) => {
                let ty = self.ty(first, want)?;
                self.same(head, rest, ty)
            }
            (_, [x, amount]) if SHIFTS.contains(&head) => {
                let ty = self.ty(first, want)?;
                let x = self.value(x, Some(ty))?.0;
                let amount_type = self.operand_type(amount).unwrap_or_else(|| self.integer());
                let amount = self.value(amount, Some(amount_type))?.0;
                Ok(self.emit(head, &[x, amount], ty))
            }
            (_, [x, y]) if COMPARISONS.contains(&head) => self.comparison(&format!("icmp {head}"), first, x, y, want),
            ("spaceship_s" | "spaceship_u", [x, y]) => {
                let sign = if head == "spaceship_s" { 's' } else { 'u' };
                let (x, ty) = self.value(x, None)?;
                let y = self.value(y, Some(ty))?.0;
                let above = self.emit(&format!("icmp {sign}gt"), &[x, y], I8).0;
                let below = self.emit(&format!("icmp {sign}lt"), &[x, y], I8).0;
                Ok(self.emit("isub", &[above, below], I8))
            }
            ("icmp" | "fcmp", [condition, x, y]) => {
                let condition = self.condition(condition, head == "icmp")?;
                self.comparison(&format!("{head} {condition}"), first, x, y, want)
            }
            ("select" | "select_spectre_guard", [c, x, y]) => {
                let ty = self.ty(first, want)?;
                let c_type = self.operand_type(c).unwrap_or_else(|| self.integer());
                let c = self.value(c, Some(c_type))?.0;
                let (x, y) = (self.value(x, Some(ty))?.0, self.value(y, Some(ty))?.0);
                Ok(self.emit(head, &[c, x, y], ty))
            }
            ("iconst" | "iconst_u" | "iconst_s", [number]) => {
                let ty = self.ty(first, want)?;
                if !ty.is_int() || ty.bits() > 64 {
                    return Err(Unable::Clash);
                }
                let n = self.number(number, ty)?;
                let shift = 64 - ty.bits();
                let v = self.fresh();
                let _ = writeln!(self.body, "v{v} = iconst.{ty} {}", n << shift >> shift);
                Ok((v, ty))
            }
            ("f32const" | "f64const", [_]) => {
                let ty = if head == "f32const" { F32 } else { F64 };
                let v = self.fresh();
                let n = FLOATS.choose(self.rng).unwrap_or(&"0.0");
                let _ = writeln!(self.body, "v{v} = {head} {n}");
                Ok((v, ty))
            }
            ("value_type", []) => {
                let ty = self.ty(first, want)?;
                Ok(self.param(Some(ty)))
            }
            ("uextend_maybe" | "sextend_maybe", [x]) => {
                let ty = self.ty(first, want)?;
                if self.rng.random_bool(0.5) {
                    return self.value(x, Some(ty));
                }
                self.conversion(head.trim_end_matches("_maybe"), ty, x)
            }
            (
                "uextend" | "sextend" | "ireduce" | "bmask" | "fcvt_from_uint" | "fcvt_from_sint" | "splat"
                | "scalar_to_vector",
                [x],
            ) => {
                let ty = self.ty(first, want)?;
                self.conversion(head, ty, x)
            }
            ("swiden_low" | "swiden_high" | "uwiden_low" | "uwiden_high", [x]) => {
                let ty = self.ty(first, want)?;
                let narrow = ty.split_lanes().ok_or(Unable::Clash)?;
                let x = self.value(x, Some(narrow))?.0;
                Ok(self.emit(head, &[x], ty))
            }
            ("iconcat", [x, y]) => {
                let ty = self.ty(first, want)?;
                let half = ty.half_width().ok_or(Unable::Clash)?;
                let (x, y) = (self.value(x, Some(half))?.0, self.value(y, Some(half))?.0);
                Ok(self.emit(head, &[x, y], ty))
            }
            ("uadd_overflow_trap", [y, _]) => {
                let ty = *[I32, I64].choose(self.rng).unwrap_or(&I64);
                let (x, y) = (self.value(first, Some(ty))?.0, self.value(y, Some(ty))?.0);
                let v = self.fresh();
                let _ = writeln!(self.body, "v{v} = {head} v{x}, v{y}, user1");
                Ok((v, ty))
            }
            _ => Err(unknown()),
        }
    }

    fn same(&mut self, head: &str, args: &[Pattern], ty: Type) -> Made {
        let args = args.iter().map(|a| Ok(self.value(a, Some(ty))?.0)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.emit(head, &args, ty))
    }

    fn comparison(&mut self, op: &str, result: &Pattern, x: &Pattern, y: &Pattern, want: Option<Type>) -> Made {
        // Vectors compare to vectors of their own shape.
        let ty = match want.filter(|t| t.is_vector()) {
            Some(vector) => Some(vector),
            None => self.operand_type(x).or_else(|| self.operand_type(y)),
        };
        let (x, ty) = match ty {
            None if op.starts_with("fcmp") => self.value(x, Some(F64))?,
            None => {
                let ty = self.integer();
                self.value(x, Some(ty))?
            }
            some => self.value(x, some)?,
        };
        let y = self.value(y, Some(ty))?.0;
        let made = self.emit(op, &[x, y], ty.as_truthy());
        self.ty(result, Some(made.1))?;
        Ok(made)
    }

    fn conversion(&mut self, head: &str, ty: Type, x: &Pattern) -> Made {
        let from: Vec<Type> = match head {
            "splat" => vec![ty.lane_type()],
            "scalar_to_vector" => vec![ty.lane_type()],
            "uextend" | "sextend" => INTEGERS.iter().copied().filter(|t| t.bits() < ty.bits()).collect(),
            "ireduce" => INTEGERS.iter().copied().filter(|t| t.bits() > ty.bits()).collect(),
            _ => INTEGERS.to_vec(),
        };
        let known = self.operand_type(x);
        let from = match known {
            Some(known) if from.contains(&known) => known,
            Some(_) => return Err(Unable::Clash),
            None => *from.choose(self.rng).ok_or(Unable::Clash)?,
        };
        let x = self.value(x, Some(from))?.0;
        Ok(self.emit(&format!("{head}.{ty}"), &[x], ty))
    }

    /// The type of an operand, if variables that are bound already decide it.
    fn operand_type(&self, pattern: &Pattern) -> Option<Type> {
        match pattern {
            Pattern::Atom(name) => self.values.get(name).map(|(_, ty)| *ty),
            Pattern::Bind(_, inner) => self.operand_type(inner),
            Pattern::Term(head, args) => {
                let comparison = COMPARISONS.contains(&head.as_str()) || matches!(head.as_str(), "icmp" | "fcmp");
                if comparison {
                    return Some(I8);
                }
                if DIVISIONS.contains(&head.as_str()) {
                    return None;
                }
                args.first().and_then(|ty| self.known_type(ty))
            }
        }
    }

    fn known_type(&self, pattern: &Pattern) -> Option<Type> {
        match pattern {
            Pattern::Atom(name) => named_type(name).or_else(|| self.types.get(name).copied()),
            Pattern::Bind(_, inner) => self.known_type(inner),
            Pattern::Term(_, args) => self.known_type(args.last()?),
        }
    }

    /// A type that a pattern of types admits.
    fn ty(&mut self, pattern: &Pattern, want: Option<Type>) -> Result<Type, Unable> {
        let ty = match (self.known_type(pattern), want) {
            (Some(known), Some(want)) if known != want => return Err(Unable::Clash),
            (Some(known), _) => known,
            (None, Some(want)) => want,
            (None, None) => self.any_type(),
        };
        self.bind_type(pattern, ty);
        Ok(ty)
    }

    fn bind_type(&mut self, pattern: &Pattern, ty: Type) {
        match pattern {
            Pattern::Atom(name) if name == "_" || name.starts_with('$') => {}
            Pattern::Atom(name) => drop(self.types.insert(name.clone(), ty)),
            Pattern::Bind(name, inner) => {
                self.types.insert(name.clone(), ty);
                self.bind_type(inner, ty);
            }
            // Cranelift will say what the extractor asks for.
            Pattern::Term(_, args) => args.last().into_iter().for_each(|inner| self.bind_type(inner, ty)),
        }
    }

    fn number(&mut self, pattern: &Pattern, ty: Type) -> Result<i64, Unable> {
        match pattern {
            Pattern::Atom(name) if name != "_" => {
                if let Some(n) = literal(name) {
                    return Ok(n);
                }
                if let Some(n) = self.numbers.get(name) {
                    return Ok(*n);
                }
                let n = self.some_number(ty);
                self.numbers.insert(name.clone(), n);
                Ok(n)
            }
            Pattern::Bind(name, inner) => {
                let n = self.number(inner, ty)?;
                self.numbers.insert(name.clone(), n);
                Ok(n)
            }
            Pattern::Term(head, args) => match args.last() {
                Some(inner) if head == "u64_from_imm64" => self.number(inner, ty),
                _ if head.contains("power_of_two") => Ok(1 << self.rng.random_range(0..ty.bits())),
                _ => Ok(self.some_number(ty)),
            },
            Pattern::Atom(_) => Ok(self.some_number(ty)),
        }
    }

    /// A number with a liking for edges, widths and those that are in use.
    fn some_number(&mut self, ty: Type) -> i64 {
        let bits = i64::from(ty.bits());
        let used: Vec<i64> = {
            let mut used: Vec<i64> = self.numbers.values().copied().collect();
            used.sort_unstable();
            used
        };
        match self.rng.random_range(0..12) {
            0 | 1 => self.rng.random_range(-3..12),
            2 => *[bits, bits - 1, bits / 2, 8, 16, 32, 63, 64].choose(self.rng).unwrap_or(&bits),
            3 => *[-1, i64::MIN >> (64 - bits), !(i64::MIN >> (64 - bits)), 0].choose(self.rng).unwrap_or(&-1),
            4 => 1 << self.rng.random_range(0..bits),
            5 => *[0xff, 0xffff, 0xffff_ffff, 0xff00, 0xffff_0000].choose(self.rng).unwrap_or(&0xff),
            6 => (1i64 << self.rng.random_range(0..bits)).wrapping_sub(1),
            7 => self.rng.random_range(0..256),
            8..=10 if !used.is_empty() => {
                let known = *used.choose(self.rng).unwrap_or(&0);
                *[known, !known, known.wrapping_neg(), bits.wrapping_sub(known), known.wrapping_add(1)]
                    .choose(self.rng)
                    .unwrap_or(&known)
            }
            _ => self.rng.random(),
        }
    }

    fn condition(&mut self, pattern: &Pattern, integer: bool) -> Result<String, Unable> {
        let any = |rng: &mut ChaCha8Rng| match integer {
            true => IntCC::all().choose(rng).map(ToString::to_string).unwrap_or_default(),
            false => FloatCC::all().choose(rng).map(ToString::to_string).unwrap_or_default(),
        };
        match pattern {
            Pattern::Atom(name) if name == "_" => Ok(any(self.rng)),
            Pattern::Atom(name) => {
                let complement = match integer {
                    true => self.conditions.values().filter_map(|c| c.parse::<IntCC>().ok()).next(),
                    false => None,
                };
                let new = match complement {
                    Some(known) if self.rng.random_bool(0.4) => known.complement().to_string(),
                    _ => any(self.rng),
                };
                Ok(self.conditions.entry(name.clone()).or_insert(new).clone())
            }
            Pattern::Term(name, _) => {
                let all = IntCC::all().iter().map(|c| (format!("IntCC.{c:?}"), c.to_string()));
                let all = all.chain(FloatCC::all().iter().map(|c| (format!("FloatCC.{c:?}"), c.to_string())));
                let found = all.into_iter().find(|(long, _)| long == name);
                found.map(|(_, short)| short).ok_or_else(|| Unable::Term(name.clone()))
            }
            Pattern::Bind(name, inner) => {
                let condition = self.condition(inner, integer)?;
                self.conditions.insert(name.clone(), condition.clone());
                Ok(condition)
            }
        }
    }
}

fn named_type(name: &str) -> Option<Type> {
    let name = name.strip_prefix('$')?.to_lowercase();
    INTEGERS.iter().chain(&OTHERS).copied().find(|t| t.to_string() == name)
}

fn literal(name: &str) -> Option<i64> {
    let name = name.replace('_', "");
    let (negative, digits) = match name.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, name.as_str()),
    };
    let n = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    } as i64;
    Some(if negative { n.wrapping_neg() } else { n })
}

#[cfg(test)]
mod tests;
