//! `rewright verify`: is each rule right at each type? Values first, then an SMT solver.

mod compiled;
mod expected;
mod linked;
mod mutate;
mod stub;

use super::shard::{Run, Sharding};
use super::store::{self, Stored};
use super::{Finding, examples, out, packs, project, sources};
use anyhow::{Context, Result, bail};
use expected::Expected;
use rewright_dsl::diagnostic::{Diagnostic, Label, Severity, count};
use rewright_dsl::instances::Obstacle;
use rewright_dsl::program::{Program, RuleId};
use rewright_files::cache::Cache;
use rewright_native::foreign::Listener;
use rewright_pipeline::sums::add_up;
use rewright_verify::{self as verify, InstanceReport, Options, RuleReport, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What verification is expected to find in a directory of packs: the file's name and its first line.
const EXPECTED: (&str, &str) = (
    rewright_packs::EVIDENCE,
    "What `rewright verify` finds of each rule here: type instances by verdict. `rewright verify --update` writes \
     this.",
);

/// Arguments of `verify`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Packs, or directories of packs; `-` is standard input [default: those of `rewright.toml`]
    paths: Vec<PathBuf>,
    /// Verify only rules whose qualified name contains this
    #[arg(long, alias = "rule", value_name = "TEXT")]
    filter: Option<String>,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: super::findings::Format,
    /// Solver processes [default: one per core]
    #[arg(long, alias = "jobs", value_name = "N")]
    threads: Option<usize>,
    #[arg(long, value_name = "SECONDS", help = or_project(
        "Seconds of the solver's processor time per question; its steps run out first. One that takes twice as long, or \
         does nothing for 10 s, is started anew; one that leaves three questions in a row unanswered is an error",
        Options::default().timeout.as_secs()
    ))]
    timeout: Option<u64>,
    #[arg(long, value_name = "N", help = or_project(
        "Solver steps per question; 0: no limit", Options::default().steps
    ))]
    steps: Option<u64>,
    #[arg(long, value_name = "N", help = or_project(
        "Values to try per type instance, half as many on compiled code; 0: only the solver", Options::default().samples
    ))]
    samples: Option<usize>,
    /// The solver with its arguments; it reads SMT-LIB from its standard input
    #[arg(long, value_name = "COMMAND", default_value = "z3 -in")]
    solver: String,
    /// Where to keep verdicts [default: rewright/verify in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Keep no verdicts and use none
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    stored: Stored,
    /// Rules that could not be decided are findings, too
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    sharding: Sharding,
    /// Where random values and mutants begin
    #[arg(long, value_name = "N", default_value_t = Options::default().seed)]
    seed: u64,
    /// Write what was found into the directory's `verify.expected` (with `--mutate`: `mutants.expected`), instead of
    /// comparing it with that
    #[arg(short = 'U', long)]
    update: bool,
    #[command(flatten)]
    calls: packs::Calls,
    #[command(flatten)]
    mutate: mutate::Mutation,
}

