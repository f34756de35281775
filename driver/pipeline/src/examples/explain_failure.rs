//! Where what an example became and what it should have become part: the match of a rule that decided, the parts of
//! what is expected that no rule made, and the rules that come nearest to making them.
//!
//! Everything is said of the e-graph of the example's function after all rules have run. The expected term is looked up
//! there, never put in.
//!
//! Not here: parts of functions with branches, or with statements at sites (I/O, allocation); there the decisive match
//! is all that is said.

use super::{Failure, Trial, canonical, text};
use crate::bisect::{Decisive, Limited, decisive};
use crate::optimiser::{Optimiser, Options};
use crate::why_not::{MatchContext, MatchStart, NearMiss, orders};
use rewright_cfg_skeleton::egraph::{ClassId, EGraphInput, Head, InputId};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::skeleton::{Skeleton, StatementKind};
use rewright_dsl::program::{Claim, Conclusion, Example, RuleId};
use rewright_dsl::syntax::ast::Span;
use rewright_typeprop::eval::constant;
use rewright_typeprop::{Term, Universe};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rules that are named as those that come nearest.
const MOST_RULES: usize = 2;

/// A term that would have to be made, and the class that a rule would have to match for it.
struct Wanted {
    made: InputId,
    root: Option<ClassId>,
}

/// What an example is run with.
pub(super) struct Stage<'a> {
    pub(super) optimiser: &'a Optimiser,
    pub(super) universe: &'a Universe,
    pub(super) options: &'a Options,
    pub(super) example: &'a Example,
}

