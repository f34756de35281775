//! Dominators, post-dominators and loops against their definitions, on random graphs.

use super::*;
use crate::ir::{Edge, PayloadId, Terminator};
use proptest::prelude::*;
use smallvec::SmallVec;

/// A function with these successors; block 0 is the entry.
fn function(succs: &[Vec<u32>]) -> Function {
    let mut f = Function::new("f");
    for targets in succs {
        let b = f.add_block();
        let edge = |t: &u32| Edge { target: BlockId(*t), args: SmallVec::new() };
        f.blocks[b.index()].term = match targets.as_slice() {
            [] => Terminator::Return(SmallVec::new()),
            [one] => Terminator::Jump(edge(one)),
            many => Terminator::Opaque {
                payload: PayloadId(0),
                args: SmallVec::new(),
                targets: many.iter().map(edge).collect(),
            },
        };
    }
    f
}

/// What `from` reaches without passing `without`.
fn reach(succs: &[Vec<u32>], from: u32, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; succs.len()];
    let mut work = vec![from];
    while let Some(v) = work.pop() {
        if Some(v) != without && !std::mem::replace(&mut seen[v as usize], true) {
            work.extend(&succs[v as usize]);
        }
    }
    seen
}

fn graphs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..14).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n as u32, 0..4), n))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn dominance_is_what_paths_say(succs in graphs()) {
        let f = function(&succs);
        let cfg = Cfg::new(&f);
        let reachable = reach(&succs, 0, None);
        for a in 0..succs.len() as u32 {
            let without = reach(&succs, 0, Some(a));
            prop_assert_eq!(cfg.is_reachable(BlockId(a)), reachable[a as usize]);
            for b in 0..succs.len() as u32 {
                let expected = reachable[a as usize] && reachable[b as usize] && !without[b as usize];
                prop_assert_eq!(cfg.dominates(BlockId(a), BlockId(b)), expected, "{} {}", a, b);
            }
        }
        for b in cfg.reverse_post_order() {
            if let Some(d) = cfg.idom(*b) {
                prop_assert!(cfg.dominates(d, *b) && d != *b);
                prop_assert!(cfg.position(d) < cfg.position(*b));
                prop_assert!(cfg.dominator_children(d).contains(b));
            }
        }
    }

    #[test]
    fn post_dominance_is_what_paths_say(succs in graphs()) {
        let cfg = Cfg::new(&function(&succs));
        let reachable = reach(&succs, 0, None);
        let n = succs.len() as u32;
        let ends = |v: u32| succs[v as usize].is_empty();
        let stuck: Vec<bool> = (0..n).map(|v| !(0..n).any(|e| ends(e) && reach(&succs, v, None)[e as usize])).collect();
        for a in 0..n {
            for b in 0..n {
                let around = reach(&succs, b, Some(a));
                let escapes = (0..n).any(|e| around[e as usize] && (ends(e) || stuck[e as usize]));
                let expected = reachable[a as usize] && reachable[b as usize] && (a == b || !escapes);
                prop_assert_eq!(cfg.post_dominates(BlockId(a), BlockId(b)), expected, "{} {}", a, b);
            }
        }
    }

    #[test]
    fn loops_are_natural_loops(succs in graphs()) {
        let f = function(&succs);
        let cfg = Cfg::new(&f);
        let n = succs.len() as u32;
        let mut depth = vec![0; n as usize];
        for h in 0..n {
            let header = BlockId(h);
            let latches: Vec<u32> = (0..n)
                .filter(|l| succs[*l as usize].contains(&h) && cfg.dominates(header, BlockId(*l)))
                .collect();
            let Some(id) = cfg.loop_with_header(header) else {
                prop_assert!(latches.is_empty());
                continue;
            };
            let mut found: Vec<u32> = cfg.natural_loop(id).latches.iter().map(|l| l.0).collect();
            found.sort();
            prop_assert_eq!(&found, &latches);
            // In the loop: dominated by the header, and reaches a latch without passing it.
            for b in 0..n {
                let inside = b == h || cfg.is_reachable(BlockId(b)) && {
                    let r = reach(&succs, b, Some(h));
                    latches.iter().any(|l| r[*l as usize])
                };
                prop_assert_eq!(cfg.loop_contains(id, BlockId(b)), inside);
                prop_assert_eq!(cfg.loop_blocks(id).contains(&BlockId(b)), inside);
                depth[b as usize] += u32::from(inside);
            }
            for e in cfg.loop_exits(&f, id) {
                let to = f.block(e.from).term.edges()[e.slot as usize].target;
                prop_assert!(cfg.loop_contains(id, e.from) && !cfg.loop_contains(id, to));
            }
        }
        for b in (0..n).map(BlockId) {
            let innermost = cfg.loop_of(b).map_or(0, |l| cfg.natural_loop(l).depth);
            prop_assert_eq!(innermost, depth[b.index()]);
            prop_assert_eq!(cfg.loops_around(b).count() as u32, innermost);
        }
        // Taking back edges away leaves cycles only in irreducible regions.
        let forward: Vec<Vec<u32>> = (0..n)
            .map(|v| succs[v as usize].iter().copied().filter(|s| !cfg.dominates(BlockId(*s), BlockId(v))).collect())
            .collect();
        for v in (0..n).filter(|v| cfg.is_reachable(BlockId(*v))) {
            let cyclic = forward[v as usize].iter().any(|s| reach(&forward, *s, None)[v as usize]);
            prop_assert!(!cyclic || cfg.is_irreducible(BlockId(v)));
        }
    }
}

