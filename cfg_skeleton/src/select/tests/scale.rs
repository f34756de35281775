//! How time grows: greedy selection is near-linear in statements, whatever the shape.

use super::*;
use crate::ir::{Access, BlockId, OpaqueEffects, RegionId, Value};
use std::io::Write;
use std::time::{Duration, Instant};

const SAFE: Access = Access { region: RegionId(0), trap: None, movable: false, readonly: false, aligned: true };
const HEAP: Access = Access { trap: Some(3), ..SAFE };

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One block with a call here and there.
    Line,
    /// Loads and stores.
    Memory,
    /// One diamond after the other, with parameters.
    Diamonds,
    /// One loop after the other.
    Loops,
    /// Diamonds within diamonds, far uses.
    Deep,
}

/// A function of about `n` operations, where every fourth value has another form.
fn case<'u>(u: &'u Universe, shape: Shape, n: usize) -> Case<'u> {
    let mut b = Builder::new(u, &["i64", "i32", "i32"]);
    let p = b.param(BlockId(0), 0);
    let mut values = vec![b.param(BlockId(0), 1), b.param(BlockId(0), 2)];
    let mut products: Vec<(Value, Value)> = vec![];
    let op = |b: &mut Builder, values: &mut Vec<Value>, i: usize, products: &mut Vec<(Value, Value)>| {
        let (x, y) = (values[values.len() - 1], values[i * 7919 % values.len()]);
        let v = match i % 4 {
            0 => {
                let two = b.constant("i32", 2);
                let v = b.op("imul", "i32", &[x, two]);
                products.push((v, x));
                v
            }
            1 => b.op("iadd", "i32", &[x, y]),
            2 => b.op("bxor", "i32", &[x, y]),
            _ => b.op("isub", "i32", &[y, x]),
        };
        values.push(v);
    };
    let mut i = 0;
    while i < n {
        match shape {
            Shape::Line => {
                op(&mut b, &mut values, i, &mut products);
                if i % 10 == 0 {
                    let x = values[values.len() - 1];
                    values.extend(b.opaque(1, OpaqueEffects::Writes, &[x], &["i32"]));
                }
                i += 1;
            }
            Shape::Memory => {
                op(&mut b, &mut values, i, &mut products);
                let offset = b.constant("i64", (i % 64 * 4) as i64);
                let access = if i % 3 == 0 { HEAP } else { SAFE };
                if i % 2 == 0 {
                    b.inst("store", "i32", &[p, values[values.len() - 1], offset], Some(access));
                } else {
                    let load = b.inst("load", "i32", &[p, offset], Some(access));
                    values.push(b.function.inst(load).results[0]);
                }
                i += 2;
            }
            Shape::Diamonds => {
                let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
                let x = values[values.len() - 1];
                b.branch(x, (left, &[]), (right, &[]));
                for arm in [left, right] {
                    b.switch_to(arm);
                    let mut own = values.clone();
                    for _ in 0..4 {
                        op(&mut b, &mut own, i, &mut products);
                        i += 1;
                    }
                    let arg = own[own.len() - 1];
                    b.jump(join, &[arg]);
                }
                b.switch_to(join);
                values.push(b.param(join, 0));
            }
            Shape::Loops => {
                let (head, exit) = (b.block(&["i32"]), b.block(&[]));
                let x = values[values.len() - 1];
                b.jump(head, &[x]);
                b.switch_to(head);
                values.push(b.param(head, 0));
                for _ in 0..6 {
                    op(&mut b, &mut values, i, &mut products);
                    i += 1;
                }
                let x = values[values.len() - 1];
                b.branch(x, (head, &[x]), (exit, &[]));
                b.switch_to(exit);
            }
            Shape::Deep => {
                let (next, out) = (b.block(&[]), b.block(&[]));
                op(&mut b, &mut values, i, &mut products);
                let x = values[values.len() - 1];
                b.branch(x, (next, &[]), (out, &[]));
                b.switch_to(out);
                let far = values[values.len() / 2];
                let y = b.op("imul", "i32", &[far, x]);
                b.ret(&[y]);
                b.switch_to(next);
                i += 2;
            }
        }
    }
    let x = values[values.len() - 1];
    b.ret(&[x]);
    let mut case = Case::new(&b, u);
    for (v, x) in products {
        let (v, x) = (case.input(v), case.input(x));
        let sum = case.op("iadd", "i32", &[x, x]);
        case.unions.push((v, sum));
    }
    case.view = view(&case.skeleton.input, &case.unions);
    case
}

fn time(case: &Case, method: Method) -> (Duration, Selection) {
    let start = Instant::now();
    let report = select(case.saturated(), &case.options(method));
    (start.elapsed(), report.expect("the original program is a selection").selection)
}

#[test]
fn greedy_is_near_linear() {
    let u = universe();
    for shape in [Shape::Line, Shape::Memory, Shape::Diamonds, Shape::Loops, Shape::Deep] {
        // Other processes make a run longer, and none shorter.
        let one = |n| time(&case(&u, shape, n), Method::Greedy).0.max(Duration::from_millis(2));
        let time = |n| (0..3).map(|_| one(n)).min().unwrap_or_default();
        let (small, large) = (time(300), time(3000));
        assert!(large < small * 60, "{shape:?}: {small:?} for 300, {large:?} for 3000");
    }
}

/// Run by hand: prints what the report of a release wants to know.
#[test]
#[ignore = "prints measurements"]
fn measure() {
    let u = universe();
    let mut out = std::io::stderr();
    for shape in [Shape::Line, Shape::Memory, Shape::Diamonds, Shape::Loops, Shape::Deep] {
        for n in [10, 100, 1000, 10_000] {
            let case = case(&u, shape, n);
            let options = Options {
                budget: Budget { work: u64::MAX, ..Budget::default() },
                registers: Some(Registers::X86_64),
                prefer_original: true,
                keep_placement: true,
                ..case.options(Method::Ilp)
            };
            let start = Instant::now();
            let report = select(case.saturated(), &options).expect("the original program is a selection");
            let all = start.elapsed();
            let start = Instant::now();
            assert_eq!(case.validate(&report.selection), []);
            let validate = start.elapsed();
            writeln!(
                out,
                "{shape:?} {n}: {} nodes, {} segments; all {all:?} (validate {validate:?}); {:?} {:?}",
                case.view.nodes.len(),
                case.skeleton.segment_block.len(),
                report.passes,
                report.effort,
            )
            .expect("stderr is there");
        }
    }
}
