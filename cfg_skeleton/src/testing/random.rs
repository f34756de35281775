//! Random verified functions over the test universe, for property tests of passes: any control flow (loops,
//! irreducible regions, unreachable blocks, opaque terminators), any dominating value as operand, memory, checks and
//! opaque instructions. Most of them end soon; the interpreter's fuel ends the others.

use super::{MOVABLE, PLAIN, trap_code};
use crate::ir::interp::{self, Area, Host, Memory, Outcome};
use crate::ir::{
    Access, Block, BlockId, Cfg, Edge, EdgeArg, Function, Inst, InstKind, OpaqueEffects, PayloadId, Terminator, Value,
};
use rewright_typeprop::{Ty, Universe};
use smallvec::SmallVec;

pub use rewright_extract::testing::Random;

/// What a random function needs to know while it is filled.
struct Filler<'u> {
    random: Random,
    universe: &'u Universe,
    f: Function,
}

/// A function `(i64, i32, i32) -> i32` of at most `blocks` blocks. The first parameter is an address for
/// [`run`]'s memory.
pub fn function(seed: u64, blocks: usize, universe: &Universe) -> Function {
    let f = Function::new(format!("%random{seed}"));
    let mut filler = Filler { random: Random(seed), universe, f };
    filler.control(blocks.max(1));
    filler.fill();
    filler.f
}

