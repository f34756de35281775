//! A module with what is looked up in it by name.

use super::layout::{Layout, UnknownLayout};
use super::metadata::Nodes;
use rewright_llvm::module::{Definition, File};
use rustc_hash::FxHashMap;

/// A module.
pub(super) struct Module<'a> {
    pub(super) file: &'a File,
    pub(super) nodes: Nodes<'a>,
    pub(super) layout: Result<Layout, UnknownLayout>,
    globals: FxHashMap<&'a str, &'a str>,
    functions: FxHashMap<&'a str, &'a Definition>,
}

impl<'a> Module<'a> {
    pub(super) fn new(file: &'a File) -> Self {
        let global = |line: &'a str| line.strip_prefix('@').and_then(|_| line.split_once(" = "));
        let declared = file.declarations.values().chain(&file.functions);
        Module {
            file,
            nodes: Nodes::new(file),
            layout: Layout::of(file),
            globals: file.text.lines().filter_map(global).collect(),
            functions: declared.map(|f| (f.name.as_str(), f)).collect(),
        }
    }

    /// A function with a body or without one.
    pub(super) fn function(&self, name: &str) -> Option<&'a Definition> {
        self.functions.get(name).copied()
    }

    /// The definition of a global variable or alias: what stands behind its `=`, without what is attached to it, and
    /// without whether anybody looks at its address and in which shared object it is.
    pub(super) fn global(&self, name: &str) -> Option<String> {
        let text = self.globals.get(name)?;
        let text = text.split(", !").next().unwrap_or(text);
        let words =
            text.split_whitespace().filter(|w| !["unnamed_addr", "local_unnamed_addr", "dso_local"].contains(w));
        Some(words.collect::<Vec<_>>().join(" "))
    }

    /// The alignment that a global variable says it has.
    pub(super) fn alignment(&self, name: &str) -> Option<u64> {
        self.global(name)?.split(", align ").nth(1)?.split(',').next()?.trim().parse().ok()
    }
}

/// One version of a function.
#[derive(Clone, Copy)]
pub(super) struct Version<'a> {
    pub(super) module: &'a Module<'a>,
    pub(super) definition: &'a Definition,
}

impl<'a> Version<'a> {
    /// The module's file.
    pub(super) fn file(&self) -> &'a File {
        self.module.file
    }

    /// The text of its body.
    pub(super) fn text(&self) -> &'a str {
        &self.module.file.text[self.definition.body.clone()]
    }
}
