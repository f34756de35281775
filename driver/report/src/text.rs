//! Reports as lines, for terminals and logs.

use crate::remarks::{Change, FileReport, FunctionReport, LeftOut, Moved, RuleRef};
use rewright_dsl::diagnostic::count;
use rewright_pipeline::optimiser::Fate;

/// What became of a function: `@f (main.c:3)`, in C++ `list::push (list.cc:3)`, and its fate.
pub fn heading(f: &FunctionReport) -> String {
    let place = f.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
    format!("{}{place}: {}", f.title(), fate(&f.fate))
}

/// A fate as reports name it.
pub fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Optimised => "optimised".into(),
        Fate::Unchanged => "unchanged".into(),
        Fate::PassedThrough(reason) => format!("passed through: {reason}"),
        Fate::Failed(reason) => format!("failed: {reason}"),
    }
}

/// A changed value: `main.c:9:3: v3 = ishl(v0, 3), was v2: arith.twice (mine.rw:4)`.
pub fn change(change: &Change) -> String {
    let place = change.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
    let was = if change.was.is_empty() { String::new() } else { format!(", was {}", change.was.join(", ")) };
    let rules: Vec<String> = change.rules.iter().map(rule).collect();
    format!("{place}{}{was}: {}", change.now, rules.join(", "))
}

/// A statement that is left out.
pub fn left_out(left: &LeftOut) -> String {
    let which = if left.calls == 1 { String::new() } else { format!(" ({} of {})", left.nth, left.calls) };
    let line = left.line.map_or(String::new(), |line| format!(" in line {line}"));
    let place = left.place.as_ref().map_or(String::new(), |place| format!("{place}: "));
    format!("{place}`{}`{which}{line} is left out by {}: {}", left.operation, rule(&left.rule), left.because)
}

/// A statement that is executed elsewhere, or nowhere.
pub fn moved(statement: &Moved) -> String {
    let Moved { place, operation, nth, calls, line, places } = statement;
    let place = place.as_ref().map_or(String::new(), |place| format!("{place}: "));
    let which = if *calls == 1 { String::new() } else { format!(" ({nth} of {calls})") };
    let line = line.map_or(String::new(), |line| format!(" in line {line}"));
    let fate = match places {
        0 => "is left out: nothing needs what it gives".to_string(),
        1 => "is executed below a branch, where what it gives is needed".to_string(),
        places => format!("is executed in {places} places below a branch, where what it gives is needed"),
    };
    format!("{place}`{operation}`{which}{line} {fate}")
}

fn rule(rule: &RuleRef) -> String {
    format!("{} ({}:{})", rule.name, rule.file, rule.line)
}

/// What a compiler says of a file: the functions that changed, with what changed in them, those that could not be
/// optimised, and how many stay as they are.
pub fn file(file: &FileReport) -> String {
    let mut text = String::new();
    let mut unchanged = 0;
    for f in &file.functions {
        if f.fate == Fate::Unchanged && f.unwritten.is_empty() {
            unchanged += 1;
            continue;
        }
        let costs = f.figures.as_ref().filter(|_| f.fate == Fate::Optimised);
        let costs = costs.map_or(String::new(), |c| format!(", cost {} -> {}", c.cost_before, c.cost_after));
        text += &format!("{}: {}{costs}\n", file.name, heading(f));
        let changes = f.changes.iter().map(change).chain(f.left_out.iter().map(left_out));
        changes
            .chain(f.moved.iter().map(moved).chain(f.unwritten.iter().cloned()))
            .for_each(|line| text += &format!("  {line}\n"));
        if !f.matched.is_empty() {
            let rules: Vec<String> = f.matched.iter().map(rule).collect();
            text += &format!("  also matched: {}\n", rules.join(", "));
        }
    }
    if unchanged > 0 {
        text += &format!("{}: {} unchanged\n", file.name, count(unchanged, "function"));
    }
    text
}
