//! Why something is not measured.

use rewright_clif::export::ExportError;
use rewright_clif::optimise::OutOfScope;
use rewright_clif::read::ReadError;
use rewright_native::module::CompileError;

/// Why something is not measured.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Cranelift has no settings or no back end for this.
    #[error("{0}")]
    Host(String),
    /// Cranelift's passes or its back end fail, or panic.
    #[error("{0}")]
    Cranelift(String),
    /// There is no compiler for this host.
    #[error("no compiler for this host")]
    NoCompiler,
    /// A function that does not go through, and why.
    #[error("{0}: {1}")]
    NotChosen(String, String),
    /// A parameter of this type has no made-up value.
    #[error("it takes a {0}: only i32 and i64 have made-up words")]
    Parameter(String),
    /// A comment that begins like a directive but is not one.
    #[error("no directive: {0}")]
    Directive(String),
    /// A child process that cannot be run.
    #[error("cannot run a child process: {0}")]
    Process(std::io::Error),
    /// What went out is no file: a bug.
    #[error("the optimised file does not read: {0}")]
    Unreadable(ReadError),
    /// A text that is no file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A function that is not read.
    #[error(transparent)]
    OutOfScope(#[from] OutOfScope),
    /// A function that is not written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A module that is not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}
