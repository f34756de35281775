//! `rewright why-not`: what keeps a rule from matching in a function.

use super::input;
use super::language::Language;
use super::{Finding, opt, out, packs};
use anyhow::Result;
use rewright_pipeline::front::Imported;
use rewright_pipeline::why_not::MatchContext;
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
    let mut options = args.how.options_for(Language::of(&args.file), &program)?;
    options.log = true;
    let Some(input) = input::open(&args.file, program)? else { return Ok(Finding::Found) };
    let Imported { functions, universe } = input.import(&input::wanted(&args.file, &*input, args.function.as_deref())?);
    let optimiser = input.optimiser();
    let mut text = String::new();
    for function in functions {
        let (context, _) = MatchContext::new(optimiser, &universe, &function, &options, &[])?;
        for id in &rules {
            let rule = optimiser.program().rule(*id);
            let place = optimiser.program().sources.place(rule.span);
            let nearest = context.nearest(optimiser.program(), &universe, *id);
            text += &format!("{} ({}:{}) in {}: {nearest}\n", rule.name, place.file, place.line, function.name);
        }
    }
    out::result(&text);
    Ok(Finding::Clean)
}
