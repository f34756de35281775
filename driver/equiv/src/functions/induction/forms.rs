//! Forms of a version that do the same over other control flow: loops of which several iterations are one, or all of
//! them stand instead of the loop, or there is one for each way of a steady branch.
//!
//! They are copies of blocks, and are found to be that ([`variants`]). Those are worth trying that make a version as
//! large as the other one is.

use crate::functions::FunctionVersion;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::{Cfg, Function, InstKind};
use rewright_cfg_skeleton::variants::{self, Change, Proposal};

/// Changes that are made one after the other.
const MOST_CHANGES: usize = 3;

/// Forms that are tried after each change.
const MOST_FORMS: usize = 3;

/// Iterations that may have become one.
const TIMES: [u64; 4] = [2, 3, 4, 8];

/// Forms of a version that come nearer to the size of another one.
pub(super) fn forms(version: FunctionVersion<'_>, other: FunctionVersion<'_>) -> Vec<Function> {
    let goal = size(other.function);
    let mut own = version.function.clone();
    let mut found = vec![];
    for _ in 0..MOST_CHANGES {
        normalise(&mut own);
        let cfg = Cfg::new(&own);
        let far = size(&own).abs_diff(goal);
        let mut nearer = vec![];
        for proposal in variants::proposals(&own, &cfg, version.universe).into_iter().flat_map(several) {
            if let Ok(Some(form)) = variants::vary(&own, &cfg, version.universe, proposal) {
                let distance = size(&form).abs_diff(goal);
                nearer.extend((distance < far).then_some((distance, form)));
            }
        }
        nearer.sort_by_key(|(distance, _)| *distance);
        let Some((_, next)) = nearer.first() else { break };
        own = next.clone();
        found.extend(nearer.into_iter().take(MOST_FORMS).map(|(_, form)| form));
    }
    found
}

/// A change, as often as it may have been made.
fn several(proposal: Proposal) -> Vec<Proposal> {
    match proposal.change {
        Change::Unrolled(_) => TIMES.map(|times| Proposal { change: Change::Unrolled(times), ..proposal }).to_vec(),
        Change::Together(_) => {
            let changes = TIMES.into_iter().flat_map(|times| [Change::Unrolled(times), Change::Together(times)]);
            changes.map(|change| Proposal { change, ..proposal }).collect()
        }
        _ => vec![proposal],
    }
}

/// What a version executes, constants aside.
fn size(function: &Function) -> usize {
    let insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
    insts.filter(|id| !matches!(function.inst(**id).kind, InstKind::Const(_))).count()
}
