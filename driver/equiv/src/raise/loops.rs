//! Loops that count.
//!
//! All back edges of a loop go through one block of their own ([`with_latches`]). A loop is left at its *top*, in the
//! header before the body, or at its *bottom*, behind everything. The variable of the nest's loop counts iterations from
//! 0; a counter of the function is a polynomial in it. For how many iterations the loop runs follows from its test in
//! the integers, and that is what happens if the counter that is tested is in range at each test, which is shown.
//!
//! What else a loop carries goes through cells: written before it, read at the head of each iteration, written at its end.

use super::control::End;
use super::counting::{Carried, Counting};
use super::scalar::{Pointer, Val};
use super::trips::Trips;
use super::{Found, NO_LINE, Raiser, type_name};
use rewright_cfg_skeleton::ir::{BlockId, Edge, EdgeArg, Function, InstKind, LoopId, Terminator, Value};
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Constraint, For, Item};
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
        if !self.cfg.dominates(exit.from, latch) {
            return Err("a loop that is not tested in each iteration".into());
        }
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
        let first = self.val(param).ok();
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
            // A value that the next iteration gets has a cell.
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
