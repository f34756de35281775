//! Is a selection a program that means what the original means? Believes nothing that the rest of this directory
//! computes: dominance is computed anew from the skeleton's edges, states by executing the statements that are
//! kept, what may be speculated from the checks that are executed. Only the prices ([`CostModel`]) and the view's
//! equalities are taken as given.
//!
//! [`validate()`] lists everything that is wrong. A selection without violations is
//!
//! * *well-formed*: every definition defines its class where it says it does;
//! * *complete*: what is pinned is kept, and every use finds a definition that dominates it;
//! * *typed*: every operand has the type that is declared, and what stands for an original value has its type;
//! * *acyclic*: within a segment no definition waits for itself;
//! * *true to objects*: what is executed in place of a statement that only allocates stands below it, and is executed
//!   once at most for each time that the statement is;
//! * *right about states*: wherever a region is observed its live state is the original one, a write is executed
//!   in a state in which it gives what it gave, and what reads a state stands where that state is live;
//! * *right about traps*: a check that is gone cannot trap, or an equal one is executed before it on every path or
//!   next after it; and nothing that may trap is executed where no check allows it;
//! * *honest*: its cost is what it claims.

mod calls;
mod checks;
mod flow;
mod memory_plan;
mod moves;
mod recurrences;
mod types;
mod writes;

use super::cost;
use super::cost_model::CostModel;
use super::selection::{Def, Selection, StatementChoice};
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, InputId, Node};
use crate::ir::{BlockId, RegionId};
use crate::skeleton::{CheckKey, SegmentId, SiteId, Skeleton, SkeletonArg, StatementKind};
use flow::Flow;
use rewright_typeprop::Universe;
use rustc_hash::FxHashMap;

/// Something that is wrong with a selection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// There is not one choice for each statement.
    #[error("there is not one choice for each statement")]
    StatementCount,
    /// A definition names a segment, class, node, statement or parameter that does not exist or is unreachable.
    #[error("definition of class {} in segment {} names what does not exist", .1.0, .0.0)]
    OutOfRange(SegmentId, ClassId),
    /// A definition defines another class than it says.
    #[error("definition of class {} in segment {} defines another class", .1.0, .0.0)]
    WrongClass(SegmentId, ClassId),
    /// A definition stands in a segment in which its statement's result or parameter does not begin.
    #[error("class {} is not given in segment {}", .1.0, .0.0)]
    WrongSegment(SegmentId, ClassId),
    /// A node that computes no value: a leaf, a state, or an operation that has to be a statement.
    #[error("class {} in segment {} is defined by what computes no value", .1.0, .0.0)]
    NotAValue(SegmentId, ClassId),
    /// A `const` operand is not a constant.
    #[error("a const operand of class {} in segment {} is no constant", .1.0, .0.0)]
    NotConstant(SegmentId, ClassId),
    /// The result of a statement that is not executed as its operation.
    #[error("segment {} takes a result of statement {}, which is not executed as its operation", .0.0, .1.0)]
    NoResult(SegmentId, SiteId),
    /// A statement that must stay is dropped.
    #[error("statement {} is pinned, and dropped", .0.0)]
    PinnedDropped(SiteId),
    /// A check that only its operation can perform is to be executed without it.
    #[error("statement {} cannot be executed in this form", .0.0)]
    Fusion(SiteId),
    /// A recurrence of what is no loop that one edge enters and one edge closes.
    #[error("class {} in segment {} is a recurrence of what is no simple loop", .1.0, .0.0)]
    NoLoop(SegmentId, ClassId),
    /// A use that no definition dominates.
    #[error("segment {} uses class {}, which nothing that dominates it defines", .0.0, .1.0)]
    Unavailable(SegmentId, ClassId),
    /// A node one of whose operands has not the type that its operation declares.
    #[error("an operand of class {} in segment {} has another type than is declared", .1.0, .0.0)]
    OperandType(SegmentId, ClassId),
    /// What stands for an original value has not its type.
    #[error("segment {} uses class {} as a value of another type", .0.0, .1.0)]
    ValueType(SegmentId, ClassId),
    /// A definition that waits for itself.
    #[error("class {} waits for itself in segment {}", .1.0, .0.0)]
    Cyclic(SegmentId, ClassId),
    /// A region is observed in another state than the original one.
    #[error("segment {} observes region {} in another state", .0.0, .1.0)]
    Observed(SegmentId, RegionId),
    /// A write is executed in a state in which it need not give what it gave.
    #[error("statement {} writes in a state in which it need not give what it gave", .0.0)]
    WriteInOtherState(SiteId),
    /// Paths meet in different states.
    #[error("paths to block {} meet in different states of region {}", .0.0, .1.0)]
    StatesMeet(BlockId, RegionId),
    /// A definition reads a state that is not live.
    #[error("segment {} computes class {} from a state that is not live", .0.0, .1.0)]
    NotLive(SegmentId, ClassId),
    /// A check is gone, and nothing covers it.
    #[error("check {} is gone, and nothing covers it", .0.0)]
    Uncovered(SiteId),
    /// A statement is gone that no rule licenses to go.
    #[error("statement {} is gone, and no rule licenses that", .0.0)]
    NotRemovable(SiteId),
    /// The operation that is executed at a site does not stand there.
    #[error("segment {} executes something that does not stand at site {}", .0.0, .1.0)]
    NotAtSite(SegmentId, SiteId),
    /// The operation that is executed in place of a statement that only allocates stands where the statement need not have
    /// been reached.
    #[error("segment {} executes statement {}, which does not dominate it", .0.0, .1.0)]
    MovedTooFar(SegmentId, SiteId),
    /// The operation that is executed in place of a statement that only allocates takes an operand that is no number,
    /// and something may have been written since.
    #[error("segment {} executes statement {}, past something that may write", .0.0, .1.0)]
    MovedOverWrite(SegmentId, SiteId),
    /// A statement that only allocates is executed again before the original comes to it again.
    #[error("statement {} is executed twice, in segments {} and {}", .0.0, .1.0, .2.0)]
    ExecutedTwice(SiteId, SegmentId, SegmentId),
    /// A definition may trap where no check allows it.
    #[error("segment {} computes class {}, which may trap there", .0.0, .1.0)]
    Unlicensed(SegmentId, ClassId),
    /// The claimed cost, and the true one.
    #[error("the cost is claimed to be {} and is {}", .0, .1)]
    Cost(u64, u64),
}

