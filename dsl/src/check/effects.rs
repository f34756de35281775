//! What a plain rule may not do to effects, and what a right side must see to.
//!
//! Only statements count: `io`, `allocates`, `diverges`, and writers with results. A plain rule keeps them, and whether they trap; a trap by
//! itself is no matter, since a trapping operation is a total function beside a check that stays. Reading does not
//! matter, either: a load is a function of its state. Other writes are kept by the types, since a state can only be
//! replaced by a state.

use super::Checker;
use super::report::Diag;
use super::wording::short;
use crate::program::Guard;
use crate::syntax::ast::Span;
use rewright_typeprop::{Effects, Op, OpId, Term, TypeExpr};

/// The part of effects that makes a statement.
#[derive(Clone, PartialEq, Debug)]
struct Statement {
    allocates: Vec<String>,
    writes: Vec<String>,
    io: bool,
    diverges: bool,
    traps: bool,
}

impl Statement {
    fn of(op: &Op) -> Option<Self> {
        let sorted = |regions: &[String]| {
            let mut regions = regions.to_vec();
            regions.sort();
            regions
        };
        let Effects { io, diverges, traps, .. } = op.effects;
        let (allocates, writes) = (sorted(&op.effects.allocates), sorted(&op.effects.writes));
        op.is_sited().then_some(Statement { allocates, writes, io, diverges, traps })
    }

    fn show(&self) -> String {
        let mut parts: Vec<String> = self.allocates.iter().map(|r| format!("`allocates({r})`")).collect();
        parts.extend(self.writes.iter().map(|r| format!("`writes({r})`")));
        if self.io {
            parts.push("`io`".into());
        }
        if self.diverges {
            parts.push("`diverges`".into());
        }
        if self.traps {
            parts.push("`traps`".into());
        }
        super::report::listed(&parts)
    }
}

