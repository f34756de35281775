//! What an `unsafe` rule may do beyond a plain one: do without statements of its left side.
//!
//! A rule says which effects go (`removes`), and why that is right (`because`). The effects are computed here, from
//! what the left side does and the right side does not, and must be the stated ones, no more and no fewer. A
//! statement of the right side stands at the site of the left side's root, or is one of the left side's own, written
//! again: so no rule moves a statement.
//!
//! The rule's equality is about values. That a statement may go is a licence beside it, which extraction may use.

use super::Checker;
use super::report::{Diag, listed};
use super::rewritings::Shape;
use crate::program::Relaxation;
use crate::syntax::ast::{Clause, ClauseKind, Span};
use rewright_typeprop::{Effects, Term};
use std::collections::BTreeSet;

/// Effects as a pack writes them, except for reading, whose removal is not observable.
fn shown(effects: &Effects) -> BTreeSet<String> {
    let regions = |word: &str, regions: &[String]| -> Vec<String> {
        regions.iter().map(|region| format!("{word}({region})")).collect()
    };
    let mut out: BTreeSet<String> = BTreeSet::new();
    out.extend(regions("allocates", &effects.allocates));
    out.extend(regions("writes", &effects.writes));
    for (word, has) in [("io", effects.io), ("traps", effects.traps), ("diverges", effects.diverges)] {
        out.extend(has.then(|| word.to_string()));
    }
    out
}

fn quoted(effects: &BTreeSet<String>) -> String {
    listed(&effects.iter().map(|effect| format!("`{effect}`")).collect::<Vec<_>>())
}

/// A statement in a term: the call, and the state variable of its site.
struct Statement<'t> {
    term: &'t Term,
    site: u32,
}

