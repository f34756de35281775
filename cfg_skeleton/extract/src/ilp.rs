//! The integer program, solved with cycle cuts stated up front and added for each cycle in an answer. Before it is
//! solved, linear programs ([`tighten`]) find further cuts ([`cycles`], [`acyclicity_cuts`]), a bound and choices.
//!
//! Costs and cycles are recomputed from the choices. The solver is believed in nothing but its bound, and not in that
//! if a choice is cheaper. "Infeasible" is a fault, since the incumbent is feasible: solved once more without the
//! solver's own presolve, then given up. Answers with cycles are repaired into choices: each is a hint.

mod acyclicity_cuts;
mod cycles;
pub(crate) mod highs;
pub(crate) mod model;
mod pool;
mod tighten;

use model::{Model, Program, Row};

use super::graph::{Class, Graph};
use super::{Answer, Budget, Ended, Limits, Meter, check, cycle, incumbent, reachable, tolerance};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Strongly connected components of at most this many classes get their cut up front.
const MAX_CUT: usize = 400;

/// How much one run of a solver may be.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Nodes of its search.
    pub nodes: u32,
    /// Processor time.
    pub seconds: Option<f64>,
    /// May it simplify the model first?
    pub presolve: bool,
}

/// What a solver says.
#[derive(Clone, Debug)]
pub enum Solved {
    /// Values of the columns, and a lower bound.
    Answer {
        /// By column.
        values: Vec<f64>,
        /// No values cost less.
        bound: f64,
    },
    /// It found nothing within its limits, but a lower bound.
    Bound(f64),
    /// Nothing to use.
    Failed,
}

/// Solves integer programs. Its answers are checked: a solver that is wrong, or that always fails, leaves the best
/// choice that was found without it.
pub trait Solver: Debug + Send + Sync {
    /// Minimises; `start` are the values of a solution. Its work is taken off the meter, and ends where the meter does.
    fn solve(&self, model: &Model, start: Option<&[f64]>, effort: &Effort, meter: &Meter) -> Solved;

    /// The model without its integers, to add rows to. A solver that has no such thing goes without cuts.
    fn relax(&self, _model: &Model) -> Option<Box<dyn Relaxation>> {
        None
    }
}

/// A linear program to which rows are added between its runs.
pub trait Relaxation {
    /// One more row.
    fn add(&mut self, row: &Row);

    /// Without some of the rows that were added: their places among those that are left, ascending.
    fn remove(&mut self, rows: &[usize]);

    /// Minimises, within this many seconds of processor time. Its work is taken off the meter, and ends where that
    /// does.
    fn solve(&mut self, seconds: Option<f64>, meter: &Meter) -> Solved;
}

/// The best choice that is known.
struct Best {
    picks: Vec<Option<u32>>,
    cost: f64,
}

impl Best {
    /// Takes a choice that is one and costs no more.
    fn offer(&mut self, graph: &Graph, picks: Vec<Option<u32>>) {
        if let Ok(cost) = check(graph, &picks)
            && cost <= self.cost
        {
            *self = Best { picks, cost };
        }
    }

    /// Could this be a bound?
    fn allows(&self, bound: f64) -> bool {
        bound <= self.cost + 1e-6 * self.cost.max(1.0)
    }

    /// Is no choice cheaper?
    fn meets(&self, bound: f64) -> bool {
        self.cost - bound <= tolerance(self.cost)
    }
}

/// A search for the cheapest choice by branch and cut: what it goes by, and how far it is.
struct BranchAndCut<'a> {
    graph: &'a Graph,
    limits: &'a Limits,
    budget: &'a Budget,
    solver: &'a dyn Solver,
    /// All costs are multiples of it.
    step: Option<f64>,
    program: Program,
    best: Best,
    bound: f64,
    /// Of the solver.
    runs: u32,
}

/// Improves an incumbent, and finds a bound.
pub(crate) fn solve(
    graph: &Graph,
    incumbent: Vec<Option<u32>>,
    limits: &Limits,
    budget: &Budget,
    solver: &dyn Solver,
) -> Answer {
    let cost = check(graph, &incumbent).unwrap_or(f64::INFINITY);
    let best = Best { picks: incumbent, cost };
    let mut program = Program::new(graph);
    first_cuts(graph).iter().for_each(|set| program.cut(graph, set));
    let step = step(graph);
    let mut search = BranchAndCut { graph, limits, budget, solver, step, program, best, bound: 0.0, runs: 0 };
    search.tighten();
    search.branch();
    let ended = (!search.best.meets(search.bound)).then(|| budget.ended().unwrap_or(Ended::Solver));
    Answer { picks: search.best.picks, bound: search.bound, runs: search.runs, ended }
}

