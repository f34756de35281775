//! Where each class can be had: the minimal segments below which (and in which) it is available, as the least fixed
//! point over all alternatives.
//!
//! An [`Alternative`] is one way to define a class: a node of the view, a block parameter, a statement's result.
//! A class is constructible in a segment iff one of its minimal segments dominates it; the sets are antichains and
//! nearly always hold one segment. A node can be *computed* where its operands are constructible, the state that it
//! reads is the planned live one, and its licence holds; a state does not stay live, so for readers that is not
//! everything below a minimal segment.

use super::keys::{Keys, Licence};
use super::segments::SegmentTree;
use super::states::{Fate, Plan};
use super::terms::Classes;
use super::{CostModel, Def};
use crate::egraph::{ClassId, EGraphView, Head, NodeId};
use crate::ir::cfg::Cfg;
use crate::skeleton::{CheckKey, SegmentId, SiteId, Skeleton, SkeletonArg, StatementKind};
use rewright_typeprop::{OpId, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};

/// One way to define a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AltId(pub(crate) u32);

impl AltId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The checks of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct GroupId(pub(crate) u32);

impl GroupId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One way to define a class.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub(crate) class: ClassId,
    pub(crate) def: Def,
    /// Classes that must be available, distinct.
    pub(crate) children: SmallVec<[ClassId; 3]>,
    /// What it reads.
    pub(crate) state: Option<ClassId>,
    pub(crate) licence: Licence,
    /// Of one execution. For parameters: already multiplied by frequency.
    pub(crate) cost: u64,
    /// The one segment in which it is defined; `None` for nodes.
    pub(crate) at: Option<SegmentId>,
    /// The checks that it performs.
    pub(crate) group: Option<GroupId>,
}

/// The checks of one instruction, next to each other.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Those that are not dropped, in order.
    pub(crate) sites: Vec<SiteId>,
    /// Some must be executed; otherwise the operation is executed iff its result is wanted.
    pub(crate) required: bool,
    /// Only executing the operation tells whether it traps.
    pub(crate) must_fuse: bool,
    /// What the operation needs.
    pub(crate) operands: SmallVec<[ClassId; 3]>,
    /// What the bare checks need, by site (unless only the operation tells).
    pub(crate) conditions: SmallVec<[ClassId; 2]>,
    /// Of one execution of the operation, and of the bare checks.
    pub(crate) fused: u64,
    pub(crate) bare: u64,
}

/// Something that must be available.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Demand {
    pub(crate) segment: SegmentId,
    pub(crate) class: ClassId,
}

/// What there is to choose from, given a state plan.
pub(crate) struct Choices<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) view: &'a EGraphView,
    pub(crate) universe: &'a Universe,
    pub(crate) cfg: &'a Cfg,
    pub(crate) tree: &'a SegmentTree<'a>,
    pub(crate) model: &'a CostModel,
    classes: Classes<'a>,
    pub(crate) plan: Plan,
    pub(crate) alternatives: Vec<Alternative>,
    /// By class.
    pub(crate) of_class: Vec<SmallVec<[AltId; 2]>>,
    /// By class: alternatives that have it as a child.
    pub(crate) users: Vec<Vec<AltId>>,
    /// By alternative: the minimal segments in which it can be computed; after [`Choices::fix`].
    pub(crate) minimal: Vec<SmallVec<[SegmentId; 1]>>,
    /// By class: the same for its best alternatives together.
    pub(crate) available: Vec<SmallVec<[SegmentId; 1]>>,
    pub(crate) groups: Vec<Group>,
    /// Demands of statements that are executed for certain and of terminators, without groups' own.
    pub(crate) roots: Vec<Demand>,
    /// By state class: segments in which it becomes live.
    tops: FxHashMap<ClassId, Vec<SegmentId>>,
    /// By state class: the rows in which it is live somewhere.
    rows: FxHashMap<ClassId, SmallVec<[u32; 1]>>,
    /// By the state of a site: the segment before it.
    sites: FxHashMap<ClassId, SegmentId>,
}

