//! A body with loops as regions without: what is executed from the entry, or from a cut, to the next cuts.
//!
//! Cuts are blocks; every cycle goes through one. A region's body is one of its own, with copies of blocks: each is a
//! block and how often cuts have been passed. Where a region begins at a cut, values from outside are *bases* (results of
//! phis, loads, calls), and what computes from them alone is computed anew: a definition that dominates a place holds
//! there, and so does the condition of a branch one of whose arms does.

use super::super::flow::Flow;
use super::super::instructions::phi;
use super::super::region::{Arrival, Reading, Region, State};
use super::readings::{self, Finder, Wanted};
use super::recomputed::{is_computed, is_light, is_settled};
use crate::not_modelled::NotModelled;
use rewright_llvm::body::{Block, Body, Instruction, Operand, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Copies of blocks in a region.
const MOST: usize = 200;

/// Where loops are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CutAt {
    /// At their headers.
    Header,
    /// Behind headers that decide whether there is another iteration.
    Inside,
}

/// A place at which both versions are compared.
pub(super) struct Cut {
    pub(super) block: usize,
    /// Where its loop begins.
    pub(super) header: usize,
    /// The blocks of its loop, where iterations are counted.
    blocks: BTreeSet<usize>,
    /// Regions go on behind it nevertheless.
    pub(super) is_passed: bool,
    /// What is known there.
    pub(super) state: State,
}

/// The cuts of all loops. A value that may be a NaN is computed anew if it is not kept, as it may be another NaN then.
pub(super) fn cuts(flow: &Flow<'_>, at: CutAt, is_kept: impl Fn(&Instruction) -> bool) -> Vec<Cut> {
    let live = flow.live();
    let cut = |one: super::super::flow::Loop| {
        let inside: Vec<usize> = flow.successors(one.header).filter(|to| one.blocks.contains(to)).collect();
        let leaves = flow.successors(one.header).any(|to| !one.blocks.contains(&to));
        let block = match (at, inside.as_slice()) {
            (CutAt::Inside, [only]) if leaves => *only,
            _ => one.header,
        };
        let decided = decided(flow, block);
        let is_made_again = |i: &Instruction| is_computed(i) && (is_settled(i) || !is_kept(i));
        let wanted = &Wanted { is_alone: &|_, _| false, may_be_read: &|_| true, writers: &BTreeMap::new() };
        let state = state(&Finder { flow, block, wanted }, &live[block], decided, is_made_again);
        Cut { block, header: one.header, blocks: one.blocks, is_passed: false, state }
    };
    flow.loops().into_iter().map(cut).collect()
}

/// Cuts at the beginnings of blocks, at which values are what they are, as far as they are not light. Values that the
/// other version does not keep are computed or read again where they can be.
pub(super) fn cuts_at(flow: &Flow<'_>, blocks: &BTreeSet<usize>, wanted: &Wanted<'_>) -> Vec<Cut> {
    // A value that is computed again needs its operands at the cuts before, too.
    let mut others = vec![BTreeSet::new(); flow.body.blocks.len()];
    loop {
        let live = flow.live_with(&others);
        let cut = |block: usize| {
            let is_alone = |name: &str| (wanted.is_alone)(block, name);
            let is_made_again = |i: &Instruction| {
                let is_alone = || i.result.as_deref().is_some_and(is_alone);
                is_light(i) || (is_settled(i) && is_alone() && !readings::is_stored(flow, block, i))
            };
            let mut decided = decided(flow, block);
            decided.retain(|(condition, _)| is_made_of(flow, &condition.text, &live[block]));
            let state = state(&Finder { flow, block, wanted }, &live[block], decided, is_made_again);
            Cut { block, header: block, blocks: BTreeSet::new(), is_passed: false, state }
        };
        let cuts: Vec<Cut> = blocks.iter().copied().map(cut).collect();
        let mut is_enough = true;
        for cut in &cuts {
            for base in &cut.state.bases {
                if let Some(name) = flow.name(&base.text).filter(|name| !live[cut.block].contains(name)) {
                    is_enough &= !others[cut.block].insert(name);
                }
            }
        }
        if is_enough {
            return cuts;
        }
    }
}

