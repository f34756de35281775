//! Which lengths lists have: those of the calls in packs and in the program to which rules are applied, and those that
//! rules make of them.

use super::{Calls, Lists, in_rule_left, in_rule_right, rewrites};
use crate::syntax::ast::{Arg, Expr, ExprKind, RuleItem};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// Lists of at least this many elements are spoken of, whatever the packs mention.
const LENGTH: usize = 4;

/// Up to this length, all functions have lists of all lengths that are less than the longest one of a pack.
const USUAL_LENGTH: usize = 8;

/// No list is longer: each length is a function with that many parameters.
pub(super) const MAX_LENGTH: usize = 255;

/// A rule has at most this many instances.
pub(super) const MAX_INSTANCES: usize = 1_024;

/// At most this many beginnings of combinations of lengths of a rule are tried at a time.
const MAX_TRIED: usize = 1 << 21;

/// The number of a call's operands, as a function of the lengths of a rule's lists.
struct Form {
    callee: String,
    /// Operands that are no lists, without those that the function has beside its own.
    fixed: usize,
    /// By list: how often it stands there.
    lists: Vec<usize>,
}

impl Form {
    /// The number at these lengths, of which the last ones may be missing.
    fn at(&self, lengths: &[usize]) -> usize {
        self.fixed + self.lists.iter().zip(lengths).map(|(times, length)| times * length).sum::<usize>()
    }

    /// Is that the number, with these lengths?
    fn is_known(&self, lengths: &[usize]) -> bool {
        self.lists.iter().skip(lengths.len()).all(|times| *times == 0)
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

/// By function: the lengths that its list has.
#[derive(Default)]
pub(super) struct Lengths {
    /// Those for which it is declared.
    declared: IndexMap<String, BTreeSet<usize>>,
    /// Those that a call has which is there.
    given: IndexMap<String, BTreeSet<usize>>,
    /// Those that a call has which is there or which rules make of these, each with the number of calls that are there of
    /// which it is made.
    occurring: IndexMap<String, BTreeMap<usize, usize>>,
    /// Up to this one, every function has every length.
    usual: usize,
    /// Of lists that rules have made, they make no longer ones.
    made: usize,
    /// Nor any of more calls.
    calls: usize,
    /// Lists are longer than [`MAX_LENGTH`] together.
    is_capped: bool,
    /// A rule has made a list that is longer than all that are there, written out in each other.
    grew: bool,
    /// Functions that a call has a longer list for than [`MAX_LENGTH`].
    too_long: BTreeSet<String>,
}

/// At which lengths of its lists a rule is written out.
#[derive(Clone, Default)]
pub(super) struct Combinations {
    /// Usual ones first, then shorter ones first.
    pub(super) lengths: Vec<Vec<usize>>,
    /// Why there are more, if there are.
    pub(super) cut: Option<Cut>,
}

/// What keeps a rule from being written out at further lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// A rule has at most [`MAX_INSTANCES`] instances.
    Instances,
    /// It makes longer lists than the program has use for, or than a function can have parameters.
    Length(usize),
}

impl Lengths {
    /// Those that calls have: `packs` are the lengths that calls of the packs' own have.
    pub(super) fn of_calls(lists: &Lists, packs: &[(String, usize)], calls: Calls<'_>) -> Self {
        let mut given: IndexMap<String, BTreeSet<usize>> =
            lists.fixed.keys().map(|name| (name.clone(), BTreeSet::new())).collect();
        let mut too_long = BTreeSet::new();
        let mut longest = 0;
        let mut add = |name: &str, length: usize| match given.get_mut(name) {
            Some(lengths) if length <= MAX_LENGTH => {
                lengths.insert(length);
                longest = longest.max(length);
            }
            Some(_) => {
                too_long.insert(name.to_string());
            }
            None => {}
        };
        packs.iter().for_each(|(name, length)| add(name, *length));
        // By function: the elements of all its lists, and the number of these.
        let mut sums: Vec<(usize, usize)> = vec![];
        calls.each(|function, name, operands| {
            if let Some((name, length)) = lists.called(name, operands) {
                sums.resize(sums.len().max(function + 1), (0, 0));
                let (elements, count) = &mut sums[function];
                (*elements, *count) = (*elements + length, *count + 1);
                add(name, length);
            }
        });
        let in_packs = packs.iter().map(|(_, length)| *length).max().unwrap_or(0);
        let usual = in_packs.clamp(LENGTH, USUAL_LENGTH);
        let unfolded = calls.unfolded(|name, operands| Some(lists.called(name, operands)?.1));
        let most = |of: fn(&(usize, usize)) -> usize| sums.iter().map(of).max().unwrap_or(0);
        let needed = most(|(elements, _)| *elements).max(unfolded.elements);
        let made = needed.min(MAX_LENGTH).max(usual).max(longest);
        let calls = most(|(_, count)| *count).max(unfolded.calls);
        // Without a program, examples may have so many.
        let calls = if calls == 0 { USUAL_LENGTH } else { calls };
        let once = |own: &BTreeSet<usize>| own.iter().map(|length| (*length, 1)).collect();
        let occurring = given.iter().map(|(name, own)| (name.clone(), once(own))).collect();
        let declared = given.iter().map(|(name, own)| (name.clone(), (0..=usual).chain(own.iter().copied()).collect()));
        let declared = declared.collect();
        Lengths {
            declared,
            given,
            occurring,
            usual,
            made,
            calls,
            is_capped: needed > MAX_LENGTH,
            grew: false,
            too_long,
        }
    }

