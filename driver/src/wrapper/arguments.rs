//! What a compiler's command line asks for. Only "compile one C file to an object, optimised" is taken apart;
//! everything else is the compiler's own business.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What to do with a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Hand it over as it is, for this reason.
    HandOver(String),
    /// Compile one file in our way.
    Compile(Unit),
}

/// One file to compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// The C file, or what a cache or another machine was given of it: preprocessed (`.i`).
    pub source: PathBuf,
    /// The object file.
    pub object: PathBuf,
    /// Everything else but `-c`, `-o` and what makes dependency files.
    pub options: Vec<OsString>,
    /// What makes dependency files, complete: LLVM IR is what comes out first, and its name must not get into them.
    pub dependencies: Vec<OsString>,
}

/// Options with an argument of their own, as the next word.
const WITH_ARGUMENT: [&str; 22] = [
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xlinker",
    "-target",
    "-arch",
    "-mllvm",
    "--param",
    "-T",
];

/// Options (or starts of options) that ask for something else than an optimised object.
const NOT_OURS: [&str; 39] = [
    "-E",
    "-S",
    "-v",
    "--analyze",
    "-M",
    "-MM",
    "-x",
    "-flto",
    "-fprofile",
    "-fcoverage",
    "-fsanitize",
    "--coverage",
    "-pg",
    "-ftest-coverage",
    "-emit-llvm",
    "-emit-ast",
    "-save-temps",
    "--save-temps",
    "-fsyntax-only",
    "-m32",
    "-###",
    "-fembed",
    "-fcs-profile",
    // What writes further files beside the object, or lets the back end speak.
    "-gsplit-dwarf",
    "-fstack-usage",
    "-fsave-optimization-record",
    "-foptimization-record",
    "-ftime-trace",
    "-ftime-report",
    "-fproc-stat-report",
    "-MJ",
    "-Rpass",
    "-Wframe-larger-than",
    "-fplugin",
    "-fpass-plugin",
    "-fno-integrated-as",
    // What writes the command line into the object.
    "-frecord-command-line",
    "-frecord-gcc-switches",
    "-grecord",
];

/// Variables that make a compiler write dependencies as well, of what comes out first.
const DEPENDENCIES: [&str; 2] = ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"];

/// Reads a command line.
pub fn plan(args: &[OsString]) -> Plan {
    let hand_over = |reason: &str| Plan::HandOver(reason.to_string());
    let mut unit = Unit { source: PathBuf::new(), object: PathBuf::new(), options: vec![], dependencies: vec![] };
    let (mut sources, mut objects, mut compile) = (vec![], vec![], false);
    let mut level = "0".to_string();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.to_str() else { return hand_over("an argument that is not UTF-8") };
        match text {
            "-c" => compile = true,
            "-o" => match rest.next() {
                Some(object) => objects.push(PathBuf::from(object)),
                None => return hand_over("-o without a file"),
            },
            "-" => return hand_over("standard input"),
            "--" => return hand_over("files that may look like options"),
            "-MD" | "-MMD" | "-MP" | "-MG" | "-MV" => unit.dependencies.push(arg.clone()),
            "-MF" | "-MT" | "-MQ" => {
                unit.dependencies.push(arg.clone());
                unit.dependencies.extend(rest.next().cloned());
            }
            _ if text.starts_with("-MF") || text.starts_with("-MT") || text.starts_with("-MQ") => {
                unit.dependencies.push(arg.clone());
            }
            _ if text.starts_with("-Wp,-M") => return hand_over("dependencies through the preprocessor"),
            _ if text.starts_with('@') => return hand_over("a response file"),
            _ if NOT_OURS.iter().any(|not| is_option(text, not)) => return hand_over(text),
            _ if WITH_ARGUMENT.contains(&text) => {
                unit.options.push(arg.clone());
                unit.options.extend(rest.next().cloned());
            }
            _ if text.starts_with("-o") => objects.push(PathBuf::from(&text[2..])),
            _ if text.starts_with("-O") => {
                level = text[2..].to_string();
                unit.options.push(arg.clone());
            }
            _ if text.starts_with('-') => unit.options.push(arg.clone()),
            _ => sources.push(PathBuf::from(arg)),
        }
    }
    let [source] = &sources[..] else { return hand_over("not exactly one input") };
    if !source.extension().is_some_and(|e| e == "c" || e == "i") {
        return hand_over("no C file");
    }
    if !compile {
        return hand_over("no -c");
    }
    if source.file_stem() == Some(OsStr::new("conftest")) {
        return hand_over("a test of configure");
    }
    if !matches!(level.as_str(), "" | "1" | "2" | "3" | "s" | "z" | "fast") || level == "fast" {
        return hand_over("not optimised, or with other rules for floats");
    }
    let object = match &objects[..] {
        [] => Path::new(source.file_name().unwrap_or_default()).with_extension("o"),
        [object] => object.clone(),
        _ => return hand_over("several outputs"),
    };
    complete(&mut unit.dependencies, &object);
    unit.source = source.clone();
    unit.object = object;
    Plan::Compile(unit)
}

