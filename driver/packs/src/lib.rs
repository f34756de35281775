//! Where packs come from: files that the user names, what they import, and the packs that ship in the binary. A name
//! that is neither is looked for in the project around the working directory ([`rewright_project`]).

mod analysis;
mod error;
mod evidence;
mod finder;
mod imports;
mod shipped;

pub use analysis::{Analysis, analyse};
pub use error::PackError;
pub use evidence::{EVIDENCE, Evidence, evidence, evidence_of};

use finder::Finder;
use rewright_dsl::diagnostic::{Diagnostic, Severity, Sources};
use rewright_dsl::load::{Origin, Resolver, Root, Trees};
use rewright_dsl::program::{Program, Schedule, ScheduleStep, StepLimits};
use rewright_dsl::renamed::present_name;
use rewright_dsl::{check, load};
use rewright_project::Project;
use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pack that a command uses where none is named.
pub const DEFAULT: &str = "std";

/// The schedule that runs where none is named: the default schedules of all roots, one after the other.
pub const SCHEDULE: &str = "default";

/// What runs on functions of a module before calls are inlined, and after: schedules of the roots that say so
/// (`schedule s at before_inlining`), and default schedules that do not say where they run.
pub const BEFORE_INLINING: &str = "default at before_inlining";
/// See [`BEFORE_INLINING`].
pub const AFTER_INLINING: &str = "default at after_inlining";

/// What is known of pointers that packs name.
const POINTERS: &str = "std.pointers.known";

/// Does a schedule run at a point, or (where there are no points) at all?
fn runs(name: &str, schedule: &Schedule, pack: &str, point: Option<&str>) -> bool {
    let Some(own) = name.strip_prefix(pack) else { return false };
    match (point, schedule.at.as_deref()) {
        (None, at) => own == "default" || at.is_some(),
        (Some(_), None) => own == "default",
        (Some(point), Some(at)) => at == point,
    }
}

/// A library that is named by a path is found from its pack's folder. A library that a shipped pack names may be
/// called; no other pack counts as that pack by its name, only by its text.
fn resolve_links(files: &[check::ParsedFile], sources: &Sources, program: &mut Program) {
    for op in program.universe.ops.iter_mut() {
        let Some(link) = &mut op.link else { continue };
        let mut declaring = files.iter().filter(|f| f.pack == op.pack);
        let (Some(file), None) = (declaring.next(), declaring.next()) else { continue };
        if link.library.contains('/') {
            let folder = Path::new(&file.path).parent().filter(|p| !p.as_os_str().is_empty());
            let library = folder.unwrap_or(Path::new(".")).join(&link.library);
            link.library = library.components().collect::<PathBuf>().display().to_string();
        }
        let mut texts = sources.files.iter().filter(|(name, _)| *name == file.path).map(|(_, text)| text.as_str());
        link.allowed = texts.next().is_some_and(ships) && texts.next().is_none();
    }
}

/// The same program where every schedule runs what is known of pointers first, as a program in C wants it: examples run
/// under schedules of packs, which leave that to the code that loads them.
pub fn for_c(mut program: Program) -> Program {
    let mut schedules = std::mem::take(&mut program.schedules);
    schedules.values_mut().for_each(|schedule| take_pointers(&program, &mut schedule.steps));
    Program { schedules, ..program }
}

/// Runs what is known of pointers first, where functions of C take those that packs name, unless a schedule does.
fn take_pointers(program: &Program, steps: &mut Vec<ScheduleStep>) {
    fn runs(steps: &[ScheduleStep]) -> bool {
        steps.iter().any(|step| match step {
            ScheduleStep::Run { ruleset, .. } | ScheduleStep::Saturate { ruleset, .. } => ruleset == POINTERS,
            ScheduleStep::Repeat { steps, .. } => runs(steps),
        })
    }
    if program.rulesets.contains_key(POINTERS) && !runs(steps) {
        steps.insert(0, ScheduleStep::Run { ruleset: POINTERS.into(), limits: StepLimits::default() });
    }
}

/// Is this the text of a pack that ships?
fn ships(text: &str) -> bool {
    shipped::FILES.values().any(|file| file == text)
}