impl Stage<'_> {
    /// A function for people: as the pack writes it, if it can.
    pub(super) fn shown(&self, f: &Function) -> String {
        let written = match self.example.claim {
            Claim::Term { .. } => text::term(self.universe, self.example, f),
            Claim::Program { .. } => text::statements(self.universe, self.example, f),
        };
        let one_line = |text: String| format!("`{}`", text.lines().collect::<Vec<_>>().join(" "));
        written.map_or_else(|| canonical(self.universe, f), one_line)
    }

    /// The match that made a function what it became.
    pub(super) fn decisive(&self, before: &Function, got: &Function, wanted: &Function) -> Option<String> {
        let canonical = |f: &Function| canonical(self.universe, f);
        let (last, mut forms) = (canonical(got), BTreeMap::new());
        let found = decisive(self.options.budget.matches, |limit| {
            let batch = self.optimiser.optimise(std::slice::from_ref(before), self.universe, &self.limited(limit));
            let form = &batch.outcomes.first()?.function;
            let decided = canonical(form) == last;
            forms.insert(limit, form.clone());
            Some(Limited { decided, matches: batch.rules })
        })?;
        let without = forms.get(&(found.number - 1))?;
        let until = match canonical(without) == canonical(wanted) {
            true => "what is expected".to_string(),
            false => self.shown(without),
        };
        Some(format!("{} makes it so; without its match it is {until}", self.named(&found)?))
    }

    /// Which part of what is expected is not there, and which rules come nearest to making it.
    pub(super) fn missing(
        &self,
        before: &Function,
        wanted: &Function,
        got_costs: f64,
        wanted_costs: f64,
    ) -> Vec<String> {
        let names: Vec<&str> = super::parameters(self.example).collect();
        let context = MatchContext::new(self.optimiser, self.universe, before, self.options, &names);
        let skeleton = self.optimiser.build(wanted, self.universe).1;
        let Ok((context, original)) = context else { return vec![] };
        if !is_plain(&skeleton) || !is_plain(&original) {
            return vec![];
        }
        let places = context.locate(self.universe, &skeleton.input);
        let block =
            |skeleton: &Skeleton| skeleton.blocks.iter().find(|block| block.observes).cloned().unwrap_or_default();
        let (here, there) = (block(&original), block(&skeleton));
        let is_there = |mine: &[InputId], theirs: &[InputId]| {
            let same = |(a, b): (&InputId, &InputId)| places[b.index()] == Some(context.view.class_of(*a));
            mine.len() == theirs.len() && mine.iter().zip(theirs).all(same)
        };
        if is_there(&here.operands, &there.operands) {
            return vec![
                match wanted_costs > got_costs {
                    _ if !is_there(&here.end, &there.end) => {
                        "its values are in the e-graph; it leaves memory in another state"
                    }
                    true => "what is expected is in the e-graph, and costs more",
                    false => "what is expected is in the e-graph and costs no more; it is not chosen, since the search ended before it, or it \
                     cannot be executed here",
                }
                .into(),
            ];
        }
        let shown = |id: InputId| -> Option<String> {
            let value = skeleton.value_input.iter().position(|input| *input == Some(id))?;
            let value = rewright_cfg_skeleton::ir::Value(value as u32);
            text::value(self.universe, self.example, wanted, value).map(|text| format!("`{text}`"))
        };
        let ids = || (0..skeleton.input.nodes.len() as u32).map(InputId);
        let is_missing = |id: &InputId| places[id.index()].is_none();
        let mut lines = vec![];
        // Children come before the nodes that need them: the first that is missing has all of its own.
        match ids().filter(is_missing).find_map(shown) {
            Some(first) => {
                let largest =
                    ids().filter(|id| !is_missing(id)).filter_map(|id| Some((size(&skeleton.input, id), shown(id)?)));
                let largest = largest.filter(|(size, _)| *size > 1).max_by_key(|(size, _)| *size);
                let there =
                    largest.map_or(String::new(), |(_, text)| format!("; the largest part that is there is {text}"));
                lines.push(format!("no rule makes {first}, which what is expected needs{there}"));
            }
            None => lines.push("what is expected is in the e-graph, and is not known to be equal".into()),
        }
        let mut wanted: Vec<Wanted> = ids().filter(is_missing).map(|made| Wanted { made, root: None }).collect();
        // At the root, it is known where a rule would have to match.
        wanted.retain(|wanted| !there.operands.contains(&wanted.made));
        let roots = there.operands.iter().zip(&here.operands);
        wanted.extend(roots.map(|(made, root)| Wanted { made: *made, root: Some(context.view.class_of(*root)) }));
        lines.extend(self.makers(&context, &skeleton.input, &places, &wanted));
        lines
    }

    /// Two terms that are in different classes and should not be.
    pub(super) fn apart(&self, input: &EGraphInput, roots: [InputId; 2], fired: &[RuleId]) -> Failure {
        let mut failure =
            Failure::new("the two sides are in different classes").or_rather(self.other_verdict("differs"));
        if let Some(context) = self.context(input) {
            let class = |id: InputId| context.view.class_of(id);
            let places: Vec<_> = (0..input.nodes.len() as u32).map(|id| Some(class(InputId(id)))).collect();
            let [a, b] = roots;
            let wanted = [(a, b), (b, a)].map(|(made, root)| Wanted { made, root: Some(class(root)) });
            let makers = self.makers(&context, input, &places, &wanted);
            let took_part: Vec<&str> =
                fired.iter().map(|rule| self.optimiser.program().rule(*rule).name.as_str()).collect();
            failure.why.extend(makers);
            if failure.why.is_empty() && took_part.is_empty() {
                failure.why.push("no rule matches in either of them".into());
            }
        }
        failure
    }

    /// Two terms that are in one class and should not be.
    pub(super) fn united(&self, input: &EGraphInput, roots: [InputId; 2]) -> Failure {
        let found = decisive(self.options.budget.matches, |limit| {
            let saturated = self.optimiser.saturate_measured(&[input], &self.universe.types, &self.limited(limit));
            let (views, matches) = saturated.ok()?;
            let view = views.first()?;
            Some(Limited { decided: view.class_of(roots[0]) == view.class_of(roots[1]), matches })
        });
        let mut failure = Failure::new("the two sides are in one class").or_rather(self.other_verdict("equals"));
        let named = found.and_then(|found| self.named(&found));
        failure.why.extend(named.map(|rule| format!("{rule} unites them; without its match they are apart")));
        failure
    }

    /// How near rules came that should have taken part.
    pub(super) fn nearest(&self, trial: &Trial, silent: &[usize]) -> Vec<String> {
        let context = match trial {
            Trial::Becomes { before, .. } => {
                let names: Vec<&str> = super::parameters(self.example).collect();
                let context = MatchContext::new(self.optimiser, self.universe, before, self.options, &names);
                context.ok().map(|(context, _)| context)
            }
            Trial::Same { input, .. } => self.context(input),
        };
        let Some(context) = context else { return vec![] };
        let program = self.optimiser.program();
        let rules = silent.iter().map(|position| self.example.fires[*position]);
        rules.map(|id| format!("{}: {}", program.rule(id).name, context.nearest(program, self.universe, id))).collect()
    }

    /// The e-graph of two terms.
    fn context(&self, input: &EGraphInput) -> Option<MatchContext> {
        let view = self.optimiser.saturate_one(input, &self.universe.types, self.options).ok()?;
        // A leaf for each variable, before all other nodes.
        let names = self.example.names.iter().enumerate().map(|(i, name)| (InputId(i as u32), name.clone()));
        Some(MatchContext::of(self.optimiser, self.options, view, names))
    }

    /// The rules that would make one of some terms, and come nearest to it; of those that the example names,
    /// [`nearest`] tells.
    ///
    /// [`nearest`]: Stage::nearest
    fn makers(
        &self,
        context: &MatchContext,
        input: &EGraphInput,
        places: &[Option<ClassId>],
        wanted: &[Wanted],
    ) -> Vec<String> {
        let program = self.optimiser.program();
        let asked: Vec<RuleId> = self.example.fires.iter().map(|id| program.rule(*id).family).collect();
        let mut found = vec![];
        for (index, rule) in program.rules.iter().enumerate().filter(|(_, rule)| !rule.law) {
            let Conclusion::Equal(right) = &rule.right else { continue };
            if asked.contains(&rule.family) {
                continue;
            }
            for (whole, wanted) in wanted.iter().rev().enumerate() {
                let mut vars = BTreeMap::new();
                // A rule that gives one of its operands would make anything anywhere.
                let says_nothing = matches!(right, Term::Var(_)) && wanted.root.is_none();
                if says_nothing || !self.fits(right, input, wanted.made, &mut vars) {
                    continue;
                }
                let known = vars.into_iter().filter_map(|(var, id)| Some((var, places[id.index()]?)));
                let place = wanted.root.map(|root| MatchStart { root, vars: known.collect() });
                let nearest = context.nearest_at(program, self.universe, RuleId(index as u32), place.as_ref());
                let matched = match &nearest {
                    NearMiss::NotRun { .. } => u32::MAX,
                    // A rule that misses more than it has matched is not near.
                    NearMiss::Misses { matched, .. } if 2 * *matched as usize >= length(&rule.left) => *matched,
                    // They did what they can.
                    _ => continue,
                };
                found.push((Reverse(matched), whole, rule, nearest));
            }
        }
        found.sort_by_key(|(matched, whole, rule, _)| (*matched, *whole, rule.family));
        found.dedup_by_key(|(_, _, rule, _)| rule.family);
        let lines = found.into_iter().take(MOST_RULES);
        lines
            .map(|(_, _, rule, nearest)| format!("{} would: {nearest}", self.place(rule.name.as_str(), rule.span)))
            .collect()
    }

    /// May a term stand for a node? A part that it computes is taken for any constant.
    fn fits(&self, term: &Term, input: &EGraphInput, id: InputId, vars: &mut BTreeMap<u32, InputId>) -> bool {
        let node = &input.nodes[id.index()];
        match term {
            Term::Var(i) => *vars.entry(*i).or_insert(id) == id,
            Term::Eval(_) => matches!(node.head, Head::Const(_)),
            Term::Lit(literal, _) => {
                let lane = node.types.first().and_then(|ty| self.universe.types.lane(*ty));
                matches!(node.head, Head::Const(n) if constant(literal, lane) == Some(n))
            }
            Term::Call { op, args, state, .. } => {
                if node.head != Head::Op(*op) {
                    return false;
                }
                let parts: Vec<&Term> = args.iter().chain(state.as_deref()).collect();
                let fit = |children: &[InputId], vars: &mut BTreeMap<u32, InputId>| {
                    parts.len() == children.len()
                        && parts.iter().zip(children).all(|(part, child)| self.fits(part, input, *child, vars))
                };
                orders(self.universe, node).into_iter().any(|children| {
                    let mut own = vars.clone();
                    let fits = fit(&children, &mut own);
                    if fits {
                        *vars = own;
                    }
                    fits
                })
            }
        }
    }

    /// The same options, and at most this many matches.
    fn limited(&self, limit: u64) -> Options {
        let mut options = self.options.clone();
        (options.budget.matches, options.budget.matches_per_input) = (limit, 0);
        options
    }

    /// The rules of a decisive match, with their places; `None` where it is a law's.
    fn named(&self, found: &Decisive) -> Option<String> {
        let rules = found.rules.iter().map(|id| self.optimiser.program().rule(*id));
        let named: Vec<String> = rules.map(|rule| self.place(&rule.name, rule.span)).collect();
        (!named.is_empty()).then(|| named.join(" with "))
    }

    fn place(&self, name: &str, span: Span) -> String {
        let place = self.optimiser.program().sources.place(span);
        format!("{name} ({}:{})", place.file, place.line)
    }

    /// The verdict on two terms that holds, in place of the one that is claimed.
    fn other_verdict(&self, verdict: &str) -> Option<String> {
        let program = self.optimiser.program();
        let (_, text) = program.sources.files.get(self.example.span.file as usize)?;
        let expected = text.get(self.example.expected.start as usize..self.example.expected.end as usize)?;
        Some(format!("{verdict} {expected}"))
    }
}

/// Is all of it in the e-graph but one block's end?
fn is_plain(skeleton: &Skeleton) -> bool {
    let in_graph = |kind: &StatementKind| matches!(kind, StatementKind::Check { .. } | StatementKind::Write { .. });
    skeleton.layout.len() == 1 && skeleton.statements.iter().all(|statement| in_graph(&statement.kind))
}

/// How many operations, variables and literals patterns have.
fn length(terms: &[Term]) -> usize {
    terms.iter().map(|term| term.subterms().count()).sum()
}

/// How many nodes a term has, written out.
fn size(input: &EGraphInput, id: InputId) -> usize {
    let children = &input.nodes[id.index()].children;
    children.iter().fold(1, |sum: usize, child| sum.saturating_add(size(input, *child)))
}
