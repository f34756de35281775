//! The packs and costs of a compilation: loaded when they are needed, and known by their texts before that.

use anyhow::{Context, Result};
use rewright_cfg_skeleton::select::{self, Method};
use rewright_dsl::diagnostic::Severity;
use rewright_dsl::load::Root;
use rewright_files::cache::{Cache, Key};
use rewright_files::store::digest;
use rewright_llvm::function_cache::FunctionCache;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_native::foreign::computed_with;
use rewright_packs as packs;
use rewright_pipeline::costs;
use rewright_pipeline::optimiser::{Lowered, Options};
use rewright_project::costs::Costs;
use rewright_project::settings;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

/// Packs by name or path, and what executing something costs, as `rewright opt` takes them.
#[derive(Clone, Debug)]
pub struct Rules {
    /// As commands take them; not empty.
    pub packs: Vec<PathBuf>,
    /// A cost profile that ships.
    pub profile: Option<String>,
    /// A configuration; by default the nearest one from the working directory upwards.
    pub config: Option<PathBuf>,
    /// How much work selection may be.
    pub budget: select::Budget,
    /// How far saturation may go.
    pub saturation: rewright_engine::Budget,
}

/// Rules that are ready for LLVM IR, and how to apply them.
pub struct Ready {
    /// The rules.
    pub optimiser: LlvmOptimiser,
    /// What things cost, and how a program is chosen.
    pub options: Options,
    /// Functions of the files that came before.
    pub known: FunctionCache,
}

impl Ready {
    /// Rules that have met no function.
    pub fn new(optimiser: LlvmOptimiser, options: Options) -> Self {
        Ready { optimiser, options, known: FunctionCache::default() }
    }

    /// A note on rules that do not match here, at the first of them.
    pub fn note(&self) -> Option<String> {
        let program = self.optimiser.optimiser.program();
        let libraries = computed_with(program);
        let first = libraries.values().min()?;
        let place = program.sources.place(program.rule(*first).span);
        let libraries: Vec<&str> = libraries.keys().map(String::as_str).collect();
        Some(format!(
            "{}:{}: note: rules that compute with functions of {} do not match: builds call no library",
            place.file,
            place.line,
            libraries.join(", ")
        ))
    }
}

/// What the user has to change before a file can be compiled with rules.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// What an identity is made of.
const VERSION: u32 = 3;

/// The path of a program; one that is named without a path is looked for as the system does.
pub(super) fn find(program: &OsStr) -> PathBuf {
    let named = Path::new(program);
    let found = match named.components().count() {
        1 => std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).map(|p| p.join(named)).find(|p| p.is_file())),
        _ => None,
    };
    found.unwrap_or_else(|| named.to_path_buf())
}

/// A program's path, size and time of change.
pub(super) fn identity(program: &OsStr) -> String {
    let path = find(program);
    let facts = fs::metadata(&path).ok();
    let size = facts.as_ref().map_or(0, fs::Metadata::len);
    let changed = facts.and_then(|f| f.modified().ok()).and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    format!("{} {size} {}", path.display(), changed.map_or(0, |t| t.as_nanos()))
}

/// A program by its content and by what it says of its version, which also tells what its libraries are; where it is
/// does not matter. Both are kept here for as long as its file does not change.
pub(super) fn content(program: &OsStr, cache: &Cache) -> Result<String> {
    let key = Key::of(VERSION, [b"program".as_slice(), identity(program).as_bytes()]);
    if let Some(known) = cache.find_here(key).and_then(|known| String::from_utf8(known).ok()) {
        return Ok(known);
    }
    let path = find(program);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {}", path.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    // Where it is installed.
    let said: Vec<&str> = said.lines().filter(|line| !line.starts_with("InstalledDir")).collect();
    let sum = digest(&bytes);
    let content = format!("{sum} {}", said.join("\n"));
    cache.keep_here(key, content.as_bytes());
    Ok(content)
}

impl Rules {
    /// The packs and costs, as options name them.
    pub fn words(&self) -> String {
        let packs = self.packs.iter().map(|pack| format!("--rules {}", pack.display()));
        let profile = self.profile.iter().map(|profile| format!("--profile {profile}"));
        let config = self.config.iter().map(|config| format!("--config {}", config.display()));
        packs.chain(profile).chain(config).collect::<Vec<_>>().join(" ")
    }

    fn roots(&self) -> Result<Vec<Root>> {
        self.packs.iter().map(|pack| packs::root(pack).map_err(|error| Refused(error.to_string()).into())).collect()
    }

