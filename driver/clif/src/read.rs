//! CLIF files: read as a whole, written back as a whole.
//!
//! Cranelift's reader does the parsing. The parts that it does not keep are kept here: the text of the header
//! (commands, settings, targets, comments) and of each function, so that a function that nothing changed is written
//! back byte for byte. A changed function is printed by Cranelift, followed by the comments that belong to the function
//! as a whole and by its `; run:` lines, wherever they stood. Other comments on parts of a changed function are
//! dropped: they name values that may no longer exist. Calling conventions that the text leaves to the reader, which
//! takes the host's for files that run, stay unsaid.
//!
//! **Invariant**: no text makes this module panic or exhaust memory. Entity numbers are bounded before the reader
//! allocates by them, and the reader runs under [`quietly`], since it is not our code.

use super::panics::{Panic, quietly};
use super::print::{Unstated, print_as_written};
use super::scan::{functions, words};
use cranelift_codegen::ir::entities::AnyEntity;
use cranelift_codegen::ir::{Endianness, Function};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable, Flags, FlagsOrIsa};
use cranelift_codegen::verify_function;
use cranelift_reader::{Feature, IsaSpec, ParseOptions, parse_test};
use std::fmt::Write as _;

/// The version of Cranelift whose CLIF is read.
pub const CRANELIFT: &str = cranelift_codegen::VERSION;

/// The highest number of a value (or any entity) that a file may name. The reader allocates all lower ones.
const MAX_ENTITY: u64 = 1 << 20;

/// Why a text is not a CLIF file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The reader's own message.
    #[error("{line}:{column}: {message}")]
    Parse {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes. The reader says only the line: this is its first token.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The text is not UTF-8.
    #[error("not UTF-8 text at byte {0}")]
    Encoding(usize),
    /// Cranelift's reader panicked.
    #[error("cranelift-reader failed on this input: {0}")]
    Reader(String),
}

/// Why Cranelift's verifier does not accept a function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// There is nothing to verify for.
    #[error("Cranelift does not support this host")]
    Host,
    /// What it objects to.
    #[error("{}", .0.join("\n"))]
    Errors(Vec<String>),
    /// It panicked.
    #[error("cranelift's verifier failed: {0}")]
    Failed(String),
}

/// A file.
pub struct File {
    /// The text before the first function, with its line ends.
    pub header: String,
    /// `test` lines without the word itself: `run`, `optimize precise-output`.
    pub commands: Vec<String>,
    /// `set` and `target` lines in order.
    pub targets: Vec<TargetLine>,
    /// `feature` lines.
    pub features: Vec<FeatureLine>,
    /// What its `target` lines ask for, in order.
    pub isas: Vec<OwnedTargetIsa>,
    /// Shared settings where it has no `target` line.
    pub flags: Flags,
    /// For what its functions are verified: the host's architecture if the file has a target of it or none at all,
    /// else its first target. `None` where Cranelift does not support the host.
    pub isa: Option<OwnedTargetIsa>,
    /// The same with frame pointers, unless the file says whether there are any: hosts such as wasmtime set that elsewhere.
    pub frame_pointers: Option<OwnedTargetIsa>,
    /// In the order of the file.
    pub functions: Vec<FileFunction>,
}

/// A line that says for what to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetLine {
    /// `set name=value ...`; holds for every target below.
    Set(String),
    /// `target triple flags ...`
    Target {
        /// As written: `x86_64`.
        triple: String,
        /// ISA settings: `has_avx`, `sse42`, `has_fma=false`.
        flags: Vec<String>,
    },
}

/// A feature of Cranelift's build that the file wants or does not want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureLine {
    /// Its name.
    pub name: String,
    /// `false` for `feature !`.
    pub wanted: bool,
}

/// A function of a file.
#[derive(Debug, Clone)]
pub struct FileFunction {
    /// Parsed.
    pub func: Function,
    /// The line of its `function` keyword, counted from 1.
    pub line: usize,
    /// Its text and all that follows up to the next function.
    pub text: String,
    /// Comments that belong to the function as a whole, and directives anywhere in it, semicolons included.
    pub comments: Vec<String>,
}

