//! Random programs over a few cells, before and after: writes of several cells take the place of writes of one, wherever
//! that is cheaper, and the outside sees the same.

use rewright_cfg_skeleton::ir::interp::{Host, Memory, Outcome, Results, run};
use rewright_cfg_skeleton::ir::{Function, Inst, InstKind};
use rewright_cfg_skeleton::testing::random::Random;
use rewright_tests::domain::Optimised;
use rewright_typeprop::Universe;
use std::fmt::Write as _;

const PACK: &str = "
pack cells
import std.core
type Item
fn put(const i: i32, x: Item) -> () effects writes(cells) cost 40
fn put2(const i: i32, x: Item, y: Item) -> () effects writes(cells) cost 50
fn put4(const i: i32, x: Item, y: Item, z: Item, w: Item) -> () effects writes(cells) cost 95
fn clear(const i: i32) -> () effects writes(cells) cost 45
fn exchange(const i: i32, x: Item) -> Item effects reads(cells), writes(cells) cost 45
fn put_exchange(const i: i32, x: Item, const j: i32, y: Item) -> Item effects reads(cells), writes(cells) cost 55
fn get(const i: i32) -> Item effects reads(cells) cost 10
fn say(x: Item) -> Item effects io cost 10
fn show() -> Item effects reads(cells), io cost 10
fn mixed(x: Item, y: Item) -> Item pure cost 3
fn zero() -> Item pure cost 1
fn is_odd(x: Item) -> i32 pure cost 1
fn less_one(n: i32) -> i32 pure cost 1
ruleset r {
  rule two(const i: i32, const j: i32, x: Item, y: Item, s: State):
    put(j, y) after (put(i, x) after s) => put2(i, x, y) after s when icmp_eq(j, iadd(i, 1))
  rule two_down(const i: i32, const j: i32, x: Item, y: Item, s: State):
    put(j, y) after (put(i, x) after s) => put2(j, y, x) after s when icmp_eq(i, iadd(j, 1))
  rule four(const i: i32, const j: i32, x: Item, y: Item, z: Item, w: Item, s: State):
    put2(j, z, w) after (put2(i, x, y) after s) => put4(i, x, y, z, w) after s when icmp_eq(j, iadd(i, 2))
  rule zeros(const i: i32, s: State): put2(i, zero(), zero()) after s => clear(i) after s
  rule with_put(const i: i32, const j: i32, x: Item, y: Item, s: State):
    exchange(j, y) after (put(i, x) after s) => put_exchange(i, x, j, y) after s
  rule over(const i: i32, x: Item, y: Item, s: State): put(i, y) after (put(i, x) after s) => put(i, y) after s
  rule there(const i: i32, x: Item, s: State): get(i) after (put(i, x) after s) => x
}
schedule default { saturate r }
";

/// What the operations mean here.
struct Outside<'u> {
    universe: &'u Universe,
    cells: [i64; 6],
    said: Vec<i64>,
    cost: usize,
}

impl Host for Outside<'_> {
    fn execute(&mut self, inst: &Inst, args: &[i64], _: &mut Memory) -> Result<Results, Outcome> {
        let InstKind::Op { op, .. } = inst.kind else { return Err(Outcome::Unsupported("not an operation".into())) };
        let value = match (self.universe.ops.get(op).name.as_str(), args) {
            ("put" | "put2" | "put4", [first, values @ ..]) => {
                let first = *first as usize;
                self.cells[first..first + values.len()].copy_from_slice(values);
                self.cost += [40, 50, 0, 95][values.len() - 1];
                return Ok(Results::new());
            }
            ("clear", [first]) => {
                let first = *first as usize;
                self.cells[first..first + 2].fill(0);
                self.cost += 45;
                return Ok(Results::new());
            }
            ("exchange", [i, x]) => {
                self.cost += 45;
                std::mem::replace(&mut self.cells[*i as usize], *x)
            }
            ("put_exchange", [i, x, j, y]) => {
                self.cost += 55;
                self.cells[*i as usize] = *x;
                std::mem::replace(&mut self.cells[*j as usize], *y)
            }
            ("get", [i]) => self.cells[*i as usize],
            ("say", [x]) => {
                self.said.push(*x);
                x.wrapping_add(1000)
            }
            ("show", []) => {
                self.said.extend(self.cells);
                self.cells.iter().fold(7_i64, |sum, x| sum.wrapping_mul(3).wrapping_add(*x))
            }
            ("mixed", [x, y]) => x.wrapping_mul(17).wrapping_sub(y.wrapping_mul(5)),
            ("zero", []) => 0,
            ("is_odd", [x]) => x >> 3 & 1,
            ("less_one", [n]) => n - 1,
            (name, _) => return Err(Outcome::Unsupported(name.into())),
        };
        Ok([value].into_iter().collect())
    }
}

/// A program in the making.
struct Writer {
    random: Random,
    text: String,
    /// Values that can be used here.
    items: Vec<String>,
    fresh: u32,
    /// The cell that was written last.
    last: usize,
}

