//! Packs to ask about.

use rewright_dsl::load::Trees;
use rewright_lsp::position::Encoding;
use rewright_lsp::snapshot::Snapshot;
use std::path::Path;

/// The packs that ship, by their paths below the folder.
pub(crate) fn shipped() -> Vec<(String, String)> {
    let names = rewright_packs::shipped_names().into_iter().map(|name| format!("{}.rw", name.replace('.', "/")));
    names.map(|name| (name.clone(), rewright_packs::embedded(&name).expect("it ships").to_string())).collect()
}

/// A document that is open nowhere else.
pub(crate) fn snapshot(text: &str, encoding: Encoding) -> Snapshot {
    Snapshot::of("/t.rw", text, &|_| None, &Trees::default(), encoding)
}

/// A pack that ships as an author edits it: as a file, beside the others.
pub(crate) fn edited(name: &str, text: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib_rules").join(name);
    Snapshot::of(&path.display().to_string(), text, &|_| None, &Trees::default(), Encoding::Utf16)
}
