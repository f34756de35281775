//! What became of statements that need not be executed where they are: rules let them go, or they only allocate.

use super::{MovedStatement, Relaxed};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::ir::{Function, InstId, InstKind};
use rewright_cfg_skeleton::select::{self, Selection};
use rewright_cfg_skeleton::skeleton::SiteId;
use rewright_typeprop::OpId;

/// Statements that are gone because rules license it.
pub(super) fn relaxed(given: Saturated, selection: &Selection) -> Vec<Relaxed> {
    let one = |(site, rule)| {
        let Call { operation, nth, calls, origin } = Call::of(given, site)?;
        Some(Relaxed { operation, nth, calls, origin, line: None, rule })
    };
    select::relaxed(given, selection).into_iter().filter_map(one).collect()
}

/// Statements that only allocate and are executed in other blocks, or that are unused.
pub(super) fn moved(given: Saturated, selection: &Selection) -> Vec<MovedStatement> {
    let one = |(site, places)| {
        let Call { operation, nth, calls, origin } = Call::of(given, site)?;
        Some(MovedStatement { operation, nth, calls, origin, line: None, places })
    };
    select::moved(given, selection).into_iter().filter_map(one).collect()
}

/// A call as it is spoken of.
struct Call {
    operation: String,
    nth: usize,
    calls: usize,
    origin: Option<u32>,
}

impl Call {
    fn of(given: Saturated, site: SiteId) -> Option<Call> {
        let id = given.skeleton.statement(site).inst;
        let inst = given.function.inst(id);
        let InstKind::Op { op, .. } = inst.kind else { return None };
        let (nth, calls) = nth_call(given.function, op, id);
        Some(Call { operation: given.universe.ops.get(op).name.clone(), nth, calls, origin: inst.origin })
    }
}

/// Which of the function's calls of an operation an instruction is, in order of layout and from 1, and how many there
/// are.
fn nth_call(f: &Function, op: OpId, id: InstId) -> (usize, usize) {
    let insts = f.layout.iter().flat_map(|b| &f.block(*b).insts);
    let calls: Vec<_> =
        insts.filter(|i| matches!(f.inst(**i).kind, InstKind::Op { op: other, .. } if other == op)).collect();
    (calls.iter().position(|i| **i == id).map_or(0, |at| at + 1), calls.len())
}
