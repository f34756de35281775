//! Where names are declared and used: within one snapshot, or over several of the same files.

use crate::snapshot::Snapshot;
use rewright_dsl::index::{Definition, Entity};
use rewright_dsl::syntax::ast::Span;
use std::collections::BTreeSet;

/// A definition, told from all others in any snapshot that has the same text of its file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    pack: String,
    name: String,
    start: u32,
}

impl Key {
    fn of(name: Span, definition: &Definition) -> Key {
        Key { pack: definition.pack.clone(), name: definition.name.clone(), start: name.start }
    }
}

/// A place where a name stands: its file, and the bytes there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mention {
    /// The file's name.
    pub file: String,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Is it declared there?
    pub declares: bool,
}

/// The definitions that the name at a byte stands for, and whether other files may name them.
pub fn keys(snapshot: &Snapshot, file: u32, offset: u32) -> Option<(BTreeSet<Key>, bool)> {
    let (occurrence, meanings) = snapshot.named(file, offset)?;
    let local = |definition: &Definition| {
        matches!(definition.entity, Entity::Variable { .. } | Entity::TypeParameter | Entity::Alias { .. })
    };
    let elsewhere = meanings.iter().any(|(_, definition)| !local(definition));
    let together = snapshot.index().renamed_together(&occurrence.targets);
    let keys = together.iter().filter_map(|name| Some(Key::of(*name, snapshot.index().definition(*name)?)));
    Some((keys.collect(), elsewhere))
}

/// Definitions in a snapshot, by the places of their names.
pub fn definitions(snapshot: &Snapshot, keys: &BTreeSet<Key>) -> BTreeSet<Span> {
    let all = snapshot.index().definitions();
    all.filter(|(name, definition)| keys.contains(&Key::of(*name, definition))).map(|(name, _)| name).collect()
}

/// The places in a snapshot where definitions are named.
pub fn mentions(snapshot: &Snapshot, keys: &BTreeSet<Key>) -> BTreeSet<Mention> {
    let index = snapshot.index();
    let targets = definitions(snapshot, keys);
    let mention = |occurrence: &rewright_dsl::index::Occurrence| Mention {
        file: snapshot.name(occurrence.span.file).to_string(),
        start: occurrence.span.start,
        end: occurrence.span.end,
        declares: occurrence.is_definition(),
    };
    index.mentions(&targets).map(mention).collect()
}