impl BranchAndCut<'_> {
    /// Takes a bound, if it is a better one.
    fn raise(&mut self, bound: f64) {
        self.bound = self.bound.max(round_up(bound, self.step));
    }

    /// Solves the integer program until an answer has no cycle.
    fn branch(&mut self) {
        for _ in 0..self.limits.runs {
            if self.budget.ended().is_some() || self.best.meets(self.bound) {
                break;
            }
            self.runs += 1;
            let (seconds, meter) = (self.budget.seconds(), &self.budget.meter);
            let start = self.program.values(&self.best.picks);
            let effort = Effort { nodes: self.limits.nodes, seconds, presolve: true };
            let mut solved = self.solver.solve(&self.program.model, Some(&start), &effort, meter);
            let sound = match &solved {
                Solved::Answer { bound, .. } | Solved::Bound(bound) => self.best.allows(*bound),
                Solved::Failed => false,
            };
            if !sound {
                let effort = Effort { presolve: false, ..effort };
                solved = self.solver.solve(&self.program.model, Some(&start), &effort, meter);
            }
            let (values, found) = match solved {
                Solved::Answer { values, bound } if self.best.allows(bound) => (values, bound),
                Solved::Bound(found) if self.best.allows(found) => return self.raise(found),
                _ => break,
            };
            self.raise(found);
            let picks = rounded(self.graph, &self.program, &values);
            let cycles = cycle::of_choice(self.graph, &picks);
            if cycles.is_empty() {
                self.best.offer(self.graph, picks);
                break;
            }
            if let Some(near) = incumbent::repair(self.graph, &picks, self.budget) {
                self.best.offer(self.graph, near);
            }
            cycles.iter().for_each(|set| self.program.cut(self.graph, set));
        }
    }
}

/// The nodes that a solution has most of, where the roots lead.
fn rounded(graph: &Graph, program: &Program, values: &[f64]) -> Vec<Option<u32>> {
    let most = |class: usize| {
        let value = |n: usize| program.value(values, Class(class as u32), n);
        let nodes = 0..graph.classes[class].len();
        nodes.max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a))).map(|n| n as u32)
    };
    let picks: Vec<Option<u32>> = (0..graph.classes.len()).map(most).collect();
    reachable(graph, &picks)
}

/// Strongly connected components, and pairs.
fn first_cuts(graph: &Graph) -> Vec<Vec<Class>> {
    let mut edges: BTreeSet<(Class, Class)> = BTreeSet::new();
    for (class, nodes) in graph.classes.iter().enumerate() {
        edges.extend(nodes.iter().flat_map(|n| &n.children).map(|child| (Class(class as u32), *child)));
    }
    let found = cycle::components(graph.classes.len(), edges.iter().map(|(a, b)| (a.0, b.0)));
    let small = found.into_iter().filter(|set| set.len() > 1 && set.len() < MAX_CUT);
    let mut cuts: BTreeSet<Vec<Class>> = small
        .map(|set| {
            let mut set: Vec<Class> = set.into_iter().map(Class).collect();
            set.sort();
            set
        })
        .collect();
    cuts.extend(edges.iter().filter(|(a, b)| a < b && edges.contains(&(*b, *a))).map(|(a, b)| vec![*a, *b]));
    cuts.into_iter().collect()
}

/// Digits after the point that costs are looked at with.
const SCALE: f64 = 1e4;

/// All costs are multiples of this, if that can be seen: then so are the costs of choices.
fn step(graph: &Graph) -> Option<f64> {
    let mut step = 0u64;
    for node in graph.classes.iter().flatten() {
        let scaled = node.cost * SCALE;
        let whole = scaled.round();
        if whole > 1e15 || (scaled - whole).abs() > 1e-6 {
            return None;
        }
        let (mut a, mut b) = (step, whole as u64);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        step = a;
    }
    (step > 0).then_some(step as f64 / SCALE)
}

/// The least cost that a choice can have, given a bound.
fn round_up(bound: f64, step: Option<f64>) -> f64 {
    match step {
        // The solver computes with tolerances of 1e-6.
        Some(step) if bound.is_finite() => ((bound - 1e-5 * bound.abs().max(1.0)) / step).ceil() * step,
        _ => bound,
    }
}
