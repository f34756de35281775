//! Loops of which one version decides at the beginning of an iteration whether there is one, and the other one at the end.
//!
//! The header of the former is no counterpart of anything: what it does, the latter does before the loop and in its
//! last block. Both are cut where an iteration has been decided on: behind that header, and at the header of the latter.

use super::super::super::flow::{Flow, Loop};
use super::{Pairing, kind};
use rewright_llvm::body::{Instruction, Operand, Shape};
use std::collections::BTreeSet;

/// A loop that decides at its header in one version, and not in the other one.
struct RotatedLoop {
    /// The version that decides at the header.
    version: usize,
    blocks: Loop,
    /// Where it is cut.
    inside: usize,
    /// The loop of the other version.
    other: Loop,
}

/// All of them.
pub(super) struct Rotated {
    loops: Vec<RotatedLoop>,
}

impl Rotated {
    pub(super) fn new(flows: &[Flow<'_>; 2], blocks: &[(usize, usize)]) -> Rotated {
        let loops = [0, 1].into_iter().flat_map(|version| rotated(version, flows, blocks)).collect();
        Rotated { loops }
    }

    /// Those that are still there among other pairs.
    pub(super) fn among(self, blocks: &[(usize, usize)]) -> Rotated {
        let is_pair = |one: &RotatedLoop| blocks.contains(&by_version(one.version, one.inside, one.other.header));
        Rotated { loops: self.loops.into_iter().filter(is_pair).collect() }
    }

    /// The headers that are passed in a version.
    pub(super) fn headers(&self, version: usize) -> impl Iterator<Item = usize> {
        self.loops.iter().filter(move |one| one.version == version).map(|one| one.blocks.header)
    }

    /// Pairs what headers make with what the other loops begin with, and tells what may be the same behind these loops.
    pub(super) fn pair_values(&self, flows: &[Flow<'_>; 2], pairing: &mut Pairing) -> BTreeSet<(String, String)> {
        for one in &self.loops {
            one.pair_values(flows, pairing);
        }
        self.loops.iter().flat_map(|one| one.behind(flows, pairing)).collect()
    }
}

/// The loops of a version that decide at their headers, and whose counterparts do not.
fn rotated(version: usize, flows: &[Flow<'_>; 2], blocks: &[(usize, usize)]) -> Vec<RotatedLoop> {
    let partner = |at: usize| blocks.iter().map(|(old, new)| [*old, *new]).find(|pair| pair[version] == at);
    let header_of = |at: usize| flows[1 - version].loops().into_iter().find(|one| one.header == at);
    let of = |one: Loop| {
        let flow = &flows[version];
        let inside: Vec<usize> = flow.successors(one.header).filter(|to| one.blocks.contains(to)).collect();
        let leaves = flow.successors(one.header).any(|to| !one.blocks.contains(&to));
        let ([inside], true) = (inside.as_slice(), leaves) else { return None };
        // Neither the header itself, nor that of another loop.
        if flow.predecessors(*inside).count() > 1 {
            return None;
        }
        let other = header_of(partner(*inside)?[1 - version])?;
        Some(RotatedLoop { version, inside: *inside, blocks: one, other })
    };
    flows[version].loops().into_iter().filter_map(of).collect()
}

/// What is of a version and what is of the other one, with what is of the first version first.
fn by_version<T>(version: usize, own: T, other: T) -> (T, T) {
    if version == 0 { (own, other) } else { (other, own) }
}

impl RotatedLoop {
    fn pair_values(&self, flows: &[Flow<'_>; 2], pairing: &mut Pairing) {
        let [flow, other] = [&flows[self.version], &flows[1 - self.version]];
        let made = &flow.body.blocks[self.blocks.header].instructions;
        for phi in other.body.blocks[self.other.header].phis() {
            let back = passed_back(other, &self.other, phi);
            let mut best: Option<(usize, &Instruction)> = None;
            for value in made.iter().filter(|value| value.result.is_some() && value.ty == phi.ty) {
                if pairing.are_settled_between(self.version, value, phi) {
                    continue;
                }
                let likeness = self.likeness(flows, pairing, (value, phi), back);
                if best.is_none_or(|(most, _)| likeness > most) {
                    best = Some((likeness, value));
                }
            }
            if let Some((_, value)) = best {
                let (old, new) = by_version(self.version, value, phi);
                pairing.pair(old, new);
            }
        }
    }

    /// What a header makes, with what the other version makes of its copies behind the loop: by version.
    fn behind(&self, flows: &[Flow<'_>; 2], pairing: &Pairing) -> Vec<(String, String)> {
        let [flow, other] = [&flows[self.version], &flows[1 - self.version]];
        let paired =
            |name: &String| if self.version == 0 { pairing.turned.get(name) } else { pairing.values.get(name) };
        let made = &flow.body.blocks[self.blocks.header].instructions;
        let outside = other.order().iter().filter(|at| !self.other.blocks.contains(at));
        let mut found = vec![];
        for phi in outside.flat_map(|at| other.body.blocks[*at].phis()) {
            let Some(phi_name) = phi.result.as_ref().filter(|name| paired(name).is_none()) else { continue };
            let merged = merged(other, phi);
            for value in made.iter().filter(|value| value.ty == phi.ty) {
                let Some(name) = &value.result else { continue };
                let is_copy = |operand: &Operand| match &value.shape {
                    Shape::Phi(values) => values.iter().any(|(from, _)| {
                        from.text == operand.text || paired(&operand.text).is_some_and(|other| *other == from.text)
                    }),
                    _ => other.definition(&operand.text).is_some_and(|(_, made)| kind(made) == kind(value)),
                };
                if merged.iter().all(|operand| is_copy(operand)) {
                    found.push(by_version(self.version, name.clone(), phi_name.clone()));
                }
            }
        }
        found
    }

    /// How much the values that a header computes are like those that the other loop begins with: by what the loop
    /// carries, or by names.
    fn likeness(
        &self,
        flows: &[Flow<'_>; 2],
        pairing: &Pairing,
        (value, phi): (&Instruction, &Instruction),
        back: Option<&Operand>,
    ) -> usize {
        let [flow, other] = [&flows[self.version], &flows[1 - self.version]];
        let goes_round = match &value.shape {
            Shape::Phi(_) => passed_back(flow, &self.blocks, value).zip(back).is_some_and(|(next, back)| {
                let (old, new) = by_version(self.version, next, back);
                pairing
                    .values
                    .get(&old.text)
                    .map_or(!old.is_local() && old.text == new.text, |other| *other == new.text)
            }),
            _ => back.and_then(|back| other.definition(&back.text)).is_some_and(|(_, made)| kind(made) == kind(value)),
        };
        let [name, begin] = [&phi.result, &value.result].map(|name| name.as_deref().unwrap_or_default());
        2 * usize::from(goes_round) + usize::from(name.starts_with(begin))
    }
}

/// What comes together in a phi, also by way of others that only pass on.
fn merged<'a>(flow: &Flow<'a>, phi: &'a Instruction) -> Vec<&'a Operand> {
    let Shape::Phi(values) = &phi.shape else { return vec![] };
    let passed_on = |operand: &'a Operand| {
        let mut at = operand;
        // Code that nothing reaches may pass on to itself.
        for _ in 0..flow.body.blocks.len() {
            match flow.definition(&at.text) {
                Some((_, Instruction { shape: Shape::Phi(values), .. })) if values.len() == 1 => at = &values[0].0,
                _ => break,
            }
        }
        at
    };
    values.iter().map(|(operand, _)| passed_on(operand)).collect()
}

/// What a phi of a loop's header takes from the iteration before, where that is one value.
fn passed_back<'a>(flow: &Flow<'_>, of: &Loop, phi: &'a Instruction) -> Option<&'a Operand> {
    let Shape::Phi(values) = &phi.shape else { return None };
    let is_latch = |label: &String| of.blocks.iter().any(|at| flow.body.blocks[*at].label == *label);
    let mut back = values.iter().filter(|(_, label)| is_latch(label)).map(|(value, _)| value);
    let first = back.next()?;
    back.all(|value| value.text == first.text).then_some(first)
}
