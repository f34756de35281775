//! Why a rule does not match in a function, for `why-not` and for examples that fail.
//!
//! A [`MatchContext`] is the function with its e-graph after all rules have run, so what other rules would have to
//! bring about first is there or is permanently missing.

mod search;

use crate::optimiser::{Optimiser, Options};
use rewright_cfg_skeleton::egraph::{ClassId, EGraphInput, EGraphView, Head, InputId, Node, NodeId, Stop};
use rewright_cfg_skeleton::ir::Function;
use rewright_cfg_skeleton::ir::normalise::normalise;
use rewright_cfg_skeleton::skeleton::{Skeleton, StatementKind};
use rewright_dsl::program::{Program, Rule, RuleId, ScheduleStep};
use rewright_engine::EngineError;
use rewright_typeprop::{Term, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::fmt;

/// How deep values are written out.
const SHOWN_DEPTH: u32 = 3;

/// A saturated e-graph, of a function or of terms.
pub struct MatchContext {
    /// The graph.
    pub view: EGraphView,
    /// The schedule that ran.
    schedule: Option<String>,
    /// What classes are called: the first of the function's values that each has.
    names: BTreeMap<ClassId, String>,
    /// The front end's number of the first instruction that computes each class, or is executed there.
    origins: BTreeMap<ClassId, u32>,
}

/// A value at which a rule was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At {
    /// As its author wrote it.
    pub value: String,
    /// The front end's number of the instruction that computes it; what rules have made has none.
    pub origin: Option<u32>,
}

/// A class that a rule is to match, with what some of its variables are then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatchStart {
    pub(crate) root: ClassId,
    pub(crate) vars: Vec<(u32, ClassId)>,
}

/// How near a rule comes to match in a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NearMiss {
    /// It does match, and did something.
    Fired,
    /// There is no operation like the root of its left side.
    NoRoot {
        /// That operation, with the instruction or function that it stands for: `list_append` (`@g_list_append`).
        root: String,
    },
    /// It would match at a value, except for something.
    Misses {
        /// The value.
        at: At,
        /// What does not fit.
        miss: String,
        /// How many operations and operands do.
        matched: u32,
    },
    /// It matches at a value, but the schedule does not run it.
    NotRun {
        /// The value.
        at: At,
        /// The schedule.
        schedule: String,
        /// The rule's ruleset.
        ruleset: String,
    },
    /// It matches at a value, and says nothing that was not known.
    Known {
        /// The value.
        at: At,
    },
    /// It matches at a value in the graph that came out, and did not when it ran.
    Late {
        /// The value.
        at: At,
        /// Budgets that ended before all rules were done, so it may not have come to this one.
        stops: Vec<Stop>,
    },
}

