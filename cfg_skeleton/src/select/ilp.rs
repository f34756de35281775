//! The integer program over what presolve leaves: the one module that names a solver.
//!
//! Variables: `a` per class that is not forced, `x` per choice. Each class that is had has one choice; a choice has
//! what it needs; and along every cycle of classes, some class must be had by a choice outside it:
//!
//! ```text
//! min sum cost * x      sum x(C) = a(C)      sum { x in C : D in needs } <= a(D)
//! for cycles S:         sum { x in S : before outside S } >= a(J), J in S
//! ```
//!
//! Cycle cuts are stated up front for strongly connected components and pairs, and added for each cycle in an
//! answer. Costs and cycles are recomputed from the choices; the solver is believed in nothing but its bound.
//! HiGHS' presolve is wrong in rare cases (its aggregator, switched off), so "infeasible" means: once more without
//! presolve, then keep the start.

use super::construct::Choices;
use super::presolve::{Component, Reduced, presolve};
use super::product::{Item, product};
use super::{Budget, Selection, Status, place};
use highs::{Col, HighsModelStatus, RowProblem, Sense};
use petgraph::graph::DiGraph;
use std::collections::BTreeSet;

/// Strongly connected components of at most this many classes get their cut up front.
const MAX_CUT: usize = 400;

/// What came out of it, and how large it was.
#[derive(Clone, Copy, Debug, Default)]
#[allow(dead_code, reason = "read by measurements in tests")]
pub(crate) struct Size {
    /// Product classes and choices before presolve.
    pub(crate) classes: usize,
    pub(crate) choices: usize,
    /// Choices in components that a solver or a search has to decide.
    pub(crate) left: usize,
    pub(crate) components: usize,
    /// Solver runs.
    pub(crate) runs: u32,
}

/// Improves a selection. `None` where the model is over its budget.
pub(crate) fn improve(
    choices: &Choices,
    start: &Selection,
    budget: &Budget,
    limit: usize,
) -> Option<(Selection, Size)> {
    // Presolve leaves a small part; a product that is many times too large is not worth making.
    let (product, moved) = product(choices, start, limit.saturating_mul(16))?;
    let mut size = Size {
        classes: product.meanings.len(),
        choices: product.choices.iter().map(Vec::len).sum(),
        ..Size::default()
    };
    let located = product.locate(choices, &moved);
    let Reduced { mut picked, components, replaced } = presolve(&product)?;
    size.components = components.len();
    size.left = components.iter().flat_map(|c| &c.choices).map(Vec::len).sum();
    if size.left > limit {
        return None;
    }
    let mut slack = 0.0;
    for component in &components {
        let hint: Vec<Option<usize>> = component.items.iter().map(|item| hint(*item, &located, &replaced)).collect();
        let answer = solve(component, &hint, budget, &mut size.runs)?;
        slack += answer.slack;
        for (item, (options, pick)) in component.items.iter().zip(component.choices.iter().zip(&answer.picks)) {
            picked[item.index()] = pick.map(|k| options[k].number).or(picked[item.index()]);
        }
    }
    let mut selection = place::sink(choices, place::tidy(choices, product.decode(choices, &picked)?));
    let status = |slack: f64, cost: u64| match slack {
        s if s < 0.5 => Status::Optimal,
        s => Status::Gap(s / (cost.max(1) as f64)),
    };
    selection.status = status(slack, selection.cost);
    if selection.cost > start.cost {
        // Only where a component was left at its start's choices and presolve had better ones.
        let mut kept = start.clone();
        kept.status = status(slack, kept.cost);
        return Some((kept, size));
    }
    Some((selection, size))
}

/// The start's choice, or the one that presolve has put in its place.
fn hint(
    item: Item,
    located: &[Option<usize>],
    replaced: &rustc_hash::FxHashMap<(Item, usize), usize>,
) -> Option<usize> {
    let mut at = located[item.index()]?;
    for _ in 0..1000 {
        match replaced.get(&(item, at)) {
            Some(better) => at = *better,
            None => break,
        }
    }
    Some(at)
}

/// A component's choices, by position; `None` for what is not had.
struct Answer {
    picks: Vec<Option<usize>>,
    /// Cost less the best bound.
    slack: f64,
}

