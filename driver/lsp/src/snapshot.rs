//! One document with all that it imports, analysed: what every answer is made from.

use crate::position::{Encoding, Lines};
use lsp_types::Range;
use rewright_dsl::index::{Definition, Index, Occurrence};
use rewright_dsl::load::{Origin, Root, Trees};
use rewright_dsl::program::Program;
use rewright_dsl::syntax::ast::Span;
use rewright_packs::{Analysis, analyse};
use std::sync::OnceLock;

/// Documents and all that they import, analysed. A file is named by its path, or by its path below the packs that ship.
pub struct Snapshot {
    analysis: Analysis,
    /// By file, made when they are wanted.
    lines: Vec<OnceLock<Lines>>,
    encoding: Encoding,
}

/// A place in some file of a snapshot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place<'s> {
    /// The file's name.
    pub file: &'s str,
    /// The bytes.
    pub span: Span,
}

impl Snapshot {
    /// Analyses documents. `open` gives the texts of files that are open in the editor, `trees` those that were parsed.
    pub fn new(roots: Vec<Root>, open: &dyn Fn(&str) -> Option<String>, trees: &Trees, encoding: Encoding) -> Snapshot {
        let analysis = analyse(roots, open, trees);
        let lines = analysis.packs.sources.files.iter().map(|_| OnceLock::new()).collect();
        Snapshot { analysis, lines, encoding }
    }

    /// One document, by its name.
    pub fn of(
        name: &str,
        text: &str,
        open: &dyn Fn(&str) -> Option<String>,
        trees: &Trees,
        encoding: Encoding,
    ) -> Snapshot {
        Snapshot::new(vec![root(name, text)], open, trees, encoding)
    }

    /// The packs.
    pub fn packs(&self) -> &rewright_packs::Packs {
        &self.analysis.packs
    }

    /// What they say.
    pub fn program(&self) -> &Program {
        &self.analysis.packs.program
    }

    /// What their names mean.
    pub fn index(&self) -> &Index {
        &self.analysis.index
    }

    /// The index of a file.
    pub fn file(&self, name: &str) -> Option<u32> {
        let files = &self.analysis.packs.sources.files;
        files.iter().position(|(known, _)| known == name).map(|at| at as u32)
    }

    /// The name of a file.
    pub fn name(&self, file: u32) -> &str {
        self.analysis.packs.sources.files.get(file as usize).map_or("", |(name, _)| name)
    }

    /// The names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.analysis.packs.sources.files.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a file.
    pub fn text(&self, file: u32) -> &str {
        self.analysis.packs.sources.files.get(file as usize).map_or("", |(_, text)| text)
    }

    /// What stands at a place.
    pub fn written(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The lines of a file.
    pub fn lines(&self, file: u32) -> Lines {
        let made = || Lines::new(self.text(file), self.encoding);
        self.lines.get(file as usize).map_or_else(made, |lines| lines.get_or_init(made).clone())
    }

    /// A place as the protocol has it.
    pub fn range(&self, span: Span) -> Range {
        let text = self.text(span.file);
        match self.lines.get(span.file as usize) {
            Some(lines) => lines.get_or_init(|| Lines::new(text, self.encoding)).range(text, span.start, span.end),
            None => Range::default(),
        }
    }

    /// A place with the name of its file.
    pub fn place(&self, span: Span) -> Place<'_> {
        Place { file: self.name(span.file), span }
    }

    /// The name at a byte of a file, with what it means.
    pub fn named(&self, file: u32, offset: u32) -> Option<(&Occurrence, Vec<(Span, &Definition)>)> {
        let occurrence = self.index().at(file, offset)?;
        Some((occurrence, self.index().meanings(occurrence).collect()))
    }
}

/// A document as a root. A pack that ships stays a library, whose declarations are there for others.
pub fn root(name: &str, text: &str) -> Root {
    match rewright_packs::embedded(name) {
        Some(_) => Root { origin: Origin::Std(name.into()), text: text.into(), library: true },
        None => Root { origin: Origin::Disk(name.into()), text: text.into(), library: false },
    }
}
