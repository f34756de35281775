//! Variants of a function that were tried, and what became of them.

use rewright_cfg_skeleton::ir::BlockId;
use rewright_cfg_skeleton::variants::Change;

/// A variant of a function that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariantRemark {
    /// Which loop was changed, from 1, outer before inner ones: of the function, or of the last variant that was taken. None
    /// where it was a merge.
    pub number: Option<usize>,
    /// What was done to it.
    pub change: Change,
    /// What became of it.
    pub fate: VariantFate,
    /// The price of the cache lines that it moves less than the original, which the costs in `fate` do not include.
    pub lines: u64,
    /// The header of the loop, or the merge.
    pub(super) header: BlockId,
}

/// What became of a variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VariantFate {
    /// It is cheaper: from what it was to what it is.
    Taken {
        /// The cost without the change, ..
        before: u64,
        /// .. and with it.
        after: u64,
    },
    /// It costs no less: this much.
    Dearer(u64),
    /// It costs less, but it is larger than that is worth.
    Larger(u64),
    /// Another one costs less still.
    Second(u64),
    /// There are more to try than are tried.
    Untried,
    /// A bug in Rewright, or a wrong rule.
    Failed(String),
}

impl VariantRemark {
    /// The original goes out after all.
    pub(super) fn take_back(&mut self) {
        if let VariantFate::Taken { after, .. } = self.fate {
            self.fate = VariantFate::Dearer(after);
        }
    }
}
