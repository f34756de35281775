//! Metadata nodes of a module: what a number stands for, written out so that two modules can be compared.

use rewright_llvm::module::File;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The nodes of a file by their names: `!5`.
pub(super) struct Nodes<'a>(FxHashMap<&'a str, &'a str>);

/// That a loop ends or does something that others see.
pub(super) const MUST_PROGRESS: &str = "llvm.loop.mustprogress";

/// What the node of a loop may promise: what breaks it is undefined.
const LOOP_PROMISES: [&str; 2] = [MUST_PROGRESS, "llvm.loop.parallel_accesses"];

/// What stands at the top level of a module, each entry with the lines on which it goes on.
pub(super) fn top_level(text: &str) -> Vec<&str> {
    const WORDS: [&str; 8] =
        ["define", "declare", "target", "source_filename", "attributes", "module", "uselistorder", "}"];
    let mut starts = vec![];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let own = line.trim_start();
        let is_entry = own.is_empty() || own.starts_with(['@', '!', '%', '$', '^', ';']);
        if is_entry || WORDS.iter().any(|word| own.starts_with(word)) {
            starts.push(at + line.len() - own.len());
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].trim_end()).collect()
}

impl<'a> Nodes<'a> {
    /// Reads the lines that define them.
    pub(super) fn new(file: &'a File) -> Self {
        let definition = |entry: &'a str| entry.strip_prefix('!').and_then(|_| entry.split_once('='));
        let all = top_level(&file.text).into_iter().filter_map(definition);
        Nodes(all.map(|(name, node)| (name.trim(), node.trim())).collect())
    }

    /// A node's text without what it refers to; of one that is written where it is used, itself.
    pub(super) fn text<'n>(&self, name: &'n str) -> Option<&'n str>
    where
        'a: 'n,
    {
        if name.starts_with("!{") { Some(name) } else { self.0.get(name).copied() }
    }

    /// The nodes in a list of nodes, by their names; `None` if it holds anything else.
    pub(super) fn members<'n>(&self, list: &'n str) -> Option<Vec<&'n str>>
    where
        'a: 'n,
    {
        let inside = self.text(list)?.strip_prefix("!{")?.strip_suffix('}')?;
        let is_name = |name: &&str| {
            let number = name.strip_prefix('!').unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        inside.split(',').map(|name| Some(name.trim()).filter(is_name)).collect()
    }

    /// A node's text with the texts of the nodes that it refers to, each where it is first mentioned; then it is the number
    /// of those before it. One that is `distinct` keeps its name: it is equal to itself only.
    pub(super) fn whole(&self, name: &str) -> String {
        let mut out = String::new();
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut todo = vec![name];
        while let Some(text) = todo.pop() {
            let Some(at) = reference(text) else {
                out.push_str(text);
                continue;
            };
            let name = &text[at.clone()];
            out.push_str(&text[..at.start]);
            todo.push(&text[at.end..]);
            let node = self.0.get(name).copied();
            let is_distinct = node.is_some_and(|node| node.starts_with("distinct"));
            match (node, numbers.get(name)) {
                (Some(_), Some(number)) if !is_distinct => out.push_str(&format!("^{number}")),
                (Some(node), None) => {
                    numbers.insert(name, numbers.len());
                    out.push_str(&if is_distinct { format!("{name}=") } else { String::new() });
                    todo.push(node);
                }
                _ => out.push_str(name),
            }
        }
        out
    }

    /// What the node of a loop (`!llvm.loop`) promises; what is a hint is left out.
    pub(super) fn loop_promises(&self, name: &str) -> Vec<String> {
        let Some(text) = self.text(name) else { return vec![name.to_string()] };
        let operands = text.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}')).unwrap_or_default();
        let is_promise = |operand: &&str| {
            let said = self.text(operand).and_then(|text| text.split('"').nth(1));
            *operand != name && said.is_some_and(|said| LOOP_PROMISES.contains(&said))
        };
        operands.split(',').map(str::trim).filter(is_promise).map(|operand| self.whole(operand)).collect()
    }
}

