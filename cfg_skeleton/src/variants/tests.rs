//! Variants do the same as the original, and a wrong one is found, whether it was made wrong by hand or at random.

use super::check::check;
use super::copies::{Copies, Part};
use super::*;
use crate::ir::normalise::normalise;
use crate::ir::parse::parse;
use crate::ir::{EdgeArg, InstId, Terminator, Value};
use crate::testing::random::{self, Random};
use crate::testing::universe;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn normal(seed: u64, blocks: usize, universe: &Universe) -> Function {
    let mut f = random::function(seed, blocks, universe);
    normalise(&mut f);
    f
}

/// All changes, those of all merges first, whether they are worth it or not.
fn all_proposals(f: &Function, universe: &Universe) -> Vec<Proposal> {
    let cfg = Cfg::new(f);
    let merges = f.layout.iter().copied().filter(|block| merges::is_copyable(f, &cfg, *block));
    let merges = merges.map(|merge| Proposal { of: None, header: merge, change: Change::Copied(merge) });
    merges.chain(proposals(f, &cfg, universe)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Also variants of variants.
    #[test]
    fn variants_do_the_same(seed in any::<u64>(), blocks in 3..14usize) {
        let universe = universe();
        let original = normal(seed, blocks, &universe);
        let mut work = vec![(original.clone(), 0)];
        while let Some((f, depth)) = work.pop() {
            let cfg = Cfg::new(&f);
            for proposal in all_proposals(&f, &universe).into_iter().take(6) {
                let made = vary(&f, &cfg, &universe, proposal);
                prop_assert!(made.is_ok(), "{proposal:?}: {made:?}");
                let Ok(Some(mut variant)) = made else { continue };
                random::assert_same(&original, &variant, &universe, seed);
                if depth < 1 {
                    normalise(&mut variant);
                    work.push((variant, depth + 1));
                }
            }
        }
    }

    /// One operand, edge or instruction is wrong: it is rejected, or makes no difference.
    #[test]
    fn what_differs_is_rejected(seed in any::<u64>(), blocks in 3..10usize) {
        let universe = universe();
        let original = normal(seed, blocks, &universe);
        let cfg = Cfg::new(&original);
        let mut random = Random(seed);
        for proposal in all_proposals(&original, &universe).into_iter().take(4) {
            let Some((variant, witness)) = changed(&original, &cfg, &universe, proposal) else { continue };
            for _ in 0..12 {
                let mut mutant = variant.clone();
                mutate(&mut mutant, &mut random);
                if verify(&mutant, &universe).is_empty() && check(&original, &mutant, &universe, &witness).is_ok() {
                    random::assert_same(&original, &mutant, &universe, seed);
                }
            }
        }
    }
}

/// Makes one place wrong.
pub(super) fn mutate(f: &mut Function, random: &mut Random) {
    let block = f.layout[random.below(f.layout.len())];
    let other_block = f.layout[random.below(f.layout.len())];
    let other = Value(random.below(f.values.len()) as u32);
    let data = &mut f.blocks[block.index()];
    let inst: Option<InstId> = (!data.insts.is_empty()).then(|| data.insts[random.below(data.insts.len())]);
    match (random.below(7), inst) {
        (0, Some(inst)) => {
            let args = &mut f.insts[inst.index()].args;
            if !args.is_empty() {
                let n = random.below(args.len());
                args[n] = other;
            }
        }
        (1, Some(inst)) => data.insts.retain(|id| *id != inst),
        (2, Some(inst)) => {
            if let InstKind::Const(n) = &mut f.insts[inst.index()].kind {
                *n ^= 1;
            }
        }
        (3, _) => {
            if let Terminator::Branch { then, els, .. } = &mut data.term {
                std::mem::swap(then, els);
            }
        }
        (4, _) => {
            if let Some(edge) = data.term.edges_mut().into_iter().next() {
                edge.target = other_block;
            }
        }
        (5, _) => data.term.operands_mut().iter_mut().for_each(|operand| *operand = other),
        _ => {
            let arg = data.term.edges_mut().into_iter().flat_map(|edge| &mut edge.args).next();
            if let Some(arg) = arg {
                *arg = EdgeArg::Value(other);
            }
        }
    }
}

#[test]
fn all_changes_are_proposed_somewhere() {
    let universe = universe();
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let f = normal(seed, 10, &universe);
        for proposal in all_proposals(&f, &universe) {
            seen.insert(match proposal.change {
                Change::TestLast => 0,
                Change::Ahead(_) => 1,
                Change::Unrolled(_) => 2,
                Change::Divided(_) => 3,
                Change::Copied(_) => 4,
                Change::Instead(_) | Change::Together(_) | Change::Fused(_) | Change::Interchanged(_) => continue,
            });
        }
    }
    assert_eq!(seen.len(), 5);
    // Random loops seldom count between constants.
    let mut universe = universe;
    let counted = parsed(
        &LOOP
            .replace("icmp_ult{i32} v4, v2", "icmp_ult{i32} v4, v13")
            .replace("v9: i64 = const 0", "v9: i64 = const 0 v13: i32 = const 3"),
        &mut universe,
    );
    let cfg = Cfg::new(&counted);
    let instead = proposals(&counted, &cfg, &universe).into_iter().find(|p| p.change == Change::Instead(3)).unwrap();
    let variant = vary(&counted, &cfg, &universe, instead).unwrap().unwrap();
    random::assert_same(&counted, &variant, &universe, 1);
    assert_eq!(variant.layout.len(), counted.layout.len() + 3 * Cfg::new(&counted).loop_blocks(LoopId(0)).len());
}

