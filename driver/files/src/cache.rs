//! Results of earlier runs, by content: each is a file that is named by a hash of everything it depends on.
//!
//! Files appear complete or not at all, and processes that write one at the same time write the same, so any number of
//! them share a folder. A folder that cannot be written to keeps nothing; the error is kept, for the command to report.
//!
//! **Invariant**: what is found is what was kept under an equal key: each file begins with a checksum of its key and
//! its content, and one that does not fit is removed, and no result. The cache never decides what goes out, only how
//! soon: callers put all that a result depends on into the key.

pub use crate::key::Key;

use crate::place;
use crate::store::Shared;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The folder of a kind of results if none is named: below `$XDG_CACHE_HOME`, or `~/.cache`.
pub fn default_folder(kind: &str) -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache")?.join(kind))
}

/// Our folder in one of the user's, which a variable names, or else is this one of the home folder.
pub fn user_folder(named: &str, usual: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable(named).filter(|p| p.is_absolute()).or_else(|| Some(variable("HOME")?.join(usual)))?;
    Some(base.join("rewright"))
}

/// A folder of results that does not grow beyond a limit.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Bytes of all results together.
    limit: u64,
    /// What went wrong, in any thread.
    troubles: Arc<Mutex<BTreeSet<String>>>,
    /// Where other machines keep the same.
    shared: Option<Arc<Shared>>,
}

/// What was found, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What was kept.
    pub content: Vec<u8>,
    /// It comes from the store that machines share, and is now here as well.
    pub is_shared: bool,
}

/// What the checksum at the beginning of a file is made of.
const VERSION: u32 = 1;

/// Bytes of the checksum at the beginning of a file.
const CHECKSUM: usize = 16;

fn checksum(key: Key, content: &[u8]) -> [u8; CHECKSUM] {
    Key::of(VERSION, [&key.bytes(), content]).bytes()
}

/// Results lie in this many folders, by the first digits of their keys. Each has its share of the limit, so that
/// keeping one looks at few others.
const FOLDERS: u64 = 256;

impl Cache {
    /// A cache in a folder, which need not exist.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Cache { folder, limit, troubles: Arc::default(), shared: None }
    }

    /// The same with a store behind it, whose keys must be made from content: they mean the same on all machines.
    #[must_use]
    pub fn with_store(self, shared: Shared) -> Self {
        Cache { shared: Some(Arc::new(shared)), ..self }
    }

    /// Is there a store behind it?
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn file(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// What went wrong since this was asked last, each thing once. Results are right nevertheless.
    pub fn troubles(&self) -> Vec<String> {
        std::mem::take(&mut *self.noted()).into_iter().collect()
    }

    fn noted(&self) -> MutexGuard<'_, BTreeSet<String>> {
        // Nothing panics while it is held.
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was kept under this key, here or in the store behind it.
    pub fn find(&self, key: Key) -> Option<Found> {
        if let Some(content) = self.find_here(key) {
            return Some(Found { content, is_shared: false });
        }
        match self.shared.as_ref()?.find(key) {
            Ok(found) => {
                let content = found?;
                self.keep_here(key, &content);
                Some(Found { content, is_shared: true })
            }
            Err(trouble) => {
                self.noted().insert(trouble);
                None
            }
        }
    }

    /// Keeps a result, in the store behind it as well. That it cannot be kept is no failure: it is made again next
    /// time.
    pub fn keep(&self, key: Key, content: &[u8]) {
        self.keep_here(key, content);
        if let Some(Err(trouble)) = self.shared.as_ref().map(|shared| shared.keep(key, content)) {
            self.noted().insert(trouble);
        }
    }

    /// What was kept under this key in this folder.
    pub fn find_here(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.file(key);
        let mut content = fs::read(&path).ok()?;
        let sound = content.split_at_checked(CHECKSUM).is_some_and(|(sum, content)| *sum == checksum(key, content));
        if !sound {
            self.noted().insert(format!("{} was damaged; it is made again", path.display()));
            let _ = fs::remove_file(&path);
            return None;
        }
        // The least recently used go first.
        if let Ok(file) = fs::File::options().write(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        content.drain(..CHECKSUM);
        Some(content)
    }

    /// Keeps a result in this folder alone.
    pub fn keep_here(&self, key: Key, content: &[u8]) {
        let file = self.file(key);
        let Some(folder) = file.parent() else { return };
        let content = [&checksum(key, content), content].concat();
        let kept = fs::create_dir_all(folder).and_then(|()| place(&file, &content, Permissions::from_mode(0o600)));
        match kept {
            Ok(()) => self.shrink(folder),
            Err(error) => {
                let folder = self.folder.display();
                self.noted().insert(format!("results cannot be kept in {folder}: {}", without_path(&error)));
            }
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

/// An error as the system says it: not of which temporary file, whose name differs each time.
fn without_path(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::from(error.kind()), io::Error::from_raw_os_error)
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
        assert_eq!(cache.find_here(key("a")), None);
        cache.keep_here(key("a"), b"one");
        assert_eq!(cache.find_here(key("a")).as_deref(), Some(&b"one"[..]));
        assert_eq!(cache.find_here(key("b")), None);
        assert_ne!(Key::of(1, [&b"ab"[..], b"c"]), Key::of(1, [&b"a"[..], b"bc"]));
        assert_ne!(Key::of(1, [&b"a"[..]]), Key::of(2, [&b"a"[..]]));
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::new(file, 1 << 20);
        for name in ["a", "b"] {
            cache.keep_here(key(name), b"one");
            assert_eq!(cache.find_here(key(name)), None);
        }
        let troubles = cache.troubles();
        let [said] = &troubles[..] else { panic!("{troubles:?}") };
        assert!(
            said.starts_with(&format!("results cannot be kept in {}", folder.path().join("file").display())),
            "{said}"
        );
        assert_eq!(cache.troubles(), Vec::<String>::new());
    }

    #[test]
    fn a_result_that_was_damaged_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), 1 << 20);
        let file = cache.file(key("a"));
        cache.keep_here(key("a"), b"one");
        let sound = fs::read(&file).unwrap();
        // Each bit, each length, and the sound file of another key.
        let flipped = (0..sound.len() * 8).map(|bit| {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        for damaged in flipped.chain((0..sound.len()).map(|length| sound[..length].to_vec())) {
            fs::write(&file, damaged).unwrap();
            assert_eq!(cache.find_here(key("a")), None);
            assert_eq!((cache.troubles().len(), file.exists()), (1, false));
        }
        let other = cache.file(key("b"));
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        fs::write(&other, &sound).unwrap();
        assert_eq!(cache.find_here(key("b")), None);
        fs::write(&file, &sound).unwrap();
        assert_eq!(cache.find_here(key("a")).as_deref(), Some(&b"one"[..]));
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), (10 + 3 * CHECKSUM as u64) * FOLDERS);
        // Four keys that share a folder.
        let first = key("0").to_string()[..2].to_string();
        let keys: Vec<Key> =
            (0..100_000).map(|i| key(&i.to_string())).filter(|k| k.to_string()[..2] == first).take(4).collect();
        for k in &keys[..3] {
            cache.keep_here(*k, b"abc");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(cache.find_here(keys[0]).is_some());
        std::thread::sleep(std::time::Duration::from_millis(10));
        cache.keep_here(keys[3], b"abc");
        let left: Vec<bool> = keys.iter().map(|k| cache.find_here(*k).is_some()).collect();
        assert_eq!(left, [true, false, true, true]);
    }
}
