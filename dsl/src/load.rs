//! Root files and everything they import, parsed: what [`crate::check`] wants.
//!
//! The caller reads: it gets an [`Origin`] and answers with text. `import std.arith` is the standard library's
//! `std/arith.rw`; any other `import foo.bar` is `foo/bar.rw` beside the importing file, or where the caller says. A root that states
//! `pack std.arith` takes that library file's place. Missing and cyclic imports are reported at the import.

mod trees;

pub use trees::Trees;

use crate::check::ParsedFile;
use crate::diagnostic::{Diagnostic, Label, Severity, Sources};
use crate::syntax::ast::{File, Item, ItemKind, Span, Type, TypeKind};
use indexmap::IndexMap;
use std::error::Error;

/// Where a pack comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// In the standard library, by path: `std/arith.rw`.
    Std(String),
    /// On disk.
    Disk(String),
}

impl Origin {
    /// A file on disk. `./a/./b` is `a/b`: one file, one name.
    pub fn disk(path: &str) -> Origin {
        let (root, rest) = path.strip_prefix('/').map_or(("", path), |rest| ("/", rest));
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        Origin::Disk(format!("{root}{}", parts.join("/")))
    }

    /// As shown to the user.
    pub fn path(&self) -> &str {
        let (Origin::Std(path) | Origin::Disk(path)) = self;
        path
    }
}

/// A file that the user asked for.
#[derive(Clone, Debug)]
pub struct Root {
    /// Where it is.
    pub origin: Origin,
    /// What it says.
    pub text: String,
    /// Meant to be imported: see [`ParsedFile::library`].
    pub library: bool,
}

/// The pack that takes a pointer of C for one to what a pack names: part of every program that declares such types for
/// functions of C, imported or not.
pub const POINTERS: &str = "std/pointers.rw";

/// Where packs are, and what they say.
pub trait Resolver {
    /// The origin that an import names, seen from a file: by default [`beside`] it.
    fn locate(&mut self, importer: &Origin, import: &str) -> Origin {
        beside(importer, import)
    }

    /// The text behind an origin.
    ///
    /// # Errors
    /// Why there is none: that depends on where texts are, and is only shown.
    fn read(&mut self, origin: &Origin) -> Result<String, Box<dyn Error>>;
}

impl<F: FnMut(&Origin) -> Result<String, Box<dyn Error>>> Resolver for F {
    fn read(&mut self, origin: &Origin) -> Result<String, Box<dyn Error>> {
        self(origin)
    }
}

/// All files of a run.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Texts, for messages: a span's file is an index here.
    pub sources: Sources,
    /// Trees, imported ones before those that import them.
    pub files: Vec<ParsedFile>,
    /// Mistakes of syntax, and imports that led nowhere.
    pub diagnostics: Vec<Diagnostic>,
}

/// The origin that an import names beside a file, or in the standard library.
pub fn beside(importer: &Origin, import: &str) -> Origin {
    let relative = format!("{}.rw", import.replace('.', "/"));
    if import == "std" || import.starts_with("std.") {
        return Origin::Std(relative);
    }
    let folder = importer.path().rfind('/').map_or("", |slash| &importer.path()[..=slash]);
    match importer {
        Origin::Std(_) => Origin::Std(format!("{folder}{relative}")),
        Origin::Disk(_) => Origin::disk(&format!("{folder}{relative}")),
    }
}

/// Parses the roots and all that they import.
pub fn load(roots: Vec<Root>, resolver: &mut dyn Resolver) -> Loaded {
    load_with(roots, resolver, &Trees::default())
}

/// The same, where texts that are known already are not parsed again.
pub fn load_with(roots: Vec<Root>, resolver: &mut dyn Resolver, trees: &Trees) -> Loaded {
    trees.begin();
    let mut loader =
        Loader { resolver, trees, sources: Sources::default(), found: IndexMap::new(), diagnostics: Vec::new() };
    let mut queue: Vec<Origin> = Vec::new();
    for root in roots {
        let origin = match root.origin {
            Origin::Disk(path) => Origin::disk(&path),
            std => std,
        };
        if loader.found.contains_key(&origin) {
            continue;
        }
        loader.parse(origin.clone(), root.text, true, root.library);
        queue.push(origin);
    }
    // A root that is the library's own file stands for it.
    let stands_for: Vec<(Origin, Origin)> = loader
        .found
        .iter()
        .filter(|(_, f)| f.parsed.pack.starts_with("std.") || f.parsed.pack == "std")
        .map(|(origin, f)| (beside(origin, &f.parsed.pack), origin.clone()))
        .collect();
    let mut next = 0;
    loop {
        while next < queue.len() {
            let origin = queue[next].clone();
            next += 1;
            queue.extend(loader.imports_of(&origin, &stands_for));
        }
        match loader.pointers(&stands_for) {
            Some(origin) => queue.push(origin),
            None => return loader.finish(),
        }
    }
}

