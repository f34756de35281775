//! All that can be known of four bits, and every operation on it, against the values. Wrong transfers are found.

use super::super::{Model, int};
use super::{Known, sign_extended};
use std::collections::BTreeMap;

const BITS: u32 = 4;

/// Everything that bits or bounds say of integers of some width.
fn all(bits: u32) -> Vec<Known> {
    let size = 1u64 << bits;
    let mut found = BTreeMap::new();
    let mut keep = |known: Known| found.insert(format!("{known:?}"), known);
    for zeros in 0..size {
        for ones in (0..size).filter(|ones| ones & zeros == 0) {
            keep(Known::with_bits(bits, zeros, ones));
        }
    }
    for (least, greatest) in (0..size).flat_map(|least| (least..size).map(move |greatest| (least, greatest))) {
        keep(Known::within(bits, least, greatest));
        let (low, high) = (sign_extended(least, bits), sign_extended(greatest, bits));
        keep(Known::within_signed(bits, low.min(high), low.max(high)));
    }
    found.into_values().collect()
}

fn numbers(bits: u32) -> Vec<i64> {
    (0..1u64 << bits).map(|number| sign_extended(number, bits)).collect()
}

fn eval(model: Model, bits: [u32; 2], result: u32, args: &[i64]) -> i64 {
    let value = match (model, args) {
        (Model::Select, [c, x, y]) => i128::from(if *c != 0 { *x } else { *y }),
        (Model::Bitcast, [x]) => i128::from(*x),
        _ => int::at_width(model, bits, args).expect("a model of integers"),
    };
    sign_extended(value as u64, result)
}

const BINARY: [Model; 36] = [
    Model::Add,
    Model::Sub,
    Model::Mul,
    Model::Udiv,
    Model::Sdiv,
    Model::Urem,
    Model::Srem,
    Model::And,
    Model::Or,
    Model::Xor,
    Model::Shl,
    Model::Lshr,
    Model::Ashr,
    Model::Rotl,
    Model::Rotr,
    Model::Umin,
    Model::Umax,
    Model::Smin,
    Model::Smax,
    Model::Umulhi,
    Model::Smulhi,
    Model::UaddSat,
    Model::UsubSat,
    Model::SaddSat,
    Model::SsubSat,
    Model::Eq,
    Model::Ne,
    Model::Slt,
    Model::Sle,
    Model::Sgt,
    Model::Sge,
    Model::Ult,
    Model::Ule,
    Model::Ugt,
    Model::Uge,
    Model::ShiftAmount,
];

const UNARY: [Model; 15] = [
    Model::Neg,
    Model::Not,
    Model::Iabs,
    Model::Clz,
    Model::Ctz,
    Model::Cls,
    Model::Popcnt,
    Model::Bitrev,
    Model::Bitcast,
    Model::Bswap,
    Model::Zext,
    Model::Sext,
    Model::Trunc,
    Model::Bmask,
    Model::Truth,
];

/// Every model of integers that has operands is looked at here, or gives nothing; and so is every other one.
#[test]
fn every_model_is_known_or_gives_nothing() {
    let more = [Model::Concat, Model::Select, Model::Bitselect];
    let looked_at = |model: &Model| BINARY.contains(model) || UNARY.contains(model) || more.contains(model);
    for model in Model::ALL.iter().filter(|model| !looked_at(model)) {
        let args = vec![Known::constant(8, 3); model.arity()];
        let found = model.transfer(8, &args);
        // Comparisons of floats give 0 or 1, whatever they compare.
        assert!(found.is_top() || model.is_comparison() && found == Known::truth(8), "{model:?}: {found:?}");
    }
}

#[test]
fn meet_and_join_keep_what_they_must() {
    let (known, numbers) = (all(BITS), numbers(BITS));
    assert!(known.len() > 200, "{}", known.len());
    for x in &known {
        assert!(numbers.iter().any(|n| x.allows(*n)), "{x:?}");
        assert_eq!(x.single().is_some(), numbers.iter().filter(|n| x.allows(**n)).count() == 1, "{x:?}");
        for y in &known {
            let (met, joined) = (x.meet(*y), x.join(*y));
            for n in &numbers {
                assert!(joined.allows(*n) || !(x.allows(*n) || y.allows(*n)), "{x:?} {y:?} {n}");
                assert_eq!(met.is_some_and(|met| met.allows(*n)), x.allows(*n) && y.allows(*n), "{x:?} {y:?} {n}");
            }
        }
    }
    assert_eq!(Known::top(8).meet(Known::top(16)), None);
}