/// Help of an option that a project may set, too.
fn or_project(help: &str, usual: impl Display) -> String {
    format!("{help} [default: the project's, or {usual}]")
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let asked = project::here()?.map(|project| project.manifest.verify).unwrap_or_default();
    let args = Args {
        paths: project::packs(args.paths)?,
        timeout: args.timeout.or(asked.timeout),
        steps: args.steps.or(asked.steps),
        samples: args.samples.or(asked.samples),
        strict: args.strict || asked.strict,
        ..args
    };
    let paths = sources::packs(&args.paths)?;
    let Some(loaded) = packs::sound(&paths)? else { return Ok(Finding::Found) };
    let rewright_packs::Packs { program, sources: files, roots, .. } = loaded;
    // Of a call that fails, the rule's verdict tells.
    let listener: Listener = Arc::new(|_| ());
    let program = args.calls.linked(program, &paths, &listener)?;
    // Rules that are only imported have been verified by their own authors.
    let own = |name: &str| roots.iter().any(|r| name.strip_prefix(r).is_some_and(|rest| rest.starts_with('.')));
    let wanted = |name: &str| own(name) && args.filter.as_ref().is_none_or(|part| name.contains(part));
    let mut rules: Vec<RuleId> =
        (0..program.rules.len() as u32).map(RuleId).filter(|r| wanted(&program.rule(*r).name)).collect();
    if let (true, Some(part)) = (rules.is_empty(), &args.filter) {
        bail!("no rule of these packs has `{part}` in its name; `rewright doc` lists them");
    }
    let options = options(&args)?;
    let items: BTreeMap<&str, usize> =
        rules.iter().enumerate().map(|(item, rule)| (program.rule(*rule).name.as_str(), item)).collect();
    let (mutates, mutants) = (args.mutate.mutate, args.mutate.mutants);
    let asked = (mutates, mutants, options.steps, options.timeout, options.samples, options.seed);
    let run = Run {
        command: "verify",
        program: &program,
        inputs: items.keys().map(ToString::to_string).chain([format!("{asked:?}")]).collect(),
        settings: &["seed"],
        item: &|_, _, entry| {
            entry[if mutates { "rule" } else { "name" }].as_str().and_then(|name| items.get(name).copied())
        },
        error: None,
    };
    rules = args.sharding.of(rules, "rule");
    let (file, header) = if args.mutate.mutate { mutate::EXPECTED } else { EXPECTED };
    // The expected results of mutants are about the usual ones.
    let usual = !args.mutate.mutate || args.mutate.is_usual() && args.seed == Options::default().seed;
    let expected = Expected::of(&args.paths, file, header).filter(|_| usual);
    if args.update && expected.is_none() {
        bail!("`--update` writes the `{file}` of a directory: name one directory and nothing else, no other mutants");
    }
    // A smaller selection says nothing about the other rules.
    let all = args.filter.is_none() && args.sharding.shard.is_none();
    let settle = |found: &expected::Lines| -> Result<bool> {
        let Some(expected) = &expected else { return Ok(true) };
        let unexpected = expected.settle(found, all, args.update)?;
        unexpected.iter().for_each(|line| out::report(&format!("unexpected: {line}")));
        Ok(unexpected.is_empty())
    };
    if args.mutate.mutate {
        return mutate::run(&args.mutate, args.sharding, args.format, &run, &rules, &options, &settle);
    }
    let progress = out::progress("rules", rules.len() as u64);
    let begun = Instant::now();
    let reports = verify::verify(&program, &rules, &options, &|| progress.inc(1)).context("verification stopped")?;
    progress.finish_and_clear();
    say_troubles(&options);
    let diagnostics = |r| diagnostic(&program, r).into_iter().chain(compiled::disagreement(&program, r));
    let found: Vec<Diagnostic> = reports.iter().flat_map(diagnostics).collect();
    let summary = summary(&program, &reports, begun.elapsed());
    let bad = |r: &RuleReport| {
        compiled::disagrees(r)
            || match r.verdict {
                Verdict::Equal | Verdict::Narrower | Verdict::Tested => false,
                Verdict::Unknown => args.strict,
                Verdict::NotRun | Verdict::OneWay | Verdict::CannotFire | Verdict::Counterexample => true,
            }
    };
    let lines = reports.iter().map(|r| (program.rule(r.rule).name.clone(), vec![line(r)])).collect();
    let is_bad = !settle(&lines)? || reports.iter().any(bad);
    match args.format {
        super::findings::Format::Json => {
            let report = args.sharding.document(document(&program, &reports), &run, is_bad);
            out::result(&format!("{report:#}\n"));
        }
        format => {
            super::findings::print(format, &files, &found);
            if format.is_for_people() {
                list_unproved(&program, &reports);
                out::result(&summary);
                out::result(&compiled::summary(&reports));
            }
        }
    }
    Ok(if is_bad { Finding::Found } else { Finding::Clean })
}

/// What `verify.expected` says of a rule: `12 equal, 4 equal at smaller widths`.
fn line(report: &RuleReport) -> String {
    let count = |verdict: Verdict| report.instances.iter().filter(|i| i.verdict == verdict).count();
    let counts = Verdict::ALL.iter().map(|v| (count(*v), v.words())).filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, words)| format!("{n} {words}")).collect();
    if counts.is_empty() { "no instance".into() } else { counts.join(", ") }
}

