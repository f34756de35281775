//! Extraction from one e-graph, with sharing: the cheapest choice of nodes that has the roots, and a proof that it is.
//!
//! Functions come here as the product of their e-graph with the dominator tree (`cfg_skeleton::select`), serialised
//! e-graphs as they are ([`serialized`]) or as the product with a tree of blocks. The way is the same:
//!
//! ```text
//! Graph --presolve--> parts --trees, local search--> incumbent --integer program--> choice and bound --check-->
//! ```
//!
//! **Invariants**: every answer is recomputed by [`check()`] on the graph that was given; a solver is believed in its
//! bound only, and in that only as long as no choice is cheaper; work is counted ([`meter`]), not timed, unless a time
//! limit is set. There is always an answer if the roots can be made, whatever the solver does.

pub mod check;
pub mod clock;
mod cycle;
pub mod graph;
pub(crate) mod ilp;
mod incumbent;
pub mod meter;
pub mod presolve;
mod search;
pub mod serialized;
#[doc(hidden)]
pub mod testing;
mod tree;

pub use check::{Fault, check};
pub use graph::{Class, Classes, Graph, Node};
pub use ilp::highs::Highs;
pub use ilp::model::{Column, Model, Row};
pub use ilp::{Effort, Relaxation, Solved, Solver};
pub use meter::Meter;

use clock::Deadline;
use presolve::{Component, Rules, presolve};
use std::time::Duration;
use thiserror::Error;

/// How to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// The cheapest trees, as if nothing were shared: what extraction without sharing gives, to compare with.
    Tree,
    /// Near-linear, no bound.
    Greedy,
    /// The integer program, from the greedy choice, within its budget.
    Ilp,
    /// The integer program for the parts whose model is small, else greedy.
    #[default]
    Auto,
}

/// How good a choice is known to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Status {
    /// No cheaper one exists under the cost model.
    Optimal,
    /// At most this much of the cost above the best bound.
    Gap(f64),
    /// No bound was computed.
    Greedy,
}

/// Why no proof was found that a choice is the cheapest one, the weightiest reason last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ended {
    /// The solver failed, or ended at its own limits.
    Solver,
    /// A part is larger than [`Limits::model`].
    Size,
    /// [`Limits::work`] is used up.
    Work,
    /// [`Limits::time`] is used up.
    Time,
}

impl Ended {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Solver => "solver",
            Ended::Size => "size limit",
            Ended::Work => "work limit",
            Ended::Time => "time limit",
        }
    }
}

/// How much work an extraction may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Nodes that a part may have after presolve to be solved.
    pub model: usize,
    /// Parts with at most this many combinations of choices are searched, not solved.
    pub search: u64,
    /// Branch-and-bound nodes per solver run.
    pub nodes: u32,
    /// Solver runs per part, each one after cutting off the cycles in the last answer.
    pub runs: u32,
    /// Linear programs per part that find cycle cuts before the integer program is solved.
    pub cut_rounds: u32,
    /// Moves that the local search tries in each part, in multiples of the part's nodes.
    pub moves: u32,
    /// Units of counted work ([`meter`]), for everything; `u64::MAX` is no limit.
    pub work: u64,
    /// Processor time of this thread, for everything. Results depend on the machine then.
    pub time: Option<Duration>,
    /// Reductions that take part.
    pub rules: Rules,
}

/// Units of work by default: five to fifteen seconds, by how the linear programs are.
const WORK: u64 = 1_000_000_000;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            model: 60_000,
            search: 4_096,
            nodes: 2_000,
            runs: 20,
            cut_rounds: 40,
            moves: 4,
            work: WORK,
            time: None,
            rules: Rules::default(),
        }
    }
}

