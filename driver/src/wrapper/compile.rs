//! Compiling one file: clang's front end, LLVM's own passes that run before inlining, our rules, clang again.
//!
//! The front end always runs, so warnings and dependency files are its own. What it gives, with the options and the
//! packs, decides everything that follows; so the object is looked up by these before anything else is done. Where no
//! function changes, what the front end gave goes to the back end: the object is the one that clang makes alone.

use super::apply::{Applied, apply};
use super::arguments::{Plan, Unit, asked_by_environment, plan};
use super::facts::Facts;
use super::fork_server::Started;
use super::rules::{Rules, identity};
use super::scratch::Scratch;
use super::server::ask;
use crate::cache::{Cache, Key, write_whole, write_whole_with};
use crate::pipeline::abandon_engine;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// LLVM's passes that bring functions into the form in which rules see them, before inlining.
pub const PASSES: &str = "annotation2metadata,forceattrs,inferattrs,function(lower-expect,simplifycfg,sroa,\
early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg),cgscc(function-attrs)";

/// What the content of the cache means.
const VERSION: u32 = 1;

/// Whom to ask, and how.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The C compiler, a clang.
    pub compiler: PathBuf,
    /// LLVM's `opt` of the same version.
    pub opt: PathBuf,
    /// The packs.
    pub rules: Rules,
    /// Where the server of a build listens.
    pub server: Option<PathBuf>,
    /// Programs of a build that wait for work.
    pub started: Option<Started>,
    /// Objects of earlier runs.
    pub cache: Option<Cache>,
    /// Where a line about each command goes, as JSON.
    pub log: Option<PathBuf>,
    /// Where LLVM IR is kept as rules see it, one file (`.ll`) for each that is compiled, and one of what they make of
    /// it where they change it (`.changed`).
    pub keep: Option<PathBuf>,
    /// What the compiler says may be coloured.
    pub colour: bool,
    /// Fail where the compiler would be handed the command line after a failure of ours.
    pub strict: bool,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// The exit code.
    pub code: i32,
    /// What the front end said on stderr.
    pub said: Vec<u8>,
    /// Why rules were not applied, where it is a failure of ours.
    pub note: Option<String>,
}

/// Runs a command line.
///
/// # Errors
/// Where there is no compiler; if strict, also where something of ours fails.
pub fn run(tools: &Tools, args: &[OsString]) -> Result<Done> {
    let mut facts = Facts::default();
    let unit = match plan(args) {
        Plan::HandOver(reason) => Err(reason),
        Plan::Compile(unit) if unit.writes_to_no_file() => Err("an output that is no file".into()),
        Plan::Compile(unit) => {
            asked_by_environment().map_or(Ok(unit), |name| Err(format!("{name} in the environment")))
        }
    };
    let mut note = None;
    match unit {
        Err(reason) => {
            facts.handed_over = 1;
            facts.reason(&reason);
        }
        Ok(unit) => match compile(tools, &unit) {
            Ok(Compiled::Object(own, said)) => {
                own.log(tools.log.as_deref());
                return Ok(Done { code: 0, said, note: None });
            }
            Ok(Compiled::Rejected) => facts.rejected = 1,
            Ok(Compiled::Spoken) => {
                facts.handed_over = 1;
                facts.reason("a warning of the back end");
            }
            Err(error) if tools.strict => return Err(error),
            Err(error) => {
                facts.fell_back = 1;
                facts.reason(&format!("{error:#}"));
                note = Some(format!("{}: compiled without rules: {error:#}", unit.source.display()));
            }
        },
    }
    facts.log(tools.log.as_deref());
    let status = Command::new(&tools.compiler)
        .args(args)
        .status()
        .with_context(|| format!("cannot run {}", tools.compiler.display()))?;
    // Where the compiler fails as well, it has said why.
    Ok(Done { code: exit_code(status), said: vec![], note: note.filter(|_| status.success()) })
}

/// How a command ended, as a shell gives it.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

enum Compiled {
    /// It is in its place; what the front end said.
    Object(Box<Facts>, Vec<u8>),
    /// The front end does not accept the file. The compiler says it better.
    Rejected,
    /// The back end warns, of what it can no longer show. The compiler says it better.
    Spoken,
}

