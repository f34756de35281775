//! Debug information: where in the source a function or an instruction is.
//!
//! Read for reports only, and as far as they need it: `!DILocation`, the file of its scope, and the call in whose place
//! it was inlined. Metadata that are not understood give no place; nothing here decides what is compiled.

use super::lex::{Kind, Token, tokens, unescaped};
use rewright_pipeline::source::SourcePlace;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Scopes within scopes, and calls inlined within calls, that are followed.
const MAX_DEPTH: usize = 64;

/// The places of a file.
#[derive(Clone, Debug)]
pub struct Locations<'f> {
    /// By node, `!12`: the text after its `=`.
    nodes: FxHashMap<&'f str, &'f str>,
}

impl<'f> Locations<'f> {
    /// Of a file's text. Metadata stands at the starts of lines there.
    pub fn read(text: &'f str) -> Self {
        let node = |line: &'f str| {
            let (name, node) = line.split_once(" = ").filter(|_| line.starts_with('!'))?;
            name[1..].bytes().all(|b| b.is_ascii_digit()).then_some((name, node))
        };
        Locations { nodes: text.lines().filter_map(node).collect() }
    }

    /// The place of a function, which its head names.
    pub fn of_function(&self, head: &str) -> Option<SourcePlace> {
        let node = Node::read(self.nodes.get(attached(head)?.split_whitespace().next()?)?);
        let line = node.number("line").filter(|line| *line > 0)?;
        Some(SourcePlace { file: self.file(&node, MAX_DEPTH)?, line, column: None, inlined_at: None })
    }

    /// What the source calls a function, which its head names, within its classes and namespaces; `None` where that is the
    /// name of its symbol.
    pub fn name_of_function(&self, head: &str) -> Option<String> {
        let mut node = Node::read(self.nodes.get(attached(head)?.split_whitespace().next()?)?);
        node.field("linkageName")?;
        let mut names = vec![];
        for _ in 0..MAX_DEPTH {
            names.extend(node.field("name").map(|name| printable(name.trim_matches('"'))));
            match node.field("scope").and_then(|scope| self.nodes.get(scope)) {
                Some(scope) => node = Node::read(scope),
                None => break,
            }
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join("::"))
    }

    /// The place that `!dbg` gives an instruction: a node, or a location that is written out.
    pub fn of_node(&self, text: &str) -> Option<SourcePlace> {
        self.location(text, MAX_DEPTH)
    }

    /// The variables of the source that values (`%0`) of a body have, each the first one that it has.
    pub fn variables(&self, body: &str) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let records = body.lines().map(str::trim_start).filter(|line| {
            (line.starts_with("#dbg_value(") || line.contains(" @llvm.dbg.value(")) && line.contains("!DIExpression()")
        });
        for record in records {
            let tokens = tokens(record);
            let mut words = tokens.iter().map(|t| &record[t.start..t.end]);
            let Some(value) = words.find(|word| word.starts_with('%') || word.starts_with('!')) else { continue };
            let node = words.find_map(|word| self.nodes.get(word)).map(|node| Node::read(node));
            let name = node.filter(|node| node.kind == "!DILocalVariable").and_then(|node| node.field("name"));
            if let (true, Some(name)) = (value.starts_with('%'), name) {
                found.entry(value.to_string()).or_insert_with(|| printable(name.trim_matches('"')));
            }
        }
        found
    }

    fn location(&self, text: &str, depth: usize) -> Option<SourcePlace> {
        let depth = depth.checked_sub(1)?;
        let node = Node::read(self.nodes.get(text).copied().unwrap_or(text));
        // Line 0 is code that the compiler made.
        let line = node.number("line").filter(|line| *line > 0 && node.kind == "!DILocation")?;
        let scope = Node::read(self.nodes.get(node.field("scope")?)?);
        let inlined_at = node.field("inlinedAt").and_then(|call| self.location(call, depth));
        Some(SourcePlace {
            file: self.file(&scope, depth)?,
            line,
            column: node.number("column").filter(|column| *column > 0),
            inlined_at: inlined_at.map(Box::new),
        })
    }

    /// The name of the file that a scope is in.
    fn file(&self, scope: &Node<'_>, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        match scope.field("file").and_then(|file| self.nodes.get(file)) {
            Some(file) => {
                let name = Node::read(file).field("filename")?.trim_matches('"').to_string();
                let name = printable(&name);
                (!name.is_empty()).then_some(name)
            }
            None => self.file(&Node::read(self.nodes.get(scope.field("scope")?)?), depth),
        }
    }
}

