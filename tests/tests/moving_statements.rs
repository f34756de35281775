//! Statements that only allocate are executed where what they give is needed, and never more often than before.

use rewright_cfg_skeleton::ir::cfg::FREQUENCY_ONE;
use rewright_cfg_skeleton::select::COST_SCALE;
use rewright_tests::domain::Optimised;

/// Layers of a network, on matrices that are made and on rows that are only described.
const LAYERS: &str = "
pack layers
type i8 model bv8
type Matrix
type Rows
type Function
fn product(a: Matrix, b: Matrix) -> Matrix effects allocates(heap) cost 6000
fn made(x: Rows) -> Matrix effects allocates(heap) cost 900
fn noisy(x: Matrix) -> Matrix effects allocates(heap), io cost 900
fn dense(f: Function, w: Matrix, x: Matrix, b: Matrix) -> Matrix effects allocates(heap) cost 6100
fn rows(x: Matrix) -> Rows pure cost 1
fn sum(x: Rows, y: Rows) -> Rows pure cost 5
fn each(f: Function, x: Rows) -> Rows pure cost 5
unsafe rule unmade(x: Rows): rows(made(x)) => x removes allocates(heap) because \"fresh\"
unsafe rule dense(f: Function, w: Matrix, x: Matrix, b: Matrix):
    made(each(f, sum(rows(product(w, x)), rows(b)))) => dense(f, w, x, b)
  removes allocates(heap) because \"fresh\"
schedule default { saturate rules }
";

const FORWARD: &str = "
func %f(%w: Matrix, %x: Matrix, %b: Matrix, %f: Function, %training: i8) -> Matrix {
  %wx = product %w, %x
  %l = rows %wx
  %lb = rows %b
  %s = sum %l, %lb
  %logits = made %s
  br %training, t, e
t:
  %d = noisy %logits
  %ld = rows %d
  %fd = each %f, %ld
  %y = made %fd
  return %y
e:
  %le = rows %logits
  %fe = each %f, %le
  %z = made %fe
  return %z
}
";

const OBJECTS: &str = "
pack objects
type i32 model bv32
type Item
fn make(n: i32) -> Item effects allocates(heap) cost 100
fn copy(x: Item) -> Item effects allocates(heap) cost 100
fn snapshot() -> Item effects reads(cell), allocates(heap) cost 100
fn put(x: Item) -> () effects writes(cell) cost 3
fn say(x: Item) -> Item effects io cost 10
fn look(x: Item) -> Item pure cost 5
fn dear(n: i32) -> i32 pure cost 300
fn cheap(n: i32) -> i32 pure cost 3
fn number(x: Item) -> i32 pure cost 5
rule look_again(x: Item): look(look(x)) => look(x)
schedule default { saturate rules }
";

/// The operations of each block of a function, in order of the text.
fn blocks(done: &Optimised, name: &str) -> Vec<Vec<String>> {
    let (text, mut operations) = (done.text(name), done.operations(name).into_iter());
    let mut blocks: Vec<Vec<String>> = vec![];
    for line in text.lines().skip(1) {
        let line = line.trim();
        if line.ends_with(':') {
            blocks.push(vec![]);
        } else if let Some(next) = operations.as_slice().first()
            && line.split(" = ").last().is_some_and(|right| right.starts_with(next.as_str()))
        {
            blocks.last_mut().expect("there is one").extend(operations.next());
        }
    }
    assert!(operations.next().is_none(), "{text}");
    blocks
}

/// A function over `%n` and `%x` of the objects, with conditions `%c` and `%d`.
fn optimised(body: &str) -> Optimised {
    let module = format!("func %f(%n: i32, %x: Item, %c: i32, %d: i32) -> Item {{\n{body}\n}}\n");
    Optimised::new(OBJECTS, &module)
}

/// What stays in the entry of a function.
fn entry(body: &str) -> Vec<String> {
    blocks(&optimised(body), "f").swap_remove(0)
}

