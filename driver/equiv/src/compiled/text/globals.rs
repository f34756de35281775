//! What functions speak of: types, variables and other functions.
//!
//! Variables keep what they hold at the start, those of other files hold zeros. A function that is only called has an
//! address, and no body: calls are made to stand-ins.

use super::{Writer, passed};
use crate::Files;
use rewright_llvm::cursor::Cursor;
use rewright_llvm::lex::{Token, tokens};
use rewright_llvm::module::File;
use rewright_llvm::types::{self, Type};
use std::collections::BTreeSet;
use std::fmt::Write;

impl Writer<'_> {
    /// Types, variables and functions that versions speak of.
    pub(super) fn globals(&mut self, files: &Files<'_>) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let (mut types, mut variables) = (String::new(), vec![]);
        for file in [files.before, files.after] {
            for line in top_level(file) {
                let name = defined(line);
                if line.starts_with('%') && seen.insert(name.into()) {
                    types += line;
                    types.push('\n');
                } else if line.starts_with('@') && !name.starts_with("@llvm.") && seen.insert(name.into()) {
                    match global(line) {
                        Some(Global { text, varies }) => {
                            let text = self.renamed(&text);
                            self.text += &text;
                            variables.extend(varies.map(|ty| (self.renamed(name), ty)));
                        }
                        // It is treated as another name for a function.
                        None => self.function(name),
                    }
                }
            }
        }
        let functions = files.before.functions.iter().map(|f| &f.name).chain(files.before.declarations.keys());
        let functions: BTreeSet<&String> = functions.chain(files.after.declarations.keys()).collect();
        for name in functions.into_iter().filter(|name| !name.starts_with("@llvm.")) {
            match self.file.declarations.get(name).filter(|_| self.real.contains(name)) {
                Some(d) => {
                    let parameters: Vec<String> = d.parameters.iter().map(|p| passed(p, "")).collect();
                    let _ = writeln!(self.text, "declare extern_weak {} {name}({})", d.result, parameters.join(", "));
                }
                None if seen.insert(name.clone()) => self.function(name),
                None => {}
            }
        }
        let head = files.before.text.lines().filter(|line| line.starts_with("target "));
        let head: String = head.map(|line| format!("{line}\n")).collect();
        self.text = format!("{head}{types}{}", self.text);
        let of = |(name, ty): &(String, Type)| {
            format!("{{ ptr, i64 }} {{ ptr {name}, i64 ptrtoint (ptr getelementptr ({ty}, ptr null, i32 1) to i64) }}")
        };
        let (n, all) = (variables.len(), variables.iter().map(of).collect::<Vec<_>>().join(", "));
        let _ = writeln!(self.text, "@outside_variables = constant [{n} x {{ ptr, i64 }}] [{all}]");
        let _ = writeln!(self.text, "@outside_variables_count = constant i64 {n}");
    }

    /// A function that only has an address: calls are made to stand-ins.
    fn function(&mut self, name: &str) {
        let name = self.renamed(name);
        let _ = writeln!(self.text, "define internal void {name}() {{\n  unreachable\n}}");
    }
}

/// The name that a line defines: its first word.
fn defined(line: &str) -> &str {
    tokens(line).first().map_or("", |first| &line[first.start..first.end])
}

/// A variable or constant.
struct Global {
    text: String,
    /// Its type, if it may change.
    varies: Option<Type>,
}

/// A line that defines a variable or constant; `None` if it is something else.
fn global(line: &str) -> Option<Global> {
    let tokens = tokens(line);
    let word = |t: &Token| &line[t.start..t.end];
    let at = tokens.iter().position(|t| matches!(word(t), "global" | "constant"))?;
    let rest = &tokens[at + 1..];
    let mut cursor = Cursor::new(line, rest);
    let ty = types::parse(&mut cursor).ok()?;
    let declared = tokens[..at].iter().any(|t| matches!(word(t), "external" | "extern_weak"));
    let start = cursor.at();
    let (mut depth, mut end, mut align) = (0i32, rest.len(), None);
    for (i, token) in rest.iter().enumerate().skip(start) {
        match word(token) {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => end = end.min(i),
            "align" if depth == 0 => align = rest.get(i + 1).map(word),
            _ => {}
        }
    }
    let value = match (declared, rest.get(start), rest.get(end.checked_sub(1)?)) {
        // Addresses of blocks: only the function that has these goes there, and such functions stay as they are.
        _ if line.contains("blockaddress(") => "zeroinitializer",
        (false, Some(first), Some(last)) if start < end => &line[first.start..last.end],
        _ => "zeroinitializer",
    };
    let align = align.map(|n| format!(", align {n}")).unwrap_or_default();
    let kind = word(&tokens[at]);
    let text = format!("{} = internal {kind} {ty} {value}{align}\n", word(&tokens[0]));
    Some(Global { text, varies: (kind == "global").then_some(ty) })
}

/// Lines of a file that are in no body.
fn top_level(file: &File) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let mut parts = vec![];
    for function in &file.functions {
        parts.push(&file.text[at..function.body.start]);
        at = function.body.end;
    }
    parts.push(&file.text[at..]);
    parts.into_iter().flat_map(str::lines)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_defines_what_stands_before_its_equals_sign() {
        for (line, name) in
            [("@g=global i32 0", "@g"), ("@\"a b\" = global i32 0", "@\"a b\""), ("%t = type { i32 }", "%t"), ("", "")]
        {
            assert_eq!(super::defined(line), name, "{line}");
        }
    }
}
