//! `Selection -> Selection`: what the original computes stays where the original computes it.
//!
//! A selection gives each value the place where it costs least. For a back end that moves and shares values itself that
//! gains nothing, and everything that hangs on places (which values are alive at the same time, what is speculated and
//! has to be frozen for it, how large a block is) becomes different from what it would have made of the original. So
//! each value of the original goes back to where it was, if its operands are there and all its uses are below; to several
//! places, if the original computes it anew in each of them. Values that the original has not stay as they were placed.
//!
//! **Invariant**: the program is the same but for places. What the places cost more is [`Selection::stays`]: a change is
//! compared by what it costs where everything has its best place.

use super::choices::{AltId, Choices, Demand};
use super::original::Originals;
use super::place::{self, Definitions};
use super::{Def, Selection};
use crate::egraph::{ClassId, Head};
use crate::skeleton::SegmentId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Puts values back to their places; `None` where all are there.
pub(crate) fn stay(choices: &Choices, originals: &Originals, selection: &Selection) -> Option<Selection> {
    let mut layout = Layout::new(choices, originals, selection);
    if !layout.settle() {
        return None;
    }
    let defs = layout.nodes.iter().map(|node| ((node.at, node.class), choices.alt(node.alt).def)).collect();
    let mut stayed = place::tidy(choices, Selection { defs, ..selection.clone() });
    stayed.stays = stayed.cost.saturating_sub(selection.cost);
    Some(stayed)
}

/// A definition, and what it hangs together with.
#[derive(Clone)]
struct Placed {
    class: ClassId,
    alt: AltId,
    at: SegmentId,
    /// What it takes.
    operands: SmallVec<[usize; 3]>,
    /// What takes it.
    users: SmallVec<[usize; 2]>,
    /// Where statements, terminators and edges take it.
    roots: SmallVec<[SegmentId; 2]>,
}

/// Definitions on their way to their places.
struct Layout<'s, 'c> {
    choices: &'s Choices<'c>,
    originals: &'s Originals,
    nodes: Vec<Placed>,
    taken: FxHashSet<(SegmentId, ClassId)>,
}

impl<'s, 'c> Layout<'s, 'c> {
    fn new(choices: &'s Choices<'c>, originals: &'s Originals, selection: &Selection) -> Self {
        let definitions = Definitions::new(selection);
        let (mut nodes, mut number) = (vec![], FxHashMap::default());
        for ((at, class), def) in &selection.defs {
            let Some(alt) = choices.alternative(*class, *def) else { continue };
            number.insert((*at, *class), nodes.len());
            let (operands, users, roots) = Default::default();
            nodes.push(Placed { class: *class, alt, at: *at, operands, users, roots });
        }
        let definition = |demand: &Demand| {
            let (at, _) = definitions.nearest(choices, demand.class, demand.segment)?;
            number.get(&(at, demand.class)).copied()
        };
        for root in place::roots(choices, selection) {
            if let Some(node) = definition(&root) {
                nodes[node].roots.push(root.segment);
            }
        }
        for user in 0..nodes.len() {
            let alt = choices.alt(nodes[user].alt);
            // What statements and parameters need are roots.
            let children = if let Def::Node(_) = alt.def { &alt.children[..] } else { &[] };
            for class in children {
                if let Some(operand) = definition(&Demand { segment: nodes[user].at, class: *class }) {
                    nodes[user].operands.push(operand);
                    nodes[operand].users.push(user);
                }
            }
        }
        let taken = nodes.iter().map(|node| (node.at, node.class)).collect();
        Layout { choices, originals, nodes, taken }
    }

