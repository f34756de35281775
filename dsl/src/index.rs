//! What the names of packs mean, by their places: definitions and references, as editors want them.
//!
//! [`crate::check::check_indexed`] makes it from what checking found out; nothing is resolved a second time. It also
//! speaks of files with mistakes: a name that could not be resolved has no occurrence, all others do.
//!
//! **Invariants**: occurrences are in the order of their places and do not overlap; each has a target; every target
//! has a definition.

use crate::program::{FactId, RuleId};
use crate::syntax::ast::Span;
use indexmap::IndexMap;
use rewright_typeprop::OpId;
use rewright_typeprop::types::TypeDeclId;
use std::collections::{BTreeMap, BTreeSet};

/// The names of one run's files.
#[derive(Clone, Default, Debug)]
pub struct Index {
    /// By the place of their names.
    definitions: IndexMap<Span, Definition>,
    occurrences: Vec<Occurrence>,
    /// By pack, in the order in which packs were checked.
    visible: Vec<Visible>,
}

/// What a file may name.
#[derive(Clone, Default, Debug)]
pub struct Visible {
    /// The file's own pack.
    pub pack: String,
    /// Declarations, by the places of their names, that need no qualifier.
    pub names: Vec<Span>,
    /// Packs by what they may be called: in full, by their last part, as an import says.
    pub packs: BTreeMap<String, Vec<String>>,
}

/// Something that has a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// As written where it is declared.
    pub name: String,
    /// What it is.
    pub entity: Entity,
    /// All of its declaration: an item without its documentation, or a parameter's name alone.
    pub item: Span,
    /// Its documentation, a line each.
    pub doc: Vec<String>,
    /// The pack that it stands in.
    pub pack: String,
}

/// What a name stands for. Of a declaration with mistakes there may be no more than its name.
#[derive(Clone, PartialEq, Debug)]
pub enum Entity {
    /// A pack, by its `pack` clause.
    Pack,
    /// A pack, as an import calls it.
    Alias {
        /// The pack's name.
        pack: String,
    },
    /// A type.
    Type(Option<TypeDeclId>),
    /// Several types under one name.
    Family,
    /// A declared effect.
    Effect,
    /// A fact.
    Fact(Option<FactId>),
    /// One overload of a function; several operations where it takes a list.
    Function {
        /// The operations.
        ops: Vec<OpId>,
        /// What all overloads of the function are called.
        function: Option<String>,
    },
    /// A rule or an inference, by what it stands for.
    Rule(Vec<RuleId>),
    /// A ruleset, by its qualified name.
    Ruleset(String),
    /// A schedule, by its qualified name.
    Schedule(String),
    /// An example, by its index in the program's.
    Example(Option<usize>),
    /// A parameter, a state, or a part that is named by `match`, `let` or an assignment.
    Variable {
        /// Its type, as a pack would write it, where one was found.
        ty: Option<String>,
        /// Is the type written where it is declared?
        annotated: bool,
    },
    /// A type parameter.
    TypeParameter,
}

/// A place where a name stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// The last part of a name that is qualified, or an operator.
    pub span: Span,
    /// The places of the definitions that it means: several for a call in a rule whose instances call different
    /// overloads, and where a mistake leaves open which one is meant.
    pub targets: Vec<Span>,
}

impl Occurrence {
    /// Is the name declared here?
    pub fn is_definition(&self) -> bool {
        self.targets.contains(&self.span)
    }
}

impl Index {
    pub(crate) fn new(
        definitions: IndexMap<Span, Definition>,
        mut occurrences: Vec<Occurrence>,
        visible: Vec<Visible>,
    ) -> Index {
        for occurrence in &mut occurrences {
            occurrence.targets.retain(|target| definitions.contains_key(target));
        }
        occurrences.retain(|occurrence| !occurrence.targets.is_empty());
        occurrences.sort_by_key(|occurrence| occurrence.span);
        occurrences.dedup_by(|next, kept| {
            next.span.file == kept.span.file && next.span.start < kept.span.end && {
                if next.span == kept.span {
                    let new = next.targets.iter().filter(|target| !kept.targets.contains(target));
                    let new: Vec<Span> = new.copied().collect();
                    kept.targets.extend(new);
                }
                true
            }
        });
        Index { definitions, occurrences, visible }
    }

    /// All definitions, with the places of their names, file by file in the order of the text.
    pub fn definitions(&self) -> impl Iterator<Item = (Span, &Definition)> {
        self.definitions.iter().map(|(span, definition)| (*span, definition))
    }

    /// The definition whose name stands at a place.
    pub fn definition(&self, name: Span) -> Option<&Definition> {
        self.definitions.get(&name)
    }

    /// What an occurrence means.
    pub fn meanings<'i>(&'i self, occurrence: &'i Occurrence) -> impl Iterator<Item = (Span, &'i Definition)> {
        occurrence.targets.iter().filter_map(|target| Some((*target, self.definition(*target)?)))
    }

    /// What the file of a pack may name.
    pub fn visible(&self, pack: &str) -> Option<&Visible> {
        self.visible.iter().find(|visible| visible.pack == pack)
    }

    /// All occurrences, in the order of their places.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// The occurrences in one file.
    pub fn in_file(&self, file: u32) -> &[Occurrence] {
        let start = self.occurrences.partition_point(|occurrence| occurrence.span.file < file);
        let end = self.occurrences.partition_point(|occurrence| occurrence.span.file <= file);
        &self.occurrences[start..end]
    }

    /// The name at a byte of a file, or the one that ends there.
    pub fn at(&self, file: u32, offset: u32) -> Option<&Occurrence> {
        let here = self.in_file(file);
        let after = here.partition_point(|occurrence| occurrence.span.start <= offset);
        here[..after].last().filter(|occurrence| offset <= occurrence.span.end)
    }

    /// These definitions and all that have their names with them: overloads of one function.
    pub fn renamed_together(&self, targets: &[Span]) -> BTreeSet<Span> {
        let function = |target: &Span| match &self.definition(*target)?.entity {
            Entity::Function { function, .. } => function.as_deref(),
            _ => None,
        };
        let functions: BTreeSet<&str> = targets.iter().filter_map(function).collect();
        let overloads = self.definitions.keys().filter(|span| function(span).is_some_and(|f| functions.contains(f)));
        overloads.chain(targets).copied().collect()
    }

    /// Every place where one of these definitions is named, the definitions themselves among them.
    pub fn mentions<'i>(&'i self, targets: &'i BTreeSet<Span>) -> impl Iterator<Item = &'i Occurrence> {
        self.occurrences.iter().filter(|occurrence| occurrence.targets.iter().any(|target| targets.contains(target)))
    }
}
