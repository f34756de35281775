//! Indices that are one of several, by cases: what `select` and divisions that round towards zero give.
//!
//! `affine` is lowered to these: `x floordiv 3` becomes a comparison of `x` with 0, two selections and a division. Where the
//! value of one case is that of all others, too, the index is that value, and no cases are left.

use super::{Importer, Meaning};
use crate::syntax::Op;
use rewright_cfg_skeleton::nest::affine::Atom;
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, Conjunction, Constraint};

/// An index by cases is one of at most this many.
const MAX_CASES: usize = 12;

/// A value, and when it is the one.
#[derive(Clone, Debug)]
pub(super) struct Case {
    when: Conjunction,
    value: Affine,
}

/// What an operation gives.
pub(super) enum Choice {
    /// It is always the same value.
    One(Affine),
    /// It is one of several.
    Several(Vec<Case>),
}

impl Importer<'_> {
    /// The index that an operation gives, by cases; `None` where it is not known so.
    pub(super) fn choice(&mut self, op: &Op) -> Option<Choice> {
        let index = |this: &Self, n: usize| this.affine(op, op.operands.get(n)?).ok();
        let cases = match op.name.as_str() {
            "arith.divsi" | "arith.remsi" | "arith.divui" | "arith.remui" => {
                let (dividend, divisor) = (index(self, 0)?, index(self, 1)?.as_constant().filter(|d| *d > 0)?);
                self.divided(&op.name, &dividend, divisor)?
            }
            "arith.select" => {
                let (then, otherwise) = (index(self, 1)?, index(self, 2)?);
                self.selected(op, [then, otherwise])?
            }
            _ => return None,
        };
        if cases.iter().any(|case| case.value.is_broken()) {
            return None;
        }
        // Of equal ones the shortest.
        let mut short: Vec<&Affine> = cases.iter().map(|case| &case.value).collect();
        short.sort_by_key(|value| value.terms().count());
        let one = short.into_iter().find(|one| self.always(&cases, &|value| Constraint::equal(value, one))).cloned();
        Some(one.map_or(Choice::Several(cases), Choice::One))
    }

    /// Whether what decides or is chosen may be poison, and the choice would not show it.
    pub(super) fn hides_poison(&self, op: &Op, choice: &Choice) -> bool {
        let of = |name: &String| match self.meaning(op, name) {
            Ok(Meaning::Scalar(value, _)) => self.may_be_undefined(value),
            Ok(Meaning::Index(index)) => match choice {
                Choice::One(value) => self.loses_poison([&index], [value]),
                Choice::Several(_) => self.loses_poison([&index], []),
            },
            _ => false,
        };
        op.operands.iter().any(of)
    }

    /// The values of which an index is always the largest one; one value where it is no choice.
    pub(super) fn greatest(&mut self, index: &Affine) -> Vec<Affine> {
        self.extremes(index, &|value, other| Constraint::at_least(value, other))
    }

    /// The values of which an index is always the smallest one; one value where it is no choice.
    pub(super) fn least(&mut self, index: &Affine) -> Vec<Affine> {
        self.extremes(index, &|value, other| Constraint::at_least(other, value))
    }

    fn extremes(&mut self, index: &Affine, order: &dyn Fn(&Affine, &Affine) -> Constraint) -> Vec<Affine> {
        let cases = self.cases_of(index).unwrap_or_default();
        let values: Vec<Affine> = cases.iter().map(|case| case.value.clone()).collect();
        let is_extreme = values.iter().all(|other| self.always(&cases, &|value| order(value, other)));
        if is_extreme && !values.is_empty() { values } else { vec![index.clone()] }
    }

    /// Whether what is said of the value holds in each case.
    fn always(&mut self, cases: &[Case], fact: &dyn Fn(&Affine) -> Constraint) -> bool {
        cases.iter().all(|case| self.implied(&case.when, &fact(&case.value)))
    }

    /// A quotient or remainder by a positive number, rounded towards zero; unsigned only where the dividend is not
    /// negative.
    fn divided(&mut self, name: &str, dividend: &Affine, divisor: i128) -> Option<Vec<Case>> {
        let mut found = vec![];
        for Case { when, value } in self.cases_of(dividend)? {
            let quotient = |e: &Affine| near(e, divisor);
            let of = |e: &Affine| match name.starts_with("arith.div") {
                true => quotient(e),
                false => e.plus(-divisor, &quotient(e)),
            };
            let zero = Affine::default();
            let negative = with(&when, [Constraint::less(&value, &zero)]);
            found.push(Case { when: with(&when, [Constraint::at_least(&value, &zero)]), value: of(&value) });
            if name.ends_with("ui") && !self.is_excluded(&negative) {
                return None;
            }
            found.push(Case { when: negative, value: of(&value.times(-1)).times(-1) });
        }
        self.possible(found)
    }

    /// One value or the other, as a comparison of indices says.
    fn selected(&mut self, op: &Op, values: [Affine; 2]) -> Option<Vec<Case>> {
        let condition = self.value(op, op.operands.first()?).ok()?;
        let Value::Op(comparison) = self.pool.get(condition) else { return None };
        let predicate = comparison.name.strip_prefix("arith.cmpi.")?.to_string();
        let [a, b] = comparison.operands.as_slice() else { return None };
        let (Value::Index(a), Value::Index(b)) = (self.pool.get(*a), self.pool.get(*b)) else { return None };
        let (a, b) = (a.clone(), b.clone());
        let holds = match predicate.as_str() {
            "eq" | "ne" => Constraint::equal(&a, &b),
            "slt" => Constraint::less(&a, &b),
            "sle" => Constraint::at_least(&b, &a),
            "sgt" => Constraint::less(&b, &a),
            "sge" => Constraint::at_least(&a, &b),
            _ => return None,
        };
        let [then, otherwise] = if predicate == "ne" { [&values[1], &values[0]] } else { [&values[0], &values[1]] };
        let mut found = vec![];
        for Case { when, value } in self.cases_of(&holds.expr)? {
            let holds = Constraint { expr: value, equality: holds.equality };
            let mut arms: Vec<(Constraint, &Affine)> =
                holds.negated().into_iter().map(|not| (not, otherwise)).collect();
            arms.push((holds, then));
            for (decision, chosen) in arms {
                let here = with(&when, [decision]);
                let chosen = self.cases_of(chosen)?;
                found.extend(chosen.into_iter().map(|c| Case { when: with(&here, c.when), value: c.value }));
            }
        }
        self.possible(found)
    }

    /// The cases of variables that are one of several, put together.
    fn cases_of(&mut self, expr: &Affine) -> Option<Vec<Case>> {
        let (mut open, mut done) = (vec![Case { when: vec![], value: expr.clone() }], vec![]);
        while let Some(Case { when, value }) = open.pop() {
            let Some((var, cases)) = value.vars().into_iter().find_map(|var| Some((var, self.choices.get(&var)?)))
            else {
                done.push(Case { when, value });
                continue;
            };
            let replaced = |case: &Case| {
                let value = value.replace(&|v| (v == var).then(|| case.value.clone()));
                Case { when: with(&when, case.when.clone()), value }
            };
            open.extend(cases.iter().map(replaced));
            if open.len() + done.len() > MAX_CASES {
                return None;
            }
        }
        self.possible(done)
    }

    fn possible(&mut self, mut cases: Vec<Case>) -> Option<Vec<Case>> {
        cases.retain(|case| !self.is_excluded(&case.when));
        (cases.len() <= MAX_CASES).then_some(cases)
    }

    /// Whether a case certainly does not occur within the loops around.
    fn is_excluded(&mut self, when: &Conjunction) -> bool {
        let all = with(&self.given, when.clone());
        self.decider.impossible(&all)
    }

    fn implied(&mut self, when: &Conjunction, fact: &Constraint) -> bool {
        let all = with(&self.given, when.clone());
        self.decider.implies(&all, fact)
    }
}

fn with(some: &Conjunction, more: impl IntoIterator<Item = Constraint>) -> Conjunction {
    some.iter().cloned().chain(more).collect()
}

/// The quotient, rounded down, with coefficients near 0 in the floor: `floor(-x / 3)` is `-floor((x + 2) / 3)`.
fn near(e: &Affine, divisor: i128) -> Affine {
    let plain = e.floor_div(divisor);
    let other = e.times(-1).offset(divisor - 1).floor_div(divisor).times(-1);
    if within_floors(&other) < within_floors(&plain) { other } else { plain }
}

/// Coefficients within floors, constant terms last.
fn within_floors(e: &Affine) -> Vec<i128> {
    let mut found = vec![];
    e.each_atom(&mut |atom| {
        if let Atom::Floor(inner, _) = atom {
            found.extend(inner.terms().filter(|(atoms, _)| !atoms.is_empty()).map(|(_, c)| c.abs()));
            found.push(inner.constant_term());
        }
    });
    found
}