impl File {
    /// The strictest settings under which Cranelift's verifier accepts a function as it stands in the file: those
    /// of a machine, perhaps with frame pointers, or else (mixed pointer widths, which only interpreters run) those of none.
    /// The function that is made of it must pass the same ones.
    pub fn accepts(&self, func: &Function) -> Result<FlagsOrIsa<'_>, Rejected> {
        let isa = self.isa.as_deref().ok_or(Rejected::Host)?;
        verify(func, isa.into()).map(|()| FlagsOrIsa::from(isa)).or_else(|errors| {
            let with_frame_pointers = self.frame_pointers.as_deref().map(FlagsOrIsa::from);
            let mut others = with_frame_pointers.into_iter().chain([FlagsOrIsa::from(isa.flags())]);
            others.find(|settings| verify(func, *settings).is_ok()).ok_or(errors)
        })
    }

    /// The byte order of accesses that state none.
    pub fn endianness(&self) -> Endianness {
        self.isa.as_deref().map_or(Endianness::Little, |isa| isa.endianness())
    }
}

impl FileFunction {
    /// How many instructions it has.
    pub fn instructions(&self) -> usize {
        self.func.layout.blocks().map(|block| self.func.layout.block_insts(block).count()).sum()
    }

    /// Its name as CLIF writes it: `%f`, `u0:1`.
    pub fn name(&self) -> String {
        self.func.name.to_string()
    }

    /// The text of a function that takes this one's place.
    pub fn replaced(&self, func: &Function) -> String {
        let mut out = print_as_written(func, &self.unstated());
        for comment in &self.comments {
            let _ = writeln!(out, "{comment}");
        }
        out.push('\n');
        if self.text.contains("\r\n") { out.replace('\n', "\r\n") } else { out }
    }

    /// The signatures to which the text gives no calling convention: those that follow another default.
    fn unstated(&self) -> Unstated {
        // Neither a default of the reader's own nor that of any host.
        let default_calling_convention = CallConv::Tail;
        let options = ParseOptions { default_calling_convention, ..ParseOptions::default() };
        let other = quietly(|| parse_test(&self.text, options).map(|file| file.functions)).ok().and_then(Result::ok);
        match other.as_deref() {
            Some([(other, _)]) => Unstated::between(&self.func, other),
            _ => Unstated::default(),
        }
    }
}

/// Is a comment a directive, `; run` or `; print: %f(1)`, rather than prose that begins with these words?
pub fn is_directive(comment: &str) -> bool {
    let text = comment.trim_start_matches([';', ' ']);
    let rest = text.strip_prefix("run").or_else(|| text.strip_prefix("print")).map(str::trim);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Reads a file from bytes.
pub fn read_bytes(bytes: &[u8]) -> Result<File, ReadError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text),
        Err(error) => Err(ReadError::Encoding(error.valid_up_to())),
    }
}

/// Reads a file. Files without a header are read, too: then there are no commands and no targets.
pub fn read(text: &str) -> Result<File, ReadError> {
    check_entities(text)?;
    let parsed = quietly(|| parse_test(text, ParseOptions::default()).map(|file| keep(text, file)));
    match parsed {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(error)) => Err(at(text, error.location.line_number, error.message)),
        Err(Panic(message)) => Err(ReadError::Reader(message)),
    }
}

/// Asks Cranelift's verifier about a function, under the given settings.
pub fn verify(func: &Function, fisa: FlagsOrIsa<'_>) -> Result<(), Rejected> {
    match quietly(|| verify_function(func, fisa)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(errors)) => {
            let lines: Vec<String> = errors.0.iter().map(ToString::to_string).collect();
            Err(Rejected::Errors(lines))
        }
        Err(Panic(message)) => Err(Rejected::Failed(message)),
    }
}

/// The whole file again, with some functions replaced. `replaced[i]` is what stands for function `i`.
pub fn write(file: &File, replaced: &[Option<&Function>]) -> String {
    let mut out = file.header.clone();
    for (n, function) in file.functions.iter().enumerate() {
        match replaced.get(n).copied().flatten() {
            Some(func) => out.push_str(&function.replaced(func)),
            None => out.push_str(&function.text),
        }
    }
    out
}

