//! Two versions that go hand in hand: blocks and instructions are paired, and both are cut at many places, so that each step
//! of the induction is about a few instructions.
//!
//! Blocks are paired by what they access and call and along equal branches ([`blocks`]), and their instructions by order
//! and opcode. Paired blocks are cut behind paired instructions wherever all values that are needed are paired. That a pair
//! is one is a guess: it says where to cut and what may be equal there, and the induction proves it. Values at a cut are
//! what they are, as far as they are not soon computed anew. Values that one version alone needs there are computed anew,
//! or read again ([`super::readings`]). Where only one version decides at the header of a loop whether there is another
//! iteration, that header is passed ([`rotated`]).

mod blocks;
mod hoisted;
mod rotated;

use super::super::flow::Flow;
use super::super::instructions::jump;
use super::super::symexec::is_arithmetic;
use super::recomputed::{is_light, is_settled};
use blocks::{paired_blocks, simplified};
use rewright_llvm::body::{Block, Body, Instruction, Shape};
use rewright_llvm::types::Type;
use rotated::Rotated;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of two blocks, multiplied, that are compared to pair them.
const MOST_PAIRS: usize = 250_000;

/// Cuts, beyond which only what others may notice is worth one.
const MOST_CUTS: usize = 150;

/// Two versions that are cut behind the same things, and what is taken for the same.
pub(super) struct Lockstep {
    pub(super) bodies: [Body; 2],
    pub(super) pairs: Pairs,
    /// By version, blocks at which it is cut.
    cuts: [BTreeSet<usize>; 2],
    /// By version and block: values that are needed where it begins in both.
    kept: [BTreeMap<usize, BTreeSet<String>>; 2],
    /// Types of loads that only one version executes.
    read: Vec<Type>,
}

/// What is taken for the same in both versions.
pub(super) struct Pairs {
    /// Blocks, by version.
    blocks: BTreeSet<(usize, usize)>,
    /// Values of the second version, by one of the first.
    values: BTreeMap<String, String>,
    /// Values, by version, that may be the same beside those.
    others: BTreeSet<(String, String)>,
}

impl Pairs {
    /// Are these blocks a pair?
    pub(super) fn are_blocks(&self, old: usize, new: usize) -> bool {
        self.blocks.contains(&(old, new))
    }

    /// May these values be the same? A number as a name says little: it is another one where there are more values before.
    pub(super) fn may_be_same(&self, old: &str, new: &str) -> bool {
        let is_one_of = |(was, is): &(String, String)| was == old && is == new;
        let is_pair = || self.values.get(old).is_some_and(|value| value == new) || self.others.iter().any(is_one_of);
        let is_number = || new.trim_start_matches('%').bytes().all(|byte| byte.is_ascii_digit());
        let is_other = || self.values.contains_key(old) || self.values.values().any(|value| value == new);
        is_pair() || (old == new && !(is_number() && is_other()))
    }
}

impl Lockstep {
    /// Pairs two bodies; `None` where nothing beyond the entry is a pair.
    pub(super) fn new(bodies: &[Body; 2]) -> Option<Lockstep> {
        let bodies = &bodies.each_ref().map(simplified);
        let flows = bodies.each_ref().map(Flow::new);
        let (blocks, rotated) = paired(&flows);
        let mut pairing = Pairing::new(&flows, &blocks);
        let others = rotated.pair_values(&flows, &mut pairing);
        let own = [0, 1].map(|version| pairing.own_loads(version, &flows[version], &blocks));
        let later = pairing.behind_hoisted(&flows, &blocks, &own);
        let read = own.iter().flatten().map(|own| own.load.ty.clone()).collect();
        let all = pairing.cuts(&flows, &blocks, |_| true);
        let all = match all.iter().map(Vec::len).sum::<usize>() > MOST_CUTS {
            true => pairing.cuts(&flows, &blocks, is_noticed),
            false => all,
        };
        let all = all.into_iter().zip(&later).map(|(cuts, later)| match later {
            Some(at) => {
                std::iter::once(*at).chain(cuts.into_iter().filter(|cut| cut.0 > at.0 && cut.1 > at.1)).collect()
            }
            None => cuts,
        });
        let mut ends = [0, 1].map(|n| vec![vec![]; bodies[n].blocks.len()]);
        for ((old, new), cuts) in blocks.iter().zip(all) {
            [ends[0][*old], ends[1][*new]] =
                [cuts.iter().map(|cut| cut.0).collect(), cuts.iter().map(|cut| cut.1).collect()];
        }
        let [(old, first_old), (new, first_new)] = [0, 1].map(|n| split(&bodies[n], &ends[n]));
        let firsts: Vec<(usize, usize)> = blocks.iter().map(|(was, is)| (first_old[*was], first_new[*is])).collect();
        let pieces = |((was, _), (old, new)): (&(usize, usize), &(usize, usize))| {
            let (old, new) = (*old, *new);
            (0..=ends[0][*was].len()).map(move |n| (old + n, new + n))
        };
        let blocks: BTreeSet<(usize, usize)> = blocks.iter().zip(&firsts).flat_map(pieces).collect();
        let begins: BTreeMap<_, _> = firsts.into_iter().zip(later.iter().map(Option::is_none)).collect();
        let bodies = [old, new];
        let passed =
            [(0, &first_old), (1, &first_new)].map(|(n, first)| rotated.headers(n).map(|at| first[at]).collect());
        let cuts = cuts(&bodies, &blocks, &pairing.values, &begins, &passed);
        let pairs = Pairs { blocks, values: pairing.values, others };
        let kept = kept(&bodies, &pairs);
        (pairs.blocks.len() > 1).then_some(Lockstep { bodies, pairs, cuts, kept, read })
    }

