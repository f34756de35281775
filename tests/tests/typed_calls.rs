//! Types of what calls are given and give: versions of functions for more specific arguments, and results of more
//! specific types. Each executed call checks that each operand has the type that the overload takes.

use rewright_cfg_skeleton::ir::interp::{Callees, Host, Memory, Outcome, Results, run};
use rewright_cfg_skeleton::ir::{Inst, InstKind, Module};
use rewright_cfg_skeleton::testing::random::Random;
use rewright_tests::domain::Optimised;
use rewright_typeprop::Universe;
use std::fmt::Write as _;

const PACK: &str = "
pack matrices
import std.core
type Matrix
type Symmetric <: Matrix
type Diagonal <: Symmetric
type Values
fn squared(a: Matrix) -> Matrix  pure  cost 10
fn gram(a: Matrix) -> Symmetric  pure  cost 10
fn spoilt(a: Matrix) -> Matrix  pure  cost 5
fn inverse(a: Matrix) -> Matrix  pure  cost 50
fn inverse(a: Symmetric) -> Symmetric  pure  cost 40
fn sum(a: Matrix, b: Matrix) -> Matrix  pure  cost 6
fn sum(a: Symmetric, b: Symmetric) -> Symmetric  pure  cost 5
fn eigenvalues(a: Matrix) -> Values  pure  cost 900
fn eigenvalues(a: Symmetric) -> Values  pure  cost 100
fn shown(a: Matrix) -> Values  effects io  cost 30
fn shown(a: Symmetric) -> Values  effects io  cost 20
fn kept(a: Matrix, n: i64) -> Matrix  pure  cost 70
rule symmetric(a: Matrix): squared(a) => gram(a)
schedule default { saturate rules }
";

/// A matrix is a number whose last bit says that it is symmetric.
struct Outside<'u> {
    universe: &'u Universe,
    shown: Vec<i64>,
}

impl Host for Outside<'_> {
    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<Results, Outcome> {
        let InstKind::Op { op, .. } = inst.kind else { return Err(Outcome::Unsupported("not an operation".into())) };
        let op = self.universe.ops.get(op);
        for (param, arg) in op.params.iter().zip(args) {
            let ty = self.universe.types.find_instance(&param.ty, &[]).map(|ty| self.universe.types.display(ty));
            assert!(ty.as_deref() != Some("Symmetric") || arg & 1 == 1, "{} is given what is not symmetric", op.unique);
        }
        let hash = |seed: i64| {
            let mixed = |h: i64, arg: &i64| (h ^ arg).wrapping_mul(0x0010_0000_01b3).rotate_left(17);
            args.iter().fold(seed, mixed) & !1
        };
        let both = args.iter().fold(1, |all, arg| all & arg & 1);
        let value = match op.name.as_str() {
            "squared" | "gram" => hash(3) | 1,
            "spoilt" => hash(5),
            "inverse" => hash(7) | both,
            "sum" => hash(9) | both,
            "eigenvalues" => hash(11),
            "shown" => {
                self.shown.push(args[0]);
                hash(13)
            }
            other => return Err(Outcome::Unsupported(format!("{other} has no meaning"))),
        };
        Ok(std::iter::once(value).collect())
    }
}

fn observe(module: &Module, universe: &Universe, name: &str, args: &[i64]) -> (Outcome, Vec<i64>) {
    let mut outside = Outside { universe, shown: vec![] };
    let f = module.functions.iter().find(|f| f.name.trim_start_matches('%') == name);
    let f = f.expect("what is called by others, or is no version, stays");
    let mut callees = Callees::new(universe, module, &mut outside, 1_000_000);
    let outcome = run(f, universe, args, &mut Memory::default(), &mut callees, 1_000_000);
    (outcome, outside.shown)
}

/// A symmetric matrix, and one that is not.
const MATRICES: [i64; 2] = [15, 22];

fn assert_same(done: &Optimised, name: &str, arguments: &[i64]) {
    for n in 0..5 {
        let args = [arguments, &[n]].concat();
        let before = observe(&done.before.module, done.before.universe(), name, &args);
        let after = observe(&done.after.module, &done.after.universe, name, &args);
        assert!(matches!(before.0, Outcome::Return(_)), "{before:?}");
        assert_eq!(before, after, "{name}{args:?}\n{}", done.after.print());
    }
}

fn assert_reads_again(done: &Optimised) {
    let printed = done.after.print();
    let read = Optimised::new(PACK, &printed);
    assert_eq!(
        read.before.module.functions.len() - read.before.module.versions.len(),
        printed.matches("func ").count()
    );
}