    /// The files that say what rules do: the packs, all that they import, and a configuration with costs. Files that
    /// are not there are left out.
    pub fn files(&self) -> Vec<PathBuf> {
        let roots = self.packs.iter().filter_map(|pack| packs::root(pack).ok()).collect();
        let mut files = packs::files(roots);
        let config = self.config.as_deref();
        if settings::costs(config).is_ok_and(|costs| costs != Costs::default()) {
            files.extend(settings::file(config).ok().flatten());
        }
        files
    }

    /// What decides the result of rules on a text: this program, the texts of the packs and all that they import, and
    /// what costs are taken from, and how much work selection may be.
    ///
    /// # Errors
    /// Where a pack or a configuration is not there.
    pub fn identity(&self) -> Result<String> {
        self.identity_with(&identity(std::env::current_exe().context("no path of our own")?.as_os_str()))
    }

    /// The same for whatever program.
    ///
    /// # Errors
    /// As [`Self::identity`].
    pub fn identity_of_packs(&self) -> Result<String> {
        self.identity_with("")
    }

    /// The same on every machine that has this program and these texts.
    ///
    /// # Errors
    /// As [`Self::identity`].
    pub fn identity_of_content(&self, cache: &Cache) -> Result<String> {
        let own = std::env::current_exe().context("no path of our own")?;
        self.identity_with(&content(own.as_os_str(), cache)?)
    }

    fn identity_with(&self, program: &str) -> Result<String> {
        let costs = settings::costs(self.config.as_deref())?;
        let how = format!("{:?} {:?} {:?} {:?}", self.profile, costs, self.budget, self.saturation);
        let texts = packs::texts(self.roots()?);
        let parts = [program, &how].into_iter().chain(texts.iter().map(String::as_str)).map(str::as_bytes);
        Ok(Key::of(VERSION, parts).to_string())
    }

    /// The rules, ready for LLVM IR. A cache has them lowered, if an earlier run of this program has met the same texts.
    ///
    /// # Errors
    /// Where a pack or a configuration is not there, or has mistakes other than in its examples.
    pub fn ready(&self, cache: Option<&Cache>) -> Result<Ready> {
        let lowered = self.lowered(cache)?;
        let said = settings::costs(self.config.as_deref())?;
        let cost = costs::model_for_llvm(&said, self.profile.as_deref(), &lowered.program.universe)?;
        let usual = Options::default();
        let select = select::Options { method: Method::Auto, cost, budget: self.budget, ..usual.select };
        let options = Options { select, budget: self.saturation.clone(), ..usual };
        Ok(Ready::new(LlvmOptimiser::of(lowered), options))
    }

    /// The packs' program, checked and lowered for LLVM IR.
    fn lowered(&self, cache: Option<&Cache>) -> Result<Lowered> {
        let kept = cache.map(|cache| anyhow::Ok((cache, self.lowered_key()?))).transpose()?;
        let found = kept.and_then(|(cache, key)| Lowered::from_bytes(&cache.find_here(key)?));
        if let Some(found) = found {
            return Ok(found);
        }
        let loaded = packs::load_rules(self.roots()?);
        if let Some(error) = loaded.diagnostics.iter().find(|d| d.severity == Severity::Error) {
            let place = loaded.sources.place(error.primary.span);
            let at = format!("{}:{}", place.file, place.line);
            let text = format!("{at}: the packs have mistakes (`rewright check` shows them): {}", error.message);
            return Err(Refused(text).into());
        }
        let lowered = LlvmOptimiser::lower(loaded.program);
        if let (Some((cache, key)), Some(bytes)) = (kept, lowered.to_bytes()) {
            cache.keep_here(key, &bytes);
        }
        Ok(lowered)
    }

    /// All that lowered rules depend on: this program, the texts of packs, and, for what is said of places in them, where
    /// they are.
    fn lowered_key(&self) -> Result<Key> {
        let own = identity(std::env::current_exe().context("no path of our own")?.as_os_str());
        let here = std::env::current_dir().context("no working directory")?;
        let places = std::iter::once(&here).chain(&self.packs).map(|path| path.as_os_str().as_encoded_bytes());
        let texts = packs::texts(self.roots()?);
        let parts = [b"lowered".as_slice(), own.as_bytes()].into_iter().chain(places);
        Ok(Key::of(VERSION, parts.chain(texts.iter().map(String::as_bytes))))
    }
}
