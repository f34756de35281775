//! Compiling one file: clang's front end, LLVM's own passes that run before inlining, our rules, clang again.
//!
//! The front end always runs, so warnings are its own, and dependency files except for the packs. Its output, with the options and
//! the packs, decides everything that follows; so the object is looked up by these before anything else is done. Where
//! no function changes, what the front end gave goes to the back end: the object is the one that clang makes alone.
//! Where objects are linked at once, they take the places of their sources in the command line, and the compiler does
//! the rest.

use super::arguments::{Build, Missed, Plan, Unit, plan};
use super::declared::{macros, named};
use super::dependency_file::with_files;
use super::entry::{Entry, Ir};
use super::fork_server::Started;
use super::response::expanded;
use super::rewrite_file::{Applied, apply};
use super::rules::{Refused, Rules, content, identity};
use super::server::ask;
use super::statistics::Facts;
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::verdict::Verdict;
use rewright_equiv::own_changes;
use rewright_equiv::verdict::VOUCHED;
use rewright_files::cache::{Cache, Key};
use rewright_files::place;
use rewright_files::scratch::Scratch;
use rewright_llvm::declared_calls::DeclaredCalls;
use rewright_llvm::module::{self, UNKNOWN_LAYOUT};
use rewright_pipeline::sums::add_up;
use rewright_report::remarks::{FileReport, FunctionReport};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// LLVM's passes that bring functions into the form in which rules see them, before inlining.
pub const PASSES: &str = "annotation2metadata,forceattrs,inferattrs,function(lower-expect,simplifycfg,sroa,\
early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg),cgscc(function-attrs)";

/// What the content of the cache means.
const VERSION: u32 = 7;

/// The tools to call, and how.
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
    /// The compiler's messages may be coloured.
    pub colour: bool,
    /// Fail where code would be compiled without rules.
    pub strict: bool,
    /// Compile without rules where the packs are missing or have mistakes.
    pub keep_going: bool,
    /// Compare what rules make with what they made it of, and compile without rules where that is refuted.
    pub validate: bool,
    /// Name the files of rules in dependency files.
    pub names_packs: bool,
    /// Tell what became of functions ([`Done::files`]). It changes nothing of what is compiled.
    pub told: bool,
}

/// How a command ended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Done {
    /// The exit code.
    pub code: i32,
    /// What there is to say.
    pub notes: Vec<Note>,
    /// What became of files, where that is to be told.
    pub files: Vec<FileReport>,
    /// Why code was compiled without rules, and how often.
    pub missed: BTreeMap<String, u64>,
    /// What became of calls of C functions that packs of the user declare.
    pub calls: BTreeMap<String, DeclaredCalls>,
}

impl Done {
    fn of_missed<'m>(missed: impl IntoIterator<Item = &'m Missed>) -> Self {
        let mut done = Done::default();
        missed.into_iter().for_each(|missed| done.note_missed(missed));
        done
    }

    fn note_missed(&mut self, missed: &Missed) {
        self.notes.push(Note::missed(missed));
        *self.missed.entry(missed.reason.clone()).or_default() += 1;
    }
}

/// What a command has to say of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// Said by each command that it concerns.
    Always(String),
    /// Said once in a build: what tells it from others, and how it is said.
    Once(String, String),
    /// Said once in a build, and begins with a place in a pack.
    OfPack(String),
}

impl Note {
    fn missed(missed: &Missed) -> Self {
        let Missed { files, reason } = missed;
        Note::Once(reason.clone(), format!("{files}: compiled without rules ({reason})"))
    }
}

