//! The rules by which a build compiled last: a build tool that looks at sources alone keeps objects of former rules.

use super::statistics::Facts;
use rewright_files::cache::Key;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the names of files mean.
const VERSION: u32 = 1;

/// What a build did, beside the last one of the same command in the same folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Since {
    /// It compiled, or it had nothing to compile and has the same rules.
    Fresh,
    /// It compiled nothing, and the last one had other rules.
    OtherRules,
    /// No command came through us, now or before.
    NeverHere,
}

/// The file that says by which rules a build compiled.
#[derive(Clone, Debug)]
pub struct Former(PathBuf);

impl Former {
    /// That of a command in a folder, among those of all builds.
    pub fn new(all: &Path, folder: &Path, command: &[OsString]) -> Self {
        let words = std::iter::once(folder.as_os_str()).chain(command.iter().map(OsString::as_os_str));
        Former(all.join(Key::of(VERSION, words.map(OsStrExt::as_bytes)).to_string()))
    }

    /// Compares a build that succeeded with the last one, and notes its rules if it compiled.
    ///
    /// # Errors
    /// Where that cannot be noted.
    pub fn compare(&self, facts: &Facts, identity: &str) -> io::Result<Since> {
        let last = std::fs::read_to_string(&self.0).ok();
        let compiled = facts.compiled() > 0;
        let since = match &last {
            Some(last) if !compiled && last != identity => Since::OtherRules,
            None if facts.commands() == 0 => Since::NeverHere,
            _ => Since::Fresh,
        };
        if compiled || last.is_none() && since == Since::Fresh {
            std::fs::create_dir_all(self.0.parent().unwrap_or(Path::new(".")))?;
            rewright_files::write(&self.0, identity).map_err(io::Error::other)?;
        }
        Ok(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compiled_nothing_is_compared_with_what_did() {
        let all = tempfile::tempdir().unwrap();
        let command = ["make".into()];
        let former = Former::new(&all.path().join("builds"), Path::new("/here"), &command);
        let facts = |files, handed_over| Facts { files, handed_over, ..Facts::default() };
        let steps = [
            (facts(0, 0), "a", Since::NeverHere),
            (facts(2, 1), "a", Since::Fresh),
            (facts(0, 0), "a", Since::Fresh),
            // It links, but compiles nothing.
            (facts(0, 1), "b", Since::OtherRules),
            (facts(0, 0), "b", Since::OtherRules),
            (facts(1, 0), "b", Since::Fresh),
            (facts(0, 0), "b", Since::Fresh),
            (facts(0, 0), "a", Since::OtherRules),
        ];
        for (n, (facts, identity, expected)) in steps.into_iter().enumerate() {
            assert_eq!(former.compare(&facts, identity).unwrap(), expected, "step {n}");
        }
        let elsewhere = Former::new(&all.path().join("builds"), Path::new("/there"), &command);
        assert_eq!(elsewhere.compare(&facts(0, 0), "a").unwrap(), Since::NeverHere);
    }
}
