//! Why there is no project, or no pack of it.

use super::{FILE, FORMER_FILE};
use rewright_files::WriteError;
use std::io;
use std::path::PathBuf;

/// Why a project, or what it names, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A file cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, io::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A lock cannot be written as TOML.
    #[error("cannot write {0}: {1}")]
    Lock(PathBuf, toml::ser::Error),
    /// A file has mistakes; the reason shows where.
    #[error("{0} has a mistake: {1}")]
    Format(PathBuf, toml::de::Error),
    /// A former configuration has mistakes; the reason has line and column.
    #[error("{0} is no configuration: {1}")]
    FormerFormat(PathBuf, serde_json::Error),
    /// A folder has a project's file and the one that it takes the place of.
    #[error("{} has both {FILE} and {FORMER_FILE}: move the costs of {FORMER_FILE} to {FILE}, and remove it",
        shown_folder(.0))]
    Both(PathBuf),
    /// A file above the working directory that belongs to another user.
    #[error(
        "{0} belongs to another user, and is not used: it could choose rules for you; name it by `--config`, or \
        make it yours"
    )]
    Foreign(PathBuf),
    /// A dependency's folder is not there.
    #[error("the dependency `{name}` of {file} is not there: {folder} is no folder")]
    NoDependency {
        /// Its name.
        name: String,
        /// Where it would be.
        folder: PathBuf,
        /// The project's file.
        file: PathBuf,
    },
    /// A dependency from a git repository is not on this machine, or another version of it.
    #[error("the dependency `{name}` of {file} has not been fetched as {file} asks for it: run `rewright fetch` there")]
    NotFetched {
        /// Its name.
        name: String,
        /// The project's file.
        file: PathBuf,
    },
    /// It is unknown where dependencies are kept.
    #[error("neither XDG_CACHE_HOME nor HOME says where dependencies are kept")]
    NoCache,
    /// `git` could not be started.
    #[error("cannot run git, which fetches dependencies: {0}")]
    NoGit(io::Error),
    /// `git` failed: the dependency, and what it said.
    #[error("cannot fetch the dependency `{0}`: git says\n{1}")]
    Git(String, String),
    /// An address or a revision that git would take for an option, or that runs a program.
    #[error("the dependency `{0}` has no address or revision that is fetched: {1}")]
    Address(String, String),
    /// A dependency cannot be put where it belongs.
    #[error("cannot keep the dependency `{0}`: {1}")]
    Keep(String, io::Error),
}

fn shown_folder(folder: &std::path::Path) -> String {
    if folder.as_os_str().is_empty() { "this folder".into() } else { folder.display().to_string() }
}