/// Is `text` the option, alone or with its value behind it?
fn is_option(text: &str, option: &str) -> bool {
    match option {
        // One letter, with its argument or something else behind it.
        "-E" | "-S" | "-M" | "-MM" | "-pg" | "-v" => text == option,
        _ => text.starts_with(option),
    }
}

/// An object that cannot be put in place of what is there: `/dev/null`, a link, standard output.
pub(super) fn is_special(object: &Path) -> bool {
    object == Path::new("-")
        || object.as_os_str().is_empty()
        || object.symlink_metadata().is_ok_and(|facts| !facts.is_file())
}

/// Does the environment ask for dependencies?
pub(super) fn dependencies_asked_for() -> bool {
    DEPENDENCIES.iter().any(|variable| std::env::var_os(variable).is_some())
}

/// The file and the target that dependency files have by default come from the name of the object.
fn complete(dependencies: &mut Vec<OsString>, object: &Path) {
    let has = |start: &str| dependencies.iter().any(|d| d.to_str().is_some_and(|d| d.starts_with(start)));
    if !has("-MD") && !has("-MMD") {
        return;
    }
    let (file, target) = (has("-MF"), has("-MT") || has("-MQ"));
    if !file {
        dependencies.push("-MF".into());
        dependencies.push(object.with_extension("d").into());
    }
    if !target {
        dependencies.push("-MQ".into());
        dependencies.push(object.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> Plan {
        plan(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn one_optimised_c_file_is_ours() {
        let Plan::Compile(unit) = planned("-O2 -Wall -I inc -DX=1 -MMD -c a/b.c -o out/b.o") else {
            panic!("handed over")
        };
        assert_eq!((unit.source, unit.object.clone()), (PathBuf::from("a/b.c"), PathBuf::from("out/b.o")));
        assert_eq!(unit.options, ["-O2", "-Wall", "-I", "inc", "-DX=1"]);
        assert_eq!(unit.dependencies, ["-MMD", "-MF", "out/b.d", "-MQ", "out/b.o"]);
        assert!(matches!(planned("-O2 -c x.i"), Plan::Compile(_)));
        let Plan::Compile(unit) = planned("-c -O3 x.c") else { panic!("handed over") };
        assert_eq!(unit.object, PathBuf::from("x.o"));
        assert!(unit.dependencies.is_empty());
    }

    #[test]
    fn everything_else_is_handed_over() {
        for line in [
            "a.c -o a",
            "-c a.c",
            "-O0 -c a.c",
            "-O2 -O0 -c a.c",
            "-O2 -E a.c",
            "-O2 -S a.c",
            "-O2 -c a.c b.c",
            "-O2 -c a.s",
            "-O2 -c a.cc",
            "-O2 -c -",
            "-O2 -c @args",
            "-O2 -c conftest.c",
            "-O2 -fsanitize=address -c a.c",
            "-O2 -M a.c",
            "-O2 -fprofile-generate -c a.c",
            "-O2 -flto -c a.c",
            "--version",
            "-Ofast -c a.c",
            "-O2 -x c++ -c a.c",
            "-O2 -c a.c -o",
            "-O2 -ftest-coverage -c a.c",
            "-O2 -c -- a.c",
            "-O2 -v -c a.c",
            "-O2 --analyze -c a.c",
            "-O2 -emit-ast -c a.c",
            "-O2 --save-temps -c a.c",
        ] {
            assert!(matches!(planned(line), Plan::HandOver(_)), "{line}");
        }
    }
}
