//! What `opt --remarks` and `why-not` say of loops, of branches, memory, checks and statements: what was recognised, what was made of it,
//! and why not more.

use rewright_cfg_skeleton::select::cost::reported;
use rewright_cfg_skeleton::variants::Change;
use rewright_pipeline::optimiser::{
    LoopRemark, LoopTest, MovedCheck, MovedStatement, OptimisedFunction, Restructured, VariantFate, VariantRemark,
};
use rewright_report::remarks::Moved;
use rewright_report::text;
use serde_json::json;

/// The report on one function's loops, for people: what was inlined, a line for each check that is executed earlier, for
/// each variant that was tried, and for each loop of what goes out.
pub(in super::super) fn lines(function: &OptimisedFunction) -> Vec<String> {
    let line = |(number, remark): (usize, &LoopRemark)| {
        let nested = if remark.depth > 1 { format!(" (depth {})", remark.depth) } else { String::new() };
        format!("loop {}{nested}: {}", number + 1, said(remark).join("; "))
    };
    let inlined = (!function.inlined.is_empty()).then(|| format!("inlined: {}", function.inlined.join(", ")));
    let heads = (!function.heads.is_empty())
        .then(|| format!("inlined as far as it may return at once: {}", each_once(&function.heads)));
    let jumps = (function.tail_calls > 0).then(|| match function.tail_calls {
        1 => "1 call of itself, which it returns, is a jump".to_string(),
        calls => format!("{calls} calls of itself, which it returns, are jumps"),
    });
    let variants = function.variants.iter().map(variant);
    let moved = restructured(&function.restructured)
        .into_iter()
        .chain(function.moved_statements.iter().map(|statement| text::moved(&Moved::of(statement, None))));
    let narrowed = (!function.narrowed.is_empty())
        .then(|| format!("more specific types of parameters of blocks: {}", each_once(&function.narrowed)));
    inlined
        .into_iter()
        .chain(heads)
        .chain(jumps)
        .chain(narrowed)
        .chain(moved)
        .chain(variants)
        .chain(function.loops.iter().enumerate().map(line))
        .collect()
}

