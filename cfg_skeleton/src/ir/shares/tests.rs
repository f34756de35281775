use super::*;
use crate::ir::normalise::normalise;
use crate::ir::{Edge, PayloadId, Terminator};
use crate::testing::random::Random;
use crate::testing::{Builder, edge, universe};
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

/// The shares of blocks in parts of 48.
fn shares(f: &Function) -> Vec<u64> {
    let shares = Shares::new(f, &Cfg::new(f)).of_calls();
    shares.into_iter().map(|share| (share * 48 + SHARE_ONE / 2) / SHARE_ONE).collect()
}

#[test]
fn arms_share_and_merges_have_all() {
    assert_eq!(shares(&function(&[vec![1, 2], vec![3], vec![3], vec![]])), [48, 24, 24, 48]);
    assert_eq!(shares(&function(&[vec![1, 2, 3], vec![4], vec![4], vec![4], vec![]])), [48, 16, 16, 16, 48]);
    // An arm in an arm; only one of them comes to the merge.
    assert_eq!(shares(&function(&[vec![1, 4], vec![2, 3], vec![4], vec![], vec![]])), [48, 24, 12, 12, 36]);
}

#[test]
fn what_stays_in_a_loop_takes_no_part_from_what_leaves_it() {
    // 0 enters the loop {1, 2, 3}, whose header leaves to 4; a branch in the loop stays in it either way.
    assert_eq!(shares(&function(&[vec![1], vec![2, 4], vec![1, 3], vec![1], vec![]])), [48, 48, 48, 24, 48]);
    // Two ways out of a loop in an arm.
    let two = [vec![1, 5], vec![2, 3], vec![1, 4], vec![], vec![], vec![]];
    assert_eq!(shares(&function(&two)), [48, 24, 24, 12, 12, 24]);
    // A loop in a loop, left to the outer one and to the end.
    let nested = [vec![1], vec![2], vec![2, 3, 4], vec![1, 4], vec![]];
    assert_eq!(shares(&function(&nested)), [48, 48, 48, 48, 48]);
}

#[test]
fn a_rare_block_takes_no_part() {
    let mut f = function(&[vec![1, 2, 3], vec![4], vec![4], vec![4], vec![]]);
    f.blocks[3].cold = true;
    assert_eq!(shares(&f), [48, 24, 24, 48, 48], "it weighs a sixteenth by its mark");
}

#[test]
fn nothing_weighs_more_than_what_dominates_it_outside_loops() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let n = 2 + random.below(12);
        let succs: Vec<Vec<u32>> =
            (0..n).map(|_| (0..random.below(4)).map(|_| random.below(n) as u32).collect()).collect();
        let f = function(&succs);
        let cfg = Cfg::new(&f);
        let shares = Shares::new(&f, &cfg).of_calls();
        for block in cfg.reverse_post_order() {
            assert!(shares[block.index()] <= SHARE_ONE, "{succs:?}");
            if let Some(up) = cfg.idom(*block)
                && cfg.loop_of(up) == cfg.loop_of(*block)
            {
                assert!(shares[block.index()] <= shares[up.index()], "{succs:?}");
            }
        }
    }
}

#[test]
fn blocks_on_edges_have_the_shares_of_the_edges() {
    let u = universe();
    let mut b = Builder::new(&u, &["i32"]);
    let x = b.param(BlockId(0), 0);
    let [arm, join] = std::array::from_fn(|_| b.block(&[]));
    b.end(Terminator::Switch {
        index: x,
        targets: vec![edge(join, &[]), edge(arm, &[]), edge(join, &[])],
        default: edge(arm, &[]),
    });
    b.switch_to(arm);
    b.jump(join, &[]);
    b.switch_to(join);
    b.ret(&[x]);
    let mut f = b.function;
    let shares = Shares::new(&f, &Cfg::new(&f)).of_calls();
    for (block, share) in f.blocks.iter_mut().zip(shares) {
        block.counts.share = Some(share as u32);
    }
    normalise(&mut f);
    let shares: Vec<u64> =
        f.blocks.iter().map(|b| u64::from(b.counts.share.expect("all have one")) * 4 / SHARE_ONE).collect();
    // The entry, the arm, the merge; then the blocks that two edges each share.
    assert_eq!(shares, [4, 2, 4, 2, 2]);
}

/// A branch on a constant goes one way, where the constant comes to it as a parameter, too.
#[test]
fn constants_decide() {
    let u = universe();
    for (number, wanted) in [(1, [48, 48, 0, 48]), (0, [48, 0, 48, 48])] {
        for passed in [false, true] {
            let mut b = Builder::new(&u, &["i64"]);
            let c = b.constant("i64", number);
            let types: &[&str] = if passed { &["i64"] } else { &[] };
            let [head, left, right, join] = [b.block(types), b.block(&[]), b.block(&[]), b.block(&[])];
            b.jump(head, if passed { std::slice::from_ref(&c) } else { &[] });
            b.switch_to(head);
            let cond = if passed { b.param(head, 0) } else { c };
            b.branch(cond, (left, &[]), (right, &[]));
            for arm in [left, right] {
                b.switch_to(arm);
                b.jump(join, &[]);
            }
            b.switch_to(join);
            b.ret(&[cond]);
            assert_eq!(shares(&b.function)[1..], wanted, "{number} {passed}");
        }
    }
}
