//! Stack slots as values, in a body of either version: a slot whose address does not escape, and of which each part is
//! accessed as one type, is replaced by values.
//!
//! The behaviour of the second version must stay what it is, with all that is undefined in it: a slot of which an access
//! may be undefined (outside of it, not aligned, before or after its lifetime) stays. Of the first version only what it
//! may do counts: where it is undefined, it may do anything, so that its promises may be dropped. A part that has not
//! been written is `undef` in both.

mod slots;

use super::super::modules::Version;
use super::flow::Flow;
use super::instructions::{phi, taking};
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rustc_hash::FxHashMap;
use slots::{Effect, Slots, UNWRITTEN, is_promised};
use std::collections::BTreeSet;

/// Which version a body is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// The body with values instead of slots, where there are such slots.
pub(super) fn promoted(version: Version<'_>, side: Side, body: Body) -> Body {
    let mut body = body;
    // A slot may have been kept in memory by its address in another one.
    while let Some(next) = once(version, side, &body) {
        body = next;
    }
    body
}

fn once(version: Version<'_>, side: Side, body: &Body) -> Option<Body> {
    let body = reachable(body);
    let flow = Flow::new(&body);
    let slots = Slots::find(version, side, &flow)?;
    Some(Values::new(&flow, &slots).written())
}

/// The body without blocks to which nothing leads.
fn reachable(body: &Body) -> Body {
    let flow = Flow::new(body);
    let kept: BTreeSet<&str> = flow.order().iter().map(|at| body.blocks[*at].label.as_str()).collect();
    let mut body = body.clone();
    body.blocks.retain(|block| kept.contains(block.label.as_str()));
    for i in body.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if let Shape::Phi(values) = &mut i.shape {
            values.retain(|(_, label)| kept.contains(label.as_str()));
            i.template = taking(values.iter().map(|(value, _)| value));
        }
    }
    body
}

/// A phi of a part in a block.
struct Joined {
    block: usize,
    name: String,
    part: usize,
    values: Vec<(Operand, String)>,
}

/// The values of all parts.
struct Values<'a> {
    flow: &'a Flow<'a>,
    slots: &'a Slots,
    /// By block and part, where it is needed at the end: a name or a constant.
    ends: Vec<Vec<String>>,
    phis: Vec<Joined>,
    /// What loads read that promise something of it.
    promised: FxHashMap<&'a str, String>,
    /// Other loads, and phis that are one value, by name.
    same: FxHashMap<String, String>,
}

