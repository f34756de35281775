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
use rewright_cfg_skeleton::skeleton::dot::Marks;
use rewright_cfg_skeleton::skeleton::{Skeleton, StatementKind};
use rewright_dsl::program::{Program, RuleId};
use rewright_engine::EngineError;
use rewright_typeprop::Universe;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

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

/// Costs of the cheapest programs with some rules and without, in the cost model's units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needed {
    /// With them.
    pub with: u64,
    /// Without them.
    pub without: u64,
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

    /// What the cheapest program found costs, and the cheapest one in which something is computed as one of these rules
    /// makes it; nothing where that is computed already, or cannot be.
    pub fn price(
        &self,
        graph: &Graph,
        universe: &Universe,
        options: &Options,
        rules: &BTreeSet<&str>,
    ) -> Option<Price> {
        // The others of its class are leaves of nothing, which no program computes.
        let alone = |id: NodeId| {
            let mut view = graph.view.clone();
            let class = &mut view.classes[view.node_class[id.index()].index()];
            class.constant = None;
            let others = std::mem::replace(&mut class.nodes, [id].into_iter().collect());
            for other in others.into_iter().filter(|other| *other != id) {
                let node = &mut view.nodes[other.index()];
                (node.head, node.children) = (Head::Leaf(LeafId(u32::MAX)), SmallVec::new());
            }
            view
        };
        let made = made_by(&graph.marks, rules).take(MAX_TRIED);
        let with = made.filter_map(|id| self.cost_with(graph, universe, options, &alone(id), Some(id))).min()?;
        Some(Price { cheapest: self.cheapest(graph, universe, options)?, with })
    }

    /// What the cheapest program found costs.
    fn cheapest(&self, graph: &Graph, universe: &Universe, options: &Options) -> Option<u64> {
        self.cost_with(graph, universe, options, &graph.view, None)
    }

    /// What the cheapest program in a view costs, if that computes the wanted node.
    fn cost_with(
        &self,
        graph: &Graph,
        universe: &Universe,
        options: &Options,
        view: &EGraphView,
        wanted: Option<NodeId>,
    ) -> Option<u64> {
        let Graph { function, skeleton, .. } = graph;
        let cfg = Cfg::new(function).weighed(options.select.cost.weighing);
        let given = Saturated { function, cfg: &cfg, universe, skeleton, view };
        let Selection { defs, cost, placement_cost, .. } = self.selected(given, options).ok()?.selection;
        let computes = |id: NodeId| defs.values().any(|def| *def == Def::Node(id) || *def == Def::Recurrence(id));
        wanted.is_none_or(computes).then(|| cost.saturating_sub(placement_cost))
    }

    /// What the cheapest program costs without these rules, if it costs more than with them.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn dearer_without(
        &self,
        graph: &Graph,
        (function, universe): (&Function, &Universe),
        options: &Options,
        rules: &BTreeSet<&str>,
    ) -> Result<Option<Needed>, EngineError> {
        let mut program = self.program().clone();
        let is_left_out = |program: &Program, id: RuleId| rules.contains(program.rule(id).name.as_str());
        for set in program.rulesets.keys().cloned().collect::<Vec<_>>() {
            let own = program.rulesets[&set].iter().copied().filter(|id| !is_left_out(&program, *id)).collect();
            program.rulesets.insert(set, own);
        }
        let without = Optimiser::on_demand(program, self.trap_code).without(self.unwritable.clone());
        let less = without.graph(function, universe, options)?;
        let costs = (self.cheapest(graph, universe, options), without.cheapest(&less, universe, options));
        Ok(match costs {
            (Some(with), Some(without)) if with < without => Some(Needed { with, without }),
            _ => None,
        })
    }

    /// Do rules make anything that was not there?
    pub fn makes(&self, graph: &Graph, rules: &BTreeSet<&str>) -> bool {
        made_by(&graph.marks, rules).next().is_some()
    }

    /// Is a call there whose state one of these rules speaks of, and whose value is used?
    pub fn is_kept_for_its_value(&self, graph: &Graph, rules: &BTreeSet<&str>) -> bool {
        let Graph { function, skeleton, view, .. } = graph;
        let is_meant = |id: RuleId| rules.contains(self.program().rule(id).name.as_str());
        let matched: BTreeSet<ClassId> =
            view.applications.iter().filter(|a| is_meant(a.rule)).map(|a| a.class).collect();
        let used = function.used_values();
        skeleton.statements.iter().any(|statement| match &statement.kind {
            StatementKind::Call { after: Some(after), .. } => {
                let results = &function.inst(statement.inst).results;
                matched.contains(&view.class_of(after.out)) && results.iter().any(|value| used.contains(value))
            }
            _ => false,
        })
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

/// The nodes that rules have made.
fn made_by<'m>(marks: &'m Marks, rules: &'m BTreeSet<&str>) -> impl Iterator<Item = NodeId> {
    marks.rules.iter().filter(|(_, names)| names.iter().any(|name| rules.contains(name.as_str()))).map(|(id, _)| *id)
}
