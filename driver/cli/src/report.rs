//! The page that `--report` asks for, and what the commands of a build leave for it.

use anyhow::{Context, Result};
use rewright_dsl::program::Program;
use rewright_files as files;
use rewright_files::cache::Key;
use rewright_pipeline::sums::add_up;
use rewright_report::page::Page;
use rewright_report::remarks::FileReport;
use rewright_report::rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names the folder in which the commands of a build leave what they have to tell.
pub(super) const REPORTS: &str = "REWRIGHT_REPORTS";

/// What the names of such files are made of.
const VERSION: u32 = 1;

/// What became of files, and why others went without rules.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) files: Vec<FileReport>,
    pub(super) missed: BTreeMap<String, u64>,
}

impl Told {
    /// Writes the page.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(super) fn page(&self, path: &Path, title: &str, program: Option<&Program>) -> Result<()> {
        let rules = program.map(|program| rules::notes(program, &self.files)).unwrap_or_default();
        let page = Page { title, files: &self.files, rules: &rules, missed: &self.missed };
        Ok(files::write(path, page.html())?)
    }

    /// Leaves this for the process that writes the page. Files are named from the root: commands of a build run in many
    /// folders.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(super) fn leave(mut self, folder: &Path) -> Result<()> {
        let here = std::env::current_dir().context("no working directory")?;
        for file in &mut self.files {
            file.name = here.join(&file.name).display().to_string();
        }
        let text = serde_json::to_string(&self)?;
        // A command that ran twice leaves two reports with the same text: the process tells them apart.
        let process = std::process::id().to_string();
        let name = Key::of(VERSION, [process.as_bytes(), text.as_bytes()]).to_string();
        Ok(files::write(&folder.join(name), text)?)
    }

    /// What the commands of a build have left, in the order of the files' names; of files that were compiled twice with
    /// the same result, once.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn gather(folder: &Path) -> Result<Self> {
        let mut all = Told::default();
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path: PathBuf = entry?.path();
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let told: Told = serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
            all.files.extend(told.files);
            add_up(&mut all.missed, told.missed);
        }
        let here = std::env::current_dir().context("no working directory")?;
        for file in &mut all.files {
            file.name =
                Path::new(&file.name).strip_prefix(&here).map_or(file.name.clone(), |name| name.display().to_string());
        }
        // Equal texts are equal reports; they are few, and texts have an order.
        all.files.sort_by_cached_key(|file| (file.name.clone(), serde_json::to_string(file).unwrap_or_default()));
        all.files.dedup();
        Ok(all)
    }
}
