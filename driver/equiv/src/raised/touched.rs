//! Whether a nest touches only what another one touches, where both walk over the same rows.
//!
//! A subscript is a sum; each loop of the other nest takes the terms that are multiples of its own factor. The result
//! is only a guess at an iteration of the other nest: that it is one, and accesses the same cell, is shown.

use rewright_cfg_skeleton::nest::affine::Atom;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Constraint, Decider, For, Item, Nest, Var};

/// An access in its loops.
struct Access<'a> {
    array: ArrayId,
    subscript: &'a Affine,
    loops: Vec<&'a For>,
}

/// Whether each cell that the second nest accesses is shown to be one that the first one accesses, where these facts hold.
pub(super) fn by_rows(before: &Nest, after: &Nest, facts: &[Constraint], decider: &mut Decider) -> bool {
    let [first, second] = [before, after].map(accesses);
    second.iter().all(|access| {
        let mut given = facts.to_vec();
        given.extend(domain(&access.loops, &|_| None));
        let same = first.iter().filter(|other| other.array == access.array);
        let mut same = same.filter_map(|other| Some((other, iteration(other, access.subscript)?)));
        same.any(|(other, at)| {
            let value = |var| other.loops.iter().position(|l| l.var == var).map(|n| at[n].clone());
            other.subscript.replace(&value).same(access.subscript)
                && domain(&other.loops, &value).iter().all(|fact| decider.implies(&given, fact))
        })
    })
}

/// Whether, whenever the second nest accesses an array, the first one is shown to access it in the first iteration of
/// some loops.
pub(super) fn whenever(before: &Nest, after: &Nest, facts: &[Constraint], decider: &mut Decider) -> bool {
    let [first, second] = [before, after].map(accesses);
    second.iter().all(|access| {
        let mut given = facts.to_vec();
        given.extend(domain(&access.loops, &|_| None));
        let mut same = first.iter().filter(|other| other.array == access.array);
        same.any(|other| {
            let zero = |var| other.loops.iter().any(|l| l.var == var).then(Affine::default);
            domain(&other.loops, &zero).iter().all(|fact| decider.implies(&given, fact))
        })
    })
}

fn accesses(nest: &Nest) -> Vec<Access<'_>> {
    let mut found = vec![];
    collect(&nest.items, &mut vec![], &mut found);
    found
}

fn collect<'a>(items: &'a [Item], loops: &mut Vec<&'a For>, found: &mut Vec<Access<'a>>) {
    for item in items {
        let (array, subscripts) = match item {
            Item::Load(x) => (x.array, &x.subscripts),
            Item::Store(x) => (x.array, &x.subscripts),
            Item::For(x) => {
                loops.push(x);
                collect(&x.body, loops, found);
                loops.pop();
                continue;
            }
            _ => continue,
        };
        if let [subscript] = &subscripts[..] {
            found.push(Access { array, subscript, loops: loops.clone() });
        }
    }
}

/// What holds of the variables of loops.
fn domain(loops: &[&For], value: &dyn Fn(Var) -> Option<Affine>) -> Vec<Constraint> {
    let mut facts = vec![];
    for l in loops {
        let var = Affine::var(l.var).replace(value);
        facts.extend(l.lower.iter().map(|low| Constraint::at_least(&var, &low.replace(value))));
        facts.extend(l.upper.iter().map(|high| Constraint::less(&var, &high.replace(value))));
    }
    facts
}

/// The iteration of an access in which it may have this subscript.
fn iteration(access: &Access<'_>, subscript: &Affine) -> Option<Vec<Affine>> {
    let own = |l: &&For| access.subscript.coefficient(l.var);
    let others = access.loops.iter().fold(access.subscript.clone(), |rest, l| rest.plus(-own(l), &Affine::var(l.var)));
    let mut rest = subscript.plus(-1, &others);
    let mut order: Vec<usize> = (0..access.loops.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(own(&access.loops[*n]).abs()));
    let mut at = vec![Affine::default(); access.loops.len()];
    for n in order {
        let factor = own(&access.loops[n]);
        if factor == 0 {
            continue;
        }
        let last = factor.abs() == 1;
        let mut part = Affine::default();
        for (monomial, coefficient) in rest.terms() {
            let is_taken = if monomial.is_empty() { last } else { coefficient % factor == 0 };
            if is_taken {
                part = part.plus(coefficient / factor, &product(monomial));
            }
        }
        rest = rest.plus(-factor, &part);
        at[n] = part;
    }
    Some(at)
}

/// The monomial as a polynomial.
pub(super) fn product(monomial: &[Atom]) -> Affine {
    monomial.iter().fold(Affine::constant(1), |product, atom| {
        let factor = match atom {
            Atom::Var(var) => Affine::var(*var),
            Atom::Floor(inner, divisor) => inner.floor_div(*divisor),
        };
        product.product(&factor)
    })
}
