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
mod fetch;
mod findings;
mod fmt;
mod former;
mod fuzz;
mod harness;
mod input;
mod language;
mod limits;
mod lsp;
mod merge;
mod opt;
mod out;
mod packs;
mod project;
mod report;
mod run;
mod shard;
mod shell;
mod sources;
mod specialise;
mod store;
mod test;
mod validate;
mod verify;
mod watch;
mod why_not;
mod wrap;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

/// Rule packs for compilers: typed rewrite rules, equality saturation, checked selection.
#[derive(Parser)]
#[command(name = "rewright", version, about, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    style: out::Style,
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
    /// Serve rule packs to an editor, by the Language Server Protocol
    Lsp(lsp::Args),
    /// Optimise a file of CLIF, LLVM IR or Rewright's own text
    Opt(opt::Args),
    /// Let packs call functions of the libraries that they name
    Allow(allow::Args),
    /// Fetch the dependencies of the project from their git repositories
    Fetch(fetch::Args),
    /// A compiler of C, C++ and Objective-C that applies rules: `CC="rewright cc --rules mine.rw"`
    Cc(cc::Args),
    /// A build command with `rewright cc` as its compiler of C, C++ and Objective-C
    Wrap(wrap::Args),
    /// How much of a collection of LLVM IR is understood
    Corpus(corpus::Args),
    /// Compare two versions of functions: proved to do the same, refuted by an input, tested, or unknown
    Validate(validate::Args),
    /// Optimise a file, compile it for this host and call a function of it
    Run(run::Args),
    /// Run the directives of CLIF files before and after optimisation, and compare
    Difftest(difftest::Args),
    /// Evaluate saturated e-graphs on runs of the function, and compare the members of each class
    Harness(harness::Args),
    /// Optimise random functions and compare what they do before and after
    Fuzz(fuzz::Args),
    /// Make one report of the parts of a run that was divided with `--shard`
    Merge(merge::Args),
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
    /// Say why a rule does not match in a function
    WhyNot(why_not::Args),
    /// Explain a diagnostic, a word of the language or a rule
    Explain(explain::Args),
    /// Print the completions of these commands for a shell
    Completions(shell::CompletionsArgs),
    /// Print the manual page of a command, or write all of them
    Man(shell::ManArgs),
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
    let begun = Instant::now();
    let line = with_compiler_arguments_apart(std::env::args_os().collect());
    let mut command = Cli::command();
    let parsed = command.try_get_matches_from_mut(&line).and_then(|found| Ok((Cli::from_arg_matches(&found)?, found)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(asked) => {
            out::Style::of_words(&line).set();
            if asked.use_stderr() {
                out::styled_report(&asked.render());
                return ExitCode::from(2);
            }
            // Help is a result like any other.
            out::styled(&asked.render());
            return ExitCode::SUCCESS;
        }
    };
    cli.style.set();
    former::warn(&command, &matches, &line);
    let result = match cli.command {
        Command::Check(args) => check::run(args),
        Command::Test(args) => test::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Doc(args) => doc::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Lsp(args) => lsp::run(args),
        Command::Opt(args) => opt::run(args),
        Command::Allow(args) => allow::run(args),
        Command::Fetch(args) => fetch::run(args),
        Command::Cc(args) => return compiler(cc::run(args)),
        Command::Wrap(args) => return compiler(wrap::run(args)),
        Command::Guard(args) => return compiler(wrap::guard(args)),
        Command::Corpus(args) => corpus::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Run(args) => run::run(args),
        Command::Difftest(args) => difftest::run(args),
        Command::Harness(args) => harness::run(args),
        Command::Fuzz(args) => fuzz::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Coverage(args) => coverage::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Isolated => rewright_native::isolate::serve()
            .map(|()| Finding::Clean)
            .context("this command is for other processes of Rewright, which say what to call"),
        Command::WhyNot(args) => why_not::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Completions(args) => Ok(shell::completions(&args, &Cli::command())),
        Command::Man(args) => shell::man(&args, Cli::command()),
    };
    out::detail(|| format!("took {:.2} s", begun.elapsed().as_secs_f64()));
    match result {
        Ok(Finding::Clean) => ExitCode::SUCCESS,
        Ok(Finding::Found) => ExitCode::from(1),
        Err(error) => {
            out::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// The command line with `--` after `cc`: all that follows is the compiler's, `-v` and `-q` too.
fn with_compiler_arguments_apart(mut line: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = line.get(at).and_then(|word| word.to_str()).filter(|word| word.starts_with('-')) {
        at += if word == "--color" { 2 } else { 1 };
    }
    if line.get(at).is_some_and(|word| word == "cc") {
        line.insert(at + 1, "--".into());
    }
    line
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

#[cfg(test)]
mod conventions;
