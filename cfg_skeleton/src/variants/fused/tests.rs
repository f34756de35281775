//! Loops that may be one are, and do the same; others are rejected, and so is what is made wrong at random.

use super::super::fusion::Pair;
use super::super::tests::mutate;
use super::super::{Change, proposals, vary};
use super::check;
use crate::ir::normalise::normalise;
use crate::ir::parse::parse;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function};
use crate::testing::random::{self, Random};
use crate::testing::universe;
use rewright_typeprop::Universe;

/// Two loops that count from `v3`, which is 0, below `v2`, and carry a sum and a pointer to elements of four bytes.
#[derive(Clone, Copy)]
struct Loops {
    /// Instructions that define `v10` from `v6`, the counter, `v7`, the sum, and `v8`, the pointer.
    first: &'static str,
    between: &'static str,
    /// What the second loop begins with.
    entering: &'static str,
    /// Instructions that define `v24` from `v20`, `v21` and `v22`.
    second: &'static str,
    bound: &'static str,
    step: &'static str,
    tested_last: bool,
}

const SUMS: Loops = Loops {
    first: "v9: i32 = load{i32} v8, v3 @region0\n  v10: i32 = iadd{i32} v7, v9",
    between: "v15: i32 = imul{i32} v14, v14",
    entering: "v3, v18, v0",
    second: "v23: i32 = load{i32} v22, v3 @region0\n  v24: i32 = umax{i32} v21, v23",
    bound: "v2",
    step: "v4",
    tested_last: false,
};

impl Loops {
    fn text(self) -> String {
        let Loops { first, between, entering, second, bound, step, tested_last } = self;
        let head = "func f -> (i32) {
b0(v0: i64, v1: i64, v2: i64):
  v3: i64 = const 0
  v4: i64 = const 1
  v5: i64 = const 4
  v16: i64 = const 2
  v18: i32 = const 0
  jump b1(v3, v18, v0)
";
        if tested_last {
            return format!(
                "{head}b1(v6: i64, v7: i32, v8: i64):
  {first}
  v11: i64 = iadd{{i64}} v6, v4
  v12: i64 = iadd{{i64}} v8, v5
  v13: i8 = icmp_slt{{i64}} v11, v2
  br v13, b1(v11, v10, v12), b2(v10)
b2(v14: i32):
  {between}
  jump b4({entering})
b4(v20: i64, v21: i32, v22: i64):
  {second}
  v25: i64 = iadd{{i64}} v20, {step}
  v26: i64 = iadd{{i64}} v22, v5
  v27: i8 = icmp_slt{{i64}} v25, {bound}
  br v27, b4(v25, v24, v26), b6(v24)
b6(v28: i32):
  v29: i32 = isub{{i32}} v14, v28
  return v29
}}"
            );
        }
        format!(
            "{head}b1(v6: i64, v7: i32, v8: i64):
  v13: i8 = icmp_slt{{i64}} v6, v2
  br v13, b2, b3(v7)
b2:
  {first}
  v11: i64 = iadd{{i64}} v6, v4
  v12: i64 = iadd{{i64}} v8, v5
  jump b1(v11, v10, v12)
b3(v14: i32):
  {between}
  jump b4({entering})
b4(v20: i64, v21: i32, v22: i64):
  v27: i8 = icmp_slt{{i64}} v20, {bound}
  br v27, b5, b6(v21)
b5:
  {second}
  v25: i64 = iadd{{i64}} v20, {step}
  v26: i64 = iadd{{i64}} v22, v5
  jump b4(v25, v24, v26)
b6(v28: i32):
  v29: i32 = isub{{i32}} v14, v28
  return v29
}}"
        )
    }

    fn function(self, universe: &mut Universe) -> Function {
        let text = self.text();
        let mut function = parse(&text, universe).unwrap_or_else(|e| panic!("{e:?}\n{text}")).functions.remove(0);
        function.regions = ["", "one", "two"].map(String::from).to_vec();
        assert_eq!(verify(&function, universe), [], "{text}");
        normalise(&mut function);
        function
    }
}

/// Is there a fusion? Then it does the same, and has a loop less. If not, why?
fn fused(loops: Loops) -> Result<Function, &'static str> {
    let mut universe = universe();
    let original = loops.function(&mut universe);
    let cfg = Cfg::new(&original);
    let proposed = proposals(&original, &cfg, &universe).into_iter().find(|p| matches!(p.change, Change::Fused(_)));
    let Some(proposal) = proposed else {
        let made = cfg.loops().find_map(|(id, _)| {
            let pair = Pair::new(&original, &cfg, id)?;
            pair.fused(pair.tested(&universe)?)
        });
        let made = made.ok_or("their blocks are not connected so")?;
        return Err(check(&original, &made, &universe).unwrap_err().0);
    };
    let made = vary(&original, &cfg, &universe, proposal).unwrap().unwrap();
    assert_eq!((cfg.loop_count(), Cfg::new(&made).loop_count()), (2, 1));
    (0..20).for_each(|seed| random::assert_same(&original, &made, &universe, seed));
    Ok(made)
}

