//! `check --fix`: the fixes that diagnostics carry and that are safe, made in the packs' files.

use super::super::{out, packs, sources};
use anyhow::Result;
use rewright_dsl::diagnostic::{fixed, safe};
use rewright_files as files;
use std::path::{Path, PathBuf};

/// A fix may uncover a mistake that has one, too.
const MAX_ROUNDS: usize = 8;

/// Makes the safe fixes in these files, and says how many. Files that they only import are left alone.
pub(super) fn fix(paths: &[PathBuf]) -> Result<()> {
    for _ in 0..MAX_ROUNDS {
        let loaded = packs::load(paths)?;
        let mut changed = fixed(safe(&loaded.diagnostics), &loaded.sources);
        changed.retain(|(file, ..)| sources::is_one_of(paths, &loaded.sources.files[*file].0));
        if changed.is_empty() {
            break;
        }
        for (file, text, made) in changed {
            let name = &loaded.sources.files[file].0;
            files::write(Path::new(name), text)?;
            out::note(&format!("note: {name}: {made} fixed"));
        }
    }
    Ok(())
}
