//! `rewright cc`: a C compiler that applies rules. `CC="rewright cc --rules mine.rw"`.

use super::limits::Limits;
use super::report::{REPORTS, Told};
use super::{out, packs, store};
use anyhow::{Context, Result, anyhow, bail};
use rewright_files::cache::{Cache, Key, default_folder};
use rewright_wrap::compile::{Done, Note, Tools, run as compile};
use rewright_wrap::declared::unmatched;
use rewright_wrap::fork_server::Started;
use rewright_wrap::rules::Rules;
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Megabytes of objects that are kept where `REWRIGHT_CACHE_MB` does not say.
const CACHE_MB: u64 = 1024;

/// Names the socket of the server of a build.
pub(super) const SERVER: &str = "REWRIGHT_SERVER";

/// Names the folder with the sockets of a build's programs.
pub(super) const STARTED: &str = "REWRIGHT_STARTED";

/// Names the rules of a build, as [`rules_of`] does: a compiler that was configured before may have others.
pub(super) const RULES: &str = "REWRIGHT_RULES";

/// Options of a build that make no other objects, one word a line: a compiler that was configured before has others.
pub(super) const OPTIONS: &str = "REWRIGHT_OPTIONS";

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

/// Options behind our own are clang's, `--help` too.
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
      --no-pack-dependencies
                        Do not name packs in dependency files (-MD); without this, a build compiles anew what was
                        compiled with other packs
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
    let mut own = Own {
        limits: Limits::default(),
        tools: Tools {
            compiler: compiler(),
            opt: opt(),
            rules: Rules {
                packs: vec![],
                profile: None,
                config: None,
                budget: Limits::default().budget(),
                saturation: Limits::default().saturation(),
            },
            server: named(SERVER),
            started: named(STARTED).and_then(Started::new),
            cache: None,
            log: named("REWRIGHT_LOG"),
            keep: None,
            colour: out::colour(),
            strict: false,
            keep_going: false,
            validate: false,
            names_packs: true,
            told: false,
        },
        remarks: false,
        page: None,
        no_cache: false,
        stored: None,
    };
    let mut rest = args.args.into_iter().peekable();
    own.take(&mut rest)?;
    let of_build = std::env::var(OPTIONS).unwrap_or_default();
    own.take(&mut of_build.lines().map(OsString::from).peekable())?;
    let Own { limits, mut tools, remarks, page, no_cache, stored } = own;
    let reports = named(REPORTS);
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
    say(other_rules(&rules_of(&tools.rules, &limits)).as_slice(), named(STARTED).as_deref());
    // In a build, another file may call them: `rewright wrap` says it at the end.
    if named(STARTED).is_none() && calls.values().any(|calls| !calls.refused.is_empty()) {
        let declared = tools.rules.ready(tools.cache.as_ref())?.optimiser.declared();
        unmatched(&calls, &declared).iter().for_each(|text| out::note(text));
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

/// What our own options say.
struct Own {
    limits: Limits,
    tools: Tools,
    remarks: bool,
    page: Option<PathBuf>,
    no_cache: bool,
    stored: Option<String>,
}

impl Own {
    /// Takes our own options from the front of a command line.
    fn take(&mut self, words: &mut Peekable<impl Iterator<Item = OsString>>) -> Result<()> {
        while let Some(own) = words.next_if(|word| word.to_str().is_some_and(|word| OWN.contains(&word))) {
            let own = own.to_string_lossy();
            let mut value = |what: &str| words.next().with_context(|| format!("{own} wants {what}"));
            let text = |value: OsString| value.to_string_lossy().into_owned();
            let Own { limits, tools, .. } = self;
            match &*own {
                "--rules" => tools.rules.packs.push(value("a pack")?.into()),
                "--profile" => tools.rules.profile = Some(text(value("a name")?)),
                "--config" => tools.rules.config = Some(value("a file")?.into()),
                "--effort" => {
                    limits.set_effort(&text(value("a number")?)).map_err(|error| anyhow!("{own}: {error}"))?
                }
                "--budget" => limits
                    .set_budget(&text(value("counts such as `nodes=5000`")?))
                    .map_err(|error| anyhow!("{own}: {error}"))?,
                "--time-limit" => limits
                    .set_time_limit(&text(value("a number of seconds")?))
                    .map_err(|error| anyhow!("{own}: {error}"))?,
                "--keep" => tools.keep = Some(value("a directory")?.into()),
                "--strict" => tools.strict = true,
                "--keep-going" => tools.keep_going = true,
                "--validate" => tools.validate = true,
                "--no-pack-dependencies" => tools.names_packs = false,
                "--remarks" => self.remarks = true,
                "--report" => self.page = Some(value("a file")?.into()),
                "--no-cache" => self.no_cache = true,
                "--cache-store" => self.stored = Some(text(value("an address")?)),
                _ => bail!("{own} is an option that has no effect here: this is a bug of Rewright, please report it"),
            }
        }
        Ok(())
    }
}

/// Our own options.
const OWN: [&str; 15] = [
    "--budget",
    "--cache-store",
    "--config",
    "--effort",
    "--keep",
    "--keep-going",
    "--no-cache",
    "--no-pack-dependencies",
    "--profile",
    "--remarks",
    "--report",
    "--rules",
    "--strict",
    "--time-limit",
    "--validate",
];

/// Those that clang has as well, with a meaning of its own.
const OF_BOTH: [&str; 2] = ["--config", "--profile"];

/// Our own options come first: behind the compiler's arguments they would be clang's.
fn misplaced(args: &[OsString]) -> Result<()> {
    let is_own = |arg: &&str| OWN.contains(arg) && !OF_BOTH.contains(arg);
    let own = args.iter().filter_map(|arg| arg.to_str()).find(is_own);
    own.map_or(Ok(()), |own| {
        Err(anyhow!("`{own}` stands behind arguments of the compiler; write it before them: `rewright cc {own} ..`"))
    })
}

/// The packs and costs of a compilation and how much work it may be, as options name them: what decides objects.
pub(super) fn rules_of(rules: &Rules, limits: &Limits) -> String {
    std::iter::once(rules.words()).chain(limits.options()).collect::<Vec<_>>().join(" ")
}

/// What there is to say where this compiler was made for other rules than those of the build that it runs in.
fn other_rules(own: &str) -> Option<Note> {
    let wanted = std::env::var(RULES).ok().filter(|wanted| wanted != own)?;
    let text = format!(
        "the compiler that this build was configured with has `{own}`, and keeps to it; for `{wanted}`, configure anew under \
         `rewright wrap {wanted}` (CMake keeps its compiler: `cmake --fresh`, or a new folder)"
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
            (Note::OfPack(text), None) => out::note(text),
            (Note::OfPack(text), Some(folder)) if is_first(folder, text) => out::note(text),
            (Note::Once(..) | Note::OfPack(_), Some(_)) => {}
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

/// Is this the first command of a build that says something? Each note that was printed has a file in the build's folder.
fn is_first(folder: &Path, what: &str) -> bool {
    let said = folder.join(format!("said-{}", Key::of(SAID, [what.as_bytes()])));
    File::create_new(said).map_or_else(|error| error.kind() != ErrorKind::AlreadyExists, |_| true)
}
