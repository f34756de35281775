//! What a project says about itself: `rewright.toml`, found from a folder upwards.
//!
//! ```toml
//! [project]
//! packs = ["packs"]                     # what `check`, `test`, `verify`, `fmt` and `doc` work on
//! rules = ["std", "packs/linear.rw"]    # what `opt`, `run`, `wrap` and others apply
//! path = ["packs"]                      # where `import acme.linear` is looked for
//! links = ["./liblinear.so"]            # libraries that the packs may ask for; the user allows them
//!
//! [dependencies]
//! acme = { path = "../acme" }
//! shapes = { git = "https://example.org/shapes.git", rev = "v1.2" }
//!
//! [verify]
//! samples = 500
//!
//! [costs]
//! profile = "latency"
//! operations = { imul = 9 }
//! ```
//!
//! * [`manifest`]: the file's format; [`costs`]: its prices, which `rewright.json` and profiles have, too;
//! * [`settings`]: which file a command's costs come from;
//! * [`lock`], [`fetch`]: `rewright.lock` and the dependencies from git repositories.
//!
//! The rules, packs and settings of a command are those of the project around the working directory. The packs that a
//! pack imports are looked for in the project around that pack, so a dependency's own dependencies are left to its
//! project.
//!
//! Nothing here runs a program or uses the network but [`fetch::fetch`], which a user asks for by `rewright fetch`.

pub mod costs;
mod error;
pub mod fetch;
pub mod lock;
pub mod manifest;
pub mod settings;

pub use error::ProjectError;

use lock::Lock;
use manifest::{Manifest, Source};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The name of a project's file.
pub const FILE: &str = "rewright.toml";

/// The file that held costs before there were projects; it is still read.
pub const FORMER_FILE: &str = "rewright.json";

/// A project: a folder with a `rewright.toml`.
#[derive(Clone, PartialEq, Debug)]
pub struct Project {
    /// Its folder, as messages show it: relative to the working directory where that is shorter.
    pub folder: PathBuf,
    /// What its file says.
    pub manifest: Manifest,
}

impl Project {
    /// The project around the working directory.
    ///
    /// # Errors
    /// Its file cannot be read, has mistakes, or belongs to another user.
    pub fn here() -> Result<Option<Project>, ProjectError> {
        Self::around(Path::new("."))
    }

    /// The project around a folder.
    ///
    /// # Errors
    /// Its file cannot be read, has mistakes, or belongs to another user.
    pub fn around(folder: &Path) -> Result<Option<Project>, ProjectError> {
        match nearest(folder)? {
            Some(path) if path.ends_with(FILE) => Self::read(&path).map(Some),
            _ => Ok(None),
        }
    }

