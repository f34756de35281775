//! The languages that functions come in, and which one a file is in.

use clap::ValueEnum;
use std::path::{Path, PathBuf};

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
