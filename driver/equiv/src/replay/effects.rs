//! What attributes say of the memory that a function accesses.

use crate::annotations::table::{AnnotationTarget, Runs, runs};

/// Does an attribute of a function limit the memory that it accesses?
pub(super) fn is_about_memory(attribute: &str) -> bool {
    runs(AnnotationTarget::Function, attribute) == Runs::Check && attribute != "noreturn"
}

/// Does an attribute of a function say nothing of runs that return, beside what it accesses?
pub(super) fn is_harmless_of_function(attribute: &str) -> bool {
    runs(AnnotationTarget::Function, attribute) == Runs::Ignore
}

/// Which accesses a function may make: reads and writes, by its arguments and elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effects {
    pub(super) arguments: [bool; 2],
    pub(super) others: [bool; 2],
    /// It may change what nobody else sees.
    pub(super) inaccessible: bool,
    /// Some attribute limits them.
    pub(super) limited: bool,
}

impl Effects {
    /// What all attributes together allow.
    pub(super) fn of<'t>(attributes: impl Iterator<Item = &'t str>) -> Effects {
        let mut effects = Effects { arguments: [true; 2], others: [true; 2], inaccessible: true, limited: false };
        for attribute in attributes.filter(|attribute| is_about_memory(attribute)) {
            effects.limited = true;
            let inside = match attribute {
                "readnone" => "none",
                "readonly" => "read",
                "writeonly" => "write",
                "argmemonly" => "argmem: readwrite",
                "inaccessiblememonly" => "inaccessiblemem: readwrite",
                "inaccessiblemem_or_argmemonly" => "argmem: readwrite, inaccessiblemem: readwrite",
                _ => attribute.trim_start_matches("memory(").trim_end_matches(')'),
            };
            let of = |place: &str| {
                let parts = inside.split(',').map(|part| part.split_once(':').unwrap_or(("", part)));
                let named = parts.filter(|(name, _)| name.trim() == place).map(|(_, access)| access.trim()).next_back();
                named.map(|access| [access.starts_with("read"), access.ends_with("write")])
            };
            let default = of("").unwrap_or([false; 2]);
            let both = |a: [bool; 2], b: [bool; 2]| [a[0] && b[0], a[1] && b[1]];
            effects.arguments = both(effects.arguments, of("argmem").unwrap_or(default));
            effects.others = both(effects.others, default);
            effects.inaccessible &= of("inaccessiblemem").unwrap_or(default)[1];
        }
        effects
    }
}
