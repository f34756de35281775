//! Values at a pair of cuts where a step of the induction begins, and what is assumed of them.

use super::super::inputs::Leaf;
use super::super::meaning::{Value, width};
use super::invariants::Candidate;
use super::{Induction, NotModelled};
use rewright_llvm::body::Operand;
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Script, Sort};

/// Where a step begins.
pub(super) struct Beginning<'a> {
    pub(super) s: &'a mut Script,
    pub(super) induction: &'a Induction<'a>,
    pub(super) at: (usize, usize),
    pub(super) undefined: bool,
}

impl<'a> Beginning<'a> {
    /// Variables for the bases of both. One of the first version has the bits of its partner, where it has one, and the
    /// choices, where it is not fixed.
    pub(super) fn leaves(&mut self) -> Result<[Vec<Leaf>; 2], NotModelled> {
        let invariant = &self.induction.invariants[&self.at];
        let mut new = vec![];
        for (n, base) in self.bases(1).iter().enumerate() {
            new.push(self.leaf("after", base, self.undefined && !invariant.is_fixed(1, n))?);
        }
        let mut old = vec![];
        for (n, base) in self.bases(0).iter().enumerate() {
            let mut leaf = self.leaf("before", base, false)?;
            if let Some(partner) = invariant.partner(n).map(|partner| &new[partner]) {
                // Where it is not poison, it is that value.
                leaf.value = Value { poison: leaf.value.poison, ..partner.value };
                if self.undefined && !invariant.is_fixed(0, n) {
                    (leaf.mask, leaf.key) = (partner.mask, partner.key);
                }
            }
            old.push(leaf);
        }
        Ok([old, new])
    }

    /// What the candidates say that are left of bases.
    pub(super) fn assumed(&mut self, leaves: &[Vec<Leaf>; 2]) -> Result<Vec<Expr>, NotModelled> {
        let invariant = &self.induction.invariants[&self.at];
        let mut assumed = vec![];
        for (_, candidate) in invariant.left() {
            match candidate {
                Candidate::Related { old, new, how } => {
                    let (was, is) = (leaves[0][*old], leaves[1][*new]);
                    let mut kept = vec![self.s.not(is.value.poison), how.holds(self.s, was.value, is.value)];
                    if let (true, Some(mask)) = (was.mask.is_none(), is.mask) {
                        let some = self.s.nonzero(mask);
                        kept.push(self.s.not(some));
                    }
                    let kept = self.s.and(&kept);
                    assumed.push(self.s.or(&[was.value.poison, kept]));
                }
                Candidate::Fixed { .. } | Candidate::Fact { .. } => {}
            }
        }
        Ok(assumed)
    }

    fn bases(&self, side: usize) -> &'a [Operand] {
        let cut = [self.at.0, self.at.1][side];
        &self.induction.versions[side].cuts[cut].state.bases
    }

    fn leaf(&mut self, when: &str, base: &Operand, loose: bool) -> Result<Leaf, NotModelled> {
        let wide = width(&base.ty)?;
        let name = format!("{when} {}", base.text.replace('|', "/"));
        let bits = self.s.variable(&name, Sort::Bits(wide));
        let poison = self.s.variable(&format!("{name} is poison"), Sort::Bool);
        let origin = (base.ty == Type::Ptr).then(|| self.s.variable(&format!("object of {name}"), Sort::Bits(64)));
        let mask = loose.then(|| self.s.variable(&format!("undef bits of {name}"), Sort::Bits(wide)));
        Ok(Leaf { value: Value { bits, poison, origin }, mask, key: bits, computed: true, place: None })
    }
}
