//! The process's streams: only this file writes to them. Output that is cut short is an error, not a panic.

use clap::ValueEnum;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// Options of all commands that say how much is printed, and how.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// When to print in colour; `auto` is on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    color: Color,
    /// Print results, findings and errors only: no notes, no warnings about the command, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say on stderr which packs are used, and how long the command takes
    #[arg(short, long, global = true)]
    verbose: bool,
}

/// When to print in colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The style of this process; until it is set, the usual one.
static STYLE: OnceLock<Style> = OnceLock::new();

impl Style {
    /// The style of a command line without a command that can run: it asks for help, or has a mistake in it. Only
    /// `--color` counts, as usage errors and help are printed in any case; an unknown value is `auto`.
    pub(super) fn of_words(line: &[OsString]) -> Self {
        let ours: Vec<&str> = line.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
        let value = ours.iter().enumerate().rev().find_map(|(at, word)| match *word {
            "--color" => ours.get(at + 1).copied(),
            _ => word.strip_prefix("--color="),
        });
        let color = value.and_then(|value| Color::from_str(value, false).ok()).unwrap_or_default();
        Self { color, ..Self::default() }
    }

    /// Makes this the style of the process. Later calls have no effect.
    pub(super) fn set(self) {
        let _ = STYLE.set(self);
    }
}

fn style() -> Style {
    STYLE.get().copied().unwrap_or_default()
}

fn coloured(terminal: bool) -> bool {
    let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match style().color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && says("NO_COLOR").is_none() && says("TERM").is_some_and(|term| term != "dumb"),
    }
}

/// May text for stderr have colours?
pub(super) fn colour() -> bool {
    coloured(std::io::stderr().is_terminal())
}

/// May text for stdout have colours?
pub(super) fn colour_of_results() -> bool {
    coloured(std::io::stdout().is_terminal())
}

/// A result, to stdout.
pub(super) fn result(text: &str) {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(e) => {
            error(&format!("cannot write to standard output: {e}"));
            std::process::exit(2);
        }
    }
}

/// Help, in colour on a terminal.
pub(super) fn styled(text: &clap::builder::StyledStr) {
    result(&if colour_of_results() { text.ansi().to_string() } else { text.to_string() });
}

/// A mistake in the command line, to stderr, in colour on a terminal.
pub(super) fn styled_report(text: &clap::builder::StyledStr) {
    report(&if colour() { text.ansi().to_string() } else { text.to_string() });
}

/// Bytes that another program wrote to its stderr.
pub(super) fn bytes(said: &[u8]) {
    let _ = std::io::stderr().lock().write_all(said);
}

/// A finding, or a report that was asked for, to stderr.
pub(super) fn report(text: &str) {
    // When stderr is closed, the message cannot be shown anywhere.
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}

/// A note or a warning, to stderr; none with `--quiet`.
pub(super) fn note(text: &str) {
    if !style().quiet {
        report(text);
    }
}

/// A detail that `--verbose` asks for, to stderr; its text is made only then.
pub(super) fn detail(text: impl FnOnce() -> String) {
    if style().verbose {
        report(&text());
    }
}

/// An error, to stderr.
pub(super) fn error(text: &str) {
    report(&format!("error: {text}"));
}

/// A progress bar on a terminal; none elsewhere, and none with `--quiet`.
pub(super) fn progress(what: &'static str, total: u64) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
    bar(indicatif::ProgressBar::new(total).with_style(style).with_message(what))
}

/// The same for work whose amount is not known: it shows that time passes.
pub(super) fn spinner(what: &'static str) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{spinner} {msg} {elapsed}")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_spinner());
    let spinner = bar(indicatif::ProgressBar::new_spinner().with_style(style).with_message(what));
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}

fn bar(bar: indicatif::ProgressBar) -> indicatif::ProgressBar {
    if style().quiet {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    bar
}
