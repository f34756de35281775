//! Classes whose nodes have several types, split for selection: what demands a class demands it *at a type*.
//!
//! Equal values may have different types: `a * a'` is a `Matrix`, `gram(a)` the same matrix as a `Symmetric`. Rules
//! match such a class by any of its nodes; but an operand of type `Symmetric` must be a node of that type. [`split`]
//! makes the class into one class per type, (c, <= t): the nodes of type `t`, and [`Head::Copy`] of the classes of
//! more specific types, which costs nothing and is no instruction. Each operand then names the class at its declared
//! type, so what chooses, checks and prints a program needs no rule about types, and sees at once what a more specific
//! operand costs and allows.
//!
//! What stands for a value of the original function has that value's type or a more specific one.
//!
//! **Invariant**: nodes and states keep their numbers; classes keep theirs for what demands no type. A view in which
//! every operand takes whatever its class holds is left alone: machine types have no subtypes.

use super::{Class, ClassId, EGraphInput, EGraphView, Head, InputId, Node, NodeId};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Types of the nodes of one class, distinct, in order of appearance. A node whose type has not been interned (`None`)
/// fits where no type is demanded.
type Types = SmallVec<[Option<Ty>; 2]>;

/// The view with classes split by what is demanded of them; `None` where nothing demands less than a whole class.
/// `input` is what the view was made from.
pub fn split(view: &EGraphView, input: &EGraphInput, universe: &Universe) -> Option<EGraphView> {
    let types: Vec<Option<Ty>> = view.nodes.iter().map(|node| node.ty(universe)).collect();
    let mut mixed: FxHashMap<ClassId, Types> = FxHashMap::default();
    for (id, class) in view.classes.iter().enumerate() {
        let mut of_class: Types = SmallVec::new();
        for ty in class.nodes.iter().map(|node| types[node.index()]) {
            if !of_class.contains(&ty) {
                of_class.push(ty);
            }
        }
        if of_class.len() > 1 {
            mixed.insert(ClassId(id as u32), of_class);
        }
    }
    if mixed.is_empty() {
        return None;
    }
    let opaque = opaque_operands(view, input, universe);
    let mut splitter = Splitter { universe, view: view.clone(), mixed, at: FxHashMap::default(), empty: None };
    let mut narrowed: FxHashSet<ClassId> = FxHashSet::default();
    let mut children: Vec<(NodeId, usize, ClassId)> = vec![];
    for (id, node) in view.nodes.iter().enumerate() {
        for (position, class) in node.children.iter().enumerate() {
            let Some(of_class) = splitter.mixed.get(class) else { continue };
            let wanted = match node.head {
                Head::Op(op) => {
                    let params = &universe.ops.get(op).params;
                    let param = params.get(position);
                    param.map(|p| universe.types.find_instance(&p.ty, &node.types))
                }
                Head::Opaque(_) => opaque.get(node).map(|operands| operands[position]),
                _ => None,
            };
            let Some(wanted) = wanted else { continue };
            let accepted = splitter.accepted(of_class, wanted);
            if accepted.len() < of_class.len() {
                narrowed.insert(*class);
                children.push((NodeId(id as u32), position, splitter.demanded(*class, &accepted)));
            }
        }
    }
    let mut inputs: Vec<(InputId, ClassId)> = vec![];
    for (id, node) in input.nodes.iter().enumerate() {
        let id = InputId(id as u32);
        let class = view.class_of(id);
        let Some(of_class) = splitter.mixed.get(&class) else { continue };
        let own = input.demanded.get(&id).copied().or_else(|| node.ty(universe));
        let accepted = splitter.accepted(of_class, own);
        if own.is_some() && accepted.len() < of_class.len() {
            narrowed.insert(class);
            inputs.push((id, splitter.demanded(class, &accepted)));
        }
    }
    if narrowed.is_empty() {
        return None;
    }
    splitter.mixed.retain(|class, _| narrowed.contains(class));
    splitter.place(&types);
    let mut view = splitter.view;
    for (node, position, class) in children {
        view.nodes[node.index()].children[position] = class;
    }
    for (input, class) in inputs {
        view.input_class[input.index()] = class;
    }
    Some(view)
}

/// What the operands of opaque nodes were, by node. Where two originals are one node, operands fit both.
fn opaque_operands(
    view: &EGraphView,
    input: &EGraphInput,
    universe: &Universe,
) -> FxHashMap<Node<ClassId>, SmallVec<[Option<Ty>; 3]>> {
    let mut found: FxHashMap<Node<ClassId>, SmallVec<[Option<Ty>; 3]>> = FxHashMap::default();
    for node in input.nodes.iter().filter(|node| matches!(node.head, Head::Opaque(_))) {
        let children = node.children.iter().map(|c| view.class_of(*c)).collect();
        let operands = node.children.iter().map(|c| input.nodes[c.index()].ty(universe));
        let own = operands.collect::<SmallVec<[Option<Ty>; 3]>>();
        let entry = found.entry(Node { head: node.head, types: node.types.clone(), children });
        let known = entry.or_insert_with(|| own.clone());
        for (known, own) in known.iter_mut().zip(own) {
            if let (Some(a), Some(b)) = (*known, own)
                && universe.types.is_subtype(b, a)
            {
                *known = own;
            }
        }
    }
    found
}

