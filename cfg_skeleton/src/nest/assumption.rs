//! Conditions on sizes that a user states: `%n >= 1`, `2*m <= n + 4`, `n % 4 == 0`.

use super::constraint::Constraint;
use super::{Affine, Size, Var};
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;

/// A linear condition on sizes, by their names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// What it says is not negative, or zero.
    sum: Sum,
    equality: bool,
    text: String,
}

/// A number times each name or its remainder by a number, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sum {
    terms: Vec<(i128, String, Option<i128>)>,
    constant: i128,
}

/// Why a text is no condition on sizes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AssumptionError {
    /// It has no comparison, or several.
    #[error("`{0}` is no condition: it needs one of `>=`, `<=`, `>`, `<` and `==`, as in `n >= 1`")]
    Comparison(String),
    /// A part of it is neither a number, a name, a product of a number and a name, nor a remainder of a name.
    #[error("`{0}` is no number, no name of a size, no number times a name, and no remainder, as in `n % 4`")]
    Term(String),
}

/// Larger numbers are no sizes.
const MOST: i128 = 1 << 62;

impl FromStr for Assumption {
    type Err = AssumptionError;

    fn from_str(text: &str) -> Result<Self, AssumptionError> {
        let none = || AssumptionError::Comparison(text.trim().to_string());
        let operators = [">=", "<=", "==", ">", "<"];
        let found = operators.into_iter().find_map(|op| text.split_once(op).map(|(left, right)| (op, left, right)));
        let (operator, left, right) = found.ok_or_else(none)?;
        if right.contains(['<', '>', '=']) || left.contains(['<', '>', '=']) {
            return Err(none());
        }
        let (left, right) = (sum(left)?, sum(right)?);
        let (mut sum, strict) = match operator {
            ">=" | "==" => (left.minus(right), false),
            ">" => (left.minus(right), true),
            "<=" => (right.minus(left), false),
            _ => (right.minus(left), true),
        };
        sum.constant -= i128::from(strict);
        Ok(Assumption { sum, equality: operator == "==", text: text.trim().to_string() })
    }
}

impl Sum {
    fn minus(mut self, other: Sum) -> Sum {
        self.terms.extend(other.terms.into_iter().map(|(factor, name, divisor)| (-factor, name, divisor)));
        self.constant -= other.constant;
        self
    }
}

fn sum(text: &str) -> Result<Sum, AssumptionError> {
    let mut sum = Sum::default();
    let mut rest = text.trim();
    let mut sign = 1;
    if let Some(positive) = rest.strip_prefix('-') {
        (sign, rest) = (-1, positive);
    }
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        term(&rest[..end], sign, &mut sum)?;
        match rest[end..].chars().next() {
            None => return Ok(sum),
            Some(operator) => {
                sign = if operator == '-' { -1 } else { 1 };
                rest = &rest[end + 1..];
            }
        }
    }
}

fn term(text: &str, sign: i128, sum: &mut Sum) -> Result<(), AssumptionError> {
    let wrong = || AssumptionError::Term(text.trim().to_string());
    let number = |text: &str| text.trim().parse::<i128>().ok().filter(|n| (0..=MOST).contains(n));
    let name = |text: &str| {
        let bare = text.trim().trim_start_matches('%');
        let is_name = bare.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
            || (text.trim().starts_with('%') && bare.starts_with(|c: char| !c.is_whitespace()));
        let of_name = |c: char| c.is_alphanumeric() || "_$.:() ,#".contains(c);
        (is_name && bare.chars().all(of_name)).then(|| bare.to_string())
    };
    // The first character may belong to a name.
    if let Some((left, right)) = text.trim().rsplit_once('%').filter(|(left, _)| !left.is_empty()) {
        let divisor = number(right).filter(|divisor| *divisor > 0).ok_or_else(wrong)?;
        sum.terms.push((sign, name(left).ok_or_else(wrong)?, Some(divisor)));
        return Ok(());
    }
    let (factor, name) = match text.split_once('*') {
        None => match number(text) {
            Some(n) => {
                sum.constant += sign * n;
                return Ok(());
            }
            None => (1, name(text).ok_or_else(wrong)?),
        },
        Some((left, right)) => match (number(left), name(right), name(left), number(right)) {
            (Some(n), Some(name), ..) | (.., Some(name), Some(n)) => (n, name),
            _ => return Err(wrong()),
        },
    };
    sum.terms.push((sign * factor, name, None));
    Ok(())
}

impl Assumption {
    /// The names that it speaks of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sum.terms.iter().map(|(_, name, _)| name.as_str())
    }

    /// An expression over the variables of these sizes, which is zero (`true`) or not negative; `None` where no size has a
    /// name that it mentions.
    #[must_use]
    pub fn condition(&self, sizes: &[Size]) -> Option<(Affine, bool)> {
        self.constraint(sizes).map(|Constraint { expr, equality }| (expr, equality))
    }

    /// Over the variables of these sizes; `None` where there is no size of a name.
    pub(super) fn constraint(&self, sizes: &[Size]) -> Option<Constraint> {
        let mut expr = Affine::constant(self.sum.constant);
        for (factor, name, divisor) in &self.sum.terms {
            let size = sizes.iter().find(|size| size.name.trim_start_matches('%') == name)?;
            let size = Affine::var(size.var);
            expr = expr.plus(*factor, &divisor.map_or_else(|| size.clone(), |divisor| size.modulo(divisor)));
        }
        Some(Constraint { expr, equality: self.equality })
    }
}

