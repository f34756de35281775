//! What a directory of packs says that verification finds of each rule: `verify.expected` its type instances by
//! verdict, `mutants.expected` how many of its mutants are refuted, and which are not.
//!
//! A difference is a finding, in both directions: a rule that is no longer proved, one that is proved now, a rule or a
//! type instance that has come or gone. `--update` writes the file; read the difference before it is kept.

use anyhow::{Context, Result};
use rewright_files as files;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A file in a directory of packs.
pub(super) struct Expected {
    path: PathBuf,
    /// What the file is, for its readers.
    header: &'static str,
}

/// By rule: what was found of it, line by line.
pub(super) type Lines = rewright_packs::Evidence;

impl Expected {
    /// The file of this name that speaks of these paths, if they are one directory.
    pub(super) fn of(paths: &[PathBuf], name: &str, header: &'static str) -> Option<Expected> {
        match paths {
            [folder] if folder.is_dir() => Some(Expected { path: folder.join(name), header }),
            _ => None,
        }
    }

    /// Writes the file if that is wanted, else compares it with what was found, if it is there: differences, a line
    /// each. Unless all rules were looked at, nothing is said of the others.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(super) fn settle(&self, found: &Lines, all: bool, update: bool) -> Result<Vec<String>> {
        if update {
            self.update(found, all)?;
            return Ok(vec![]);
        }
        if self.path.exists() { self.differences(found, all) } else { Ok(vec![]) }
    }

    /// What the file says; nothing where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn kept(&self) -> Result<Lines> {
        if !self.path.exists() {
            return Ok(Lines::new());
        }
        let text = std::fs::read_to_string(&self.path);
        Ok(rewright_packs::evidence(&text.with_context(|| format!("cannot read {}", self.path.display()))?))
    }

    fn differences(&self, found: &Lines, all: bool) -> Result<Vec<String>> {
        let expected = self.kept()?;
        let mut differences = vec![];
        for (rule, what) in found {
            let now = what.join("; ");
            match expected.get(rule) {
                Some(expected) if expected == what => {}
                Some(expected) => differences.push(format!("{rule}: expected {}; found {now}", expected.join("; "))),
                None => differences.push(format!("{rule}: not expected; found {now}")),
            }
        }
        let gone = expected.iter().filter(|(rule, _)| all && !found.contains_key(*rule));
        differences
            .extend(gone.map(|(rule, what)| format!("{rule}: expected {}; there is no such rule", what.join("; "))));
        Ok(differences)
    }

    fn update(&self, found: &Lines, all: bool) -> Result<()> {
        let mut lines = if all { Lines::new() } else { self.kept()? };
        lines.extend(found.clone());
        let mut text = format!("# {}\n", self.header);
        for (rule, what) in &lines {
            for line in what {
                let _ = writeln!(text, "{rule}: {line}");
            }
        }
        Ok(files::write(&self.path, text)?)
    }
}