fn compile(tools: &Tools, unit: &Unit) -> Result<Compiled> {
    let mut facts = Facts::default();
    let scratch = match &tools.started {
        Some(started) => Scratch::inside(started.folder()).or_else(|_| Scratch::new()),
        None => Scratch::new(),
    };
    let scratch = scratch.context("no temporary directory")?;
    let path = |name| scratch.path().join(name);
    let (raw, ready, done, made) = (path("raw.bc"), path("in.ll"), path("out.ll"), path("out.o"));
    let said = path("said");
    let mut front = Command::new(&tools.compiler);
    // Its words go through our hands; what the command line says of colours comes later and counts.
    front.args(tools.colour.then_some("-fcolor-diagnostics")).args(&unit.options).args(&unit.dependencies);
    front.args(["-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-o"]).arg(&raw).arg(&unit.source);
    let front = facts.time("front end", || output(tools, &mut front, &said))?;
    if !front.status.success() {
        return Ok(Compiled::Rejected);
    }
    let lowered = fs::read(&raw).context("the front end gave nothing")?;
    let mode = fs::metadata(&raw)?.permissions();
    let cache = tools.cache.as_ref().filter(|_| tools.keep.is_none());
    let rules = tools.rules.identity()?;
    let key = facts.time("cache", || cache.map(|_| key(tools, &rules, unit, &lowered)));
    let found = cache.zip(key).and_then(|(cache, key)| facts.time("cache", || cache.find(key)));
    if let Some((mut known, object)) = found.as_deref().and_then(split) {
        place(object, &unit.object, mode)?;
        known.cached = 1;
        known.seconds = facts.seconds;
        return Ok(Compiled::Object(Box::new(known), front.stderr));
    }
    let mut prepare = Command::new(&tools.opt);
    prepare.arg("-S").arg(format!("-passes={PASSES}")).arg(&raw).arg("-o").arg(&ready);
    facts.time("passes", || succeed(tools, &mut prepare, &said))?;
    let kept = tools.keep.as_ref().map(|folder| keep(folder, unit, &fs::read(&ready)?)).transpose()?;
    let served = tools.server.as_ref().and_then(|socket| facts.time("rules", || ask(socket, &rules, &ready)));
    let mut words = front.stderr;
    let Applied { facts: mut known, text } = match served {
        Some(applied) => applied,
        None => {
            let rules = facts.time("packs", || tools.rules.ready())?;
            words.extend(rules.note().map(|note| format!("rewright: {note}\n")).unwrap_or_default().bytes());
            let applied = facts.time("rules", || apply(&rules, fs::read(&ready)?))?;
            abandon_engine();
            applied
        }
    };
    let input = match &text {
        Some(text) => {
            fs::write(&done, text)?;
            kept.map_or(Ok(()), |kept| fs::write(kept.with_extension("changed"), text))
                .context("cannot keep LLVM IR")?;
            &done
        }
        None => &raw,
    };
    let mut back = Command::new(&tools.compiler);
    back.args(&unit.options).args(["-Qunused-arguments", "-x", "ir", "-c"]).arg(input);
    back.arg("-o").arg(&made);
    if !facts.time("back end", || succeed(tools, &mut back, &said))?.stderr.is_empty() {
        return Ok(Compiled::Spoken);
    }
    let object = fs::read(&made).context("the back end gave nothing")?;
    place(&object, &unit.object, mode)?;
    if let Some((cache, key)) = cache.zip(key) {
        facts.time("cache", || cache.keep(key, &join(&known, &object)));
    }
    known.seconds.extend(facts.seconds);
    Ok(Compiled::Object(Box::new(known), words))
}

/// Everything that the object depends on.
fn key(tools: &Tools, rules: &str, unit: &Unit, lowered: &[u8]) -> Key {
    let programs = [identity(tools.compiler.as_os_str()), identity(tools.opt.as_os_str())];
    let mut parts: Vec<&[u8]> = vec![rules.as_bytes(), lowered];
    parts.extend(programs.iter().map(String::as_bytes));
    parts.extend(unit.options.iter().map(|o| o.as_bytes()));
    Key::of(VERSION, parts)
}

/// Puts the object in its place, whole.
fn place(content: &[u8], object: &Path, mode: fs::Permissions) -> Result<()> {
    write_whole_with(object, content, mode).with_context(|| format!("cannot write {}", object.display()))
}

/// The LLVM IR that rules see, under a name that says which file it comes from and differs where the text does.
fn keep(folder: &Path, unit: &Unit, text: &[u8]) -> Result<PathBuf> {
    let stem = unit.source.file_stem().unwrap_or_default().to_string_lossy();
    let path = folder.join(format!("{stem}-{:.8}.ll", Key::of(VERSION, [text]).to_string()));
    fs::create_dir_all(folder)
        .and_then(|()| write_whole(&path, text))
        .with_context(|| format!("cannot keep LLVM IR in {}", folder.display()))?;
    Ok(path)
}

/// What the cache holds: facts on a line, then the object.
fn join(facts: &Facts, object: &[u8]) -> Vec<u8> {
    let mut content = serde_json::to_vec(facts).unwrap_or_default();
    content.push(b'\n');
    content.extend_from_slice(object);
    content
}

fn split(content: &[u8]) -> Option<(Facts, &[u8])> {
    let end = content.iter().position(|b| *b == b'\n')?;
    Some((serde_json::from_slice(&content[..end]).ok()?, &content[end + 1..]))
}

/// Runs a program without input; in `said` there may be what it says.
fn output(tools: &Tools, command: &mut Command, said: &Path) -> Result<Output> {
    if let Some(output) = tools.started.as_ref().and_then(|started| started.output(command, said)) {
        return Ok(output);
    }
    let name = command.get_program().to_os_string();
    command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {}", name.display()))
}

/// Runs a step that is to succeed.
fn succeed(tools: &Tools, command: &mut Command, said: &Path) -> Result<Output> {
    let output = output(tools, command, said)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", command.get_program().display(), said.lines().next().unwrap_or(""));
    }
    Ok(output)
}
