//! `rewright why-not`: what keeps a rule from matching in a function.

use super::units::{Units, units};
use super::{Finding, opt, out, packs};
use crate::near::near;
use anyhow::Result;
use rewright_cfg_skeleton::ir::normalise::normalise;
use std::path::PathBuf;

/// Arguments of `why-not`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A rule: its name, or as much of the end of its qualified name as makes it one (`identities.iadd_zero`)
    rule: String,
    /// A CLIF file, a file of textual LLVM IR (`.ll`), or a module of Rewright's own text (`.ir`)
    file: PathBuf,
    /// Only this function (with or without its `%` or `@`)
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, &args.rule)?;
    let mut options = args.how.options(&program)?;
    options.log = true;
    let Some(units) = units(&args.file, program, args.function.as_deref())? else { return Ok(Finding::Found) };
    let Units { optimiser, universe, functions } = units;
    let mut text = String::new();
    for mut function in functions {
        normalise(&mut function);
        let skeleton = optimiser.build(&function, &universe).1;
        let view = optimiser.saturate_one(&skeleton.input, &universe.types, &options)?;
        for id in &rules {
            let rule = optimiser.program().rule(*id);
            let place = optimiser.program().sources.place(rule.span);
            text += &format!("{} ({}:{}) in {}: ", rule.name, place.file, place.line, function.name);
            let fired = view.applications.iter().any(|a| a.rule == id.0);
            let nearest = near(optimiser.program(), &universe, rule, &skeleton, &view);
            text += &match nearest {
                _ if fired => "took part; where its result is not chosen, something else costs no more\n".to_string(),
                None => "there is no operation like the root of its left side\n".to_string(),
                Some(near) => match near.miss {
                    Some(miss) => format!("at {}:\n  {miss}\n", near.at),
                    None => format!("matches {}, and adds nothing that is not known already\n", near.at),
                },
            };
        }
    }
    out::result(&text);
    Ok(Finding::Clean)
}
