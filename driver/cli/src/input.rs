//! Inputs of commands that take more than one language: which one a file is in, and its front end.

use super::language::Language;
use super::{out, sources};
use anyhow::{Context, Result, bail};
use rewright_clif::front::ClifInput;
use rewright_clif::read as clif_file;
use rewright_dsl::program::Program;
use rewright_llvm::front::LlvmInput;
use rewright_llvm::module as llvm_module;
use rewright_native::module::ModuleOptimiser;
use rewright_pipeline::front::{FrontEnd, ReadError};
use std::path::Path;

/// A file with the rules for it; `None` where it has mistakes, which are on stderr then.
pub(super) fn open(path: &Path, language: Language, program: Program) -> Result<Option<Box<dyn FrontEnd>>> {
    Ok(match language {
        Language::Llvm => read::<LlvmInput>(path, program)?.map(boxed),
        Language::Own | Language::Mlir => module(path, language, program)?.map(boxed),
        Language::Clif => read::<ClifInput>(path, program)?.map(boxed),
    })
}

fn boxed<F: FrontEnd + 'static>(input: F) -> Box<dyn FrontEnd> {
    Box::new(input)
}

/// A module of our own text, or what a file of MLIR is in it; `None` where it has mistakes, which are on stderr then.
pub(super) fn module(path: &Path, language: Language, program: Program) -> Result<Option<ModuleOptimiser>> {
    if language != Language::Mlir {
        return read(path, program);
    }
    let Ok(text) = String::from_utf8(sources::bytes(path)?) else { bail!("{} is not text", path.display()) };
    let own = rewright_mlir::own_text(&text);
    for (name, why) in &own.left_out {
        out::note(&format!("note: {name} is left out: {}: {why}", path.display()));
    }
    if own.text.is_empty() {
        bail!("{} has no function that can be written in Rewright's own text", path.display());
    }
    out::note(
        "note: functions of MLIR are written in Rewright's own text: an `index` is an i64, an array its address and \
         extents",
    );
    let read = ModuleOptimiser::read(program, own.text.into_bytes());
    Ok(Some(
        read.with_context(|| format!("{}: what was made of it is not understood: please report it", path.display()))?,
    ))
}

/// A file with the rules for it, in a language that is known.
pub(super) fn read<F: FrontEnd>(path: &Path, program: Program) -> Result<Option<F>> {
    readable(path, F::read(program, sources::bytes(path)?))
}

/// What a file is by its name, where that is nothing that functions are read from, and what to do.
fn other_kind(path: &Path) -> Option<String> {
    let file = path.display();
    match path.extension()?.to_str()? {
        "rw" => Some(format!("{file} is a pack: name it with `--rules`, beside a file of functions")),
        "c" | "cc" | "cpp" | "cxx" | "h" | "m" | "mm" => Some(format!(
            "{file} is a source: `rewright cc --keep ir -O1 -c {file}` leaves its LLVM IR in the folder `ir`, and that is read"
        )),
        _ => None,
    }
}

/// What was read of a file; its mistakes go to stderr.
pub(super) fn readable<T>(path: &Path, read: Result<T, ReadError>) -> Result<Option<T>> {
    let (mistakes, reader) = match read {
        Ok(input) => return Ok(Some(input)),
        Err(ReadError::Mistakes { mistakes, reader }) => (mistakes, reader),
        Err(ReadError::Encoding(at)) => bail!("{} is not text: byte {at} is not UTF-8", path.display()),
        Err(ReadError::Rules(error)) => return Err(error).context("the rules do not form a program"),
    };
    if let Some(other) = other_kind(path) {
        bail!("{}", other);
    }
    for mistake in mistakes {
        out::error(&format!("{}{mistake}", path.display()));
    }
    if let Some(reader) = reader {
        let others = match path.extension() {
            Some(extension) if extension == Language::Clif.extension() => "",
            _ => {
                "; files of LLVM IR end in `.ll`, modules of Rewright's own text in `.ir`, \
                  and `--language` says it of others"
            }
        };
        out::note(&format!("note: this reads {reader}{others}"));
    }
    Ok(None)
}

/// A CLIF file; `None` where it has mistakes, which are on stderr then.
pub(super) fn clif(path: &Path) -> Result<Option<clif_file::File>> {
    readable(path, clif_file::read_bytes(&sources::bytes(path)?).map_err(ReadError::from))
}

/// A file of LLVM IR; `None` where it has mistakes, which are on stderr then.
pub(super) fn llvm(path: &Path) -> Result<Option<llvm_module::File>> {
    readable(path, llvm_module::read_bytes(sources::bytes(path)?).map_err(ReadError::from))
}

/// Which functions of a file are meant: the one that is named, or all.
pub(super) fn wanted(path: &Path, input: &dyn FrontEnd, name: Option<&str>) -> Result<impl Fn(usize) -> bool + use<>> {
    let names = || input.functions().into_iter().map(|f| f.name);
    let chosen = name.map(|name| sources::function(path, names(), name)).transpose()?;
    Ok(move |index| chosen.is_none_or(|chosen| chosen == index))
}
