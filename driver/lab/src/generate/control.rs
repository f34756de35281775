//! Control of a random function: diamonds, switches, counted loops, irreducible cycles. Counters end every cycle.

use super::body::Body;
use rand::Rng;
use rand::seq::IndexedRandom;
use rewright_cfg_skeleton::ir::{BlockId, Edge, EdgeArg, Terminator, Value};
use rewright_typeprop::{Model, Scalar, Ty};
use smallvec::SmallVec;

impl Body<'_, '_> {
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

    pub(super) fn diamond(&mut self, pool: &mut Vec<Value>, depth: u32) {
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

    pub(super) fn switch(&mut self, pool: &mut Vec<Value>, depth: u32) {
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
        let one = self.constant(self.f.ty(counter), -1);
        self.apply(Model::Add, [counter, one])
    }

    /// `counter` runs down from a small constant to zero; other parameters are carried along.
    pub(super) fn counted_loop(&mut self, pool: &mut Vec<Value>, depth: u32) {
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
    pub(super) fn irreducible(&mut self, pool: &mut Vec<Value>, depth: u32) {
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