impl Checker<'_> {
    /// `left` is the root, then the other patterns of a `match` block.
    pub(super) fn check_effects(&mut self, left_at: Span, right_at: Span, left: &[Term], right: &Term) {
        self.keeps_effects(left_at, right_at, &left[0], &left[1..], right);
    }

    pub(super) fn check_effects_back(&mut self, left_at: Span, right_at: Span, left: &Term, right: &Term) {
        if self.program.universe.ops.is_empty() {
            return;
        }
        let before = self.diagnostics.len();
        self.keeps_effects(right_at, left_at, right, &[], left);
        // Both ways say the same if the first one said it already.
        if before > 0 && self.diagnostics.len() > before && self.diagnostics[before - 1].code == "RW0309" {
            self.diagnostics.truncate(before);
        }
    }

    fn statement(&self, op: OpId) -> Option<Statement> {
        Statement::of(self.program.universe.ops.get(op))
    }

    fn keeps_effects(&mut self, left_at: Span, right_at: Span, left: &Term, others: &[Term], right: &Term) {
        let there: Vec<&Term> = others.iter().flat_map(calls).collect();
        let (dropped, made): (Vec<&Term>, Vec<&Term>) = (calls(left).collect(), calls(right).collect());
        let root = |term: &Term| match term {
            Term::Call { op, .. } => Some(*op),
            _ => None,
        };
        let root_effect = root(left).and_then(|op| self.statement(op));
        let right_effect = root(right).and_then(|op| self.statement(op));
        if let Some(effect) = &root_effect {
            let name = root(left).map(|op| self.program.universe.ops.get(op).name.clone()).unwrap_or_default();
            match &right_effect {
                Some(other) if other == effect => {}
                Some(other) => self.report(
                    Diag::error(
                        "RW0309",
                        right_at,
                        format!("`{name}` has {}, its replacement {}", effect.show(), other.show()),
                        "another effect",
                    )
                    .also(left_at, format!("has {}", effect.show()))
                    .help("a plain rule keeps effects as they are"),
                ),
                None => {
                    let has_parts = root(left).is_some_and(|op| self.program.universe.ops.get(op).parts.is_some());
                    let more = match has_parts {
                        true => format!(
                            "; where the call stays, and the rule is about what it gives, name its state: `{name}(..) after s`"
                        ),
                        false => String::new(),
                    };
                    self.report(
                        Diag::error(
                            "RW0309",
                            right_at,
                            format!("this rule drops {} of `{name}`", effect.show()),
                            "has no such effect",
                        )
                        .also(left_at, format!("has {}", effect.show()))
                        .help(format!(
                            "only an `unsafe` rule that says `removes ..` and `because ..` may drop an effect{more}"
                        )),
                    );
                }
            }
        }
        if let (Some(_), Some(_), Some(ours), Some(theirs)) = (&root_effect, &right_effect, root(left), root(right)) {
            self.reads_no_more((left_at, right_at), ours, theirs);
        }
        // Two calls are two statements: what one of them gives (fresh memory, what was read) is not what the other
        // gives.
        if right_effect.is_some() && there.contains(&right) {
            let name = root(right).map(|op| self.program.universe.ops.get(op).name.clone()).unwrap_or_default();
            self.report(
                Diag::error(
                    "RW0309",
                    right_at,
                    format!("this rule makes one statement of two: its result is that of another call of `{name}`"),
                    "the call that another pattern matches",
                )
                .also(left_at, "a call of its own")
                .help("use the result of the other call below a function, as in `rewrite t => total(e)`"),
            );
        }
        // Statements below the root stay, each as it is.
        let mut dropped = self.only_statements(dropped);
        let mut made = self.only_statements(made);
        dropped.retain(|t| t != left);
        made.retain(|t| t != right);
        for term in dropped.iter().filter(|t| !made.contains(t)) {
            if let Some((name, effect)) = self.name_and_effect(term) {
                self.report(
                    Diag::error(
                        "RW0309",
                        right_at,
                        format!("this rule drops {effect} of `{name}`"),
                        "does not mention that call",
                    )
                    .also(left_at, format!("holds a call of `{name}`"))
                    .help("only an `unsafe` rule that says `removes ..` and `because ..` may drop an effect"),
                );
            }
        }
        // A call that another pattern matches, in its state, is that one: its result may be used.
        let extra = made.iter().filter(|t| !dropped.contains(t) && !there.contains(t)).cloned();
        let fresh_root = right_effect.filter(|_| root_effect.is_none()).map(|_| right.clone());
        for term in extra.chain(fresh_root).collect::<Vec<_>>() {
            if let Some((name, effect)) = self.name_and_effect(&term) {
                self.report(
                    Diag::error(
                        "RW0309",
                        right_at,
                        format!("this rule makes a new call of `{name}`, which has {effect}"),
                        "has an effect that the left side has not",
                    )
                    .help("only the root may be a statement, and only if the left side's root is one"),
                );
            }
        }
    }

    /// A statement reads where it is executed; what the left side reads elsewhere may have been written since.
    fn reads_no_more(&mut self, (left_at, right_at): (Span, Span), left: OpId, right: OpId) {
        let [ours, theirs] = [left, right].map(|op| self.program.universe.ops.get(op));
        let accessed = |region: &String| ours.effects.reads.contains(region) || ours.effects.writes.contains(region);
        let Some(region) = theirs.effects.reads.iter().find(|region| !accessed(region)) else { return };
        let message = format!("`{}` reads `{region}`, which `{}` does not", theirs.name, ours.name);
        let report = Diag::error("RW0309", right_at, message, "reads it where it is executed")
            .also(left_at, format!("knows nothing of `{region}`"))
            .help("what the rest of the left side reads may have been written before this call is executed");
        self.report(report);
    }

    fn only_statements(&self, terms: Vec<&Term>) -> Vec<Term> {
        terms.into_iter().filter(|t| self.name_and_effect(t).is_some()).cloned().collect()
    }

    fn name_and_effect(&self, term: &Term) -> Option<(String, String)> {
        let Term::Call { op, .. } = term else { return None };
        let effect = self.statement(*op)?;
        Some((self.program.universe.ops.get(*op).name.clone(), effect.show()))
    }

    /// A right side that uses an operation must imply what the operation requires: a condition of the rule says
    /// so, or a call on the left side requires the same. A fact must be implied; a comparison that is not seen to
    /// be is only pointed out, since it may follow for reasons that no syntax shows.
    pub(super) fn check_requires(&mut self, file: usize, at: Span, left: &[Term], right: &Term, guards: &[Guard]) {
        let required = |term: &Term| -> Vec<Guard> {
            let Term::Call { op, targs, args, state } = term else { return Vec::new() };
            let with = Substitution { args, targs, state: state.as_deref() };
            let own = self.program.requires.get(&self.program.universe.ops.whole(*op)).into_iter().flatten();
            own.map(|g| with.guard(g)).collect()
        };
        let mut known: Vec<Guard> = guards.to_vec();
        known.extend(left.iter().flat_map(calls).flat_map(required));
        let mut missing = Vec::new();
        for term in calls(right) {
            let Term::Call { op, .. } = term else { continue };
            for guard in required(term) {
                if !known.contains(&guard) {
                    let fact = match &guard {
                        Guard::Fact(id, _) => Some(short(self.fact_name(*id)).to_string()),
                        _ => None,
                    };
                    missing.push((*op, fact));
                }
            }
        }
        for (op, fact) in missing {
            let name = self.program.universe.ops.get(op).name.clone();
            let declared = self.op_spans[op.0 as usize];
            match fact {
                Some(fact) => self.report(
                    Diag::error("RW0315", at, format!("`{name}` requires `{fact}`"), "nothing here implies it")
                        .also(declared, "declared with `requires` here")
                        .help(format!("add `when {fact}(..)`")),
                ),
                None if self.files[file].root => self.report(
                    Diag::lint(
                        "RW0507",
                        at,
                        format!("`{name}` has a requirement that is not seen to hold here"),
                        "no condition or call on the left says the same",
                    )
                    .also(declared, "declared with `requires` here"),
                ),
                None => {}
            }
        }
    }
}

