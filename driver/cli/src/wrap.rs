//! `rewright wrap`: a build command with `rewright cc` as its C compiler.

use super::cc::{OPTIONS, RULES, SERVER, STARTED, compiler, opt, rules_of};
use super::limits::Limits;
use super::report::{REPORTS, Told};
use super::store::{self, Stored};
use super::{Format, out, packs, project};
use anyhow::{Context, Result};
use rewright_dsl::diagnostic::count;
use rewright_files::cache::default_folder;
use rewright_files::scratch::Scratch;
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_wrap::compile::exit_code;
use rewright_wrap::declared::{misspelt, uncalled, unmatched};
use rewright_wrap::fork_server::ForkServers;
use rewright_wrap::former::{Former, Since};
use rewright_wrap::guard;
use rewright_wrap::rules::{Ready, Refused, Rules};
use rewright_wrap::script::script;
use rewright_wrap::server::serve;
use rewright_wrap::signals;
use rewright_wrap::statistics::Facts;
use signal_hook::consts::SIGTERM;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many rules `--stats` names.
const RULES_SHOWN: usize = 20;

/// Arguments of `wrap`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A pack (`mine.rw`), one that ships, or one that the project knows; repeatable [default: those of
    /// `rewright.toml`, or `std`]
    #[arg(long = "rules", value_name = "PACK")]
    rules: Vec<PathBuf>,
    /// What executing something costs: `latency` or `size` on x86-64; without it, what packs declare
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A file with `[costs]`; by default the nearest `rewright.toml` from where each command runs upwards
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Fail where code would be compiled without rules: assembly, no `-O`, an option such as `-flto`, a failure of
    /// ours
    #[arg(long)]
    strict: bool,
    /// Build without rules where the packs are missing or have mistakes; without this it is an error
    #[arg(long, conflicts_with = "strict")]
    keep_going: bool,
    /// Compare what rules make of each file with what they made it of, as `rewright validate` does, and compile a file
    /// without rules where that is refuted; with `--strict` that is an error. Needs z3
    #[arg(long)]
    validate: bool,
    /// Do not look for objects of earlier builds, and keep none (see `rewright help cc`)
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    stored: Stored,
    /// Keep the LLVM IR that rules see in this directory, for `rewright opt` and `rewright corpus` (`.ll`), and what
    /// they make of it where they change it (`.changed`)
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Say on stderr what became of commands, files and functions, and where the time went
    #[arg(long)]
    stats: bool,
    /// Say on stderr, for each file, which functions changed, which values of them and by which rules, and what could not
    /// be optimised; with `-g`, by lines of the source
    #[arg(long)]
    remarks: bool,
    /// Write a page of HTML about the build: files, functions before and after, the rules behind each change and their
    /// evidence, and what was not optimised, with the reason. With `-g`, it has lines of the source
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Form of `--stats`
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The build: `make -j2`, `./configure`; it finds its compilers in `CC` and `CXX` (`OBJC`, `OBJCXX`), scripts that stay
    /// where they are (`~/.cache/rewright/compilers`), so `./configure` and CMake may write them down for a `make` that
    /// comes later. A Makefile that sets `CC` itself wants `make -e`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// Gives the build's own exit code.
