//! The files that ship: packs, profiles and what is known of them, by their paths below `stdlib_rules/`.
//!
//! A release build carries them. A debug build reads them from the source tree when they are first wanted, so that an
//! edit of a pack needs no build.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// By path, with `/`: `std/arith.rw`, `profiles/size.json`.
pub(crate) static FILES: LazyLock<BTreeMap<String, Cow<'static, str>>> = LazyLock::new(read);

/// Reads the source tree; what cannot be read is not there, and the error of the reader that wants it says so.
#[cfg(debug_assertions)]
fn read() -> BTreeMap<String, Cow<'static, str>> {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/stdlib_rules"));
    let (mut folders, mut files) = (vec![root.to_path_buf()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(name), Ok(text)) = (path.strip_prefix(root), std::fs::read_to_string(&path)) {
                files.insert(name.display().to_string(), text.into());
            }
        }
    }
    files
}

#[cfg(not(debug_assertions))]
fn read() -> BTreeMap<String, Cow<'static, str>> {
    use include_dir::{Dir, include_dir};
    static CARRIED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/stdlib_rules");
    let (mut folders, mut files) = (vec![&CARRIED], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        for file in folder.files() {
            if let Some(text) = file.contents_utf8() {
                files.insert(file.path().display().to_string(), text.into());
            }
        }
    }
    files
}
