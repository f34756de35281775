//! The values of two programs as one graph: equal values have one number.
//!
//! Operands are numbered before what is made from them, and the numbers given last can be taken back.

use super::super::affine::{Affine, Var};
use super::super::nan::{Bits, bits_of, is_float};
use super::super::value::{Constant, Number, Operation, Pool, Value, ValueId, is_never_poison};
use super::super::{ArrayId, Item, LoadId, Nest};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

mod samples;

use samples::Sampled;
pub(super) use samples::{Samples, Tried, any, compute, same, stands_for};

/// A number of a graph. Operands have smaller ones.
pub(super) type NodeId = u32;

/// What a value is, up to names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// What a load of the first program reads.
    Load(LoadId),
    /// A result of an opaque operation of the first program.
    Result(LoadId, u32),
    /// A scalar argument.
    Argument(u32),
    /// An index, by variables of the first program.
    Index(Affine),
    /// A constant.
    Constant(Constant),
    /// A value that is equal to itself only.
    Other(bool, ValueId),
    /// An operation.
    Op(u32, SmallVec<[NodeId; 3]>),
}

/// How names of the second program are those of the first one.
pub(crate) struct Renaming {
    pub(crate) vars: FxHashMap<Var, Affine>,
    pub(crate) loads: FxHashMap<LoadId, LoadId>,
}

/// The values of two programs.
pub(super) struct Graph<'a> {
    pool: &'a Pool,
    nodes: IndexSet<Node>,
    /// Operations without their operands.
    heads: IndexSet<Operation>,
    /// Whether the node is certainly no poison.
    defined: Vec<bool>,
    /// Whether a NaN that the node is may be any.
    any_nan: Vec<bool>,
    /// The value of a program that was numbered by it first.
    origin: Vec<ValueId>,
    /// The node that stands for it in what is made from it.
    standing: Vec<NodeId>,
    /// By node: those that it stands for and that are poison where it is, smallest first.
    others: FxHashMap<NodeId, Vec<NodeId>>,
    pub(super) sampled: Sampled,
    /// Types of what loads of the first program read, and whether that is certainly no poison.
    elements: FxHashMap<LoadId, (String, bool)>,
    arguments: Vec<String>,
    /// Whether variables are made of data.
    binds: bool,
    /// Operations of the first program that promise something, by what they are without.
    with_flags: FxHashMap<Node, Vec<NodeId>>,
}

