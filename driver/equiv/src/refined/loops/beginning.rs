//! Values at a pair of cuts where a step of the induction begins, and what is assumed of them.

use super::super::facts::Interval;
use super::super::inputs::Leaf;
use super::super::instructions::plain;
use super::super::meaning::{Value, width};
use super::super::region::State;
use super::NotModelled;
use super::candidate::{Candidate, fold, folded, multiple, within};
use super::induction::Induction;
use rewright_llvm::body::{Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Script, Sort, name_part};
use std::collections::BTreeMap;

/// Where a step begins.
pub(super) struct Beginning<'a> {
    pub(super) s: &'a mut Script,
    pub(super) induction: &'a Induction<'a>,
    pub(super) at: (usize, usize),
    pub(super) undefined: bool,
}

impl<'a> Beginning<'a> {
    /// Variables for the bases of both. One of the first version has the bits of its partner, where it has one, and the
    /// choices, where it is not fixed. One of the second version that is one of the first in more bits is that.
    pub(super) fn leaves(&mut self) -> Result<[Vec<Leaf>; 2], NotModelled> {
        let invariant = &self.induction.invariants[&self.at];
        let mut new = vec![];
        for (n, base) in self.bases(1).iter().enumerate() {
            new.push(self.leaf(1, base, self.undefined && !invariant.is_fixed(1, n))?);
        }
        let mut old = vec![];
        for (n, base) in self.bases(0).iter().enumerate() {
            let mut leaf = self.leaf(0, base, false)?;
            if let Some(partner) = invariant.partner(n) {
                leaf = self.as_partner(n, leaf, (partner, &new[partner]));
            }
            if let Some((by, lanes)) = invariant.fold(n) {
                let lanes: Vec<Value> = lanes.iter().map(|lane| new[*lane].value).collect();
                leaf.value = fold(self.s, by, &lanes);
            }
            old.push(leaf);
        }
        for (n, leaf) in new.iter_mut().enumerate().filter(|(_, leaf)| leaf.mask.is_none()) {
            // Values that are sure to be the same are one term.
            if let Some((narrow, how)) = invariant.narrower(n) {
                leaf.value.bits = how.made(self.s, old[narrow].value.bits, leaf.value.bits.width());
            }
        }
        Ok([old, new])
    }

    /// A base of the first version that refines to one of the second version.
    fn as_partner(&self, old: usize, mut leaf: Leaf, (new, partner): (usize, &Leaf)) -> Leaf {
        let invariant = &self.induction.invariants[&self.at];
        // Where it is not poison, it is that value.
        let poison = if invariant.is_alike(old, new) { partner.value.poison } else { leaf.value.poison };
        leaf.value = Value { poison, ..partner.value };
        if self.undefined && !invariant.is_fixed(0, old) {
            (leaf.mask, leaf.key, leaf.place) = (partner.mask, partner.key, partner.place);
        }
        leaf
    }

    /// Bases of the second version are what has been read, and so are those of the first version that they refine.
    pub(super) fn are_read(&self, leaves: &mut [Vec<Leaf>; 2], read: &[(usize, Leaf)]) {
        let invariant = &self.induction.invariants[&self.at];
        for (new, leaf) in read {
            leaves[1][*new] = *leaf;
            for (old, was) in leaves[0].iter_mut().enumerate().filter(|(old, _)| invariant.partner(*old) == Some(*new))
            {
                *was = self.as_partner(old, *was, (*new, leaf));
            }
        }
    }

    /// Readings that hold of bases of a version which nothing else says more of, and whether all uses see one value.
    ///
    /// Memory is that of the second version. Where a base of the first one is poison, or may be `undef`, something else may
    /// be there: that takes its place, which is right if nothing is known of the base. The second version's are what is there.
    pub(super) fn readings(&self, side: usize) -> BTreeMap<usize, bool> {
        let invariant = &self.induction.invariants[&self.at];
        let cut = [self.at.0, self.at.1][side];
        let readings = &self.induction.versions[side].cuts[cut].state.readings;
        let is_free = |base: Option<usize>| match (side, base) {
            (_, None) => true,
            (0, Some(base)) => !invariant.left().any(|(_, candidate)| candidate.depends_on(base)),
            (_, Some(base)) => invariant.narrower(base).is_none(),
        };
        let of = |(_, candidate): (usize, &Candidate)| match candidate {
            Candidate::Read { side: of, reading } if *of == side => Some(*reading),
            _ => None,
        };
        let is_fixed = |base: Option<usize>| side == 1 && base.is_some_and(|base| invariant.is_fixed(1, base));
        let free = invariant.left().filter_map(of).filter(|reading| is_free(readings[*reading].base));
        free.map(|reading| (reading, is_fixed(readings[reading].base))).collect()
    }

