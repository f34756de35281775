//! Which instructions of the original function a node stands for: for source locations and access flags.

use crate::egraph::{ClassId, EGraphView, Head, InputId, NodeId};
use crate::ir::{Access, Function, Inst, InstKind, RegionId};
use crate::skeleton::Skeleton;
use rustc_hash::FxHashMap;

/// Instructions by the class of their value, in layout order.
pub(super) struct Originals<'a> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    by_class: FxHashMap<ClassId, Vec<(InputId, &'a Inst)>>,
}

impl<'a> Originals<'a> {
    pub(super) fn new(f: &'a Function, skeleton: &'a Skeleton, view: &'a EGraphView) -> Self {
        let mut by_class: FxHashMap<ClassId, Vec<(InputId, &'a Inst)>> = FxHashMap::default();
        let insts = skeleton.layout.iter().flat_map(|b| &f.block(*b).insts).map(|i| f.inst(*i));
        for inst in insts.filter(|i| !matches!(i.kind, InstKind::Const(_))) {
            let Some(mut input) = inst.results.first().and_then(|v| skeleton.value_input[v.index()]) else { continue };
            if let Head::Proj(_) = skeleton.input.nodes[input.index()].head {
                input = skeleton.input.nodes[input.index()].children[0];
            }
            by_class.entry(view.class_of(input)).or_default().push((input, inst));
        }
        Originals { skeleton, view, by_class }
    }

    /// The front end's number of an instruction that this node is.
    pub(super) fn origin(&self, class: ClassId, node: NodeId) -> Option<u32> {
        let originals = self.by_class.get(&class)?;
        originals.iter().find(|(input, _)| self.same(*input, node, usize::MAX)).and_then(|(_, inst)| inst.origin)
    }

    /// What is known of an access that is made elsewhere than the program did: what all its originals have in
    /// common. Those are the accesses of the class through the same address if there are any, else all of the class
    /// (the address was rewritten), else those through the same address in any state.
    pub(super) fn access(&self, class: ClassId, node: NodeId) -> Option<Access> {
        let operands = self.view.node(node).children.len() - 1;
        let accesses = |list: &[(InputId, &Inst)], same: bool| {
            let matching = list.iter().filter(|(input, _)| !same || self.same(*input, node, operands));
            matching
                .filter_map(|(_, inst)| match inst.kind {
                    InstKind::Op { access, .. } => access,
                    _ => None,
                })
                .reduce(common)
        };
        let of_class = self.by_class.get(&class).map_or(&[][..], Vec::as_slice);
        accesses(of_class, true).or_else(|| accesses(of_class, false)).or_else(|| {
            // Rare: a load that a rule made in a state in which the program did not read this address. The result
            // does not depend on the order.
            let keys = (0..self.view.classes.len() as u32).map(ClassId);
            keys.filter_map(|c| accesses(self.by_class.get(&c)?, true)).reduce(common)
        })
    }

    /// Is the input node this node, as far as its first `children` children?
    fn same(&self, input: InputId, node: NodeId, children: usize) -> bool {
        let (a, b) = (&self.skeleton.input.nodes[input.index()], self.view.node(node));
        a.head == b.head
            && a.types == b.types
            && a.children.len() == b.children.len()
            && a.children.iter().zip(&b.children).take(children).all(|(a, b)| self.view.class_of(*a) == *b)
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
