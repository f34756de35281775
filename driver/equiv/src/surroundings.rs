//! What two modules have beside functions with bodies, and where they differ in it.
//!
//! A proof of a function says nothing of these: an initial value is another one, a variable is gone.

use super::modules::Module;
use serde::Serialize;
use std::fmt;

/// Something of a module that is another one, or not there, in the other module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ModuleDifference {
    /// `@counter`, `target triple`.
    pub name: String,
    /// What differs.
    pub difference: String,
    /// No other module sees it: what functions make of it is all that matters, and that is compared.
    pub local: bool,
}

impl fmt::Display for ModuleDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.difference)
    }
}

/// Where two modules differ beside their functions: globals of the first one in its order, those that only the second
/// one has, and what stands at the top of files.
pub(super) fn differences(before: &Module<'_>, after: &Module<'_>) -> Vec<ModuleDifference> {
    let mut found = vec![];
    for name in before.global_names() {
        let difference = match (before.global(name), after.global(name)) {
            (was, is) if was == is => continue,
            (_, None) => "only the first file has it".to_string(),
            (_, Some(_)) => "its definition is another one".to_string(),
        };
        let local = before.is_local(name) && after.global(name).is_none_or(|_| after.is_local(name));
        found.push(ModuleDifference { name: name.to_string(), difference, local });
    }
    for name in after.global_names().filter(|name| before.global(name).is_none()) {
        let difference = "only the second file has it".to_string();
        found.push(ModuleDifference { name: name.to_string(), difference, local: after.is_local(name) });
    }
    for name in ["target triple", "target datalayout", "module asm"] {
        let [was, is] = [before, after].map(|module| module.top_level(name));
        if was != is {
            let said = |values: &[&str]| if values.is_empty() { "not there".into() } else { values.join(" ") };
            let difference = format!("{}, and was {}", said(&is), said(&was));
            found.push(ModuleDifference { name: name.to_string(), difference, local: false });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::module::read;

    #[test]
    fn everything_that_differs_beside_functions_is_said() {
        let was = "target triple = \"x86_64-pc-linux-gnu\"\nmodule asm \".globl a\"\n\
                   @same = global i32 1, align 4, !dbg !5\n@changed = global i32 1\n@gone = private constant i8 0\n";
        let is = "target triple = \"aarch64-linux-gnu\"\n\
                  @same = dso_local global i32 1, align 4\n@changed = global i32 2\n@new = global i32 0\n";
        let files = [was, is].map(|text| read(text.to_string()).unwrap());
        let [before, after] = Module::pair([&files[0], &files[1]], [&files[0], &files[1]]);
        let found: Vec<_> = differences(&before, &after).iter().map(|d| (d.to_string(), d.local)).collect();
        let expected = [
            ("@changed: its definition is another one", false),
            ("@gone: only the first file has it", true),
            ("@new: only the second file has it", false),
            ("target triple: \"aarch64-linux-gnu\", and was \"x86_64-pc-linux-gnu\"", false),
            ("module asm: not there, and was \".globl a\"", false),
        ];
        assert_eq!(found, expected.map(|(text, local)| (text.to_string(), local)));
        assert_eq!(differences(&before, &before), []);
    }
}
