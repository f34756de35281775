//! What declarations are called. A name belongs to its pack: two packs that declare a `Matrix` declare two types. In
//! text that is not a pack's (input, output, costs) such a type is `pack.Matrix`; one whose name no other pack has is
//! plainly `Matrix`. Declarations of the standard library keep their plain names: front ends know them by these.
//!
//! Not here: what a name means in a pack, which its imports decide (`dsl::check`).

use std::collections::{BTreeMap, BTreeSet};

/// A declaration of a pack, by its full name.
pub fn qualified(pack: &str, name: &str) -> String {
    format!("{pack}.{name}")
}

/// The name without the pack.
pub fn plain(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, plain)| plain)
}

/// Declarations of one kind: which packs have one of which name.
#[derive(Debug, Default)]
pub struct Owners(BTreeMap<String, BTreeSet<String>>);

impl Owners {
    /// Adds a declaration by its full name. A name without a pack is left out.
    pub fn add(&mut self, name: &str) {
        if let Some((pack, plain)) = name.rsplit_once('.') {
            self.0.entry(plain.into()).or_default().insert(pack.into());
        }
    }

    /// What a declaration with this full name is called: plainly where only its pack, or of the standard library only
    /// its pack, has the name.
    pub fn shortest(&self, name: &str) -> String {
        let Some((pack, plain)) = name.rsplit_once('.') else { return name.into() };
        let is_std = |pack: &str| pack == "std" || pack.starts_with("std.");
        let owners = || self.0.get(plain).into_iter().flatten();
        let alone = match is_std(pack) {
            true => owners().filter(|p| is_std(p)).count() <= 1,
            false => owners().count() <= 1,
        };
        if alone { plain.into() } else { name.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_several_packs_is_qualified_but_in_the_standard_library() {
        let mut owners = Owners::default();
        for name in ["ada.Matrix", "bob.kernels.Matrix", "ada.Vector", "ada.i32", "std.core.i32", "Any"] {
            owners.add(name);
        }
        let called = |name: &str| owners.shortest(name);
        assert_eq!(called("ada.Matrix"), "ada.Matrix");
        assert_eq!(called("bob.kernels.Matrix"), "bob.kernels.Matrix");
        assert_eq!((called("ada.Vector"), called("Any")), ("Vector".into(), "Any".into()));
        assert_eq!((called("ada.i32"), called("std.core.i32")), ("ada.i32".into(), "i32".into()));
        assert_eq!(plain("bob.kernels.Matrix"), "Matrix");
    }
}
