//! The greedy selection: near-linear, always an answer where the original program is one.
//!
//! An *entity* is a class together with a segment in which one more of its alternatives becomes computable; for
//! most classes there is one. Entities get tree costs by a least fixed point, each picks its cheapest alternative,
//! and roots pull what they need. Then everything is placed from users to operands (Click, "Global code motion",
//! 1995): in the nearest common dominator of its uses, or further up where that is executed less often and the node
//! may be speculated.
//!
//! Tree costs count shared operands once per user. So the choice is made again with costs divided by the number of
//! users, those in the choice before or those that there could be, restricted to operands that precede in the first
//! order, which keeps it acyclic; the cheapest of the rounds is taken.
//!
//! **Invariant**: an entity's operands precede it in the order (segment in dominance preorder, then tree cost): an
//! operand available in a strict dominator has a smaller segment, one in the same segment a strictly smaller cost.

use super::choices::{AltId, Alternative, Choices, Demand, GroupId};
use super::code_motion;
use super::cost_model::COST_SCALE;
use super::draft::{Chosen, Draft};
use super::error::SelectError;
use super::pass::{Pass, PassState};
use super::placement::Placement;
use super::selection::Def;
use crate::egraph::ClassId;
use crate::ir::cfg::FREQUENCY_ONE;
use crate::skeleton::SegmentId;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A class where one more of its alternatives becomes computable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EntityId(pub(crate) u32);

impl EntityId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many more choices are made, each with what the one before has learnt of sharing.
const ROUNDS: usize = 3;

/// How often one class may be looked at again before its costs are taken as they are.
const VISITS: u32 = 64;

/// How many segments beyond those of its own alternatives a class takes over from its operands.
const EXTRA: usize = 4;

/// Costs are scaled so that a free node still costs something: what is acyclic by cost is acyclic.
const SCALE: u64 = 64;

struct Entity {
    class: ClassId,
    at: SegmentId,
    /// Scaled; `u64::MAX` while unknown.
    cost: u64,
    alt: Option<AltId>,
}

/// The cost of a node with its operands: their sum, where they are small. Trees over shared values grow exponentially
/// with depth, so of all but the dearest operand no more than [`SMALL`] instructions count.
struct Sum {
    own: u64,
    small: u64,
    limited: u64,
    dearest: u64,
    known: bool,
}

/// Operands of at most this many instructions count in full.
const SMALL: u64 = 256;

impl Sum {
    fn new(own: u64, frequency: u64) -> Self {
        let small = frequency.saturating_mul(SMALL * COST_SCALE * SCALE);
        Sum { own, small, limited: 0, dearest: 0, known: true }
    }

    fn add(&mut self, cost: Option<u64>) {
        self.known &= cost.is_some();
        let cost = cost.unwrap_or(0);
        self.limited = self.limited.saturating_add(cost.min(self.small));
        self.dearest = self.dearest.max(cost);
    }

    /// More than each operand; `u64::MAX` where one is unknown.
    fn total(&self) -> u64 {
        let beyond = self.dearest - self.dearest.min(self.small);
        let sum = self.own.saturating_add(self.limited).saturating_add(beyond);
        if self.known { sum } else { u64::MAX }
    }
}

/// What there is to choose for.
struct Entities<'c, 'a> {
    choices: &'c Choices<'a>,
    entities: Vec<Entity>,
    /// By class, in dominance preorder.
    of_class: Vec<SmallVec<[EntityId; 1]>>,
}

/// The greedy choice.
pub(crate) struct Greedy;

impl Pass for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        state.placement = Placement::new(state.choices, choose(state.choices, ROUNDS)?);
        Ok(())
    }
}

/// The first choice, by tree costs, before anything is learnt of sharing.
pub(crate) struct Trees;

impl Pass for Trees {
    fn name(&self) -> &'static str {
        "trees"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        state.placement = Placement::new(state.choices, choose(state.choices, 0)?);
        Ok(())
    }
}

