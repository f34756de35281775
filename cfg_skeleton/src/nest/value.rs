//! What statements compute: values as a graph in which equal values are one.

use super::affine::Affine;
use super::{ArrayId, Item, LoadId, Nest, nan};
use indexmap::IndexSet;

/// A value of a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub u32);

/// How a value comes about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number made from loop variables and sizes.
    Index(Affine),
    /// What a load reads.
    Load(LoadId),
    /// A result of an opaque operation: which, and its how manieth.
    Result(LoadId, u32),
    /// The scalar argument with this position.
    Argument(u32),
    /// A constant: its bits, or its text where the type is unknown.
    Constant(Constant),
    /// A pure operation.
    Op(Operation),
    /// An array, where an opaque operation takes one.
    Array(ArrayId),
}

/// A constant and its type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    /// The type, as in the source.
    pub ty: String,
    /// What it is.
    pub number: Number,
}

/// The contents of a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// The bits of an integer or a float.
    Bits(u128),
    /// What only its text tells.
    Text(String),
}

/// A pure operation on values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    /// Its name with the dialect, say `arith.addi`, followed by the predicate where there is one.
    pub name: String,
    /// Promises about operands or results, sorted: `nsw`, `fastmath<nnan>`.
    pub flags: Vec<String>,
    /// The type of the operands.
    pub from: String,
    /// The type of the result.
    pub ty: String,
    /// Operands.
    pub operands: Vec<ValueId>,
}

/// All values of a comparison.
#[derive(Clone, Default, Debug)]
pub struct Pool {
    values: IndexSet<Value>,
    /// Whether an operation sees the bits of NaNs.
    sees_nans: bool,
}

impl Pool {
    /// Values are equal only if the bits of NaNs are, too.
    pub fn compare_nans(&mut self) {
        self.sees_nans = true;
    }

    /// Whether values are equal only if the bits of NaNs are, too: they are seen.
    #[must_use]
    pub fn sees_nans(&self) -> bool {
        self.sees_nans
    }

    /// The number of a value.
    pub fn add(&mut self, value: Value) -> ValueId {
        if let Value::Op(op) = &value {
            let has_constant_sign = op.operands.get(1).is_some_and(|sign| self.bits(*sign).is_some());
            self.sees_nans |= nan::sees_bits(&op.name, (&op.from, &op.ty), has_constant_sign);
        }
        ValueId(u32::try_from(self.values.insert_full(value).0).unwrap_or(u32::MAX))
    }

