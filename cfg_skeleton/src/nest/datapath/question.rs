//! What is asked of two nodes: the part in which their values differ.
//!
//! From both nodes the graph is followed down, largest numbers first, so that all that uses a node is seen before the
//! node. A node that both need is a leaf: what is above it must be equal whatever it is. Where that is too much to ask,
//! a question can be asked down to what programs read ([`Cut::Inputs`]).

use super::graph::{Graph, Node, NodeId};
use super::{Question, Term, TermKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Where a question ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Cut {
    /// At what both sides need.
    Shared,
    /// At what programs read.
    Inputs,
}

/// Questions have no more operations.
const MAX_OPERATIONS: usize = 64;

/// Needed by the first value.
const LEFT: u8 = 1;

/// Needed by the second value.
const RIGHT: u8 = 2;

/// Whether `right` may stand for `left`.
pub(super) fn question(graph: &Graph<'_>, left: NodeId, right: NodeId, cut: Cut) -> Question {
    let mut open: BTreeMap<NodeId, u8> = BTreeMap::new();
    *open.entry(left).or_default() |= LEFT;
    *open.entry(right).or_default() |= RIGHT;
    // Nodes of the question, largest first; whether they are leaves.
    let mut taken: Vec<(NodeId, bool)> = vec![];
    let mut operations = 0;
    while let Some((id, needed)) = open.pop_last() {
        let shared = cut == Cut::Shared && needed == LEFT | RIGHT;
        match graph.get(id) {
            Node::Op(_, operands) if !shared && operations < MAX_OPERATIONS => {
                operations += 1;
                taken.push((id, false));
                for operand in operands {
                    *open.entry(*operand).or_default() |= needed;
                }
            }
            _ => taken.push((id, true)),
        }
    }
    let mut number: FxHashMap<NodeId, u32> = FxHashMap::default();
    let mut terms = vec![];
    for (id, leaf) in taken.into_iter().rev() {
        number.insert(id, terms.len() as u32);
        terms
            .push(Term { ty: graph.type_of(id).unwrap_or_default().to_string(), kind: kind(graph, id, leaf, &number) });
    }
    Question { left: number[&left], right: number[&right], terms }
}

fn kind(graph: &Graph<'_>, id: NodeId, leaf: bool, number: &FxHashMap<NodeId, u32>) -> TermKind {
    match graph.get(id) {
        Node::Constant(constant) => TermKind::Constant(constant.number.clone()),
        Node::Op(head, operands) if !leaf => {
            let head = graph.head(*head);
            TermKind::Op {
                name: head.name.clone(),
                flags: head.flags.clone(),
                from: head.from.clone(),
                operands: operands.iter().map(|operand| number[operand]).collect(),
            }
        }
        _ => TermKind::Leaf { defined: graph.is_defined(id) },
    }
}