/// The text of a file that ships, by its path: `std/arith.rw`, `profiles/size.json`.
pub fn embedded(path: &str) -> Option<&'static str> {
    shipped::FILES.get(path).map(AsRef::as_ref)
}

/// The names of the files in a folder that ships, sorted.
pub fn shipped(folder: &str) -> Vec<String> {
    let inside = |path: &String| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_string);
    shipped::FILES.keys().filter_map(inside).filter(|name| !name.contains('/')).collect()
}

/// The packs that ship, by the names that commands take.
pub fn shipped_names() -> Vec<String> {
    let mut names: Vec<String> =
        shipped::FILES.keys().filter_map(|path| Some(path.strip_suffix(".rw")?.replace('/', "."))).collect();
    names.sort();
    names
}

/// A root from the command line: a file, the name of a pack that ships (`std`, `std.arith`), or that of a pack of the
/// project around the working directory (`acme.linear`).
///
/// # Errors
/// When there is no such file or it cannot be read, or the project has mistakes.
pub fn root(name: &Path) -> Result<Root, PackError> {
    let shown = name.display().to_string();
    let shown = present_name(&shown).filter(|_| !name.exists()).unwrap_or(shown);
    let shipped = format!("{}.rw", shown.replace('.', "/"));
    if !name.exists()
        && let Some(text) = embedded(&shipped)
    {
        return Ok(Root { origin: Origin::Std(shipped), text: text.into(), library: true });
    }
    if !name.exists()
        && let Some(path) = imported(&shown)?
    {
        return root(&path);
    }
    let bytes = std::fs::read(name).map_err(|e| match e.kind() {
        ErrorKind::NotFound => PackError::Missing(shown.clone(), e, shipped_names()),
        _ => PackError::Unreadable(shown.clone(), e),
    })?;
    let text =
        String::from_utf8(bytes).map_err(|e| PackError::Encoding(shown.clone(), e.utf8_error().valid_up_to()))?;
    Ok(Root { origin: Origin::Disk(shown), text, library: false })
}

/// The file of a pack that the project around the working directory knows by this name.
fn imported(name: &str) -> Result<Option<PathBuf>, PackError> {
    let is_name = name.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let is_file = name.ends_with(".rw");
    if !is_name || is_file {
        return Ok(None);
    }
    let find = || Project::here()?.map_or(Ok(None), |project| project.import(name));
    Ok(find().map_err(Arc::new)?)
}

/// The texts of packs and of all that they import, unchecked: with the same program, the same texts give the same
/// rules. Packs that ship are part of the program, and known by their names.
pub fn texts(mut roots: Vec<Root>) -> Vec<String> {
    let mut texts = vec![];
    // A debug build reads what ships from the source tree.
    if cfg!(debug_assertions) {
        texts.extend(shipped::FILES.values().map(ToString::to_string));
    }
    for root in &mut roots {
        texts.push(match &root.origin {
            Origin::Std(path) => {
                root.text.clear();
                path.clone()
            }
            Origin::Disk(_) => root.text.clone(),
        });
    }
    let mut finder = OnDisk(Finder::of(&roots, &|_| None));
    load::load(roots, &mut finder);
    texts.extend(finder.0.on_disk.into_iter().map(|(_, text)| text));
    texts
}

/// The files of packs and of all that they import, except for packs that ship.
pub fn files(roots: Vec<Root>) -> Vec<PathBuf> {
    let named = roots.iter().filter(|root| matches!(root.origin, Origin::Disk(_)));
    let mut files: Vec<PathBuf> = named.map(|root| root.origin.path().into()).collect();
    let mut finder = OnDisk(Finder::of(&roots, &|_| None));
    load::load(roots, &mut finder);
    files.extend(finder.0.on_disk.into_iter().map(|(path, _)| path.into()));
    files
}

/// Finds packs on disk alone: those that ship import no others, so that their texts need not be read.
struct OnDisk<'o>(Finder<'o>);

impl Resolver for OnDisk<'_> {
    fn locate(&mut self, importer: &Origin, import: &str) -> Origin {
        self.0.locate(importer, import)
    }

    fn read(&mut self, origin: &Origin) -> Result<String, Box<dyn Error>> {
        match origin {
            Origin::Std(_) => Ok(String::new()),
            Origin::Disk(_) => self.0.read(origin),
        }
    }
}

