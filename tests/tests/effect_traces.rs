//! Random programs over a domain with effects, before and after: what they do to the outside is the same, in the same
//! order, except for the statements that the remarks list. When an object is made the outside does not see; each
//! statement that makes one is executed as often as before, or less often where the remarks say that it has moved.
//!
//! Each statement of a program carries a number, which survives optimisation. Both versions run in the interpreter,
//! whose outside notes every statement that is executed. The claims of the rules (that a copy is as good as the
//! original, that unlocking undoes locking) are true of that outside, so results and operands are the same, too.
//!
//! Of what is gone, the outside must not miss half: wherever a lock is executed that is gone, an unlock of it that is
//! gone is executed before the next time, and the other way round. So a licence for a lock in front of a loop, a
//! `continue`, an early end or a branch, and an unlock behind or in it, does not pass.

use rewright_cfg_skeleton::ir::interp::{Host, Memory, Outcome, Results, run};
use rewright_cfg_skeleton::ir::{Function, Inst, InstKind};
use rewright_cfg_skeleton::testing::random::Random;
use rewright_pipeline::optimiser::VariantFate;
use rewright_tests::domain::Optimised;
use rewright_typeprop::Universe;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const PACK: &str = "
pack traces
type i32 model bv32
type Item

fn look(x: Item) -> Item pure cost 5
fn pair(x: Item, y: Item) -> Item pure cost 5
fn is_odd(x: Item) -> i32 pure cost 1
fn less_one(n: i32) -> i32 pure cost 1
fn copy(x: Item) -> Item effects allocates(heap) cost 50
fn sort(x: Item) -> Item effects allocates(heap) cost 60
fn lock(m: Item) -> Item effects io cost 20
fn unlock(m: Item) -> Item effects io cost 20
fn say(x: Item) -> Item effects io cost 20
fn stop_at(x: Item) -> Item effects io, diverges cost 20
fn get() -> Item effects reads(cell) cost 8
fn put(x: Item) -> () effects writes(cell) cost 8
fn exchange(x: Item) -> Item effects reads(cell), writes(cell) cost 30
fn exchange_even(x: Item) -> Item effects reads(cell), writes(cell) cost 20
fn even(x: Item) -> Item pure cost 5

ruleset relaxed {
  unsafe rule look_copy(a: Item): look(copy(a)) => look(a)
    removes allocates(heap) because \"a copy looks the same\"
  unsafe rule pair_copies(a: Item, b: Item): pair(copy(a), copy(b)) => pair(a, b)
    removes allocates(heap) because \"copies look the same\"
  unsafe rule sort_copy(a: Item): sort(copy(a)) => sort(a)
    removes allocates(heap) because \"sorting copies\"
  unsafe rule sort_sort(a: Item): sort(sort(a)) => sort(a)
    removes allocates(heap) because \"sorted is sorted\"
  unsafe rule unlock_lock(m: Item): unlock(lock(m)) => m
    removes io because \"nothing happens in between\"
}
ruleset plain {
  rule get_put(x: Item): get() after put(x) after s => x
  rule put_put(x: Item, y: Item): put(x) after put(y) after s => put(x) after s
  rule pair_same(x: Item): pair(x, x) => look(x)
  rule exchange_even(x: Item): exchange(even(x)) => exchange_even(even(x))
  rule even_even(x: Item): even(even(x)) => even(x)
}
schedule default { saturate relaxed  saturate plain }
";

/// What the operations mean here.
struct Outside<'u> {
    universe: &'u Universe,
    cell: i64,
    trace: Vec<Executed>,
}

/// A statement as the outside notes it.
#[derive(Clone, Debug)]
struct Executed {
    number: Option<u32>,
    name: String,
    args: Vec<i64>,
    /// Nothing where it did not return.
    result: Option<i64>,
    /// Does the outside see its operands?
    io: bool,
}

/// How a run ends whose outside stops it.
const STOPPED: u32 = 99;

