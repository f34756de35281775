//! `rewright completions` and `rewright man`: completions for shells, and manual pages, both made from the commands.

use super::{Finding, out};
use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;
use rewright_files as files;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell: `source <(rewright completions bash)`
    shell: Shell,
}

/// Arguments of `man`.
#[derive(clap::Args)]
pub(super) struct ManArgs {
    /// A command; without one, the page of `rewright` itself
    #[arg(conflicts_with = "output")]
    command: Option<String>,
    /// Write the pages of all commands into this directory: `man -M DIR rewright-opt` finds them in `DIR/man1`
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints the completions of the program for a shell. Commands between processes of Rewright are not offered.
pub(super) fn completions(args: &CompletionsArgs, command: &Command) -> Finding {
    let mut text = vec![];
    let offered = command.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut offered = Command::new("rewright").args(command.get_arguments().cloned()).subcommands(offered);
    clap_complete::generate(args.shell, &mut offered, "rewright", &mut text);
    out::result(&String::from_utf8_lossy(&text));
    Finding::Clean
}

/// Prints one manual page, or writes all of them.
pub(super) fn man(args: &ManArgs, mut command: Command) -> Result<Finding> {
    command.build();
    let Some(folder) = &args.output else {
        let wanted = match &args.command {
            None => &command,
            Some(name) => command
                .find_subcommand(name)
                .filter(|found| !found.is_hide_set())
                .with_context(|| format!("there is no command `{name}`; `rewright help` lists them"))?,
        };
        out::result(&page(wanted)?);
        return Ok(Finding::Clean);
    };
    let folder = folder.join("man1");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    for command in std::iter::once(&command).chain(shown) {
        files::write(&folder.join(format!("{}.1", title(command))), page(command)?)?;
    }
    Ok(Finding::Clean)
}

/// `rewright-opt`
fn title(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_string()
}

fn page(command: &Command) -> Result<String> {
    let mut text = vec![];
    let man = clap_mangen::Man::new(command.clone())
        .title(title(command).to_uppercase())
        .source(concat!("rewright ", env!("CARGO_PKG_VERSION")));
    man.render(&mut text).context("cannot make the manual page")?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