/// A choice and what is known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Extraction {
    /// By class, the position of the picked node; only what the roots lead to.
    pub picks: Vec<Option<u32>>,
    /// Its cost.
    pub cost: f64,
    /// No choice costs less.
    pub bound: f64,
    /// How good.
    pub status: Status,
    /// Why it is not known to be better; `None` where it is optimal, or no bound was asked for.
    pub ended: Option<Ended>,
    /// Nodes that were left to decide between after presolve.
    pub left: usize,
    /// Parts that do not meet.
    pub parts: usize,
    /// Solver runs.
    pub runs: u32,
    /// Units of counted work that it took.
    pub work: u64,
    /// Processor time of this thread that it took.
    pub time: Duration,
}

/// There is no choice: a root cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a root cannot be made: each of its nodes needs the root itself, or a class without nodes")]
pub struct Unconstructible;

/// Makes the cheapest choice that it finds. `start` is a choice to begin with, if it is one.
pub fn extract(
    graph: &Graph,
    method: Method,
    limits: &Limits,
    start: Option<&[Option<u32>]>,
) -> Result<Extraction, Unconstructible> {
    extract_with(graph, method, limits, start, &Highs)
}

/// The same with another solver.
pub fn extract_with(
    graph: &Graph,
    method: Method,
    limits: &Limits,
    start: Option<&[Option<u32>]>,
    solver: &dyn Solver,
) -> Result<Extraction, Unconstructible> {
    if method == Method::Tree {
        return cheapest_trees(graph);
    }
    let began = clock::now();
    let deadline = limits.time.map(Deadline::after);
    let meter = Meter::new(limits.work);
    let reduced = presolve(graph, limits.rules, &meter).ok_or(Unconstructible)?;
    let mut picks = reduced.picked.clone();
    let (mut bound, mut runs, mut ended) = (reduced.offset, 0, None);
    let mut parts: Vec<&Component> = reduced.components.iter().collect();
    // Small ones first: what they do not use of the time goes to the large ones.
    parts.sort_by_key(|part| part.node_count());
    let mut after: usize = reduced.node_count();
    for part in parts {
        let hint = |class: Class| {
            let number = start?.get(class.index()).copied().flatten()?;
            Some(reduced.stand_in(class, number))
        };
        let share = part.node_count() as f64 / after.max(1) as f64;
        after -= part.node_count();
        let share = share.max(0.2);
        let budget = Budget { meter: meter.share(share), deadline: deadline.map(|end| end.share(share)) };
        let answer = solve(part, hint, method, limits, &budget, solver)?;
        meter.settle(&budget.meter);
        runs += answer.runs;
        ended = ended.max(answer.ended);
        bound += answer.bound;
        for (class, (pick, list)) in part.classes.iter().zip(answer.picks.iter().zip(&part.nodes)) {
            if let Some(pick) = pick {
                picks[class.index()] = Some(list[*pick as usize].number);
            }
        }
    }
    let picks = reachable(graph, &picks);
    let cost = check(graph, &picks);
    debug_assert!(cost.is_ok(), "{cost:?}");
    let mut found = cost.ok().map(|cost| (cost, picks));
    if let Some(start) = start.map(|start| reachable(graph, start))
        && let Ok(cost) = check(graph, &start)
        && found.as_ref().is_none_or(|(best, _)| cost < *best)
    {
        found = Some((cost, start));
    }
    let (cost, picks) = found.ok_or(Unconstructible)?;
    let status = match method {
        Method::Greedy => Status::Greedy,
        _ if cost - bound <= tolerance(cost) => Status::Optimal,
        _ => Status::Gap(((cost - bound) / cost).min(1.0)),
    };
    let bound = if status == Status::Optimal { cost } else { bound };
    let ended = ended.filter(|_| matches!(status, Status::Gap(_)));
    let (left, parts) = (reduced.node_count(), reduced.components.len());
    Ok(Extraction {
        picks,
        cost,
        bound,
        status,
        ended,
        left,
        parts,
        runs,
        work: meter.spent(),
        time: clock::now() - began,
    })
}

