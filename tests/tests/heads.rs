//! Partial inlining in our own text: a call whose function may return at once is not made where it would.

use rewright_cfg_skeleton::ir::interp::{Callees, Host, Memory, Outcome, Results, run};
use rewright_cfg_skeleton::ir::{Inst, InstKind};
use rewright_tests::domain::Optimised;
use rewright_typeprop::Universe;

const PACK: &str = "
pack partial
import std.core
import std.loops
fn slow(x: i64) -> i64  pure  cost 900
fn shown(x: i64) -> i64  effects io  cost 30
";

/// Gives `slow` a meaning, and notes with what it and `shown` are called.
struct Outside<'u> {
    universe: &'u Universe,
    called: Vec<(String, i64)>,
}

impl Host for Outside<'_> {
    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<Results, Outcome> {
        let InstKind::Op { op, .. } = inst.kind else { return Err(Outcome::Unsupported("not an operation".into())) };
        let name = self.universe.ops.get(op).name.clone();
        let value = args[0].wrapping_mul(7) ^ 5;
        self.called.push((name, args[0]));
        Ok(std::iter::once(value).collect())
    }
}

/// What calls of `caller` come to before and after: results and calls of `shown` are the same. Gives how often
/// `slow` is called after all.
fn compared(done: &Optimised, arguments: &[i64]) -> usize {
    let mut slow = 0;
    for x in arguments {
        let modules = [(&done.before.module, done.before.universe()), (&done.after.module, &done.after.universe)];
        let [before, after] = modules.map(|(module, universe)| {
            let mut outside = Outside { universe, called: vec![] };
            let caller = module.functions.iter().find(|f| f.name.trim_start_matches('%') == "caller");
            let mut callees = Callees::new(universe, module, &mut outside, 100_000);
            let outcome =
                run(caller.expect("it stays"), universe, &[*x], &mut Memory::default(), &mut callees, 100_000);
            (outcome, outside.called)
        });
        let shown = |called: &[(String, i64)]| called.iter().filter(|(name, _)| name == "shown").cloned().collect();
        let all: [Vec<(String, i64)>; 2] = [shown(&before.1), shown(&after.1)];
        assert!(matches!(before.0, Outcome::Return(_)), "{before:?}");
        assert_eq!((before.0, &all[0]), (after.0, &all[1]), "{x}\n{}", done.after.print());
        slow += after.1.iter().filter(|(name, _)| name == "slow").count();
    }
    slow
}

/// A function that has `first` in its entry, returns `easy` for 0, and else does more than is inlined.
fn guarded(first: &str, easy: &str) -> String {
    let mut long = String::from("  %s0 = slow %x\n");
    for n in 0..70 {
        long += &format!("  %t{n} = imul %s{n}, %x\n  %s{} = bxor %t{n}, %s{n}\n", n + 1);
    }
    format!(
        "func %guarded(%x: i64) -> i64 {{
  %zero: i64 = const 0
  {first}
  %c = icmp_eq %x, %zero
  br %c, easy, hard
easy:
  return {easy}
hard:
{long}  return %s70
}}
func %caller(%x: i64) -> i64 {{
  %y = guarded %x
  %z = iadd %y, %x
  return %z
}}
"
    )
}

#[test]
fn a_call_that_would_return_at_once_is_not_made() {
    let done = Optimised::new(PACK, &guarded("", "%zero"));
    assert_eq!(done.outcome("caller").heads, ["%guarded"], "{}", done.after.print());
    let text = done.after.print();
    let caller = text.split("func %caller").nth(1).expect("it stays");
    assert_eq!((caller.matches("guarded").count(), caller.matches("slow").count()), (1, 0), "{text}");
    assert_eq!(compared(&done, &[0]), 0);
    assert_eq!(compared(&done, &[1, -3, 12]), 3);
}

#[test]
fn what_comes_before_the_test_is_noticed() {
    for first in ["%s = shown %x", "%q = udiv %x, %x"] {
        let done = Optimised::new(PACK, &guarded(first, "%zero"));
        assert!(done.outcome("caller").heads.is_empty(), "{first}\n{}", done.after.print());
        assert_eq!(compared(&done, &[1, -3]), 2);
    }
}

/// Two results, which each return has in another order, and several tests.
#[test]
fn several_results_in_any_order() {
    let long: String = (0..70).map(|n| format!("  %s{} = imul %s{n}, %y\n", n + 1)).collect();
    let done = Optimised::new(
        PACK,
        &format!(
            "func %both(%x: i64, %y: i64) -> (i64, i64) {{
  %zero: i64 = const 0
  %one: i64 = const 1
  %c = icmp_eq %x, %zero
  br %c, none, some
none:
  return %y, %x
some:
  %d = icmp_eq %x, %one
  br %d, single, many
single:
  %e = iadd %x, %y
  return %e, %y
many:
  %s0 = slow %x
{long}  return %x, %s70
}}
func %caller(%x: i64) -> i64 {{
  %five: i64 = const 5
  %y, %z = both %x, %five
  %w = isub %y, %z
  return %w
}}
"
        ),
    );
    assert_eq!(done.outcome("caller").heads, ["%both"]);
    assert_eq!(compared(&done, &[0, 1]), 0);
    assert_eq!(compared(&done, &[2, 3, -1]), 3);
}

#[test]
fn a_function_that_calls_itself_has_its_head_in_it_once() {
    let done = Optimised::new(
        PACK,
        "func %fib(%n: i64) -> i64 {
  %one: i64 = const 1
  %two: i64 = const 2
  %small = icmp_slt %n, %two
  br %small, out, more
out:
  return %n
more:
  %a = isub %n, %one
  %b = isub %n, %two
  %x = fib %a
  %y = fib %b
  %z = iadd %x, %y
  return %z
}
func %caller(%x: i64) -> i64 {
  %y = fib %x
  %z = slow %y
  return %z
}
",
    );
    assert_eq!(done.outcome("fib").heads, ["%fib", "%fib"]);
    assert_eq!(compared(&done, &[0, 1, 2, 9]), 4);
}