impl<'a> Choices<'a> {
    #[allow(clippy::too_many_arguments, reason = "the inputs of selection, each its own thing")]
    pub(crate) fn new(
        skeleton: &'a Skeleton,
        view: &'a EGraphView,
        universe: &'a Universe,
        cfg: &'a Cfg,
        tree: &'a SegmentTree<'a>,
        keys: &mut Keys,
        model: &'a CostModel,
        unavailable: &BTreeSet<OpId>,
        plan: Plan,
    ) -> Self {
        // Those of the view, then what is executed at each site.
        let classes = view.classes.len() + skeleton.statements.len();
        let mut choices = Choices {
            skeleton,
            view,
            universe,
            cfg,
            tree,
            model,
            classes: Classes::new(view),
            plan,
            alternatives: vec![],
            of_class: vec![SmallVec::new(); classes],
            users: vec![vec![]; classes],
            minimal: vec![],
            available: vec![SmallVec::new(); classes],
            groups: vec![],
            roots: vec![],
            tops: FxHashMap::default(),
            rows: FxHashMap::default(),
            sites: FxHashMap::default(),
        };
        choices.states();
        choices.statements(unavailable);
        choices.parameters();
        for id in 0..view.nodes.len() as u32 {
            choices.node(NodeId(id), keys, unavailable);
        }
        choices.fix();
        choices
    }

    pub(crate) fn alt(&self, id: AltId) -> &Alternative {
        &self.alternatives[id.index()]
    }

    /// The operands of a node that are values to be computed: neither `const` operands nor states.
    pub(crate) fn operands(&self, head: Head, children: &[ClassId]) -> Option<SmallVec<[ClassId; 3]>> {
        let mut operands: SmallVec<[ClassId; 3]> = SmallVec::new();
        let mut add = |class: ClassId| {
            if !operands.contains(&class) {
                operands.push(class);
            }
        };
        match head {
            Head::Op(id) => {
                let op = self.universe.ops.get(id);
                let values = children.len().checked_sub(usize::from(op.effects.takes_state()))?;
                for (i, class) in children[..values].iter().enumerate() {
                    let param = op.params.get(i);
                    if param.is_some_and(|p| p.constant) {
                        self.view.class(*class).constant?;
                    } else {
                        add(*class);
                    }
                }
            }
            _ => children.iter().for_each(|c| add(*c)),
        }
        Some(operands)
    }

    fn original_operands(&self, input: crate::egraph::InputId) -> SmallVec<[ClassId; 3]> {
        let node = &self.skeleton.input.nodes[input.index()];
        let children: SmallVec<[ClassId; 3]> = node.children.iter().map(|c| self.view.class_of(*c)).collect();
        self.operands(node.head, &children).unwrap_or_default()
    }

    fn add(&mut self, alternative: Alternative) {
        let id = AltId(self.alternatives.len() as u32);
        self.of_class[alternative.class.index()].push(id);
        for child in &alternative.children {
            self.users[child.index()].push(id);
        }
        self.alternatives.push(alternative);
    }

    fn states(&mut self) {
        for (index, row) in self.plan.live.iter().enumerate() {
            for block in self.cfg.reverse_post_order() {
                for segment in self.skeleton.segments(*block) {
                    let state = row[segment.index()];
                    let above = self.tree.parent(segment).map(|up| row[up.index()]);
                    if above != Some(state) {
                        self.tops.entry(state).or_default().push(segment);
                        let rows = self.rows.entry(state).or_default();
                        if !rows.contains(&(index as u32)) {
                            rows.push(index as u32);
                        }
                    }
                }
            }
        }
    }

