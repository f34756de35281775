//! `rewright wrap`: a build command with `rewright cc` as its C compiler.

use super::{Format, out};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// Arguments of `wrap`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A pack (`mine.rw`), or one that ships; repeatable
    #[arg(long = "rules", value_name = "PACK", default_value = crate::packs::DEFAULT)]
    rules: Vec<PathBuf>,
    /// Fail where a failure of ours would otherwise hand a file to the compiler as it is
    #[arg(long)]
    strict: bool,
    /// Say on stderr what became of files and functions
    #[arg(long)]
    stats: bool,
    /// Form of `--stats`
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The build: `make -j2`, `./configure`; it finds its compiler in `CC`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// Gives the build's own exit code.
pub(super) fn run(args: Args) -> Result<i32> {
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    // A script, since builds cut `CC` at spaces, which paths may have.
    let script = scratch.path().join("rewright-cc");
    let mut text = format!("#!/bin/sh\nexec {} cc", quoted(&std::env::current_exe()?.display().to_string()));
    for pack in &args.rules {
        let pack = if pack.exists() { std::fs::canonicalize(pack)? } else { pack.clone() };
        let _ = write!(text, " --rules {}", quoted(&pack.display().to_string()));
    }
    if args.strict {
        text.push_str(" --strict");
    }
    text.push_str(" \"$@\"\n");
    std::fs::write(&script, text)?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    let log = scratch.path().join("log");
    let (program, rest) = args.command.split_first().context("no command")?;
    let status = Command::new(program)
        .args(rest)
        .env("CC", &script)
        .env("REWRIGHT_LOG", &log)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if args.stats {
        summary(&std::fs::read_to_string(&log).unwrap_or_default(), args.format);
    }
    Ok(status.code().unwrap_or(1))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn summary(log: &str, format: Format) {
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let sum = |key: &str| lines.iter().filter_map(|l| l[key].as_u64()).sum::<u64>();
    let count = |key: &str| lines.iter().filter(|l| !l[key].is_null()).count();
    let seconds: f64 = lines.iter().filter_map(|l| l["seconds"].as_f64()).sum();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for line in &lines {
        let listed = line["reasons"].as_array().into_iter().flatten();
        for reason in listed.chain([&line["handed_over"], &line["fell_back"]]).filter_map(Value::as_str) {
            *reasons.entry(reason.to_string()).or_default() += 1;
        }
    }
    let facts = json!({
        "files": count("functions"), "handed_over": count("handed_over"), "fell_back": count("fell_back"),
        "functions": sum("functions"), "optimised": sum("optimised"), "unchanged": sum("unchanged"),
        "failed": sum("failed"), "seconds": seconds, "reasons": reasons,
    });
    if format == Format::Json {
        out::note(&facts.to_string());
        return;
    }
    out::note(&format!(
        "{} files compiled with rules, {} commands handed over, {} fell back\n{} functions: {} optimised, {} unchanged, {} failed\n{seconds:.1} s in rewright cc",
        facts["files"],
        facts["handed_over"],
        facts["fell_back"],
        facts["functions"],
        facts["optimised"],
        facts["unchanged"],
        facts["failed"],
    ));
    for (reason, n) in reasons {
        out::note(&format!("{n:>6}  {reason}"));
    }
}
