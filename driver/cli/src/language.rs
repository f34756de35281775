//! The languages that functions come in, and which one a file is in.

use clap::ValueEnum;
use rewright_llvm::module::is_bitcode;
use std::path::{Path, PathBuf};

/// All of them.
pub(super) const LANGUAGES: [Language; 4] = [Language::Llvm, Language::Mlir, Language::Clif, Language::Own];

/// A language that functions come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Language {
    /// Cranelift's text
    Clif,
    /// LLVM IR, as text
    Llvm,
    /// Rewright's own text
    #[value(name = "ir")]
    Own,
    /// MLIR, which goes on as Rewright's own text, except where versions are compared
    Mlir,
}

/// A file of functions, as commands take it.
#[derive(clap::Args, Clone)]
pub(super) struct Input {
    /// A file of CLIF, of textual LLVM IR (`.ll`), or of Rewright's own text (`.ir`); `-` is standard input
    pub(super) file: PathBuf,
    /// The language of the file, where its name does not say it; standard input is CLIF otherwise
    #[arg(long, value_enum, value_name = "NAME")]
    language: Option<Language>,
}

impl Input {
    /// The language that is asked for, or that the name of the file tells.
    pub(super) fn language(&self) -> Language {
        self.language.unwrap_or_else(|| Language::of(&self.file))
    }
}

impl Language {
    /// The language of a file, which its name tells. This is the only place that decides it.
    pub(super) fn of(path: &Path) -> Language {
        match path.extension().and_then(|extension| extension.to_str()) {
            // Its reader says of bitcode that it is that.
            Some("ll" | "bc") => Language::Llvm,
            Some("ir") => Language::Own,
            Some("mlir") => Language::Mlir,
            _ => Language::Clif,
        }
    }

    /// The language of a file, as its name says it.
    pub(super) fn said(path: &Path) -> Option<Language> {
        let named = path.extension()?.to_str()?;
        (named == "bc" || LANGUAGES.iter().any(|language| language.extension() == named)).then(|| Language::of(path))
    }

    /// The language of a text, if there are lines of one language only that begin as they do in no other.
    pub(super) fn of_text(text: &[u8]) -> Option<Language> {
        if is_bitcode(text) {
            return Some(Language::Llvm);
        }
        let text = String::from_utf8_lossy(text);
        let mut found = LANGUAGES.into_iter().filter(|language| text.lines().any(|line| language.begins(line)));
        found.next().filter(|_| found.next().is_none())
    }

    /// Does a line begin as only this language has them outside of functions?
    fn begins(self, line: &str) -> bool {
        let words: &[&str] = match self {
            Language::Llvm => {
                &["define ", "declare ", "target triple", "target datalayout", "source_filename", "attributes #"]
            }
            Language::Clif => {
                &["function %", "function u", "test compile", "test optimize", "test interpret", "test run"]
            }
            Language::Mlir => {
                &["module {", "module @", "module attributes", "builtin.module", "func.func ", "  func.func "]
            }
            Language::Own => &["func %"],
        };
        words.iter().any(|word| line.starts_with(word))
    }

    /// As people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Language::Clif => "CLIF",
            Language::Llvm => "LLVM IR",
            Language::Own => "Rewright's own text",
            Language::Mlir => "MLIR",
        }
    }

    /// How names of its files end.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Language::Clif => "clif",
            Language::Llvm => "ll",
            Language::Own => "ir",
            Language::Mlir => "mlir",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_its_language_or_not() {
        for (text, language) in [
            ("; a comment\ndefine i32 @f() {\n", Some(Language::Llvm)),
            ("BC\u{40}", None),
            ("test optimize\nfunction %f() {\n", Some(Language::Clif)),
            ("func.func @f() {\n", Some(Language::Mlir)),
            ("module {\n  func.func @f() {\n", Some(Language::Mlir)),
            ("; text\nfunc %f(%x: i32) -> i32 {\n", Some(Language::Own)),
            ("a define \n", None),
            ("define void @f() {\nfunction %f() {\n", None),
            ("", None),
        ] {
            assert_eq!(Language::of_text(text.as_bytes()), language, "{text}");
        }
        assert_eq!(Language::of_text(b"BC\xc0\xde\x00\xff"), Some(Language::Llvm));
        assert_eq!(Language::said(Path::new("a.bc")), Some(Language::Llvm));
        assert_eq!(Language::said(Path::new("a.txt")), None);
    }

    #[test]
    fn the_name_of_a_file_tells_its_language() {
        for language in [Language::Clif, Language::Llvm, Language::Own, Language::Mlir] {
            assert_eq!(Language::of(&Path::new("a.b/c").with_extension(language.extension())), language);
        }
        assert_eq!(Language::of(Path::new("c.bc")), Language::Llvm);
        for name in ["c", "c.txt", "c.IR", "dir.ll/c", ".ll"] {
            assert_eq!(Language::of(Path::new(name)), Language::Clif, "{name}");
        }
    }
}