/// Is there a loop whose header decides whether there is another iteration?
pub(super) fn decides_at_headers(flow: &Flow<'_>) -> bool {
    cuts(flow, CutAt::Inside, |_| false).iter().any(|cut| cut.block != cut.header)
}

/// Conditions that are decided wherever a block begins.
fn decided(flow: &Flow<'_>, block: usize) -> Vec<(Operand, bool)> {
    let mut decided = vec![];
    for (condition, arms) in (0..flow.body.blocks.len()).filter_map(|at| flow.decides(at)) {
        let arms = arms.into_iter().filter(|(to, _)| flow.dominates(*to, block));
        decided.extend(arms.map(|(_, holds)| (condition.clone(), holds)));
    }
    decided
}

/// Is a value light to compute of parameters and these values?
fn is_made_of(flow: &Flow<'_>, name: &str, values: &BTreeSet<&str>) -> bool {
    let Some((_, i)) = flow.definition(name) else { return true };
    values.contains(name) || (is_light(i) && flow.uses(i).into_iter().all(|name| is_made_of(flow, name, values)))
}

/// What is known where these values are needed, some of which are computed anew. Others may be read again, by what is there
/// for them alone.
fn state(
    finder: &Finder<'_, '_>,
    live: &BTreeSet<&str>,
    decided: Vec<(Operand, bool)>,
    is_computed: impl Fn(&Instruction) -> bool,
) -> State {
    let flow = finder.flow;
    let mut found = State { decided, ..State::default() };
    let conditions = found.decided.iter().map(|(condition, _)| condition.text.as_str());
    let mut todo: Vec<&str> = live.iter().copied().chain(conditions).collect();
    let (mut bases, mut computed) = (BTreeSet::new(), BTreeSet::new());
    while let Some(name) = todo.pop() {
        let Some((_, i)) = flow.definition(name) else { continue };
        let key = (flow.position(name), name.to_string());
        if !is_computed(i) {
            if bases.insert(key) && (finder.wanted.is_alone)(finder.block, name) {
                todo.extend(finder.roots(name));
            }
        } else if computed.insert(key) {
            todo.extend(flow.uses(i));
        }
    }
    let definition = |(_, name): &(_, String)| flow.definition(name).map(|(_, i)| i.clone());
    let base = |i: Instruction| Operand { ty: i.ty, text: i.result.unwrap_or_default() };
    found.bases = bases.iter().filter_map(definition).map(base).collect();
    found.computed = computed.iter().filter_map(definition).collect();
    found.readings = finder.readings(&found.bases);
    found
}

/// A copy of a block.
struct Node {
    place: Place,
    preds: Vec<usize>,
    succs: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A block, and how often cuts have been passed.
    Block(usize, BTreeMap<usize, usize>),
    /// A cut that ends the region.
    Arrival(usize),
}

/// Where a region begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegionStart {
    Entry,
    /// A cut, and how many iterations of its loop belong to the region, at least one.
    Cut {
        cut: usize,
        iterations: usize,
    },
}

/// What is executed from the entry, or from a cut. The first iterations of a loop that is entered belong to it, as many
/// as are `peeled`.
pub(super) fn region(flow: &Flow<'_>, cuts: &[Cut], from: RegionStart, peeled: usize) -> Result<Region, NotModelled> {
    let around = |block: usize| (0..cuts.len()).filter(move |k| cuts[*k].blocks.contains(&block));
    let start = match from {
        RegionStart::Cut { cut, .. } => {
            let block = cuts[cut].block;
            let passed = |k: usize| if k == cut { 0 } else { peeled };
            Place::Block(block, around(block).map(|k| (k, passed(k))).collect())
        }
        RegionStart::Entry => Place::Block(0, BTreeMap::new()),
    };
    let mut builder = Builder { flow, cuts, from, peeled, nodes: vec![] };
    builder.grow(start)?;
    let order = builder.order();
    Ok(builder.written(&order))
}

struct Builder<'a> {
    flow: &'a Flow<'a>,
    cuts: &'a [Cut],
    from: RegionStart,
    peeled: usize,
    nodes: Vec<Node>,
}

/// Names that values have at the end of a node.
type Names = BTreeMap<String, String>;

