//! What a compiler's command line asks for. Files of C, C++ and Objective-C that are compiled, optimised, to objects or to be linked at once
//! are taken out; everything else is left to the compiler.

use super::inputs::{Kind, is_probe, kind, language};
use super::options::{LONG, NOT_OURS, QUESTIONS, WITH_ARGUMENT, asked_by_environment, is_option};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What to do with a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// The compiler does all of it, and rules lose nothing: it asks a question, preprocesses, links objects, or is a
    /// test of a configuration script. The reason is for statistics.
    HandOver(String),
    /// The compiler does all of it, and rules do not see code that they are meant for.
    PassThrough(Missed),
    /// Compile source files in our way; the compiler does what is left.
    Compile(Build),
}

/// Code that rules do not see, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The file, or the files.
    pub files: String,
    /// Why.
    pub reason: String,
}

/// Source files to compile in our way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// The files, in order.
    pub units: Vec<Unit>,
    /// Everything else but inputs, `-c`, `-o` and what makes dependency files.
    pub options: Vec<OsString>,
    /// What makes dependency files, complete except for the file's name.
    pub dependencies: Vec<OsString>,
    /// Are the objects linked at once?
    pub links: bool,
    /// Inputs that the compiler compiles without rules, too.
    pub missed: Vec<Missed>,
    /// All inputs.
    inputs: Vec<PathBuf>,
}

/// One file to compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// The source file, or what a cache or another machine was given of it: preprocessed (`.i`).
    pub source: PathBuf,
    /// Its place in the command line.
    at: usize,
    /// The object file; where it is linked at once, the name that dependency files have of it.
    pub object: PathBuf,
    /// What names it in dependency files: LLVM IR is what comes out first, and its name must not get into them.
    pub target: Option<OsString>,
    /// The dependency file, if one is made.
    pub dependency_file: Option<PathBuf>,
}

impl Build {
    /// Are its objects thrown away?
    pub(super) fn discards(&self) -> bool {
        !self.links && self.units.iter().any(|unit| is_null(&unit.object))
    }

    /// Does it write what cannot be put in place of what is there: a device, a link, standard output?
    fn special_output(&self) -> Option<&Path> {
        let objects = self.units.iter().filter(|_| !self.links).map(|unit| &unit.object).filter(|path| !is_null(path));
        let dependencies = self.units.iter().filter_map(|unit| unit.dependency_file.as_ref());
        objects.chain(dependencies).map(PathBuf::as_path).find(|path| is_special(path))
    }

    /// The first input that is not there. The compiler does nothing then, and says so.
    pub(super) fn missing(&self) -> Option<Missed> {
        let path = self.inputs.iter().find(|path| !path.exists())?;
        Some(Missed { files: path.display().to_string(), reason: "there is no such file".into() })
    }

    /// The command line that is left once these units (by index) have objects; `None` where nothing is left to do.
    pub(super) fn left(&self, args: &[OsString], made: &BTreeMap<usize, PathBuf>) -> Option<Vec<OsString>> {
        if !self.links && made.len() == self.inputs.len() {
            return None;
        }
        let object_at: BTreeMap<usize, &PathBuf> =
            made.iter().map(|(unit, object)| (self.units[*unit].at, object)).collect();
        let word = |(at, arg): (usize, &OsString)| match object_at.get(&at) {
            None => Some(arg.clone()),
            Some(object) => self.links.then(|| object.as_os_str().to_os_string()),
        };
        // Options for the files that are made already have been used.
        let used = (!self.links && !made.is_empty()).then(|| OsString::from("-Qunused-arguments"));
        Some(args.iter().enumerate().filter_map(word).chain(used).collect())
    }
}

