//! Giving something another name. A rename is made only if everything means afterwards what it meant before: the
//! changed texts are analysed, and each name in them must lead where it led.

use crate::navigation::{self, Key, Mention};
use crate::snapshot::Snapshot;
use rewright_dsl::diagnostic::Severity;
use rewright_dsl::index::Entity;
use rewright_dsl::syntax::ast::Span;
use rewright_dsl::syntax::{PieceKind, pieces};
use std::collections::{BTreeMap, BTreeSet};

/// Why something keeps its name.
#[derive(Debug, thiserror::Error)]
pub enum RenameError {
    /// There is no name.
    #[error("nothing here has a name that can be changed")]
    Nothing,
    /// A pack.
    #[error("a pack is called as its file: move the file, and change its `pack` clause and its imports")]
    Pack,
    /// An example's title.
    #[error("an example's title is named nowhere else: change it where it stands")]
    Title,
    /// What ships.
    #[error("`{name}` is declared in {pack}, which ships with Rewright and cannot be changed")]
    Ships {
        /// What.
        name: String,
        /// Where.
        pack: String,
    },
    /// Names of several things.
    #[error("this may be several things; say which one is meant first")]
    Several,
    /// No name.
    #[error(
        "`{0}` is not a name: names are ASCII letters, digits and `_`, do not begin with a digit, and are no \
             keywords"
    )]
    NoName(String),
    /// Mistakes hide what names mean.
    #[error("{file} has mistakes ({message}): what names mean is not known there; mend them first")]
    Mistakes {
        /// In which file.
        file: String,
        /// The first one.
        message: String,
    },
    /// The new name is taken.
    #[error("`{name}` means something already: {why}")]
    Taken {
        /// The new name.
        name: String,
        /// What would happen.
        why: String,
    },
}

/// The bytes of the name at a place, and what it says, if it can be changed.
///
/// # Errors
/// When it cannot.
pub fn subject(snapshot: &Snapshot, file: u32, offset: u32) -> Result<(Span, String), RenameError> {
    let (occurrence, meanings) = snapshot.named(file, offset).ok_or(RenameError::Nothing)?;
    let Some((_, first)) = meanings.first() else { return Err(RenameError::Nothing) };
    for (name, definition) in &meanings {
        match &definition.entity {
            Entity::Pack => return Err(RenameError::Pack),
            Entity::Example(_) => return Err(RenameError::Title),
            entity if std::mem::discriminant(entity) != std::mem::discriminant(&first.entity) => {
                return Err(RenameError::Several);
            }
            _ => {}
        }
        if rewright_packs::embedded(snapshot.name(name.file)).is_some() {
            return Err(RenameError::Ships { name: definition.name.clone(), pack: definition.pack.clone() });
        }
    }
    if snapshot.written(occurrence.span) != first.name {
        // An operator is written instead.
        return Err(RenameError::Nothing);
    }
    Ok((occurrence.span, first.name.clone()))
}

/// The changes that give definitions another name, by file: where, and what stands there afterwards. `snapshots` hold
/// all files that may name them; `again` analyses the same roots with changed texts.
///
/// # Errors
/// When something would mean something else afterwards, or cannot be known.
pub fn rename(
    old: &str,
    new: &str,
    keys: &BTreeSet<Key>,
    snapshots: &[&Snapshot],
    again: &dyn Fn(usize, &BTreeMap<String, String>) -> Snapshot,
) -> Result<BTreeMap<String, Vec<(u32, u32)>>, RenameError> {
    if !is_name(new) {
        return Err(RenameError::NoName(new.into()));
    }
    let mut edits: BTreeMap<String, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for snapshot in snapshots {
        let mentions = navigation::mentions(snapshot, keys);
        for Mention { file, start, end, .. } in mentions {
            let Some(index) = snapshot.file(&file) else { continue };
            let written = snapshot.written(Span { file: index, start, end });
            if written != old {
                // An operator, which stays.
                continue;
            }
            if rewright_packs::embedded(&file).is_some() {
                return Err(RenameError::Ships { name: old.into(), pack: file });
            }
            edits.entry(file).or_default().insert((start, end));
        }
        let wrong = snapshot.packs().diagnostics.iter().find(|found| found.severity == Severity::Error);
        if let Some(wrong) = wrong {
            let file = snapshot.name(wrong.primary.span.file).to_string();
            return Err(RenameError::Mistakes { file, message: wrong.message.clone() });
        }
    }
    let edits: BTreeMap<String, Vec<(u32, u32)>> =
        edits.into_iter().map(|(file, places)| (file, places.into_iter().collect())).collect();
    for (number, before) in snapshots.iter().enumerate() {
        let changed = |(file, places): (&String, &Vec<(u32, u32)>)| {
            let text = before.text(before.file(file)?);
            Some((file.clone(), replaced(text, places, new)))
        };
        let texts: BTreeMap<String, String> = edits.iter().filter_map(changed).collect();
        let after = again(number, &texts);
        same_meaning(before, &after, keys, &edits, new)?;
    }
    Ok(edits)
}