fn solve(component: &Component, hint: &[Option<usize>], budget: &Budget, runs: &mut u32) -> Option<Answer> {
    let combinations = component.choices.iter().try_fold(1u64, |n, options| {
        let n = n.checked_mul(options.len() as u64 + 1)?;
        (n <= budget.search).then_some(n)
    });
    if combinations.is_some() {
        return search(component);
    }
    let start = follow(component, |item| {
        let number = hint[item]?;
        component.choices[item].iter().position(|o| o.number == number)
    })
    .filter(|picks| cycle(component, picks).is_none());
    let mut cuts = first_cuts(component);
    let mut bound = f64::NEG_INFINITY;
    for run in 0..budget.runs {
        *runs += 1;
        let mut solved = run_solver(component, &cuts, start.as_deref(), budget, true);
        if matches!(solved, Solved::Failed) {
            solved = run_solver(component, &cuts, start.as_deref(), budget, false);
        }
        let Solved::Answer { values, dual } = solved else { break };
        bound = bound.max(dual);
        let best = |item: usize| {
            let options = &values[item];
            (0..options.len()).max_by(|a, b| options[*a].total_cmp(&options[*b]).then(b.cmp(a)))
        };
        let Some(picks) = follow(component, best) else { break };
        match cycle(component, &picks) {
            None => {
                let slack = (cost(component, &picks) as f64 - bound).max(0.0);
                let better = start.as_ref().is_none_or(|s| cost(component, &picks) <= cost(component, s));
                if better {
                    return Some(Answer { picks, slack });
                }
                break;
            }
            Some(members) if run + 1 < budget.runs => cuts.push(members),
            Some(_) => break,
        }
    }
    let picks = start?;
    let slack = if bound.is_finite() { cost(component, &picks) as f64 - bound } else { cost(component, &picks) as f64 };
    Some(Answer { picks, slack: slack.max(0.0) })
}

/// What the forced classes lead to under these choices.
fn follow(component: &Component, mut pick: impl FnMut(usize) -> Option<usize>) -> Option<Vec<Option<usize>>> {
    let mut picks = vec![None; component.items.len()];
    let mut work: Vec<usize> = (0..component.items.len()).filter(|i| component.forced[*i]).collect();
    while let Some(item) = work.pop() {
        if picks[item].is_none() {
            let k = pick(item)?;
            picks[item] = Some(k);
            work.extend(component.choices[item][k].needs.iter().copied());
        }
    }
    Some(picks)
}

fn cost(component: &Component, picks: &[Option<usize>]) -> u64 {
    picks.iter().zip(&component.choices).filter_map(|(p, o)| p.map(|k| o[k].cost)).fold(0, u64::saturating_add)
}

