//! What is asked of two nodes: a part of the graph above a cut, in which their values are equal whatever the cut gives.
//!
//! The part grows from the two nodes, largest number first, so that all that uses a node is seen before the node. Nodes
//! that both need come last. After some steps the part is tried on random values of the cut: where it differs, the cut
//! is too high, and nothing is asked. So questions are about as small as they can be.
//!
//! A node that stands for others is computed in several ways. The part takes the first of them; where that is not enough, the
//! last one before the node is used, because the source computes its statements from that.

use super::super::input::mix;
use super::super::value::{Constant, Number};
use super::graph::{Graph, Node, NodeId, Samples, Tried, any, compute, same, stands_for};
use super::{Question, Term, TermKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Questions have no more operations.
pub(super) const MAX_OPERATIONS: usize = 64;

/// Up to this many operations each step is tried; then each time that there is a quarter more.
const EACH: usize = 12;

/// Needed by the first value.
const LEFT: u8 = 1;

/// Needed by the second value.
const RIGHT: u8 = 2;

/// Which part of a graph is asked.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Part {
    /// Whether nodes are made as the last ones that they stand for.
    latest: bool,
    /// It has at least this many operations.
    size: usize,
}

impl Part {
    /// The next one that is worth to be asked.
    pub(super) fn larger(self) -> Part {
        Part { size: 2 * self.size + 1, ..self }
    }
}

/// A node at which the graph is cut.
struct Cut {
    /// The sides that need it.
    needed: u8,
    /// The operations of the part that use it have larger numbers.
    below: NodeId,
    /// How many operations are between it and a root, at least.
    depth: usize,
}

/// A part of a graph.
struct Window<'g, 'a> {
    graph: &'g Graph<'a>,
    roots: [NodeId; 2],
    latest: bool,
    /// Nodes that belong to it, and the operations that make them, which have larger numbers than those they use.
    inner: BTreeMap<NodeId, NodeId>,
    cut: BTreeMap<NodeId, Cut>,
    /// Nodes of the cut that cannot be taken in.
    closed: BTreeSet<NodeId>,
}

/// The first question, from a part on and up to a size, whose answer may be yes, and its part.
pub(super) fn question(
    graph: &Graph<'_>,
    roots: (NodeId, NodeId),
    first: Part,
    most: usize,
) -> Option<(Question, Part)> {
    let most = most.min(MAX_OPERATIONS);
    let mut window = Window::new(graph, roots, first.latest);
    let found = window.search(first.size, most);
    if found.is_some() || first.latest || !window.has_others() {
        return found;
    }
    Window::new(graph, roots, true).search(0, most)
}

impl<'g, 'a> Window<'g, 'a> {
    fn new(graph: &'g Graph<'a>, (left, right): (NodeId, NodeId), latest: bool) -> Self {
        // The roots are made as they are.
        let mut cut = BTreeMap::from([(left, Cut { needed: LEFT, below: left + 1, depth: 0 })]);
        cut.entry(right).or_insert(Cut { needed: 0, below: right + 1, depth: 0 }).needed |= RIGHT;
        Window { graph, roots: [left, right], latest, inner: BTreeMap::new(), cut, closed: BTreeSet::new() }
    }

    /// Grows until the question may have the answer yes.
    fn search(&mut self, least: usize, most: usize) -> Option<(Question, Part)> {
        let mut tried = 0;
        loop {
            let grown = self.grow();
            let size = self.inner.len();
            let is_due = size <= EACH || size >= tried + tried / 4 || !grown;
            if size >= least && is_due {
                tried = size;
                if self.may_hold(Tried::Few) && self.may_hold(Tried::All) {
                    return Some((self.question(), Part { latest: self.latest, size }));
                }
            }
            if !grown || size >= most {
                return None;
            }
        }
    }

    /// Whether a node of it is made in several ways.
    fn has_others(&self) -> bool {
        self.inner.keys().chain(self.cut.keys()).any(|id| self.graph.has_others(*id))
    }

    /// The operation that would make a node of the cut.
    fn maker(&self, id: NodeId, cut: &Cut) -> NodeId {
        let is_op = matches!(self.graph.get(id), Node::Op(..));
        if self.latest && is_op { self.graph.latest(id, cut.below) } else { id }
    }

