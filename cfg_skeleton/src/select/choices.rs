//! What there is to choose from: the [`Alternative`]s of each class, the groups of checks, and what must be there.
//!
//! An alternative is one way to define a class: a node of the view, a block parameter, a statement's result. They are
//! made once per state plan (`construct`), with where each can be had (`available`), and only read afterwards: by
//! greedy and ILP, by placement, and by what blames a plan for what cannot be met.

use super::check_identity::Speculation;
use super::cost::CostAndSize;
use super::cost_model::CostModel;
use super::memory_plan::{Plan, StatementPlan};
use super::moves::Moves;
use super::recurrence::Recurrence;
use super::segments::SegmentTree;
use super::selection::{Def, StatementChoice};
use super::terms::Classes;
use super::{calls, cost};
use crate::Saturated;
use crate::egraph::{ClassId, Head, InputId, NodeId};
use crate::skeleton::{SegmentId, SiteId, SkeletonArg, StatementKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

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
    pub(crate) speculation: Speculation,
    /// Of one execution; of parameters and recurrences, of all.
    pub(crate) cost: CostAndSize,
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
    pub(crate) given: Saturated<'a>,
    pub(crate) tree: &'a SegmentTree<'a>,
    pub(crate) model: &'a CostModel,
    pub(super) classes: Classes<'a>,
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
    pub(super) tops: FxHashMap<ClassId, Vec<SegmentId>>,
    /// By state class: the rows in which it is live somewhere.
    pub(super) rows: FxHashMap<ClassId, SmallVec<[u32; 1]>>,
    /// By the state of a site: the segment before it.
    pub(super) sites: FxHashMap<ClassId, SegmentId>,
    /// By a state that a load reads at its site: the one that is live there in the original.
    pub(super) own: FxHashMap<ClassId, ClassId>,
    pub(crate) moves: Moves<'a>,
}