fn at(text: &str, line: usize, message: String) -> ReadError {
    let source = text.lines().nth(line.saturating_sub(1)).unwrap_or("");
    let column = 1 + source.len() - source.trim_start().len();
    ReadError::Parse { line, column, message }
}

/// Refuses entity numbers that would make the reader allocate without bound.
fn check_entities(text: &str) -> Result<(), ReadError> {
    const NUMBERED: [&str; 15] = [
        "v",
        "block",
        "ss",
        "dss",
        "dt",
        "gv",
        "mt",
        "sig",
        "fn",
        "const",
        "region",
        "userextname",
        "extable",
        "ret",
        "exn",
    ];
    for word in words(text) {
        let digits = word.text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let prefix = &word.text[..word.text.len() - digits.len()];
        let entity = NUMBERED.contains(&prefix) && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if entity && digits.parse().unwrap_or(u64::MAX) > MAX_ENTITY {
            let before = &text[..word.start];
            return Err(ReadError::Parse {
                line: before.matches('\n').count() + 1,
                column: word.start - before.rfind('\n').map_or(0, |end| end + 1) + 1,
                message: format!("entity number in `{}` is above {MAX_ENTITY}", word.text),
            });
        }
    }
    Ok(())
}

/// Takes everything out of the reader's borrowed result.
fn keep(text: &str, file: cranelift_reader::TestFile<'_>) -> File {
    let starts = functions(text);
    debug_assert_eq!(starts.len(), file.functions.len(), "as many functions as the reader found");
    let start = |n: usize| starts.get(n).copied().unwrap_or(text.len());
    let commands: Vec<String> = file.commands.iter().map(|c| c.to_string().trim_end().to_string()).collect();
    let features = file.features.iter().map(|feature| match feature {
        Feature::With(name) => FeatureLine { name: (*name).to_string(), wanted: true },
        Feature::Without(name) => FeatureLine { name: (*name).to_string(), wanted: false },
    });
    let features: Vec<FeatureLine> = features.collect();
    let header = text[..start(0)].to_string();
    let native = cranelift_native::builder().ok();
    let (isas, flags) = match &file.isa_spec {
        IsaSpec::None(flags) => (vec![], flags.clone()),
        IsaSpec::Some(isas) => (isas.clone(), Flags::new(settings::builder())),
    };
    let isa = match &file.isa_spec {
        IsaSpec::None(flags) => native.and_then(|b| b.finish(flags.clone()).ok()),
        IsaSpec::Some(isas) => {
            let host =
                native.and_then(|b| isas.iter().find(|isa| isa.triple().architecture == b.triple().architecture));
            host.or(isas.first()).cloned()
        }
    };
    let has_targets = match &file.isa_spec {
        IsaSpec::None(_) => header.lines().any(|l| l.trim_start().starts_with("set")),
        IsaSpec::Some(_) => true,
    };
    let targets = if has_targets { target_lines(&header) } else { vec![] };

    let silent = !header.contains(FRAME_POINTERS);
    let frame_pointers = isa.as_deref().filter(|_| silent).and_then(with_frame_pointers);

    let mut functions = Vec::with_capacity(file.functions.len());
    for (n, (func, details)) in file.functions.into_iter().enumerate() {
        let kept = details.comments.iter().filter(|c| c.entity == AnyEntity::Function || is_directive(c.text));
        let comments = kept.map(|c| c.text.trim_end().to_string()).collect();
        let text = text[start(n)..start(n + 1)].to_string();
        functions.push(FileFunction { func, line: details.location.line_number, text, comments });
    }
    File { header, commands, targets, features, isas, flags, isa, frame_pointers, functions }
}

/// The setting without which Cranelift's verifier rejects what asks for the frame pointer or the return address.
const FRAME_POINTERS: &str = "preserve_frame_pointers";