const STORED: &str = "v9: i32 = load{i32} v8, v3 @region0\n  v10: i32 = iadd{i32} v7, v9
  v30: i32 = imul{i32} v10, v10\n  store{i32} v8, v30, v3 @region0";

/// What may be one, by either form of loops.
fn right() -> Vec<Loops> {
    let forms = [
        SUMS,
        // The second loop reads what the first one has written, in the same iteration.
        Loops { first: STORED, ..SUMS },
        // It writes where the first one has read.
        Loops { second: "v24: i32 = bxor{i32} v21, v18\n  store{i32} v22, v21, v3 @region0", ..SUMS },
        // It begins with what is computed between them, but not from what the first one leaves behind.
        Loops { between: "v31: i32 = const 5\n  v32: i32 = imul{i32} v31, v31", entering: "v3, v32, v0", ..SUMS },
        // Its address is computed otherwise.
        Loops {
            first: STORED,
            second: "v33: i64 = imul{i64} v20, v5\n  v34: i64 = iadd{i64} v33, v0
  v23: i32 = load{i32} v34, v3 @region0\n  v24: i32 = iadd{i32} v21, v23",
            ..SUMS
        },
        // The first one writes elsewhere.
        Loops { first: "v10: i32 = iadd{i32} v7, v18\n  store{i32} v8, v7, v3 @region1", ..OTHER_REGION },
    ];
    forms.into_iter().flat_map(|loops| [loops, Loops { tested_last: true, ..loops }]).collect()
}

const OTHER_REGION: Loops =
    Loops { second: "v23: i32 = load{i32} v0, v3 @region2\n  v24: i32 = umax{i32} v21, v23", ..SUMS };

#[test]
fn two_loops_are_one() {
    for loops in right() {
        // Regions that are apart are so by promise: here, both are the same memory, so such loops are not run.
        if loops.first.contains("region1") {
            let mut universe = universe();
            let original = loops.function(&mut universe);
            let cfg = Cfg::new(&original);
            assert!(proposals(&original, &cfg, &universe).iter().any(|p| matches!(p.change, Change::Fused(_))));
            continue;
        }
        let made = fused(loops);
        assert!(made.is_ok(), "{made:?}\n{}", loops.text());
    }
}

#[test]
fn what_would_do_something_else_is_rejected() {
    const MEETS: &str = "an access of the second loop may meet one of a later iteration of the first";
    const COUNTS: &str = "the loops do not count alike";
    const LEFT: &str = "the second loop uses what the first one leaves behind";
    const EFFECT: &str = "a loop may trap, or has another effect";
    let next = "v23: i32 = load{i32} v22, v5 @region0\n  v24: i32 = umax{i32} v21, v23";
    let ahead = "v9: i32 = load{i32} v8, v5 @region0\n  v10: i32 = iadd{i32} v7, v9";
    let wrong = [
        // A distance of one between what is written and what is read.
        (Loops { first: STORED, second: next, ..SUMS }, MEETS),
        (
            Loops { first: ahead, second: "v24: i32 = bxor{i32} v21, v18\n  store{i32} v22, v21, v3 @region0", ..SUMS },
            MEETS,
        ),
        // Another pointer, which may point there.
        (Loops { first: STORED, entering: "v3, v18, v1", ..SUMS }, MEETS),
        // The same place each time.
        (
            Loops {
                first: "v10: i32 = iadd{i32} v7, v18\n  store{i32} v0, v7, v3 @region0",
                second: "v23: i32 = load{i32} v0, v3 @region0\n  v24: i32 = umax{i32} v21, v23",
                ..SUMS
            },
            MEETS,
        ),
        // Elements that overlap.
        (
            Loops {
                first: "v30: i64 = iadd{i64} v0, v6\n  v10: i32 = iadd{i32} v7, v18\n  store{i32} v30, v7, v3 @region0",
                second: "v35: i64 = iadd{i64} v0, v20\n  v23: i32 = load{i32} v35, v3 @region0
  v24: i32 = umax{i32} v21, v23",
                ..SUMS
            },
            MEETS,
        ),
        // All of memory, and a region of it.
        (Loops { first: "v10: i32 = iadd{i32} v7, v18\n  store{i32} v8, v7, v3 @region0", ..OTHER_REGION }, MEETS),
        (Loops { bound: "v1", ..SUMS }, COUNTS),
        (Loops { entering: "v4, v18, v0", ..SUMS }, COUNTS),
        (Loops { step: "v16", ..SUMS }, "a loop is not known to end"),
        (Loops { entering: "v3, v14, v0", ..SUMS }, LEFT),
        (Loops { entering: "v3, v15, v0", ..SUMS }, LEFT),
        (Loops { second: "v24: i32 = iadd{i32} v21, v14", ..SUMS }, LEFT),
        (Loops { between: "tick", ..SUMS }, "something has an effect between the loops"),
        (
            Loops { between: "v31: i32 = load{i32} v0, v3 @region0", ..SUMS },
            "something has an effect between the loops",
        ),
        (Loops { second: "tick\n  v24: i32 = iadd{i32} v21, v21", ..SUMS }, EFFECT),
        (Loops { first: "v10: i32 = load{i32} v8, v3 @region0 trap=3", ..SUMS }, EFFECT),
        (Loops { second: "v24: i32 = udiv{i32} v21, v21", ..SUMS }, EFFECT),
    ];
    for (loops, why) in wrong {
        for tested_last in [false, true] {
            let loops = Loops { tested_last, ..loops };
            assert_eq!(fused(loops).err(), Some(why), "{}", loops.text());
        }
    }
}

