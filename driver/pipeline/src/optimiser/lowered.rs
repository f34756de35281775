//! A checked program with its rules lowered, which processes keep for each other: reading, checking and lowering packs is
//! nearly all that a small file costs.

use rewright_dsl::egglog::{EgglogProgram, compile, intern_types};
use rewright_dsl::program::Program;
use serde::{Deserialize, Serialize};

/// A checked program, and its rules as the engine runs them.
#[derive(Serialize, Deserialize)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    pub(super) rules: EgglogProgram,
}

impl Lowered {
    /// Lowers the rules of a program.
    pub fn new(mut program: Program) -> Self {
        intern_types(&mut program);
        let rules = compile(&program);
        Lowered { program, rules }
    }

    /// For [`Lowered::from_bytes`] of the same build of this program. Left out: which libraries may be called, and what
    /// an embedding program has registered. `None` for what has no such form.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_extend(self, vec![]).ok()
    }

    /// What [`Lowered::to_bytes`] has written; `None` for anything else that is told from it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}
