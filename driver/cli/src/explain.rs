//! `rewright explain`: the meaning of a diagnostic code, of a word of the language, of a function or type, of a rule with
//! its evidence.

use super::{Finding, Format, out, packs};
use anyhow::{Result, bail};
use rewright_dsl::codes::{self, Code};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::{Program, Rule, RuleId};
use rewright_dsl::words::{self, Word};
use rewright_typeprop::{Op, Term, Universe};
use serde::Serialize;
use serde_json::{Value, json};

/// Arguments of `explain`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A code (`RW0301`), a word of the language (`removes`, `@sample`, `state`), a function or type that packs declare
    /// (`iadd`), or a rule, by its name or as much of its end as makes it one
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
    let exact = words::find(what);
    let words = if exact.is_empty() { words::find(&what.to_lowercase()) } else { exact };
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
    let universe = &program.universe;
    let others = words::all().map(|word| word.word).chain(codes::all().map(|code| code.code));
    let others = others.chain(universe.ops.iter().map(|(_, op)| op.name.as_str()));
    let others = others.chain(universe.types.decls().map(|(_, ty)| ty.name.as_str()));
    let declarations = Declared::all(&program, what);
    let rules = match packs::rules_or(&program, what, "word of the language, function, type or rule", others) {
        Err(_) if !declarations.is_empty() => vec![],
        found => found?,
    };
    let answer = Answer { declarations, rule: Explained::of(&program, &rules) };
    out::result(&match args.format {
        Format::Json => format!("{:#}\n", serde_json::to_value(&answer)?),
        Format::Text => answer.text(),
    });
    Ok(Finding::Clean)
}

/// All that packs say of a name.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declarations: Vec<Declared>,
    #[serde(flatten)]
    rule: Option<Explained>,
}

impl Answer {
    fn text(&self) -> String {
        let parts = self.declarations.iter().map(Declared::text).chain(self.rule.iter().map(Explained::text));
        parts.collect::<Vec<_>>().join("\n")
    }
}

/// A function or a type.
#[derive(Serialize)]
struct Declared {
    kind: &'static str,
    name: String,
    file: String,
    line: usize,
    /// As it is written, with its documentation.
    text: String,
}

impl Declared {
    /// Functions and types of a name (`iadd`, `std.core.iadd`), overloads one by one.
    fn all(program: &Program, name: &str) -> Vec<Self> {
        let Universe { types, ops, .. } = &program.universe;
        let fits = |op: &Op| op.name == name || format!("{}.{}", op.pack, op.name) == name;
        let functions = ops.iter().filter(|(_, op)| op.part_of.is_none() && fits(op));
        let functions = functions.map(|(id, op)| ("function", &op.name, program.declared.get(id.0 as usize)));
        let types = types.decls().filter(|(_, ty)| ty.name == name);
        let types = types.map(|(id, ty)| ("type", &ty.name, program.declared_types.get(id.0 as usize)));
        let found = functions.chain(types).filter_map(|(kind, name, span)| {
            let place = program.sources.place(*span?);
            let text = program.sources.documented_item(*span?);
            Some(Declared { kind, name: name.clone(), file: place.file, line: place.line, text })
        });
        found.collect()
    }

    fn text(&self) -> String {
        format!("{} ({}, {}:{})\n\n{}\n", self.name, self.kind, self.file, self.line, indented(&self.text))
    }
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

/// The rules that one name stands for.
#[derive(Serialize)]
struct Explained {
    name: String,
    file: String,
    line: usize,
    doc: Vec<String>,
    /// As it is written.
    rule: String,
    /// It is made from a law that its function declares.
    law: bool,
    /// All that the name stands for.
    rules: Vec<String>,
    /// What an approximate rule gives up.
    gives_up: Option<String>,
    /// Of an unsafe rule.
    because: Option<String>,
    /// In which it takes part.
    examples: Vec<Shown>,
    /// Nothing proves it: it is about functions of libraries or of C, or approximate.
    #[serde(skip)]
    is_tested: bool,
}

/// An example as it is written.
#[derive(Serialize)]
struct Shown {
    file: String,
    line: usize,
    text: String,
}

impl Explained {
    fn of(program: &Program, rules: &[RuleId]) -> Option<Self> {
        let first = program.rule(*rules.first()?);
        let place = program.sources.place(first.span);
        let families: Vec<RuleId> = rules.iter().map(|id| program.rule(*id).family).collect();
        let shows = |id: &RuleId| families.contains(&program.rule(*id).family);
        let examples = program.examples.iter().filter(|example| example.fires.iter().any(shows)).map(|example| {
            let place = program.sources.place(example.span);
            Shown { file: place.file, line: place.line, text: program.sources.item(example.span) }
        });
        Some(Explained {
            name: program.rule(first.family).name.clone(),
            file: place.file,
            line: place.line,
            doc: first.doc.iter().map(|line| line.trim().to_string()).collect(),
            rule: program.sources.item(first.span),
            law: first.law,
            rules: rules.iter().map(|id| program.rule(*id).name.clone()).collect(),
            gives_up: first.approximate.as_ref().map(|approximate| approximate.gives_up.clone()),
            because: first.relaxation.as_ref().map(|relaxation| relaxation.because.clone()),
            examples: examples.collect(),
            is_tested: rules.iter().any(|id| is_tested(program, program.rule(*id))),
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({}:{})\n", self.name, self.file, self.line);
        self.doc.iter().for_each(|line| text += &format!("  {line}\n"));
        text += &format!("\n{}\n", indented(&self.rule));
        if self.law {
            text += "\nMade from a law that its function declares.\n";
        }
        if self.rules.len() > 1 {
            text += &format!("\nStands for {} rules: {}\n", self.rules.len(), self.rules.join(", "));
        }
        if let Some(what) = &self.gives_up {
            text += &format!("\nApproximate: it gives up {what}\n");
        }
        if let Some(reason) = &self.because {
            text += &format!("\nUnsafe, because {reason}\n");
        }
        let shown = |example: &Shown| format!("\n{}:{}\n{}\n", example.file, example.line, indented(&example.text));
        text += &match self.examples.len() {
            0 => "\nNo example says that it takes part.\n".to_string(),
            n => {
                let examples: String = self.examples.iter().map(shown).collect();
                format!("\n{}, run by `rewright check`:\n{examples}", count(n, "example"))
            }
        };
        text += match self.is_tested {
            true => {
                "\n`rewright verify` tests it on values that its pack makes, or shows values at which it is wrong.\n"
            }
            false => "\n`rewright verify` proves it at every type, or shows values at which it is wrong.\n",
        };
        text
    }
}

/// Are there only values to try it on?
fn is_tested(program: &Program, rule: &Rule) -> bool {
    let is_of_c = |op: &Op| op.link.is_some() || op.names.get("llvm").is_some_and(|name| name.starts_with('@'));
    let has_no_meaning = |op: &Op| is_of_c(op) && op.model.is_none() && op.spec.is_none();
    let mut calls = rule.terms().flat_map(Term::subterms).filter_map(|term| match term {
        Term::Call { op, .. } => Some(program.universe.ops.get(*op)),
        _ => None,
    });
    rule.approximate.is_some() || calls.any(has_no_meaning)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
