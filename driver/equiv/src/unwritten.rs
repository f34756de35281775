//! Variables of a module that keep what they begin with: only the module's functions know of them, and all that these do
//! with them is to read.

use super::literals;
use super::replay::global;
use rewright_llvm::body::{self, Body, Instruction, Operand, Shape};
use rewright_llvm::lex::global_names;
use rewright_llvm::module::File;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The names of those of a file, whose definitions are given by name.
pub(super) fn unwritten(file: &File, globals: &FxHashMap<&str, &str>) -> BTreeSet<String> {
    let mut found: BTreeSet<&str> =
        globals.iter().filter(|(_, definition)| is_own(definition)).map(|(name, _)| *name).collect();
    // Assembly names what it likes.
    let has_assembly = || file.text.split_whitespace().any(|word| word == "asm");
    if found.is_empty() || has_assembly() {
        return BTreeSet::new();
    }
    let in_definitions: BTreeSet<&str> = globals.values().flat_map(|definition| global_names(definition)).collect();
    // Any code may read what stands before a function's code.
    let in_heads: BTreeSet<&str> =
        file.functions.iter().flat_map(|function| global_names(function.head(file))).collect();
    found.retain(|name| !in_definitions.contains(name) && !in_heads.contains(name));
    for function in &file.functions {
        let mentioned: BTreeSet<&str> =
            global_names(&file.text[function.body.clone()]).into_iter().filter(|name| found.contains(name)).collect();
        if mentioned.is_empty() {
            continue;
        }
        let known = body::read(file, function).map(|body| Reader { file, body: &body, mentioned: &mentioned }.others());
        match known {
            Ok(others) => found.retain(|name| !others.contains(*name)),
            Err(_) => found.retain(|name| !mentioned.contains(name)),
        }
    }
    // Text outside of functions and definitions is about debuggers.
    found.into_iter().map(String::from).collect()
}

/// Is it a variable of the module alone, which its text initialises?
fn is_own(definition: &str) -> bool {
    let says = |what: &str| definition.split_whitespace().any(|word| word == what);
    let local = definition.split_whitespace().take(2).any(|word| word == "private" || word == "internal");
    let variable = global(definition);
    local
        && !variable.constant
        && variable.open.is_none()
        && variable.initial.is_some()
        && !says("externally_initialized")
        && !definition.contains(" section ")
}

/// Looks for what a body does with variables beside reading them.
struct Reader<'b> {
    file: &'b File,
    body: &'b Body,
    mentioned: &'b BTreeSet<&'b str>,
}

impl<'b> Reader<'b> {
    /// The variables that it may write to, or of which others may come to know the address.
    fn others(&self) -> BTreeSet<String> {
        let all = || self.body.blocks.iter().flat_map(|block| &block.instructions);
        // Values that are addresses in a variable: what is a sum of such a value comes behind it, or is looked at again.
        let mut inside: BTreeMap<&str, &str> = BTreeMap::new();
        loop {
            let known = inside.len();
            for i in all() {
                if let (Shape::Offset { base, .. }, Some(name)) = (&i.shape, i.result.as_deref())
                    && let Some(variable) = self.variable(base, &inside)
                {
                    inside.insert(name, variable);
                }
            }
            if inside.len() == known {
                break;
            }
        }
        let mut others = BTreeSet::new();
        for i in all() {
            let read = match &i.shape {
                Shape::Load(from, access) if access.plain => Some(from),
                Shape::Offset { base, .. } => Some(base),
                _ => None,
            };
            let read = read.and_then(|operand| Some((operand, self.variable(operand, &inside)?)));
            others.extend(self.used(i, &inside, read).into_iter().map(String::from));
        }
        others
    }

    /// The variable that an address is in.
    fn variable(&self, address: &'b Operand, inside: &BTreeMap<&'b str, &'b str>) -> Option<&'b str> {
        let mut name = address.text.as_str();
        while let Some(base) = literals::base(name, &self.file.named) {
            name = base;
        }
        inside.get(name).copied().or_else(|| self.mentioned.get(name).copied())
    }

    /// The variables that an instruction uses, beside an operand once.
    fn used(
        &self,
        i: &'b Instruction,
        inside: &BTreeMap<&'b str, &'b str>,
        but: Option<(&'b Operand, &'b str)>,
    ) -> Vec<&'b str> {
        let locals = i.template.holes.iter().filter_map(|hole| inside.get(hole.as_str()).copied());
        let pieces = i
            .template
            .pieces
            .iter()
            .flat_map(|piece| global_names(piece))
            .filter_map(|name| self.mentioned.get(name).copied());
        let mut used: Vec<&str> = locals.chain(pieces).collect();
        if let Some((_, variable)) = but
            && let Some(at) = used.iter().position(|name| *name == variable)
        {
            used.remove(at);
        }
        used
    }
}