    fn statements(&mut self, unavailable: &BTreeSet<OpId>) {
        let class_of = |input: &crate::egraph::InputId| self.view.class_of(*input);
        let (mut roots, mut results, mut calls) = (vec![], vec![], vec![]);
        for block in self.cfg.reverse_post_order() {
            let mut open: Option<crate::ir::InstId> = None;
            for site in self.skeleton.sites(*block) {
                let statement = self.skeleton.statement(site);
                let segment = self.skeleton.segment_before(site);
                let demand = |class| Demand { segment, class };
                let fate = self.plan.fates[site.index()];
                match &statement.kind {
                    StatementKind::Opaque { operands, .. } => {
                        roots.extend(operands.iter().map(class_of).map(demand));
                        for (index, (_, input)) in statement.results.iter().enumerate() {
                            let def = Def::Result { site, index: index as u32 };
                            results.push((class_of(input), def, site, None));
                        }
                    }
                    StatementKind::Write { out, .. } if fate == Fate::Keep => {
                        roots.extend(self.original_operands(*out).into_iter().map(demand));
                    }
                    StatementKind::Check { key, value: None, .. } if fate == Fate::Keep => {
                        if let CheckKey::Condition { tested, .. } = key {
                            roots.push(demand(class_of(tested)));
                        }
                    }
                    StatementKind::Check { key, value: Some(value), .. } if fate != Fate::Drop => {
                        let same = open == Some(statement.inst);
                        open = Some(statement.inst);
                        if !same {
                            if fate == Fate::Optional && !self.executable(*value, segment) {
                                open = None;
                                continue;
                            }
                            let node = self.view_node(*value);
                            self.groups.push(Group {
                                sites: vec![],
                                required: false,
                                must_fuse: false,
                                operands: self.original_operands(*value),
                                conditions: SmallVec::new(),
                                fused: self.model.node(self.universe, &self.classes, &node),
                                bare: 0,
                            });
                            let group = GroupId(self.groups.len() as u32 - 1);
                            for (index, (_, input)) in statement.results.iter().enumerate() {
                                let def = Def::Result { site, index: index as u32 };
                                results.push((class_of(input), def, site, Some(group)));
                            }
                        }
                        let Some(group) = self.groups.last_mut() else { continue };
                        group.sites.push(site);
                        group.required |= fate == Fate::Keep;
                        match key {
                            CheckKey::Condition { tested, .. } => {
                                group.conditions.push(class_of(tested));
                                group.bare += self.model.check;
                            }
                            CheckKey::Operation { .. } => group.must_fuse |= fate == Fate::Keep,
                        }
                    }
                    StatementKind::Call { node, .. } => {
                        calls.push((site, *node, fate));
                        if fate == Fate::Keep {
                            roots.push(demand(super::calls::executed(self.view, site)));
                        }
                    }
                    StatementKind::Write { .. } | StatementKind::Check { .. } => {}
                }
            }
            let segment = self.tree.last(*block);
            let operands = &self.skeleton.blocks[block.index()].operands;
            roots.extend(operands.iter().map(class_of).map(|class| Demand { segment, class }));
        }
        roots.sort();
        roots.dedup();
        self.roots = roots;
        for (site, node, fate) in calls {
            self.call(site, node, fate, unavailable);
        }
        for (class, def, site, group) in results {
            let (children, cost) = match group {
                None => (SmallVec::new(), 0),
                Some(group) => {
                    let group = &self.groups[group.index()];
                    let sunk = match (group.required, group.must_fuse) {
                        (_, true) => group.fused,
                        (true, false) => group.bare,
                        (false, false) => 0,
                    };
                    (group.operands.clone(), group.fused.saturating_sub(sunk))
                }
            };
            let at = Some(self.skeleton.segment_after(site));
            let licence = Licence::Free;
            self.add(Alternative { class, def, children, state: None, licence, cost, at, group });
        }
    }

    /// What may be executed at a site, and the result of that.
    fn call(&mut self, site: SiteId, node: crate::egraph::InputId, fate: Fate, unavailable: &BTreeSet<OpId>) {
        let StatementKind::Call { site: token, .. } = &self.skeleton.statement(site).kind else { return };
        let (state, class) = (self.view.class_of(*token), self.view.class_of(node));
        let executed = super::calls::executed(self.view, site);
        let (before, after) = (self.skeleton.segment_before(site), self.skeleton.segment_after(site));
        self.sites.insert(state, before);
        self.tops.entry(state).or_default().push(before);
        for id in self.view.members(class) {
            let node = self.view.node(id);
            let Head::Op(op) = node.head else { continue };
            let at_site = self.universe.ops.get(op).effects.is_sited() && node.children.last() == Some(&state);
            let Some(children) = self.operands(node.head, &node.children).filter(|_| at_site) else { continue };
            if children.contains(&class) || unavailable.contains(&op) {
                continue;
            }
            let cost = self.model.node(self.universe, &self.classes, node);
            self.add(Alternative {
                class: executed,
                def: Def::Node(id),
                children,
                state: Some(state),
                licence: Licence::Free,
                cost,
                at: None,
                group: None,
            });
        }
        if !self.skeleton.statement(site).results.is_empty() {
            // What is executed anyway costs its users nothing.
            let children = if fate == Fate::Keep { SmallVec::new() } else { SmallVec::from_slice(&[executed]) };
            let def = Def::Result { site, index: 0 };
            let licence = Licence::Free;
            self.add(Alternative { class, def, children, state: None, licence, cost: 0, at: Some(after), group: None });
        }
    }

    fn view_node(&self, input: crate::egraph::InputId) -> crate::egraph::Node<ClassId> {
        let node = &self.skeleton.input.nodes[input.index()];
        let children = node.children.iter().map(|c| self.view.class_of(*c)).collect();
        crate::egraph::Node { head: node.head, types: node.types.clone(), children }
    }

    /// Is the state that an original node reads the planned one there?
    fn executable(&self, input: crate::egraph::InputId, segment: SegmentId) -> bool {
        let node = self.view_node(input);
        match self.state_of(node.head, &node.children) {
            None => true,
            Some(state) => self.is_live(state, segment),
        }
    }

