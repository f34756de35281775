//! Values that the original computes stay where the original computes them.
//!
//! A selection gives each value the place where it costs least. For a back end that moves and shares values itself that
//! gains nothing, and everything that hangs on places (which values are alive at the same time, what is speculated and
//! has to be frozen for it, how large a block is) becomes different from what it would have made of the original. So
//! each value of the original goes back to where it was, if its operands are there and all its uses are below; to
//! several places, if the original computes it anew in each of them. Values that the original has not stay as they were
//! placed.
//!
//! **Invariant**: the program is the same except for places. The extra cost of the places is `stays` of the selection:
//! a change is compared by what it costs where everything has its best place.

use super::choices::Choices;
use super::error::SelectError;
use super::original::Originals;
use super::pass::{Pass, PassState};
use super::placement::{PlacedId, Placement};
use super::selection::Def;
use crate::egraph::Head;
use crate::skeleton::SegmentId;

/// The pass.
pub(crate) struct KeepPlacement;

impl Pass for KeepPlacement {
    fn name(&self) -> &'static str {
        "keep placement"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        let Some(originals) = &state.originals else { return Ok(()) };
        let before = state.placement.cost();
        let mut layout = Layout { choices: state.choices, originals, placement: &mut state.placement };
        if layout.restore() {
            state.placement.settle();
            state.placement_cost = state.placement.cost().saturating_sub(before);
        }
        Ok(())
    }
}

/// Definitions on their way to their places.
struct Layout<'s, 'c, 'a> {
    choices: &'c Choices<'a>,
    originals: &'s Originals,
    placement: &'s mut Placement<'c, 'a>,
}

impl<'s> Layout<'s, '_, '_> {
    /// Moves until nothing is left that can go back; does anything move?
    fn restore(&mut self) -> bool {
        let mut away: Vec<PlacedId> = self.placement.used().filter(|id| self.is_away(*id)).collect();
        away.sort_by_key(|id| {
            let first = self.choices.tree.order(self.original_segments(*id)[0]);
            (first, self.placement.at(*id), self.placement.class(*id))
        });
        let mut moved = false;
        loop {
            let before = away.len();
            // Operands go up before what takes them, and users down before what they take.
            away.retain(|id| !self.put_back(*id));
            away.reverse();
            away.retain(|id| !self.put_back(*id) && !self.put_back_apart(*id));
            away.reverse();
            if away.len() == before {
                return moved;
            }
            moved = true;
        }
    }

    /// Where the original computes it.
    fn original_segments(&self, id: PlacedId) -> &'s [SegmentId] {
        self.originals.places(self.placement.class(id))
    }

    /// Is it a value of the original that is elsewhere? An operation that only a pack knows to be movable stays where
    /// it was moved.
    fn is_away(&self, id: PlacedId) -> bool {
        let given = self.choices.given;
        let is_known = || match self.placement.def(id) {
            Def::Node(node) => match given.view.node(node).head {
                Head::Op(op) => {
                    let alt = self.placement.alt(id);
                    let is_value = self.choices.moved(alt).is_none();
                    is_value && (self.originals.has(alt) || given.universe.ops.get(op).model.is_some())
                }
                _ => true,
            },
            Def::Result { .. } | Def::Param { .. } | Def::Recurrence(_) => false,
        };
        let segments = self.original_segments(id);
        !segments.is_empty() && !segments.contains(&self.placement.at(id)) && is_known()
    }

    /// Can it be computed there?
    fn is_possible(&self, id: PlacedId, at: SegmentId) -> bool {
        let mut operands = self.placement.needs(id).iter();
        self.placement.standing(self.placement.class(id), at).is_none()
            && self.choices.computable(self.placement.alt(id), at)
            && operands.all(|operand| self.choices.tree.dominates(self.placement.at(*operand), at))
    }

    /// Moves it to one of its original segments above all its uses.
    fn put_back(&mut self, id: PlacedId) -> bool {
        let tree = self.choices.tree;
        let fits = |at: &&SegmentId| {
            self.is_possible(id, **at) && self.placement.uses(id).all(|used| tree.dominates(**at, used))
        };
        let Some(at) = self.original_segments(id).iter().find(fits).copied() else { return false };
        self.placement.put(id, at);
        true
    }

    /// Moves it to several of its original segments, each use taking the one that is furthest up.
    fn put_back_apart(&mut self, id: PlacedId) -> bool {
        let tree = self.choices.tree;
        let segments = self.original_segments(id).iter().copied();
        let possible: Vec<SegmentId> = segments.filter(|at| self.is_possible(id, *at)).collect();
        let covered = self.placement.uses(id).all(|used| possible.iter().any(|at| tree.dominates(*at, used)));
        if covered {
            self.placement.spread(id, possible);
        }
        covered
    }
}
