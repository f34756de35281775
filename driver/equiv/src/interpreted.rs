//! Functions that differ, before and after, in our interpreter.
//!
//! Both are imported, and run on edges and random numbers. There is memory at every address but the lowest: pages are
//! made up when they are reached, numbers and pointers mixed. Opaque results are made up, too: the result of a call or
//! of an instruction that nothing models depends on its text and its operands only, and calls that may write are noted
//! in order; one that does not return ends the run. Blocks of memory are set and copied. So what is compared is the
//! result, what the outside was told, and the memory except for the stack.
//!
//! Not here: poison, which import knows no more (see [`refined`](super::refined)), vectors, and operations
//! that only a pack declares. A run that meets them before does not count; one that meets them after says nothing
//! either.

use super::inputs::{Inputs, PAGE, canonical, hash, pointer};
use super::memory_blocks::{BlockOperation, MemoryBlock};
use super::{Config, Files, Seen, headers};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::interp::{self, Host, Memory, Outcome, Results, equal_up_to_nan};
use rewright_cfg_skeleton::ir::{Inst, InstKind, OpaqueEffects, Value};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::import::{Imported, Source};
use rewright_llvm::module::File;
use rewright_llvm::optimise::LlvmOptimiser;
use rewright_llvm::types::Type;
use rewright_llvm::{constants, effects};
use rewright_typeprop::Universe;
use std::collections::BTreeMap;

/// Steps of a run.
const FUEL: u64 = 100_000;
/// Bytes of a block that is set or copied.
const BLOCK: u64 = 1 << 16;
/// Below, nothing is: 0 points nowhere.
const LOWEST: u64 = 4096;
/// How a run ends with a call that does not return: no trap of a program has this number.
const LEFT: u32 = u32::MAX;
/// Where the stack is, and how much of it there is for a slot.
const STACK: u64 = 1 << 40;
const SLOT: u64 = 1 << 24;
const SLOTS: u64 = 1 << 12;

/// Runs the pairs of two files.
pub(super) fn compare(llvm: &LlvmOptimiser, files: &Files<'_>, config: &Config) -> Vec<Seen> {
    let pairs = &files.pairs;
    let (old, universe) = llvm.import(files.before, |i| pairs.iter().any(|(old, _)| *old == i));
    let (new, universe_after) = llvm.import(files.after, |j| pairs.iter().any(|(_, new)| *new == j));
    let seen = |(pair, (i, j)): (usize, &(usize, usize))| {
        let (Some(Ok(old)), Some(Ok(new))) = (&old[*i], &new[*j]) else { return Seen::nothing("not understood") };
        // Values that are made up for one version's vectors say nothing of the other one's scalars.
        if has_vectors(old) || has_vectors(new) {
            return Seen::nothing("it has vectors");
        }
        let [before, after] = files.versions(pair);
        if let Some(reason) = headers::another_global(before, after) {
            return Seen::nothing(reason);
        }
        let old = Subject { file: files.before, imported: old, universe: &universe };
        let new = Subject { file: files.after, imported: new, universe: &universe_after };
        let parameters: Vec<&Type> = files.definitions(pair)[0].parameters.iter().map(|p| &p.ty).collect();
        let mut inputs = Inputs::new(files, pair, config.seed);
        let mut seen = Seen::default();
        for _ in 0..config.runs {
            let arguments: Vec<i64> = parameters.iter().map(|ty| inputs.argument(ty)).collect();
            match both(&old, &new, &arguments, inputs.rng.random()) {
                Compared::Same => seen.runs += 1,
                Compared::Open(reason) => seen.not_compared(reason),
                Compared::Differs(difference) => {
                    seen.runs += 1;
                    seen.differs = Some((arguments.iter().map(i64::to_string).collect(), difference));
                    break;
                }
            }
        }
        seen
    };
    pairs.iter().enumerate().map(seen).collect()
}

