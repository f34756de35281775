//! The command line: one file per subcommand. Results go to stdout, diagnostics and progress to stderr.
//!
//! Exit codes: 0 clean, 1 findings (a diagnostic, a failed example, a mismatch), 2 usage or internal error.

mod allow;
mod bench;
mod cc;
mod check;
mod corpus;
mod coverage;
mod difftest;
mod doc;
mod emit;
mod examples;
mod explain;
mod extract;
mod findings;
mod fmt;
mod fuzz;
mod harness;
mod input;
mod language;
mod limits;
mod opt;
mod packs;
mod run;
mod sources;
mod test;
mod validate;
mod verify;
mod watch;
mod why_not;
mod wrap;

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// Rule packs for compilers: typed rewrite rules, equality saturation, checked selection.
#[derive(Parser)]
#[command(name = "rewright", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Parse, type and lint packs, and run every example
    Check(check::Args),
    /// Run the examples of packs: which fail, how near they come, which rules no example shows
    Test(test::Args),
    /// Prove each rule at each type, or find values at which it is wrong
    Verify(verify::Args),
    /// A page per pack: rules, meaning, types, evidence, examples
    Doc(doc::Args),
    /// Format rule packs
    Fmt(fmt::Args),
    /// Optimise a file of CLIF, LLVM IR or Rewright's own text
    Opt(opt::Args),
    /// Let packs call functions of the libraries that they name
    Allow(allow::Args),
    /// A C compiler that applies rules: `CC="rewright cc --rules mine.rw"`
    Cc(cc::Args),
    /// A build command with `rewright cc` as its C compiler
    Wrap(wrap::Args),
    /// How much of a collection of LLVM IR is understood
    Corpus(corpus::Args),
    /// Run functions of LLVM IR that rules change, before and after, on the same inputs, and compare
    Validate(validate::Args),
    /// Optimise a file, compile it for this host and call a function of it
    Run(run::Args),
    /// Run the directives of CLIF files before and after optimisation, and compare
    Difftest(difftest::Args),
    /// Evaluate saturated e-graphs on runs of the function, and compare the members of each class
    Harness(harness::Args),
    /// Optimise random functions and compare what they do before and after
    Fuzz(fuzz::Args),
    /// Time per phase, and cost against Cranelift's own mid-end
    Bench(bench::Args),
    /// Which of Cranelift's own rules the packs cover
    Coverage(coverage::Args),
    /// Extract the cheapest program from serialised e-graphs
    Extract(extract::Args),
    /// Calls for another `rewright` that wants them in a process of their own
    #[command(name = rewright_native::isolate::COMMAND, hide = true)]
    Isolated,
    /// A build that ends when the `rewright wrap` that started it is gone
    #[command(name = rewright_wrap::guard::COMMAND, hide = true)]
    Guard(wrap::GuardArgs),
    /// What keeps a rule from matching in a function
    WhyNot(why_not::Args),
    /// What a diagnostic means
    Explain(explain::Args),
}

/// How a command reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs; one document.
    Json,
}

/// What a command found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Finding {
    /// Nothing to complain about.
    Clean,
    /// The input has mistakes, an example fails, a mismatch was found.
    Found,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) if !asked.use_stderr() => {
            // Help is a result like any other.
            out::styled(&asked.render());
            return ExitCode::SUCCESS;
        }
        Err(mistake) => mistake.exit(),
    };
    let result = match cli.command {
        Command::Check(args) => check::run(args),
        Command::Test(args) => test::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Doc(args) => doc::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Opt(args) => opt::run(args),
        Command::Allow(args) => allow::run(args),
        Command::Cc(args) => return compiler(cc::run(args)),
        Command::Wrap(args) => return compiler(wrap::run(args)),
        Command::Guard(args) => return compiler(wrap::guard(args)),
        Command::Corpus(args) => corpus::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Run(args) => run::run(args),
        Command::Difftest(args) => difftest::run(args),
        Command::Harness(args) => harness::run(args),
        Command::Fuzz(args) => fuzz::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Coverage(args) => coverage::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Isolated => rewright_native::isolate::serve()
            .map(|()| Finding::Clean)
            .context("this command is for other processes of Rewright, which say what to call"),
        Command::WhyNot(args) => why_not::run(args),
        Command::Explain(args) => explain::run(args),
    };
    match result {
        Ok(Finding::Clean) => ExitCode::SUCCESS,
        Ok(Finding::Found) => ExitCode::from(1),
        Err(error) => {
            out::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// The exit code of a compiler or build, which is its own; that of our errors is 1 where the user's packs or sources
/// are not as they must be.
fn compiler(result: anyhow::Result<i32>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            out::error(&format!("{error:#}"));
            ExitCode::from(if error.is::<rewright_wrap::rules::Refused>() { 1 } else { 2 })
        }
    }
}

/// A progress bar on a terminal, nothing elsewhere.
fn progress(what: &'static str, total: u64) -> indicatif::ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
    indicatif::ProgressBar::new(total).with_style(style).with_message(what)
}

/// The only place that writes to the process's streams. Output that is cut short is an error, not a panic.
mod out {
    use std::io::{IsTerminal, Write};

    /// May what goes to stderr have colours?
    pub(super) fn colour() -> bool {
        let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        std::io::stderr().is_terminal() && says("NO_COLOR").is_none() && says("TERM").is_some_and(|term| term != "dumb")
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
        let terminal = std::io::stdout().is_terminal();
        result(&if terminal { text.ansi().to_string() } else { text.to_string() });
    }

    /// What another program said on its stderr.
    pub(super) fn bytes(said: &[u8]) {
        let _ = std::io::stderr().lock().write_all(said);
    }

    /// A diagnostic or note, to stderr.
    pub(super) fn note(text: &str) {
        // Nobody is left to tell when stderr is closed.
        let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
    }

    /// An error, to stderr.
    pub(super) fn error(text: &str) {
        note(&format!("error: {text}"));
    }
}
