//! `rewright coverage`: instances of Cranelift's own rules, and whether the packs make them as cheap as it does.

use super::{Finding, Format, out, packs};
use anyhow::{Context, Result, anyhow, bail};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::select::cost::reported;
use rewright_clif::optimise::ClifOptimiser;
use rewright_dsl::diagnostic::count;
use rewright_lab::coverage::{Case, Effort, Rule, Sampler, read};
use rewright_pipeline::optimiser::Options;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `coverage`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// `.isle` files, or a directory of them: `src/opts` of the crate cranelift-codegen
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    /// Instances that are tried for each rule
    #[arg(long, value_name = "N", default_value_t = 300)]
    samples: u32,
    /// Instances that Cranelift makes cheaper, of each rule, at which the search ends
    #[arg(long, value_name = "N", default_value_t = 4)]
    enough: usize,
    /// Where random choices begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print every instance whose result costs more than Cranelift's
    #[arg(long)]
    losses: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What became of a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Verdict {
    /// Each instance that Cranelift makes cheaper is at least as cheap here.
    Covered,
    /// One costs more here.
    Dearer,
    /// Cranelift makes no instance cheaper.
    NoGain,
    /// It defines a helper of other rules, or its left side does not consist of instructions.
    Helper,
}

struct Judged {
    file: String,
    line: usize,
    verdict: Verdict,
    /// Why it is a helper, or the dearest instance.
    detail: String,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let rules = rules(&args.paths)?;
    let sampler = Sampler::new(&clif).map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let effort = Effort { samples: args.samples, enough: args.enough };
    let progress = out::progress("rules", rules.len() as u64);
    let mut judged = vec![];
    let mut cases: Vec<(usize, Case)> = vec![];
    for (i, (file, rule)) in rules.iter().enumerate() {
        progress.inc(1);
        let (verdict, detail) = match sampler.cases(rule, effort, args.seed.wrapping_add(i as u64)) {
            Ok(found) if found.is_empty() => (Verdict::NoGain, String::new()),
            Ok(found) => {
                cases.extend(found.into_iter().map(|case| (i, case)));
                (Verdict::Covered, String::new())
            }
            Err(reason) => (Verdict::Helper, reason.to_string()),
        };
        judged.push(Judged { file: file.clone(), line: rule.line, verdict, detail });
    }
    progress.finish_and_clear();
    let functions: Vec<Function> = cases.iter().map(|(_, case)| case.function.clone()).collect();
    let universe = &clif.optimiser.program().universe;
    let spinner = out::spinner("optimising the instances");
    let batch = clif.optimiser.optimise(&functions, universe, &Options::default());
    spinner.finish_and_clear();
    for ((rule, case), outcome) in cases.iter().zip(&batch.outcomes) {
        if outcome.cost_after > case.theirs {
            let judged = &mut judged[*rule];
            judged.verdict = Verdict::Dearer;
            judged.detail += &format!(
                "{} here, {} by Cranelift\n{}",
                reported(outcome.cost_after),
                reported(case.theirs),
                case.text
            );
        }
    }
    report(&args, &judged, cases.len());
    let dearer = judged.iter().any(|j| j.verdict == Verdict::Dearer);
    Ok(if dearer { Finding::Found } else { Finding::Clean })
}

/// All rules of the files, with the names of their files.
fn rules(paths: &[PathBuf]) -> Result<Vec<(String, Rule)>> {
    let mut rules = vec![];
    for path in super::sources::isle_files(paths)? {
        let text = super::sources::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = read(&text).map_err(|e| anyhow!("{}: {e}", path.display()))?;
        rules.extend(found.into_iter().map(|rule| (name.clone(), rule)));
    }
    if rules.is_empty() {
        bail!("there is no rule in these files; give `src/opts` of the crate cranelift-codegen");
    }
    Ok(rules)
}

fn report(args: &Args, judged: &[Judged], cases: usize) {
    let mut files: BTreeMap<&str, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for j in judged {
        *files.entry(&j.file).or_default().entry(j.verdict).or_default() += 1;
    }
    let of = |counts: &BTreeMap<Verdict, usize>, v| counts.get(&v).copied().unwrap_or_default();
    if args.format == Format::Json {
        let list: Vec<_> = judged
            .iter()
            .map(|j| json!({ "file": j.file, "line": j.line, "verdict": j.verdict.name(), "detail": j.detail }))
            .collect();
        out::result(&format!("{:#}\n", json!({ "instances": cases, "rules": list })));
        return;
    }
    let mut text =
        format!("{:<20} {:>6} {:>8} {:>7} {:>8} {:>7}\n", "file", "rules", "covered", "dearer", "no gain", "helper");
    let mut total: BTreeMap<Verdict, usize> = BTreeMap::new();
    let row = |name: &str, counts: &BTreeMap<Verdict, usize>| {
        let [covered, dearer, no_gain, helper] =
            [Verdict::Covered, Verdict::Dearer, Verdict::NoGain, Verdict::Helper].map(|v| of(counts, v));
        let rules: usize = counts.values().sum();
        format!("{name:<20} {rules:>6} {covered:>8} {dearer:>7} {no_gain:>8} {helper:>7}\n")
    };
    for (file, counts) in &files {
        text += &row(file, counts);
        for (verdict, count) in counts {
            *total.entry(*verdict).or_default() += count;
        }
    }
    text += &row("all", &total);
    text += &format!("{} that Cranelift makes cheaper\n", count(cases, "instance"));
    if args.losses {
        for j in judged.iter().filter(|j| j.verdict == Verdict::Dearer) {
            text += &format!("\n{}:{}\n{}", j.file, j.line, j.detail);
        }
    }
    out::result(&text);
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Covered => "covered",
            Verdict::Dearer => "dearer",
            Verdict::NoGain => "no gain",
            Verdict::Helper => "helper",
        }
    }
}
