//! `rewright bench --stories`: where the time goes for each story, and what its integer programs are.
//!
//! A story is a folder with a pack (`pack.rw`, or with the folder's name) and an input (`input.ir` or `input.clif`).
//! Each is run `--repeat` times with the pack that it has; per phase, the fastest time is kept. The figures are sums
//! over its functions, and over both points where modules of our own text run rules.

use super::{Args, Format, out};
use crate::language::Language;
use crate::{Finding, input};
use anyhow::{Context, Result, bail};
use rewright_cfg_skeleton::select::{Effort, Status};
use rewright_extract::clock;
use rewright_pipeline::optimiser::{Phase, Phases};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of the files of a story.
const PACK: &str = "pack.rw";
const INPUTS: [&str; 2] = ["input.ir", "input.clif"];

/// What was measured of a story.
struct Row {
    name: String,
    functions: usize,
    /// By phase; the fastest.
    times: BTreeMap<&'static str, Duration>,
    /// Of all selections together.
    effort: Effort,
    selections: usize,
    optimal: usize,
}

/// Reading pack and input is no phase of the pipeline.
const READ: &str = "read";

pub(super) fn run(args: &Args) -> Result<Finding> {
    let stories = stories(&args.paths)?;
    let mut rows = vec![];
    let progress = out::progress("stories", stories.len() as u64);
    for story in &stories {
        progress.inc(1);
        match measure(args, story).with_context(|| format!("story {}", story.display()))? {
            Some(row) => rows.push(row),
            None => return Ok(Finding::Found),
        }
    }
    progress.finish_and_clear();
    out::result(&match args.format {
        Format::Json => as_json(&rows),
        Format::Text => as_text(&rows),
    });
    Ok(Finding::Clean)
}

/// The pack and the input of a folder that is a story.
fn parts(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let own = folder.file_name().map(|name| folder.join(name).with_extension("rw"));
    let pack = [Some(folder.join(PACK)), own].into_iter().flatten().find(|path| path.is_file())?;
    let input = INPUTS.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
    Some((pack, input))
}

/// Folders that are stories, or the stories in them, sorted.
fn stories(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = vec![];
    for path in paths {
        if parts(path).is_some() {
            found.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
        let mut inside: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        inside.retain(|folder| parts(folder).is_some());
        if inside.is_empty() {
            bail!("{} holds no story: a folder with {PACK} and {}", path.display(), INPUTS.join(" or "));
        }
        inside.sort();
        found.extend(inside);
    }
    Ok(found)
}

/// `None` where the pack or the input has mistakes, which are on stderr then.
fn measure(args: &Args, story: &Path) -> Result<Option<Row>> {
    let Some((pack, input)) = parts(story) else { bail!("no input") };
    let name = story.file_name().unwrap_or(story.as_os_str()).to_string_lossy().into_owned();
    let mut row =
        Row { name, functions: 0, times: BTreeMap::new(), effort: Effort::default(), selections: 0, optimal: 0 };
    for _ in 0..args.repeat.max(1) {
        let start = clock::now();
        let Some(program) = args.rules.with(pack.clone()).load()? else { return Ok(None) };
        let options = args.how.options(&program)?;
        let Some(input) = input::open(&input, Language::of(&input), program)? else { return Ok(None) };
        row.keep(READ, clock::since(start));
        let optimised = input.optimise(&options, &|_| true);
        row.functions = optimised.statistics().functions.len();
        row.add(&optimised.statistics().phases);
    }
    Ok(Some(row))
}

impl Row {
    fn keep(&mut self, name: &'static str, time: Duration) {
        let slot = self.times.entry(name).or_insert(time);
        *slot = (*slot).min(time);
    }

    /// One run.
    fn add(&mut self, phases: &Phases) {
        for phase in Phase::ALL {
            self.keep(phase.name(), phases.times.get(&phase).copied().unwrap_or_default());
        }
        let mut sum = Effort::default();
        for effort in phases.selections.iter().filter_map(|s| s.effort) {
            sum.classes += effort.classes;
            sum.nodes += effort.nodes;
            sum.left += effort.left;
            sum.parts += effort.parts;
            sum.runs += effort.runs;
            sum.build += effort.build;
            sum.solve += effort.solve;
        }
        if self.selections > 0 {
            sum.build = sum.build.min(self.effort.build);
            sum.solve = sum.solve.min(self.effort.solve);
        }
        self.effort = sum;
        self.selections = phases.selections.len();
        self.optimal = phases.selections.iter().filter(|s| s.status == Status::Optimal).count();
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn order() -> impl Iterator<Item = &'static str> {
    [READ].into_iter().chain(Phase::ALL.iter().map(|phase| phase.name()))
}

fn as_text(rows: &[Row]) -> String {
    let mut text = format!("ms per phase\n{:<12}", "story");
    order().for_each(|name| text += &format!("  {name:>9}"));
    text += "\n";
    for row in rows {
        text += &format!("{:<12}", row.name);
        order().for_each(|name| text += &format!("  {:>9.2}", milliseconds(row.times[name])));
        text += "\n";
    }
    text += &format!(
        "\nthe integer program: the product's classes and nodes, nodes left after presolve, solver runs\n{:<12}  \
         {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}\n",
        "story", "functions", "classes", "nodes", "left", "runs", "build ms", "solve ms", "optimal"
    );
    for row in rows {
        let effort = &row.effort;
        text += &format!(
            "{:<12}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9.2}  {:>9.2}  {:>9}\n",
            row.name,
            row.functions,
            effort.classes,
            effort.nodes,
            effort.left,
            effort.runs,
            milliseconds(effort.build),
            milliseconds(effort.solve),
            format!("{}/{}", row.optimal, row.selections),
        );
    }
    text
}

fn as_json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let effort = &row.effort;
        let seconds: serde_json::Map<_, _> =
            order().map(|name| (name.to_string(), json!(row.times[name].as_secs_f64()))).collect();
        json!({
            "story": row.name,
            "functions": row.functions,
            "seconds": seconds,
            "selections": row.selections,
            "optimal": row.optimal,
            "integer_program": {
                "classes": effort.classes,
                "nodes": effort.nodes,
                "left": effort.left,
                "parts": effort.parts,
                "runs": effort.runs,
                "build_seconds": effort.build.as_secs_f64(),
                "solve_seconds": effort.solve.as_secs_f64(),
            },
        })
    };
    format!("{:#}\n", json!(rows.iter().map(row).collect::<Vec<_>>()))
}