/// Runs a command line. `say` is told what the front end said on stderr.
///
/// # Errors
/// Where there is no compiler, and where packs are missing or have mistakes, unless the build is to keep going; if
/// strict, also where code would be compiled without rules.
pub fn run(tools: &Tools, args: &[OsString], say: &dyn Fn(&[u8])) -> Result<Done> {
    let words = expanded(args);
    // Scripts of a build throw objects away to see whether an option is known.
    let missed = match plan(&words, tools.told && tools.started.is_none()) {
        Plan::Compile(build) => match build.missing() {
            None => return run_build(tools, &words, &build, say),
            Some(missed) => Ok(missed),
        },
        Plan::PassThrough(missed) => Ok(missed),
        Plan::HandOver(reason) => Err(reason),
    };
    missed.iter().try_for_each(|missed| allowed(tools, missed))?;
    let mut facts = Facts { handed_over: 1, ..Facts::default() };
    facts.reason(missed.as_ref().map_or_else(|reason| reason, |missed| &missed.reason));
    facts.log(tools.log.as_deref());
    let mut done = Done::of_missed(&missed);
    hand_over(tools, args, &mut done)?;
    Ok(done)
}

/// Runs a command line with C files that are for us.
fn run_build(tools: &Tools, args: &[OsString], build: &Build, say: &dyn Fn(&[u8])) -> Result<Done> {
    build.missed.iter().try_for_each(|missed| allowed(tools, missed))?;
    let objects = if build.links || build.discards() { Some(scratch(tools)?) } else { None };
    let mut done = Done::of_missed(&build.missed);
    let (mut made, mut all_said) = (BTreeMap::new(), vec![]);
    for (index, unit) in build.units.iter().enumerate() {
        let object = match &objects {
            None => unit.object.clone(),
            Some(folder) => passing_object(folder, index, unit)?,
        };
        let mut facts = Facts::default();
        match compile(tools, build, unit, &object) {
            Ok(Compiled::Object { facts: own, said, notes, functions }) => {
                done.notes.extend(notes);
                let name = unit.source.display().to_string();
                done.files.extend(functions.map(|functions| FileReport { name, functions }));
                facts = *own;
                add_up(&mut done.calls, facts.calls.clone());
                all_said.extend(said);
                made.insert(index, object);
            }
            Ok(Compiled::Rejected) => {
                facts.rejected = 1;
                facts.log(tools.log.as_deref());
                let mut done = Done::default();
                hand_over(tools, args, &mut done)?;
                return Ok(done);
            }
            Ok(Compiled::Missed(reason)) => {
                let missed = Missed { files: unit.source.display().to_string(), reason: reason.into() };
                allowed(tools, &missed)?;
                facts.handed_over = 1;
                facts.reason(&missed.reason);
                done.note_missed(&missed);
            }
            Err(error) if tools.strict || error.is::<Refused>() && !tools.keep_going => return Err(error),
            Err(error) => {
                facts.fell_back = 1;
                facts.reason(&format!("{error:#}"));
                *done.missed.entry(format!("{error:#}")).or_default() += 1;
                let text = format!("{}: compiled without rules: {error:#}", unit.source.display());
                done.notes.push(match error.is::<Refused>() {
                    true => Note::Once(format!("{error:#}"), text),
                    false => Note::Always(text),
                });
            }
        }
        facts.log(tools.log.as_deref());
    }
    say(&all_said);
    if let Some(left) = build.left(args, &made) {
        hand_over(tools, &left, &mut done)?;
    }
    let troubles = tools.cache.iter().flat_map(Cache::troubles);
    done.notes.extend(troubles.map(|trouble| Note::Once(trouble.clone(), trouble)));
    Ok(done)
}

/// Where an object is that is linked at once, or thrown away. The linker names it in its messages.
fn passing_object(folder: &Scratch, index: usize, unit: &Unit) -> Result<PathBuf> {
    let place = folder.path().join(index.to_string());
    fs::create_dir(&place).context("no temporary directory")?;
    Ok(place.join(unit.source.file_name().unwrap_or_default()).with_extension("o"))
}

/// Code may be compiled without rules unless that is to be an error.
fn allowed(tools: &Tools, missed: &Missed) -> Result<()> {
    let Missed { files, reason } = missed;
    match tools.strict {
        true => Err(Refused(format!("{files}: rules do not apply ({reason}), and --strict was given")).into()),
        false => Ok(()),
    }
}

