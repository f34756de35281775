//! The languages that functions come in, and which one a file is in.

use std::path::Path;

/// A language that functions come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    /// Cranelift's text.
    Clif,
    /// LLVM IR.
    Llvm,
    /// Rewright's own text.
    Own,
    /// MLIR, which is validated and not optimised.
    Mlir,
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