/// Without presolve, which knows of sharing.
fn cheapest_trees(graph: &Graph) -> Result<Extraction, Unconstructible> {
    let began = clock::now();
    let trees = tree::trees(&graph.classes, |class, n| graph.classes[class.index()][n].cost, |_| false);
    let picks: Vec<Option<u32>> = trees.iter().map(|tree| tree.map(|tree| tree.node as u32)).collect();
    let picks = reachable(graph, &picks);
    let cost = check(graph, &picks).map_err(|_| Unconstructible)?;
    let left = graph.node_count();
    Ok(Extraction {
        picks,
        cost,
        bound: 0.0,
        status: Status::Greedy,
        ended: None,
        left,
        parts: 1,
        runs: 0,
        work: 0,
        time: clock::now() - began,
    })
}

/// Of a budget, what local search may take.
const LOCAL: f64 = 0.2;

/// How much one part may take.
pub(crate) struct Budget {
    /// Counted.
    pub(crate) meter: Meter,
    /// Timed.
    pub(crate) deadline: Option<Deadline>,
}

impl Budget {
    /// A share of what is left, for a step; what it does is to be [`Budget::settle`]d.
    pub(crate) fn share(&self, share: f64) -> Budget {
        Budget { meter: self.meter.share(share), deadline: self.deadline.map(|end| end.share(share)) }
    }

    /// Takes off what a step did.
    pub(crate) fn settle(&self, step: &Budget) {
        self.meter.settle(&step.meter);
    }

    /// Processor time that is left, if time is limited.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.deadline.map(|end| end.left().as_secs_f64())
    }

    /// What is used up.
    pub(crate) fn ended(&self) -> Option<Ended> {
        match self.deadline {
            Some(end) if end.passed() => Some(Ended::Time),
            _ => self.meter.used_up().then_some(Ended::Work),
        }
    }
}

/// Differences in cost that are taken for rounding.
fn tolerance(cost: f64) -> f64 {
    1e-9 * cost.max(1.0)
}

/// The picks that the roots lead to.
fn reachable(graph: &Graph, picks: &[Option<u32>]) -> Vec<Option<u32>> {
    let mut had = vec![None; graph.classes.len()];
    let mut stack = graph.roots.clone();
    while let Some(class) = stack.pop() {
        let pick = picks.get(class.index()).copied().flatten();
        let Some(node) = pick.and_then(|n| graph.classes[class.index()].get(n as usize)) else { continue };
        if had[class.index()].is_none() {
            had[class.index()] = pick;
            stack.extend(node.needs());
        }
    }
    had
}

/// What is known of a part: positions among the nodes that are left, and a bound.
pub(crate) struct Answer {
    pub(crate) picks: Vec<Option<u32>>,
    pub(crate) bound: f64,
    /// Of the solver.
    pub(crate) runs: u32,
    /// Why the bound is no better.
    pub(crate) ended: Option<Ended>,
}

fn solve(
    part: &Component,
    hint: impl Fn(Class) -> Option<u32>,
    method: Method,
    limits: &Limits,
    budget: &Budget,
    solver: &dyn Solver,
) -> Result<Answer, Unconstructible> {
    let graph = part.graph();
    if method != Method::Greedy
        && let Some(answer) = search::search(&graph, limits.search, &budget.meter)
    {
        return Ok(answer);
    }
    let hinted = part.classes.iter().zip(&part.nodes).map(|(class, list)| {
        let number = hint(*class)?;
        list.iter().position(|left| left.number == number).map(|n| n as u32)
    });
    let hinted = reachable(&graph, &hinted.collect::<Vec<_>>());
    let hinted = check(&graph, &hinted).is_ok().then_some(hinted);
    let local = budget.share(LOCAL);
    let incumbent = incumbent::find(&graph, hinted, limits.moves, &local).ok_or(Unconstructible)?;
    budget.settle(&local);
    if method == Method::Greedy || part.node_count() > limits.model {
        return Ok(Answer { picks: incumbent, bound: 0.0, runs: 0, ended: Some(Ended::Size) });
    }
    if let ended @ Some(_) = budget.ended() {
        return Ok(Answer { picks: incumbent, bound: 0.0, runs: 0, ended });
    }
    Ok(ilp::solve(&graph, incumbent, limits, budget, solver))
}

#[cfg(test)]
mod tests;
