//! What a proof rests on: a call is taken to do the same in both versions, which is proved of the function that it calls
//! and nowhere else.
//!
//! A function rests on those that its second version may lead to and that are not one text in both modules; what leads
//! through functions that are one text is followed. Calls that only the first version makes are not among these: a
//! proof does without them.

use super::headers;
use super::modules::{Module, Version};
use super::same::same;
use super::{Config, Method, replayed};
use rewright_cfg_skeleton::verdict::{Evidence, Tier};
use rewright_llvm::lex::global_names;
use rewright_llvm::module::Definition;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Which functions of two modules are one text, and which ones others rest on.
pub(super) struct Dependencies<'a> {
    modules: [&'a Module<'a>; 2],
    /// By name: the definitions as functions say it of themselves.
    defined: FxHashMap<&'a str, [Option<&'a Definition>; 2]>,
    known: RefCell<FxHashMap<&'a str, bool>>,
    mentioned: RefCell<FxHashMap<&'a str, Vec<&'a str>>>,
}

impl<'a> Dependencies<'a> {
    pub(super) fn new(modules: &'a [Module<'a>; 2]) -> Self {
        let mut defined: FxHashMap<&str, [Option<&Definition>; 2]> = FxHashMap::default();
        for (n, module) in modules.iter().enumerate() {
            for function in &module.own.functions {
                defined.entry(&function.name).or_default()[n] = Some(function);
            }
        }
        Dependencies { modules: modules.each_ref(), defined, known: RefCell::default(), mentioned: RefCell::default() }
    }

    /// Are two versions one text, and do both modules say the same of what they mention?
    pub(super) fn is_same(&self, name: &str) -> bool {
        let Some((name, [Some(was), Some(is)])) = self.defined.get_key_value(name) else { return false };
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let [before, after] = self.modules;
        let versions = [Version { module: before, definition: was }, Version { module: after, definition: is }];
        let is_same = !self.modules.iter().any(|module| module.is_ambiguous(name))
            && headers::signature(versions[0], versions[1]).is_none()
            && headers::compare(versions[0], versions[1], None).is_ok()
            && same(versions[0], versions[1]);
        self.known.borrow_mut().insert(name, is_same);
        is_same
    }

    /// The functions that a function rests on, by name.
    pub(super) fn of(&self, function: &str) -> Vec<String> {
        let (mut todo, mut seen) = (self.mentioned_by(function), FxHashSet::default());
        let mut found = BTreeSet::new();
        while let Some(name) = todo.pop() {
            if name == function || !seen.insert(name) {
                continue;
            }
            if self.defined.contains_key(name) && !self.is_same(name) {
                found.insert(name.to_string());
            } else {
                todo.extend(self.mentioned_by(name));
            }
        }
        found.into_iter().collect()
    }

    /// Functions and globals that the second version of a function names, or the definitions of a global do.
    fn mentioned_by(&self, name: &str) -> Vec<&'a str> {
        let Some((name, versions)) = self.defined.get_key_value(name) else {
            let definitions = self.modules.iter().filter_map(|module| module.definition(name));
            return definitions.flat_map(global_names).collect();
        };
        if let Some(known) = self.mentioned.borrow().get(name) {
            return known.clone();
        }
        let [_, after] = self.modules;
        let text = versions[1].map(|definition| Version { module: after, definition }.text());
        let found: Vec<&str> = text.map(global_names).into_iter().flatten().collect();
        self.mentioned.borrow_mut().insert(name, found.clone());
        found
    }
}

/// A pair of which all methods have told.
pub(super) struct Judged<'a> {
    /// Of its verdict.
    pub(super) position: usize,
    pub(super) versions: [Version<'a>; 2],
    pub(super) evidence: Evidence,
}

impl Judged<'_> {
    fn name(&self) -> &str {
        &self.versions[0].definition.name
    }

    fn is_proved(&self) -> bool {
        let Evidence { proved, precondition, refuted, .. } = &self.evidence;
        proved.is_some() && precondition.is_none() && refuted.is_none()
    }
}

/// Notes what proofs rest on. Where that is not proved itself, runs may show what a proof has not looked at: they go
/// into the bodies of the functions that are called.
pub(super) fn settle(all: &mut [Judged<'_>], dependencies: &Dependencies<'_>, config: &Config) {
    for one in all.iter_mut().filter(|one| one.evidence.proved.is_some()) {
        one.evidence.rests_on = dependencies.of(one.name());
    }
    let known: BTreeMap<String, Vec<String>> = {
        let proved = all.iter().filter(|one| one.is_proved());
        proved.map(|one| (one.name().to_string(), one.evidence.rests_on.clone())).collect()
    };
    for Judged { versions, evidence, .. } in all.iter_mut().filter(|one| one.evidence.proved.is_some()) {
        if is_settled(&evidence.rests_on, &known) {
            continue;
        }
        // Others have been run.
        if evidence.proved == Some(Tier::Same) && config.methods.contains(&Method::Replayed) {
            evidence.refuted = replayed::tried(*versions, config).refuted;
        }
        if evidence.refuted.is_some() {
            // The proof holds, and what it rests on does not.
            (evidence.proved, evidence.precondition, evidence.outside) = (None, None, None);
        }
    }
}

/// Are these functions proved, and all that they rest on?
fn is_settled(functions: &[String], known: &BTreeMap<String, Vec<String>>) -> bool {
    let (mut todo, mut seen): (Vec<&String>, BTreeSet<&String>) = (functions.iter().collect(), BTreeSet::new());
    while let Some(name) = todo.pop() {
        match known.get(name) {
            Some(rests_on) if seen.insert(name) => todo.extend(rests_on),
            Some(_) => {}
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::module::read;

    #[test]
    fn a_function_rests_on_what_differs_behind_its_calls() {
        let was = "@table = constant [1 x ptr] [ptr @by_table]\n\
            define internal i32 @leaf(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n\
            define internal i32 @by_table(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n\
            define i32 @direct(i32 %x) {\n  %y = call i32 @leaf(i32 %x)\n  ret i32 %y\n}\n\
            define i32 @through(i32 %x) {\n  %y = call i32 @direct(i32 %x)\n  ret i32 %y\n}\n\
            define ptr @gives() {\n  ret ptr @table\n}\n\
            define i32 @alone(i32 %x) {\n  ret i32 %x\n}\n\
            define i32 @recurs(i32 %x) {\n  %y = call i32 @recurs(i32 %x)\n  ret i32 %y\n}\n\
            define internal i32 @gone(i32 %x) {\n  ret i32 %x\n}\n\
            define i32 @inlines(i32 %x) {\n  %y = call i32 @gone(i32 %x)\n  ret i32 %y\n}\n";
        let is = was
            .replace("add i32 %x, 1", "add i32 1, %x")
            .replace("define internal i32 @gone(i32 %x) {\n  ret i32 %x\n}\n", "")
            .replace("%y = call i32 @gone(i32 %x)", "%y = add i32 %x, 0");
        let files = [was.to_string(), is].map(|text| read(text).unwrap());
        let modules = Module::pair([&files[0], &files[1]], [&files[0], &files[1]]);
        let rests = Dependencies::new(&modules);
        for (function, on) in [
            ("@direct", &["@leaf"][..]),
            ("@through", &["@leaf"]),
            ("@gives", &["@by_table"]),
            ("@alone", &[]),
            ("@recurs", &[]),
            ("@inlines", &[]),
        ] {
            assert_eq!(rests.of(function), on, "{function}");
        }
        assert!(rests.is_same("@through") && !rests.is_same("@leaf") && !rests.is_same("@gone"));
    }
}
