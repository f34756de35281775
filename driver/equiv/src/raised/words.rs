//! Functions of our IR as nests: of CLIF, and of our own text.

use super::{Licence, Shown, Subject, decide};
use crate::functions::FunctionVersion;
use crate::raise::{Accessed, Source};
use rewright_cfg_skeleton::ir::{Access, Function, InstId, InstKind, Value};

/// Compares two versions.
pub(crate) fn compare(versions: [FunctionVersion<'_>; 2]) -> Shown {
    let [first, second] = versions.map(|version| Plain(version.function));
    let [before, after] = [
        Subject { function: first.0, universe: versions[0].universe, source: &first },
        Subject { function: second.0, universe: versions[1].universe, source: &second },
    ];
    decide([before, after], &Flags([&first, &second]))
}

/// A function that promises nothing but what its accesses say.
struct Plain<'a>(&'a Function);

impl Plain<'_> {
    /// What an access says, but for the code with which it traps.
    fn access(&self, inst: InstId) -> Option<Access> {
        match &self.0.inst(inst).kind {
            InstKind::Op { access: Some(access), .. } => Some(Access { trap: None, ..*access }),
            _ => None,
        }
    }
}

impl Source for Plain<'_> {
    fn promises(&self, _inst: InstId) -> Vec<String> {
        vec![]
    }

    fn address(&self, _inst: InstId) -> Option<Value> {
        None
    }

    fn is_address(&self, _value: Value) -> bool {
        false
    }

    fn name(&self, parameter: usize) -> String {
        format!("v{}", self.0.block(self.0.entry()).params[parameter].0)
    }

    fn may_be_poison(&self, _parameter: usize) -> bool {
        false
    }
}

struct Flags<'a>([&'a Plain<'a>; 2]);

impl Licence for Flags<'_> {
    fn is_apart(&self, _parameter: u32) -> bool {
        false
    }

    fn breaks(&self, access: &Accessed, firsts: &[&Accessed]) -> Option<String> {
        let [first, second] = self.0;
        let promised = second.access(access.inst);
        let is_kept = firsts.iter().all(|other| first.access(other.inst) == promised);
        let plain = promised
            .is_some_and(|access| access.region.index() == 0 && !access.readonly && !access.aligned && !access.movable);
        (!is_kept && !plain).then(|| "the second version's accesses promise something else".to_string())
    }
}
