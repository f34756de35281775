//! `rewright bench FILES`: time per phase, and what results cost, against Cranelift's own mid-end on the same
//! functions.
//!
//! For each file our pipeline, as options say and with greedy selection, and Cranelift's pass alternate, `--repeat`
//! times, and the fastest time of each is kept: of files as a whole, and of each function alone. Times are processor
//! times.

mod selections;
mod times;

use super::table::{self, Comparison, Row};
use super::{Args, Finding, OURS, THEIRS, Told, native, peak_memory, tell};
use crate::{input, out, sources};
use anyhow::{Result, anyhow};
use rewright_cfg_skeleton::select::cost::reported;
use rewright_clif::optimise::{ClifOptimiser, FileOutcome};
use rewright_clif::read::{File, FileFunction, read_bytes};
use rewright_dsl::diagnostic::count;
use rewright_extract::{Method, clock};
use rewright_lab::losses::{Compared, Loss, compare};
use rewright_lab::midend::{Code, Cranelift, FilePass, own_cost};
use rewright_pipeline::optimiser::{Options, Selected};
use rewright_report::bench::{Axis, Chart, Series};
use selections::Selections;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use times::{EXPORT, FileRuns, Times, compared, median};

/// The front end's phase before ours.
const PARSE: &str = "parse";

/// The back end's phase: machine code of what we emit. Not part of our ratio to Cranelift's pass.
const CODE: &str = "code";

/// What was measured of one function.
struct Measured {
    name: String,
    /// In the original.
    instructions: usize,
    before: u64,
    ours: u64,
    theirs: u64,
    /// The same by Cranelift's own table.
    by_their_table: [u64; 2],
    code: Option<(Code, Code)>,
    /// Where ours costs more.
    loss: Option<Loss>,
}

/// The fastest times of a file.
struct FileTimes {
    /// In the original.
    instructions: usize,
    ours: Duration,
    theirs: Duration,
}

/// What was measured of all files.
struct Corpus {
    measured: Vec<Measured>,
    unreadable: usize,
    parse: Duration,
    /// The back end's, by function.
    code: Vec<Duration>,
    /// As options select, and greedily, where that is something else.
    methods: Vec<Times>,
    /// Of Cranelift's pass, by function that both take.
    theirs: Vec<Duration>,
    selections: Vec<Selected>,
    files: Vec<FileTimes>,
}

/// What files are measured with.
struct Means<'m> {
    clif: &'m ClifOptimiser,
    options: &'m Options,
    cranelift: &'m Cranelift,
    repeat: u32,
}

pub(super) fn run(args: &Args, clif: &ClifOptimiser, options: &Options) -> Result<Finding> {
    let cranelift = Cranelift::host().map_err(|e| anyhow!("Cranelift does not support this host: {e}"))?;
    let files = sources::clif_files(&args.paths)?;
    let means = Means { clif, options, cranelift: &cranelift, repeat: args.repeat.max(1) };
    let mut corpus = Corpus::new(options.select.method);
    let progress = out::progress("files", files.len() as u64);
    let mut readable = vec![];
    for path in &files {
        progress.inc(1);
        if input::clif(path)?.is_none() {
            corpus.unreadable += 1;
            continue;
        }
        corpus.add(&means, path, &sources::bytes(path)?);
        readable.push(path);
    }
    progress.finish_and_clear();
    let called = args.native.then(|| native::measured(&readable, clif, &cranelift, options)).transpose()?;
    let told = corpus.report(args, called.as_ref());
    tell(args, Told { charts: charts(&corpus.measured, &corpus.files), ..told })?;
    let same = called.is_none_or(|called| called.same());
    Ok(if corpus.unreadable == 0 && same { Finding::Clean } else { Finding::Found })
}

impl Corpus {
    fn new(method: Method) -> Corpus {
        let mut methods = vec![method, Method::Greedy];
        methods.dedup();
        let times = |method| Times { method, in_files: times::ByPhase::new(), alone: vec![] };
        Corpus {
            measured: vec![],
            unreadable: 0,
            parse: Duration::ZERO,
            code: vec![],
            methods: methods.into_iter().map(times).collect(),
            theirs: vec![],
            selections: vec![],
            files: vec![],
        }
    }

