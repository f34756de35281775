//! Control flow as terms: when blocks are entered, with which values.

use super::{Arrival, Behaviour, Given, State, Symbolic, Terms, representation};
use crate::functions::FunctionVersion;
use crate::functions::cuts::{Cut, Cuts};
use crate::functions::region::Region;
use rewright_cfg_skeleton::ir::{BlockId, Edge, EdgeArg, EdgeId, InstId, Terminator, Value};
use rewright_smt::{Expr, Script};
use rewright_typeprop::model::Repr;
use rustc_hash::FxHashMap;

pub(super) struct Executor<'s, 'a> {
    pub(super) s: &'s mut Script,
    pub(super) version: FunctionVersion<'a>,
    cuts: &'s Cuts<'a>,
    pub(super) values: FxHashMap<Value, Symbolic>,
    /// What a block's parameters are when it is entered, and values that blocks before it may have computed anew.
    carried: FxHashMap<(BlockId, Value), Symbolic>,
    /// When a block is entered.
    reached: FxHashMap<BlockId, Expr>,
    /// When what comes next is executed.
    pub(super) here: Expr,
    /// All that has been written to memory since the last event that happens whatever comes next, as text: with that
    /// event, it tells what memory is.
    pub(super) written: String,
    /// The first block: what stands in it has happened when something later happens.
    pub(super) is_first: bool,
    pub(super) done: Behaviour,
}

impl<'s, 'a> Executor<'s, 'a> {
    /// One that has executed nothing.
    pub(super) fn new(s: &'s mut Script, cuts: &'s Cuts<'a>, given: &Given) -> Terms<Self> {
        let version = cuts.version;
        let function = version.function;
        let zero = s.bits(32, 0);
        let mut results = vec![];
        for ty in &function.results {
            let width = representation(version, *ty)?.bits();
            results.push(Symbolic { bits: s.bits(width, 0), nan: Expr::FALSE });
        }
        let done = Behaviour {
            trapped: Expr::FALSE,
            code: zero,
            returned: Expr::FALSE,
            results,
            memory: given.memory,
            trace: given.trace,
            promises: vec![],
            has_nan: false,
            arrivals: vec![],
        };
        let parameters = &function.block(function.entry()).params;
        let arguments = given.arguments.iter().map(|bits| Symbolic { bits: *bits, nan: Expr::FALSE });
        Ok(Executor {
            s,
            version,
            cuts,
            values: parameters.iter().copied().zip(arguments).collect(),
            carried: FxHashMap::default(),
            reached: FxHashMap::default(),
            here: Expr::TRUE,
            written: String::new(),
            is_first: true,
            done,
        })
    }

    /// Executes a region, from its first block on.
    pub(super) fn run(&mut self, region: &Region, begun: Option<&State>) -> Terms<()> {
        if let Some(state) = begun {
            self.values.clone_from(&state.values);
        }
        let Some(first) = region.order.first() else { return Err("it has no blocks".into()) };
        self.reached.insert(*first, Expr::TRUE);
        for block in &region.order {
            self.is_first = block == first;
            if !self.is_first {
                let params = &self.version.function.block(*block).params;
                for value in params.iter().chain(&region.older) {
                    match self.carried.get(&(*block, *value)) {
                        Some(symbolic) => self.values.insert(*value, *symbolic),
                        None => self.values.remove(value),
                    };
                }
            }
            self.block(*block, region)?;
        }
        Ok(())
    }

    /// What is known at a cut where its bases are these.
    pub(super) fn state(mut self, cut: &Cut, bases: &[Symbolic]) -> Terms<State> {
        self.values.extend(cut.bases.iter().copied().zip(bases.iter().copied()));
        for id in &cut.known {
            self.inst(self.version.function.inst(*id))?;
        }
        for (condition, taken) in &cut.taken {
            let condition = self.value(*condition)?.bits;
            let is_set = self.s.nonzero(condition);
            let holds = if *taken { is_set } else { self.s.not(is_set) };
            self.here = self.s.and(&[self.here, holds]);
        }
        let (facts, values) = (self.here, self.values.clone());
        let mut again = vec![];
        for (id, result) in &cut.loads {
            let before = self.value(*result)?;
            let safe = self.aside(*id)?;
            again.push((self.value(*result)?, safe));
            self.values.insert(*result, before);
        }
        for id in &cut.ahead {
            self.aside(*id)?;
        }
        let mut ahead = std::mem::take(&mut self.values);
        ahead.retain(|value, _| !values.contains_key(value));
        let bases = bases.iter().map(|base| base.bits).collect();
        Ok(State { bases, values, facts, ahead, again })
    }

    /// Computes what an instruction gives, without executing it; when it would not trap.
    fn aside(&mut self, id: InstId) -> Terms<Expr> {
        self.here = Expr::TRUE;
        self.inst(self.version.function.inst(id))?;
        Ok(std::mem::replace(&mut self.here, Expr::TRUE))
    }

