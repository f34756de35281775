//! What of the bits of a NaN may be otherwise: arithmetic that gives a NaN does not say which one.

use super::{Expr, Script};
use rustc_hash::FxHashMap;

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
    /// What may be otherwise of these bits of a float, if they are those of a NaN. What is not seen to be computed is exact.
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
