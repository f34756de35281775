//! The body of a random function as it grows, and its straight-line statements.

use super::{Generator, Kind, OpInstance, Shape};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rewright_cfg_skeleton::ir::{Access, BlockId, Function, InstKind, Terminator, Value};
use rewright_typeprop::{Model, Scalar, Ty};

/// A function that is being made. Values that a statement may use are in the `pool` that is passed along; addresses
/// never are, since they differ from run to run.
pub(super) struct Body<'g, 'u> {
    pub(super) g: &'g Generator<'u>,
    pub(super) f: Function,
    pub(super) rng: ChaCha8Rng,
    pub(super) shape: Shape,
    pub(super) pointer: Value,
    pub(super) named_regions: bool,
    /// Where instructions go now.
    pub(super) block: BlockId,
    pub(super) budget: usize,
}

impl Body<'_, '_> {
    pub(super) fn finish(mut self, term: Terminator) -> Function {
        self.f.blocks[self.block.index()].term = term;
        self.f
    }

    pub(super) fn constant(&mut self, ty: Ty, n: i64) -> Value {
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
    pub(super) fn pick(&mut self, pool: &mut Vec<Value>, ty: Option<Ty>) -> Value {
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
    pub(super) fn region(&mut self, pool: &mut Vec<Value>, depth: u32) {
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
                6 if self.shape.memory && self.shape.traps => self.opaque(pool),
                7..=8 if self.shape.memory => self.any_access(pool),
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
        if matches!(instance.kind, Kind::Read | Kind::Write) {
            return self.access(instance, pool);
        }
        let mut args = vec![];
        for (ty, constant) in &instance.params {
            args.push(if *constant { self.random_constant(*ty) } else { self.pick(pool, Some(*ty)) });
        }
        let result = self.emit(instance, &args, None);
        pool.extend(result);
    }

    /// Appends an operation; gives its result.
    pub(super) fn emit(&mut self, instance: &OpInstance, args: &[Value], access: Option<Access>) -> Option<Value> {
        let kind = InstKind::Op { op: instance.op, targs: instance.targs.clone(), access };
        let result: Vec<Ty> = instance.result.into_iter().collect();
        let id = self.f.append(self.block, kind, args, &result);
        self.f.inst(id).results.first().copied()
    }

    /// Appends arithmetic on two integers of one type.
    pub(super) fn apply(&mut self, model: Model, args: [Value; 2]) -> Value {
        let g = self.g;
        let ty = self.f.ty(args[0]);
        let found = g.arithmetic.iter().find(|(m, i)| *m == model && i.targs.iter().all(|t| *t == ty));
        let (_, instance) = found.expect("packs declare sums, conjunctions and shifts of integers");
        self.emit(instance, &args, None).expect("arithmetic has a result")
    }

    /// Something that the packs do not declare: a call, most often.
    fn opaque(&mut self, pool: &mut Vec<Value>) {
        let g = self.g;
        let Some(opaque) = g.opaque.choose(&mut self.rng) else { return self.operation(pool) };
        let mut args = vec![];
        for operand in &opaque.operands {
            args.push(operand.map_or(self.pointer, |ty| self.pick(pool, Some(ty))));
        }
        let kind = InstKind::Opaque { payload: opaque.payload, effects: opaque.effects };
        let id = self.f.append(self.block, kind, &args, &opaque.results);
        pool.extend(self.f.inst(id).results.iter().copied());
    }

    fn check(&mut self, pool: &mut Vec<Value>) {
        let ty = self.g.ty(Scalar::I64);
        let value = self.pick(pool, Some(ty));
        let kind = InstKind::Check { code: self.g.trap_code, when: self.rng.random_bool(0.3) };
        self.f.append(self.block, kind, &[value], &[]);
    }
}
