//! Calls that are marked `tail`: the callee accesses no stack slot of its caller, or it is undefined.
//!
//! LLVM marks the calls before which nobody else can have come to know a slot. Of those the mark says nothing.

use super::flow::Flow;
use super::symexec::captured_by;
use rewright_llvm::body::{Body, Instruction, Shape};
use std::collections::BTreeSet;

const MARK: &str = "tail ";

/// Calls that are looked at, times instructions.
const MOST: usize = 1_000_000;

/// Is a call marked so?
pub(super) fn is_tail(i: &Instruction) -> bool {
    i.template.pieces.first().is_some_and(|first| first.starts_with(MARK))
}

/// Takes the mark away.
pub(super) fn unmark(i: &mut Instruction) {
    if let Some(first) = i.template.pieces.first_mut()
        && let Some(rest) = first.strip_prefix(MARK)
    {
        *first = rest.to_string();
    }
}

/// The body without marks that say nothing.
pub(super) fn without_idle_marks(mut body: Body) -> Body {
    for (block, at) in idle(&body) {
        unmark(&mut body.blocks[block].instructions[at]);
    }
    body
}

/// Marked calls that no slot can have been made known to: by block and position.
fn idle(body: &Body) -> Vec<(usize, usize)> {
    let all = |block: usize| body.blocks[block].instructions.iter();
    let slots: BTreeSet<&str> = (0..body.blocks.len())
        .flat_map(all)
        .filter(|i| matches!(i.shape, Shape::Alloca(_)))
        .filter_map(|i| i.result.as_deref())
        .collect();
    let marked: Vec<(usize, usize)> = (0..body.blocks.len())
        .flat_map(|block| all(block).enumerate().filter(|(_, i)| is_tail(i)).map(move |(at, _)| (block, at)))
        .collect();
    let size: usize = body.blocks.iter().map(|block| block.instructions.len()).sum();
    if slots.is_empty() || marked.len() * size > MOST {
        return vec![];
    }
    let flow = Flow::new(body);
    let is_idle = |(block, at): &(usize, usize)| {
        let before = blocks_before(&flow, *block);
        let own = if before.contains(block) { usize::MAX } else { at + 1 };
        let executed = before.iter().filter(|other| *other != block).flat_map(|other| all(*other));
        captured_by(executed.chain(all(*block).take(own))).is_disjoint(&slots)
    };
    marked.into_iter().filter(is_idle).collect()
}

/// Blocks that may be executed before one: it is among them if it is in a cycle.
fn blocks_before(flow: &Flow<'_>, block: usize) -> BTreeSet<usize> {
    let (mut found, mut todo) = (BTreeSet::new(), vec![block]);
    while let Some(at) = todo.pop() {
        todo.extend(flow.predecessors(at).filter(|from| found.insert(*from)));
    }
    found
}