/// Functions that call themselves, so that they are not inlined.
const MODULE: &str = "
func %spectrum(%x: Matrix, %n: i64) -> Values {
  %one: i64 = const 1
  br %n, more, out
out:
  %v = eigenvalues %x
  return %v
more:
  %y = inverse %x
  %m = isub %n, %one
  %r = spectrum %y, %m
  return %r
}
func %power(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  return %x
more:
  %m = isub %n, %one
  %r = power %x, %m
  %y = sum %x, %r
  return %y
}
func %made(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %p = squared %x
  return %p
more:
  %m = isub %n, %one
  %q = spoilt %x
  %r = made %q, %m
  return %r
}
func %spoils(%x: Matrix, %n: i64) -> Values {
  %one: i64 = const 1
  %w = shown %x
  br %n, more, out
out:
  %v = eigenvalues %x
  return %v
more:
  %y = spoilt %x
  %m = isub %n, %one
  %r = spoils %y, %m
  return %r
}
func %swaps(%x: Matrix, %y: Matrix, %n: i64) -> Values {
  %one: i64 = const 1
  %w = shown %x
  br %n, more, out
out:
  %v = eigenvalues %x
  return %v
more:
  %m = isub %n, %one
  %r = swaps %y, %x, %m
  return %r
}
func %sometimes(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %y = spoilt %x
  return %y
more:
  %m = isub %n, %one
  %r = sometimes %x, %m
  %s = squared %r
  return %s
}
func %ping(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %p = squared %x
  return %p
more:
  %m = isub %n, %one
  %r = pong %x, %m
  return %r
}
func %pong(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  return %x
more:
  %m = isub %n, %one
  %r = ping %x, %m
  return %r
}
func %there(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %p = squared %x
  return %p
more:
  %m = isub %n, %one
  %r = back %x, %m
  return %r
}
func %back(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  %y = spoilt %x
  br %n, more, out
out:
  %p = squared %y
  return %p
more:
  %m = isub %n, %one
  %q = further %y, %m
  %r = there %y, %m
  %s = sum %q, %r
  return %s
}
func %further(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %p = squared %x
  return %p
more:
  %m = isub %n, %one
  %r = back %x, %m
  %s = inverse %r
  return %s
}
func %kept(%x: Matrix, %n: i64) -> Matrix {
  %one: i64 = const 1
  br %n, more, out
out:
  %p = squared %x
  return %p
more:
  %m = isub %n, %one
  %r = kept %x, %m
  return %r
}
func %given(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %r = spectrum %s, %n
  return %r
}
func %by_rule(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %q = squared %x
  %r = spectrum %q, %n
  return %r
}
func %result(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %q = squared %x
  %p = power %q, %n
  %r = eigenvalues %p
  return %r
}
func %result_by_rule(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = made %x, %n
  %r = eigenvalues %p
  return %r
}
func %nothing_known(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %r = spectrum %x, %n
  return %r
}
func %spoilt_inside(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %r = spoils %s, %n
  return %r
}
func %by_statement(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %q = squared %x
  %r = spoils %q, %n
  return %r
}
func %changing_places(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %r = swaps %s, %x, %n
  return %r
}
func %places_of_one_kind(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %q = gram %x
  %r = swaps %s, %q, %n
  return %r
}
func %one_return_spoils(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = sometimes %s, %n
  %r = eigenvalues %p
  return %r
}
func %to_and_fro(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = ping %x, %n
  %r = eigenvalues %p
  return %r
}
func %round_trip(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = there %x, %n
  %r = eigenvalues %p
  return %r
}
func %one_arm(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  br %n, l, r
l:
  jump m(%s)
r:
  jump m(%x)
m(%y: Matrix):
  %v = spectrum %y, %n
  return %v
}
func %both_arms(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  br %n, l, r
l:
  jump m(%s)
r:
  %q = squared %x
  jump m(%q)
m(%y: Matrix):
  %v = spectrum %y, %n
  return %v
}
func %power_of_one_arm(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = power %s, %n
  %t = sum %p, %x
  %v = eigenvalues %t
  return %v
}
func %in_a_loop(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %one: i64 = const 1
  %k = iadd %n, %one
  jump head(%s, %k)
head(%y: Matrix, %i: i64):
  %v = spoils %y, %n
  %next = spoilt %y
  %j = isub %i, %one
  br %j, head(%next, %j), out
out:
  return %v
}
func %declared(%s: Symmetric, %x: Matrix, %n: i64) -> Values {
  %p = kept %x, %n
  %v = eigenvalues %p
  return %v
}
";

