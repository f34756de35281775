//! Whether a function may run again before it has returned.
//!
//! That is no promise that bodies keep one by one: where functions call each other, each of them calls none that is known
//! to run again, and all of them do. So calls are followed, through the bodies of a module, to wherever they lead.

use super::annotations::has;
use rewright_llvm::body::{self, Body, Instruction, Shape};
use rewright_llvm::effects;
use rewright_llvm::module::{Definition, File};
use rustc_hash::{FxHashMap, FxHashSet};

/// Linkages of definitions for which the linker may take another one.
const REPLACEABLE: [&str; 7] =
    ["weak", "weak_odr", "linkonce", "linkonce_odr", "common", "extern_weak", "available_externally"];

/// Which functions of a module call which ones.
#[derive(Default)]
pub(super) struct CallGraph {
    /// By function with a body: what it may call, except for functions that call back nothing of the module; `None`
    /// where that is not known.
    callees: FxHashMap<String, Option<FxHashSet<String>>>,
    /// Functions of which another module may have the body that runs.
    replaceable: FxHashSet<String>,
}

impl CallGraph {
    /// That of a module.
    pub(super) fn new(file: &File) -> Self {
        let callees = |function| body::read(file, function).ok().and_then(|body| callees(file, &body));
        let replaceable = file.functions.iter().filter(|function| is_replaceable(function));
        CallGraph {
            callees: file.functions.iter().map(|f| (f.name.clone(), callees(f))).collect(),
            replaceable: replaceable.map(|f| f.name.clone()).collect(),
        }
    }

    /// May a call of a function lead to another one of it? A function whose body others may replace, or that is called
    /// by a pointer, may call anything.
    pub(super) fn may_recur(&self, function: &str) -> bool {
        let (mut todo, mut seen) = (vec![function], FxHashSet::default());
        while let Some(caller) = todo.pop() {
            let may_be_another = caller != function && self.replaceable.contains(caller);
            let Some(Some(callees)) = self.callees.get(caller).filter(|_| !may_be_another) else { return true };
            if callees.contains(function) {
                return true;
            }
            todo.extend(callees.iter().map(String::as_str).filter(|callee| seen.insert(*callee)));
        }
        false
    }
}

/// The functions that a body may call, except for those that call back nothing; `None` where that is not known.
fn callees(file: &File, body: &Body) -> Option<FxHashSet<String>> {
    let mut found = FxHashSet::default();
    for i in body.blocks.iter().flat_map(|block| &block.instructions) {
        match &i.shape {
            // Facts about values in its bundles call nothing.
            Shape::Call { callee: Some(callee), .. } if callee == "@llvm.assume" => {}
            Shape::Call { callee: Some(callee), bundles: false, .. } if calls_back(file, callee, i) => {
                found.insert(callee.clone());
            }
            Shape::Call { callee: Some(_), bundles: false, .. } => {}
            Shape::Call { .. } | Shape::Other => return None,
            _ => {}
        }
    }
    Some(found)
}

/// May a call lead back into its module? Not that of a function without a body here that promises so.
fn calls_back(file: &File, callee: &str, i: &Instruction) -> bool {
    let Shape::Call { attributes, .. } = &i.shape else { return true };
    let said = effects::attributes(file, Some(callee), attributes);
    !file.declarations.contains_key(callee) || !said.iter().any(|list| has(list, "nocallback"))
}

/// May the linker take another definition of a function?
pub(super) fn is_replaceable(function: &Definition) -> bool {
    function.before.iter().any(|word| REPLACEABLE.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::module::read;

    #[test]
    fn who_may_run_again() {
        let text = "declare void @out()\ndeclare void @leaf() nocallback\ndeclare void @llvm.assume(i1)\n\
            define void @ends() {\ncall void @leaf()\nret void\n}\n\
            define void @above() {\ncall void @ends()\ncall void @ends()\nret void\n}\n\
            define void @itself() {\ncall void @itself()\nret void\n}\n\
            define void @uses() {\ncall void @itself()\nret void\n}\n\
            define void @one() {\ncall void @two()\nret void\n}\n\
            define void @two() norecurse {\ncall void @one()\nret void\n}\n\
            define void @goes() {\ncall void @out()\nret void\n}\n\
            define void @by_pointer(ptr %p) {\ncall void %p()\nret void\n}\n\
            define void @assumes(ptr %p) {\ncall void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 8) ]\nret void\n}\n\
            define weak void @weak() {\nret void\n}\n\
            define void @on_weak() {\ncall void @weak()\nret void\n}\n";
        let file = read(text.to_string()).unwrap();
        let calls = CallGraph::new(&file);
        let again: Vec<&str> =
            file.functions.iter().map(|f| f.name.as_str()).filter(|name| calls.may_recur(name)).collect();
        assert_eq!(again, ["@itself", "@one", "@two", "@goes", "@by_pointer", "@on_weak"]);
    }
}
