//! What gains nothing becomes again what it was.
//!
//! Of selections that cost the same, the greedy one is any; and by tree costs, what has fewer operands looks cheaper
//! where those are shared. For a back end that has passes of its own a change without gain is a loss: it has to find
//! out again what it knew of the original. So each node that is not one of the original's goes back to the original's
//! node of its class, with those operands of that which are not there, unless that costs more; at its place, or
//! further down where only there the state is live that the original reads.
//!
//! **Invariant**: the cost does not rise, and statements are executed as they were chosen to be. Only single nodes and
//! what they need are tried: what two changes gain together stays.

use super::choices::{AltId, Choices};
use super::error::SelectError;
use super::original::Originals;
use super::pass::{Pass, PassState};
use super::placement::{PlacedId, Placement};
use super::selection::Def;
use crate::egraph::ClassId;
use crate::skeleton::SegmentId;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// How many nodes may come with one.
const COMPANIONS: usize = 8;

/// How many nodes of a function are put back at most.
const MOST: usize = 256;

/// The pass.
pub(crate) struct PreferOriginal;

impl Pass for PreferOriginal {
    fn name(&self) -> &'static str {
        "prefer original"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let Some(original) = &state.originals else { return Ok(()) };
        let choices = state.choices;
        let is_new = |id: &PlacedId| !original.has(state.placement.alt(*id));
        let mut new: Vec<PlacedId> = state.placement.used().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        // Users before operands: what a user does not need any more is no reason to keep an operand.
        new.sort_by_key(|id| (Reverse(choices.tree.order(state.placement.at(*id))), state.placement.class(*id)));
        state.placement.attempt(|placement| put_back(choices, original, placement, &new));
        Ok(())
    }
}

/// Puts the original's nodes in the places of others where they cost no more.
fn put_back<'c, 'a>(
    choices: &'c Choices<'a>,
    original: &Originals,
    placement: &mut Placement<'c, 'a>,
    new: &[PlacedId],
) {
    let mut left = MOST;
    for id in new {
        if left == 0 {
            break;
        }
        let own = choices.moved(placement.alt(*id));
        let is_node = |alt: &&AltId| {
            let moved = choices.moved(**alt);
            original.has(**alt) && matches!(choices.alt(**alt).def, Def::Node(_)) && (moved.is_none() || moved == own)
        };
        let mut alternatives = choices.of_class[placement.class(*id).index()].iter().filter(is_node);
        let attempt = Attempt { choices, original, placement };
        if let Some((at, plan)) = alternatives.find_map(|alt| attempt.plan(*id, *alt)) {
            // The definitions that come with it are there before it.
            for alt in &plan[1..] {
                placement.define(*alt, at);
            }
            placement.replace(*id, plan[0], at);
            left -= 1;
        }
    }
}

/// What is asked before a node is put back.
struct Attempt<'s, 'c, 'a> {
    choices: &'c Choices<'a>,
    original: &'s Originals,
    placement: &'s Placement<'c, 'a>,
}

impl Attempt<'_, '_, '_> {
    /// Where the original's node can take the place of a definition, and which nodes are to be there then, itself
    /// first; `None` where that costs more or is not possible.
    fn plan(&self, id: PlacedId, alt: AltId) -> Option<(SegmentId, Vec<AltId>)> {
        let (choices, from, chosen) = (self.choices, self.placement.at(id), self.placement.alt(id));
        let at = self.place(id, alt)?;
        let mut plan = vec![];
        self.complete(alt, at, &mut vec![], &mut plan)?;
        let added = plan.iter().map(|alt| choices.cost(*alt, at).cost).fold(0, u64::saturating_add);
        let dead = choices.alt(chosen).children.iter().filter_map(|child| {
            let operand = self.placement.nearest(*child, from)?;
            let alone = self.placement.uses(operand).count() == 1;
            let wanted = plan.iter().any(|alt| choices.alt(*alt).children.contains(child));
            let is_node = matches!(self.placement.def(operand), Def::Node(_));
            (alone && !wanted && is_node)
                .then(|| choices.cost(self.placement.alt(operand), self.placement.at(operand)).cost)
        });
        let removed = dead.fold(choices.cost(chosen, from).cost, u64::saturating_add);
        (added <= removed).then_some((at, plan))
    }

    /// The definition's own segment, or else the last one above all uses in which the alternative is computable.
    fn place(&self, id: PlacedId, alt: AltId) -> Option<SegmentId> {
        let (tree, from) = (self.choices.tree, self.placement.at(id));
        if self.choices.computable(alt, from) {
            return Some(from);
        }
        let mut at = self.placement.uses(id).reduce(|a, b| tree.common(a, b))?;
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
    fn complete(&self, alt: AltId, at: SegmentId, path: &mut Vec<ClassId>, plan: &mut Vec<AltId>) -> Option<()> {
        let choices = self.choices;
        plan.push(alt);
        path.push(choices.alt(alt).class);
        for child in &choices.alt(alt).children {
            if path.contains(child) || plan.len() > COMPANIONS {
                return None;
            }
            if plan.iter().any(|planned| choices.alt(*planned).class == *child) {
                continue;
            }
            match self.placement.nearest(*child, at) {
                Some(there) if self.placement.at(there) == at && self.needs(there, path[0]) => return None,
                Some(_) => {}
                None => {
                    let usable = |alt: &&AltId| {
                        self.original.has(**alt) && choices.alt(**alt).at.is_none() && choices.moved(**alt).is_none()
                    };
                    let mut own = choices.of_class[child.index()].iter().filter(usable);
                    let other = own.find(|alt| choices.computable(**alt, at))?;
                    self.complete(*other, at, path, plan)?;
                }
            }
        }
        path.pop();
        Some(())
    }

    /// Does a definition need another class that is defined in its segment?
    fn needs(&self, id: PlacedId, root: ClassId) -> bool {
        let at = self.placement.at(id);
        let mut seen: SmallVec<[ClassId; 8]> = SmallVec::new();
        let mut work = vec![self.placement.class(id)];
        while let Some(class) = work.pop() {
            if class == root {
                return true;
            }
            if seen.contains(&class) {
                continue;
            }
            seen.push(class);
            if let Some(there) = self.placement.standing(class, at) {
                work.extend(&self.choices.alt(self.placement.alt(there)).children);
            }
        }
        false
    }
}
