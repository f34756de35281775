//! What the server knows of files: those that are open, those in the folders of the workspace, those that ship.
//!
//! A file is known by its *name*: its path, the path below `stdlib_rules/` if it ships, or what the client calls a
//! document that is no file.
//!
//! **Invariant**: a snapshot is kept only as long as no text that it was made from has changed.

use crate::document::Document;
use crate::position::Encoding;
use crate::snapshot::{Snapshot, root};
use lsp_types::Url;
use rewright_dsl::load::{Origin, Root, Trees};
use rewright_dsl::syntax::ast::{File, ItemKind};
use rewright_dsl::syntax::parse;
use rewright_packs::embedded;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The extension of packs.
const EXTENSION: &str = "rw";

/// Permissions of a copy of a pack that ships: an edit of it would change nothing.
const READ_ONLY: u32 = 0o444;

/// Files, open and not.
pub struct Workspace {
    folders: Vec<PathBuf>,
    encoding: Encoding,
    documents: BTreeMap<String, (Url, Document)>,
    snapshots: RefCell<BTreeMap<String, Rc<Snapshot>>>,
    /// Of all texts that snapshots were made from lately: a key changes one of them.
    trees: Trees,
    /// Packs in the folders, if they have been listed since something changed there.
    listed: RefCell<Option<Rc<Vec<String>>>>,
    /// Where packs that ship are put so that an editor can open them.
    copies: Option<PathBuf>,
}

impl Workspace {
    /// A workspace with these folders, in which nothing is open. Copies of packs that ship go below `copies`.
    pub fn new(folders: Vec<PathBuf>, copies: Option<PathBuf>, encoding: Encoding) -> Workspace {
        Workspace {
            folders,
            encoding,
            documents: BTreeMap::new(),
            snapshots: RefCell::default(),
            trees: Trees::default(),
            listed: RefCell::default(),
            copies,
        }
    }

