//! Unused values: tests of loops that have become bounds, and last values of what is counted.

use crate::syntax::{Op, Region};
use rewright_cfg_skeleton::nest::value::may_trap;
use rustc_hash::FxHashMap;

/// Drops arithmetic whose results are unused, and unused values that loops carry.
pub(super) fn drop_unused(region: &mut Region) {
    loop {
        let mut uses = FxHashMap::default();
        count(&region.ops, &mut uses);
        if !in_region(region, &uses) {
            return;
        }
    }
}

fn count(ops: &[Op], uses: &mut FxHashMap<String, usize>) {
    for op in ops {
        let passed = op.successors.iter().flat_map(|(_, names)| names);
        op.operands.iter().chain(passed).for_each(|name| *uses.entry(name.clone()).or_default() += 1);
        op.regions.iter().for_each(|region| count(&region.ops, uses));
    }
}

/// Whether something was dropped.
fn in_region(region: &mut Region, uses: &FxHashMap<String, usize>) -> bool {
    let is_unused = |name: &String| !uses.contains_key(name);
    let length = region.ops.len();
    region.ops.retain(|op| !is_pure(op) || !op.results.iter().all(is_unused));
    let mut dropped = region.ops.len() < length;
    for op in &mut region.ops {
        if op.name == "scf.for" {
            dropped |= in_loop(op, uses);
        }
        dropped |= op.regions.iter_mut().fold(false, |dropped, region| in_region(region, uses) | dropped);
    }
    dropped
}

fn is_pure(op: &Op) -> bool {
    op.name.starts_with("arith.") && !may_trap(&op.name) && op.regions.is_empty()
}

/// Drops what a loop carries and neither it nor what follows looks at.
fn in_loop(op: &mut Op, uses: &FxHashMap<String, usize>) -> bool {
    let [region] = op.regions.as_mut_slice() else { return false };
    let Some(last) = region.ops.last_mut().filter(|last| last.name == "scf.yield") else { return false };
    if op.results.len() != last.operands.len() || op.operands.len() != 3 + op.results.len() {
        return false;
    }
    let unused = |n: &usize| !uses.contains_key(&op.results[*n]) && !uses.contains_key(&region.arguments[1 + n].0);
    let unused: Vec<usize> = (0..op.results.len()).filter(unused).collect();
    for &n in unused.iter().rev() {
        op.results.remove(n);
        op.operands.remove(3 + n);
        region.arguments.remove(1 + n);
        last.operands.remove(n);
        if n < op.result_types.len() {
            op.result_types.remove(n);
        }
    }
    !unused.is_empty()
}
