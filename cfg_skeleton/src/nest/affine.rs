//! Quasi-affine polynomials over loop variables and sizes, in a normal form: equal polynomials are equal values.
//!
//! A polynomial is a sum of monomials; a monomial is a product of atoms; an atom is a variable or the floor of a
//! polynomial divided by a positive constant. Floors are canonical: what is a multiple of the divisor is pulled out.
//!
//! **Invariant**: coefficients stay below `LIMIT`, and polynomials have at most `MAX_TERMS` terms and floors of at most
//! `MAX_WEIGHT` atoms. An operation that would exceed this gives a *broken* polynomial, which is equal to nothing, not
//! even to itself; see [`Affine::same`].

use std::collections::BTreeMap;
use std::fmt;

/// Coefficients are smaller than this in magnitude.
const LIMIT: i128 = 1 << 62;

/// Polynomials have at most this many terms.
const MAX_TERMS: usize = 200;

/// Polynomials within floors have at most this many atoms and terms.
const MAX_WEIGHT: usize = 200;

/// A variable: a size or the counter of a loop. Numbers are unique within a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

/// A factor of a monomial.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// The polynomial divided by the constant (at least 2), rounded down.
    Floor(Box<Affine>, i128),
}

/// A product of atoms, sorted; empty for the constant term.
type Monomial = Vec<Atom>;

/// A quasi-affine polynomial.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Affine {
    terms: BTreeMap<Monomial, i128>,
    broken: bool,
}

impl Affine {
    /// The constant `value`.
    #[must_use]
    pub fn constant(value: i128) -> Self {
        let mut result = Affine::default();
        result.add_term(vec![], value);
        result
    }

    /// The variable `var`.
    #[must_use]
    pub fn var(var: Var) -> Self {
        Affine { terms: BTreeMap::from([(vec![Atom::Var(var)], 1)]), broken: false }
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: i128) {
        let entry = self.terms.entry(monomial.clone()).or_insert(0);
        *entry = entry.saturating_add(coefficient);
        self.broken |= entry.saturating_abs() >= LIMIT;
        if *entry == 0 {
            self.terms.remove(&monomial);
        }
        if self.terms.len() > MAX_TERMS {
            self.terms.clear();
            self.broken = true;
        }
    }

    /// Terms and atoms, those in floors too.
    fn weight(&self) -> usize {
        let of = |atom: &Atom| match atom {
            Atom::Var(_) => 1,
            Atom::Floor(inner, _) => 1 + inner.weight(),
        };
        self.terms.keys().map(|monomial| 1 + monomial.iter().map(of).sum::<usize>()).sum()
    }

    /// `self + factor * other`.
    #[must_use]
    pub fn plus(&self, factor: i128, other: &Affine) -> Self {
        let mut result = self.clone();
        result.broken |= other.broken;
        for (monomial, coefficient) in &other.terms {
            result.add_term(monomial.clone(), coefficient.saturating_mul(factor));
        }
        result
    }

    /// `self + value`.
    #[must_use]
    pub fn offset(&self, value: i128) -> Self {
        self.plus(1, &Affine::constant(value))
    }

    /// `factor * self`.
    #[must_use]
    pub fn times(&self, factor: i128) -> Self {
        Affine::default().plus(factor, self)
    }

