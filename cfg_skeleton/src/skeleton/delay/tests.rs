//! Which stores go, which are executed later, which stay, and that random functions do the same.

use super::*;
use crate::ir::interp::{self, Host, Memory, Outcome};
use crate::ir::text::print;
use crate::ir::{Cfg, Inst, InstKind, PayloadId};
use crate::skeleton::build;
use crate::skeleton::programs::{forwarded, function, written};
use crate::testing::{random, trap_code, universe};
use rewright_typeprop::Universe;
use smallvec::{SmallVec, smallvec};

/// A function with its stores where they are needed, as long as that changes something, and how many have gone and been
/// delayed.
fn delayed(f: &Function, u: &Universe) -> (Function, [usize; 2]) {
    let (mut out, mut found) = (f.clone(), [0, 0]);
    crate::ir::normalise::normalise(&mut out);
    for _ in 0..4 {
        let cfg = Cfg::new(&out);
        let s = build(&out, &cfg, u, &trap_code);
        let view = forwarded(&s.input, u);
        let delays = delays(Saturated { function: &out, cfg: &cfg, universe: u, skeleton: &s, view: &view });
        if delays.is_empty() {
            break;
        }
        let gone = delays.iter().filter(|delay| delay.is_gone()).count();
        found = [found[0] + gone, found[1] + delays.len() - gone];
        out = apply_delays(&out, &delays);
    }
    (out, found)
}

/// How many stores go, and how many are delayed; the function does the same.
fn count(text: &str) -> [usize; 2] {
    let mut u = universe();
    let f = function(text, &mut u);
    let (out, found) = delayed(&f, &u);
    random::assert_same(&f, &out, &u, 1);
    if found == [0, 0] {
        return found;
    }
    assert_ne!(print(&f, &u), print(&out, &u));
    found
}

/// A store, arms behind it, and what is behind these.
fn arms(store: &str, then: &str, els: &str, behind: &str) -> String {
    format!(
        "func %f(%p: i64, %k: i32, %n: i32) -> i32 {{
  %o: i64 = const 0
  %two: i64 = const 2
  %four: i64 = const 4
  %q: i64 = iadd %p, %four
  {store}
  br %k, then, els
then:
  {then}
  jump join
els:
  {els}
  jump join
join:
  {behind}
  return %k
}}
"
    )
}

const STORE: &str = "store %p, %k, %o";
const LATER: &str = "store %p, %n, %o";
const BESIDE: &str = "store %p, %k, %four";

#[test]
fn a_store_that_is_overwritten_behind_a_merge_goes() {
    // Without a store in an arm there is one state, and selection sees to it.
    assert_eq!(count(&arms(STORE, "", "", LATER)), [0, 0]);
    assert_eq!(count(&arms(STORE, BESIDE, "", LATER)), [1, 0]);
    // Whoever may write the same bytes does not read them.
    assert_eq!(count(&arms(STORE, "store %p, %k, %two", "", LATER)), [1, 0]);
    // What is loaded on the way is what was stored.
    assert_eq!(count(&arms(STORE, "%l: i32 = load %p, %o\n  store %p, %l, %four", "", LATER)), [1, 0]);
    // All of the bytes are overwritten, and the address is a sum.
    let narrow = "%s: i16 = const 7\n  store %q, %s, %o";
    assert_eq!(count(&arms(narrow, STORE, "", "store %p, %n, %four"))[0], 1);
    assert_eq!(count(&arms("store %p, %k, %four", STORE, "", narrow))[0], 0);
}

#[test]
fn what_is_seen_on_a_way_is_stored_before() {
    for seen in [
        "%l: i32 = load %p, %two\n  store %p, %l, %four",
        "%l: i8 = load %p, %o\n  br %l, yes, no\nyes:\n  jump no\nno:",
        "opaque 1 observes ()",
        "opaque 1 writes ()",
        "tick",
        "%d = udiv %k, %n",
        "check.trapz %n, 7",
        "store %p, %k, %four trap=3",
        "return %n\nmore:",
    ] {
        assert_eq!(count(&arms(STORE, BESIDE, seen, LATER))[0], 0, "{seen}");
        assert_eq!(count(&arms(STORE, BESIDE, "", &format!("{seen}\n  {LATER}")))[0], 0, "{seen}");
    }
    // One that overwrites it, and may trap.
    assert_eq!(count(&arms(STORE, BESIDE, "", &format!("{LATER} trap=3")))[0], 0);
}

