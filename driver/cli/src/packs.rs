//! Loading the packs that a command was given, with their diagnostics on stderr.

use super::language::{Input, Language};
use super::{out, project, sources};
use anyhow::{Context, Result, bail};
use rewright_dsl::check::CUT_SHORT;
use rewright_dsl::diagnostic::{Diagnostic, Severity, Sources, render};
use rewright_dsl::load::{Origin, Root, Trees};
use rewright_dsl::nearest::nearest;
use rewright_dsl::program::{Program, RuleId, base_name};
use rewright_dsl::renamed;
use rewright_dsl::syntax::ast::{Item, ItemKind};
use rewright_dsl::syntax::parse;
use rewright_native::foreign::{Listener, Unanswered};
use rewright_native::permission::grants::{Granted, Grants};
use rewright_native::permission::{self, Allowed};
use rewright_packs as packs;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Which rules to use.
#[derive(clap::Args, Clone)]
pub(super) struct Rules {
    /// A pack (`mine.rw`), one that ships (`std`, `std.arith`), or one that the project knows (`acme.linear`);
    /// repeatable [default: those of `rewright.toml`, or `std`]
    #[arg(long = "rules", value_name = "PACK")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    calls: Calls,
}

impl Rules {
    /// One pack instead of these.
    pub(super) fn with(&self, pack: PathBuf) -> Self {
        Rules { rules: vec![pack], calls: self.calls.clone() }
    }

    /// One pack more.
    ///
    /// # Errors
    /// A project file that cannot be read.
    pub(super) fn and(&self, pack: PathBuf) -> Result<Self> {
        let mut rules = self.roots()?;
        if !rules.contains(&pack) {
            rules.push(pack);
        }
        Ok(Rules { rules, calls: self.calls.clone() })
    }

    /// The packs.
    fn roots(&self) -> Result<Vec<PathBuf>> {
        applied(&self.rules)
    }

    /// The program that the packs make, for applying its rules: packs that ship come without their examples. `None`
    /// where the packs have mistakes, which are on stderr then.
    pub(super) fn load(&self) -> Result<Option<Program>> {
        self.load_with(packs::load_applied)
    }

    /// The same for a file: functions that take lists take those of its calls.
    pub(super) fn load_for(&self, input: &Input) -> Result<Option<Program>> {
        // An input that cannot be read is reported where it is read as what it is.
        let text = sources::bytes(&input.file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        self.needed_by(input.language())?.load_with(|roots| packs::load_for(roots, &text))
    }

    /// With what functions of a language are written in.
    ///
    /// # Errors
    /// A project file that cannot be read.
    pub(super) fn needed_by(&self, language: Language) -> Result<Cow<'_, Self>> {
        Ok(match language {
            Language::Mlir => Cow::Owned(self.and(rewright_mlir::HEAP.into())?),
            Language::Clif | Language::Llvm | Language::Own => Cow::Borrowed(self),
        })
    }

    fn load_with(&self, load: impl FnOnce(Vec<Root>) -> packs::Packs) -> Result<Option<Program>> {
        let roots = self.roots()?;
        sound_as(&roots, load)?.map(|packs| self.linked(packs.program, &roots)).transpose()
    }

    /// Does the command line name any?
    pub(super) fn are_named(&self) -> bool {
        !self.rules.is_empty()
    }

    /// See [`say_without_std`].
    pub(super) fn say_without_std(&self) {
        say_without_std(&self.rules);
    }

    /// The same with all examples.
    pub(super) fn load_with_examples(&self) -> Result<Option<Program>> {
        let roots = self.roots()?;
        sound(&roots)?.map(|packs| self.linked(packs.program, &roots)).transpose()
    }

    /// With functions of libraries; says once of each call that is not answered.
    fn linked(&self, program: Program, roots: &[PathBuf]) -> Result<Program> {
        let said = Mutex::new(BTreeSet::new());
        let say_once = move |unanswered: Unanswered| {
            if said.lock().is_ok_and(|mut said| said.insert(unanswered.clone())) {
                out::note(&format!("note: {unanswered}"));
            }
        };
        let listener: Listener = Arc::new(say_once);
        self.calls.linked(program, roots, &listener)
    }
}

