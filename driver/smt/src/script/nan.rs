//! What of the bits of a NaN may be otherwise: arithmetic that gives a NaN does not say which one.

use super::{Expr, Script};
use rustc_hash::{FxHashMap, FxHashSet};

/// When bits, if they are those of a NaN, may be those of another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freedom {
    /// Its payload may be any.
    pub payload: Expr,
    /// Its sign may be any.
    pub sign: Expr,
}

impl Freedom {
    const NONE: Freedom = Freedom { payload: Expr::FALSE, sign: Expr::FALSE };
    const ALL: Freedom = Freedom { payload: Expr::TRUE, sign: Expr::TRUE };
}

/// How a term is made of others, as far as NaNs go through it.
enum Made {
    Computed,
    Chosen(Expr, Expr, Expr),
    Negated(Expr),
    Magnitude(Expr),
    Otherwise,
}

impl Script {
    /// What may be otherwise of these bits of a float, if they are those of a NaN. A float that is not seen to be computed
    /// is exact.
    pub fn freedom_of_nan(&mut self, bits: Expr) -> Freedom {
        let mut known: FxHashMap<Expr, Freedom> = FxHashMap::default();
        let mut rest = vec![(bits, false)];
        while let Some((term, is_ready)) = rest.pop() {
            if known.contains_key(&term) {
                continue;
            }
            let made = self.made(term);
            let parts = match made {
                Made::Chosen(_, x, y) => vec![x, y],
                Made::Negated(x) | Made::Magnitude(x) => vec![x],
                Made::Computed | Made::Otherwise => vec![],
            };
            if !is_ready && !parts.is_empty() {
                rest.push((term, true));
                rest.extend(parts.into_iter().map(|part| (part, false)));
                continue;
            }
            let freedom = match made {
                Made::Computed => Freedom::ALL,
                Made::Chosen(condition, x, y) => {
                    let (x, y) = (known[&x], known[&y]);
                    let payload = self.choose(condition, x.payload, y.payload);
                    Freedom { payload, sign: self.choose(condition, x.sign, y.sign) }
                }
                Made::Negated(x) => known[&x],
                Made::Magnitude(x) => Freedom { sign: Expr::FALSE, ..known[&x] },
                Made::Otherwise => Freedom::NONE,
            };
            known.insert(term, freedom);
        }
        known[&bits]
    }

    /// The terms that choose which NaN bits are, as far as these are seen to be computed.
    pub fn choices_of_nan(&self, bits: Expr) -> FxHashSet<Expr> {
        let (mut found, mut seen, mut todo) = (FxHashSet::default(), FxHashSet::default(), vec![bits]);
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.made(term) {
                Made::Computed => _ = found.insert(term),
                Made::Chosen(_, x, y) => todo.extend([x, y]),
                Made::Negated(x) | Made::Magnitude(x) => todo.push(x),
                Made::Otherwise => {}
            }
        }
        found
    }

    /// Does anything that some terms are made of, memories among them, depend on which NaNs are chosen by these?
    pub fn see_choices(&self, terms: &[Expr], choices: &FxHashSet<Expr>) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), terms.to_vec());
        while let Some(term) = todo.pop() {
            if choices.contains(&term) {
                return true;
            }
            if !seen.insert(term) {
                continue;
            }
            // Of another choice it matters which float it is of; if that is a NaN, it is free.
            if let Some(float) = self.floats.get(&term).filter(|_| self.computed.contains(&term.id)) {
                todo.push(*float);
                continue;
            }
            let node = &self.nodes[term.id as usize];
            let of = |id: &u32| Expr { id: *id, sort: self.nodes[*id as usize].sort };
            todo.extend(node.children.iter().chain(&node.equation).map(of));
            if let Some((before, address, written)) = self.writes.get(&term.id) {
                todo.extend(address.terms.iter().copied());
                todo.extend([*before, written.byte]);
                todo.extend(written.when.iter().flat_map(|(when, byte)| [*when, *byte]));
            }
            if let Some((before, when, time)) = self.given.get(&term.id) {
                todo.extend([*before, *when, *time]);
            }
        }
        false
    }

    fn made(&self, term: Expr) -> Made {
        let node = &self.nodes[term.id as usize];
        if self.computed.contains(&term.id) {
            return Made::Computed;
        }
        let symbol = node.definition.as_deref().and_then(|text| text.strip_prefix('(')?.split(' ').next());
        let part = |n: usize| node.children.get(n).map(|id| Expr { id: *id, sort: self.nodes[*id as usize].sort });
        let top = term.width().checked_sub(1).map(|top| 1u128 << top.min(127));
        let mask = part(1).and_then(|mask| self.constant(mask));
        match (symbol, part(0), part(1), part(2)) {
            (Some("ite"), Some(condition), Some(x), Some(y)) => Made::Chosen(condition, x, y),
            (Some("bvxor"), Some(x), _, _) if mask.is_some() && mask == top => Made::Negated(x),
            (Some("bvand"), Some(x), _, _) if mask.is_some() && mask == top.map(|top| top - 1) => Made::Magnitude(x),
            _ => Made::Otherwise,
        }
    }
}