    /// The lengths of a function's list, in order.
    pub(super) fn of(&self, function: &str) -> Vec<usize> {
        self.declared.get(function).into_iter().flatten().copied().collect()
    }

    /// Has a call of a function a longer list than [`MAX_LENGTH`]?
    pub(super) fn is_exceeded(&self, function: &str) -> bool {
        self.too_long.contains(function)
    }

    /// Adds what rules make of lists, and gives for each rule the lengths of its lists at which it may match.
    pub(super) fn close(&mut self, lists: &Lists, rules: &[&RuleItem]) -> Vec<Combinations> {
        let forms: Vec<Forms> = rules.iter().map(|rule| Forms::of(lists, rule)).collect();
        let mut all: Vec<Combinations> = vec![Combinations::default(); rules.len()];
        for (forms, own) in forms.iter().zip(&mut all) {
            self.add_usual(forms, own);
            if own.lengths.is_empty() {
                // Its mistakes are found at some length, though nothing here has it.
                own.lengths.push(vec![1; forms.count]);
                self.declare(forms, &vec![1; forms.count]);
            }
        }
        while forms.iter().zip(&mut all).fold(false, |changed, (forms, own)| {
            let more = self.add_occurring(forms, own);
            changed | more
        }) {}
        all
    }

    /// Adds the combinations at which no list is longer than usual lists are.
    fn add_usual(&mut self, forms: &Forms, own: &mut Combinations) {
        let usual = self.usual;
        let fits =
            |begun: &[usize]| begun.iter().all(|n| *n <= usual) && forms.all().all(|form| form.at(begun) <= usual);
        let (found, is_whole) = combinations(forms.count, usual, &fits);
        if !is_whole || found.len() > MAX_INSTANCES {
            own.cut = Some(Cut::Instances);
        }
        for lengths in found.into_iter().take(MAX_INSTANCES) {
            self.declare(forms, &lengths);
            own.lengths.push(lengths);
        }
    }

    /// Adds the combinations at which the rule may match calls that there are, and says whether some call has a length
    /// then that none had.
    fn add_occurring(&mut self, forms: &Forms, own: &mut Combinations) -> bool {
        if own.cut == Some(Cut::Instances) && own.lengths.len() == MAX_INSTANCES {
            return false;
        }
        let back = forms.both_ways.then_some((&forms.right, &forms.left));
        let mut changed = false;
        for (matched, made) in std::iter::once((&forms.left, &forms.right)).chain(back) {
            // A list that stands in no call is a mistake, which the usual lengths show.
            let stands = |list: usize| matched.iter().any(|form| form.lists[list] > 0);
            if matched.is_empty() || !(0..forms.count).all(stands) {
                continue;
            }
            let (found, is_whole) = {
                let of = |form: &Form| self.occurring.get(&form.callee);
                let fits = |begun: &[usize]| {
                    matched.iter().all(|form| {
                        let (length, is_known) = (form.at(begun), form.is_known(begun));
                        of(form).is_some_and(|lengths| match is_known {
                            true => lengths.contains_key(&length),
                            false => lengths.last_key_value().is_some_and(|(last, _)| length <= *last),
                        })
                    })
                };
                combinations(forms.count, MAX_LENGTH, &fits)
            };
            if !is_whole {
                own.cut = Some(Cut::Instances);
            }
            for lengths in found {
                changed |= self.add(forms, own, (matched, made), lengths);
            }
        }
        changed
    }

