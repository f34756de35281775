//! What tests of this front end share: the standard packs' universe.

use rewright_dsl::program::Program;
use rewright_packs as packs;
use rewright_typeprop::Universe;
use std::path::Path;

/// The standard packs.
pub(crate) fn program() -> Program {
    packs::load(vec![packs::root(Path::new(packs::DEFAULT)).unwrap()]).program
}

/// The operations of the standard packs.
pub(crate) fn universe() -> Universe {
    program().universe
}
