//! Where definitions stand: the segments for one node's uses, and `Selection -> Selection` changes that keep the
//! program and do not raise its cost.

use super::choices::{AltId, Choices, Demand};
use super::{Def, Selection, StatementChoice, cost};
use crate::egraph::ClassId;
use crate::ir::BlockId;
use crate::skeleton::{CheckKey, SegmentId, SiteId, StatementKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Segments in which a node is computed so that all uses have it: the nearest common dominator, or several where
/// that is executed more often than the uses together; then up to where it is executed less often.
pub(crate) fn segments(choices: &Choices, alt: AltId, top: SegmentId, mut uses: Vec<SegmentId>) -> Vec<SegmentId> {
    let tree = choices.tree;
    uses.sort();
    uses.dedup();
    let mut placed = vec![];
    let mut work = if uses.is_empty() { vec![] } else { vec![uses] };
    while let Some(group) = work.pop() {
        let Some(mut at) = group.iter().copied().reduce(|a, b| tree.common(a, b)) else { continue };
        let block = tree.block(at);
        let mut blocks: Vec<BlockId> = group.iter().map(|s| tree.block(*s)).collect();
        blocks.dedup();
        if blocks.len() > 1 {
            let below: u64 = blocks.iter().map(|b| choices.given.cfg.frequency(*b)).fold(0, u64::saturating_add);
            if tree.frequency(at) > below {
                let mut parts: BTreeMap<Option<BlockId>, Vec<SegmentId>> = BTreeMap::new();
                for segment in group {
                    parts.entry(tree.branch_below(block, segment)).or_default().push(segment);
                }
                work.extend(parts.into_values());
                continue;
            }
        }
        while !choices.computable(alt, at) {
            match tree.parent(at) {
                Some(up) if at != top => at = up,
                _ => break,
            }
        }
        while let Some(up) = tree.rarer(at) {
            if !tree.dominates(top, up) || !choices.computable(alt, up) {
                break;
            }
            at = up;
        }
        placed.push(at);
    }
    placed.sort();
    placed.dedup();
    placed
}

/// Definitions by class, to find the one that a use takes.
pub(crate) struct Definitions {
    of_class: FxHashMap<ClassId, Vec<(SegmentId, Def)>>,
}

impl Definitions {
    pub(crate) fn new(selection: &Selection) -> Self {
        let mut of_class: FxHashMap<ClassId, Vec<(SegmentId, Def)>> = FxHashMap::default();
        for ((segment, class), def) in &selection.defs {
            of_class.entry(*class).or_default().push((*segment, *def));
        }
        Definitions { of_class }
    }

    /// The nearest definition that dominates the segment.
    pub(crate) fn nearest(&self, choices: &Choices, class: ClassId, at: SegmentId) -> Option<(SegmentId, Def)> {
        let tree = choices.tree;
        let list = self.of_class.get(&class)?.iter().copied();
        list.filter(|(s, _)| tree.dominates(*s, at)).max_by_key(|(s, _)| tree.order(*s))
    }
}

/// Removes nodes whose class a strict dominator defines already, then everything that nobody uses; computes the cost.
pub(crate) fn tidy(choices: &Choices, mut selection: Selection) -> Selection {
    let tree = choices.tree;
    let definitions = Definitions::new(&selection);
    selection.defs.retain(|(at, class), def| {
        let above = tree.parent(*at).and_then(|up| definitions.nearest(choices, *class, up));
        !matches!(def, Def::Node(_)) || above.is_none()
    });
    prune(choices, &mut selection);
    selection.cost = cost::total(choices.model, choices.given, &selection);
    selection
}

/// What a statement needs, as it is executed.
fn statement_demands(choices: &Choices, site: SiteId, choice: StatementChoice, out: &mut Vec<Demand>) {
    let StatementChoice::Keep { fused } = choice else { return };
    let skeleton = choices.given.skeleton;
    let segment = skeleton.segment_before(site);
    let mut need = |class| out.push(Demand { segment, class });
    let original = |input: crate::egraph::InputId| {
        let node = &skeleton.input.nodes[input.index()];
        let children: SmallVec<[ClassId; 3]> = node.children.iter().map(|c| choices.given.view.class_of(*c)).collect();
        choices.operands(node.head, &children).unwrap_or_default()
    };
    match &skeleton.statement(site).kind {
        StatementKind::Opaque { operands, .. } => {
            operands.iter().for_each(|o| need(choices.given.view.class_of(*o)));
        }
        StatementKind::Write { out, .. } => original(*out).into_iter().for_each(need),
        StatementKind::Call { .. } => need(super::calls::executed(choices.given.view, site)),
        StatementKind::Check { value: Some(value), .. } if fused => original(*value).into_iter().for_each(need),
        StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } => {
            need(choices.given.view.class_of(*tested));
        }
        StatementKind::Check { .. } => {}
    }
}

