//! Formatting as changes of lines, so that an editor keeps its place in all others.

use crate::position::Lines;
use lsp_types::TextEdit;
use similar::{DiffOp, TextDiff};

/// The changes that make one text of another.
pub fn edits(old: &str, new: &str, lines: &Lines) -> Vec<TextEdit> {
    let diff = TextDiff::from_lines(old, new);
    let starts = |text: &[&str]| -> Vec<usize> {
        let mut at = 0;
        let mut starts = vec![0];
        starts.extend(text.iter().map(|line| {
            at += line.len();
            at
        }));
        starts
    };
    let (before, after) = (starts(diff.old_slices()), starts(diff.new_slices()));
    let (mut changes, mut gone, mut come) = (vec![], 0..0, 0..0);
    // Where a deletion is in the new text, and an insertion in the old one, is for us to count: the differ says otherwise
    // after it has moved them. A deletion and an insertion at one place are one change: those of an editor do not touch.
    for run in diff.ops().chunk_by(|a, b| is_equal(a) == is_equal(b)) {
        gone = gone.end..gone.end + run.iter().map(|op| op.old_range().len()).sum::<usize>();
        come = come.end..come.end + run.iter().map(|op| op.new_range().len()).sum::<usize>();
        if !run.iter().any(is_equal) {
            changes.push(TextEdit {
                range: lines.range(old, before[gone.start] as u32, before[gone.end] as u32),
                new_text: new[after[come.start]..after[come.end]].to_string(),
            });
        }
    }
    changes
}

fn is_equal(op: &DiffOp) -> bool {
    matches!(op, DiffOp::Equal { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Encoding;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn changes_make_the_new_text(old in "[ab\u{1d11e}\r\n]{0,30}", new in "[ab\u{1d11e}\n]{0,30}") {
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                let lines = Lines::new(&old, encoding);
                let mut changed = old.clone();
                // Positions are those of the old text for all changes, so the last one is made first.
                for edit in edits(&old, &new, &lines).into_iter().rev() {
                    let offset = |position| lines.offset(&old, position) as usize;
                    changed.replace_range(offset(edit.range.start)..offset(edit.range.end), &edit.new_text);
                }
                prop_assert_eq!(&changed, &new);
            }
        }
    }
}