impl MatchContext {
    /// Saturates a function, and gives what goes around its e-graph. Its parameters are called by these names, other
    /// values by their numbers.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn new(
        optimiser: &Optimiser,
        universe: &Universe,
        function: &Function,
        options: &Options,
        parameters: &[&str],
    ) -> Result<(MatchContext, Skeleton), EngineError> {
        let mut function = function.clone();
        normalise(&mut function);
        let skeleton = optimiser.build(&function, universe).1;
        let view = optimiser.saturate_one(&skeleton.input, &universe.types, options)?;
        let parameters = function.block(function.entry()).params.iter().zip(parameters);
        let named = parameters.map(|(value, name)| (value.index(), (*name).to_string()));
        let all = named.chain((0..function.values.len()).map(|value| (value, format!("v{value}"))));
        let inputs = all.filter_map(|(value, name)| Some((skeleton.value_input.get(value).copied().flatten()?, name)));
        let mut context = MatchContext::of(optimiser, options, view, inputs);
        context.note_origins(&function, &skeleton);
        Ok((context, skeleton))
    }

    /// An e-graph in which nodes have names.
    pub(crate) fn of(
        optimiser: &Optimiser,
        options: &Options,
        view: EGraphView,
        named: impl Iterator<Item = (InputId, String)>,
    ) -> MatchContext {
        let mut names = BTreeMap::new();
        for (input, name) in named {
            names.entry(view.class_of(input)).or_insert(name);
        }
        MatchContext { schedule: optimiser.schedule(options), view, names, origins: BTreeMap::new() }
    }

    fn note_origins(&mut self, function: &Function, skeleton: &Skeleton) {
        let insts = function.layout.iter().flat_map(|block| &function.block(*block).insts);
        let computed = insts.map(|id| function.inst(*id)).flat_map(|inst| {
            let inputs = inst.results.iter().filter_map(|value| skeleton.value_input.get(value.index()).copied()?);
            inputs.filter_map(|input| Some((input, inst.origin?)))
        });
        let executed = skeleton.statements.iter().filter_map(|statement| match statement.kind {
            StatementKind::Call { node, .. } | StatementKind::Write { out: node, .. } => {
                Some((node, function.inst(statement.inst).origin?))
            }
            _ => None,
        });
        for (input, origin) in computed.chain(executed) {
            self.origins.entry(self.view.class_of(input)).or_insert(origin);
        }
    }

    /// The front end's numbers of the instructions at which a rule took part, in order.
    pub fn matched_at(&self, id: RuleId) -> Vec<u32> {
        let matches = self.view.applications.iter().filter(|application| application.rule == id);
        let mut origins: Vec<u32> = matches.filter_map(|a| self.origins.get(&a.class).copied()).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    fn at(&self, universe: &Universe, class: ClassId) -> At {
        At { value: self.show_operation(universe, class, 0), origin: self.origins.get(&class).copied() }
    }

    /// Where the nodes of another input are; leaves are the same by number.
    pub(crate) fn locate(&self, universe: &Universe, input: &EGraphInput) -> Vec<Option<ClassId>> {
        let nodes = self.view.nodes.iter().zip(&self.view.node_class);
        let by_node: FxHashMap<&Node<ClassId>, ClassId> = nodes.map(|(node, class)| (node, *class)).collect();
        let mut places: Vec<Option<ClassId>> = Vec::with_capacity(input.nodes.len());
        for node in &input.nodes {
            let children: Option<SmallVec<[ClassId; 3]>> =
                node.children.iter().map(|child| places[child.index()]).collect();
            let place = children.and_then(|children| {
                let node = Node { head: node.head, types: node.types.clone(), children };
                orders(universe, &node)
                    .into_iter()
                    .find_map(|children| by_node.get(&Node { children: children.into(), ..node.clone() }).copied())
            });
            places.push(place);
        }
        places
    }

    /// How near a rule comes.
    pub fn nearest(&self, program: &Program, universe: &Universe, id: RuleId) -> NearMiss {
        self.nearest_at(program, universe, id, None)
    }

    /// The same at a place, if one is given; that a rule did something elsewhere is of no interest then.
    pub(crate) fn nearest_at(
        &self,
        program: &Program,
        universe: &Universe,
        id: RuleId,
        place: Option<&MatchStart>,
    ) -> NearMiss {
        if place.is_none() && self.view.applications.iter().any(|a| a.rule == id) {
            return NearMiss::Fired;
        }
        let rule = program.rule(id);
        match search::near(program, universe, rule, self, place) {
            None => NearMiss::NoRoot { root: root(universe, rule) },
            Some(search::Near { at, miss: Some(miss), matched, .. }) => NearMiss::Misses { at, miss, matched },
            Some(search::Near { at, miss: None, is_known, .. }) => {
                match (self.ruleset_left_out(program, id), &self.schedule) {
                    (Some(ruleset), Some(schedule)) if !rule.law => {
                        NearMiss::NotRun { at, schedule: schedule.clone(), ruleset: ruleset.into() }
                    }
                    _ if is_known => NearMiss::Known { at },
                    _ => NearMiss::Late { at, stops: self.view.stops.clone() },
                }
            }
        }
    }

    /// The ruleset of a rule, if the schedule does not run it.
    fn ruleset_left_out<'p>(&self, program: &'p Program, id: RuleId) -> Option<&'p str> {
        let schedule = program.schedules.get(self.schedule.as_ref()?)?;
        let (ruleset, _) = program.rulesets.iter().find(|(_, rules)| rules.contains(&id))?;
        (!runs(&schedule.steps, ruleset)).then_some(ruleset)
    }

    /// A value as its author wrote it: a constant, a parameter, or an operation.
    fn show(&self, universe: &Universe, class: ClassId, depth: u32) -> String {
        let is_leaf = |id: &NodeId| matches!(self.view.node(*id).head, Head::Leaf(_));
        match self.names.get(&class) {
            Some(name) if self.view.class(class).nodes.iter().any(is_leaf) => name.clone(),
            _ => self.show_operation(universe, class, depth),
        }
    }

    /// The same, and an operation also where a parameter equals it.
    fn show_operation(&self, universe: &Universe, class: ClassId, depth: u32) -> String {
        if let Some(n) = self.view.class(class).constant {
            return n.to_string();
        }
        let is_operation = |id: &&NodeId| matches!(self.view.node(**id).head, Head::Op(_) | Head::Opaque(_));
        match (self.view.class(class).nodes.iter().find(is_operation), self.names.get(&class)) {
            (Some(id), _) if depth < SHOWN_DEPTH => {
                let node = self.view.node(*id);
                let children = node.children.iter().map(|child| self.show(universe, *child, depth + 1));
                let head = match node.head {
                    Head::Op(op) => universe.ops.get(op).name.as_str(),
                    _ => "opaque",
                };
                format!("{head}({})", children.collect::<Vec<_>>().join(", "))
            }
            (_, Some(name)) => name.clone(),
            _ => "a state".into(),
        }
    }
}