#[test]
fn a_store_that_one_arm_needs_is_executed_there() {
    for seen in ["", "tick", "opaque 1 observes ()", "%l: i32 = load %p, %two\n  store %p, %l, %four"] {
        // The other one overwrites it.
        assert_eq!(count(&arms(STORE, LATER, seen, "")), [0, 1], "{seen}");
    }
    assert_eq!(count(&arms(STORE, "tick", "", LATER)), [0, 1]);
    // Both need it, or one of them writes to bytes of it.
    assert_eq!(count(&arms(STORE, "tick", "tick", LATER)), [0, 0]);
    assert_eq!(count(&arms(STORE, "store %p, %n, %two", "tick", LATER)), [0, 1]);
    // It passes no store to its bytes, and nothing that looks.
    for before in ["store %p, %n, %two", "tick", "%l: i16 = load %p, %two\n  store %p, %l, %four"] {
        assert_eq!(count(&arms(&format!("{STORE}\n  {before}"), LATER, "", ""))[1], 0, "{before}");
    }
    assert_eq!(count(&arms(&format!("{STORE}\n  {BESIDE}"), LATER, "", ""))[1], 1);
}

#[test]
fn a_store_that_may_trap_leaves_that_to_the_next_one() {
    let trapping = |store: &str| format!("{store} trap=3");
    let (store, later) = (trapping(STORE), trapping(LATER));
    // Nothing but an equal store is next, on all ways.
    assert_eq!(count(&arms(&store, &later, "", "")), [0, 1]);
    assert_eq!(count(&arms(&store, &later, "tick", "")), [0, 1]);
    assert_eq!(count(&arms(&store, &format!("{later}\n  {BESIDE}"), "", &later)), [1, 0]);
    for other in [
        "store %p, %n, %o trap=2".to_string(),
        LATER.to_string(),
        format!("{BESIDE}\n  {later}"),
        // It does not trap where the first store has not.
        "%l: i32 = load %p, %four\n  %m = iadd %l, %n\n  store %p, %m, %o trap=3".to_string(),
        "store %q, %n, %o trap=3".to_string(),
    ] {
        assert_eq!(count(&arms(&store, &other, "", "")), [0, 0], "{other}");
    }
}

/// A store, and a loop behind it.
fn looping(before: &str, body: &str, behind: &str) -> String {
    format!(
        "func %f(%p: i64, %k: i32, %n: i32) -> i32 {{
  %o: i64 = const 0
  %four: i64 = const 4
  %one: i32 = const 1
  {before}
  jump head(%n, %p)
head(%i: i32, %r: i64):
  br %i, body, out
body:
  {body}
  %j = isub %i, %one
  %s = iadd %r, %four
  %m = band %j, %one
  jump head(%m, %s)
out:
  {behind}
  return %k
}}
"
    )
}

#[test]
fn a_loop_is_passed_but_not_by_a_store_in_it() {
    assert_eq!(count(&looping(STORE, BESIDE, LATER)), [1, 0]);
    assert_eq!(count(&looping(STORE, "tick", LATER)), [0, 0]);
    // It stores to another address in each iteration.
    assert_eq!(count(&looping("", "store %r, %k, %o", "")), [0, 0]);
    let overwritten = "br %k, a, b\na:\n  store %r, %k, %four\n  jump c\nb:\n  jump c\nc:\n  store %r, %n, %o";
    assert_eq!(count(&looping("", &format!("store %r, %k, %o\n  {overwritten}"), ""))[0], 1);
    // The next iteration stores where this one has not.
    assert_eq!(count(&looping("", &format!("{overwritten}\n  store %r, %k, %o"), LATER)), [0, 0]);
    let head = "func %f(%p: i64, %k: i32, %n: i32) -> i32 {
  %o: i64 = const 0
  %four: i64 = const 4
  %one: i32 = const 1
  jump head(%n, %p)
head(%i: i32, %r: i64):
  store %r, %i, %o
  br %i, body, out
body:
  store %r, %k, %o
  %s = iadd %r, %four
  %m = band %k, %one
  jump head(%m, %s)
out:
  return %k
}
";
    // That at the head is needed only where the loop is left, the other one wherever it is executed.
    assert_eq!(count(head), [0, 1]);
    // One that may not end does not trap.
    let [store, later] = [STORE, LATER].map(|store| format!("{store} trap=3"));
    assert_eq!(count(&looping(&store, "", &later)), [0, 0]);
}

#[test]
fn an_arm_that_is_executed_more_often_gets_no_store() {
    let mut u = universe();
    let mut f = function(&arms(STORE, LATER, "", ""), &mut u);
    f.blocks[0].cold = true;
    assert_eq!(delayed(&f, &u).1, [0, 1]);
    // Both arms of an arm need it.
    let seen = "opaque 1 observes ()";
    let text = arms(STORE, LATER, &format!("br %n, a, b\na:\n  {seen}\n  return %n\nb:\n  {seen}"), "");
    assert_eq!(count(&text), [0, 1]);
    // Two of three need it: they are rarer than all only where arms share what their branch is executed.
    let text =
        |seen: &str| arms(STORE, &format!("br %n, a, b\na:\n  store %p, %n, %o\n  return %k\nb:\n  {seen}"), seen, "");
    assert_eq!(count(&text(seen)), [0, 0]);
    assert_eq!(count(&text("tick")), [0, 1]);
}

