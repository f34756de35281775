//! `Selection -> Selection`: what gains nothing becomes again what it was.
//!
//! Of selections that cost the same, the greedy one is any; and by tree costs, what has fewer operands looks cheaper
//! where those are shared. For a back end that has passes of its own a change without gain is a loss: it has to find
//! out again what it knew of the original. So each node that is none of the original's goes back to the original's
//! node of its class, with those operands of that which are not there, unless that costs more; at its place, or
//! further down where only there the state is live that the original reads.
//!
//! **Invariant**: the cost does not rise, and statements are executed as they were chosen to be. Only single nodes and
//! what they need are tried: what two changes gain together stays.

use super::choices::{AltId, Choices};
use super::original::Originals;
use super::place::{self, Definitions};
use super::{Def, Selection};
use crate::egraph::ClassId;
use crate::skeleton::SegmentId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many nodes may come with one.
const COMPANIONS: usize = 8;

/// How many nodes of a function are put back at most: after each, uses are counted again.
const MOST: usize = 256;

/// A definition's place.
type Key = (SegmentId, ClassId);

/// Puts the original's nodes back where they cost no more; `None` where all are there.
pub(crate) fn restore(choices: &Choices, original: &Originals, selection: &Selection) -> Option<Selection> {
    let is_new = |(key, def): &(&Key, &Def)| choices.alternative(key.1, **def).is_some_and(|alt| !original.has(alt));
    let mut keys: Vec<Key> = selection.defs.iter().filter(is_new).map(|(key, _)| *key).collect();
    if keys.is_empty() {
        return None;
    }
    // Users before operands: what a user does not need any more is no reason to keep an operand.
    keys.sort_by_key(|(at, class)| (Reverse(choices.tree.order(*at)), *class));
    let mut restored = selection.clone();
    let mut state = State::new(choices, &restored);
    let mut left = MOST;
    for key in keys {
        if left == 0 {
            break;
        }
        // What came with another one may have taken its place.
        let chosen = restored.defs.get(&key).and_then(|def| choices.alternative(key.1, *def));
        let Some(chosen) = chosen.filter(|alt| !original.has(*alt)) else { continue };
        let is_node = |alt: &&AltId| original.has(**alt) && choices.alt(**alt).at.is_none();
        for alt in choices.of_class[key.1.index()].iter().filter(is_node) {
            if let Some((at, plan)) = state.plan(key, chosen, *alt, original) {
                restored.defs.remove(&key);
                for (class, alt) in plan {
                    restored.defs.insert((at, class), choices.alt(alt).def);
                }
                state = State::new(choices, &restored);
                left -= 1;
                break;
            }
        }
    }
    let restored = place::tidy(choices, restored);
    (restored.cost <= selection.cost).then_some(restored)
}

/// A selection, and who uses what in it.
struct State<'s, 'c> {
    choices: &'s Choices<'c>,
    defs: &'s BTreeMap<Key, Def>,
    definitions: Definitions,
    uses: FxHashMap<Key, Vec<SegmentId>>,
}

impl<'s, 'c> State<'s, 'c> {
    fn new(choices: &'s Choices<'c>, selection: &'s Selection) -> Self {
        let definitions = Definitions::new(selection);
        let mut uses: FxHashMap<Key, Vec<SegmentId>> = FxHashMap::default();
        place::walk(choices, selection, &definitions, |demand, (at, _)| {
            uses.entry((at, demand.class)).or_default().push(demand.segment);
        });
        State { choices, defs: &selection.defs, definitions, uses }
    }

    /// What one execution of an alternative and its place cost.
    fn cost(&self, alt: AltId, at: SegmentId) -> u64 {
        self.choices.tree.frequency(at).saturating_mul(self.choices.alt(alt).cost)
    }

    /// Where the original's node can take the place of a definition, and which nodes are to be there then; `None` where
    /// that costs more or is not possible.
    fn plan(
        &self,
        key: Key,
        chosen: AltId,
        alt: AltId,
        original: &Originals,
    ) -> Option<(SegmentId, Vec<(ClassId, AltId)>)> {
        let (from, class) = key;
        let at = self.place(key, alt)?;
        let mut plan = vec![];
        self.complete((class, alt), at, original, &mut vec![], &mut plan)?;
        let added: u64 = plan.iter().map(|(_, alt)| self.cost(*alt, at)).fold(0, u64::saturating_add);
        let dead = self.choices.alt(chosen).children.iter().filter_map(|child| {
            let (place, def) = self.definitions.nearest(self.choices, *child, from)?;
            let alone = self.uses.get(&(place, *child)).is_some_and(|uses| uses.len() == 1);
            let wanted = plan.iter().any(|(_, alt)| self.choices.alt(*alt).children.contains(child));
            let alt = self.choices.alternative(*child, def)?;
            (alone && !wanted && matches!(def, Def::Node(_))).then(|| self.cost(alt, place))
        });
        let removed = dead.fold(self.cost(chosen, from), u64::saturating_add);
        (added <= removed).then_some((at, plan))
    }

    /// The definition's own segment, or else the last one above all uses in which the alternative is computable.
    fn place(&self, (from, class): Key, alt: AltId) -> Option<SegmentId> {
        if self.choices.computable(alt, from) {
            return Some(from);
        }
        let tree = self.choices.tree;
        let uses = self.uses.get(&(from, class))?;
        let mut at = uses.iter().copied().reduce(|a, b| tree.common(a, b))?;
        while at != from {
            if self.choices.computable(alt, at) {
                return (tree.frequency(at) <= tree.frequency(from)).then_some(at);
            }
            at = tree.parent(at).filter(|up| tree.dominates(from, *up))?;
        }
        None
    }

    /// Adds an alternative at a segment, and the original's nodes for those of its operands that are not there. `path`:
    /// classes that wait for this one; the first of them is to take another form, so what is there must not need it.
    fn complete(
        &self,
        (class, alt): (ClassId, AltId),
        at: SegmentId,
        original: &Originals,
        path: &mut Vec<ClassId>,
        plan: &mut Vec<(ClassId, AltId)>,
    ) -> Option<()> {
        plan.push((class, alt));
        path.push(class);
        for child in &self.choices.alt(alt).children {
            if path.contains(child) || plan.len() > COMPANIONS {
                return None;
            }
            if plan.iter().any(|(planned, _)| planned == child) {
                continue;
            }
            match self.definitions.nearest(self.choices, *child, at) {
                Some((place, _)) if place == at && self.needs(*child, at, path[0]) => return None,
                Some(_) => {}
                None => {
                    let usable = |alt: &&AltId| original.has(**alt) && self.choices.alt(**alt).at.is_none();
                    let mut own = self.choices.of_class[child.index()].iter().filter(usable);
                    let other = own.find(|alt| self.choices.computable(**alt, at))?;
                    self.complete((*child, *other), at, original, path, plan)?;
                }
            }
        }
        path.pop();
        Some(())
    }

    /// Does what defines a class in a segment need another class that is defined there?
    fn needs(&self, class: ClassId, at: SegmentId, root: ClassId) -> bool {
        let mut seen: SmallVec<[ClassId; 8]> = SmallVec::new();
        let mut work = vec![class];
        while let Some(class) = work.pop() {
            if class == root {
                return true;
            }
            if seen.contains(&class) {
                continue;
            }
            seen.push(class);
            if let Some(def) = self.defs.get(&(at, class))
                && let Some(alt) = self.choices.alternative(class, *def)
            {
                work.extend(&self.choices.alt(alt).children);
            }
        }
        false
    }
}
