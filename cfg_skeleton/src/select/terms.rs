//! Terms of declarations (trap conditions, costs) over the operands of one node, *found* in what there is, never made:
//! a term has a value if it evaluates on constants, or if a node states it.
//!
//! The same over an e-graph's classes and over a function's values.

use super::address_parts::{AddressParts, Definition};
use crate::egraph::{ClassId, EGraphView, Head, Node};
use crate::ir::{Function, InstKind, Value};
use rewright_typeprop::eval::{evaluate, literal};
use rewright_typeprop::{Evaluation, Term, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::Hash;

/// Values that terms are looked up among.
pub(crate) trait ValueTable {
    /// A value.
    type Id: Copy + Eq + Hash;

    /// What it is, where that is a known constant.
    fn constant(&self, id: Self::Id) -> Option<i64>;

    /// The value of a node, if there is such a node.
    fn value_of(&self, node: &Node<Self::Id>) -> Option<Self::Id>;

    /// The parts of addresses.
    fn address_parts(&self, universe: &Universe) -> &AddressParts<Self::Id>;

    /// Is what an operation defines part of an address?
    fn is_address_part(&self, universe: &Universe, definition: Definition<Self::Id>) -> bool {
        self.address_parts(universe).contains(universe, definition, |id| self.constant(id))
    }
}

/// The classes of a view. Those that hold one value at several types are one here.
pub(crate) struct Classes<'a> {
    view: &'a EGraphView,
    /// Filled when the first node is looked for.
    nodes: OnceCell<FxHashMap<Cow<'a, Node<ClassId>>, ClassId>>,
    address_parts: OnceCell<AddressParts<ClassId>>,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(view: &'a EGraphView) -> Self {
        Classes { view, nodes: OnceCell::new(), address_parts: OnceCell::new() }
    }

    fn whole<'n>(&self, node: &'n Node<ClassId>) -> Cow<'n, Node<ClassId>> {
        if self.view.parts.is_empty() {
            return Cow::Borrowed(node);
        }
        let children = node.children.iter().map(|c| self.view.whole(*c)).collect();
        Cow::Owned(Node { head: node.head, types: node.types.clone(), children })
    }
}

impl ValueTable for Classes<'_> {
    type Id = ClassId;

    fn constant(&self, id: ClassId) -> Option<i64> {
        self.view.classes.get(id.index())?.constant
    }

    fn value_of(&self, node: &Node<ClassId>) -> Option<ClassId> {
        let classes = || self.view.node_class.iter().map(|class| self.view.whole(*class));
        let index = || self.view.nodes.iter().map(|node| self.whole(node)).zip(classes()).collect();
        self.nodes.get_or_init(index).get(&self.whole(node)).copied()
    }

    fn address_parts(&self, universe: &Universe) -> &AddressParts<ClassId> {
        self.address_parts.get_or_init(|| {
            let definitions = || {
                let nodes = self.view.nodes.iter().zip(&self.view.node_class);
                nodes.filter_map(|(node, class)| match node.head {
                    Head::Op(op) => Some((op, &node.children[..], Some(*class))),
                    _ => None,
                })
            };
            AddressParts::new(universe, definitions, |id| self.constant(id))
        })
    }
}

/// The values of a function.
pub(crate) struct Values<'a> {
    function: &'a Function,
    constants: Vec<Option<i64>>,
    nodes: OnceCell<FxHashMap<Node<Value>, Value>>,
    address_parts: OnceCell<AddressParts<Value>>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(function: &'a Function) -> Self {
        let mut constants = vec![None; function.values.len()];
        for inst in &function.insts {
            if let (InstKind::Const(n), [value]) = (&inst.kind, &inst.results[..]) {
                constants[value.index()] = Some(*n);
            }
        }
        Values { function, constants, nodes: OnceCell::new(), address_parts: OnceCell::new() }
    }

    fn index(&self) -> FxHashMap<Node<Value>, Value> {
        let mut nodes = FxHashMap::default();
        for inst in &self.function.insts {
            let [value] = inst.results[..] else { continue };
            let (head, types) = match &inst.kind {
                InstKind::Const(n) => (Head::Const(*n), SmallVec::from_slice(&[self.function.ty(value)])),
                InstKind::Op { op, targs, .. } => (Head::Op(*op), targs.clone()),
                InstKind::Check { .. } | InstKind::Opaque { .. } => continue,
            };
            let children = inst.args.iter().copied().collect();
            nodes.entry(Node { head, types, children }).or_insert(value);
        }
        nodes
    }
}

