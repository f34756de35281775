//! Former names of options: hidden aliases, each with a warning where it is used.

use super::out;
use clap::{ArgMatches, Command};
use std::ffi::OsString;

/// Warns of each former name on a command line that was understood.
///
/// An argument with a hidden alias (`#[arg(alias = "rule")]`) had that name before.
pub(super) fn warn(command: &Command, matches: &ArgMatches, line: &[OsString]) {
    let Some((name, _)) = matches.subcommand() else { return };
    let Some(command) = command.find_subcommand(name) else { return };
    // Behind `--` there are no options.
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
    for arg in command.get_arguments() {
        let Some(present) = arg.get_long() else { continue };
        for former in arg.get_all_aliases().unwrap_or_default() {
            let is_used = |word: &&str| word.strip_prefix("--").and_then(|w| w.split('=').next()) == Some(former);
            if words.iter().any(is_used) {
                out::note(&format!("warning: `--{former}` of `rewright {name}` is called `--{present}` now"));
            }
        }
    }
}

/// Warns of an option that is an argument now.
pub(super) fn warn_positional(command: &str, former: &str, present: &str) {
    out::note(&format!("warning: `--{former}` of `rewright {command}` is {present} now"));
}
