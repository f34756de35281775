//! Moves nodes down to where their uses are, operands after what takes them, as long as that is not executed more
//! often.
//!
//! The integer program computes a value in the topmost of the segments that are as good; greedy selections are made
//! with each node as far down as here.

use super::code_motion;
use super::error::SelectError;
use super::pass::{Pass, PassState};
use super::placement::{PlacedId, Placement};
use super::selection::Def;
use rustc_hash::FxHashSet;

/// The pass.
pub(crate) struct Sink;

impl Pass for Sink {
    fn name(&self) -> &'static str {
        "sink"
    }

    fn run(&self, state: &mut PassState) -> Result<(), SelectError> {
        if state.extracted.is_none() {
            return Ok(());
        }
        let choices = state.choices;
        state.placement.attempt(|placement| {
            for id in users_first(placement) {
                let uses = placement.uses(id).collect();
                let places = code_motion::segments(choices, placement.alt(id), placement.at(id), uses);
                placement.spread(id, places);
            }
        });
        Ok(())
    }
}

/// Nodes, each before those that it takes: the reverse of the order in which a depth-first walk leaves them.
fn users_first(placement: &Placement) -> Vec<PlacedId> {
    let is_node = |id: &PlacedId| matches!(placement.def(*id), Def::Node(_));
    let mut order = vec![];
    let mut seen: FxHashSet<PlacedId> = FxHashSet::default();
    for id in placement.used().filter(is_node) {
        let mut work = vec![(id, false)];
        while let Some((id, leave)) = work.pop() {
            if leave {
                order.push(id);
            } else if seen.insert(id) {
                work.push((id, true));
                work.extend(placement.needs(id).iter().filter(|need| is_node(need)).map(|need| (*need, false)));
            }
        }
    }
    order.reverse();
    order
}
