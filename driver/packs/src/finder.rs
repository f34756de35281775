//! Where imports lead: beside the importing file, in the project around it, or to what ships.
//!
//! **Invariant**: a file has one origin in a run, however many paths lead to it, since two would be two packs of one
//! name.

use super::{PackError, embedded, shipped_names};
use rewright_dsl::load::{Origin, Resolver, Root, beside};
use rewright_dsl::nearest::nearest;
use rewright_project::{Project, ProjectError};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds and reads packs that are imported.
pub(super) struct Finder<'o> {
    /// The text of a file that is open somewhere, by its path.
    open: &'o dyn Fn(&str) -> Option<String>,
    /// By folder: the project around it.
    projects: BTreeMap<PathBuf, Result<Option<Arc<Project>>, Arc<ProjectError>>>,
    /// By whole path: the origin that a file has had so far.
    known: BTreeMap<PathBuf, Origin>,
    /// Why an import that is not beside its importer is nowhere else.
    lost: BTreeMap<Origin, Arc<ProjectError>>,
    /// What is read, except for packs that ship, in this order: path and text.
    pub(super) on_disk: Vec<(String, String)>,
}

impl<'o> Finder<'o> {
    /// One that knows the files that a user names, and the texts of those that are open somewhere.
    pub(super) fn of(roots: &[Root], open: &'o dyn Fn(&str) -> Option<String>) -> Self {
        let mut finder =
            Finder { open, projects: BTreeMap::new(), known: BTreeMap::new(), lost: BTreeMap::new(), on_disk: vec![] };
        for root in roots {
            if let Origin::Disk(path) = &root.origin {
                finder.one_origin(Path::new(path), Origin::disk(path));
            }
        }
        finder
    }

    /// The origin that a file has had so far, or this one from now on.
    fn one_origin(&mut self, path: &Path, origin: Origin) -> Origin {
        let Ok(whole) = fs::canonicalize(path) else { return origin };
        self.known.entry(whole).or_insert(origin).clone()
    }

    /// The project around a pack.
    fn project(&mut self, importer: &str) -> Result<Option<Arc<Project>>, Arc<ProjectError>> {
        let folder = Path::new(importer).parent().unwrap_or(Path::new("")).to_path_buf();
        let found = self.projects.entry(folder);
        found.or_insert_with_key(|folder| Ok(Project::around(folder)?.map(Arc::new))).clone()
    }
}

impl Resolver for Finder<'_> {
    fn locate(&mut self, importer: &Origin, import: &str) -> Origin {
        let near = beside(importer, import);
        let (Origin::Disk(path), Origin::Disk(importer)) = (&near, importer) else { return near };
        if Path::new(path).is_file() || (self.open)(path).is_some() {
            return self.one_origin(Path::new(path), near.clone());
        }
        let found = match self.project(importer) {
            Ok(Some(project)) => project.import(import).map_err(Arc::new),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Ok(Some(path)) => {
                let origin = Origin::disk(&path.display().to_string());
                self.one_origin(&path, origin)
            }
            Ok(None) => near,
            Err(error) => {
                self.lost.insert(near.clone(), error);
                near
            }
        }
    }

    fn read(&mut self, origin: &Origin) -> Result<String, Box<dyn Error>> {
        let text =
            match origin {
                Origin::Std(path) => embedded(path).map(str::to_string).ok_or_else(|| {
                    let (wrong, names) = (path.trim_end_matches(".rw").replace('/', "."), shipped_names());
                    PackError::NotShipped(nearest(&wrong, names.iter().map(String::as_str)).map(str::to_string))
                })?,
                Origin::Disk(path) => (self.open)(path).map_or_else(|| fs::read_to_string(path), Ok).map_err(|e| {
                    match self.lost.get(origin) {
                        Some(why) if e.kind() == ErrorKind::NotFound => PackError::Project(Arc::clone(why)),
                        _ => PackError::Unreadable(path.clone(), e),
                    }
                })?,
            };
        if let Origin::Disk(path) = origin {
            self.on_disk.push((path.clone(), text.clone()));
        }
        Ok(text)
    }
}
