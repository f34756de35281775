//! Two texts beside each other.

use rewright_pipeline::source::{Sides, TextLine};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Equal lines that stay around what differs.
const CONTEXT: usize = 3;

/// A part of two texts.
pub(crate) enum Part<'s> {
    /// Lines beside each other; what only one text has has nothing beside it.
    Rows(Vec<Row<'s>>),
    /// Equal lines far from what differs.
    Folded(Vec<Row<'s>>),
}

/// A line of each text.
#[derive(Clone, Copy)]
pub(crate) struct Row<'s> {
    pub(crate) before: Option<&'s TextLine>,
    pub(crate) after: Option<&'s TextLine>,
}

impl Row<'_> {
    /// Is the line the same in both?
    pub(crate) fn is_equal(&self) -> bool {
        matches!((self.before, self.after), (Some(a), Some(b)) if a.text == b.text)
    }
}

/// Puts two texts beside each other, and folds what is the same in long runs.
pub(crate) fn parts(sides: &Sides) -> Vec<Part<'_>> {
    let texts = |lines: &'_ [TextLine]| lines.iter().map(|line| line.text.clone()).collect::<Vec<String>>();
    let operations = capture_diff_slices(Algorithm::Myers, &texts(&sides.before), &texts(&sides.after));
    let last = operations.len().saturating_sub(1);
    let (mut parts, mut rows) = (vec![], vec![]);
    for (n, operation) in operations.iter().enumerate() {
        let before = &sides.before[operation.old_range()];
        let after = &sides.after[operation.new_range()];
        let beside = |i: usize| Row { before: before.get(i), after: after.get(i) };
        let mut own: Vec<Row<'_>> = (0..before.len().max(after.len())).map(beside).collect();
        let (first, end) = (if n == 0 { 0 } else { CONTEXT }, if n == last { 0 } else { CONTEXT });
        let is_equal = matches!(operation, DiffOp::Equal { .. });
        // The folded part is longer than the line that says so.
        if is_equal && own.len() > first + end + 2 {
            let rest = own.split_off(own.len() - end);
            let folded = own.split_off(first);
            rows.extend(own);
            parts.push(Part::Rows(std::mem::take(&mut rows)));
            parts.push(Part::Folded(folded));
            own = rest;
        }
        rows.extend(own);
    }
    parts.push(Part::Rows(rows));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn sides(before: &[&str], after: &[&str]) -> Sides {
        let lines = |texts: &[&str]| {
            texts.iter().map(|text| TextLine { text: (*text).into(), place: None }).collect::<Vec<_>>()
        };
        Sides { before: lines(before), after: lines(after), renamed: BTreeMap::new() }
    }

    fn shown(sides: &Sides) -> Vec<String> {
        let row = |row: &Row<'_>| {
            let text = |line: Option<&TextLine>| line.map_or("", |line| line.text.as_str()).to_string();
            format!("{}|{}", text(row.before), text(row.after))
        };
        let part = |part: &Part<'_>| match part {
            Part::Rows(rows) => rows.iter().map(row).collect(),
            Part::Folded(rows) => vec![format!("{} equal", rows.len())],
        };
        parts(sides).iter().flat_map(part).collect()
    }

    #[test]
    fn equal_lines_are_beside_each_other() {
        assert_eq!(shown(&sides(&["a", "b", "c"], &["a", "x", "y", "c"])), ["a|a", "b|x", "|y", "c|c"]);
        assert_eq!(shown(&sides(&["a"], &[])), ["a|"]);
        assert!(shown(&sides(&[], &[])).is_empty());
    }

    #[test]
    fn long_runs_are_folded_and_nothing_is_lost() {
        let long: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let mut changed = long.clone();
        changed[20] = "x".into();
        let texts = |lines: &[String]| lines.iter().map(|line| line.as_str().to_string()).collect::<Vec<_>>();
        let (long, changed) = (texts(&long), texts(&changed));
        let refs = |lines: &'static [String]| lines.iter().map(String::as_str).collect::<Vec<_>>();
        let (long, changed) = (refs(long.leak()), refs(changed.leak()));
        let both = sides(&long, &changed);
        assert_eq!(
            shown(&both),
            ["17 equal", "17|17", "18|18", "19|19", "20|x", "21|21", "22|22", "23|23", "16 equal"]
        );
        let all: usize = parts(&both)
            .iter()
            .map(|part| match part {
                Part::Rows(rows) | Part::Folded(rows) => rows.len(),
            })
            .sum();
        assert_eq!(all, 40);
    }
}