impl Host for Outside<'_> {
    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<Results, Outcome> {
        let InstKind::Op { op, .. } = inst.kind else { return Err(Outcome::Unsupported("not an operation".into())) };
        let decl = self.universe.ops.get(op);
        let value = match (decl.name.as_str(), args) {
            ("look", [x]) => x.wrapping_mul(31).wrapping_add(7),
            ("pair", [x, y]) if x == y => x.wrapping_mul(31).wrapping_add(7),
            ("pair", [x, y]) => x.wrapping_mul(17).wrapping_sub(y.wrapping_mul(5)),
            ("is_odd", [x]) => x >> 3 & 1,
            ("less_one", [n]) => n - 1,
            ("copy", [x]) => *x,
            ("sort", [x]) => x | 1,
            ("lock" | "unlock", [x]) => x ^ 2,
            ("say", [x]) => x.wrapping_add(1000),
            ("get", []) => self.cell,
            ("exchange" | "exchange_even", [x]) => std::mem::replace(&mut self.cell, *x),
            ("even", [x]) => x & !1,
            ("put", [x]) => {
                self.cell = *x;
                return Ok(Results::new());
            }
            ("stop_at", [x]) => x.wrapping_mul(3).wrapping_add(1),
            (name, _) => return Err(Outcome::Unsupported(name.into())),
        };
        if decl.is_sited() {
            let result = (decl.name != "stop_at" || args[0] & 7 != 5).then_some(value);
            // Which of the two it is, the outside does not see.
            let (number, name) = (inst.origin, decl.name.replace("_even", ""));
            self.trace.push(Executed { number, name, args: args.to_vec(), result, io: decl.effects.io });
            if result.is_none() {
                return Err(Outcome::Trap(STOPPED));
            }
        }
        Ok([value].into_iter().collect())
    }
}

/// A program in the making.
struct Writer {
    random: Random,
    text: String,
    /// Values that can be used here.
    items: Vec<String>,
    values: u32,
    blocks: u32,
    statements: u32,
}

impl Writer {
    /// A function of about this many statements.
    fn function(seed: u64, size: usize) -> String {
        let items = vec!["%x0".to_string(), "%x1".to_string()];
        let text = "func %f(%x0: Item, %x1: Item) -> (Item, Item, Item) {\n".to_string();
        let mut writer = Writer { random: Random(seed), text, items, values: 2, blocks: 0, statements: 0 };
        writer.statements(size, 2);
        let last = writer.call("get", 0);
        let (a, b) = (writer.item(), writer.item());
        writer.text + &format!("  return {a}, {b}, {last}\n}}\n")
    }

    /// Some value, most likely the last one: rules are about what follows each other.
    fn item(&mut self) -> String {
        let back = if self.random.once_in(3) { self.random.below(self.items.len()) } else { 0 };
        self.items[self.items.len() - 1 - back].clone()
    }

    fn fresh(&mut self) -> String {
        self.values += 1;
        format!("%v{}", self.values)
    }

    /// A call with a result, of some values.
    fn call(&mut self, name: &str, operands: usize) -> String {
        let args: Vec<String> = (0..operands).map(|_| self.item()).collect();
        self.call_of(name, &args.join(", "))
    }

    fn call_of(&mut self, name: &str, args: &str) -> String {
        let result = self.fresh();
        self.statements += 1;
        let _ = writeln!(self.text, "  {result} = {name} {args} !{}", self.statements);
        self.items.push(result.clone());
        result
    }

    fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            match self.random.below(if depth > 0 { 17 } else { 13 }) {
                0 | 1 => drop(self.call("look", 1)),
                2 => drop(self.call("pair", 2)),
                3 | 4 => drop(self.call("copy", 1)),
                5 => drop(self.call("sort", 1)),
                6 => drop(self.call("lock", 1)),
                7 => {
                    self.call("lock", 1);
                    let between = self.random.below(2);
                    self.statements(between, 0);
                    self.call("unlock", 1);
                }
                8 => drop(self.call("say", 1)),
                9 => drop(self.call("get", 0)),
                10 => {
                    let x = self.item();
                    self.statements += 1;
                    let _ = writeln!(self.text, "  put {x} !{}", self.statements);
                }
                11 | 12 => {
                    self.call("even", 1);
                    self.call("exchange", 1);
                }
                13 => self.branch(depth - 1),
                14 => self.repeat(|w| w.some(depth - 1)),
                _ => self.critical_section(depth - 1),
            }
        }
    }

    fn block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    fn branch(&mut self, depth: u32) {
        let (n, x, odd) = (self.block(), self.item(), self.fresh());
        let _ = writeln!(self.text, "  {odd} = is_odd {x}\n  br {odd}, then{n}, else{n}");
        let known = self.items.len();
        for side in ["then", "else"] {
            let _ = writeln!(self.text, "{side}{n}:");
            let count = self.random.below(4);
            self.statements(count, depth);
            let out = self.item();
            let _ = writeln!(self.text, "  jump join{n}({out})");
            self.items.truncate(known);
        }
        let joined = self.fresh();
        let _ = writeln!(self.text, "join{n}({joined}: Item):");
        self.items.push(joined);
    }

    /// A loop of a few iterations around what `body` writes.
    fn repeat(&mut self, body: impl FnOnce(&mut Self)) {
        let (n, x) = (self.block(), self.item());
        let [times, item, left, next] = std::array::from_fn(|_| self.fresh());
        let _ = writeln!(self.text, "  {times}: i32 = const 3\n  jump loop{n}({x}, {times})");
        let _ = writeln!(self.text, "loop{n}({item}: Item, {left}: i32):");
        self.items.push(item);
        body(self);
        let out = self.item();
        let _ = writeln!(self.text, "  {next} = less_one {left}\n  br {next}, loop{n}({out}, {next}), out{n}\nout{n}:");
    }

    fn some(&mut self, depth: u32) {
        let count = 1 + self.random.below(4);
        self.statements(count, depth);
    }

    /// A lock and, somewhere behind it, an unlock of it: executed as often as each other, or not.
    fn critical_section(&mut self, depth: u32) {
        if self.random.once_in(8) {
            return self.locked_again();
        }
        let locked = self.call("lock", 1);
        let known = self.items.len();
        match self.random.below(8) {
            0 | 1 => self.branch(depth),
            2 => self.repeat(|w| w.some(depth)),
            3 => self.leave("trap 7"),
            4 => self.leave("return %x0, %x1, %x0"),
            5 => drop(self.call("stop_at", 1)),
            6 => return self.repeat(|w| drop(w.call_of("unlock", &locked))),
            _ => return self.unlock_in_one_arm(&locked),
        }
        self.items.truncate(known);
        self.call_of("unlock", &locked);
    }

    fn unlock_in_one_arm(&mut self, locked: &str) {
        let (n, x, odd) = (self.block(), self.item(), self.fresh());
        let _ = writeln!(self.text, "  {odd} = is_odd {x}\n  br {odd}, then{n}, join{n}\nthen{n}:");
        let known = self.items.len();
        self.call_of("unlock", locked);
        self.items.truncate(known);
        let _ = writeln!(self.text, "  jump join{n}\njoin{n}:");
    }

    /// A loop that locks and then sometimes starts the next iteration before it unlocks: every way out leads past the
    /// unlock.
    fn locked_again(&mut self) {
        let (n, x) = (self.block(), self.item());
        let [times, item, left, odd, next, i, l] = std::array::from_fn(|_| self.fresh());
        let _ = writeln!(self.text, "  {times}: i32 = const 2\n  jump loop{n}({x}, {times})");
        let _ = writeln!(self.text, "loop{n}({item}: Item, {left}: i32):");
        let locked = self.call_of("lock", &item);
        let known = self.items.len();
        let _ = writeln!(self.text, "  {odd} = is_odd {item}\n  br {odd}, again{n}, on{n}\nagain{n}:");
        // A call of `say` turns odd into even.
        let said = self.call_of("say", &item);
        let _ = writeln!(self.text, "  jump next{n}({said}, {left})\non{n}:");
        self.items.truncate(known);
        let unlocked = self.call_of("unlock", &locked);
        let _ = writeln!(self.text, "  {next} = less_one {left}\n  br {next}, next{n}({unlocked}, {next}), out{n}");
        let _ = writeln!(self.text, "next{n}({i}: Item, {l}: i32):\n  jump loop{n}({i}, {l})\nout{n}:");
    }

    /// Leaves the function, sometimes.
    fn leave(&mut self, end: &str) {
        let (n, x, odd) = (self.block(), self.item(), self.fresh());
        let _ = writeln!(self.text, "  {odd} = is_odd {x}\n  br {odd}, leave{n}, stay{n}\nleave{n}:");
        let _ = writeln!(self.text, "  {end}\nstay{n}:");
    }
}

/// Results, the cell, and the trace of a run.
fn observe<'u>(f: &Function, universe: &'u Universe, args: &[i64]) -> (Outcome, Outside<'u>) {
    let mut outside = Outside { universe, cell: 5, trace: vec![] };
    let outcome = run(f, universe, args, &mut Memory::default(), &mut outside, 100_000);
    (outcome, outside)
}

/// Of the statements that are gone: wherever a lock is executed, an unlock of it is executed before that lock is
/// again; and wherever an unlock is, such a lock has been since that unlock was last.
fn assert_in_pairs(gone: &[&Executed], shown: &dyn Fn() -> String) {
    let of = |lock: &Executed, unlock: &Executed| unlock.name == "unlock" && lock.result == Some(unlock.args[0]);
    for (i, statement) in gone.iter().enumerate() {
        let own = |other: &&&Executed| other.number == statement.number;
        let paired = match statement.name.as_str() {
            "lock" => gone[i + 1..].iter().take_while(|s| !own(s)).any(|s| of(statement, s)),
            "unlock" => gone[..i].iter().rev().take_while(|s| !own(s)).any(|s| s.name == "lock" && of(s, statement)),
            _ => true,
        };
        assert!(paired, "{statement:?} is gone, and what belongs to it is not\n{}", shown());
    }
}