impl<'a> Graph<'a> {
    /// Without any nodes yet; loads and arguments are those of the first program.
    pub(super) fn new(pool: &'a Pool, first: &Nest) -> Self {
        let mut elements = FxHashMap::default();
        let safe = made_defined(pool, first);
        collect_elements(first, &first.items, &safe, &mut elements);
        Graph {
            pool,
            nodes: IndexSet::new(),
            heads: IndexSet::new(),
            defined: vec![],
            any_nan: vec![],
            origin: vec![],
            standing: vec![],
            others: FxHashMap::default(),
            sampled: Sampled::default(),
            elements,
            arguments: first.arguments.clone(),
            binds: binds(&first.items),
            with_flags: FxHashMap::default(),
        }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The operation of a node, without operands.
    pub(super) fn head(&self, head: u32) -> &Operation {
        &self.heads[head as usize]
    }

    /// Whether the operation gives the same when its two operands change places.
    pub(super) fn commutes(&self, head: u32) -> bool {
        self.pool.commutes(&self.head(head).name)
    }

    /// Whether values are equal only if the bits of NaNs are.
    pub(super) fn sees_nans(&self) -> bool {
        self.pool.sees_nans()
    }

    pub(super) fn is_defined(&self, id: NodeId) -> bool {
        self.defined[id as usize]
    }

    /// The first value of a program that the node is.
    pub(super) fn origin(&self, id: NodeId) -> ValueId {
        self.origin[id as usize]
    }

    /// The node that stands for this one.
    pub(super) fn standing(&self, id: NodeId) -> NodeId {
        self.standing[id as usize]
    }

    /// From here on, an earlier node stands for this one, the last; `alike` where both are poison at the same time.
    pub(super) fn replace(&mut self, id: NodeId, by: NodeId, alike: bool) {
        self.standing[id as usize] = by;
        // One that is made of the other says nothing of it.
        let is_other = matches!(self.get(id), Node::Op(_, operands) if !operands.contains(&by));
        if alike && is_other && self.have_like_nans(by, id) {
            self.others.entry(by).or_default().push(id);
        }
    }

    /// Whether there is more than one way to make the node.
    pub(super) fn has_others(&self, id: NodeId) -> bool {
        self.others.get(&id).is_some_and(|others| !others.is_empty())
    }

    /// The last node below a number that is always equal to this one.
    pub(super) fn latest(&self, id: NodeId, below: NodeId) -> NodeId {
        let others = self.others.get(&id).map_or(&[][..], Vec::as_slice);
        let found = others.partition_point(|other| *other < below).checked_sub(1);
        found.map_or(id, |n| others[n])
    }

    /// Forgets all nodes but the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        for id in (length..self.nodes.len()).rev() {
            if let Some(without) = self.without_flags(id as NodeId)
                && let Some(found) = self.with_flags.get_mut(&without)
            {
                found.retain(|other| *other != id as NodeId);
            }
            if let Some(others) = self.others.get_mut(&self.standing[id]) {
                others.retain(|other| *other != id as NodeId);
            }
        }
        self.nodes.truncate(length);
        self.defined.truncate(length);
        self.any_nan.truncate(length);
        self.origin.truncate(length);
        self.standing.truncate(length);
        self.sampled.truncate(length);
    }

    /// Numbers a value of the first program, whose operands have numbers.
    pub(super) fn add_left(&mut self, value: ValueId, number: &FxHashMap<ValueId, NodeId>) -> NodeId {
        let node = self.node(value, true, &|id| number[&id], &Clone::clone, &Some);
        let known = self.nodes.len();
        let id = self.insert(node, value);
        if id as usize == known
            && let Some(without) = self.without_flags(id)
        {
            self.with_flags.entry(without).or_default().push(id);
        }
        id
    }

    /// Numbers a constant that a value of a program may be equal to.
    pub(super) fn add_constant(&mut self, constant: Constant, value: ValueId) {
        let known = self.nodes.len();
        let id = self.insert(Node::Constant(constant), value);
        self.sample();
        if id as usize == known {
            self.publish(id);
        }
    }

    /// The number of a node that there is.
    fn find(&self, node: &Node) -> Option<NodeId> {
        self.nodes.get_index_of(node).map(|id| id as NodeId)
    }

    /// Numbers a value of the second program, whose operands have numbers.
    pub(super) fn add_right(
        &mut self,
        value: ValueId,
        renaming: &Renaming,
        number: &FxHashMap<ValueId, NodeId>,
    ) -> NodeId {
        let rename = |affine: &Affine| affine.replace(&|var| renaming.vars.get(&var).cloned());
        let load = |load| renaming.loads.get(&load).copied();
        let node = self.node(value, false, &|id| number[&id], &rename, &load);
        self.promising(&node).unwrap_or_else(|| self.insert(node, value))
    }

    /// The same operation of the first program, which promises more.
    fn promising(&mut self, node: &Node) -> Option<NodeId> {
        let Node::Op(head, operands) = node else { return None };
        if self.with_flags.is_empty() || self.nodes.contains(node) {
            return None;
        }
        let head = self.head(*head).clone();
        let plain = Operation { flags: vec![], ..head.clone() };
        let plain = Node::Op(self.heads.insert_full(plain).0 as u32, operands.clone());
        let found = self.with_flags.get(&plain)?.iter();
        found.copied().find(|id| match self.get(*id) {
            Node::Op(other, _) => head.flags.iter().all(|flag| self.head(*other).flags.contains(flag)),
            _ => false,
        })
    }

    /// An operation that promises something, without promises.
    fn without_flags(&mut self, id: NodeId) -> Option<Node> {
        let Node::Op(head, operands) = self.get(id).clone() else { return None };
        if self.head(head).flags.is_empty() {
            return None;
        }
        let plain = Operation { flags: vec![], ..self.head(head).clone() };
        Some(Node::Op(self.heads.insert_full(plain).0 as u32, operands))
    }

    fn node(
        &mut self,
        value: ValueId,
        left: bool,
        number: &dyn Fn(ValueId) -> NodeId,
        rename: &dyn Fn(&Affine) -> Affine,
        load: &dyn Fn(LoadId) -> Option<LoadId>,
    ) -> Node {
        let other = Node::Other(left, value);
        match self.pool.get(value) {
            Value::Index(affine) => {
                let affine = rename(affine);
                if affine.is_broken() { other } else { Node::Index(affine) }
            }
            Value::Load(id) => load(*id).map_or(other, Node::Load),
            Value::Result(id, n) => load(*id).map_or(other, |id| Node::Result(id, *n)),
            Value::Argument(n) => Node::Argument(*n),
            Value::Constant(constant) => Node::Constant(constant.clone()),
            Value::Array(_) => other,
            Value::Op(Operation { name, flags, from, ty, operands }) => {
                let mut operands: SmallVec<[NodeId; 3]> = operands.iter().map(|o| number(*o)).collect();
                if operands.len() == 2 && self.pool.commutes(name) {
                    operands.sort_unstable();
                }
                let (name, flags, from, ty) = (name.clone(), flags.clone(), from.clone(), ty.clone());
                let head = Operation { name, flags, from, ty, operands: vec![] };
                Node::Op(self.heads.insert_full(head).0 as u32, operands)
            }
        }
    }

    fn insert(&mut self, node: Node, value: ValueId) -> NodeId {
        let (id, new) = self.nodes.insert_full(node);
        if new {
            let (defined, any_nan) = (self.defines(id as NodeId), self.gives_any_nan(id as NodeId));
            self.defined.push(defined);
            self.any_nan.push(any_nan);
            self.origin.push(value);
            self.standing.push(id as NodeId);
        }
        id as NodeId
    }

    /// Whether a NaN that the node is may be any: then a node that stands for it is one that it may stand for.
    fn gives_any_nan(&self, id: NodeId) -> bool {
        match self.get(id) {
            Node::Op(head, operands) => match (bits_of(&self.head(*head).name), operands.as_slice()) {
                (Bits::Any, _) => true,
                (Bits::Negated, [x]) => self.any_nan[*x as usize],
                (Bits::Chosen, [_, x, y]) => self.any_nan[*x as usize] && self.any_nan[*y as usize],
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether values that are equal for what is made of one of the nodes are so for what is made of the other: in neither
    /// are NaNs exact, or all are.
    pub(super) fn have_like_nans(&self, a: NodeId, b: NodeId) -> bool {
        let takes_floats = self.type_of(a).is_none_or(is_float);
        !takes_floats || self.sees_nans() || (self.any_nan[a as usize] && self.any_nan[b as usize])
    }

    fn defines(&self, id: NodeId) -> bool {
        match self.get(id) {
            Node::Load(load) => self.elements.get(load).is_some_and(|(_, defined)| *defined),
            Node::Result(..) | Node::Other(..) => false,
            Node::Argument(_) | Node::Constant(_) => true,
            // Data of which variables are made may be poison.
            Node::Index(_) => !self.binds,
            Node::Op(head, operands) => {
                let head = self.head(*head);
                let amount = operands.last().and_then(|last| match self.get(*last) {
                    Node::Constant(Constant { number: Number::Bits(bits), .. }) => Some(*bits),
                    _ => None,
                });
                head.flags.is_empty()
                    && is_never_poison(&head.name, &head.from, amount)
                    && operands.iter().all(|o| self.is_defined(*o))
            }
        }
    }

    /// The type of a node, where it is known.
    pub(super) fn type_of(&self, id: NodeId) -> Option<&str> {
        match self.get(id) {
            Node::Load(load) => self.elements.get(load).map(|(ty, _)| ty.as_str()),
            Node::Argument(n) => self.arguments.get(*n as usize).map(String::as_str),
            Node::Index(_) => Some("index"),
            Node::Constant(constant) => Some(&constant.ty),
            Node::Op(head, _) => Some(&self.head(*head).ty),
            Node::Result(..) | Node::Other(..) => None,
        }
    }
}

/// Whether what the program stores in an array of an argument, or carries in loops, is never poison.
fn made_defined(pool: &Pool, nest: &Nest) -> impl Fn(ArrayId) -> bool {
    let mut stored = vec![];
    stores(&nest.items, &mut stored);
    let roots = stored.iter().map(|(_, value)| *value);
    let safe = pool.reachable(roots).into_iter().all(|value| match pool.get(value) {
        Value::Op(op) => op.flags.is_empty() && is_never_poison(&op.name, &op.from, amount(pool, op)),
        Value::Result(..) => false,
        _ => true,
    });
    let has_own = nest.arrays.iter().any(|array| array.kind == super::super::ArrayKind::Local);
    let written: rustc_hash::FxHashSet<ArrayId> = stored.into_iter().map(|(array, _)| array).collect();
    let kinds: Vec<super::super::ArrayKind> = nest.arrays.iter().map(|array| array.kind).collect();
    move |array| match kinds.get(array.0 as usize) {
        Some(super::super::ArrayKind::Argument(_)) => !written.contains(&array) || (safe && !has_own),
        Some(super::super::ArrayKind::Cell) => safe && !has_own,
        // A cell that nothing has written is undefined.
        Some(super::super::ArrayKind::Local) | None => false,
    }
}

fn amount(pool: &Pool, op: &Operation) -> Option<u128> {
    match op.operands.last().map(|last| pool.get(*last)) {
        Some(Value::Constant(Constant { number: Number::Bits(bits), .. })) => Some(*bits),
        _ => None,
    }
}

fn stores(items: &[Item], found: &mut Vec<(ArrayId, ValueId)>) {
    for item in items {
        match item {
            Item::Store(x) => found.push((x.array, x.value)),
            Item::For(x) => stores(&x.body, found),
            Item::If(x) => {
                stores(&x.then, found);
                stores(&x.otherwise, found);
            }
            _ => {}
        }
    }
}

fn binds(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Bind(_) => true,
        Item::For(x) => binds(&x.body),
        Item::If(x) => binds(&x.then) || binds(&x.otherwise),
        _ => false,
    })
}

fn collect_elements(
    nest: &Nest,
    items: &[Item],
    defined: &dyn Fn(ArrayId) -> bool,
    found: &mut FxHashMap<LoadId, (String, bool)>,
) {
    for item in items {
        match item {
            Item::Load(x) => {
                found.insert(x.id, (nest.array(x.array).element.clone(), defined(x.array)));
            }
            Item::For(x) => collect_elements(nest, &x.body, defined, found),
            Item::If(x) => {
                collect_elements(nest, &x.then, defined, found);
                collect_elements(nest, &x.otherwise, defined, found);
            }
            _ => {}
        }
    }
}
