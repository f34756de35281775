//! What metadata says of loops.
//!
//! A loop's node is `distinct`, and its own first operand: `!6 = distinct !{!6, !7}`. Each further operand is a node about
//! one property: `!7 = !{!"llvm.loop.mustprogress"}`.

use super::lex::{Kind, Token, tokens};
use rustc_hash::FxHashSet;

const PROGRESS: &str = "llvm.loop.mustprogress";

/// The nodes of loops in a file that have `llvm.loop.mustprogress`: such a loop ends, or has an effect that others see.
pub fn progressing(text: &str) -> FxHashSet<String> {
    if !text.contains(PROGRESS) {
        return FxHashSet::default();
    }
    let says_so = |node: &str| operands(node).is_some_and(|found| found == [format!("!\"{PROGRESS}\"")]);
    let properties: FxHashSet<&str> = nodes(text).filter(|(_, node)| says_so(node)).map(|(name, _)| name).collect();
    let is_progressing = |(name, node): &(&str, &str)| {
        let found = node.strip_prefix("distinct ").and_then(operands);
        found.is_some_and(|found| match found.split_first() {
            Some((first, rest)) => {
                first == name && rest.iter().any(|operand| properties.contains(operand.as_str()) || says_so(operand))
            }
            None => false,
        })
    };
    nodes(text).filter(is_progressing).map(|(name, _)| name.to_string()).collect()
}

/// Nodes with a number: they stand at the starts of lines.
pub(super) fn nodes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (name, node) = line.split_once(" = ").filter(|_| line.starts_with('!'))?;
        name[1..].bytes().all(|b| b.is_ascii_digit()).then_some((name, node))
    })
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
!4 = !{!4, !10}
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
        assert_eq!(found, ["!1", "!8"]);
        assert!(progressing("!1 = distinct !{!1, !2}\n!2 = !{!\"llvm.loop.unroll.disable\"}\n").is_empty());
        for end in 0..text.len() {
            progressing(&text[..end]);
        }
    }
}
