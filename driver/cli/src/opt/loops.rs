//! What `opt --remarks` and `why-not` say of loops: what was recognised, what was made of it, and why not more.

use rewright_pipeline::optimiser::{LoopRemark, LoopTest};
use serde_json::json;

/// The loops of one function, for people: a line each.
pub(in super::super) fn lines(loops: &[LoopRemark]) -> Vec<String> {
    let line = |(number, remark): (usize, &LoopRemark)| {
        let nested = if remark.depth > 1 { format!(" (depth {})", remark.depth) } else { String::new() };
        format!("loop {}{nested}: {}", number + 1, said(remark).join("; "))
    };
    loops.iter().enumerate().map(line).collect()
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

/// The same for programs.
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
