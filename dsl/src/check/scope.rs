//! What names mean in one file.
//!
//! A file sees its own declarations and, through `import p`, everything that `p` declares or imports plainly in
//! its turn. `import p (a, b)` brings only those names in; `import p as q` brings none in, they are written
//! `q.a`. Operators come with any import, since they cannot be qualified. A qualified name `std.arith.iadd` or
//! `arith.iadd` works for every pack that is visible; it is what the pack declares, and only if it declares no such
//! name what it imports plainly.
//!
//! What a file declares hides what it imports plainly, except for functions: they are overloads of one function, unless
//! they take the same types. A name may still mean declarations of several imported packs. A use of it must say which
//! one is meant: `RW0215`.

use crate::program::FactId;
use crate::syntax::ast::Span;
use indexmap::{IndexMap, IndexSet};
use rewright_typeprop::names::qualified;
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{OpId, TypeExpr};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Declarations by name.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    pub(crate) types: IndexMap<String, Vec<TypeDeclId>>,
    pub(crate) ops: IndexMap<String, Vec<OpId>>,
    pub(crate) facts: IndexMap<String, Vec<FactId>>,
    /// The region that each one is, by its full name.
    pub(crate) effects: IndexMap<String, Vec<String>>,
    pub(crate) families: IndexMap<String, Vec<Rc<Family>>>,
    /// Names whose declaration was rejected: their uses say nothing more.
    pub(crate) rejected: IndexSet<String>,
}

/// Several types under one name.
#[derive(PartialEq, Debug)]
pub(crate) struct Family {
    pub(crate) pack: String,
    /// As written, and what they are.
    pub(crate) members: Vec<(String, TypeExpr)>,
}

impl Names {
    /// Does it declare this name in any way?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.types.contains_key(name)
            || self.ops.contains_key(name)
            || self.facts.contains_key(name)
            || self.effects.contains_key(name)
            || self.families.contains_key(name)
            || self.rejected.contains(name)
    }

    fn add(&mut self, other: &Names, only: Option<&dyn Fn(&str) -> bool>) {
        let wanted = |name: &str| only.is_none_or(|f| f(name));
        for (name, ids) in other.types.iter().filter(|(n, _)| wanted(n)) {
            extend(self.types.entry(name.clone()).or_default(), ids);
        }
        for (name, ids) in other.ops.iter().filter(|(n, _)| wanted(n)) {
            extend(self.ops.entry(name.clone()).or_default(), ids);
        }
        for (name, ids) in other.facts.iter().filter(|(n, _)| wanted(n)) {
            extend(self.facts.entry(name.clone()).or_default(), ids);
        }
        for (name, regions) in other.effects.iter().filter(|(n, _)| wanted(n)) {
            extend(self.effects.entry(name.clone()).or_default(), regions);
        }
        for (name, families) in other.families.iter().filter(|(n, _)| wanted(n)) {
            extend(self.families.entry(name.clone()).or_default(), families);
        }
        self.rejected.extend(other.rejected.iter().filter(|n| wanted(n)).cloned());
    }
}

pub(crate) fn extend<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for item in from {
        if !to.contains(item) {
            to.push(item.clone());
        }
    }
}

/// The scope of one file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    /// Its pack.
    pub(crate) pack: String,
    /// Visible without qualification.
    pub(crate) names: Names,
    /// What an importer sees.
    pub(crate) exports: Names,
    /// What the file declares itself; of a function that it extends, all overloads.
    pub(crate) own: Names,
    /// Operators by symbol.
    pub(crate) symbols: IndexMap<String, Vec<OpId>>,
    /// Packs by what they may be called here.
    pub(crate) packs: IndexMap<String, IndexSet<String>>,
    /// What packs declare, and what they export, for qualified names.
    pub(crate) qualified: IndexMap<String, Rc<[Names; 2]>>,
    /// Names that an import lists.
    pub(crate) listed: IndexMap<String, Span>,
    /// An import failed, or an item could not be read: an unknown name may be its.
    pub(crate) incomplete: bool,
}

impl Scope {
    /// A scope for a file of `pack` that imports nothing yet.
    pub(crate) fn new(pack: &str) -> Self {
        let mut scope = Scope { pack: pack.into(), ..Scope::default() };
        scope.names.types.insert("Any".into(), vec![TypeDeclId(0)]);
        scope.call_pack(pack, pack);
        scope
    }

    fn call_pack(&mut self, name: &str, pack: &str) {
        self.packs.entry(name.into()).or_default().insert(pack.into());
        if let Some((_, last)) = name.rsplit_once('.') {
            self.packs.entry(last.into()).or_default().insert(pack.into());
        }
    }

