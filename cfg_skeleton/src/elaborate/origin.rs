//! Which instructions of the original function a node stands for: for source locations and access flags.

use crate::addresses::base;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use crate::ir::{Access, BlockId, Function, Inst, InstKind, RegionId};
use crate::skeleton::{Skeleton, Statement, StatementKind};
use rewright_typeprop::{Repr, Universe};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// An instruction of the original function.
struct Computed<'a> {
    /// What it computes.
    input: InputId,
    inst: &'a Inst,
    block: BlockId,
    /// Its place in the block.
    position: usize,
}

/// The original function, by what its instructions compute.
pub(super) struct Originals<'a> {
    f: &'a Function,
    universe: &'a Universe,
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    /// Instructions by the class of their value, in layout order.
    by_class: FxHashMap<ClassId, Vec<Computed<'a>>>,
    /// All accesses with their nodes (for a write: the state after it), in layout order.
    accesses: Vec<(InputId, Access)>,
    /// Which row of states a class of states belongs to; filled on demand.
    rows: OnceCell<FxHashMap<ClassId, usize>>,
    regions: usize,
}

impl<'a> Originals<'a> {
    pub(super) fn new(f: &'a Function, universe: &'a Universe, skeleton: &'a Skeleton, view: &'a EGraphView) -> Self {
        let mut by_class: FxHashMap<ClassId, Vec<Computed<'a>>> = FxHashMap::default();
        let mut accesses = vec![];
        let placed = |b: &BlockId| {
            let insts = f.block(*b).insts.iter().enumerate();
            insts.map(move |(position, id)| (*b, position, f.inst(*id))).collect::<Vec<_>>()
        };
        for (block, position, inst) in skeleton.layout.iter().flat_map(placed) {
            let input = inst.results.first().and_then(|v| skeleton.value_input[v.index()]);
            let Some(mut input) = input.filter(|_| !matches!(inst.kind, InstKind::Const(_))) else { continue };
            if let Head::Proj(_) = skeleton.input.nodes[input.index()].head {
                input = skeleton.input.nodes[input.index()].children[0];
            }
            by_class.entry(view.class_of(input)).or_default().push(Computed { input, inst, block, position });
            if let InstKind::Op { access: Some(access), .. } = inst.kind {
                accesses.push((input, access));
            }
        }
        for statement in &skeleton.statements {
            if let (StatementKind::Call { node, .. }, true) = (&statement.kind, statement.results.is_empty()) {
                // Right before its statement, after all else there.
                let (inst, position) = (f.inst(statement.inst), usize::MAX);
                let computed = Computed { input: *node, inst, block: statement.block, position };
                by_class.entry(view.class_of(*node)).or_default().push(computed);
            }
            if let StatementKind::Write { out, .. } = statement.kind
                && let InstKind::Op { access: Some(access), .. } = f.inst(statement.inst).kind
            {
                accesses.push((out, access));
            }
        }
        let regions = f.regions.len().max(1);
        Originals { f, universe, skeleton, view, by_class, accesses, rows: OnceCell::new(), regions }
    }

