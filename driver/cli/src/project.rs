//! What commands take from the project around the working directory.

use super::out;
use anyhow::{Context, Result, bail};
use rewright_project::costs::Costs;
use rewright_project::{FILE, FORMER_FILE, Project, settings};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The project around the working directory.
pub(super) fn here() -> Result<Option<Project>> {
    static SAID: Once = Once::new();
    let project = Project::here()?;
    if let Some(project) = &project {
        SAID.call_once(|| out::detail(|| format!("project: {}", project.file().display())));
    }
    Ok(project)
}

/// The packs that a command line names, or those of the project.
pub(super) fn packs(named: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    if !named.is_empty() {
        return Ok(named);
    }
    match here()? {
        Some(project) => Ok(project.packs()),
        None => bail!("no pack is named, and there is no {FILE} here or above: name packs, or directories of packs"),
    }
}

/// Are the packs there that the project's file applies?
pub(super) fn check() -> Result<()> {
    let Some(project) = here()? else { return Ok(()) };
    for pack in project.rules().unwrap_or_default() {
        rewright_packs::root(&pack).with_context(|| format!("in `rules` of {}", project.file().display()))?;
    }
    Ok(())
}

/// The costs that a configuration says, which is named or the nearest one; with `--verbose`, says which one it is.
pub(super) fn costs(named: Option<&Path>) -> Result<Costs> {
    if let Some(path) = settings::file(named)? {
        out::detail(|| format!("configuration: {}", path.display()));
    }
    Ok(settings::costs(named)?)
}

/// Says of a former configuration that counts here what takes its place.
pub(super) fn say_former() {
    if let Some(former) = settings::former() {
        let lines: String = former.translation.lines().map(|line| format!("    {line}\n")).collect();
        out::note(&format!(
            "warning: {} is the former form of {FILE}; put this into {FILE} beside it, and remove {FORMER_FILE}:\n{lines}",
            former.path.display()
        ));
    }
}
