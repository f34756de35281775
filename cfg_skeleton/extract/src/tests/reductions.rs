//! Each reduction keeps an optimum: alone, with all others, and before the integer program.

use super::random::{Shape, brute_force, graph};
use super::*;
use crate::testing::Random;

const ONE_BY_ONE: [(&str, Rules); 9] = [
    ("P1", Rules::NONE),
    ("P2", Rules { cycles: true, ..Rules::NONE }),
    ("P3", Rules { dominate: true, ..Rules::NONE }),
    ("P4", Rules { upper_bound: true, ..Rules::NONE }),
    ("P5", Rules { free: true, ..Rules::NONE }),
    ("P6", Rules { pull_up: true, ..Rules::NONE }),
    ("P7", Rules { contract: true, ..Rules::NONE }),
    ("P8", Rules { force: true, ..Rules::NONE }),
    ("all", Rules::ALL),
];

const SMALL: Shape = Shape { classes: 7, nodes: 3, deferred: false };

/// The rest after presolve, solved by brute force, costs as much as the whole.
fn presolved(graph: &Graph, rules: Rules) -> Option<f64> {
    let reduced = presolve(graph, rules, &Meter::unlimited())?;
    let parts = reduced.components.iter().map(|part| brute_force(&part.graph()).expect("a part can be had"));
    Some(reduced.offset + parts.sum::<f64>())
}

fn each_reduction(count: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut made, mut shrunk) = (0, [0; ONE_BY_ONE.len()]);
    for n in 0..count {
        let graph = graph(&mut random, Shape { deferred: n % 2 == 1, ..SMALL });
        let best = brute_force(&graph);
        made += usize::from(best.is_some());
        for ((name, rules), shrunk) in ONE_BY_ONE.iter().zip(&mut shrunk) {
            assert_eq!(presolved(&graph, *rules), best, "{name} on graph {n}: {graph:?}");
            if let Some(reduced) = presolve(&graph, *rules, &Meter::unlimited()) {
                *shrunk += usize::from(reduced.node_count() < graph.node_count());
            }
        }
        let Some(best) = best else {
            assert_eq!(extract(&graph, Method::Ilp, &Limits::default(), None), Err(Unconstructible), "graph {n}");
            continue;
        };
        // The choice that comes back, through parts, picks and all.
        let found = extract(&graph, Method::Auto, &Limits::default(), None).expect("a choice");
        assert_eq!((found.cost, found.bound, found.status), (best, best, Status::Optimal), "graph {n}: {graph:?}");
        assert_eq!(check(&graph, &found.picks), Ok(best));
        let greedy = extract(&graph, Method::Greedy, &Limits::default(), None).expect("a choice");
        assert!(greedy.cost >= best && check(&graph, &greedy.picks) == Ok(greedy.cost), "graph {n}: {graph:?}");
    }
    // Cases must be of use: most can be had, and each reduction finds something to do.
    assert!(made * 2 > count && shrunk.iter().all(|n| n * 5 > count), "{made} of {count}, {shrunk:?}");
}

#[test]
fn each_reduction_keeps_the_optimum() {
    each_reduction(400, 1);
}

#[test]
#[ignore = "a minute"]
fn each_reduction_keeps_the_optimum_of_10_000_graphs() {
    each_reduction(10_000, 2);
}

/// The integer program on what each reduction leaves.
fn by_the_solver(count: usize, seed: u64) {
    let mut random = Random(seed);
    let mut runs = 0;
    for n in 0..count {
        let shape = Shape { classes: 12, deferred: n % 3 == 1, ..SMALL };
        let graph = graph(&mut random, shape);
        let limits = |rules| Limits { search: 0, rules, ..Limits::default() };
        let Some(best) = extract(&graph, Method::Ilp, &limits(Rules::NONE), None).ok() else { continue };
        assert_eq!(best.status, Status::Optimal, "graph {n}: {graph:?}");
        runs += best.runs;
        for (name, rules) in ONE_BY_ONE {
            let found = extract(&graph, Method::Ilp, &limits(rules), None).expect("a choice");
            assert_eq!((found.cost, found.status), (best.cost, Status::Optimal), "{name} on graph {n}: {graph:?}");
        }
    }
    assert!(runs as usize > count / 4, "{runs} runs for {count} graphs");
}

#[test]
fn the_integer_program_has_the_same_optimum_after_each_reduction() {
    by_the_solver(40, 3);
}

#[test]
#[ignore = "minutes"]
fn the_integer_program_has_the_same_optimum_after_each_reduction_of_10_000_graphs() {
    by_the_solver(10_000, 4);
}
