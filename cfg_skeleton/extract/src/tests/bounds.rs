//! What linear programs with cuts say, without an integer program; and time limits that count work.

use super::clock::{Deadline, now};
use super::random::{Shape, brute_force, graph};
use super::*;
use crate::testing::Random;

/// Solves linear programs only.
#[derive(Debug)]
struct Linear;

impl Solver for Linear {
    fn solve(&self, _: &Model, _: Option<&[f64]>, _: &Effort, _: &Meter) -> Solved {
        Solved::Failed
    }

    fn relax(&self, model: &Model) -> Option<Box<dyn Relaxation>> {
        Highs.relax(model)
    }
}

fn bounded(graph: &Graph, cut_rounds: u32) -> Extraction {
    let limits = Limits { search: 0, moves: 0, cut_rounds, rules: Rules::NONE, ..Limits::default() };
    extract_with(graph, Method::Ilp, &limits, None, &Linear).expect("a choice")
}

#[test]
fn what_two_ways_lead_to_is_had_whole() {
    // Either way costs 10, and a solution that takes half of each pays half.
    let way = || vec![Node::new(0.0, [Class(3)], [])];
    let root = vec![Node::new(0.0, [Class(1)], []), Node::new(0.0, [Class(2)], [])];
    let below = vec![Node::new(10.0, [], []), Node::new(10.0, [Class(4)], [])];
    let other = vec![Node::new(3.0, [], [])];
    let graph = Graph { classes: vec![root, way(), way(), below, other], roots: vec![Class(0)] };
    assert_eq!(bounded(&graph, 1).bound, 5.0);
    assert_eq!((bounded(&graph, 40).bound, bounded(&graph, 40).status), (10.0, Status::Optimal));
}

#[test]
fn cuts_cut_off_no_optimum_and_raise_most_bounds_to_it() {
    let mut random = Random(11);
    let (mut made, mut before, mut after) = (0, 0, 0);
    for n in 0..300 {
        let shape = Shape { classes: 9, nodes: 3, deferred: n % 3 == 0 };
        let graph = graph(&mut random, shape);
        let Some(best) = brute_force(&graph) else { continue };
        let (plain, cut) = (bounded(&graph, 1), bounded(&graph, 40));
        assert!(plain.bound <= cut.bound && cut.bound <= best, "{plain:?} {cut:?} {best} for graph {n}: {graph:?}");
        made += 1;
        before += usize::from(plain.bound == best);
        after += usize::from(cut.bound == best);
    }
    assert!(made > 150 && after * 20 > made * 19 && before < after, "{before}, {after} of {made}");
}

#[test]
fn rows_are_added_and_removed_by_their_place_among_those_that_are_left() {
    let columns = vec![Column { cost: 1.0, integer: false, high: 9.0 }; 3];
    let own = vec![Row { low: 1.0, high: f64::INFINITY, terms: vec![(0, 1.0)] }];
    let mut relaxation = Highs.relax(&Model { columns, rows: own }).expect("it has linear programs");
    let least = |relaxation: &mut dyn Relaxation| match relaxation.solve(None, &Meter::unlimited()) {
        Solved::Answer { bound, .. } => bound,
        other => panic!("{other:?}"),
    };
    for (n, low) in [(0, 2.0), (1, 0.0), (1, 4.0), (2, 8.0)] {
        relaxation.add(&Row { low, high: f64::INFINITY, terms: vec![(n, 1.0)] });
    }
    assert_eq!(least(&mut *relaxation), 14.0);
    // One that is slack.
    relaxation.remove(&[1]);
    assert_eq!(least(&mut *relaxation), 14.0);
    // Those for the first and the last column; the one that was there from the beginning remains.
    relaxation.remove(&[0, 2]);
    assert_eq!(least(&mut *relaxation), 5.0);
    relaxation.remove(&[]);
    relaxation.add(&Row { low: 3.0, high: f64::INFINITY, terms: vec![(2, 1.0)] });
    assert_eq!(least(&mut *relaxation), 8.0);
}

