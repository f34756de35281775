//! `rewright lsp`: rule packs in an editor, which starts this command and speaks to it on standard input and output.

use super::Finding;
use anyhow::{Context, Result};
use rewright_files::cache::default_folder;
use rewright_lsp::Ended;

/// Arguments of `lsp`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Speak on standard input and output, which is the only way: some editors say so
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Args { stdio: _ } = args;
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let copies = default_folder("packs").map(|folder| folder.join(env!("CARGO_PKG_VERSION")));
    let (connection, threads) = lsp_server::Connection::stdio();
    let ended = rewright_lsp::serve(&connection, own, copies);
    // The writer ends when no sender is left.
    drop(connection);
    let ended = ended?;
    threads.join().context("the editor went away")?;
    Ok(if ended == Ended::Orderly { Finding::Clean } else { Finding::Found })
}