/// All calls in a term, the root first.
fn calls(term: &Term) -> impl Iterator<Item = &Term> {
    term.subterms().filter(|part| matches!(part, Term::Call { .. }))
}

/// Arguments for an operation's parameters.
pub(super) struct Substitution<'t> {
    pub(super) args: &'t [Term],
    pub(super) targs: &'t [TypeExpr],
    pub(super) state: Option<&'t Term>,
}

impl Substitution<'_> {
    fn param(&self, i: u32) -> TypeExpr {
        self.targs.get(i as usize).cloned().unwrap_or(TypeExpr::Param(i))
    }

    fn ty(&self, ty: &TypeExpr) -> TypeExpr {
        ty.substitute(&mut |i| self.param(i))
    }

    fn var(&self, i: u32) -> Term {
        let given = self.args.get(i as usize).or(self.state);
        given.cloned().unwrap_or(Term::Var(i))
    }

    /// A term over the operation's parameters, put in the caller's terms.
    pub(super) fn term(&self, term: &Term) -> Term {
        term.substitute(&mut |i| self.var(i), &mut |i| self.param(i))
    }

    fn guard(&self, guard: &Guard) -> Guard {
        match guard {
            Guard::Fact(id, args) => Guard::Fact(*id, args.iter().map(|a| self.term(a)).collect()),
            Guard::Holds(term) => Guard::Holds(self.term(term)),
            Guard::Compare { equal, left, right } => {
                Guard::Compare { equal: *equal, left: self.term(left), right: self.term(right) }
            }
            Guard::Class { same, left, right } => {
                Guard::Class { same: *same, left: self.term(left), right: self.term(right) }
            }
            Guard::Is(term, ty) => Guard::Is(self.term(term), self.ty(ty)),
            Guard::Not(inner) => Guard::Not(Box::new(self.guard(inner))),
            Guard::Or(a, b) => Guard::Or(Box::new(self.guard(a)), Box::new(self.guard(b))),
        }
    }
}
