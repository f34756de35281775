//! Removes versions of functions that are not called; the others become functions of their own.

use super::ModuleOutcome;
use rewright_cfg_skeleton::ir::Module;
use rewright_cfg_skeleton::ir::calls::CallGraph;
use rewright_typeprop::OpId;
use std::collections::{BTreeMap, BTreeSet};

/// Removes versions that are not called, with their statistics.
pub(super) fn drop_unused(done: &mut ModuleOutcome) {
    let versions = std::mem::take(&mut done.module.versions);
    if versions.is_empty() {
        return;
    }
    let graph = CallGraph::new(&done.module);
    let mut kept: BTreeSet<usize> =
        (0..done.module.functions.len()).filter(|index| !versions.contains_key(index)).collect();
    let mut work: Vec<usize> = kept.iter().copied().collect();
    while let Some(caller) = work.pop() {
        work.extend(graph.callees(caller).iter().filter(|callee| kept.insert(**callee)));
    }
    for unused in versions.keys().filter(|index| !kept.contains(index)) {
        done.statistics.functions[*unused] = None;
    }
    // In the text, each has a name of its own, so that it is read again as what it is.
    let bodies = done.module.bodies.iter().filter(|(_, body)| versions.contains_key(body));
    let names = bodies.map(|(op, body)| (*op, bare(&done.module.functions[*body].name)));
    done.universe.ops.set_apart(&names.collect());
    keep(&mut done.module, &kept);
}

fn bare(name: &str) -> String {
    name.trim_start_matches('%').to_string()
}

/// Keeps some functions of a module, in order.
fn keep(module: &mut Module, kept: &BTreeSet<usize>) {
    let position: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(at, index)| (*index, at)).collect();
    let Module { functions, bodies, lines, .. } = std::mem::take(module);
    let functions = functions.into_iter().enumerate().filter(|(index, _)| kept.contains(index));
    module.functions = functions.map(|(_, f)| f).collect();
    let lines = lines.into_iter().enumerate().filter(|(index, _)| kept.contains(index));
    module.lines = lines.map(|(_, lines)| lines).collect();
    let moved = |(op, body): (OpId, usize)| Some((op, *position.get(&body)?));
    module.bodies = bodies.into_iter().filter_map(moved).collect();
}
