//! What front ends note of how often blocks are executed, once, so that a function and what comes of it are weighed alike.

use super::Function;
use super::shares::note_shares;
use super::trip_count::note_trips;
use rewright_typeprop::Universe;

/// Notes the iterations of loops that count, and the shares of arms where statements move.
pub fn note_frequencies(function: &mut Function, universe: &Universe) {
    note_trips(function, universe);
    note_shares(function, universe);
}
