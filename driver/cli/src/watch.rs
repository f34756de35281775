//! `--watch`: a command again whenever a pack changes, until the process ends.

use super::{Finding, out};
use anyhow::{Context, Result};
use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Editors write a file in several steps; what comes within this time is one change.
const SETTLED: Duration = Duration::from_millis(100);

/// Runs a command now and after each change of a pack below these paths. Mistakes, even of reading a file that is about
/// to be replaced, are told and waited out.
pub(super) fn watch(paths: &[PathBuf], run: impl Fn() -> Result<Finding>) -> Result<Finding> {
    let (send, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event| drop(send.send(event))).context("cannot watch files")?;
    for path in paths {
        // Of a file its folder: editors replace files, and a file that was replaced is watched no more.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (watched, mode) = match path.is_dir() {
            true => (path.as_path(), RecursiveMode::Recursive),
            false => (folder, RecursiveMode::NonRecursive),
        };
        watcher.watch(watched, mode).with_context(|| format!("cannot watch {}", watched.display()))?;
    }
    loop {
        if let Err(error) = run() {
            out::error(&format!("{error:#}"));
        }
        loop {
            let event = changes.recv().context("nothing is watched any more")?.context("cannot watch files")?;
            let changed = event.kind.is_modify() || event.kind.is_create() || event.kind.is_remove();
            if changed && event.paths.iter().any(|path| path.extension().is_some_and(|e| e == "rw")) {
                break;
            }
        }
        while changes.recv_timeout(SETTLED).is_ok() {}
    }
}