    /// Measures a file, which can be read.
    fn add(&mut self, means: &Means<'_>, path: &Path, bytes: &[u8]) {
        let start = clock::now();
        let Ok(file) = read_bytes(bytes) else { return };
        self.parse += clock::since(start);
        let methods = self.methods.iter().map(|times| times.method);
        let mut runs: Vec<FileRuns<'_>> =
            methods.map(|method| FileRuns::new(means.clif, means.options, method, file.functions.len())).collect();
        let mut theirs = FilePass::default();
        for _ in 0..means.repeat {
            runs.iter_mut().for_each(|runs| runs.run(&file));
            theirs.run(means.cranelift, &file);
        }
        let Some(outcome) = runs[0].last.take() else { return };
        let went = outcome.statistics.functions.iter().map(|f| f.as_ref().is_some_and(|f| f.outcome.is_some()));
        let taken: Vec<bool> = went.zip(&theirs.made).map(|(ours, theirs)| ours && theirs.is_some()).collect();
        let of_theirs = theirs.made.iter().zip(&taken).filter(|(_, taken)| **taken);
        let of_theirs: Vec<Duration> = of_theirs.filter_map(|(made, _)| Some(made.as_ref()?.1)).collect();
        self.files.push(FileTimes {
            instructions: file.functions.iter().map(FileFunction::instructions).sum(),
            ours: runs[0].whole(),
            theirs: of_theirs.iter().sum(),
        });
        self.theirs.extend(of_theirs);
        self.selections.extend(&outcome.statistics.phases.selections);
        runs.iter_mut().zip(&mut self.methods).for_each(|(runs, times)| runs.add_to(times, &taken));
        self.compare(means, path, &file, &outcome, &theirs);
    }

    /// Prices what became of the functions of a file, and compiles it.
    fn compare(
        &mut self,
        Means { clif, options, cranelift, .. }: &Means<'_>,
        path: &Path,
        file: &File,
        FileOutcome { replaced, statistics, .. }: &FileOutcome,
        theirs: &FilePass,
    ) {
        for (index, function) in file.functions.iter().enumerate() {
            let (Some((theirs, _)), Some(made)) = (&theirs.made[index], &statistics.functions[index]) else { continue };
            let emitted = replaced[index].as_ref().unwrap_or(&function.func);
            let Some(Compared { before, ours, theirs: cost_of_theirs, loss }) =
                compare(clif, options, file, made, [emitted, theirs])
            else {
                continue;
            };
            let code = cranelift.code(emitted).ok().zip(cranelift.code(theirs).ok());
            self.code.extend(code.as_ref().map(|((_, time), _)| *time));
            self.measured.push(Measured {
                name: format!("{} {}", path.display(), made.name),
                instructions: function.instructions(),
                before,
                ours,
                theirs: cost_of_theirs,
                by_their_table: [own_cost(emitted), own_cost(theirs)],
                code: code.map(|((a, _), (b, _))| (a, b)),
                loss,
            });
        }
    }

    /// Ratios of ours to theirs: their geometric mean.
    fn mean(&self, figures: impl Fn(&Measured) -> Option<(f64, f64)>) -> Comparison {
        let (ratio, over) = geometric_mean(self.measured.iter().filter_map(figures));
        Comparison::Mean { ratio, over }
    }

    /// The functions whose result costs more than Cranelift's, the worst first.
    fn dearer(&self) -> Vec<&Measured> {
        let mut dearer: Vec<_> = self.measured.iter().filter(|m| m.ours > m.theirs).collect();
        dearer.sort_by(|a, b| (b.ours as f64 / b.theirs as f64).total_cmp(&(a.ours as f64 / a.theirs as f64)));
        dearer
    }