/// The cheapest of the first choice and up to this many others.
fn choose(choices: &Choices, rounds: usize) -> Result<Draft, SelectError> {
    let mut entities = Entities::new(choices);
    entities.costs();
    let order = entities.order();
    let mut marks = entities.mark()?;
    let mut best = entities.place(&marks, &order);
    let mut least = best.cost(choices);
    for round in 0..rounds {
        if !marks.choice {
            break;
        }
        // First of all that the choice uses; then of all that it could use.
        let users = if round == 1 { entities.potential(&marks) } else { std::mem::take(&mut marks.users) };
        entities.share(&order, &users);
        marks = entities.mark()?;
        let other = entities.place(&marks, &order);
        let cost = other.cost(choices);
        if cost < least {
            (best, least) = (other, cost);
        }
    }
    Ok(best)
}

/// What the roots pull.
struct Marks {
    needed: Vec<bool>,
    /// By entity: how many selected entities and roots use it.
    users: Vec<u32>,
    fused: Vec<bool>,
    demands: Vec<Demand>,
    /// Some needed class has more than one alternative.
    choice: bool,
}

impl<'c, 'a> Entities<'c, 'a> {
    fn new(choices: &'c Choices<'a>) -> Self {
        let mut this = Entities { choices, entities: vec![], of_class: vec![SmallVec::new(); choices.of_class.len()] };
        let tree = choices.tree;
        for class in 0..choices.of_class.len() {
            let mut segments: Vec<SegmentId> = vec![];
            let mut extra: Vec<SegmentId> = vec![];
            for alt in &choices.of_class[class] {
                segments.extend(choices.minimal[alt.index()].iter().copied());
                if choices.alt(*alt).at.is_none() && extra.len() <= EXTRA {
                    for child in &choices.alt(*alt).children {
                        let own = choices.of_class[child.index()].iter();
                        extra.extend(own.flat_map(|a| &choices.minimal[a.index()]).copied().take(EXTRA + 1));
                    }
                }
            }
            if extra.len() <= EXTRA {
                let alts = &choices.of_class[class];
                extra.retain(|at| alts.iter().any(|a| choices.computable(*a, *at)));
                segments.extend(extra);
            }
            segments.sort_by_key(|s| tree.order(*s));
            segments.dedup();
            for at in segments {
                let id = EntityId(this.entities.len() as u32);
                this.entities.push(Entity { class: ClassId(class as u32), at, cost: u64::MAX, alt: None });
                this.of_class[class].push(id);
            }
        }
        this
    }

    /// The cheapest entity of a class that is available there, and its cost seen from there: what is needed in a
    /// segment that is executed less often than where it could first be computed is computed there.
    fn best(&self, class: ClassId, at: SegmentId) -> Option<(EntityId, u64)> {
        let tree = self.choices.tree;
        let mut best: Option<(EntityId, u64)> = None;
        for id in &self.of_class[class.index()] {
            let entity = &self.entities[id.index()];
            if entity.cost == u64::MAX || !tree.dominates(entity.at, at) {
                continue;
            }
            let (here, there) = (tree.frequency(at), tree.frequency(entity.at).max(1));
            let fixed = entity.alt.is_none_or(|alt| self.choices.alt(alt).at.is_some());
            let rarer = (u128::from(entity.cost) * u128::from(here) / u128::from(there)) as u64;
            let cost = if here < there && !fixed { rarer.max(1) } else { entity.cost };
            if best.is_none_or(|b| cost < b.1) {
                best = Some((*id, cost));
            }
        }
        best
    }

    /// Where the operands of an alternative are taken if it is defined there.
    fn operands_at(&self, alt: AltId, at: SegmentId) -> SegmentId {
        match self.choices.alt(alt) {
            // Before the statement; its result begins after it.
            Alternative { group: Some(_), at: Some(after), .. } => SegmentId(after.0 - 1),
            _ => at,
        }
    }

    fn own_cost(&self, alt: AltId, at: SegmentId) -> u64 {
        let a = self.choices.alt(alt);
        match a.def {
            Def::Param { .. } | Def::Recurrence(_) => a.cost.cost.saturating_mul(SCALE).saturating_add(FREQUENCY_ONE),
            _ => self.choices.tree.frequency(at).saturating_mul(a.cost.cost.saturating_mul(SCALE).saturating_add(1)),
        }
    }

    /// What a recurrence takes over the edges into its loop's header. It costs what it costs where it is taken: there is
    /// no order between it and the recurrence.
    fn add_carried(&self, alt: AltId, sum: &mut Sum) {
        let def = self.choices.alt(alt).def;
        if let Def::Recurrence(_) = def {
            for demand in self.choices.arguments(def) {
                sum.add(self.best(demand.class, demand.segment).map(|b| b.1));
            }
        }
    }

