//! Something that may hold of values of both versions at a pair of cuts, and when it does.

use super::super::facts::Interval;
use super::super::meaning::Value;
use crate::conversion::How;
use rewright_llvm::body::Operand;
use rewright_smt::{Expr, Script, Sort};

impl How {
    /// When a value of the second version is what comes from one of the first version, and a number more.
    pub(super) fn holds(self, s: &mut Script, was: Value, is: Value, more: i128) -> Expr {
        let width = is.bits.width();
        let made = self.made(s, was.bits, width);
        let more = s.bits(width, more as u128);
        let made = s.apply("bvadd", &[made, more], Sort::Bits(width));
        let mut same = vec![s.equal(made, is.bits)];
        if let (Some(was), Some(is)) = (was.origin, is.origin) {
            same.push(s.equal(was, is));
        }
        s.and(&same)
    }
}

/// Something that may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Candidate {
    /// A base of one version is one value, not one for each use.
    Fixed { side: usize, base: usize },
    /// A base of the first version is not poison.
    Defined { old: usize },
    /// A base of the second version refines what comes from one of the first version, and a number `more`.
    Related { old: usize, new: usize, how: How, more: i128 },
    /// Two values of one version are related in this way, if neither is poison.
    Fact { side: usize, relation: &'static str, left: Operand, right: Operand },
    /// Values that both versions compare are as far apart, or as far apart the other way round, if none is poison.
    Distance { old: [Operand; 2], new: [Operand; 2], turned: bool },
    /// A base of the first version is poison where its partner in the second version is.
    Alike { old: usize, new: usize },
    /// A base of the second version is within bounds if it is not poison: at each use.
    Within { new: usize, bounds: Interval },
    /// A base is what memory holds where one of the readings of its cut reads.
    Read { side: usize, reading: usize },
    /// A base of the second version is a multiple of this number, if it is not poison.
    Multiple { new: usize, of: usize },
    /// Some bases of the second version, taken together by an operation whose order does not matter, refine a base of
    /// the first one.
    Folded { old: usize, by: &'static str, new: Vec<usize> },
}

/// What a candidate says that is about values of comparisons, of those values: by version and which it is.
pub(super) fn fact(
    s: &mut Script,
    candidate: &Candidate,
    value: impl Fn(usize, usize) -> Option<Value>,
) -> Option<Expr> {
    match candidate {
        Candidate::Fact { side, relation, .. } => {
            let (left, right) = (value(*side, 0)?, value(*side, 1)?);
            let holds = s.apply(relation, &[left.bits, right.bits], Sort::Bool);
            Some(s.or(&[left.poison, right.poison, holds]))
        }
        Candidate::Distance { turned, .. } => {
            let [old, new] = [[value(0, 0)?, value(0, 1)?], [value(1, 0)?, value(1, 1)?]];
            let new = if *turned { [new[1], new[0]] } else { new };
            let [was, is] = [old, new].map(|[left, right]| {
                let sort = Sort::Bits(left.bits.width());
                s.apply("bvsub", &[left.bits, right.bits], sort)
            });
            let same = s.equal(was, is);
            let poison = old.into_iter().chain(new).map(|value| value.poison);
            let all: Vec<Expr> = poison.chain([same]).collect();
            Some(s.or(&all))
        }
        _ => None,
    }
}

impl Candidate {
    /// Does it say something of a base of the first version, or of what may be computed from it?
    pub(super) fn depends_on(&self, base: usize) -> bool {
        match self {
            Candidate::Related { old, .. }
            | Candidate::Alike { old, .. }
            | Candidate::Folded { old, .. }
            | Candidate::Defined { old } => *old == base,
            Candidate::Fact { side, .. } => *side == 0,
            Candidate::Distance { .. } => true,
            Candidate::Fixed { .. }
            | Candidate::Within { .. }
            | Candidate::Read { .. }
            | Candidate::Multiple { .. } => false,
        }
    }
}

/// When a value that is not poison is within bounds.
pub(super) fn within(s: &mut Script, value: Value, bounds: Interval) -> Expr {
    let holds = bounds.holds(s, value.bits);
    s.or(&[value.poison, holds])
}

/// When a value that is not poison is a multiple of a number.
pub(super) fn multiple(s: &mut Script, value: Value, of: usize) -> Expr {
    let (sort, of) = (Sort::Bits(value.bits.width()), s.bits(value.bits.width(), of as u128));
    let rest = s.apply("bvurem", &[value.bits, of], sort);
    let some = s.nonzero(rest);
    let none = s.not(some);
    s.or(&[value.poison, none])
}

/// Values taken together.
pub(super) fn fold(s: &mut Script, by: &str, lanes: &[Value]) -> Value {
    let poison: Vec<Expr> = lanes.iter().map(|lane| lane.poison).collect();
    let symbol = format!("bv{by}");
    let sum = |sum: Expr, lane: Expr| s.apply(&symbol, &[sum, lane], Sort::Bits(lane.width()));
    let bits = lanes.iter().map(|lane| lane.bits).reduce(sum).unwrap_or(Expr::FALSE);
    Value { bits, poison: s.or(&poison), origin: None }
}

/// When values of the second version, taken together, refine one of the first version.
pub(super) fn folded(s: &mut Script, by: &str, was: Value, lanes: &[Value]) -> Expr {
    let whole = fold(s, by, lanes);
    let (defined, same) = (s.not(whole.poison), s.equal(was.bits, whole.bits));
    let kept = s.and(&[defined, same]);
    s.or(&[was.poison, kept])
}
