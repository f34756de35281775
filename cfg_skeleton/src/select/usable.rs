//! Which operations may be executed, and which classes can be computed by such operations at all.

use crate::egraph::{ClassId, EGraphView, Head, Node};
use rewright_typeprop::{OpId, Universe};
use std::collections::BTreeSet;

/// The operations that may be executed.
pub(super) struct Usable<'a> {
    universe: &'a Universe,
    unavailable: &'a BTreeSet<OpId>,
    /// By class: some term of it has only operations that may be executed.
    computed: Vec<bool>,
}

impl<'a> Usable<'a> {
    /// Everything but these operations, and those that are for matching only.
    pub(super) fn new(view: &EGraphView, universe: &'a Universe, unavailable: &'a BTreeSet<OpId>) -> Self {
        let mut usable = Usable { universe, unavailable, computed: vec![false; view.classes.len()] };
        let mut users: Vec<Vec<u32>> = vec![vec![]; view.classes.len()];
        for (id, node) in (0u32..).zip(&view.nodes) {
            for child in usable.values(node) {
                users[child.index()].push(id);
            }
        }
        let mut work: Vec<u32> = (0..view.nodes.len() as u32).collect();
        while let Some(id) = work.pop() {
            let (node, class) = (&view.nodes[id as usize], view.node_class[id as usize].index());
            if !usable.computed[class] && usable.is_computed(node) {
                usable.computed[class] = true;
                work.extend(&users[class]);
            }
        }
        usable
    }

    /// May an operation be executed?
    pub(super) fn operation(&self, op: OpId) -> bool {
        !self.unavailable.contains(&op)
    }

    /// Can all operands of a node be computed? Where, is another question.
    pub(super) fn has_operands(&self, node: &Node<ClassId>) -> bool {
        self.values(node).iter().all(|child| self.computed[child.index()])
    }

    fn is_computed(&self, node: &Node<ClassId>) -> bool {
        // A value that control flow makes of others may be a parameter of a block.
        let runs = match node.head {
            Head::Op(op) => {
                let data = self.universe.ops.get(op);
                self.operation(op) && (!data.is_for_matching() || data.in_loop.is_some())
            }
            Head::Const(_) | Head::Leaf(_) | Head::Token(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
        };
        runs && self.has_operands(node)
    }

    /// The operands without the state.
    fn values<'n>(&self, node: &'n Node<ClassId>) -> &'n [ClassId] {
        let takes_state = matches!(node.head, Head::Op(op) if self.universe.ops.get(op).takes_state());
        &node.children[..node.children.len().saturating_sub(usize::from(takes_state))]
    }
}