    fn block(&mut self, id: BlockId, region: &Region) -> Terms<()> {
        let function = self.version.function;
        let block = function.block(id);
        self.here = self.reached.get(&id).copied().unwrap_or(Expr::FALSE);
        for inst in block.insts.iter().map(|id| function.inst(*id)) {
            self.inst(inst)?;
        }
        let leaves = |slot: usize| EdgeId { from: id, slot: slot as u32 };
        match &block.term {
            Terminator::Return(values) => {
                let here = self.here;
                self.done.returned = self.s.or(&[self.done.returned, here]);
                for (n, value) in values.iter().enumerate() {
                    let (value, other) = (self.value(*value)?, self.done.results[n]);
                    self.done.results[n] = self.choose(here, value, other);
                }
                Ok(())
            }
            Terminator::Trap { code } => {
                let code = self.s.bits(32, (*code).into());
                self.trap(Expr::TRUE, code);
                Ok(())
            }
            Terminator::Jump(edge) => self.edge(leaves(0), edge, Expr::TRUE, region),
            Terminator::Branch { cond, then, els } => {
                let cond = self.value(*cond)?.bits;
                let taken = self.s.nonzero(cond);
                self.edge(leaves(0), then, taken, region)?;
                let not = self.s.not(taken);
                self.edge(leaves(1), els, not, region)
            }
            Terminator::Switch { index, targets, default } => {
                let index = self.value(*index)?.bits;
                let mut others = vec![];
                for (n, edge) in targets.iter().enumerate() {
                    let case = self.s.bits(index.width(), n as u128);
                    let taken = self.s.equal(index, case);
                    self.edge(leaves(n), edge, taken, region)?;
                    others.push(self.s.not(taken));
                }
                let other = self.s.and(&others);
                self.edge(leaves(targets.len()), default, other, region)
            }
            Terminator::Opaque { .. } => Err("a terminator that is not modelled".into()),
        }
    }

    fn edge(&mut self, id: EdgeId, edge: &Edge, when: Expr, region: &Region) -> Terms<()> {
        let when = self.s.and(&[self.here, when]);
        if let Some(cut) = self.cuts.by_edge.get(&id) {
            return self.arrive(*cut, edge, when);
        }
        let params = &self.version.function.block(edge.target).params;
        let mut carried = vec![];
        for (param, arg) in params.iter().zip(&edge.args) {
            carried.push((*param, self.argument(*arg)?));
        }
        let older = region.older.iter().filter(|value| !params.contains(value));
        carried.extend(older.filter_map(|value| Some((*value, *self.values.get(value)?))));
        for (value, own) in carried {
            let merged = match self.carried.get(&(edge.target, value)).copied() {
                Some(other) => self.choose(when, own, other),
                None => own,
            };
            self.carried.insert((edge.target, value), merged);
        }
        let reached = self.reached.get(&edge.target).copied().unwrap_or(Expr::FALSE);
        let reached = self.s.or(&[reached, when]);
        self.reached.insert(edge.target, reached);
        Ok(())
    }

    /// Comes to a cut by an edge.
    fn arrive(&mut self, cut: usize, edge: &Edge, when: Expr) -> Terms<()> {
        let params = &self.version.function.block(edge.target).params;
        let mut bases = vec![];
        for base in &self.cuts.all[cut].bases {
            bases.push(match params.iter().position(|param| param == base) {
                Some(at) => self.argument(edge.args[at])?,
                None => self.value(*base)?,
            });
        }
        match self.done.arrivals.iter().position(|arrival| arrival.cut == cut) {
            Some(at) => {
                let (reached, others) = (self.done.arrivals[at].reached, self.done.arrivals[at].bases.clone());
                let merged = bases.iter().zip(others).map(|(own, other)| self.choose(when, *own, other)).collect();
                self.done.arrivals[at] = Arrival { cut, reached: self.s.or(&[reached, when]), bases: merged };
            }
            None => self.done.arrivals.push(Arrival { cut, reached: when, bases }),
        }
        Ok(())
    }

    fn argument(&self, arg: EdgeArg) -> Terms<Symbolic> {
        match arg {
            EdgeArg::Value(value) => self.value(value),
            EdgeArg::Terminator(_) => Err("a result of a terminator".into()),
        }
    }

    pub(super) fn choose(&mut self, when: Expr, x: Symbolic, y: Symbolic) -> Symbolic {
        Symbolic { bits: self.s.choose(when, x.bits, y.bits), nan: self.s.choose(when, x.nan, y.nan) }
    }

    pub(super) fn value(&self, value: Value) -> Terms<Symbolic> {
        self.values.get(&value).copied().ok_or_else(|| format!("v{} has no value here", value.0).into())
    }

    /// It ends here if a condition holds.
    pub(super) fn trap(&mut self, when: Expr, code: Expr) {
        let ends = self.s.and(&[self.here, when]);
        self.done.code = self.s.choose(ends, code, self.done.code);
        self.done.trapped = self.s.or(&[self.done.trapped, ends]);
        let goes_on = self.s.not(when);
        self.here = self.s.and(&[self.here, goes_on]);
    }

    pub(super) fn repr(&self, value: Value) -> Terms<Repr> {
        representation(self.version, self.version.function.ty(value))
    }
}
