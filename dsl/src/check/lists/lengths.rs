//! Which lengths lists have: those of the calls in packs and in the program to which rules are applied, and those that
//! rules make of them.

use super::{Lists, in_rule_left, in_rule_right, rewrites};
use crate::syntax::ast::{Arg, Expr, ExprKind, RuleItem};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// Lists of at least this many elements are spoken of, whatever the packs mention.
const LENGTH: usize = 4;

/// Up to this length, all functions have lists of all lengths that are less than the longest one of a pack.
const USUAL_LENGTH: usize = 8;

/// Rules do not make longer lists of what a function has than this. A call that is there may be longer.
const MADE_LENGTH: usize = 64;

/// No list is longer: each length is a function with that many parameters.
const MAX_LENGTH: usize = 255;

/// A rule has at most this many instances.
pub(super) const MAX_INSTANCES: usize = 1_024;

/// At most this many combinations of lengths of a rule are looked at.
const MAX_COMBINATIONS: usize = 1 << 20;

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
    fn each(self, mut found: impl FnMut(usize, &str, usize)) {
        let mut function = 0;
        for line in self.0.lines() {
            let first = line.split_whitespace().next();
            function += usize::from(matches!(first, Some("func" | "function" | "define")));
            calls_of_line(line, &mut |name, operands| found(function, name, operands));
        }
    }
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
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
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

/// The number of a call's operands, as a function of the lengths of a rule's lists.
struct Form {
    callee: String,
    /// Operands that are no lists, without those that the function has beside its own.
    fixed: usize,
    /// By list: how often it stands there.
    lists: Vec<usize>,
}

impl Form {
    fn at(&self, lengths: &[usize]) -> usize {
        self.fixed + self.lists.iter().zip(lengths).map(|(times, length)| times * length).sum::<usize>()
    }
}

/// The calls of a rule about this many lists.
struct Forms {
    count: usize,
    left: Vec<Form>,
    right: Vec<Form>,
    /// It holds from right to left, too.
    both_ways: bool,
}

/// Calls `found` with this many numbers of this sum, in lexicographic order, where all their beginnings are `possible`;
/// `left` times at most.
fn each_of_sum(
    (count, sum): (usize, usize),
    begun: &mut Vec<usize>,
    left: &mut usize,
    possible: &impl Fn(&[usize]) -> bool,
    found: &mut impl FnMut(&[usize]),
) {
    if begun.len() == count {
        *left -= 1;
        return found(begun);
    }
    let is_last = begun.len() + 1 == count;
    for next in if is_last { sum..=sum } else { 0..=sum } {
        begun.push(next);
        let goes_on = *left > 0 && possible(begun);
        if goes_on {
            each_of_sum((count, sum - next), begun, left, possible, found);
        }
        begun.pop();
        if !goes_on {
            return;
        }
    }
}

/// By function: the lengths that its list has.
#[derive(Default)]
pub(super) struct Lengths {
    /// Those for which it is declared.
    declared: IndexMap<String, BTreeSet<usize>>,
    /// Those that a call has which is there or which rules make of these.
    occurring: IndexMap<String, BTreeSet<usize>>,
    /// Up to this one, every function has every length.
    usual: usize,
    /// Rules make no longer lists.
    made: usize,
}

/// At which lengths of its lists a rule is written out.
#[derive(Clone, Default)]
pub(super) struct Combinations {
    /// Usual ones first, then shorter ones first.
    pub(super) lengths: Vec<Vec<usize>>,
    /// There are more.
    pub(super) is_cut: bool,
}

impl Lengths {
    /// Those that calls have: `packs` are the lengths that calls of the packs' own have.
    pub(super) fn of_calls(lists: &Lists, packs: &[(String, usize)], calls: Calls<'_>) -> Self {
        let mut occurring: IndexMap<String, BTreeSet<usize>> =
            lists.fixed.keys().map(|name| (name.clone(), BTreeSet::new())).collect();
        let mut longest = 0;
        let mut add = |name: &str, length: usize| {
            if let Some(lengths) = occurring.get_mut(name).filter(|_| length <= MAX_LENGTH) {
                lengths.insert(length);
                longest = longest.max(length);
            }
        };
        packs.iter().for_each(|(name, length)| add(name, *length));
        let mut sums: Vec<usize> = vec![];
        calls.each(|function, name, operands| {
            if let Some((name, length)) = lists.called(name, operands) {
                sums.resize(sums.len().max(function + 1), 0);
                sums[function] += length;
                add(name, length);
            }
        });
        let in_packs = packs.iter().map(|(_, length)| *length).max().unwrap_or(0);
        let usual = in_packs.clamp(LENGTH, USUAL_LENGTH);
        let sum = sums.into_iter().max().unwrap_or(0);
        let declared =
            occurring.iter().map(|(name, own)| (name.clone(), (0..=usual).chain(own.iter().copied()).collect()));
        let declared = declared.collect();
        Lengths { declared, occurring, usual, made: usual.max(longest).max(sum.min(MADE_LENGTH)) }
    }

    /// The lengths of a function's list, in order.
    pub(super) fn of(&self, function: &str) -> Vec<usize> {
        self.declared.get(function).into_iter().flatten().copied().collect()
    }