/// What statements and terminators need.
fn demands(choices: &Choices, selection: &Selection) -> Vec<Demand> {
    let mut demands = vec![];
    for block in choices.given.cfg.reverse_post_order() {
        for site in choices.given.skeleton.sites(*block) {
            statement_demands(choices, site, selection.statements[site.index()], &mut demands);
        }
        let segment = choices.tree.last(*block);
        let operands = choices.given.skeleton.blocks[block.index()].operands.iter();
        demands.extend(operands.map(|o| Demand { segment, class: choices.given.view.class_of(*o) }));
    }
    demands
}

/// What statements, terminators and parameters need: all uses that have a place of their own, which no move changes.
pub(super) fn roots(choices: &Choices, selection: &Selection) -> Vec<Demand> {
    let mut roots = demands(choices, selection);
    roots.extend(selection.defs.values().flat_map(|def| choices.arguments(*def)));
    roots
}

/// All uses, from statements and terminators through definitions; `use_of` is called once per use.
pub(super) fn walk(
    choices: &Choices,
    selection: &Selection,
    definitions: &Definitions,
    mut use_of: impl FnMut(Demand, (SegmentId, Def)),
) {
    let mut work = demands(choices, selection);
    let mut seen: FxHashSet<(SegmentId, ClassId)> = FxHashSet::default();
    while let Some(demand) = work.pop() {
        let Some((at, def)) = definitions.nearest(choices, demand.class, demand.segment) else { continue };
        use_of(demand, (at, def));
        if !seen.insert((at, demand.class)) {
            continue;
        }
        if let Def::Node(node) = def {
            let node = choices.given.view.node(node);
            let operands = choices.operands(node.head, &node.children).unwrap_or_default();
            work.extend(operands.into_iter().map(|class| Demand { segment: at, class }));
        }
        work.extend(choices.arguments(def));
    }
}

/// Removes definitions that nobody uses, and checks that are executed only for a result that nobody uses.
pub(super) fn prune(choices: &Choices, selection: &mut Selection) {
    loop {
        let definitions = Definitions::new(selection);
        let mut used: FxHashSet<(SegmentId, ClassId)> = FxHashSet::default();
        walk(choices, selection, &definitions, |demand, (at, _)| {
            used.insert((at, demand.class));
        });
        selection.defs.retain(|key, _| used.contains(key));
        let mut wanted: FxHashSet<SiteId> = FxHashSet::default();
        for def in selection.defs.values() {
            if let Def::Result { site, .. } = def {
                wanted.insert(*site);
                wanted.extend(choices.plan.licences.of(*site));
            }
        }
        let mut changed = false;
        for group in choices.groups.iter().filter(|g| !g.required) {
            let site = group.sites[0];
            let choice = &mut selection.statements[site.index()];
            if *choice != StatementChoice::Drop && !wanted.contains(&site) {
                *choice = StatementChoice::Drop;
                changed = true;
            }
        }
        for site in choices.optional_calls() {
            let choice = &mut selection.statements[site.index()];
            if *choice != StatementChoice::Drop && !wanted.contains(&site) {
                *choice = StatementChoice::Drop;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Moves nodes down to where their uses are, each one's operands after it, as long as that is not executed more often.
pub(crate) fn sink(choices: &Choices, selection: Selection) -> Selection {
    let definitions = Definitions::new(&selection);
    let mut uses: BTreeMap<(SegmentId, ClassId), Vec<SegmentId>> = BTreeMap::new();
    for demand in roots(choices, &selection) {
        if let Some((at, _)) = definitions.nearest(choices, demand.class, demand.segment) {
            uses.entry((at, demand.class)).or_default().push(demand.segment);
        }
    }
    let operands = |at: SegmentId, def: Def| -> Vec<(SegmentId, ClassId)> {
        let Def::Node(node) = def else { return vec![] };
        let node = choices.given.view.node(node);
        let operands = choices.operands(node.head, &node.children).unwrap_or_default();
        let found = operands.into_iter().filter_map(|c| Some((definitions.nearest(choices, c, at)?.0, c)));
        found.collect()
    };
    // Users before operands: the reverse of the order in which a depth-first walk leaves them.
    let mut order = vec![];
    let mut seen: FxHashSet<(SegmentId, ClassId)> = FxHashSet::default();
    for key in selection.defs.keys() {
        let mut work = vec![(*key, false)];
        while let Some((key, leave)) = work.pop() {
            if leave {
                order.push(key);
            } else if seen.insert(key)
                && let Some(def) = selection.defs.get(&key)
            {
                work.push((key, true));
                work.extend(operands(key.0, *def).into_iter().map(|k| (k, false)));
            }
        }
    }
    let mut moved = Selection { defs: BTreeMap::new(), ..selection.clone() };
    for key in order.into_iter().rev() {
        let def = selection.defs[&key];
        let own = uses.remove(&key).unwrap_or_default();
        let segments = match (def, choices.alternative(key.1, def)) {
            (Def::Node(_), Some(alt)) => segments(choices, alt, key.0, own),
            _ => vec![key.0],
        };
        for at in segments {
            moved.defs.insert((at, key.1), def);
            for operand in operands(key.0, def) {
                uses.entry(operand).or_default().push(at);
            }
        }
    }
    let moved = tidy(choices, moved);
    if moved.cost <= selection.cost { moved } else { selection }
}
