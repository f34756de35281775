//! `test --update`: what holds, written into examples that fail.
//!
//! **Invariant**: an example is changed only if it passes afterwards and its pack has no mistakes then; all else is
//! left byte for byte.

use super::super::sources::is_one_of;
use super::super::{examples, out, packs};
use anyhow::Result;
use rewright_dsl::diagnostic::{Fix, Severity, Sources, fixed};
use rewright_engine::Budget;
use rewright_files as files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A finding of an example is told by its message.
struct Update {
    example: String,
    fix: Fix,
}

/// Updates the examples of these files, and says how many.
pub(super) fn update(paths: &[PathBuf], filter: Option<&str>, calls: &packs::Calls, budget: &Budget) -> Result<()> {
    let Some(loaded) = packs::sound(paths)? else { return Ok(()) };
    let sources = loaded.sources;
    let own = |fix: &Fix| sources.files.get(fix.span.file as usize).is_some_and(|(name, _)| is_one_of(paths, name));
    let wanted = examples::wanted(&loaded.program, &loaded.roots, filter);
    let ran = examples::run(loaded.program, &wanted, paths, calls, budget)?;
    let failed = ran.failed.into_iter();
    let updates: Vec<Update> = failed
        .filter_map(|found| Some(Update { example: found.message, fix: found.fix? }))
        .filter(|update| own(&update.fix))
        .collect();
    let mut kept: Vec<&Update> = updates.iter().collect();
    if !holds(paths, filter, (calls, budget), &sources, &kept)? {
        // Some of them is read otherwise than it was written: one by one.
        kept.clear();
        for update in &updates {
            kept.push(update);
            if !holds(paths, filter, (calls, budget), &sources, &kept)? {
                kept.pop();
                out::note(&format!("note: {}, and what holds could not be written as an example", update.example));
            }
        }
    }
    for (file, text, made) in fixed(kept.iter().map(|update| &update.fix), &sources) {
        let name = &sources.files[file].0;
        files::write(Path::new(name), text)?;
        out::note(&format!("note: {name}: {made} updated"));
    }
    Ok(())
}

/// Do all of these examples pass once they are updated? No file is written to find out.
fn holds(
    paths: &[PathBuf],
    filter: Option<&str>,
    (calls, budget): (&packs::Calls, &Budget),
    sources: &Sources,
    updates: &[&Update],
) -> Result<bool> {
    if updates.is_empty() {
        return Ok(true);
    }
    let changed = fixed(updates.iter().map(|update| &update.fix), sources);
    let updated = |path: &PathBuf| {
        let own = |file: &usize| is_one_of(std::slice::from_ref(path), &sources.files[*file].0);
        changed.iter().find(|(file, ..)| own(file)).map(|(_, text, _)| text.clone())
    };
    let loaded = packs::load_with(paths, updated)?;
    if loaded.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Ok(false);
    }
    let wanted = examples::wanted(&loaded.program, &loaded.roots, filter);
    let ran = examples::run(loaded.program, &wanted, paths, calls, budget)?;
    let failed: BTreeSet<&str> = ran.failed.iter().map(|found| found.message.as_str()).collect();
    Ok(!updates.iter().any(|update| failed.contains(update.example.as_str())))
}