/// Packs and all that they import, checked.
pub struct Packs {
    /// What they say. Usable if no diagnostic is an error.
    pub program: Program,
    /// Their texts.
    pub sources: Sources,
    /// Their mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the packs that were asked for, not only imported.
    pub roots: Vec<String>,
}

/// Loads and checks packs.
pub fn load(roots: Vec<Root>) -> Packs {
    load_as(roots, check::check)
}

/// Loads packs whose rules are to be applied: all that [`load()`] says, except for lints and what is in the examples of
/// packs that ship.
pub fn load_applied(roots: Vec<Root>) -> Packs {
    load_for(roots, "")
}

/// The same for a program: lists have the lengths that the calls of its text need.
pub fn load_for(roots: Vec<Root>, text: &str) -> Packs {
    load_as(roots, |files| check::check_applied(files, check::Calls::of(text)))
}

/// Loads packs whose rules alone are wanted: examples and tests are left out, and not checked for mistakes.
pub fn load_rules(roots: Vec<Root>) -> Packs {
    load_as(roots, check::check_rules)
}

fn load_as(roots: Vec<Root>, check: impl Fn(&[check::ParsedFile]) -> (Program, Vec<Diagnostic>)) -> Packs {
    let check = |files: &[check::ParsedFile]| {
        let (program, diagnostics) = check(files);
        (program, diagnostics, ())
    };
    load_from(roots, &|_| None, &Trees::default(), check).0
}

/// Where an import of a file leads, as far as the file system knows.
pub fn locate(importer: &Origin, import: &str) -> Origin {
    Finder::of(&[], &|_| None).locate(importer, import)
}

/// Loads packs, some of which are open elsewhere, and gives what else checking them says.
fn load_from<T>(
    roots: Vec<Root>,
    open: &dyn Fn(&str) -> Option<String>,
    trees: &Trees,
    check: impl Fn(&[check::ParsedFile]) -> (Program, Vec<Diagnostic>, T),
) -> (Packs, T) {
    let checked = |roots: Vec<Root>| {
        let mut finder = Finder::of(&roots, open);
        let mut loaded = load::load_with(roots, &mut finder, trees);
        let (program, found, more) = check(&loaded.files);
        loaded.diagnostics.extend(found);
        (loaded, program, more)
    };
    let (loaded, mut program, more) = checked(roots.clone());
    let mut diagnostics = loaded.diagnostics;
    let errors = |found: &[Diagnostic]| found.iter().filter(|found| found.severity == Severity::Error).count();
    let before = errors(&diagnostics);
    imports::suggest(&mut diagnostics, &loaded.sources, |fix| {
        let (_, text) = loaded.sources.files.get(fix.span.file as usize)?;
        let mut fixed_roots = roots.clone();
        let root = fixed_roots.iter_mut().find(|root| root.text == *text)?;
        root.text.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.replacement);
        Some(errors(&checked(fixed_roots).0.diagnostics) < before)
    });
    let roots = loaded.files.iter().filter(|f| f.root).map(|f| f.pack.clone()).collect();
    for (name, point) in
        [(SCHEDULE, None), (BEFORE_INLINING, Some("before_inlining")), (AFTER_INLINING, Some("after_inlining"))]
    {
        let mut steps = vec![];
        let mut span = None;
        for pack in loaded.files.iter().filter(|f| f.root).map(|f| &f.pack) {
            let own = format!("{pack}.");
            for (_, schedule) in program.schedules.iter().filter(|(name, s)| runs(name, s, &own, point)) {
                steps.extend(schedule.steps.iter().cloned());
                span.get_or_insert(schedule.span);
            }
        }
        if let Some(span) = span {
            take_pointers(&program, &mut steps);
            program.schedules.insert(name.into(), Schedule { at: None, steps, span });
        }
    }
    resolve_links(&loaded.files, &loaded.sources, &mut program);
    program.sources = Arc::new(loaded.sources.clone());
    (Packs { program, sources: loaded.sources, diagnostics, roots }, more)
}
