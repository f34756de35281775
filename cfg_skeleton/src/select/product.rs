//! The product of the e-graph with the dominator tree, on which multi-root extraction with dominance, reuse and
//! hoisting is ordinary extraction of a DAG; and what can be decided there without a solver.
//!
//! A *product class* is a class in one of its candidate segments: where it is demanded, where its users may be
//! computed, and nearest common dominators of those. It is *computed* by an alternative, at that segment's frequency,
//! or *inherited* for nothing from its nearest candidate above.
//!
//! A class that reads no state needs few candidates. Its *breakpoints* are the segments where one more of its
//! alternatives, or of its operands' breakpoints, becomes available; between a breakpoint and a demand below it the
//! alternatives are the same, so it may as well be computed in the topmost of the rarest segments between the two.
//! [`super::sink`] brings it back down to its uses afterwards.
//! Operands are product classes, too; arguments of parameters are needed but may wait (deferred), so they never
//! close a cycle. Every other cycle lies within one segment, since operands above stand in strict dominators.
//!
//! The product is a [`Graph`] of [`rewright_extract`], which does the rest.
//!
//! Sizes and processor times of made-up functions (`select::tests::curve`, which prints more rows), within 20 s each,
//! beside the naive model: a variable for each alternative of each class before each statement, without candidates and
//! without presolve, given 5 s where it has no more than 60,000.
//!
//! | blocks | e-nodes | values with a choice | product nodes | left by presolve | selection | | naive nodes | |
//! |---|---|---|---|---|---|---|---|---|
//! | 5 | 100 | 10 % | 76 | 0 | 0.6 ms | optimal | 4,656 | 3.0 s |
//! | 5 | 110 | 40 % | 114 | 10 | 0.7 ms | optimal | 4,736 | 0.9 s |
//! | 5 | 509 | 10 % | 383 | 25 | 3.0 ms | optimal | 23,881 | > 5 s |
//! | 5 | 477 | 40 % | 399 | 138 | 5.5 ms | optimal | 19,903 | > 5 s |
//! | 5 | 996 | 10 % | 642 | 54 | 8.1 ms | optimal | 55,944 | > 5 s |
//! | 5 | 1,012 | 40 % | 1,206 | 865 | 0.8 s | optimal | 50,849 | > 5 s |
//! | 5 | 2,499 | 10 % | 1,580 | 92 | 10 ms | optimal | 109,480 | - |
//! | 5 | 2,529 | 40 % | 3,304 | 2,698 | 20 s | 9.0 % | 127,563 | - |
//! | 5 | 5,038 | 10 % | 3,289 | 284 | 39 ms | optimal | 282,700 | - |
//! | 5 | 4,985 | 40 % | 5,615 | 4,490 | 20 s | 15.6 % | 252,961 | - |
//! | 20 | 984 | 10 % | 721 | 56 | 4.6 ms | optimal | 160,224 | - |
//! | 20 | 987 | 40 % | 2,175 | 1,683 | 0.9 s | optimal | 171,053 | - |
//! | 20 | 5,003 | 10 % | 5,535 | 2,961 | 8.0 s | optimal | 806,348 | - |
//! | 20 | 4,995 | 40 % | 13,505 | 12,203 | 20 s | 28.1 % | 840,493 | - |
//! | 60 | 919 | 40 % | 3,517 | 2,028 | 0.9 s | optimal | 477,195 | - |
//! | 60 | 4,944 | 10 % | 5,421 | 1,944 | 1.5 s | optimal | 2,044,057 | - |

mod sizes;

use super::choices::{AltId, Choices, Demand, GroupId};
use super::draft::{Chosen, Draft};
use super::selection::{Def, StatementChoice};
use super::standing::Standing;
use crate::egraph::ClassId;
use crate::skeleton::SegmentId;
use rewright_extract::{Class, Classes, Graph, Node};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What a product class stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// A class in a segment.
    Class(ClassId, SegmentId),
    /// The operation of a group of checks, executed.
    Fused(GroupId),
    /// A group of checks, executed one way or the other.
    Checked(GroupId),
}