/// Names, each once, with how often it is there where that is more.
fn each_once(names: &[String]) -> String {
    let times = |name: &String| names.iter().filter(|other| *other == name).count();
    let firsts = names.iter().enumerate().filter(|(at, name)| !names[..*at].contains(name));
    let shown = firsts.map(|(_, name)| match times(name) {
        1 => name.clone(),
        times => format!("{name} ({times} times)"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn restructured(made: &Restructured) -> Vec<String> {
    let Restructured { decided, passed, threaded, loads, stores, overwritten, delayed, moved: checks } = made;
    let counted = [
        (*decided, "branch always goes one way", "branches always go one way"),
        (*passed, "check never traps", "checks never trap"),
        (*threaded, "edge goes past a block that it decides", "edges go past blocks that they decide"),
        (*loads, "load becomes a parameter of a block", "loads become parameters of blocks"),
        (*stores, "store is executed once, behind its loop", "stores are executed once, behind their loops"),
        (*overwritten, "store is needed on no path", "stores are needed on no path"),
        (*delayed, "store is executed only where it is needed", "stores are executed only where they are needed"),
    ];
    let line = |(count, one, many): (usize, &str, &str)| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    counted.into_iter().filter_map(line).chain(checks.iter().map(moved)).collect()
}

fn moved(check: &MovedCheck) -> String {
    let what = check.operation.as_deref().unwrap_or("a check");
    let from = match (check.places, check.out_of_loop) {
        (1, _) => "ahead of the loop that it was in".to_string(),
        (places, true) => format!("ahead of a loop, in place of {places} times in and behind it"),
        (places, false) => format!("before a branch, in place of {places} times behind it"),
    };
    format!("{what} is executed once, {from}")
}

/// The same for programs.
pub(in super::super) fn moved_statements_json(moved: &[MovedStatement]) -> serde_json::Value {
    let one = |MovedStatement { operation, nth, calls, line, places, .. }: &MovedStatement| json!({ "operation": operation, "nth": nth, "calls": calls, "line": line, "places": places });
    moved.iter().map(one).collect()
}

/// The same for programs.
pub(in super::super) fn restructured_json(made: &Restructured) -> serde_json::Value {
    let Restructured { decided, passed, threaded, loads, stores, overwritten, delayed, moved } = made;
    let one = |check: &MovedCheck| json!({ "operation": check.operation, "places": check.places, "out_of_loop": check.out_of_loop });
    let checks: Vec<_> = moved.iter().map(one).collect();
    json!({
        "branches_decided": decided, "checks_passed": passed, "edges_threaded": threaded, "loads_promoted": loads,
        "stores_behind_loops": stores, "stores_overwritten": overwritten, "stores_delayed": delayed, "checks_moved": checks,
    })
}

fn variant(remark: &VariantRemark) -> String {
    let fate = match &remark.fate {
        VariantFate::Taken { before, after } => format!("taken, cost {} -> {}", reported(*before), reported(*after)),
        VariantFate::Dearer(cost) => format!("not taken: it costs {}", reported(*cost)),
        VariantFate::Larger(cost) => {
            format!("not taken: it costs {}, which is not worth that it is larger", reported(*cost))
        }
        VariantFate::Second(cost) => format!("not taken yet: it costs {}, another one less", reported(*cost)),
        VariantFate::Untried => "not tried: there are too many others".to_string(),
        VariantFate::Failed(why) => format!("not taken: {why}"),
    };
    let what = remark.number.map(|number| format!("loop {number} ")).unwrap_or_default();
    let lines = match remark.lines {
        0 => String::new(),
        lines => format!(", and {} less for lines of the cache", reported(lines)),
    };
    format!("variant, {what}{}: {fate}{lines}", changed(remark.change))
}

fn changed(change: Change) -> String {
    match change {
        Change::TestLast => "tests at its end".to_string(),
        Change::Ahead(1) => "after its first iteration".to_string(),
        Change::Ahead(times) => format!("after its first {times} iterations"),
        Change::Instead(1) => "replaced by its only iteration".to_string(),
        Change::Instead(times) => format!("replaced by its {times} iterations"),
        Change::Unrolled(times) => format!("with {times} iterations in one"),
        Change::Together(times) => format!("with {times} iterations behind one test"),
        Change::Divided(block) => format!("for each way that block {} branches", block.0),
        Change::Fused(block) => format!("together with the one that follows it (block {})", block.0),
        Change::Interchanged(block) => {
            format!("in the place of the one in it (block {}), and that one in its", block.0)
        }
        Change::Copied(block) => format!("block {} for each way into it", block.0),
    }
}

fn said(remark: &LoopRemark) -> Vec<String> {
    let listed = |of: &[(String, usize)]| {
        let one = |(name, count): &(String, usize)| format!("{count} {name}");
        of.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut said = vec![];
    if !remark.carries.is_empty() {
        said.push(format!("carries {}", listed(&remark.carries)));
    }
    said.extend(remark.test.as_ref().map(|test| match test {
        LoopTest::Times(n) => format!("goes on {n} times"),
        LoopTest::While(operation) => format!("goes on while {operation} holds, and ends"),
        LoopTest::Counter => "goes on until its counter is zero".to_string(),
        LoopTest::MustEnd => "must end, or have an effect".to_string(),
    }));
    if !remark.new.is_empty() {
        said.push(format!("gets {}", listed(&remark.new)));
    }
    said.push(match (remark.gone, remark.because) {
        (true, _) => "is gone".to_string(),
        (false, None) => "stays".to_string(),
        (false, Some(because)) => format!("stays: {because}"),
    });
    said
}

/// Variants that were tried, for programs.
pub(in super::super) fn variants_json(variants: &[VariantRemark]) -> serde_json::Value {
    let one = |remark: &VariantRemark| {
        let (change, times, block) = match remark.change {
            Change::TestLast => ("test last", None, None),
            Change::Ahead(times) => ("iterations ahead", Some(times), None),
            Change::Instead(times) => ("iterations instead", Some(times), None),
            Change::Unrolled(times) => ("unrolled", Some(times), None),
            Change::Together(times) => ("together", Some(times), None),
            Change::Divided(block) => ("divided", None, Some(block.0)),
            Change::Fused(block) => ("fused", None, Some(block.0)),
            Change::Interchanged(block) => ("interchanged", None, Some(block.0)),
            Change::Copied(block) => ("copied", None, Some(block.0)),
        };
        let (before, cost, because) = match &remark.fate {
            VariantFate::Taken { before, after } => (Some(*before), Some(*after), None),
            VariantFate::Larger(cost) => (None, Some(*cost), Some("it is larger than that is worth")),
            VariantFate::Dearer(cost) | VariantFate::Second(cost) => (None, Some(*cost), None),
            VariantFate::Untried => (None, None, Some("there are too many others")),
            VariantFate::Failed(why) => (None, None, Some(why.as_str())),
        };
        json!({
            "loop": remark.number,
            "change": change,
            "times": times,
            "block": block,
            "taken": before.is_some(),
            "cost_before": before.map(reported),
            "cost": cost.map(reported),
            "cache_lines": (remark.lines > 0).then(|| reported(remark.lines)),
            "because": because,
        })
    };
    variants.iter().map(one).collect()
}

/// Loops, for programs.
pub(in super::super) fn json(loops: &[LoopRemark]) -> serde_json::Value {
    let counts = |of: &[(String, usize)]| -> serde_json::Value {
        of.iter().map(|(name, count)| (name.clone(), json!(count))).collect::<serde_json::Map<_, _>>().into()
    };
    let one = |remark: &LoopRemark| {
        let (times, test) = match &remark.test {
            Some(LoopTest::Times(n)) => (Some(*n), None),
            Some(LoopTest::While(operation)) => (None, Some(operation.as_str())),
            Some(LoopTest::Counter) => (None, Some("counter")),
            Some(LoopTest::MustEnd) | None => (None, None),
        };
        json!({
            "depth": remark.depth,
            "carries": counts(&remark.carries),
            "times": times,
            "while": test,
            "must_end": remark.test == Some(LoopTest::MustEnd),
            "new": counts(&remark.new),
            "gone": remark.gone,
            "because": remark.because,
        })
    };
    loops.iter().map(one).collect()
}
