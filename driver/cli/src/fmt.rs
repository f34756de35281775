//! `rewright fmt`: formats rule packs in place, or says which are not formatted.

use super::{Finding, Format, out, packs, project, sources};
use anyhow::Result;
use rewright_dsl::diagnostic::{Diagnostic, Sources};
use rewright_files as files;
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use std::path::{Path, PathBuf};

/// Arguments of `fmt`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` formats standard input to standard output [default: those of `rewright.toml`]
    paths: Vec<PathBuf>,
    /// Change nothing; exit 1 and name the files that are not formatted
    #[arg(long)]
    check: bool,
    /// Print what formatting changes, as a unified diff, instead of names; changes nothing
    #[arg(long)]
    diff: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let args = Args { paths: project::packs(args.paths)?, ..args };
    let (mut finding, mut listed) = (Finding::Clean, vec![]);
    let changes_nothing = args.check || args.diff;
    for path in sources::packs(&args.paths)? {
        let text = sources::read(&path)?;
        let formatted = match rewright_dsl::fmt::format(&text) {
            Ok(formatted) => formatted,
            Err(diagnostics) => {
                finding = Finding::Found;
                report(&path, &text, &diagnostics);
                continue;
            }
        };
        let is_formatted = formatted == text;
        let diff = (args.diff && !is_formatted).then(|| diff(&path, &text, &formatted, args.format));
        if changes_nothing && !is_formatted {
            finding = Finding::Found;
        }
        match (args.format, &diff) {
            (Format::Json, _) => listed.push(json!({ "file": path, "formatted": is_formatted, "diff": diff })),
            (Format::Text, Some(diff)) => out::result(diff),
            (Format::Text, None) if changes_nothing && !is_formatted => out::result(&format!("{}\n", path.display())),
            (Format::Text, None) => {}
        }
        if !changes_nothing && sources::is_dash(&path) && args.format == Format::Text {
            out::result(&formatted);
        } else if !changes_nothing && !sources::is_dash(&path) && !is_formatted {
            files::write(&path, formatted)?;
        }
    }
    if args.format == Format::Json {
        out::result(&format!("{:#}\n", json!(listed)));
    }
    Ok(finding)
}

/// A unified diff that `patch` takes, in colour where people read it.
fn diff(path: &Path, old: &str, new: &str, format: Format) -> String {
    let diff = TextDiff::from_lines(old, new);
    let (before, after) = (format!("{}", path.display()), format!("{} (formatted)", path.display()));
    if format == Format::Json || !out::colour_of_results() {
        return diff.unified_diff().header(&before, &after).to_string();
    }
    let mut text = format!("--- {before}\n+++ {after}\n");
    for hunk in diff.unified_diff().iter_hunks() {
        text += &format!("\x1b[36m{}\x1b[0m\n", hunk.header());
        for change in hunk.iter_changes() {
            let (sign, colour) = match change.tag() {
                ChangeTag::Delete => ('-', "\x1b[31m"),
                ChangeTag::Insert => ('+', "\x1b[32m"),
                ChangeTag::Equal => (' ', ""),
            };
            text += &format!("{colour}{sign}{}\x1b[0m\n", change.value().trim_end_matches('\n'));
        }
    }
    text
}

/// Diagnostics of one file, to stderr.
fn report(path: &Path, text: &str, diagnostics: &[Diagnostic]) {
    let sources = Sources { files: vec![(path.display().to_string(), text.to_string())] };
    packs::print(&sources, diagnostics);
}