impl Builder<'_> {
    fn grow(&mut self, start: Place) -> Result<(), NotModelled> {
        self.nodes.push(Node { place: start, preds: vec![], succs: vec![] });
        let mut at = 0;
        while at < self.nodes.len() {
            if let Place::Block(block, passed) = self.nodes[at].place.clone() {
                for to in self.flow.successors(block) {
                    let place = self.next(to, &passed);
                    let known = self.nodes.iter().position(|node| node.place == place);
                    let next = known.unwrap_or(self.nodes.len());
                    if known.is_none() {
                        self.nodes.push(Node { place, preds: vec![], succs: vec![] });
                    }
                    self.nodes[next].preds.push(at);
                    self.nodes[at].succs.push(next);
                }
            }
            if self.nodes.len() > MOST {
                return Err("it has too many ways between loops".into());
            }
            at += 1;
        }
        Ok(())
    }

    fn next(&self, to: usize, passed: &BTreeMap<usize, usize>) -> Place {
        let mut passed = passed.clone();
        if let Some(cut) = self.cuts.iter().position(|cut| cut.block == to && !cut.is_passed) {
            let times = passed.entry(cut).or_default();
            let most = match self.from {
                RegionStart::Cut { cut: from, iterations } if from == cut => iterations - 1,
                _ => self.peeled,
            };
            if *times >= most {
                return Place::Arrival(cut);
            }
            *times += 1;
        }
        passed.retain(|cut, _| self.cuts[*cut].blocks.contains(&to));
        Place::Block(to, passed)
    }

    /// All nodes, each after its predecessors. (If there are cycles nevertheless, the code that reads the body finds
    /// them.)
    fn order(&self) -> Vec<usize> {
        let (mut order, mut seen) = (vec![], vec![false; self.nodes.len()]);
        let mut stack = vec![(0, self.nodes[0].succs.clone())];
        seen[0] = true;
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if seen[next] => {}
                Some(next) => {
                    seen[next] = true;
                    stack.push((next, self.nodes[next].succs.clone()));
                }
                None => {
                    order.push(*at);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    fn label(&self, node: usize) -> String {
        match &self.nodes[node].place {
            Place::Block(block, _) => format!("{}@{node}", self.flow.body.blocks[*block].label),
            Place::Arrival(cut) => format!("%cut@{cut}"),
        }
    }

    fn written(&self, order: &[usize]) -> Region {
        let live = self.flow.live();
        let arrives = |cut: usize| self.nodes.iter().any(|node| node.place == Place::Arrival(cut));
        let reached: Vec<&Cut> = (0..self.cuts.len()).filter(|cut| arrives(*cut)).map(|cut| &self.cuts[cut]).collect();
        let states = || reached.iter().map(|cut| &cut.state);
        let bases = states().flat_map(|state| &state.bases).map(|base| base.text.as_str());
        let computed = states().flat_map(|state| &state.computed).filter_map(|i| i.result.as_deref());
        let kept: BTreeSet<&str> = bases.chain(computed).collect();
        let mut names: Vec<Names> = vec![Names::new(); self.nodes.len()];
        let mut region = Region { body: Body { blocks: vec![], variables: vec![] }, arrivals: vec![] };
        for node in order {
            let (block, arrives) = match &self.nodes[*node].place {
                Place::Block(block, _) => (*block, None),
                Place::Arrival(cut) => (self.cuts[*cut].block, Some(*cut)),
            };
            let wanted = |name: &str| live[block].contains(name) || kept.contains(name);
            let (mut own, mut instructions) = self.joined(*node, &names, wanted);
            let begins = self.from != RegionStart::Entry && *node == 0;
            for i in &self.flow.body.blocks[block].instructions {
                let is_phi = matches!(i.shape, Shape::Phi(_));
                if (is_phi && begins) || (!is_phi && arrives.is_some()) {
                    continue;
                }
                let mut copy = if is_phi { self.phi(i, *node, &names) } else { self.copied(i, *node, &own) };
                if let Some(result) = &mut copy.result {
                    let name = format!("{result}@{node}");
                    own.insert(std::mem::replace(result, name.clone()), name);
                }
                instructions.push(copy);
            }
            if let Some(cut) = arrives {
                let names = own.iter().map(|(name, here)| (name.clone(), here.clone())).collect();
                let readings =
                    self.cuts[cut].state.readings.iter().map(|reading| renamed_reading(reading, *node, &own));
                let readings = readings.collect();
                region.arrivals.push(Arrival { cut, block: region.body.blocks.len(), names, readings });
            }
            region.body.blocks.push(Block { label: self.label(*node), instructions });
            names[*node] = own;
        }
        region
    }

    /// What values are called at the beginning of a node, and phis of those that have several names.
    fn joined(&self, node: usize, names: &[Names], wanted: impl Fn(&str) -> bool) -> (Names, Vec<Instruction>) {
        let (mut own, mut phis) = (Names::new(), vec![]);
        let Some((first, others)) = self.nodes[node].preds.split_first() else {
            let state = match self.from {
                RegionStart::Entry => None,
                RegionStart::Cut { cut, .. } => Some(&self.cuts[cut].state),
            };
            let bases = state.iter().flat_map(|state| &state.bases).map(|base| base.text.clone());
            let computed = state.iter().flat_map(|state| &state.computed).filter_map(|i| i.result.clone());
            return (bases.chain(computed).map(|name| (name.clone(), name)).collect(), phis);
        };
        for (name, here) in &names[*first] {
            if others.iter().any(|pred| !names[*pred].contains_key(name)) {
                continue;
            }
            if others.iter().all(|pred| names[*pred][name] == *here) {
                own.insert(name.clone(), here.clone());
            } else if let (true, Some((_, i))) = (wanted(name), self.flow.definition(name)) {
                let value =
                    |pred: &usize| (Operand { ty: i.ty.clone(), text: names[*pred][name].clone() }, self.label(*pred));
                let result = format!("{name}@{node}");
                phis.push(phi(result.clone(), i.ty.clone(), self.nodes[node].preds.iter().map(value).collect()));
                own.insert(name.clone(), result);
            }
        }
        (own, phis)
    }

    /// A phi of a block, with what comes from the copies of its predecessors.
    fn phi(&self, i: &Instruction, node: usize, names: &[Names]) -> Instruction {
        let Shape::Phi(values) = &i.shape else { return i.clone() };
        let mut taken = vec![];
        for pred in &self.nodes[node].preds {
            let Place::Block(block, _) = &self.nodes[*pred].place else { continue };
            let from = &self.flow.body.blocks[*block].label;
            if let Some((operand, _)) = values.iter().find(|(_, label)| label == from) {
                taken.push((renamed(operand, &names[*pred]), self.label(*pred)));
            }
        }
        Instruction { shape: Shape::Phi(taken), ..i.clone() }
    }

    /// An instruction of a block with the names that its operands have.
    fn copied(&self, i: &Instruction, node: usize, names: &Names) -> Instruction {
        let to = |label: &mut String| {
            let is = |next: &&usize| match &self.nodes[**next].place {
                Place::Block(block, _) => self.flow.body.blocks[*block].label == *label,
                Place::Arrival(cut) => self.flow.body.blocks[self.cuts[*cut].block].label == *label,
            };
            if let Some(next) = self.nodes[node].succs.iter().find(is) {
                *label = self.label(*next);
            }
        };
        let mut copy = i.clone();
        copy.replace(|name| names.get(name).cloned());
        match &mut copy.shape {
            Shape::Branch(_, labels) => labels.iter_mut().for_each(to),
            Shape::Jump(label) => to(label),
            Shape::Switch(_, default, cases) => cases.iter_mut().map(|(_, label)| label).chain([default]).for_each(to),
            _ => {}
        }
        copy
    }
}

/// A reading with the names that bases have at a node, and other names of its own.
fn renamed_reading(reading: &Reading, node: usize, names: &Names) -> Reading {
    let own: BTreeSet<&str> = reading.instructions.iter().filter_map(|i| i.result.as_deref()).collect();
    let instructions = reading.instructions.iter().map(|i| {
        let mut copy = i.clone();
        copy.result = i.result.as_ref().map(|name| format!("{name}@{node}"));
        copy.replace(|name| if own.contains(name) { Some(format!("{name}@{node}")) } else { names.get(name).cloned() });
        copy
    });
    Reading { value: renamed(&reading.value, names), instructions: instructions.collect(), ..*reading }
}

fn renamed(operand: &Operand, names: &Names) -> Operand {
    let text = names.get(&operand.text).unwrap_or(&operand.text).clone();
    Operand { ty: operand.ty.clone(), text }
}