#[test]
fn a_bound_of_a_linear_program_above_a_choice_is_not_believed() {
    #[derive(Debug)]
    struct Wrong;
    impl Solver for Wrong {
        fn solve(&self, _: &Model, _: Option<&[f64]>, _: &Effort, _: &Meter) -> Solved {
            Solved::Failed
        }
        fn relax(&self, model: &Model) -> Option<Box<dyn Relaxation>> {
            Some(Box::new(High(vec![1.0; model.columns.len()])))
        }
    }
    struct High(Vec<f64>);
    impl Relaxation for High {
        fn add(&mut self, _: &Row) {}
        fn remove(&mut self, _: &[usize]) {}
        fn solve(&mut self, _: Option<f64>, _: &Meter) -> Solved {
            Solved::Answer { values: self.0.clone(), bound: 100.0 }
        }
    }
    let root = vec![Node::new(2.0, [], []), Node::new(1.0, [Class(1)], [])];
    let graph = Graph { classes: vec![root, vec![Node::new(1.0, [], [])]], roots: vec![Class(0)] };
    let limits = Limits { search: 0, rules: Rules::NONE, ..Limits::default() };
    let found = extract_with(&graph, Method::Ilp, &limits, None, &Wrong).expect("a choice");
    assert_eq!((found.cost, found.bound), (2.0, 0.0));
}

/// Does this much work, whatever the wall clock says.
fn spin(work: Duration) {
    let end = now() + work;
    while now() < end {
        std::hint::spin_loop();
    }
}

#[test]
fn a_deadline_counts_work_and_not_waiting() {
    let deadline = Deadline::after(Duration::from_millis(60));
    std::thread::sleep(Duration::from_millis(90));
    assert!(!deadline.passed());
    spin(Duration::from_millis(60));
    assert!(deadline.passed());
}

/// Rows of three random columns, one of which must be had: hard for branch and bound.
fn covering(columns: usize, rows: usize) -> Model {
    let mut random = Random(7);
    let row = |random: &mut Random| {
        let terms: std::collections::BTreeSet<usize> = (0..3).map(|_| random.below(columns)).collect();
        Row { low: 1.0, high: f64::INFINITY, terms: terms.into_iter().map(|n| (n, 1.0)).collect() }
    };
    let rows = (0..rows).map(|_| row(&mut random)).collect();
    Model { columns: vec![Column { cost: 1.0, integer: true, high: 1.0 }; columns], rows }
}

#[test]
fn the_solver_stops_when_its_work_is_used_up_and_not_before() {
    let model = covering(150, 700);
    let seconds = 0.4;
    // Another thread has this one wait, where there are few processors.
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let start = now();
        let effort = Effort { nodes: u32::MAX, seconds: Some(seconds), presolve: true };
        let solved = Highs.solve(&model, None, &effort, &Meter::unlimited());
        let work = (now() - start).as_secs_f64();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(solved, Solved::Answer { .. } | Solved::Bound(_)), "{solved:?}");
        assert!((0.7 * seconds..3.0 * seconds).contains(&work), "{work}");
    });
}

#[test]
#[ignore = "needs the corpus: REWRIGHT_CORPUS, or ../shared/corpus"]
fn public_e_graphs_whose_plain_bounds_are_far_off_are_solved_by_counted_work() {
    let corpus = std::env::var("REWRIGHT_CORPUS").unwrap_or_else(|_| "../../shared/corpus".into());
    let files = [
        ("rover/box_filter_4iteration_egraph.json", 1635.0),
        ("diospyros/vector_matrix_multiply_2x3_3x3_root_58.json", 12.735),
    ];
    for (file, best) in files {
        let text =
            std::fs::read_to_string(std::path::Path::new(&corpus).join("egraphs").join(file)).expect("the corpus");
        let graph = serialized::read(&text, None).expect("an e-graph").graph;
        let found = extract(&graph, Method::Ilp, &Limits::default(), None).expect("a choice");
        assert!(found.status == Status::Optimal && (found.cost - best).abs() < 1e-6, "{file}: {found:?}");
    }
}