    /// Takes in the next operation; `false` where there is none.
    fn grow(&mut self) -> bool {
        let open = self.cut.iter().filter(|(id, _)| !self.closed.contains(id));
        let ops = open.map(|(id, cut)| (self.maker(*id, cut), *id, cut));
        let ops: Vec<_> = ops.filter(|(maker, ..)| matches!(self.graph.get(*maker), Node::Op(..))).collect();
        // Nodes that both need come last. Numbers say nothing of distances where there are several ways to make a node.
        let next = ops.iter().max_by_key(|(maker, _, cut)| {
            let depth = if self.latest { cut.depth } else { 0 };
            (cut.needed != LEFT | RIGHT, Reverse(depth), *maker)
        });
        let Some(mut next) = next else { return false };
        // Below what is made of it, it would be something else than that is made of.
        let uses = |maker: NodeId, id: NodeId| matches!(self.graph.get(maker), Node::Op(_, operands) if operands.contains(&id));
        while let Some(user) =
            ops.iter().filter(|(maker, ..)| *maker > next.0 && uses(*maker, next.1)).max_by_key(|user| user.0)
        {
            next = user;
        }
        let (maker, id, cut) = next;
        let (maker, id, needed, depth) = (*maker, *id, cut.needed, cut.depth + 1);
        self.take(id, maker, needed, depth);
        true
    }

    fn take(&mut self, id: NodeId, maker: NodeId, needed: u8, depth: usize) {
        let Node::Op(_, operands) = self.graph.get(maker) else { return };
        // A node that is made of it is not one of its operands.
        if operands.iter().any(|operand| self.inner.get(operand).is_some_and(|other| *other >= maker)) {
            self.closed.insert(id);
            return;
        }
        self.cut.remove(&id);
        self.inner.insert(id, maker);
        for operand in operands {
            if !self.inner.contains_key(operand) {
                let cut = self.cut.entry(*operand).or_insert(Cut { needed, below: maker, depth });
                // A root that the other root is made of is no shared value: how it is made may be what matters.
                if !self.roots.contains(operand) {
                    cut.needed |= needed;
                }
                cut.below = cut.below.min(maker);
                cut.depth = cut.depth.min(depth);
            }
        }
    }

    /// The operation that makes a node, where it belongs to the part.
    fn made(&self, id: NodeId) -> &Node {
        self.graph.get(self.inner.get(&id).copied().unwrap_or(id))
    }

    /// The nodes, operands first.
    fn nodes(&self) -> Vec<NodeId> {
        let mut inner: Vec<(NodeId, NodeId)> = self.inner.iter().map(|(id, maker)| (*maker, *id)).collect();
        inner.sort_unstable();
        self.cut.keys().copied().chain(inner.into_iter().map(|(_, id)| id)).collect()
    }

    /// Whether the second value may stand for the first one on random values of the cut.
    fn may_hold(&self, tried: Tried) -> bool {
        let mut values: FxHashMap<NodeId, Samples> = FxHashMap::default();
        for id in self.nodes() {
            let samples = match self.made(id) {
                Node::Op(head, operands) if self.inner.contains_key(&id) => {
                    let operands: Vec<&Samples> = operands.iter().map(|operand| &values[operand]).collect();
                    compute(self.graph.head(*head), &operands, tried)
                }
                Node::Constant(Constant { number: Number::Bits(bits), .. }) => same(*bits),
                _ => self.cut_off(id, tried),
            };
            values.insert(id, samples);
        }
        let [left, right] = self.roots;
        stands_for(
            self.graph.type_of(left).unwrap_or_default(),
            &values[&left],
            &values[&right],
            (tried, self.graph.sees_nans()),
        )
    }

    /// Anything that the node may be, were it not computed.
    fn cut_off(&self, id: NodeId, tried: Tried) -> Samples {
        let mut samples = any(self.graph.type_of(id).unwrap_or_default(), mix(u64::from(id)), tried);
        if !self.graph.is_defined(id) {
            samples.spoil(mix(u64::from(id)));
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
        Question { terms, left, right, nans: self.graph.sees_nans() }
    }

    /// The operands of an operation of the part; those that may change places by their shapes.
    fn ordered(&self, id: NodeId, shapes: &FxHashMap<NodeId, u64>) -> Vec<NodeId> {
        match self.made(id) {
            Node::Op(head, operands) if self.inner.contains_key(&id) => {
                let mut operands = operands.to_vec();
                if operands.len() == 2 && self.graph.commutes(*head) {
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
            let shape = match self.made(id) {
                Node::Op(head, operands) if self.inner.contains_key(&id) => {
                    let name = &self.graph.head(*head).name;
                    let mut operands: Vec<u64> = operands.iter().map(|operand| shapes[operand]).collect();
                    if self.graph.commutes(*head) {
                        operands.sort_unstable();
                    }
                    operands.into_iter().fold(text(ty, name), |hash, operand| mix(hash ^ operand))
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
        match self.made(id) {
            Node::Constant(constant) => TermKind::Constant(constant.number.clone()),
            Node::Op(head, _) if self.inner.contains_key(&id) => {
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
