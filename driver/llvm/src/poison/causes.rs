//! Plain values: what makes them poison, and whether that makes a value of the original poison.
//!
//! Each use of a value that is `undef` may see another one, so a value that may be poison uses each of its causes once:
//! then what its uses see, all uses in the original may have seen.

use super::{PoisonAnalysis, is_function_of_operands};
use crate::names::Poison;
use rewright_cfg_skeleton::ir::{Definition, Inst, InstKind, Value};
use smallvec::SmallVec;

/// How many values are looked at for one answer; beyond, a value is made non-poison.
const FUEL: u32 = 200;

/// Which original values are causes.
#[derive(Clone, Copy)]
enum Depth {
    /// All: the nearest ones.
    Exact,
    /// Those that have flags.
    Flagged,
}

impl PoisonAnalysis<'_> {
    /// Is a value poison at most where the original's value `wanted` is?
    pub(super) fn covers(&self, wanted: Value, value: Value) -> bool {
        self.is_same(value, wanted)
            || [Depth::Exact, Depth::Flagged].into_iter().any(|depth| {
                let mut fuel = FUEL;
                let causes = self.causes(value, depth, &mut fuel);
                causes.is_some_and(|causes| causes.iter().all(|cause| self.poisons(*cause, wanted, &mut fuel)))
            })
    }

    /// Exact values among the causes of one that may be poison where `wanted` is not, by their flags.
    pub(super) fn spoiling(&self, wanted: Value, value: Value) -> Vec<Value> {
        let mut fuel = FUEL;
        let causes = self.causes(value, Depth::Flagged, &mut fuel).unwrap_or_default();
        let spoils = |cause: &Value| !self.poisons(*cause, wanted, &mut fuel) && self.may_be_bare(*cause);
        causes.into_iter().filter(spoils).collect()
    }

    /// May an original value be one that may be poison as well?
    fn may_be_bare(&self, value: Value) -> bool {
        let Some(Definition::Result(_, id, _)) = self.definitions[value.index()] else { return false };
        let inst = self.function.inst(id);
        let InstKind::Op { op, .. } = &inst.kind else { return false };
        is_function_of_operands(&inst.kind, self.universe)
            && self.names.poison(*op) != Poison::Unknown
            && self.origin(inst).is_some()
            && !self.bare[value.index()]
    }

    /// Is an original value poison only if an operand is?
    fn is_unflagged(&self, value: Value, inst: &Inst) -> bool {
        let InstKind::Op { op, .. } = &inst.kind else { return false };
        is_function_of_operands(&inst.kind, self.universe)
            && self.names.poison(*op) != Poison::Unknown
            && self.origin(inst).is_some_and(|origin| {
                let members = self.original.members(origin);
                self.bare[value.index()] || members.iter().all(|m| !self.original.makes_poison[m.index()])
            })
    }

    /// Has the instruction no original, and is it poison only if an operand is?
    pub(super) fn is_plain(&self, inst: &Inst) -> bool {
        let InstKind::Op { op, .. } = &inst.kind else { return false };
        is_function_of_operands(&inst.kind, self.universe)
            // A divisor that is poison is worse than a quotient that is.
            && !self.universe.ops.get(*op).effects.traps
            && self.names.poison(*op) != Poison::Unknown
            && self.origin(inst).is_none()
    }

    /// Values as exact as their originals, one of which is poison if `value` is; `None` if there may be others, or one
    /// is used twice.
    fn causes(&self, value: Value, depth: Depth, fuel: &mut u32) -> Option<SmallVec<[Value; 4]>> {
        let mut causes = SmallVec::new();
        let mut work = vec![value];
        let once = |causes: &mut SmallVec<[Value; 4]>, value| {
            let first = !causes.contains(&value);
            causes.push(value);
            first.then_some(())
        };
        while let Some(value) = work.pop() {
            *fuel = fuel.checked_sub(1)?;
            match self.definitions[value.index()]? {
                Definition::Param(block, _) => {
                    let matched = self.params.get(&value).is_some_and(|all| !all.is_empty());
                    // A parameter that the original does not have is non-poison.
                    if matched || block == self.function.entry() {
                        once(&mut causes, value)?;
                    }
                }
                Definition::Result(_, id, _) => {
                    let inst = self.function.inst(id);
                    if matches!(inst.kind, InstKind::Const(_)) {
                        continue;
                    }
                    let looks_through = match depth {
                        Depth::Exact => self.bare[value.index()],
                        Depth::Flagged => self.is_unflagged(value, inst),
                    };
                    if looks_through || self.is_plain(inst) {
                        work.extend(&inst.args);
                    } else {
                        self.origin(inst)?;
                        once(&mut causes, value)?;
                    }
                }
            }
        }
        Some(causes)
    }

    /// Is the original's value `wanted` poison, or what computes it undefined, if `cause` is poison?
    fn poisons(&self, cause: Value, wanted: Value, fuel: &mut u32) -> bool {
        if self.is_same(cause, wanted) {
            return true;
        }
        let Some(left) = fuel.checked_sub(1) else { return false };
        *fuel = left;
        let Some(Definition::Result(_, id, _)) = self.original.definitions[wanted.index()] else { return false };
        let inst = self.original.function.inst(id);
        let InstKind::Op { op, .. } = &inst.kind else { return false };
        if !is_function_of_operands(&inst.kind, self.universe) {
            return false;
        }
        match (self.names.poison(*op), inst.args.as_slice()) {
            (Poison::Passes, args) => args.iter().any(|arg| self.poisons(cause, *arg, fuel)),
            (Poison::Chosen, [condition, first, second]) => {
                self.poisons(cause, *condition, fuel)
                    || (self.poisons(cause, *first, fuel) && self.poisons(cause, *second, fuel))
            }
            _ => false,
        }
    }
}