    /// All that is compared with Cranelift's mid-end.
    fn rows(&self, called: Option<&native::Called>) -> Vec<Row> {
        let count_where = |which: fn(&Measured) -> bool| Comparison::Count {
            count: self.measured.iter().filter(|m| which(m)).count(),
            of: self.measured.len(),
        };
        let code = |of: fn(&Code) -> usize| self.mean(|m| m.code.map(|(a, b)| (of(&a) as f64, of(&b) as f64)));
        let mut rows = vec![
            Row::new("cost", self.mean(|m| Some((m.ours as f64, m.theirs as f64)))),
            Row::new(
                "cost by Cranelift's own table",
                self.mean(|m| {
                    let [ours, theirs] = m.by_their_table;
                    Some((ours as f64, theirs as f64))
                }),
            ),
            Row::new("functions that are dearer", count_where(|m| m.ours > m.theirs)),
            Row::new("functions that are cheaper", count_where(|m| m.ours < m.theirs)),
        ];
        for times in &self.methods {
            rows.extend(self.rows_of(times));
        }
        if !self.methods.iter().any(|times| times.method == Method::Auto) {
            rows.push(Row::new("time, auto", Comparison::NotMeasured("`--extract auto`")));
        }
        rows.push(Row::new("bytes of machine code", code(|code| code.bytes)));
        rows.push(Row::new("instructions of machine code", code(|code| code.instructions)));
        rows.extend(native::table_rows(called));
        rows
    }

    /// How long a way to select takes.
    fn rows_of(&self, times: &Times) -> [Row; 3] {
        let name = method_name(times.method);
        let compared = |ours, theirs| Comparison::Times { ours, theirs };
        let sum = self.theirs.iter().sum();
        let alone = times.alone();
        [
            Row::new(format!("time, {name}, files, sum"), compared(times.in_files(), sum)),
            Row::new(format!("time, {name}, functions alone, sum"), compared(alone.iter().sum(), sum)),
            Row::new(
                format!("time, {name}, functions alone, median"),
                compared(median(alone), median(self.theirs.clone())),
            ),
        ]
    }

    /// By phase, in order: seconds, and the median over functions alone.
    fn phases(&self) -> Vec<(&'static str, f64, f64)> {
        let times = &self.methods[0];
        let own = |phase| (phase, times.in_files.get(phase).copied().unwrap_or_default(), times.median(phase));
        let parse = (PARSE, self.parse, Duration::ZERO);
        let code = (CODE, self.code.iter().sum(), median(self.code.clone()));
        let all = [parse].into_iter().chain(compared().chain([EXPORT]).map(own)).chain([code]);
        all.map(|(phase, sum, median)| (phase, sum.as_secs_f64(), median.as_secs_f64())).collect()
    }

    /// The figures, without curves.
    fn report(&self, args: &Args, called: Option<&native::Called>) -> Told {
        let rows = self.rows(called);
        let selections = Selections::new(&self.selections);
        let mut json = self.json(&rows, &selections);
        if let (Some(called), Value::Object(json)) = (called, &mut json) {
            json.extend(called.json());
        }
        let text =
            self.text(args, &selections) + &called.map_or(String::new(), native::Called::text) + &table::as_text(&rows);
        Told { title: "bench".into(), text, json, charts: vec![] }
    }

    fn json(&self, rows: &[Row], selections: &Selections) -> Value {
        let losses: Vec<_> = self.dearer().into_iter().map(Measured::json).collect();
        let phases = self.phases();
        let by_phase = |of: fn(&(&str, f64, f64)) -> f64| -> Value {
            phases.iter().map(|phase| (phase.0.to_string(), json!(of(phase)))).collect::<serde_json::Map<_, _>>().into()
        };
        json!({
            "functions": self.measured.len(),
            "peak_memory_bytes": peak_memory(),
            "unreadable_files": self.unreadable,
            "seconds": by_phase(|(_, sum, _)| *sum),
            "median_seconds_per_function": by_phase(|(.., median)| *median),
            "cranelift_seconds": self.theirs.iter().sum::<Duration>().as_secs_f64(),
            "cost_ratio_to_original": self.ratio_to_originals(),
            "selection": selections.json(),
            "dearer": losses,
            "table": table::as_json(rows),
        })
    }

    fn ratio_to_originals(&self) -> f64 {
        geometric_mean(self.measured.iter().map(|m| (m.ours as f64, m.before as f64))).0
    }

