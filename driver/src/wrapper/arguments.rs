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
    /// The dependency file, if one is made.
    pub dependency_file: Option<PathBuf>,
}

impl Unit {
    /// Does it write what cannot be put in place of what is there: `/dev/null`, a link, standard output?
    pub(super) fn writes_to_no_file(&self) -> bool {
        std::iter::once(&self.object).chain(&self.dependency_file).any(|path| is_special(path))
    }
}

/// Options with an argument of their own, as the next word.
const WITH_ARGUMENT: [&str; 21] = [
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
const NOT_OURS: [&str; 41] = [
    "-E",
    "-S",
    "-v",
    "-M",
    "-MM",
    "-x",
    "-flto",
    "-fprofile",
    "-fcoverage",
    "-fsanitize",
    "-pg",
    "-ftest-coverage",
    "-emit-llvm",
    "-emit-ast",
    "-save-temps",
    "-fsyntax-only",
    "-m32",
    "-###",
    "-fembed",
    "-fcs-profile",
    // What goes past the compiler's driver may ask for anything.
    "-Xclang",
    // What asks for an answer, and no object.
    "-print-",
    "-dump",
    // What writes further files beside the object, or lets the back end speak.
    "-save-stats",
    "-print-stats",
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

/// Starts of options with two hyphens that say nothing about what comes out. Most of the others are long names of options
/// with one (`--output=x`, `--assemble`).
const LONG: [&str; 6] = ["--target=", "--sysroot=", "--std=", "--param", "--gcc-toolchain=", "--gcc-install-dir="];

/// Variables that make a compiler write more than its command line says, or read another one.
const VARIABLES: [&str; 7] = [
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CCC_OVERRIDE_OPTIONS",
    "CC_PRINT_OPTIONS",
    "CC_PRINT_HEADERS",
    "CC_LOG_DIAGNOSTICS",
    "CC_PRINT_PROC_STAT",
];

/// Reads a command line.
pub fn plan(args: &[OsString]) -> Plan {
    let hand_over = |reason: &str| Plan::HandOver(reason.to_string());
    let (mut options, mut dependencies, mut dependency_file) = (vec![], vec![], None);
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
            "-MD" | "-MMD" | "-MP" | "-MG" | "-MV" => dependencies.push(arg.clone()),
            "-MF" | "-MT" | "-MQ" => {
                dependencies.push(arg.clone());
                let Some(value) = rest.next() else { return hand_over("an option without its argument") };
                dependencies.push(value.clone());
                if text == "-MF" {
                    dependency_file = Some(PathBuf::from(value));
                }
            }
            _ if text.starts_with("-MF") => {
                dependencies.push(arg.clone());
                dependency_file = Some(PathBuf::from(&text[3..]));
            }
            _ if text.starts_with("-MT") || text.starts_with("-MQ") => dependencies.push(arg.clone()),
            _ if text.starts_with("-Wp,-M") => return hand_over("dependencies through the preprocessor"),
            _ if text.starts_with('@') => return hand_over("a response file"),
            _ if text.starts_with("--") && !LONG.iter().any(|long| text.starts_with(long)) => return hand_over(text),
            _ if NOT_OURS.iter().any(|not| is_option(text, not)) => return hand_over(text),
            _ if WITH_ARGUMENT.contains(&text) => {
                options.push(arg.clone());
                options.extend(rest.next().cloned());
            }
            _ if text.starts_with("-o") => objects.push(PathBuf::from(&text[2..])),
            _ if text.starts_with("-O") => {
                level = text[2..].to_string();
                options.push(arg.clone());
            }
            _ if text.starts_with('-') => options.push(arg.clone()),
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
    complete(&mut dependencies, &mut dependency_file, &object);
    Plan::Compile(Unit { source: source.clone(), object, options, dependencies, dependency_file })
}

/// Is `text` the option, alone or with its value behind it?
fn is_option(text: &str, option: &str) -> bool {
    match option {
        // One letter, with its argument or something else behind it.
        "-E" | "-S" | "-M" | "-MM" | "-pg" | "-v" => text == option,
        _ => text.starts_with(option),
    }
}

fn is_special(path: &Path) -> bool {
    path == Path::new("-") || path.as_os_str().is_empty() || path.symlink_metadata().is_ok_and(|facts| !facts.is_file())
}

/// The variable by which the environment asks for more than the command line does.
pub(super) fn asked_by_environment() -> Option<&'static str> {
    VARIABLES.into_iter().find(|variable| std::env::var_os(variable).is_some())
}

/// The file and the target that dependency files have by default come from the name of the object.
fn complete(dependencies: &mut Vec<OsString>, dependency_file: &mut Option<PathBuf>, object: &Path) {
    let has = |start: &str| dependencies.iter().any(|d| d.to_str().is_some_and(|d| d.starts_with(start)));
    if !has("-MD") && !has("-MMD") {
        return;
    }
    let target = has("-MT") || has("-MQ");
    if dependency_file.is_none() {
        let file = object.with_extension("d");
        dependencies.extend(["-MF".into(), file.clone().into()]);
        *dependency_file = Some(file);
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
            "-O2 --output=b.o -c a.c",
            "-O2 -print-search-dirs -c a.c",
            "-O2 -Xclang -emit-llvm -c a.c",
            "-O2 -c a.c -MMD -MF",
        ] {
            assert!(matches!(planned(line), Plan::HandOver(_)), "{line}");
        }
    }
}
