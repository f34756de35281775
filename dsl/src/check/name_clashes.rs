//! Names that several packs declare: what each declaration is called in the end, and what is said of a use that leaves
//! open which one is meant.
//!
//! While packs are read, every type, function and effect has the full name of the pack that begins it. When all are
//! there, those whose name no other pack has lose the pack's ([`Owners`]).

use super::Checker;
use super::report::{Diag, listed};
use crate::syntax::ast::{Path, Span};
use rewright_typeprop::OpId;
use rewright_typeprop::names::Owners;
use std::collections::BTreeMap;

impl Checker<'_> {
    /// Until here all names are those of their packs.
    pub(super) fn settle_names(&mut self) {
        let [mut types, mut fns, mut effects] = [Owners::default(), Owners::default(), Owners::default()];
        let universe = &mut self.program.universe;
        universe.types.decls().for_each(|(_, decl)| types.add(&decl.name));
        universe.ops.iter().for_each(|(_, op)| fns.add(&op.name));
        for scope in &self.scopes {
            scope.own.effects.values().flatten().for_each(|region| effects.add(region));
        }
        universe.types.rename(|decl| types.shortest(&decl.name));
        universe.ops.rename(|op| fns.shortest(&op.name));
        let ids: Vec<OpId> = universe.ops.iter().map(|(id, _)| id).collect();
        for id in ids {
            let own = &mut universe.ops.get_mut(id).effects;
            for region in own.reads.iter_mut().chain(&mut own.writes).chain(&mut own.allocates) {
                *region = effects.shortest(region);
            }
        }
        self.regions = effects;
    }
}

/// A path that means declarations of several packs, by their names and places.
pub(super) fn several(kind: &str, path: &Path, found: impl Iterator<Item = (String, Option<Span>)>) -> Diag {
    let (names, places): (Vec<_>, Vec<_>) = found.collect::<BTreeMap<String, Option<Span>>>().into_iter().unzip();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("`{}` is {} {kind}: {}", path.node, names.len(), listed(&quoted));
    let mut report = Diag::error("RW0215", path.span, message, "which one?");
    for (name, place) in names.iter().zip(places) {
        report = report.also(place.unwrap_or_default(), format!("`{name}`"));
    }
    let first = names.first().cloned().unwrap_or_default();
    report.help(format!("say its pack, as in `{first}`; or import one of the packs `as` another name"))
}
