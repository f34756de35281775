//! What is promoted, what never, and that random functions do the same.

use super::*;
use crate::ir::interp::Outcome;
use crate::ir::text::print;
use crate::ir::verify::verify;
use crate::ir::{Cfg, Function};
use crate::skeleton::build;
use crate::skeleton::programs::{forwarded, function, written};
use crate::testing::{random, trap_code, universe};
use rewright_typeprop::Universe;

/// A function with its promotions, as long as there are some, and how many loads and stores they are.
fn promoted(f: &Function, u: &Universe) -> (Function, [usize; 2]) {
    let (mut out, mut found) = (f.clone(), [0, 0]);
    crate::ir::normalise::normalise(&mut out);
    for _ in 0..4 {
        let cfg = Cfg::new(&out);
        let s = build(&out, &cfg, u, &trap_code);
        let view = forwarded(&s.input, u);
        let given = Saturated { function: &out, cfg: &cfg, universe: u, skeleton: &s, view: &view };
        let Some(promotion) = promotion(given) else { break };
        found[0] += promotion.loads();
        found[1] += promotion.stores();
        let next = apply_promotion(&out, &promotion);
        assert!(verify(&next, u).is_empty(), "{:?}\n{}{}", verify(&next, u), print(&out, u), print(&next, u));
        out = next;
    }
    (out, found)
}

/// How many loads and stores are promoted.
fn count(text: &str) -> [usize; 2] {
    let mut u = universe();
    let f = function(text, &mut u);
    promoted(&f, &u).1
}

/// A loop that is left behind its test, which is last; with what is before it and what it does.
fn counting(before: &str, body: &str, behind: &str) -> String {
    format!(
        "func %f(%p: i64, %n: i32, %k: i32) -> i32 {{
  %o: i64 = const 0
  %four: i64 = const 4
  %two: i64 = const 2
  %one: i32 = const 1
  {before}
  jump head(%n)
head(%i: i32):
  {body}
  %j = isub %i, %one
  br %j, head(%j), out
out:
  {behind}
  return %k
}}
"
    )
}

const ADD: &str = "%x: i32 = load %p, %o\n  %y = iadd %x, %k\n  store %p, %y, %o";

#[test]
fn a_loop_keeps_in_a_parameter_what_it_kept_in_memory() {
    assert_eq!(count(&counting("", ADD, "")), [1, 1]);
    // A location that is only stored to gets one store, at the end.
    assert_eq!(count(&counting("", "store %p, %i, %o", "")), [0, 1]);
    // A load behind the loop is one of what is stored there.
    assert_eq!(count(&counting("", ADD, "%z: i32 = load %p, %o\n  store %p, %z, %four")), [2, 1]);
}

#[test]
fn nothing_is_stored_late_that_may_be_seen_before() {
    for seen in ["opaque 1 observes ()", "opaque 1 writes ()", "tick", "%d = udiv %k, %i", "check.trapz %k, 7"] {
        assert_eq!(count(&counting("", &format!("{ADD}\n  {seen}"), ""))[1], 0, "{seen}");
    }
    // A store that may trap may be seen as well.
    assert_eq!(count(&counting("", "store %p, %i, %o trap=3", ""))[1], 0);
}

#[test]
fn other_accesses_of_the_region_keep_stores_in_the_loop() {
    for other in [
        "store %p, %k, %two",
        "store %p, %k, %four",
        "%l: i32 = load %p, %two\n  store %p, %l, %o",
        "%l: i8 = load %p, %o\n  br %l, yes, no\nyes:\n  jump no\nno:",
        "%w: i64 = load %p, %o\n  store %p, %w, %o",
    ] {
        assert_eq!(count(&counting("", &format!("{ADD}\n  {other}"), ""))[1], 0, "{other}");
    }
    // Elsewhere from the same base.
    let other = "%l: i32 = load %p, %four\n  %m = iadd %l, %y\n  store %p, %m, %o";
    assert_eq!(count(&counting("", &format!("{ADD}\n  {other}"), ""))[1], 1);
}

/// A loop whose test comes first.
fn testing_first(before: &str) -> String {
    format!(
        "func %f(%p: i64, %n: i32, %k: i32) -> i32 {{
  %o: i64 = const 0
  {before}
  jump head(%n)
head(%i: i32):
  br %i, body, out
body:
  {ADD}
  %one: i32 = const 1
  %j = isub %i, %one
  jump head(%j)
out:
  return %k
}}
"
    )
}

