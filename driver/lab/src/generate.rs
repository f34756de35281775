//! Made-up functions: random ones for differential tests.
//!
//! A random function uses whatever scalar operations the packs declare: arithmetic of all widths and of floats,
//! conversions, memory through one pointer parameter (two regions, constant offsets and computed addresses), trapping
//! operations, checks, branches, switches, nested loops with bounded trip counts, and irreducible cycles that a
//! counter ends. With [`Generator::add_opaque`] it calls what the front end gives, too. It always terminates.
//!
//! **Invariant**: the function depends on the seed and the universe only.

mod body;
mod control;
mod memory;

use body::Body;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::{BlockId, Function, InstKind, OpaqueEffects, PayloadId, Terminator, Value};
use rewright_typeprop::eval::evaluate;
use rewright_typeprop::{Evaluation, Model, Op, OpId, Scalar, Ty, TypeExpr, Universe};
use smallvec::SmallVec;

/// Bytes behind the pointer parameter that a random function may access.
pub const MEMORY_BYTES: usize = 128;

/// The scalar types, in the order of [`Scalar`].
const SCALARS: [Scalar; 6] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];

/// What may be generated.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// About how many instructions.
    pub size: usize,
    /// How deep loops and branches nest.
    pub depth: u32,
    /// Memory accesses.
    pub memory: bool,
    /// Operations and checks that may trap.
    pub traps: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { size: 40, depth: 3, memory: true, traps: true }
    }
}

/// An operation at closed types.
#[derive(Clone, Debug)]
struct OpInstance {
    op: OpId,
    targs: SmallVec<[Ty; 2]>,
    params: Vec<(Ty, bool)>,
    result: Option<Ty>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pure,
    Trapping,
    /// Bytes that it reads.
    Read,
    Write,
}

/// Everything that random functions over one universe are made of; made once.
pub struct Generator<'u> {
    universe: &'u Universe,
    types: Vec<Ty>,
    instances: Vec<OpInstance>,
    /// What loops and addresses need, at one integer type each.
    arithmetic: Vec<(Model, OpInstance)>,
    opaque: Vec<Opaque>,
    trap_code: u32,
}

/// Something that only the front end can read.
struct Opaque {
    payload: PayloadId,
    effects: OpaqueEffects,
    /// `None` is the pointer to the memory.
    operands: Vec<Option<Ty>>,
    results: Vec<Ty>,
}

impl<'u> Generator<'u> {
    /// Collects the scalar operations of a universe. `trap_code` is the front end's number of a code that checks
    /// and accesses may use.
    pub fn new(universe: &'u Universe, trap_code: u32) -> Self {
        let mut store = universe.types.clone();
        let types: Vec<Ty> =
            SCALARS.iter().filter_map(|s| store.all().find(|t| store.scalar(*t) == Some(*s))).collect();
        let mut instances = vec![];
        for (id, op) in universe.ops.iter() {
            let Some(kind) = kind(op) else { continue };
            let choices = op.tparams.len();
            for code in 0..types.len().pow(choices as u32) {
                let targs: SmallVec<[Ty; 2]> =
                    (0..choices).map(|i| types[code / types.len().pow(i as u32) % types.len()]).collect();
                let fits = op.tparams.iter().zip(&targs).all(|(param, ty)| match &param.bound {
                    None => true,
                    Some(bound) => store.instantiate(bound, &targs).is_some_and(|bound| store.is_subtype(*ty, bound)),
                });
                if !fits {
                    continue;
                }
                let mut close = |e: &TypeExpr| store.instantiate(e, &targs).filter(|t| types.contains(t));
                let params: Option<Vec<_>> = op.params.iter().map(|p| Some((close(&p.ty)?, p.constant))).collect();
                let result = op.results.first().map(&mut close);
                if let (Some(params), None | Some(Some(_))) = (params, &result) {
                    instances.push(OpInstance { op: id, targs, params, result: result.flatten(), kind });
                }
            }
        }
        // Types that fit the declaration but not the operation: extension to a narrower type.
        instances.retain(|i| i.kind != Kind::Pure || defined(universe, i));
        let uniform = |i: &&OpInstance| i.targs.iter().all(|t| Some(t) == i.targs.first());
        let arithmetic = instances.iter().filter(uniform).filter_map(|i| match universe.ops.get(i.op).model {
            Some(model @ (Model::Add | Model::And | Model::Shl)) => Some((model, i.clone())),
            _ => None,
        });
        let arithmetic = arithmetic.collect();
        Generator { universe, types, instances, arithmetic, opaque: vec![], trap_code }
    }