/// How a choice defines its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// By what is there already.
    Inherit,
    /// By an alternative.
    Compute(AltId),
    /// Checks, or an operation with its checks.
    Statement,
}

/// The product classes as classes of a graph, and what they and their nodes stand for.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) graph: Graph,
    meanings: Vec<Meaning>,
    /// By class and node.
    origins: Vec<Vec<Origin>>,
}

/// Makes the product; `None` where it would have more than `limit` choices. Gives back `start` moved to candidates,
/// too, so that it is a point of the product.
pub(crate) fn product(choices: &Choices, start: Draft, limit: usize) -> Option<(Product, Draft)> {
    let mut candidates = Candidates::new(choices, limit);
    let mut moved = Chosen::new();
    for ((segment, class), alt) in start.chosen {
        let at = match choices.alt(alt).def {
            Def::Node(_) => candidates.raise(alt, segment),
            Def::Param { .. } | Def::Result { .. } | Def::Recurrence(_) => segment,
        };
        moved.entry((at, class)).or_insert(alt);
        candidates.add(class, at);
    }
    candidates.close()?;
    Some((candidates.finish(), Draft { chosen: moved, ..start }))
}

/// How many breakpoints a class may have; more are left out.
const BREAKPOINTS: usize = 64;

struct Candidates<'c, 'a> {
    choices: &'c Choices<'a>,
    limit: usize,
    size: usize,
    /// By class, in dominance preorder.
    of_class: Vec<BTreeMap<u64, SegmentId>>,
    work: Vec<(ClassId, SegmentId)>,
    groups: Vec<bool>,
    parameters: BTreeSet<(u32, u32)>,
    /// By class: where its set of alternatives grows.
    breakpoints: Vec<Vec<SegmentId>>,
    /// By class: some alternative reads a state, which does not stay live.
    reads: Vec<bool>,
}

impl<'c, 'a> Candidates<'c, 'a> {
    fn new(choices: &'c Choices<'a>, limit: usize) -> Self {
        let mut this = Candidates {
            choices,
            limit,
            size: 0,
            of_class: vec![BTreeMap::new(); choices.of_class.len()],
            work: vec![],
            groups: vec![false; choices.groups.len()],
            parameters: BTreeSet::new(),
            breakpoints: vec![vec![]; choices.of_class.len()],
            reads: vec![false; choices.of_class.len()],
        };
        this.find_breakpoints();
        for demand in &choices.roots {
            this.add(demand.class, demand.segment);
        }
        for (n, group) in choices.groups.iter().enumerate().filter(|(_, g)| g.required) {
            if !group.must_fuse {
                this.conditions(GroupId(n as u32)).into_iter().for_each(|d| this.add(d.class, d.segment));
            }
            this.group(GroupId(n as u32));
        }
        this
    }

    fn conditions(&self, group: GroupId) -> Vec<Demand> {
        let (choices, group) = (self.choices, &self.choices.groups[group.index()]);
        let demand = |(site, class): (&crate::skeleton::SiteId, &ClassId)| Demand {
            segment: choices.given.skeleton.segment_before(*site),
            class: *class,
        };
        group.sites.iter().zip(&group.conditions).map(demand).collect()
    }

    fn group(&mut self, group: GroupId) {
        if !std::mem::replace(&mut self.groups[group.index()], true) {
            let segment = self.choices.given.skeleton.segment_before(self.choices.groups[group.index()].sites[0]);
            for class in self.choices.groups[group.index()].operands.clone() {
                self.add(class, segment);
            }
        }
    }

