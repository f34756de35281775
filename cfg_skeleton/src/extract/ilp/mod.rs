//! The integer program, solved with cycle cuts stated up front and added for each cycle in an answer.
//!
//! Costs and cycles are recomputed from the choices. The solver is believed in nothing but its bound, and not in that
//! if a choice is cheaper. "Infeasible" is a fault, since the incumbent is feasible: solved once more without the
//! solver's own presolve, then given up. Answers with cycles are repaired into choices: each is a hint.

pub(crate) mod highs;
pub(crate) mod model;
mod separate;

use model::{Model, Program};

use super::graph::{Class, Graph};
use super::{Answer, Limits, check, cycle, incumbent, reachable, tolerance};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Instant;

/// Strongly connected components of at most this many classes get their cut up front.
const MAX_CUT: usize = 400;

/// Of the time, what linear programs may take.
const SHARE: f64 = 0.3;

/// How much one run of a solver may be.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Nodes of its search.
    pub nodes: u32,
    /// Wall clock.
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

/// Solves integer programs. What it says is checked: one that is wrong, or that always fails, leaves the best choice
/// that was found without it.
pub trait Solver: Debug + Send + Sync {
    /// Minimises; `start` are the values of a solution.
    fn solve(&self, model: &Model, start: Option<&[f64]>, effort: &Effort) -> Solved;
}

/// Improves an incumbent, and finds a bound.
pub(crate) fn solve(
    graph: &Graph,
    incumbent: Vec<Option<u32>>,
    limits: &Limits,
    deadline: Option<Instant>,
    solver: &dyn Solver,
    runs: &mut u32,
) -> Answer {
    let step = step(graph);
    let (mut best, mut bound) = (incumbent, 0.0f64);
    let mut cost = check(graph, &best).unwrap_or(f64::INFINITY);
    let mut program = Program::new(graph);
    first_cuts(graph).iter().for_each(|set| program.cut(graph, set));
    bound = bound.max(round_up(tighten(graph, &mut program, limits, deadline, solver, runs), step));
    for _ in 0..limits.runs {
        let seconds = deadline.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64());
        if seconds.is_some_and(|s| s <= 0.0) || cost - bound <= tolerance(cost) {
            break;
        }
        *runs += 1;
        let start = program.values(&best);
        let effort = Effort { nodes: limits.nodes, seconds, presolve: true };
        let believable = |bound: f64| bound <= cost + 1e-6 * cost.max(1.0);
        let mut solved = solver.solve(&program.model, Some(&start), &effort);
        let sound = match &solved {
            Solved::Answer { bound, .. } | Solved::Bound(bound) => believable(*bound),
            Solved::Failed => false,
        };
        if !sound {
            solved = solver.solve(&program.model, Some(&start), &Effort { presolve: false, ..effort });
        }
        let (values, found) = match solved {
            Solved::Answer { values, bound } if believable(bound) => (values, bound),
            Solved::Bound(found) if believable(found) => {
                bound = bound.max(round_up(found, step));
                break;
            }
            _ => break,
        };
        bound = bound.max(round_up(found, step));
        let most = |class: usize| {
            let value = |n: usize| program.value(&values, Class(class as u32), n);
            let nodes = 0..graph.classes[class].len();
            nodes.max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a))).map(|n| n as u32)
        };
        let picks: Vec<Option<u32>> = (0..graph.classes.len()).map(most).collect();
        let picks = reachable(graph, &picks);
        let cycles = cycle::of_choice(graph, &picks);
        let candidate = match cycles.is_empty() {
            true => Some(picks),
            false => incumbent::repair(graph, &picks, deadline),
        };
        let optimum = cycles.is_empty();
        if let Some(candidate) = candidate
            && let Ok(found) = check(graph, &candidate)
            && found <= cost
        {
            (best, cost) = (candidate, found);
        }
        if optimum {
            break;
        }
        cycles.iter().for_each(|set| program.cut(graph, set));
    }
    Answer { picks: best, bound }
}

/// Adds cycle cuts that fractional solutions violate, and gives the bound that these have.
fn tighten(
    graph: &Graph,
    program: &mut Program,
    limits: &Limits,
    deadline: Option<Instant>,
    solver: &dyn Solver,
    runs: &mut u32,
) -> f64 {
    let edges = separate::Edges::new(graph);
    let mut bound = 0.0f64;
    if edges.is_empty() {
        return bound;
    }
    let start = Instant::now();
    let end = deadline.map(|end| start + end.saturating_duration_since(start).mul_f64(SHARE));
    for _ in 0..limits.cut_rounds {
        let seconds = end.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64());
        if seconds.is_some_and(|s| s <= 0.0) {
            break;
        }
        let effort = Effort { nodes: limits.nodes, seconds, presolve: true };
        *runs += 1;
        let Solved::Answer { values, bound: found } = solver.solve(&program.relaxed(), None, &effort) else { break };
        // Linear programs are solved to tolerances of 1e-7.
        bound = bound.max(found - 1e-6 * found.abs().max(1.0));
        let violated = edges.violated(graph, program, &values);
        if violated.is_empty() {
            break;
        }
        violated.iter().for_each(|set| program.cut(graph, set));
    }
    bound
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
