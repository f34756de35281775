//! Results of earlier runs, by content: each is a file that is named by a hash of everything it depends on.
//!
//! Files appear complete or not at all, and whoever comes at the same time writes the same, so any number of processes
//! share a folder. A file that cannot be read is no file; a folder that cannot be written to keeps nothing.
//!
//! **Invariant**: what is found is what was kept under an equal key. The cache never decides what goes out, only how
//! soon: callers put all that a result depends on into the key.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A hash of everything that a result depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(u128);

/// Two hashes that begin differently. They may be others in another release of Rust: then all is made anew.
struct Both(DefaultHasher, DefaultHasher);

impl Both {
    fn new(version: u32) -> Self {
        let mut both = Both(DefaultHasher::new(), DefaultHasher::new());
        both.0.write_u32(version);
        both.1.write_u32(!version);
        both
    }

    fn key(&self) -> Key {
        Key(u128::from(self.0.finish()) | u128::from(self.1.finish()) << 64)
    }
}

impl Hasher for Both {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Key {
    /// `version` goes up whenever results may change for another reason than their parts.
    pub fn of<'a>(version: u32, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut both = Both::new(version);
        for part in parts {
            both.write_usize(part.len());
            both.write(part);
        }
        both.key()
    }

    /// The same of a value, which this build of the program alone knows again.
    pub fn of_value(version: u32, value: &impl Hash) -> Self {
        let mut both = Both::new(version);
        value.hash(&mut both);
        both.key()
    }

    /// As a part of another key.
    pub fn bytes(&self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The folder of a kind of results if none is named: below `$XDG_CACHE_HOME`, or `~/.cache`.
pub fn default_folder(kind: &str) -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache")?.join(kind))
}

/// Our folder in one of the user's, which a variable names, or else is this one of the home folder.
pub(crate) fn user_folder(named: &str, usual: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable(named).filter(|p| p.is_absolute()).or_else(|| Some(variable("HOME")?.join(usual)))?;
    Some(base.join("rewright"))
}

/// Writes a file that appears complete or not at all.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_whole(file: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_with(file, content, fs::Permissions::from_mode(0o600))
}

/// The same, with these permissions from when it is there.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_whole_with(file: &Path, content: &[u8], permissions: fs::Permissions) -> io::Result<()> {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".rewright").tempfile_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().set_permissions(permissions)?;
    // Closed before it gets its name: a program that is open for writing cannot be started.
    temporary.into_temp_path().persist(file).map_err(|e| e.error)
}

/// A folder of results that does not grow beyond a limit.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Bytes of all results together.
    limit: u64,
}

/// Results lie in so many folders, by the first digits of their keys. Each has its share of the limit, so that keeping
/// one looks at few others.
const FOLDERS: u64 = 256;

impl Cache {
    /// A cache in a folder, which need not exist.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Cache { folder, limit }
    }

    fn file(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// What was kept under this key.
    pub fn find(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.file(key);
        let content = fs::read(&path).ok()?;
        // The least recently used go first.
        if let Ok(file) = fs::File::options().write(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(content)
    }

    /// Keeps a result. That it cannot be kept is no failure: it is made again next time.
    pub fn keep(&self, key: Key, content: &[u8]) {
        let file = self.file(key);
        let Some(folder) = file.parent() else { return };
        if fs::create_dir_all(folder).is_ok() && write_whole(&file, content).is_ok() {
            self.shrink(folder);
        }
    }

    /// Removes the results of a folder that were used longest ago, down to its share of the limit.
    fn shrink(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf, u64)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let facts = entry.metadata().ok()?;
                Some((facts.modified().ok()?, entry.path(), facts.len()))
            })
            .collect();
        let mut total: u64 = files.iter().map(|(_, _, size)| size).sum();
        files.sort();
        for (_, path, size) in files {
            if total <= self.limit / FOLDERS {
                return;
            }
            let _ = fs::remove_file(path);
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::of(1, [text.as_bytes()])
    }

    #[test]
    fn what_is_kept_is_found_under_the_same_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("not/there"), 1 << 20);
        assert_eq!(cache.find(key("a")), None);
        cache.keep(key("a"), b"one");
        assert_eq!(cache.find(key("a")).as_deref(), Some(&b"one"[..]));
        assert_eq!(cache.find(key("b")), None);
        assert_ne!(Key::of(1, [&b"ab"[..], b"c"]), Key::of(1, [&b"a"[..], b"bc"]));
        assert_ne!(Key::of(1, [&b"a"[..]]), Key::of(2, [&b"a"[..]]));
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::new(file, 1 << 20);
        cache.keep(key("a"), b"one");
        assert_eq!(cache.find(key("a")), None);
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), 10 * FOLDERS);
        // Four keys that share a folder.
        let first = key("0").to_string()[..2].to_string();
        let keys: Vec<Key> =
            (0..100_000).map(|i| key(&i.to_string())).filter(|k| k.to_string()[..2] == first).take(4).collect();
        for k in &keys[..3] {
            cache.keep(*k, b"abc");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(cache.find(keys[0]).is_some());
        std::thread::sleep(std::time::Duration::from_millis(10));
        cache.keep(keys[3], b"abc");
        let left: Vec<bool> = keys.iter().map(|k| cache.find(*k).is_some()).collect();
        assert_eq!(left, [true, false, true, true]);
    }
}
