//! `rewright doc`: packs as pages, in Markdown or HTML.

use super::{Finding, out, packs, project, sources};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rewright_dsl::diagnostic::count;
use rewright_files as files;
use rewright_packs::Analysis;
use rewright_report::reference::{MADE, Page, markdown, site};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `doc`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` is standard input [default: those of `rewright.toml`]
    paths: Vec<PathBuf>,
    /// Where the pages go: in Markdown `PACK.md` each, and `README.md` that leads to them; in HTML `PACK.html` and
    /// `index.html`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// What is written, and how it is reported
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Pages, and the report on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Format {
    /// All that packs declare in Markdown, and a line for people.
    #[default]
    Text,
    /// All that packs declare in Markdown, and a document for programs.
    Json,
    /// Everything that packs and their imports declare, in HTML with links and a search, which needs no server.
    Html,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let paths = sources::packs(&project::packs(args.paths)?)?;
    let spinner = out::spinner("reading packs, making pages");
    let Some(Analysis { packs, index }) = packs::sound_analysis(&paths)? else { return Ok(Finding::Found) };
    let pages = match args.format {
        Format::Html => site::pages(&packs.program, &index, &packs.roots),
        Format::Text | Format::Json => markdown::pages(&packs.program, &index, &packs.roots),
    };
    spinner.finish_and_clear();
    write(&args.output, &pages)?;
    let is_page = |name: &str| Path::new(name).extension().is_some_and(|end| end == "md" || end == "html");
    let written: Vec<&str> = pages.iter().map(|(page, _)| page.as_str()).filter(|name| is_page(name)).collect();
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!({ "directory": args.output, "pages": written })),
        Format::Text | Format::Html => {
            // One page leads to all others.
            format!("{} in {}\n", count(written.len() - 1, "page"), args.output.display())
        }
    });
    Ok(Finding::Clean)
}

/// Writes pages into a folder, and over no file that it has not made: a project has a `README.md` of its own.
fn write(folder: &Path, pages: &[Page]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, _) in pages {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| !String::from_utf8_lossy(&there).contains(MADE)) {
            bail!("{} is there already, and not made by `rewright doc`: name another folder", path.display());
        }
    }
    for (name, text) in pages {
        files::write(&folder.join(name), text)?;
    }
    Ok(())
}
