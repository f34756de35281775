//! That arithmetic on indices does not overflow: bounds, subscripts, indices that become data, and what is divided in
//! them, are in range.

use super::claims::{Formula, Prover};
use super::replay::range;
use super::{Checked, Rejected};
use rewright_cfg_skeleton::nest::affine::Atom;
use rewright_cfg_skeleton::nest::overflow::MAX_BITS;
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, Item, Nest, Pool, ValueId};
use std::collections::BTreeSet;

/// That a number fits this many bits.
pub(super) fn in_range(affine: &Affine, bits: u32) -> Formula {
    let half = Affine::constant(1i128 << (bits.clamp(2, MAX_BITS) - 1));
    Formula::All(vec![Formula::at_least(affine, &half.times(-1)), Formula::less(affine, &half)])
}

/// Shows it of a version.
pub(super) fn none((pool, prover): (&Pool, &mut Prover), nest: &Nest, context: &[Formula], bits: u32) -> Checked<()> {
    if !(8..=MAX_BITS).contains(&bits) {
        return Err(Rejected::Step(format!("nothing is shown of {bits} bits")));
    }
    Walk { pool, prover, bits, given: context.to_vec() }.items(nest.checked.as_ref().unwrap_or(&nest.items))
}

struct Walk<'a> {
    pool: &'a Pool,
    prover: &'a mut Prover,
    bits: u32,
    given: Vec<Formula>,
}

impl Walk<'_> {
    fn items(&mut self, items: &[Item]) -> Checked<()> {
        let length = self.given.len();
        items.iter().try_for_each(|item| self.item(item))?;
        self.given.truncate(length);
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Checked<()> {
        let line = item.line();
        match item {
            Item::Load(x) => self.fit(&x.subscripts, line),
            Item::Store(x) => {
                self.fit(&x.subscripts, line)?;
                self.values(&[x.value], line)
            }
            Item::Bind(x) => {
                self.values(&[x.value], line)?;
                // An index, whatever it is.
                self.given.push(in_range(&Affine::var(x.var), self.bits));
                Ok(())
            }
            Item::Event(x) => self.values(&x.operands, line),
            Item::Trap(value, _) => self.values(&[*value], line),
            Item::Alloc(..) => Ok(()),
            Item::If(x) => {
                self.values(&[x.condition], line)?;
                self.items(&x.then)?;
                self.items(&x.otherwise)
            }
            Item::For(x) => {
                self.fit(&x.lower, line)?;
                self.fit(&x.upper, line)?;
                let length = self.given.len();
                self.given.extend(range(x));
                self.fit(&[Affine::var(x.var).offset(x.step)], line)?;
                self.items(&x.body)?;
                self.given.truncate(length);
                Ok(())
            }
        }
    }

    fn values(&mut self, values: &[ValueId], line: u32) -> Checked<()> {
        let (mut rest, mut seen) = (values.to_vec(), BTreeSet::new());
        while let Some(value) = rest.pop() {
            match self.pool.get(value) {
                _ if !seen.insert(value) => {}
                Value::Index(affine) => self.fit(std::slice::from_ref(affine), line)?,
                Value::Op(op) => rest.extend(&op.operands),
                _ => {}
            }
        }
        Ok(())
    }

    fn fit(&mut self, affines: &[Affine], line: u32) -> Checked<()> {
        let mut claims = vec![];
        for affine in affines {
            claims.push(in_range(affine, self.bits));
            affine.each_atom(&mut |atom| {
                if let Atom::Floor(inner, _) = atom {
                    claims.push(in_range(inner, self.bits));
                }
            });
        }
        let what = format!("that arithmetic of line {line} does not overflow {} bits", self.bits);
        self.prover.show(&what, &self.given, &Formula::All(claims))
    }
}
