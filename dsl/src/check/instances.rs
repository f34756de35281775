//! Lints of a rule over the machine types at which it makes sense (see [`crate::instances`]).

use super::report::{Diag, listed};
use super::{Checker, exclusive};
use crate::instances::{Sense, TypeInstances};
use crate::program::{Conclusion, Rule};
use crate::syntax::ast::Span;
use rewright_typeprop::Ty;

impl Checker<'_> {
    /// Lints of one rule over all its instances.
    pub(super) fn lint_instances(&mut self, rule: &Rule, at: Span) {
        let universe = &self.program.universe;
        let instances = TypeInstances::with(universe, &self.computable);
        let Some(all) = instances.combinations(rule) else { return };
        let (mut tried, mut nonsense) = (Vec::new(), Vec::new());
        let (mut fires, mut excluded) = (false, false);
        for targs in &all {
            let shown = || show(&universe.types, rule, targs);
            if instances.admits(rule, targs) {
                if !exclusive::may_hold(universe, rule, targs) {
                    excluded = true;
                    continue;
                }
                fires = true;
                if let Conclusion::Equal(right) = &rule.right
                    && instances.sense(right, targs) == Sense::Meaningless
                {
                    nonsense.push(shown());
                }
            } else {
                tried.push(shown());
            }
        }
        let list = |mut items: Vec<String>| {
            let more = items.len().saturating_sub(4);
            items.truncate(4);
            let items = listed(&items.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>());
            if more > 0 { format!("{items} and {more} more") } else { items }
        };
        if !fires && excluded {
            self.report(
                Diag::lint("RW0505", at, "this rule can never fire", "its conditions exclude each other")
                    .help("no values meet them all: is one of them turned around, or `or` meant?"),
            );
        } else if !fires {
            let label = if rule.tparams.is_empty() {
                "not at these types".to_string()
            } else {
                format!("neither at {}", list(tried).replace(" and ", " nor at "))
            };
            self.report(
                Diag::lint("RW0505", at, "this rule can never fire", label)
                    .help("the left side has no meaning there, a literal does not fit, or a condition on types fails"),
            );
        } else if !nonsense.is_empty() && !rule.tparams.is_empty() {
            self.report(
                Diag::lint(
                    "RW0509",
                    at,
                    format!("the right side has no meaning at {}", list(nonsense)),
                    "would build a call that no machine has",
                )
                .help("add a condition on the types: `when bits(x) < ..`, or narrow a type parameter"),
            );
        }
    }
}

fn show(types: &rewright_typeprop::TypeStore, rule: &Rule, targs: &[Ty]) -> String {
    let pairs: Vec<String> =
        rule.tparams.iter().zip(targs).map(|(p, t)| format!("{} = {}", p.name, types.display(*t))).collect();
    pairs.join(", ")
}
