//! `rewright cc`: a C compiler that applies rules. `CC="rewright cc --rules mine.rw"`.

use super::limits::Limits;
use super::report::{REPORTS, Told};
use super::{out, packs, store};
use anyhow::{Context, Result, anyhow};
use rewright_files::cache::{Cache, Key, default_folder};
use rewright_wrap::compile::{Done, Note, Tools, run as compile};
use rewright_wrap::declared::unmatched;
use rewright_wrap::fork_server::Started;
use rewright_wrap::rules::Rules;
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Megabytes of objects that are kept where `REWRIGHT_CACHE_MB` does not say.
const CACHE_MB: u64 = 1024;

/// Names the socket of the server of a build.
pub(super) const SERVER: &str = "REWRIGHT_SERVER";

/// Names the folder with the sockets of a build's programs.
pub(super) const STARTED: &str = "REWRIGHT_STARTED";

/// Names the rules of a build, as [`Rules::words`] does: a compiler that was configured before may have others.
pub(super) const RULES: &str = "REWRIGHT_RULES";

/// Asks for remarks, which compilers that were configured before do not know of.
pub(super) const REMARKS: &str = "REWRIGHT_REMARKS";

/// Names the folder in which a build keeps the LLVM IR that rules see.
pub(super) const KEEP: &str = "REWRIGHT_KEEP";

/// How long a file tells that something has been said.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What the names of files mean by which commands of a build know what has been said.
const SAID: u32 = 1;

/// A path in the environment.
fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// The C compiler.
pub(super) fn compiler() -> PathBuf {
    named("REWRIGHT_CLANG").unwrap_or_else(|| "clang-19".into())
}

/// LLVM's `opt`.
pub(super) fn opt() -> PathBuf {
    named("REWRIGHT_OPT").unwrap_or_else(|| "opt-19".into())
}

/// What stands behind our own options is clang's, `--help` too.
const HELP: &str = "\
Our own options come first:
      --rules <PACK>    A pack (`mine.rw`), or one that ships; repeatable [default: those of the nearest `rewright.toml`,
                        or std]
      --profile <NAME>  Costs, as `rewright opt` takes them
      --config <FILE>   Costs, as `rewright opt` takes them
      --effort <N>      Allow selection so many times the work per function [default: 1]
      --time-limit <SECONDS>
                        Seconds of processor time that selection may take per function. Objects depend on the machine
                        then; without --effort, nothing else limits it
      --budget <KIND=N,..>
                        How far rules may go in a function: nodes=N, matches=N, rounds=N, steps=N
      --strict          Fail where code would be compiled without rules: assembly, no -O, an option such as -flto, a
                        failure of ours
      --keep-going      Compile without rules where the packs are missing or have mistakes; without this it is an error
      --validate        Compare what rules make of each file with what they made it of, as `rewright validate` does, and
                        compile a file without rules where that is refuted; with --strict that is an error. Needs z3
      --remarks         Say on stderr which functions changed, which values of them and by which rules, and what could not
                        be optimised; with -g, by lines of the source
      --report <FILE>   Write a page of HTML about it: functions before and after, rules, evidence
      --no-cache        Do not look for objects of earlier commands, and keep none
      --cache-store <ADDRESS>
                        Look for objects in a store that machines share, too, and keep them there: a folder by its whole
                        path, or, in builds with `remote-cache`, `redis://host:6379` or `s3://bucket/path`
      --keep <DIR>      Keep the LLVM IR that rules see in this directory, for `rewright opt` and `rewright corpus`
                        (`.ll`), and what they make of it where they change it (`.changed`)

Environment:
  REWRIGHT_CLANG     The compiler [default: clang-19]
  REWRIGHT_OPT       LLVM's `opt` of the same version [default: opt-19]
  REWRIGHT_CACHE     Where objects are kept, by content: what the front end gives, options, packs, programs.
                     Deleting the folder is safe at any time [default: ~/.cache/rewright/cc]
  REWRIGHT_CACHE_MB  How much of them; those used longest ago are removed first [default: 1024]
  REWRIGHT_CACHE_STORE
                     As --cache-store; without either, `store` of `[cache]` in `rewright.toml`
  REWRIGHT_LOG       A file for a line of JSON per command

Rules that compute what a function of a library gives (`eval` of a function with `@link`) do not match here: a library's
content is no part of what objects are kept by. A cache that wants its compiler in one word, as ccache does, gets one
from `rewright wrap`, in `CC`. `rewright cc --help` is clang's.";