/// Checks one transfer on everything that may be known of its operands; gives how much more it allows than there is.
fn check_binary(model: Model, bits: [u32; 2], result: u32, transfer: impl Fn(Known, Known) -> Known) -> f64 {
    let operands = bits.map(|bits| {
        let numbers = numbers(bits);
        let members = |known: &Known| (0..numbers.len()).filter(|i| known.allows(numbers[*i])).collect::<Vec<_>>();
        let known: Vec<(Known, Vec<usize>)> = all(bits).into_iter().map(|known| (known, members(&known))).collect();
        (known, numbers)
    });
    let [(xs, left), (ys, right)] = &operands;
    let values: Vec<Vec<i64>> =
        left.iter().map(|x| right.iter().map(|y| eval(model, bits, result, &[*x, *y])).collect()).collect();
    let results = numbers(result);
    let mask = (1u64 << result) - 1;
    let (mut allowed, mut there) = (0usize, 0usize);
    for (x, members) in xs {
        for (y, others) in ys {
            let found = transfer(*x, *y);
            let admits: Vec<bool> = results.iter().map(|n| found.allows(*n)).collect();
            let mut seen = vec![false; results.len()];
            for value in members.iter().flat_map(|i| others.iter().map(|j| values[*i][*j])) {
                let position = (value as u64 & mask) as usize;
                assert!(admits[position], "{model:?} of {x:?} and {y:?}: {value} is not in {found:?}");
                seen[position] = true;
            }
            there += seen.iter().filter(|seen| **seen).count();
            allowed += admits.iter().filter(|admits| **admits).count();
        }
    }
    allowed as f64 / there as f64
}

#[test]
fn operations_on_two_integers() {
    for model in BINARY {
        let excess = check_binary(model, [BITS; 2], BITS, |x, y| model.transfer(BITS, &[x, y]));
        let bound = if model == Model::Sdiv { 1.8 } else { 1.4 };
        assert!(excess < bound, "{model:?} allows {excess:.2} times as much as there is");
    }
    let concat = Model::Concat;
    assert!(check_binary(concat, [BITS; 2], 2 * BITS, |x, y| concat.transfer(2 * BITS, &[x, y])) < 2.2);
}

/// The operands of a shift need not have one width.
#[test]
fn amounts_of_any_width() {
    for model in [Model::Shl, Model::Lshr, Model::Ashr, Model::Rotl, Model::Rotr] {
        check_binary(model, [4, 2], 4, |x, y| model.transfer(4, &[x, y]));
        check_binary(model, [2, 5], 2, |x, y| model.transfer(2, &[x, y]));
    }
}

#[test]
fn operations_on_one_integer() {
    for model in UNARY {
        let (from, to) = match model {
            Model::Zext | Model::Sext => (4, 8),
            Model::Trunc => (8, 5),
            Model::Bswap => (8, 8),
            Model::Bmask | Model::Truth => (6, 8),
            _ => (6, 6),
        };
        for x in all(from) {
            let found = model.transfer(to, &[x]);
            for n in numbers(from).into_iter().filter(|n| x.allows(*n)) {
                let value = match model {
                    Model::Truth => i64::from(n != 0),
                    _ => eval(model, [from; 2], to, &[n]),
                };
                assert!(found.allows(value), "{model:?} of {x:?}: {value} is not in {found:?}");
            }
        }
    }
}

