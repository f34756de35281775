//! `rewright cc`: a C compiler that applies rules. `CC="rewright cc --rules mine.rw"`.

use super::packs;
use crate::llvm::optimise::LlvmOptimiser;
use crate::wrapper::compile::{Tools, run as compile};
use anyhow::{Context, Result, bail};
use rewright_dsl::diagnostic::Severity;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `cc`: our own first, then the compiler's.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(super) struct Args {
    /// `--rules PACK` (repeatable; `std` by default) and `--strict` (fail where a failure of ours would otherwise
    /// hand the file to the compiler as it is), then the compiler's arguments. The compiler is `clang-19` and LLVM's
    /// `opt-19`, or what `REWRIGHT_CLANG` and `REWRIGHT_OPT` name; `REWRIGHT_LOG` names a file for a line per command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Gives the compiler's own exit code.
pub(super) fn run(args: Args) -> Result<i32> {
    let mut rest = args.args.into_iter().peekable();
    let (mut rules, mut strict) = (vec![], false);
    loop {
        match rest.peek().and_then(|a| a.to_str()) {
            Some("--rules") => {
                rest.next();
                let pack = rest.next().context("--rules wants a pack")?;
                rules.push(PathBuf::from(pack));
            }
            Some("--strict") => {
                rest.next();
                strict = true;
            }
            _ => break,
        }
    }
    if rules.is_empty() {
        rules.push(PathBuf::from(crate::packs::DEFAULT));
    }
    let named = |variable: &str, default: &str| {
        std::env::var_os(variable).map_or_else(|| PathBuf::from(default), PathBuf::from)
    };
    let tools = Tools {
        compiler: named("REWRIGHT_CLANG", "clang-19"),
        opt: named("REWRIGHT_OPT", "opt-19"),
        log: std::env::var_os("REWRIGHT_LOG").map(PathBuf::from),
        strict,
    };
    let args: Vec<OsString> = rest.collect();
    compile(&tools, &args, || {
        let packs = packs::load(&rules)?;
        if let Some(error) = packs.diagnostics.iter().find(|d| d.severity == Severity::Error) {
            bail!("the packs have mistakes (`rewright check` shows them): {}", error.message);
        }
        LlvmOptimiser::new(packs.program).context("the rules do not form a program")
    })
}
