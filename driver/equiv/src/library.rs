//! What LLVM knows of functions of the C library by their names and types.
//!
//! A pass of LLVM may use it whether or not a module says it, and `inferattrs` writes it down. So both versions' modules
//! are taken to say it: a call is the same call, and no promise is new.

use super::annotations::parts;
use rewright_llvm::effects::MemoryEffects;
use rewright_llvm::module::{Definition, File, read};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Declarations with all that LLVM 19 knows of them; `scripts/library_attributes.py` writes them.
static LIBRARY: LazyLock<Option<File>> = LazyLock::new(|| read(include_str!("library.ll").to_string()).ok());

/// Attributes of a file in which nothing, or not all of it, is known.
const NO_LIBRARY: [&str; 3] = ["\"no-builtins\"", "nobuiltin", "null_pointer_is_valid"];

/// A file whose declarations of library functions say what LLVM knows of them.
pub(super) fn with_library(file: &File) -> Cow<'_, File> {
    let Some(library) = LIBRARY.as_ref().filter(|_| has_library(file)) else { return Cow::Borrowed(file) };
    let known = |declared: &Definition| {
        library.declarations.get(&declared.name).filter(|known| {
            let types = |of: &Definition| of.parameters.iter().map(|p| p.ty.clone()).collect::<Vec<_>>();
            known.result == declared.result && known.variadic == declared.variadic && types(known) == types(declared)
        })
    };
    let known: Vec<&Definition> = file.declarations.values().filter_map(known).collect();
    if known.is_empty() {
        return Cow::Borrowed(file);
    }
    let mut file = file.clone();
    for known in known {
        let File { declarations, attributes, .. } = &mut file;
        let Some(declared) = declarations.get_mut(&known.name) else { continue };
        // Those of a declaration may be the number of a group.
        let all = attributes.entry(known.name.clone()).or_default();
        add(all, library.attributes.get(&known.name).map_or(&[], Vec::as_slice));
        declared.attributes.clone_from(all);
        add(&mut declared.before, &known.before);
        for (declared, known) in declared.parameters.iter_mut().zip(&known.parameters) {
            add(&mut declared.attributes, &known.attributes);
        }
    }
    Cow::Owned(file)
}

/// Is the program one that runs on a C library, as far as its file shows?
fn has_library(file: &File) -> bool {
    let triple = file.text.lines().find_map(|line| line.strip_prefix("target triple"));
    let denied = |attributes: &Vec<String>| attributes.iter().any(|a| NO_LIBRARY.contains(&parts(a).0));
    triple.is_none_or(|triple| triple.contains("linux")) && !file.attributes.values().any(denied)
}

/// Adds what is known to what is said.
fn add(said: &mut Vec<String>, known: &[String]) {
    for known in known.iter().filter(|known| known.as_str() != "declare") {
        if said.contains(known) {
            continue;
        }
        // One attribute says all of memory.
        let whole = match parts(known) {
            ("memory", inside) => {
                let all = MemoryEffects::of(said.iter().map(String::as_str)).unwrap_or(MemoryEffects::ALL);
                said.retain(|attribute| MemoryEffects::of([attribute.as_str()]).is_none());
                all.and(MemoryEffects::parse(inside).0).to_string()
            }
            _ => known.clone(),
        };
        said.push(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str, name: &str) -> (Vec<String>, Vec<String>) {
        let file = read(text.to_string()).unwrap();
        let file = with_library(&file);
        let declared = &file.declarations[name];
        assert_eq!(file.attributes.get(name), Some(&declared.attributes).filter(|a| !a.is_empty()));
        (declared.before.clone(), declared.attributes.clone())
    }

    #[test]
    fn functions_are_known_by_name_and_types() {
        let (before, attributes) = declared("declare ptr @malloc(i64)\n", "@malloc");
        assert_eq!(before, ["noalias", "noundef"]);
        assert!(attributes.contains(&"memory(inaccessiblemem: readwrite)".to_string()), "{attributes:?}");
        assert!(attributes.contains(&"allocsize(0)".to_string()), "{attributes:?}");
        let length = "declare i64 @strlen(ptr) #0\nattributes #0 = { memory(read, inaccessiblemem: none) nounwind }\n";
        let (_, attributes) = declared(length, "@strlen");
        assert!(attributes.contains(&"memory(argmem: read)".to_string()), "{attributes:?}");
        assert_eq!(attributes.iter().filter(|a| a.starts_with("memory")).count(), 1);
        for other in [
            "declare ptr @malloc(i32)\n",
            "declare ptr @mallok(i64)\n",
            "target triple = \"x86_64-pc-windows-msvc\"\ndeclare ptr @malloc(i64)\n",
            "declare ptr @malloc(i64)\ndefine void @f() \"no-builtins\" {\n  ret void\n}\n",
        ] {
            let file = read(other.to_string()).unwrap();
            let known = with_library(&file);
            assert!(known.declarations.values().all(|d| d.attributes.is_empty()), "{other}");
        }
    }
}