fn options(args: &Args) -> Result<Options> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let usual = Options::default();
    Ok(Options {
        solver: args.solver.split_whitespace().map(String::from).collect(),
        steps: args.steps.unwrap_or(usual.steps),
        timeout: args.timeout.map_or(usual.timeout, Duration::from_secs),
        jobs: args.threads.unwrap_or(cores),
        samples: args.samples.unwrap_or(usual.samples),
        seed: args.seed,
        cache: verdicts(args)?,
        program: Some(std::env::current_exe().context("cannot find this program's own file")?),
    })
}

/// Where verdicts are kept.
fn verdicts(args: &Args) -> Result<Option<Cache>> {
    let own = verify::verdicts(args.cache.clone()).filter(|_| !args.no_cache);
    let address = store::of_user(args.stored.named()).filter(|_| own.is_some());
    address.iter().for_each(|address| store::say_missing(address));
    own.map(|own| store::behind(own, address, "verify", None)).transpose()
}

/// What went wrong with verdicts of earlier runs. Those of this run are right nevertheless.
fn say_troubles(options: &Options) {
    let troubles = options.cache.iter().flat_map(|cache| cache.troubles());
    troubles.for_each(|trouble| out::note(&format!("warning: {trouble}")));
}

/// `RW0701` and its like, for what is not proved.
fn diagnostic(program: &Program, report: &RuleReport) -> Option<Diagnostic> {
    let rule = program.rule(report.rule);
    let worst = report.worst();
    let at = worst.map_or(String::new(), |i| i.types.join(", "));
    let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
    let reason = worst.and_then(|i| i.reason.clone()).unwrap_or_default();
    let (code, severity, message, text, help) = match report.verdict {
        Verdict::Equal | Verdict::Narrower | Verdict::Tested => return None,
        Verdict::Counterexample => {
            let (text, help) = refutation(worst?);
            ("RW0701", Severity::Error, format!("rule {} is wrong{at}", rule.name), text, help)
        }
        Verdict::OneWay => {
            let help = "a rule states an equality: add a condition under which both sides are defined";
            ("RW0702", Severity::Error, format!("rule {} holds one way only{at}", rule.name), reason, Some(help.into()))
        }
        Verdict::CannotFire => {
            let reason = if reason.is_empty() { "no type instance has a meaning".into() } else { reason };
            ("RW0703", Severity::Error, format!("rule {} can never fire", rule.name), reason, None)
        }
        Verdict::NotRun => {
            let message = format!("rule {} was not verified", rule.name);
            if let Some((primary, help)) = linked::place(program, &reason) {
                let secondary = vec![Label { span: rule.span, text: "nothing is known of it".into() }];
                let help = Some(format!("{reason}\n{help}"));
                let (code, severity) = ("RW0706", Severity::Error);
                return Some(Diagnostic { code, severity, message, primary, secondary, help, fix: None });
            }
            let text = "nothing is known of it".to_string();
            ("RW0706", Severity::Error, message, text, Some(reason))
        }
        Verdict::Unknown => {
            let count = report.instances.iter().filter(|i| i.verdict == Verdict::Unknown).count();
            let method = worst.map_or(String::new(), |i| i.method.clone());
            let message = format!("rule {} is not decided{at}", rule.name);
            let mut help = format!("{count} of {} type instances; evidence: {method}", report.instances.len());
            if let Some(stub) = stub::stub(program, rule) {
                help += &format!("\n{stub}");
            }
            ("RW0704", Severity::Warning, message, reason, Some(help))
        }
    };
    Some(Diagnostic {
        code,
        severity,
        message,
        primary: Label { span: rule.span, text },
        secondary: vec![],
        help,
        fix: None,
    })
}

/// What is behind a difference that something between two states makes.
const BETWEEN_STATES: &str = "a rule matches whatever happens between its states, those that it does not name among them: \
                              `after s` at each call, with one parameter `s: State`, says that they are one; what allocates has a \
                              place of its own, and no such state";

