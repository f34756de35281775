//! Loops that count.
//!
//! All back edges of a loop go through one block of their own ([`with_latches`]). A loop is left at its *top*, in the
//! header before the body, or at its *bottom*, behind everything. The variable of the nest's loop counts iterations from
//! 0; a counter of the function is a polynomial in it. For how many iterations the loop runs follows from its test in
//! the integers, and that is what happens if the counter that is tested is in range at each test, which is shown.
//!
//! What else a loop carries goes through cells: written before it, read at the head of each iteration, written at its end.

use super::control::End;
use super::scalar::{Pointer, Val};
use super::{Found, NO_LINE, NoNest, Raiser, type_name};
use rewright_cfg_skeleton::ir::{BlockId, Definition, Edge, EdgeArg, Function, InstKind, LoopId, Terminator, Value};
use rewright_cfg_skeleton::nest::Constraint;
use rewright_cfg_skeleton::nest::{Affine, Var};
use rewright_cfg_skeleton::nest::{ArrayId, For, Item};
use rewright_typeprop::Model;
use rustc_hash::FxHashSet;

/// The function with one block for all back edges of a loop, which does nothing else.
pub(super) fn with_latches(function: &Function) -> Function {
    let mut function = function.clone();
    let cfg = rewright_cfg_skeleton::ir::Cfg::new(&function);
    let headers: Vec<(BlockId, Vec<BlockId>)> = cfg.loops().map(|(_, l)| (l.header, l.latches.clone())).collect();
    for (header, latches) in headers {
        let types: Vec<_> = function.block(header).params.iter().map(|param| function.ty(*param)).collect();
        let latch = function.add_block();
        let params: Vec<Value> = types.into_iter().map(|ty| function.add_value(ty)).collect();
        let args = params.iter().map(|param| EdgeArg::Value(*param)).collect();
        function.blocks[latch.index()].params = params;
        function.blocks[latch.index()].term = Terminator::Jump(Edge { target: header, args });
        for from in latches {
            for edge in function.blocks[from.index()].term.edges_mut() {
                if edge.target == header {
                    edge.target = latch;
                }
            }
        }
    }
    function
}

/// A loop to be.
struct Counting {
    header: BlockId,
    latch: BlockId,
    /// The block that leaves it, its edge out, and its edge further.
    test: BlockId,
    out: Edge,
    further: Edge,
    /// The value that is tested, and whether the loop goes on if that is not zero.
    cond: Value,
    goes_on_if: bool,
    at_top: bool,
    var: Var,
    /// Of each parameter of the header.
    carried: Vec<Carried>,
}

/// What a parameter of a header is.
#[derive(Clone, Debug)]
enum Carried {
    /// A number that each iteration adds a constant to.
    Counter(Val),
    /// The same in all iterations.
    Fixed(Option<Val>),
    /// Anything else.
    Cell(ArrayId),
}

/// What a test compares.
struct Counter {
    /// A parameter of the header in the first iteration.
    start: Affine,
    /// What is tested in the first iteration.
    first: Affine,
    /// What each iteration adds.
    step: i128,
    /// Of the shortest type on the way to the test.
    bits: u32,
}

/// For how many iterations a loop runs: the least of these; never fewer than none where `is_exact`.
struct Trips {
    most: Vec<Affine>,
    is_exact: bool,
}

