//! `test --update`: what holds, written into examples that fail.
//!
//! **Invariant**: an example is changed only if it passes afterwards and its pack has no mistakes then; all else is left
//! byte for byte.

use super::super::sources::is_one_of;
use super::super::{examples, out, packs};
use anyhow::{Context, Result};
use rewright_dsl::diagnostic::{Fix, Severity, Sources, fixed};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A finding of an example is told by its message.
struct Update {
    example: String,
    fix: Fix,
}

/// Updates the examples of these files, and says how many.
pub(super) fn update(paths: &[PathBuf], filter: Option<&str>, calls: &packs::Calls) -> Result<()> {
    let Some(loaded) = packs::sound(paths)? else { return Ok(()) };
    let sources = loaded.sources;
    let own = |fix: &Fix| sources.files.get(fix.span.file as usize).is_some_and(|(name, _)| is_one_of(paths, name));
    let wanted = examples::wanted(&loaded.program, &loaded.roots, filter);
    let ran = examples::run(loaded.program, &wanted, paths, calls)?;
    let failed = ran.failed.into_iter();
    let updates: Vec<Update> = failed
        .filter_map(|found| Some(Update { example: found.message, fix: found.fix? }))
        .filter(|update| own(&update.fix))
        .collect();
    let mut kept: Vec<&Update> = updates.iter().collect();
    if !holds(paths, filter, calls, &sources, &kept)? {
        // Some of them is read otherwise than it was written: one by one.
        kept.clear();
        for update in &updates {
            kept.push(update);
            if !holds(paths, filter, calls, &sources, &kept)? {
                kept.pop();
                out::note(&format!("note: {}, and what holds could not be written as an example", update.example));
            }
        }
        write(paths, &sources, &kept)?;
    }
    for (file, _, made) in fixed(kept.iter().map(|update| &update.fix), &sources) {
        out::note(&format!("note: {}: {made} updated", sources.files[file].0));
    }
    Ok(())
}

/// Writes updates into the files as they were, and looks whether all of these examples pass then.
fn holds(
    paths: &[PathBuf],
    filter: Option<&str>,
    calls: &packs::Calls,
    sources: &Sources,
    updates: &[&Update],
) -> Result<bool> {
    if updates.is_empty() {
        return Ok(true);
    }
    write(paths, sources, updates)?;
    let loaded = packs::load(paths)?;
    if loaded.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Ok(false);
    }
    let wanted = examples::wanted(&loaded.program, &loaded.roots, filter);
    let ran = examples::run(loaded.program, &wanted, paths, calls)?;
    let failed: BTreeSet<&str> = ran.failed.iter().map(|found| found.message.as_str()).collect();
    Ok(!updates.iter().any(|update| failed.contains(update.example.as_str())))
}

/// These files as they were, but for updates.
fn write(paths: &[PathBuf], sources: &Sources, updates: &[&Update]) -> Result<()> {
    let changed = fixed(updates.iter().map(|update| &update.fix), sources);
    for (index, (name, text)) in sources.files.iter().enumerate().filter(|(_, (name, _))| is_one_of(paths, name)) {
        let wanted = changed.iter().find(|(file, ..)| *file == index).map_or(text, |(_, text, _)| text);
        let now = std::fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
        if now != *wanted {
            std::fs::write(name, wanted).with_context(|| format!("cannot write {name}"))?;
        }
    }
    Ok(())
}
