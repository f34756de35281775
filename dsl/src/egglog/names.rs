//! Names that egglog accepts and that do not clash: constructors, relations, primitives and rulesets share one
//! name space there, and a variable may not look like any of them.

use rustc_hash::FxHashSet;

/// Words that egglog's parser or the printed program takes, and those of the nodes that loops and branches will be.
const RESERVED: &[&str] = &[
    "V", "State", "List", "Const", "Leaf", "Token", "Proj", "Cons", "Nil", "Isa", "Applied", "AppliedS", "Optional",
    "Bool", "Unit", "String", "Vec", "Map", "Set", "Rest", "Loop", "Block", "Param", "Phi", "Theta", "Exit", "Eval",
    "Pass", "Scan",
];

/// Gives out names.
pub(super) struct Names {
    taken: FxHashSet<String>,
}

impl Names {
    pub(super) fn new() -> Self {
        Names { taken: RESERVED.iter().map(|s| (*s).to_owned()).collect() }
    }

    /// `name` itself, or with a number at its end where it is taken.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let mut n = 1;
        while !self.taken.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name}_{n}");
        }
        candidate
    }

    /// A constructor's or relation's name: `iadd` gives `Iadd`, `load.i32` gives `Load_i32`.
    pub(super) fn capitalised(&mut self, name: &str) -> String {
        let clean = symbol(name);
        let mut chars = clean.chars();
        let name = match chars.next() {
            Some(first) if first.is_ascii_alphabetic() => first.to_ascii_uppercase().to_string() + chars.as_str(),
            _ => format!("Op{clean}"),
        };
        self.unique(&name)
    }
}

/// `name` with everything but letters, digits and `_` replaced.
pub(super) fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// `name` with `.` kept: rulesets and rules.
pub(super) fn path(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-#@".contains(c) { c } else { '_' }).collect()
}