    /// Is a value not needed in the other version where a block of this one begins?
    pub(super) fn is_alone(&self, version: usize, block: usize, name: &str) -> bool {
        self.kept[version].get(&block).is_some_and(|names| !names.contains(name))
    }

    /// May a value of this type be what only one version reads again?
    pub(super) fn may_be_read(&self, ty: &Type) -> bool {
        self.read.contains(ty)
    }

    /// Blocks of a version at which it is cut.
    pub(super) fn cuts(&self, version: usize) -> &BTreeSet<usize> {
        &self.cuts[version]
    }
}

/// Pairs of blocks, and loops of which one version decides where iterations begin, and the other one where they end.
fn paired(flows: &[Flow<'_>; 2]) -> (Vec<(usize, usize)>, Rotated) {
    let blocks = paired_blocks(flows, &[BTreeSet::new(), BTreeSet::new()]);
    let rotated = Rotated::new(flows, &blocks);
    let passed = [0, 1].map(|n| rotated.headers(n).collect::<BTreeSet<_>>());
    if passed.iter().all(BTreeSet::is_empty) {
        return (blocks, rotated);
    }
    // Blocks that were paired with headers may have another partner.
    let blocks = paired_blocks(flows, &passed);
    let rotated = rotated.among(&blocks);
    (blocks, rotated)
}

/// By version, blocks to cut at: where pieces begin, where paths meet in either version unless `begins` says that both are
/// cut further down or what merges there has no partner yet, and where cycles do, unless these are `passed` and cut behind
/// their headers.
fn cuts(
    bodies: &[Body; 2],
    pairs: &BTreeSet<(usize, usize)>,
    values: &BTreeMap<String, String>,
    begins: &BTreeMap<(usize, usize), bool>,
    passed: &[BTreeSet<usize>; 2],
) -> [BTreeSet<usize>; 2] {
    let flows = bodies.each_ref().map(Flow::new);
    let headers = |n: usize| flows[n].latches().into_iter().map(|(header, _)| header);
    let mut cuts: [BTreeSet<usize>; 2] = [0, 1].map(|n| headers(n).filter(|at| !passed[n].contains(at)).collect());
    let meets = |n: usize, at: usize| flows[n].predecessors(at).nth(1).is_some();
    for (old, new) in pairs {
        if [(0, old), (1, new)].iter().any(|(n, at)| **at == 0 || !flows[*n].order().contains(at)) {
            continue;
        }
        let is_wanted = || {
            let of = [(0, *old), (1, *new)];
            of.iter().any(|(n, at)| cuts[*n].contains(at))
                || (of.iter().any(|(n, at)| meets(*n, *at)) && are_carried(&flows, values, (*old, *new)))
        };
        match begins.get(&(*old, *new)) {
            Some(false) => [(0, old), (1, new)].iter().for_each(|(n, at)| _ = cuts[*n].remove(at)),
            Some(true) if !is_wanted() => {}
            _ => [(0, *old), (1, *new)].iter().for_each(|(n, at)| _ = cuts[*n].insert(*at)),
        }
    }
    cuts
}

/// Has what merges where a block of a pair begins a partner there in the other version?
fn are_carried(flows: &[Flow<'_>; 2], values: &BTreeMap<String, String>, (old, new): (usize, usize)) -> bool {
    let phis = |n: usize, at: usize| flows[n].body.blocks[at].phis().filter_map(|i| i.result.as_ref());
    let is_there = |n: usize, at: usize, name: &String| match flows[n].definition(name) {
        Some((made, i)) => made != at || matches!(i.shape, Shape::Phi(_)),
        None => true,
    };
    phis(0, old).all(|name| values.get(name).is_some_and(|other| is_there(1, new, other)))
        && phis(1, new).all(|name| values.iter().any(|(other, of)| of == name && is_there(0, old, other)))
}

/// By version and block: values that are needed where it begins in both.
fn kept(bodies: &[Body; 2], pairs: &Pairs) -> [BTreeMap<usize, BTreeSet<String>>; 2] {
    let flows = bodies.each_ref().map(Flow::new);
    let live = flows.each_ref().map(Flow::live);
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    for (old, new) in &pairs.blocks {
        let needed = [(0, *old), (1, *new)].map(|(n, at)| heavy(&flows[n], &live[n][at]));
        for (version, block) in [(0, *old), (1, *new)] {
            let is_kept = |name: &str| match version {
                0 => needed[1].iter().any(|other| pairs.may_be_same(name, other)),
                _ => needed[0].iter().any(|other| pairs.may_be_same(other, name)),
            };
            let names = needed[version].iter().filter(|name| is_kept(name)).map(|name| name.to_string());
            found[version].insert(block, names.collect());
        }
    }
    found
}

/// What others may notice, or what reads memory.
fn is_noticed(i: &Instruction) -> bool {
    match &i.shape {
        Shape::Store(..) | Shape::Load(..) | Shape::Atomic(..) => true,
        Shape::Call { callee, .. } => !is_arithmetic(callee.as_deref()),
        _ => false,
    }
}

/// What instructions have in common that may be a pair.
fn kind(i: &Instruction) -> String {
    let callee = match &i.shape {
        Shape::Call { callee, .. } => callee.as_deref().unwrap_or_default(),
        _ => "",
    };
    let stored = match &i.shape {
        Shape::Store(value, ..) => Some(&value.ty),
        _ => None,
    };
    format!("{} {} {callee} {stored:?}", i.opcode, i.ty)
}

/// What is a pair of two bodies.
struct Pairing {
    values: BTreeMap<String, String>,
    /// The other way round.
    turned: BTreeMap<String, String>,
    /// Positions in each pair of blocks.
    positions: Vec<Vec<(usize, usize)>>,
}

impl Pairing {
    fn new(flows: &[Flow<'_>; 2], blocks: &[(usize, usize)]) -> Pairing {
        let mut pairing = Pairing { values: BTreeMap::new(), turned: BTreeMap::new(), positions: vec![] };
        let all = |n: usize, at: usize| flows[n].body.blocks[at].instructions.as_slice();
        for (old, new) in blocks {
            let positions = aligned(all(0, *old), all(1, *new));
            pairing.positions.push(positions);
        }
        // The operands of phis may be computed behind them.
        for only_phis in [true, false] {
            for (n, (old, new)) in blocks.iter().enumerate() {
                let [was, is] = [all(0, *old), all(1, *new)];
                let mut before = (0, 0);
                for (x, y) in pairing.positions[n].clone() {
                    let is_phi = matches!(was[x].shape, Shape::Phi(_));
                    if !only_phis {
                        pairing.last_of(flows, &was[before.0..x], &is[before.1..y]);
                    }
                    if is_phi == only_phis && (is_phi || pairing.may_be_same(flows, &was[x], &is[y])) {
                        pairing.pair(&was[x], &is[y]);
                    }
                    before = (x + 1, y + 1);
                }
            }
        }
        pairing
    }

    fn pair(&mut self, old: &Instruction, new: &Instruction) {
        if let (Some(old), Some(new)) = (&old.result, &new.result) {
            self.values.insert(old.clone(), new.clone());
            self.turned.insert(new.clone(), old.clone());
        }
    }

    /// Pairs the last values of what stands between two pairs: what others there are serves to make them. Where each of
    /// them is made of one value only, these are pairs, too.
    fn last_of(&mut self, flows: &[Flow<'_>; 2], old: &[Instruction], new: &[Instruction]) {
        let (Some(mut old), Some(mut new)) = (old.last(), new.last()) else { return };
        while old.ty == new.ty {
            self.pair(old, new);
            let ([was], [is]) = (&old.template.holes[..], &new.template.holes[..]) else { return };
            let made = (flows[0].definition(was), flows[1].definition(is));
            let (Some((_, was)), Some((_, is))) = made else { return };
            if self.are_settled(was, is) {
                return;
            }
            (old, new) = (was, is);
        }
    }

    /// Is one of two values part of a pair?
    fn are_settled(&self, old: &Instruction, new: &Instruction) -> bool {
        let is_part = |i: &Instruction, pairs: &BTreeMap<String, String>| {
            i.result.as_ref().is_some_and(|name| pairs.contains_key(name))
        };
        is_part(old, &self.values) || is_part(new, &self.turned)
    }

    /// Is one of a value of this version and one of the other part of a pair?
    fn are_settled_between(&self, version: usize, value: &Instruction, other: &Instruction) -> bool {
        let [old, new] = if version == 0 { [value, other] } else { [other, value] };
        self.are_settled(old, new)
    }

    /// May instructions of one kind give the same? Not where they take other things, all of which are paired.
    fn may_be_same(&self, flows: &[Flow<'_>; 2], old: &Instruction, new: &Instruction) -> bool {
        let [mut was, mut is] = [old, new].map(|i| i.template.holes.clone());
        let settled = |n: usize, name: &String, pairs: &BTreeMap<String, String>| {
            flows[n].definition(name).is_none() || pairs.contains_key(name)
        };
        if !was.iter().all(|name| settled(0, name, &self.values))
            || !is.iter().all(|name| settled(1, name, &self.turned))
        {
            return true;
        }
        for name in &mut was {
            if let Some(other) = self.values.get(name) {
                name.clone_from(other);
            }
        }
        was.sort_unstable();
        is.sort_unstable();
        was == is
    }

    /// Positions, by pair of blocks, behind instructions that count, where all that is needed is paired.
    fn cuts(
        &self,
        flows: &[Flow<'_>; 2],
        blocks: &[(usize, usize)],
        counts: impl Fn(&Instruction) -> bool,
    ) -> Vec<Vec<(usize, usize)>> {
        let live = flows.each_ref().map(Flow::live);
        let of = |(n, (old, new)): (usize, &(usize, usize))| {
            let needed = [needed(&flows[0], *old, &live[0]), needed(&flows[1], *new, &live[1])];
            let all = |n: usize, at: usize| flows[n].body.blocks[at].instructions.as_slice();
            let is_whole = |(x, y): (usize, usize)| {
                let is_paired = |name: &&str, pairs: &BTreeMap<String, String>, others: &BTreeSet<&str>| {
                    pairs.get(*name).is_some_and(|other| others.contains(other.as_str()))
                };
                let [was, is] = [&needed[0][x], &needed[1][y]];
                let [was, is] = [
                    rooted(&flows[0], was, |name| is_paired(name, &self.values, is)),
                    rooted(&flows[1], is, |name| is_paired(name, &self.turned, was)),
                ];
                was.iter().all(|name| is_paired(name, &self.values, &is))
                    && is.iter().all(|name| is_paired(name, &self.turned, &was))
            };
            let is_cut = |(x, _): &(usize, usize)| {
                let i = &all(0, *old)[*x];
                let stays =
                    matches!(i.shape, Shape::Phi(_) | Shape::Alloca(_)) || i.shape.is_terminator() || is_light(i);
                // Where the block ends is soon enough.
                let ends = || matches!(all(0, *old).get(x + 1), Some(Instruction { shape: Shape::Jump(_), .. }));
                !stays && counts(i) && !ends()
            };
            // A block where paths merge in one version, without a partner in the other one, has led to something before the
            // first access.
            let meets = |(n, at): (usize, usize)| flows[n].predecessors(at).nth(1).is_some();
            let alone =
                [(0, *old), (1, *new)].into_iter().any(meets) && !are_carried(flows, &self.values, (*old, *new));
            let first = self.positions[n].iter().find(|(x, _)| is_noticed(&all(0, *old)[*x]));
            let before = first.filter(|(x, y)| alone && *x > 0 && *y > 0).map(|(x, y)| (x - 1, y - 1));
            let behind = self.positions[n].iter().copied().filter(is_cut);
            let cuts: BTreeSet<_> = before.into_iter().chain(behind).filter(|at| is_whole(*at)).collect();
            cuts.into_iter().map(|(x, y)| (x + 1, y + 1)).collect()
        };
        blocks.iter().enumerate().map(of).collect()
    }
}

/// Values that are needed behind each instruction of a block, of light ones what they are made of.
fn needed<'a>(flow: &Flow<'a>, at: usize, live: &[BTreeSet<&'a str>]) -> Vec<BTreeSet<&'a str>> {
    let instructions = &flow.body.blocks[at].instructions;
    let mut here: BTreeSet<&'a str> = flow.needed_behind(at, live);
    let mut all = vec![BTreeSet::new(); instructions.len()];
    for (n, i) in instructions.iter().enumerate().rev() {
        all[n] = heavy(flow, &here);
        if let Some(name) = &i.result {
            here.remove(name.as_str());
        }
        if !matches!(i.shape, Shape::Phi(_)) {
            here.extend(flow.uses(i));
        }
    }
    all
}

/// Values, of light ones what they are made of.
fn heavy<'a>(flow: &Flow<'a>, names: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    expanded(flow, names, |_, i| is_light(i))
}

/// Values, of those that are no pair what they are made of again, where they are made or read by what is left.
fn rooted<'a>(flow: &Flow<'a>, names: &BTreeSet<&'a str>, is_paired: impl Fn(&&str) -> bool) -> BTreeSet<&'a str> {
    expanded(flow, names, |name, i| !is_paired(&name) && (is_settled(i) || matches!(i.shape, Shape::Load(..))))
}

/// Values, of some of which it is said what they are made of in their place.
fn expanded<'a>(
    flow: &Flow<'a>,
    names: &BTreeSet<&'a str>,
    is_expanded: impl Fn(&str, &Instruction) -> bool,
) -> BTreeSet<&'a str> {
    let (mut todo, mut seen, mut found) = (names.iter().copied().collect::<Vec<_>>(), BTreeSet::new(), BTreeSet::new());
    while let Some(name) = todo.pop() {
        if !seen.insert(name) {
            continue;
        }
        match flow.definition(name) {
            Some((_, i)) if is_expanded(name, i) => todo.extend(flow.uses(i)),
            _ => _ = found.insert(name),
        }
    }
    found
}

/// A body whose blocks are cut behind these positions, and where the pieces of each block begin.
fn split(body: &Body, ends: &[Vec<usize>]) -> (Body, Vec<usize>) {
    let (mut blocks, mut first, mut last) = (vec![], vec![], BTreeMap::new());
    for (block, ends) in body.blocks.iter().zip(ends) {
        first.push(blocks.len());
        let mut label = block.label.clone();
        let mut rest = block.instructions.as_slice();
        for (n, end) in ends.iter().enumerate() {
            let (piece, behind) = rest.split_at(end - (block.instructions.len() - rest.len()));
            let next = format!("{}/{n}", block.label);
            let mut instructions = piece.to_vec();
            instructions.push(jump(&next));
            blocks.push(Block { label: std::mem::replace(&mut label, next), instructions });
            rest = behind;
        }
        last.insert(block.label.clone(), label.clone());
        blocks.push(Block { label, instructions: rest.to_vec() });
    }
    for i in blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if let Shape::Phi(values) = &mut i.shape {
            for (_, from) in values {
                if let Some(label) = last.get(from) {
                    from.clone_from(label);
                }
            }
        }
    }
    (Body { blocks, variables: body.variables.clone() }, first)
}

/// Positions of like instructions in the same order, as many as there are.
fn aligned(old: &[Instruction], new: &[Instruction]) -> Vec<(usize, usize)> {
    let [was, is] = [old, new].map(|all| all.iter().map(kind).collect::<Vec<_>>());
    if was.len() * is.len() > MOST_PAIRS {
        return vec![];
    }
    // The longest common subsequence of what begins at each pair of places.
    let mut longest = vec![vec![0usize; is.len() + 1]; was.len() + 1];
    for x in (0..was.len()).rev() {
        for y in (0..is.len()).rev() {
            longest[x][y] = match was[x] == is[y] {
                true => longest[x + 1][y + 1] + 1,
                false => longest[x + 1][y].max(longest[x][y + 1]),
            };
        }
    }
    let (mut x, mut y, mut found) = (0, 0, vec![]);
    while x < was.len() && y < is.len() {
        if was[x] == is[y] {
            found.push((x, y));
            (x, y) = (x + 1, y + 1);
        } else if longest[x + 1][y] >= longest[x][y + 1] {
            x += 1;
        } else {
            y += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_numbers_make_no_pair_beside_another() {
        let pair = ("%7".to_string(), "%6".to_string());
        let pairs = Pairs {
            blocks: BTreeSet::new(),
            values: BTreeMap::from([pair, ("%a".into(), "%b".into())]),
            others: BTreeSet::new(),
        };
        for (old, new) in [("%7", "%6"), ("%8", "%8"), ("%a", "%b"), ("%a", "%a"), ("%b", "%b")] {
            assert!(pairs.may_be_same(old, new), "{old} {new}");
        }
        for (old, new) in [("%7", "%7"), ("%6", "%6"), ("%8", "%9"), ("%b", "%a")] {
            assert!(!pairs.may_be_same(old, new), "{old} {new}");
        }
    }
}
