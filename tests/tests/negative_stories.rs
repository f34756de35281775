//! What must not happen: rules that are refused, and programs that stay as they are.

use rewright_tests::domain::{Optimised, failed_examples, mistakes};

const DOMAIN: &str = "
pack domain
type i32 model bv32
type Item
type Unit
fn fill(x: Item) -> Item effects allocates(heap) cost 50
fn sort(x: Item) -> Item effects allocates(heap) cost 40
fn lock(m: Item) -> Item effects io cost 10
fn unlock(m: Item) -> Item effects io cost 10
fn wait(x: Item) -> Item effects diverges cost 10
fn get() -> Item effects reads(cell) cost 3
fn put(x: Item) -> () effects writes(cell) cost 3
fn look(x: Item) -> Item pure cost 5
fn pair(x: Item, y: Item) -> Item pure cost 5
";

fn with(rules: &str) -> String {
    format!("{DOMAIN}{rules}")
}

fn codes(rules: &str) -> Vec<String> {
    mistakes(&with(rules)).into_iter().map(|(code, _)| code).collect()
}

#[test]
fn a_plain_rule_on_a_call_with_an_effect_is_refused() {
    for (left, right) in [("look(fill(x))", "look(x)"), ("unlock(lock(x))", "x"), ("sort(sort(x))", "sort(x)")] {
        let rule = format!("rule r(x: Item): {left} => {right}\n");
        let found = codes(&rule);
        assert!(!found.is_empty() && found.iter().all(|code| code == "RW0309"), "{rule}: {found:?}");
    }
}

#[test]
fn removes_that_lies_is_refused() {
    let rule =
        |removes: &str| format!("unsafe rule r(x: Item): look(fill(x)) => look(x) removes {removes} because \"so\"\n");
    assert!(codes(&rule("allocates(heap)")).is_empty());
    // Another effect, one too many, another region.
    for lie in ["io", "allocates(heap), io", "allocates(disk)"] {
        assert_eq!(codes(&rule(lie)), ["RW0451"], "{lie}");
    }
    let silent = "unsafe rule r(x: Item): look(fill(x)) => look(x) because \"so\"\n";
    assert_eq!(codes(silent), ["RW0451"]);
    let nothing = "unsafe rule r(x: Item): look(look(x)) => look(x) removes allocates(heap) because \"so\"\n";
    assert_eq!(codes(nothing), ["RW0451"]);
}

#[test]
fn a_wrong_rule_is_caught_by_its_own_example() {
    let examples = "
example \"pairs are ordered\" (x: Item, y: Item): pair(x, y) differs pair(y, x)
example \"but this holds\" (x: Item, y: Item): look(pair(x, y)) differs pair(look(x), look(y))
";
    assert!(failed_examples(&with(&format!("rule right(x: Item): pair(x, x) => x\n{examples}"))).is_empty());
    let wrong = format!("rule wrong(x: Item, y: Item): pair(x, y) => pair(y, x)\n{examples}");
    assert_eq!(failed_examples(&with(&wrong)), ["pairs are ordered"]);
}

/// Even where rules make their operands, and what is made of them, equal.
#[test]
fn two_allocations_are_never_merged() {
    let rules = "
rule same(x: Item): pair(x, x) => x
unsafe rule sorted(x: Item): sort(sort(x)) => sort(x) removes allocates(heap) because \"sorted is sorted\"
";
    let module = "
func %f(%x: Item) -> (Item, Item) {
  %y = pair %x, %x
  %a = sort %x
  %b = sort %y
  return %a, %b
}
";
    let done = Optimised::new(&with(rules), module);
    assert_eq!(done.operations("f"), ["sort", "sort"], "{}", done.text("f"));
    let text = done.text("f");
    let returned = text.lines().find_map(|l| l.trim().strip_prefix("return ")).expect("it returns");
    let (a, b) = returned.split_once(", ").expect("two results");
    assert_ne!(a, b, "{text}");
}

#[test]
fn sorting_twice_keeps_one_sort() {
    let rules = "
unsafe rule sorted(x: Item): sort(sort(x)) => sort(x) removes allocates(heap) because \"sorted is sorted\"
";
    for times in 2..5 {
        let mut module = String::from("func %f(%s0: Item) -> Item {\n");
        for i in 0..times {
            module.push_str(&format!("  %s{} = sort %s{i}\n", i + 1));
        }
        module.push_str(&format!("  return %s{times}\n}}\n"));
        let done = Optimised::new(&with(rules), &module);
        assert_eq!(done.operations("f"), ["sort"], "{}", done.text("f"));
        assert_eq!(done.relaxed("f").len(), times - 1);
    }
}