struct Splitter<'a> {
    universe: &'a Universe,
    view: EGraphView,
    /// Classes with nodes of several types.
    mixed: FxHashMap<ClassId, Types>,
    /// (c, <= any of these types), where it is not c itself. No type is below another one of them.
    at: FxHashMap<(ClassId, Types), ClassId>,
    /// A class that nothing is in.
    empty: Option<ClassId>,
}

impl Splitter<'_> {
    fn is_below(&self, a: Option<Ty>, b: Option<Ty>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.universe.types.is_subtype(a, b),
            (None, _) | (_, None) => a == b,
        }
    }

    /// Those of the types that fit where `wanted` is demanded. No node has a type that has not been interned.
    fn accepted(&self, types: &Types, wanted: Option<Ty>) -> Types {
        let Some(wanted) = wanted else { return SmallVec::new() };
        types.iter().copied().filter(|ty| self.is_below(*ty, Some(wanted)) || wanted == Ty::ANY).collect()
    }

    /// Those that are below no other one.
    fn maximal(&self, types: &Types) -> Types {
        let above = |a: &Option<Ty>| types.iter().any(|b| a != b && self.is_below(*a, *b));
        types.iter().copied().filter(|ty| !above(ty)).collect()
    }

    /// The class of all values of a class that have one of these types, which with a type hold all below it.
    fn demanded(&mut self, class: ClassId, accepted: &Types) -> ClassId {
        if accepted.len() == self.mixed[&class].len() {
            return class;
        }
        if accepted.is_empty() {
            return *self.empty.get_or_insert_with(|| new_class(&mut self.view, None));
        }
        let maximal = self.maximal(accepted);
        let constant = self.view.class(class).constant;
        let view = &mut self.view;
        *self.at.entry((class, maximal)).or_insert_with(|| {
            let part = new_class(view, constant);
            view.parts.insert(part, class);
            part
        })
    }

    /// The class for the nodes of exactly one type of a class.
    fn home(&mut self, class: ClassId, ty: Option<Ty>) -> ClassId {
        let types = self.mixed[&class].clone();
        let below: Types = types.iter().copied().filter(|other| self.is_below(*other, ty)).collect();
        self.demanded(class, &below)
    }

    /// Moves each node to the class of its type, and copies each class into those that are above it.
    fn place(&mut self, types: &[Option<Ty>]) {
        let mut classes: Vec<ClassId> = self.mixed.keys().copied().collect();
        classes.sort_unstable();
        for class in &classes {
            let nodes = std::mem::take(&mut self.view.classes[class.index()].nodes);
            for node in nodes {
                let home = self.home(*class, types[node.index()]);
                self.view.classes[home.index()].nodes.push(node);
                self.view.node_class[node.index()] = home;
            }
        }
        let mut parts: Vec<(ClassId, ClassId, Types)> =
            self.at.iter().map(|((whole, maximal), part)| (*part, *whole, maximal.clone())).collect();
        parts.sort_unstable();
        for class in classes {
            let maximal = self.maximal(&self.mixed[&class]);
            self.copies(class, class, &maximal);
        }
        for (part, whole, maximal) in parts {
            self.copies(part, whole, &maximal);
        }
    }

    /// Copies into a class with these maximal types: from the next ones below if there is one of them, whose nodes it
    /// holds itself; else from the class of each.
    fn copies(&mut self, part: ClassId, whole: ClassId, maximal: &Types) {
        let sources = match maximal[..] {
            [own] => {
                let types = &self.mixed[&whole];
                let below: Types = types.iter().copied().filter(|t| *t != own && self.is_below(*t, own)).collect();
                self.maximal(&below)
            }
            _ => maximal.clone(),
        };
        for ty in sources {
            let source = self.home(whole, ty);
            let id = NodeId(self.view.nodes.len() as u32);
            self.view.nodes.push(Node { head: Head::Copy, types: smallvec![], children: smallvec![source] });
            self.view.node_class.push(part);
            self.view.classes[part.index()].nodes.push(id);
        }
    }
}

fn new_class(view: &mut EGraphView, constant: Option<i64>) -> ClassId {
    view.classes.push(Class { nodes: vec![], constant });
    ClassId(view.classes.len() as u32 - 1)
}

#[cfg(test)]
mod tests;
