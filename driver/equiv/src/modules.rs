//! A module with what is looked up in it by name.

use super::metadata::{Nodes, top_level};
use super::recursion::CallGraph;
use super::replay::{ABSOLUTE, Global, Layout as Sizes, LayoutError, global};
use super::structure::structure;
use super::unwritten::unwritten;
use rewright_llvm::layout::{Layout, UnknownLayout};
use rewright_llvm::lex::{Kind, tokens};
use rewright_llvm::module::{Definition, File};
use rewright_llvm::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A module.
pub(super) struct Module<'a> {
    /// As calls in it see it.
    pub(super) file: &'a File,
    /// As its functions say it of themselves.
    pub(super) own: &'a File,
    pub(super) nodes: Nodes<'a>,
    pub(super) layout: Result<Layout, UnknownLayout>,
    /// Sizes and places by that layout.
    pub(super) sizes: Result<Sizes<'a>, LayoutError>,
    globals: FxHashMap<&'a str, &'a str>,
    /// Their names, in order.
    global_names: Vec<&'a str>,
    functions: FxHashMap<&'a str, &'a Definition>,
    /// Names of functions that are defined more than once.
    ambiguous: FxHashSet<&'a str>,
    /// Functions that only this module calls, and only by name.
    called_by_name: FxHashSet<&'a str>,
    /// Which functions call which ones, once that has been asked.
    calls: OnceLock<CallGraph>,
    /// Variables that no function of either module writes to.
    unwritten: BTreeSet<String>,
}

