//! Loading the packs that a command was given, with their diagnostics on stderr.

use super::out;
use crate::packs;
use anyhow::{Context, Result, anyhow, bail};
use rewright_dsl::check::nearest;
use rewright_dsl::diagnostic::{Diagnostic, Severity, Sources, render};
use rewright_dsl::load::Root;
use rewright_dsl::program::{Program, RuleId};
use std::path::PathBuf;

/// Which rules to use.
#[derive(clap::Args, Clone)]
pub(super) struct Rules {
    /// A pack (`mine.rw`), or one that ships (`std`, `std.arith`); repeatable
    #[arg(long = "rules", value_name = "PACK", default_value = packs::DEFAULT)]
    rules: Vec<PathBuf>,
}

impl Rules {
    /// One pack.
    pub(super) fn of(pack: PathBuf) -> Self {
        Rules { rules: vec![pack] }
    }

    /// The program that the packs make, for applying its rules: packs that ship come without their examples. `None`
    /// where the packs have mistakes, which are on stderr then.
    pub(super) fn load(&self) -> Result<Option<Program>> {
        sound_as(&self.rules, packs::load_applied)?.map(|packs| linked(packs.program)).transpose()
    }

    /// The same with all examples.
    pub(super) fn load_with_examples(&self) -> Result<Option<Program>> {
        sound(&self.rules)?.map(|packs| linked(packs.program)).transpose()
    }
}

/// The same program with functions of shared libraries as what its rules may compute.
pub(super) fn linked(mut program: Program) -> Result<Program> {
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    crate::linked::register(&mut program.universe, own);
    Ok(program)
}

/// Loads and checks packs and all that they import.
pub(super) fn load(roots: &[PathBuf]) -> Result<packs::Packs> {
    load_as(roots, packs::load)
}

fn load_as(roots: &[PathBuf], load: fn(Vec<Root>) -> packs::Packs) -> Result<packs::Packs> {
    let roots = roots.iter().map(|r| packs::root(r)).collect::<Result<_, _>>().map_err(|e| anyhow!(e))?;
    Ok(load(roots))
}

/// The same where they have no mistakes; else these are on stderr.
pub(super) fn sound(roots: &[PathBuf]) -> Result<Option<packs::Packs>> {
    sound_as(roots, packs::load)
}

fn sound_as(roots: &[PathBuf], load: fn(Vec<Root>) -> packs::Packs) -> Result<Option<packs::Packs>> {
    let packs = load_as(roots, load)?;
    let errors: Vec<_> = packs.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    print(&packs.sources, &errors);
    Ok(errors.is_empty().then_some(packs))
}

/// The rules that one name in a pack stands for, given whole or by its end.
pub(super) fn rules_named(program: &Program, name: &str) -> Result<Vec<RuleId>> {
    let ids = (0..program.rules.len() as u32).map(RuleId);
    let base = |id: RuleId| program.rule(program.rule(id).family).name.as_str();
    let fits = |id: &RuleId| {
        let own = program.rule(*id).name.as_str();
        [own, base(*id)].iter().any(|full| *full == name || full.ends_with(&format!(".{name}")))
    };
    let found: Vec<RuleId> = ids.filter(fits).collect();
    let mut families: Vec<&str> = found.iter().map(|id| base(*id)).collect();
    families.dedup();
    match families[..] {
        [_] => Ok(found),
        [] => {
            // As much of a name's end as is given here.
            let end =
                |full: &'_ str| full.rmatch_indices('.').nth(name.matches('.').count()).map_or(0, |(at, _)| at + 1);
            let ends = program.rules.iter().filter(|rule| !rule.law).map(|rule| &rule.name[end(&rule.name)..]);
            let near = nearest(name, ends).map_or(String::new(), |near| format!("did you mean {near}? "));
            bail!(
                "no rule is called {name}; {near}`--rules` says in which packs to look, `rewright doc` lists their rules"
            )
        }
        _ => bail!("several rules are called {name}: {}", families.join(", ")),
    }
}

/// Prints diagnostics to stderr, in colour on a terminal.
pub(super) fn print(files: &Sources, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        out::note(&render(diagnostics, files, out::colour()));
    }
}
