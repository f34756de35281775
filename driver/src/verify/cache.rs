//! Verdicts of earlier runs, by content: a rule is asked about again only if it, a meaning that it uses, an option or
//! the solver has changed.
//!
//! One file per rule, named by a hash of everything that the verdict depends on. A file that cannot be read is no file.

use super::report::Instance;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// What the content of files means; goes up whenever verdicts may change for another reason than the rule's.
const VERSION: u32 = 1;

/// A hash of everything that the verdict of a rule depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key(u128);

impl Key {
    pub(super) fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        // Two hashes that begin differently. They may be others in another release of Rust: then all is asked anew.
        let (mut low, mut high) = (DefaultHasher::new(), DefaultHasher::new());
        low.write_u32(VERSION);
        high.write_u32(!VERSION);
        for part in parts {
            for hasher in [&mut low, &mut high] {
                hasher.write_usize(part.len());
                hasher.write(part.as_bytes());
            }
        }
        Key(u128::from(low.finish()) | u128::from(high.finish()) << 64)
    }
}

/// The folder where verdicts are kept if none is named: below `$XDG_CACHE_HOME`, or `~/.cache`.
pub fn default_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base =
        variable("XDG_CACHE_HOME").filter(|p| p.is_absolute()).or_else(|| Some(variable("HOME")?.join(".cache")))?;
    Some(base.join("rewright").join("verify"))
}

fn file(folder: &Path, key: Key) -> PathBuf {
    let mut name = String::new();
    let _ = write!(name, "{:032x}.json", key.0);
    folder.join(name)
}

/// The instances of a rule, if an earlier run has kept them.
pub(super) fn find(folder: &Path, key: Key) -> Option<Vec<Instance>> {
    serde_json::from_slice(&std::fs::read(file(folder, key)).ok()?).ok()
}

/// Keeps the instances of a rule. Whoever comes at the same time writes the same.
///
/// # Errors
/// When the folder cannot be written to.
pub(super) fn keep(folder: &Path, key: Key, instances: &[Instance]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let text = serde_json::to_vec(instances).map_err(std::io::Error::other)?;
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(temporary.path(), text)?;
    temporary.persist(file(folder, key)).map_err(|e| e.error)?;
    Ok(())
}
