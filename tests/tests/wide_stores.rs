//! Random stores of parts of values, of constants, and of floats with these bits, beside each other: where one wider store
//! takes their place, memory is the same at the end, and so is it at a trap. Areas of memory end in the middle of words.

use rewright_cfg_skeleton::ir::interp::{Area, Host, Memory, Outcome, run};
use rewright_cfg_skeleton::ir::{Function, InstKind};
use rewright_cfg_skeleton::testing::random::Random;
use rewright_tests::domain::Optimised;
use rewright_typeprop::Universe;
use std::fmt::Write as _;

const PACK: &str = "
pack bytes
import std
fn say(x: i32) -> i32 effects io cost 10
schedule default {
  repeat 6 {
    run std.fold.bits
    run std.fold.convert
    run std.shifts.trivial
    run std.shifts.chains
    run std.bits.bytes
    run std.memory.forward
    run std.memory.bits
    run std.memory.wide
    run std.memory.sides
    run std.memory.dead
  }
}
";

/// A program in the making.
struct Writer {
    random: Random,
    text: String,
    fresh: u32,
    /// The trap code of accesses that may trap.
    trap: Option<u32>,
}

impl Writer {
    fn function(seed: u64) -> String {
        let mut random = Random(seed);
        // Most programs have one kind of accesses, so that stores come together.
        let trap = random.once_in(3).then_some(1);
        let text = "func %f(%p: i64, %x: i64, %y: i32, %c: i32) -> (i64) {\n".to_string();
        let mut writer = Writer { random, text, fresh: 0, trap };
        for _ in 0..1 + writer.random.below(3) {
            writer.stores();
        }
        if writer.random.once_in(3) {
            writer.text += "  br %c, left, right\n";
            for side in ["left", "right"] {
                let _ = writeln!(writer.text, "{side}:");
                writer.stores();
                writer.text += "  jump join\n";
            }
            writer.text += "join:\n";
            writer.stores();
        }
        let load = writer.load();
        writer.text + &format!("  return {load}\n}}\n")
    }

    fn value(&mut self, ty: &str, right: &str) -> String {
        self.fresh += 1;
        let name = format!("%v{}", self.fresh);
        let _ = writeln!(self.text, "  {name}: {ty} = {right}");
        name
    }

    fn access(&mut self) -> String {
        let other = self.random.once_in(8);
        match self.trap.filter(|_| !other) {
            Some(code) => format!("@region0 trap={code}"),
            None if other && self.random.once_in(2) => "@region0 trap=2".to_string(),
            None => "@region0".to_string(),
        }
    }

    fn load(&mut self) -> String {
        let offset = self.random.below(8);
        let (offset, access) = (self.value("i64", &format!("const {offset}")), self.access());
        self.value("i64", &format!("load{{i64}} %p, {offset} {access}"))
    }

    /// The parts of a value, upwards or downwards, in this order or in another one, and something in between.
    fn stores(&mut self) {
        let from_word = self.random.once_in(2);
        let (whole, ty, bytes) = if from_word { ("%x", "i64", 8) } else { ("%y", "i32", 4) };
        let size = [1, 1, 2, 4][self.random.below(4)].min(bytes / 2);
        let part = format!("i{}", 8 * size);
        let (start, turned) = (self.random.below(9), self.random.once_in(3));
        let mut order: Vec<usize> = (0..bytes / size).collect();
        if self.random.once_in(3) {
            order.reverse();
        }
        if self.random.once_in(6) {
            let (a, b) = (self.random.below(order.len()), self.random.below(order.len()));
            order.swap(a, b);
        }
        order.truncate(1 + self.random.below(2 * order.len()));
        let constants = self.random.once_in(4);
        for place in order {
            let n = if turned { bytes / size - 1 - place } else { place };
            let stored = if constants {
                let n = self.random.below(256) as i64 - 128;
                self.value(&part, &format!("const {n}"))
            } else {
                let amount = self.value(ty, &format!("const {}", 8 * size * n));
                let shifted = self.value(ty, &format!("ushr {whole}, {amount}"));
                self.value(&part, &format!("ireduce {shifted}"))
            };
            let is_float = size == 4 && self.random.once_in(3);
            let stored = if is_float { self.value("f32", &format!("bitcast {stored}")) } else { stored };
            let offset = self.value("i64", &format!("const {}", start + place * size));
            let access = self.access();
            let _ = writeln!(self.text, "  store %p, {stored}, {offset} {access}");
            match self.random.below(24) {
                0 => {
                    self.load();
                }
                1 => {
                    self.value("i32", "say %y");
                }
                2 => self.text += "  check.trapnz %c, 7\n",
                _ => {}
            }
        }
    }
}

/// The outside: it only counts.
struct Outside(u32);

impl Host for Outside {
    fn execute(
        &mut self,
        _: &rewright_cfg_skeleton::ir::Inst,
        args: &[i64],
        _: &mut Memory,
    ) -> Result<rewright_cfg_skeleton::ir::interp::Results, Outcome> {
        self.0 += 1;
        Ok(args.iter().copied().collect())
    }
}

fn observe(f: &Function, universe: &Universe, args: &[i64], bytes: usize) -> (Outcome, Vec<Area>, u32) {
    let (mut memory, mut outside) = (Memory::default(), Outside(0));
    memory.add(args[0] as u64, (0..bytes).map(|n| n as u8 ^ 0x5a).collect());
    let outcome = run(f, universe, args, &mut memory, &mut outside, 10_000);
    (outcome, memory.areas().to_vec(), outside.0)
}

fn stores(f: &Function, universe: &Universe) -> usize {
    let insts = f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|id| &f.inst(*id).kind);
    insts
        .filter(|kind| matches!(kind, InstKind::Op { op, .. } if !universe.ops.get(*op).effects.writes.is_empty()))
        .count()
}

#[test]
fn memory_is_the_same() {
    const COUNT: u64 = 60;
    let (mut fewer, mut trapped, mut ran) = (0, 0, 0);
    for seed in 0..COUNT {
        let text = Writer::function(seed);
        let done = Optimised::new(PACK, &text);
        let (before, after) = (&done.before.module.functions[0], &done.outcome("f").function);
        let universe = &done.after.universe;
        fewer += usize::from(stores(after, universe) < stores(before, universe));
        for bytes in [32, 3, 7, 10, 13] {
            for c in [0, 1] {
                let args = [0x1000, 0x0123_4567_89ab_cdef, -0x1234_5678, c];
                let was = observe(before, universe, &args, bytes);
                if let Outcome::Unsupported(_) = was.0 {
                    continue;
                }
                ran += 1;
                trapped += usize::from(matches!(was.0, Outcome::Trap(_)));
                let is = observe(after, universe, &args, bytes);
                assert_eq!(was, is, "seed {seed}, {bytes} bytes, {c}\n{text}\n{}", done.text("f"));
            }
        }
    }
    println!("{COUNT} programs, {fewer} with fewer stores; {ran} runs, of which {trapped} trapped");
    assert!(fewer > COUNT as usize / 4 && trapped > COUNT as usize / 2, "{fewer} with fewer stores, {trapped} trapped");
}