/// The compiler's own run. Where it fails, it has said why, and what we have to say is of no use.
fn hand_over(tools: &Tools, args: &[OsString], done: &mut Done) -> Result<()> {
    let name = tools.compiler.display();
    let status = Command::new(&tools.compiler).args(args).status().with_context(|| format!("cannot run {name}"))?;
    done.code = exit_code(status);
    if !status.success() {
        let killed = status.signal().map(|signal| Note::Always(format!("{name} was ended by signal {signal}")));
        done.notes = killed.into_iter().collect();
    }
    Ok(())
}

/// How a command ended, as a shell gives it.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

enum Compiled {
    /// It is in its place.
    Object {
        facts: Box<Facts>,
        /// By the front end.
        said: Vec<u8>,
        /// Of the rules.
        notes: Vec<Note>,
        /// What became of them, where that is to be told.
        functions: Option<Vec<FunctionReport>>,
    },
    /// The front end does not accept the file. The compiler says it better.
    Rejected,
    /// Rules do not see it after all, for this reason.
    Missed(&'static str),
}

fn scratch(tools: &Tools) -> Result<Scratch> {
    let folder = match &tools.started {
        Some(started) => Scratch::inside(started.folder()).or_else(|_| Scratch::new()),
        None => Scratch::new(),
    };
    folder.context("no temporary directory")
}

/// Compiles one file to an object in its place.
fn compile(tools: &Tools, build: &Build, unit: &Unit, object: &Path) -> Result<Compiled> {
    let mut facts = Facts::default();
    let scratch = scratch(tools)?;
    let path = |name| scratch.path().join(name);
    let (raw, ready, done, made) = (path("raw.bc"), path("in.ll"), path("out.ll"), path("out.o"));
    let said = path("said");
    let dependencies = unit.dependency_file.as_ref().map(|file| (path("deps"), file));
    let mut front = Command::new(&tools.compiler);
    // Its words go through our hands; what the command line says of colours comes later and counts.
    front.args(tools.colour.then_some("-fcolor-diagnostics")).args(&build.options).args(&build.dependencies);
    // Options for the linker are used when it comes to linking.
    front.args(build.links.then_some("-Qunused-arguments"));
    front.args(unit.target.iter().flat_map(|target| [OsStr::new("-MQ"), target]));
    front.args(dependencies.iter().flat_map(|(file, _)| [OsStr::new("-MF"), file.as_os_str()]));
    front.args(["-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-o"]).arg(&raw).arg(&unit.source);
    let front = facts.time("front end", || output(tools, &mut front, &said))?;
    if !front.status.success() {
        return Ok(Compiled::Rejected);
    }
    if let Some((made, file)) = &dependencies {
        let mut text = fs::read(made).context("the front end gave no dependencies")?;
        if let (true, Ok(known)) = (tools.names_packs, std::str::from_utf8(&text)) {
            let own_rules = build.dependencies.iter().any(|option| option == "-MP");
            text = with_files(known, &tools.rules.files(), own_rules).into_bytes();
        }
        put(&text, file, fs::metadata(made)?.permissions())?;
    }
    let lowered = fs::read(&raw).context("the front end gave nothing")?;
    let mode = fs::metadata(&raw)?.permissions();
    let rules = tools.rules.identity()?;
    let cache = tools.cache.as_ref().filter(|cache| !cache.is_shared() || !is_of_this_machine(build));
    let key = facts.time("cache", || cache.map(|cache| key(tools, cache, &rules, build, &lowered)).transpose())?;
    let found = cache.zip(key).and_then(|(cache, key)| facts.time("cache", || cache.find(key)));
    let is_shared = found.as_ref().is_some_and(|found| found.is_shared);
    let found = found.and_then(|found| Entry::read(&found.content));
    let is_enough = |e: &Entry| (tools.keep.is_none() || e.ir.is_some()) && (!tools.told || e.functions.is_some());
    if let Some(Entry { facts: mut known, ir, functions, object: code }) = found.filter(is_enough) {
        tools.keep.iter().zip(&ir).try_for_each(|(folder, ir)| ir.keep(folder, &unit.source))?;
        put(&code, object, mode)?;
        known.cached = 1;
        known.shared = u64::from(is_shared);
        known.seconds = facts.seconds;
        let functions = functions.filter(|_| tools.told);
        return Ok(Compiled::Object { facts: Box::new(known), said: front.stderr, notes: vec![], functions });
    }
    let mut prepare = Command::new(&tools.opt);
    prepare.arg("-S").arg(format!("-passes={PASSES}")).arg(&raw).arg("-o").arg(&ready);
    facts.time("passes", || succeed(tools, &mut prepare, &said))?;
    let served =
        tools.server.as_ref().and_then(|socket| facts.time("rules", || ask(socket, &rules, &ready, tools.told)));
    let mut notes = vec![];
    let Applied { facts: mut known, unnamed, declared, text, functions } = match served {
        Some(applied) => applied,
        None => {
            let rules = facts.time("packs", || tools.rules.ready(tools.cache.as_ref()))?;
            notes.extend(rules.note().map(Note::OfPack));
            let applied = facts.time("rules", || apply(&rules, fs::read(&ready)?, tools.told))?;
            // The process is about to end: taking an engine apart is a tenth of the work on a file of ordinary size.
            std::mem::forget(rules);
            applied
        }
    };
    if known.reasons.contains_key(UNKNOWN_LAYOUT) {
        return Ok(Compiled::Missed(UNKNOWN_LAYOUT));
    }
    let source = fs::read(&unit.source).map(|text| String::from_utf8_lossy(&text).into_owned());
    let asked = named(unnamed, &source.unwrap_or_default());
    if !asked.is_empty() {
        let definitions = facts.time("macros", || preprocessor(tools, build, unit, &path("macros"), &said));
        add_up(&mut known.calls, macros(&asked, &definitions.unwrap_or_default()));
    }
    if let (true, Some(text)) = (tools.validate, &text) {
        let vouched = facts.time("validation", || validated(fs::read_to_string(&ready)?, text, declared))?;
        notes.extend(vouched.map(|vouched| Note::Once(vouched.clone(), vouched)));
    }
    let ir = tools.keep.as_ref().map(|_| fs::read(&ready)).transpose()?;
    let ir = ir.map(|before| Ir { before, after: text.clone() });
    tools.keep.iter().zip(&ir).try_for_each(|(folder, ir)| ir.keep(folder, &unit.source))?;
    let input = match &text {
        Some(text) => {
            fs::write(&done, text)?;
            &done
        }
        None => &raw,
    };
    let mut back = Command::new(&tools.compiler);
    back.args(&build.options).args(["-Qunused-arguments", "-x", "ir", "-c"]).arg(input);
    back.arg("-o").arg(&made);
    if !facts.time("back end", || succeed(tools, &mut back, &said))?.stderr.is_empty() {
        // It can no longer show what it speaks of. The compiler says it better.
        return Ok(Compiled::Missed("a warning of the back end"));
    }
    let code = fs::read(&made).context("the back end gave nothing")?;
    put(&code, object, mode)?;
    let entry = Entry { facts: known.clone(), ir, functions, object: code };
    let is_kept = !includes_files(&fs::read(&ready)?);
    if let Some((cache, key)) = cache.zip(key).filter(|_| is_kept) {
        facts.time("cache", || cache.keep(key, &entry.write()));
    }
    let functions = entry.functions;
    known.seconds.extend(facts.seconds);
    Ok(Compiled::Object { facts: Box::new(known), said: front.stderr, notes, functions })
}

/// The macros that are defined at the end of a file, if the preprocessor can tell.
fn preprocessor(tools: &Tools, build: &Build, unit: &Unit, to: &Path, said: &Path) -> Option<String> {
    let mut command = Command::new(&tools.compiler);
    command.args(&build.options).args(["-Qunused-arguments", "-w", "-E", "-dM", "-o"]).arg(to).arg(&unit.source);
    output(tools, &mut command, said).ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&fs::read(to).ok()?).into_owned())
}

