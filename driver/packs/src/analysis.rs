//! Packs as an editor sees them: texts that are not on disk yet, and what all names mean.

use super::{Packs, load_from};
use rewright_dsl::check::check_indexed;
use rewright_dsl::index::Index;
use rewright_dsl::load::{Root, Trees};

/// Packs and all that they import, checked, with the meaning of their names.
pub struct Analysis {
    /// What they say, and their mistakes.
    pub packs: Packs,
    /// What their names mean.
    pub index: Index,
}

/// Loads and checks packs as [`super::load()`] does; of a file that is open somewhere, `open` has the text by its path.
/// Texts that `trees` have are not parsed again.
pub fn analyse(roots: Vec<Root>, open: &dyn Fn(&str) -> Option<String>, trees: &Trees) -> Analysis {
    let (packs, index) = load_from(roots, open, trees, check_indexed);
    Analysis { packs, index }
}
