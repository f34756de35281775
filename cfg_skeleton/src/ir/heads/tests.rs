//! A head does what its function does, and is none where something before a way out can be noticed.

use super::Head;
use crate::ir::cfg::SHARE_ONE;
use crate::ir::interp::{Callees, Memory, NoHost, Outcome, run};
use crate::ir::parse::read;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::ir::{Access, Function, InstKind, Module, RegionId};
use crate::testing::random;
use crate::testing::{MOVABLE, trap_code, universe};
use proptest::prelude::*;
use rewright_typeprop::Universe;
use smallvec::smallvec;

fn called(universe: &Universe, module: &Module, function: &Function, args: &[i64]) -> Outcome {
    let mut outside = NoHost(trap_code);
    let mut host = Callees::new(universe, module, &mut outside, 1_000);
    run(function, universe, args, &mut Memory::default(), &mut host, 1_000)
}

/// The head of a text's last function, which is compared with the function.
fn compared(text: &str) -> Option<(Head, String)> {
    let mut universe = universe();
    let module = read(text, &mut universe).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let last = module.functions.len() - 1;
    let function = &module.functions[last];
    let found = Head::new(function, &universe)?;
    let (op, _) = module.bodies.iter().find(|(_, body)| **body == last)?;
    let accesses = universe.ops.get(*op).effects.accesses_memory();
    let access = accesses.then_some(Access { region: RegionId(0), ..MOVABLE });
    let head = found.calling(function, InstKind::Op { op: *op, targs: smallvec![], access });
    let shown = print(&head, &universe);
    assert_eq!(verify(&head, &universe), [], "{shown}");
    let params = function.block(function.entry()).params.len();
    for x in -2..5 {
        for y in [0, 1, 3, -1] {
            let args = &[x, y][..params];
            let wanted = called(&universe, &module, function, args);
            assert_eq!(called(&universe, &module, &head, args), wanted, "{args:?}\n{shown}");
        }
    }
    Some((found, shown))
}

/// Several tests, and a way out behind each. What comes behind them is more than a head may be.
const TESTS: &str = "func %f(%x: i64, %y: i64) -> (i64, i64) {
  %zero: i64 = const 0
  %one: i64 = const 1
  br %x, some, none
none:
  return %y, %zero
some:
  %is_one = icmp_eq %x, %one
  br %is_one, single, many
single:
  %less = isub %y, %one
  return %one, %less
many:
  %q = udiv %x, %y
  return %q, %x
}
func %g(%x: i64, %y: i64) -> i64 {
  %a, %b = f %x, %y
  %c = isub %a, %b
  return %c
}
";

fn of_last_two(text: &str) -> Option<(Head, String)> {
    // The function that is looked at stands last; the one that calls it makes it an operation.
    let at = text.find("func %g").unwrap();
    compared(&format!("{}{}", &text[at..], &text[..at]))
}

#[test]
fn several_tests_are_one_head() {
    let (head, shown) = of_last_two(TESTS).unwrap();
    assert_eq!((head.blocks.len(), head.goes_on), (4, SHARE_ONE / 4), "{shown}");
    assert!(shown.contains("= f ") && !shown.contains("udiv"), "{shown}");
}

#[test]
fn what_can_be_noticed_is_in_no_head() {
    let text = |before: &str| {
        format!(
            "func %f(%x: i64, %y: i64) -> i64 {{
  %zero: i64 = const 0
  {before}
  br %x, some, none
none:
  return %y
some:
  %q = udiv %y, %x
  return %q
}}
func %g(%x: i64, %y: i64) -> i64 {{
  %a = f %x, %y
  return %a
}}
"
        )
    };
    assert!(of_last_two(&text("%sum = iadd %x, %y")).is_some());
    for before in ["tick", "%q0 = udiv %x, %y", "%v: i64 = load %x, %zero", "store %x, %y, %zero"] {
        assert_eq!(of_last_two(&text(before)), None, "{before}");
    }
}

#[test]
fn a_function_that_calls_itself() {
    let (head, shown) = compared(
        "func %f(%n: i64) -> i64 {
  %one: i64 = const 1
  %two: i64 = const 2
  %small = icmp_slt %n, %two
  br %small, out, more
out:
  return %n
more:
  %a = isub %n, %one
  %b = isub %n, %two
  %x = f %a
  %y = f %b
  %z = iadd %x, %y
  return %z
}",
    )
    .unwrap();
    assert_eq!((head.blocks.len(), head.goes_on), (2, SHARE_ONE / 2));
    assert_eq!(shown.matches("= f ").count(), 1, "{shown}");
}

#[test]
fn ways_that_meet_at_one_return() {
    let (head, shown) = of_last_two(
        "func %f(%x: i64, %y: i64) -> i64 {
  br %x, some, out(%y)
some:
  %q = udiv %y, %x
  %r = iadd %q, %x
  jump out(%r)
out(%z: i64):
  return %z
}
func %g(%x: i64, %y: i64) -> i64 {
  %a = f %x, %y
  return %a
}
",
    )
    .unwrap();
    assert_eq!((head.blocks.len(), head.goes_on), (2, SHARE_ONE / 2), "{shown}");
}

#[test]
fn no_loop_is_in_a_head() {
    let text = "func %f(%n: i64) -> i64 {
  %zero: i64 = const 0
  %one: i64 = const 1
  jump again(%zero)
again(%i: i64):
  %more = icmp_slt %i, %n
  br %more, body, out
body:
  %next = iadd %i, %one
  jump again(%next)
out:
  return %i
}
func %g(%x: i64) -> i64 {
  %a = f %x
  return %a
}
";
    assert_eq!(of_last_two(text), None);
}

#[test]
fn the_longest_block_is_left_to_the_call() {
    let sums: String = (0..11).map(|n| format!("  %s{} = iadd %s{n}, %y\n", n + 1)).collect();
    let (head, shown) = of_last_two(&format!(
        "func %f(%x: i64, %y: i64) -> i64 {{
  %one: i64 = const 1
  br %x, some, none
none:
  return %y
some:
  %s0 = isub %x, %one
  br %s0, more, next
next:
{sums}  %s12 = iadd %s11, %s0
  return %s12
more:
  %q = udiv %y, %x
  return %q
}}
func %g(%x: i64, %y: i64) -> i64 {{
  %a = f %x, %y
  return %a
}}
"
    ))
    .unwrap();
    assert_eq!((head.blocks.len(), head.goes_on), (2, SHARE_ONE / 2), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Where a head returns, its function returns the same and nothing else has happened.
    #[test]
    fn heads_return_what_functions_do(seed in any::<u64>(), blocks in 2..12usize) {
        let universe = universe();
        let function = random::function(seed, blocks, &universe);
        let Some(head) = Head::new(&function, &universe) else { return Ok(()) };
        let alone = head.alone(&function);
        prop_assert_eq!(verify(&alone, &universe), []);
        for n in 0..5 {
            let returned = random::run(&alone, &universe, [n - 1, seed as i32 as i64 >> n], 300);
            if returned.outcome != Outcome::Trap(0) {
                let wanted = random::run(&function, &universe, [n - 1, seed as i32 as i64 >> n], 300);
                prop_assert_eq!(returned, wanted);
            }
        }
    }
}