    /// The product of two polynomials.
    #[must_use]
    pub fn product(&self, other: &Affine) -> Self {
        let mut result = Affine { broken: self.broken || other.broken, ..Affine::default() };
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut monomial: Monomial = left.iter().chain(right).cloned().collect();
                monomial.sort();
                result.add_term(monomial, a.saturating_mul(*b));
            }
        }
        result
    }

    /// The polynomial divided by `divisor`, rounded down; broken if the divisor is not positive.
    #[must_use]
    pub fn floor_div(&self, divisor: i128) -> Self {
        if divisor <= 0 || self.broken {
            return Affine { broken: true, ..Affine::default() };
        }
        let mut whole = Affine { broken: self.broken, ..Affine::default() };
        let mut rest = Affine { broken: self.broken, ..Affine::default() };
        for (monomial, coefficient) in &self.terms {
            let quotient = coefficient.div_euclid(divisor);
            whole.add_term(monomial.clone(), quotient);
            rest.add_term(monomial.clone(), coefficient - quotient * divisor);
        }
        if rest.as_constant().is_some() {
            // The remainder is a constant below the divisor.
            return whole;
        }
        let (rest, divisor) = rest.reduced(divisor);
        if let [Atom::Floor(inner, d)] = rest.only_atom() {
            // floor(floor(e / d) / k) = floor(e / (d * k))
            return whole.plus(1, &inner.floor_div(d.saturating_mul(divisor)));
        }
        if rest.weight() > MAX_WEIGHT {
            return Affine { broken: true, ..whole };
        }
        whole.add_term(vec![Atom::Floor(Box::new(rest), divisor)], 1);
        whole
    }

    /// Divides by what all coefficients but the constant one have in common with `divisor`: the floor is the same.
    fn reduced(self, divisor: i128) -> (Self, i128) {
        let common = self.terms.iter().filter(|(m, _)| !m.is_empty()).fold(divisor, |g, (_, c)| gcd(g, *c));
        if common <= 1 {
            return (self, divisor);
        }
        let terms = self.terms.into_iter().map(|(m, c)| (m, c.div_euclid(common))).filter(|(_, c)| *c != 0).collect();
        (Affine { terms, broken: self.broken }, divisor / common)
    }

    /// The atoms of the polynomial where it is one monomial with the coefficient 1; empty otherwise.
    fn only_atom(&self) -> &[Atom] {
        match self.terms.iter().next() {
            Some((monomial, 1)) if self.terms.len() == 1 => monomial,
            _ => &[],
        }
    }

    /// The polynomial divided by `divisor`, rounded up.
    #[must_use]
    pub fn ceil_div(&self, divisor: i128) -> Self {
        self.times(-1).floor_div(divisor).times(-1)
    }

    /// The remainder of the division that rounds down.
    #[must_use]
    pub fn modulo(&self, divisor: i128) -> Self {
        self.plus(divisor.saturating_neg(), &self.floor_div(divisor))
    }

    /// The value, where no atom is left.
    #[must_use]
    pub fn as_constant(&self) -> Option<i128> {
        if self.broken {
            return None;
        }
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&vec![]).copied(),
            _ => None,
        }
    }

    /// Whether both are the same polynomial. Broken ones are the same as nothing.
    #[must_use]
    pub fn same(&self, other: &Affine) -> bool {
        !self.broken && !other.broken && self.terms == other.terms
    }

    /// Whether a limit was exceeded.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether no two atoms are multiplied, in floors neither.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        !self.broken
            && self.terms.keys().all(|monomial| match monomial.as_slice() {
                [] | [Atom::Var(_)] => true,
                [Atom::Floor(inner, _)] => inner.is_linear(),
                _ => false,
            })
    }

    /// Coefficients and monomials, sorted; the constant term has an empty monomial.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial.as_slice(), *coefficient))
    }

    /// The constant term.
    #[must_use]
    pub fn constant_term(&self) -> i128 {
        self.terms.get(&vec![]).copied().unwrap_or(0)
    }

    /// The coefficient of the variable alone.
    #[must_use]
    pub fn coefficient(&self, var: Var) -> i128 {
        self.terms.get(&vec![Atom::Var(var)]).copied().unwrap_or(0)
    }

    /// All variables, in floors too, in order and maybe repeated.
    #[must_use]
    pub fn vars(&self) -> Vec<Var> {
        let mut found = vec![];
        self.each_atom(&mut |atom| {
            if let Atom::Var(var) = atom {
                found.push(*var);
            }
        });
        found
    }

    /// Whether the variable occurs.
    #[must_use]
    pub fn mentions(&self, var: Var) -> bool {
        self.vars().contains(&var)
    }

    /// Calls `visit` for every atom, inner ones of floors before the floor.
    pub fn each_atom(&self, visit: &mut impl FnMut(&Atom)) {
        for atom in self.terms.keys().flatten() {
            if let Atom::Floor(inner, _) = atom {
                // The recursion needs one type of closure.
                let visit: &mut dyn FnMut(&Atom) = visit;
                inner.each_atom_dyn(visit);
            }
            visit(atom);
        }
    }

    fn each_atom_dyn(&self, visit: &mut dyn FnMut(&Atom)) {
        for atom in self.terms.keys().flatten() {
            if let Atom::Floor(inner, _) = atom {
                inner.each_atom_dyn(visit);
            }
            visit(atom);
        }
    }

    /// The polynomial divided by a variable that is a factor of all of it.
    #[must_use]
    pub fn without_factor(&self, var: Var) -> Option<Affine> {
        let mut result = Affine { broken: self.broken, ..Affine::default() };
        for (monomial, coefficient) in &self.terms {
            let mut monomial = monomial.clone();
            let at = monomial.iter().position(|atom| *atom == Atom::Var(var))?;
            monomial.remove(at);
            result.add_term(monomial, *coefficient);
        }
        (!self.broken).then_some(result)
    }

    /// Replaces variables; what `of` does not know stays.
    #[must_use]
    pub fn replace(&self, of: &dyn Fn(Var) -> Option<Affine>) -> Self {
        self.rebuild(&|var| of(var).unwrap_or_else(|| Affine::var(var)), &|inner, divisor| inner.floor_div(divisor))
    }

    /// Builds the polynomial again from the values of its variables and floors.
    #[must_use]
    pub fn rebuild(&self, var: &dyn Fn(Var) -> Affine, floor: &dyn Fn(Affine, i128) -> Affine) -> Self {
        let mut result = Affine { broken: self.broken, ..Affine::default() };
        for (monomial, coefficient) in &self.terms {
            let mut term = Affine::constant(*coefficient);
            for atom in monomial {
                let factor = match atom {
                    Atom::Var(v) => var(*v),
                    Atom::Floor(inner, divisor) => floor(inner.rebuild(var, floor), *divisor),
                };
                term = term.product(&factor);
            }
            result = result.plus(1, &term);
        }
        result
    }

    /// The polynomial with `var` replaced by `var / divisor`, where it needs no fractions.
    #[must_use]
    pub fn with_var_divided(&self, var: Var, divisor: i128) -> Option<Self> {
        let mut result = Affine { broken: self.broken, ..Affine::default() };
        for (monomial, coefficient) in &self.terms {
            let (mut factor, mut rest) = (*coefficient, Affine::constant(1));
            for atom in monomial {
                rest = match atom {
                    Atom::Floor(inner, d) => rest.product(&inner.with_var_divided(var, divisor)?.floor_div(*d)),
                    Atom::Var(v) => rest.product(&Affine::var(*v)),
                };
                if *atom == Atom::Var(var) {
                    factor = (factor % divisor == 0).then(|| factor / divisor)?;
                }
            }
            result = result.plus(factor, &rest);
        }
        Some(result)
    }

    /// The value where each variable has one.
    ///
    /// `None` where a variable has no value, or numbers get too large.
    #[must_use]
    pub fn eval(&self, of: &dyn Fn(Var) -> Option<i128>) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in &self.terms {
            let mut term = *coefficient;
            for atom in monomial {
                let value = match atom {
                    Atom::Var(var) => of(*var)?,
                    Atom::Floor(inner, divisor) => inner.eval(of)?.div_euclid(*divisor),
                };
                term = term.checked_mul(value)?;
            }
            sum = sum.checked_add(term)?;
        }
        (!self.broken && sum.abs() < LIMIT).then_some(sum)
    }

    /// As text, with names for variables.
    #[must_use]
    pub fn show<'a>(&'a self, name: &'a dyn Fn(Var) -> String) -> impl fmt::Display + 'a {
        Shown { affine: self, name }
    }
}