/// What is different, and the example to paste or what else helps.
fn refutation(instance: &InstanceReport) -> (String, Option<String>) {
    let Some(c) = &instance.counterexample else { return (String::new(), None) };
    let values: Vec<String> = c.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let text = format!("left is {}, right is {} where {}", c.left, c.right, values.join(", "));
    let example = c.example.as_ref().map(|e| format!("this fails as long as the rule is there:\n{e}"));
    (text, example.or_else(|| c.between_states.then(|| BETWEEN_STATES.to_string())))
}

/// What was proved at smaller widths only, or tested.
fn list_unproved(program: &Program, reports: &[RuleReport]) {
    let unproved = |verdict| matches!(verdict, Verdict::Narrower | Verdict::Tested);
    for report in reports.iter().filter(|r| unproved(r.verdict)) {
        for i in report.instances.iter().filter(|i| unproved(i.verdict)) {
            let name = &program.rule(report.rule).name;
            let types = if i.types.is_empty() { String::new() } else { format!(" at {}", i.types.join(", ")) };
            out::note(&format!("note: {name}{types}: {} ({})", i.method, i.reason.as_deref().unwrap_or("")));
        }
    }
}

fn summary(program: &Program, reports: &[RuleReport], time: Duration) -> String {
    let instances: usize = reports.iter().map(|r| r.instances.len()).sum();
    let cached = reports.iter().filter(|r| r.cached).count();
    let counts: Vec<String> = Verdict::ALL
        .iter()
        .map(|v| format!("{} {}", reports.iter().filter(|r| r.verdict == *v).count(), v.words()))
        .collect();
    format!(
        "{}: {}; {}{}; {} from the cache, {:.1} s\n",
        examples::counted(reports.iter().map(|report| program.rule(report.rule))),
        counts.join(", "),
        count(instances, "type instance"),
        left_out(reports),
        count(cached, "rule"),
        time.as_secs_f64()
    )
}

/// In what number of combinations of types rules have no instance, and why.
fn left_out(reports: &[RuleReport]) -> String {
    let mut counts: BTreeMap<Obstacle, usize> = BTreeMap::new();
    reports.iter().for_each(|report| add_up(&mut counts, report.left_out.clone()));
    let total: usize = counts.values().sum();
    let reasons: Vec<String> = counts.iter().map(|(obstacle, n)| format!("{n} {}", words(*obstacle))).collect();
    if total == 0 {
        String::new()
    } else {
        let what = if total == 1 { "combination" } else { "combinations" };
        format!(", {total} more {what} of types left out: {}", reasons.join(", "))
    }
}

/// Why there is no instance.
fn words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Literal => "at which a literal does not fit",
        Obstacle::Meaningless => "at which the left side has no meaning",
        Obstacle::Condition => "at which a condition does not hold",
    }
}

fn document(program: &Program, reports: &[RuleReport]) -> Value {
    let rules: Vec<Value> = reports
        .iter()
        .map(|r| {
            let name = &program.rule(r.rule).name;
            // `pack.ruleset.rule`, where the pack's own name has dots, too.
            let pack = program.rulesets.iter().find(|(_, rules)| rules.contains(&r.rule)).map(|(set, _)| set.as_str());
            let pack = pack.and_then(|set| set.rsplit_once('.')).map_or("", |(pack, _)| pack);
            let instances: Vec<Value> = r
                .instances
                .iter()
                .map(|i| {
                    json!({
                        "types": i.types, "verdict": i.verdict, "method": i.method, "reason": i.reason,
                        "compiled": i.compiled, "seconds": i.seconds,
                    })
                })
                .collect();
            let left_out: BTreeMap<&str, usize> = r.left_out.iter().map(|(o, n)| (words(*o), *n)).collect();
            json!({
                "name": name, "pack": pack, "verdict": r.verdict, "instances": instances, "left_out": left_out,
                "counterexample": r.worst().and_then(|i| i.counterexample.as_ref()),
            })
        })
        .collect();
    json!({ "rules": rules })
}