/// A file on its way.
struct LoadedFile {
    parsed: ParsedFile,
    /// Import as written -> place and origin; what could not be read is absent.
    imports: IndexMap<String, (Span, Origin)>,
}

struct Loader<'r> {
    resolver: &'r mut dyn Resolver,
    trees: &'r Trees,
    sources: Sources,
    found: IndexMap<Origin, LoadedFile>,
    diagnostics: Vec<Diagnostic>,
}

impl Loader<'_> {
    fn parse(&mut self, origin: Origin, text: String, root: bool, library: bool) {
        let (file, diagnostics) = self.trees.parse(self.sources.files.len() as u32, &text);
        let broken = !diagnostics.is_empty();
        self.diagnostics.extend(diagnostics);
        self.sources.files.push((origin.path().to_string(), text));
        let path = origin.path();
        let pack = pack_name(&file, path);
        let imports = IndexMap::new();
        let parsed = ParsedFile { path: path.to_string(), pack, file, imports, root, library, broken };
        self.found.insert(origin, LoadedFile { parsed, imports: IndexMap::new() });
    }

    /// Adds [`POINTERS`] where C functions take pointers that packs name, and no pack has imported it.
    fn pointers(&mut self, stands_for: &[(Origin, Origin)]) -> Option<Origin> {
        let origin = Origin::Std(POINTERS.into());
        let is_own = |origin: &Origin| {
            matches!(origin, Origin::Disk(_)) && stands_for.iter().all(|(_, standing)| standing != origin)
        };
        let own = self.found.iter().filter(|(origin, _)| is_own(origin));
        let items: Vec<&Item> = own.flat_map(|(_, file)| &file.parsed.file.items).collect();
        let is_pointer = |ty: &Type| matches!(&ty.kind, TypeKind::Named { path, .. } if path.node == "ptr");
        let names_pointers =
            |item: &&Item| matches!(&item.kind, ItemKind::Type { supertype: Some(above), .. } if is_pointer(above));
        let is_of_c = |item: &&Item| {
            matches!(item.kind, ItemKind::Fn(_)) && item.attributes.iter().any(|a| a.name.node == "llvm")
        };
        let wanted = items.iter().any(names_pointers) && items.iter().any(is_of_c);
        if !wanted || self.found.contains_key(&origin) || stands_for.iter().any(|(std, _)| *std == origin) {
            return None;
        }
        // A resolver without the standard library has no functions of C to match, either.
        let text = self.resolver.read(&origin).ok()?;
        self.parse(origin.clone(), text, false, true);
        Some(origin)
    }

    /// Reads what a file imports; gives the origins that were new.
    fn imports_of(&mut self, importer: &Origin, stands_for: &[(Origin, Origin)]) -> Vec<Origin> {
        let Some(found) = self.found.get(importer) else { return Vec::new() };
        let mut wanted = Vec::new();
        for item in &found.parsed.file.items {
            if let ItemKind::Import { path, .. } = &item.kind {
                let origin = self.resolver.locate(importer, &path.node);
                let origin = stands_for.iter().find(|(std, _)| *std == origin).map_or(origin, |(_, own)| own.clone());
                wanted.push((path.clone(), origin));
            }
        }
        let mut fresh = Vec::new();
        for (path, origin) in wanted {
            if !self.found.contains_key(&origin) {
                match self.resolver.read(&origin) {
                    Ok(text) => {
                        self.parse(origin.clone(), text, false, matches!(origin, Origin::Std(_)));
                        fresh.push(origin.clone());
                    }
                    Err(why) => {
                        let mut diagnostic =
                            error("RW0207", path.span, format!("no pack `{}`", path.node), "cannot be imported".into());
                        diagnostic.help = Some(format!("looked for `{}`: {why}", origin.path()));
                        self.diagnostics.push(diagnostic);
                        continue;
                    }
                }
            }
            self.found[importer].imports.entry(path.node).or_insert((path.span, origin));
        }
        fresh
    }

    /// Orders files so that imports come first; an import that leads back is reported and left out.
    fn finish(mut self) -> Loaded {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let count = self.found.len();
        let mut marks = vec![Mark::New; count];
        let mut order: Vec<usize> = Vec::new();
        for start in 0..count {
            if marks[start] != Mark::New {
                continue;
            }
            // File, and which of its imports comes next.
            let mut stack: Vec<(usize, usize)> = vec![(start, 0)];
            marks[start] = Mark::Open;
            while let Some((at, next)) = stack.last_mut() {
                let at = *at;
                let Some((name, (span, origin))) =
                    self.found[at].imports.get_index(*next).map(|(n, i)| (n.clone(), i.clone()))
                else {
                    marks[at] = Mark::Done;
                    order.push(at);
                    stack.pop();
                    continue;
                };
                *next += 1;
                let Some(target) = self.found.get_index_of(&origin) else { continue };
                match marks[target] {
                    Mark::New => {
                        marks[target] = Mark::Open;
                        stack.push((target, 0));
                    }
                    Mark::Done => {}
                    Mark::Open => {
                        let from = stack.iter().position(|(f, _)| *f == target).unwrap_or(0);
                        let mut chain: Vec<String> =
                            stack[from..].iter().map(|(f, _)| format!("`{}`", self.found[*f].parsed.pack)).collect();
                        chain.push(format!("`{}`", self.found[target].parsed.pack));
                        let mut diagnostic =
                            error("RW0208", span, format!("cyclic import of `{name}`"), "leads back here".into());
                        diagnostic.help = Some(format!("{}: move what they share to a third pack", chain.join(" -> ")));
                        self.diagnostics.push(diagnostic);
                    }
                }
            }
        }
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        let mut files: Vec<Option<ParsedFile>> = vec![None; count];
        let indices: IndexMap<Origin, usize> =
            self.found.keys().enumerate().map(|(i, origin)| (origin.clone(), place[i])).collect();
        for (old, (_, found)) in self.found.into_iter().enumerate() {
            let mut parsed = found.parsed;
            for (name, (_, origin)) in found.imports {
                // One that leads forward is part of a cycle.
                if let Some(target) = indices.get(&origin).copied().filter(|t| *t < place[old]) {
                    parsed.imports.insert(name, target);
                }
            }
            files[place[old]] = Some(parsed);
        }
        Loaded { sources: self.sources, files: files.into_iter().flatten().collect(), diagnostics: self.diagnostics }
    }
}

