//! Has every operand the type that its operation declares, and what stands for an original value that value's type?
//!
//! Asked of what was chosen: a copy has the type of what it is a copy of.

use super::{Validator, Violation};
use crate::egraph::{ClassId, Head, InputId};
use crate::select::Def;
use crate::skeleton::{CheckKey, SegmentId, SkeletonArg, SkeletonEdge, StatementKind};
use rewright_typeprop::Ty;

impl Validator<'_> {
    pub(super) fn types(&mut self) {
        let types = &self.universe.types;
        let mut found = vec![];
        for ((at, class), def) in &self.selection.defs {
            if let Def::Recurrence(id) = def
                && !self.carries_its_type(*id)
            {
                found.push(Violation::OperandType(*at, *class));
            }
            let Def::Node(id) = def else { continue };
            let Some(node) = self.view.nodes.get(id.index()) else { continue };
            let Head::Op(op) = node.head else { continue };
            let params = &self.universe.ops.get(op).params;
            for (i, operand) in self.split(node).0.iter().enumerate() {
                let Some(param) = params.get(i).or(params.last()).filter(|p| !p.constant) else { continue };
                let wanted = types.find_instance(&param.ty, &node.types);
                let fits = |ty| wanted.is_some_and(|wanted| types.is_subtype(ty, wanted));
                if self.chosen_type(*operand, *at).is_some_and(|ty| !fits(ty)) {
                    found.push(Violation::OperandType(*at, *class));
                }
            }
        }
        for (at, input) in self.original_uses() {
            let class = self.class_of(input);
            let own = self.skeleton.input.nodes[input.index()].ty(self.universe);
            let chosen = self.chosen_type(class, at).filter(|_| self.flow.is_reachable(at));
            if let (Some(own), Some(chosen)) = (own, chosen)
                && !types.is_subtype(chosen, own)
            {
                found.push(Violation::ValueType(at, class));
            }
        }
        found.extend(self.arguments());
        self.found.extend(found);
    }

    /// Does each argument have the type of the parameter that takes it?
    fn arguments(&self) -> Vec<Violation> {
        let mut found = vec![];
        for block in self.flow.reachable() {
            let at = self.skeleton.last_segment(block);
            for edge in &self.skeleton.blocks[block.index()].edges {
                for (input, param) in self.passed(edge) {
                    let class = self.class_of(input);
                    let wanted = self.skeleton.input.nodes[param.index()].ty(self.universe);
                    if let (Some(wanted), Some(chosen)) = (wanted, self.chosen_type(class, at))
                        && !self.universe.types.is_subtype(chosen, wanted)
                    {
                        found.push(Violation::ValueType(at, class));
                    }
                }
            }
        }
        found
    }

    /// What an edge carries to parameters that are defined, with those.
    fn passed(&self, edge: &SkeletonEdge) -> Vec<(InputId, InputId)> {
        let target = &self.skeleton.blocks[edge.target.index()];
        let mut taken = vec![];
        for (index, (arg, param)) in edge.args.iter().zip(&target.params).enumerate() {
            let def = Def::Param { block: edge.target, index: index as u32 };
            let key = (SegmentId(target.first_segment), self.class_of(*param));
            if let SkeletonArg::Node(input) = arg
                && self.selection.defs.get(&key) == Some(&def)
            {
                taken.push((*input, *param));
            }
        }
        taken
    }

    /// The type of what a use there takes; `None` where there is nothing to take, or no type.
    pub(super) fn chosen_type(&self, class: ClassId, at: SegmentId) -> Option<Ty> {
        let (mut class, mut at) = (class, at);
        // Copies of copies go to strict dominators or end; cycles are reported elsewhere.
        for _ in 0..=self.selection.defs.len() {
            at = self.nearest(class, at)?;
            let of_input = |input: InputId| self.skeleton.input.nodes[input.index()].ty(self.universe);
            match self.selection.defs.get(&(at, class))? {
                Def::Node(id) => {
                    let node = self.view.nodes.get(id.index())?;
                    match (node.head, node.children.first()) {
                        (Head::Copy, Some(source)) => class = *source,
                        _ => return node.ty(self.universe),
                    }
                }
                Def::Result { site, index } => {
                    let (_, input) = self.skeleton.statement(*site).results.get(*index as usize)?;
                    return of_input(*input);
                }
                Def::Recurrence(id) => return self.view.nodes.get(id.index())?.ty(self.universe),
                Def::Param { block, index } => {
                    return of_input(*self.skeleton.blocks[block.index()].params.get(*index as usize)?);
                }
            }
        }
        None
    }

    /// Uses of the original function's values by what is executed as it was: statements, terminators, edges.
    fn original_uses(&self) -> Vec<(SegmentId, InputId)> {
        let mut uses = vec![];
        for site in self.flow.sites(self.skeleton).into_iter().filter(|site| self.executed(*site)) {
            let at = self.skeleton.segment_before(site);
            let node = match &self.skeleton.statement(site).kind {
                StatementKind::Opaque { operands, .. } => {
                    uses.extend(operands.iter().map(|input| (at, *input)));
                    continue;
                }
                StatementKind::Check { value: Some(value), .. } if self.fused(site) => *value,
                StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } => {
                    uses.push((at, *tested));
                    continue;
                }
                // The operation that is executed at the site of a call or a write is a definition.
                StatementKind::Check { .. } | StatementKind::Call { .. } | StatementKind::Write { .. } => continue,
            };
            let node = &self.skeleton.input.nodes[node.index()];
            let state = usize::from(matches!(node.head, Head::Op(op) if self.universe.ops.get(op).takes_state()));
            uses.extend(node.children[..node.children.len() - state].iter().map(|input| (at, *input)));
        }
        for block in self.flow.reachable() {
            let (at, data) = (self.skeleton.last_segment(block), &self.skeleton.blocks[block.index()]);
            uses.extend(data.operands.iter().map(|input| (at, *input)));
            for edge in &data.edges {
                uses.extend(self.passed(edge).into_iter().map(|(input, _)| (at, input)));
            }
        }
        uses
    }
}
