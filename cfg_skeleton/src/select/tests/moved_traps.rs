//! A trap that a later write takes over from one that goes.

use super::memory::{args, memory, traps};
use super::*;

#[test]
fn a_trap_is_taken_over_whichever_way_control_goes() {
    let u = universe();
    #[derive(Clone, Copy, PartialEq)]
    enum Between {
        Join,
        BothArms,
        OneArm,
        Loop,
        OtherCode,
    }
    let stores = |between: Between| {
        let out = memory(&u, &["i64", "i32", "i32"], |b| {
            let [p, x, y] = args(b);
            let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&[]));
            let first = if between == Between::OtherCode { 20 } else { 10 };
            b.store("i32", p, x, traps(1, first));
            b.branch(x, (left, &[]), (right, &[]));
            b.switch_to(left);
            match between {
                Between::BothArms | Between::OneArm => b.store("i32", p, y, traps(1, 10)),
                _ => {}
            }
            // A run that stays in the loop there for ever has trapped before, and must not miss the trap.
            match between {
                Between::Loop => b.branch(y, (left, &[]), (join, &[])),
                _ => b.jump(join, &[]),
            }
            b.switch_to(right);
            if between == Between::BothArms {
                b.store("i32", p, y, traps(1, 10));
            }
            b.jump(join, &[]);
            b.switch_to(join);
            if !matches!(between, Between::BothArms | Between::OneArm) {
                b.store("i32", p, y, traps(1, 10));
            }
            b.ret(&[]);
        });
        out.len()
    };
    assert_eq!(stores(Between::Join), 1);
    assert_eq!(stores(Between::BothArms), 2, "the first one goes");
    assert_eq!(stores(Between::OneArm), 2, "on the other way nothing traps");
    assert_eq!(stores(Between::Loop), 2, "would not trap but go round");
    assert_eq!(stores(Between::OtherCode), 2, "would change the trap");
}
