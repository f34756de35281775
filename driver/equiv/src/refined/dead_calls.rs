//! Calls that only read memory, and whose results are unused: the first version may do without them where the second
//! one does.
//!
//! Such a call returns and leaves everything as it was, so that the rest is the first version except for what is
//! undefined in the call. This does not hold of the second version: what is undefined there must stay.

use super::super::annotations::has;
use super::super::modules::Version;
use super::instructions::calls;
use rewright_cfg_skeleton::ir::OpaqueEffects;
use rewright_llvm::body::{Body, Instruction, Shape};
use rewright_llvm::captures::holes;
use rewright_llvm::effects::{self, MemoryEffects};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The first version's body without such calls of functions that the second one calls less often by as many.
pub(super) fn without_dead_calls(versions: [Version<'_>; 2], bodies: [&Body; 2]) -> Option<Body> {
    let [first, second] = bodies.map(calls);
    let mut dead: BTreeMap<&str, usize> = BTreeMap::new();
    for callee in instructions(bodies[0]).filter_map(|i| only_reads(versions[0], i)) {
        dead.insert(callee, 0);
    }
    // The arguments of a call that stays are needed.
    let used = loop {
        let used = used(versions[0], bodies[0], &dead);
        let before = dead.len();
        dead.values_mut().for_each(|n| *n = 0);
        for i in instructions(bodies[0]).filter(|i| !is_used(i, &used)) {
            if let Some(n) = only_reads(versions[0], i).and_then(|callee| dead.get_mut(callee)) {
                *n += 1;
            }
        }
        dead.retain(|callee, n| *n > 0 && first[callee] == second.get(callee).unwrap_or(&0) + *n);
        if dead.len() == before {
            break used;
        }
    };
    if dead.is_empty() {
        return None;
    }
    let mut body = bodies[0].clone();
    for block in &mut body.blocks {
        block.instructions.retain(|i| {
            let goes = only_reads(versions[0], i).is_some_and(|callee| dead.contains_key(callee));
            is_used(i, &used) || !(goes || only_computes(i))
        });
    }
    Some(body)
}

fn instructions(body: &Body) -> impl Iterator<Item = &Instruction> {
    body.blocks.iter().flat_map(|block| &block.instructions)
}

/// The function that is called, if all that a call does is to read memory.
fn only_reads<'b>(version: Version<'_>, i: &'b Instruction) -> Option<&'b str> {
    let Shape::Call { callee: Some(callee), attributes, bundles: false, .. } = &i.shape else { return None };
    let said = effects::attributes(version.file(), Some(callee), attributes).concat();
    let stays = has(&said, "nounwind") || has(&version.definition.attributes, "nounwind");
    let returns = has(&said, "willreturn") && stays && !has(&said, "noreturn");
    let reads = effects::of(version.file(), i) == OpaqueEffects::Observes;
    // Memory that the module does not see counts, too: the callee's next call reads what this one writes.
    let writes = MemoryEffects::of(said.iter().map(String::as_str)).is_none_or(MemoryEffects::writes);
    (returns && reads && !writes && !callee.starts_with("@llvm.")).then_some(callee.as_str())
}

/// Does an instruction nothing but compute a value?
fn only_computes(i: &Instruction) -> bool {
    // A division may be undefined; that the first version need not be.
    matches!(i.shape, Shape::Plain(_) | Shape::Offset { .. } | Shape::Phi(_))
}

fn is_used(i: &Instruction, used: &BTreeSet<&str>) -> bool {
    i.result.as_ref().is_some_and(|name| used.contains(name.as_str()))
}

/// Values that are live if calls of these functions are dead where their results are.
fn used<'b>(version: Version<'_>, body: &'b Body, dead: &BTreeMap<&str, usize>) -> BTreeSet<&'b str> {
    let made: FxHashMap<&str, &Instruction> =
        instructions(body).filter_map(|i| Some((i.result.as_deref()?, i))).collect();
    let taken = |i: &'b Instruction| -> Vec<&'b str> {
        match &i.shape {
            Shape::Phi(values) => values.iter().map(|(value, _)| value.text.as_str()).collect(),
            _ => holes(i).collect(),
        }
    };
    let may_go =
        |i: &Instruction| only_computes(i) || only_reads(version, i).is_some_and(|callee| dead.contains_key(callee));
    let roots = instructions(body).filter(|i| !may_go(i));
    let mut todo: Vec<&str> = roots.flat_map(taken).collect();
    let mut used = BTreeSet::new();
    while let Some(name) = todo.pop() {
        if used.insert(name) {
            todo.extend(made.get(name).into_iter().flat_map(|i| taken(i)));
        }
    }
    used
}
