//! `rewright.lock`: which commit each dependency from a git repository is. `rewright fetch` writes it, users keep it
//! with the project, and all of them have the same packs.

use super::{ProjectError, read_if_there};
use rewright_files as files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of a project's lock.
pub const FILE: &str = "rewright.lock";

/// What it begins with.
const HEAD: &str = "# `rewright fetch` writes this file; keep it with the project.\n";

/// The commits of dependencies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// One for each dependency from a git repository, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependency: Vec<Locked>,
}

/// A dependency's commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// Its name.
    pub name: String,
    /// The repository's address.
    pub git: String,
    /// What the project asked for.
    pub rev: String,
    /// What that was when it was fetched, in hexadecimal.
    pub commit: String,
}

impl Lock {
    /// The lock of a project; empty where there is none.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes.
    pub fn read(folder: &Path) -> Result<Lock, ProjectError> {
        let path = folder.join(FILE);
        let Some(text) = read_if_there(&path)? else { return Ok(Lock::default()) };
        toml::from_str(&text).map_err(|e| ProjectError::Format(path, e))
    }

    /// Writes it, if it says something else than the one that is there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ProjectError> {
        let path = folder.join(FILE);
        let entries = toml::to_string(self).map_err(|e| ProjectError::Lock(path.clone(), e))?;
        let content = format!("{HEAD}\n{entries}").trim_end().to_string() + "\n";
        let there = read_if_there(&path)?;
        let is_needed = !self.dependency.is_empty() || there.is_some();
        if is_needed && there.as_deref() != Some(&content) {
            files::write(&path, content)?;
        }
        Ok(())
    }

    /// The commit of a dependency, as long as the project asks for what was fetched.
    pub fn commit(&self, name: &str, git: &str, rev: &str) -> Option<&str> {
        let asked = |entry: &&Locked| entry.name == name && entry.git == git && entry.rev == rev;
        self.dependency.iter().find(asked).map(|entry| entry.commit.as_str()).filter(|commit| is_commit(commit))
    }
}

/// Is a revision a whole commit, which never changes?
pub fn is_commit(rev: &str) -> bool {
    matches!(rev.len(), 40 | 64) && rev.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