    /// `import`: brings in what `other` exports.
    pub(crate) fn import(&mut self, other: &Scope, alias: Option<&str>, only: Option<&[&str]>) {
        self.incomplete |= other.incomplete;
        let filter = only.map(|names| move |n: &str| names.contains(&n));
        if alias.is_none() {
            self.names.add(&other.exports, filter.as_ref().map(|f| f as &dyn Fn(&str) -> bool));
            if only.is_none() {
                self.exports.add(&other.exports, None);
            }
        }
        for (symbol, ids) in &other.symbols {
            extend(self.symbols.entry(symbol.clone()).or_default(), ids);
        }
        match alias {
            Some(alias) => {
                self.packs.entry(alias.into()).or_default().insert(other.pack.clone());
            }
            None => self.call_pack(&other.pack, &other.pack),
        }
        for (name, packs) in &other.packs {
            if packs.contains(name) {
                self.call_pack(name, name);
            }
        }
        self.qualified.insert(other.pack.clone(), Rc::new([other.own.clone(), other.exports.clone()]));
        for (pack, names) in &other.qualified {
            self.qualified.entry(pack.clone()).or_insert_with(|| names.clone());
        }
    }

    /// Declares an own name in all the tables that hold it.
    pub(crate) fn declare(&mut self, put: impl Fn(&mut Names)) {
        put(&mut self.names);
        put(&mut self.exports);
        put(&mut self.own);
    }

    /// The tables that a possibly qualified name is looked up in, and its last part.
    pub(crate) fn tables<'s, 'n>(&'s self, path: &'n str) -> (Vec<&'s Names>, &'n str) {
        match path.rsplit_once('.') {
            None => (vec![&self.names], path),
            Some((qualifier, last)) => {
                let packs = self.packs.get(qualifier).into_iter().flatten();
                let tables = packs.filter_map(|pack| {
                    let (own, exports) = match self.qualified.get(pack).map(AsRef::as_ref) {
                        _ if *pack == self.pack => (&self.own, &self.exports),
                        Some([own, exports]) => (own, exports),
                        None => return None,
                    };
                    Some(if own.has(last) { own } else { exports })
                });
                (tables.collect(), last)
            }
        }
    }

    /// All that a path means among declarations of one kind.
    fn find<T: Clone + PartialEq>(&self, path: &str, kind: impl Fn(&Names) -> &IndexMap<String, Vec<T>>) -> Vec<T> {
        let (tables, last) = self.tables(path);
        let mut found = Vec::new();
        for table in tables {
            extend(&mut found, kind(table).get(last).map_or(&[][..], Vec::as_slice));
        }
        found
    }

    pub(crate) fn find_types(&self, path: &str) -> Vec<TypeDeclId> {
        self.find(path, |n| &n.types)
    }

    pub(crate) fn find_families(&self, path: &str) -> Vec<Rc<Family>> {
        self.find(path, |n| &n.families)
    }

    /// The regions that declared effects of this name are.
    pub(crate) fn find_effects(&self, path: &str) -> Vec<String> {
        self.find(path, |n| &n.effects)
    }

    /// The region that a name means: a declared effect's, or else what every pack calls so. Several: which ones.
    pub(crate) fn region(&self, path: &str) -> Result<String, Vec<String>> {
        match &self.find_effects(path)[..] {
            [] => Ok(path.to_string()),
            [one] => Ok(one.clone()),
            several => Err(several.to_vec()),
        }
    }

    pub(crate) fn find_ops(&self, path: &str) -> Vec<OpId> {
        self.find(path, |n| &n.ops)
    }

    pub(crate) fn find_facts(&self, path: &str) -> Vec<FactId> {
        self.find(path, |n| &n.facts)
    }

    /// Was a declaration of this name rejected, or may it come from an import that failed?
    pub(crate) fn is_excused(&self, path: &str) -> bool {
        let (tables, last) = self.tables(path);
        self.incomplete || tables.iter().any(|t| t.rejected.contains(last))
    }

    /// What a path to a rule, ruleset or schedule means, given what there is: the pack's own, else what its
    /// qualifier says, else whatever visible packs have. Several are several packs'.
    pub(crate) fn find_path(&self, path: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
        let mut tiers = vec![vec![qualified(&self.pack, path)]];
        if let Some((qualifier, _)) = path.rsplit_once('.') {
            let mut head = qualifier;
            loop {
                let rest = &path[head.len()..];
                tiers.push(self.packs.get(head).into_iter().flatten().map(|p| format!("{p}{rest}")).collect());
                match head.rsplit_once('.') {
                    Some((shorter, _)) => head = shorter,
                    None => break,
                }
            }
        }
        tiers.push(self.qualified.keys().map(|pack| qualified(pack, path)).collect());
        let there = tiers.into_iter().map(|tier| tier.into_iter().filter(|name| exists(name)).collect::<BTreeSet<_>>());
        there.into_iter().find(|names| !names.is_empty()).into_iter().flatten().collect()
    }
}
