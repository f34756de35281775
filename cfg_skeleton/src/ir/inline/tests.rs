//! Inlined functions verify and do the same, whatever the control flow on either side.

use super::*;
use crate::ir::Module;
use crate::ir::calls::CallGraph;
use crate::ir::infer::reinfer;
use crate::ir::interp::{Callees, Memory, NoHost, Outcome, run};
use crate::ir::parse::read;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::testing::{domain, trap_code, universe};
use rewright_typeprop::Universe;

const CALLS: &str = "\
func %main(%x: i64, %y: i64) -> i64 {
  br %x, many(%y), one
many(%n):
  %one: i64 = const 1
  %a, %b = sum_and_last %n
  %c = clamp %a
  %d = iadd %c, %b
  %m = isub %n, %one
  br %m, many(%m), out(%d)
one:
  %e = clamp %y
  jump out(%e)
out(%r):
  %s = clamp %r
  return %s
}

func %sum_and_last(%n: i64) -> (i64, i64) {
  %zero: i64 = const 0
  jump head(%n, %zero)
head(%i, %sum):
  br %i, body, done
body:
  %one: i64 = const 1
  %next = isub %i, %one
  %more = iadd %sum, %i
  jump head(%next, %more)
done:
  return %sum, %i
}

func %clamp(%x: i64) -> i64 {
  %ten: i64 = const 10
  %less = icmp_ult %x, %ten
  br %less, low, high
low:
  return %x
high:
  %forty: i64 = const 40
  %crash = udiv %forty, %x
  return %crash
}
";

fn optimise(module: &Module, index: usize, limits: InlineLimits) -> (Function, usize) {
    let graph = CallGraph::new(module);
    let mut f = module.functions[index].clone();
    let body = |op| {
        let body = *module.bodies.get(&op)?;
        (!graph.is_recursive(body)).then(|| &module.functions[body])
    };
    let count = inline(&mut f, body, limits);
    (f, count)
}

fn called(u: &Universe, module: &Module, f: &Function, args: &[i64]) -> Outcome {
    let mut outside = NoHost(trap_code);
    let mut host = Callees::new(u, module, &mut outside, 10_000);
    run(f, u, args, &mut Memory::default(), &mut host, 10_000)
}

#[test]
fn inlined_functions_do_the_same() {
    let mut u = universe();
    let module = read(CALLS, &mut u).unwrap();
    let (f, count) = optimise(&module, 0, InlineLimits::default());
    assert_eq!(count, 4);
    assert_eq!(verify(&f, &u), [], "{}", print(&f, &u));
    let calls = |f: &Function| print(f, &u).matches("clamp").count();
    assert_eq!((calls(&module.functions[0]), calls(&f)), (3, 0));
    for x in 0..2 {
        for y in [1, 2, 7, 12, 40] {
            let wanted = called(&u, &module, &module.functions[0], &[x, y]);
            assert!(matches!(wanted, Outcome::Return(_)), "{wanted:?}");
            assert_eq!(called(&u, &module, &f, &[x, y]), wanted, "{x} {y}");
        }
    }
}

#[test]
fn limits_hold_and_recursion_is_not_followed() {
    let mut u = universe();
    let module = read(CALLS, &mut u).unwrap();
    assert_eq!(optimise(&module, 0, InlineLimits { body: 0, function: 1000 }).1, 0);
    let grown = optimise(&module, 0, InlineLimits { body: 60, function: 12 }).0;
    assert!(instructions(&grown) <= 12);
    let text = "func %f(%x: i64) -> i64 {\n  %y = f %x\n  return %y\n}\n";
    let module = read(text, &mut u).unwrap();
    assert_eq!(optimise(&module, 0, InlineLimits::default()).1, 0);
    assert_eq!(called(&u, &module, &module.functions[0], &[1]), Outcome::OutOfFuel);
}

#[test]
fn types_are_found_again_after_inlining() {
    let mut u = domain();
    let text = "\
func %main(%s: Matrix{f64}) -> f64 {
  %g = gram %s
  %n = size %g
  return %n
}

func %size(%m: Matrix{f64}) -> f64 {
  %n = norm %m
  return %n
}
";
    let module = read(text, &mut u).unwrap();
    let (mut f, count) = optimise(&module, 0, InlineLimits::default());
    assert_eq!(count, 1);
    assert!(print(&f, &u).contains("norm.0{f64}"));
    assert!(reinfer(&mut f, &mut u));
    assert!(print(&f, &u).contains("norm.1{f64}"), "the operand is known to be symmetric here");
    assert_eq!(verify(&f, &u), []);
}
