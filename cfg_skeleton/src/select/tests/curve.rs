//! How extraction grows with blocks and e-nodes, beside the naive model: one variable per e-node and statement.
//!
//! `cargo nextest run --release -p rewright-cfg-skeleton --run-ignored only --no-capture curve` prints the table of
//! `select::product`. Times depend on the machine; sizes do not.
//!
//! The functions are made up: a chain of lines, diamonds and loops, a few statements in each block, and for a share of
//! the values another form over values that are at hand there.

use super::oracle::Random;
use super::*;
use crate::ir::{BlockId, OpaqueEffects, Value};
use crate::select::choices::Choices;
use rewright_extract::clock::now;
use rewright_extract::presolve::Rules;
use rewright_extract::{Class, Graph, Limits, Node as Choice, extract};
use rustc_hash::FxHashMap;
use std::io::Write;
use std::time::Duration;

/// Statements in each block.
const STATEMENTS: usize = 4;

/// A function of about this many blocks and e-nodes, where `share` values in a hundred have another form.
fn made<'u>(u: &'u Universe, blocks: usize, nodes: usize, share: usize) -> Case<'u> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (blocks * 1_000_003 + nodes * 101 + share) as u64);
    let mut b = Builder::new(u, &["i32", "i32"]);
    let mut values = vec![b.param(BlockId(0), 0), b.param(BlockId(0), 1)];
    let mut others: Vec<(Value, Value, Value, &str)> = vec![];
    let each = (nodes * 100 / (100 + share) / blocks).max(STATEMENTS);
    let mut fill = |b: &mut Builder, values: &mut Vec<Value>| {
        for n in 0..each {
            let near =
                |random: &mut Random, values: &[Value]| values[values.len() - 1 - random.below(values.len().min(12))];
            let (x, y) = (near(&mut random, values), values[random.below(values.len())]);
            let v = b.op(["iadd", "imul", "bxor", "isub"][random.below(4)], "i32", &[x, y]);
            if random.below(100) < share {
                let (x, y) = (near(&mut random, values), values[random.below(values.len())]);
                others.push((v, x, y, ["iadd", "bor", "band"][random.below(3)]));
            }
            values.push(v);
            if n % (each / STATEMENTS) == 0 {
                let x = near(&mut random, values);
                b.opaque(1, OpaqueEffects::Writes, &[x], &[]);
            }
        }
    };
    fill(&mut b, &mut values);
    let mut made = 1;
    while made < blocks {
        if made % 5 == 4 && made + 2 <= blocks {
            let (head, exit) = (b.block(&["i32"]), b.block(&[]));
            let x = values[values.len() - 1];
            b.jump(head, &[x]);
            b.switch_to(head);
            values.push(b.param(head, 0));
            fill(&mut b, &mut values);
            let x = values[values.len() - 1];
            b.branch(x, (head, &[x]), (exit, &[]));
            b.switch_to(exit);
            fill(&mut b, &mut values);
            made += 2;
        } else if made + 3 <= blocks {
            let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
            let x = values[values.len() - 1];
            b.branch(x, (left, &[]), (right, &[]));
            for arm in [left, right] {
                b.switch_to(arm);
                let mut own = values.clone();
                fill(&mut b, &mut own);
                let arg = own[own.len() - 1];
                b.jump(join, &[arg]);
            }
            b.switch_to(join);
            values.push(b.param(join, 0));
            fill(&mut b, &mut values);
            made += 3;
        } else {
            let next = b.block(&[]);
            b.jump(next, &[]);
            b.switch_to(next);
            fill(&mut b, &mut values);
            made += 1;
        }
    }
    let x = values[values.len() - 1];
    b.ret(&[x]);
    let mut case = Case::new(&b, u);
    for (v, x, y, name) in others {
        let (v, x, y) = (case.input(v), case.input(x), case.input(y));
        let other = case.op(name, "i32", &[x, y]);
        case.unions.push((v, other));
    }
    case.view = view(&case.skeleton.input, &case.unions);
    case
}

