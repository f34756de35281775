//! `rewright explain`: what a diagnostic code means and what to do about it.

use super::{Finding, out};
use anyhow::{Result, bail};

/// Arguments of `explain`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A code, as in `error[RW0301]`
    code: String,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(text) = rewright_dsl::codes::explain(&args.code.to_uppercase()) else {
        bail!("there is no diagnostic {}", args.code);
    };
    out::result(&format!("{text}\n"));
    Ok(Finding::Clean)
}
