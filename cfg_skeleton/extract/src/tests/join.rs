//! P11 against brute force, on sums as associative and commutative laws leave them; and that it is worth its while.

use super::random::brute_force;
use super::*;
use presolve::presolve_joined;
use rewright_cfg_skeleton::testing::random::Random;

/// Classes for all subsets of this many terms, each with a node for every way to part it in two; the last one is the
/// sum of all. `cost` is asked once per node.
fn sums(terms: usize, mut cost: impl FnMut() -> f64) -> Graph {
    let class = |set: usize| Class(set as u32 - 1);
    let node = |set: usize, part: usize, cost: f64| Node::new(cost, [class(part), class(set ^ part)], []);
    let halves = |set: usize| (1..set).filter(move |part| part & !set == 0 && *part < set ^ part);
    let mut list = |set: usize| match set.count_ones() {
        1 => vec![Node::new(0.0, [], [])],
        _ => halves(set).map(|part| node(set, part, cost())).collect(),
    };
    let classes: Vec<Vec<Node>> = (1..1 << terms).map(&mut list).collect();
    let roots = vec![Class(classes.len() as u32 - 1)];
    Graph { classes, roots }
}

/// What is left after presolve with P11 first, solved by brute force; `None` where P11 decides nothing.
fn joined(graph: &Graph) -> Option<f64> {
    let reduced = presolve_joined(graph, Rules::ALL, &Meter::unlimited()).expect("the roots can be made")?;
    let parts = reduced.components.iter().map(|part| brute_force(&part.graph()).expect("a part can be had"));
    Some(reduced.offset + parts.sum::<f64>())
}

#[test]
fn a_sum_of_distinct_terms_takes_one_addition_less_than_it_has_terms() {
    for terms in 5..=9 {
        let graph = sums(terms, || 3.0);
        let limits = Limits { work: 10_000 * graph.node_count() as u64, ..Limits::default() };
        let found = extract(&graph, Method::Auto, &limits, None).expect("a choice");
        let cost = 3.0 * (terms - 1) as f64;
        assert_eq!((found.cost, found.status, found.ended), (cost, Status::Optimal, None), "{terms}");
        assert_eq!(found.runs, 0, "{terms} terms want no solver");
        assert!(found.work < limits.work, "{terms} terms, {found:?}");
    }
}

#[test]
fn what_is_joined_keeps_the_optimum() {
    let mut random = Random(21);
    let (mut decided, mut open) = (0, 0);
    for n in 0..600 {
        // Few prices, so that they often meet the bound.
        let prices = [[1.0, 1.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0], [0.0, 1.0, 1.0, 1.0]][n % 3];
        let mut graph = sums(4, || prices[random.below(4)]);
        let classes = graph.classes.len();
        // Other ways to have some of it, and other uses of it.
        for _ in 0..random.below(3) {
            let children: Vec<Class> = (0..1 + random.below(3)).map(|_| Class(random.below(classes) as u32)).collect();
            let deferred = (random.below(6) == 0).then(|| Class(random.below(classes) as u32));
            let node = Node::new(random.below(4) as f64, children, deferred);
            graph.classes[random.below(classes)].push(node);
        }
        if random.below(3) == 0 {
            graph.roots.push(Class(random.below(classes) as u32));
        }
        if random.below(3) == 0 {
            let term = [0, 1, 3, 7][random.below(4)];
            graph.classes[term] = vec![Node::new(2.0, [Class(random.below(classes) as u32)], [])];
        }
        let Some(best) = brute_force(&graph) else { continue };
        match joined(&graph) {
            Some(cost) => {
                assert_eq!(cost, best, "graph {n}: {graph:?}");
                decided += 1;
            }
            None => open += 1,
        }
    }
    assert!(decided > 100 && open > 100, "{decided} decided, {open} open");
}

#[test]
fn a_sum_in_two_uses_is_left_to_others() {
    // a + b + c and a + b + d: sharing a + b saves one addition, which no sum alone knows of.
    let mut graph = sums(4, || 1.0);
    graph.roots = vec![Class(0b0111 - 1), Class(0b1011 - 1)];
    let found = extract(&graph, Method::Ilp, &Limits::default(), None).expect("a choice");
    assert_eq!((found.cost, found.status), (3.0, Status::Optimal));
    assert!(joined(&graph).is_none_or(|cost| cost == 3.0));
}

#[test]
fn work_that_is_used_up_ends_in_a_choice_and_says_so() {
    // No two terms of one price, so there is no bound to meet.
    let mut random = Random(3);
    let graph = sums(8, || 1.0 + random.below(1000) as f64 / 100.0);
    let greedy = extract(&graph, Method::Greedy, &Limits::default(), None).expect("a choice");
    for work in [0, 1_000, 100_000, 3_000_000] {
        let limits = Limits { work, ..Limits::default() };
        let found = extract(&graph, Method::Auto, &limits, None).expect("a choice");
        assert_eq!(check(&graph, &found.picks), Ok(found.cost));
        assert!(found.cost >= found.bound && (work < 100_000 || found.cost <= greedy.cost), "{work}: {found:?}");
        assert!(matches!(found.status, Status::Gap(_)) && found.ended == Some(Ended::Work), "{work}: {found:?}");
        // A step beyond the limit is no more than what a choice takes at least.
        assert!(found.work < 2 * work + 2_000 * graph.node_count() as u64, "{work}: {found:?}");
    }
    let again = || extract(&graph, Method::Auto, &Limits { work: 3_000_000, ..Limits::default() }, None);
    let (one, two) = (again().expect("a choice"), again().expect("a choice"));
    assert_eq!((one.picks, one.bound, one.work), (two.picks, two.bound, two.work));
}
