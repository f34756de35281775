//! `for z = 0 to n * m { q = floor(z / m); B(q, z) }` is `for i = 0 to n { for j = 0 to m { B(i, m * i + j) } }` where
//! the size `m` is no constant: with `0 <= j < m`, `m * i + j` has the quotient `i`.

use super::super::affine::{Affine, Var};
use super::super::certificate::Step;
use super::super::predicate::Conjunction;
use super::super::substitute::Substitution;
use super::super::value::{POSITIVE, Value, ValueId};
use super::super::{For, Item};
use super::loops::counts_from_zero;
use super::{Condition, Normaliser};

impl Normaliser<'_> {
    pub(super) fn uncoalesce(&mut self, x: &For, given: &Conjunction) -> Option<For> {
        if !counts_from_zero(x) {
            return None;
        }
        let (value, size) = self.division(&x.body, x.var)?;
        let outer: Vec<Affine> = x.upper.iter().map(|u| u.without_factor(size)).collect::<Option<_>>()?;
        let (width, inner) = (Affine::var(size), self.names.var());
        let condition = Condition::split(given, &width, &outer);
        if !self.is_about_sizes(&condition) {
            return None;
        }
        self.conditions.push(condition);
        self.steps.push(Step::SplitBySize { size: size.0, var: inner.0 });
        let (mut body, mut quotients) = (x.body.clone(), vec![]);
        // As a map says it of what it divides by.
        let divisor = self.pool.add(Value::Index(Affine::var(size)));
        let positive = self.pool.required(POSITIVE, divisor);
        remove_division(&mut body, (value, positive), &mut quotients);
        let quotient = Affine::var(x.var);
        let whole = width.product(&quotient).plus(1, &Affine::var(inner));
        let of = |var: Var| {
            if var == x.var { Some(whole.clone()) } else { quotients.contains(&var).then(|| quotient.clone()) }
        };
        let body = Substitution::new(&mut |affine| affine.replace(&of)).items(self.pool, &body);
        let lower = vec![Affine::default()];
        let inner = For { var: inner, lower: lower.clone(), upper: vec![width], step: 1, body, line: x.line };
        Some(For { lower, upper: outer, body: vec![Item::For(inner)], ..*x })
    }

    /// The value of a binding, in the loop or in loops in it, that is the loop's variable divided by a size.
    fn division(&self, items: &[Item], var: Var) -> Option<(ValueId, Var)> {
        items.iter().find_map(|item| match item {
            Item::Bind(bind) => self.divisor(bind.value, var).map(|size| (bind.value, size)),
            Item::For(x) => self.division(&x.body, var),
            _ => None,
        })
    }

    fn divisor(&self, value: ValueId, var: Var) -> Option<Var> {
        let Value::Op(op) = self.pool.get(value) else { return None };
        let [dividend, divisor] = op.operands.as_slice() else { return None };
        let (Value::Index(z), Value::Index(m)) = (self.pool.get(*dividend), self.pool.get(*divisor)) else {
            return None;
        };
        let size = self.nest.sizes.iter().map(|s| s.var).find(|s| m.same(&Affine::var(*s)))?;
        (op.name == "arith.floordivsi" && z.same(&Affine::var(var))).then_some(size)
    }
}

/// Drops the division; notes the variables that are its quotient. The divisor is positive where it was executed.
fn remove_division(items: &mut Vec<Item>, (value, positive): (ValueId, ValueId), quotients: &mut Vec<Var>) {
    items.retain_mut(|item| match item {
        Item::Bind(bind) if bind.value == value => {
            quotients.push(bind.var);
            false
        }
        Item::Trap(trap, _) => *trap != value && *trap != positive,
        Item::For(x) => {
            remove_division(&mut x.body, (value, positive), quotients);
            true
        }
        _ => true,
    });
}
