//! Where packs come from: files that the user names, what they import, and the packs that ship in the binary.

use include_dir::{Dir, include_dir};
use rewright_dsl::diagnostic::{Diagnostic, Sources};
use rewright_dsl::load::{Origin, Root};
use rewright_dsl::program::{Program, Schedule};
use rewright_dsl::{check, load};
use std::io::ErrorKind;
use std::path::Path;

/// The packs that ship.
static STDLIB: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../stdlib_rules");

/// The pack that a command uses where none is named.
pub const DEFAULT: &str = "std";

/// The schedule that runs where none is named: the default schedules of all roots, one after the other.
pub const SCHEDULE: &str = "default";

/// The text of a pack that ships, by its path: `std/arith.rw`.
fn embedded(path: &str) -> Option<&'static str> {
    STDLIB.get_file(path)?.contents_utf8()
}

/// The packs that ship, by the names that commands take.
fn shipped_names() -> Vec<String> {
    let (mut folders, mut names) = (vec![&STDLIB], vec![]);
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        let packs = folder.files().map(|f| f.path()).filter(|path| path.extension().is_some_and(|e| e == "rw"));
        names.extend(packs.map(|path| path.with_extension("").display().to_string().replace(['/', '\\'], ".")));
    }
    names.sort();
    names
}

/// A root from the command line: a file, or the name of a pack that ships (`std`, `std.arith`).
///
/// # Errors
/// When there is no such file or it cannot be read.
pub fn root(name: &Path) -> Result<Root, String> {
    let shown = name.display().to_string();
    let shipped = format!("{}.rw", shown.replace('.', "/"));
    if !name.exists()
        && let Some(text) = embedded(&shipped)
    {
        return Ok(Root { origin: Origin::Std(shipped), text: text.into(), library: true });
    }
    let bytes = std::fs::read(name).map_err(|e| match e.kind() {
        ErrorKind::NotFound => format!("cannot read {shown}: {e}; packs that ship: {}", shipped_names().join(", ")),
        _ => format!("cannot read {shown}: {e}"),
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|e| format!("{shown} is not text: byte {} is not UTF-8", e.utf8_error().valid_up_to()))?;
    Ok(Root { origin: Origin::Disk(shown), text, library: false })
}

/// Packs and all that they import, checked.
pub struct Packs {
    /// What they say. Usable if no diagnostic is an error.
    pub program: Program,
    /// Their texts.
    pub sources: Sources,
    /// Their mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the packs that were asked for, not only imported.
    pub roots: Vec<String>,
}

/// Loads and checks packs.
pub fn load(roots: Vec<Root>) -> Packs {
    let mut resolver = |origin: &Origin| match origin {
        Origin::Std(path) => {
            embedded(path).map(str::to_string).ok_or_else(|| "no such pack ships with rewright".to_string())
        }
        Origin::Disk(path) => std::fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}")),
    };
    let loaded = load::load(roots, &mut resolver);
    let (mut program, found) = check::check(&loaded.files);
    let mut diagnostics = loaded.diagnostics;
    diagnostics.extend(found);
    let roots = loaded.files.iter().filter(|f| f.root).map(|f| f.pack.clone()).collect();
    let mut steps = vec![];
    let mut span = None;
    for file in loaded.files.iter().filter(|f| f.root) {
        if let Some(schedule) = program.schedules.get(&format!("{}.default", file.pack)) {
            steps.extend(schedule.steps.iter().cloned());
            span.get_or_insert(schedule.span);
        }
    }
    if let Some(span) = span {
        program.schedules.insert(SCHEDULE.into(), Schedule { at: None, steps, span });
    }
    Packs { program, sources: loaded.sources, diagnostics, roots }
}