    fn state_of(&self, head: Head, children: &[ClassId]) -> Option<ClassId> {
        match head {
            Head::Op(id) if self.universe.ops.get(id).effects.takes_state() => children.last().copied(),
            _ => None,
        }
    }

    fn parameters(&mut self) {
        for block in self.cfg.reverse_post_order() {
            for (index, input) in self.skeleton.blocks[block.index()].params.iter().enumerate() {
                let class = self.view.class_of(*input);
                let index = index as u32;
                let moves = super::cost::moves(self.skeleton, self.view, self.cfg, *block, index, class);
                let cost = moves.iter().filter(|m| m.1).map(|m| self.cfg.frequency(m.0) * self.model.parameter).sum();
                self.add(Alternative {
                    class,
                    def: Def::Param { block: *block, index },
                    children: SmallVec::new(),
                    state: None,
                    licence: Licence::Free,
                    cost,
                    at: Some(self.tree.first(*block)),
                    group: None,
                });
            }
        }
    }

    fn node(&mut self, id: NodeId, keys: &mut Keys, unavailable: &BTreeSet<OpId>) {
        let node = self.view.node(id);
        let class = self.view.node_class[id.index()];
        let usable = match node.head {
            Head::Const(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
            Head::Leaf(_) | Head::Token(_) => false,
            Head::Op(op) => {
                let declared = self.universe.ops.get(op);
                declared.effects.is_value() && !declared.results.is_empty() && !unavailable.contains(&op)
            }
        };
        // A literal is the cheapest form of its class nearly everywhere, and never worse by more than a move.
        let literal = self.view.class(class).constant.is_some() && !matches!(node.head, Head::Const(_));
        if !usable || (literal && self.has_literal(class)) {
            return;
        }
        let Some(children) = self.operands(node.head, &node.children) else { return };
        if children.contains(&class) {
            return;
        }
        let licence = keys.licence(id);
        if licence == Licence::Never {
            return;
        }
        let state = self.state_of(node.head, &node.children);
        let cost = self.model.node(self.universe, &self.classes, node);
        self.add(Alternative { class, def: Def::Node(id), children, state, licence, cost, at: None, group: None });
    }

    fn has_literal(&self, class: ClassId) -> bool {
        self.view.class(class).nodes.iter().any(|n| matches!(self.view.node(*n).head, Head::Const(_)))
    }

    /// What is executed if the statement at a site is, for its own sake.
    fn companions(&self, site: SiteId) -> Vec<Demand> {
        let demand = |other: &SiteId| Demand {
            segment: self.skeleton.segment_before(*other),
            class: super::calls::executed(self.view, *other),
        };
        self.plan.licences.of(site).iter().map(demand).collect()
    }

    /// The classes that a parameter needs, each at the end of a predecessor; and what must be executed beside a
    /// statement whose result is wanted.
    pub(crate) fn arguments(&self, def: Def) -> Vec<Demand> {
        let (block, index) = match def {
            Def::Param { block, index } => (block, index),
            Def::Result { site, .. } => return self.companions(site),
            Def::Node(_) => return vec![],
        };
        let own = self.view.class_of(self.skeleton.blocks[block.index()].params[index as usize]);
        let mut demands = vec![];
        for edge in self.cfg.predecessors(block) {
            let edges = &self.skeleton.blocks[edge.from.index()].edges;
            let arg = edges.get(edge.slot as usize).and_then(|e| e.args.get(index as usize));
            if let Some(SkeletonArg::Node(input)) = arg {
                let class = self.view.class_of(*input);
                let demand = Demand { segment: self.tree.last(edge.from), class };
                // Passing itself on needs nothing but itself.
                if (class != own || !self.cfg.dominates(block, edge.from)) && !demands.contains(&demand) {
                    demands.push(demand);
                }
            }
        }
        demands
    }

    /// Is it available there?
    pub(crate) fn constructible(&self, class: ClassId, at: SegmentId) -> bool {
        self.available[class.index()].iter().any(|m| self.tree.dominates(*m, at))
    }

    pub(crate) fn is_live(&self, state: ClassId, at: SegmentId) -> bool {
        let rows = self.rows.get(&state);
        self.sites.get(&state) == Some(&at)
            || rows.is_some_and(|rows| rows.iter().any(|row| self.plan.live[*row as usize][at.index()] == state))
    }

    /// Can it be defined in exactly that segment?
    pub(crate) fn computable(&self, id: AltId, at: SegmentId) -> bool {
        let alt = self.alt(id);
        let operands_at = match alt.at {
            Some(fixed) if fixed != at => return false,
            Some(_) if alt.group.is_some() => SegmentId(at.0 - 1),
            _ => at,
        };
        alt.state.is_none_or(|state| self.is_live(state, at))
            && self.plan.licensed(self.tree, &alt.licence, at)
            && alt.children.iter().all(|c| self.constructible(*c, operands_at))
    }

    /// The least fixed point.
    fn fix(&mut self) {
        self.minimal = vec![SmallVec::new(); self.alternatives.len()];
        let mut queue: VecDeque<AltId> = (0..self.alternatives.len() as u32).map(AltId).collect();
        let mut queued = vec![true; self.alternatives.len()];
        let root = self.tree.root();
        let mut candidates = vec![];
        while let Some(id) = queue.pop_front() {
            queued[id.index()] = false;
            let alt = &self.alternatives[id.index()];
            candidates.clear();
            match alt.at {
                Some(at) => candidates.push(at),
                None => {
                    if alt.children.iter().any(|c| self.available[c.index()].is_empty()) {
                        continue;
                    }
                    candidates.push(root);
                    for child in &alt.children {
                        candidates.extend(self.available[child.index()].iter().copied());
                    }
                    if let Some(state) = alt.state {
                        candidates.extend(self.tops.get(&state).into_iter().flatten().copied());
                    }
                    if let Licence::Keys(keys) = &alt.licence {
                        let known = keys.iter().filter_map(|k| self.plan.known.get(k.0 as usize));
                        candidates.extend(known.flatten().map(|k| k.from));
                    }
                }
            }
            candidates.retain(|at| self.computable(id, *at));
            self.tree.minimal(&mut candidates);
            if candidates.as_slice() == self.minimal[id.index()].as_slice() {
                continue;
            }
            self.minimal[id.index()] = SmallVec::from_slice(&candidates);
            let class = self.alternatives[id.index()].class;
            let available = &self.available[class.index()];
            let before = available.len();
            candidates.extend(available.iter().copied());
            self.tree.minimal(&mut candidates);
            if candidates.len() == before && candidates.as_slice() == self.available[class.index()].as_slice() {
                continue;
            }
            self.available[class.index()] = SmallVec::from_slice(&candidates);
            for user in &self.users[class.index()] {
                if !queued[user.index()] {
                    queued[user.index()] = true;
                    queue.push_back(*user);
                }
            }
        }
    }

    /// Statements at sites that may go.
    pub(crate) fn optional_calls(&self) -> impl Iterator<Item = SiteId> + '_ {
        let sites = (0..self.skeleton.statements.len() as u32).map(SiteId);
        sites.filter(|site| {
            self.plan.fates[site.index()] == Fate::Optional
                && matches!(self.skeleton.statement(*site).kind, StatementKind::Call { .. })
        })
    }

