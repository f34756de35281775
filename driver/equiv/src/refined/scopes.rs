//! Scopes of accesses (`!alias.scope`, `!noalias`): if one access is in a scope, and another one is `noalias` with that
//! scope, they have no memory in common that either of them writes.
//!
//! LLVM's inliner makes them from parameters that are `noalias`, mostly more than are used: if no access in a scope
//! occurs together with one that is `noalias` with it, or if all accesses only read, the scopes say nothing.

use super::super::modules::Version;
use rewright_llvm::body::{Body, Instruction, Shape};
use std::collections::BTreeSet;

const IN_SCOPES: &str = "!alias.scope";
const APART: &str = "!noalias";

/// The body without scopes, where they say nothing.
pub(super) fn without_idle_scopes(version: Version<'_>, mut body: Body) -> Body {
    if are_idle(version, &body) {
        for i in body.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
            i.metadata.retain(|(kind, _)| kind != IN_SCOPES && kind != APART);
        }
    }
    body
}

fn are_idle(version: Version<'_>, body: &Body) -> bool {
    let all = || body.blocks.iter().flat_map(|block| &block.instructions);
    let is_said = |i: &Instruction| [IN_SCOPES, APART].iter().any(|kind| lists(i, kind).next().is_some());
    if all().filter(|i| is_said(i)).all(|i| matches!(i.shape, Shape::Load(..))) {
        return true;
    }
    let scopes = |kind: &'static str| {
        let lists = all().flat_map(move |i| lists(i, kind)).map(|list| version.module.nodes.members(list));
        lists.collect::<Option<Vec<_>>>().map(|lists| lists.into_iter().flatten().collect::<BTreeSet<&str>>())
    };
    scopes(IN_SCOPES).zip(scopes(APART)).is_some_and(|(inside, apart)| inside.is_disjoint(&apart))
}

/// The lists of scopes of an instruction.
fn lists<'i>(i: &'i Instruction, kind: &str) -> impl Iterator<Item = &'i str> {
    i.metadata.iter().filter(move |(other, _)| other == kind).map(|(_, list)| list.as_str())
}