/// The changed functions do the same as the original ones, as far as runs and a solver show. Gives the verdicts
/// on functions that are left to the packs.
fn validated(before: String, after: &str, declared: BTreeSet<String>) -> Result<Option<String>> {
    let report = own_changes(&module::read(before)?, after, declared).context("what rules make cannot be compared")?;
    if let Some(verdict) = report.functions.iter().find(|verdict| verdict.counterexample.is_some()) {
        bail!("what rules make does something else: {verdict}");
    }
    let reasons = |verdict: &Verdict| verdict.reasons.iter().any(|reason| reason.starts_with(VOUCHED));
    let left: Vec<String> = report.functions.iter().filter(|v| reasons(v)).map(ToString::to_string).collect();
    Ok((!left.is_empty()).then(|| left.join("\n")))
}

/// Everything that the object depends on. Of a cache that machines share, nothing else: neither where programs and
/// sources are, nor options of which only the front end's output knows.
fn key(tools: &Tools, cache: &Cache, rules: &str, build: &Build, lowered: &[u8]) -> Result<Key> {
    let programs = [tools.compiler.as_os_str(), tools.opt.as_os_str()];
    let (rules, programs, options) = match cache.is_shared() {
        true => {
            let programs = programs.into_iter().map(|program| content(program, cache)).collect::<Result<_>>()?;
            (tools.rules.identity_of_content(cache)?, programs, of_the_back_end(&build.options))
        }
        false => (rules.to_string(), programs.map(identity).to_vec(), build.options.iter().collect()),
    };
    // An object that was not validated is not reused by a command that wants validation.
    let validated: &[u8] = if tools.validate { b"validated" } else { b"" };
    let mut parts: Vec<&[u8]> = vec![rules.as_bytes(), validated, lowered];
    parts.extend(programs.iter().map(String::as_bytes));
    parts.extend(options.iter().map(|o| o.as_bytes()));
    Ok(Key::of(VERSION, parts))
}

