//! Calls that are marked `tail`: the callee accesses nothing that is on the stack of its caller, or it is undefined. That
//! is the caller's stack slots, its arguments that are passed in memory (`byval`), and its variadic arguments.
//!
//! LLVM marks calls before which the addresses of these cannot have escaped. For such a call the mark says nothing.

use super::super::annotations::parts;
use super::flow::Flow;
use super::symexec::captured_by;
use rewright_llvm::body::{Body, Instruction, Shape};
use rewright_llvm::module::Definition;
use std::collections::BTreeSet;

const MARK: &str = "tail ";

/// Attributes of parameters that are passed on the stack.
const IN_MEMORY: [&str; 3] = ["byval", "inalloca", "preallocated"];

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

/// The body of a function without marks that say nothing.
pub(super) fn without_idle_marks(definition: &Definition, mut body: Body) -> Body {
    for (block, at) in idle(definition, &body) {
        unmark(&mut body.blocks[block].instructions[at]);
    }
    body
}

/// Marked calls that nothing on the stack can have been made known to: by block and position.
fn idle(definition: &Definition, body: &Body) -> Vec<(usize, usize)> {
    let all = |block: usize| body.blocks[block].instructions.iter();
    let instructions = || (0..body.blocks.len()).flat_map(all);
    let is_variadic = |i: &Instruction| matches!(&i.shape, Shape::Call { callee: Some(callee), .. } if callee.starts_with("@llvm.va_"));
    if instructions().any(is_variadic) {
        return vec![];
    }
    let slots = instructions().filter(|i| matches!(i.shape, Shape::Alloca(_))).filter_map(|i| i.result.as_deref());
    let is_on_stack = |a: &String| IN_MEMORY.contains(&parts(a).0);
    let passed = definition.parameters.iter().filter(|parameter| parameter.attributes.iter().any(is_on_stack));
    let on_stack: BTreeSet<&str> = slots.chain(passed.map(|parameter| parameter.name.as_str())).collect();
    let marked: Vec<(usize, usize)> = (0..body.blocks.len())
        .flat_map(|block| all(block).enumerate().filter(|(_, i)| is_tail(i)).map(move |(at, _)| (block, at)))
        .collect();
    if on_stack.is_empty() {
        return marked;
    }
    if marked.len() * instructions().count() > MOST {
        return vec![];
    }
    let flow = Flow::new(body);
    let is_idle = |(block, at): &(usize, usize)| {
        let before = blocks_before(&flow, *block);
        let own = if before.contains(block) { usize::MAX } else { at + 1 };
        let executed = before.iter().filter(|other| *other != block).flat_map(|other| all(*other));
        captured_by(executed.chain(all(*block).take(own)), &body.blocks[*block].instructions[*at])
            .is_disjoint(&on_stack)
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
