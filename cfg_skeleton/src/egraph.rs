//! What goes into a saturation engine and what comes back, as plain data.
//!
//! [`EGraphInput`] is a list of nodes, each referring to earlier ones; the engine hash-conses it, runs the rules
//! and gives an [`EGraphView`]: classes of nodes, and the class of each input node. Both know one *unit*: one
//! function (or two that are to be proved equal). The engine puts the unit's number into the leading column of
//! every constructor, so that functions in one batch never share a class.
//!
//! **Invariant**: a view is closed (children are classes of the view), its nodes are distinct and in an order
//! that depends on the input only.

pub mod demand;
pub mod known;
mod stop;

use crate::ir::{PayloadId, id};
use rewright_typeprop::{OpId, RuleId, Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
pub use stop::{BudgetKind, Extent, Growth, Stop};

id! {
    /// An e-class of a view.
    ClassId,
    /// An e-node of a view.
    NodeId,
    /// A node of an input.
    InputId,
    /// A value that no node computes: a parameter, or the result of an opaque statement.
    LeafId,
    /// A state that no node computes: a function's first, one after an opaque statement, one at a join.
    TokenId,
}

/// What a node computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Head {
    /// A declared operation. Children are its operands in order, then the state in which it stands, if it reads
    /// or writes one. If it writes, the node *is* the state after it.
    Op(OpId),
    /// A constant in canonical form.
    Const(i64),
    /// A value from outside the e-graph.
    Leaf(LeafId),
    /// A state from outside the e-graph.
    Token(TokenId),
    /// A pure operation that no pack declares.
    Opaque(PayloadId),
    /// One result of a tuple node.
    Proj(u32),
    /// The value of its operand, in another class: no instruction, no cost. No engine knows it; see [`demand`].
    Copy,
}

/// An e-node over children of one kind (`InputId` going in, `ClassId` coming back).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node<C> {
    /// What it computes.
    pub head: Head,
    /// Type columns: one per type parameter of an operation; the type of a constant, leaf or projection; the
    /// result types of an opaque node; none for a token or a copy.
    pub types: SmallVec<[Ty; 2]>,
    /// Operands, then the state.
    pub children: SmallVec<[C; 3]>,
}

impl<C: PartialEq> Node<C> {
    /// The same operation on the same operands, maybe in another state. Of two nodes that take a state.
    pub(crate) fn is_same_but_for_state(&self, other: &Node<C>) -> bool {
        let operands = |node: &Node<C>| node.children.len().saturating_sub(1);
        self.head == other.head
            && self.types == other.types
            && self.children.len() == other.children.len()
            && self.children[..operands(self)] == other.children[..operands(other)]
    }
}

impl<C: Ord> Node<C> {
    /// The one of two nodes that differ in the order of operands where that does not matter.
    pub(crate) fn in_order(mut self, universe: &Universe) -> Self {
        if let (Head::Op(op), [a, b, ..]) = (self.head, &mut self.children[..])
            && universe.ops.get(op).laws.commutative
            && *b < *a
        {
            std::mem::swap(a, b);
        }
        self
    }
}