/// The root of a rule's left side, with what front ends call it.
fn root(universe: &Universe, rule: &Rule) -> String {
    let Some(Term::Call { op, .. }) = rule.left.first() else { return "a value".into() };
    let op = universe.ops.get(universe.ops.whole(*op));
    let spellings: Vec<String> = op.names.values().map(|spelling| format!("`{spelling}`")).collect();
    match spellings[..] {
        [] => format!("`{}`", op.name),
        _ => format!("`{}` ({})", op.name, spellings.join(", ")),
    }
}

/// The operands of a node, in each order in which it is the same.
pub(crate) fn orders<C: Copy>(universe: &Universe, node: &Node<C>) -> Vec<Vec<C>> {
    let children = node.children.to_vec();
    match (node.head, &children[..]) {
        (Head::Op(op), [a, b, rest @ ..]) if universe.ops.get(op).laws.commutative => {
            let turned = [*b, *a].into_iter().chain(rest.iter().copied()).collect();
            vec![children, turned]
        }
        _ => vec![children],
    }
}

/// Does a schedule run a ruleset?
fn runs(steps: &[ScheduleStep], name: &str) -> bool {
    steps.iter().any(|step| match step {
        ScheduleStep::Run { ruleset, .. } | ScheduleStep::Saturate { ruleset, .. } => ruleset == name,
        ScheduleStep::Repeat { steps, .. } => runs(steps, name),
    })
}

impl NearMiss {
    /// How near it is, to compare instances of one rule.
    pub fn rank(&self) -> (u8, u32) {
        match self {
            NearMiss::NoRoot { .. } => (0, 0),
            NearMiss::Misses { matched, .. } => (1, *matched),
            NearMiss::NotRun { .. } => (2, 0),
            NearMiss::Known { .. } => (3, 0),
            NearMiss::Late { .. } => (4, 0),
            NearMiss::Fired => (5, 0),
        }
    }

    /// The value at which it is nearest.
    pub fn at(&self) -> Option<&At> {
        match self {
            NearMiss::Fired | NearMiss::NoRoot { .. } => None,
            NearMiss::Misses { at, .. }
            | NearMiss::NotRun { at, .. }
            | NearMiss::Known { at }
            | NearMiss::Late { at, .. } => Some(at),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)
    }
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NearMiss::Fired => write!(f, "took part, and is not chosen"),
            NearMiss::NoRoot { root } => write!(f, "there is no operation like the root of its left side, {root}"),
            NearMiss::Misses { at, miss, .. } => write!(f, "at {at}: {miss}"),
            NearMiss::NotRun { at, schedule, ruleset } => {
                write!(f, "matches {at}, but the schedule `{schedule}` does not run `{ruleset}`")
            }
            NearMiss::Known { at } => write!(f, "matches {at}, and adds nothing that is not known already"),
            NearMiss::Late { at, stops } if stops.is_empty() => {
                write!(f, "matches {at} as it is now, and did not when it ran, or would have matched its own result")
            }
            NearMiss::Late { at, stops } => {
                let stops: Vec<String> = stops.iter().map(Stop::to_string).collect();
                write!(f, "matches {at}, and was not asked before a budget ended ({})", stops.join(", "))
            }
        }
    }
}