pub(super) fn run(args: Args) -> Result<i32> {
    packs::say_without_std(&args.rules);
    let packs: Vec<PathBuf> = packs::applied(&args.rules)?.iter().map(|pack| absolute(pack)).collect::<Result<_>>()?;
    let config = args.config.as_deref().map(absolute).transpose()?;
    // That it can be read is seen here, and its commands need not say so.
    project::costs(config.as_deref())?;
    if config.is_none() {
        project::say_former();
    }
    let rules = Rules {
        packs: packs.clone(),
        profile: args.profile.clone(),
        config: config.clone(),
        budget: args.limits.budget(),
        saturation: args.limits.saturation(),
    };
    // A pack with mistakes would have every file compiled without rules.
    let ready = match rules.ready(None) {
        Err(error) if args.keep_going && error.is::<Refused>() => None,
        ready => Some(ready?),
    };
    let store = if args.no_cache { None } else { store::of_build(args.stored.named())? };
    // A mistake in it would be one in every file.
    store.as_deref().map(rewright_store::open).transpose().context("no store for results")?;
    store.iter().for_each(|address| store::say_missing(address));
    let ready = ready.map(|ready| Ready { options: Options { log: args.stats, ..ready.options }, ..ready });
    let optimiser = ready.as_ref().map(|ready| ready.optimiser.optimiser.clone());
    let declared = ready.as_ref().map(|ready| ready.optimiser.declared()).unwrap_or_default();
    // Once for the build: its commands are served.
    ready.iter().filter_map(|ready| ready.note()).for_each(|note| out::note(&note));
    let scratch = Scratch::new().context("no temporary directory")?;
    let socket = scratch.path().join("server");
    let identity = if ready.is_some() { rules.identity()? } else { String::new() };
    // Without a server each command prepares the rules for itself.
    let served = ready.is_some_and(|ready| serve(&socket, &identity, ready).is_ok());
    let mut command = vec![text(&std::env::current_exe()?)?, "cc".into()];
    for pack in &packs {
        command.extend(["--rules".into(), text(pack)?]);
    }
    command.extend(args.profile.iter().flat_map(|profile| ["--profile".into(), profile.clone()]));
    if let Some(config) = &config {
        command.extend(["--config".into(), text(config)?]);
    }
    command.extend(args.limits.options());
    let options = options_of_build(&args)?;
    command.extend(options.iter().cloned());
    // Builds cut `CC` at spaces.
    let lasting = default_folder("compilers").filter(|folder| !folder.to_string_lossy().contains(char::is_whitespace));
    let compiler_for = |name: &str, command: &[String]| {
        let lasting = lasting.as_deref().and_then(|folder| script(folder, name, command, &identity).ok());
        lasting.map_or_else(|| script(scratch.path(), name, command, &identity), Ok)
    };
    let for_c = compiler_for("rewright-cc", &command)?;
    command.push("--driver-mode=g++".into());
    let for_cxx = compiler_for("rewright-c++", &command)?;
    let log = scratch.path().join("log");
    let mut build = Command::new(std::env::current_exe()?);
    build.arg(guard::COMMAND).arg(std::process::id().to_string()).arg("--").args(&args.command);
    build.env("CC", &for_c).env("OBJC", &for_c).env("CXX", &for_cxx).env("OBJCXX", &for_cxx);
    build.env("REWRIGHT_LOG", &log).env(STARTED, scratch.path()).env(RULES, rules_of(&rules, &args.limits));
    // For a compiler that was configured before; those that are made now name them, so that caches in front ask them.
    build.env(OPTIONS, options.join("\n"));
    if let Some(address) = store {
        build.env(store::VARIABLE, address);
    }
    if served {
        build.env(SERVER, &socket);
    }
    let reports = scratch.path().join("reports");
    if args.report.is_some() {
        std::fs::create_dir(&reports).context("no temporary directory")?;
        build.env(REPORTS, &reports);
    }
    let started = ForkServers::start(scratch.path(), &[&compiler(), &opt()]);
    let status =
        signals::run(&mut build, &[SIGTERM], |_, build| signals::terminate(build)).context("cannot run the build")?;
    drop(started);
    let facts = Facts::sum(&std::fs::read_to_string(&log).unwrap_or_default());
    if let Some(page) = args.report.as_ref().filter(|_| facts.commands() == 0) {
        out::note(&format!("note: nothing was compiled, so {} is not written", page.display()));
    } else if let Some(page) = &args.report {
        let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
        Told::gather(&reports)?.page(page, &words.join(" "), optimiser.as_ref().map(Optimiser::program))?;
    }
    if status.success()
        && let Some(text) = since(&args.command, &facts, &rules)
    {
        out::note(&text);
    }
    let about_calls = unmatched(&facts.calls, &declared).into_iter();
    let about_calls = about_calls.chain(misspelt(&facts.near, &facts.calls, &declared));
    about_calls.chain(uncalled(&facts, &declared)).for_each(|text| out::note(&text));
    if args.stats {
        summary(&facts, args.format)?;
    }
    Ok(exit_code(status))
}

/// Options of a build that make no other objects.
fn options_of_build(args: &Args) -> Result<Vec<String>> {
    let flags = [
        (args.strict, "--strict"),
        (args.keep_going, "--keep-going"),
        (args.validate, "--validate"),
        (args.remarks, "--remarks"),
        (args.no_cache, "--no-cache"),
    ];
    let mut options: Vec<String> =
        flags.iter().filter(|(said, _)| *said).map(|(_, option)| option.to_string()).collect();
    let keep = args.keep.as_deref().map(made).transpose()?;
    options.extend(keep.into_iter().flat_map(|folder| ["--keep".into(), folder]));
    Ok(options)
}

