//! Where definitions meet: iterated dominance frontiers.
//!
//! Minimal SSA form: a block gets a parameter where two different definitions arrive. The blocks are the iterated
//! dominance frontier of those that define (Cytron et al., "Efficiently Computing Static Single Assignment Form and
//! the Control Dependence Graph", TOPLAS 1991, section 5), with frontiers computed as by Cooper, Harvey and Kennedy
//! ("A Simple, Fast Dominance Algorithm", 2001, figure 5).

use super::{BlockId, Cfg, Function};

/// Dominance frontiers by block.
pub(crate) struct Frontiers(Vec<Vec<BlockId>>);

impl Frontiers {
    /// Of all reachable blocks.
    pub(crate) fn new(f: &Function, cfg: &Cfg) -> Self {
        let mut frontiers = vec![Vec::new(); f.blocks.len()];
        for block in cfg.reverse_post_order() {
            let preds = cfg.predecessors(*block);
            // The entry has one more way in than it has predecessors.
            if preds.len() + usize::from(*block == f.entry()) < 2 {
                continue;
            }
            let stop = cfg.idom(*block);
            for edge in preds {
                let mut runner = Some(edge.from);
                while runner != stop
                    && let Some(at) = runner
                {
                    let frontier: &mut Vec<BlockId> = &mut frontiers[at.index()];
                    // Blocks come one after the other, so a repetition is next to its first; the walk from
                    // there on has been made.
                    if frontier.last() == Some(block) {
                        break;
                    }
                    frontier.push(*block);
                    runner = cfg.idom(at);
                }
            }
        }
        Frontiers(frontiers)
    }

    /// By block: does it need a parameter for what `changed` blocks define anew?
    pub(crate) fn joins(&self, changed: impl Iterator<Item = BlockId>) -> Vec<bool> {
        let mut joins = vec![false; self.0.len()];
        let mut work: Vec<BlockId> = changed.collect();
        while let Some(block) = work.pop() {
            for join in &self.0[block.index()] {
                if !std::mem::replace(&mut joins[join.index()], true) {
                    work.push(*join);
                }
            }
        }
        joins
    }
}