    /// Adds a combination, unless what the rule makes then is too long, and says whether some call has a length then that
    /// none had.
    fn add(
        &mut self,
        forms: &Forms,
        own: &mut Combinations,
        (matched, made): (&Vec<Form>, &Vec<Form>),
        lengths: Vec<usize>,
    ) -> bool {
        let grows = grows(matched, made);
        let known = |form: &Form| self.occurring.get(&form.callee).and_then(|own| own.get(&form.at(&lengths)).copied());
        let calls: usize = matched.iter().filter_map(known).sum();
        if calls > self.calls {
            if self.grew {
                own.cut = own.cut.or(Some(Cut::Length(self.made)));
            }
            return false;
        }
        if let Some(bound) = self.exceeded(grows, (matched, made), &lengths) {
            if grows || self.grew || self.is_capped {
                own.cut = own.cut.or(Some(Cut::Length(bound)));
            }
            return false;
        }
        if !own.lengths.contains(&lengths) {
            if own.lengths.len() == MAX_INSTANCES {
                own.cut = Some(Cut::Instances);
                return false;
            }
            self.declare(forms, &lengths);
            own.lengths.push(lengths.clone());
        }
        let mut changed = false;
        for form in made {
            let length = form.at(&lengths);
            let Some(own) = self.occurring.get_mut(&form.callee) else { continue };
            let fewest = own.entry(length).or_insert(usize::MAX);
            if calls < *fewest {
                (*fewest, changed) = (calls, true);
                if grows && length > self.made {
                    (self.made, self.grew) = (length, true);
                }
            }
        }
        changed
    }

    /// The bound that a list which a rule makes would exceed. Of calls that are there, a rule that makes longer lists may make
    /// any.
    fn exceeded(&self, grows: bool, (matched, made): (&[Form], &[Form]), lengths: &[usize]) -> Option<usize> {
        let is_given = |form: &Form| self.given.get(&form.callee).is_some_and(|own| own.contains(&form.at(lengths)));
        let bound = if grows && matched.iter().all(is_given) { MAX_LENGTH } else { self.made };
        made.iter().any(|form| form.at(lengths) > bound).then_some(bound)
    }

    fn declare(&mut self, forms: &Forms, lengths: &[usize]) {
        for form in forms.all() {
            if let Some(own) = self.declared.get_mut(&form.callee) {
                own.insert(form.at(lengths));
            }
        }
    }
}

/// All combinations of this many lengths whose beginnings all fit, shorter ones first, and whether these are all.
fn combinations(count: usize, longest: usize, fits: &dyn Fn(&[usize]) -> bool) -> (Vec<Vec<usize>>, bool) {
    let (mut found, mut begun, mut tried) = (vec![], vec![], 0);
    each_combination((count, longest), fits, &mut begun, &mut tried, &mut found);
    found.sort_by_key(|lengths: &Vec<usize>| lengths.iter().sum::<usize>());
    (found, tried <= MAX_TRIED)
}

fn each_combination(
    (count, longest): (usize, usize),
    fits: &dyn Fn(&[usize]) -> bool,
    begun: &mut Vec<usize>,
    tried: &mut usize,
    found: &mut Vec<Vec<usize>>,
) {
    if begun.len() == count {
        found.push(begun.clone());
        return;
    }
    for next in 0..=longest {
        *tried += 1;
        if *tried > MAX_TRIED {
            return;
        }
        begun.push(next);
        if fits(begun) {
            each_combination((count, longest), fits, begun, tried, found);
        }
        begun.pop();
    }
}

/// May a call on the side that is made have more elements than there are on the side that is matched?
fn grows(matched: &[Form], made: &[Form]) -> bool {
    let there = |of: &dyn Fn(&Form) -> usize| matched.iter().map(of).sum::<usize>();
    made.iter().any(|form| {
        let more_often = |(list, times): (usize, &usize)| *times > there(&|form| form.lists[list]);
        form.fixed > there(&|form| form.fixed) || form.lists.iter().enumerate().any(more_often)
    })
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

    #[test]
    fn combinations_come_by_their_sums() {
        let (found, is_whole) = combinations(2, 3, &|begun| begun[0] < 2 && begun.iter().sum::<usize>() <= 3);
        assert_eq!(found, [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [0, 3], [1, 2]]);
        assert!(is_whole);
    }
}