fn with_frame_pointers(isa: &dyn TargetIsa) -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    for value in isa.flags().iter().filter(|value| value.name != FRAME_POINTERS) {
        flags.set(value.name, &value.value_string()).ok()?;
    }
    flags.enable(FRAME_POINTERS).ok()?;
    let mut builder = cranelift_codegen::isa::lookup(isa.triple().clone()).ok()?;
    for value in isa.isa_flags() {
        builder.set(value.name, &value.value_string()).ok()?;
    }
    builder.finish(Flags::new(flags)).ok()
}

/// `set` and `target` lines, which the reader has already understood and thrown away.
fn target_lines(header: &str) -> Vec<TargetLine> {
    header
        .lines()
        .filter_map(|line| {
            let mut words = line.split(';').next().unwrap_or("").split_whitespace();
            match words.next()? {
                "set" => Some(words.map(|w| TargetLine::Set(w.to_string())).collect()),
                "target" => {
                    let triple = words.next()?.to_string();
                    Some(vec![TargetLine::Target { triple, flags: words.map(str::to_string).collect() }])
                }
                _ => None,
            }
        })
        .flat_map(|lines: Vec<TargetLine>| lines)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "test run\nset opt_level=speed\ntarget x86_64 has_avx\n; about\n\nfunction %f(i32) -> i32 {\n\
        ; inside\nblock0(v0: i32):\n    return v0 ; v0\n}\n; run: %f(1) == 1\n\nfunction %g() {\nblock0:\n    return\n\
        }\n";

    #[test]
    fn unchanged_files_are_written_byte_for_byte() {
        let file = read(FILE).unwrap();
        assert_eq!(write(&file, &[None, None]), FILE);
        assert_eq!(file.commands, ["run"]);
        assert_eq!(file.targets.len(), 2);
        assert_eq!(file.functions[0].comments, ["; inside", "; run: %f(1) == 1"]);
        assert_eq!(file.functions[1].line, 13);
    }

    #[test]
    fn changed_functions_keep_their_directives() {
        let file = read(FILE).unwrap();
        let text = write(&file, &[Some(&file.functions[0].func), None]);
        let again = read(&text).unwrap();
        assert_eq!(again.functions.len(), 2);
        assert_eq!(again.functions[0].comments, file.functions[0].comments);
        assert_eq!(again.functions[0].func.to_string(), file.functions[0].func.to_string());
    }

    #[test]
    fn frame_pointers_are_there_unless_the_file_denies_them() {
        let function = "function %f() -> i64 {\nblock0:\n    v0 = get_frame_pointer.i64\n    \
             v1 = get_return_address.i64\n    v2 = bxor v0, v1\n    return v2\n}\n";
        let accepted = |header: &str| {
            let file = read(&format!("{header}{function}")).unwrap();
            file.accepts(&file.functions[0].func).is_ok()
        };
        assert!(accepted("") && accepted("target x86_64\n"));
        assert!(accepted("set preserve_frame_pointers=true\ntarget x86_64\n"));
        assert!(!accepted("set preserve_frame_pointers=false\ntarget x86_64\n"));
    }

    #[test]
    fn mistakes_are_messages() {
        for (text, line) in [
            ("function %f(", 1),
            ("function %f() {\nblock0:\n    frobnicate\n}\n", 3),
            ("function %f() {\nblock0:\n  v4000000000 = iconst.i32 1\n}\n", 3),
            ("function %f() {\nss99999999 = explicit_slot 8\nblock0:\n    return\n}\n", 2),
            ("test run\ntarget pdp11\n", 2),
            ("((((", 1),
        ] {
            match read(text) {
                Err(ReadError::Parse { line: actual, .. }) => assert_eq!(actual, line, "{text}"),
                Err(other) => panic!("{text}: {other:?}"),
                Ok(_) => panic!("{text}: was read"),
            }
        }
        assert_eq!(read_bytes(&[b';', 0xff]).err(), Some(ReadError::Encoding(1)));
    }

    #[test]
    fn every_prefix_of_a_file_is_read_or_refused() {
        for end in 0..FILE.len() {
            let _ = read(&FILE[..end]);
        }
    }

    #[test]
    fn large_nonsense_is_refused() {
        assert!(read(&"(".repeat(5_000_000)).is_err());
    }
}
