//! The conventions of the command line, held over all commands: a flag has one name and one meaning everywhere.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;

/// Commands whose output is a program or a text for another one, and which report nothing.
const REPORT_NOTHING: [&str; 5] = ["cc", "completions", "help", "lsp", "man"];

fn commands() -> Vec<Command> {
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
}

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional())
}

#[test]
fn clap_finds_no_mistake() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_that_reports_does_so_for_programs() {
    for command in commands().iter().filter(|command| !REPORT_NOTHING.contains(&command.get_name())) {
        let format = options(command).find(|arg| arg.get_long() == Some("format"));
        let format = format.unwrap_or_else(|| panic!("{} has no --format", command.get_name()));
        let has_json = format.get_possible_values().iter().any(|value| value.get_name() == "json");
        assert!(has_json, "{} has no --format json", command.get_name());
    }
}

#[test]
fn a_flag_takes_the_same_values_everywhere() {
    // More formats in some commands; `--output` is a file or a directory.
    let differ = ["format", "output"];
    let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
    for command in commands() {
        for arg in options(&command).filter(|arg| arg.get_long().is_some_and(|name| !differ.contains(&name))) {
            let values: Vec<String> = arg.get_value_names().unwrap_or_default().iter().map(|n| n.to_string()).collect();
            let now = format!("{:?} {values:?}", arg.get_short());
            let name = arg.get_long().unwrap_or_default().to_string();
            let (first, before) = seen.entry(name.clone()).or_insert((command.get_name().into(), now.clone()));
            assert_eq!(*before, now, "--{name} of {first} and of {}", command.get_name());
        }
    }
}

#[test]
fn values_have_names_that_say_what_they_are() {
    for command in commands() {
        for arg in options(&command).filter(|arg| arg.get_action().takes_values()) {
            let id = arg.get_id().as_str().to_uppercase();
            let values = arg.get_value_names().unwrap_or_default();
            let is_plain = arg.get_possible_values().is_empty() && values.iter().any(|name| name.as_str() == id);
            assert!(!is_plain, "--{:?} of {}: the value's name is the flag's", arg.get_long(), command.get_name());
        }
    }
}

#[test]
fn names_with_one_meaning_stand_for_it() {
    let only = |flag: &str, allowed: &[&str]| {
        for command in commands() {
            let has = options(&command).any(|arg| arg.get_long() == Some(flag));
            assert!(!has || allowed.contains(&command.get_name()), "{} has --{flag}", command.get_name());
        }
    };
    // How versions are compared; `--extract` says how a program is chosen.
    only("method", &["validate"]);
    // Former names, present as hidden aliases only.
    for former in ["rule", "jobs", "function", "seconds"] {
        only(former, &[]);
    }
    only("filter", &["check", "test", "verify"]);
    for command in commands().iter().filter(|command| !["cc", "help"].contains(&command.get_name())) {
        for global in ["color", "quiet", "verbose"] {
            assert!(options(command).any(|arg| arg.get_long() == Some(global)), "{}: {global}", command.get_name());
        }
    }
}

#[test]
fn every_option_says_what_it_does() {
    for command in commands() {
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{} {} has no help", command.get_name(), arg.get_id());
        }
    }
}