impl Checker<'_> {
    pub(super) fn relaxation(
        &mut self,
        at: Span,
        file: usize,
        shape: &Shape,
        clauses: &[&Clause],
        (left, right): (&Term, &Term),
    ) -> Option<Relaxation> {
        if shape.both_ways {
            self.report(
                Diag::error("RW0451", shape.right_at, "`<=>` in an unsafe rule", "the way back would make statements")
                    .help("write `=>`"),
            );
            return None;
        }
        let (stated, because) = self.stated(at, file, clauses)?;
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        self.statements_at_sites(left, &mut lefts);
        self.statements_at_sites(right, &mut rights);
        let root = lefts.iter().find(|s| std::ptr::eq(s.term, left)).map(|s| s.site);
        if !self.stay_where_they_are(shape, left, right, &lefts, &rights, root) {
            return None;
        }
        let dropped: Vec<&Statement> = lefts.iter().filter(|s| rights.iter().all(|r| r.site != s.site)).collect();
        let mut removed: BTreeSet<String> = dropped.iter().flat_map(|s| self.effects_of(s.term)).collect();
        if root.is_some_and(|root| rights.iter().any(|r| r.site == root)) {
            removed.extend(self.effects_of(left).difference(&self.effects_of(right)).cloned());
        }
        let needs_root: BTreeSet<String> = removed.iter().filter(|e| !e.starts_with("allocates(")).cloned().collect();
        if root.is_none() && !needs_root.is_empty() {
            self.report(
                Diag::error(
                    "RW0451",
                    shape.left_at,
                    format!("{} can go only together with a statement at the root", quoted(&needs_root)),
                    "this call has no place of its own",
                )
                .help("let the rule begin at the call whose effect goes"),
            );
            return None;
        }
        if removed.is_empty() {
            self.report(
                Diag::error("RW0451", at, "this rule removes no effect", "not unsafe")
                    .help("leave out `unsafe`, `removes` and `because`"),
            );
            return None;
        }
        if removed != stated.0 {
            let missing: BTreeSet<String> = removed.difference(&stated.0).cloned().collect();
            let extra: BTreeSet<String> = stated.0.difference(&removed).cloned().collect();
            let (message, label) = if missing.is_empty() {
                (format!("this rule does not remove {}", quoted(&extra)), "nothing that goes has it")
            } else {
                (format!("this rule removes {}, too", quoted(&missing)), "does not say so")
            };
            self.report(
                Diag::error("RW0451", stated.1, message, label)
                    .also(shape.left_at, format!("without {} of this", quoted(&removed)))
                    .help(format!("write `removes {}`", removed.iter().cloned().collect::<Vec<_>>().join(", "))),
            );
            return None;
        }
        Some(Relaxation { dropped: dropped.iter().map(|s| s.site).collect(), root, because })
    }

    /// `removes` and `because`, each once.
    fn stated(&mut self, at: Span, file: usize, clauses: &[&Clause]) -> Option<((BTreeSet<String>, Span), String)> {
        let removes = clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::Removes(effects) => Some((effects, clause.span)),
            _ => None,
        });
        let because = clauses.iter().find_map(|clause| match &clause.kind {
            ClauseKind::Because(text) => Some(text.clone()),
            _ => None,
        });
        let missing: Vec<String> = [("`removes ..`", removes.is_none()), ("`because \"..\"`", because.is_none())]
            .into_iter()
            .filter(|(_, missing)| *missing)
            .map(|(clause, _)| clause.to_string())
            .collect();
        // A clause that cannot be read is one mistake, and has been reported.
        if !missing.is_empty() && !self.files[file].broken {
            let message = format!("an unsafe rule without {}", listed(&missing));
            self.report(
                Diag::error("RW0451", at, message, "which effect, and why?")
                    .help("`removes allocates(heap) because \"no other code can see it\"`"),
            );
        }
        let (effects, span) = removes?;
        let scope = &self.scopes[file];
        let stated = effects.iter().map(|effect| match effect.name.node.as_str() {
            word @ ("reads" | "writes" | "allocates") => {
                let region = effect.region.as_ref().map_or(super::ops::DEFAULT_REGION, |r| r.node.as_str());
                let region = scope.region(region).unwrap_or_else(|_| region.to_string());
                format!("{word}({})", self.regions.shortest(&region))
            }
            word => word.to_string(),
        });
        Some(((stated.collect(), span), because?))
    }

    fn effects_of(&self, term: &Term) -> BTreeSet<String> {
        match term {
            Term::Call { op, .. } => shown(&self.program.universe.ops.get(*op).effects),
            _ => BTreeSet::new(),
        }
    }

    fn statements_at_sites<'t>(&self, term: &'t Term, out: &mut Vec<Statement<'t>>) {
        let Term::Call { op, args, state, .. } = term else { return };
        if self.program.universe.ops.get(*op).is_sited()
            && let Some(Term::Var(site)) = state.as_deref()
        {
            out.push(Statement { term, site: *site });
        }
        args.iter().for_each(|arg| self.statements_at_sites(arg, out));
    }

    /// The right side's statements are the root, in place of the left side's, and statements of the left side.
    fn stay_where_they_are(
        &mut self,
        shape: &Shape,
        left: &Term,
        right: &Term,
        lefts: &[Statement<'_>],
        rights: &[Statement<'_>],
        root: Option<u32>,
    ) -> bool {
        for statement in rights {
            let again = lefts.iter().any(|l| l.term == statement.term && !std::ptr::eq(l.term, left));
            let in_place = std::ptr::eq(statement.term, right) && root == Some(statement.site);
            if again || in_place {
                continue;
            }
            let Term::Call { op, .. } = statement.term else { continue };
            let name = self.program.universe.ops.get(*op).name.clone();
            self.report(
                Diag::error(
                    "RW0309",
                    shape.right_at,
                    format!("this rule makes a new call of `{name}`"),
                    "stands where the left side has no such statement",
                )
                .help("only the root may be a statement, in place of one; others are written again as they are"),
            );
            return false;
        }
        let added: BTreeSet<String> = self.effects_of(right).difference(&self.effects_of(left)).cloned().collect();
        if root.is_some() && rights.iter().any(|r| Some(r.site) == root) && !added.is_empty() {
            self.report(
                Diag::error("RW0309", shape.right_at, format!("this rule adds {}", quoted(&added)), "a new effect")
                    .also(shape.left_at, "has no such effect"),
            );
            return false;
        }
        true
    }
}