    /// Adds what rules make of lists, and gives for each rule the lengths of its lists at which it may match.
    pub(super) fn close(&mut self, lists: &Lists, rules: &[&RuleItem]) -> Vec<Combinations> {
        let forms: Vec<Forms> = rules.iter().map(|rule| Forms::of(lists, rule)).collect();
        let mut all: Vec<Combinations> = vec![Combinations::default(); rules.len()];
        for (forms, own) in forms.iter().zip(&mut all) {
            self.add(forms, own, |known, lengths| known.is_usual(forms, lengths));
            if own.lengths.is_empty() {
                // Its mistakes are found at some length, though nothing here has it.
                own.lengths.push(vec![1; forms.count]);
                self.declare(forms, &vec![1; forms.count]);
            }
        }
        while forms.iter().zip(&mut all).fold(false, |changed, (forms, own)| {
            let more = self.add(forms, own, |known, lengths| known.occurs(forms, lengths));
            changed | more
        }) {}
        all
    }

    /// Adds the combinations that fit, and says whether some call has a length then that none had.
    fn add(&mut self, forms: &Forms, own: &mut Combinations, fits: impl Fn(&Lengths, &[usize]) -> bool) -> bool {
        let mut found = vec![];
        let mut left = MAX_COMBINATIONS;
        for sum in 0..=forms.count * self.made {
            let possible = |begun: &[usize]| forms.all().all(|form| form.at(begun) <= self.made);
            each_of_sum((forms.count, sum), &mut vec![], &mut left, &possible, &mut |lengths| {
                if fits(self, lengths) {
                    found.push(lengths.to_vec());
                }
            });
        }
        own.is_cut |= left == 0;
        let mut changed = false;
        for lengths in found {
            if !own.lengths.contains(&lengths) {
                if own.lengths.len() == MAX_INSTANCES {
                    own.is_cut = true;
                    break;
                }
                self.declare(forms, &lengths);
                own.lengths.push(lengths.clone());
            }
            if self.occurs(forms, &lengths) {
                for form in forms.all() {
                    let occurring = self.occurring.get_mut(&form.callee);
                    changed |= occurring.is_some_and(|own| own.insert(form.at(&lengths)));
                }
            }
        }
        changed
    }

    fn declare(&mut self, forms: &Forms, lengths: &[usize]) {
        for form in forms.all() {
            if let Some(own) = self.declared.get_mut(&form.callee) {
                own.insert(form.at(lengths));
            }
        }
    }

    /// Is no list longer than usual lists are?
    fn is_usual(&self, forms: &Forms, lengths: &[usize]) -> bool {
        lengths.iter().all(|length| *length <= self.usual) && forms.all().all(|form| form.at(lengths) <= self.usual)
    }

    /// May a rule whose lists have these lengths match calls that there are, and make none that is too long?
    fn occurs(&self, forms: &Forms, lengths: &[usize]) -> bool {
        let is_there =
            |form: &Form| self.occurring.get(&form.callee).is_some_and(|own| own.contains(&form.at(lengths)));
        let all = |forms: &[Form]| !forms.is_empty() && forms.iter().all(is_there);
        forms.all().all(|form| form.at(lengths) <= self.made)
            && (all(&forms.left) || forms.both_ways && all(&forms.right))
            // A list that stands in no call is a mistake, which the usual lengths show.
            && (0..forms.count).all(|list| forms.all().any(|form| form.lists[list] > 0))
    }
}

impl Forms {
    fn of(lists: &Lists, rule: &RuleItem) -> Self {
        let names: Vec<&str> = rule.params.iter().filter(|p| p.variadic).map(|p| p.name.node.as_str()).collect();
        let both_ways = rewrites(rule).any(|rewrite| rewrite.both_ways);
        let mut forms = Forms { count: names.len(), left: vec![], right: vec![], both_ways };
        in_rule_left(rule, &mut |expr| forms.left.extend(form(lists, &names, expr)));
        in_rule_right(rule, &mut |expr| forms.right.extend(form(lists, &names, expr)));
        forms
    }

    fn all(&self) -> impl Iterator<Item = &Form> {
        self.left.iter().chain(&self.right)
    }
}

fn form(lists: &Lists, names: &[&str], expr: &Expr) -> Option<Form> {
    let ExprKind::Call { callee, args, .. } = &expr.kind else { return None };
    let beside = lists.fixed(&callee.node)?;
    let callee = callee.node.rsplit('.').next().unwrap_or(&callee.node).to_string();
    let mut form = Form { callee, fixed: 0, lists: vec![0; names.len()] };
    for arg in args {
        match arg {
            Arg::Expr(_) => form.fixed += 1,
            Arg::Splat(list) | Arg::For { list, .. } => {
                form.lists[names.iter().position(|name| *name == list.node)?] += 1;
            }
        }
    }
    form.fixed = form.fixed.checked_sub(beside)?;
    Some(form)
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
    fn combinations_come_by_their_sums() {
        let all = |left: usize| {
            let (mut found, mut left) = (vec![], left);
            for sum in 0..=3 {
                let even = |begun: &[usize]| begun[0] < 2;
                each_of_sum((2, sum), &mut vec![], &mut left, &even, &mut |lengths| found.push(lengths.to_vec()));
            }
            found
        };
        assert_eq!(all(100), [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [0, 3], [1, 2]]);
        assert_eq!(all(3), [[0, 0], [0, 1], [1, 0]]);
    }
}