    /// Tree costs, by relaxation.
    fn costs(&mut self) {
        let classes = self.of_class.len();
        let mut queue: VecDeque<ClassId> = (0..classes as u32).map(ClassId).collect();
        let mut queued = vec![true; classes];
        let mut visits = vec![0u32; classes];
        while let Some(class) = queue.pop_front() {
            queued[class.index()] = false;
            visits[class.index()] += 1;
            let mut changed = false;
            for n in 0..self.of_class[class.index()].len() {
                let id = self.of_class[class.index()][n];
                let at = self.entities[id.index()].at;
                for alt in &self.choices.of_class[class.index()] {
                    if !self.choices.computable(*alt, at) {
                        continue;
                    }
                    let operands_at = self.operands_at(*alt, at);
                    let mut sum = Sum::new(self.own_cost(*alt, at), self.choices.tree.frequency(at));
                    for child in &self.choices.alt(*alt).children {
                        sum.add(self.best(*child, operands_at).map(|b| b.1));
                    }
                    self.add_carried(*alt, &mut sum);
                    let cost = sum.total();
                    // Of what costs the same, the first one is executed in a statement's place, as where none moves.
                    let first = self.choices.moved(*alt).is_some() && Some(*alt) < self.entities[id.index()].alt;
                    let entity = &mut self.entities[id.index()];
                    if cost < entity.cost || cost == entity.cost && first {
                        changed |= cost < entity.cost;
                        (entity.cost, entity.alt) = (cost, Some(*alt));
                    }
                }
            }
            if changed {
                for user in &self.choices.users[class.index()] {
                    let user = self.choices.alt(*user).class;
                    if !queued[user.index()] && visits[user.index()] < VISITS {
                        queued[user.index()] = true;
                        queue.push_back(user);
                    }
                }
            }
        }
    }

    /// Entities, operands before users.
    fn order(&self) -> Vec<EntityId> {
        let mut order: Vec<EntityId> = (0..self.entities.len() as u32).map(EntityId).collect();
        order.retain(|e| self.entities[e.index()].alt.is_some());
        order.sort_by_key(|e| {
            let entity = &self.entities[e.index()];
            (self.choices.tree.order(entity.at), entity.cost, *e)
        });
        order
    }

    /// Chooses again, charging an entity to each of its users in part.
    fn share(&mut self, order: &[EntityId], users: &[u32]) {
        let mut rank = vec![u32::MAX; self.entities.len()];
        for (i, e) in order.iter().enumerate() {
            rank[e.index()] = i as u32;
        }
        let mut part = vec![u64::MAX; self.entities.len()];
        for id in order {
            let (class, at) = (self.entities[id.index()].class, self.entities[id.index()].at);
            let mut best: Option<(u64, AltId)> = None;
            for alt in &self.choices.of_class[class.index()] {
                if !self.choices.computable(*alt, at) {
                    continue;
                }
                let operands_at = self.operands_at(*alt, at);
                let mut sum = Sum::new(self.own_cost(*alt, at), self.choices.tree.frequency(at));
                for child in &self.choices.alt(*alt).children {
                    let precedes = |e: &EntityId| rank[e.index()] < rank[id.index()];
                    let operand = self.best(*child, operands_at).map(|b| b.0).filter(precedes);
                    sum.add(operand.map(|e| part[e.index()]));
                }
                self.add_carried(*alt, &mut sum);
                let cost = sum.total();
                if cost < u64::MAX && best.is_none_or(|b| cost < b.0) {
                    best = Some((cost, *alt));
                }
            }
            if let Some((cost, alt)) = best {
                part[id.index()] = cost / u64::from(users[id.index()].max(1));
                self.entities[id.index()].alt = Some(alt);
            }
        }
    }

    /// By entity: how many needed classes could use it.
    fn potential(&self, marks: &Marks) -> Vec<u32> {
        let mut users = vec![0; self.entities.len()];
        let mut seen: Vec<EntityId> = vec![];
        for (n, entity) in self.entities.iter().enumerate().filter(|(n, _)| marks.needed[*n]) {
            seen.clear();
            for alt in &self.choices.of_class[entity.class.index()] {
                let operands_at = self.operands_at(*alt, entity.at);
                if !self.choices.computable(*alt, entity.at) {
                    continue;
                }
                for child in &self.choices.alt(*alt).children {
                    if let Some((operand, _)) = self.best(*child, operands_at)
                        && operand.index() != n
                        && !seen.contains(&operand)
                    {
                        seen.push(operand);
                        users[operand.index()] += 1;
                    }
                }
            }
        }
        users
    }