/// Does a function compute with vectors, or store them?
fn has_vectors(imported: &Imported) -> bool {
    let is_vector = |ty: &Type| matches!(ty, Type::Vector(..));
    let mut all = imported.body.blocks.iter().flat_map(|block| &block.instructions);
    all.any(|i| is_vector(&i.ty) || matches!(&i.shape, Shape::Store(value, ..) if is_vector(&value.ty)))
}

enum Compared {
    Same,
    /// Nothing is known, for this reason.
    Open(String),
    Differs(String),
}

/// A function, with what it takes to run it.
struct Subject<'a> {
    file: &'a File,
    imported: &'a Imported,
    universe: &'a Universe,
}

/// How a run ended.
struct End {
    outcome: Outcome,
    memory: Memory,
    told: Vec<String>,
}

fn both(old: &Subject<'_>, new: &Subject<'_>, arguments: &[i64], seed: u64) -> Compared {
    let before = old.run(arguments, seed, FUEL);
    if !matches!(before.outcome, Outcome::Return(_) | Outcome::Trap(LEFT)) {
        return Compared::Open(open(&before.outcome));
    }
    let after = new.run(arguments, seed, 4 * FUEL);
    match (&before.outcome, &after.outcome) {
        (_, Outcome::Unsupported(reason)) => return Compared::Open(reason.clone()),
        (Outcome::Return(expected), Outcome::Return(found)) => {
            let scalars = old.imported.function.results.iter().map(|ty| old.universe.types.scalar(*ty));
            let mut values = scalars.zip(expected.iter().zip(found));
            if !values.all(|(scalar, (a, b))| equal_up_to_nan(scalar, *a, *b)) {
                return Compared::Differs(format!("it gives {found:?}, and gave {expected:?}"));
            }
        }
        (Outcome::Trap(LEFT), Outcome::Trap(LEFT)) => {}
        (was, is) => return Compared::Differs(format!("it ends as {is:?}, and ended as {was:?}")),
    }
    match () {
        // The writes of these calls are not known.
        () if before.told != after.told => Compared::Differs("it calls others, or in another order".into()),
        () if !same_memory(&before.memory, &after.memory, seed) => Compared::Differs("it leaves another memory".into()),
        () => Compared::Same,
    }
}

/// Is every page the same? One that only one side has reached is as it was made up.
fn same_memory(before: &Memory, after: &Memory, seed: u64) -> bool {
    let pages = |memory: &Memory| -> BTreeMap<u64, Vec<u8>> {
        let shared = memory.areas().iter().filter(|area| !is_stack(area.base));
        shared.map(|area| (area.base, area.bytes.clone())).collect()
    };
    let (before, after) = (pages(before), pages(after));
    let at = |pages: &BTreeMap<u64, Vec<u8>>, base: u64| pages.get(&base).cloned().unwrap_or_else(|| page(seed, base));
    before.keys().chain(after.keys()).all(|base| at(&before, *base) == at(&after, *base))
}

fn is_stack(address: u64) -> bool {
    (STACK..STACK + SLOTS * SLOT).contains(&address)
}

fn open(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Unsupported(reason) => reason.clone(),
        Outcome::OutOfFuel => "too many steps".into(),
        // A trap here is undefined behaviour there.
        _ => "undefined".into(),
    }
}

impl Subject<'_> {
    fn run(&self, arguments: &[i64], seed: u64, fuel: u64) -> End {
        let mut memory = Memory::default();
        // A value that the function takes beside its parameters is known by its text.
        let leaves = self.imported.payloads.leaves.iter().map(|leaf| match leaf.text.contains('@') {
            true => pointer(hash(&leaf.text)),
            false => 0,
        });
        let arguments: Vec<i64> = arguments.iter().copied().chain(leaves).collect();
        let mut outside = Outside { subject: self, seed, told: vec![], slots: 0 };
        let outcome = interp::run(&self.imported.function, self.universe, &arguments, &mut memory, &mut outside, fuel);
        End { outcome, memory, told: outside.told }
    }
}

/// What is opaque, made up.
struct Outside<'a> {
    subject: &'a Subject<'a>,
    /// Of what memory has.
    seed: u64,
    /// Calls that may write, with the values of their operands.
    told: Vec<String>,
    slots: u64,
}