/// Options of the preprocessor, with a value beside them or in the same word.
const OF_THE_PREPROCESSOR: [&str; 9] =
    ["-idirafter", "-imacros", "-include", "-iprefix", "-iquote", "-isystem", "-D", "-I", "-U"];

/// Without what the back end never sees: what the preprocessor was told, and names of folders for debug information.
fn of_the_back_end(options: &[OsString]) -> Vec<&OsString> {
    let (mut left, mut words) = (vec![], options.iter());
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        match OF_THE_PREPROCESSOR.iter().find(|option| text.starts_with(**option)) {
            Some(option) if text == **option => drop(words.next()),
            Some(_) => {}
            None if text.starts_with("-f") && text.contains("-prefix-map=") => {}
            None => left.push(word),
        }
    }
    left
}

/// Do options mean another thing on another machine?
fn is_of_this_machine(build: &Build) -> bool {
    build.options.iter().any(|option| option.to_string_lossy().ends_with("=native"))
}

/// May the assembler read files? Their content is no part of a key.
fn includes_files(text: &[u8]) -> bool {
    let has = |directive: &[u8]| text.windows(directive.len()).any(|part| part == directive);
    has(b".incbin") || has(b".include")
}

/// Puts what was made in its place, whole. Where there is no room, there is none for the compiler either, which might
/// leave half a file.
fn put(content: &[u8], file: &Path, mode: fs::Permissions) -> Result<()> {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match place(file, content, mode) {
        Err(error) if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem) => {
            Err(Refused(format!("cannot write {}: {error}", file.display())).into())
        }
        other => other.with_context(|| format!("cannot write {}", file.display())),
    }
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
