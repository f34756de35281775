//! What can be decided of a graph without a solver, and what is left of it, in parts that do not meet.
//!
//! One file per reduction, each with its argument. All keep an optimum: each either drops nodes that some best choice
//! does without, or moves costs and children so that choices and their costs stay the same. They are repeated until
//! nothing changes, the near-linear ones first; what needs [`required`] classes looks only at what those leave.
//!
//! | reduction | | file |
//! |---|---|---|
//! | P1 | what cannot be made, what no root leads to | [`constructible`] |
//! | P2 | nodes whose children need their own class | [`required`] |
//! | P3, P4 | nodes that another node of the class beats | [`dominate`] |
//! | P5 | classes that are to be had for nothing | [`free`] |
//! | P6 | costs move to the only class that refers | [`pull_up`] |
//! | P7 | classes with one free node are replaced by its children | [`contract`] |
//! | P8 | what must be had in any case is paid once | [`force`] |
//! | P10 | parts that do not meet | [`component`] |
//! | P11 | classes that cannot be joined for less, where the others leave much | [`join`] |
//!
//! Nodes that are left of the 159 public e-graphs in `../shared/corpus` (624,367 nodes), with one of them missing
//! (`extract::tests::ablation`; P4 does the work of P3's deep form, so P3 stands for its subset form here):
//!
//! | | nodes left | graphs emptied | median left |
//! |---|---|---|---|
//! | all | 79,663 | 52 | 7.9 % |
//! | without P2 | 81,619 | 39 | 7.9 % |
//! | without P3 | 79,861 | 51 | 7.9 % |
//! | without P4 | 156,323 | 37 | 30.1 % |
//! | without P5 | 87,071 | 51 | 7.9 % |
//! | without P6 | 268,233 | 24 | 70.6 % |
//! | without P7 | 119,765 | 48 | 18.5 % |
//! | without P8 | 113,788 | 44 | 15.0 % |
//! | P1 and P10 only | 485,444 | 3 | 98.5 % |
//!
//! P9 (dropping nodes by a lower bound and an incumbent) gained nothing: the solver does it.
//!
//! **Invariant**: [`Work::picked`] of a class that is decided is right for every choice of what is left.

pub(crate) mod component;
mod constructible;
mod contract;
mod dominate;
mod force;
mod free;
mod join;
mod pull_up;
mod required;

pub(crate) use component::Component;

use super::Meter;
use super::graph::{Class, Graph, Node};
use rustc_hash::FxHashMap;

/// How often the near-linear reductions are repeated. They are nearly done after three.
const ROUNDS: usize = 8;

/// How often those that compare by required classes are.
const DEEP_ROUNDS: usize = 4;

/// Nodes that are left to decide between from which on there is more to try.
const MUCH: usize = 32;

/// Units of work per node that one round of the near-linear reductions takes.
const NEAR: u64 = 60;

/// Which reductions take part, beside P1 and P10; all but in measurements and tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the reduction of that name, P2 to P8 and P11")]
pub struct Rules {
    pub cycles: bool,
    pub dominate: bool,
    pub upper_bound: bool,
    pub free: bool,
    pub pull_up: bool,
    pub contract: bool,
    pub force: bool,
    pub join: bool,
}

impl Rules {
    /// All of them.
    pub const ALL: Rules = Rules {
        cycles: true,
        dominate: true,
        upper_bound: true,
        free: true,
        pull_up: true,
        contract: true,
        force: true,
        join: true,
    };

    /// None of them.
    pub const NONE: Rules = Rules {
        cycles: false,
        dominate: false,
        upper_bound: false,
        free: false,
        pull_up: false,
        contract: false,
        force: false,
        join: false,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Rules::ALL
    }
}

/// A node that is left.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    /// Its position in its class of the graph.
    pub(crate) number: u32,
    /// What it still costs, and which open classes it still needs.
    pub(crate) node: Node,
}

impl AsRef<Node> for Left {
    fn as_ref(&self) -> &Node {
        &self.node
    }
}

/// A graph that is being reduced.
pub(crate) struct Work {
    /// By class: what is left; nothing for classes that are out of the graph.
    pub(crate) nodes: Vec<Vec<Left>>,
    /// Classes with nodes.
    pub(crate) open: Vec<Class>,
    /// Must be had.
    pub(crate) forced: Vec<bool>,
    /// By class: the node that is decided, should the class be had.
    pub(crate) picked: Vec<Option<u32>>,
    /// What every choice costs more than what is left of it.
    pub(crate) offset: f64,
    /// A node that is not considered any more, and the one that is as good.
    pub(crate) replaced: FxHashMap<(Class, u32), u32>,
}

/// What is left.
pub(crate) struct Reduced {
    /// By class: the node that is decided.
    pub(crate) picked: Vec<Option<u32>>,
    pub(crate) components: Vec<Component>,
    pub(crate) offset: f64,
    replaced: FxHashMap<(Class, u32), u32>,
}

impl Reduced {
    /// How many nodes are left to decide between.
    pub(crate) fn node_count(&self) -> usize {
        self.components.iter().map(Component::node_count).sum()
    }

    /// The node that stands for another one now.
    pub(crate) fn stand_in(&self, class: Class, number: u32) -> u32 {
        let mut number = number;
        for _ in 0..self.replaced.len() {
            match self.replaced.get(&(class, number)) {
                Some(better) => number = *better,
                None => break,
            }
        }
        number
    }
}