/// Says that rules that ship are not applied, where packs are named and none of them ships.
pub(super) fn say_without_std(named: &[PathBuf]) {
    let name = |pack: &PathBuf| pack.to_string_lossy().into_owned();
    let ships = |pack: &PathBuf| !pack.exists() && (name(pack) == packs::DEFAULT || name(pack).starts_with("std."));
    if !named.is_empty() && !named.iter().any(ships) {
        out::note(
            "note: only the rules of the packs named by `--rules` are applied; `--rules std` adds those that ship",
        );
    }
}

/// The packs that a command line names, or those that the project applies, or the ones that ship.
pub(super) fn applied(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let rules = project::here()?.and_then(|project| project.rules());
    Ok(rules.unwrap_or_else(|| vec![packs::DEFAULT.into()]))
}

/// Whose code may be called.
#[derive(clap::Args, Clone)]
pub(super) struct Calls {
    /// Let packs call functions that they name in this library: a file by its path (`./lib.so`), or what the system
    /// finds under a name (`libfoo.so.1`); repeatable. `rewright allow` does so for good. See SECURITY.md
    #[arg(long = "allow-link", value_name = "LIB")]
    allow_link: Vec<String>,
}

impl Calls {
    /// The same program with functions of those shared libraries that are allowed as what its rules may compute. The
    /// listener is told of calls that were not answered.
    pub(super) fn linked(&self, mut program: Program, roots: &[PathBuf], listener: &Listener) -> Result<Program> {
        let own = std::env::current_exe().context("cannot find this program's own file")?;
        let mut allowed = Allowed::default();
        for library in &self.allow_link {
            allowed.add(library)?;
        }
        for library in allowed.unused(&program) {
            out::note(&format!("note: no pack here names a function of {library}, which is allowed to be called"));
        }
        allowed.grant(&mut program);
        if !permission::refused(&program).is_empty() {
            let Granted { allowed, outdated } = Grants::load()?.of(&read(roots)?);
            for pack in outdated {
                let pack = pack.display();
                out::note(&format!(
                    "note: the permission of {pack} to call libraries is not used: it was given before {pack}, or a \
                     pack \
                     that it imports, has changed; `rewright allow {pack}` gives it again"
                ));
            }
            allowed.grant(&mut program);
        }
        rewright_native::foreign::register(&mut program.universe, own, listener);
        Ok(program)
    }
}

/// Reads the packs that a user names, with a warning at each former name.
fn read_named(roots: &[PathBuf]) -> Result<Vec<Root>> {
    roots.iter().filter(|root| !root.exists()).for_each(|root| {
        present(&root.to_string_lossy());
    });
    let read = read(roots)?;
    out::detail(|| {
        let name = |root: &Root| match &root.origin {
            Origin::Std(path) => format!("{path} (ships with Rewright)"),
            Origin::Disk(path) => path.clone(),
        };
        format!("packs: {}", read.iter().map(name).collect::<Vec<_>>().join(", "))
    });
    Ok(read)
}

fn read(roots: &[PathBuf]) -> Result<Vec<Root>> {
    roots.iter().map(|root| one(root)).collect()
}

/// A pack that a user names; `-` is one on standard input, whose imports are found from the working directory.
fn one(root: &Path) -> Result<Root> {
    if !sources::is_dash(root) {
        return Ok(packs::root(root)?);
    }
    Ok(Root { origin: Origin::Disk("-".into()), text: sources::read(root)?, library: false })
}

/// Loads and checks packs and all that they import.
pub(super) fn load(roots: &[PathBuf]) -> Result<packs::Packs> {
    load_with(roots, |_| None)
}

/// The same, with other texts for some of the packs than their files have.
pub(super) fn load_with(roots: &[PathBuf], text: impl Fn(&PathBuf) -> Option<String>) -> Result<packs::Packs> {
    let mut read = read_named(roots)?;
    for (root, path) in read.iter_mut().zip(roots) {
        root.text = text(path).unwrap_or(std::mem::take(&mut root.text));
    }
    Ok(packs::load(read))
}

