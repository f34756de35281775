//! Where memory may be freed. A call can free or unmap what was accessed before it, so an access does not prove that an
//! equal one after the call does not trap.

use super::{SiteId, Skeleton, StatementKind};
use crate::egraph::Head;
use crate::ir::Cfg;
use crate::ir::frontier::Frontiers;
use rewright_typeprop::Universe;

/// What [`Skeleton::lifetimes`] says: statements that may free memory begin a number, and so do the blocks in which
/// two numbers meet, as in static single assignment form.
pub(super) fn lifetimes(skeleton: &Skeleton, cfg: &Cfg, universe: &Universe, frontiers: &Frontiers) -> Vec<u32> {
    let frees = |site: SiteId| may_free(skeleton, universe, &skeleton.statement(site).kind);
    let mut numbers = vec![0; skeleton.segment_block.len()];
    let order = cfg.reverse_post_order();
    let meets = frontiers.joins(order.iter().copied().filter(|block| skeleton.sites(*block).any(frees)));
    let mut next = 0;
    for block in order {
        let mut number = match cfg.idom(*block) {
            Some(above) if !meets[block.index()] => numbers[skeleton.last_segment(above).index()],
            _ => fresh(&mut next),
        };
        numbers[skeleton.blocks[block.index()].first_segment as usize] = number;
        for site in skeleton.sites(*block) {
            if frees(site) {
                number = fresh(&mut next);
            }
            numbers[skeleton.segment_after(site).index()] = number;
        }
    }
    numbers
}

fn fresh(next: &mut u32) -> u32 {
    *next += 1;
    *next
}

/// Only loads and stores are known not to. A call that a pack declares may free what its object owns, whatever region
/// it writes.
fn may_free(skeleton: &Skeleton, universe: &Universe, kind: &StatementKind) -> bool {
    match kind {
        StatementKind::Opaque { writes, .. } | StatementKind::Call { writes, .. } => *writes,
        StatementKind::Write { out, .. } => match skeleton.input.nodes[out.index()].head {
            Head::Op(op) => !universe.ops.get(op).is_access(),
            _ => true,
        },
        StatementKind::Check { .. } => false,
    }
}