/// What a command line says, word by word.
#[derive(Default)]
struct Line {
    /// With their places.
    inputs: Vec<(usize, PathBuf)>,
    outputs: Vec<PathBuf>,
    options: Vec<OsString>,
    dependencies: Vec<OsString>,
    dependency_file: Option<PathBuf>,
    /// Compile, and do not link.
    compiles: bool,
    /// What stands behind the last `-O`.
    level: Option<String>,
    architectures: usize,
    /// What `-x` says that the inputs behind it are, with its place.
    language: Option<(usize, String)>,
    /// The option that asks for no code.
    question: Option<String>,
    /// Why it is not for us to take apart.
    refused: Option<Refusal>,
}

/// Why a command line is not for us to take apart.
struct Refusal {
    reason: String,
    /// Its inputs may be C, so the user is told.
    may_be_c: bool,
}

impl Line {
    fn read(args: &[OsString]) -> Self {
        let mut line = Line::default();
        let mut rest = args.iter().enumerate();
        while let Some((at, arg)) = rest.next() {
            line.word(at, arg, &mut rest.by_ref().map(|(_, arg)| arg));
        }
        if line.architectures > 1 {
            line.refuse("several architectures");
        }
        if let Some((said, name)) = &line.language {
            // A file that is put in place of a source file, or linked beside it, is of another language.
            let agrees = |(at, path): &(usize, PathBuf)| at > said && language(path) == Some(name);
            if !line.compiles || line.inputs.is_empty() || !line.inputs.iter().all(agrees) {
                line.refuse_unclear("-x");
            }
        }
        line
    }

    fn refuse(&mut self, reason: &str) {
        self.refused.get_or_insert_with(|| Refusal { reason: reason.to_string(), may_be_c: false });
    }

    /// Refuses what may still be C: it cannot be read, or has another language than its name says.
    fn refuse_unclear(&mut self, reason: &str) {
        self.refused.get_or_insert_with(|| Refusal { reason: reason.to_string(), may_be_c: true });
    }

    /// One word; `rest` gives the argument of an option.
    fn word(&mut self, at: usize, arg: &OsString, rest: &mut dyn Iterator<Item = &OsString>) {
        let Some(text) = arg.to_str() else { return self.refuse("an argument that is not UTF-8") };
        match text {
            "-c" => self.compiles = true,
            "-o" => match rest.next() {
                Some(object) => self.outputs.push(PathBuf::from(object)),
                None => self.refuse("-o without a file"),
            },
            "-" => {
                self.inputs.push((at, PathBuf::from("-")));
                self.refuse("standard input");
            }
            "--" => self.refuse("files that may look like options"),
            "-MD" | "-MMD" | "-MP" | "-MG" | "-MV" => self.dependencies.push(arg.clone()),
            "-MF" | "-MT" | "-MQ" => match rest.next() {
                None => self.refuse("an option without its argument"),
                Some(value) if text == "-MF" => self.dependency_file = Some(PathBuf::from(value)),
                Some(value) => self.dependencies.extend([arg.clone(), value.clone()]),
            },
            _ if text.starts_with("-MF") => self.dependency_file = Some(PathBuf::from(&text[3..])),
            _ if text.starts_with("-MT") || text.starts_with("-MQ") => self.dependencies.push(arg.clone()),
            _ if QUESTIONS.iter().any(|question| is_option(text, question)) => {
                self.question.get_or_insert_with(|| text.to_string());
            }
            _ if text.starts_with("-Wp,-M") => self.refuse("dependencies through the preprocessor"),
            _ if text.starts_with('@') => self.refuse_unclear("a response file that cannot be read"),
            _ if text.starts_with("--") && !LONG.iter().any(|long| text.starts_with(long)) => self.refuse(text),
            "-x" if self.language.is_none() => match rest.next() {
                Some(name) => self.language = Some((at, name.to_string_lossy().into_owned())),
                None => self.refuse("-x without a language"),
            },
            _ if NOT_OURS.iter().any(|not| is_option(text, not)) => {
                match text {
                    "-x" => self.refuse_unclear(text),
                    _ => self.refuse(text),
                }
                if text == "-x" || text == "-Xclang" {
                    rest.next();
                }
            }
            _ if WITH_ARGUMENT.contains(&text) => {
                self.architectures += usize::from(text == "-arch");
                self.options.push(arg.clone());
                self.options.extend(rest.next().cloned());
            }
            _ if text.starts_with("-o") => self.outputs.push(PathBuf::from(&text[2..])),
            _ if text.starts_with("-O") => {
                self.level = Some(text[2..].to_string());
                self.options.push(arg.clone());
            }
            _ if text.starts_with('-') => self.options.push(arg.clone()),
            _ => self.inputs.push((at, PathBuf::from(arg))),
        }
    }