#[test]
fn random_loops_and_arms_do_the_same() {
    let (mut found, mut ended) = ([0, 0], 0);
    for seed in 0..1500 {
        let mut u = universe();
        let f = function(&written(seed), &mut u);
        let (out, [gone, later]) = delayed(&f, &u);
        found = [found[0] + gone, found[1] + later];
        if gone + later > 0 {
            random::assert_same(&f, &out, &u, seed);
            ended += usize::from(random::run(&f, &u, [5, 2], 300).outcome != Outcome::OutOfFuel);
        }
    }
    assert!(found[0] >= 50 && found[1] >= 50 && ended >= 50, "{found:?}, {ended}");
}

#[test]
fn random_functions_do_the_same() {
    let u = universe();
    let mut found = [0, 0];
    for seed in 0..6000 {
        let f = random::function(seed, 2 + seed as usize % 9, &u);
        let (out, [gone, later]) = delayed(&f, &u);
        found = [found[0] + gone, found[1] + later];
        if gone + later > 0 {
            random::assert_same(&f, &out, &u, seed);
        }
    }
    assert!(found[0] + found[1] >= 5, "{found:?}");
}

/// The opaque instruction that gives the address of an object.
const OBJECT: PayloadId = PayloadId(100);

/// Gives that address, and knows nothing of memory otherwise.
#[derive(Default)]
struct Outside(Vec<(u32, Vec<i64>)>);

impl Host for Outside {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        let InstKind::Opaque { payload, .. } = inst.kind else {
            return Err(Outcome::Unsupported("an operation".into()));
        };
        if payload == OBJECT {
            return Ok(smallvec![random::ADDRESS]);
        }
        self.0.push((payload.0, args.to_vec()));
        Ok(inst.results.iter().map(|_| self.0.len() as i64).collect())
    }
}

/// The outcome and the calls of a function of an object at `%p`.
fn seen(f: &Function, u: &Universe, args: [i64; 2]) -> (Outcome, Vec<(u32, Vec<i64>)>) {
    let (mut memory, mut outside) = (Memory::default(), Outside::default());
    memory.add(random::ADDRESS as u64, (0..16).collect());
    let outcome = interp::run(f, u, &[0, args[0], args[1]], &mut memory, &mut outside, 3000);
    (outcome, outside.0)
}

/// A function in which `%p` is the address of an object of its own instead of a parameter.
fn with_object(text: &str, u: &mut Universe) -> Function {
    let (head, body) = text.split_once('\n').unwrap();
    let head = head.replace("%p: i64", "%before: i64");
    let mut f = function(&format!("{head}\n  %p: i64 = opaque {} pinned ()\n{body}", OBJECT.0), u);
    f.objects.set_place(OBJECT, Place { object: ObjectId::Numbered(0), offset: 0, size: Some(16) });
    f
}

#[test]
fn what_is_stored_in_an_own_object_and_not_read_again_goes() {
    let count = |text: &str| {
        let mut u = universe();
        let f = with_object(text, &mut u);
        let (out, found) = delayed(&f, &u);
        assert_eq!(seen(&f, &u, [1, 2]), seen(&out, &u, [1, 2]), "{text}");
        found
    };
    assert_eq!(count(&arms(STORE, "", "", "")), [1, 0]);
    assert_eq!(count(&arms(STORE, BESIDE, LATER, "opaque 1 writes ()")), [3, 0]);
    // Within the object, a store does not trap; elsewhere, it may.
    assert_eq!(count(&arms("store %p, %k, %o trap=3", "", "", "")), [1, 0]);
    assert_eq!(count(&arms("%x: i64 = const 16\n  store %p, %k, %x trap=3", "", "", "")), [0, 0]);
    // A loop stores to it again and again, and reads nothing.
    let looping = "jump l(%k)\nl(%i: i32):\n  store %p, %i, %o\n  br %i, l(%n), m\nm:\n  store %p, %n, %four\n  return %i\nnever:";
    assert_eq!(count(&arms(looping, "", "", "")), [2, 0]);
    // What is read in one arm is stored there.
    let read = "%l: i32 = load %q, %o\n  opaque 2 writes (%l)";
    assert_eq!(count(&arms("store %p, %k, %o\n  store %p, %k, %four", read, "", "")), [1, 1]);
    assert_eq!(count(&arms(STORE, "opaque 1 writes (%p)", "", "")), [0, 0]);
}

#[test]
fn random_functions_of_an_own_object_do_the_same() {
    let (mut found, mut ended) = ([0, 0], 0);
    for seed in 0..1500 {
        let mut u = universe();
        let f = with_object(&written(seed), &mut u);
        let (out, [gone, later]) = delayed(&f, &u);
        found = [found[0] + gone, found[1] + later];
        for args in [[5, 2], [-3, 1], [1 << 20, 0]] {
            let before = seen(&f, &u, args);
            if before.0 != Outcome::OutOfFuel {
                assert_eq!(before, seen(&out, &u, args), "{}{}", print(&f, &u), print(&out, &u));
                ended += usize::from(gone + later > 0);
            }
        }
    }
    assert!(found[0] >= 500 && ended >= 500, "{found:?}, {ended}");
}