    /// How a value comes about.
    #[must_use]
    pub fn get(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// The number of a value that was added.
    #[must_use]
    pub fn find(&self, value: &Value) -> Option<ValueId> {
        self.values.get_index_of(value).and_then(|n| u32::try_from(n).ok()).map(ValueId)
    }

    /// These values and all that they are made from, each once, operands first.
    #[must_use]
    pub fn reachable(&self, roots: impl IntoIterator<Item = ValueId>) -> Vec<ValueId> {
        let mut rest: Vec<ValueId> = roots.into_iter().collect();
        let (mut seen, mut found) = (rustc_hash::FxHashSet::default(), vec![]);
        while let Some(value) = rest.pop() {
            if seen.insert(value) {
                found.push(value);
                if let Value::Op(op) = self.get(value) {
                    rest.extend(&op.operands);
                }
            }
        }
        // Operands are added before what is made from them.
        found.sort_unstable();
        found
    }

    /// Whether an operation gives the same when its two operands change places. Of floats this holds except for the bits
    /// of a NaN, so it does not hold where these are compared.
    #[must_use]
    pub fn commutes(&self, name: &str) -> bool {
        const INTEGERS: [&str; 11] =
            ["addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "cmpi.eq", "cmpi.ne"];
        const FLOATS: [&str; 6] = ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"];
        let Some(name) = name.strip_prefix("arith.") else { return false };
        INTEGERS.contains(&name) || (FLOATS.contains(&name) && !self.sees_nans)
    }

    /// [`BRANCH`] or [`POSITIVE`] of an index.
    pub fn required(&mut self, name: &str, index: ValueId) -> ValueId {
        let (name, ty) = (name.to_string(), "index".to_string());
        self.add(Value::Op(Operation { name, flags: vec![], from: ty.clone(), ty, operands: vec![index] }))
    }

    /// The bits of a constant.
    #[must_use]
    pub fn bits(&self, id: ValueId) -> Option<u128> {
        match self.get(id) {
            Value::Constant(Constant { number: Number::Bits(bits), .. }) => Some(*bits),
            _ => None,
        }
    }

    /// The type of a value of the nest, where it is known.
    #[must_use]
    pub fn type_of(&self, nest: &Nest, id: ValueId) -> Option<String> {
        match self.get(id) {
            Value::Index(_) => Some("index".to_string()),
            Value::Load(load) => element(&nest.items, *load).map(|array| nest.array(array).element.clone()),
            Value::Argument(position) => nest.arguments.get(*position as usize).cloned(),
            Value::Constant(constant) => Some(constant.ty.clone()),
            Value::Op(op) => Some(op.ty.clone()),
            Value::Result(..) | Value::Array(_) => None,
        }
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// The array that a load reads.
pub(crate) fn element(items: &[Item], load: LoadId) -> Option<ArrayId> {
    items.iter().find_map(|item| match item {
        Item::Load(x) if x.id == load => Some(x.array),
        Item::For(x) => element(&x.body, load),
        Item::If(x) => element(&x.then, load).or_else(|| element(&x.otherwise, load)),
        _ => None,
    })
}

/// The loads that a value is made from.
pub(crate) fn loads_of(pool: &Pool, value: ValueId) -> impl Iterator<Item = LoadId> {
    let load = |value| match pool.get(value) {
        Value::Load(load) => Some(*load),
        _ => None,
    };
    pool.reachable([value]).into_iter().filter_map(load)
}

/// Whether the operation gives one of two operands, by its first one: a poison that it does not give does not matter.
#[must_use]
pub fn is_choice(name: &str) -> bool {
    name == "arith.select"
}

/// Whether the flag makes poison and changes nothing else.
#[must_use]
pub fn is_wrapping_flag(flag: &str) -> bool {
    ["nsw", "nuw", "exact", "disjoint", "nneg"].contains(&flag)
}

/// Whether the operation, without flags, never makes poison of operands that are not poison; `amount` is its last
/// operand, where that is a constant.
#[must_use]
pub fn is_never_poison(name: &str, from: &str, amount: Option<u128>) -> bool {
    const ARITH: [&str; 36] = [
        "addi",
        "subi",
        "muli",
        "divsi",
        "divui",
        "remsi",
        "remui",
        "ceildivsi",
        "ceildivui",
        "floordivsi",
        "andi",
        "ori",
        "xori",
        "maxsi",
        "minsi",
        "maxui",
        "minui",
        "select",
        "extsi",
        "extui",
        "trunci",
        "index_cast",
        "index_castui",
        "bitcast",
        "sitofp",
        "uitofp",
        "extf",
        "truncf",
        "addf",
        "subf",
        "mulf",
        "divf",
        "remf",
        "negf",
        "maximumf",
        "minimumf",
    ];
    const MATH: [&str; 14] = [
        "absf",
        "absi",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "roundeven",
        "fma",
        "copysign",
        "ctlz",
        "cttz",
        "ctpop",
        "exp",
        "log",
    ];
    if let Some(name) = name.strip_prefix("math.") {
        return MATH.contains(&name);
    }
    let Some(name) = name.strip_prefix("arith.") else { return false };
    if ["shli", "shrsi", "shrui"].contains(&name) {
        let width = from.strip_prefix('i').and_then(|width| width.parse::<u128>().ok());
        return width.zip(amount).is_some_and(|(width, amount)| amount < width);
    }
    ARITH.contains(&name) || name.starts_with("cmpi.") || name.starts_with("cmpf.") || name.ends_with("numf")
}

/// Whether the operation may give what has no value: a promise that is broken, a shift by too much, a float that no
/// integer is near.
#[must_use]
pub fn may_be_poison(pool: &Pool, op: &Operation) -> bool {
    let name = op.name.strip_prefix("arith.").unwrap_or_default();
    let amount = || match op.operands.get(1).map(|amount| pool.get(*amount)) {
        Some(Value::Constant(Constant { ty, number: Number::Bits(bits) })) => {
            ty.strip_prefix('i').and_then(|width| width.parse().ok()).is_none_or(|width: u128| *bits >= width)
        }
        _ => true,
    };
    !op.flags.is_empty()
        || ["fptosi", "fptoui"].contains(&name)
        || (["shli", "shrsi", "shrui"].contains(&name) && amount())
}

/// The operation that gives its operand, and is undefined where that is: a loop or a branch that it decides.
pub const BRANCH: &str = "nest.branch";

/// The operation that gives its operand, and is undefined where that is not positive.
pub const POSITIVE: &str = "nest.positive";

/// Whether executing the operation may be undefined behaviour.
#[must_use]
pub fn may_trap(name: &str) -> bool {
    const NAMES: [&str; 7] = ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"];
    name == "math.ipowi" || name.strip_prefix("arith.").is_some_and(|name| NAMES.contains(&name))
}

/// Whether executing the operation on these operands may be undefined behaviour.
#[must_use]
pub fn may_trap_on(pool: &Pool, name: &str, operands: &[ValueId]) -> bool {
    may_trap(name)
        && if name == "math.ipowi" { !exponent_is_safe(pool, operands) } else { !divisor_is_safe(pool, operands) }
}

/// Whether the second operand is a constant that is not negative: 0 has no negative power.
fn exponent_is_safe(pool: &Pool, operands: &[ValueId]) -> bool {
    match operands.get(1).map(|exponent| pool.get(*exponent)) {
        Some(Value::Constant(Constant { ty, number: Number::Bits(bits) })) => {
            let width: u32 = ty.strip_prefix('i').and_then(|w| w.parse().ok()).unwrap_or(0);
            (1..=64).contains(&width) && bits >> (width - 1) == 0
        }
        Some(Value::Index(affine)) => affine.as_constant().is_some_and(|c| c >= 0),
        _ => false,
    }
}

/// Whether the second operand is a constant by which all numbers can be divided.
fn divisor_is_safe(pool: &Pool, operands: &[ValueId]) -> bool {
    match operands.get(1).map(|divisor| pool.get(*divisor)) {
        Some(Value::Constant(Constant { ty, number: Number::Bits(bits) })) => {
            let width: u32 = ty.strip_prefix('i').and_then(|w| w.parse().ok()).unwrap_or(0);
            (1..=64).contains(&width) && *bits != 0 && *bits != u128::MAX >> (128 - width)
        }
        Some(Value::Index(affine)) => affine.as_constant().is_some_and(|c| c != 0 && c != -1),
        _ => false,
    }
}