/// What `!dbg` names in the head of a function.
fn attached(head: &str) -> Option<&str> {
    let tokens = tokens(head);
    let at = tokens.iter().rposition(|t| &head[t.start..t.end] == "!dbg")?;
    tokens.get(at + 1).map(|t| &head[t.start..t.end])
}

/// A metadata node, cut into its fields.
struct Node<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// `!DILocation`
    kind: &'t str,
}

impl<'t> Node<'t> {
    fn read(text: &'t str) -> Self {
        let mut tokens = tokens(text);
        let word = |t: &Token| &text[t.start..t.end];
        let skipped = tokens.iter().take_while(|t| word(t) == "distinct").count();
        tokens.drain(..skipped);
        let kind = tokens.first().map_or("", word);
        Node { text, tokens, kind }
    }

    /// What follows `name:`, one token.
    fn field(&self, name: &str) -> Option<&'t str> {
        let word = |t: &Token| &self.text[t.start..t.end];
        let at =
            self.tokens.windows(2).position(|w| w[0].kind == Kind::Word && word(&w[0]) == name && word(&w[1]) == ":");
        self.tokens.get(at? + 2).map(word)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.field(name)?.parse().ok()
    }
}

/// A name with LLVM's escapes (`\5C`) resolved, and without what a terminal would obey.
fn printable(name: &str) -> String {
    String::from_utf8_lossy(&unescaped(name)).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
define i32 @f() !dbg !3 {
  ret i32 0, !dbg !5
}
!1 = !DIFile(filename: "a \22line: 3\22\0A.c", directory: "/tmp")
!2 = !DIFile(filename: "b.h", directory: "/tmp")
!3 = distinct !DISubprogram(name: "file: !2", scope: !1, file: !1, line: 7, scopeLine: 8)
!4 = distinct !DILexicalBlock(scope: !3, line: 2)
!5 = !DILocation(line: 9, column: 3, scope: !4)
!6 = !DILocation(line: 0, scope: !3)
!7 = distinct !DISubprogram(name: "g", file: !2, line: 1)
!8 = !DILocation(line: 2, scope: !7, inlinedAt: !5)
!9 = !DILocation(line: 2, scope: !7, inlinedAt: !9)
!10 = !DILexicalBlock(scope: !10, line: 1)
!11 = !DILocation(line: 1, scope: !10)
!12 = !DILocation(line: 99999999999, scope: !3)
"#;

    #[test]
    fn places_come_from_scopes() {
        let locations = Locations::read(TEXT);
        let shown = |node: &str| locations.of_node(node).map(|place| place.to_string());
        let file = "a \"line: 3\"\u{fffd}.c";
        assert_eq!(shown("!5"), Some(format!("{file}:9:3")));
        assert_eq!(shown("!8"), Some(format!("b.h:2 (inlined at {file}:9:3)")));
        assert_eq!(shown("!DILocation(line: 4, scope: !3)"), Some(format!("{file}:4")));
        let head = "define i32 @f() !dbg !3 {";
        assert_eq!(locations.of_function(head).map(|place| place.to_string()), Some(format!("{file}:7")));
    }

    #[test]
    fn what_is_no_place_is_none() {
        let locations = Locations::read(TEXT);
        // Made by the compiler, a scope in itself, too large, no location, not there.
        for node in ["!6", "!11", "!12", "!3", "!99", "", "!DILocation(", "!DILocation(line: 1, scope: !99)"] {
            assert_eq!(locations.of_node(node), None, "{node}");
        }
        // A call inlined in itself ends somewhere.
        assert!(locations.of_node("!9").is_some());
        assert_eq!(locations.of_function("define void @f() {"), None);
        assert_eq!(locations.of_function("define void @f() !dbg"), None);
    }
}
