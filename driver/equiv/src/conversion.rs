//! Integers of the second version that are those of the first one in another width.

use rewright_smt::{Expr, Script};

/// How a value of the second version comes from one of the first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Same,
    SignExtended,
    ZeroExtended,
    Truncated,
}

impl How {
    /// A value of this many bits that comes from another.
    pub(crate) fn made(self, s: &mut Script, from: Expr, width: u32) -> Expr {
        match self {
            How::SignExtended => s.sign_extend(from, width),
            How::Same | How::ZeroExtended | How::Truncated => s.resize(from, width),
        }
    }
}