    fn find_breakpoints(&mut self) {
        let choices = self.choices;
        let mut work: Vec<ClassId> = vec![];
        for (class, alts) in choices.of_class.iter().enumerate() {
            let list = &mut self.breakpoints[class];
            list.extend(alts.iter().flat_map(|a| &choices.minimal[a.index()]).copied());
            list.sort();
            list.dedup();
            self.reads[class] = alts.iter().any(|a| choices.alt(*a).state.is_some());
            if !list.is_empty() {
                work.push(ClassId(class as u32));
            }
        }
        while let Some(class) = work.pop() {
            for alt in &choices.users[class.index()] {
                let a = choices.alt(*alt);
                if a.at.is_some() || choices.minimal[alt.index()].is_empty() {
                    continue;
                }
                let mut changed = false;
                for n in 0..self.breakpoints[class.index()].len() {
                    let at = self.breakpoints[class.index()][n];
                    let list = &mut self.breakpoints[a.class.index()];
                    if list.len() < BREAKPOINTS && !list.contains(&at) && choices.computable(*alt, at) {
                        list.push(at);
                        changed = true;
                    }
                }
                if changed {
                    work.push(a.class);
                }
            }
        }
    }

    /// For each breakpoint above a segment, from the last one up: the topmost of the rarest segments between the two.
    fn topmost(&self, class: ClassId, segment: SegmentId) -> Vec<SegmentId> {
        let tree = self.choices.tree;
        let above = self.breakpoints[class.index()].iter().copied().filter(|b| tree.dominates(*b, segment));
        let mut above: Vec<SegmentId> = above.collect();
        above.sort_by_key(|b| std::cmp::Reverse(tree.order(*b)));
        let (mut found, mut at) = (vec![], segment);
        for top in above {
            while let Some(rarer) = tree.rarer(at).filter(|r| tree.dominates(top, *r)) {
                at = rarer;
            }
            let frequency = tree.frequency(at);
            if tree.frequency(top) == frequency {
                at = top;
            } else {
                // Out of a loop: the topmost of the places outside.
                let mut up = at;
                while let Some(next) = tree.parent(up).filter(|up| tree.dominates(top, *up)) {
                    if tree.frequency(next) == frequency {
                        at = next;
                    }
                    up = next;
                }
            }
            found.push(at);
        }
        found
    }

    /// A place for a node as good as its own, as far up as its operands could be.
    fn raise(&self, alt: AltId, segment: SegmentId) -> SegmentId {
        let (choices, tree) = (self.choices, self.choices.tree);
        let class = choices.alt(alt).class;
        if !self.reads[class.index()] {
            return self.topmost(class, segment).first().copied().unwrap_or(segment);
        }
        let same = |m: &&SegmentId| tree.dominates(**m, segment) && tree.frequency(**m) == tree.frequency(segment);
        choices.minimal[alt.index()].iter().find(same).copied().unwrap_or(segment)
    }

    fn add(&mut self, class: ClassId, segment: SegmentId) {
        if !self.choices.constructible(class, segment) {
            return;
        }
        let segments = if self.reads[class.index()] { vec![segment] } else { self.topmost(class, segment) };
        for segment in segments {
            let order = self.choices.tree.order(segment);
            if self.of_class[class.index()].insert(order, segment).is_none() {
                self.size += self.choices.of_class[class.index()].len() + 1;
                self.work.push((class, segment));
            }
        }
    }

    fn close(&mut self) -> Option<()> {
        let (choices, tree) = (self.choices, self.choices.tree);
        while let Some((class, segment)) = self.work.pop() {
            if self.size > self.limit {
                return None;
            }
            let order = tree.order(segment);
            let set = &self.of_class[class.index()];
            let below = set.range(..order).next_back().map(|(_, s)| *s);
            let above = set.range(order + 1..).next().map(|(_, s)| *s);
            for other in below.into_iter().chain(above) {
                let common = tree.common(segment, other);
                self.add(class, common);
            }
            if self.reads[class.index()]
                && let Some(rarer) = tree.rarer(segment)
            {
                self.add(class, rarer);
            }
            for alt in &choices.of_class[class.index()] {
                let a = choices.alt(*alt);
                match a.at {
                    Some(at) => {
                        if !tree.dominates(at, segment) || !choices.computable(*alt, at) {
                            continue;
                        }
                        self.add(class, at);
                        match a.group {
                            Some(group) => self.group(group),
                            None => a.children.iter().for_each(|child| self.add(*child, at)),
                        }
                        let first = match a.def {
                            Def::Param { block, index } => self.parameters.insert((block.0, index)),
                            Def::Result { .. } | Def::Node(_) | Def::Recurrence(_) => true,
                        };
                        if first {
                            choices.arguments(a.def).into_iter().for_each(|d| self.add(d.class, d.segment));
                        }
                    }
                    None if choices.computable(*alt, segment) => {
                        a.children.iter().for_each(|child| self.add(*child, segment));
                    }
                    // Its state is not live here: the nearest place above where it is.
                    None if a.state.is_some() => {
                        let mut up = tree.parent(segment);
                        for _ in 0..64 {
                            let Some(at) = up else { break };
                            if choices.computable(*alt, at) {
                                self.add(class, at);
                                break;
                            }
                            up = tree.parent(at);
                        }
                    }
                    None => {}
                }
            }
        }
        Some(())
    }

