//! `rewright explain`: what a diagnostic code means and what to do about it; what a rule says, and what speaks for it.

use super::{Finding, Format, out, packs};
use anyhow::{Result, bail};
use rewright_dsl::codes::Code;
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::{Program, RuleId};
use serde_json::json;

/// Arguments of `explain`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A code (`RW0301`), or a rule, by its name or as much of its end as makes it one
    what: String,
    #[command(flatten)]
    rules: packs::Rules,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    // As diagnostics show it: `[RW0301]`, `error[RW0301]`.
    let code = args.what.to_uppercase();
    let code = code.rsplit('[').next().unwrap_or_default().trim_end_matches(']');
    if let Some(Code { code, title, text }) = rewright_dsl::codes::find(code) {
        out::result(&match args.format {
            Format::Json => format!("{:#}\n", json!({ "code": code, "title": title, "text": text })),
            Format::Text => format!("{text}\n"),
        });
        return Ok(Finding::Clean);
    }
    if code.strip_prefix("RW").is_some_and(|rest| rest.parse::<u32>().is_ok()) {
        bail!("there is no diagnostic {}", args.what);
    }
    let Some(program) = args.rules.load_with_examples()? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, &args.what)?;
    let text = rule(&program, &rules);
    out::result(&match args.format {
        Format::Json => {
            let names: Vec<&str> = rules.iter().map(|id| program.rule(*id).name.as_str()).collect();
            format!("{:#}\n", json!({ "rules": names, "text": text }))
        }
        Format::Text => text,
    });
    Ok(Finding::Clean)
}

/// The rules that one name stands for: where they stand, what they say, and the examples in which they take part.
fn rule(program: &Program, rules: &[RuleId]) -> String {
    let Some(first) = rules.first().map(|id| program.rule(*id)) else { return String::new() };
    let place = program.sources.place(first.span);
    let family = program.rule(first.family);
    let mut text = format!("{} ({}:{})\n", family.name, place.file, place.line);
    for line in &first.doc {
        text += &format!("  {}\n", line.trim());
    }
    text += &format!("\n{}\n", indented(&program.sources.item(first.span)));
    if first.law {
        text += "\nMade from a law that its function declares.\n";
    }
    if rules.len() > 1 {
        let names: Vec<&str> = rules.iter().map(|id| program.rule(*id).name.as_str()).collect();
        text += &format!("\nStands for {} rules: {}\n", rules.len(), names.join(", "));
    }
    if let Some(what) = first.approximate.as_ref().map(|a| &a.gives_up) {
        text += &format!("\nApproximate: it gives up {what}\n");
    }
    if let Some(relaxation) = &first.relaxation {
        text += &format!("\nUnsafe, because {}\n", relaxation.because);
    }
    let families: Vec<RuleId> = rules.iter().map(|id| program.rule(*id).family).collect();
    let shown =
        program.examples.iter().filter(|e| e.fires.iter().any(|id| families.contains(&program.rule(*id).family)));
    let examples: Vec<String> = shown
        .map(|e| {
            let place = program.sources.place(e.span);
            format!("\n{}:{}\n{}\n", place.file, place.line, indented(&program.sources.item(e.span)))
        })
        .collect();
    text += &match examples.len() {
        0 => "\nNo example says that it takes part.\n".to_string(),
        n => format!("\n{}, run by `rewright check`:\n{}", count(n, "example"), examples.concat()),
    };
    text + "\n`rewright verify` proves it at every type, or shows values at which it is wrong.\n"
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
