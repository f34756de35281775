//! What `opt` says of the functions of a file: fates, figures, rules, times.

use super::super::{Format, limits, out};
use super::{Args, loops};
use rewright_cfg_skeleton::egraph::{Extent, Growth, Stop};
use rewright_cfg_skeleton::select::{Ended, cost::reported};
use rewright_dsl::diagnostic::count;
use rewright_dsl::program::RuleId;
use rewright_pipeline::bisect;
use rewright_pipeline::front::Statistics;
use rewright_pipeline::optimiser::{Fate, OptimisedFunction, Optimiser, Phase};
use rewright_pipeline::source::SourcePlace;
use rewright_pipeline::stops::describe;
use rewright_report::remarks::{Change, FileReport, LeftOut, RuleRef, status};
use rewright_report::text;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What became of a file.
pub(super) struct Made {
    /// What came in, with the functions that are specialised.
    pub(super) came_in: Vec<u8>,
    /// What goes out.
    pub(super) printed: String,
    /// The rules.
    pub(super) optimiser: Optimiser,
    /// What became of its functions.
    pub(super) statistics: Statistics,
    /// The same for people, function by function.
    pub(super) told: FileReport,
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

/// Says on stderr what the user asked for, and what failed in any case.
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
    let mut behind: BTreeMap<RuleId, u64> = BTreeMap::new();
    for rule in file.statistics.outcomes().flat_map(OptimisedFunction::behind) {
        *behind.entry(rule).or_default() += 1;
    }
    if args.format == Format::Json {
        let grown = |g: &Growth| json!({ "rule": rule(&g.rule), "matches": g.matches, "nodes": g.nodes });
        let stop = |s: &Stop| {
            json!({
                "budget": s.budget.name(),
                "limit": s.limit,
                "ruleset": s.ruleset,
                "ends": match s.extent {
                    Extent::Rules => "rules",
                    Extent::Step => "step",
                    Extent::Run => "run",
                },
                "grew": s.grew.iter().map(grown).collect::<Vec<_>>(),
            })
        };
        let functions: Vec<_> = functions()
            .zip(&file.told.functions)
            .map(|(f, told)| {
                let mut entry = placed(json!({ "name": f.name, "fate": text::fate(&f.fate) }), told.place.as_ref());
                if let Some(o) = &f.outcome {
                    entry["cost_before"] = json!(reported(o.cost_before));
                    entry["cost_after"] = json!(reported(o.cost_after));
                    entry["status"] = json!(status(o.status));
                    entry["ended"] = json!(o.ended.map(Ended::name));
                    entry["nodes"] = json!(o.nodes);
                    entry["classes"] = json!(o.classes);
                    entry["rounds"] = json!(o.rounds);
                    entry["exhausted"] = json!(o.exhausted());
                    entry["stops"] = json!(o.stops.iter().map(stop).collect::<Vec<_>>());
                    entry["rules"] = json!(o.rules.iter().map(rule).collect::<Vec<_>>());
                    entry["changed"] = told.changes.iter().map(changed).collect();
                    entry["loops"] = loops::json(&o.loops);
                    entry["inlined"] = json!(o.inlined);
                    entry["heads"] = json!(o.heads);
                    entry["restructured"] = loops::restructured_json(&o.restructured);
                    entry["moved_statements"] = loops::moved_statements_json(&o.moved_statements);
                    entry["narrowed"] = json!(o.narrowed);
                    entry["variants"] = loops::variants_json(&o.variants);
                    entry["relaxed"] = told.left_out.iter().map(relaxed).collect();
                    entry["unwritten"] = json!(told.unwritten);
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
            .map(|(r, report)| {
                let changes = behind.get(r).copied().unwrap_or(0);
                let seconds = report.time.as_secs_f64();
                (rule(r), json!({ "matches": report.matches, "changes": changes, "seconds": seconds }))
            })
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
    for (f, told) in functions().zip(&file.told.functions) {
        let figures = f.outcome.as_ref().map_or(String::new(), |o| {
            let budget = if o.exhausted() { ", budget exhausted" } else { "" };
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
        out::report(&format!("{}{figures}", text::heading(told)));
        for stop in f.outcome.iter().flat_map(|o| &o.stops) {
            out::report(&format!("  {}", describe(file.optimiser.program(), stop)));
        }
        if args.remarks {
            for r in f.outcome.iter().flat_map(|o| &o.rules) {
                out::report(&format!("  {}", rule(r)));
            }
            let changes = told.changes.iter().map(text::change);
            let loops = f.outcome.iter().flat_map(loops::lines);
            let lines = changes.chain(loops).chain(told.left_out.iter().map(text::left_out));
            let lines = lines.chain(told.unwritten.iter().cloned());
            lines.for_each(|line| out::report(&format!("  {line}")));
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
        // Those that changed something come first.
        let changes = |r: &RuleId| behind.get(r).copied().unwrap_or(0);
        by_count.sort_by_key(|(r, report)| (Reverse(changes(r)), Reverse(report.matches), **r));
        for (r, report) in by_count.iter().take(20) {
            let time = report.time.as_secs_f64() * 1e3;
            let (changes, matches) = (changes(r), report.matches);
            out::report(&format!("{changes:>6} changes {matches:>8} matches {time:>8.2} ms  {}", rule(r)));
        }
    }
}

fn names(rules: &[RuleRef]) -> Vec<&str> {
    rules.iter().map(|rule| rule.name.as_str()).collect()
}

fn changed(change: &Change) -> Value {
    let Change { place, value, now, was, rules } = change;
    placed(json!({ "value": value, "now": now, "was": was, "rules": names(rules) }), place.as_ref())
}

fn relaxed(left: &LeftOut) -> Value {
    let LeftOut { place, operation, nth, calls, line, rule, because: _ } = left;
    let entry = json!({
        "operation": operation,
        "nth": nth,
        "calls": calls,
        "rule": rule.name,
        "file": rule.file,
        "line": rule.line,
        "input_line": line,
    });
    placed(entry, place.as_ref())
}

/// An entry with its place in the source, where that is known.
fn placed(mut entry: Value, place: Option<&SourcePlace>) -> Value {
    if let Some(place) = place {
        entry["place"] = json!(place);
    }
    entry
}