impl Host for Outside<'_> {
    /// The page; an access across the border of two stays outside.
    fn reach(&mut self, address: u64, memory: &mut Memory) {
        let base = address / PAGE * PAGE;
        if base >= LOWEST && memory.areas().iter().all(|area| area.base != base) {
            memory.add(base, page(self.seed, base));
        }
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<Results, Outcome> {
        let InstKind::Opaque { effects, .. } = &inst.kind else {
            return Err(Outcome::Unsupported("an operation that only a pack knows".into()));
        };
        let Imported { body, payloads, .. } = self.subject.imported;
        let at = |place: (usize, usize)| &body.blocks[place.0].instructions[place.1];
        match inst.origin.and_then(|o| payloads.sources.get(o as usize)) {
            Some(Source::Cases(place)) => Ok(Results::from_elem(case(at(*place), args), 1)),
            Some(Source::Instruction(place)) => {
                let instruction = at(*place);
                match MemoryBlock::of(instruction) {
                    Some(block) => self.block(&block, instruction, args, memory),
                    None => self.instruction(instruction, inst, *effects, args),
                }
            }
            _ => Err(Outcome::Unsupported("an instruction of unknown origin".into())),
        }
    }
}

impl Outside<'_> {
    fn instruction(
        &mut self,
        instruction: &Instruction,
        inst: &Inst,
        effects: OpaqueEffects,
        args: &[i64],
    ) -> Result<Results, Outcome> {
        let local = |text: &str| local(instruction, args, text);
        let one = |value: i64| Ok(Results::from_elem(value, 1));
        match &instruction.shape {
            Shape::Alloca(_) => {
                if self.slots == SLOTS {
                    return Err(Outcome::Unsupported("too many stack slots".into()));
                }
                self.slots += 1;
                return one((STACK + (self.slots - 1) * SLOT) as i64);
            }
            Shape::Plain(operands) if instruction.opcode == "freeze" => {
                let constant = |o: &Operand| constants::read(&o.ty, &o.text).map_or(0, |bits| bits as i64);
                return one(operands.first().map_or(0, |o| local(&o.text).unwrap_or_else(|| constant(o))));
            }
            Shape::Offset { base, source, indices } if base.ty == Type::Ptr => {
                let index =
                    |o: &Operand| local(&o.text).or_else(|| constants::read(&o.ty, &o.text).map(|bits| bits as i64));
                let start = address(instruction, args, base);
                let offset = constants::offset_at(source, indices, &self.subject.file.named, index);
                return match start.zip(offset) {
                    Some((start, offset)) => one(start.wrapping_add(offset)),
                    None => Err(Outcome::Unsupported("an offset that is not modelled".into())),
                };
            }
            _ => {}
        }
        let said = match effects {
            OpaqueEffects::Pure | OpaqueEffects::Pinned => 0,
            OpaqueEffects::Observes | OpaqueEffects::Writes => self.told.len(),
        };
        let text = concrete(instruction, args);
        let number = hash(&(&text, said));
        if effects == OpaqueEffects::Writes {
            self.told.push(text);
        }
        if let Shape::Call { callee, attributes: own, .. } = &instruction.shape {
            let attributes = effects::attributes(self.subject.file, callee.as_deref(), own);
            if attributes.iter().flatten().any(|a| a == "noreturn") {
                return Err(Outcome::Trap(LEFT));
            }
        }
        Ok(inst.results.iter().map(|value| self.made_up(*value, number)).collect())
    }

    /// Sets or copies a block of memory.
    fn block(
        &mut self,
        block: &MemoryBlock<'_>,
        instruction: &Instruction,
        args: &[i64],
        memory: &mut Memory,
    ) -> Result<Results, Outcome> {
        let number = |o: &Operand| {
            local(instruction, args, &o.text).or_else(|| constants::read(&o.ty, &o.text).map(|bits| bits as i64))
        };
        let address = |o: &Operand| address(instruction, args, o).map(|address| address as u64);
        let not_modelled = || Outcome::Unsupported("a block of memory at an address that is not modelled".into());
        let to = address(block.to).ok_or_else(not_modelled)?;
        let bits = |n: i64| if block.length.ty == Type::Int(32) { u64::from(n as u32) } else { n as u64 };
        let length = number(block.length).map(bits).ok_or_else(not_modelled)?;
        if length > BLOCK {
            return Err(Outcome::Unsupported("a block of too many bytes".into()));
        }
        // All bytes are read before any is written: blocks may overlap.
        let bytes = match block.operation {
            BlockOperation::Set => vec![number(block.from).ok_or_else(not_modelled)? as u8; length as usize],
            BlockOperation::Copy | BlockOperation::Move => {
                let from = address(block.from).ok_or_else(not_modelled)?;
                let byte = |n: u64| {
                    self.reach(from.wrapping_add(n), memory);
                    memory.load(from.wrapping_add(n), 1).map(|byte| byte as u8)
                };
                (0..length).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(not_modelled)?
            }
        };
        for (n, byte) in (0..).zip(bytes) {
            self.reach(to.wrapping_add(n), memory);
            memory.store(to.wrapping_add(n), 1, byte.into()).ok_or_else(not_modelled)?;
        }
        Ok(Results::new())
    }

    /// A value of a result's type.
    fn made_up(&self, value: Value, number: u64) -> i64 {
        let Subject { imported, universe, .. } = self.subject;
        match &imported.payloads.types[value.index()] {
            Type::Int(1) => (number & 1) as i64,
            Type::Ptr => pointer(number),
            _ => universe.types.scalar(imported.function.ty(value)).map_or(number as i64, |s| s.canonical(number)),
        }
    }
}