#[test]
fn types_go_into_calls_and_come_out_of_them() {
    let done = Optimised::new(PACK, MODULE);
    let gains = ["given", "by_rule", "result", "result_by_rule", "both_arms", "round_trip"];
    for name in gains {
        let outcome = done.outcome(name);
        assert!(outcome.cost_after * 2 < outcome.cost_before, "{name}\n{}", done.after.print());
    }
    // The call behind a merge is copied into the arm in which more is known.
    for name in ["given", "by_rule", "both_arms", "one_arm"] {
        assert!(done.text(name).contains("spectrum_1"), "{name}\n{}", done.text(name));
    }
    for name in ["result", "result_by_rule", "round_trip"] {
        assert!(done.text(name).contains("eigenvalues.1"), "{name}\n{}", done.text(name));
    }
    for name in ["nothing_known", "one_return_spoils", "power_of_one_arm", "declared", "to_and_fro"] {
        let text = done.text(name);
        assert!(!text.contains("eigenvalues.1") && !text.contains("spectrum_1"), "{name}\n{text}");
    }
    for f in
        done.before.module.functions.iter().enumerate().filter(|(n, _)| !done.before.module.versions.contains_key(n))
    {
        let name = f.1.name.trim_start_matches('%');
        match f.1.block(f.1.entry()).params.len() {
            2 => MATRICES.iter().for_each(|matrix| assert_same(&done, name, &[*matrix])),
            _ => assert_same(&done, name, &MATRICES),
        }
    }
    assert_reads_again(&done);
}

#[test]
fn versions_that_nobody_calls_are_not_written() {
    let general = MODULE.split("func %given").next().expect("text before it");
    let done = Optimised::new(PACK, general);
    assert!(!done.before.module.versions.is_empty());
    let functions = |text: &str| text.matches("func ").count();
    assert_eq!(functions(&done.after.print()), functions(general), "{}", done.after.print());
}

/// A module in which functions call each other, fewer times with each call.
fn random_module(seed: u64) -> String {
    let mut random = Random(seed + 1);
    let mut text = String::new();
    let names = ["f", "g", "h"];
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, "func %{name}(%a: Matrix, %b: Matrix, %n: i64) -> Matrix {{\n  %one: i64 = const 1");
        let mut values = vec!["%a".to_string(), "%b".to_string()];
        body(&mut random, &mut text, &mut values, "e");
        let _ = writeln!(text, "  br %n, more, out\nout:");
        let mut inner = values.clone();
        body(&mut random, &mut text, &mut inner, "o");
        let _ = writeln!(text, "  return {}\nmore:\n  %m = isub %n, %one", pick(&mut random, &inner));
        for call in 0..2 {
            let callee = names[if random.below(2) == 0 { index } else { random.below(3) }];
            let (a, b) = (pick(&mut random, &values), pick(&mut random, &values));
            let _ = writeln!(text, "  %c{call} = {callee} {a}, {b}, %m");
            values.push(format!("%c{call}"));
        }
        body(&mut random, &mut text, &mut values, "m");
        let _ = writeln!(text, "  return {}\n}}", pick(&mut random, &values));
    }
    let _ = writeln!(text, "func %main(%a: Symmetric, %b: Matrix, %n: i64) -> Values {{");
    let mut values = vec!["%a".to_string(), "%b".to_string()];
    body(&mut random, &mut text, &mut values, "e");
    for (call, name) in names.iter().enumerate() {
        let (a, b) = (pick(&mut random, &values), pick(&mut random, &values));
        let _ = writeln!(text, "  %c{call} = {name} {a}, {b}, %n\n  %w{call} = shown %c{call}");
        values.push(format!("%c{call}"));
    }
    let _ = writeln!(text, "  %v = eigenvalues {}\n  return %v\n}}", pick(&mut random, &values));
    text
}

fn pick(random: &mut Random, values: &[String]) -> String {
    values[random.below(values.len())].clone()
}

fn body(random: &mut Random, text: &mut String, values: &mut Vec<String>, prefix: &str) {
    for at in 0..random.below(4) {
        let x = pick(random, values);
        let value = match random.below(8) {
            0 | 1 => format!("squared {x}"),
            2 => format!("gram {x}"),
            3 => format!("spoilt {x}"),
            4 => format!("inverse {x}"),
            5 => {
                let _ = writeln!(text, "  %{prefix}w{at} = shown {x}");
                continue;
            }
            _ => format!("sum {x}, {}", pick(random, values)),
        };
        let _ = writeln!(text, "  %{prefix}{at} = {value}");
        values.push(format!("%{prefix}{at}"));
    }
}

#[test]
fn random_modules_do_the_same() {
    const COUNT: u64 = 150;
    let (mut versions, mut results) = (0, 0);
    for seed in 0..COUNT {
        let text = random_module(seed);
        let done = Optimised::new(PACK, &text);
        let printed = done.after.print();
        versions += usize::from(printed.matches("func ").count() > 4);
        let narrowed = |f: &&rewright_cfg_skeleton::ir::Function| {
            ["%f", "%g", "%h"].contains(&f.name.as_str())
                && done.after.universe.types.display(f.results[0]) == "Symmetric"
        };
        results += usize::from(done.after.module.functions.iter().any(|f| narrowed(&f)));
        assert_same(&done, "main", &MATRICES);
        for name in ["f", "g", "h"] {
            assert_same(&done, name, &MATRICES);
        }
        assert_reads_again(&done);
    }
    println!("{COUNT} modules: {versions} with versions, {results} with results of more specific types");
    assert!(versions > COUNT as usize / 5 && results > COUNT as usize / 10, "{versions} {results}");
}