impl<C> Node<C> {
    /// The type of what it computes; `None` for states, tuples and copies, and where the type has not been interned.
    pub fn ty(&self, universe: &Universe) -> Option<Ty> {
        let types = match self.head {
            Head::Op(op) => match &universe.ops.get(op).results[..] {
                [one] => return universe.types.find_instance(one, &self.types),
                _ => return None,
            },
            Head::Const(_) | Head::Leaf(_) | Head::Proj(_) | Head::Opaque(_) => &self.types,
            Head::Token(_) | Head::Copy => return None,
        };
        match types[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// One unit, going in. Children of node `i` are nodes `< i`.
#[derive(Clone, Debug, Default)]
pub struct EGraphInput {
    /// Nodes.
    pub nodes: Vec<Node<InputId>>,
    /// Further nodes of the classes of these, whose children may be any nodes.
    pub equations: Vec<(InputId, Node<InputId>)>,
    /// Loops that rules may speak of.
    pub loops: Vec<LoopInput>,
    /// Nodes of which what stands for them has a more specific type than theirs.
    pub demanded: BTreeMap<InputId, Ty>,
    /// Nodes with a more specific type than the program of the e-graph knows: calls of functions that have been found to return it.
    pub typed: BTreeMap<InputId, Ty>,
}

/// What an engine knows of a loop.
#[derive(Clone, Debug)]
pub struct LoopInput {
    /// The constant that stands for it.
    pub constant: InputId,
    /// Leaves and tokens that are known before it is entered, and stay what they are while it runs.
    pub enters: Vec<InputId>,
    /// Of the other loops in [`EGraphInput::loops`]: is what they carry known before this one is entered, and does it
    /// stay what it is while this one runs?
    pub carried: Vec<bool>,
    /// Of the other loops: are they left before this one is entered?
    pub left: Vec<bool>,
    /// The exit condition of a loop with one exit that ends for all inputs.
    pub stays: Option<Stays>,
}

/// The exit condition of a loop: in each iteration it decides whether another one follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stays {
    /// The loop goes on iff this is not zero.
    pub test: InputId,
    /// It goes on less often than 2 to the power of this.
    pub bits: u32,
    /// How often it goes on, where that is known: a constant of the counter's type.
    pub trips: Option<InputId>,
}

impl EGraphInput {
    /// Adds a node. Equal nodes may be added twice; the engine makes them one.
    pub fn add(&mut self, node: Node<InputId>) -> InputId {
        self.nodes.push(node);
        InputId(self.nodes.len() as u32 - 1)
    }

    /// A node once more, of which what stands for it has a more specific type.
    pub(crate) fn add_at(&mut self, input: InputId, ty: Ty) -> InputId {
        let again = self.add(self.nodes[input.index()].clone());
        self.demanded.insert(again, ty);
        again
    }

    /// The nodes of a view that are these, in any order of operands where that does not matter.
    pub fn nodes_in(&self, view: &EGraphView, universe: &Universe) -> BTreeSet<NodeId> {
        let equations = self.equations.iter().map(|(_, node)| node);
        let own: FxHashSet<Node<ClassId>> = self
            .nodes
            .iter()
            .chain(equations)
            .map(|node| {
                let children = node.children.iter().map(|child| view.class_of(*child)).collect();
                Node { head: node.head, types: node.types.clone(), children }.in_order(universe)
            })
            .collect();
        let numbered = (0..view.nodes.len() as u32).map(NodeId);
        numbered.filter(|id| own.contains(&view.node(*id).clone().in_order(universe))).collect()
    }

    /// The e-graph as no rule has seen it: equal nodes are one, nothing else is equal.
    pub fn unsaturated(&self) -> EGraphView {
        let mut view = EGraphView::default();
        let mut known: FxHashMap<Node<ClassId>, ClassId> = FxHashMap::default();
        for node in &self.nodes {
            let children = node.children.iter().map(|child| view.class_of(*child)).collect();
            let node = Node { head: node.head, types: node.types.clone(), children };
            // A class is its one node.
            let next = ClassId(view.nodes.len() as u32);
            let class = *known.entry(node.clone()).or_insert(next);
            view.input_class.push(class);
            if class == next {
                let constant = if let Head::Const(value) = node.head { Some(value) } else { None };
                view.classes.push(Class { nodes: vec![NodeId(next.0)], constant });
                view.node_class.push(class);
                view.nodes.push(node);
            }
        }
        view
    }
}

/// One class, coming back.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Its nodes.
    pub nodes: Vec<NodeId>,
    /// The constant that it equals. A class with two different constants means a wrong rule: see
    /// [`EGraphView::contradictions`].
    pub constant: Option<i64>,
}

/// A rule that took part in making a class what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Application {
    /// The rule.
    pub rule: RuleId,
    /// The class that its left side matched.
    pub class: ClassId,
}

/// A rule's word that a statement at a site may be left out: a licence, not an equality. Whether it is used, and
/// whether it holds where the site is, is not the engine's to say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Removable {
    /// The state of the site.
    pub site: ClassId,
    /// The state of the site that the rule's root stands at: the same one where the root itself may go.
    pub root: ClassId,
    /// The rule.
    pub rule: RuleId,
}

/// One unit, saturated.
#[derive(Clone, Debug, Default)]
pub struct EGraphView {
    /// Classes.
    pub classes: Vec<Class>,
    /// Nodes; `node_class` gives the class of each.
    pub nodes: Vec<Node<ClassId>>,
    /// The class of each node.
    pub node_class: Vec<ClassId>,
    /// The class of each input node.
    pub input_class: Vec<ClassId>,
    /// Rules that were applied, where logging was asked for; sorted, no duplicates.
    pub applications: Vec<Application>,
    /// Statements that may go, where rules say so; sorted, no duplicates.
    pub removable: Vec<Removable>,
    /// Classes that hold two different constants.
    pub contradictions: Vec<ClassId>,
    /// Classes that hold the values of another one at some types only, and which one; see [`demand`].
    pub parts: BTreeMap<ClassId, ClassId>,
    /// Budgets that ended before their rules did, in order; none where the schedule ran to its end.
    pub stops: Vec<Stop>,
}

impl EGraphView {
    /// Did a budget end the run before its schedule?
    pub fn exhausted(&self) -> bool {
        self.stops.iter().any(|stop| stop.extent == Extent::Run)
    }

    /// The class of an input node.
    pub fn class_of(&self, input: InputId) -> ClassId {
        self.input_class[input.index()]
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node<ClassId> {
        &self.nodes[id.index()]
    }

    /// A class.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// The class of all nodes that are equal to those of this one, whatever their types.
    pub fn whole(&self, id: ClassId) -> ClassId {
        self.parts.get(&id).copied().unwrap_or(id)
    }

    /// The nodes that compute a class: its own, and those of classes that are copied into it.
    pub fn members(&self, id: ClassId) -> Vec<NodeId> {
        let mut classes = vec![id];
        let mut members = vec![];
        let mut next = 0;
        while let Some(class) = classes.get(next).copied() {
            next += 1;
            for node in &self.class(class).nodes {
                match self.node(*node) {
                    Node { head: Head::Copy, children, .. } => {
                        let more = children.iter().filter(|c| !classes.contains(c)).copied().collect::<Vec<_>>();
                        classes.extend(more);
                    }
                    _ => members.push(*node),
                }
            }
        }
        members
    }
}
