//! The order of blocks without loops.

use super::Terms;
use rewright_llvm::body::Block;

/// Blocks that can be reached, each after all that lead to it.
pub(super) fn order(blocks: &[Block]) -> Terms<Vec<usize>> {
    let position = |label: &String| blocks.iter().position(|b| b.label == *label);
    let (mut done, mut open) = (vec![], vec![false; blocks.len()]);
    // Each with the targets that are still to be visited.
    let mut way: Vec<(usize, Vec<usize>)> = vec![];
    let enter = |block: usize| (block, blocks[block].targets().into_iter().filter_map(position).collect());
    way.push(enter(0));
    open[0] = true;
    while let Some((block, rest)) = way.last_mut() {
        match rest.pop() {
            Some(next) if done.contains(&next) => {}
            Some(next) if open[next] => return Err("it has a loop".into()),
            Some(next) => {
                open[next] = true;
                way.push(enter(next));
            }
            None => {
                done.push(*block);
                way.pop();
            }
        }
    }
    done.reverse();
    Ok(done)
}

/// Blocks that one run may execute both, by number: one of them leads to the other.
pub(super) fn together(blocks: &[Block], order: &[usize]) -> Vec<Vec<bool>> {
    let mut leads_to = vec![vec![false; blocks.len()]; blocks.len()];
    for at in order.iter().rev() {
        let targets: Vec<&String> = blocks[*at].targets();
        let next = (0..blocks.len()).filter(|next| targets.contains(&&blocks[*next].label));
        let mut all = vec![false; blocks.len()];
        all[*at] = true;
        for next in next {
            for (reached, further) in all.iter_mut().zip(&leads_to[next]) {
                *reached |= further;
            }
        }
        leads_to[*at] = all;
    }
    leads_to
}