/// The model without candidates: every class in every segment in which it can be had, computed there or taken from
/// the segment above.
fn naive(choices: &Choices) -> Graph {
    let tree = choices.tree;
    let segments: Vec<SegmentId> = (0..choices.given.skeleton.segment_block.len() as u32).map(SegmentId).collect();
    let mut number: FxHashMap<(ClassId, SegmentId), Class> = FxHashMap::default();
    let mut order = vec![];
    for class in 0..choices.of_class.len() as u32 {
        for at in segments.iter().filter(|at| choices.constructible(ClassId(class), **at)) {
            number.insert((ClassId(class), *at), Class(order.len() as u32));
            order.push((ClassId(class), *at));
        }
    }
    let find = |class, at| number.get(&(class, at)).copied();
    let mut classes = vec![];
    for (class, at) in order {
        let mut nodes = vec![];
        if let Some(up) = tree.parent(at).and_then(|up| find(class, up)) {
            nodes.push(Choice::new(0.0, [up], []));
        }
        for alt in &choices.of_class[class.index()] {
            let a = choices.alt(*alt);
            if a.at.is_some_and(|own| own != at) || !choices.computable(*alt, at) {
                continue;
            }
            let needs: Option<Vec<Class>> = a.children.iter().map(|c| find(*c, at)).collect();
            let later: Option<Vec<Class>> = choices.arguments(a.def).iter().map(|d| find(d.class, d.segment)).collect();
            let (Some(needs), Some(later)) = (needs, later) else { continue };
            let cost = match a.def {
                Def::Param { .. } => a.cost.cost,
                _ => tree.frequency(at).saturating_mul(a.cost.cost),
            };
            nodes.push(Choice::new(cost as f64, needs, later));
        }
        classes.push(nodes);
    }
    let roots = choices.roots.iter().filter_map(|d| find(d.class, d.segment)).collect();
    Graph { classes, roots }
}

/// Naive models of more variables are not tried.
const MOST: usize = 60_000;

/// Processor time for a selection ..
const TIME: Duration = Duration::from_secs(20);

/// .. and for a naive model.
const NAIVE: Duration = Duration::from_secs(5);

/// Sizes and times of one function, as a row.
fn row(u: &Universe, blocks: usize, nodes: usize, share: usize) -> String {
    let case = made(u, blocks, nodes, share);
    let start = now();
    let budget = Budget { time: Some(TIME), ..Budget::default() };
    let options = Options { method: Method::Ilp, budget, ..Options::default() };
    let report = select(case.saturated(), &options).expect("the original is a selection");
    let SelectionReport { selection, effort, .. } = report;
    let time = now() - start;
    let effort = effort.expect("it is within the budget");
    let status = match selection.status {
        Status::Optimal => "optimal".to_string(),
        Status::Gap(gap) => format!("{:.1} %", 100.0 * gap),
        Status::Greedy => "greedy".into(),
    };
    let tree = segments::SegmentTree::new(&case.skeleton, &case.cfg);
    let mut keys = check_identity::CheckIdentities::new(&case.skeleton, &case.view, u);
    let choices = case.choices(&options, &tree, &mut keys);
    let graph = naive(&choices);
    let variables = graph.node_count();
    let theirs = if variables > MOST {
        "-".to_string()
    } else {
        let limits = Limits { rules: Rules::NONE, search: 0, time: Some(NAIVE), ..Limits::default() };
        let start = now();
        let found = extract(&graph, Method::Ilp, &limits, None).expect("a choice");
        let time = (now() - start).as_secs_f64() * 1e3;
        match found.status {
            Status::Optimal => format!("{time:.0} ms"),
            _ => format!("> {time:.0} ms"),
        }
    };
    format!(
        "//! | {} | {} | {share} % | {} | {} | {:.1} ms | {status} | {variables} | {theirs} |\n",
        case.skeleton.layout.len(),
        case.view.nodes.len(),
        effort.nodes,
        effort.left,
        time.as_secs_f64() * 1e3,
    )
}

#[test]
fn the_naive_model_has_the_same_optimum() {
    let u = universe();
    for (blocks, nodes) in [(1, 30), (4, 60), (7, 80)] {
        let case = made(&u, blocks, nodes, 30);
        let ilp = case.select(Method::Ilp);
        let options = Options::default();
        let tree = segments::SegmentTree::new(&case.skeleton, &case.cfg);
        let mut keys = check_identity::CheckIdentities::new(&case.skeleton, &case.view, &u);
        let choices = case.choices(&options, &tree, &mut keys);
        let graph = naive(&choices);
        let found = extract(&graph, Method::Ilp, &Limits::default(), None).expect("a choice");
        assert_eq!((found.status, ilp.status), (Status::Optimal, Status::Optimal));
        assert_eq!(found.cost, ilp.cost as f64, "{blocks} blocks");
    }
}

#[test]
#[ignore = "prints measurements"]
fn curve() {
    let u = universe();
    let mut out = std::io::stderr();
    for blocks in [5, 10, 20, 40, 60] {
        for nodes in [100, 500, 1000, 2500, 5000] {
            for share in [10, 40] {
                write!(out, "{}", row(&u, blocks, nodes, share)).expect("stderr is there");
            }
        }
    }
}