impl<'a> Module<'a> {
    /// A module whose calls see functions as `file` has them, and whose functions say of themselves what they say in
    /// `own`: the same functions, in the same order.
    pub(super) fn new(file: &'a File, own: &'a File) -> Self {
        let global = |entry: &'a str| {
            let (name, definition) = entry.strip_prefix('@').and_then(|_| entry.split_once('='))?;
            Some((name.trim(), definition.trim()))
        };
        let globals: Vec<(&str, &str)> = top_level(&file.text).into_iter().filter_map(global).collect();
        let mut once = FxHashSet::default();
        Module {
            file,
            own,
            nodes: Nodes::new(file),
            layout: Layout::of(file),
            sizes: Sizes::new(&file.data_layout, &file.named),
            global_names: globals.iter().map(|(name, _)| *name).collect(),
            globals: globals.into_iter().collect(),
            functions: file.declarations.values().chain(&file.functions).map(|f| (f.name.as_str(), f)).collect(),
            called_by_name: called_by_name(file),
            calls: OnceLock::new(),
            unwritten: BTreeSet::new(),
            ambiguous: file.functions.iter().map(|f| f.name.as_str()).filter(|name| !once.insert(*name)).collect(),
        }
    }

    /// The modules of both versions. A variable keeps what it begins with where neither writes to it.
    pub(super) fn pair(files: [&'a File; 2], own: [&'a File; 2]) -> [Module<'a>; 2] {
        let mut modules = [Module::new(files[0], own[0]), Module::new(files[1], own[1])];
        let kept = modules.each_ref().map(|module| unwritten(module.file, &module.globals));
        let of = |n: usize| {
            let is_kept = |name: &&String| {
                let other = modules[1 - n].globals.get(name.as_str());
                other.is_none_or(|text| global(text).constant || kept[1 - n].contains(*name))
            };
            kept[n].iter().filter(is_kept).cloned().collect()
        };
        let [old, new] = [of(0), of(1)];
        (modules[0].unwritten, modules[1].unwritten) = (old, new);
        modules
    }

    /// May a call of a function lead to another one of it before it returns?
    pub(super) fn may_recur(&self, function: &str) -> bool {
        self.calls.get_or_init(|| CallGraph::new(self.file)).may_recur(function)
    }

    /// Does more than one function with a body have this name?
    pub(super) fn is_ambiguous(&self, name: &str) -> bool {
        self.ambiguous.contains(name)
    }

    /// Names of global variables and aliases, in the order of the file.
    pub(super) fn global_names(&self) -> impl Iterator<Item = &'a str> {
        self.global_names.iter().copied()
    }

    /// Is a global another name for what lies elsewhere?
    pub(super) fn is_alias(&self, name: &str) -> bool {
        let is_word = |text: &str| {
            let words = tokens(text).into_iter().filter(|token| token.kind == Kind::Word);
            words.map(|token| text[token.start..token.end].to_string()).any(|word| word == "alias" || word == "ifunc")
        };
        self.globals.get(name).is_some_and(|text| is_word(text))
    }

    /// Does no other module see a global variable or alias?
    pub(super) fn is_local(&self, name: &str) -> bool {
        let words = self.globals.get(name).map(|text| text.split_whitespace().take(2));
        words.is_some_and(|mut words| words.any(|word| word == "private" || word == "internal"))
    }

    /// What lines at the top of a file say: `"x86_64-pc-linux-gnu"` of `target triple`.
    pub(super) fn top_level(&self, name: &str) -> Vec<&'a str> {
        let value = |line: &'a str| line.strip_prefix(name).map(|rest| rest.trim_start_matches([' ', '=']).trim_end());
        self.file.text.lines().filter_map(value).collect()
    }

    /// The words before the type of what a function gives. The calling convention of a function that only its module
    /// calls, and only by name, is not compared; each call states it.
    pub(super) fn before(&self, definition: &Definition) -> Vec<String> {
        let own = self.called_by_name.contains(definition.name.as_str());
        definition.before.iter().filter(|word| !own || !is_convention(word)).cloned().collect()
    }

    /// What a call and its function say of what it gives. Where the function is one of those, the call must call it in its
    /// way, and then that is not said.
    pub(super) fn said_of_result(&self, callee: Option<&Definition>, flags: &[String]) -> Vec<String> {
        let convention = |words: &[String]| words.iter().find(|word| is_convention(word)).cloned();
        let declared = callee.map_or(&[][..], |callee| &callee.before);
        let agreed = convention(declared) == convention(flags);
        let own = callee.is_some_and(|callee| self.called_by_name.contains(callee.name.as_str()));
        flags.iter().chain(declared).filter(|word| !(own && agreed && is_convention(word))).cloned().collect()
    }

    /// A function with a body or without one, as calls see it.
    pub(super) fn function(&self, name: &str) -> Option<&'a Definition> {
        self.functions.get(name).copied()
    }

    /// The text of the definition of a global variable or alias: what stands behind its `=`.
    pub(super) fn definition(&self, name: &str) -> Option<&'a str> {
        self.globals.get(name).copied()
    }

    /// The definition of a global variable or alias: what stands behind its `=`, with named types written out, but
    /// without what is attached to it (only what that says of its address is kept), and without whether its address is
    /// significant and in which shared object it is.
    pub(super) fn global(&self, name: &str) -> Option<String> {
        let text = self.globals.get(name)?;
        let tokens = tokens(text);
        let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.start..token.end]);
        let is_attachment = |at: usize| word(at) == "," && tokens.get(at + 1).is_some_and(|t| t.kind == Kind::Metadata);
        let end = (0..tokens.len()).find(|at| is_attachment(*at)).unwrap_or(tokens.len());
        let mut written: Vec<String> = vec![];
        for (at, token) in tokens[..end].iter().enumerate() {
            match token.kind {
                Kind::Word if ["unnamed_addr", "local_unnamed_addr", "dso_local"].contains(&word(at)) => {}
                Kind::Local => written.push(structure(&Type::Named(word(at).to_string()), &self.file.named)),
                _ => written.push(word(at).to_string()),
            }
        }
        if let Some(at) = (end..tokens.len()).find(|at| word(*at) == ABSOLUTE) {
            written.push(format!("{ABSOLUTE} {}", self.nodes.whole(word(at + 1))));
        }
        Some(written.join(" "))
    }

    /// The same, where a variable is a constant that no function writes to.
    pub(super) fn global_as_read(&self, name: &str) -> Option<String> {
        let text = self.global(name)?;
        Some(if self.is_unwritten(name) { text.replacen(" global ", " constant ", 1) } else { text })
    }

    /// Does a variable that no other module knows keep its initial value?
    fn is_unwritten(&self, name: &str) -> bool {
        self.is_local(name) && self.unwritten.contains(name)
    }

    /// What a global variable is, and whether others may be where it is; `None` where its place is not its own. One that no
    /// function writes to is a constant.
    pub(super) fn variable(&self, name: &str) -> Option<(Global, bool)> {
        let text = self.globals.get(name)?;
        let mut global = global(text);
        global.constant = global.constant || self.is_unwritten(name);
        let says = |word: &str| text.split_whitespace().any(|other| other == word);
        let replaced = says("weak") || says("linkonce") || says("common");
        let shared = text.contains("unnamed_addr") || text.contains("_odr");
        (global.open.is_none() && !replaced).then_some((global, shared))
    }

    /// May the address of a global or of a function be null, since it is weak and need not be defined, or its place is given?
    pub(super) fn may_be_null(&self, name: &str) -> bool {
        let says = |text: &str, what: &str| text.split_whitespace().any(|word| word == what);
        let variable = self.globals.get(name).is_some_and(|text| says(text, "extern_weak") || says(text, ABSOLUTE));
        let function = self.function(name).is_some_and(|f| f.before.iter().any(|word| word == "extern_weak"));
        // Where a declaration stands is not kept.
        variable || function || (self.function(name).is_some() && self.file.text.contains(ABSOLUTE))
    }

    /// The alignment that a global variable says it has.
    pub(super) fn alignment(&self, name: &str) -> Option<u64> {
        let text = self.globals.get(name)?;
        let tokens = tokens(text);
        let words: Vec<&str> = tokens.iter().map(|token| &text[token.start..token.end]).collect();
        let at = words.windows(2).position(|pair| pair == [",", "align"])?;
        words.get(at + 2)?.parse().ok()
    }
}

/// Is a word before a type a calling convention?
pub(super) fn is_convention(word: &str) -> bool {
    word.ends_with("cc") || word.starts_with("cc ")
}

/// Local functions of a convention whose names stand nowhere but where they are defined, and where they are called by
/// it.
fn called_by_name(file: &File) -> FxHashSet<&str> {
    let is_local = |word: &String| word == "internal" || word == "private";
    let local = file.functions.iter().filter(|f| f.before.iter().any(is_local));
    let convention = |f: &'_ Definition| f.before.iter().find(|word| is_convention(word)).cloned();
    let mut found: FxHashMap<&str, String> = local.filter_map(|f| Some((f.name.as_str(), convention(f)?))).collect();
    if !found.is_empty() {
        let tokens = tokens(&file.text);
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Global) {
            let name = &file.text[token.start..token.end];
            let Some(convention) = found.get(name) else { continue };
            let line = file.text[..token.start].rsplit('\n').next().unwrap_or_default();
            let is_called = tokens.get(at + 1).is_some_and(|next| &file.text[next.start..next.end] == "(");
            if !is_called || !line.split_whitespace().any(|word| word == convention) {
                found.remove(name);
            }
        }
    }
    found.into_keys().collect()
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