/// Adds `v1` to a sum as often as `v2` says; stores each sum. The loop is b1, b2 and b3.
const LOOP: &str = "func f -> (i32) {
b0(v0: i64, v1: i32, v2: i32):
  v3: i32 = const 0
  v9: i64 = const 0
  jump b1(v3, v3)
b1(v4: i32, v5: i32):
  v6: i8 = icmp_ult{i32} v4, v2
  br v6, b2, b4
b2:
  store{i32} v0, v5, v9 @region0 aligned
  v10: i8 = icmp_ult{i32} v1, v2
  br v10, b5, b6
b5:
  v11: i32 = iadd{i32} v5, v1
  jump b3(v11)
b6:
  jump b3(v5)
b3(v12: i32):
  v7: i32 = const 1
  v8: i32 = iadd{i32} v4, v7
  jump b1(v8, v12)
b4:
  return v5
}";

fn parsed(text: &str, universe: &mut Universe) -> Function {
    let mut f = parse(text, universe).unwrap().functions.remove(0);
    normalise(&mut f);
    f
}

/// Copies of the loop's blocks are made and connected, perhaps wrongly: is the result accepted?
fn accepted(connect: impl Fn(&mut Copies<'_>), spoil: impl Fn(&mut Function, &mut Witness)) -> Result<(), NoCopy> {
    let mut universe = universe();
    let original = parsed(LOOP, &mut universe);
    let mut copies = Copies::new(&original);
    connect(&mut copies);
    let (mut variant, mut witness) = copies.finish().unwrap();
    spoil(&mut variant, &mut witness);
    assert_eq!(verify(&variant, &universe), []);
    check(&original, &variant, &universe, &witness)
}

const BLOCKS: [BlockId; 5] = [BlockId(1), BlockId(2), BlockId(3), BlockId(5), BlockId(6)];

fn peel(copies: &mut Copies<'_>) -> BlockId {
    let first = copies.copy(&BLOCKS);
    copies.redirect(BlockId(0), BlockId(1), first[&BlockId(1)]);
    copies.redirect(first[&BlockId(3)], first[&BlockId(1)], BlockId(1));
    first[&BlockId(1)]
}

fn nothing(_: &mut Function, _: &mut Witness) {}

#[test]
fn a_first_iteration_without_its_test() {
    assert_eq!(accepted(|copies| _ = peel(copies), nothing), Ok(()));
    let rejected = accepted(
        |copies| _ = peel(copies),
        |f, witness| {
            // The entry jumps past the test.
            let first = BlockId(witness.blocks.len() as u32 - 5);
            assert_eq!(witness.blocks[first.index()], Part::Copy(BlockId(1)));
            let Terminator::Branch { then, .. } = f.block(first).term.clone() else { panic!() };
            f.blocks[first.index()].term = Terminator::Jump(then);
        },
    );
    assert!(rejected.unwrap_err().why.contains("ends otherwise"));
}

#[test]
fn a_value_of_the_iteration_before() {
    let rejected = accepted(
        |copies| {
            // Two iterations in one: the second adds to what the first one began with.
            let second = copies.copy(&BLOCKS);
            copies.redirect(BlockId(3), BlockId(1), second[&BlockId(1)]);
            copies.redirect(second[&BlockId(3)], second[&BlockId(1)], BlockId(1));
        },
        |f, witness| {
            let first = f.block(BlockId(1)).params[1];
            let second = (7..witness.blocks.len() as u32)
                .map(BlockId)
                .find(|b| witness.blocks[b.index()] == Part::Copy(BlockId(5)));
            let inst = f.block(second.unwrap()).insts[0];
            f.insts[inst.index()].args[0] = first;
        },
    );
    assert!(rejected.unwrap_err().why.contains("other operands"));
}

#[test]
fn a_loop_for_each_way_of_a_test() {
    let divide = |copies: &mut Copies<'_>, original: &Function, of: BlockId| {
        let other = copies.copy(&BLOCKS);
        let Terminator::Branch { cond, .. } = original.block(of).term else { panic!() };
        let home = original.block(of).insts.iter().copied().find(|id| original.inst(*id).results.contains(&cond));
        let choice = copies.choice(BlockId(1), BlockId(0));
        let cond = copies.again(choice, cond, &[home.unwrap()]);
        copies.choose(choice, cond, [BlockId(1), other[&BlockId(1)]]);
        copies.redirect(BlockId(0), BlockId(1), choice);
    };
    let mut universe = universe();
    let original = parsed(LOOP, &mut universe);
    assert_eq!(accepted(|copies| divide(copies, &original, BlockId(2)), nothing), Ok(()));
    // The block that chooses must do nothing else: no store, no further way in, and lead to copies of one block.
    let chooser = |witness: &Witness| {
        BlockId(witness.blocks.iter().position(|part| matches!(part, Part::Choice(_))).unwrap() as u32)
    };
    let rejected = accepted(
        |copies| divide(copies, &original, BlockId(2)),
        |f, witness| {
            let stored = f.block(BlockId(2)).insts.iter().copied().find(|id| f.inst(*id).results.is_empty()).unwrap();
            let mut store = f.inst(stored).clone();
            store.args[1] = f.block(BlockId(0)).params[1];
            f.insts.push(store);
            let new = InstId(f.insts.len() as u32 - 1);
            f.blocks[chooser(witness).index()].insts.push(new);
        },
    );
    assert!(rejected.unwrap_err().why.contains("more than choose"));
    let rejected = accepted(
        |copies| divide(copies, &original, BlockId(2)),
        |f, witness| {
            let n = chooser(witness).index();
            let value = EdgeArg::Value(f.blocks[0].params[1]);
            let Terminator::Branch { els, .. } = &mut f.blocks[n].term else { panic!() };
            (els.target, els.args) = (BlockId(4), smallvec::smallvec![value]);
        },
    );
    assert!(rejected.unwrap_err().why.contains("leads elsewhere"));
    // Which way a varying test goes is not known before the loop.
    assert!(
        steady_branches(&original, &Cfg::new(&original), &universe, LoopId(0)).iter().all(|(b, _)| *b == BlockId(2))
    );
}

#[test]
fn a_promise_of_progress_that_nobody_made() {
    let rejected = accepted(|copies| _ = peel(copies), |f, _| f.blocks[1].must_progress = true);
    assert!(rejected.unwrap_err().why.contains("make progress"));
}