    fn finish(self) -> Product {
        let (choices, tree) = (self.choices, self.choices.tree);
        let mut meanings = vec![];
        let mut number: FxHashMap<(ClassId, SegmentId), Class> = FxHashMap::default();
        for (class, set) in self.of_class.iter().enumerate() {
            for segment in set.values() {
                let class = ClassId(class as u32);
                number.insert((class, *segment), Class(meanings.len() as u32));
                meanings.push(Meaning::Class(class, *segment));
            }
        }
        // The nearest candidate that dominates: in preorder, go back over subtrees that do not.
        let nearest = |class: ClassId, at: SegmentId, strict: bool| -> Option<Class> {
            let order = tree.order(at);
            let set = &self.of_class[class.index()];
            let range = if strict { set.range(..order) } else { set.range(..=order) };
            let found = range.rev().map(|(_, s)| *s).find(|s| tree.dominates(*s, at))?;
            number.get(&(class, found)).copied()
        };
        let mut fused = vec![None; self.groups.len()];
        for (n, _) in self.groups.iter().enumerate().filter(|(_, used)| **used) {
            fused[n] = Some(Class(meanings.len() as u32));
            meanings.push(Meaning::Fused(GroupId(n as u32)));
        }
        let mut roots = vec![];
        let (mut classes, mut origins) = (vec![], vec![]);
        for (class, set) in self.of_class.iter().enumerate() {
            let class = ClassId(class as u32);
            for segment in set.values() {
                let (mut nodes, mut list) = (vec![], vec![]);
                if let Some(up) = nearest(class, *segment, true) {
                    nodes.push(Node::new(0.0, [up], []));
                    list.push(Origin::Inherit);
                }
                for alt in &choices.of_class[class.index()] {
                    if !choices.computable(*alt, *segment) {
                        continue;
                    }
                    let a = choices.alt(*alt);
                    if let Some(group) = a.group {
                        nodes.push(Node::new(0.0, fused[group.index()], []));
                        list.push(Origin::Compute(*alt));
                        continue;
                    }
                    let at = |d: &Demand| nearest(d.class, d.segment, false);
                    let arguments = choices.arguments(a.def);
                    let deferred: Option<Classes> = arguments.iter().map(at).collect();
                    let needs: Option<Classes> = a.children.iter().map(|c| nearest(*c, *segment, false)).collect();
                    let (Some(deferred), Some(needs)) = (deferred, needs) else { continue };
                    nodes.push(Node::new(choices.cost(*alt, *segment).cost as f64, needs, deferred));
                    list.push(Origin::Compute(*alt));
                }
                classes.push(nodes);
                origins.push(list);
            }
        }
        for (n, _) in self.groups.iter().enumerate().filter(|(_, used)| **used) {
            let group = &choices.groups[n];
            let segment = choices.given.skeleton.segment_before(group.sites[0]);
            let needs: Option<Classes> = group.operands.iter().map(|class| nearest(*class, segment, false)).collect();
            let cost = tree.frequency(segment).saturating_mul(group.fused);
            classes.push(needs.map(|needs| Node::new(cost as f64, needs, [])).into_iter().collect::<Vec<_>>());
            origins.push(vec![Origin::Statement]);
            if group.must_fuse {
                roots.extend(fused[n]);
            }
        }
        for (n, group) in choices.groups.iter().enumerate().filter(|(_, g)| g.required && !g.must_fuse) {
            let id = GroupId(n as u32);
            let demands = self.conditions(id);
            let needs: Option<Classes> = demands.iter().map(|d| nearest(d.class, d.segment, false)).collect();
            let cost = tree.frequency(choices.given.skeleton.segment_before(group.sites[0])).saturating_mul(group.bare);
            let (mut nodes, mut list) = (vec![], vec![]);
            if let Some(needs) = needs {
                nodes.push(Node::new(cost as f64, needs, []));
                list.push(Origin::Statement);
            }
            if let Some(fused) = fused[n] {
                nodes.push(Node::new(0.0, [fused], []));
                list.push(Origin::Inherit);
            }
            roots.push(Class(meanings.len() as u32));
            meanings.push(Meaning::Checked(id));
            classes.push(nodes);
            origins.push(list);
        }
        roots.extend(choices.roots.iter().filter_map(|d| nearest(d.class, d.segment, false)));
        roots.sort();
        roots.dedup();
        Product { graph: Graph { classes, roots }, meanings, origins }
    }
}

