//! An object whose place is known, and what lies in it.

use rewright_smt::{self as smt, Expr, Sort};

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// May others know its address?
    Slot { escapes: bool },
    /// May it be written to?
    Global { constant: bool },
}

/// An object.
#[derive(Clone)]
pub(in super::super) struct Object {
    pub(in super::super) address: Expr,
    /// In bytes. One that is defined elsewhere may be larger.
    pub(in super::super) size: u64,
    pub(super) exact: bool,
    pub(in super::super) origin: Expr,
    pub(in super::super) kind: Kind,
    /// Others may be where it is.
    pub(super) shared: bool,
}

impl Object {
    pub(in super::super) fn is_slot(&self) -> bool {
        matches!(self.kind, Kind::Slot { .. })
    }
}

/// When this many bytes at an address lie within an object.
pub(in super::super) fn within(s: &mut smt::Script, object: &Object, address: Expr, bytes: u64) -> Expr {
    if object.size < bytes {
        return Expr::FALSE;
    }
    let distance = s.apply("bvsub", &[address, object.address], Sort::Bits(64));
    let most = s.bits(64, (object.size - bytes).into());
    s.apply("bvule", &[distance, most], Sort::Bool)
}

/// When this many bytes at an address have none in common with an object.
pub(in super::super) fn apart(s: &mut smt::Script, object: &Object, address: Expr, bytes: u64) -> Expr {
    if object.size == 0 || bytes == 0 {
        return Expr::TRUE;
    }
    let sort = Sort::Bits(64);
    let behind = s.apply("bvsub", &[address, object.address], sort);
    let before = s.apply("bvsub", &[object.address, address], sort);
    let [size, bytes] = [object.size, bytes].map(|n| s.bits(64, n.into()));
    let (behind, before) =
        (s.apply("bvuge", &[behind, size], Sort::Bool), s.apply("bvuge", &[before, bytes], Sort::Bool));
    s.and(&[behind, before])
}