    /// What the candidates say that are left of bases.
    pub(super) fn assumed(&mut self, leaves: &[Vec<Leaf>; 2]) -> Result<Vec<Expr>, NotModelled> {
        let invariant = &self.induction.invariants[&self.at];
        let mut assumed = self.slots(leaves);
        for (_, candidate) in invariant.left() {
            match candidate {
                Candidate::Related { old, new, how, more } => {
                    let (was, is) = (leaves[0][*old], leaves[1][*new]);
                    let mut kept = vec![self.s.not(is.value.poison), how.holds(self.s, was.value, is.value, *more)];
                    if let (true, Some(mask)) = (was.mask.is_none(), is.mask) {
                        let some = self.s.nonzero(mask);
                        kept.push(self.s.not(some));
                    }
                    let kept = self.s.and(&kept);
                    assumed.push(self.s.or(&[was.value.poison, kept]));
                }
                Candidate::Defined { old } => assumed.push(self.s.not(leaves[0][*old].value.poison)),
                Candidate::Within { new, bounds } => assumed.push(within(self.s, leaves[1][*new].value, *bounds)),
                Candidate::Multiple { new, of } => assumed.push(multiple(self.s, leaves[1][*new].value, *of)),
                // Else the first version's base is made of them.
                Candidate::Folded { old, by, new } if invariant.fold(*old) != Some((*by, new.as_slice())) => {
                    let lanes: Vec<Value> = new.iter().map(|lane| leaves[1][*lane].value).collect();
                    assumed.push(folded(self.s, by, leaves[0][*old].value, &lanes));
                }
                // A leaf of the first version is made so.
                Candidate::Alike { .. }
                | Candidate::Folded { .. }
                | Candidate::Fixed { .. }
                | Candidate::Read { .. }
                | Candidate::Fact { .. }
                | Candidate::Distance { .. } => {}
            }
        }
        Ok(assumed)
    }

    /// What the first version begins with, where one of its bases is made of several of the second version: these are
    /// bases in its place, and what takes them together computes it.
    pub(super) fn folded(&self, leaves: &[Vec<Leaf>; 2]) -> Option<(State, Vec<Leaf>)> {
        let invariant = &self.induction.invariants[&self.at];
        let state = &self.induction.versions[0].cuts[self.at.0].state;
        let (mut bases, mut computed, mut own) = (vec![], vec![], vec![]);
        for (n, base) in state.bases.iter().enumerate() {
            let Some((by, lanes)) = invariant.fold(n) else {
                bases.push(base.clone());
                own.push(leaves[0][n]);
                continue;
            };
            let lane = |n: usize| Operand { ty: base.ty.clone(), text: format!("{}#after", self.bases(1)[n].text) };
            for n in lanes {
                if !bases.contains(&lane(*n)) {
                    bases.push(lane(*n));
                    own.push(leaves[1][*n]);
                }
            }
            let (first, others) = lanes.split_first()?;
            let mut whole = lane(*first);
            for (at, n) in others.iter().enumerate() {
                let text = if at + 1 == others.len() { base.text.clone() } else { format!("{}#to{at}", base.text) };
                let operands = vec![whole, lane(*n)];
                computed.push(plain(&text, &base.ty, by, operands));
                whole = Operand { ty: base.ty.clone(), text };
            }
        }
        let is_folded = !computed.is_empty();
        computed.extend(state.computed.iter().cloned());
        is_folded.then(|| (State { bases, computed, decided: state.decided.clone(), readings: vec![] }, own))
    }

    /// Bounds of each use of a base, by what uses are known by, where each may see another value. The set that the second
    /// version has is meant, and the first one chooses from that set, too.
    pub(super) fn limits(&self, leaves: &[Vec<Leaf>; 2]) -> Vec<(Expr, Interval)> {
        let limit = |(_, candidate): (usize, &Candidate)| match candidate {
            Candidate::Within { new, bounds } => leaves[1][*new].mask.map(|_| (leaves[1][*new].key, *bounds)),
            _ => None,
        };
        self.induction.invariants[&self.at].left().filter_map(limit).collect()
    }

    fn bases(&self, side: usize) -> &'a [Operand] {
        let cut = [self.at.0, self.at.1][side];
        &self.induction.versions[side].cuts[cut].state.bases
    }

    /// Is a base a stack slot?
    fn is_slot(&self, side: usize, base: &Operand) -> bool {
        let definition = self.induction.versions[side].flow.definition(&base.text);
        definition.is_some_and(|(_, i)| matches!(i.shape, Shape::Alloca(_)))
    }

    /// That stack slots are somewhere.
    fn slots(&mut self, leaves: &[Vec<Leaf>; 2]) -> Vec<Expr> {
        let mut known = vec![];
        for (side, leaves) in leaves.iter().enumerate() {
            for (base, leaf) in self.bases(side).iter().zip(leaves) {
                if self.is_slot(side, base) {
                    known.push(self.s.nonzero(leaf.value.bits));
                }
            }
        }
        known
    }

    fn leaf(&mut self, side: usize, base: &Operand, loose: bool) -> Result<Leaf, NotModelled> {
        let wide = width(&base.ty)?;
        let name = format!("{} {}", ["before", "after"][side], name_part(&base.text));
        let bits = self.s.variable(&name, Sort::Bits(wide));
        let is_slot = self.is_slot(side, base);
        let poison = match is_slot {
            true => Expr::FALSE,
            false => self.s.variable(&format!("{name} is poison"), Sort::Bool),
        };
        let origin = (base.ty == Type::Ptr).then(|| self.s.variable(&format!("object of {name}"), Sort::Bits(64)));
        let mask = (loose && !is_slot).then(|| self.s.variable(&format!("undef bits of {name}"), Sort::Bits(wide)));
        Ok(Leaf { value: Value { bits, poison, origin }, mask, key: bits, computed: true, place: None })
    }
}
