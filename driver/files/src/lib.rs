//! Writing files: a file is complete, or as it was.
//!
//! The new content goes into a temporary file in the same folder, which then takes the file's name. A full disk, a
//! limit or a kill leaves what was there. Everything that commands write goes through here; the exceptions are logs, to
//! which lines are appended, and scratch folders, which no other process reads.
//!
//! **Invariant**: the content under a name changes in one step. The file that a symbolic link points to is written, not
//! the link; permissions stay, and so does the owner where the system lets us keep it. Of a file with several hard
//! links, only the one that is named gets the new content.

pub mod cache;
mod key;
pub mod scratch;
pub mod store;

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// A file that could not be written; it is as it was.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct WriteError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Permissions of a new file; the process's mask takes away from them.
const PUBLIC: u32 = 0o666;

/// Permissions of a file that gets others before it can be seen.
const PRIVATE: u32 = 0o600;

/// How many links may lead to a file that does not exist yet; the kernel follows as many.
const MAX_LINKS: usize = 40;

/// How the names of temporary files begin.
const PREFIX: &str = ".rewright";

/// Writes a file that a user named. It is on the disk when this returns.
///
/// # Errors
/// When it cannot be written; what was there is still there, unless it is no regular file.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), WriteError> {
    write_through(path, content.as_ref()).map_err(|source| WriteError { path: path.to_path_buf(), source })
}

/// Puts a file that can be made again in its place, with these permissions. It is not forced onto the disk.
///
/// # Errors
/// When it cannot be written; what was there is still there.
pub fn place(path: &Path, content: &[u8], permissions: Permissions) -> io::Result<()> {
    replace(path, content, PRIVATE, |file| file.set_permissions(permissions))
}

/// A folder for what a command needs while it runs, inside another one; no other user may look into it.
///
/// # Errors
/// Where none can be made.
pub fn scratch_folder(prefix: &str, place: &Path) -> io::Result<TempDir> {
    Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(place)
}

fn write_through(path: &Path, content: &[u8]) -> io::Result<()> {
    let facts = match fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return replace_durably(&destination(path)?, content, PUBLIC, |_| Ok(()));
        }
        Err(error) => return Err(error),
    };
    // Replacing a file takes no right to write to it. A user without that right gets the error that writing would give.
    let mut there = OpenOptions::new().append(true).open(path)?;
    if !facts.is_file() || is_descriptor(path) {
        return there.write_all(content);
    }
    drop(there);
    replace_durably(&fs::canonicalize(path)?, content, PRIVATE, |file| {
        // Only the superuser may give files away; others own what they write.
        let _ = fchown(file, Some(facts.uid()), Some(facts.gid()));
        file.set_permissions(facts.permissions())
    })
}

/// Is it a name of something that is open (`/dev/stdout`)? A process that has it open would not see a new file.
fn is_descriptor(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|place| path.starts_with(place))
}

/// Where a file that does not exist yet will be: links may lead there.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces a file, and waits until the disk has the new one.
fn replace_durably(
    path: &Path,
    content: &[u8],
    mode: u32,
    finish: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    replace(path, content, mode, |file| {
        finish(file)?;
        file.sync_all()
    })?;
    // The content is there under one name or the other; some file systems cannot force the name.
    let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Puts a complete file in place of another. `finish` makes the last changes to it before it can be seen.
fn replace(path: &Path, content: &[u8], mode: u32, finish: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let permissions = Permissions::from_mode(mode);
    let mut temporary = Builder::new().prefix(PREFIX).permissions(permissions).tempfile_in(folder(path))?;
    temporary.write_all(content)?;
    finish(temporary.as_file())?;
    // Closed before it gets its name: a program that is open for writing cannot be started.
    temporary.into_temp_path().persist(path).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_and_links_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // A link to nothing says where the file is to be.
        let (deep, far) = (dir.path().join("deep"), dir.path().join("far"));
        fs::create_dir(&deep).unwrap();
        symlink("deep/file", &far).unwrap();
        write(&far, "new").unwrap();
        assert_eq!(fs::read_to_string(deep.join("file")).unwrap(), "new");
        assert!(fs::symlink_metadata(&far).unwrap().is_symlink());
        symlink("round", dir.path().join("round")).unwrap();
        assert!(write(&dir.path().join("round"), "x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5);
    }

    #[test]
    fn a_new_file_has_the_permissions_of_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, other) = (dir.path().join("ours"), dir.path().join("other"));
        fs::write(&other, "").unwrap();
        write(&ours, "").unwrap();
        assert_eq!(mode(&ours), mode(&other));
        place(&ours, b"x", Permissions::from_mode(0o750)).unwrap();
        assert_eq!((mode(&ours), fs::read(&ours).unwrap()), (0o750, b"x".to_vec()));
    }

    #[test]
    fn what_is_no_file_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let error = write(Path::new("/dev/full"), "x").unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.source.kind()),
            ("cannot write /dev/full", io::ErrorKind::StorageFull)
        );
        assert!(write(dir.path(), "x").is_err());
        assert!(write(&dir.path().join("no/folder"), "x").is_err());
    }
}
