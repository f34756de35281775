//! `rewright why-not`: what keeps a rule from matching in a function.

use super::input;
use super::language::Input;
use super::{Finding, Format, opt, out, packs};
use anyhow::Result;
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::RuleId;
use rewright_pipeline::front::Imported;
use rewright_pipeline::why_not::{MatchContext, NearMiss};
use rewright_typeprop::{OpId, Term};
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
    let Some(program) = args.rules.load_for(&args.input.file)? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, &args.rule)?;
    let mut options = args.how.options_for(args.input.language(), &program)?;
    options.log = true;
    let Some(input) = input::open(&args.input.file, args.input.language(), program)? else { return Ok(Finding::Found) };
    let Imported { functions, universe, refused } =
        input.import(&input::wanted(&args.input.file, &*input, args.function.as_deref())?);
    let optimiser = input.optimiser();
    let options = input.options(&options);
    let (mut text, mut listed) = (String::new(), vec![]);
    for function in functions {
        let (context, _) = MatchContext::new(optimiser, &universe, &function, &options, &[])?;
        // Made for rules that took part.
        let mut graph = None;
        for id in &rules {
            let rule = optimiser.program().rule(*id);
            let place = optimiser.program().sources.place(rule.span);
            let nearest = context.nearest(optimiser.program(), &universe, *id);
            if nearest == NearMiss::Fired && graph.is_none() {
                graph = Some(optimiser.graph(&function, &universe, &options)?);
            }
            let made = graph.iter().flat_map(|graph| graph.marks.chosen_by(&rule.name)).count();
            let is_chosen = nearest == NearMiss::Fired && made > 0;
            let said = match is_chosen {
                true => format!("took part, and the cheapest program found has {} that it makes", count(made, "node")),
                false => nearest.to_string(),
            };
            let spoken_of = |op: &OpId| rule.terms().flat_map(Term::subterms).any(|term| calls(term, *op));
            let near = refused.iter().filter(|call| !is_chosen && call.function == function.name);
            let near: Vec<_> = near.filter(|call| call.declared.iter().any(spoken_of)).collect();
            listed.push(json!({
                "rule": rule.name, "file": place.file, "line": place.line, "function": function.name,
                "nearest": said, "chosen": is_chosen,
                "calls_not_taken": near.iter().map(|call| json!({ "callee": call.callee, "because": call.because }))
                    .collect::<Vec<_>>(),
            }));
            text += &format!("{} ({}:{}) in {}: {said}\n", rule.name, place.file, place.line, function.name);
            for call in near {
                text +=
                    &format!("  a call of {} is there, and is not the declared one: {}\n", call.callee, call.because);
            }
        }
        let is_about_loops = |id: &RuleId| optimiser.program().rule(*id).is_about_loops(&optimiser.program().universe);
        if rules.iter().any(is_about_loops) {
            let batch = optimiser.optimise(std::slice::from_ref(&function), &universe, &options);
            for outcome in &batch.outcomes {
                text.extend(opt::loops::lines(outcome).iter().map(|line| format!("  {line}\n")));
                let (loops, variants) = (&outcome.loops, opt::loops::variants_json(&outcome.variants));
                listed
                    .push(json!({ "function": function.name, "loops": opt::loops::json(loops), "variants": variants }));
            }
        }
    }
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", json!(listed)),
        Format::Text => text,
    });
    Ok(Finding::Clean)
}

fn calls(term: &Term, function: OpId) -> bool {
    matches!(term, Term::Call { op, .. } if *op == function)
}