/// What is wrong with a selection for `original`, under the default prices.
pub fn validate(given: Saturated, selection: &Selection) -> Vec<Violation> {
    check(given, &CostModel::default(), selection)
}

/// What is wrong. Of the control flow, nothing but frequencies is taken from `given.cfg`.
pub fn check(given: Saturated, model: &CostModel, selection: &Selection) -> Vec<Violation> {
    let Saturated { universe, skeleton, view, .. } = given;
    if selection.statements.len() != skeleton.statements.len() {
        return vec![Violation::StatementCount];
    }
    let flow = Flow::new(skeleton);
    let mut checker = Validator {
        skeleton,
        view,
        universe,
        selection,
        flow,
        planned: vec![],
        truths: checks::truths(view, universe),
        defs: FxHashMap::default(),
        places: FxHashMap::default(),
        found: vec![],
    };
    checker.facts();
    checker.definitions();
    checker.statements();
    checker.moves();
    checker.states();
    checker.traps();
    checker.uses();
    checker.types();
    checker.cycles();
    let true_cost = cost::total(model, given, selection);
    if true_cost != selection.cost {
        checker.found.push(Violation::Cost(selection.cost, true_cost));
    }
    checker.found
}

struct Validator<'a> {
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    universe: &'a Universe,
    selection: &'a Selection,
    flow: Flow,
    /// By row and segment: the state that is live in the program that the selection describes.
    planned: Vec<Vec<ClassId>>,
    /// By class: where it is defined.
    defs: FxHashMap<ClassId, Vec<SegmentId>>,
    /// By class of integers: the class of its truth, where some node says it.
    truths: FxHashMap<ClassId, ClassId>,
    /// By fact: where it is proved.
    places: checks::Places,
    found: Vec<Violation>,
}

