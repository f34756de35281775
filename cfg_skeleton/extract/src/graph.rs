//! An e-graph to extract from: classes, their nodes, and the classes that must be had.
//!
//! A *choice* picks one node for each class that it has; it has the roots and the children of what it picks, and its
//! *ordered* children never lead from a class back to itself. *Deferred* children must be had, too, but a cycle
//! through one is no harm: they are what a loop hands to its next round. It costs the sum of its nodes' costs, a class
//! counting once however often it is used.
//!
//! **Invariant**: costs are finite and not negative; children are sorted and distinct, and no child is of both kinds.

use smallvec::SmallVec;

/// A class, by its position in [`Graph::classes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(pub u32);

impl Class {
    /// Its position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Children of one kind.
pub type Classes = SmallVec<[Class; 4]>;

/// One way to have a class.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Finite, not negative.
    pub cost: f64,
    /// Must be had before; sorted, distinct.
    pub children: Classes,
    /// Must be had, in whatever order; sorted, distinct, and none of `children`.
    pub deferred: Classes,
}

impl Node {
    /// A node; children may come in any order and more than once.
    pub fn new(
        cost: f64,
        children: impl IntoIterator<Item = Class>,
        deferred: impl IntoIterator<Item = Class>,
    ) -> Node {
        let mut node =
            Node { cost, children: children.into_iter().collect(), deferred: deferred.into_iter().collect() };
        node.normalise();
        node
    }

    /// Sorts the children and makes them distinct.
    pub(crate) fn normalise(&mut self) {
        self.children.sort_unstable();
        self.children.dedup();
        if !self.deferred.is_empty() {
            self.deferred.sort_unstable();
            self.deferred.dedup();
            let children = &self.children;
            self.deferred.retain(|d| children.binary_search(d).is_err());
        }
    }

    /// Children of both kinds.
    pub fn needs(&self) -> impl Iterator<Item = Class> + '_ {
        self.children.iter().chain(&self.deferred).copied()
    }
}

impl AsRef<Node> for Node {
    fn as_ref(&self) -> &Node {
        self
    }
}

/// Classes, and those that must be had.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// By class, its nodes.
    pub classes: Vec<Vec<Node>>,
    /// Must be had in any case.
    pub roots: Vec<Class>,
}

impl Graph {
    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.classes.iter().map(Vec::len).sum()
    }
}
