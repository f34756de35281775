//! What front ends note of how often blocks are executed, once, so that a function and what comes of it are weighed alike.

use super::cleanup::without_redundant_params;
use super::shares::note_shares;
use super::trip_count::note_trips;
use super::{Cfg, Function};
use rewright_typeprop::Universe;

/// Notes the iterations of loops that count, and the shares of arms where statements move.
pub fn note_frequencies(function: &mut Function, universe: &Universe) {
    let cfg = Cfg::new(function);
    if cfg.loop_count() > 0 {
        // A loop that hands a counter of an outer loop round counts as much as one that does not.
        let mut plain = without_redundant_params(function, &cfg);
        note_trips(&mut plain, universe);
        for (own, plain) in function.blocks.iter_mut().zip(&plain.blocks) {
            own.counts.trips = plain.counts.trips;
        }
    }
    note_shares(function, universe);
}
