//! What is known of the integers of classes: bits and bounds ([`Known`]).
//!
//! Everything is allowed at first. The fact that a node gives of its class, from what is known of its operands, is met
//! with what was known, until nothing changes or a class has been narrowed [`MAX_STEPS`] times. Wherever it ends, what
//! is known is true, because each step is: so a class that holds a node over itself proves nothing by that.
//!
//! **Invariant**: at each visit of a block, the value of a class is one that is allowed.

use super::{ClassId, EGraphView, Head};
use rewright_typeprop::{Known, Model, OpTable, Ty, TypeStore, Universe};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// How often what is known of a class is narrowed. Bounds may come closer step by step.
const MAX_STEPS: u8 = 16;

/// What a term computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Computes {
    /// A constant in canonical form.
    Constant(i64),
    /// The meaning of an operation.
    Model(Model),
    /// One of its operands: what arrives at a parameter.
    OneOf,
    /// The known bits and bounds of a function's result.
    Within(Known),
    /// Anything: what comes from outside, or from an operation without a model.
    Anything,
}

/// A node whose result is an integer.
#[derive(Clone, Debug)]
pub struct IntTerm {
    /// Its class.
    pub class: usize,
    /// The width of its result.
    pub bits: u32,
    /// What it computes.
    pub computes: Computes,
    /// The classes of its operands.
    pub children: SmallVec<[usize; 3]>,
}

impl IntTerm {
    /// What it says of its class; `None` where too little is known of its operands.
    pub fn value(&self, known: impl FnMut(usize) -> Option<Known>) -> Option<Known> {
        match self.computes {
            Computes::Constant(number) => Some(Known::constant(self.bits, number)),
            Computes::Anything => Some(Known::top(self.bits)),
            Computes::Within(known) => Some(known).filter(|known| known.bits() == self.bits),
            Computes::Model(_) | Computes::OneOf => self.value_of(self.operands(known).as_deref()),
        }
    }

    /// The facts of all its operands, in order; `None` where one operand has none.
    pub fn operands(&self, known: impl FnMut(usize) -> Option<Known>) -> Option<SmallVec<[Known; 3]>> {
        self.children.iter().copied().map(known).collect()
    }

    /// The fact that it gives its class, from those of its operands.
    pub fn value_of(&self, operands: Option<&[Known]>) -> Option<Known> {
        match (self.computes, operands) {
            (Computes::Model(model), Some(operands)) => Some(model.transfer(self.bits, operands)),
            // It is 0 or 1, of whatever.
            (Computes::Model(model), None) => model.is_comparison().then(|| Known::truth(self.bits)),
            (_, operands) => operands?.iter().copied().reduce(Known::join).filter(|joined| joined.bits() == self.bits),
        }
    }
}

impl IntTerm {
    /// A node as a term, if it computes an integer.
    pub fn of_node<C>(
        (ops, types): (&OpTable, &TypeStore),
        (head, targs, children): (Head, &[Ty], &[C]),
        class: usize,
        number: impl Fn(&C) -> usize,
    ) -> Option<IntTerm> {
        let (computes, ty) = match head {
            Head::Const(constant) => (Computes::Constant(constant), targs.first().copied()),
            Head::Op(op) => {
                let op = ops.get(op);
                let [result] = &op.results[..] else { return None };
                let model = op.model.filter(|model| model.memory().is_none());
                let unknown = op.result.map_or(Computes::Anything, Computes::Within);
                (model.map_or(unknown, Computes::Model), types.find_instance(result, targs))
            }
            Head::Leaf(_) | Head::Proj(_) => (Computes::Anything, targs.first().copied()),
            Head::Opaque(_) if targs.len() == 1 => (Computes::Anything, targs.first().copied()),
            Head::Opaque(_) | Head::Token(_) | Head::Copy => return None,
        };
        let bits = types.scalar(ty?).filter(|scalar| scalar.is_int())?.bits();
        let has_operands = matches!(computes, Computes::Model(_));
        let operands = if has_operands { children } else { &[] };
        Some(IntTerm { class, bits, computes, children: operands.iter().map(number).collect() })
    }
}

/// The nodes of a view that compute integers.
pub fn terms(view: &EGraphView, universe: &Universe) -> Vec<IntTerm> {
    let nodes = view.nodes.iter().zip(&view.node_class);
    let number = |class: &ClassId| class.index();
    let tables = (&universe.ops, &universe.types);
    nodes
        .filter_map(|(node, class)| {
            let parts = (node.head, &node.types[..], &node.children[..]);
            IntTerm::of_node(tables, parts, class.index(), number)
        })
        .collect()
}

