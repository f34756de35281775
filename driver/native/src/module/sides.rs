//! The text of a function before and after, for reports: what stays has one name in both.
//!
//! The pipeline numbers values anew, so equal names in two functions mean nothing. Here, what goes out is called what the
//! original calls it, and what is new has names that the original cannot have: `new7`.

use rewright_cfg_skeleton::ir::text::print;
use rewright_cfg_skeleton::ir::{Function, InstKind, Value};
use rewright_clif::told::in_other_names;
use rewright_pipeline::source::{Sides, TextLine};
use rewright_typeprop::{Ty, Universe};
use std::collections::{BTreeMap, BTreeSet};

/// The text of a function before and after; instructions of both that have one number are one.
pub(super) fn sides(before: &Function, after: &Function, universe: &Universe) -> Sides {
    let renamed = former_names(before, after);
    let lines = |function: &Function, renamed: &BTreeMap<String, String>| -> Vec<TextLine> {
        let text = print(&unnumbered(function), universe);
        let body = text.lines().skip(1).filter(|line| *line != "}");
        body.map(|line| TextLine { text: in_other_names(line, renamed), place: None }).collect()
    };
    Sides { before: lines(before, &BTreeMap::new()), after: lines(after, &renamed), renamed }
}

/// Without the numbers of instructions, which are not in the source.
fn unnumbered(function: &Function) -> Function {
    let mut plain = function.clone();
    plain.insts.iter_mut().for_each(|inst| inst.origin = None);
    plain
}

/// By name in what goes out: the original's name for the same value, or one that it has not.
fn former_names(before: &Function, after: &Function) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> =
        (0..after.values.len()).map(|n| (format!("v{n}"), format!("new{n}"))).collect();
    let mut used = BTreeSet::new();
    for (ours, theirs) in same(before, after) {
        if used.insert(theirs) {
            names.insert(format!("v{}", ours.0), format!("v{}", theirs.0));
        }
    }
    names
}

/// Values of what goes out that the original has: parameters of the same blocks, constants, and results of the same
/// instructions.
fn same(before: &Function, after: &Function) -> BTreeMap<Value, Value> {
    let mut same = BTreeMap::new();
    for (ours, theirs) in after.blocks.iter().zip(&before.blocks) {
        if ours.params.len() == theirs.params.len() {
            same.extend(ours.params.iter().copied().zip(theirs.params.iter().copied()));
        }
    }
    let (mut results, mut constants) = (BTreeMap::new(), BTreeMap::<(Ty, i64), Value>::new());
    for inst in &before.insts {
        results.extend(inst.origin.map(|origin| (origin, &inst.results)));
        if let InstKind::Const(n) = inst.kind {
            constants.entry((before.ty(inst.results[0]), n)).or_insert(inst.results[0]);
        }
    }
    for inst in after.layout.iter().flat_map(|block| &after.block(*block).insts).map(|id| after.inst(*id)) {
        let theirs = inst.origin.and_then(|origin| results.get(&origin).copied());
        match (&inst.kind, theirs) {
            (InstKind::Const(n), _) => {
                let constant = constants.get(&(after.ty(inst.results[0]), *n));
                same.extend(constant.map(|theirs| (inst.results[0], *theirs)));
            }
            (_, Some(theirs)) => same.extend(inst.results.iter().copied().zip(theirs.iter().copied())),
            (_, None) => {}
        }
    }
    same
}
