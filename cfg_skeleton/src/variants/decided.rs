//! Which way a branch goes, because an earlier one has found that a counter has so far to go.
//!
//! A block that one edge of a branch leads to is reached only where the branch went that way, and so is what the block
//! dominates. Let such a branch have compared `a`, and let another one compare `a + d`, for a known `d >= 0`. Of integers with signs or
//! without, the least of which is `MIN`, and for constants `c`:
//!
//! | known | then | if | because |
//! |---|---|---|---|
//! | `a < m` | `a + d < n` | `m + d <= n`, as constants | it is below `m + d`, so it does not wrap |
//! | `a <= m` | `a + d <= n` | the same | the same |
//! | `a < max(n, MIN + c) - c` | `a + d < n` | `d <= c` | nothing is below `MIN`; else `a < n - c` |
//! | `n - a > c` without signs | `a + d != n` | `d <= c` | `n - a` is the only number of which `a` is so far from `n` |
//!
//! The same holds with all orders reversed, for `d <= 0`.

use crate::ir::operations::Operations;
use crate::ir::relation::Relation;
use crate::ir::{BlockId, Cfg, Definition, EdgeArg, Function, Terminator, Value};
use rewright_typeprop::{Model, Scalar, Universe};

/// Blocks that are looked at above a branch, and definitions above a value.
const MAX_STEPS: usize = 200;

/// The outcomes of a function's branches that earlier branches decide.
pub(super) struct Decided<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    universe: &'a Universe,
    operations: Operations<'a>,
}

/// A comparison that holds; with zero where nothing is on its right.
#[derive(Clone, Copy)]
struct Test {
    relation: Relation,
    signed: bool,
    left: Value,
    right: Option<Value>,
}

impl Test {
    /// The same, and the same with its sides swapped.
    fn readings(self) -> impl Iterator<Item = Test> {
        let swapped = self.right.map(|right| Test {
            relation: self.relation.swapped(),
            left: right,
            right: Some(self.left),
            ..self
        });
        [Some(self), swapped].into_iter().flatten()
    }
}

impl<'a> Decided<'a> {
    pub(super) fn new(function: &'a Function, cfg: &'a Cfg, universe: &'a Universe) -> Self {
        Decided { function, cfg, universe, operations: Operations::new(function, universe) }
    }

    /// Is a condition known to hold, or not to hold, at the end of a block?
    pub(super) fn outcome(&self, block: BlockId, cond: Value) -> Option<bool> {
        let tested = self.test(cond, true)?;
        let known = self.known(block);
        let pairs = known.iter().flat_map(|known| known.readings());
        let mut pairs = pairs.flat_map(|known| tested.readings().map(move |tested| (known, tested)));
        pairs.find_map(|(known, tested)| {
            let holds = self.derived(known, tested)?;
            let negated = holds.implies(tested.relation.negated());
            (holds.implies(tested.relation) || negated).then_some(!negated)
        })
    }

    /// The comparisons that branches on the way to a block have established.
    fn known(&self, block: BlockId) -> Vec<Test> {
        let mut found = vec![];
        let mut at = block;
        for _ in 0..MAX_STEPS {
            if let [edge] = self.cfg.predecessors(at)
                && let Terminator::Branch { cond, .. } = self.function.block(edge.from).term
            {
                found.extend(self.test(cond, edge.slot == 0));
            }
            let Some(above) = self.cfg.idom(at) else { break };
            at = above;
        }
        found
    }

    /// What holds where a condition does, or does not.
    fn test(&self, cond: Value, holds: bool) -> Option<Test> {
        let (relation, signed, left, right) = match self.operations.binary(cond) {
            Some((model, [left, right])) if let Some((relation, signed)) = Relation::of(model) => {
                (relation, signed, left, Some(right))
            }
            _ => (Relation::Ne, false, cond, None),
        };
        self.scalar(left)?;
        Some(Test { relation: if holds { relation } else { relation.negated() }, signed, left, right })
    }

    /// How the left side of a test stands to its right side, as far as another test says so.
    fn derived(&self, known: Test, tested: Test) -> Option<Relation> {
        if known.relation == Relation::Gt && !known.signed && self.is_far(known, tested) {
            return Some(Relation::Ne);
        }
        if tested.relation.orders() && known.relation.orders() && known.signed != tested.signed {
            return None;
        }
        let ahead = self.ahead(known.left, tested.left)?;
        let room = match known.relation {
            Relation::Lt | Relation::Le => self.room(known, tested, true)?.checked_sub(ahead)?,
            Relation::Gt | Relation::Ge => self.room(known, tested, false)?.checked_add(ahead)?,
            Relation::Eq | Relation::Ne => return None,
        };
        let forward = matches!(known.relation, Relation::Lt | Relation::Le);
        let is_along = if forward { ahead >= 0 } else { ahead <= 0 };
        (is_along && room >= 0).then_some(known.relation)
    }