    /// What columns are counted in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Adds folders, and takes others away.
    pub fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(added);
        self.listed.replace(None);
    }

    /// The name of a document.
    pub fn name(&self, url: &Url) -> String {
        let Ok(path) = url.to_file_path() else { return url.to_string() };
        let shipped = self.copies.as_ref().and_then(|copies| path.strip_prefix(copies).ok());
        let shipped = shipped.map(|name| name.display().to_string()).filter(|name| embedded(name).is_some());
        shipped.unwrap_or_else(|| path.display().to_string())
    }

    /// The document of a file, so that an editor can open it. A pack that ships is a file of the workspace, if one has
    /// its text, or else a copy that cannot be written.
    pub fn url(&self, name: &str) -> Option<Url> {
        if let Some((url, _)) = self.documents.get(name) {
            return Some(url.clone());
        }
        let Some(text) = embedded(name).filter(|_| !Path::new(name).is_absolute()) else {
            return Url::from_file_path(name).ok();
        };
        let same = |path: &&String| path.ends_with(name) && self.text(path).is_some_and(|own| own == text);
        if let Some(path) = self.listed().iter().find(same) {
            return Url::from_file_path(path).ok();
        }
        let path = self.copies.as_ref()?.join(name);
        if !std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            std::fs::create_dir_all(path.parent()?).ok()?;
            rewright_files::place(&path, text.as_bytes(), Permissions::from_mode(READ_ONLY)).ok()?;
        }
        Url::from_file_path(&path).ok()
    }

    /// Opens a document; gives its name.
    pub fn open(&mut self, url: Url, text: String, version: i32) -> String {
        let name = self.name(&url);
        let document = Document::new(text, version, self.encoding);
        self.documents.insert(name.clone(), (url, document));
        self.changed(&name);
        name
    }

    /// An open document.
    pub fn document(&self, name: &str) -> Option<&Document> {
        self.documents.get(name).map(|(_, document)| document)
    }

    /// Changes an open document; the caller says what has changed. False if none is open by this name.
    pub fn edit(&mut self, name: &str, change: impl FnOnce(&mut Document)) -> bool {
        let Some((_, document)) = self.documents.get_mut(name) else { return false };
        change(document);
        self.changed(name);
        true
    }

    /// Closes a document: from now on its file counts.
    pub fn close(&mut self, name: &str) {
        self.documents.remove(name);
        self.snapshots.borrow_mut().remove(name);
        self.changed(name);
    }

    /// The names of open documents.
    pub fn opened(&self) -> impl Iterator<Item = &String> {
        self.documents.keys()
    }

    /// Is what is open what is on disk?
    pub fn is_saved(&self, name: &str) -> bool {
        let Some((_, document)) = self.documents.get(name) else { return true };
        let there = embedded(name).map(str::to_string).or_else(|| std::fs::read_to_string(name).ok());
        there.is_some_and(|there| there == document.text)
    }

    /// Forgets what was made from a file's text.
    fn changed(&self, name: &str) {
        self.snapshots.borrow_mut().retain(|_, snapshot| snapshot.file(name).is_none() && !imports_fail(snapshot));
    }

    /// Forgets what was made from texts on disk.
    pub fn files_changed(&self) {
        self.listed.replace(None);
        self.snapshots.borrow_mut().clear();
    }

    /// The open documents that have nothing up to date said of them: those whose snapshots are gone.
    pub fn outdated(&self) -> Vec<String> {
        let kept = self.snapshots.borrow();
        self.documents.keys().filter(|name| !kept.contains_key(*name)).cloned().collect()
    }

    /// Snapshots of open documents that are up to date.
    pub fn current(&self) -> Vec<(String, Rc<Snapshot>)> {
        let kept = self.snapshots.borrow();
        self.documents.keys().filter_map(|name| Some((name.clone(), kept.get(name)?.clone()))).collect()
    }

    /// The snapshot of an open document.
    pub fn snapshot(&self, name: &str) -> Option<Rc<Snapshot>> {
        if let Some(kept) = self.snapshots.borrow().get(name) {
            return Some(kept.clone());
        }
        let text = &self.document(name)?.text;
        let made = Rc::new(Snapshot::of(name, text, &|name| self.open_text(name), &self.trees, self.encoding));
        self.snapshots.borrow_mut().insert(name.to_string(), made.clone());
        Some(made)
    }

    fn open_text(&self, name: &str) -> Option<String> {
        self.document(name).map(|document| document.text.clone())
    }

    /// The text of a file, as it is open, or on disk.
    pub fn text(&self, name: &str) -> Option<String> {
        let shipped = || embedded(name).map(str::to_string);
        self.open_text(name).or_else(shipped).or_else(|| std::fs::read_to_string(name).ok())
    }

    /// The packs in the folders of the workspace and the open ones, sorted. Files that version control ignores are left
    /// out.
    pub fn listed(&self) -> Rc<Vec<String>> {
        if let Some(listed) = &*self.listed.borrow() {
            return listed.clone();
        }
        let mut found: BTreeSet<String> = BTreeSet::new();
        for folder in &self.folders {
            for entry in ignore::Walk::new(folder).flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|extension| extension == EXTENSION) && path.is_file() {
                    found.insert(path.display().to_string());
                }
            }
        }
        let listed = Rc::new(found.into_iter().collect::<Vec<String>>());
        self.listed.replace(Some(listed.clone()));
        listed
    }

    /// The packs that a document may import: those that ship, and those in its folder and below.
    pub fn importable(&self, name: &str) -> Vec<String> {
        let mut packs = rewright_packs::shipped_names();
        if let Some(folder) = Path::new(name).parent() {
            let listed = self.listed();
            let below = listed.iter().filter(|path| *path != name);
            let below = below.filter_map(|path| Path::new(path).strip_prefix(folder).ok());
            let packed = below.filter_map(|path| Some(path.with_extension("").to_str()?.replace('/', ".")));
            packs.extend(packed.filter(|pack| !pack.starts_with("std.")));
        }
        packs
    }

    /// Snapshots that together hold every file of the workspace that may name what a file declares. Packs that share a
    /// name are in different ones.
    pub fn around(&self, declaring: &str) -> Vec<Around> {
        let Some(text) = self.text(declaring) else { return vec![] };
        let mut known = Imports { workspace: self, files: BTreeMap::new() };
        let own = known.of(declaring);
        // A file that is a pack that ships stands for it wherever both are roots.
        let shipped = format!("{}.rw", own.pack.replace('.', "/"));
        let wanted: BTreeSet<&str> = [declaring, shipped.as_str()].into();
        let names: BTreeSet<String> = self.listed().iter().chain(self.documents.keys()).cloned().collect();
        let mut groups: Vec<(BTreeMap<String, String>, Vec<Root>)> = vec![];
        let is_root = |name: &str| embedded(name).is_none();
        let first = known.closure(declaring);
        for name in names.iter().filter(|name| *name != declaring) {
            let closure = known.closure(name);
            if !closure.iter().any(|(file, _)| wanted.contains(file.as_str())) {
                continue;
            }
            let Some(text) = self.text(name) else { continue };
            let own: Vec<&(String, String)> = closure.iter().chain(&first).filter(|(file, _)| is_root(file)).collect();
            let fits = |packs: &BTreeMap<String, String>| {
                own.iter().all(|(file, pack)| packs.get(pack).is_none_or(|owner| owner == file))
            };
            let at = groups.iter().position(|(packs, _)| fits(packs)).unwrap_or_else(|| {
                groups.push((BTreeMap::new(), vec![root(declaring, self.text(declaring).as_deref().unwrap_or(&text))]));
                groups.len() - 1
            });
            if let Some((packs, roots)) = groups.get_mut(at) {
                packs.extend(own.into_iter().map(|(file, pack)| (pack.clone(), file.clone())));
                roots.push(root(name, &text));
            }
        }
        if groups.is_empty() {
            groups.push((BTreeMap::new(), vec![root(declaring, &text)]));
        }
        groups.into_iter().map(|(_, roots)| self.around_of(roots)).collect()
    }

    /// The one snapshot of an open document, with its root.
    pub fn alone(&self, name: &str) -> Option<Around> {
        let document = self.document(name)?;
        Some(Around { roots: vec![root(name, &document.text)], snapshot: self.snapshot(name)? })
    }

    fn around_of(&self, roots: Vec<Root>) -> Around {
        let snapshot = Snapshot::new(roots.clone(), &|name| self.open_text(name), &self.trees, self.encoding);
        Around { roots, snapshot: Rc::new(snapshot) }
    }

    /// What a snapshot would be with other texts for some of its files.
    pub fn with_texts(&self, around: &Around, texts: &BTreeMap<String, String>) -> Snapshot {
        let changed = |root: &Root| Root {
            text: texts.get(root.origin.path()).cloned().unwrap_or_else(|| root.text.clone()),
            ..root.clone()
        };
        let roots = around.roots.iter().map(changed).collect();
        Snapshot::new(
            roots,
            &|name| texts.get(name).cloned().or_else(|| self.open_text(name)),
            &self.trees,
            self.encoding,
        )
    }
}

