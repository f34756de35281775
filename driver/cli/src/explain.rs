//! `rewright explain`: the meaning of a diagnostic code, of a word of the language, of a rule with its evidence.

use super::{Finding, Format, out, packs};
use anyhow::{Result, bail};
use rewright_dsl::codes::{self, Code};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::{Program, RuleId};
use rewright_dsl::words::{self, Word};
use serde_json::{Value, json};

/// Arguments of `explain`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A code (`RW0301`), a word of the language (`removes`, `@sample`, `state`), or a rule, by its name or as much of
    /// its end as makes it one
    #[arg(required_unless_present = "list")]
    what: Option<String>,
    /// List all words and codes
    #[arg(long, conflicts_with = "what")]
    list: bool,
    #[command(flatten)]
    rules: packs::Rules,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(what) = &args.what else {
        out::result(&list(args.format));
        return Ok(Finding::Clean);
    };
    // As diagnostics show it: `[RW0301]`, `error[RW0301]`.
    let code = what.to_uppercase();
    let code = code.rsplit('[').next().unwrap_or_default().trim_end_matches(']');
    if let Some(code) = codes::find(code) {
        out::result(&match args.format {
            Format::Json => format!(
                "{:#}\n",
                json!({
                    "code": code.code, "title": code.title, "message": code.message, "text": code.text,
                    "example": code.example,
                })
            ),
            Format::Text => diagnostic(code),
        });
        return Ok(Finding::Clean);
    }
    if code.strip_prefix("RW").is_some_and(|rest| rest.parse::<u32>().is_ok()) {
        bail!("there is no diagnostic {what}; `rewright explain --list` lists all");
    }
    let words = words::find(what);
    if !words.is_empty() {
        out::result(&match args.format {
            Format::Json => {
                format!("{:#}\n", json!({ "words": words.iter().map(|word| entry(word)).collect::<Vec<_>>() }))
            }
            Format::Text => words.iter().map(|word| meaning(word)).collect::<Vec<_>>().join("\n"),
        });
        return Ok(Finding::Clean);
    }
    let Some(program) = args.rules.load_with_examples()? else { return Ok(Finding::Found) };
    let rules = packs::rules_named(&program, what)?;
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

/// Words by kind, then codes, each with what it is.
fn list(format: Format) -> String {
    if format == Format::Json {
        let words: Vec<Value> = words::all().map(entry).collect();
        let codes: Vec<Value> = codes::all().map(|code| json!({ "code": code.code, "title": code.title })).collect();
        return format!("{:#}\n", json!({ "words": words, "codes": codes }));
    }
    let mut text = String::new();
    let mut kind = "";
    for word in words::all() {
        if kind != word.kind {
            kind = word.kind;
            text += &format!("{kind}:\n");
        }
        text += &format!("  {}\n", word.word);
    }
    text += "diagnostics:\n";
    codes::all().for_each(|code| text += &format!("  {}  {}\n", code.code, code.title));
    text
}

fn entry(word: &Word) -> Value {
    json!({ "word": word.word, "kind": word.kind, "text": word.text, "example": word.example })
}

/// A code as text: what it is, how its messages read, its meaning, an example.
fn diagnostic(Code { code, title, message, text, example }: &Code) -> String {
    format!("{code}: {title}\n\n{text}\n\nIts message: {message}\n\nAn example:\n\n{}\n", indented(example))
}

/// A word as text: what it is, its meaning, an example.
fn meaning(word: &Word) -> String {
    let example = match word.example {
        "" => String::new(),
        example => format!("\n{}\n", indented(example)),
    };
    format!("{} ({})\n\n{}\n{example}", word.word, word.kind, word.text)
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