impl Filler<'_> {
    fn ty(&self, name: &str) -> Ty {
        self.universe.types.find(name).expect("a type of the test universe")
    }

    /// Blocks with parameters, and terminators whose operands are yet to be chosen.
    fn control(&mut self, max: usize) {
        let (i32, i64) = (self.ty("i32"), self.ty("i64"));
        self.f.results = vec![i32];
        let n = 1 + self.random.below(max);
        for b in 0..n {
            let id = self.f.add_block();
            let params = if b == 0 { vec![i64, i32, i32] } else { vec![i32; self.random.below(3)] };
            self.f.blocks[id.index()].params = params.into_iter().map(|ty| self.f.add_value(ty)).collect();
            self.f.blocks[id.index()].cold = self.random.once_in(10);
        }
        for b in 0..n {
            let target = |r: &mut Random| {
                // Mostly forward, so that most functions end.
                let forward = b + 1 < n && !r.once_in(3);
                let t = if forward { b + 1 + r.below((n - b - 1).min(3)) } else { 1 + r.below(n.max(2) - 1) };
                Edge { target: BlockId(t as u32), args: SmallVec::new() }
            };
            let r = &mut self.random;
            let none = Value(0);
            let term = match r.below(12) {
                _ if n == 1 => Terminator::Return(SmallVec::new()),
                _ if b + 1 == n => Terminator::Return(SmallVec::new()),
                0..4 => Terminator::Jump(target(r)),
                4..9 => Terminator::Branch { cond: none, then: target(r), els: target(r) },
                9 => {
                    let targets = (0..r.below(4)).map(|_| target(r)).collect();
                    Terminator::Switch { index: none, targets, default: target(r) }
                }
                10 if r.once_in(2) => Terminator::Opaque {
                    payload: PayloadId(100 + b as u32),
                    args: SmallVec::new(),
                    targets: (0..1 + r.below(2)).map(|_| target(r)).collect(),
                },
                10 => Terminator::Trap { code: 40 + r.below(3) as u32 },
                _ => Terminator::Return(SmallVec::new()),
            };
            self.f.blocks[b].term = term;
        }
    }

    /// Instructions and operands, dominators first.
    fn fill(&mut self) {
        let cfg = Cfg::new(&self.f);
        let mut available: Vec<Vec<Value>> = vec![vec![]; self.f.blocks.len()];
        let order = cfg.reverse_post_order().to_vec();
        let unreachable = self.f.layout.clone().into_iter().filter(|b| !cfg.is_reachable(*b));
        for b in order.into_iter().chain(unreachable.collect::<Vec<_>>()) {
            let mut values = cfg.idom(b).map_or(vec![], |d| available[d.index()].clone());
            values.extend(&self.f.block(b).params);
            for _ in 0..self.random.below(5) {
                self.inst(b, &mut values);
            }
            self.terminator(b, &mut values);
            available[b.index()] = values;
        }
    }

    fn add(&mut self, b: BlockId, kind: InstKind, args: &[Value], results: &[Ty], values: &mut Vec<Value>) {
        let id = self.f.append(b, kind, args, results);
        self.f.insts[id.index()].origin = Some(id.0);
        values.extend(&self.f.inst(id).results);
    }

    /// A value of a type, made if there is none or chance says so.
    fn pick(&mut self, b: BlockId, ty: &str, values: &mut Vec<Value>) -> Value {
        let ty = self.ty(ty);
        let fit: Vec<Value> = values.iter().copied().filter(|v| self.f.ty(*v) == ty).collect();
        if fit.is_empty() || self.random.once_in(6) {
            self.constant(b, ty, values);
            return values[values.len() - 1];
        }
        // Near ones are likelier, so that dependences are long.
        let from = if self.random.once_in(2) { fit.len().saturating_sub(3) } else { 0 };
        fit[from + self.random.below(fit.len() - from)]
    }

    fn constant(&mut self, b: BlockId, ty: Ty, values: &mut Vec<Value>) {
        let n = [0, 1, 2, 3, -1, 7, 100, -128][self.random.below(8)];
        self.add(b, InstKind::Const(n), &[], &[ty], values);
    }

    fn op(&mut self, b: BlockId, name: &str, args: &[Value], access: Option<Access>, values: &mut Vec<Value>) {
        let op = super::op_id(self.universe, name);
        let i32 = self.ty("i32");
        let targs: SmallVec<[Ty; 2]> = SmallVec::from_slice(&[i32]);
        let results: Vec<Ty> = match name {
            "store" => vec![],
            "icmp_eq" | "icmp_ult" => vec![self.ty("i8")],
            _ => vec![i32],
        };
        self.add(b, InstKind::Op { op, targs, access }, args, &results, values);
    }

    fn inst(&mut self, b: BlockId, values: &mut Vec<Value>) {
        let access = if self.random.once_in(2) { PLAIN } else { Access { trap: None, ..MOVABLE } };
        match self.random.below(14) {
            0..6 => {
                let name = ["iadd", "isub", "imul", "bxor", "iadd", "band"][self.random.below(6)];
                let args = [self.pick(b, "i32", values), self.pick(b, "i32", values)];
                self.op(b, name, &args, None, values);
            }
            6 | 7 => {
                let name = ["icmp_eq", "icmp_ult"][self.random.below(2)];
                let args = [self.pick(b, "i32", values), self.pick(b, "i32", values)];
                self.op(b, name, &args, None, values);
            }
            8 => {
                let args = [self.pick(b, "i8", values), self.pick(b, "i32", values), self.pick(b, "i32", values)];
                self.op(b, "select", &args, None, values);
            }
            9 => {
                let args = [self.pick(b, "i32", values), self.pick(b, "i32", values)];
                self.op(b, "udiv", &args, None, values);
            }
            10 | 11 => {
                let offset = [0, 4, 8, 2][self.random.below(4)];
                // Some are not aligned, and do not promise that they are.
                let access = Access { aligned: access.aligned && offset % 4 == 0, ..access };
                let i64 = self.ty("i64");
                self.add(b, InstKind::Const(offset), &[], &[i64], values);
                let (address, offset) = (self.f.blocks[0].params[0], values[values.len() - 1]);
                if self.random.once_in(2) {
                    self.op(b, "load", &[address, offset], Some(access), values);
                } else {
                    let v = self.pick(b, "i32", values);
                    self.op(b, "store", &[address, v, offset], Some(access), values);
                }
            }
            12 => {
                let cond = self.pick(b, "i8", values);
                let kind = InstKind::Check { code: 50 + self.random.below(3) as u32, when: self.random.once_in(2) };
                self.add(b, kind, &[cond], &[], values);
            }
            _ => {
                let effects =
                    [OpaqueEffects::Pure, OpaqueEffects::Pinned, OpaqueEffects::Observes, OpaqueEffects::Writes]
                        [self.random.below(4)];
                let payload = PayloadId(self.random.below(3) as u32);
                let arg = self.pick(b, "i32", values);
                let i32 = self.ty("i32");
                self.add(b, InstKind::Opaque { payload, effects }, &[arg], &[i32], values);
            }
        }
    }

    fn terminator(&mut self, b: BlockId, values: &mut Vec<Value>) {
        let mut term = std::mem::replace(&mut self.f.blocks[b.index()].term, Terminator::Trap { code: 0 });
        match &mut term {
            Terminator::Branch { cond, .. } => {
                *cond = if self.random.once_in(3) { self.pick(b, "i32", values) } else { self.pick(b, "i8", values) };
            }
            Terminator::Switch { index, .. } => *index = self.pick(b, "i32", values),
            Terminator::Return(results) => results.push(self.pick(b, "i32", values)),
            Terminator::Opaque { args, .. } => args.push(self.pick(b, "i32", values)),
            Terminator::Jump(_) | Terminator::Trap { .. } => {}
        }
        let opaque = matches!(term, Terminator::Opaque { .. });
        for edge in term.edges_mut() {
            let params = self.f.block(edge.target).params.len();
            for _ in 0..params {
                edge.args.push(if opaque && self.random.once_in(2) {
                    EdgeArg::Terminator(self.random.below(2) as u32)
                } else {
                    EdgeArg::Value(self.pick(b, "i32", values))
                });
            }
        }
        let block: &mut Block = &mut self.f.blocks[b.index()];
        block.term = term;
    }
}