impl Raiser<'_> {
    /// A loop whose header's parameters have their first values; the block behind it, whose parameters have theirs.
    pub(super) fn counted_loop(&mut self, id: LoopId, items: &mut Vec<Item>) -> Found<BlockId> {
        let mut counting = self.shape(id)?;
        let trips = self.trips(id, &counting)?;
        let mark = self.facts.mark();
        let k = Affine::var(counting.var);
        let mut facts = vec![Constraint::at_least(&k, &Affine::default())];
        facts.extend(trips.most.iter().map(|most| Constraint::less(&k, most)));
        self.facts.assume(&facts);
        let body = self.iteration(&mut counting, items)?;
        let used = self.used_behind(id, &counting);
        let mut body = body;
        let kept = if counting.at_top { vec![] } else { self.keep(&used, &counting, &mut body)? };
        self.facts.back_to(mark);
        let lower = vec![Affine::default()];
        let upper = trips.most.clone();
        items.push(Item::For(For { var: counting.var, lower, upper, step: 1, body, line: NO_LINE }));
        self.leave(id, &counting, &trips, (&used, kept), items)?;
        self.follow(&counting.out.clone())
    }

    /// The form of a loop.
    fn shape(&mut self, id: LoopId) -> Found<Counting> {
        let l = self.cfg.natural_loop(id).clone();
        let [latch] = l.latches[..] else { return Err("a loop with several back edges".into()) };
        let [exit] = self.cfg.loop_exits(self.function, id)[..] else {
            return Err("a loop that is left at several places".into());
        };
        let Terminator::Branch { cond, then, els } = self.function.block(exit.from).term.clone() else {
            return Err("a loop that no branch leaves".into());
        };
        let goes_on_if = exit.slot == 1;
        let (further, out) = if goes_on_if { (then, els) } else { (els, then) };
        let at_top = exit.from == l.header && further.target != latch;
        if !at_top && further.target != latch {
            return Err("a loop that is left in its middle".into());
        }
        let var = self.names.var();
        let mut counting = Counting {
            header: l.header,
            latch,
            test: exit.from,
            out,
            further,
            cond,
            goes_on_if,
            at_top,
            var,
            carried: vec![],
        };
        for n in 0..self.function.block(l.header).params.len() {
            let carried = self.carried(&counting, n);
            counting.carried.push(carried);
        }
        Ok(counting)
    }

    /// What a parameter of the header is; its first value is known. Cells are made later.
    fn carried(&mut self, counting: &Counting, n: usize) -> Carried {
        let param = self.function.block(counting.header).params[n];
        let first = self.env[param.index()].clone();
        let none = Carried::Cell(ArrayId(u32::MAX));
        match self.step(counting.latch, n, param) {
            Some(0) => Carried::Fixed(first),
            Some(step) => {
                let moved = |e: &Affine| e.plus(step, &Affine::var(counting.var));
                match first {
                    Some(Val::Int(e, bits)) => Carried::Counter(Val::Int(moved(&e), bits)),
                    Some(Val::Modular(e)) => Carried::Counter(Val::Modular(moved(&e))),
                    Some(Val::Pointer(p)) => {
                        let (offset, promised) = (moved(&p.offset), vec![]);
                        Carried::Counter(Val::Pointer(Pointer { offset, promised, is_promised: false, ..p }))
                    }
                    _ => none,
                }
            }
            None => none,
        }
    }

    /// What each iteration adds to a parameter of the header, the same on all ways.
    fn step(&self, latch: BlockId, n: usize, param: Value) -> Option<i128> {
        let mut found = None;
        for block in &self.function.layout {
            for edge in self.function.block(*block).term.edges() {
                if edge.target != latch {
                    continue;
                }
                let EdgeArg::Value(next) = edge.args[n] else { return None };
                let step = self.distance(next, param)?;
                if found.is_some_and(|other| other != step) {
                    return None;
                }
                found = Some(step);
            }
        }
        found
    }

    /// The constant that is added to `from`, step by step, to give `value`.
    fn distance(&self, value: Value, from: Value) -> Option<i128> {
        let (mut at, mut sum) = (value, 0i128);
        for _ in 0..self.function.values.len() {
            if at == from {
                return Some(sum);
            }
            let inst = self.function.inst(self.definition[at.index()]?.inst()?);
            let InstKind::Op { op, access: None, .. } = &inst.kind else { return None };
            let constant = |v: Value| self.constant_of(v);
            let (next, step) = match (self.universe.ops.get(*op).model, &inst.args[..]) {
                (Some(Model::Add), [x, y]) => match (constant(*x), constant(*y)) {
                    (_, Some(n)) => (*x, n),
                    (Some(n), _) => (*y, n),
                    _ => return None,
                },
                (Some(Model::Sub), [x, y]) => (*x, -constant(*y)?),
                // An element further.
                (None, [x, n, size]) if self.source.is_address(at) => (*x, constant(*n)? * constant(*size)?),
                _ => return None,
            };
            (at, sum) = (next, sum + step);
        }
        None
    }

    fn constant_of(&self, value: Value) -> Option<i128> {
        match self.function.inst(self.definition[value.index()]?.inst()?).kind {
            InstKind::Const(n) => Some(n.into()),
            _ => None,
        }
    }

    /// For how many iterations the loop runs.
    fn trips(&mut self, id: LoopId, counting: &Counting) -> Found<Trips> {
        let none = || NoNest::from("a loop that does not go on while a counter is less than a bound");
        let inst = self.definition[counting.cond.index()].and_then(Definition::inst).ok_or_else(none)?;
        let InstKind::Op { op, access: None, .. } = &self.function.inst(inst).kind else { return Err(none()) };
        let model = self.universe.ops.get(*op).model.ok_or_else(none)?;
        let [x, y] = self.function.inst(inst).args[..] else { return Err(none()) };
        let (counter, bound, model) = match (self.counter(counting, x), self.counter(counting, y)) {
            (Some(counter), None) => (counter, y, model),
            (None, Some(counter)) => (counter, x, swapped(model).ok_or_else(none)?),
            _ => return Err(none()),
        };
        let model = if counting.goes_on_if { model } else { negated(model).ok_or_else(none)? };
        let bounds = match self.bound(id, bound)? {
            Val::Int(e, _) => vec![e],
            Val::Least(list, _) => list,
            _ => return Err("a loop whose bound is data".into()),
        };
        self.passing(counting, &counter, model, bounds)
    }

    /// A value that is a counter plus a constant: in the first iteration, and what each iteration adds.
    fn counter(&self, counting: &Counting, value: Value) -> Option<Counter> {
        let params = &self.function.block(counting.header).params;
        params.iter().zip(&counting.carried).find_map(|(param, carried)| {
            let Carried::Counter(Val::Int(e, bits)) = carried else { return None };
            let (distance, narrowest) = self.converted(value, *param)?;
            let at_first = e.replace(&|var| (var == counting.var).then(Affine::default));
            let (first, step) = (at_first.offset(distance), e.coefficient(counting.var));
            Some(Counter { start: at_first, first, step, bits: narrowest.min(*bits) })
        })
    }

    /// The distance where integers are made longer with their sign, or shorter, on the way: it is that in the integers if
    /// they are in the range of the shortest type. Says how many bits that has.
    fn converted(&self, value: Value, from: Value) -> Option<(i128, u32)> {
        let (mut at, mut sum, mut bits) = (value, 0, u32::MAX);
        loop {
            bits = bits.min(self.universe.types.scalar(self.function.ty(at))?.bits());
            if let Some(distance) = self.distance(at, from) {
                return Some((sum + distance, bits));
            }
            let inst = self.function.inst(self.definition[at.index()]?.inst()?);
            let InstKind::Op { op, access: None, .. } = &inst.kind else { return None };
            let (next, step) = match (self.universe.ops.get(*op).model?, &inst.args[..]) {
                (Model::Sext | Model::Trunc, [x]) => (*x, 0),
                (Model::Add, [x, y]) => (*x, self.constant_of(*y)?),
                (Model::Sub, [x, y]) => (*x, -self.constant_of(*y)?),
                _ => return None,
            };
            (at, sum) = (next, sum + step);
        }
    }

    /// What the loop compares with.
    fn bound(&mut self, id: LoopId, value: Value) -> Found<Val> {
        if let Some(n) = self.constant_of(value) {
            return Ok(Val::Int(Affine::constant(n), self.scalar(value)?.bits()));
        }
        let is_inside = self.home(value).is_none_or(|block| self.cfg.loop_contains(id, block));
        if is_inside { Err("a loop whose bound changes".into()) } else { self.val(value) }
    }

    /// How often the test holds one after the other, where the counter stays in range meanwhile.
    fn passing(&mut self, counting: &Counting, counter: &Counter, model: Model, bounds: Vec<Affine>) -> Found<Trips> {
        let (first, step) = (&counter.first, counter.step);
        let form = || NoNest::from("a loop whose counter does not go towards its bound");
        let is_unsigned = matches!(model, Model::Ult | Model::Ule | Model::Ugt | Model::Uge);
        let size = step.abs();
        // How far the counter may go, from its first value.
        let mut ways = vec![];
        for bound in &bounds {
            let way = if step > 0 { bound.plus(-1, first) } else { first.plus(-1, bound) };
            ways.push(match (model, step > 0) {
                (Model::Slt | Model::Ult, true) | (Model::Sgt | Model::Ugt, false) => way,
                (Model::Sle | Model::Ule, true) | (Model::Sge | Model::Uge, false) => way.offset(1),
                (Model::Ne, _) => {
                    let is_met = self.facts.not_negative(&way)
                        && self.facts.show(&Constraint::equal(&way.modulo(size), &Affine::default()));
                    if !is_met || bounds.len() > 1 {
                        return Err("a loop that may miss where it ends".into());
                    }
                    way
                }
                _ => return Err(form()),
            });
        }
        if is_unsigned && !(self.facts.not_negative(first) && bounds.iter().all(|bound| self.facts.not_negative(bound)))
        {
            return Err("a loop whose counter or bound may be negative or very large".into());
        }
        let passing: Vec<Affine> = ways.iter().map(|way| way.ceil_div(size)).collect();
        let most: Vec<Affine> = passing.iter().map(|n| n.offset(i128::from(!counting.at_top))).collect();
        let least = Affine::constant(i128::from(!counting.at_top));
        let is_exact = most.iter().all(|most| self.facts.show(&Constraint::at_least(most, &least)));
        if !is_exact && !counting.at_top {
            return Err("a loop that tests last, and may have passed its bound before".into());
        }
        self.in_range_while(counter, (&most, counting), (is_unsigned, bounds))?;
        Ok(Trips { most, is_exact })
    }

    /// The counter is in range at each test, those that fail included.
    fn in_range_while(
        &mut self,
        counter: &Counter,
        (most, counting): (&[Affine], &Counting),
        (is_unsigned, bounds): (bool, Vec<Affine>),
    ) -> Found<()> {
        let mark = self.facts.mark();
        let k = Affine::var(counting.var);
        let tested = counter.first.plus(counter.step, &k);
        let last = i128::from(counting.at_top);
        self.facts.assume(&[Constraint::at_least(&k, &Affine::default())]);
        let within: Vec<Constraint> = most.iter().map(|most| Constraint::less(&k, &most.offset(last))).collect();
        self.facts.assume(&within);
        for value in bounds.iter().chain([&counter.start]) {
            self.facts.is_in_range(value);
        }
        let fits = self.facts.fits(&tested, counter.bits) && (!is_unsigned || self.facts.not_negative(&tested));
        self.facts.back_to(mark);
        if fits { Ok(()) } else { Err("a counter that may leave the range of its type".into()) }
    }

    /// One iteration: the header's parameters get their values, and blocks are followed to the latch.
    fn iteration(&mut self, counting: &mut Counting, items: &mut Vec<Item>) -> Found<Vec<Item>> {
        let params = self.function.block(counting.header).params.clone();
        for (n, param) in params.iter().enumerate() {
            let is_counter = match &counting.carried[n] {
                Carried::Counter(Val::Int(e, bits)) => self.facts.fits(e, *bits),
                Carried::Counter(_) | Carried::Fixed(_) => true,
                Carried::Cell(_) => false,
            };
            if let (false, Carried::Counter(Val::Int(e, 64))) = (is_counter, &counting.carried[n]) {
                counting.carried[n] = Carried::Counter(Val::Modular(e.clone()));
            } else if !is_counter {
                let cell = self.cell(type_name(self.scalar(*param)?));
                let first = self.data(*param)?;
                self.set(cell, first, items);
                counting.carried[n] = Carried::Cell(cell);
            }
        }
        let mut body = vec![];
        self.enter(counting, &params, &mut body);
        if counting.at_top {
            self.instructions(counting.header, &mut body)?;
            let first = self.follow(&counting.further.clone())?;
            self.blocks(first, End::Before(counting.latch), &mut body)?;
        } else {
            self.blocks(counting.header, End::Behind(counting.test), &mut body)?;
            self.follow(&counting.further.clone())?;
        }
        let next = self.function.block(counting.latch).params.clone();
        // All are read before any is written.
        let mut stores = vec![];
        for (next, carried) in next.into_iter().zip(&counting.carried) {
            if let Carried::Cell(cell) = carried {
                stores.push((*cell, self.data(next)?));
            }
        }
        for (cell, value) in stores {
            self.set(cell, value, &mut body);
        }
        Ok(body)
    }

    /// The values of the header's parameters.
    fn enter(&mut self, counting: &Counting, params: &[Value], items: &mut Vec<Item>) {
        for (param, carried) in params.iter().zip(&counting.carried) {
            self.env[param.index()] = match carried {
                Carried::Counter(val) => Some(val.clone()),
                Carried::Fixed(val) => val.clone(),
                Carried::Cell(cell) => Some(Val::Data(self.get(*cell, items))),
            };
        }
    }

    /// Values of the loop that are used behind it.
    fn used_behind(&self, id: LoopId, counting: &Counting) -> Vec<Value> {
        let mut used = vec![];
        let mut seen = FxHashSet::default();
        let mut note = |value: Value| {
            let is_inside = self.home(value).is_some_and(|block| self.cfg.loop_contains(id, block));
            if is_inside && seen.insert(value) {
                used.push(value);
            }
        };
        let of_edge = |edge: &Edge| -> Vec<Value> {
            edge.args.iter().filter_map(|a| if let EdgeArg::Value(v) = a { Some(*v) } else { None }).collect()
        };
        of_edge(&counting.out).into_iter().for_each(&mut note);
        for block in self.function.layout.iter().filter(|block| !self.cfg.loop_contains(id, **block)) {
            let data = self.function.block(*block);
            data.insts.iter().flat_map(|inst| self.function.inst(*inst).args.iter().copied()).for_each(&mut note);
            data.term.operands().iter().copied().for_each(&mut note);
            data.term.edges().iter().flat_map(|edge| of_edge(edge)).for_each(&mut note);
        }
        used
    }

    /// Keeps data of an iteration in cells.
    fn keep(&mut self, used: &[Value], counting: &Counting, body: &mut Vec<Item>) -> Found<Vec<(Value, ArrayId)>> {
        let next = self.function.block(counting.latch).params.clone();
        let mut kept = vec![];
        for value in used {
            let val = self.env[value.index()].clone();
            if !matches!(val, Some(Val::Data(_))) {
                continue;
            }
            // What the next iteration gets has a cell.
            let carried = next.iter().zip(&counting.carried).find_map(|(next, carried)| match carried {
                Carried::Cell(cell) if self.env[next.index()] == val => Some(*cell),
                _ => None,
            });
            let cell = match carried {
                Some(cell) => cell,
                None => {
                    let cell = self.cell(type_name(self.scalar(*value)?));
                    let data = self.data(*value)?;
                    self.set(cell, data, body);
                    cell
                }
            };
            kept.push((*value, cell));
        }
        Ok(kept)
    }

    /// What values of the loop are behind it.
    fn leave(
        &mut self,
        id: LoopId,
        counting: &Counting,
        trips: &Trips,
        (used, kept): (&[Value], Vec<(Value, ArrayId)>),
        items: &mut Vec<Item>,
    ) -> Found<()> {
        let count = match &trips.most[..] {
            [one] if trips.is_exact => Some(one.clone()),
            _ => None,
        };
        let last = count.map(|count| count.offset(i128::from(counting.at_top) - 1));
        let at_last = |val: &Val| -> Option<Val> {
            let mentions = val.polynomials().iter().any(|e| e.mentions(counting.var));
            match &last {
                _ if !mentions => Some(val.clone()),
                Some(last) => Some(val.map(&|e| e.replace(&|var| (var == counting.var).then(|| last.clone())))),
                None => None,
            }
        };
        if counting.at_top {
            let params = self.function.block(counting.header).params.clone();
            self.enter(counting, &params, items);
            for param in &params {
                self.env[param.index()] = self.env[param.index()].as_ref().and_then(at_last);
            }
            // The test that fails is executed, too.
            let is_needed = !used.is_empty() || self.accesses_memory(counting.header);
            if is_needed {
                self.instructions(counting.header, items)?;
            }
            return Ok(());
        }
        let mut behind = vec![];
        for value in used {
            let val = match kept.iter().find(|(other, _)| other == value) {
                Some((_, cell)) => Some(Val::Data(self.get(*cell, items))),
                None => self.env[value.index()].as_ref().and_then(at_last),
            };
            behind.push((*value, val));
        }
        let blocks = self.cfg.loop_blocks(id).to_vec();
        for value in 0..self.env.len() {
            if self.definition[value].is_some_and(|d| blocks.contains(&d.block())) {
                self.env[value] = None;
            }
        }
        for (value, val) in behind {
            self.env[value.index()] = val;
        }
        Ok(())
    }

    fn accesses_memory(&self, block: BlockId) -> bool {
        let kinds = self.function.block(block).insts.iter().map(|id| &self.function.inst(*id).kind);
        kinds.into_iter().any(|kind| matches!(kind, InstKind::Op { access: Some(_), .. }))
    }
}

fn swapped(model: Model) -> Option<Model> {
    Some(match model {
        Model::Slt => Model::Sgt,
        Model::Sle => Model::Sge,
        Model::Sgt => Model::Slt,
        Model::Sge => Model::Sle,
        Model::Ult => Model::Ugt,
        Model::Ule => Model::Uge,
        Model::Ugt => Model::Ult,
        Model::Uge => Model::Ule,
        Model::Eq | Model::Ne => model,
        _ => return None,
    })
}

fn negated(model: Model) -> Option<Model> {
    Some(match model {
        Model::Slt => Model::Sge,
        Model::Sle => Model::Sgt,
        Model::Sgt => Model::Sle,
        Model::Sge => Model::Slt,
        Model::Ult => Model::Uge,
        Model::Ule => Model::Ugt,
        Model::Ugt => Model::Ule,
        Model::Uge => Model::Ult,
        Model::Eq => Model::Ne,
        Model::Ne => Model::Eq,
        _ => return None,
    })
}