#[test]
fn no_path_gets_an_access_that_had_none() {
    assert_eq!(count(&testing_first("")), [0, 0]);
    assert_eq!(count(&testing_first("%v: i32 = load %p, %o")), [1, 0]);
    assert_eq!(count(&testing_first("store %p, %k, %o")), [1, 1]);
    // Others may have been told, or the memory may be gone.
    assert_eq!(count(&testing_first("store %p, %k, %o\n  opaque 1 writes ()")), [0, 0]);
    assert_eq!(count(&testing_first("store %p, %k, %o\n  opaque 1 observes ()")), [1, 0]);
    // A store on one path only.
    let one = "br %k, yes, no\nyes:\n  store %p, %k, %o\n  jump no\nno:";
    assert_eq!(count(&testing_first(one)), [0, 0]);
}

/// Arms, with a load behind them.
fn arms(then: &str, els: &str, behind: &str) -> String {
    format!(
        "func %f(%p: i64, %q: i64, %k: i32) -> i32 {{
  %o: i64 = const 0
  br %k, then, els
then:
  {then}
  jump join
els:
  {els}
  jump join
join:
  {behind}
  %v: i32 = load %p, %o
  return %v
}}
"
    )
}

#[test]
fn a_load_is_forwarded_from_all_arms() {
    let store = "store %p, %k, %o";
    assert_eq!(count(&arms(store, store, "")), [1, 0]);
    assert_eq!(count(&arms(store, "%l: i32 = load %p, %o\n  %m = iadd %l, %k\n  store %p, %m, %o", "")), [1, 0]);
    // One arm knows nothing of it, or of another address, or of other bytes.
    for other in ["", "store %q, %k, %o", "opaque 1 writes ()", "%w: i64 = load %p, %o\n  store %p, %w, %o"] {
        assert_eq!(count(&arms(store, other, "")), [0, 0], "{other}");
    }
    assert_eq!(count(&arms(store, store, "opaque 1 writes ()")), [0, 0]);
}

#[test]
fn a_load_goes_to_the_rare_arm_that_knows_no_value() {
    let mut u = universe();
    let rare = |text: &str, u: &mut Universe| {
        let mut f = function(text, u);
        f.blocks[2].cold = true;
        promoted(&f, u).1
    };
    let store = "store %p, %k, %o";
    assert_eq!(rare(&arms(store, "store %q, %k, %o", ""), &mut u), [1, 0]);
    // The check before the load may end the function.
    assert_eq!(rare(&arms(store, "store %q, %k, %o", "check.trapz %k, 7"), &mut u), [0, 0]);
}

#[test]
fn regions_are_apart() {
    let text = |region: u32| {
        format!(
            "func %f(%p: i64, %q: i64, %n: i32) -> i32 {{
  regions p, q
  %o: i64 = const 0
  %one: i32 = const 1
  jump head(%n)
head(%i: i32):
  %x: i32 = load %p, %o @region1
  %y = iadd %x, %i
  store %p, %y, %o @region1
  store %q, %i, %o @region{region}
  %j = isub %i, %one
  br %j, head(%j), out
out:
  return %n
}}
"
        )
    };
    assert_eq!(count(&text(2)), [1, 2]);
    assert_eq!(count(&text(1)), [0, 0]);
}

#[test]
fn random_loops_and_arms_do_the_same() {
    let (mut found, mut ended) = ([0, 0], 0);
    for seed in 0..600 {
        let mut u = universe();
        let f = function(&written(seed), &mut u);
        let (out, [loads, stores]) = promoted(&f, &u);
        found = [found[0] + loads, found[1] + stores];
        if loads + stores > 0 {
            random::assert_same(&f, &out, &u, seed);
            ended += usize::from(random::run(&f, &u, [5, 2], 300).outcome != Outcome::OutOfFuel);
        }
    }
    assert!(found[0] >= 300 && found[1] >= 60 && ended >= 100, "{found:?}, {ended}");
}

#[test]
fn random_functions_do_the_same() {
    let u = universe();
    let mut found = [0, 0];
    for seed in 0..6000 {
        let mut f = random::function(seed, 2 + seed as usize % 9, &u);
        crate::ir::normalise::normalise(&mut f);
        let (out, [loads, stores]) = promoted(&f, &u);
        found = [found[0] + loads, found[1] + stores];
        if loads + stores > 0 {
            random::assert_same(&f, &out, &u, seed);
        }
    }
    assert!(found[0] >= 2 && found[1] >= 8, "{found:?}");
}