/// What a run shows to the outside: how it ended, the memory, and what was executed outside the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// How it ended.
    pub outcome: Outcome,
    /// Memory at the end.
    pub memory: Vec<Area>,
    /// Opaque instructions and terminators with effects, with their operands and the memory's first bytes where they
    /// observe these.
    pub events: Vec<(u32, i64, u64)>,
}

#[derive(Default)]
struct Recorder(Vec<(u32, i64, u64)>);

fn mix(a: u64, b: u64) -> u64 {
    Random(a ^ b.rotate_left(32)).draw()
}

impl Host for Recorder {
    fn trap_code(&self, name: &str) -> u32 {
        trap_code(name)
    }

    fn execute(&mut self, inst: &Inst, args: &[i64], memory: &mut Memory) -> Result<SmallVec<[i64; 2]>, Outcome> {
        let InstKind::Opaque { payload, effects } = inst.kind else {
            return Err(Outcome::Unsupported("an operation".into()));
        };
        let word = memory.load(ADDRESS as u64, 8).unwrap_or_default();
        let arg = args.first().copied().unwrap_or_default();
        let mut result = mix(payload.0.into(), arg as u64);
        let observes = matches!(effects, OpaqueEffects::Observes | OpaqueEffects::Writes);
        if effects != OpaqueEffects::Pure {
            self.0.push((payload.0, arg, if observes { word } else { 0 }));
        }
        if observes {
            result = mix(result, word);
        }
        if effects == OpaqueEffects::Writes {
            memory.store(ADDRESS as u64, 8, mix(result, 1));
        }
        Ok(inst.results.iter().map(|_| result as i64 % 16).collect())
    }

    fn leave(&mut self, term: &Terminator, args: &[i64], memory: &mut Memory) -> Result<(usize, Vec<i64>), Outcome> {
        let Terminator::Opaque { payload, targets, .. } = term else {
            return Err(Outcome::Unsupported("a terminator".into()));
        };
        let word = memory.load(ADDRESS as u64, 8).unwrap_or_default();
        self.0.push((payload.0, args[0], word));
        let result = mix(mix(payload.0.into(), args[0] as u64), word);
        memory.store(ADDRESS as u64, 8, mix(result, 1));
        Ok((result as usize % targets.len(), vec![result as i64 >> 8, result as i64 >> 16]))
    }
}

/// Where the memory of runs is: the first argument.
pub const ADDRESS: i64 = 1 << 16;

/// Runs a function of this module's shape.
pub fn run(f: &Function, universe: &Universe, args: [i64; 2], fuel: u64) -> Trace {
    run_with(f, universe, &[ADDRESS, args[0], args[1]], fuel)
}

/// Runs one that takes other arguments.
pub fn run_with(f: &Function, universe: &Universe, args: &[i64], fuel: u64) -> Trace {
    let mut memory = Memory::default();
    memory.add(ADDRESS as u64, (0..16).collect());
    let mut host = Recorder::default();
    let outcome = interp::run(f, universe, args, &mut memory, &mut host, fuel);
    Trace { outcome, memory: memory.areas().to_vec(), events: host.0 }
}

/// Panics unless `changed` does what `original` does, on a few inputs. Runs that take too long say nothing.
pub fn assert_same(original: &Function, changed: &Function, universe: &Universe, seed: u64) {
    let show =
        || format!("{}{}", crate::ir::text::print(original, universe), crate::ir::text::print(changed, universe));
    let errors = crate::ir::verify::verify(changed, universe);
    assert!(errors.is_empty(), "{errors:#?}\n{}", show());
    let mut random = Random(seed);
    for _ in 0..6 {
        let args = [random.draw() as i32 as i64 >> random.below(32), random.below(5) as i64 - 1];
        let before = run(original, universe, args, 300);
        if before.outcome == Outcome::OutOfFuel {
            continue;
        }
        let after = run(changed, universe, args, 3000);
        assert_eq!(before, after, "{args:?}\n{}", show());
    }
}
