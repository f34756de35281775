//! Made-up functions: random ones for differential tests, straight-line ones for timing curves.
//!
//! A random function uses whatever scalar operations the packs declare: arithmetic of all widths and of floats,
//! conversions, memory through one pointer parameter (two regions), trapping operations, checks, branches, switches,
//! nested loops with bounded trip counts, and irreducible cycles that a counter ends. It always terminates.
//!
//! **Invariant**: the function depends on the seed and the universe only.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::{Access, BlockId, Edge, EdgeArg, Function, InstKind, RegionId, Terminator, Value};
use rewright_typeprop::eval::evaluate;
use rewright_typeprop::{Model, Op, OpId, Outcome, Scalar, Ty, TypeExpr, Universe};
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
struct Instance {
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
    instances: Vec<Instance>,
    add: Vec<(Ty, Instance)>,
    trap_code: u32,
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
                    instances.push(Instance { op: id, targs, params, result: result.flatten(), kind });
                }
            }
        }
        // Types that fit the declaration but not the operation: extension to a narrower type.
        instances.retain(|i| i.kind != Kind::Pure || defined(universe, i));
        let add = types
            .iter()
            .filter_map(|ty| {
                let found = instances
                    .iter()
                    .find(|i| universe.ops.get(i.op).model == Some(Model::Add) && i.targs.first() == Some(ty))?;
                Some((*ty, found.clone()))
            })
            .collect();
        Generator { universe, types, instances, add, trap_code }
    }

    /// Keeps the operations without effects for which `wanted` holds of a function that does nothing else.
    pub fn retain(&mut self, mut wanted: impl FnMut(&Function) -> bool) {
        let memory = |i: &Instance| matches!(i.kind, Kind::Read | Kind::Write);
        let instances = std::mem::take(&mut self.instances);
        self.instances = instances.into_iter().filter(|i| memory(i) || wanted(&self.only(i))).collect();
    }

    /// A function of one instruction.
    fn only(&self, instance: &Instance) -> Function {
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
    Function {
        name,
        results: vec![],
        blocks: vec![],
        layout: vec![],
        insts: vec![],
        values: vec![],
        regions: vec!["memory".into(), "first".into(), "second".into()],
    }
}