/// As it was written.
impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// So far a size is moved until it has a remainder.
const REMAINDERS: i128 = 4096;

/// Sizes near those of a sample for which all constraints hold; `None` where none are found.
pub(super) fn allowed(sample: &FxHashMap<Var, i128>, constraints: &[Constraint]) -> Option<FxHashMap<Var, i128>> {
    let mut sizes = sample.clone();
    // Moving one size may break another condition, so this is done several times.
    for round in 0..=constraints.len() {
        for constraint in constraints {
            let missing = missing_of(constraint, &sizes)?;
            if missing == 0 {
                continue;
            }
            let factors = constraint.expr.vars().into_iter().map(|var| (constraint.expr.coefficient(var), var));
            let usable = |(factor, _): &(i128, Var)| *factor != 0 && (!constraint.equality || missing % factor == 0);
            let Some((factor, var)) = factors.filter(usable).min_by_key(|(factor, _)| factor.abs()) else { continue };
            // A remainder: upwards, or bounds would be broken again.
            if constraint.equality && constraint.expr.vars().iter().filter(|other| **other == var).count() > 1 {
                let start = *sizes.get(&var)?;
                let others = |other| sizes.get(&other).copied();
                let value = |size| constraint.expr.eval(&|other| if other == var { Some(size) } else { others(other) });
                let size = (start..start.checked_add(REMAINDERS)?).find(|size| value(*size) == Some(0))?;
                sizes.insert(var, size);
                continue;
            }
            // Samples that differ are to differ still: beyond a bound there are many sizes.
            let spread = if round == 0 && !constraint.equality { sample.get(&var)?.abs() } else { 0 };
            let steps = (-(-missing).div_euclid(factor.abs()) + spread) * factor.signum();
            sizes.insert(var, sizes.get(&var)?.checked_add(steps)?);
        }
    }
    constraints.iter().all(|constraint| missing_of(constraint, &sizes) == Some(0)).then_some(sizes)
}

/// By how much the left side of a constraint must grow for it to hold.
fn missing_of(constraint: &Constraint, sizes: &FxHashMap<Var, i128>) -> Option<i128> {
    let value = constraint.expr.eval(&|var| sizes.get(&var).copied())?;
    Some(if constraint.equality || value < 0 { -value } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;

    fn sizes() -> Vec<Size> {
        let size = |(n, name): (u32, &str)| Size { var: Var(n), name: name.into(), origin: Origin::Argument(n, None) };
        [(0, "%n"), (1, "%m")].map(size).to_vec()
    }

    fn holds(text: &str, n: i128, m: i128) -> bool {
        let constraint = text.parse::<Assumption>().unwrap().constraint(&sizes()).unwrap();
        let value = constraint.expr.eval(&|var| Some(if var == Var(0) { n } else { m })).unwrap();
        if constraint.equality { value == 0 } else { value >= 0 }
    }

    #[test]
    fn conditions_are_what_they_say() {
        for n in -4..=4 {
            for m in -4..=4 {
                assert_eq!(holds("%n >= 1", n, m), n >= 1);
                assert_eq!(holds("n > m", n, m), n > m);
                assert_eq!(holds("2*m <= n + 1", n, m), 2 * m <= n + 1);
                assert_eq!(holds("- n + m*3 - 2 < 0", n, m), -n + m * 3 - 2 < 0);
                assert_eq!(holds("n == m", n, m), n == m);
                assert_eq!(holds("n % 3 == 1", n, m), n.rem_euclid(3) == 1);
                assert_eq!(holds("%m % 4 <= n", n, m), m.rem_euclid(4) <= n);
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "n",
            "n = 3",
            "n >= ",
            "1 <= n <= 3",
            "n*m >= 0",
            "n >= 3x",
            "n >= -",
            "n >> 3",
            ">= 3",
            "3*4 >= n",
            "n % 0 == 0",
            "n % m == 0",
            "% 4 == 0",
        ] {
            assert!(text.parse::<Assumption>().is_err(), "{text}");
        }
        assert_eq!("k >= 1".parse::<Assumption>().unwrap().constraint(&sizes()), None);
    }

    #[test]
    fn samples_are_moved_to_where_assumptions_hold() {
        let constraints: Vec<Constraint> = ["n >= 100", "m == 2*n", "-3*m <= -7", "n % 8 == 0"]
            .map(|t| t.parse::<Assumption>().unwrap().constraint(&sizes()).unwrap())
            .to_vec();
        let start = |n, m| FxHashMap::from_iter([(Var(0), n), (Var(1), m)]);
        let found = allowed(&start(3, 5), &constraints).unwrap();
        assert!(found[&Var(0)] >= 100 && found[&Var(1)] == 2 * found[&Var(0)], "{found:?}");
        let never: Vec<Constraint> =
            ["n >= 1", "n <= 0"].map(|t| t.parse::<Assumption>().unwrap().constraint(&sizes()).unwrap()).to_vec();
        assert_eq!(allowed(&start(3, 5), &never), None);
    }
}