/// Only training needs the product by itself. Arms of a branch share its executions, so that the fused operation is worth
/// it in the other one.
#[test]
fn an_arm_that_can_do_with_less_makes_less() {
    let done = Optimised::new(LAYERS, FORWARD);
    let wanted =
        [vec![], vec!["product", "rows", "rows", "sum", "made", "noisy", "rows", "each", "made"], vec!["dense"]];
    assert_eq!(blocks(&done, "f"), wanted, "{}", done.text("f"));
    let moved: Vec<(&str, usize)> =
        done.outcome("f").moved_statements.iter().map(|m| (m.operation.as_str(), m.places)).collect();
    assert_eq!(moved, [("product", 1), ("made", 1)]);
}

/// The same where nothing has an effect.
#[test]
fn an_arm_that_can_do_with_less_computes_less() {
    let pure = LAYERS.replace("effects allocates(heap) cost", "pure cost").replace("unsafe rule", "rule");
    let pure = pure.replace(" removes allocates(heap) because \"fresh\"", "");
    let done = Optimised::new(&pure, FORWARD);
    assert_eq!(blocks(&done, "f")[2], ["dense"], "{}", done.text("f"));
}

#[test]
fn what_nothing_needs_is_not_made() {
    let done = optimised("%a = make %n\n%b = copy %a\n%s = say %x\nreturn %s");
    assert_eq!(blocks(&done, "f"), [["say"]]);
    let moved: Vec<usize> = done.outcome("f").moved_statements.iter().map(|m| m.places).collect();
    assert_eq!(moved, [0, 0]);
}

#[test]
fn what_one_arm_needs_is_made_there() {
    let arm = |other: &str| format!("%a = make %n\nbr %c, t, e\nt:\n  %s = say %a\n  return %s\ne:\n  {other}");
    assert!(entry(&arm("return %x")).is_empty());
    // At an edge into a merge, too.
    assert!(entry("%a = make %n\nbr %c, m(%a), m(%x)\nm(%z: Item):\n  return %z").is_empty());
    // Both need it: once before the branch.
    assert_eq!(entry(&arm("return %a")), ["make"]);
}

#[test]
fn one_object_stays_one_object() {
    // Two branches in a row see the same one.
    let twice = "%a = make %n\nbr %c, t, e\nt:\n  %s = say %a\n  jump e\ne:\n  br %d, u, v\nu:\n  %w = say %a\n  jump v\nv:\n  return %x";
    assert_eq!(entry(twice), ["make"]);
    // A loop sees it in each iteration.
    let each = "%a = make %n\njump l\nl:\n  %s = say %a\n  br %c, l, o\no:\n  return %x";
    assert_eq!(entry(each), ["make"]);
    // Each iteration makes one, and the last one is used behind the loop.
    let last = optimised("jump l\nl:\n  %a = make %n\n  %s = say %x\n  br %c, l, o\no:\n  %t = say %a\n  return %t");
    assert_eq!(blocks(&last, "f")[1], ["make", "say"], "{}", last.text("f"));
    // Control comes into a loop at two places, and round again to where it is used.
    let round = "%a = make %n\nbr %c, l, m\nl:\n  %s = say %a\n  jump m\nm:\n  br %d, l, o\no:\n  return %x";
    assert_eq!(entry(round), ["make"]);
}

#[test]
fn what_a_write_may_change_is_made_before_it() {
    let arm = |made: &str, between: &str| {
        format!("%a = {made}\n{between}\nbr %c, t, e\nt:\n  %s = say %a\n  return %s\ne:\n  return %x")
    };
    assert_eq!(entry(&arm("make %n", "put %x")), ["put"], "a number is a number");
    assert_eq!(entry(&arm("copy %x", "put %x")), ["copy", "put"], "what is copied may be gone");
    assert_eq!(entry(&arm("copy %x", "%o = say %x")), ["say"]);
    assert_eq!(entry(&arm("snapshot", "put %x")), ["snapshot", "put"], "it reads what is written");
    // The stored value is needed where the store happens.
    assert_eq!(entry(&arm("make %n", "put %a")), ["make", "put"]);
}