    /// Demands that cannot be met, of everything that may turn out to be needed.
    pub(crate) fn missing(&self) -> Vec<Demand> {
        let mut demands = self.roots.clone();
        for group in self.groups.iter().filter(|g| g.required) {
            let segment = self.skeleton.segment_before(group.sites[0]);
            let classes = if group.must_fuse { &group.operands[..] } else { &group.conditions[..] };
            demands.extend(classes.iter().map(|class| Demand { segment, class: *class }));
        }
        for alt in &self.alternatives {
            demands.extend(self.arguments(alt.def));
        }
        demands.retain(|d| !self.constructible(d.class, d.segment));
        demands
    }

    /// Writes that were dropped and whose state is read by something that missing demands wait for.
    pub(crate) fn blame(&self, missing: &[Demand]) -> Vec<SiteId> {
        let mut work: Vec<ClassId> = missing.iter().map(|d| d.class).collect();
        let mut seen = vec![false; self.of_class.len()];
        let mut states = BTreeSet::new();
        while let Some(class) = work.pop() {
            if std::mem::replace(&mut seen[class.index()], true) {
                continue;
            }
            for alt in &self.of_class[class.index()] {
                let alt = self.alt(*alt);
                states.extend(alt.state);
                work.extend(alt.children.iter().copied());
            }
        }
        let dropped = |(site, statement): &(usize, &crate::skeleton::Statement)| {
            self.plan.fates[*site] == Fate::Drop
                && matches!(&statement.kind, StatementKind::Write { out, .. } if states.contains(&self.view.class_of(*out)))
        };
        let statements = self.skeleton.statements.iter().enumerate();
        statements.filter(dropped).map(|(site, _)| SiteId(site as u32)).collect()
    }
}