    /// Moves until nothing is left that can go home; does anything move?
    fn settle(&mut self) -> bool {
        let mut away: Vec<usize> = (0..self.nodes.len()).filter(|i| self.is_away(*i)).collect();
        away.sort_by_key(|i| (self.choices.tree.order(self.homes(*i)[0]), *i));
        let mut moved = false;
        loop {
            let before = away.len();
            // Operands go up before what takes them, and users down before what they take.
            away.retain(|i| !self.go_home(*i));
            away.reverse();
            away.retain(|i| !self.go_home(*i) && !self.part(*i));
            away.reverse();
            if away.len() == before {
                return moved;
            }
            moved = true;
        }
    }

    /// Where the original computes it.
    fn homes(&self, i: usize) -> &'s [SegmentId] {
        self.originals.places(self.nodes[i].class)
    }

    /// Is it a value of the original that is elsewhere? What only a pack knows to be movable stays where it was moved.
    fn is_away(&self, i: usize) -> bool {
        let Placed { alt, at, .. } = self.nodes[i];
        let is_known = || match self.choices.alt(alt).def {
            Def::Node(node) => match self.choices.given.view.node(node).head {
                Head::Op(op) => self.originals.has(alt) || self.choices.given.universe.ops.get(op).model.is_some(),
                _ => true,
            },
            Def::Result { .. } | Def::Param { .. } => false,
        };
        let homes = self.homes(i);
        !homes.is_empty() && !homes.contains(&at) && is_known()
    }

    /// Can it be computed there?
    fn is_possible(&self, i: usize, at: SegmentId) -> bool {
        let Placed { class, alt, ref operands, .. } = self.nodes[i];
        !self.taken.contains(&(at, class))
            && self.choices.computable(alt, at)
            && operands.iter().all(|operand| self.choices.tree.dominates(self.nodes[*operand].at, at))
    }

    /// Where it is taken.
    fn uses(&self, i: usize) -> impl Iterator<Item = SegmentId> + '_ {
        let node = &self.nodes[i];
        node.users.iter().map(|user| self.nodes[*user].at).chain(node.roots.iter().copied())
    }

    fn go_home(&mut self, i: usize) -> bool {
        let fits = |at: &&SegmentId| {
            self.is_possible(i, **at) && self.uses(i).all(|used| self.choices.tree.dominates(**at, used))
        };
        let Some(home) = self.homes(i).iter().find(fits).copied() else { return false };
        self.place(i, home);
        true
    }

    fn place(&mut self, i: usize, at: SegmentId) {
        let class = self.nodes[i].class;
        self.taken.remove(&(self.nodes[i].at, class));
        self.taken.insert((at, class));
        self.nodes[i].at = at;
    }

    /// Puts it to several of its places, each use taking the one that is furthest up.
    fn part(&mut self, i: usize) -> bool {
        let tree = self.choices.tree;
        let mut homes: Vec<SegmentId> = self.homes(i).iter().copied().filter(|at| self.is_possible(i, *at)).collect();
        tree.minimal(&mut homes);
        let own = |used: SegmentId| homes.iter().copied().find(|at| tree.dominates(*at, used));
        let Some(homes): Option<BTreeSet<SegmentId>> = self.uses(i).map(own).collect() else { return false };
        let whole = self.nodes[i].clone();
        for (part, at) in homes.into_iter().enumerate() {
            let here = |used: SegmentId| tree.dominates(at, used);
            let users = whole.users.iter().copied().filter(|user| here(self.nodes[*user].at));
            let users: SmallVec<[usize; 2]> = users.collect();
            let roots = whole.roots.iter().copied().filter(|used| here(*used)).collect();
            let number = if part == 0 { i } else { self.nodes.len() };
            if part > 0 {
                self.nodes.push(whole.clone());
                whole.operands.iter().for_each(|operand| self.nodes[*operand].users.push(number));
                for user in &users {
                    let operands = self.nodes[*user].operands.iter_mut();
                    operands.filter(|operand| **operand == i).for_each(|operand| *operand = number);
                }
            }
            (self.nodes[number].users, self.nodes[number].roots) = (users, roots);
            self.place(number, at);
        }
        true
    }
}
