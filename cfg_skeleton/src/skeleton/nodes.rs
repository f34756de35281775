//! Making the nodes of an e-graph input: hash-consed, and from terms.

use crate::egraph::{EGraphInput, Head, InputId, LeafId, Node, TokenId};
use rewright_typeprop::eval::literal;
use rewright_typeprop::{Model, OpId, Term, Ty, TypeExpr, Universe};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// An input in the making.
pub(super) struct Nodes<'a> {
    universe: &'a Universe,
    truth: Option<OpId>,
    input: EGraphInput,
    known: FxHashMap<Node<InputId>, InputId>,
    leaves: u32,
    tokens: u32,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(universe: &'a Universe, truth: Option<OpId>) -> Self {
        Nodes { universe, truth, input: EGraphInput::default(), known: FxHashMap::default(), leaves: 0, tokens: 0 }
    }

    pub(super) fn finish(self) -> EGraphInput {
        self.input
    }

    /// The node; equal ones are added once.
    pub(super) fn add(&mut self, head: Head, types: SmallVec<[Ty; 2]>, children: SmallVec<[InputId; 3]>) -> InputId {
        let node = Node { head, types, children };
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = self.input.add(node.clone());
        self.known.insert(node, id);
        id
    }

    /// A node that was added.
    pub(super) fn node(&self, id: InputId) -> &Node<InputId> {
        &self.input.nodes[id.index()]
    }

    pub(super) fn leaf(&mut self, ty: Ty) -> InputId {
        self.leaves += 1;
        self.input.add(Node { head: Head::Leaf(LeafId(self.leaves - 1)), types: smallvec![ty], children: smallvec![] })
    }

    pub(super) fn token(&mut self) -> InputId {
        self.tokens += 1;
        self.input.add(Node { head: Head::Token(TokenId(self.tokens - 1)), types: smallvec![], children: smallvec![] })
    }

    pub(super) fn constant(&mut self, ty: Ty, n: i64) -> InputId {
        self.add(Head::Const(n), smallvec![ty], smallvec![])
    }

    /// The results of a node: itself, or its projections.
    pub(super) fn results(&mut self, node: InputId, types: &[Ty]) -> SmallVec<[InputId; 1]> {
        if let [_] = types {
            return smallvec![node];
        }
        (0u32..).zip(types).map(|(i, ty)| self.add(Head::Proj(i), smallvec![*ty], smallvec![node])).collect()
    }

    /// A term over the operands and type arguments of an operation. `None` where it reads a state, evaluates, or
    /// needs a type that no stage has interned. Terms come from packs and are as deep as their source.
    pub(super) fn term(&mut self, term: &Term, targs: &[Ty], operands: &[InputId]) -> Option<InputId> {
        let find = |expr: &TypeExpr| self.universe.types.find_instance(expr, targs);
        match term {
            Term::Var(i) => operands.get(*i as usize).copied(),
            Term::Lit(lit, ty) => {
                let ty = find(ty)?;
                let n = literal(lit, self.universe.types.lane(ty)?)?;
                Some(self.constant(ty, n))
            }
            Term::Call { op, targs: inner, args, state: None } => {
                let types = inner.iter().map(find).collect::<Option<_>>()?;
                let args = args.iter().map(|a| self.term(a, targs, operands)).collect::<Option<_>>()?;
                Some(self.add(Head::Op(*op), types, args))
            }
            Term::Call { .. } | Term::Eval(_) => None,
        }
    }

    /// "`x` is zero", by whichever operation means equality; `None` where `x` is no modelled integer.
    pub(super) fn is_zero(&mut self, x: InputId, ty: Ty) -> Option<InputId> {
        if !self.universe.types.scalar(ty)?.is_int() {
            return None;
        }
        let eq = self.universe.binary(Model::Eq, ty)?;
        let zero = self.constant(ty, 0);
        Some(self.add(Head::Op(eq), smallvec![ty], smallvec![x, zero]))
    }

    /// What a branch sees of a value; the value itself where no operation says it of its type.
    pub(super) fn truth(&mut self, x: InputId) -> InputId {
        let types = &self.universe.types;
        let of = |op: OpId| {
            let ty = self.input.nodes[x.index()].ty(self.universe).filter(|ty| types.scalar(*ty).is_some())?;
            let bound = self.universe.ops.get(op).tparams.first()?.bound.as_ref();
            let fits = bound.is_none_or(|b| types.find_instance(b, &[ty]).is_some_and(|b| types.is_subtype(ty, b)));
            fits.then_some((op, ty))
        };
        match self.truth.and_then(of) {
            Some((op, ty)) => self.add(Head::Op(op), smallvec![ty], smallvec![x]),
            None => x,
        }
    }

    /// Both of two truth values, by whichever operation is the bitwise "and" of their type.
    pub(super) fn both(&mut self, x: InputId, y: InputId) -> Option<InputId> {
        let ty = self.ty(x)?;
        let op = self.universe.binary(Model::And, ty)?;
        Some(self.add(Head::Op(op), smallvec![ty], smallvec![x, y]))
    }

    /// The operands of a comparison, and of the negation of one.
    pub(super) fn compared(&self, x: InputId) -> Option<&[InputId]> {
        let node = &self.input.nodes[x.index()];
        let Head::Op(op) = node.head else { return None };
        let is_zero = |id: &InputId| self.input.nodes[id.index()].head == Head::Const(0);
        let model = self.universe.ops.get(op).model.filter(|m| m.is_comparison())?;
        match &*node.children {
            [inner, zero] if model == Model::Eq && is_zero(zero) => self.compared(*inner).or(Some(&node.children)),
            operands => Some(operands),
        }
    }

    /// The type of a node.
    pub(super) fn ty(&self, x: InputId) -> Option<Ty> {
        self.input.nodes[x.index()].ty(self.universe)
    }
}