/// Decides what can be decided; `None` if a root cannot be had. Where the meter ends, less is decided.
pub(crate) fn presolve(graph: &Graph, rules: Rules, meter: &Meter) -> Option<Reduced> {
    let work = Work::constructible(graph)?;
    let reduced = reduce(work, rules, meter);
    if !rules.join || reduced.node_count() < MUCH || meter.used_up() {
        return Some(reduced);
    }
    // Where the meter ended on the way, it may have left more.
    let joined = presolve_joined(graph, rules, meter)?.filter(|joined| joined.node_count() < reduced.node_count());
    Some(joined.unwrap_or(reduced))
}

/// The same, with P11 before all others; no more than that it decides nothing, if so.
pub(crate) fn presolve_joined(graph: &Graph, rules: Rules, meter: &Meter) -> Option<Option<Reduced>> {
    let mut work = Work::constructible(graph)?;
    constructible::drop_unreachable(&mut work);
    if !join::decide(&mut work, meter) {
        return Some(None);
    }
    constructible::drop_unreachable(&mut work);
    Some(Some(reduce(work, rules, meter)))
}

/// What the reductions leave, until nothing changes or the meter ends.
fn reduce(mut work: Work, rules: Rules, meter: &Meter) -> Reduced {
    near_linear(&mut work, rules, meter);
    for _ in 0..DEEP_ROUNDS {
        let some = rules.cycles || rules.dominate || rules.upper_bound || rules.force;
        if !some || work.undecided() == 0 || meter.used_up() || !deep(&mut work, rules, meter) {
            break;
        }
        near_linear(&mut work, rules, meter);
    }
    let components = component::split(&mut work);
    Reduced { picked: work.picked, components, offset: work.offset, replaced: work.replaced }
}

/// Free, forced, contracted, pulled up, dominated by subsets: until nothing changes.
fn near_linear(work: &mut Work, rules: Rules, meter: &Meter) {
    for _ in 0..ROUNDS {
        meter.spend(NEAR * work.all().count() as u64);
        let mut changed = rules.free && free::decide(work);
        changed |= rules.dominate && dominate::by_subset(work);
        changed |= rules.force && force::pay(work);
        changed |= rules.pull_up && pull_up::pull_up(work);
        changed |= rules.contract && contract::contract(work);
        constructible::drop_unreachable(work);
        if !changed || meter.used_up() {
            break;
        }
    }
}

/// What compares by required classes.
fn deep(work: &mut Work, rules: Rules, meter: &Meter) -> bool {
    let wanted = rules.cycles || rules.dominate || rules.force;
    let required = if wanted { required::Required::of(work, meter) } else { required::Required::nothing(work) };
    let mut changed = rules.cycles && required::drop_cycles(work, &required);
    changed |=
        (rules.dominate || rules.upper_bound) && dominate::by_required(work, &required, rules.upper_bound, meter);
    changed |= rules.force && force::require(work, &required);
    changed
}

impl Work {
    /// The graph without what cannot be made; `None` where a root cannot.
    fn constructible(graph: &Graph) -> Option<Work> {
        let mut work = Work::new(graph);
        constructible::drop_unconstructible(&mut work);
        graph.roots.iter().all(|root| !work.nodes[root.index()].is_empty()).then_some(work)
    }

    fn new(graph: &Graph) -> Work {
        let number = |(n, node): (usize, &Node)| Left { number: n as u32, node: node.clone() };
        let nodes: Vec<Vec<Left>> =
            graph.classes.iter().map(|nodes| nodes.iter().enumerate().map(number).collect()).collect();
        let mut forced = vec![false; nodes.len()];
        graph.roots.iter().for_each(|root| forced[root.index()] = true);
        let open = (0..nodes.len() as u32).map(Class).filter(|c| !nodes[c.index()].is_empty()).collect();
        Work { open, forced, picked: vec![None; nodes.len()], offset: 0.0, replaced: FxHashMap::default(), nodes }
    }

    /// Takes a class out of the graph; nothing may refer to it.
    fn close(&mut self, class: Class) {
        self.nodes[class.index()].clear();
    }

    /// Forgets closed classes.
    fn sweep(&mut self) {
        let nodes = &self.nodes;
        self.open.retain(|c| !nodes[c.index()].is_empty());
    }

    /// How many nodes stand in classes with a choice.
    fn undecided(&self) -> usize {
        self.open.iter().map(|c| self.nodes[c.index()].len()).filter(|n| *n > 1).sum()
    }

    /// Nodes of all open classes.
    fn all(&self) -> impl Iterator<Item = (Class, &Left)> + '_ {
        self.open.iter().flat_map(|c| self.nodes[c.index()].iter().map(|left| (*c, left)))
    }

    /// By class: the number of its strongly connected component, 0 if it is alone in it.
    fn cycles(&self, deferred: bool) -> Vec<u32> {
        let mut place = vec![u32::MAX; self.nodes.len()];
        for (n, class) in self.open.iter().enumerate() {
            place[class.index()] = n as u32;
        }
        let edges = self.all().flat_map(|(class, left)| {
            let later = if deferred { &left.node.deferred[..] } else { &[] };
            left.node.children.iter().chain(later).map(move |child| (class, *child))
        });
        let edges = edges.filter(|(_, child)| place[child.index()] != u32::MAX);
        let edges = edges.map(|(class, child)| (place[class.index()], place[child.index()]));
        let mut number = vec![0; self.nodes.len()];
        let found = super::cycle::components(self.open.len(), edges);
        for (n, members) in found.into_iter().filter(|m| m.len() > 1).enumerate() {
            for member in members {
                number[self.open[member as usize].index()] = n as u32 + 1;
            }
        }
        number
    }
}
