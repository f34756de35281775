//! Functions of our IR as nests: of CLIF, and of our own text.

use super::{Licence, Subject};
use crate::functions::FunctionVersion;
use crate::raise::{Accessed, Block, Source};
use rewright_cfg_skeleton::ir::{Access, Function, InstId, InstKind, Value};

/// Asks something of two versions.
pub(crate) fn with<T>(versions: [FunctionVersion<'_>; 2], ask: impl FnOnce([Subject<'_>; 2], &dyn Licence) -> T) -> T {
    let [first, second] = versions.map(|version| Plain(version.function));
    let [before, after] = [
        Subject { function: first.0, universe: versions[0].universe, source: &first },
        Subject { function: second.0, universe: versions[1].universe, source: &second },
    ];
    ask([before, after], &Flags([&first, &second]))
}

/// A function that promises nothing but what its accesses say.
struct Plain<'a>(&'a Function);

impl Plain<'_> {
    /// What an access says, except for the code with which it traps.
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

    fn block(&self, _inst: InstId) -> Option<Result<Block, String>> {
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

    fn traps_are_undefined(&self) -> bool {
        false
    }
}

/// The address is a multiple of the size.
const ALIGNED: &str = "aligned";

/// The access may be executed wherever its address is known.
const MOVABLE: &str = "can_move";

struct Flags<'a>([&'a Plain<'a>; 2]);

impl Licence for Flags<'_> {
    fn is_apart(&self, _parameter: u32) -> bool {
        false
    }

    fn has_poison(&self) -> bool {
        false
    }

    fn promises(&self, access: &Accessed) -> Result<Vec<String>, String> {
        let found = self.0[1].access(access.inst).ok_or("an access without flags")?;
        if found.region.index() != 0 || found.readonly {
            return Err("the second version says what other accesses do not reach".into());
        }
        let flags = [(found.aligned, ALIGNED), (found.movable, MOVABLE)];
        Ok(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_string()).collect())
    }

    fn keeps(&self, access: &Accessed, promise: &str) -> bool {
        let found = self.0[0].access(access.inst);
        found.is_some_and(|found| if promise == ALIGNED { found.aligned } else { found.movable })
    }
}