impl Validator<'_> {
    fn class_of(&self, input: InputId) -> ClassId {
        self.view.class_of(input)
    }

    fn executed(&self, site: SiteId) -> bool {
        matches!(self.selection.statements[site.index()], StatementChoice::Keep { .. })
    }

    fn fused(&self, site: SiteId) -> bool {
        let value = matches!(self.skeleton.statement(site).kind, StatementKind::Check { value: Some(_), .. });
        value && self.selection.statements[site.index()] == StatementChoice::Keep { fused: true }
    }

    /// An original node as it stands in the view.
    fn original(&self, input: InputId) -> Node<ClassId> {
        let node = &self.skeleton.input.nodes[input.index()];
        let children = node.children.iter().map(|c| self.class_of(*c)).collect();
        Node { head: node.head, types: node.types.clone(), children }
    }

    /// Splits the children of a node into operands and the state that it takes.
    fn split<'n>(&self, node: &'n Node<ClassId>) -> (&'n [ClassId], Option<ClassId>) {
        match (node.head, node.children.split_last()) {
            (Head::Op(op), Some((state, operands))) if self.universe.ops.get(op).takes_state() => {
                (operands, Some(*state))
            }
            _ => (&node.children, None),
        }
    }

    /// Operands that must be computed, and those that must be constants.
    fn operands(&self, node: &Node<ClassId>) -> (Vec<ClassId>, Vec<ClassId>) {
        let (all, _) = self.split(node);
        let Head::Op(op) = node.head else { return (all.to_vec(), vec![]) };
        let params = &self.universe.ops.get(op).params;
        let constant = |i: usize| params.get(i).is_some_and(|p| p.constant);
        let pick = |wanted: bool| {
            let operands = all.iter().enumerate().filter(|(i, _)| constant(*i) == wanted);
            operands.map(|(_, class)| *class).collect()
        };
        (pick(false), pick(true))
    }

    fn definitions(&mut self) {
        for ((segment, class), def) in &self.selection.defs {
            let (segment, class) = (*segment, *class);
            let site = self.site_of(class);
            let known = class.index() < self.view.classes.len() || site.is_some();
            let reachable = self.flow.is_reachable(segment) && known;
            let violation = match def {
                _ if site.is_some() && reachable => site.and_then(|site| self.misplaced(site, segment, *def)),
                _ if !reachable => Some(Violation::OutOfRange(segment, class)),
                Def::Node(id) => match self.view.nodes.get(id.index()) {
                    None => Some(Violation::OutOfRange(segment, class)),
                    Some(_) if self.view.node_class[id.index()] != class => Some(Violation::WrongClass(segment, class)),
                    Some(node) if !self.computes(node) => Some(Violation::NotAValue(segment, class)),
                    Some(node) => {
                        let constant = |c: &ClassId| self.view.class(*c).constant.is_some();
                        let ok = self.operands(node).1.iter().all(constant);
                        (!ok).then_some(Violation::NotConstant(segment, class))
                    }
                },
                Def::Result { site, index } => match self.skeleton.statements.get(site.index()) {
                    None => Some(Violation::OutOfRange(segment, class)),
                    Some(statement) => match statement.results.get(*index as usize) {
                        None => Some(Violation::OutOfRange(segment, class)),
                        Some((_, input)) if self.class_of(*input) != class => {
                            Some(Violation::WrongClass(segment, class))
                        }
                        Some(_) if self.skeleton.segment_after(*site) != segment => {
                            Some(Violation::WrongSegment(segment, class))
                        }
                        Some(_) => {
                            let check = matches!(statement.kind, StatementKind::Check { .. });
                            let gives = if check { self.fused(*site) } else { self.executed(*site) };
                            (!gives).then_some(Violation::NoResult(segment, *site))
                        }
                    },
                },
                Def::Recurrence(id) => self.recurrence_violation(*id, segment, class),
                Def::Param { block, index } => {
                    let data = self.skeleton.blocks.get(block.index());
                    match data.and_then(|b| b.params.get(*index as usize)) {
                        None => Some(Violation::OutOfRange(segment, class)),
                        Some(input) if self.class_of(*input) != class => Some(Violation::WrongClass(segment, class)),
                        Some(_) if data.is_some_and(|b| b.first_segment != segment.0) => {
                            Some(Violation::WrongSegment(segment, class))
                        }
                        Some(_) => None,
                    }
                }
            };
            match violation {
                Some(violation) => self.found.push(violation),
                None => self.defs.entry(class).or_default().push(segment),
            }
        }
    }

    fn computes(&self, node: &Node<ClassId>) -> bool {
        match node.head {
            Head::Const(_) | Head::Opaque(_) | Head::Proj(_) | Head::Copy => true,
            Head::Leaf(_) | Head::Token(_) => false,
            Head::Op(op) => {
                let op = self.universe.ops.get(op);
                let is_value = op.effects.is_value() || self.allocates_for(node).is_some();
                is_value && !op.results.is_empty() && !op.is_for_matching()
            }
        }
    }

    fn statements(&mut self) {
        for site in self.flow.sites(self.skeleton) {
            let statement = self.skeleton.statement(site);
            let (executed, fused) = (self.executed(site), self.fused(site));
            let pinned = matches!(statement.kind, StatementKind::Opaque { .. });
            if pinned && !executed {
                self.found.push(Violation::PinnedDropped(site));
            }
            let is_pinned = matches!(statement.kind, StatementKind::Call { after: None, .. });
            if is_pinned && !self.only_allocates(site) && !executed && !self.may_go(site) {
                self.found.push(Violation::NotRemovable(site));
            }
            let key = match &statement.kind {
                StatementKind::Check { key, observes: true, .. } => Some(key),
                _ => None,
            };
            let fusion = executed && !fused && matches!(key, Some(CheckKey::Operation { .. }));
            if fusion {
                self.found.push(Violation::Fusion(site));
            }
        }
    }

    /// The segment of the definition that a use takes.
    fn nearest(&self, class: ClassId, at: SegmentId) -> Option<SegmentId> {
        let mut best: Option<SegmentId> = None;
        for def in self.defs.get(&class).into_iter().flatten() {
            if self.flow.dominates(*def, at) && best.is_none_or(|b| self.flow.dominates(b, *def)) {
                best = Some(*def);
            }
        }
        best
    }

    fn uses(&mut self) {
        let mut uses: Vec<(SegmentId, ClassId)> = vec![];
        for site in self.flow.sites(self.skeleton) {
            if !self.executed(site) {
                continue;
            }
            let at = self.skeleton.segment_before(site);
            match &self.skeleton.statement(site).kind {
                StatementKind::Opaque { operands, .. } => {
                    uses.extend(operands.iter().map(|o| (at, self.class_of(*o))));
                }
                StatementKind::Check { value: Some(value), .. } if self.fused(site) => {
                    uses.extend(self.operands(&self.original(*value)).0.into_iter().map(|class| (at, class)));
                }
                StatementKind::Check { key: CheckKey::Condition { tested, .. }, .. } => {
                    uses.push((at, self.class_of(*tested)));
                }
                StatementKind::Call { .. } | StatementKind::Write { .. } => uses.push((at, self.executed_class(site))),
                StatementKind::Check { .. } => {}
            }
        }
        for block in self.flow.reachable() {
            let at = self.skeleton.last_segment(block);
            let operands = &self.skeleton.blocks[block.index()].operands;
            uses.extend(operands.iter().map(|o| (at, self.class_of(*o))));
        }
        for ((segment, class), def) in &self.selection.defs {
            let (segment, class) = (*segment, *class);
            match def {
                Def::Node(id) => {
                    let Some(node) = self.view.nodes.get(id.index()) else { continue };
                    uses.extend(self.operands(node).0.into_iter().map(|child| (segment, child)));
                    let (_, state) = self.split(node);
                    if let Some(state) = state
                        && self.flow.is_reachable(segment)
                        && self.site_of(class).is_none()
                        && self.allocates_for(node).is_none()
                        && !self.planned.iter().any(|row| row[segment.index()] == state)
                        && !self.is_own_state(segment, state, |row| self.planned[row][segment.index()])
                    {
                        self.found.push(Violation::NotLive(segment, class));
                    }
                }
                Def::Param { block, index } => {
                    for from in self.flow.predecessors(*block) {
                        for edge in self.skeleton.blocks[from.index()].edges.iter().filter(|e| e.target == *block) {
                            if let Some(SkeletonArg::Node(input)) = edge.args.get(*index as usize) {
                                uses.push((self.skeleton.last_segment(from), self.class_of(*input)));
                            }
                        }
                    }
                }
                Def::Recurrence(id) => {
                    let carried = self.recurrence(*id);
                    uses.extend(carried.into_iter().flat_map(|r| self.taken(&r)));
                }
                Def::Result { .. } => {}
            }
        }
        uses.sort();
        uses.dedup();
        for (at, class) in uses {
            if self.flow.is_reachable(at) && self.nearest(class, at).is_none() {
                self.found.push(Violation::Unavailable(at, class));
            }
        }
    }

    /// Looks for cycles among the nodes of each segment. Others go to strict dominators, or over an edge.
    fn cycles(&mut self) {
        let mut state: FxHashMap<(SegmentId, ClassId), bool> = FxHashMap::default();
        for key in self.selection.defs.keys() {
            let mut work = vec![(*key, false)];
            while let Some((at, leave)) = work.pop() {
                if leave {
                    state.insert(at, true);
                    continue;
                }
                match state.get(&at) {
                    Some(true) => continue,
                    Some(false) => {
                        self.found.push(Violation::Cyclic(at.0, at.1));
                        continue;
                    }
                    None => {}
                }
                let Some(Def::Node(id)) = self.selection.defs.get(&at) else { continue };
                let Some(node) = self.view.nodes.get(id.index()) else { continue };
                state.insert(at, false);
                work.push((at, true));
                for child in self.operands(node).0 {
                    if self.nearest(child, at.0) == Some(at.0) {
                        work.push(((at.0, child), false));
                    }
                }
            }
        }
    }
}