/// The same where they have no mistakes; else these are on stderr.
pub(super) fn sound(roots: &[PathBuf]) -> Result<Option<packs::Packs>> {
    sound_as(roots, packs::load)
}

/// The same, with what all names mean.
pub(super) fn sound_analysis(roots: &[PathBuf]) -> Result<Option<packs::Analysis>> {
    let mut names = None;
    let packs = sound_as(roots, |roots| {
        let analysis = packs::analyse(roots, &|_| None, &Trees::default());
        names = Some(analysis.index);
        analysis.packs
    })?;
    Ok(packs.zip(names).map(|(packs, index)| packs::Analysis { packs, index }))
}

fn sound_as(roots: &[PathBuf], load: impl FnOnce(Vec<Root>) -> packs::Packs) -> Result<Option<packs::Packs>> {
    let packs = load(read_named(roots)?);
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let shown = packs.diagnostics.iter().filter(|d| is_error(d) || [renamed::CODE, CUT_SHORT].contains(&d.code));
    print(&packs.sources, &shown.cloned().collect::<Vec<_>>());
    Ok((!packs.diagnostics.iter().any(|d| is_error(&d))).then_some(packs))
}

/// The present name of what a user names, with a warning where it was given by a former one.
fn present(name: &str) -> Cow<'_, str> {
    match renamed::present_name(name) {
        None => Cow::Borrowed(name),
        Some(present) => {
            out::note(&format!("warning: {}", renamed::warning(name, &present)));
            Cow::Owned(present)
        }
    }
}

/// The rules that one name in a pack stands for, given whole or by its end.
pub(super) fn rules_named(program: &Program, name: &str) -> Result<Vec<RuleId>> {
    rules_or(program, name, "rule", std::iter::empty())
}

/// The same where other names were possible, too, and are offered where one is misspelt.
pub(super) fn rules_or<'n>(
    program: &'n Program,
    name: &str,
    what: &str,
    others: impl Iterator<Item = &'n str>,
) -> Result<Vec<RuleId>> {
    let name = &*present(name);
    let ids = (0..program.rules.len() as u32).map(RuleId);
    let base = |id: RuleId| base_name(&program.rule(program.rule(id).family).name);
    let fits = |id: &RuleId| {
        let own = program.rule(*id).name.as_str();
        [own, base(*id)].iter().any(|full| *full == name || full.ends_with(&format!(".{name}")))
    };
    let found: Vec<RuleId> = ids.filter(fits).collect();
    let mut families: Vec<&str> = found.iter().map(|id| base(*id)).collect();
    families.dedup();
    match families[..] {
        [_] => Ok(found),
        [] if is_written(program, name) => bail!(
            "`{name}` is a rule about lists, and neither the packs nor the input call a function that it is about: it stands \
             for no rule here"
        ),
        [] => {
            // As much of a name's end as is given here.
            let end =
                |full: &'_ str| full.rmatch_indices('.').nth(name.matches('.').count()).map_or(0, |(at, _)| at + 1);
            let ends = program.rules.iter().filter(|rule| !rule.law).map(|rule| &rule.name[end(&rule.name)..]);
            let near = nearest(name, ends.chain(others)).map_or(String::new(), |near| format!("did you mean {near}? "));
            bail!(
                "no {what} is called `{name}`; {near}`--rules` says in which packs to look, `rewright doc` lists their \
                 rules"
            )
        }
        _ => bail!("several rules are called {name}: {}", families.join(", ")),
    }
}

/// Does a pack have a rule of this name? One about lists stands for no rule where no list has a length.
fn is_written(program: &Program, name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_rule = |item: &Item| matches!(&item.kind, ItemKind::Rule(rule) if rule.name.node == last);
    let has = |item: &Item| match &item.kind {
        ItemKind::Ruleset { items, .. } => items.iter().any(is_rule),
        _ => is_rule(item),
    };
    program.sources.files.iter().any(|(_, text)| parse(0, text).0.items.iter().any(has))
}

/// Prints diagnostics to stderr, in colour on a terminal.
pub(super) fn print(files: &Sources, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        out::report(&render(diagnostics, files, out::colour()));
    }
}
