//! What `opt` says of the functions of a file: fates, figures, rules, times.

use super::super::{Format, limits, out};
use super::{Args, changes};
use rewright_cfg_skeleton::select::{Ended, Status, cost::reported};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::RuleId;
use rewright_pipeline::bisect;
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{Fate, Optimiser, Phase, Relaxed};
use serde_json::json;

/// What became of a file.
pub(super) struct Made {
    /// What goes out.
    pub(super) printed: String,
    /// The rules.
    pub(super) optimiser: Optimiser,
    /// What became of its functions.
    pub(super) statistics: Statistics,
}

/// Says on stderr which rules have one match more with a limit than with one less.
pub(super) fn last_matches(limit: u64, before: &Made, made: &Made) {
    let program = made.optimiser.program();
    let more = bisect::more(&before.statistics.rules, &made.statistics.rules);
    // One for each time that the function was built: skeleton changes start anew.
    for rule in &more {
        let rule = program.rule(*rule);
        let place = program.sources.place(rule.span);
        out::report(&format!("match {limit} is of {} ({}:{})", rule.name, place.file, place.line));
    }
    if more.is_empty() {
        out::report(&format!("there is no match {limit}"));
    }
}

/// Says on stderr what the user asked to hear, and what failed in any case.
pub(super) fn report(args: &Args, file: &Made) {
    let functions = || file.statistics.wanted();
    let matched = || file.statistics.rules.iter().filter(|(_, report)| report.matches > 0);
    for function in functions() {
        if let Fate::Failed(reason) = &function.fate {
            out::note(&format!("warning: {}: {reason}; the original goes out", function.name));
        }
    }
    for function in functions() {
        if let Some(pass) = function.outcome.as_ref().and_then(|outcome| outcome.refused) {
            out::note(&format!(
                "warning: {}: the pass `{pass}` over the selection made a wrong program, so it and those after it are \
                 left \
                 out; this is a bug: report it",
                function.name
            ));
        }
    }
    let told = args.stats || args.remarks;
    if !told || args.format == Format::Text {
        limits::report(file.statistics.outcomes());
    }
    if !told {
        return;
    }
    let rule = |r: &RuleId| file.optimiser.program().rule(*r).name.clone();
    // The pack and the line of a rule.
    let place = |r: &RuleId| {
        let program = file.optimiser.program();
        let place = program.sources.place(program.rule(*r).span);
        (place.file, place.line)
    };
    if args.format == Format::Json {
        let functions: Vec<_> = functions()
            .map(|f| {
                let mut entry = json!({ "name": f.name, "fate": fate(&f.fate) });
                if let Some(o) = &f.outcome {
                    entry["cost_before"] = json!(reported(o.cost_before));
                    entry["cost_after"] = json!(reported(o.cost_after));
                    entry["status"] = json!(status(o.status));
                    entry["ended"] = json!(o.ended.map(Ended::name));
                    entry["nodes"] = json!(o.nodes);
                    entry["classes"] = json!(o.classes);
                    entry["rounds"] = json!(o.rounds);
                    entry["exhausted"] = json!(o.exhausted);
                    entry["rules"] = json!(o.rules.iter().map(rule).collect::<Vec<_>>());
                    let relaxed = |r: &Relaxed| {
                        let (file, line) = place(&r.rule);
                        json!({
                            "operation": r.operation,
                            "nth": r.nth,
                            "calls": r.calls,
                            "rule": rule(&r.rule),
                            "file": file,
                            "line": line,
                            "input_line": r.line,
                        })
                    };
                    entry["changed"] = changes::json(file.optimiser.program(), f);
                    entry["relaxed"] = json!(o.relaxed.iter().map(relaxed).collect::<Vec<_>>());
                }
                entry
            })
            .collect();
        let phases: serde_json::Map<_, _> = Phase::ALL
            .iter()
            .map(|p| {
                (p.name().to_string(), json!(file.statistics.phases.times.get(p).map_or(0.0, |t| t.as_secs_f64())))
            })
            .collect();
        let rules: serde_json::Map<_, _> = matched()
            .map(|(r, report)| (rule(r), json!({ "matches": report.matches, "seconds": report.time.as_secs_f64() })))
            .collect();
        let passes: serde_json::Map<_, _> = file
            .statistics
            .phases
            .passes
            .iter()
            .map(|(pass, time)| ((*pass).to_string(), json!(time.as_secs_f64())))
            .collect();
        let all = json!({ "functions": functions, "seconds": phases, "passes": passes, "rules": rules });
        out::report(&all.to_string());
        return;
    }
    for f in functions() {
        let figures = f.outcome.as_ref().map_or(String::new(), |o| {
            let budget = if o.exhausted { ", budget exhausted" } else { "" };
            format!(
                ", cost {} -> {} ({}{}), {} in {} {}, {}{budget}",
                reported(o.cost_before),
                reported(o.cost_after),
                status(o.status),
                o.ended.map_or(String::new(), |ended| format!(", {}", ended.name())),
                count(o.nodes, "node"),
                o.classes,
                if o.classes == 1 { "class" } else { "classes" },
                count(o.rounds, "round")
            )
        });
        out::report(&format!("{}: {}{figures}", f.name, fate(&f.fate)));
        if args.remarks {
            for r in f.outcome.iter().flat_map(|o| &o.rules) {
                out::report(&format!("  {}", rule(r)));
            }
            for line in changes::lines(file.optimiser.program(), f) {
                out::report(&format!("  {line}"));
            }
            for relaxed in f.outcome.iter().flat_map(|o| &o.relaxed) {
                let because = file.optimiser.program().rule(relaxed.rule).relaxation.as_ref();
                let because = because.map_or("", |relaxation| &relaxation.because);
                let (name, (file, line)) = (rule(&relaxed.rule), place(&relaxed.rule));
                let which = match relaxed.calls {
                    1 => String::new(),
                    calls => format!(" ({} of {calls})", relaxed.nth),
                };
                let operation = &relaxed.operation;
                let input = relaxed.line.map_or(String::new(), |line| format!(" in line {line}"));
                out::report(&format!("  `{operation}`{which}{input} is left out by {name} ({file}:{line}): {because}"));
            }
        }
    }
    if args.stats {
        let shown: Vec<_> = Phase::ALL
            .iter()
            .filter_map(|p| {
                file.statistics.phases.times.get(p).map(|t| format!("{} {:.2} ms", p.name(), t.as_secs_f64() * 1e3))
            })
            .collect();
        out::report(&format!("time: {}", shown.join(", ")));
        let passes = file.statistics.phases.passes.iter();
        let passes: Vec<_> = passes.map(|(pass, t)| format!("{pass} {:.2} ms", t.as_secs_f64() * 1e3)).collect();
        if !passes.is_empty() {
            out::report(&format!("passes of select: {}", passes.join(", ")));
        }
        let mut by_count: Vec<_> = matched().collect();
        by_count.sort_by_key(|(r, report)| (std::cmp::Reverse(report.matches), **r));
        for (r, report) in by_count.iter().take(20) {
            let time = report.time.as_secs_f64() * 1e3;
            out::report(&format!("{:>8} matches {time:>8.2} ms  {}", report.matches, rule(r)));
        }
    }
}

/// A fate as reports name it.
fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Optimised => "optimised".into(),
        Fate::Unchanged => "unchanged".into(),
        Fate::PassedThrough(reason) => format!("passed through: {reason}"),
        Fate::Failed(reason) => format!("failed: {reason}"),
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Optimal => "optimal".into(),
        Status::Gap(gap) => format!("gap {:.1} %", gap * 100.0),
        Status::Greedy => "greedy".into(),
    }
}
