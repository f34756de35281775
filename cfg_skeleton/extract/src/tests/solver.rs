//! A solver that is wrong, and one that always fails.

use super::random::{Shape, brute_force, graph};
use super::*;
use crate::testing::Random;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const EFFORT: Effort = Effort { nodes: 100_000, seconds: None, presolve: true };

/// The same optimum by another program: a class stands above its children, by a variable for its height. HiGHS with
/// its aggregator calls some of these infeasible, and some starts optimal.
fn by_height(graph: &Graph) -> Model {
    let mut model = Model::default();
    let mut root = vec![false; graph.classes.len()];
    graph.roots.iter().for_each(|r| root[r.index()] = true);
    let n = graph.classes.len() as f64;
    let mut column = |cost, integer, high| {
        model.columns.push(Column { cost, integer, high });
        model.columns.len() - 1
    };
    let x: Vec<Vec<usize>> =
        graph.classes.iter().map(|list| list.iter().map(|node| column(node.cost, true, 1.0)).collect()).collect();
    let a: Vec<usize> = graph.classes.iter().map(|_| column(0.0, true, 1.0)).collect();
    let height: Vec<usize> = graph.classes.iter().map(|_| column(0.0, false, n)).collect();
    let infinity = f64::INFINITY;
    for (class, list) in graph.classes.iter().enumerate() {
        let own = x[class].iter().map(|x| (*x, 1.0)).chain([(a[class], -1.0)]).collect();
        model.rows.push(Row { low: 0.0, high: infinity, terms: own });
        if root[class] {
            model.rows.push(Row { low: 1.0, high: infinity, terms: vec![(a[class], 1.0)] });
        }
        for (node, x) in list.iter().zip(&x[class]) {
            for child in node.children.iter().map(|c| c.index()) {
                model.rows.push(Row { low: -infinity, high: 0.0, terms: vec![(*x, 1.0), (a[child], -1.0)] });
                if child == class {
                    model.rows.push(Row { low: 0.0, high: 0.0, terms: vec![(*x, 1.0)] });
                    continue;
                }
                // height(class) >= height(child) + 1 if the node is had.
                let terms = vec![(height[class], 1.0), (height[child], -1.0), (*x, -(n + 1.0))];
                model.rows.push(Row { low: -n, high: infinity, terms });
            }
        }
    }
    model
}

fn cost(model: &Model, values: &[f64]) -> f64 {
    model.columns.iter().zip(values).map(|(column, value)| column.cost * value.round()).sum()
}

#[test]
fn without_the_aggregator_no_optimum_is_missed() {
    let mut random = Random(5);
    let shape = Shape { classes: 9, nodes: 3, deferred: false };
    let mut solved = 0;
    for n in 0..60 {
        let graph = graph(&mut random, shape);
        let Some(best) = brute_force(&graph) else { continue };
        let model = by_height(&graph);
        let Solved::Answer { values, bound } = Highs.solve(&model, None, &EFFORT, &Meter::unlimited()) else {
            panic!("graph {n}")
        };
        assert!((cost(&model, &values) - best).abs() < 1e-6 && bound <= best + 1e-6, "graph {n}");
        // The answer as a start changes nothing.
        let Solved::Answer { values, .. } = Highs.solve(&model, Some(&values), &EFFORT, &Meter::unlimited()) else {
            panic!("graph {n}")
        };
        assert!((cost(&model, &values) - best).abs() < 1e-6, "graph {n}");
        solved += 1;
    }
    assert!(solved > 20, "{solved}");
}

/// Enough of the MPS format for one file: rows N, L, G and E, integer markers, bounds UP and BV.
fn read_mps(text: &str) -> Model {
    let (mut model, mut integer, mut section) = (Model::default(), false, "");
    let (mut rows, mut columns) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            section = words.first().copied().unwrap_or_default();
            continue;
        }
        match (section, &words[..]) {
            ("ROWS", ["N", _]) => {}
            ("ROWS", [kind, name]) => {
                rows.insert(name.to_string(), model.rows.len());
                let (low, high) = match *kind {
                    "L" => (f64::NEG_INFINITY, 0.0),
                    "G" => (0.0, f64::INFINITY),
                    _ => (0.0, 0.0),
                };
                model.rows.push(Row { low, high, terms: vec![] });
            }
            ("COLUMNS", [_, "'MARKER'", kind]) => integer = *kind == "'INTORG'",
            ("COLUMNS", [name, pairs @ ..]) => {
                let column = *columns.entry(name.to_string()).or_insert_with(|| {
                    model.columns.push(Column { cost: 0.0, integer, high: f64::INFINITY });
                    model.columns.len() - 1
                });
                for pair in pairs.chunks(2) {
                    let value: f64 = pair[1].parse().unwrap();
                    match rows.get(pair[0]) {
                        Some(row) => model.rows[*row].terms.push((column, value)),
                        None => model.columns[column].cost = value,
                    }
                }
            }
            ("RHS", [_, pairs @ ..]) => {
                for pair in pairs.chunks(2) {
                    let (row, value): (_, f64) = (&mut model.rows[rows[pair[0]]], pair[1].parse().unwrap());
                    let set = |side: &mut f64| *side = if side.is_finite() { value } else { *side };
                    set(&mut row.low);
                    set(&mut row.high);
                }
            }
            ("BOUNDS", ["UP", _, name, value]) => model.columns[columns[*name]].high = value.parse().unwrap(),
            ("BOUNDS", ["BV", _, name]) => {
                let column = &mut model.columns[columns[*name]];
                (column.high, column.integer) = (1.0, true);
            }
            other => panic!("{other:?}"),
        }
    }
    model
}

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn a_model_that_the_aggregator_calls_infeasible_has_its_optimum() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let text = std::fs::read_to_string(Path::new(&corpus).join("solver/false-infeasible.mps")).expect("the corpus");
    let model = read_mps(&text);
    for presolve in [true, false] {
        let Solved::Answer { values, bound } =
            Highs.solve(&model, None, &Effort { presolve, ..EFFORT }, &Meter::unlimited())
        else {
            panic!("called infeasible with presolve {presolve}")
        };
        assert_eq!((cost(&model, &values).round(), bound.round()), (80.0, 80.0));
    }
}