    /// What is not in the table.
    fn text(&self, args: &Args, selections: &Selections) -> String {
        let base = self.theirs.iter().sum::<Duration>().as_secs_f64().max(1e-9);
        let (functions, unreadable) =
            (count(self.measured.len(), "function"), count(self.unreadable, "unreadable file"));
        let mut text = format!("{functions}, {unreadable}; processor time by phase\n");
        for (phase, sum, median) in self.phases() {
            let [sum_ms, ratio, median] = [sum * 1e3, sum / base, median * 1e6];
            let median =
                if phase == PARSE { String::new() } else { format!("  {median:>7.1} us median of functions alone") };
            text += &format!("  {phase:<10} {sum_ms:>9.2} ms  {ratio:>6.2}x of Cranelift's pass{median}\n");
        }
        text += &selections.text();
        text += &format!("cost: {:.4} of the originals'\n", self.ratio_to_originals());
        if let Some(bytes) = peak_memory() {
            text += &format!("peak memory of this process: {:.1} MiB\n", bytes as f64 / f64::from(1 << 20));
        }
        if args.losses {
            self.dearer().into_iter().for_each(|m| text += &m.loss_text());
        }
        text
    }
}

impl Measured {
    /// What is said of a function whose result costs more than Cranelift's.
    fn json(&self) -> Value {
        let loss = self.loss.as_ref();
        json!({
            "function": self.name,
            "before": reported(self.before),
            "ours": reported(self.ours),
            "cranelift": reported(self.theirs),
            "reason": loss.map(|l| l.reason.code()),
            "explanation": loss.map(|l| l.reason.to_string()),
            "only_ours": loss.map(|l| l.ours.clone()),
            "only_cranelift": loss.map(|l| l.theirs.clone()),
        })
    }

    /// The same for people.
    fn loss_text(&self) -> String {
        let [before, ours, theirs] = [self.before, self.ours, self.theirs].map(reported);
        let why = self.loss.as_ref().map_or(String::new(), |loss| format!("    {loss}\n"));
        format!("  {:<70} {before} -> {ours} (Cranelift {theirs})\n{why}", self.name)
    }
}

/// As `--extract` names it.
fn method_name(method: Method) -> &'static str {
    match method {
        Method::Tree => "tree",
        Method::Greedy => "greedy",
        Method::Ilp => "ilp",
        Method::Auto => "auto",
    }
}

/// The geometric mean of ratios; pairs with a zero are counted as equal where both are zero and left out otherwise.
fn geometric_mean(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, usize) {
    let logs: Vec<f64> = pairs
        .filter_map(|(a, b)| match (a == 0.0, b == 0.0) {
            (true, true) => Some(0.0),
            (false, false) => Some((a / b).ln()),
            _ => None,
        })
        .collect();
    ((logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp(), logs.len())
}

/// Time by file, and cost by function, over their sizes.
fn charts(measured: &[Measured], files: &[FileTimes]) -> Vec<Chart> {
    let time = |name: &str, time: fn(&FileTimes) -> Duration| {
        let points = files.iter().map(|file| (file.instructions as f64, time(file).as_secs_f64() * 1e3));
        Series { name: name.into(), points: points.collect(), joined: false }
    };
    let cost = |name: &str, cost: fn(&Measured) -> f64| {
        let points = measured.iter().map(|m| (m.instructions as f64, cost(m)));
        Series { name: name.into(), points: points.collect(), joined: false }
    };
    let ratio = |m: &Measured| m.ours as f64 / m.theirs.max(1) as f64;
    vec![
        Chart {
            title: "Time by file".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::logarithmic("ms"),
            series: vec![time(OURS, |file| file.ours), time(THEIRS, |file| file.theirs)],
        },
        Chart {
            title: "Cost by function".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::logarithmic("cost"),
            series: vec![
                cost("original", |m| reported(m.before)),
                cost(THEIRS, |m| reported(m.theirs)),
                cost(OURS, |m| reported(m.ours)),
            ],
        },
        Chart {
            title: "Cost in proportion to Cranelift's, by function".into(),
            x: Axis::logarithmic("instructions"),
            y: Axis::linear("ratio"),
            series: vec![cost(OURS, ratio)],
        },
    ]
}