/// The name of the pack in a file: as stated, or the file's stem.
pub fn pack_name(file: &File, path: &str) -> String {
    let stem = path.rsplit('/').next().unwrap_or(path);
    let stem = stem.strip_suffix(".rw").unwrap_or(stem);
    file.pack.as_ref().map_or_else(|| stem.to_string(), |pack| pack.node.clone())
}

fn error(code: &'static str, span: Span, message: String, label: String) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        primary: Label { span, text: label },
        secondary: Vec::new(),
        help: None,
        fix: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_all(files: &[(&str, &str)], roots: &[&str]) -> Loaded {
        let text = |path: &str| files.iter().find(|(p, _)| *p == path).map(|(_, t)| (*t).to_string());
        let roots = roots
            .iter()
            .map(|path| Root {
                origin: Origin::Disk((*path).into()),
                text: text(path.trim_start_matches("./")).expect("the test names its own files"),
                library: false,
            })
            .collect();
        load(roots, &mut |origin: &Origin| text(origin.path()).ok_or_else(|| "no such file".into()))
    }

    #[test]
    fn imports_come_first_and_relative() {
        let loaded = load_all(
            &[
                ("a/main.rw", "pack main\nimport lib.x\nimport std.core\n"),
                ("a/lib/x.rw", "pack lib.x\nimport std.core\n"),
                ("std/core.rw", "pack std.core\n"),
            ],
            &["./a/main.rw"],
        );
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        let packs: Vec<&str> = loaded.files.iter().map(|f| f.pack.as_str()).collect();
        assert_eq!(packs, ["std.core", "lib.x", "main"]);
        assert_eq!(loaded.files[2].imports["lib.x"], 1);
        assert!(loaded.files[2].root && !loaded.files[0].root && loaded.files[0].library);
    }

    #[test]
    fn missing_and_cyclic_imports_are_reported_at_the_import() {
        let loaded = load_all(&[("a.rw", "pack a\nimport b\nimport c\n"), ("b.rw", "pack b\nimport a\n")], &["a.rw"]);
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["RW0207", "RW0208"]);
        let spans: Vec<(u32, u32)> =
            loaded.diagnostics.iter().map(|d| (d.primary.span.file, d.primary.span.start)).collect();
        assert_eq!(spans, [(0, 23), (1, 14)]);
    }

    #[test]
    fn a_root_takes_the_place_of_a_library_file() {
        let loaded = load_all(
            &[("stdlib/std/core.rw", "pack std.core\n"), ("stdlib/std/arith.rw", "pack std.arith\nimport std.core\n")],
            &["stdlib/std/core.rw", "stdlib/std/arith.rw"],
        );
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.files.len(), 2);
    }

    #[test]
    fn a_long_chain_does_not_recurse() {
        let loaded = load(
            vec![Root { origin: Origin::Disk("p0.rw".into()), text: "import p1\n".into(), library: false }],
            &mut |origin: &Origin| {
                let n: u32 = origin.path()[1..].trim_end_matches(".rw").parse().map_err(|_| "no".to_string())?;
                Ok(if n < 3000 { format!("import p{}\n", n + 1) } else { String::new() })
            },
        );
        assert_eq!((loaded.files.len(), loaded.diagnostics.len()), (3001, 0));
    }
}
