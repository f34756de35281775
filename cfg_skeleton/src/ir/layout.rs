//! The order of blocks: one in which jumps lead to the next block where they can, frequent ones first.
//!
//! Chains of blocks grow along edges, jumps before branches and frequent edges before rare ones (Pettis and Hansen,
//! "Profile Guided Code Positioning", PLDI 1990, section 4). The entry's chain comes first, the others in reverse
//! post-order of their first blocks.

use super::{BlockId, Cfg, Function, Terminator};
use std::cmp::Reverse;

/// Orders the blocks of a function; those that are not reachable leave the layout.
pub fn lay_out(function: &mut Function, cfg: &Cfg) {
    let order = cfg.reverse_post_order();
    let mut edges = vec![];
    for from in order {
        let term = &function.block(*from).term;
        let is_jump = matches!(term, Terminator::Jump(_));
        for edge in term.edges().iter().filter(|edge| edge.target != function.entry()) {
            let frequency = cfg.edge_frequency(*from, edge.target);
            edges.push((Reverse(is_jump), Reverse(frequency), cfg.position(*from), cfg.position(edge.target)));
        }
    }
    edges.sort_unstable();
    // By position in the order.
    let mut next: Vec<Option<usize>> = vec![None; order.len()];
    let mut is_next = vec![false; order.len()];
    let mut last: Vec<usize> = (0..order.len()).collect();
    for (.., from, to) in edges {
        let (Some(from), Some(to)) = (from.map(|n| n as usize), to.map(|n| n as usize)) else { continue };
        let end = find(&mut last, to);
        if next[from].is_none() && !is_next[to] && end != from {
            (next[from], is_next[to], last[from]) = (Some(to), true, end);
        }
    }
    let firsts = (0..order.len()).filter(|n| !is_next[*n]);
    let chains = firsts.flat_map(|first| std::iter::successors(Some(first), |n| next[*n]));
    function.layout = chains.map(|n| order[n]).collect::<Vec<BlockId>>();
}

/// The last block of the chain from a block on.
fn find(last: &mut [usize], mut at: usize) -> usize {
    while last[at] != at {
        last[at] = last[last[at]];
        at = last[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::lay_out;
    use crate::ir::{BlockId, Cfg};
    use crate::testing::{Builder, universe};

    #[test]
    fn the_frequent_jump_is_the_one_that_needs_none() {
        let universe = universe();
        let mut b = Builder::new(&universe, &["i32"]);
        let (head, body, exit) = (b.block(&[]), b.block(&[]), b.block(&[]));
        let n = b.param(BlockId(0), 0);
        b.jump(head, &[]);
        b.switch_to(head);
        b.branch(n, (body, &[]), (exit, &[]));
        b.switch_to(body);
        b.jump(head, &[]);
        b.switch_to(exit);
        b.ret(&[n]);
        let mut f = b.function;
        let cfg = Cfg::new(&f);
        lay_out(&mut f, &cfg);
        // Once it is entered, the loop jumps nowhere.
        assert_eq!(f.layout, [BlockId(0), body, head, exit]);
    }
}
