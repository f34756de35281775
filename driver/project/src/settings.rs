//! Which file a command's costs come from: the one that is named, or the nearest from the working directory upwards.
//! A setting on the command line comes before one in a file.

use super::costs::{CostFile, Costs};
use super::manifest::Manifest;
use super::{FILE, FORMER_FILE, ProjectError, nearest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The costs of a file that is named, or of the nearest one; without any, nothing is said. A file may be a
/// `rewright.toml` or of the former format, which is JSON.
///
/// # Errors
/// The file cannot be read, has mistakes, or belongs to another user.
pub fn costs(named: Option<&Path>) -> Result<Costs, ProjectError> {
    let Some(path) = file(named)? else { return Ok(Costs::default()) };
    let text = std::fs::read_to_string(&path).map_err(|e| ProjectError::Read(path.clone(), e))?;
    // No file of TOML begins with a brace.
    if path.ends_with(FORMER_FILE) || text.trim_start().starts_with('{') {
        let file: CostFile = serde_json::from_str(&text).map_err(|e| ProjectError::FormerFormat(path, e))?;
        return Ok(file.costs);
    }
    Ok(Manifest::parse(&text).map_err(|e| ProjectError::Format(path, e))?.costs)
}

/// The file that [`costs`] reads, if there is one.
///
/// # Errors
/// The nearest one belongs to another user.
pub fn file(named: Option<&Path>) -> Result<Option<PathBuf>, ProjectError> {
    named.map_or_else(|| nearest(Path::new(".")), |named| Ok(Some(named.to_path_buf())))
}

/// A former configuration that a command finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Former {
    /// The file.
    pub path: PathBuf,
    /// What a `rewright.toml` beside it would say.
    pub translation: String,
}

/// The former configuration that counts here, if the nearest file is one and has no mistakes.
pub fn former() -> Option<Former> {
    let path = nearest(Path::new(".")).ok()??;
    if path.ends_with(FILE) {
        return None;
    }
    let file: CostFile = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
    Some(Former { path, translation: translate(&file)? })
}

/// A former configuration as the text of a `rewright.toml`.
pub(super) fn translate(file: &CostFile) -> Option<String> {
    let about: String = file.about.lines().map(|line| format!("# {line}\n")).collect();
    let parts = BTreeMap::from([("costs", &file.costs)]);
    Some(about + &toml::to_string(&parts).ok()?)
}