    /// Takes over the opaque instructions of a function whose operands and results are scalars. Its first parameter
    /// is the pointer. The functions made then have its payloads.
    pub fn add_opaque(&mut self, f: &Function) {
        let pointer = f.block(f.entry()).params.first();
        for inst in f.layout.iter().flat_map(|b| &f.block(*b).insts).map(|i| f.inst(*i)) {
            let InstKind::Opaque { payload, effects } = inst.kind else { continue };
            if inst.args.iter().chain(&inst.results).all(|v| self.types.contains(&f.ty(*v))) {
                let operands = inst.args.iter().map(|v| (Some(v) != pointer).then(|| f.ty(*v))).collect();
                let results = inst.results.iter().map(|v| f.ty(*v)).collect();
                self.opaque.push(Opaque { payload, effects, operands, results });
            }
        }
    }

    /// Keeps the operations without effects for which `wanted` holds of a function that does nothing else.
    pub fn retain(&mut self, mut wanted: impl FnMut(&Function) -> bool) {
        let memory = |i: &OpInstance| matches!(i.kind, Kind::Read | Kind::Write);
        let instances = std::mem::take(&mut self.instances);
        self.instances = instances.into_iter().filter(|i| memory(i) || wanted(&self.only(i))).collect();
    }

    /// A function of one instruction.
    fn only(&self, instance: &OpInstance) -> Function {
        let mut f = empty("%only".into());
        let entry = f.add_block();
        self.param(&mut f, entry, self.ty(Scalar::I64));
        let mut args = vec![];
        for (ty, constant) in &instance.params {
            args.push(if *constant {
                let id = f.append(entry, InstKind::Const(0), &[], &[*ty]);
                f.inst(id).results[0]
            } else {
                self.param(&mut f, entry, *ty)
            });
        }
        let kind = InstKind::Op { op: instance.op, targs: instance.targs.clone(), access: None };
        let result: Vec<Ty> = instance.result.into_iter().collect();
        let id = f.append(entry, kind, &args, &result);
        f.blocks[entry.index()].term = Terminator::Return(f.inst(id).results.iter().copied().collect());
        f.results = result;
        f
    }

    /// A random function. Its first parameter is a pointer to [`MEMORY_BYTES`] bytes.
    pub fn function(&self, seed: u64, shape: Shape) -> Function {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut f = empty(format!("%random{seed}"));
        let entry = f.add_block();
        let pointer = self.param(&mut f, entry, self.ty(Scalar::I64));
        let mut pool = vec![];
        for _ in 0..rng.random_range(2..=5) {
            let ty = *self.types.choose(&mut rng).expect("scalar types are declared");
            pool.push(self.param(&mut f, entry, ty));
        }
        let named_regions = rng.random_bool(0.3);
        // Memory cells of one function belong to one region each: the lower half and the upper half.
        let mut body = Body { g: self, f, rng, shape, pointer, named_regions, block: entry, budget: shape.size };
        body.region(&mut pool, shape.depth);
        let results: SmallVec<[Value; 2]> =
            (0..body.rng.random_range(1..=3)).map(|_| body.pick(&mut pool, None)).collect();
        let mut f = body.finish(Terminator::Return(results.clone()));
        f.results = results.iter().map(|v| f.ty(*v)).collect();
        f
    }

    fn ty(&self, scalar: Scalar) -> Ty {
        let known = |t: &&Ty| self.universe.types.scalar(**t) == Some(scalar);
        *self.types.iter().find(known).expect("all scalar types are declared")
    }

    fn param(&self, f: &mut Function, block: BlockId, ty: Ty) -> Value {
        let value = f.add_value(ty);
        f.blocks[block.index()].params.push(value);
        value
    }
}

fn empty(name: String) -> Function {
    Function { regions: vec!["memory".into(), "first".into(), "second".into()], ..Function::new(name) }
}

/// Has the operation a meaning at these types?
fn defined(universe: &Universe, instance: &OpInstance) -> bool {
    let ones: Vec<i64> = instance.params.iter().map(|_| 1).collect();
    evaluate(universe, instance.op, &instance.targs, &ones) != Evaluation::Undefined
}

fn kind(op: &Op) -> Option<Kind> {
    let e = &op.effects;
    if op.model.is_none() && op.spec.is_none() || op.results.len() > 1 || e.io || !e.allocates.is_empty() || e.diverges
    {
        return None;
    }
    Some(match (e.reads.is_empty(), e.writes.is_empty(), e.traps) {
        (true, true, false) => Kind::Pure,
        (true, true, true) => Kind::Trapping,
        (false, true, _) => Kind::Read,
        (_, false, _) => Kind::Write,
    })
}
