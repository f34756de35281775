//! Why there is no pack.

use rewright_dsl::nearest::nearest;
use rewright_project::ProjectError;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// Why a pack that is named cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// No file has this name; packs that ship have others.
    #[error("cannot read {0}: {1}{others}", others = others(.0, .2))]
    Missing(String, io::Error, Vec<String>),
    /// The project that it would be found by cannot be used.
    #[error(transparent)]
    Project(#[from] Arc<ProjectError>),
    /// A file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(String, io::Error),
    /// A file is no text: the byte that is not UTF-8.
    #[error("{0} is not text: byte {1} is not UTF-8; save it as UTF-8")]
    Encoding(String, usize),
    /// No pack of this name ships; the one that may be meant.
    #[error("no such pack ships with rewright{}", .0.as_ref().map(|name| format!("; did you mean \
        `{name}`?")).unwrap_or_default())]
    NotShipped(Option<String>),
}

/// What else may have been meant by a name: a file beside it, or a pack that ships.
fn others(name: &str, ship: &[String]) -> String {
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "rw") && !name.contains('/') {
        return format!("; packs that ship: {}", ship.join(", "));
    }
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut there: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    there.retain(|other| other.ends_with(".rw"));
    there.sort();
    match nearest(file, there.iter().map(String::as_str)) {
        Some(other) => format!("; did you mean `{}`?", path.with_file_name(other).display()),
        None => String::new(),
    }
}