/// A message about a build that compiled nothing where it might have been expected to.
fn since(command: &[OsString], facts: &Facts, rules: &Rules) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let former = Former::new(&default_folder("builds")?, &here, command);
    // A change that cannot be noted is not reported, either.
    match former.compare(facts, &rules.identity_of_packs().ok()?).ok()? {
        Since::Fresh => None,
        Since::OtherRules => Some(
            "note: nothing was compiled, though the rules have changed since this command compiled last: the objects are \
             those of the former rules. Build anew (`make clean`, `cmake --build DIR --clean-first`); a build whose \
             compiler writes dependency files (`-MD`) does it by itself"
                .into(),
        ),
        Since::NeverHere => Some(
            "note: no command came through `rewright`: all was built before, or the build has a compiler of its own. A \
             folder of CMake keeps the one that it was configured with: configure under `rewright wrap` with `cmake \
             --fresh`, or in a new folder; a Makefile that sets `CC` wants `make -e`"
                .into(),
        ),
    }
}

/// A build runs its compiler in many folders.
fn absolute(pack: &Path) -> Result<PathBuf> {
    Ok(if pack.exists() { std::fs::canonicalize(pack)? } else { pack.to_path_buf() })
}

/// A folder that is there now, for a script.
fn made(folder: &Path) -> Result<String> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    text(&std::fs::canonicalize(folder)?)
}

/// Of a path, for a script.
fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_string).with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Arguments of the process between `wrap` and its build.
#[derive(clap::Args)]
pub(super) struct GuardArgs {
    /// The process of `wrap`
    parent: u32,
    /// The build
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// Gives the build's own exit code.
pub(super) fn guard(args: GuardArgs) -> Result<i32> {
    let (program, rest) = args.command.split_first().context("no command")?;
    let status = guard::run(args.parent, Command::new(program).args(rest));
    Ok(exit_code(status.with_context(|| format!("cannot run {}", program.display()))?))
}

fn summary(facts: &Facts, format: Format) -> Result<()> {
    if format == Format::Json {
        out::report(&serde_json::to_string(facts)?);
        return Ok(());
    }
    let Facts { files, cached, handed_over, fell_back, rejected, .. } = facts;
    let Facts { functions, known, optimised, unchanged, passed_through, failed, .. } = facts;
    let n = |n: &u64, noun| count(*n as usize, noun);
    let shared = if facts.shared > 0 { format!(", {} of them shared", facts.shared) } else { String::new() };
    let mut text = format!(
        "{} compiled with rules ({cached} from the cache{shared}), {} handed over, {fell_back} fell back, {rejected} rejected by \
         the compiler\n\
         {} ({known} met before): {optimised} optimised, {unchanged} unchanged, {passed_through} not understood, \
         {failed} failed\n",
        n(files, "file"),
        n(handed_over, "command"),
        n(functions, "function")
    );
    if facts.unlogged > 0 {
        let _ = writeln!(
            text,
            "{} from the cache with changes that were made without a record of their rules: below, only the others are \
             counted (`--no-cache` compiles all anew)",
            count(facts.unlogged as usize, "file")
        );
    }
    if facts.cut_short > 0 {
        let _ = writeln!(
            text,
            "{}: selection ended at its limits; cheaper by {:.1} % at most, no bound is known of {} (`--effort N` allows \
             it more)",
            count(facts.cut_short as usize, "function"),
            100.0 * facts.largest_gap,
            facts.without_bound
        );
    }
    for (budget, functions) in &facts.stopped {
        let _ = writeln!(
            text,
            "{}: saturation ended at its budget of {budget} (`--budget` sets others)",
            count(*functions as usize, "function"),
        );
    }
    let seconds = facts.seconds.iter().filter(|(phase, _)| !phase.contains(": ")).map(|(_, s)| s);
    // The sum of nothing is -0.
    let total = seconds.sum::<f64>() + 0.0;
    let _ = writeln!(text, "{total:.2} s, of which");
    for (phase, seconds) in &facts.seconds {
        let _ = writeln!(text, "{:>6.1} %  {phase}", 100.0 * seconds / total.max(1e-9));
    }
    for (reason, n) in &facts.reasons {
        let _ = writeln!(text, "{n:>6}  {reason}");
    }
    for (function, n) in &facts.narrowed {
        let _ = writeln!(
            text,
            "{n:>6}  {} of {function} as far as LLVM knows, and not by what the packs say",
            if *n == 1 { "call" } else { "calls" }
        );
    }
    for (what, rules) in [("rules behind changes", &facts.changes), ("rules that matched", &facts.rules)] {
        let mut rules: Vec<_> = rules.iter().collect();
        rules.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
        if !rules.is_empty() {
            let _ = writeln!(text, "{what}: {}, most often", rules.len());
        }
        for (rule, n) in rules.into_iter().take(RULES_SHOWN) {
            let _ = writeln!(text, "{n:>6}  {rule}");
        }
    }
    out::report(&text);
    Ok(())
}
