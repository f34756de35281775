//! Where values may be in memory: a value that has been read or stored is what is read there again, until something else
//! is stored. That is a guess, which the induction proves. So a version that keeps a value is compared with one that
//! reads it again.

use super::super::flow::Flow;
use super::super::instructions::load;
use super::super::region::Reading;
use super::recomputed::is_settled;
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that compute an address, at most.
const LONGEST: usize = 12;

/// Places of one base, at most.
const MOST_PLACES: usize = 3;

/// Stores of constants and parameters, at most.
const MOST_STORED: usize = 4;

/// What is to be computed or read again at cuts of a version.
pub(super) struct Wanted<'f> {
    /// Does the other version not keep a value where a block begins?
    pub(super) is_alone: &'f dyn Fn(usize, &str) -> bool,
    /// May values of a type be read again?
    pub(super) may_be_read: &'f dyn Fn(&Type) -> bool,
    /// Positions of calls that may write to memory, by block.
    pub(super) writers: &'f BTreeMap<usize, Vec<usize>>,
}

/// Looks for where values may be in memory at the beginning of a block.
pub(super) struct Finder<'f, 'a> {
    pub(super) flow: &'f Flow<'a>,
    pub(super) block: usize,
    pub(super) wanted: &'f Wanted<'f>,
}

impl<'a> Finder<'_, 'a> {
    /// What is to be there so that a value can be read again.
    pub(super) fn roots(&self, name: &str) -> Vec<&'a str> {
        let mut roots = vec![];
        if !self.flow.definition(name).is_some_and(|(_, i)| (self.wanted.may_be_read)(&i.ty)) {
            return roots;
        }
        for load in self.places(name) {
            roots.extend(self.made(&load, &BTreeSet::new()).into_iter().flat_map(|(_, roots)| roots));
        }
        roots.retain(|root| {
            self.flow.definition(root).is_some_and(|(at, i)| {
                self.flow.dominates(at, self.block) && (at != self.block || matches!(i.shape, Shape::Phi(_)))
            })
        });
        roots
    }

    /// Where bases, constants and parameters may be in memory, by other bases.
    pub(super) fn readings(&self, bases: &[Operand]) -> Vec<Reading> {
        let names: BTreeSet<&str> = bases.iter().map(|base| base.text.as_str()).collect();
        let mut found = vec![];
        for (base, operand) in bases.iter().enumerate().filter(|(_, base)| (self.wanted.may_be_read)(&base.ty)) {
            let others = names.iter().copied().filter(|name| *name != operand.text).collect();
            for load in self.places(&operand.text) {
                let Some((made, roots)) = self.made(&load, &others) else { continue };
                if roots.iter().all(|root| others.contains(root)) {
                    let instructions = own_names(&made, load, found.len());
                    found.push(Reading { value: operand.clone(), base: Some(base), instructions });
                }
            }
        }
        for store in self.stored() {
            let (Shape::Store(value, ..), load) = (&store.shape, load_of(store)) else { continue };
            let Some((made, roots)) = self.made(&load, &names) else { continue };
            if roots.iter().all(|root| names.contains(root)) {
                let instructions = own_names(&made, load, found.len());
                found.push(Reading { value: value.clone(), base: None, instructions });
            }
        }
        found
    }

    /// The last stores of constants and parameters before the block begins.
    fn stored(&self) -> Vec<&'a Instruction> {
        let flow = self.flow;
        let above = flow.order().iter().rev().filter(|at| **at != self.block && flow.dominates(**at, self.block));
        let all = above.flat_map(|at| flow.body.blocks[*at].instructions.iter().rev().map(|i| (*at, i)));
        let is_given = |(at, i): &(usize, &Instruction)| match &i.shape {
            Shape::Store(value, _, said) => {
                let is_wanted = said.plain && (self.wanted.may_be_read)(&value.ty);
                is_wanted && flow.definition(&value.text).is_none() && !self.is_lost(*at, i)
            }
            _ => false,
        };
        all.filter(is_given).map(|(_, store)| store).take(MOST_STORED).collect()
    }

    /// Loads that may give a value again: where it has been read or stored, or what comes from some block has.
    fn places(&self, name: &str) -> Vec<Instruction> {
        let mut found = self.places_of(name);
        if let Some((_, Instruction { shape: Shape::Phi(values), .. })) = self.flow.definition(name) {
            found.extend(values.iter().flat_map(|(value, _)| self.places_of(&value.text)));
        }
        found.truncate(MOST_PLACES);
        found
    }

    fn places_of(&self, name: &str) -> Vec<Instruction> {
        let stored = stores(self.flow, name).filter(|(at, store)| !self.is_lost(*at, store));
        let mut found: Vec<Instruction> = stored.map(|(_, store)| load_of(store)).collect();
        if let Some((at, i)) = self.flow.definition(name)
            && is_plain_load(i)
            && !self.is_lost(at, i)
        {
            found.push(i.clone());
        }
        found
    }

    /// May what is accessed in a block be changed by a call before this block begins? Not known of what the function allocates.
    fn is_lost(&self, at: usize, access: &Instruction) -> bool {
        let (flow, writers) = (self.flow, self.wanted.writers);
        if writers.is_empty() {
            return false;
        }
        let is_own = |name: &&str| flow.definition(name).is_some_and(|(_, i)| matches!(i.shape, Shape::Alloca(_)));
        let roots = self.made(access, &BTreeSet::new()).map(|(_, roots)| roots).unwrap_or_default();
        if !roots.is_empty() && roots.iter().all(is_own) {
            return false;
        }
        let position = flow.body.blocks[at].instructions.iter().position(|i| std::ptr::eq(i, access));
        let is_behind = |writer: &usize| position.is_some_and(|position| *writer > position);
        if at != self.block && writers.get(&at).is_some_and(|all| all.iter().any(is_behind)) {
            return true;
        }
        let before = reached(flow, flow.predecessors(self.block), at, |at| flow.predecessors(at).collect());
        let behind = reached(flow, flow.successors(at), at, |at| flow.successors(at).collect());
        writers.keys().any(|at| before[*at] && behind[*at])
    }

    /// What computes the address of a load from what is there, in order, and from what else.
    fn made(&self, load: &Instruction, there: &BTreeSet<&str>) -> Option<(Vec<Instruction>, Vec<&'a str>)> {
        let (mut todo, mut roots) = (self.flow.uses(load), vec![]);
        let mut made: BTreeSet<((usize, usize), &str)> = BTreeSet::new();
        while let Some(name) = todo.pop() {
            let (_, i) = self.flow.definition(name)?;
            if there.contains(name) || !(is_plain_load(i) || (is_settled(i) && !divides(i))) {
                roots.push(name);
            } else if made.insert((self.flow.position(name), name)) {
                todo.extend(self.flow.uses(i));
            }
            if made.len() > LONGEST {
                return None;
            }
        }
        Some((made.iter().filter_map(|(_, name)| Some(self.flow.definition(name)?.1.clone())).collect(), roots))
    }
}