#[test]
fn irreducible_regions_hold_the_loops_inside_them() {
    // 0 enters the cycle {1, 2} at both blocks; 2 is the header of the natural loop {2, 3}; 4 leaves.
    let cfg = Cfg::new(&function(&[vec![1, 2], vec![2], vec![1, 3, 4], vec![2], vec![]]));
    let marked: Vec<bool> = (0..5).map(|b| cfg.is_irreducible(BlockId(b))).collect();
    assert_eq!(marked, [false, true, true, true, false]);
    let depth: Vec<u32> = (0..5).map(|b| cfg.depth(BlockId(b))).collect();
    assert_eq!(depth, [0, 1, 2, 2, 0]);
    assert_eq!(cfg.frequency(BlockId(3)), 100 * FREQUENCY_ONE);
}

#[test]
fn unreachable_blocks_and_functions_without_blocks_are_tolerated() {
    let f = function(&[vec![2], vec![2, 1], vec![]]);
    let cfg = Cfg::new(&f);
    assert_eq!(cfg.reverse_post_order(), [BlockId(0), BlockId(2)]);
    assert_eq!(cfg.predecessors(BlockId(2)), [EdgeId { from: BlockId(0), slot: 0 }]);
    assert!(!cfg.is_reachable(BlockId(1)));
    assert_eq!((cfg.idom(BlockId(1)), cfg.frequency(BlockId(1))), (None, 0));
    assert!(Cfg::new(&function(&[])).reverse_post_order().is_empty());
}

#[test]
fn deep_graphs_do_not_overflow_the_stack() {
    let n = 20_000u32;
    let chain: Vec<Vec<u32>> = (0..n).map(|b| if b + 1 < n { vec![b + 1] } else { vec![] }).collect();
    let cfg = Cfg::new(&function(&chain));
    assert!(cfg.dominates(BlockId(0), BlockId(n - 1)) && cfg.post_dominates(BlockId(n - 1), BlockId(0)));
    // Loops nested as deep as there are blocks: block i's loop has its latch at n - 1 - i.
    let nested: Vec<Vec<u32>> = (0..n)
        .map(|b| match b {
            _ if b < n / 2 => vec![b + 1],
            _ if b + 1 < n => vec![n - 1 - b, b + 1],
            _ => vec![],
        })
        .collect();
    let cfg = Cfg::new(&function(&nested));
    assert_eq!(cfg.loop_count() as u32, n / 2 - 1);
    assert_eq!(cfg.depth(BlockId(n / 2)), n / 2 - 1);
    assert_eq!(cfg.frequency(BlockId(n / 2)), MAX_EXECUTIONS * FREQUENCY_ONE);
}

#[test]
fn what_leads_to_or_comes_from_a_rare_block_is_rare() {
    // 0 branches to 1 and 4; 1 goes to 2, which goes back to 2 or on to 3.
    let succs = [vec![1, 4], vec![2], vec![2, 3], vec![], vec![]];
    let weights = |marked: Option<usize>| {
        let mut f = function(&succs);
        if let Some(marked) = marked {
            f.blocks[marked].cold = true;
        }
        let cfg = Cfg::new(&f);
        (0..5).map(|b| cfg.frequency(BlockId(b))).collect::<Vec<_>>()
    };
    assert_eq!(weights(None), [FREQUENCY_ONE, FREQUENCY_ONE, 10 * FREQUENCY_ONE, FREQUENCY_ONE, FREQUENCY_ONE]);
    for marked in [1, 2, 3] {
        assert_eq!(weights(Some(marked)), [FREQUENCY_ONE, 1, 10, 1, FREQUENCY_ONE], "{marked}");
    }
    assert_eq!(weights(Some(4)), [FREQUENCY_ONE, FREQUENCY_ONE, 10 * FREQUENCY_ONE, FREQUENCY_ONE, 1]);
    assert_eq!(weights(Some(0)), [1, 1, 10, 1, 1], "each as rare as the function");
}

#[test]
fn what_is_known_comes_before_what_is_assumed() {
    // The loop {1, 2} around the loop {2}.
    let mut f = function(&[vec![1], vec![2, 3], vec![2, 1], vec![]]);
    f.blocks[1].counts.trips = Some(3);
    let weights = |f: &Function| (0..4).map(|b| Cfg::new(f).frequency(BlockId(b)) / FREQUENCY_ONE).collect::<Vec<_>>();
    assert_eq!(weights(&f), [1, 3, 30, 1]);
    f.blocks[2].counts.executions = Some(7 * FREQUENCY_ONE);
    assert_eq!(weights(&f), [1, 3, 7, 1]);
    f.blocks[2].counts.executions = Some(0);
    assert_eq!(Cfg::new(&f).frequency(BlockId(2)), 1, "nothing is free that can be reached");
    let occurrences = Cfg::new(&f).weighed(Weighing::Occurrences);
    assert_eq!(occurrences.frequency(BlockId(2)), (OCCURRENCE + 2) * FREQUENCY_ONE);
}