impl Choices<'_> {
    pub(crate) fn alt(&self, id: AltId) -> &Alternative {
        &self.alternatives[id.index()]
    }

    /// What an alternative costs where it is defined.
    pub(crate) fn cost(&self, id: AltId, at: SegmentId) -> CostAndSize {
        let alt = self.alt(id);
        match alt.def {
            Def::Node(_) => CostAndSize::of(self.tree.frequency(at), alt.cost.size),
            Def::Param { .. } | Def::Recurrence(_) => alt.cost,
            // The statement costs that.
            Def::Result { .. } => CostAndSize::default(),
        }
    }

    /// What statements cost, by site.
    pub(crate) fn cost_of_statements(&self, statements: &[StatementChoice]) -> CostAndSize {
        let sites = (0..statements.len() as u32).map(SiteId);
        sites.map(|site| cost::statement(self.model, self.given, &self.classes, site, statements[site.index()])).sum()
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
                let op = self.given.universe.ops.get(id);
                let values = children.len().checked_sub(usize::from(op.takes_state()))?;
                for (i, class) in children[..values].iter().enumerate() {
                    let param = op.params.get(i);
                    if param.is_some_and(|p| p.constant) {
                        self.given.view.class(*class).constant?;
                    } else {
                        add(*class);
                    }
                }
            }
            _ => children.iter().for_each(|c| add(*c)),
        }
        Some(operands)
    }

    /// What is executed if the statement at a site is, for its own sake.
    fn companions(&self, site: SiteId) -> Vec<Demand> {
        let demand = |other: &SiteId| Demand {
            segment: self.given.skeleton.segment_before(*other),
            class: calls::executed(self.given.view, *other),
        };
        self.plan.removable.of(site).iter().map(demand).collect()
    }

    /// What a node says, if it is a recurrence.
    pub(crate) fn recurrence(&self, id: NodeId) -> Option<Recurrence> {
        Recurrence::new(self.given, id)
    }

    /// What a recurrence needs, at the end of the blocks before its loop's header.
    pub(super) fn carried(&self, r: &Recurrence) -> Vec<Demand> {
        vec![
            Demand { segment: self.tree.last(r.of.before), class: r.first },
            Demand { segment: self.tree.last(r.of.latch), class: r.by },
        ]
    }

    /// The classes that a parameter needs, each at the end of a predecessor; and what must be executed beside a
    /// statement whose result is wanted.
    pub(crate) fn arguments(&self, def: Def) -> Vec<Demand> {
        let (block, index) = match def {
            Def::Param { block, index } => (block, index),
            Def::Result { site, .. } => return self.companions(site),
            Def::Recurrence(id) => return self.recurrence(id).map(|r| self.carried(&r)).unwrap_or_default(),
            Def::Node(_) => return vec![],
        };
        let own = self.given.view.class_of(self.given.skeleton.blocks[block.index()].params[index as usize]);
        let mut demands = vec![];
        for edge in self.given.cfg.predecessors(block) {
            let edges = &self.given.skeleton.blocks[edge.from.index()].edges;
            let arg = edges.get(edge.slot as usize).and_then(|e| e.args.get(index as usize));
            if let Some(SkeletonArg::Node(input)) = arg {
                let class = self.given.view.class_of(*input);
                let demand = Demand { segment: self.tree.last(edge.from), class };
                // Passing itself on needs nothing but itself.
                if (class != own || !self.given.cfg.dominates(block, edge.from)) && !demands.contains(&demand) {
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
            || self.moves.may_stand(self.tree, state, at)
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
            && self.plan.may_speculate(self.tree, &alt.speculation, at)
            && alt.children.iter().all(|c| self.constructible(*c, operands_at))
            && match alt.def {
                // Else it is not there to choose; a parameter of the original always is.
                Def::Recurrence(_) => self.arguments(alt.def).iter().all(|d| self.constructible(d.class, d.segment)),
                Def::Node(_) | Def::Result { .. } | Def::Param { .. } => true,
            }
    }

    /// The statement that moves in whose place an alternative is executed.
    pub(crate) fn moved(&self, id: AltId) -> Option<SiteId> {
        self.alt(id).state.and_then(|state| self.moves.of(state))
    }

    /// Statements at sites that may go.
    pub(crate) fn optional_calls(&self) -> impl Iterator<Item = SiteId> + '_ {
        let sites = (0..self.given.skeleton.statements.len() as u32).map(SiteId);
        sites.filter(|site| {
            self.plan.fates[site.index()] == StatementPlan::Optional
                && matches!(self.given.skeleton.statement(*site).kind, StatementKind::Call { .. })
        })
    }

    /// Demands that cannot be met, of everything that may turn out to be needed.
    pub(crate) fn missing(&self) -> Vec<Demand> {
        let mut demands = self.roots.clone();
        for group in self.groups.iter().filter(|g| g.required) {
            let segment = self.given.skeleton.segment_before(group.sites[0]);
            let classes = if group.must_fuse { &group.operands[..] } else { &group.conditions[..] };
            demands.extend(classes.iter().map(|class| Demand { segment, class: *class }));
        }
        for alt in self.alternatives.iter().filter(|alt| !matches!(alt.def, Def::Recurrence(_))) {
            demands.extend(self.arguments(alt.def));
        }
        demands.retain(|d| !self.constructible(d.class, d.segment));
        demands
    }

    /// Writes that were dropped and whose state is read by something that missing demands wait for, and calls whose result
    /// is such a thing.
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
                states.extend(alt.state.and_then(|state| self.own.get(&state)));
                work.extend(alt.children.iter().copied());
            }
        }
        let needed = |out: &InputId| states.contains(&self.given.view.class_of(*out));
        let wanted = |result: &InputId| seen[self.given.view.class_of(*result).index()];
        let dropped = |(site, statement): &(usize, &crate::skeleton::Statement)| {
            self.plan.fates[*site] == StatementPlan::Drop
                && match &statement.kind {
                    StatementKind::Write { out, .. } => needed(out),
                    StatementKind::Call { node, after: Some(after), .. } => needed(&after.out) || wanted(node),
                    _ => false,
                }
        };
        let statements = self.given.skeleton.statements.iter().enumerate();
        statements.filter(dropped).map(|(site, _)| SiteId(site as u32)).collect()
    }
}