    /// Why rules see none of its source files, if that is so.
    fn unseen(&self) -> Option<String> {
        let level = || match self.level.as_deref() {
            Some("" | "1" | "2" | "3" | "s" | "z") => None,
            Some("fast") => Some("-Ofast: floats have other rules there".to_string()),
            Some(level) if level != "0" => Some(format!("-O{level}: rules apply at -O1, -O2, -O3, -Os and -Oz")),
            _ => Some("not optimised: rules apply from -O1 on".to_string()),
        };
        self.refused.as_ref().map(|refusal| refusal.reason.clone()).or_else(level)
    }
}

/// Reads a command line. Where `told`, its user wants to know what rules do, so an object that goes to `/dev/null` is made
/// as any other is; without that it is a question of a script to the compiler.
pub fn plan(args: &[OsString], told: bool) -> Plan {
    let line = Line::read(args);
    if let Some(question) = line.question {
        return Plan::HandOver(question);
    }
    let kinds: Vec<Kind> = line.inputs.iter().map(|(_, path)| kind(path)).collect();
    let compiled = || line.inputs.iter().zip(&kinds).filter(|(_, kind)| **kind != Kind::Linked);
    let missed = |reason: &str| {
        let files: Vec<String> = compiled().map(|((_, path), _)| path.display().to_string()).collect();
        let files = if files.is_empty() { "the command line".to_string() } else { files.join(", ") };
        Missed { files, reason: reason.to_string() }
    };
    if compiled().next().is_none() {
        return match line.refused {
            Some(Refusal { reason, may_be_c: true }) => Plan::PassThrough(missed(&reason)),
            _ => Plan::HandOver("nothing to compile".into()),
        };
    }
    let discarded = line.outputs.first().is_some_and(|path| is_null(path));
    if discarded && !told || is_probe(&line.inputs) {
        return Plan::HandOver("a test of a configuration script".into());
    }
    if let Some(asked) = asked_by_environment() {
        return Plan::PassThrough(missed(&format!("{asked} in the environment")));
    }
    if !kinds.contains(&Kind::Source) {
        return match compiled().next() {
            Some((_, Kind::Other(language))) => Plan::PassThrough(missed(language)),
            _ => Plan::HandOver("nothing to compile".into()),
        };
    }
    if let Some(reason) = line.unseen() {
        return Plan::PassThrough(missed(&reason));
    }
    if line.outputs.len() > 1 || line.compiles && !line.outputs.is_empty() && line.inputs.len() > 1 {
        return Plan::HandOver("several outputs".into());
    }
    let build = build(line, &kinds);
    match build.special_output() {
        Some(path) => Plan::PassThrough(Missed {
            files: path.display().to_string(),
            reason: "an output that is no regular file".into(),
        }),
        None => Plan::Compile(build),
    }
}

