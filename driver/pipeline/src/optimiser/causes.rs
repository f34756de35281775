//! Which rules made the nodes of a saturated e-graph.

use rewright_cfg_skeleton::egraph::{ClassId, EGraphView, Head, NodeId};
use rewright_dsl::program::{Conclusion, Program, RuleId};
use rewright_typeprop::Term;
use std::collections::BTreeMap;

/// Where rules matched, as the engine has logged it.
pub(super) struct Causes<'a> {
    program: &'a Program,
    view: &'a EGraphView,
    /// By class, sorted.
    matched: BTreeMap<ClassId, Vec<RuleId>>,
}

impl<'a> Causes<'a> {
    pub(super) fn new(program: &'a Program, view: &'a EGraphView) -> Self {
        let mut matched: BTreeMap<ClassId, Vec<RuleId>> = BTreeMap::new();
        view.applications.iter().for_each(|a| matched.entry(a.class).or_default().push(a.rule));
        for rules in matched.values_mut() {
            rules.sort_unstable();
            rules.dedup();
        }
        Causes { program, view, matched }
    }

    /// All rules that matched in a class.
    pub(super) fn all(&self, class: ClassId) -> &[RuleId] {
        self.matched.get(&self.view.whole(class)).map_or(&[], Vec::as_slice)
    }

    /// Has nothing matched in a class?
    pub(super) fn are_none(&self, class: ClassId) -> bool {
        self.all(class).is_empty()
    }

    /// The rules behind a node of a class, or behind the class itself: those whose right side may be that node; where
    /// there is none, those that united the class with another.
    pub(super) fn of(&self, class: ClassId, node: Option<NodeId>) -> Vec<RuleId> {
        self.behind(class, node.map(|node| self.view.node(node).head))
    }

    /// The same of a node with this head.
    pub(super) fn made(&self, class: ClassId, head: Head) -> Vec<RuleId> {
        self.behind(class, Some(head))
    }

    fn behind(&self, class: ClassId, head: Option<Head>) -> Vec<RuleId> {
        let rules = self.all(class);
        let right = |rule: &RuleId| match &self.program.rule(*rule).right {
            Conclusion::Equal(term) => Some(term),
            Conclusion::Fact(..) => None,
        };
        let makes = |rule: &RuleId| match (right(rule), head) {
            (Some(Term::Call { op, .. }), Some(head)) => head == Head::Op(*op),
            (Some(Term::Lit(..) | Term::Eval(_)), Some(Head::Const(_))) => true,
            (Some(Term::Lit(..) | Term::Eval(_) | Term::Var(_)), None) => true,
            _ => false,
        };
        let unites = |rule: &RuleId| matches!(right(rule), Some(Term::Var(_)));
        for is_behind in [&makes as &dyn Fn(&RuleId) -> bool, &unites, &|rule| right(rule).is_some()] {
            let found: Vec<RuleId> = rules.iter().copied().filter(is_behind).collect();
            if !found.is_empty() {
                return found;
            }
        }
        vec![]
    }
}
