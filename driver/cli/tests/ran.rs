//! The program run in a folder, and what it said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// What it said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs it with arguments that have no spaces. It never panics.
pub(crate) fn rewright(dir: &Path, args: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rewright"));
    let output = command.current_dir(dir).args(args.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{args}: {}", ran.stderr);
    ran
}