/// Taken apart: the source files in our way.
fn build(line: Line, kinds: &[Kind]) -> Build {
    let has = |start: &str| line.dependencies.iter().any(|d| d.to_str().is_some_and(|d| d.starts_with(start)));
    let (makes_dependencies, names_target) = (has("-MD") || has("-MMD"), has("-MT") || has("-MQ"));
    let mut dependencies = line.dependencies.clone();
    if let Some(file) = line.dependency_file.as_ref().filter(|_| !makes_dependencies) {
        // The compiler says that it is of no use.
        dependencies.extend(["-MF".into(), file.clone().into()]);
    }
    let unit = |(at, source): &(usize, PathBuf)| {
        let default = Path::new(source.file_name().unwrap_or_default()).with_extension("o");
        let object = line.outputs.first().cloned().unwrap_or(default);
        let file = || line.dependency_file.clone().unwrap_or_else(|| object.with_extension("d"));
        let dependency_file = makes_dependencies.then(file);
        let target = (makes_dependencies && !names_target).then(|| object.clone().into_os_string());
        Unit { source: source.clone(), at: *at, object, target, dependency_file }
    };
    let others = line.inputs.iter().zip(kinds).filter_map(|((_, path), kind)| match kind {
        Kind::Other(language) => Some(Missed { files: path.display().to_string(), reason: (*language).to_string() }),
        Kind::Source | Kind::Linked => None,
    });
    Build {
        units: line
            .inputs
            .iter()
            .zip(kinds)
            .filter(|(_, kind)| **kind == Kind::Source)
            .map(|(input, _)| unit(input))
            .collect(),
        missed: others.collect(),
        links: !line.compiles,
        inputs: line.inputs.into_iter().map(|(_, path)| path).collect(),
        dependencies,
        options: line.options,
    }
}

fn is_null(path: &Path) -> bool {
    path == Path::new("/dev/null")
}

