//! What a compiler makes of its inputs, by their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What a compiler makes of an input, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// C, C++, Objective-C, or one of these preprocessed: clang's front end makes LLVM IR of it.
    Source,
    /// Compiled, and not seen by rules: why.
    Other(&'static str),
    /// For the linker.
    Linked,
}

pub(super) fn kind(path: &Path) -> Kind {
    if path == Path::new("-") {
        return Kind::Other("standard input");
    }
    match path.extension().and_then(OsStr::to_str) {
        Some("c" | "i") => Kind::Source,
        Some("cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP" | "CXX" | "ii") => Kind::Source,
        Some("m" | "mi" | "mm" | "M" | "mii") => Kind::Source,
        Some("cppm" | "ixx") => Kind::Other("a module of C++, which is compiled to more than an object"),
        Some("s" | "S" | "asm" | "sx") => Kind::Other("assembly, which rules do not see"),
        Some("ll" | "bc") => Kind::Other("LLVM IR, which only `rewright opt` reads"),
        Some("cu" | "cui" | "hip" | "cl" | "clcpp") => {
            Kind::Other("a language for accelerators, which rules do not see")
        }
        Some("f" | "F" | "f90" | "F90" | "for" | "FOR") => Kind::Other("Fortran, which rules do not see"),
        Some("h" | "hh" | "hpp" | "H") => Kind::Other("a header, compiled ahead"),
        _ => Kind::Linked,
    }
}

/// What `-x` calls the language that a source file's name says.
pub(super) fn language(path: &Path) -> Option<&'static str> {
    Some(match path.extension().and_then(OsStr::to_str)? {
        "c" => "c",
        "i" => "cpp-output",
        "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP" | "CXX" => "c++",
        "ii" => "c++-cpp-output",
        "m" => "objective-c",
        "mi" => "objective-c-cpp-output",
        "mm" | "M" => "objective-c++",
        "mii" => "objective-c++-cpp-output",
        _ => return None,
    })
}

/// Is it what configuration scripts try out? They look at what a compiler says, and throw away what it makes.
pub(super) fn is_probe(inputs: &[(usize, PathBuf)]) -> bool {
    const NAMES: [&str; 7] = [
        "conftest",
        "_configtest",
        "CMakeCCompilerId",
        "CMakeCCompilerABI",
        "CMakeCXXCompilerId",
        "CMakeCXXCompilerABI",
        "sanitycheckc",
    ];
    const FOLDERS: [&str; 4] = ["CMakeTmp", "CMakeScratch", "meson-private", "config.tests"];
    let named = |path: &Path| {
        let stem = path.file_stem().and_then(OsStr::to_str);
        stem.is_some_and(|stem| NAMES.contains(&stem))
            || path.iter().any(|part| FOLDERS.iter().any(|folder| part == *folder))
    };
    inputs.iter().any(|(_, path)| named(path))
}
