//! The e-graph that a function is selected from, with what is chosen there, and what other choices cost: for pictures,
//! and to explain why a rule is not chosen.

use super::causes::Causes;
use super::rebuilt::rebuilt;
use super::{MAX_ROUNDS, Optimiser, Options};
use rewright_cfg_skeleton::Saturated;
use rewright_cfg_skeleton::egraph::{ClassId, EGraphView, Head, LeafId, NodeId, demand};
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::ir::{Cfg, Function};
use rewright_cfg_skeleton::select::{self, Def, Selection, cost::node_costs};
use rewright_cfg_skeleton::skeleton::Skeleton;
use rewright_cfg_skeleton::skeleton::dot::Marks;
use rewright_engine::EngineError;
use rewright_typeprop::Universe;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// How many nodes of a rule are tried as a choice.
const MAX_TRIED: usize = 16;

/// A saturated e-graph and its skeleton.
pub struct Graph {
    /// The function after changes of the skeleton.
    function: Function,
    /// What the e-graph is of.
    pub skeleton: Skeleton,
    /// The e-graph.
    pub view: EGraphView,
    /// What is chosen, what that costs and which rules made it.
    pub marks: Marks,
}

/// Costs of programs, in the cost model's units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    /// Of the cheapest one found.
    pub cheapest: u64,
    /// Of the cheapest one with something in it.
    pub with: u64,
}

impl Optimiser {
    /// The e-graph that a function is selected from, as [`Optimiser::optimise`] does it, after changes of the skeleton.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn graph(&self, function: &Function, universe: &Universe, options: &Options) -> Result<Graph, EngineError> {
        let options = &Options { log: true, ..options.clone() };
        let mut function = function.clone();
        normalise(&mut function);
        let mut round = 0;
        loop {
            let (cfg, skeleton) = self.build(&function, universe);
            let cfg = cfg.weighed(options.select.cost.weighing);
            let view = self.saturate_one(&skeleton.input, &universe.types, options)?;
            let given = Saturated { function: &function, cfg: &cfg, universe, skeleton: &skeleton, view: &view };
            let changed = match round < MAX_ROUNDS && view.contradictions.is_empty() {
                true => rebuilt(given, options),
                false => None,
            };
            if let Some((changed, _)) = changed {
                function = changed;
                round += 1;
                continue;
            }
            let marks = self.marks(given, options);
            return Ok(Graph { function, skeleton, view, marks });
        }
    }

    /// What the cheapest program found costs, and the cheapest one in which something is computed as a rule makes it;
    /// nothing where that is computed already, or cannot be.
    pub fn price(&self, graph: &Graph, universe: &Universe, options: &Options, rule: &str) -> Option<Price> {
        let Graph { function, skeleton, view, marks } = graph;
        let cfg = Cfg::new(function).weighed(options.select.cost.weighing);
        // The wanted node, if there is one, is computed.
        let cost = |view: &EGraphView, wanted: Option<NodeId>| {
            let given = Saturated { function, cfg: &cfg, universe, skeleton, view };
            let Selection { defs, cost, placement_cost, .. } = self.selected(given, options).ok()?.selection;
            let computes = |id: NodeId| defs.values().any(|def| *def == Def::Node(id) || *def == Def::Recurrence(id));
            wanted.is_none_or(computes).then(|| cost.saturating_sub(placement_cost))
        };
        let made = made_by(marks, rule);
        // The others of its class are leaves of nothing, which no program computes.
        let alone = |id: NodeId| {
            let mut view = view.clone();
            let class = view.node_class[id.index()];
            let others = std::mem::replace(&mut view.classes[class.index()].nodes, [id].into_iter().collect());
            for other in others.into_iter().filter(|other| *other != id) {
                let node = &mut view.nodes[other.index()];
                (node.head, node.children) = (Head::Leaf(LeafId(u32::MAX)), SmallVec::new());
            }
            view
        };
        let with = made.take(MAX_TRIED).filter_map(|(id, _)| cost(&alone(*id), Some(*id))).min()?;
        Some(Price { cheapest: cost(view, None)?, with })
    }

    /// Does a rule make anything that was not there?
    pub fn makes(&self, graph: &Graph, rule: &str) -> bool {
        made_by(&graph.marks, rule).next().is_some()
    }

    /// The best selection from an e-graph, classes split by type if they have to be.
    fn selected(&self, given: Saturated, options: &Options) -> Result<select::SelectionReport, select::SelectError> {
        let how = select::Options {
            unavailable: self.unwritable.union(&options.select.unavailable).copied().collect(),
            ..options.select.clone()
        };
        // Nodes keep their numbers where classes are split.
        let typed = demand::split(given.view, &given.skeleton.input, given.universe);
        select::select(Saturated { view: typed.as_ref().unwrap_or(given.view), ..given }, &how)
    }

    fn marks(&self, given: Saturated, options: &Options) -> Marks {
        let Saturated { universe, skeleton, view, .. } = given;
        let (chosen, failure) = match self.selected(given, options) {
            Ok(report) => (report.selection.defs, None),
            Err(error) => (BTreeMap::new(), Some(error.to_string())),
        };
        let node = |def: &Def| match def {
            Def::Node(id) | Def::Recurrence(id) => Some(*id).filter(|id| id.index() < view.nodes.len()),
            Def::Result { .. } | Def::Param { .. } => None,
        };
        let (causes, original) = (Causes::new(self.program(), view), skeleton.input.nodes_in(view, universe));
        let made = (0..view.nodes.len() as u32).map(NodeId).filter(|id| !original.contains(id));
        let made = made.filter_map(|id| {
            let class: ClassId = view.node_class[id.index()];
            let rules = causes.of(class, Some(id));
            let names = rules.iter().map(|rule| self.program().rule(*rule).name.clone()).collect();
            (!rules.is_empty()).then_some((id, names))
        });
        Marks {
            chosen: chosen.values().filter_map(node).collect(),
            costs: node_costs(&options.select.cost, universe, view),
            rules: made.collect(),
            failure,
        }
    }
}

/// The nodes that a rule has made.
fn made_by<'m>(marks: &'m Marks, rule: &'m str) -> impl Iterator<Item = (&'m NodeId, &'m Vec<String>)> {
    marks.rules.iter().filter(move |(_, rules)| rules.iter().any(|name| name == rule))
}
