//! `rewright harness`: evaluates every e-node of saturated graphs on runs of the function, and compares the members of
//! each class. With `--mutants` it makes rules wrong, one at a time, and says which of them it finds.

use super::{Finding, Format, input, out, packs, sources};
use anyhow::{Context, Result};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::interp::Memory;
use rewright_cfg_skeleton::ir::{Function, normalise::normalise};
use rewright_clif::optimise::{ClifOptimiser, trap_code};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::{Program, RuleId};
use rewright_lab::generate::{Generator, Shape};
use rewright_pipeline::optimiser::{Optimiser, Options};
use rewright_typeprop::{Scalar, Universe};
use rewright_verify::denotation::{self, DenotationReport, Input, Limits, Separation};
use serde_json::json;
use std::path::PathBuf;

/// Where the memory of a run begins, and how much there is.
const BASE: u64 = 0x1_0000;
const BYTES: usize = 256;

/// Arguments of `harness`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// CLIF files, or directories of them
    paths: Vec<PathBuf>,
    #[command(flatten)]
    rules: packs::Rules,
    /// Random functions besides the files'
    #[arg(long, value_name = "N", default_value_t = 0)]
    random: u64,
    /// Rules to make wrong, one at a time; each is tried on a function that it matches and whose value it changes
    #[arg(long, value_name = "N", default_value_t = 0)]
    mutants: u64,
    /// Where random functions, inputs and mutants begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Inputs per function
    #[arg(long, value_name = "N", default_value_t = 6)]
    inputs: u64,
    /// How to report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Default)]
struct Total {
    /// Files with mistakes, which are on stderr.
    unread: u64,
    functions: u64,
    comparisons: u64,
    unsupported: u64,
    disagreements: Vec<String>,
    failures: Vec<String>,
}

pub(super) fn run(args: Args) -> Result<Finding> {
    let Some(program) = args.rules.load()? else { return Ok(Finding::Found) };
    let clif = ClifOptimiser::new(program).context("the rules do not form a program")?;
    let mut total = Total::default();
    let files = if args.paths.is_empty() { vec![] } else { sources::clif_files(&args.paths)? };
    let progress = out::progress("functions", files.len() as u64 + args.random + args.mutants);
    let universe = &clif.optimiser.program().universe;
    for path in &files {
        progress.inc(1);
        let Some(file) = input::clif(path)? else {
            total.unread += 1;
            continue;
        };
        for index in 0..file.functions.len() {
            let Ok(imported) = clif.import(&file, index) else { continue };
            let name = format!("{} {}", path.display(), imported.function.name);
            let inputs = inputs(&imported.function, universe, args.seed, args.inputs);
            examine(&clif.optimiser, universe, &imported.function, &name, &inputs, &mut total);
        }
    }
    let generator = Generator::new(universe, trap_code("user1"));
    for n in 0..args.random {
        progress.inc(1);
        let f = generator.function(args.seed.wrapping_add(n), Shape::default());
        let name = f.name.clone();
        let inputs = inputs(&f, universe, args.seed, args.inputs);
        examine(&clif.optimiser, universe, &f, &name, &inputs, &mut total);
    }
    let mutants = if args.mutants > 0 { mutants(&args, clif.optimiser.program(), &progress)? } else { vec![] };
    progress.finish_and_clear();
    let found = mutants.iter().filter(|m| m.1).count();
    match args.format {
        Format::Json => {
            let list: Vec<_> = mutants.iter().map(|(name, found)| json!({ "mutant": name, "found": found })).collect();
            let document = json!({
                "unread_files": total.unread,
                "functions": total.functions,
                "comparisons": total.comparisons,
                "unsupported_calls": total.unsupported,
                "disagreements": total.disagreements,
                "failures": total.failures,
                "mutants": list,
            });
            out::result(&format!("{document:#}\n"));
        }
        Format::Text => {
            let mut text = format!(
                "{}, {} of members of a class, {} not supported, {}\n",
                count(total.functions as usize, "function"),
                count(total.comparisons as usize, "comparison"),
                count(total.unsupported as usize, "call"),
                count(total.disagreements.len(), "disagreement")
            );
            for line in total.disagreements.iter().chain(&total.failures) {
                text += &format!("{line}\n");
            }
            for (name, found) in &mutants {
                text += &format!("{} {name}\n", if *found { "found " } else { "MISSED" });
            }
            if !mutants.is_empty() {
                text += &format!("{found} of {} found\n", count(mutants.len(), "mutant"));
            }
            out::result(&text);
        }
    }
    let agree = total.disagreements.is_empty() && total.failures.is_empty();
    let clean = agree && total.unread == 0 && found == mutants.len();
    Ok(if clean { Finding::Clean } else { Finding::Found })
}