/// Where a text first refers to a node, outside of strings.
fn reference(text: &str) -> Option<Range<usize>> {
    let mut in_string = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => in_string = !in_string,
            b'!' if !in_string => {
                let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
                if digits > 0 {
                    return Some(at..at + 1 + digits);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewright_llvm::module::read;

    #[test]
    fn loops_promise_more_than_hints() {
        let text = "!0 = distinct !{!0, !1, !2, !3}\n!1 = !{!\"llvm.loop.mustprogress\"}\n\
            !2 = !{!\"llvm.loop.unroll.disable\"}\n!3 = !{!\"llvm.loop.parallel_accesses\", !4}\n!4 = distinct !{}\n\
            !5 = distinct !{!5, !2}\n";
        let file = read(text.to_string()).unwrap();
        let nodes = Nodes::new(&file);
        let promises = nodes.loop_promises("!0");
        assert_eq!(
            promises,
            ["!{!\"llvm.loop.mustprogress\"}", "!{!\"llvm.loop.parallel_accesses\", !4=distinct !{}}"]
        );
        assert_eq!(nodes.loop_promises("!5"), Vec::<String>::new());
        // Its promise is unknown.
        assert_eq!(nodes.loop_promises("!9"), ["!9"]);
    }

    #[test]
    fn entries_go_on_for_several_lines() {
        let text = "@g = constant [2 x i32]\n  [i32 1, i32 2]\n  !0 = !{i8 0,\n  i8 5}\ndefine void @f() {\nret void\n}\n!1=!{}\n";
        let found = top_level(text);
        assert_eq!(found[0], "@g = constant [2 x i32]\n  [i32 1, i32 2]");
        assert!(read(text.to_string()).is_err());
        let file = read("!0 = !{i8 0, i8 5}\n!1=!{}\n".to_string()).unwrap();
        let nodes = Nodes::new(&file);
        assert_eq!(nodes.text("!0"), Some("!{i8 0, i8 5}"));
        assert_eq!(nodes.text("!1"), Some("!{}"));
    }

    #[test]
    fn nodes_are_written_out() {
        let text =
            "!0 = !{i8 0, i8 5}\n!1 = !{!2, !2, i64 0}\n!2 = !{!\"int\", !3, i64 0}\n!3 = distinct !{!3, !\"x\"}\n";
        let file = read(text.to_string()).unwrap();
        let nodes = Nodes::new(&file);
        assert_eq!(nodes.whole("!0"), "!{i8 0, i8 5}");
        let inner = "!{!\"int\", !3=distinct !{!3, !\"x\"}, i64 0}";
        assert_eq!(nodes.whole("!1"), format!("!{{{inner}, ^1, i64 0}}"));
        assert_eq!(nodes.whole("!9"), "!9");
        assert_eq!(nodes.whole("!{!0}"), "!{!{i8 0, i8 5}}");
    }

    #[test]
    fn a_difference_counts_at_any_depth() {
        for (depth, more) in [(3, ""), (20, ""), (5000, ""), (100, ", !{MORE}")] {
            let whole = |innermost: u32| {
                let node =
                    |n: usize| format!("!{n} = !{{!{}{}}}\n", n + 1, more.replace("{MORE}", &(n + 1).to_string()));
                let nodes: String = (0..depth).map(node).collect();
                let file = read(format!("{nodes}!{depth} = !{{i32 {innermost}}}\n")).unwrap();
                Nodes::new(&file).whole("!0")
            };
            assert!(whole(5) == whole(5) && whole(5) != whole(6), "{depth}{more}");
        }
    }

    #[test]
    fn nodes_may_refer_to_each_other() {
        let whole = |text: &str| Nodes::new(&read(text.to_string()).unwrap()).whole("!0");
        let circle = whole("!0 = !{!1, i8 1}\n!1 = !{!0, i8 2}\n");
        assert_eq!(circle, "!{!{^0, i8 2}, i8 1}");
        assert_ne!(circle, whole("!0 = !{!1, i8 1}\n!1 = !{!1, i8 2}\n"));
        // A number in a string is no reference.
        assert_eq!(whole("!0 = !{!\"!1\", !1}\n!1 = !{}\n"), "!{!\"!1\", !{}}");
    }
}