/// By class: what is known; `None` where it is no integer.
pub fn solve(classes: usize, terms: &[IntTerm]) -> Vec<Option<Known>> {
    solved(classes, terms).0
}

/// By class: what is known, and the terms that have it as an operand.
fn solved(classes: usize, terms: &[IntTerm]) -> (Vec<Option<Known>>, Vec<Vec<usize>>) {
    let mut known = tops(vec![None; classes], terms);
    let mut users = vec![vec![]; classes];
    for (number, term) in terms.iter().enumerate() {
        term.children.iter().for_each(|child| users[*child].push(number));
    }
    narrow(&mut known, 0..terms.len(), |number| &terms[number], |class| &users[class]);
    (known, users)
}

/// Terms with what is known of their classes, for several solutions with a few further terms each.
pub struct Solved {
    /// The terms.
    pub terms: Vec<IntTerm>,
    /// By class: what is known; `None` where it is no integer.
    pub known: Vec<Option<Known>>,
    /// By class: the terms that have it as an operand.
    users: Vec<Vec<usize>>,
}

impl Solved {
    /// Finds out what is known.
    pub fn new(classes: usize, terms: Vec<IntTerm>) -> Self {
        let (known, users) = solved(classes, &terms);
        Solved { terms, known, users }
    }

    /// The terms that have a class as an operand.
    pub fn users(&self, class: usize) -> impl Iterator<Item = &IntTerm> {
        self.users.get(class).into_iter().flatten().map(|number| &self.terms[*number])
    }

    /// The solution with further terms. Their classes may be new ones; there are `classes` in all. Starts from the solution
    /// without them, since further terms only narrow it.
    pub fn with(&self, classes: usize, further: &[IntTerm]) -> Vec<Option<Known>> {
        let mut known = self.known.clone();
        known.resize(classes, None);
        let mut known = tops(known, further);
        let first = self.terms.len();
        let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, term) in further.iter().enumerate() {
            for child in &term.children {
                let of_child = || self.users.get(*child).cloned().unwrap_or_default();
                users.entry(*child).or_insert_with(of_child).push(first + number);
            }
        }
        let none = vec![];
        let users = |class: usize| users.get(&class).or(self.users.get(class)).unwrap_or(&none);
        let term = |number: usize| self.terms.get(number).unwrap_or_else(|| &further[number - first]);
        narrow(&mut known, first..first + further.len(), term, users);
        known
    }
}

/// The same, where nothing is known yet of classes of terms of which nothing was.
fn tops(mut known: Vec<Option<Known>>, terms: &[IntTerm]) -> Vec<Option<Known>> {
    for term in terms {
        known[term.class].get_or_insert(Known::top(term.bits));
    }
    known
}

/// Meets what is known with what terms say, beginning with those of `first`, until nothing changes or enough has.
fn narrow<'t>(
    known: &mut [Option<Known>],
    first: Range<usize>,
    term: impl Fn(usize) -> &'t IntTerm,
    users: impl Fn(usize) -> &'t Vec<usize>,
) {
    let mut steps = vec![0u8; known.len()];
    let mut wave: Vec<usize> = first.collect();
    // In a wave all terms see what was known before it, so their order does not matter.
    while !wave.is_empty() {
        let mut said: Vec<(usize, Known)> = vec![];
        for number in &wave {
            let term = term(*number);
            let open = steps[term.class] < MAX_STEPS && known[term.class].is_some_and(|known| known.single().is_none());
            said.extend(open.then(|| term.value(|child| known[child])).flatten().map(|value| (term.class, value)));
        }
        said.sort_by_key(|(class, _)| *class);
        wave.clear();
        for of_class in said.chunk_by(|(a, _), (b, _)| a == b) {
            let class = of_class[0].0;
            let Some(before) = known[class] else { continue };
            let after = before.meet_all(of_class.iter().map(|(_, value)| *value));
            // Where nothing is left, the class is computed nowhere.
            let Some(after) = after.filter(|after| *after != before) else { continue };
            steps[class] += 1;
            known[class] = Some(after);
            wave.extend(users(class));
        }
        wave.sort_unstable();
        wave.dedup();
    }
}

#[cfg(test)]
mod tests;