    /// Marks what the roots need, and decides which checks are executed with their operation.
    fn mark(&self) -> Result<Marks, SelectError> {
        let choices = self.choices;
        let mut marks = Marks {
            needed: vec![false; self.entities.len()],
            users: vec![0; self.entities.len()],
            fused: choices.groups.iter().map(|g| g.must_fuse).collect(),
            demands: choices.roots.clone(),
            choice: false,
        };
        let before = |g: GroupId| choices.given.skeleton.segment_before(choices.groups[g.index()].sites[0]);
        let mut missing = vec![];
        let mut next = 0;
        for (g, group) in choices.groups.iter().enumerate() {
            if group.must_fuse {
                let segment = before(GroupId(g as u32));
                marks.demands.extend(group.operands.iter().map(|class| Demand { segment, class: *class }));
            }
        }
        let mut undecided = 0;
        loop {
            // Roots and arguments in `demands` are followed through operands on a work list of their own.
            while next < marks.demands.len() {
                let demand = marks.demands[next];
                next += 1;
                let Some((entity, _)) = self.best(demand.class, demand.segment) else {
                    missing.push(demand);
                    continue;
                };
                let mut work = vec![entity];
                while let Some(entity) = work.pop() {
                    marks.users[entity.index()] += 1;
                    if std::mem::replace(&mut marks.needed[entity.index()], true) {
                        continue;
                    }
                    let Entity { at, class, alt: Some(alt), .. } = self.entities[entity.index()] else { continue };
                    let a = choices.alt(alt);
                    marks.choice |= choices.of_class[class.index()].len() > 1;
                    if let Some(group) = a.group {
                        if !std::mem::replace(&mut marks.fused[group.index()], true) {
                            let segment = before(group);
                            let operands = choices.groups[group.index()].operands.iter();
                            marks.demands.extend(operands.map(|class| Demand { segment, class: *class }));
                        }
                        continue;
                    }
                    marks.demands.extend(choices.arguments(a.def));
                    work.extend(a.children.iter().filter_map(|c| self.best(*c, at)).map(|b| b.0));
                }
            }
            // One bare check after the other: its condition may want another one's operation.
            let Some(group) = choices.groups.get(undecided) else { break };
            if group.required && !marks.fused[undecided] {
                for (site, class) in group.sites.iter().zip(&group.conditions) {
                    let segment = choices.given.skeleton.segment_before(*site);
                    marks.demands.push(Demand { segment, class: *class });
                }
            }
            undecided += 1;
        }
        if missing.is_empty() { Ok(marks) } else { Err(SelectError::Unavailable { demands: report(&missing) }) }
    }

    /// Gives each marked entity its segments, from users to operands.
    fn place(&self, marks: &Marks, order: &[EntityId]) -> Draft {
        let choices = self.choices;
        let mut uses: Vec<Vec<SegmentId>> = vec![vec![]; self.entities.len()];
        for demand in &marks.demands {
            if let Some((entity, _)) = self.best(demand.class, demand.segment) {
                uses[entity.index()].push(demand.segment);
            }
        }
        let mut chosen = Chosen::new();
        for id in order.iter().rev() {
            let entity = &self.entities[id.index()];
            let Some(alt) = entity.alt.filter(|_| marks.needed[id.index()]) else { continue };
            let here = std::mem::take(&mut uses[id.index()]);
            let segments = match choices.alt(alt).at {
                Some(at) => vec![at],
                None => code_motion::segments(choices, alt, entity.at, here),
            };
            for at in segments {
                chosen.entry((at, entity.class)).or_insert(alt);
                if choices.alt(alt).group.is_none() {
                    for child in &choices.alt(alt).children {
                        if let Some((operand, _)) = self.best(*child, entity.at) {
                            uses[operand.index()].push(at);
                        }
                    }
                }
            }
        }
        Draft::new(choices, &marks.fused, chosen)
    }
}

fn report(missing: &[Demand]) -> Vec<(SegmentId, ClassId)> {
    missing.iter().map(|d| (d.segment, d.class)).take(8).collect()
}