/// One operand, edge or instruction is wrong: it is rejected, or makes no difference.
#[test]
fn what_differs_is_rejected() {
    let mut universe = universe();
    let mut rejected = 0;
    for loops in right().into_iter().filter(|loops| !loops.first.contains("region1")) {
        let original = loops.function(&mut universe);
        let made = fused(loops).unwrap();
        for seed in 0..200 {
            let mut mutant = made.clone();
            mutate(&mut mutant, &mut Random(seed));
            if verify(&mutant, &universe).is_empty() {
                match check(&original, &mutant, &universe) {
                    Ok(()) => random::assert_same(&original, &mutant, &universe, seed),
                    Err(_) => rejected += 1,
                }
            }
        }
    }
    assert!(rejected > 200, "{rejected}");
}

/// Accesses at random places of random loops: whatever is accepted does the same.
#[test]
fn random_loops() {
    let mut universe = universe();
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..1500 {
        let random = &mut Random(seed);
        let mut body = |[counter, sum, pointer, result]: [&str; 4], name: u32| {
            let mut text = format!("v{name}: i64 = imul{{i64}} {counter}, {}\n", ["v5", "v4", "v16"][random.below(3)]);
            text += &format!("  v{}: i64 = iadd{{i64}} v{name}, v0\n", name + 1);
            let places = [pointer.to_string(), format!("v{}", name + 1), "v0".into(), pointer.to_string()];
            let mut value = sum.to_string();
            for n in 0..1 + random.below(2) as u32 {
                let place = &places[random.below(4)];
                let offset = ["v3", "v3", "v5"][random.below(3)];
                if random.once_in(3) {
                    text += &format!("  store{{i32}} {place}, {value}, {offset} @region0\n");
                } else {
                    let (read, new) = (name + 2 + 2 * n, name + 3 + 2 * n);
                    text += &format!("  v{read}: i32 = load{{i32}} {place}, {offset} @region0\n");
                    text += &format!("  v{new}: i32 = iadd{{i32}} {value}, v{read}\n");
                    value = format!("v{new}");
                }
            }
            text + &format!("  {result}: i32 = bxor{{i32}} {value}, v18")
        };
        let first = body(["v6", "v7", "v8", "v10"], 40).leak();
        let second = body(["v20", "v21", "v22", "v24"], 60).leak();
        let loops = Loops { first, second, tested_last: random.once_in(2), ..SUMS };
        let original = loops.function(&mut universe);
        let cfg = Cfg::new(&original);
        let Some(made) = cfg.loops().find_map(|(id, _)| {
            let pair = Pair::new(&original, &cfg, id)?;
            pair.fused(pair.tested(&universe)?)
        }) else {
            continue;
        };
        match check(&original, &made, &universe) {
            Ok(()) => {
                accepted += 1;
                (0..4).for_each(|n| random::assert_same(&original, &made, &universe, seed ^ n));
            }
            Err(_) => rejected += 1,
        }
    }
    assert!(accepted > 150 && rejected > 150, "{accepted} {rejected}");
}