impl ValueTable for Values<'_> {
    type Id = Value;

    fn constant(&self, id: Value) -> Option<i64> {
        self.constants.get(id.index()).copied().flatten()
    }

    fn value_of(&self, node: &Node<Value>) -> Option<Value> {
        self.nodes.get_or_init(|| self.index()).get(node).copied()
    }

    fn address_parts(&self, universe: &Universe) -> &AddressParts<Value> {
        self.address_parts.get_or_init(|| {
            let definitions = || {
                self.function.insts.iter().filter_map(|inst| match inst.kind {
                    InstKind::Op { op, .. } => Some((op, &inst.args[..], inst.results.first().copied())),
                    _ => None,
                })
            };
            AddressParts::new(universe, definitions, |id| self.constant(id))
        })
    }
}

/// What a term comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TermValue<Id> {
    /// A constant.
    Constant(i64),
    /// A value that is not known to be one.
    Value(Id),
}

/// Terms nest no deeper than this.
const MAX_DEPTH: u32 = 64;

/// Finds a term over a node's operands and type arguments.
pub(crate) fn find<K: ValueTable>(
    universe: &Universe,
    known: &K,
    term: &Term,
    types: &[Ty],
    operands: &[K::Id],
) -> Option<TermValue<K::Id>> {
    find_at(universe, known, term, types, operands, 0)
}

fn find_at<K: ValueTable>(
    universe: &Universe,
    known: &K,
    term: &Term,
    types: &[Ty],
    operands: &[K::Id],
    depth: u32,
) -> Option<TermValue<K::Id>> {
    let store = &universe.types;
    let value = |id: K::Id| known.constant(id).map_or(TermValue::Value(id), TermValue::Constant);
    if depth > MAX_DEPTH {
        return None;
    }
    match term {
        Term::Var(i) => operands.get(*i as usize).map(|id| value(*id)),
        Term::Lit(lit, ty) => {
            let scalar = store.scalar(store.find_instance(ty, types)?)?;
            literal(lit, scalar).map(TermValue::Constant)
        }
        Term::Eval(inner) => find_at(universe, known, inner, types, operands, depth + 1),
        Term::Call { op, targs, args, state } => {
            if state.is_some() {
                return None;
            }
            let targs: SmallVec<[Ty; 2]> =
                targs.iter().map(|t| store.find_instance(t, types)).collect::<Option<_>>()?;
            let found: Vec<TermValue<K::Id>> =
                args.iter().map(|a| find_at(universe, known, a, types, operands, depth + 1)).collect::<Option<_>>()?;
            let constants: Option<Vec<i64>> = found
                .iter()
                .map(|f| match f {
                    TermValue::Constant(n) => Some(*n),
                    TermValue::Value(_) => None,
                })
                .collect();
            if let Some(constants) = constants
                && let Evaluation::Value(n) = evaluate(universe, *op, &targs, &constants)
            {
                return Some(TermValue::Constant(n));
            }
            let declared = universe.ops.get(*op);
            let mut children: SmallVec<[K::Id; 3]> = SmallVec::new();
            for (found, param) in found.iter().zip(&declared.params) {
                children.push(match found {
                    TermValue::Value(id) => *id,
                    TermValue::Constant(n) => {
                        let types = SmallVec::from_slice(&[store.find_instance(&param.ty, &targs)?]);
                        known.value_of(&Node { head: Head::Const(*n), types, children: SmallVec::new() })?
                    }
                });
            }
            known.value_of(&Node { head: Head::Op(*op), types: targs, children }).map(value)
        }
    }
}

/// The value of a term where every unknown size is `assumed`: what cannot be found is computed from the values of its
/// operands, and what cannot be computed (a shape, a variable) is the assumed one.
pub(crate) fn number<K: ValueTable>(
    universe: &Universe,
    known: &K,
    term: &Term,
    types: &[Ty],
    operands: &[K::Id],
    assumed: i64,
) -> i64 {
    if let Some(TermValue::Constant(n)) = find(universe, known, term, types, operands) {
        return n;
    }
    match term {
        Term::Eval(inner) => number(universe, known, inner, types, operands, assumed),
        Term::Call { op, targs, args, .. } if universe.ops.get(*op).model.is_some() => {
            let store = &universe.types;
            let targs: Option<SmallVec<[Ty; 2]>> = targs.iter().map(|t| store.find_instance(t, types)).collect();
            let args: Vec<i64> = args.iter().map(|a| number(universe, known, a, types, operands, assumed)).collect();
            match targs.map(|targs| evaluate(universe, *op, &targs, &args)) {
                Some(Evaluation::Value(n)) => n,
                _ => assumed,
            }
        }
        _ => assumed,
    }
}
