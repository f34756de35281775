//! What becomes of calls of the C functions that packs declare, by function, over the files of a build: a declaration
//! that takes no call is of no use, and what C makes of the function says why.
//!
//! Functions of packs that ship are left out: the user has not declared them.

use super::import::{Imported, Refused};
use super::module::File;
use super::names::{InstructionForm, Names};
use rewright_cfg_skeleton::ir::InstKind;
use rewright_typeprop::{OpId, Universe};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// Calls of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DeclaredCalls {
    /// Those that are what a pack declares.
    pub taken: u64,
    /// Why others are not, and how many for each reason.
    pub refused: BTreeMap<String, u64>,
}

impl AddAssign for DeclaredCalls {
    fn add_assign(&mut self, other: Self) {
        self.taken += other.taken;
        for (because, calls) in other.refused {
            *self.refused.entry(because).or_default() += calls;
        }
    }
}

/// Functions that packs of the user declare, of which a universe is known alone.
pub fn of_packs(universe: &Universe) -> BTreeSet<String> {
    declared(&Names::new(&mut universe.clone()), universe).into_keys().collect()
}

/// Functions that packs of the user declare, with the first operation that each one is.
pub(super) fn declared(names: &Names, universe: &Universe) -> BTreeMap<String, OpId> {
    let own = |ops: &[OpId]| ops.iter().copied().find(|op| !universe.ops.get(*op).pack.starts_with("std."));
    names.all_functions().filter_map(|(name, ops)| Some((name.to_string(), own(ops)?))).collect()
}

/// What became of calls in a file. A function's own file may call it: that is how libraries are written.
pub(super) fn calls<'i>(
    file: &File,
    imported: impl Iterator<Item = &'i Imported>,
    names: &Names,
    universe: &Universe,
) -> BTreeMap<String, DeclaredCalls> {
    let declared = declared(names, universe);
    let mut calls: BTreeMap<String, DeclaredCalls> = BTreeMap::new();
    if declared.is_empty() {
        return calls;
    }
    let is_library = |call: &Refused| file.functions.iter().any(|f| f.name == call.callee && !f.is_inline());
    for Imported { function, payloads, .. } in imported {
        for inst in &function.insts {
            if let InstKind::Op { op, .. } = inst.kind
                && let Some((name, InstructionForm::Call)) = names.written(op)
                && declared.contains_key(name)
            {
                calls.entry(name.to_string()).or_default().taken += 1;
            }
        }
        for call in payloads.refused.iter().filter(|call| declared.contains_key(&call.callee) && !is_library(call)) {
            let refused = &mut calls.entry(call.callee.clone()).or_default().refused;
            *refused.entry(call.because.clone()).or_default() += 1;
        }
    }
    calls
}

/// Functions that packs of the user declare, and that the file does not name.
pub(super) fn unnamed(file: &File, names: &Names, universe: &Universe) -> Vec<String> {
    let is_named = |name: &String| {
        file.declarations.contains_key(name) || file.functions.iter().any(|function| function.name == *name)
    };
    declared(names, universe).into_keys().filter(|name| !is_named(name)).collect()
}