    /// An instruction that this node is, of the same block if one is there.
    pub(super) fn instruction(&self, class: ClassId, node: NodeId, block: BlockId) -> Option<&'a Inst> {
        let node = self.view.node(node);
        let all = self.by_class.get(&class)?;
        let here = all.iter().filter(|computed| computed.block == block);
        here.chain(all).find(|computed| self.original(computed.input) == *node).map(|computed| computed.inst)
    }

    /// Where in a block the original computes a class.
    pub(super) fn position(&self, class: ClassId, block: BlockId) -> Option<usize> {
        let computed = self.by_class.get(&class)?.iter().find(|computed| computed.block == block)?;
        Some(computed.position)
    }

    /// What is known of an access that is made elsewhere than the program did: what all its originals have in
    /// common. Those are the accesses of the class through the same address if there are any, else all of the class
    /// (the address was rewritten), else any through the same address; a function that a rule brings in needs none.
    pub(super) fn access(&self, class: ClassId, node: NodeId) -> Option<Access> {
        let node = self.view.node(node);
        let address = self.address(node);
        let of_class = || {
            let list = self.by_class.get(&class).into_iter().flatten();
            list.filter_map(|computed| match computed.inst.kind {
                InstKind::Op { access: Some(access), .. } => Some((computed.input, access)),
                _ => None,
            })
        };
        let same = |(input, _): &(InputId, Access)| self.address(&self.original(*input)) == address;
        let merge = |a: Option<Access>, (_, b): (InputId, Access)| Some(a.map_or(b, |a| common(a, b)));
        let mut found = of_class().filter(same).fold(None, merge);
        found = found.or_else(|| of_class().fold(None, merge));
        found = found.or_else(|| self.accesses.iter().copied().filter(same).fold(None, merge));
        let mut access = found.or_else(|| self.called(node))?;
        if let Some(row) = node.children.last().and_then(|state| self.rows().get(state)) {
            access.region = RegionId((row % self.regions) as u32);
            access.readonly = *row >= self.regions;
        }
        Some(access)
    }

    /// The access of what is executed in place of a statement. Of other bytes less is known: they are as little aligned as
    /// can be, and stay where they are.
    pub(super) fn access_at(&self, statement: &Statement, node: &Node<ClassId>) -> Option<Access> {
        let InstKind::Op { access: Some(access), .. } = self.f.inst(statement.inst).kind else { return None };
        let StatementKind::Write { out, .. } = statement.kind else { return Some(access) };
        let original = self.original(out);
        let is_same = self.address(node) == self.address(&original) && self.bits(node) == self.bits(&original);
        Some(if is_same { access } else { Access { movable: false, readonly: false, aligned: false, ..access } })
    }

    /// How many bits a store writes, if it is one.
    fn bits(&self, node: &Node<ClassId>) -> Option<u32> {
        let Head::Op(op) = node.head else { return None };
        let width = || node.types.first().and_then(|ty| self.universe.types.repr(*ty)).map(Repr::total_bits);
        self.universe.ops.get(op).model.and_then(|model| model.memory())?.bits.or_else(width)
    }

    /// The access of an operation that is no load or store, but a function: there is nothing to know of it.
    fn called(&self, node: &Node<ClassId>) -> Option<Access> {
        let Head::Op(op) = node.head else { return None };
        let access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: false };
        self.universe.ops.get(op).model.is_none().then_some(access)
    }

    fn rows(&self) -> &FxHashMap<ClassId, usize> {
        self.rows.get_or_init(|| {
            let mut rows = FxHashMap::default();
            for (row, states) in self.skeleton.live.iter().enumerate() {
                rows.extend(states.iter().map(|state| (self.view.class_of(*state), row)));
            }
            rows
        })
    }

    fn original(&self, input: InputId) -> Node<ClassId> {
        let node = &self.skeleton.input.nodes[input.index()];
        let children = node.children.iter().map(|c| self.view.class_of(*c)).collect();
        Node { head: node.head, types: node.types.clone(), children }
    }

    /// The place of an access: base and offset for operations with a meaning in memory; otherwise the operation and all
    /// operands but the state.
    fn address(&self, node: &Node<ClassId>) -> (Option<Head>, Vec<ClassId>, i64) {
        let operands = &node.children[..node.children.len().saturating_sub(1)];
        let memory = match node.head {
            Head::Op(op) => self.universe.ops.get(op).model.and_then(|m| m.memory()),
            _ => None,
        };
        match (memory, operands) {
            (Some(_), [address, .., offset]) => match self.view.class(*offset).constant {
                Some(n) => {
                    let (base, offset) = base(self.view, self.universe, *address, n);
                    (None, vec![base], offset)
                }
                None => (None, vec![*address, *offset], 0),
            },
            _ => (Some(node.head), operands.to_vec(), 0),
        }
    }
}

/// What two accesses have in common.
fn common(a: Access, b: Access) -> Access {
    Access {
        region: if a.region == b.region { a.region } else { RegionId(0) },
        trap: a.trap.or(b.trap),
        movable: a.movable && b.movable,
        readonly: a.readonly && b.readonly,
        aligned: a.aligned && b.aligned,
    }
}
