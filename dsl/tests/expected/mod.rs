//! Packs as data, and what is expected of them beside them.

use std::path::{Path, PathBuf};

/// The packs in a folder, which is given from this crate's own.
pub(crate) fn packs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut packs: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rw"))
        .collect();
    packs.sort();
    assert!(!packs.is_empty(), "{}", folder.display());
    packs
}

/// Compares what is made of each pack with the file beside it, or writes that.
pub(crate) fn compare(folder: &str, extension: &str, produce: impl Fn(&Path) -> String) {
    let mut wrong = Vec::new();
    for path in packs(folder) {
        let produced = produce(&path);
        let expected_path = path.with_extension(extension);
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if produced == expected && !produced.is_empty() {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_path, &produced).expect("writable");
        } else {
            wrong.push(format!("{}\n{produced}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "BLESS=1 accepts these:\n\n{}", wrong.join("\n"));
}
