//! Why there is no pack.

use rewright_project::ProjectError;
use std::io;
use std::sync::Arc;

/// Why a pack that is named cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// No file has this name; packs that ship have others.
    #[error("cannot read {0}: {1}; packs that ship: {ship}", ship = .2.join(", "))]
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