fn is_special(path: &Path) -> bool {
    path == Path::new("-") || path.as_os_str().is_empty() || path.symlink_metadata().is_ok_and(|facts| !facts.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> Plan {
        plan(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>(), false)
    }

    fn build(line: &str) -> Build {
        match planned(line) {
            Plan::Compile(build) => build,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn one_optimised_c_file_is_ours() {
        let ours = build("-O2 -Wall -I inc -DX=1 -MMD -c a/b.c -o out/b.o");
        let [unit] = &ours.units[..] else { panic!("{ours:?}") };
        assert_eq!((&unit.source, &unit.object), (&PathBuf::from("a/b.c"), &PathBuf::from("out/b.o")));
        assert_eq!(ours.options, ["-O2", "-Wall", "-I", "inc", "-DX=1"]);
        assert_eq!((&ours.dependencies, unit.target.as_deref()), (&vec!["-MMD".into()], Some("out/b.o".as_ref())));
        assert_eq!((unit.dependency_file.as_deref(), ours.links), (Some(Path::new("out/b.d")), false));
        for source in ["x.cc", "x.cpp", "x.C", "x.ii", "x.m", "x.mm"] {
            assert_eq!(build(&format!("--driver-mode=g++ -O2 -c {source}")).units[0].object, PathBuf::from("x.o"));
        }
        assert_eq!(build("-O2 -c x.i").units[0].object, PathBuf::from("x.o"));
        // A language that the name says, too, says nothing.
        assert_eq!(build("-x c -O2 -c x.c").options, ["-O2"]);
        assert_eq!(build("-O2 -x c++ -c x.cpp").units.len(), 1);
        let ours = build("-c -O3 sub/x.c");
        assert_eq!((ours.units[0].object.as_path(), ours.units[0].dependency_file.as_ref()), (Path::new("x.o"), None));
        let ours = build("-O2 -c -MD -MFdeps -MT target x.c");
        assert_eq!(
            (ours.units[0].target.as_ref(), ours.dependencies),
            (None, vec!["-MD".into(), "-MT".into(), "target".into()])
        );
        assert_eq!(ours.units[0].dependency_file.as_deref(), Some(Path::new("deps")));
    }

    #[test]
    fn what_is_left_keeps_its_order() {
        let left = |line: &str, made: &[usize]| {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let made = made.iter().map(|unit| (*unit, PathBuf::from(format!("/t/{unit}.o")))).collect();
            let left = build(line).left(&args, &made)?;
            Some(left.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" "))
        };
        let link = "-O2 a.c b.o c.c -z now -lm -o a";
        assert_eq!(left(link, &[0, 1]).unwrap(), "-O2 /t/0.o b.o /t/1.o -z now -lm -o a");
        assert_eq!(left(link, &[1]).unwrap(), "-O2 a.c b.o /t/1.o -z now -lm -o a");
        assert_eq!(left("-O2 -c a.c b.s c.c", &[0, 1]).unwrap(), "-O2 -c b.s -Qunused-arguments");
        assert_eq!(left("-O2 -c a.c c.c", &[0, 1]), None);
        assert_eq!(left("-O2 -c a.c c.c", &[0]).unwrap(), "-O2 -c c.c -Qunused-arguments");
        assert_eq!(build("-O2 a.c b.s c.f90").missed.len(), 2);
        assert_eq!(build("-O2 -MD a.c b.c -o prog-1.2").units[1].dependency_file, Some("prog-1.d".into()));
    }

    #[test]
    fn what_rules_do_not_see_is_said() {
        for (line, reason) in [
            ("a.c -o a", "not optimised"),
            ("-c a.c", "not optimised"),
            ("-O2 -O0 -c a.c", "not optimised"),
            ("-Og -c a.c", "-Og"),
            ("-Ofast -c a.c", "-Ofast"),
            ("-O2 -S a.c", "-S"),
            ("-O2 -c a.s", "assembly"),
            ("-O2 a.ixx b.o", "a module of C++"),
            ("-O2 -c -", "standard input"),
            ("-O2 -c @args", "a response file"),
            ("@args", "a response file"),
            ("-O2 -fsanitize=address -c a.c", "-fsanitize=address"),
            ("-O2 -fprofile-generate -c a.c", "-fprofile-generate"),
            ("-O2 -flto a.c -o a", "-flto"),
            ("-O2 -x c++ -c a.c", "-x"),
            ("-O2 -x c b", "-x"),
            ("-O2 -x c a.c b.o -o a", "-x"),
            ("-O2 -c a.c -x c", "-x"),
            ("-O2 -x c -x c++ -c a.c", "-x"),
            ("-O2 -c a.c -x", "-x without a language"),
            ("-O2 -arch x86_64 -arch arm64 -c a.c", "several architectures"),
            ("-O2 -ftest-coverage -c a.c", "-ftest-coverage"),
            ("-O2 -c -- a.c", "look like options"),
            ("-O2 -v -c a.c", "-v"),
            ("-O2 -emit-ast -c a.c", "-emit-ast"),
            ("-O2 -emit-llvm -c a.c", "-emit-llvm"),
            ("-O2 --save-temps -c a.c", "--save-temps"),
            ("-O2 --output=b.o -c a.c", "--output=b.o"),
            ("-O2 -Xclang -emit-llvm -c a.c", "-Xclang"),
            ("-O2 -c a.c -o", "-o without a file"),
            ("-O2 -c a.c -MMD -MF", "an option without its argument"),
            ("-O2 -c a.c -o -", "no regular file"),
        ] {
            match planned(line) {
                Plan::PassThrough(missed) => assert!(missed.reason.contains(reason), "{line}: {missed:?}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn where_rules_have_no_business_nothing_is_said() {
        for line in [
            "",
            "-v",
            "--version",
            "-O2 -E a.c",
            "-O2 -E -",
            "-O2 -M a.c",
            "-O2 -MM a.c",
            "a.o b.o -o a -lm",
            "-O2 -shared a.o lib.so.1 -o libx.so",
            "-O2 -c conftest.c",
            "conftest.c -o conftest",
            "-o t CMakeFiles/CMakeScratch/TryCompile-x/src.c",
            "-x c -O2 -c t.c -o /dev/null",
            "-O2 --analyze -c a.c",
            "-O2 -print-search-dirs -c a.c",
            "-O2 -fsyntax-only a.c",
            "-O2 -c a.c b.c -o x.o",
        ] {
            assert!(matches!(planned(line), Plan::HandOver(_)), "{line}: {:?}", planned(line));
        }
    }
}
