//! Calls in the text of a program, whatever language it is in.

use super::MAX_LENGTH;
use rustc_hash::FxHashMap;

/// Calls of functions of the program's own are followed this deep.
const MAX_CALL_DEPTH: usize = 8;

/// The calls of a program to which rules are applied.
///
/// They are found in its text, whatever language that is in: a name, and behind it operands between commas, up to the end
/// of the line or in parentheses. Text that only looks like a call makes lists of more lengths than are needed, never of
/// fewer.
#[derive(Clone, Copy, Default, Debug)]
pub struct Calls<'t>(&'t str);

impl<'t> Calls<'t> {
    /// Those of a text.
    pub fn of(text: &'t str) -> Self {
        Calls(text)
    }

    /// Calls `found` with names and numbers of operands, by function of the text.
    pub(super) fn each(self, mut found: impl FnMut(usize, &str, usize)) {
        for (function, line) in self.lines() {
            calls_of_line(line, &mut |name, operands| found(function, name, operands));
        }
    }

    /// Its lines, with the numbers of their functions.
    fn lines(self) -> impl Iterator<Item = (usize, &'t str)> {
        self.0.lines().scan(0, |function, line| {
            *function += usize::from(begins_function(line));
            Some((*function, line))
        })
    }

    /// The longest list there is if each operand that is a list is written out in it, and so on. `length` gives that of a
    /// call's list.
    ///
    /// A call of a function of the text counts as what that function computes. Around a loop, nothing is written out.
    pub(super) fn unfolded(self, length: impl Fn(&str, usize) -> Option<usize>) -> Unfolded {
        let mut by_function: FxHashMap<&str, Unfolded> = FxHashMap::default();
        let mut most = Unfolded::default();
        for _ in 0..MAX_CALL_DEPTH {
            let before = by_function.clone();
            let (mut values, mut own): (FxHashMap<&str, Unfolded>, &str) = (FxHashMap::default(), "");
            for (_, line) in self.lines() {
                if begins_function(line) {
                    values.clear();
                    own = names(line.split('(').next().unwrap_or(line)).last().unwrap_or_default();
                    continue;
                }
                let mut here = Unfolded::default();
                calls_of_line(line, &mut |name, operands| {
                    if let Some(elements) = length(name, operands) {
                        here = Unfolded { elements: here.elements + elements, calls: here.calls + 1 };
                    }
                });
                here.elements = here.elements.max(1);
                let mut parts = names(line);
                let value = parts.next().filter(|_| line.contains(" = "));
                for part in parts.filter_map(|part| values.get(part).or_else(|| before.get(part))) {
                    here.elements = (here.elements + part.elements - 1).min(MAX_LENGTH + 1);
                    here.calls = (here.calls + part.calls).min(MAX_LENGTH + 1);
                }
                most.include(here);
                values.extend(value.map(|value| (value, here)));
                by_function.entry(own).or_insert(Unfolded { elements: 1, calls: 0 }).include(here);
            }
            if by_function == before {
                break;
            }
        }
        most
    }
}

/// A list in which all lists are written out; what is more than [`MAX_LENGTH`] is [`MAX_LENGTH`] and one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Unfolded {
    /// How many elements it has, one at least.
    pub(super) elements: usize,
    /// Of how many calls it is made.
    pub(super) calls: usize,
}

impl Unfolded {
    fn include(&mut self, other: Unfolded) {
        self.elements = self.elements.max(other.elements);
        self.calls = self.calls.max(other.calls);
    }
}

/// The first line of a function?
fn begins_function(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("func" | "function" | "define"))
}

/// The names in a text, and whatever looks like one.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_name(c)).filter(|name| !name.is_empty())
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// What is between two brackets, or in a line.
#[derive(Default)]
struct Frame<'t> {
    /// The name right before the bracket.
    callee: Option<&'t str>,
    /// Names whose operands may follow, with the tokens and commas before these.
    names: Vec<(&'t str, usize, usize)>,
    tokens: usize,
    commas: usize,
}

impl Frame<'_> {
    fn close(self, found: &mut impl FnMut(&str, usize)) {
        let operands = |tokens: usize, commas: usize| if self.tokens == tokens { 0 } else { self.commas - commas + 1 };
        if let Some(name) = self.callee {
            found(name, operands(0, 0));
        }
        for (name, tokens, commas) in self.names {
            found(name, operands(tokens, commas));
        }
    }
}