/// Arms are rarer with each branch, and something is always left of them.
#[test]
fn deep_arms_still_weigh_something() {
    let mut body = String::from("%a = make %n\n");
    for n in 0..8 {
        body += &format!("br %c, t{n}, e{n}\ne{n}:\n  return %x\nt{n}:\n");
    }
    let done = optimised(&(body + "  %s = say %a\n  return %s"));
    let blocks = blocks(&done, "f");
    assert_eq!(blocks.iter().flatten().count(), 2, "{}", done.text("f"));
    assert!(blocks[0].is_empty(), "{}", done.text("f"));
}

/// Copies in all arms cost together what one above them does, whatever the number of arms; the one is smaller.
#[test]
fn what_all_arms_compute_is_computed_once() {
    let two = "br %c, t, e\nt:\n  %a = dear %n\n  %x1 = make %a\n  return %x1\ne:\n  %b = dear %n\n  %y = cheap %b\n  %x2 = make %y\n  return %x2";
    assert_eq!(entry(two), ["dear"]);
    let three = "br %c, t, e\nt:\n  %a = dear %n\n  %x1 = make %a\n  return %x1\ne:\n  br %d, u, v\nu:\n  %b = dear %n\n  %y = cheap %b\n  %x2 = make %y\n  return %x2\nv:\n  %g = dear %n\n  %h = cheap %g\n  %i = cheap %h\n  %x3 = make %i\n  return %x3";
    assert_eq!(entry(three), ["dear"]);
    let done = optimised(two);
    let outcome = done.outcome("f");
    assert_eq!(outcome.cost_before, outcome.cost_after, "what is executed costs the same");
    // One arm does without it.
    let one = "br %c, t, e\nt:\n  %a = dear %n\n  %x1 = make %a\n  return %x1\ne:\n  return %x";
    assert!(entry(one).is_empty());
}

/// What traps, or never returns, is an arm like any other.
#[test]
fn arms_without_an_end_have_their_own_objects() {
    assert!(entry("%a = make %n\nbr %c, t, e\nt:\n  put %a\n  trap 1\ne:\n  return %x").is_empty());
    let endless = optimised("%a = make %n\nbr %c, t, e\nt:\n  jump u\nu:\n  %s = say %a\n  jump u\ne:\n  return %x");
    let blocks = blocks(&endless, "f");
    assert_eq!(blocks[0], Vec::<String>::new());
    assert_eq!(blocks.concat(), ["make", "say"], "{}", endless.text("f"));
    assert!(blocks.iter().any(|block| block == &["make"]), "one for all iterations: {}", endless.text("f"));
}

/// The block that dominates the rest is an exit: what is read before it is written is made before both.
#[test]
fn what_is_read_before_it_is_written_is_made_before_both() {
    let exit = "%a = make %n\n%r = number %a\nput %a\nbr %r, t, e\nt:\n  return %x\ne:\n  %s = say %a\n  return %s";
    assert_eq!(entry(exit), ["make", "number", "put"]);
}

/// A branch that an argument decides: what its arm costs is executed in full.
#[test]
fn a_branch_that_an_argument_decides_has_one_arm() {
    let module = "
func %callee(%n: i32, %c: i32) -> i32 {
  br %c, t, e
t:
  %a = dear %n
  return %a
e:
  %b = cheap %n
  return %b
}
func %dear_one(%n: i32) -> i32 {
  %c: i32 = const 1
  %r = callee %n, %c
  return %r
}
func %cheap_one(%n: i32) -> i32 {
  %c: i32 = const 0
  %r = callee %n, %c
  return %r
}
";
    let done = Optimised::new(OBJECTS, module);
    for (name, operation, cost) in [("dear_one", "dear", 300), ("cheap_one", "cheap", 3)] {
        assert_eq!(blocks(&done, name), [[operation]]);
        let outcome = done.outcome(name);
        assert_eq!(outcome.cost_after, cost * COST_SCALE * FREQUENCY_ONE);
        assert!(outcome.cost_after < outcome.cost_before, "{} {}", outcome.cost_before, outcome.cost_after);
    }
}