/// By block, whether it is reached from some without passing `end`.
fn reached(
    flow: &Flow<'_>,
    from: impl Iterator<Item = usize>,
    end: usize,
    next: impl Fn(usize) -> Vec<usize>,
) -> Vec<bool> {
    let (mut todo, mut seen) = (from.collect::<Vec<_>>(), vec![false; flow.body.blocks.len()]);
    while let Some(at) = todo.pop() {
        if at != end && !std::mem::replace(&mut seen[at], true) {
            todo.extend(next(at));
        }
    }
    seen
}

/// Is what an instruction gives stored before a block begins?
pub(super) fn is_stored(flow: &Flow<'_>, block: usize, i: &Instruction) -> bool {
    let name = i.result.as_deref().unwrap_or_default();
    stores(flow, name).any(|(at, _)| at != block && flow.dominates(at, block))
}

/// Where a value is stored.
fn stores<'a>(flow: &Flow<'a>, name: &str) -> impl Iterator<Item = (usize, &'a Instruction)> {
    let blocks = flow.body.blocks.iter().enumerate();
    let all = blocks.flat_map(|(at, block)| block.instructions.iter().map(move |i| (at, i)));
    all.filter(move |(_, i)| matches!(&i.shape, Shape::Store(value, _, said) if said.plain && value.text == name))
}

fn is_plain_load(i: &Instruction) -> bool {
    matches!(&i.shape, Shape::Load(_, said) if said.plain)
}

/// Is it undefined for some operands?
fn divides(i: &Instruction) -> bool {
    ["udiv", "sdiv", "urem", "srem"].contains(&i.opcode.as_str())
}

/// What reads where something is stored.
fn load_of(store: &Instruction) -> Instruction {
    let Shape::Store(value, address, said) = &store.shape else { return store.clone() };
    load(value, address, *said)
}

/// What computes an address, and a load of it, with names that nothing else has.
fn own_names(made: &[Instruction], load: Instruction, number: usize) -> Vec<Instruction> {
    let named: BTreeSet<&str> = made.iter().filter_map(|i| i.result.as_deref()).collect();
    let own = |name: &str| named.contains(name).then(|| format!("{name}~{number}"));
    let mut all = vec![];
    for i in made {
        let mut copy = i.clone();
        copy.result = i.result.as_deref().and_then(own);
        copy.replace(own);
        all.push(copy);
    }
    let result = load.result.as_ref().map(|name| format!("{name}~read {number}"));
    let mut last = Instruction { result, ..load };
    last.replace(own);
    all.push(last);
    all
}
