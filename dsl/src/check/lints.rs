//! Stage 5: what is allowed but probably not meant. Only root files are spoken of.

use super::Checker;

impl Checker<'_> {
    pub(super) fn lint(&mut self) {}
}
