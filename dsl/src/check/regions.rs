//! States of regions: a state in which a call stands is one of the region that the call accesses, and a state equals only
//! a state of the same region.

use super::Checker;
use super::report::Diag;
use crate::syntax::ast::Span;
use rewright_typeprop::{OpId, Term};
use std::collections::BTreeMap;

/// The region of a state, and the operation that says so.
type Region = (String, OpId);

impl Checker<'_> {
    /// Refuses a rule that takes a state of one region for one of another.
    pub(super) fn check_regions(&mut self, (left_at, right_at): (Span, Span), left: &[Term], right: &Term) {
        let mut variables: BTreeMap<u32, Region> = BTreeMap::new();
        let mut clash = |terms: &[Term]| {
            terms.iter().flat_map(Term::subterms).find_map(|term| {
                let (accessed, state) = self.accessed_in_state(term)?;
                let given = self.region_of(state, &variables);
                if let (Term::Var(var), None) = (state, &given) {
                    variables.insert(*var, accessed.clone());
                }
                Some((accessed, given?)).filter(|(accessed, given)| accessed.0 != given.0)
            })
        };
        let (on_left, on_right) = (clash(left), clash(std::slice::from_ref(right)));
        let both = || self.region_of(left.first()?, &variables).zip(self.region_of(right, &variables));
        let in_place = || both().filter(|(ours, theirs)| ours.0 != theirs.0);
        match (on_left, on_right) {
            (Some(clash), _) => self.report_regions(left_at, clash),
            (None, Some(clash)) => self.report_regions(right_at, clash),
            (None, None) => {
                if let Some(clash) = in_place() {
                    self.report_regions(right_at, clash);
                }
            }
        }
    }

    fn report_regions(&mut self, at: Span, ((ours, one), (theirs, other)): (Region, Region)) {
        let ops = &self.program.universe.ops;
        let message =
            format!("`{}` is about `{ours}`, and `{}` about `{theirs}`", ops.get(one).name, ops.get(other).name);
        let [one, other] = [one, other].map(|op| self.op_spans[ops.whole(op).0 as usize]);
        self.report(
            Diag::error("RW0310", at, message, "takes a state of one for a state of the other")
                .also(one, format!("accesses `{ours}`"))
                .also(other, format!("accesses `{theirs}`"))
                .help("what is written to one region leaves the state of another as it is: name a state for each"),
        );
    }

    /// The one region that a call accesses in a state, and that state. A statement at a place of its own stands in a state
    /// of everything.
    fn accessed_in_state<'t>(&self, term: &'t Term) -> Option<(Region, &'t Term)> {
        let Term::Call { op, state: Some(state), .. } = term else { return None };
        let decl = self.program.universe.ops.get(*op);
        if decl.part_of.is_none() && decl.is_sited() {
            return None;
        }
        let mut regions: Vec<&String> = decl.effects.reads.iter().chain(&decl.effects.writes).collect();
        regions.sort();
        regions.dedup();
        match regions[..] {
            [region] => Some(((region.clone(), *op), state)),
            _ => None,
        }
    }

    /// The region of a state: that of a call which writes it, or of the first call that stands in it.
    fn region_of(&self, state: &Term, variables: &BTreeMap<u32, Region>) -> Option<Region> {
        match state {
            Term::Var(var) => variables.get(var).cloned(),
            Term::Call { op, .. } => {
                let decl = self.program.universe.ops.get(*op);
                match &decl.effects.writes[..] {
                    [region] if decl.part_of.is_some() || !decl.is_sited() => Some((region.clone(), *op)),
                    _ => None,
                }
            }
            Term::Lit(..) | Term::Eval(_) => None,
        }
    }
}