/// Arguments of `cc`.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true, after_help = HELP)]
#[command(override_usage = "rewright cc [OUR OPTIONS] [CLANG'S ARGUMENTS]...")]
pub(super) struct Args {
    /// Our own options, then the compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Gives the compiler's own exit code.
pub(super) fn run(args: Args) -> Result<i32> {
    let limit = std::env::var("REWRIGHT_CACHE_MB").ok().and_then(|mb| mb.parse().ok()).unwrap_or(CACHE_MB);
    let folder = named("REWRIGHT_CACHE").or_else(|| default_folder("cc"));
    let mut limits = Limits::default();
    let mut tools = Tools {
        compiler: compiler(),
        opt: opt(),
        rules: Rules {
            packs: vec![],
            profile: None,
            config: None,
            budget: limits.budget(),
            saturation: limits.saturation(),
        },
        server: named(SERVER),
        started: named(STARTED).and_then(Started::new),
        cache: None,
        log: named("REWRIGHT_LOG"),
        keep: named(KEEP),
        colour: out::colour(),
        strict: false,
        keep_going: false,
        validate: false,
        told: false,
    };
    let (mut remarks, mut page, mut no_cache, mut stored) = (named(REMARKS).is_some(), None, false, None);
    let reports = named(REPORTS);
    let mut rest = args.args.into_iter().peekable();
    loop {
        let own = rest.peek().and_then(|a| a.to_str()).map(str::to_string);
        match own.as_deref() {
            Some("--rules") => {
                rest.next();
                tools.rules.packs.push(rest.next().context("--rules wants a pack")?.into());
            }
            Some("--profile") => {
                rest.next();
                let name = rest.next().context("--profile wants a name")?;
                tools.rules.profile = Some(name.to_string_lossy().into_owned());
            }
            Some("--config") => {
                rest.next();
                tools.rules.config = Some(rest.next().context("--config wants a file")?.into());
            }
            Some("--effort") => {
                rest.next();
                let times = rest.next().context("--effort wants a number")?;
                limits.set_effort(&times.to_string_lossy()).map_err(|error| anyhow!("--effort: {error}"))?;
            }
            Some("--budget") => {
                rest.next();
                let counts = rest.next().context("--budget wants counts such as `nodes=5000`")?;
                limits.set_budget(&counts.to_string_lossy()).map_err(|error| anyhow!("--budget: {error}"))?;
            }
            Some("--time-limit") => {
                rest.next();
                let time = rest.next().context("--time-limit wants a number of seconds")?;
                limits.set_time_limit(&time.to_string_lossy()).map_err(|error| anyhow!("--time-limit: {error}"))?;
            }
            Some("--keep") => {
                rest.next();
                tools.keep = Some(rest.next().context("--keep wants a directory")?.into());
            }
            Some("--strict") => {
                rest.next();
                tools.strict = true;
            }
            Some("--keep-going") => {
                rest.next();
                tools.keep_going = true;
            }
            Some("--validate") => {
                rest.next();
                tools.validate = true;
            }
            Some("--remarks") => {
                rest.next();
                remarks = true;
            }
            Some("--report") => {
                rest.next();
                page = Some(PathBuf::from(rest.next().context("--report wants a file")?));
            }
            Some("--no-cache") => {
                rest.next();
                no_cache = true;
            }
            Some("--cache-store") => {
                rest.next();
                stored = Some(rest.next().context("--cache-store wants an address")?.to_string_lossy().into_owned());
            }
            _ => break,
        }
    }
    let own = folder.filter(|_| !no_cache).map(|folder| Cache::new(folder, limit.saturating_mul(1 << 20)));
    let marker = named(STARTED).map(|folder| folder.join("store-failed"));
    tools.cache = match own {
        Some(own) => {
            let address = store::of_build(stored.as_deref())?;
            // Of a build by `rewright wrap`, that has said it.
            address.iter().filter(|_| marker.is_none()).for_each(|address| store::say_missing(address));
            Some(store::behind(own, address, "cc", marker)?)
        }
        None => None,
    };
    // Of a build by `rewright wrap`, that has said it.
    if named(STARTED).is_none() && is_first_of_its_group("std") {
        packs::say_without_std(&tools.rules.packs);
    }
    (tools.rules.budget, tools.rules.saturation) = (limits.budget(), limits.saturation());
    tools.rules.packs = packs::applied(&tools.rules.packs)?;
    let args: Vec<OsString> = rest.collect();
    misplaced(&args)?;
    tools.told = remarks || page.is_some() || reports.is_some();
    let Done { code, notes, files, missed, calls } = compile(&tools, &args, &out::bytes)?;
    say(&notes, named(STARTED).as_deref());
    say(other_rules(&tools.rules).as_slice(), named(STARTED).as_deref());
    // In a build, another file may call them: `rewright wrap` says it at the end.
    if named(STARTED).is_none() {
        unmatched(&calls).iter().for_each(|text| out::note(&format!("rewright: {text}")));
    }
    if remarks {
        files
            .iter()
            .map(rewright_report::text::file)
            .filter(|text| !text.is_empty())
            .for_each(|text| out::report(&text));
    }
    let told = Told { files, missed };
    if let Some(page) = page {
        let program = tools.rules.ready(tools.cache.as_ref())?.optimiser.optimiser;
        told.page(&page, &title(&args), Some(program.program()))?;
    }
    if let Some(folder) = reports {
        told.leave(&folder)?;
    }
    Ok(code)
}

/// Options of ours that clang has none like.
const OWN: [&str; 12] = [
    "--budget",
    "--cache-store",
    "--effort",
    "--keep",
    "--keep-going",
    "--no-cache",
    "--remarks",
    "--report",
    "--rules",
    "--strict",
    "--time-limit",
    "--validate",
];

/// Our own options come first: behind the compiler's arguments they would be clang's.
fn misplaced(args: &[OsString]) -> Result<()> {
    let own = args.iter().filter_map(|arg| arg.to_str()).find(|arg| OWN.contains(arg));
    own.map_or(Ok(()), |own| {
        Err(anyhow!("`{own}` stands behind arguments of the compiler; write it before them: `rewright cc {own} ..`"))
    })
}

/// What there is to say where this compiler was made for other rules than those of the build that it runs in.
fn other_rules(own: &Rules) -> Option<Note> {
    let wanted = std::env::var(RULES).ok().filter(|wanted| *wanted != own.words())?;
    let text = format!(
        "the compiler that this build was configured with has `{}`, and keeps to it; for `{wanted}`, configure anew under \
         `rewright wrap {wanted}`",
        own.words()
    );
    Some(Note::Once(text.clone(), text))
}

/// A compiler's arguments, as a page names them.
fn title(args: &[OsString]) -> String {
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    format!("rewright cc {}", words.join(" "))
}

/// Says what a command has to say. Commands of a build leave out what another one has said.
fn say(notes: &[Note], build: Option<&Path>) {
    for note in notes {
        match (note, build) {
            (Note::Always(text), _) | (Note::Once(_, text), None) => out::note(&format!("rewright: {text}")),
            (Note::Once(what, text), Some(folder)) if is_first(folder, what) => {
                out::note(&format!("rewright: {text} (said once in this build)"));
            }
            (Note::Once(..), Some(_)) => {}
        }
    }
}

/// Is this the first command to say something of those that one line of a shell, or one script, has started? They are
/// a group of processes, of which each such command leaves a file for a day.
fn is_first_of_its_group(what: &str) -> bool {
    let Some((folder, group)) = default_folder("said").zip(group()) else { return true };
    if std::fs::create_dir_all(&folder).is_err() {
        return true;
    }
    let is_first = is_first(&folder, &format!("{what} {group}"));
    let is_old = |file: &std::fs::DirEntry| {
        let age = file.metadata().and_then(|facts| facts.modified()).map(|time| time.elapsed().unwrap_or_default());
        age.is_ok_and(|age| age > DAY)
    };
    for file in std::fs::read_dir(&folder).into_iter().flatten().flatten().filter(|file| is_first && is_old(file)) {
        let _ = std::fs::remove_file(file.path());
    }
    is_first
}

/// The group of this process, and when its first process began; `None` where the system does not say.
fn group() -> Option<String> {
    // Behind the name in brackets: state, parent, group; the time is the 20th from there.
    let fields = |process: &str| {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, fields) = text.rsplit_once(')')?;
        Some(fields.split_whitespace().map(String::from).collect::<Vec<String>>())
    };
    let group = fields("self")?.get(2)?.clone();
    let begun = fields(&group)?.get(19)?.clone();
    Some(format!("{group} {begun}"))
}

/// Is this the first command of a build that says something? What is said has a file in the build's folder.
fn is_first(folder: &Path, what: &str) -> bool {
    let said = folder.join(format!("said-{}", Key::of(SAID, [what.as_bytes()])));
    File::create_new(said).map_or_else(|error| error.kind() != ErrorKind::AlreadyExists, |_| true)
}
