//! Runs that go on for ever: one that comes back to a state that it has been in, with no choice and no effect in
//! between, does so again and again.

use super::choice::{RefinementSide, Stop};
use super::memory::Memory;
use super::value::Value;
use rewright_llvm::body::Body;
use rewright_llvm::module::{Definition, File};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A run that has come to fewer blocks is not looked at.
const BEGIN: usize = 16;

/// What decides how a run goes on from the start of a block.
pub(super) struct Now<'r, 'a> {
    pub(super) block: usize,
    pub(super) values: &'r FxHashMap<&'a str, Value>,
    pub(super) memory: &'r Memory,
    /// How often functions were called whose answers may depend on that.
    pub(super) calls: &'r BTreeMap<String, u32>,
    pub(super) events: usize,
    pub(super) choices: usize,
}

/// Such a state that is kept.
struct State<'a> {
    block: usize,
    values: FxHashMap<&'a str, Value>,
    memory: Memory,
    calls: BTreeMap<String, u32>,
    events: usize,
    choices: usize,
}

impl State<'_> {
    fn is(&self, now: &Now<'_, '_>) -> bool {
        self.block == now.block
            && (self.choices, self.events) == (now.choices, now.events)
            && self.calls == *now.calls
            && self.values == *now.values
            && self.memory == *now.memory
    }
}

/// Looks for a state that comes back, by Brent's algorithm: the state that is kept is replaced after twice as many
/// blocks each time, so that a period of any length is found.
#[derive(Default)]
pub(super) struct Watch<'a> {
    blocks: usize,
    kept: Option<State<'a>>,
}

impl<'a> Watch<'a> {
    /// Has the run been in this state before?
    pub(super) fn comes_back(&mut self, now: &Now<'_, 'a>) -> bool {
        self.blocks += 1;
        if self.kept.as_ref().is_some_and(|kept| kept.is(now)) {
            return true;
        }
        if self.blocks >= BEGIN && self.blocks.is_power_of_two() {
            self.kept = Some(State {
                block: now.block,
                values: now.values.clone(),
                memory: now.memory.clone(),
                calls: now.calls.clone(),
                events: now.events,
                choices: now.choices,
            });
        }
        false
    }
}

/// How a run of a function ends that goes on for ever in its body. Where something promises that it makes progress, the
/// first version is undefined. Whether the second one is, and what other metadata of loops promises, is not decided.
pub(super) fn ends(side: RefinementSide, file: &File, definition: &Definition, body: &Body) -> Stop {
    let promised = |attribute: &String| matches!(attribute.as_str(), "mustprogress" | "willreturn");
    let metadata = body.blocks.iter().flat_map(|block| &block.instructions).flat_map(|i| &i.metadata);
    let mut of_loops = metadata.filter(|(kind, _)| kind == "!llvm.loop").map(|(_, node)| node).peekable();
    let is_spoken_of = of_loops.peek().is_some();
    let progresses =
        definition.attributes.iter().any(promised) || of_loops.any(|node| file.progressing_loops.contains(node));
    match (progresses, is_spoken_of, side) {
        (false, false, _) => Stop::Ends,
        (true, _, RefinementSide::Before) => {
            Stop::Undefined("it goes on for ever, and promises to make progress".into())
        }
        _ => Stop::Unsupported("a loop without an end that something is promised of".into()),
    }
}