/// A graph whose greedy choice is not the best one: two users of a shared class, each cheaper alone without it.
fn shared() -> Graph {
    let leaf = |cost| vec![Node::new(cost, [], [])];
    let user = |own: u32| vec![Node::new(0.0, [Class(own)], []), Node::new(1.0, [Class(4)], [])];
    let classes = vec![user(2), user(3), leaf(3.0), leaf(3.0), leaf(3.0)];
    Graph { classes, roots: vec![Class(0), Class(1)] }
}

/// Asks HiGHS, and changes its answer.
#[derive(Debug)]
struct Wrong {
    asked: AtomicU32,
    change: fn(&Model, Option<&[f64]>, &Effort, Solved) -> Solved,
}

impl Wrong {
    fn new(change: fn(&Model, Option<&[f64]>, &Effort, Solved) -> Solved) -> Self {
        Wrong { asked: AtomicU32::new(0), change }
    }
}

impl Solver for Wrong {
    fn solve(&self, model: &Model, start: Option<&[f64]>, effort: &Effort, meter: &Meter) -> Solved {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.change)(model, start, effort, Highs.solve(model, start, effort, meter))
    }
}

const UNREDUCED: Limits = Limits {
    model: 60_000,
    search: 0,
    nodes: 2_000,
    runs: 20,
    cut_rounds: 3,
    moves: 0,
    work: u64::MAX,
    time: None,
    rules: Rules::NONE,
};

#[test]
fn a_solver_that_always_fails_leaves_the_greedy_choice() {
    let graph = shared();
    let solver = Wrong::new(|_, _, _, _| Solved::Failed);
    let found = extract_with(&graph, Method::Ilp, &UNREDUCED, None, &solver).expect("a choice");
    let greedy = extract(&graph, Method::Greedy, &UNREDUCED, None).expect("a choice");
    assert_eq!((&found.picks, found.cost), (&greedy.picks, greedy.cost));
    assert!(matches!(found.status, Status::Gap(_)) && solver.asked.load(Ordering::Relaxed) == 2, "{found:?}");
    assert_eq!(extract(&graph, Method::Ilp, &UNREDUCED, None).expect("a choice").status, Status::Optimal);
}

#[test]
fn infeasible_is_a_fault_and_solved_again_without_presolve() {
    let solver = Wrong::new(|_, _, effort, solved| if effort.presolve { Solved::Failed } else { solved });
    let found = extract_with(&shared(), Method::Ilp, &UNREDUCED, None, &solver).expect("a choice");
    assert_eq!((found.cost, found.status), (5.0, Status::Optimal));
    assert_eq!(solver.asked.load(Ordering::Relaxed), 2);
}

#[test]
fn a_bound_above_a_choice_is_not_believed() {
    let solver = Wrong::new(|_, start, effort, solved| match solved {
        Solved::Answer { .. } if effort.presolve => {
            Solved::Answer { values: start.unwrap_or_default().to_vec(), bound: 100.0 }
        }
        solved => solved,
    });
    let found = extract_with(&shared(), Method::Ilp, &UNREDUCED, None, &solver).expect("a choice");
    assert_eq!((found.cost, found.bound, found.status), (5.0, 5.0, Status::Optimal));
}

#[test]
fn values_that_are_no_choice_change_nothing() {
    let solver = Wrong::new(|model, _, _, _| Solved::Answer { values: vec![0.0; model.columns.len()], bound: 0.0 });
    let found = extract_with(&shared(), Method::Ilp, &UNREDUCED, None, &solver).expect("a choice");
    assert_eq!(check(&shared(), &found.picks), Ok(found.cost));
    assert!(matches!(found.status, Status::Gap(_)), "{found:?}");
}
