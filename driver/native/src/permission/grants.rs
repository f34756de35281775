//! Permissions that a user has written down (`rewright allow`), in a file outside of every project: in
//! `$XDG_CONFIG_HOME/rewright`, or else `~/.config/rewright`.
//!
//! ```json
//! { "grants": [
//!   { "pack": "/home/me/linalg/pack.rw", "content": "9f86d0..", "libraries": ["/home/me/linalg/libdense.so"] }
//! ] }
//! ```
//!
//! A permission is for the libraries that a pack and its imports name, as long as they say what they said: `content` is
//! a SHA-256 of their texts. It holds where the pack is used with other packs, too, but not for these: a library may be
//! called if every pack that was asked for and reaches it has a permission for it.

use super::{Allowed, identity, refused};
use rewright_dsl::load::{Origin, Root};
use rewright_files::cache::user_folder;
use rewright_files::{self as files, WriteError};
use rewright_packs as packs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file's name.
const FILE: &str = "allow.json";

/// Why permissions cannot be read, given or kept.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// It is unknown where the user's configuration is.
    #[error("neither XDG_CONFIG_HOME nor HOME says where your permissions are")]
    NoFolder,
    /// The file cannot be read or written.
    #[error("cannot use {0}, the file of your permissions: {1}")]
    File(PathBuf, io::Error),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It says something else.
    #[error("{0} is no file of permissions: {1}; `rewright allow` writes it")]
    Format(PathBuf, serde_json::Error),
    /// A pack that is no file, or a library that is not there.
    #[error("cannot allow {0}: {1}")]
    Missing(String, io::Error),
}

/// All permissions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// One for each pack.
    pub grants: Vec<Grant>,
}

/// A pack and its imports may call functions of libraries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Where it is.
    pub pack: PathBuf,
    /// A hash of what it and its imports say.
    pub content: String,
    /// The files, or names, of the libraries.
    pub libraries: BTreeSet<String>,
}

/// What permissions say of packs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Granted {
    /// What they may call.
    pub allowed: Allowed,
    /// Packs that have changed, or import some that have, since they were given one.
    pub outdated: Vec<PathBuf>,
}

impl Grants {
    /// Reads them; there are none where none have been written.
    ///
    /// # Errors
    /// There is a file, and it cannot be read.
    pub fn load() -> Result<Grants, GrantError> {
        let Ok(file) = file() else { return Ok(Grants::default()) };
        match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| GrantError::Format(file, e)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Grants::default()),
            Err(e) => Err(GrantError::File(file, e)),
        }
    }

    /// Writes them down.
    ///
    /// # Errors
    /// Their folder cannot be made, or the file not be written.
    pub fn save(&self) -> Result<PathBuf, GrantError> {
        let file = file()?;
        let failed = |e: io::Error| GrantError::File(file.clone(), e);
        file.parent().map(std::fs::create_dir_all).transpose().map_err(failed)?;
        let text = serde_json::to_value(self).map_err(|e| failed(e.into()))?;
        files::write(&file, format!("{text:#}\n"))?;
        Ok(file)
    }

    /// What these packs may call.
    pub fn of(&self, roots: &[Root]) -> Granted {
        let mut granted = Granted::default();
        if self.grants.is_empty() {
            return granted;
        }
        let (mut allowed, mut withheld) = (BTreeSet::new(), BTreeSet::new());
        for root in roots.iter().filter(|root| matches!(root.origin, Origin::Disk(_))) {
            let asked = libraries(root);
            if asked.is_empty() {
                continue;
            }
            let own = path(root).ok().and_then(|pack| self.grants.iter().find(|grant| grant.pack == pack));
            let is_outdated = own.is_some_and(|grant| grant.content != content(root));
            let own = own.filter(|_| !is_outdated);
            granted.outdated.extend(is_outdated.then(|| PathBuf::from(root.origin.path())));
            for library in asked.iter().filter_map(|library| identity(library).ok()) {
                let is_allowed = own.is_some_and(|grant| grant.libraries.contains(&library));
                if is_allowed { &mut allowed } else { &mut withheld }.insert(library);
            }
        }
        granted.allowed = Allowed(allowed.difference(&withheld).cloned().collect());
        granted
    }

    /// Allows a pack and its imports to call all libraries that they name, as they are now. Gives these.
    ///
    /// # Errors
    /// The pack is no file, or one of the libraries is not there.
    pub fn give(&mut self, root: &Root) -> Result<BTreeSet<String>, GrantError> {
        let pack = path(root)?;
        let own = |library: &String| identity(library).map_err(|e| GrantError::Missing(library.clone(), e));
        let libraries: BTreeSet<String> = libraries(root).iter().map(own).collect::<Result<_, _>>()?;
        self.take(root)?;
        if !libraries.is_empty() {
            self.grants.push(Grant { pack, content: content(root), libraries: libraries.clone() });
            self.grants.sort_by(|a, b| a.pack.cmp(&b.pack));
        }
        Ok(libraries)
    }

    /// Takes a pack's permission away. Was there one?
    ///
    /// # Errors
    /// The pack is no file.
    pub fn take(&mut self, root: &Root) -> Result<bool, GrantError> {
        let pack = path(root)?;
        let before = self.grants.len();
        self.grants.retain(|grant| grant.pack != pack);
        Ok(self.grants.len() < before)
    }
}

fn file() -> Result<PathBuf, GrantError> {
    Ok(user_folder("XDG_CONFIG_HOME", ".config").ok_or(GrantError::NoFolder)?.join(FILE))
}

fn path(root: &Root) -> Result<PathBuf, GrantError> {
    let name = root.origin.path();
    std::fs::canonicalize(Path::new(name)).map_err(|e| GrantError::Missing(name.to_string(), e))
}

/// The libraries that a pack and its imports name, and may not call by themselves.
fn libraries(root: &Root) -> BTreeSet<String> {
    refused(&packs::load_rules(vec![root.clone()]).program)
}

/// A hash of what a pack and its imports say.
fn content(root: &Root) -> String {
    let mut hash = Sha256::new();
    for text in packs::texts(vec![root.clone()]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
