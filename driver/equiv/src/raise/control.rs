//! Blocks in the order in which they are executed, and branches.
//!
//! A branch on counters and sizes becomes a loop that runs at most once. It is left out where that changes nothing: where
//! the loops behind it run for no iteration otherwise. A branch on data stays one.

use super::scalar::{Test, Val};
use super::{Found, NO_LINE, NoNest, Raiser, type_name};
use rewright_cfg_skeleton::ir::{BlockId, Edge, EdgeArg, InstId, InstKind, Terminator, Value};
use rewright_cfg_skeleton::nest::value::Value as Node;
use rewright_cfg_skeleton::nest::{Affine, ArrayKind, Constraint, For, If, Item, ValueId};

/// Where a walk ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// Before this block.
    Before(BlockId),
    /// Behind the instructions of this block, before it branches.
    Behind(BlockId),
    /// Where the function returns.
    Return,
}

/// The code behind a branch is copied this many times, at most.
const MAX_COPIES: usize = 8;

/// What an arm of a branch does, and what it gives to the block where arms meet.
#[derive(Default)]
struct Arm {
    items: Vec<Item>,
    given: Vec<Option<Val>>,
}

impl Raiser<'_> {
    /// Follows blocks to an end, and says at which one that is. The block's parameters have their values.
    pub(super) fn blocks(&mut self, first: BlockId, end: End, items: &mut Vec<Item>) -> Found<BlockId> {
        let mut at = first;
        // The loop whose header the walk begins at is the one that is followed.
        let mut own = self.cfg.loop_with_header(first).filter(|id| self.is_inside(*id, end));
        loop {
            if end == End::Before(at) {
                return Ok(at);
            }
            if let Some(id) = self.cfg.loop_with_header(at).filter(|id| own != Some(*id)) {
                at = self.counted_loop(id, items)?;
                continue;
            }
            own = None;
            self.instructions(at, items)?;
            if end == End::Behind(at) {
                return Ok(at);
            }
            at = match self.function.block(at).term.clone() {
                Terminator::Jump(edge) => self.follow(&edge)?,
                Terminator::Branch { cond, then, els } => self.branch(at, cond, [&then, &els], end, items)?,
                Terminator::Return(_) if end == End::Return => return Ok(at),
                Terminator::Return(_) => return Err("it returns from within a loop or a branch".into()),
                Terminator::Switch { .. } => return Err("a switch".into()),
                Terminator::Trap { .. } => return Err("it may trap".into()),
                Terminator::Opaque { .. } => return Err("a terminator that is not modelled".into()),
            };
        }
    }

    /// Whether the end is in a loop.
    fn is_inside(&self, id: rewright_cfg_skeleton::ir::LoopId, end: End) -> bool {
        match end {
            End::Before(block) | End::Behind(block) => self.cfg.loop_contains(id, block),
            End::Return => false,
        }
    }

    pub(super) fn instructions(&mut self, block: BlockId, items: &mut Vec<Item>) -> Found<()> {
        for id in self.function.block(block).insts.clone() {
            self.instruction(id, items)?;
        }
        Ok(())
    }

    fn instruction(&mut self, id: InstId, items: &mut Vec<Item>) -> Found<()> {
        let inst = self.function.inst(id);
        match &inst.kind {
            InstKind::Const(n) => {
                let (n, scalar) = (*n, self.scalar(inst.results[0])?);
                let val = match scalar.is_int() {
                    true => Val::Int(Affine::constant(n.into()), scalar.bits()),
                    false => Val::Data(self.constant(scalar, n)),
                };
                self.env[inst.results[0].index()] = Some(val);
                Ok(())
            }
            InstKind::Op { op, access: Some(access), .. } => self.access(id, *op, *access, items),
            InstKind::Op { op, access: None, .. } => {
                let val = self.operation(id, *op)?;
                if let Val::Data(value) = val {
                    self.may_be_undefined(value, items)?;
                }
                self.env[inst.results[0].index()] = Some(val);
                Ok(())
            }
            InstKind::Check { .. } => Err("a check that may trap".into()),
            InstKind::Opaque { .. } => match self.source.block(id) {
                Some(block) => self.block(id, &block.map_err(NoNest)?, items),
                None => Err("an instruction that is not modelled".into()),
            },
        }
    }

    /// Gives the parameters of a block their values, and says which block that is.
    pub(super) fn follow(&mut self, edge: &Edge) -> Found<BlockId> {
        let value = |this: &Self, arg: &EdgeArg| match arg {
            EdgeArg::Value(value) => Ok(this.env[value.index()].clone()),
            EdgeArg::Terminator(_) => Err(NoNest::from("a value that a terminator makes")),
        };
        let vals = edge.args.iter().map(|arg| value(self, arg)).collect::<Found<Vec<Option<Val>>>>()?;
        for (param, val) in self.function.block(edge.target).params.clone().into_iter().zip(vals) {
            self.env[param.index()] = val;
        }
        Ok(edge.target)
    }

    /// Both arms up to where they meet.
    fn branch(
        &mut self,
        at: BlockId,
        cond: Value,
        [then, els]: [&Edge; 2],
        end: End,
        items: &mut Vec<Item>,
    ) -> Found<BlockId> {
        let test = self.test(cond)?;
        if let Some(test) = &test {
            for (facts, edge) in [(&test.holds, then), (&test.fails, els)] {
                if facts.as_ref().is_some_and(|facts| self.facts.show_all(facts)) {
                    return self.follow(edge);
                }
            }
        }
        let join = self.join(at, end)?;
        let empty = Test { holds: None, fails: None };
        let known = test.clone().unwrap_or(empty);
        let taken = self.arm(then, join, &known.holds)?;
        let other = self.arm(els, join, &known.fails)?;
        let params = self.function.block(join).params.clone();
        if self.is_needless(&known, &taken, &other) {
            items.extend(taken.items);
            self.receive(&params, taken.given);
            return Ok(join);
        }
        if self.counts_on(&params, &taken, &other) {
            return self.apart((cond, &known), [taken, other], (join, end), items);
        }
        let [mut taken, mut other] = [taken, other];
        let mut merged = vec![];
        for (n, param) in params.iter().enumerate() {
            let same = taken.given[n] == other.given[n];
            merged.push(if same {
                Err(taken.given[n].clone())
            } else {
                Ok(self.merge(*param, n, [&mut taken, &mut other])?)
            });
        }
        self.emit(cond, &known, [taken.items, other.items], items)?;
        for (param, merged) in params.into_iter().zip(merged) {
            self.env[param.index()] = match merged {
                Err(val) => val,
                Ok(cell) => Some(Val::Data(self.get(cell, items))),
            };
        }
        Ok(join)
    }

    fn receive(&mut self, params: &[Value], vals: Vec<Option<Val>>) {
        for (param, val) in params.iter().zip(vals) {
            self.env[param.index()] = val;
        }
    }

    /// Whether arms give different numbers on which bounds or addresses depend.
    fn counts_on(&self, params: &[Value], taken: &Arm, other: &Arm) -> bool {
        let differ = |n: usize| taken.given[n] != other.given[n];
        let is_number = |val: &Option<Val>| !matches!(val, Some(Val::Data(_)));
        (0..params.len()).any(|n| {
            let both = [&taken.given[n], &other.given[n]];
            self.counted[params[n].index()] && differ(n) && both.into_iter().all(is_number)
        })
    }

    /// What follows a branch, once in each arm.
    fn apart(
        &mut self,
        (cond, test): (Value, &Test),
        arms: [Arm; 2],
        (join, end): (BlockId, End),
        items: &mut Vec<Item>,
    ) -> Found<BlockId> {
        self.copies += 1;
        if self.copies > MAX_COPIES {
            return Err("branches that give numbers on which loops depend, one after the other".into());
        }
        let params = self.function.block(join).params.clone();
        let (mut last, mut after) = (join, vec![]);
        let mut done = vec![];
        for (mut arm, facts) in arms.into_iter().zip([&test.holds, &test.fails]) {
            let mark = self.facts.mark();
            self.facts.assume(facts.as_deref().unwrap_or_default());
            self.receive(&params, arm.given.clone());
            last = self.blocks(join, end, &mut arm.items)?;
            self.facts.back_to(mark);
            after.push(self.env.clone());
            done.push(arm.items);
        }
        let [mut taken, mut other] = [std::mem::take(&mut done[0]), std::mem::take(&mut done[1])];
        let needed = self.leaving(last, end);
        let mut cells = vec![];
        for value in 0..self.env.len() {
            if after[0][value] == after[1][value] {
                continue;
            }
            let name = Value(value as u32);
            let mut cell = None;
            if needed.contains(&name) {
                let new = self.cell(type_name(self.scalar(name)?));
                for (env, arm) in after.iter().zip([&mut taken, &mut other]) {
                    self.env[value].clone_from(&env[value]);
                    let data = self.data(name)?;
                    self.set(new, data, arm);
                }
                cell = Some(new);
            }
            cells.push((value, cell));
        }
        self.emit(cond, test, [taken, other], items)?;
        for (value, cell) in cells {
            self.env[value] = cell.map(|cell| Val::Data(self.get(cell, items)));
        }
        Ok(last)
    }

    /// Values that the block at which a walk ends passes on, or its parameters.
    fn leaving(&self, last: BlockId, end: End) -> Vec<Value> {
        let block = self.function.block(last);
        match end {
            End::Before(_) => block.params.clone(),
            End::Behind(_) | End::Return => {
                let edges = block.term.edges();
                let args = edges.iter().flat_map(|edge| &edge.args).filter_map(|arg| match arg {
                    EdgeArg::Value(value) => Some(*value),
                    EdgeArg::Terminator(_) => None,
                });
                args.chain(block.term.operands().iter().copied()).collect()
            }
        }
    }

    /// Where the arms of a branch meet: the first block that all ways lead to.
    fn join(&self, at: BlockId, end: End) -> Found<BlockId> {
        let none = || NoNest::from("a branch whose arms do not meet");
        let behind = self.cfg.position(at).ok_or_else(none)?;
        let found =
            self.cfg.reverse_post_order()[behind as usize + 1..].iter().find(|b| self.cfg.post_dominates(**b, at));
        let join = *found.ok_or_else(none)?;
        // Both arms lead out of what is followed.
        match end {
            End::Before(last) | End::Behind(last) if !self.cfg.post_dominates(last, at) => Err(none()),
            _ => Ok(join),
        }
    }

    fn arm(&mut self, edge: &Edge, join: BlockId, facts: &Option<Vec<Constraint>>) -> Found<Arm> {
        let mark = self.facts.mark();
        self.facts.assume(facts.as_deref().unwrap_or_default());
        let mut arm = Arm::default();
        let target = self.follow(edge)?;
        if target != join {
            self.blocks(target, End::Before(join), &mut arm.items)?;
        }
        self.facts.back_to(mark);
        arm.given = self.function.block(join).params.iter().map(|param| self.env[param.index()].clone()).collect();
        Ok(arm)
    }

    /// A cell to which each arm gives its value of a parameter.
    fn merge(&mut self, param: Value, n: usize, arms: [&mut Arm; 2]) -> Found<rewright_cfg_skeleton::nest::ArrayId> {
        let scalar = self.scalar(param)?;
        let cell = self.cell(type_name(scalar));
        for arm in arms {
            self.env[param.index()] = arm.given[n].clone();
            let value = match &arm.given[n] {
                Some(Val::Data(_) | Val::Int(..)) => self.data(param)?,
                // A value that is used in neither case.
                _ => return Err("arms of a branch give different addresses or comparisons".into()),
            };
            self.set(cell, value, &mut arm.items);
        }
        Ok(cell)
    }

    /// Whether the first arm does what the second one does, if it is executed in its place.
    fn is_needless(&mut self, test: &Test, taken: &Arm, other: &Arm) -> bool {
        let Some(fails) = test.fails.as_ref().filter(|_| other.items.is_empty()) else { return false };
        let mark = self.facts.mark();
        self.facts.assume(fails);
        let result = taken.items.iter().all(|item| self.is_nothing(item))
            && taken.given.iter().zip(&other.given).all(|(a, b)| self.is_other(&taken.items, a.as_ref(), b.as_ref()));
        self.facts.back_to(mark);
        result
    }

    /// Whether an item does nothing that is seen: a cell, a loop without iterations.
    fn is_nothing(&mut self, item: &Item) -> bool {
        match item {
            Item::For(x) => {
                let pairs =
                    x.lower.iter().flat_map(|low| x.upper.iter().map(move |high| Constraint::at_least(low, high)));
                pairs.into_iter().any(|is_empty| self.facts.show(&is_empty))
            }
            Item::Load(x) => self.arrays[x.array.0 as usize].kind == ArrayKind::Cell,
            Item::Store(x) => self.arrays[x.array.0 as usize].kind == ArrayKind::Cell,
            _ => false,
        }
    }

    /// Whether what the first arm gives is what the second one gives, where its loops do nothing.
    fn is_other(&mut self, items: &[Item], taken: Option<&Val>, other: Option<&Val>) -> bool {
        match (taken, other) {
            (Some(Val::Int(x, _)), Some(Val::Int(y, _))) => self.facts.show(&Constraint::equal(x, y)),
            (Some(Val::Data(x)), Some(Val::Data(y))) => *y == self.left_in(items, *x),
            (Some(Val::Data(x)), Some(Val::Int(..))) => {
                // The data of an integer is a value of its own.
                let stored = self.left_in(items, *x);
                other.is_some_and(|other| self.is_constant(stored, other))
            }
            (a, b) => a == b,
        }
    }

    fn is_constant(&self, stored: ValueId, other: &Val) -> bool {
        let Val::Int(e, bits) = other else { return false };
        let mask = u128::MAX >> (128 - bits);
        e.as_constant().is_some_and(|n| self.pool.bits(stored) == Some((n as u128) & mask))
    }

    /// What a load of a cell gives if the loops before it do nothing.
    fn left_in(&self, items: &[Item], value: ValueId) -> ValueId {
        let Node::Load(id) = self.pool.get(value) else { return value };
        let loaded = items.iter().position(|item| matches!(item, Item::Load(x) if x.id == *id));
        let Some((at, Item::Load(load))) = loaded.map(|at| (at, &items[at])) else { return value };
        let before = items[..at].iter().rev();
        let stored = before.filter_map(|item| match item {
            Item::Store(x) if x.array == load.array => Some(x.value),
            _ => None,
        });
        stored.into_iter().next().map_or(value, |stored| self.left_in(&items[..at], stored))
    }

    /// The arms as loops that run at most once; on data, as a branch.
    fn emit(&mut self, cond: Value, test: &Test, [taken, other]: [Vec<Item>; 2], items: &mut Vec<Item>) -> Found<()> {
        let is_plain = (taken.is_empty() || test.holds.is_some()) && (other.is_empty() || test.fails.is_some());
        if !is_plain {
            let condition = self.data(cond)?;
            items.push(Item::If(If { condition, then: taken, otherwise: other, line: NO_LINE }));
            return Ok(());
        }
        for (body, facts) in [(taken, &test.holds), (other, &test.fails)] {
            if let Some(facts) = facts.as_ref().filter(|_| !body.is_empty()) {
                let once = Affine::constant(1);
                let bound = |fact: &Constraint| {
                    let back = fact.equality.then(|| fact.expr.times(-1).offset(1));
                    [fact.expr.offset(1)].into_iter().chain(back)
                };
                let upper = [once].into_iter().chain(facts.iter().flat_map(bound)).collect();
                let (var, lower) = (self.names.var(), vec![Affine::default()]);
                items.push(Item::For(For { var, lower, upper, step: 1, body, line: NO_LINE }));
            }
        }
        Ok(())
    }
}