#[test]
fn operations_on_three_integers() {
    let (known, numbers) = (all(2), numbers(2));
    for model in [Model::Select, Model::Bitselect] {
        for c in &known {
            for x in &known {
                for y in &known {
                    let found = model.transfer(2, &[*c, *x, *y]);
                    for a in numbers.iter().filter(|n| c.allows(**n)) {
                        for b in numbers.iter().filter(|n| x.allows(**n)) {
                            for d in numbers.iter().filter(|n| y.allows(**n)) {
                                let value = eval(model, [2; 2], 2, &[*a, *b, *d]);
                                assert!(found.allows(value), "{model:?} of {c:?} {x:?} {y:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn outcomes_of_comparisons_tell_of_operands() {
    let (known, numbers) = (all(BITS), numbers(BITS));
    for model in BINARY.into_iter().filter(|model| model.is_comparison()) {
        for (x, y) in known.iter().flat_map(|x| known.iter().map(move |y| (x, y))) {
            for holds in [false, true] {
                let refined = model.refine(holds, *x, *y);
                for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
                    let possible = x.allows(a) && y.allows(b);
                    if possible && (eval(model, [BITS; 2], BITS, &[a, b]) != 0) == holds {
                        let kept = refined.is_some_and(|(x, y)| x.allows(a) && y.allows(b));
                        assert!(kept, "{model:?} {holds} of {x:?} and {y:?}: {a} and {b} are gone");
                    }
                }
                if let Some((new_x, new_y)) = refined {
                    let grown =
                        numbers.iter().any(|n| new_x.allows(*n) && !x.allows(*n) || new_y.allows(*n) && !y.allows(*n));
                    assert!(!grown, "{model:?} {holds} of {x:?} and {y:?}: {refined:?} allows more");
                }
            }
        }
    }
}

/// The nearest slips: each of them is found.
#[test]
fn wrong_transfers_are_found() {
    type Transfer = fn(Known, Known) -> Known;
    let wrong: [(Model, Transfer); 14] = [
        // Bounds of a sum that overflows.
        (Model::Add, |x, y| {
            Known::within(BITS, (x.unsigned().0 + y.unsigned().0).min(15), (x.unsigned().1 + y.unsigned().1).min(15))
        }),
        // A quotient is no more than what is divided; by 0 it is all ones.
        (Model::Udiv, |x, _| Known::within(BITS, 0, x.unsigned().1)),
        // A remainder is less than the divisor; of 0 it is what is divided.
        (Model::Urem, |_, y| Known::within(BITS, 0, y.unsigned().1.saturating_sub(1))),
        // The least integer over -1 is itself.
        (Model::Sdiv, |x, y| match y.signed().1 < 0 && x.signed().1 < 0 {
            true => Known::within_signed(BITS, 0, 7),
            false => Known::top(BITS),
        }),
        (Model::Srem, |_, y| match y.signed().0 > 0 {
            true => Known::within_signed(BITS, 0, y.signed().1 - 1),
            false => Known::top(BITS),
        }),
        // Amounts are modulo the width: 4 is 0.
        (Model::Lshr, |x, y| match y.unsigned().0 > 0 {
            true => Known::within(BITS, 0, x.unsigned().1 / 2),
            false => Known::within(BITS, 0, x.unsigned().1),
        }),
        (Model::Shl, |x, y| match y.unsigned().0 > 3 {
            true => Known::constant(BITS, 0),
            false => Model::Shl.transfer(BITS, &[x, y]),
        }),
        (Model::Ashr, |x, _| Known::within(BITS, 0, x.unsigned().1)),
        (Model::And, |x, y| Known::within(BITS, x.unsigned().0.min(y.unsigned().0), 15)),
        (Model::Or, |x, y| Known::within(BITS, 0, x.unsigned().1.max(y.unsigned().1))),
        (Model::Mul, |x, y| match x.unsigned().0 > 1 && y.unsigned().0 > 1 {
            true => Known::within(BITS, 4, 15),
            false => Known::top(BITS),
        }),
        (Model::Sub, |x, y| match x.unsigned().0 >= y.unsigned().0 {
            true => Known::within(BITS, 0, x.unsigned().1),
            false => Known::top(BITS),
        }),
        // Signed bounds as unsigned ones.
        (Model::Smax, |x, y| Known::within(BITS, x.unsigned().0.max(y.unsigned().0), 15)),
        (Model::Slt, |x, y| match x.unsigned().1 < y.unsigned().0 {
            true => Known::constant(BITS, 1),
            false => Known::truth(BITS),
        }),
    ];
    for (model, transfer) in wrong {
        let found = std::panic::catch_unwind(|| check_binary(model, [BITS; 2], BITS, transfer));
        assert!(found.is_err(), "a wrong transfer of {model:?} was not found");
    }
}
