//! Functions without their tail calls do the same.

use super::jump_for_tail_calls;
use crate::ir::interp::{Callees, Memory, NoHost, Outcome, run};
use crate::ir::parse::read;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::ir::{InstKind, Module};
use crate::testing::{trap_code, universe};
use rewright_typeprop::Universe;

/// The module without tail calls of its last function, and how many there were.
fn without(module: &Module, universe: &Universe) -> (Module, usize) {
    let mut changed = module.clone();
    let last = changed.functions.len() - 1;
    let own = module.bodies.iter().find(|(_, body)| **body == last).map(|(op, _)| *op);
    let is_own = |kind: &InstKind| matches!(kind, InstKind::Op { op, .. } if Some(*op) == own);
    let count = jump_for_tail_calls(&mut changed.functions[last], universe, |inst| is_own(&inst.kind));
    (changed, count)
}

fn called(universe: &Universe, module: &Module, args: &[i64]) -> Outcome {
    let mut outside = NoHost(trap_code);
    let mut host = Callees::new(universe, module, &mut outside, 100_000);
    run(module.functions.last().unwrap(), universe, args, &mut Memory::default(), &mut host, 100_000)
}

/// Compares a function with what it is without its tail calls, of which there are `jumps`, and says how many calls of it are left.
fn compared(text: &str, jumps: usize) -> usize {
    let mut universe = universe();
    let module = read(text, &mut universe).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let (changed, count) = without(&module, &universe);
    let [original, function] = [&module, &changed].map(|module| module.functions.last().unwrap());
    let shown = print(function, &universe);
    assert_eq!(count, jumps, "{shown}");
    assert_eq!(verify(function, &universe), [], "{shown}");
    let params = original.block(original.entry()).params.len();
    for x in 0..7 {
        for y in [0, 1, 3, 8, -1] {
            let args = &[x, y, 5][..params];
            let wanted = called(&universe, &module, args);
            if wanted != Outcome::OutOfFuel {
                assert_eq!(called(&universe, &changed, args), wanted, "{args:?}\n{shown}");
            }
        }
    }
    shown.matches(&format!("= {}", original.name.trim_start_matches('%'))).count()
}

#[test]
fn a_call_whose_result_is_returned() {
    // Operands are exchanged: each is what the other one was.
    let text = "func %f(%x: i64, %y: i64) -> i64 {
  br %x, more, out
more:
  %one: i64 = const 1
  %less = isub %x, %one
  %sum = iadd %y, %x
  %z = f %less, %sum
  return %z
out:
  return %y
}
";
    assert_eq!(compared(text, 1), 0);
    let exchanged = text.replace("%z = f %less, %sum", "%w = isub %sum, %less\n  %z = f %less, %w");
    assert_eq!(compared(&exchanged, 1), 0);
}

#[test]
fn results_that_are_combined_on_the_way() {
    for (operation, neutral) in
        [("iadd", 0), ("imul", 1), ("bxor", 0), ("band", -1), ("bor", 0), ("smax", 3), ("umin", 9)]
    {
        for operands in ["%x, %z", "%z, %x"] {
            let text = format!(
                "func %f(%x: i64, %y: i64) -> i64 {{
  br %x, more, out(%y)
more:
  %one: i64 = const 1
  %less = isub %x, %one
  %next = bxor %y, %x
  %z = f %less, %next
  %r = {operation} {operands}
  jump out(%r)
out(%result: i64):
  %last: i64 = const {neutral}
  return %result
}}
"
            );
            // A block that computes something else than what it returns is not looked through.
            assert_eq!(compared(&text, 0), 1);
            let text = text.replace(&format!("  %last: i64 = const {neutral}\n"), "");
            assert_eq!(compared(&text, 1), 0);
        }
    }
}

#[test]
fn calls_that_stay() {
    // What is returned is not the call's result alone, or is combined otherwise elsewhere.
    for (behind, jumps) in [
        ("%r = isub %x, %z", 0),
        ("%r = iadd %z, %z", 0),
        ("%s = iadd %z, %x\n  %r = iadd %s, %z", 0),
        ("%s = iadd %z, %x\n  %r = imul %s, %x", 0),
        ("%w = udiv %x, %y\n  %r = iadd %z, %w", 0),
        ("%w = imul %x, %y\n  %r = iadd %z, %w", 1),
        ("%r = isub %z, %x", 1),
    ] {
        let text = format!(
            "func %f(%x: i64, %y: i64) -> i64 {{
  br %x, more, out
more:
  %one: i64 = const 1
  %less = isub %x, %one
  %z = f %less, %y
  {behind}
  return %r
out:
  return %y
}}
"
        );
        assert_eq!(compared(&text, jumps), 1 - jumps, "{behind}");
    }
}

#[test]
fn calls_of_two_kinds() {
    // The first one that combines decides by what; one that combines otherwise stays a call.
    let text = "func %f(%x: i64, %y: i64) -> i64 {
  %one: i64 = const 1
  br %x, more, out
more:
  %less = isub %x, %one
  br %y, sum, plain
sum:
  %a = f %less, %less
  %b = iadd %a, %y
  return %b
plain:
  %odd = band %x, %one
  br %odd, product, again
product:
  %c = f %less, %x
  %d = imul %c, %x
  return %d
again:
  %e = f %less, %x
  return %e
out:
  return %y
}
";
    assert_eq!(compared(text, 2), 1);
}

#[test]
fn two_calls_of_which_one_is_the_last() {
    let fib = "func %f(%n: i64) -> i64 {
  %two: i64 = const 2
  %is_small = icmp_ult %n, %two
  br %is_small, out, more
more:
  %one: i64 = const 1
  %a = isub %n, %one
  %b = isub %n, %two
  %x = f %a
  %y = f %b
  %z = iadd %x, %y
  return %z
out:
  return %n
}
";
    assert_eq!(compared(fib, 0), 2);
    let nested = "func %f(%m: i64, %n: i64) -> i64 {
  %one: i64 = const 1
  br %m, some, out
some:
  %less = isub %m, %one
  br %n, both, first
first:
  %a = f %less, %one
  return %a
both:
  %fewer = isub %n, %one
  %b = f %m, %fewer
  %c = f %less, %b
  return %c
out:
  %d = iadd %n, %one
  return %d
}
";
    assert_eq!(compared(nested, 2), 1);
}