impl Product {
    /// Where a program is in the product: by product class, the choice that it makes.
    pub(crate) fn locate(&self, choices: &Choices, draft: &Draft) -> Vec<Option<u32>> {
        let tree = choices.tree;
        let mut standing: FxHashMap<ClassId, Standing<AltId>> = FxHashMap::default();
        for ((at, class), alt) in &draft.chosen {
            standing.entry(*class).or_default().insert(tree, *at, *alt);
        }
        let fused = |group: GroupId| {
            let site = choices.groups[group.index()].sites[0];
            draft.statements[site.index()] == StatementChoice::Keep { fused: true }
        };
        let mut picked = vec![None; self.meanings.len()];
        let mut work = self.graph.roots.clone();
        while let Some(item) = work.pop() {
            if picked[item.index()].is_some() {
                continue;
            }
            let wanted = |origin: &Origin| match (self.meanings[item.index()], *origin) {
                (Meaning::Class(class, at), origin) => {
                    let nearest = standing.get(&class).and_then(|standing| standing.nearest(tree, at));
                    match (nearest, origin) {
                        (Some((place, alt)), Origin::Compute(own)) => place == at && alt == own,
                        (Some((place, _)), Origin::Inherit) => place != at,
                        _ => false,
                    }
                }
                (Meaning::Checked(group), Origin::Inherit) => fused(group),
                (Meaning::Checked(group), _) => !fused(group),
                (Meaning::Fused(_), _) => true,
            };
            let found = self.origins[item.index()].iter().position(wanted);
            picked[item.index()] = found.map(|n| n as u32);
            if let Some(n) = found {
                work.extend(self.graph.classes[item.index()][n].needs());
            }
        }
        picked
    }

    /// The program that follows from choices, where the roots lead.
    pub(crate) fn decode(&self, choices: &Choices, picked: &[Option<u32>]) -> Option<Draft> {
        let mut chosen = Chosen::new();
        let mut fused = vec![false; choices.groups.len()];
        let mut seen = vec![false; self.meanings.len()];
        let mut work = self.graph.roots.clone();
        while let Some(item) = work.pop() {
            if std::mem::replace(&mut seen[item.index()], true) {
                continue;
            }
            let pick = picked[item.index()]? as usize;
            match (self.meanings[item.index()], self.origins[item.index()][pick]) {
                (Meaning::Class(class, at), Origin::Compute(alt)) => {
                    chosen.insert((at, class), alt);
                }
                (Meaning::Fused(group), _) => fused[group.index()] = true,
                _ => {}
            }
            work.extend(self.graph.classes[item.index()][pick].needs());
        }
        Some(Draft::new(choices, &fused, chosen))
    }
}