impl<'a> Values<'a> {
    fn new(flow: &'a Flow<'a>, slots: &'a Slots) -> Values<'a> {
        let parts = slots.parts.len();
        let blocks = flow.body.blocks.len();
        let ends = vec![vec![UNWRITTEN.to_string(); parts]; blocks];
        let mut values =
            Values { flow, slots, ends, phis: vec![], promised: FxHashMap::default(), same: FxHashMap::default() };
        let needed = values.needed();
        for at in flow.order() {
            let mut here = values.begin(*at, &needed[*at]);
            for (n, i) in flow.body.blocks[*at].instructions.iter().enumerate() {
                match slots.effect(*at, n) {
                    Some(Effect::Reads(part)) => values.read(i, here[*part].clone()),
                    Some(Effect::Writes(parts)) => {
                        parts.iter().for_each(|(part, value)| here[*part].clone_from(value));
                    }
                    Some(Effect::Nothing) | None => {}
                }
            }
            values.ends[*at] = here;
        }
        values.join();
        values.merge();
        values
    }

    /// Parts that are read in a block, or behind it, before they are written.
    fn needed(&self) -> Vec<BTreeSet<usize>> {
        let blocks = &self.flow.body.blocks;
        let mut needed: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); blocks.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in self.flow.order().iter().rev() {
                let mut here: BTreeSet<usize> =
                    self.flow.successors(*at).flat_map(|to| needed[to].iter().copied()).collect();
                for n in (0..blocks[*at].instructions.len()).rev() {
                    match self.slots.effect(*at, n) {
                        Some(Effect::Reads(part)) => here.extend([*part]),
                        Some(Effect::Writes(parts)) => here.retain(|part| parts.iter().all(|(other, _)| part != other)),
                        Some(Effect::Nothing) | None => {}
                    }
                }
                changed |= here != needed[*at];
                needed[*at] = here;
            }
        }
        needed
    }

    /// The values of parts where a block begins.
    fn begin(&mut self, at: usize, needed: &BTreeSet<usize>) -> Vec<String> {
        let preds: Vec<usize> = self.flow.predecessors(at).collect();
        match preds.as_slice() {
            [] => vec![UNWRITTEN.to_string(); self.slots.parts.len()],
            // The one before comes first.
            [one] => self.ends[*one].clone(),
            _ => {
                let mut here = vec![UNWRITTEN.to_string(); self.slots.parts.len()];
                for part in needed {
                    let name = format!("{}@{}", self.slots.parts[*part].name, self.flow.body.blocks[at].label);
                    here[*part].clone_from(&name);
                    self.phis.push(Joined { block: at, name, part: *part, values: vec![] });
                }
                here
            }
        }
    }

    /// A load gives a value.
    fn read(&mut self, i: &'a Instruction, value: String) {
        let Some(name) = &i.result else { return };
        if is_promised(i) {
            self.promised.insert(name, value);
        } else {
            self.same.insert(name.clone(), value);
        }
    }

    /// What phis take from the blocks before.
    fn join(&mut self) {
        for phi in &mut self.phis {
            let ty = &self.slots.parts[phi.part].ty;
            let value = |from: usize| {
                let text = self.ends[from][phi.part].clone();
                (Operand { ty: ty.clone(), text }, self.flow.body.blocks[from].label.clone())
            };
            phi.values = self.flow.predecessors(phi.block).map(value).collect();
        }
    }

    /// Leaves out phis that have one value only, beside themselves.
    fn merge(&mut self) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let (mut kept, phis) = (vec![], std::mem::take(&mut self.phis));
            for phi in phis {
                let values: BTreeSet<String> = phi.values.iter().map(|(value, _)| self.resolved(&value.text)).collect();
                let others: Vec<String> = values.into_iter().filter(|value| *value != phi.name).collect();
                match others.as_slice() {
                    [one] => {
                        self.same.insert(phi.name, one.clone());
                        changed = true;
                    }
                    _ => kept.push(phi),
                }
            }
            self.phis = kept;
        }
    }

    /// What a value is.
    fn resolved(&self, name: &str) -> String {
        let mut name = name;
        while let Some(other) = self.same.get(name) {
            name = other;
        }
        name.to_string()
    }

    fn written(self) -> Body {
        let mut body = self.flow.body.clone();
        for (at, block) in body.blocks.iter_mut().enumerate() {
            let mut here: Vec<Instruction> = vec![];
            for joined in self.phis.iter().filter(|joined| joined.block == at) {
                let ty = self.slots.parts[joined.part].ty.clone();
                here.push(phi(joined.name.clone(), ty, joined.values.clone()));
            }
            for (n, i) in block.instructions.iter().enumerate() {
                let promised = i.result.as_deref().and_then(|name| self.promised.get(name));
                match (self.slots.effect(at, n), promised) {
                    (None, _) => here.push(i.clone()),
                    (Some(_), Some(value)) => here.push(said_of(i, value)),
                    (Some(_), None) => {}
                }
            }
            block.instructions = here;
        }
        for i in body.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
            i.replace(|name| self.same.contains_key(name).then(|| self.resolved(name)));
        }
        body
    }
}

/// A value of which the metadata of a load promise something.
fn said_of(load: &Instruction, value: &str) -> Instruction {
    let operand = Operand { ty: load.ty.clone(), text: value.to_string() };
    Instruction {
        opcode: "bitcast".into(),
        flags: vec![],
        template: taking([&operand]),
        bare: None,
        shape: Shape::Plain(vec![operand]),
        ..load.clone()
    }
}
