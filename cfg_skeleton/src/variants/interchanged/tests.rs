//! Loops that may change places do, and do the same; others are rejected, and so is what is made wrong at random.

use super::super::interchange::Nest;
use super::super::tests::mutate;
use super::check;
use crate::ir::interp::Outcome;
use crate::ir::normalise::normalise;
use crate::ir::parse::parse;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function};
use crate::testing::random::{Random, run};
use crate::testing::universe;
use rewright_typeprop::Universe;

/// Two loops from `v3`, which is 0, in steps of one, over at most 16 bytes at `v0`. They carry a sum.
#[derive(Clone, Copy)]
struct Loops {
    /// What the counters stay below: `v1` and `v2` are arguments, and `v5` is 4.
    bounds: [&'static str; 2],
    /// Instructions in the outer loop, after its counter `v6`.
    around: &'static str,
    /// What the inner loop begins with.
    entering: &'static str,
    /// Instructions that define `v12` from `v9`, the inner counter, and `v10`, the sum.
    body: &'static str,
    /// What is left in the end.
    result: &'static str,
    tested_last: bool,
}

const SUM: Loops = Loops {
    bounds: ["v2", "v5"],
    around: "v20: i64 = imul{i64} v6, v5",
    entering: "v3, v7",
    body: "v21: i64 = iadd{i64} v20, v9\n  v22: i64 = iadd{i64} v0, v21
  v23: i8 = load{i8} v22, v3 @region0\n  v12: i8 = iadd{i8} v10, v23",
    result: "v7",
    tested_last: false,
};

impl Loops {
    fn text(self) -> String {
        let Loops { bounds: [rows, columns], around, entering, body, result, tested_last } = self;
        let head = "func f -> (i8) {
b0(v0: i64, v1: i64, v2: i64):
  v3: i64 = const 0
  v4: i64 = const 1
  v5: i64 = const 4
  v17: i8 = const 3
  v18: i64 = const 2
  jump b1(v3, v17)
";
        let result = if tested_last && result == "v7" { "v14" } else { result };
        let (goes_on, body, ends) = match tested_last {
            false => (
                format!("b2:\n  {around}\n  jump b3({entering})"),
                format!(
                    "v11: i8 = icmp_slt{{i64}} v9, {columns}\n  br v11, b4, b5(v10)
b4:
  {body}
  v13: i64 = iadd{{i64}} v9, v4\n  jump b3(v13, v12)"
                ),
                "jump b1(v15, v14)".to_string(),
            ),
            true => (
                format!("{around}\n  jump b3({entering})"),
                format!(
                    "{body}
  v13: i64 = iadd{{i64}} v9, v4\n  v11: i8 = icmp_slt{{i64}} v13, {columns}\n  br v11, b3(v13, v12), b5(v12)"
                ),
                format!("v8: i8 = icmp_slt{{i64}} v15, {rows}\n  br v8, b1(v15, v14), b7({result})"),
            ),
        };
        let first = match tested_last {
            false => format!("v8: i8 = icmp_slt{{i64}} v6, {rows}\n  br v8, b2, b7({result})\n"),
            true => String::new(),
        };
        format!(
            "{head}b1(v6: i64, v7: i8):
  {first}{goes_on}
b3(v9: i64, v10: i8):
  {body}
b5(v14: i8):
  v15: i64 = iadd{{i64}} v6, v4
  {ends}
b7(v16: i8):
  return v16
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

/// Runs both with all small arguments. Runs that access what is no memory say nothing: none may.
fn assert_same(original: &Function, made: &Function, universe: &Universe) {
    let show = || crate::ir::text::print(original, universe) + &crate::ir::text::print(made, universe);
    for rows in -1..=4 {
        for columns in -1..=4 {
            let [before, after] = [original, made].map(|f| run(f, universe, [rows, columns], 5000));
            if !matches!(before.outcome, Outcome::Return(_)) {
                continue;
            }
            assert_eq!(before, after, "{rows} {columns}\n{}", show());
        }
    }
}

/// The nest the other way round, if it is one.
fn turned(original: &Function, universe: &Universe) -> Option<Function> {
    let cfg = Cfg::new(original);
    cfg.loops().find_map(|(id, _)| Some(Nest::new(original, &cfg, universe, id)?.interchanged()))
}

/// May the two change places? Then it does the same. If not, why?
fn interchanged(loops: Loops) -> Result<Function, &'static str> {
    let mut universe = universe();
    let original = loops.function(&mut universe);
    let made = turned(&original, &universe).ok_or("there is more in the outer loop, or it carries something else")?;
    check(&original, &made, &universe).map_err(|why| why.0)?;
    assert_eq!(verify(&made, &universe), [], "{}", loops.text());
    assert_same(&original, &made, &universe);
    Ok(made)
}

const PLACE: &str = "v21: i64 = iadd{i64} v20, v9\n  v22: i64 = iadd{i64} v0, v21\n  ";

/// What may change places.
fn right() -> Vec<Loops> {
    let body = |body: &str| -> &'static str { format!("{PLACE}{body}").leak() };
    let twice = "v23: i8 = load{i8} v22, v3 @region0\n  v24: i8 = imul{i8} v23, v17
  v25: i8 = icmp_slt{i64} v6, v9\n  v26: i8 = iadd{i8} v24, v25\n  store{i8} v22, v26, v3 @region0
  v12: i8 = bxor{i8} v10, v23";
    let forms = [
        SUM,
        // Each element is changed.
        Loops { body: body(twice), ..SUM },
        // The rows are as long as the inner loop says.
        Loops { bounds: ["v2", "v2"], around: "v20: i64 = imul{i64} v6, v2", body: body(twice), ..SUM },
        // All is computed in the inner loop, and the first column is left out.
        Loops {
            around: "",
            entering: "v4, v7",
            body: "v20: i64 = imul{i64} v6, v5\n  v21: i64 = iadd{i64} v20, v9\n  v22: i64 = iadd{i64} v0, v21
  v23: i8 = load{i8} v22, v3 @region0\n  v12: i8 = isub{i8} v10, v23\n  store{i8} v22, v17, v3 @region0",
            ..SUM
        },
        // The order of columns.
        Loops {
            bounds: ["v5", "v2"],
            around: "",
            body: "v20: i64 = imul{i64} v9, v5\n  v21: i64 = iadd{i64} v20, v6\n  v22: i64 = iadd{i64} v0, v21
  v23: i8 = load{i8} v22, v3 @region0\n  v24: i8 = iadd{i8} v23, v17\n  store{i8} v22, v24, v3 @region0
  v12: i8 = umax{i8} v10, v24",
            ..SUM
        },
        // Each row from the one before: (1, 0).
        Loops {
            bounds: ["v18", "v5"],
            body: body(
                "v23: i8 = load{i8} v22, v3 @region0\n  v24: i8 = iadd{i8} v23, v17
  store{i8} v22, v24, v5 @region0\n  v12: i8 = iadd{i8} v10, v23",
            ),
            ..SUM
        },
        // Each element from the one before it: (0, 1).
        Loops {
            bounds: ["v18", "v18"],
            body: body(
                "v23: i8 = load{i8} v22, v3 @region0\n  v24: i8 = iadd{i8} v23, v17
  store{i8} v22, v24, v4 @region0\n  v12: i8 = iadd{i8} v10, v17",
            ),
            ..SUM
        },
        // Sums of rows stay in their order.
        Loops {
            bounds: ["v5", "v5"],
            around: "v22: i64 = iadd{i64} v0, v6",
            body: "v23: i8 = load{i8} v22, v3 @region0\n  v24: i8 = iadd{i8} v23, v23
  store{i8} v22, v24, v3 @region0\n  v12: i8 = iadd{i8} v10, v17",
            ..SUM
        },
        // Only where nothing else is.
        Loops {
            body: body(
                "v23: i8 = load{i8} v0, v3 @region1\n  store{i8} v22, v17, v3 @region2
  v12: i8 = iadd{i8} v10, v23",
            ),
            ..SUM
        },
    ];
    forms.into_iter().flat_map(|loops| [loops, Loops { tested_last: true, ..loops }]).collect()
}

/// How often a loop iterates that tests last is not what it counts to.
fn is_known_first_only(loops: &Loops) -> bool {
    loops.tested_last && loops.bounds[1] == "v2" && loops.around.contains("v2")
}

#[test]
fn loops_change_places() {
    let mut universe = universe();
    for loops in right() {
        if is_known_first_only(&loops) {
            assert_eq!(interchanged(loops).err(), Some(ORDER));
        } else if loops.body.contains("region1") {
            // Regions that are apart are so by promise: here, both are the same memory, so such loops are not run.
            let original = loops.function(&mut universe);
            let made = turned(&original, &universe).unwrap();
            assert_eq!(check(&original, &made, &universe), Ok(()), "{}", loops.text());
        } else {
            let made = interchanged(loops);
            assert!(made.is_ok(), "{made:?}\n{}", loops.text());
        }
    }
}

const ORDER: &str = "an access may meet one of another iteration, which would come first";

#[test]
fn what_would_do_something_else_is_rejected() {
    const SHAPE: &str = "there is more in the outer loop, or it carries something else";
    const OFTEN: &str = "how often a loop iterates depends on more than its iterations";
    const CARRIED: &str = "what a loop carries depends on more than its iterations";
    const EFFECT: &str = "a loop may trap, or has another effect";
    let body = |body: &str| -> &'static str { format!("{PLACE}{body}").leak() };
    let stored = |offsets: [&str; 2]| {
        let [from, to] = offsets;
        body(&format!(
            "v23: i8 = load{{i8}} v22, {from} @region0\n  v24: i8 = imul{{i8}} v23, v17
  store{{i8}} v22, v24, {to} @region0\n  v12: i8 = iadd{{i8}} v10, v17"
        ))
    };
    let square = ["v18", "v18"];
    let wrong = [
        // a[i + 1][j] = a[i][j + 1]: (1, -1).
        (Loops { bounds: square, body: stored(["v4", "v5"]), ..SUM }, ORDER),
        // a[i][j + 1] = a[i + 1][j].
        (Loops { bounds: square, body: stored(["v5", "v4"]), ..SUM }, ORDER),
        // Rows that overlap.
        (
            Loops { bounds: ["v5", "v5"], around: "v20: i64 = imul{i64} v6, v18", body: stored(["v3", "v3"]), ..SUM },
            ORDER,
        ),
        // Rows that may overlap.
        (
            Loops { bounds: ["v2", "v2"], around: "v20: i64 = imul{i64} v6, v18", body: stored(["v3", "v3"]), ..SUM },
            ORDER,
        ),
        (
            Loops { bounds: ["v1", "v2"], around: "v20: i64 = imul{i64} v6, v1", body: stored(["v3", "v3"]), ..SUM },
            ORDER,
        ),
        // The next row, of rows of unknown length.
        (
            Loops { bounds: ["v18", "v2"], around: "v20: i64 = imul{i64} v6, v2", body: stored(["v3", "v4"]), ..SUM },
            ORDER,
        ),
        // The last iteration counts.
        (
            Loops {
                body: "v22: i64 = iadd{i64} v0, v9\n  v24: i8 = icmp_slt{i64} v6, v9
  store{i8} v0, v24, v3 @region0\n  v12: i8 = iadd{i8} v10, v17",
                ..SUM
            },
            ORDER,
        ),
        // Squares of the counter.
        (Loops { around: "v20: i64 = imul{i64} v6, v6", body: stored(["v3", "v3"]), ..SUM }, ORDER),
        // A triangle.
        (Loops { bounds: ["v5", "v6"], ..SUM }, OFTEN),
        (Loops { entering: "v6, v7", ..SUM }, CARRIED),
        // The sum is read on the way.
        (Loops { body: body("v12: i8 = iadd{i8} v10, v10"), ..SUM }, SHAPE),
        (Loops { body: body("store{i8} v0, v10, v3 @region0\n  v12: i8 = iadd{i8} v10, v17"), ..SUM }, SHAPE),
        (Loops { body: body("v23: i8 = imul{i8} v10, v17\n  v12: i8 = iadd{i8} v23, v17"), ..SUM }, SHAPE),
        (Loops { body: body("v12: i8 = isub{i8} v17, v10"), ..SUM }, SHAPE),
        // Each row begins anew.
        (Loops { entering: "v3, v17", ..SUM }, SHAPE),
        // There is something beside the inner loop.
        (Loops { around: "v20: i64 = imul{i64} v6, v5\n  tick", ..SUM }, SHAPE),
        (Loops { around: "v20: i64 = imul{i64} v6, v5\n  store{i8} v0, v17, v3 @region0", ..SUM }, SHAPE),
        (Loops { body: body("tick\n  v12: i8 = iadd{i8} v10, v17"), ..SUM }, EFFECT),
        (
            Loops { body: body("v23: i8 = load{i8} v22, v3 @region0 trap=3\n  v12: i8 = iadd{i8} v10, v23"), ..SUM },
            EFFECT,
        ),
        (Loops { body: body("v23: i8 = udiv{i8} v17, v17\n  v12: i8 = iadd{i8} v10, v23"), ..SUM }, EFFECT),
    ];
    for (loops, why) in wrong {
        for tested_last in [false, true] {
            let loops = Loops { tested_last, ..loops };
            assert_eq!(interchanged(loops).err(), Some(why), "{}", loops.text());
        }
    }
}

/// One operand, edge or instruction is wrong: it is rejected, or makes no difference.
#[test]
fn what_differs_is_rejected() {
    let mut universe = universe();
    let mut rejected = 0;
    for loops in right().into_iter().filter(|l| !l.body.contains("region1") && !is_known_first_only(l)) {
        let original = loops.function(&mut universe);
        let made = interchanged(loops).unwrap();
        for seed in 0..200 {
            let mut mutant = made.clone();
            mutate(&mut mutant, &mut Random(seed));
            if verify(&mutant, &universe).is_empty() {
                match check(&original, &mutant, &universe) {
                    Ok(()) => assert_same(&original, &mutant, &universe),
                    Err(_) => rejected += 1,
                }
            }
        }
    }
    assert!(rejected > 200, "{rejected}");
}

/// Accesses at random places: whatever is accepted does the same.
#[test]
fn random_nests() {
    let mut universe = universe();
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let constants = ["v3", "v4", "v18", "v5", "v5"];
        let mut factor = |more: &[&'static str]| {
            let all = [&constants[..], more].concat();
            all[random.below(all.len())]
        };
        let [x, y, z] = [factor(&["v2"]), factor(&["v2"]), factor(&[])];
        let mut text = format!(
            "v20: i64 = imul{{i64}} v6, {x}\n  v21: i64 = imul{{i64}} v9, {y}\n  v22: i64 = iadd{{i64}} v20, v21
  v30: i64 = iadd{{i64}} v0, v22\n  v31: i64 = imul{{i64}} v9, {z}\n  v32: i64 = iadd{{i64}} v0, v31
  v33: i8 = icmp_slt{{i64}} v6, v9\n"
        );
        for n in 0..1 + random.below(3) as u32 {
            let place = ["v30", "v30", "v32"][random.below(3)];
            let offset = ["v3", "v3", "v4", "v5"][random.below(4)];
            let (read, new) = (40 + 2 * n, 41 + 2 * n);
            text += &format!("  v{read}: i8 = load{{i8}} {place}, {offset} @region0\n");
            text += &format!("  v{new}: i8 = iadd{{i8}} v{read}, v33\n");
            let place = ["v30", "v30", "v30", "v32"][random.below(4)];
            let offset = ["v3", "v3", "v3", "v18"][random.below(4)];
            if random.once_in(2) {
                text += &format!("  store{{i8}} {place}, v{new}, {offset} @region0\n");
            }
        }
        text += "  v12: i8 = iadd{i8} v10, v40";
        let bound = |n: usize| ["v2", "v5", "v18"][n];
        let loops = Loops {
            bounds: [bound(random.below(3)), bound(random.below(3))],
            around: "",
            body: text.leak(),
            tested_last: random.once_in(2),
            ..SUM
        };
        let original = loops.function(&mut universe);
        let made = turned(&original, &universe).unwrap();
        match check(&original, &made, &universe) {
            Ok(()) => {
                accepted += 1;
                assert_same(&original, &made, &universe);
            }
            Err(_) => rejected += 1,
        }
    }
    assert!(accepted > 300 && rejected > 300, "{accepted} {rejected}");
}
