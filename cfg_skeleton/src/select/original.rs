//! Which alternatives are the original's, and where the original has what they define.

use super::calls::executed_at;
use super::choices::{AltId, Alternative, Choices};
use super::selection::Def;
use crate::egraph::{ClassId, InputId, Node};
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What the original computes.
pub(crate) struct Originals {
    /// By alternative: it is the original's, not one that is there for rules alone.
    has: Vec<bool>,
    /// By class: the segments in which the original computes it, in order of layout.
    places: FxHashMap<ClassId, SmallVec<[SegmentId; 1]>>,
}

impl Originals {
    pub(crate) fn new(choices: &Choices) -> Self {
        let mut nodes: FxHashSet<(ClassId, Node<ClassId>)> = FxHashSet::default();
        let mut places: FxHashMap<ClassId, SmallVec<[SegmentId; 1]>> = FxHashMap::default();
        let (skeleton, view) = (choices.given.skeleton, choices.given.view);
        let own = instructions(choices);
        let values: FxHashSet<InputId> = own.iter().map(|(input, _)| *input).collect();
        let mut seen: FxHashSet<(InputId, SegmentId)> = FxHashSet::default();
        for (value, at) in own {
            // An input that no instruction computes by itself is part of the value that it is computed for.
            let mut work = vec![value];
            while let Some(input) = work.pop() {
                if !seen.insert((input, at)) {
                    continue;
                }
                let node = &skeleton.input.nodes[input.index()];
                let children = node.children.iter().map(|c| view.class_of(*c)).collect();
                nodes.insert((view.class_of(input), Node { head: node.head, types: node.types.clone(), children }));
                let places = places.entry(view.class_of(input)).or_default();
                if !places.contains(&at) {
                    places.push(at);
                }
                work.extend(node.children.iter().filter(|child| !values.contains(child)));
            }
        }
        let of = |alt: &Alternative| match alt.def {
            Def::Node(id) => match executed_at(view, alt.class) {
                Some(site) => is_of_statement(choices, site, view.node(id)),
                None => nodes.contains(&(alt.class, view.node(id).clone())),
            },
            Def::Result { .. } | Def::Param { .. } => true,
            Def::Recurrence(_) => false,
        };
        Originals { has: choices.alternatives.iter().map(of).collect(), places }
    }

    /// Is it the original's?
    pub(crate) fn has(&self, alt: AltId) -> bool {
        self.has[alt.index()]
    }

    /// Where the original computes it.
    pub(crate) fn places(&self, class: ClassId) -> &[SegmentId] {
        self.places.get(&class).map_or(&[], |p| &p[..])
    }
}

/// Is a node what the original executes at a site, whatever state it takes there?
fn is_of_statement(choices: &Choices, site: SiteId, node: &Node<ClassId>) -> bool {
    let input = match choices.given.skeleton.statement(site).kind {
        StatementKind::Call { node, .. } | StatementKind::Write { out: node, .. } => node,
        StatementKind::Opaque { .. } | StatementKind::Check { .. } => return false,
    };
    choices.view_node(input).is_same_but_for_state(node)
}

/// What instructions and terminators of the original are in the e-graph, and where they stand, in order of layout.
fn instructions(choices: &Choices) -> Vec<(InputId, SegmentId)> {
    let skeleton = choices.given.skeleton;
    let mut found = vec![];
    for block in &skeleton.layout {
        let data = &skeleton.blocks[block.index()];
        found.extend(data.params.iter().map(|param| (*param, SegmentId(data.first_segment))));
        let mut at = SegmentId(data.first_segment);
        for id in &choices.given.function.block(*block).insts {
            // The checks of an instruction come before its value.
            while at < skeleton.last_segment(*block) && skeleton.statement(skeleton.site_after(at)).inst == *id {
                at = SegmentId(at.0 + 1);
            }
            let results = choices.given.function.inst(*id).results.iter();
            found.extend(results.filter_map(|v| Some((skeleton.value_input[v.index()]?, at))));
        }
        found.extend(data.operands.iter().map(|operand| (*operand, skeleton.last_segment(*block))));
    }
    found
}