/// May a declaration be called so?
fn is_name(word: &str) -> bool {
    let one = pieces(word);
    matches!(&one[..], [piece] if piece.kind == PieceKind::Name && piece.text == word) && word != "_"
}

fn replaced(text: &str, places: &[(u32, u32)], new: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end) in places {
        out.push_str(&text[at..*start as usize]);
        out.push_str(new);
        at = *end as usize;
    }
    out.push_str(&text[at..]);
    out
}

/// Where a byte is after the changes of its file.
fn moved(offset: u32, places: &[(u32, u32)], new: &str) -> u32 {
    let before = places.iter().filter(|(_, end)| *end <= offset);
    before.fold(i64::from(offset), |at, (start, end)| at + new.len() as i64 - i64::from(end - start)) as u32
}

/// A file and the bytes there.
type Place = (String, u32, u32);

/// By the place of a name, the places where what it means is declared.
type Meanings = BTreeMap<Place, BTreeSet<Place>>;

/// Has every name the meaning that it had?
fn same_meaning(
    before: &Snapshot,
    after: &Snapshot,
    keys: &BTreeSet<Key>,
    edits: &BTreeMap<String, Vec<(u32, u32)>>,
    new: &str,
) -> Result<(), RenameError> {
    let taken = |why: String| RenameError::Taken { name: new.into(), why };
    if let Some(wrong) = after.packs().diagnostics.iter().find(|found| found.severity == Severity::Error) {
        return Err(taken(wrong.message.clone()));
    }
    let shifted = |file: u32, start: u32, end: u32| {
        let name = before.name(file);
        let places = edits.get(name).map_or(&[][..], Vec::as_slice);
        // A changed name begins where it began, and ends where its changed text does.
        let from = places.iter().find(|(from, _)| *from == start);
        let begin = moved(start, places, new);
        (name, begin, from.map_or_else(|| moved(end, places, new), |_| begin + new.len() as u32))
    };
    let place = |snapshot: &Snapshot, span: Span| (snapshot.name(span.file).to_string(), span.start, span.end);
    let had: Meanings = before
        .index()
        .occurrences()
        .iter()
        .map(|occurrence| {
            let at = |span: Span| {
                let (name, start, end) = shifted(span.file, span.start, span.end);
                (name.to_string(), start, end)
            };
            (at(occurrence.span), occurrence.targets.iter().map(|target| at(*target)).collect())
        })
        .collect();
    let has: Meanings = after
        .index()
        .occurrences()
        .iter()
        .map(|occurrence| {
            let targets = occurrence.targets.iter().map(|target| place(after, *target)).collect();
            (place(after, occurrence.span), targets)
        })
        .collect();
    // A function that takes the name of another one becomes an overload of it.
    let own = navigation::definitions(before, keys);
    let places: BTreeSet<Place> = own
        .iter()
        .map(|name| {
            let (file, start, end) = shifted(name.file, name.start, name.end);
            (file.to_string(), start, end)
        })
        .collect();
    let names = after.index().definitions().map(|(name, _)| name).filter(|name| places.contains(&place(after, *name)));
    let names: Vec<Span> = names.collect();
    if after.index().renamed_together(&names).len() != own.len() {
        return Err(taken("the two would be overloads of one function".into()));
    }
    let differs = had.iter().find(|(at, targets)| has.get(*at) != Some(*targets)).map(|(at, _)| at);
    let differs = differs.or_else(|| has.keys().find(|at| !had.contains_key(*at)));
    match differs {
        None => Ok(()),
        Some((file, start, _)) => {
            let line = after.file(file).map_or(0, |file| after.text(file)[..*start as usize].matches('\n').count() + 1);
            Err(taken(format!("line {line} of {file} would mean something else")))
        }
    }
}