/// Has the operation a meaning at these types?
fn defined(universe: &Universe, instance: &Instance) -> bool {
    let ones: Vec<i64> = instance.params.iter().map(|_| 1).collect();
    evaluate(universe, instance.op, &instance.targs, &ones) != Outcome::Undefined
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

struct Body<'g, 'u> {
    g: &'g Generator<'u>,
    f: Function,
    rng: ChaCha8Rng,
    shape: Shape,
    pointer: Value,
    named_regions: bool,
    /// Where instructions go now.
    block: BlockId,
    budget: usize,
}

impl Body<'_, '_> {
    fn finish(mut self, term: Terminator) -> Function {
        self.f.blocks[self.block.index()].term = term;
        self.f
    }

    fn constant(&mut self, ty: Ty, n: i64) -> Value {
        let id = self.f.append(self.block, InstKind::Const(n), &[], &[ty]);
        self.f.inst(id).results[0]
    }

    fn random_constant(&mut self, ty: Ty) -> Value {
        let scalar = self.g.universe.types.scalar(ty).expect("random types are scalars");
        let bits = scalar.bits();
        let raw: u64 = match self.rng.random_range(0..8) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => 1 << (bits - 1),
            4 => (1 << (bits - 1)) - 1,
            5 => 1 << self.rng.random_range(0..bits),
            6 => self.rng.random_range(0..64),
            _ => self.rng.random(),
        };
        let raw = match scalar {
            Scalar::F32 if self.rng.random_bool(0.7) => (self.rng.random_range(-8i32..8) as f32 / 2.0).to_bits().into(),
            Scalar::F64 if self.rng.random_bool(0.7) => (self.rng.random_range(-8i32..8) as f64 / 2.0).to_bits(),
            _ => raw,
        };
        self.constant(ty, scalar.canonical(raw))
    }

    /// A value of a type (any, if none is asked for): mostly one that is there, else a constant.
    fn pick(&mut self, pool: &mut Vec<Value>, ty: Option<Ty>) -> Value {
        let ty = ty.unwrap_or_else(|| *self.g.types.choose(&mut self.rng).expect("scalar types are declared"));
        let fitting: Vec<Value> = pool.iter().copied().filter(|v| self.f.ty(*v) == ty).collect();
        // Recent values are likelier, so that expressions grow deep.
        let recent = &fitting[fitting.len().saturating_sub(4)..];
        let choice = if self.rng.random_bool(0.6) { recent } else { &fitting[..] };
        match choice.choose(&mut self.rng) {
            Some(value) if self.rng.random_bool(0.8) => *value,
            _ => {
                let value = self.random_constant(ty);
                pool.push(value);
                value
            }
        }
    }

    /// Statements and nested control, until the budget of this region is spent.
    fn region(&mut self, pool: &mut Vec<Value>, depth: u32) {
        let share = if depth == self.shape.depth { self.budget } else { self.budget / 2 };
        let end = self.budget - share.min(self.budget);
        while self.budget > end {
            self.budget -= 1;
            let visible = pool.len();
            match self.rng.random_range(0..20) {
                0..=1 if depth > 0 => self.diamond(pool, depth - 1),
                2 if depth > 0 => self.counted_loop(pool, depth - 1),
                3 if depth > 0 && self.rng.random_bool(0.3) => self.irreducible(pool, depth - 1),
                4 if depth > 0 && self.rng.random_bool(0.4) => self.switch(pool, depth - 1),
                5 if self.shape.traps && self.rng.random_bool(0.3) => self.check(pool),
                _ => self.operation(pool),
            }
            debug_assert!(pool.len() >= visible);
        }
    }

    fn operation(&mut self, pool: &mut Vec<Value>) {
        let g = self.g;
        let instance = loop {
            let candidate = g.instances.choose(&mut self.rng).expect("operations are declared");
            let wanted = match candidate.kind {
                Kind::Pure => true,
                Kind::Trapping => self.shape.traps && self.rng.random_bool(0.3),
                Kind::Read | Kind::Write => self.shape.memory && self.rng.random_bool(0.8),
            };
            if wanted {
                break candidate;
            }
        };
        let memory = matches!(instance.kind, Kind::Read | Kind::Write);
        let mut args = vec![];
        let upper = self.rng.random_bool(0.5);
        for (i, (ty, constant)) in instance.params.iter().enumerate() {
            let arg = if memory && i == 0 {
                self.pointer
            } else if memory && *constant {
                // Few offsets, so that accesses meet; eight bytes of room within each half.
                let offset = self.rng.random_range(0..4) * if self.rng.random_bool(0.8) { 8 } else { 3 };
                self.constant(*ty, offset + if upper { MEMORY_BYTES as i64 / 2 } else { 0 })
            } else if *constant {
                self.random_constant(*ty)
            } else {
                self.pick(pool, Some(*ty))
            };
            args.push(arg);
        }
        let access = memory.then(|| Access {
            region: RegionId(if self.named_regions { 1 + u32::from(upper) } else { 0 }),
            trap: self.rng.random_bool(0.3).then_some(g.trap_code),
            movable: self.rng.random_bool(0.2),
            readonly: false,
            aligned: false,
        });
        let access = access.map(|a| Access { movable: a.movable && a.trap.is_none(), ..a });
        let kind = InstKind::Op { op: instance.op, targs: instance.targs.clone(), access };
        let result: Vec<Ty> = instance.result.into_iter().collect();
        let id = self.f.append(self.block, kind, &args, &result);
        pool.extend(self.f.inst(id).results.first());
    }

    fn check(&mut self, pool: &mut Vec<Value>) {
        let ty = self.g.ty(Scalar::I64);
        let value = self.pick(pool, Some(ty));
        let kind = InstKind::Check { code: self.g.trap_code, when: self.rng.random_bool(0.3) };
        self.f.append(self.block, kind, &[value], &[]);
    }

    fn condition(&mut self, pool: &mut Vec<Value>) -> Value {
        let scalar = *[Scalar::I8, Scalar::I8, Scalar::I32, Scalar::I64].choose(&mut self.rng).expect("not empty");
        let ty = self.g.ty(scalar);
        self.pick(pool, Some(ty))
    }

    /// An edge to `target` that carries one value per type.
    fn edge(&mut self, target: BlockId, pool: &mut Vec<Value>, types: &[Ty]) -> Edge {
        Edge { target, args: types.iter().map(|ty| EdgeArg::Value(self.pick(pool, Some(*ty)))).collect() }
    }

    fn some_types(&mut self) -> Vec<Ty> {
        let count = self.rng.random_range(0..=3);
        (0..count).map(|_| *self.g.types.choose(&mut self.rng).expect("scalar types are declared")).collect()
    }

    fn enter(&mut self, block: BlockId, types: &[Ty], pool: &mut Vec<Value>) {
        self.block = block;
        for ty in types {
            pool.push(self.g.param(&mut self.f, block, *ty));
        }
    }

    fn diamond(&mut self, pool: &mut Vec<Value>, depth: u32) {
        let cond = self.condition(pool);
        let (then, els, join) = (self.f.add_block(), self.f.add_block(), self.f.add_block());
        let types = self.some_types();
        // Sometimes one arm is the critical edge to the join.
        let critical = self.rng.random_bool(0.3);
        let skip = if critical { self.edge(join, pool, &types) } else { Edge { target: els, args: SmallVec::new() } };
        let taken = Edge { target: then, args: SmallVec::new() };
        self.f.blocks[self.block.index()].term = Terminator::Branch { cond, then: taken, els: skip };
        for block in if critical { vec![then] } else { vec![then, els] } {
            let mut inner = pool.clone();
            self.block = block;
            self.region(&mut inner, depth);
            let edge = self.edge(join, &mut inner, &types);
            self.f.blocks[self.block.index()].term = Terminator::Jump(edge);
        }
        if critical {
            self.f.layout.retain(|b| *b != els);
        }
        self.enter(join, &types, pool);
    }

    fn switch(&mut self, pool: &mut Vec<Value>, depth: u32) {
        let ty = self.g.ty(Scalar::I32);
        let index = self.pick(pool, Some(ty));
        let types = self.some_types();
        let arms: Vec<BlockId> = (0..self.rng.random_range(2..=4)).map(|_| self.f.add_block()).collect();
        let join = self.f.add_block();
        let plain = |target: &BlockId| Edge { target: *target, args: SmallVec::new() };
        let (default, targets) = arms.split_last().expect("at least two arms");
        self.f.blocks[self.block.index()].term =
            Terminator::Switch { index, targets: targets.iter().map(plain).collect(), default: plain(default) };
        for arm in &arms {
            let mut inner = pool.clone();
            self.block = *arm;
            self.region(&mut inner, depth.min(1));
            let edge = self.edge(join, &mut inner, &types);
            self.f.blocks[self.block.index()].term = Terminator::Jump(edge);
        }
        self.enter(join, &types, pool);
    }

    /// One less than a counter, in the current block.
    fn step(&mut self, counter: Value) -> Value {
        let ty = self.f.ty(counter);
        let one = self.constant(ty, -1);
        let (_, add) = self.g.add.iter().find(|(t, _)| *t == ty).expect("addition is declared at every integer type");
        let kind = InstKind::Op { op: add.op, targs: add.targs.clone(), access: None };
        let id = self.f.append(self.block, kind, &[counter, one], &[ty]);
        self.f.inst(id).results[0]
    }

    /// `counter` runs down from a small constant to zero; other parameters are carried along.
    fn counted_loop(&mut self, pool: &mut Vec<Value>, depth: u32) {
        let counter_ty = self.g.ty(*[Scalar::I8, Scalar::I32, Scalar::I64].choose(&mut self.rng).expect("not empty"));
        let types = self.some_types();
        let trips = self.rng.random_range(1..=4);
        let start = self.constant(counter_ty, trips);
        let (header, exit) = (self.f.add_block(), self.f.add_block());
        let mut enter = self.edge(header, pool, &types);
        enter.args.insert(0, EdgeArg::Value(start));
        self.f.blocks[self.block.index()].term = Terminator::Jump(enter);
        let mut inner = pool.clone();
        let mut all = vec![counter_ty];
        all.extend(&types);
        self.enter(header, &all, &mut inner);
        let counter = self.f.block(header).params[0];
        self.region(&mut inner, depth);
        let next = self.step(counter);
        let mut again = self.edge(header, &mut inner, &types);
        again.args.insert(0, EdgeArg::Value(next));
        let exit_types = self.some_types();
        let leave = self.edge(exit, &mut inner, &exit_types);
        self.f.blocks[self.block.index()].term = Terminator::Branch { cond: next, then: again, els: leave };
        self.enter(exit, &exit_types, pool);
    }

    /// Two blocks that jump to each other and can both be entered from outside; a counter ends it.
    fn irreducible(&mut self, pool: &mut Vec<Value>, depth: u32) {
        let counter_ty = self.g.ty(Scalar::I32);
        let types = self.some_types();
        let mut all = vec![counter_ty];
        all.extend(&types);
        let (a, b, exit) = (self.f.add_block(), self.f.add_block(), self.f.add_block());
        let cond = self.condition(pool);
        let start = self.constant(counter_ty, 5);
        let mut edges = vec![];
        for target in [a, b] {
            let mut edge = self.edge(target, pool, &types);
            edge.args.insert(0, EdgeArg::Value(start));
            edges.push(edge);
        }
        let (els, then) = (edges.pop().expect("two edges"), edges.pop().expect("two edges"));
        self.f.blocks[self.block.index()].term = Terminator::Branch { cond, then, els };
        for (block, other) in [(a, b), (b, a)] {
            let mut inner = pool.clone();
            self.enter(block, &all, &mut inner);
            let counter = self.f.block(block).params[0];
            self.region(&mut inner, depth.min(1));
            let next = self.step(counter);
            let mut again = self.edge(other, &mut inner, &types);
            again.args.insert(0, EdgeArg::Value(next));
            let leave = Edge { target: exit, args: SmallVec::new() };
            self.f.blocks[self.block.index()].term = Terminator::Branch { cond: next, then: again, els: leave };
        }
        self.block = exit;
    }
}

/// A function of `statements` additions and multiplications, for timing curves.
pub fn straight_line(universe: &Universe, statements: usize) -> Function {
    let generator = Generator::new(universe, 0);
    let shape = Shape { size: statements, depth: 0, memory: false, traps: false };
    generator.function(1, shape)
}