impl Writer {
    fn function(seed: u64) -> String {
        let mut text = "func %f(%x: Item, %y: Item) -> (Item) {\n".to_string();
        for i in 0..6 {
            let _ = writeln!(text, "  %c{i}: i32 = const {i}");
        }
        text += "  %z = zero\n";
        let items = ["%x", "%y", "%z"].map(String::from).to_vec();
        let mut writer = Writer { random: Random(seed), text, items, fresh: 0, last: 0 };
        writer.statements(9, 2);
        writer.text + &format!("  return {}\n}}\n", writer.items[writer.items.len() - 1])
    }

    fn fresh(&mut self) -> u32 {
        self.fresh += 1;
        self.fresh
    }

    fn item(&mut self) -> String {
        let at = self.random.below(self.items.len());
        self.items[at].clone()
    }

    fn value(&mut self, right: &str) {
        let name = format!("%v{}", self.fresh());
        let _ = writeln!(self.text, "  {name} = {right}");
        self.items.push(name);
    }

    fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            match self.random.below(if depth > 0 { 24 } else { 20 }) {
                0..12 => {
                    // Most writes are to the cell behind the last one.
                    self.last = if self.random.once_in(4) { self.random.below(6) } else { (self.last + 1) % 6 };
                    let x = if self.random.once_in(3) { "%z".to_string() } else { self.item() };
                    let _ = writeln!(self.text, "  put %c{}, {x}", self.last);
                }
                12 => {
                    let (i, x) = (self.random.below(6), self.item());
                    self.value(&format!("exchange %c{i}, {x}"));
                }
                13 => {
                    let i = self.random.below(6);
                    self.value(&format!("get %c{i}"));
                }
                14 => {
                    let x = self.item();
                    self.value(&format!("say {x}"));
                }
                15 => self.value("show"),
                16..20 => {
                    let (x, y) = (self.item(), self.item());
                    self.value(&format!("mixed {x}, {y}"));
                }
                20..23 => self.branch(depth - 1),
                _ => self.repeat(depth - 1),
            }
        }
    }

    fn branch(&mut self, depth: u32) {
        let (n, x, known, last) = (self.fresh(), self.item(), self.items.len(), self.last);
        let _ = writeln!(self.text, "  %odd{n} = is_odd {x}\n  br %odd{n}, then{n}, else{n}");
        for side in ["then", "else"] {
            let _ = writeln!(self.text, "{side}{n}:");
            self.last = last;
            let count = self.random.below(4);
            self.statements(count, depth);
            if side == "then" && self.random.once_in(6) {
                let out = self.item();
                let _ = writeln!(self.text, "  return {out}");
            } else {
                let _ = writeln!(self.text, "  jump join{n}");
            }
            self.items.truncate(known);
        }
        let _ = writeln!(self.text, "join{n}:");
    }

    fn repeat(&mut self, depth: u32) {
        let (n, known) = (self.fresh(), self.items.len());
        let _ = writeln!(self.text, "  %times{n}: i32 = const 3\n  jump loop{n}(%times{n})\nloop{n}(%left{n}: i32):");
        let count = 1 + self.random.below(4);
        self.statements(count, depth);
        self.items.truncate(known);
        let _ =
            writeln!(self.text, "  %next{n} = less_one %left{n}\n  br %next{n}, loop{n}(%next{n}), out{n}\nout{n}:");
    }
}

fn observe<'u>(f: &Function, universe: &'u Universe, args: &[i64]) -> (Outcome, Outside<'u>) {
    let mut outside = Outside { universe, cells: [11, 12, 13, 14, 15, 16], said: vec![], cost: 0 };
    let outcome = run(f, universe, args, &mut Memory::default(), &mut outside, 100_000);
    (outcome, outside)
}

#[test]
fn the_outside_sees_the_same() {
    const COUNT: usize = 200;
    let (mut before_all, mut after_all, mut cheaper) = (0, 0, 0);
    let mut chosen = [("put2", 0), ("put4", 0), ("clear", 0), ("put_exchange", 0)];
    for seed in 0..COUNT as u64 {
        let text = Writer::function(seed);
        let done = Optimised::new(PACK, &text);
        let outcome = done.outcome("f");
        cheaper += usize::from(outcome.cost_after < outcome.cost_before);
        for (name, count) in &mut chosen {
            *count += done.operations("f").iter().filter(|op| op == name).count();
        }
        let universe = &done.after.universe;
        for args in [[0, 0], [13, 8], [1 << 40 | 11, -9], [6, 1]] {
            let (returned, before) = observe(&done.before.module.functions[0], universe, &args);
            let (returned_after, after) = observe(&outcome.function, universe, &args);
            let shown = || format!("seed {seed}, arguments {args:?}\n{text}\n{}", done.text("f"));
            assert!(matches!(returned, Outcome::Return(_)), "{returned:?}\n{}", shown());
            let seen = (returned, before.cells, before.said);
            assert_eq!(seen, (returned_after, after.cells, after.said), "{}", shown());
            (before_all, after_all) = (before_all + before.cost, after_all + after.cost);
        }
    }
    println!("{COUNT} programs, {cheaper} cheaper; writes cost {before_all} -> {after_all}; chosen {chosen:?}");
    assert!(cheaper > COUNT / 2 && after_all < before_all * 4 / 5, "{before_all} -> {after_all}");
    assert!(chosen.iter().all(|(_, count)| *count > COUNT / 50), "each form is chosen: {chosen:?}");
}
