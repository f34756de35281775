//! The alternatives of each class, from the view, the skeleton and a plan of its states.

use super::calls;
use super::check_identity::{CheckIdentities, Speculation};
use super::choices::{AltId, Alternative, Choices, Demand, Group, GroupId};
use super::cost::{self, CostAndSize};
use super::cost_model::CostModel;
use super::memory_plan::{Plan, StatementPlan};
use super::moves::Moves;
use super::segments::SegmentTree;
use super::selection::Def;
use super::terms::Classes;
use super::usable::Usable;
use super::writes::Writes;
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node, NodeId};
use crate::ir::InstId;
use crate::skeleton::{CheckKey, SegmentId, SiteId, StatementKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl<'a> Choices<'a> {
    pub(crate) fn new(
        given: Saturated<'a>,
        tree: &'a SegmentTree<'a>,
        keys: &mut CheckIdentities,
        model: &'a CostModel,
        usable: &Usable,
        plan: Plan,
        moves: Moves<'a>,
    ) -> Self {
        let Saturated { skeleton, view, .. } = given;
        // Those of the view, then what is executed at each site.
        let classes = view.classes.len() + skeleton.statements.len();
        let mut choices = Choices {
            given,
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
            own: FxHashMap::default(),
            moves,
        };
        choices.states();
        choices.statements(keys, usable);
        choices.parameters();
        let literals = literals(view);
        for id in 0..view.nodes.len() as u32 {
            choices.node(NodeId(id), keys, usable, &literals);
        }
        choices.fix();
        choices
    }

    fn states(&mut self) {
        self.own_states();
        for (index, row) in self.plan.live.iter().enumerate() {
            for block in self.given.cfg.reverse_post_order() {
                for segment in self.given.skeleton.segments(*block) {
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

    /// States that loads read at their sites, where memory is what it is in the original, or what they see of it.
    fn own_states(&mut self) {
        let Saturated { skeleton, view, .. } = self.given;
        for site in self.given.cfg.reverse_post_order().iter().flat_map(|block| skeleton.sites(*block)) {
            let StatementKind::Check { own: Some(own), .. } = skeleton.statement(site).kind else { continue };
            let before = skeleton.segment_before(site);
            let (state, row) = (view.class_of(own.state), own.region.index());
            let original = view.class_of(skeleton.live[row][before.index()]);
            self.own.insert(state, original);
            let live = self.plan.live[row][before.index()];
            if live == original || live == view.class_of(own.seen) {
                self.sites.insert(state, before);
                self.tops.entry(state).or_default().push(before);
            }
        }
    }

    fn statements(&mut self, keys: &CheckIdentities, usable: &Usable) {
        let class_of = |input: &InputId| self.given.view.class_of(*input);
        let (mut roots, mut results, mut calls, mut writes) = (vec![], vec![], vec![], vec![]);
        for block in self.given.cfg.reverse_post_order() {
            let mut open: Option<InstId> = None;
            for site in self.given.skeleton.sites(*block) {
                let statement = self.given.skeleton.statement(site);
                let segment = self.given.skeleton.segment_before(site);
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
                    StatementKind::Write { .. } if fate == StatementPlan::Keep => {
                        writes.push(site);
                        roots.push(demand(calls::executed(self.given.view, site)));
                    }
                    StatementKind::Check { key, value: None, .. } if fate == StatementPlan::Keep => {
                        if let CheckKey::Condition { tested, .. } = key {
                            roots.push(demand(class_of(tested)));
                        }
                    }
                    StatementKind::Check { key, value: Some(value), .. } if fate != StatementPlan::Drop => {
                        let same = open == Some(statement.inst);
                        open = Some(statement.inst);
                        if !same {
                            if fate == StatementPlan::Optional && !self.executable(*value, segment) {
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
                                fused: self.model.node(self.given.universe, &self.classes, &node),
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
                        group.required |= fate == StatementPlan::Keep;
                        match key {
                            CheckKey::Condition { tested, .. } => {
                                group.conditions.push(class_of(tested));
                                group.bare += self.model.check;
                            }
                            CheckKey::Operation { .. } => group.must_fuse |= fate == StatementPlan::Keep,
                        }
                    }
                    StatementKind::Call { node, .. } => {
                        calls.push((site, *node, fate));
                        if fate == StatementPlan::Keep {
                            roots.push(demand(calls::executed(self.given.view, site)));
                        }
                    }
                    StatementKind::Write { .. } | StatementKind::Check { .. } => {}
                }
            }
            let segment = self.tree.last(*block);
            let operands = &self.given.skeleton.blocks[block.index()].operands;
            roots.extend(operands.iter().map(class_of).map(|class| Demand { segment, class }));
        }
        roots.sort();
        roots.dedup();
        self.roots = roots;
        for (state, before) in self.moves.states() {
            self.tops.entry(state).or_default().push(before);
        }
        for (site, node, fate) in calls {
            self.call(site, node, fate, keys, usable);
        }
        for site in writes {
            self.write(site, keys, usable);
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
            let at = Some(self.given.skeleton.segment_after(site));
            let (speculation, cost) = (Speculation::Always, CostAndSize::of(1, cost));
            self.add(Alternative { class, def, children, state: None, speculation, cost, at, group });
        }
    }

    /// Adds the alternatives for the site of a write that is not dropped.
    fn write(&mut self, site: SiteId, keys: &CheckIdentities, usable: &Usable) {
        let StatementKind::Write { region, .. } = &self.given.skeleton.statement(site).kind else { return };
        let before = self.given.skeleton.segment_before(site);
        let Some(state) = self.plan.live.get(region.index()).map(|row| row[before.index()]) else { return };
        let nodes = Writes::new(self.given, keys, usable).nodes(site, state, &self.plan.writable(self.tree, before));
        self.execute(site, state, nodes);
    }

    /// Adds the alternatives for the site of a call that gives a value: other calls that leave the same state behind and
    /// give the same.
    fn other_calls(&mut self, site: SiteId, keys: &CheckIdentities, usable: &Usable) {
        let StatementKind::Call { after: Some(after), .. } = &self.given.skeleton.statement(site).kind else { return };
        let before = self.given.skeleton.segment_before(site);
        let Some(state) = self.plan.live.get(after.region.index()).map(|row| row[before.index()]) else { return };
        let nodes = Writes::new(self.given, keys, usable).calls(site, state);
        self.execute(site, state, nodes);
    }

    /// Adds nodes of states as what may be executed at a site where a state is live. Of those that cost the same, the first
    /// one is taken.
    fn execute(&mut self, site: SiteId, state: ClassId, nodes: Vec<NodeId>) {
        let view = self.given.view;
        for id in nodes {
            let node = view.node(id);
            let Some(children) = self.operands(node.head, &node.children) else { continue };
            let cost = CostAndSize::of(1, self.model.node(self.given.universe, &self.classes, node));
            self.add(Alternative {
                class: calls::executed(view, site),
                def: Def::Node(id),
                children,
                state: Some(state),
                speculation: Speculation::Always,
                cost,
                at: Some(self.given.skeleton.segment_before(site)),
                group: None,
            });
        }
    }

    /// What may be executed at a site, and the result of that.
    fn call(&mut self, site: SiteId, node: InputId, fate: StatementPlan, keys: &CheckIdentities, usable: &Usable) {
        let StatementKind::Call { site: token, .. } = &self.given.skeleton.statement(site).kind else { return };
        if fate == StatementPlan::Drop || self.moves.moves(site) {
            return;
        }
        let (state, class) = (self.given.view.class_of(*token), self.given.view.class_of(node));
        let executed = calls::executed(self.given.view, site);
        let (before, after) = (self.given.skeleton.segment_before(site), self.given.skeleton.segment_after(site));
        self.sites.insert(state, before);
        self.tops.entry(state).or_default().push(before);
        for id in self.given.view.members(class) {
            let node = self.given.view.node(id);
            let Head::Op(op) = node.head else { continue };
            let at_site = self.given.universe.ops.get(op).is_sited() && node.children.last() == Some(&state);
            let Some(children) = self.operands(node.head, &node.children).filter(|_| at_site) else { continue };
            let is_right = calls::is_right_in(self.given, site, node, &self.plan.live);
            // An operand may be of the class of its result: a call gives back what it was given.
            if !is_right || !usable.operation(op) {
                continue;
            }
            let cost = CostAndSize::of(1, self.model.node(self.given.universe, &self.classes, node));
            self.add(Alternative {
                class: executed,
                def: Def::Node(id),
                children,
                state: Some(state),
                speculation: Speculation::Always,
                cost,
                at: None,
                group: None,
            });
        }
        self.other_calls(site, keys, usable);
        if !self.given.skeleton.statement(site).results.is_empty() {
            // A statement that is executed anyway costs its users nothing.
            let children =
                if fate == StatementPlan::Keep { SmallVec::new() } else { SmallVec::from_slice(&[executed]) };
            let def = Def::Result { site, index: 0 };
            let speculation = Speculation::Always;
            self.add(Alternative {
                class,
                def,
                children,
                state: None,
                speculation,
                cost: CostAndSize::default(),
                at: Some(after),
                group: None,
            });
        }
    }

    fn parameters(&mut self) {
        for block in self.given.cfg.reverse_post_order() {
            for (index, input) in self.given.skeleton.blocks[block.index()].params.iter().enumerate() {
                let class = self.given.view.class_of(*input);
                let index = index as u32;
                let moves = cost::moves(self.given, *block, index, class);
                let cost = moves
                    .iter()
                    .filter(|m| m.1)
                    .map(|m| CostAndSize::of(self.given.cfg.edge_frequency(m.0, *block), self.model.parameter))
                    .sum();
                self.add(Alternative {
                    class,
                    def: Def::Param { block: *block, index },
                    children: SmallVec::new(),
                    state: None,
                    speculation: Speculation::Always,
                    cost,
                    at: Some(self.tree.first(*block)),
                    group: None,
                });
            }
        }
    }

    fn node(&mut self, id: NodeId, keys: &mut CheckIdentities, usable: &Usable, literals: &[bool]) {
        let node = self.given.view.node(id);
        let class = self.given.view.node_class[id.index()];
        let usable = match node.head {
            Head::Const(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
            Head::Leaf(_) | Head::Token(_) => false,
            Head::Op(op) => {
                let declared = self.given.universe.ops.get(op);
                if declared.in_loop.is_some() {
                    return self.carry(id, class, usable, literals);
                }
                let is_value = declared.effects.is_value() || self.moves.may_execute(node);
                is_value && !declared.results.is_empty() && !declared.is_for_matching() && usable.operation(op)
            }
        };
        // A literal is the cheapest form of its class nearly everywhere, and never worse by more than a move.
        if !usable || (literals[class.index()] && !matches!(node.head, Head::Const(_))) {
            return;
        }
        let Some(children) = self.operands(node.head, &node.children) else { return };
        if children.contains(&class) {
            return;
        }
        let speculation = keys.speculation(id);
        if speculation == Speculation::Never {
            return;
        }
        let state = self.state_of(node.head, &node.children);
        let cost = CostAndSize::of(1, self.model.definition(self.given.universe, &self.classes, class, node));
        self.add(Alternative { class, def: Def::Node(id), children, state, speculation, cost, at: None, group: None });
    }

    /// A node that says what a loop carries: a new parameter of the loop's header, if it is a recurrence.
    fn carry(&mut self, id: NodeId, class: ClassId, usable: &Usable, literals: &[bool]) {
        let Some(r) = self.recurrence(id) else { return };
        if literals[class.index()] || !usable.operation(r.step) {
            return;
        }
        let alternative = AltId(self.alternatives.len() as u32);
        for demand in self.carried(&r) {
            self.users[demand.class.index()].push(alternative);
        }
        self.add(Alternative {
            class,
            def: Def::Recurrence(id),
            children: SmallVec::new(),
            state: None,
            speculation: Speculation::Always,
            cost: cost::recurrence(self.model, self.given, &self.classes, class, &r),
            at: Some(self.tree.first(r.of.header)),
            group: None,
        });
    }

    pub(super) fn add(&mut self, alternative: Alternative) {
        let id = AltId(self.alternatives.len() as u32);
        self.of_class[alternative.class.index()].push(id);
        for child in &alternative.children {
            self.users[child.index()].push(id);
        }
        self.alternatives.push(alternative);
    }

    fn original_operands(&self, input: InputId) -> SmallVec<[ClassId; 3]> {
        let node = &self.given.skeleton.input.nodes[input.index()];
        let children: SmallVec<[ClassId; 3]> = node.children.iter().map(|c| self.given.view.class_of(*c)).collect();
        self.operands(node.head, &children).unwrap_or_default()
    }

    pub(super) fn view_node(&self, input: InputId) -> Node<ClassId> {
        let node = &self.given.skeleton.input.nodes[input.index()];
        let children = node.children.iter().map(|c| self.given.view.class_of(*c)).collect();
        Node { head: node.head, types: node.types.clone(), children }
    }

    /// Is the state that an original node reads the planned one there?
    fn executable(&self, input: InputId, segment: SegmentId) -> bool {
        let node = self.view_node(input);
        match self.state_of(node.head, &node.children) {
            None => true,
            Some(state) => self.is_live(state, segment),
        }
    }

    fn state_of(&self, head: Head, children: &[ClassId]) -> Option<ClassId> {
        match head {
            Head::Op(id) if self.given.universe.ops.get(id).takes_state() => children.last().copied(),
            _ => None,
        }
    }
}

/// By class: does it hold a literal?
fn literals(view: &EGraphView) -> Vec<bool> {
    let mut literals = vec![false; view.classes.len()];
    for (node, class) in view.nodes.iter().zip(&view.node_class) {
        literals[class.index()] |= matches!(node.head, Head::Const(_));
    }
    literals
}
