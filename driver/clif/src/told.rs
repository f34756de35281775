//! The text of a function of CLIF before and after, for reports: what stays has one name in both.
//!
//! Cranelift numbers values and blocks anew, so equal names in two functions mean nothing. Here, what goes out is called
//! what the original calls it, and what is new has names that the original cannot have: `new7`, `newblock2`.

use super::export::Exported;
use super::import::Imported;
use super::print::print;
use cranelift_codegen::ir as clif;
use rewright_cfg_skeleton::ir::{Function, InstKind, Value};
use rewright_pipeline::optimiser::OptimisedFunction;
use rewright_pipeline::source::{Sides, TextLine};
use rewright_typeprop::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// The text of a function before and after.
pub(super) fn sides(
    original: &clif::Function,
    imported: &Imported,
    outcome: &OptimisedFunction,
    exported: &Exported,
) -> Sides {
    let renamed = former_names(imported, outcome, exported);
    Sides { before: lines(original, &BTreeMap::new()), after: lines(&exported.function, &renamed), renamed }
}

/// By name in what goes out: the original's name for the same value or block, or one that it has not.
fn former_names(imported: &Imported, outcome: &OptimisedFunction, exported: &Exported) -> BTreeMap<String, String> {
    let dfg = &exported.function.dfg;
    let mut names: BTreeMap<String, String> =
        dfg.values().map(|v| (v.to_string(), format!("new{}", v.as_u32()))).collect();
    let blocks = exported.function.layout.blocks();
    names.extend(blocks.map(|block| (block.to_string(), format!("new{block}"))));
    let kept = exported.blocks.iter().zip(&imported.payloads.blocks);
    names.extend(kept.filter_map(|(ours, theirs)| Some(((*ours)?.to_string(), theirs.to_string()))));
    let mut used = BTreeSet::new();
    for (ours, theirs) in same(imported, outcome) {
        // Values that the pipeline has added to the original have no name there.
        let (now, former) = (exported.values.get(ours.index()), imported.payloads.values.get(theirs.index()));
        let known = now.copied().flatten().zip(former.copied().flatten());
        if let Some((now, former)) = known.filter(|(_, former)| used.insert(*former)) {
            names.insert(now.to_string(), former.to_string());
        }
    }
    names
}

/// Values of what goes out that the original has: results of the same statements, values that the same operation
/// computes, and constants.
fn same(imported: &Imported, outcome: &OptimisedFunction) -> BTreeMap<Value, Value> {
    let before = results(&imported.function);
    let of_constants = constants(&imported.function);
    let mut same = BTreeMap::new();
    for inst in &outcome.function.insts {
        let theirs = inst.origin.and_then(|origin| before.get(&origin).copied());
        match (&inst.kind, theirs) {
            (InstKind::Const(n), _) => {
                let ours = inst.results[0];
                same.extend(of_constants.get(&(outcome.function.ty(ours), *n)).map(|theirs| (ours, *theirs)));
            }
            (_, Some(theirs)) => same.extend(inst.results.iter().copied().zip(theirs.iter().copied())),
            (_, None) => {}
        }
    }
    same.extend(&outcome.originals);
    same
}

/// By number of an instruction: its results.
fn results(function: &Function) -> BTreeMap<u32, &[Value]> {
    function.insts.iter().filter_map(|inst| Some((inst.origin?, inst.results.as_slice()))).collect()
}

/// The first constant of each type and number.
fn constants(function: &Function) -> BTreeMap<(Ty, i64), Value> {
    let mut constants = BTreeMap::new();
    for inst in function.layout.iter().flat_map(|block| &function.block(*block).insts).map(|id| function.inst(*id)) {
        if let InstKind::Const(n) = inst.kind {
            constants.entry((function.ty(inst.results[0]), n)).or_insert(inst.results[0]);
        }
    }
    constants
}

/// The lines of a body, from its first block on, in other names.
fn lines(function: &clif::Function, renamed: &BTreeMap<String, String>) -> Vec<TextLine> {
    let text = print(function);
    let body = text.lines().skip_while(|line| !line.starts_with("block")).take_while(|line| *line != "}");
    let body = body.filter(|line| !line.trim().is_empty());
    body.map(|line| TextLine { text: in_other_names(line, renamed), place: None }).collect()
}

/// A line with other names for values and blocks.
pub fn in_other_names(line: &str, renamed: &BTreeMap<String, String>) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        out.push_str(renamed.get(word).map_or(word, String::as_str));
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_renamed_as_wholes() {
        let renamed = BTreeMap::from([("v1", "v9"), ("v12", "new12")].map(|(a, b)| (a.to_string(), b.to_string())));
        assert_eq!(
            in_other_names("    v1 = iadd v12, v123  ; v1 = 8", &renamed),
            "    v9 = iadd new12, v123  ; v9 = 8"
        );
    }
}
