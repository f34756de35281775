//! The compilers that a build finds in `CC` and `CXX`: scripts that start `rewright cc` with the build's options.
//!
//! A script, since builds cut `CC` at spaces, which paths may have. `./configure` and CMake write its path down for a
//! `make` that comes later, so it stays: one for each set of options, where other results of earlier runs are. It says
//! what the rules are known by, so a cache in front of it that looks at its compiler, at its content or at when it was
//! changed, takes no object of other rules.
//!
//! **Invariant**: it is whole whenever it is there, and one that says the same already is left alone.

use rewright_files::cache::Key;
use rewright_files::place;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the name of a script's folder means.
const VERSION: u32 = 1;

/// The script of this name for a command, below a folder.
///
/// # Errors
/// Where it cannot be written.
pub fn script(folder: &Path, name: &str, command: &[String], identity: &str) -> io::Result<PathBuf> {
    let own = folder.join(Key::of(VERSION, command.iter().map(|word| word.as_bytes())).to_string());
    let path = own.join(name);
    let words: Vec<String> = command.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let text = format!("#!/bin/sh\n# rules {identity}\nexec {} \"$@\"\n", words.join(" "));
    if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path);
    }
    fs::create_dir_all(&own)?;
    place(&path, text.as_bytes(), Permissions::from_mode(0o755))?;
    Ok(path)
}
