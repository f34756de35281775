//! `rewright why-not`: what keeps a rule from matching in a function.

use super::input;
use super::language::Input;
use super::{Finding, Format, opt, out, packs};
use anyhow::Result;
use rewright_pipeline::front::Imported;
use rewright_pipeline::why_not::MatchContext;
use serde_json::json;

/// Arguments of `why-not`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A rule: its name, or as much of the end of its qualified name as makes it one (`identities.iadd_zero`)
    rule: String,
    #[command(flatten)]
    input: Input,
    /// Only this function (with or without its `%` or `@`)
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    rules: packs::Rules,
    #[command(flatten)]
    how: opt::How,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, &args.rule)?;
    let mut options = args.how.options_for(args.input.language(), &program)?;
    options.log = true;
    let Some(input) = input::open(&args.input.file, args.input.language(), program)? else { return Ok(Finding::Found) };
    let Imported { functions, universe } =
        input.import(&input::wanted(&args.input.file, &*input, args.function.as_deref())?);
    let optimiser = input.optimiser();
    let (mut text, mut listed) = (String::new(), vec![]);
    for function in functions {
        let (context, _) = MatchContext::new(optimiser, &universe, &function, &options, &[])?;
        for id in &rules {
            let rule = optimiser.program().rule(*id);
            let place = optimiser.program().sources.place(rule.span);
            let nearest = context.nearest(optimiser.program(), &universe, *id);
            listed.push(json!({
                "rule": rule.name, "file": place.file, "line": place.line, "function": function.name,
                "nearest": nearest.to_string(),
            }));
            text += &format!("{} ({}:{}) in {}: {nearest}\n", rule.name, place.file, place.line, function.name);
        }
    }
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!(listed)),
        Format::Text => text,
    });
    Ok(Finding::Clean)
}
