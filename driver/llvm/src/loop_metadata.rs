//! What metadata says of loops.
//!
//! A loop's node is `distinct`, and its own first operand: `!6 = distinct !{!6, !7}`. Each further operand is a node about
//! one property: `!7 = !{!"llvm.loop.mustprogress"}`.

use super::lex::{Kind, Token, tokens, unescaped};
use rustc_hash::FxHashSet;

const PROGRESS: &str = "llvm.loop.mustprogress";

/// The nodes of loops in a file that have `llvm.loop.mustprogress`: such a loop ends, or has an effect that others see.
pub fn progressing(text: &str) -> FxHashSet<String> {
    if !text.contains("!llvm.loop") {
        return FxHashSet::default();
    }
    let is_progress = |operand: &String| string(operand).is_some_and(|text| text == PROGRESS.as_bytes());
    // A second operand says whether the first one holds.
    let says_so = |node: &str| match operands(node).as_deref() {
        Some([property]) => is_progress(property),
        Some([property, value]) => is_progress(property) && ["i1true", "i321"].contains(&value.as_str()),
        _ => false,
    };
    let properties: FxHashSet<&str> = nodes(text).filter(|(_, node)| says_so(node)).map(|(name, _)| name).collect();
    let is_progressing = |(name, node): &(&str, &str)| {
        // A node that names itself is distinct, whether it says so or not.
        let found = operands(node.strip_prefix("distinct").unwrap_or(node).trim_start());
        found.is_some_and(|found| match found.split_first() {
            Some((first, rest)) => {
                first == name && rest.iter().any(|operand| properties.contains(operand.as_str()) || says_so(operand))
            }
            None => false,
        })
    };
    nodes(text).filter(is_progressing).map(|(name, _)| name.to_string()).collect()
}

/// Nodes with a number: each has a line of its own.
pub(super) fn nodes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let (name, node) = line.split_once('=').filter(|_| line.starts_with('!'))?;
        let (name, node) = (name.trim_end(), node.trim_start());
        name[1..].bytes().all(|b| b.is_ascii_digit()).then_some((name, node))
    })
}

/// The bytes of an operand `!"text"`.
fn string(operand: &str) -> Option<Vec<u8>> {
    let inner = operand.strip_prefix("!\"")?.strip_suffix('"')?;
    Some(unescaped(inner))
}

/// What stands between the braces of `!{..}`, without white space.
pub(super) fn operands(node: &str) -> Option<Vec<String>> {
    let tokens = tokens(node);
    let word = |t: &Token| &node[t.start..t.end];
    let [bang, open, inner @ .., close] = tokens.as_slice() else { return None };
    if bang.kind != Kind::Metadata || word(bang) != "!" || word(open) != "{" || word(close) != "}" {
        return None;
    }
    let (mut found, mut depth) = (vec![String::new()], 0u32);
    for token in inner {
        match word(token) {
            "," if depth == 0 => found.push(String::new()),
            text => {
                depth = match text {
                    "{" | "(" => depth + 1,
                    "}" | ")" => depth.checked_sub(1)?,
                    _ => depth,
                };
                found.last_mut()?.push_str(text);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_make_progress() {
        let text = r#"
define void @f() {
  br label %l, !llvm.loop !1
}
!1 = distinct !{!1, !20, !10}
!2 = distinct !{!2, !11}
!3 = distinct !{!1, !10}
!4 = !{!4, !10} ; distinct, since it names itself
!5 = distinct !{!5}
!6 = distinct !{!6, !12}
!7 = distinct !{!7, !"a, !10, b"}
!8 = distinct !{!8, !{!"llvm.loop.mustprogress"}} ; written out
!9 = distinct !{!9, !{!10}}
!10 = !{!"llvm.loop.mustprogress"}
!11 = !{!"llvm.loop.vectorize.enable", i1 true}
!12 = !{!"llvm.loop.mustprogress", i1 false}
!13 = distinct !{!13, !14}
!14 = distinct !{!"llvm.loop.mustprogress"}
!20 = !DILocation(line: 9, column: 3, scope: !4)
"#;
        let mut found: Vec<String> = progressing(text).into_iter().collect();
        found.sort();
        assert_eq!(found, ["!1", "!4", "!8"]);
        assert!(progressing("!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.unroll.disable\"}\n").is_empty());
        for end in 0..text.len() {
            progressing(&text[..end]);
        }
    }
}
