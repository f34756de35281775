//! What is asked of two nodes: a part of the graph above a cut, in which their values are equal whatever the cut gives.
//!
//! The part grows from the two nodes, largest number first, so that all that uses a node is seen before the node. Nodes
//! that both need come last. After some steps the part is tried on random values of the cut: where it differs, the cut
//! is too high, and nothing is asked. So questions are about as small as they can be.

use super::super::input::mix;
use super::super::value::{Constant, Number, commutes};
use super::graph::{Graph, Node, NodeId, Samples, any, compute, same, stands_for};
use super::{Question, Term, TermKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Questions have no more operations.
const MAX_OPERATIONS: usize = 64;

/// Up to so many operations each step is tried; then each time that there is a quarter more.
const EACH: usize = 12;

/// Needed by the first value.
const LEFT: u8 = 1;

/// Needed by the second value.
const RIGHT: u8 = 2;

/// A part of a graph.
struct Window<'g, 'a> {
    graph: &'g Graph<'a>,
    roots: [NodeId; 2],
    /// Operations that belong to it.
    inner: BTreeSet<NodeId>,
    /// The cut, and who needs it.
    cut: BTreeMap<NodeId, u8>,
}

/// The smallest question with such a number of operations whose answer may be yes, and how many it has.
pub(super) fn question(
    graph: &Graph<'_>,
    left: NodeId,
    right: NodeId,
    sizes: RangeInclusive<usize>,
) -> Option<(Question, usize)> {
    let most = MAX_OPERATIONS.min(*sizes.end());
    let mut window =
        Window { graph, roots: [left, right], inner: BTreeSet::new(), cut: BTreeMap::from([(left, LEFT)]) };
    *window.cut.entry(right).or_default() |= RIGHT;
    let mut tried = 0;
    loop {
        let grown = window.grow();
        let size = window.inner.len();
        let is_due = size <= EACH || size >= tried + tried / 4 || !grown;
        if size >= *sizes.start() && is_due {
            tried = size;
            if window.may_hold() {
                return Some((window.question(), size));
            }
        }
        if !grown || size >= most {
            return None;
        }
    }
}

impl Window<'_, '_> {
    /// Takes in the next operation; `false` where there is none.
    fn grow(&mut self) -> bool {
        let is_op = |(id, _): &(&NodeId, &u8)| matches!(self.graph.get(**id), Node::Op(..));
        let own = self.cut.iter().rev().filter(|(_, needed)| **needed != LEFT | RIGHT).find(is_op);
        let Some((&id, &needed)) = own.or_else(|| self.cut.iter().rev().find(is_op)) else { return false };
        self.cut.remove(&id);
        self.take(id, needed);
        true
    }

    fn take(&mut self, id: NodeId, needed: u8) {
        self.inner.insert(id);
        let Node::Op(_, operands) = self.graph.get(id) else { return };
        for operand in operands {
            if self.inner.contains(operand) {
                continue;
            }
            *self.cut.entry(*operand).or_default() |= needed;
        }
    }

    /// The nodes, operands first.
    fn nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.inner.iter().chain(self.cut.keys()).copied().collect();
        nodes.sort_unstable();
        nodes
    }

    /// Whether the second value may stand for the first one on random values of the cut.
    fn may_hold(&self) -> bool {
        let mut values: FxHashMap<NodeId, Samples> = FxHashMap::default();
        for id in self.nodes() {
            let samples = match self.graph.get(id) {
                Node::Op(head, operands) if self.inner.contains(&id) => {
                    let operands: Vec<&Samples> = operands.iter().map(|operand| &values[operand]).collect();
                    compute(self.graph.head(*head), &operands)
                }
                Node::Constant(Constant { number: Number::Bits(bits), .. }) => same(*bits),
                _ => self.cut_off(id),
            };
            values.insert(id, samples);
        }
        let [left, right] = self.roots;
        stands_for(self.graph.type_of(left).unwrap_or_default(), &values[&left], &values[&right])
    }

    /// Anything that the node may be, were it not computed.
    fn cut_off(&self, id: NodeId) -> Samples {
        let mut samples = any(self.graph.type_of(id).unwrap_or_default(), mix(u64::from(id)));
        if !self.graph.is_defined(id) {
            samples[mix(u64::from(id)) as usize % samples.len()] = None;
        }
        samples
    }

    /// The question, in an order that does not depend on numbers where shapes differ.
    fn question(&self) -> Question {
        let shapes = self.shapes();
        let mut number: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut terms = vec![];
        let mut rest = vec![(self.roots[1], false), (self.roots[0], false)];
        while let Some((id, ready)) = rest.pop() {
            if number.contains_key(&id) {
                continue;
            }
            let operands = self.ordered(id, &shapes);
            if !ready && !operands.is_empty() {
                rest.push((id, true));
                rest.extend(operands.iter().rev().map(|operand| (*operand, false)));
                continue;
            }
            let ty = self.graph.type_of(id).unwrap_or_default().to_string();
            terms.push(Term { ty, kind: self.kind(id, &operands, &number) });
            number.insert(id, terms.len() as u32 - 1);
        }
        let [left, right] = self.roots.map(|root| number[&root]);
        Question { terms, left, right }
    }

    /// The operands of an operation of the part; those that may change places by their shapes.
    fn ordered(&self, id: NodeId, shapes: &FxHashMap<NodeId, u64>) -> Vec<NodeId> {
        match self.graph.get(id) {
            Node::Op(head, operands) if self.inner.contains(&id) => {
                let mut operands = operands.to_vec();
                if operands.len() == 2 && commutes(&self.graph.head(*head).name) {
                    operands.sort_by_key(|operand| (shapes[operand], *operand));
                }
                operands
            }
            _ => vec![],
        }
    }

    /// What nodes look like above the cut.
    fn shapes(&self) -> FxHashMap<NodeId, u64> {
        let text = |seed: u64, text: &str| text.bytes().fold(seed, |hash, byte| mix(hash ^ u64::from(byte)));
        let mut shapes: FxHashMap<NodeId, u64> = FxHashMap::default();
        for id in self.nodes() {
            let ty = text(5, self.graph.type_of(id).unwrap_or_default());
            let shape = match self.graph.get(id) {
                Node::Op(head, operands) if self.inner.contains(&id) => {
                    let head = self.graph.head(*head);
                    let mut operands: Vec<u64> = operands.iter().map(|operand| shapes[operand]).collect();
                    if commutes(&head.name) {
                        operands.sort_unstable();
                    }
                    operands.into_iter().fold(text(ty, &head.name), |hash, operand| mix(hash ^ operand))
                }
                Node::Constant(Constant { number: Number::Bits(bits), .. }) => {
                    mix(ty ^ *bits as u64 ^ (bits >> 64) as u64)
                }
                Node::Constant(Constant { number: Number::Text(content), .. }) => text(ty, content),
                _ => mix(ty ^ u64::from(self.graph.is_defined(id))),
            };
            shapes.insert(id, shape);
        }
        shapes
    }

    fn kind(&self, id: NodeId, operands: &[NodeId], number: &FxHashMap<NodeId, u32>) -> TermKind {
        match self.graph.get(id) {
            Node::Constant(constant) => TermKind::Constant(constant.number.clone()),
            Node::Op(head, _) if self.inner.contains(&id) => {
                let head = self.graph.head(*head);
                TermKind::Op {
                    name: head.name.clone(),
                    flags: head.flags.clone(),
                    from: head.from.clone(),
                    operands: operands.iter().map(|operand| number[operand]).collect(),
                }
            }
            _ => TermKind::Leaf { defined: self.graph.is_defined(id) },
        }
    }
}