fn calls_of_line(line: &str, found: &mut impl FnMut(&str, usize)) {
    let mut frames = vec![Frame::default()];
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let depth = frames.len();
        let frame = &mut frames[depth - 1];
        let mut length = c.len_utf8();
        match c {
            _ if is_name(c) => {
                length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                frame.tokens += 1;
                frame.names.push((&rest[..length], frame.tokens, frame.commas));
            }
            '(' => {
                // `f(..)`, and `f{T}(..)`: the name is the last one, and its operands are these.
                let callee = frame.names.pop().map(|(name, ..)| name);
                frame.tokens += 1;
                frames.push(Frame { callee, ..Frame::default() });
            }
            '{' | '[' | '<' => frames.push(Frame::default()),
            ')' | '}' | ']' | '>' if depth > 1 => frames.pop().into_iter().for_each(|frame| frame.close(found)),
            ',' => frame.commas += 1,
            _ => {}
        }
        rest = &rest[length..];
    }
    frames.into_iter().for_each(|frame| frame.close(found));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, numbers of operands and functions.
    fn calls(text: &str) -> Vec<(usize, String, usize)> {
        let mut found = vec![];
        Calls::of(text).each(|function, name, operands| found.push((function, name.to_string(), operands)));
        found
    }

    fn operands(text: &str, name: &str) -> Vec<usize> {
        calls(text).into_iter().filter(|(_, found, _)| found == name).map(|(.., operands)| operands).collect()
    }

    #[test]
    fn calls_of_all_languages_are_found() {
        assert_eq!(operands("  %x = cat %a, %b, %c", "cat"), [3]);
        assert_eq!(operands("  %x: Mat{i64, 3} = l.cat{f64, 3} %a, %b", "l.cat"), [2]);
        assert_eq!(operands("  %x = cat", "cat"), [0]);
        assert_eq!(operands("  v3 = call cat(v0, v1, g(v2, v2, v2), v4)", "cat"), [4]);
        assert_eq!(operands("  v3 = call cat(v0, v1, g(v2, v2, v2), v4)", "g"), [3]);
        assert_eq!(operands("  %3 = call ptr @cat(ptr %0, i64 1, { i8, i8 } %2) #3, !dbg !7", "cat"), [3]);
        assert_eq!(operands("  call void @cat()", "cat"), [0]);
        // Broken text is text.
        assert_eq!(operands("cat(a, (b, c", "cat"), [2]);
        assert_eq!(operands(")))} cat a, b > c, d", "cat"), [3]);
    }

    #[test]
    fn functions_of_a_text_are_told_apart() {
        let text = "func %f() {\n  cat %a\n}\nfunction %g {\n}\ndefine void @h() {\n  cat(1, 2)\n";
        let own: Vec<_> = calls(text).into_iter().filter(|(_, name, _)| name == "cat").collect();
        assert_eq!(own, [(1, "cat".into(), 1), (3, "cat".into(), 2)]);
    }

    #[test]
    fn lists_within_lists_are_written_out() {
        let unfolded =
            |text: &str| Calls::of(text).unfolded(|name, operands| (name == "cat").then_some(operands)).elements;
        assert_eq!(unfolded("func %f(%a: M) {\n  %x = cat %a, %a, %a\n  %y = cat %x, %x\n  return %y\n}\n"), 6);
        assert_eq!(unfolded("func %f(%a: M) {\n  %x = cat %a, %a, %a\n  %y = neg %x\n  %z = cat %y, %a\n}\n"), 4);
        // A function that another one calls, wherever it stands.
        let (f, g) =
            ("func %f(%a: M) {\n  %x = g %a\n  %y = cat %x, %a\n}\n", "func %g(%a: M) {\n  %x = cat %a, %a\n}\n");
        assert_eq!((unfolded(&format!("{f}{g}")), unfolded(&format!("{g}{f}"))), (3, 3));
        // What doubles forever is longer than any list.
        let twice = (0..40).map(|i| format!("  %x{} = cat %x{i}, %x{i}\n", i + 1)).collect::<String>();
        assert_eq!(unfolded(&format!("func %f(%x0: M) {{\n{twice}}}\n")), MAX_LENGTH + 1);
    }
}