    /// The project of a file `rewright.toml`.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes.
    pub fn read(path: &Path) -> Result<Project, ProjectError> {
        let text = fs::read_to_string(path).map_err(|e| ProjectError::Read(path.to_path_buf(), e))?;
        let manifest = Manifest::parse(&text).map_err(|e| ProjectError::Format(path.to_path_buf(), e))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Project { folder, manifest })
    }

    /// Its file, as messages show it.
    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The packs, or directories of packs, that it consists of.
    pub fn packs(&self) -> Vec<PathBuf> {
        match &self.manifest.project.packs {
            Some(packs) => packs.iter().map(|pack| self.place(pack)).collect(),
            None if self.folder.as_os_str().is_empty() => vec![PathBuf::from(".")],
            None => vec![self.folder.clone()],
        }
    }

    /// The packs that it applies, by path or name; `None` where it leaves that to the command.
    pub fn rules(&self) -> Option<Vec<PathBuf>> {
        let is_path = |name: &str| name.contains('/') || Path::new(name).extension().is_some_and(|e| e == "rw");
        let root = |name: &String| if is_path(name) { self.place(Path::new(name)) } else { PathBuf::from(name) };
        Some(self.manifest.project.rules.as_ref()?.iter().map(root).collect())
    }

    /// The libraries that its packs may ask for: files by their path, others by name.
    pub fn links(&self) -> Vec<PathBuf> {
        // A path keeps its `/`: what has none is looked for by the system's loader.
        let path = |name: &str| match self.place(Path::new(name)) {
            path if path.components().count() == 1 => Path::new(".").join(path),
            path => path,
        };
        let link = |name: &String| if name.contains('/') { path(name) } else { PathBuf::from(name) };
        self.manifest.project.links.iter().map(link).collect()
    }

    /// The file of a pack that is imported by name: in a folder of the search path, or in a dependency. `None` where
    /// neither has it.
    ///
    /// # Errors
    /// It would be in a dependency that is not there.
    pub fn import(&self, name: &str) -> Result<Option<PathBuf>, ProjectError> {
        if let Some(found) = self.in_search_path(name) {
            return Ok(Some(found));
        }
        let (dependency, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
        let Some(source) = self.manifest.dependencies.get(dependency) else { return Ok(None) };
        let folder = self.dependency(dependency, source)?;
        let inner = folder.join(FILE);
        let inner = match inner.is_file() {
            true => Project::read(&inner)?,
            false => Project { folder, manifest: Manifest::default() },
        };
        let names = rest.into_iter().chain([name]);
        Ok(names.into_iter().find_map(|name| inner.in_search_path(name).or_else(|| inner.beside(name))))
    }

    fn in_search_path(&self, name: &str) -> Option<PathBuf> {
        let folders = self.manifest.project.path.iter().map(|folder| self.place(folder));
        folders.map(|folder| folder.join(file_of(name))).find(|path| path.is_file())
    }

    fn beside(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(file_of(name))).filter(|path| path.is_file())
    }

    /// Are the folders there that its file says dependencies are in?
    ///
    /// # Errors
    /// One is not.
    pub fn check_folders(&self) -> Result<(), ProjectError> {
        let mut folders = self.manifest.dependencies.iter().filter(|(_, source)| matches!(source, Source::Path { .. }));
        folders.try_for_each(|(name, source)| self.dependency(name, source).map(drop))
    }

    /// The folder of a dependency.
    fn dependency(&self, name: &str, source: &Source) -> Result<PathBuf, ProjectError> {
        match source {
            Source::Path { path } => {
                let folder = self.place(path);
                match folder.is_dir() {
                    true => Ok(folder),
                    false => Err(ProjectError::NoDependency { name: name.into(), folder, file: self.file() }),
                }
            }
            Source::Git { git, rev } => {
                let locked = Lock::read(&self.folder)?.commit(name, git, rev).map(str::to_string);
                // A whole commit needs no lock.
                let commit = locked.or_else(|| lock::is_commit(rev).then(|| rev.clone()));
                let folder = commit.and_then(|commit| fetch::folder(git, &commit)).filter(|folder| folder.is_dir());
                folder.ok_or_else(|| ProjectError::NotFetched { name: name.into(), file: self.file() })
            }
        }
    }

    /// A path that the file names, from the working directory.
    fn place(&self, path: &Path) -> PathBuf {
        let joined = self.folder.join(path);
        let parts: PathBuf = joined.components().filter(|part| *part != Component::CurDir).collect();
        if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
    }
}

/// The file of a pack below a folder of packs.
fn file_of(name: &str) -> String {
    format!("{}.rw", name.replace('.', "/"))
}

/// The nearest `rewright.toml`, or former `rewright.json`, from a folder upwards, as messages show it.
///
/// # Errors
/// A folder has both, or the file belongs to a user other than the current one, root, and the owner of the folder: a
/// user who can write into a folder above a project could otherwise choose its rules.
pub(crate) fn nearest(folder: &Path) -> Result<Option<PathBuf>, ProjectError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(start) = fs::canonicalize(folder) else { return Ok(None) };
    for above in start.ancestors() {
        let [project, former] = [FILE, FORMER_FILE].map(|name| above.join(name));
        let path = match (project.is_file(), former.is_file()) {
            (true, true) => return Err(ProjectError::Both(shown(above))),
            (true, false) => project,
            (false, true) => former,
            (false, false) => continue,
        };
        let owner = |path: &Path| fs::metadata(path).map(|facts| facts.uid());
        let read = |e| ProjectError::Read(shown(&path), e);
        let (own, of_file, of_folder) = (rustix::process::geteuid().as_raw(), owner(&path), owner(&start));
        let of_file = of_file.map_err(read)?;
        if ![own, 0].contains(&of_file) && of_folder.map_err(read)? != of_file {
            return Err(ProjectError::Foreign(shown(&path)));
        }
        return Ok(Some(shown(&path)));
    }
    Ok(None)
}

/// A whole path as people write it: from the working directory, where that is below the path or above it.
fn shown(path: &Path) -> PathBuf {
    let Ok(here) = std::env::current_dir().and_then(fs::canonicalize) else { return path.to_path_buf() };
    if let Ok(below) = path.strip_prefix(&here) {
        return below.to_path_buf();
    }
    let (folder, name) = match path.is_dir() {
        true => (path, None),
        false => (path.parent().unwrap_or(path), path.file_name()),
    };
    match here.strip_prefix(folder) {
        Ok(between) => between.components().map(|_| "..").chain(name.and_then(|name| name.to_str())).collect(),
        Err(_) => path.to_path_buf(),
    }
}

/// A file's text; `None` where there is no such file.
fn read_if_there(path: &Path) -> Result<Option<String>, ProjectError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ProjectError::Read(path.to_path_buf(), e)),
    }
}

#[cfg(test)]
mod tests;