/// Saturates one function and compares the members of its classes.
fn examine(optimiser: &Optimiser, universe: &Universe, f: &Function, name: &str, inputs: &[Input], total: &mut Total) {
    let mut f = f.clone();
    normalise(&mut f);
    let (_, skeleton) = optimiser.build(&f, universe);
    let view = match optimiser.saturate_one(&skeleton.input, &universe.types, &Options::default()) {
        Ok(view) => view,
        Err(error) => {
            total.failures.push(format!("{name}: {error}"));
            return;
        }
    };
    let report: DenotationReport = denotation::check(&f, universe, &skeleton, &view, inputs, Limits::default());
    total.functions += 1;
    total.comparisons += report.comparisons;
    total.unsupported += report.unsupported;
    for disagreement in &report.disagreements {
        total.disagreements.push(format!("{name}: {disagreement:?}"));
    }
}

/// Random arguments: edge values, small numbers, and addresses where there is memory.
fn inputs(f: &Function, universe: &Universe, seed: u64, count: u64) -> Vec<Input> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let params = &f.block(f.entry()).params;
    (0..count)
        .map(|n| {
            let args = params.iter().map(|p| argument(universe.types.lane(f.ty(*p)), &mut rng)).collect();
            let mut memory = Memory::default();
            memory.add(BASE, (0..BYTES).map(|_| rng.random()).collect());
            Input { args, memory, seed: seed.wrapping_add(n) }
        })
        .collect()
}

fn argument(scalar: Option<Scalar>, rng: &mut ChaCha8Rng) -> i64 {
    let Some(scalar) = scalar else { return 0 };
    let bits = scalar.bits();
    let raw: u64 = match rng.random_range(0..10) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => 1 << (bits - 1),
        4 => (1 << (bits - 1)) - 1,
        5 => rng.random_range(0..u64::from(bits)),
        6 => 1 << rng.random_range(0..bits),
        7 | 8 if scalar == Scalar::I64 => BASE + rng.random_range(0..BYTES as u64 / 2),
        _ => rng.random(),
    };
    let raw = match scalar {
        Scalar::F32 if rng.random_bool(0.6) => u64::from((rng.random_range(-9i32..9) as f32 / 2.0).to_bits()),
        Scalar::F64 if rng.random_bool(0.6) => (f64::from(rng.random_range(-9i32..9)) / 2.0).to_bits(),
        _ => raw,
    };
    scalar.canonical(raw)
}

/// Makes rules wrong, one at a time, and looks for disagreements on a function that the changed rule matches. A
/// mutant that changes no value, or whose rule does not match by itself where it does, is not one.
fn mutants(args: &Args, program: &Program, progress: &indicatif::ProgressBar) -> Result<Vec<(String, bool)>> {
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let mut results: Vec<(String, bool)> = vec![];
    let mut draws = 0;
    while (results.len() as u64) < args.mutants && draws < 50 * args.mutants {
        draws += 1;
        let rule = RuleId(rng.random_range(0..program.rules.len() as u32));
        let Some(mutant) = denotation::mutants(program, rule).choose(&mut rng).cloned() else { continue };
        let name = format!("{}: {}", program.rule(rule).name, mutant.change);
        if results.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let mutated = mutant.apply(program);
        let alone = alone(&mutated, rule)?;
        let mut subject = None;
        for separation in denotation::separations(program, &mutant, trap_code, rng.random()) {
            if matches(&alone, rule, &separation)? {
                subject = Some(separation);
                break;
            }
        }
        let Some(Separation { universe, function, input }) = subject else { continue };
        let optimiser =
            Optimiser::new(mutated, trap_code).with_context(|| format!("the mutant {name} is no program"))?;
        let mut inputs = denotation::random_inputs(&function, &universe, args.seed, 64);
        inputs.push(input);
        let mut total = Total::default();
        examine(&optimiser, &universe, &function, &name, &inputs, &mut total);
        progress.inc(1);
        results.push((name, !total.disagreements.is_empty()));
    }
    Ok(results)
}

/// The program with one rule.
fn alone(program: &Program, rule: RuleId) -> Result<Optimiser> {
    let mut alone = program.clone();
    for rules in alone.rulesets.values_mut() {
        rules.retain(|r| *r == rule);
    }
    Optimiser::new(alone, trap_code).context("the mutant is no program")
}

/// Does the rule match in that function?
fn matches(optimiser: &Optimiser, rule: RuleId, on: &Separation) -> Result<bool> {
    let (_, skeleton) = optimiser.build(&on.function, &on.universe);
    let options = Options { log: true, ..Options::default() };
    let view = optimiser.saturate_one(&skeleton.input, &on.universe.types, &options)?;
    Ok(view.applications.iter().any(|a| a.rule == rule))
}