    /// By how much may the left side of a test be further `up`, or down, than that of a known one, so that it stands to the right
    /// side of the test as the known one does to its own?
    fn room(&self, known: Test, tested: Test, up: bool) -> Option<i128> {
        let scalar = self.scalar(known.left)?;
        let bound = known.right?;
        let place = |n: i64| if known.signed { i128::from(n) } else { i128::from(scalar.zero_extended(n)) };
        if let (Some(m), Some(n)) = (self.constant(known.right), self.constant(tested.right)) {
            return Some(if up { place(n) - place(m) } else { place(m) - place(n) });
        }
        // Where the test is strict, nothing is beyond the last number.
        if !matches!(known.relation, Relation::Lt | Relation::Gt) {
            return None;
        }
        let (back, limited) = match (up, known.signed) {
            (true, true) => (Model::Sub, Model::Smax),
            (true, false) => (Model::Sub, Model::Umax),
            (false, true) => (Model::Add, Model::Smin),
            (false, false) => (Model::Add, Model::Umin),
        };
        let [limit, by] = self.operands(bound, back)?;
        let by = place(self.constant(Some(by))?);
        let [x, y] = self.operands(limit, limited)?;
        let last = match (up, known.signed) {
            (true, true) => -(1 << (scalar.bits() - 1)) + by,
            (true, false) => by,
            (false, true) => (1 << (scalar.bits() - 1)) - 1 - by,
            (false, false) => (1 << scalar.bits()) - 1 - by,
        };
        let is = |value: Value, other: Value| {
            self.is_same(Some(value), tested.right) && self.constant(Some(other)).is_some_and(|n| place(n) == last)
        };
        (by >= 0 && (is(x, y) || is(y, x))).then_some(by)
    }

    /// Does a distance that is greater than a constant keep the sides of a test apart?
    fn is_far(&self, known: Test, tested: Test) -> bool {
        let apart = || {
            let least = i128::from(self.scalar(known.left)?.zero_extended(self.constant(known.right)?));
            let within = |from: Value, up: bool| {
                let ahead = self.ahead(from, tested.left)?;
                Some(if up { (0..=least).contains(&ahead) } else { (-least..=0).contains(&ahead) })
            };
            match self.operands(known.left, Model::Sub) {
                Some([bound, counter]) if self.is_same(Some(bound), tested.right) => within(counter, true),
                Some([counter, bound]) if self.is_same(Some(bound), tested.right) => within(counter, false),
                // The distance from zero.
                _ if self.constant(tested.right) == Some(0) => within(known.left, false),
                _ => None,
            }
        };
        apart() == Some(true)
    }

    /// How far one value is ahead of another, if that is a constant.
    fn ahead(&self, of: Value, value: Value) -> Option<i128> {
        let [(from, start), (to, end)] = [of, value].map(|value| self.traced(value));
        let scalar = self.scalar(to)?;
        (from == to).then(|| i128::from(scalar.canonical(end.wrapping_sub(start) as u64)))
    }

    /// A value as another one plus a constant, through parameters that one edge brings.
    fn traced(&self, value: Value) -> (Value, i64) {
        let (mut value, mut offset) = (value, 0i64);
        for _ in 0..MAX_STEPS {
            let next = match self.operations.definition(value) {
                Some(Definition::Param(block, n)) => self.brought(block, n).map(|arg| (arg, 0)),
                Some(Definition::Result(..)) => self.scalar(value).and_then(|_| self.operations.sum(value)),
                None => None,
            };
            let Some((of, by)) = next else { break };
            (value, offset) = (of, offset.wrapping_add(by));
        }
        (value, offset)
    }

    /// What the only edge into a block brings.
    fn brought(&self, block: BlockId, n: usize) -> Option<Value> {
        let [edge] = self.cfg.predecessors(block) else { return None };
        match self.function.block(edge.from).term.edges()[edge.slot as usize].args.get(n)? {
            EdgeArg::Value(value) => Some(*value),
            EdgeArg::Terminator(_) => None,
        }
    }

    fn is_same(&self, x: Option<Value>, y: Option<Value>) -> bool {
        let (n, m) = (self.constant(x), self.constant(y));
        (x.is_some() && x == y) || (n.is_some() && n == m)
    }

    fn scalar(&self, value: Value) -> Option<Scalar> {
        self.universe.types.scalar(self.function.ty(value)).filter(|scalar| scalar.is_int())
    }

    /// A constant; nothing stands for zero.
    fn constant(&self, value: Option<Value>) -> Option<i64> {
        value.map_or(Some(0), |value| self.operations.constant(value))
    }

    /// The operands of a binary operation with a model.
    fn operands(&self, value: Value, model: Model) -> Option<[Value; 2]> {
        self.operations.binary(value).filter(|(found, _)| *found == model).map(|(_, operands)| operands)
    }
}

#[cfg(test)]
mod tests;
