//! Random programs over memory, with traps and calls, before and after: same results, same traps, same memory, and
//! the same calls with the same memory before them.

use super::memory::memory_rules;
use super::oracle::Random;
use super::*;
use crate::ir::interp::{self, Host, Memory, Outcome};
use crate::ir::{Access, BlockId, Inst, OpaqueEffects, RegionId, Value};
use smallvec::SmallVec;

/// Region 1 is always accessible through the first pointer; the second one points into it, or nowhere; region 2's may
/// point nowhere.
fn access(random: &mut Random, pointer: usize) -> Access {
    let trap = match (pointer, random.below(4)) {
        (0, 0 | 1) => None,
        (_, n) => Some(3 + (n as u32 & 1)),
    };
    let region = RegionId(if pointer == 2 { 2 } else { 1 });
    Access { region, trap, movable: trap.is_none() && random.below(2) == 0, readonly: false, aligned: true }
}

fn fill(b: &mut Builder, values: &mut Vec<Value>, random: &mut Random, n: usize) {
    for _ in 0..n {
        let (x, y) = (values[random.below(values.len())], values[random.below(values.len())]);
        let pointer = random.below(3);
        let p = b.param(BlockId(0), pointer);
        let offset = (random.below(2) * 4) as i64;
        match random.below(14) {
            0..=4 => {
                let offset = b.constant("i64", offset);
                b.inst("store", "i32", &[p, x, offset], Some(access(random, pointer)));
            }
            5..=8 => {
                let offset = b.constant("i64", offset);
                let inst = b.inst("load", "i32", &[p, offset], Some(access(random, pointer)));
                values.push(b.function.inst(inst).results[0]);
            }
            9 => values.push(b.op("iadd", "i32", &[x, y])),
            10 => {
                let two = b.constant("i32", 2);
                values.push(b.op("imul", "i32", &[x, two]));
            }
            11 => values.push(b.op("udiv", "i32", &[x, y])),
            12 => b.check(x, 7 + random.below(2) as u32, random.below(2) == 0),
            _ => {
                let effects = [OpaqueEffects::Writes, OpaqueEffects::Observes][random.below(2)];
                values.extend(b.opaque(effects as u32, effects, &[x], &["i32"]));
            }
        }
    }
}

fn program<'u>(u: &'u Universe, random: &mut Random) -> Builder<'u> {
    let mut b = Builder::new(u, &["i64", "i64", "i64", "i32", "i32"]);
    let mut values = vec![b.param(BlockId(0), 3), b.param(BlockId(0), 4)];
    let n = 2 + random.below(4);
    fill(&mut b, &mut values, random, n);
    match random.below(4) {
        0 => {}
        1 | 2 => {
            let (left, right, join) = (b.block(&[]), b.block(&[]), b.block(&["i32"]));
            let c = values[random.below(values.len())];
            b.branch(c, (left, &[]), (right, &[]));
            for arm in [left, right] {
                b.switch_to(arm);
                let mut own = values.clone();
                let n = random.below(4);
                fill(&mut b, &mut own, random, n);
                let arg = own[own.len() - 1];
                b.jump(join, &[arg]);
            }
            b.switch_to(join);
            values.push(b.param(join, 0));
        }
        _ => {
            let (head, exit) = (b.block(&["i32", "i32"]), b.block(&[]));
            let init = values[random.below(values.len())];
            let three = b.constant("i32", 3);
            b.jump(head, &[three, init]);
            b.switch_to(head);
            values.push(b.param(head, 1));
            let n = random.below(5);
            fill(&mut b, &mut values, random, n);
            let one = b.constant("i32", 1);
            let count = b.param(head, 0);
            let rest = b.op("isub", "i32", &[count, one]);
            let next = values[values.len() - 1];
            b.branch(rest, (head, &[rest, next]), (exit, &[]));
            b.switch_to(exit);
        }
    }
    let n = random.below(5);
    fill(&mut b, &mut values, random, n);
    let results = [values[random.below(values.len())], values[values.len() - 1]];
    b.ret(&results);
    b
}

/// Calls see memory, and those that write change it.
#[derive(Default)]
struct World {
    calls: Vec<(Vec<i64>, Memory)>,
}

impl Host for World {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        self.calls.push((args.to_vec(), memory.clone()));
        let n = self.calls.len() as u64;
        if matches!(inst.kind, InstKind::Opaque { effects: OpaqueEffects::Writes, .. }) {
            memory.store(0x1000 + n % 3 * 4, 4, n * 77);
            memory.store(0x2000 + n % 2 * 4, 4, n * 55);
        }
        Ok(inst.results.iter().map(|_| n as i64 * 3).collect())
    }
}

fn run(f: &Function, u: &Universe, args: &[i64]) -> (Outcome, Memory, Vec<(Vec<i64>, Memory)>) {
    let mut memory = Memory::default();
    memory.add(0x1000, (0..16).collect());
    memory.add(0x2000, (100..116).collect());
    let mut world = World::default();
    let outcome = interp::run(f, u, args, &mut memory, &mut world, 10_000);
    (outcome, memory, world.calls)
}

fn compare(seed: u64, programs: usize) {
    let u = universe();
    let mut random = Random(seed);
    let (mut dropped, mut stays) = (0, 0);
    for n in 0..programs {
        let b = program(&u, &mut random);
        let mut case = Case::new(&b, &u);
        let products: Vec<(InputId, InputId)> = (0..case.skeleton.input.nodes.len())
            .filter(|i| case.skeleton.input.nodes[*i].head == Head::Op(op_id(&u, "imul")))
            .map(|i| (InputId(i as u32), case.skeleton.input.nodes[i].children[0]))
            .collect();
        for (product, x) in products {
            let sum = case.op("iadd", "i32", &[x, x]);
            case.unite(product, sum);
        }
        memory_rules(&mut case);
        if !case.view.contradictions.is_empty() {
            continue;
        }
        let few = Registers { integers: 2, floats: 2, ..Registers::X86_64 };
        for (method, registers, stay) in
            [(Method::Greedy, None, false), (Method::Greedy, None, true), (Method::Ilp, Some(few), false)]
        {
            let selection = case.select_with(&Options {
                registers,
                prefer_original: stay,
                keep_placement: stay,
                ..case.options(method)
            });
            stays += usize::from(selection.placement_cost > 0);
            dropped += selection.statements.iter().filter(|s| **s == StatementChoice::Drop).count();
            let out = case.elaborate(&selection);
            for args in [
                [0x1000, 0x1000, 0x2000, 5, 0],
                [0x1000, 0x1004, 0x9000, -7, 2],
                [0x1000, 0x9000, 0x2000, 0, 1],
                [0x1000, 0x1002, 0x2000, 1, 1],
            ] {
                let (before, after) = (run(&case.function, &u, &args), run(&out, &u, &args));
                assert!(
                    before == after,
                    "program {n} of {seed:#x}, {args:x?}: {before:?}\n{after:?}\n{}\n{}",
                    crate::ir::text::Printer(&case.function, &u),
                    crate::ir::text::Printer(&out, &u)
                );
            }
        }
    }
    assert!(dropped > programs / 2, "{dropped} statements went");
    assert!(stays > programs / 8, "in {stays} programs something stays");
}

#[test]
fn programs_do_what_they_did() {
    compare(0x1234_5678_9abc_def1, 300);
}

#[test]
#[ignore = "long"]
fn many_programs_do_what_they_did() {
    for seed in 1..21 {
        compare(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed), 1000);
    }
}
