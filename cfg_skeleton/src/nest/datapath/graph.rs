//! The values of two programs as one graph: equal values have one number.

use super::super::affine::{Affine, Var};
use super::super::eval::{Scalar, operate};
use super::super::input::{initial, mix};
use super::super::value::{Constant, Number, Operation, Pool, Value, ValueId, commutes, is_never_poison};
use super::super::{ArrayId, Item, LoadId, Nest};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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

/// An operation without its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct OpHead {
    pub(super) name: String,
    pub(super) flags: Vec<String>,
    pub(super) from: String,
    pub(super) ty: String,
}

/// How names of the second program are those of the first one.
pub(crate) struct Renaming {
    pub(crate) vars: FxHashMap<Var, Affine>,
    pub(crate) loads: FxHashMap<LoadId, LoadId>,
}

/// Inputs on which values are computed to tell apart those that differ.
const SAMPLES: usize = 16;

/// A value on each input; `None` is poison.
type Samples = [Option<u128>; SAMPLES];

/// The values of two programs.
pub(super) struct Graph<'a> {
    pool: &'a Pool,
    nodes: IndexSet<Node>,
    heads: IndexSet<OpHead>,
    /// Whether the node is certainly no poison.
    defined: Vec<bool>,
    samples: Vec<Samples>,
    /// Types of what loads of the first program read, and whether that is certainly no poison.
    elements: FxHashMap<LoadId, (String, bool)>,
    arguments: Vec<String>,
    /// Whether variables are made of data.
    binds: bool,
    left: FxHashMap<ValueId, NodeId>,
    /// Nodes from here on are not of the first program.
    own: usize,
    /// Operations of the first program that promise something, by what they are without.
    with_flags: FxHashMap<(OpHead, SmallVec<[NodeId; 3]>), Vec<NodeId>>,
}

impl<'a> Graph<'a> {
    /// A graph of the values of the first program that these are made from.
    pub(super) fn new(pool: &'a Pool, nest: &Nest, roots: impl Iterator<Item = ValueId>) -> Self {
        let mut elements = FxHashMap::default();
        let safe = made_defined(pool, nest);
        collect_elements(nest, &nest.items, &safe, &mut elements);
        let mut graph = Graph {
            pool,
            nodes: IndexSet::new(),
            heads: IndexSet::new(),
            defined: vec![],
            samples: vec![],
            elements,
            arguments: nest.arguments.clone(),
            binds: binds(&nest.items),
            left: FxHashMap::default(),
            own: 0,
            with_flags: FxHashMap::default(),
        };
        let mut left: FxHashMap<ValueId, NodeId> = FxHashMap::default();
        for value in reachable(pool, roots) {
            let node = graph.node(value, true, &|id| left[&id], &Clone::clone, &Some);
            let id = graph.insert(node);
            left.insert(value, id);
        }
        graph.left = left;
        for id in 0..graph.nodes.len() as NodeId {
            if let Node::Op(head, operands) = graph.get(id)
                && !graph.head(*head).flags.is_empty()
            {
                let key = (OpHead { flags: vec![], ..graph.head(*head).clone() }, operands.clone());
                graph.with_flags.entry(key).or_default().push(id);
            }
        }
        graph.own = graph.nodes.len();
        graph
    }

