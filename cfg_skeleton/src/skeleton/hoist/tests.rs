//! Which checks are executed earlier, which never, and that random functions do the same.

use super::*;
use crate::ir::Cfg;
use crate::ir::parse::read;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::skeleton::build;
use crate::testing::{random, trap_code, universe, view};
use rewright_typeprop::Universe;

/// A function with the checks executed earlier, and how many there are.
fn hoisted(f: &Function, u: &Universe) -> (Function, Vec<Hoist>) {
    let cfg = Cfg::new(f);
    let s = build(f, &cfg, u, &trap_code);
    let view = view(&s.input, &[]);
    let found = hoists(Saturated { function: f, cfg: &cfg, universe: u, skeleton: &s, view: &view });
    let out = apply_hoists(f, &found);
    assert!(verify(&out, u).is_empty(), "{:?}\n{}", verify(&out, u), print(&out, u));
    (out, found)
}

/// The blocks at whose ends something is executed.
fn places(text: &str) -> Vec<u32> {
    let mut u = universe();
    let module = read(text, &mut u).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    hoisted(&module.functions[0], &u).1.into_iter().map(|hoist| hoist.to.0).collect()
}

/// A diamond whose arms divide.
fn diamond(before_then: &str, then: &str, before_els: &str, els: &str) -> String {
    format!(
        "func %f(%p: i64, %x: i32, %y: i32, %z: i32) -> i32 {{
  br %z, then, els
then:
  {before_then}
  %a = {then}
  jump join(%a)
els:
  {before_els}
  %b = {els}
  jump join(%b)
join(%r: i32):
  return %r
}}
"
    )
}

#[test]
fn what_both_arms_execute_is_executed_once_before_them() {
    assert_eq!(places(&diamond("", "udiv %x, %y", "", "udiv %x, %y")), [0]);
    // Operands are computed there, too.
    let sum = |name: &str| format!("%{name}: i32 = iadd %x, %y");
    assert_eq!(places(&diamond(&sum("s"), "udiv %x, %s", &sum("t"), "udiv %x, %t")), [0]);
    // It passes what traps with the same code.
    assert_eq!(places(&diamond("%s = udiv %x, %z", "udiv %x, %y", "", "udiv %x, %y")), [0]);
    // An instruction with two conditions goes as a whole.
    assert_eq!(places(&diamond("", "sdiv %x, %y", "", "sdiv %x, %y")), [0]);
}

#[test]
fn what_one_path_does_not_execute_stays() {
    let other = diamond("", "udiv %x, %y", "", "iadd %x, %y");
    assert_eq!(places(&other), [0u32; 0]);
    let divisor = diamond("", "udiv %x, %y", "", "udiv %x, %z");
    assert_eq!(places(&divisor), [0u32; 0]);
    // Both are 0, and trap on different inputs.
    let zero = "%n: i32 = const 0";
    let zeros = diamond(zero, "udiv %n, %y", "%m: i32 = const 0", "udiv %m, %z");
    assert_eq!(places(&zeros), [0u32; 0]);
}

#[test]
fn nothing_that_is_observed_is_passed() {
    let divide = "udiv %x, %y";
    let store = "%o: i64 = const 0\n  store %p, %x, %o";
    // The last one may trap with another code.
    for before in ["tick", store, "%s = sdiv %x, %z"] {
        assert_eq!(places(&diamond(before, divide, "", divide)), [0u32; 0], "{before}");
    }
}

/// A loop that divides, with its test at the end or at the start.
fn looping(head: &str, divisor: &str) -> String {
    format!(
        "func %f(%x: i32, %y: i32, %n: i32) -> i32 {{
  jump head(%n, %x)
head(%i: i32, %s: i32):
  {head}
body:
  %q = udiv %x, {divisor}
  %t = iadd %s, %q
  %one: i32 = const 1
  %j = isub %i, %one
  br %j, head(%j, %t), out(%t)
out(%r: i32):
  return %r
}}
"
    )
}

#[test]
fn what_a_loop_does_not_change_is_executed_before_it_if_it_runs_at_all() {
    assert_eq!(places(&looping("jump body", "%y")), [0]);
    // It may run zero times.
    assert_eq!(places(&looping("br %i, body, out(%s)", "%y")), [0u32; 0]);
    // It is another one in each iteration.
    assert_eq!(places(&looping("jump body", "%i")), [0u32; 0]);
    assert_eq!(places(&looping("jump body", "%s")), [0u32; 0]);
}

/// A loop that loads from an address, with what stands before that in its body.
fn loading(before: &str, load: &str, behind: &str) -> String {
    format!(
        "func %f(%p: i64, %q: i64, %x: i32, %n: i32) -> i32 {{
  regions p, q
  %o: i64 = const 0
  jump body(%n, %x)
body(%i: i32, %s: i32):
  {before}
  %v: i32 = {load}
  {behind}
  %t = iadd %s, %v
  %one: i32 = const 1
  %j = isub %i, %one
  br %j, body(%j, %t), out(%t)
out(%r: i32):
  return %r
}}
"
    )
}

#[test]
fn a_load_goes_where_the_state_is_the_same() {
    for access in ["@region1", "@region1 trap=3"] {
        let load = format!("load %p, %o {access}");
        assert_eq!(places(&loading("", &load, "")), [0], "{access}");
        assert_eq!(places(&loading("", &load, "store %q, %s, %o @region2")), [0], "{access}");
        // The state is another one in each iteration.
        for changes in ["store %p, %s, %o @region1", "store %q, %s, %o @region1", "opaque 1 writes ()"] {
            assert_eq!(places(&loading("", &load, changes)), [0u32; 0], "{access}, {changes}");
        }
    }
}

#[test]
fn a_load_passes_what_it_may() {
    let [free, trapping] = ["@region1", "@region1 trap=3"].map(|access| format!("load %p, %o {access}"));
    // A statement that cannot end the function, but memory shows when it traps.
    let store = "store %q, %s, %o @region2";
    assert_eq!(places(&loading(store, &free, "")), [0]);
    assert_eq!(places(&loading(store, &trapping, "")), [0u32; 0]);
    // The memory that it reads need not be there where another instruction traps.
    for traps in ["%d = udiv %s, %i", "store %q, %s, %o @region2 trap=3", "check.trapz %s, 3", "tick"] {
        assert_eq!(places(&loading(traps, &free, "")), [0u32; 0], "{traps}");
    }
    // One that traps with the same code may.
    assert_eq!(places(&loading("check.trapz %s, 3", &trapping, "")), [0]);
    // Of other bytes at the same address.
    let narrow = "%w: i8 = load %p, %o @region1";
    assert_eq!(places(&loading(narrow, &free, "")).len(), 2);
}

#[test]
fn random_functions_do_the_same() {
    let u = universe();
    let (mut moved, mut loops) = (0, 0);
    for seed in 0..1500 {
        let mut f = random::function(seed, 2 + seed as usize % 9, &u);
        crate::ir::normalise::normalise(&mut f);
        let (out, found) = hoisted(&f, &u);
        moved += found.len();
        loops += found.iter().filter(|hoist| hoist.out_of_loop).count();
        if !found.is_empty() {
            random::assert_same(&f, &out, &u, seed);
        }
    }
    assert!(moved >= 20, "{moved} moved, {loops} out of loops");
}