#[test]
fn unlock_in_one_branch_keeps_both() {
    let rules = "
unsafe rule unlock_lock(m: Item): unlock(lock(m)) => m removes io because \"nothing happens in between\"
";
    let straight = "func %f(%m: Item) -> Item {\n  %l = lock %m\n  %u = unlock %l\n  return %u\n}\n";
    let done = Optimised::new(&with(rules), straight);
    assert!(done.operations("f").is_empty(), "{}", done.text("f"));
    let branch = "
func %f(%m: Item, %c: i32) -> Item {
  %l = lock %m
  br %c, then, els
then:
  %u = unlock %l
  return %u
els:
  return %l
}
";
    // The lock is wanted in the other branch; and where it is not, it may not go alone, nor leave the unlock alone.
    for module in [branch.to_string(), branch.replace("return %l", "return %m")] {
        let done = Optimised::new(&with(rules), &module);
        assert_eq!(done.operations("f"), ["lock", "unlock"], "{}", done.text("f"));
        assert!(done.relaxed("f").is_empty());
    }
}

/// Two statements go together where control comes from the one to the other, each time, and not otherwise.
#[test]
fn lock_and_unlock_go_around_branches_only_as_a_pair() {
    let rules = "
unsafe rule unlock_lock(m: Item): unlock(lock(m)) => m removes io because \"nothing happens in between\"
";
    // What stands between the lock and `%u = unlock %l`, whether the two may go, and what stays.
    let cases = [
        ("diamond", "br %c, then, els\nthen:\n  jump join\nels:\n  %a = sort %m\n  jump join\njoin:", true),
        ("switch", "switch %c, [one, two], one\none:\n  jump join\ntwo:\n  jump join\njoin:", true),
        ("early return", "br %c, leave, stay\nleave:\n  return %m\nstay:", false),
        ("trap", "br %c, leave, stay\nleave:\n  trap 1\nstay:", false),
        ("check", "check.trapnz %c, 1", false),
        ("may not return", "%a = wait %m", false),
        ("io", "%a = lock %m", true),
        ("loop between", "jump loop\nloop:\n  br %c, loop, out\nout:", false),
        ("one arm", "br %c, then, els\nels:\n  return %m\nthen:", false),
        ("endless loop aside", "br %c, round, on\nround:\n  jump round\non:", false),
    ];
    for (name, between, together) in cases {
        let module = format!(
            "func %f(%m: Item, %c: i32) -> Item {{\n  %l = lock %m\n  {between}\n  %u = unlock %l\n  return %u\n}}\n"
        );
        let done = Optimised::new(&with(rules), &module);
        let gone: &[&str] = if together { &["lock", "unlock"] } else { &[] };
        assert_eq!(done.relaxed("f"), gone, "{name}\n{}", done.text("f"));
    }
}

#[test]
fn a_lock_before_a_loop_is_not_that_of_an_unlock_in_it() {
    let rules = "
unsafe rule unlock_lock(m: Item): unlock(lock(m)) => m removes io because \"nothing happens in between\"
";
    let module = "
func %f(%m: Item, %c: i32) -> Item {
  %l = lock %m
  jump loop
loop:
  %u = unlock %l
  br %c, loop, out
out:
  return %u
}
";
    let done = Optimised::new(&with(rules), module);
    assert_eq!(done.operations("f"), ["lock", "unlock"], "{}", done.text("f"));
}

/// Even where no way out of the loop leads past the unlock, a lock may be executed again before it.
#[test]
fn lock_and_unlock_of_one_iteration_go_if_none_is_skipped() {
    let rules = "
unsafe rule unlock_lock(m: Item): unlock(lock(m)) => m removes io because \"nothing happens in between\"
";
    for (name, target, together) in [("both arms unlock", "on", true), ("one goes round again", "latch", false)] {
        let module = format!(
            "func %f(%m: Item, %c: i32, %d: i32) -> Item {{\n  jump loop\nloop:\n  %l = lock %m\n  br %c, {target}, arm
arm:\n  jump on\non:\n  %u = unlock %l\n  br %d, latch, out\nlatch:\n  jump loop\nout:\n  return %m\n}}\n"
        );
        let done = Optimised::new(&with(rules), &module);
        let gone: &[&str] = if together { &["lock", "unlock"] } else { &[] };
        assert_eq!(done.relaxed("f"), gone, "{name}\n{}", done.text("f"));
    }
}

/// Its value may be used long after: it is loaded before.
#[test]
fn a_load_is_never_emitted_after_the_store_that_ends_its_state() {
    let rules = "
rule forward(x: Item): get() after put(x) after s => x
rule idle(x: Item): look(look(x)) => look(x)
";
    let straight = "
func %f(%x: Item) -> (Item, Item) {
  %old = get
  put %x
  %new = get
  %a = look %old
  return %a, %new
}
";
    // Used in one branch only: the tempting place is there.
    let branch = "
func %f(%x: Item, %c: i32) -> Item {
  %old = get
  put %x
  br %c, then, els
then:
  %a = look %old
  return %a
els:
  %new = get
  return %new
}
";
    for module in [straight, branch] {
        let done = Optimised::new(&with(rules), module);
        assert_eq!(done.operations("f"), ["get", "put", "look"], "{}", done.text("f"));
        assert_eq!(done.rules("f"), ["domain.rules.forward"]);
    }
}
