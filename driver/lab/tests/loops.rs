//! What `bench --loops` measures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rewright_clif::optimise::ClifOptimiser;
use rewright_clif::read::read;
use rewright_dsl::load::{Origin, Root};
use rewright_extract::clock;
use rewright_lab::loops::{Row, measure};
use rewright_packs as packs;
use rewright_pipeline::optimiser::Options;
use std::path::Path;

/// A counter's product, printed; and a sum that has a closed form.
const FILE: &str = "test interpret
target x86_64

function %print(i64) {
block0(v0: i64):
    return
}

function %products(i64) {
    fn0 = %print(i64)
block0(v0: i64):
    v1 = iconst.i64 0
    v2 = iconst.i64 1
    v3 = iconst.i64 21
    jump block1(v1)
block1(v4: i64):
    v5 = imul v4, v3
    call fn0(v5)
    v6 = iadd v4, v2
    v7 = icmp ult v6, v0
    brif v7, block1(v6), block2
block2:
    return
}
; print: %products(10)

function %closed(i64) -> i64 {
block0(v0: i64):
    v1 = iconst.i64 0
    v2 = iconst.i64 1
    v3 = iconst.i64 3
    jump block1(v1, v1)
block1(v4: i64, v5: i64):
    v6 = icmp ult v4, v0
    brif v6, block2, block3
block2:
    v7 = iadd v4, v2
    v8 = iadd v5, v3
    jump block1(v7, v8)
block3:
    return v5
}
; run: %closed(5) == 15
; run: %closed(0) == 0
";

fn shipped(name: &str) -> Root {
    packs::root(Path::new(name)).unwrap()
}

fn rows(with: Vec<Root>) -> Vec<Row> {
    let optimiser = |roots| ClifOptimiser::new(packs::load(roots).program).unwrap();
    let (without, with) = (optimiser(vec![shipped("std")]), optimiser(with));
    let measured = measure(&read(FILE).unwrap(), [&without, &with], &Options::default(), clock::now).unwrap();
    measured.rows
}

fn executed(row: &Row) -> [u64; 3] {
    row.made.each_ref().map(|made| made.executed.as_ref().unwrap().instructions)
}

#[test]
fn executed_instructions_are_counted() {
    let rows = rows(vec![shipped("std"), shipped("std.loops")]);
    let [print, products, closed] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((print.directives, products.directives, closed.directives), (0, 1, 2));
    assert!(rows.iter().all(Row::same));
    // 10 iterations of product, call, callee's return, sum, comparison and branch; the jump into the loop goes to the
    // next block; one return.
    assert_eq!(executed(products)[0], 10 * 6 + 1);
    assert_eq!(products.made[0].executed.as_ref().unwrap().calls["%print"].count, 10);
    // Each test of the counter and its branch, two sums and a jump for each iteration, one return; twice.
    assert_eq!(executed(closed)[0], (6 * 2 + 5 * 3 + 1) + (2 + 1));
    // The loop is gone: a product and a return, or fewer.
    assert_eq!((closed.made[1].loops, closed.made[2].loops), (1, 0));
    assert!(executed(closed)[2] < 10, "{:?}", executed(closed));
    assert!(closed.made[2].cost < closed.made[1].cost);
}

#[test]
fn what_differs_is_seen() {
    let wrong = |rule: &str| {
        let text = format!("pack wrong import std.core ruleset wrong {{ rule wrong(x: i64): {rule} }}");
        rows(vec![Root { origin: Origin::Disk("wrong.rw".into()), text, library: false }])
    };
    let rows = wrong("imul(x, 21) => x");
    assert!(!rows[1].same() && rows[2].same(), "other arguments of a call");
    let rows = wrong("iadd(x, 3) => x");
    assert!(rows[1].same() && !rows[2].same(), "other results");
}

/// The most parameters of a block of each function of a story, optimised with `std.loops`; results are the same.
fn carried(name: &str) -> Vec<usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/loops").join(name);
    let file = read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let optimiser = |roots| ClifOptimiser::new(packs::load(roots).program).unwrap();
    let (without, with) = (optimiser(vec![shipped("std")]), optimiser(vec![shipped("std"), shipped("std.loops")]));
    let measured = measure(&file, [&without, &with], &Options::default(), clock::now).unwrap();
    assert!(measured.rows.iter().all(|row| row.same()), "{:?}", measured.rows);
    let outcome = with.optimise(&file, &Options::default(), |_| true);
    let most = |function: &cranelift_codegen::ir::Function| {
        let blocks = function.layout.blocks().skip(1);
        blocks.map(|block| function.dfg.block_params(block).len()).max().unwrap_or(0)
    };
    outcome.replaced.iter().map(|function| function.as_ref().map_or(0, most)).collect()
}

#[test]
fn arrays_share_one_index() {
    // The counter and the sum, and for records the offset.
    assert_eq!(carried("addresses.clif"), [2, 3]);
}