/// The value of a local name in an instruction.
fn local(instruction: &Instruction, args: &[i64], text: &str) -> Option<i64> {
    let hole = instruction.template.holes.iter().position(|hole| hole == text)?;
    args.get(hole).copied()
}

/// The address that an operand is: a value, or a global.
fn address(instruction: &Instruction, args: &[i64], operand: &Operand) -> Option<i64> {
    let global = operand.text.starts_with('@').then(|| pointer(hash(&operand.text)));
    local(instruction, args, &operand.text).or(global)
}

/// The text of an instruction with values in it, written as constants are: which of its operands are constants, rules
/// may change.
fn concrete(instruction: &Instruction, args: &[i64]) -> String {
    let template = instruction.bare.as_ref().unwrap_or(&instruction.template);
    let operands: &[Operand] = match &instruction.shape {
        Shape::Plain(operands) | Shape::Call { args: operands, .. } => operands,
        _ => &[],
    };
    let value = |(hole, value): (&String, &i64)| {
        let constant = operands.iter().find(|o| o.text == *hole).and_then(|o| constants::write(&o.ty, *value));
        constant.unwrap_or_else(|| format!("%{value}"))
    };
    template.fill(&template.holes.iter().zip(args).map(value).collect::<Vec<_>>())
}

/// The position of the case of a `switch` that a value is; behind the last one where it is no case.
fn case(switch: &Instruction, args: &[i64]) -> i64 {
    let Shape::Switch(operand, _, cases) = &switch.shape else { return 0 };
    let constant = |text: &str| constants::read(&operand.ty, text).map(|bits| canonical(&operand.ty, bits));
    let value = args.first().copied().or_else(|| constant(&operand.text));
    cases.iter().position(|(text, _)| constant(text) == value).unwrap_or(cases.len()) as i64
}

/// Memory: words that are pointers, small numbers, or anything. The stack has no values yet: zeros.
fn page(seed: u64, base: u64) -> Vec<u8> {
    if is_stack(base) {
        return vec![0; PAGE as usize];
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ base);
    let mut word = || match rng.random_range(0..4) {
        0 => pointer(rng.random()) as u64,
        1 => rng.random_range(0..8),
        2 => rng.random_range(0..8) << 32 | rng.random_range(0..8),
        _ => rng.random(),
    };
    (0..PAGE / 8).flat_map(|_| word().to_le_bytes()).collect()
}