const SEED: u64 = 7_000;
const COUNT: u64 = 400;

#[test]
fn the_outside_sees_the_same_but_for_what_remarks_list() {
    let [mut relaxed, mut moved, mut rarer, mut kept, mut io_gone, mut ended, mut exchanged, mut copied] = [0; 8];
    for seed in SEED..SEED + COUNT {
        let text = Writer::function(seed, 10);
        let done = Optimised::new(PACK, &text);
        let outcome = done.outcome("f");
        let gone: BTreeSet<u32> =
            outcome.relaxed.iter().map(|r| r.origin.expect("every statement has its number")).collect();
        let elsewhere: BTreeSet<u32> =
            outcome.moved_statements.iter().map(|m| m.origin.expect("every statement has its number")).collect();
        relaxed += gone.len();
        moved += elsewhere.len();
        io_gone += outcome.relaxed.iter().filter(|r| r.operation == "lock").count();
        exchanged += usize::from(done.text("f").contains("exchange_even"));
        let universe = &done.after.universe;
        for args in [[0, 0], [13, 8], [1 << 40 | 11, -9], [6, 1]] {
            let (returned, before) = observe(&done.before.module.functions[0], universe, &args);
            let (returned_after, after) = observe(&outcome.function, universe, &args);
            let shown = || format!("seed {seed}, arguments {args:?}, without {gone:?}\n{text}\n{}", done.text("f"));
            assert!(matches!(returned, Outcome::Return(_) | Outcome::Trap(7 | STOPPED)), "{returned:?}\n{}", shown());
            ended += usize::from(!matches!(returned, Outcome::Return(_)));
            assert_eq!((returned, before.cell), (returned_after, after.cell), "{}", shown());
            let listed = |s: &Executed| s.number.is_some_and(|n| gone.contains(&n));
            // Operands of what the outside does not see may be simpler than they were.
            let seen = |s: &Executed| (s.number, s.name.clone(), if s.io { s.args.clone() } else { vec![] });
            let is_object = |s: &&Executed| ["copy", "sort"].contains(&s.name.as_str());
            let (objects, others): (Vec<_>, Vec<_>) = before.trace.iter().partition(is_object);
            let (made, others_after): (Vec<_>, Vec<_>) = after.trace.iter().partition(is_object);
            // Of a block that is copied, a statement may be left out in one copy.
            let is_copied = outcome.variants.iter().any(|v| matches!(v.fate, VariantFate::Taken { .. }));
            copied += usize::from(is_copied);
            let (mut left_out, mut expected) = (vec![], others_after.iter().peekable());
            for statement in others {
                let is_next = expected.peek().is_some_and(|next| seen(next) == seen(statement));
                match listed(statement) && !(is_copied && is_next) {
                    true => left_out.push(statement),
                    false => assert_eq!(expected.next().map(|s| seen(s)), Some(seen(statement)), "{}", shown()),
                }
            }
            assert!(expected.next().is_none(), "{}", shown());
            assert_in_pairs(&left_out, &shown);
            kept += others_after.len();
            let count = |list: &[&Executed]| {
                let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
                list.iter().for_each(|s| *counts.entry(s.number.expect("it has one")).or_default() += 1);
                counts
            };
            let (before, after) = (count(&objects), count(&made));
            for number in before.keys().chain(after.keys()) {
                let [before, after] = [&before, &after].map(|counts| counts.get(number).copied().unwrap_or(0));
                let is_rarer = after < before && (elsewhere.contains(number) || is_copied && gone.contains(number));
                let is_gone = after == 0 && gone.contains(number);
                assert!(is_gone || is_rarer || after == before, "{number}: {}", shown());
                rarer += usize::from(is_rarer && !is_gone);
            }
        }
    }
    println!(
        "{COUNT} programs: {relaxed} statements left out, {io_gone} locks among them; {moved} moved, {rarer} times \
         executed less often; {kept} executed statements; \
         {ended} runs ended early; {exchanged} programs with another writer; {copied} runs of copied merges"
    );
    assert!(copied > COUNT as usize / 10, "merges had copies");
    let much = relaxed > COUNT as usize / 2 && io_gone > COUNT as usize / 4 && kept > 5 * COUNT as usize;
    assert!(moved > COUNT as usize / 4 && rarer > COUNT as usize / 4, "statements had where to move");
    assert!(much && ended > COUNT as usize / 4 && exchanged > COUNT as usize / 10, "the rules had much to do");
}