/// Several files, analysed together.
pub struct Around {
    roots: Vec<Root>,
    /// The analysis.
    pub snapshot: Rc<Snapshot>,
}

/// Does something that is imported not exist? It may appear at any time.
fn imports_fail(snapshot: &Snapshot) -> bool {
    snapshot.packs().diagnostics.iter().any(|found| found.code == "RW0207")
}

/// What files are called and import, as far as their syntax tells.
struct Imports<'w> {
    workspace: &'w Workspace,
    files: BTreeMap<String, Rc<Imported>>,
}

#[derive(Default)]
struct Imported {
    pack: String,
    imports: Vec<String>,
}

impl Imports<'_> {
    fn of(&mut self, name: &str) -> Rc<Imported> {
        if let Some(known) = self.files.get(name) {
            return known.clone();
        }
        let file = self.workspace.text(name).map_or_else(File::default, |text| parse(0, &text).0);
        let stem = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".rw");
        let pack = file.pack.as_ref().map_or_else(|| stem.to_string(), |pack| pack.node.clone());
        let imports = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Import { path, .. } => Some(rewright_packs::locate(&origin(name), &path.node).path().to_string()),
            _ => None,
        });
        let imported = Rc::new(Imported { pack, imports: imports.collect() });
        self.files.insert(name.to_string(), imported.clone());
        imported
    }

    /// A file and all that it imports, with the names of their packs.
    fn closure(&mut self, name: &str) -> Vec<(String, String)> {
        let (mut found, mut next) = (vec![], vec![name.to_string()]);
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(name) = next.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let imported = self.of(&name);
            next.extend(imported.imports.iter().cloned());
            found.push((name, imported.pack.clone()));
        }
        found
    }
}

fn origin(name: &str) -> Origin {
    if embedded(name).is_some() { Origin::Std(name.into()) } else { Origin::Disk(name.into()) }
}