    /// The number of a value of the first program.
    pub(super) fn left(&self, value: ValueId) -> Option<NodeId> {
        self.left.get(&value).copied()
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn head(&self, head: u32) -> &OpHead {
        &self.heads[head as usize]
    }

    pub(super) fn is_defined(&self, id: NodeId) -> bool {
        self.defined[id as usize]
    }

    /// Whether the first program has the node.
    pub(super) fn is_own(&self, id: NodeId) -> bool {
        (id as usize) < self.own
    }

    /// Forgets the second program.
    pub(super) fn reset(&mut self) {
        self.nodes.truncate(self.own);
        self.defined.truncate(self.own);
        self.samples.truncate(self.own);
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
        if let Node::Op(head, operands) = &node
            && self.nodes.get_index_of(&node).is_none_or(|id| id >= self.own)
            && let Some(promising) = self.promising(*head, operands)
        {
            return promising;
        }
        self.insert(node)
    }

    /// The same operation of the first program, which promises more.
    fn promising(&self, head: u32, operands: &[NodeId]) -> Option<NodeId> {
        let head = self.head(head);
        let key = (OpHead { flags: vec![], ..head.clone() }, SmallVec::from_slice(operands));
        let found = self.with_flags.get(&key)?.iter();
        found.copied().find(|id| match self.get(*id) {
            Node::Op(other, _) => head.flags.iter().all(|flag| self.head(*other).flags.contains(flag)),
            _ => false,
        })
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
                if operands.len() == 2 && commutes(name) {
                    operands.sort_unstable();
                }
                let head = OpHead { name: name.clone(), flags: flags.clone(), from: from.clone(), ty: ty.clone() };
                Node::Op(self.heads.insert_full(head).0 as u32, operands)
            }
        }
    }

    fn insert(&mut self, node: Node) -> NodeId {
        let (id, new) = self.nodes.insert_full(node);
        if new {
            let defined = self.defines(id as NodeId);
            self.defined.push(defined);
        }
        id as NodeId
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

    /// Computes all nodes that have no samples yet.
    pub(super) fn sample(&mut self) {
        for id in self.samples.len()..self.nodes.len() {
            let samples = std::array::from_fn(|n| self.sampled(id as NodeId, n));
            self.samples.push(samples);
        }
    }

    fn sampled(&self, id: NodeId, n: usize) -> Option<u128> {
        let ty = self.type_of(id).unwrap_or_default();
        let unknown = |salt: u64| {
            let hash = mix(mix(salt) ^ n as u64);
            Some(Scalar::named(ty).map_or(u128::from(hash), |scalar| initial(n as u64, 0, &[hash as i64], scalar)))
        };
        match self.get(id) {
            Node::Constant(Constant { number: Number::Bits(bits), .. }) => Some(*bits),
            Node::Op(head, operands) => {
                let head_number = *head;
                let OpHead { name, flags, from, ty } = self.head(head_number);
                let values: Vec<Option<u128>> = operands.iter().map(|o| self.samples[*o as usize][n]).collect();
                let op = Operation {
                    name: name.clone(),
                    flags: flags.clone(),
                    from: from.clone(),
                    ty: ty.clone(),
                    operands: vec![],
                };
                use super::super::eval::Stop;
                match operate(&op, &values) {
                    Ok(value) => value,
                    Err(Stop::Undefined(_)) => None,
                    // A function of its operands.
                    Err(Stop::Unknown(_)) => {
                        let add = |hash, value: &Option<u128>| match value {
                            Some(bits) => mix(hash ^ *bits as u64 ^ (bits >> 64) as u64),
                            None => mix(hash ^ 1),
                        };
                        unknown(values.iter().fold(u64::from(head_number), add))
                    }
                }
            }
            _ => unknown(u64::from(id) << 20),
        }
    }

    /// What nodes that are equal have in common; nodes that differ mostly do not.
    pub(super) fn signature(&self, id: NodeId) -> u64 {
        let scalar = self.type_of(id).and_then(Scalar::named);
        self.samples[id as usize].iter().fold(7, |hash, value| {
            let bits = value.map_or(3, |bits| scalar.map_or(bits, |scalar| scalar.canonical(bits)));
            mix(hash ^ bits as u64 ^ (bits >> 64) as u64 ^ u64::from(value.is_none()) << 63)
        })
    }

    /// Whether the samples allow that the second node stands for the first one.
    pub(super) fn may_stand_for(&self, left: NodeId, right: NodeId) -> bool {
        let scalar = self.type_of(left).and_then(Scalar::named);
        let agrees = |(l, r): (&Option<u128>, &Option<u128>)| match (l, r) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(l), Some(r)) => scalar.map_or(l == r, |scalar| scalar.same(*l, *r)),
        };
        self.type_of(left) == self.type_of(right)
            && self.samples[left as usize].iter().zip(&self.samples[right as usize]).all(agrees)
    }

    /// The nodes of the first program by type and signature.
    pub(super) fn by_signature(&self) -> FxHashMap<(String, u64), Vec<NodeId>> {
        let mut found: FxHashMap<(String, u64), Vec<NodeId>> = FxHashMap::default();
        for id in 0..self.own as NodeId {
            if let Some(ty) = self.type_of(id) {
                found.entry((ty.to_string(), self.signature(id))).or_default().push(id);
            }
        }
        found
    }
}

/// All values that these are made from, operands first.
pub(super) fn reachable(pool: &Pool, roots: impl Iterator<Item = ValueId>) -> Vec<ValueId> {
    let mut rest: Vec<ValueId> = roots.collect();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = vec![];
    while let Some(value) = rest.pop() {
        if seen.insert(value) {
            found.push(value);
            if let Value::Op(op) = pool.get(value) {
                rest.extend(&op.operands);
            }
        }
    }
    // Operands are added to a pool before what is made from them.
    found.sort_unstable();
    found
}

/// Whether what the program stores in an array of an argument, or carries in loops, is never poison.
fn made_defined(pool: &Pool, nest: &Nest) -> impl Fn(ArrayId) -> bool {
    let mut stored = vec![];
    stores(&nest.items, &mut stored);
    let roots = stored.iter().map(|(_, value)| *value);
    let safe = reachable(pool, roots).into_iter().all(|value| match pool.get(value) {
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
        // What nothing has written is undefined.
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