/// The greatest common divisor; 0 only of zeros.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

struct Shown<'a> {
    affine: &'a Affine,
    name: &'a dyn Fn(Var) -> String,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        // The constant comes last.
        let terms = self.affine.terms();
        let (constants, others): (Vec<_>, Vec<_>) = terms.partition(|(monomial, _)| monomial.is_empty());
        for (monomial, coefficient) in others.into_iter().chain(constants) {
            let sign = if coefficient < 0 { "-" } else { "+" };
            match (first, coefficient < 0) {
                (true, true) => f.write_str("-")?,
                (true, false) => {}
                (false, _) => write!(f, " {sign} ")?,
            }
            first = false;
            let size = coefficient.unsigned_abs();
            let factors: Vec<String> = monomial.iter().map(|atom| self.atom(atom)).collect();
            match (size, factors.is_empty()) {
                (_, true) => write!(f, "{size}")?,
                (1, false) => f.write_str(&factors.join("*"))?,
                (_, false) => write!(f, "{size}*{}", factors.join("*"))?,
            }
        }
        if first {
            f.write_str("0")?;
        }
        Ok(())
    }
}

impl Shown<'_> {
    fn atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Var(var) => (self.name)(*var),
            Atom::Floor(inner, divisor) => format!("floor(({}) / {divisor})", inner.show(self.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(n: u32) -> Affine {
        Affine::var(Var(n))
    }

    #[test]
    fn floors_are_canonical() {
        let e = v(0).times(8).plus(3, &v(1)).offset(5);
        assert_eq!(e.floor_div(4), v(0).times(2).plus(1, &v(1).times(3).offset(5).floor_div(4)));
        assert_eq!(v(0).floor_div(2).floor_div(3), v(0).floor_div(6));
        assert_eq!(v(0).times(2).offset(1).floor_div(4), v(0).floor_div(2));
        assert_eq!(v(0).modulo(4).plus(4, &v(0).floor_div(4)), v(0));
    }

    #[test]
    fn division_agrees_with_values() {
        for a in -9..9 {
            for b in -9..9 {
                for (k, l) in [(2, 3), (4, 6), (3, 3)] {
                    let of = |var: Var| Some(if var.0 == 0 { a } else { b });
                    let e = v(0).times(6).plus(-4, &v(1)).offset(3);
                    let expected = (6 * a - 4 * b + 3_i128).div_euclid(k).div_euclid(l);
                    assert_eq!(e.floor_div(k).floor_div(l).eval(&of), Some(expected));
                    assert_eq!(e.ceil_div(k).eval(&of), Some(-(-(6 * a - 4 * b + 3_i128)).div_euclid(k)));
                }
            }
        }
    }

    #[test]
    fn what_is_too_large_breaks() {
        let large = v(0).times(LIMIT / 2);
        assert!(!large.is_broken());
        assert!(large.plus(1, &large).is_broken());
        let broken = large.product(&large);
        assert!(!broken.same(&broken));
        assert!(broken.plus(-1, &broken).is_broken());
        // Each step doubles what is written out.
        let nested = (0..64).fold(v(0), |e, _| e.plus(1, &e.offset(1).floor_div(3)));
        assert!(nested.is_broken());
    }

    #[test]
    fn a_variable_is_divided_only_without_fractions() {
        let e = v(0).times(6).offset(1);
        assert_eq!(e.with_var_divided(Var(0), 3), Some(v(0).times(2).offset(1)));
        assert_eq!(e.with_var_divided(Var(0), 4), None);
        assert_eq!(v(1).floor_div(3).with_var_divided(Var(0), 4), Some(v(1).floor_div(3)));
    }
}
