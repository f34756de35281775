//! What names mean in one file.
//!
//! A file sees its own declarations and, through `import p`, everything that `p` declares or imports plainly in
//! its turn. `import p (a, b)` brings only those names in; `import p as q` brings none in, they are written
//! `q.a`. Operators come with any import, since they cannot be qualified. A qualified name `std.arith.iadd` or
//! `arith.iadd` works for every pack that is visible.

use crate::program::FactId;
use indexmap::{IndexMap, IndexSet};
use rewright_typeprop::types::TypeDeclId;
use rewright_typeprop::{OpId, TypeExpr};

/// Declarations by name.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    pub(crate) types: IndexMap<String, TypeDeclId>,
    pub(crate) ops: IndexMap<String, Vec<OpId>>,
    pub(crate) facts: IndexMap<String, Vec<FactId>>,
    pub(crate) effects: IndexSet<String>,
    /// Families of types: their members as written, and what they are.
    pub(crate) families: IndexMap<String, Vec<(String, TypeExpr)>>,
    /// Names whose declaration was rejected: their uses say nothing more.
    pub(crate) rejected: IndexSet<String>,
}

impl Names {
    /// Does it declare this name in any way?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.types.contains_key(name)
            || self.ops.contains_key(name)
            || self.facts.contains_key(name)
            || self.effects.contains(name)
            || self.families.contains_key(name)
            || self.rejected.contains(name)
    }

    fn add(&mut self, other: &Names, only: Option<&dyn Fn(&str) -> bool>) {
        let wanted = |name: &str| only.is_none_or(|f| f(name));
        for (name, id) in other.types.iter().filter(|(n, _)| wanted(n)) {
            self.types.insert(name.clone(), *id);
        }
        for (name, ids) in other.ops.iter().filter(|(n, _)| wanted(n)) {
            extend(self.ops.entry(name.clone()).or_default(), ids);
        }
        for (name, ids) in other.facts.iter().filter(|(n, _)| wanted(n)) {
            extend(self.facts.entry(name.clone()).or_default(), ids);
        }
        self.effects.extend(other.effects.iter().filter(|n| wanted(n)).cloned());
        for (name, members) in other.families.iter().filter(|(n, _)| wanted(n)) {
            self.families.insert(name.clone(), members.clone());
        }
        self.rejected.extend(other.rejected.iter().filter(|n| wanted(n)).cloned());
    }
}

fn extend<T: Copy + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for item in from {
        if !to.contains(item) {
            to.push(*item);
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
    /// Operators by symbol.
    pub(crate) symbols: IndexMap<String, Vec<OpId>>,
    /// Packs by what they may be called here.
    pub(crate) packs: IndexMap<String, IndexSet<String>>,
    /// Own exports by pack, for qualified names.
    pub(crate) qualified: IndexMap<String, Names>,
    /// An import failed: an unknown name may be its.
    pub(crate) incomplete: bool,
}

impl Scope {
    /// A scope for a file of `pack` that imports nothing yet.
    pub(crate) fn new(pack: &str) -> Self {
        let mut scope = Scope { pack: pack.into(), ..Scope::default() };
        scope.names.types.insert("Any".into(), TypeDeclId(0));
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
        self.qualified.insert(other.pack.clone(), other.exports.clone());
        for (pack, names) in &other.qualified {
            self.qualified.entry(pack.clone()).or_insert_with(|| names.clone());
        }
    }

    /// Declares an own name in all the tables that hold it.
    pub(crate) fn declare(&mut self, put: impl Fn(&mut Names)) {
        put(&mut self.names);
        put(&mut self.exports);
    }

    /// The tables that a possibly qualified name is looked up in, and its last part.
    pub(crate) fn tables<'s, 'n>(&'s self, path: &'n str) -> (Vec<&'s Names>, &'n str) {
        match path.rsplit_once('.') {
            None => (vec![&self.names], path),
            Some((qualifier, last)) => {
                let packs = self.packs.get(qualifier);
                let tables = packs
                    .into_iter()
                    .flatten()
                    .filter_map(|p| if *p == self.pack { Some(&self.exports) } else { self.qualified.get(p) });
                (tables.collect(), last)
            }
        }
    }

    pub(crate) fn find_type(&self, path: &str) -> Option<TypeDeclId> {
        let (tables, last) = self.tables(path);
        tables.iter().find_map(|t| t.types.get(last).copied())
    }

    pub(crate) fn find_family(&self, path: &str) -> Option<&[(String, TypeExpr)]> {
        let (tables, last) = self.tables(path);
        tables.iter().find_map(|t| t.families.get(last).map(Vec::as_slice))
    }

    pub(crate) fn find_ops(&self, path: &str) -> Vec<OpId> {
        let (tables, last) = self.tables(path);
        let mut ops = Vec::new();
        for table in tables {
            extend(&mut ops, table.ops.get(last).map_or(&[][..], Vec::as_slice));
        }
        ops
    }

    pub(crate) fn find_facts(&self, path: &str) -> Vec<FactId> {
        let (tables, last) = self.tables(path);
        let mut facts = Vec::new();
        for table in tables {
            extend(&mut facts, table.facts.get(last).map_or(&[][..], Vec::as_slice));
        }
        facts
    }

    /// Was a declaration of this name rejected, or may it come from an import that failed?
    pub(crate) fn is_excused(&self, path: &str) -> bool {
        let (tables, last) = self.tables(path);
        self.incomplete || tables.iter().any(|t| t.rejected.contains(last))
    }

    /// The qualified names that a path to a rule, ruleset or schedule may stand for, nearest first.
    pub(crate) fn candidates(&self, path: &str) -> Vec<String> {
        let mut out = vec![format!("{}.{path}", self.pack)];
        if let Some((qualifier, _)) = path.rsplit_once('.') {
            let mut head = qualifier;
            loop {
                let rest = &path[head.len()..];
                out.extend(self.packs.get(head).into_iter().flatten().map(|p| format!("{p}{rest}")));
                match head.rsplit_once('.') {
                    Some((shorter, _)) => head = shorter,
                    None => break,
                }
            }
        }
        out.extend(self.qualified.keys().map(|p| format!("{p}.{path}")));
        out
    }
}