/// Classes of a cycle among the choices, if there is one.
fn cycle(component: &Component, picks: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut state = vec![0u8; picks.len()];
    for root in 0..picks.len() {
        let mut path = vec![(root, 0)];
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        while let Some((at, next)) = path.last().copied() {
            let before = picks[at].map_or(&[][..], |k| &component.choices[at][k].before[..]);
            match before.get(next) {
                None => {
                    state[at] = 2;
                    path.pop();
                }
                Some(child) => {
                    if let Some(top) = path.last_mut() {
                        top.1 += 1;
                    }
                    match state[*child] {
                        0 => {
                            state[*child] = 1;
                            path.push((*child, 0));
                        }
                        1 => {
                            let from = path.iter().position(|(p, _)| p == child)?;
                            return Some(path[from..].iter().map(|(p, _)| *p).collect());
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    None
}

/// Tries everything.
fn search(component: &Component) -> Option<Answer> {
    let n = component.items.len();
    let forced: Vec<usize> = (0..n).filter(|i| component.forced[*i]).collect();
    let mut best: Option<(u64, Vec<Option<usize>>)> = None;
    // (choices so far, classes still to be decided, cost)
    let mut stack = vec![(vec![None; n], forced, 0u64)];
    while let Some((picks, mut open, sum)) = stack.pop() {
        if best.as_ref().is_some_and(|b| sum >= b.0) {
            continue;
        }
        let Some(item) = open.pop() else {
            if cycle(component, &picks).is_none() {
                best = Some((sum, picks));
            }
            continue;
        };
        if picks[item].is_some() {
            stack.push((picks, open, sum));
            continue;
        }
        let mut order: Vec<usize> = (0..component.choices[item].len()).collect();
        // The cheapest is tried first: it is pushed last.
        order.sort_by_key(|k| std::cmp::Reverse(component.choices[item][*k].cost));
        for k in order {
            let option = &component.choices[item][k];
            let (mut picks, mut open) = (picks.clone(), open.clone());
            picks[item] = Some(k);
            open.extend(option.needs.iter().copied());
            stack.push((picks, open, sum.saturating_add(option.cost)));
        }
    }
    best.map(|(_, picks)| Answer { picks, slack: 0.0 })
}

/// Strongly connected components, and pairs.
fn first_cuts(component: &Component) -> Vec<Vec<usize>> {
    let n = component.items.len();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(n, 0);
    for _ in 0..n {
        graph.add_node(());
    }
    let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (item, options) in component.choices.iter().enumerate() {
        edges.extend(options.iter().flat_map(|o| &o.before).map(|b| (item, *b)));
    }
    for (a, b) in &edges {
        graph.add_edge((*a as u32).into(), (*b as u32).into(), ());
    }
    let scc = petgraph::algo::kosaraju_scc(&graph).into_iter().filter(|s| s.len() > 1 && s.len() < MAX_CUT);
    let mut cuts: BTreeSet<Vec<usize>> = scc
        .map(|s| {
            let mut members: Vec<usize> = s.into_iter().map(|m| m.index()).collect();
            members.sort();
            members
        })
        .collect();
    cuts.extend(edges.iter().filter(|(a, b)| a < b && edges.contains(&(*b, *a))).map(|(a, b)| vec![*a, *b]));
    cuts.into_iter().collect()
}

enum Solved {
    /// Values of the choices by class, and the lower bound.
    Answer { values: Vec<Vec<f64>>, dual: f64 },
    /// Nothing to use.
    Failed,
}

fn run_solver(
    component: &Component,
    cuts: &[Vec<usize>],
    start: Option<&[Option<usize>]>,
    budget: &Budget,
    presolve: bool,
) -> Solved {
    let mut problem = RowProblem::default();
    let mut initial = vec![];
    let mut x: Vec<Vec<Col>> = vec![];
    let mut a: Vec<Option<Col>> = vec![];
    for (item, options) in component.choices.iter().enumerate() {
        let picked = start.and_then(|s| s[item]);
        x.push(options.iter().map(|o| problem.add_integer_column(o.cost as f64, 0..=1)).collect());
        initial.extend((0..options.len()).map(|k| f64::from(u8::from(picked == Some(k)))));
        a.push((!component.forced[item]).then(|| problem.add_column(0.0, 0..=1)));
        if !component.forced[item] {
            initial.push(f64::from(u8::from(picked.is_some())));
        }
    }
    for (item, options) in component.choices.iter().enumerate() {
        let mut row: Vec<(Col, f64)> = x[item].iter().map(|col| (*col, 1.0)).collect();
        match a[item] {
            Some(a) => {
                row.push((a, -1.0));
                problem.add_row(0..=0, &row);
            }
            None => problem.add_row(1..=1, &row),
        }
        let needs: BTreeSet<usize> = options.iter().flat_map(|o| o.needs.iter().copied()).collect();
        for need in needs {
            let Some(a) = a[need] else { continue };
            let using = options.iter().zip(&x[item]).filter(|(o, _)| o.needs.binary_search(&need).is_ok());
            let mut row: Vec<(Col, f64)> = using.map(|(_, col)| (*col, 1.0)).collect();
            row.push((a, -1.0));
            problem.add_row(..=0, &row);
        }
    }
    for cut in cuts {
        let inside: BTreeSet<usize> = cut.iter().copied().collect();
        let mut outside: Vec<(Col, f64)> = vec![];
        for item in cut {
            let leaves = component.choices[*item].iter().zip(&x[*item]);
            let leaves = leaves.filter(|(o, _)| !o.before.iter().any(|b| inside.contains(b)));
            outside.extend(leaves.map(|(_, col)| (*col, 1.0)));
        }
        for item in cut {
            match a[*item] {
                Some(a) => {
                    let mut row = outside.clone();
                    row.push((a, -1.0));
                    problem.add_row(0.., &row);
                }
                None => problem.add_row(1.., &outside),
            }
        }
    }
    let Ok(mut model) = problem.try_optimise(Sense::Minimise) else { return Solved::Failed };
    model.make_quiet();
    let set = [
        model.try_set_option("threads", 1).is_ok(),
        model.try_set_option("parallel", "off").is_ok(),
        model.try_set_option("mip_rel_gap", 0.0).is_ok(),
        model.try_set_option("mip_abs_gap", 0.0).is_ok(),
        model.try_set_option("mip_max_nodes", budget.nodes.min(i32::MAX as u32) as i32).is_ok(),
        if presolve {
            // The aggregator makes feasible models infeasible, rarely.
            model.try_set_option("presolve_rule_off", 4096).is_ok()
        } else {
            model.try_set_option("presolve", "off").is_ok()
        },
    ];
    if set.contains(&false) || (start.is_some() && model.try_set_solution(Some(&initial), None, None, None).is_err()) {
        return Solved::Failed;
    }
    let Ok(solved) = model.try_solve() else { return Solved::Failed };
    let usable = match solved.status() {
        HighsModelStatus::Optimal => true,
        HighsModelStatus::ReachedSolutionLimit
        | HighsModelStatus::ReachedIterationLimit
        | HighsModelStatus::ReachedTimeLimit => solved.primal_solution_status() == highs::HighsSolutionStatus::Feasible,
        _ => false,
    };
    if !usable {
        return Solved::Failed;
    }
    let dual = solved.double_info_value(c"mip_dual_bound").unwrap_or(f64::NEG_INFINITY);
    let solution = solved.get_solution();
    let values = x.iter().map(|cols| cols.iter().map(|c| solution[*c]).collect()).collect();
    Solved::Answer { values, dual }
}
