//! Where a version begins and ends if that is not all of a function: at a cut of a loop, with values that are there.

use super::super::facts::Interval;
use super::super::region::{Arrival, State};
use super::read::Read;
use super::{Arrived, Begun, Chosen, Context, Leaf, Local, Samples, SymbolicExecutor, Terms};
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rewright_smt::{Address, Expr};
use std::collections::{BTreeMap, BTreeSet};

/// No address is known.
pub(in super::super) static NOWHERE: BTreeMap<usize, Address> = BTreeMap::new();

static NO_READING: BTreeMap<usize, bool> = BTreeMap::new();
static NO_ASKED: BTreeSet<(usize, usize)> = BTreeSet::new();

/// What is executed, and what is there before.
pub(in super::super) struct Start<'a> {
    /// Without loops; the first block is where it begins.
    pub(in super::super) body: &'a Body,
    /// Where it begins, if not at the entry: what is known there, and the bases.
    pub(in super::super) state: Option<(&'a State, &'a [Leaf])>,
    /// Stack slots of the function, which are there already.
    pub(in super::super) slots: &'a [Instruction],
    /// Blocks at which it ends.
    pub(in super::super) arrivals: &'a [Arrival],
    /// What is asked there.
    pub(in super::super) requests: &'a [Request],
    /// What is asked where it begins: which candidate asks, and which of the values that are asked for together.
    pub(in super::super) begun: &'a [((usize, usize), Operand)],
    /// Readings of what is known there that hold, and whether all uses of a base see one value.
    pub(in super::super) readings: &'a BTreeMap<usize, bool>,
    /// Readings of cuts of which it is asked whether they hold where control arrives: cut and reading.
    pub(in super::super) asked_readings: &'a BTreeSet<(usize, usize)>,
    /// Choices that the other version has made of what it has read.
    pub(in super::super) like: &'a [Chosen],
    /// By access: an address that is known to be its own wherever it is made.
    pub(in super::super) places: &'a BTreeMap<usize, Address>,
    /// What that version computes with choices of its own.
    pub(in super::super) contexts: &'a [Context],
    /// Bounds of each use, by what uses are known by.
    pub(in super::super) limits: &'a [(Expr, Interval)],
}

/// A value that is asked for where control comes to a cut.
pub(in super::super) struct Request {
    pub(in super::super) cut: usize,
    /// The number of the candidate that asks.
    pub(in super::super) who: usize,
    /// Which of the values that are asked for together.
    pub(in super::super) part: usize,
    /// A base of the cut, what is computed there, a parameter or a constant.
    pub(in super::super) operand: Operand,
}

impl<'a> Start<'a> {
    /// All of a function.
    pub(in super::super) fn all(body: &'a Body) -> Start<'a> {
        Start {
            body,
            state: None,
            slots: &[],
            arrivals: &[],
            requests: &[],
            begun: &[],
            readings: &NO_READING,
            asked_readings: &NO_ASKED,
            like: &[],
            contexts: &[],
            places: &NOWHERE,
            limits: &[],
        }
    }

    pub(super) fn is_entry(&self) -> bool {
        self.state.is_none()
    }
}

impl<'a> SymbolicExecutor<'a> {
    /// Defines what is there before.
    pub(super) fn begin(&mut self, start: &Start<'a>) -> Terms<Begun> {
        let Some((state, leaves)) = start.state else { return Ok(Begun::default()) };
        self.reached[0] = Expr::TRUE;
        let undefined = std::mem::take(&mut self.undefined);
        let outer = std::mem::replace(&mut self.within, "before".into());
        for i in start.slots {
            if let Shape::Alloca(slot) = &i.shape {
                self.slot(i, slot)?;
            }
        }
        for (base, leaf) in state.bases.iter().zip(leaves) {
            self.undefined_matters = true;
            self.locals.insert(&base.text, Local::of(vec![*leaf]));
        }
        let Read { read, mut known } = self.read_again(state, start.readings)?;
        for i in &state.computed {
            self.made.extend(i.result.as_deref().map(|name| (name, (i, 0))));
            self.instruction(i, 0)?;
        }
        for (condition, holds) in &state.decided {
            let bits = self.decides(condition, 0)?;
            let as_decided = self.s.bits(1, u128::from(*holds));
            known.push(self.s.equal(bits, as_decided));
        }
        let undefined = std::mem::replace(&mut self.undefined, undefined);
        let undefined = self.s.or(&undefined);
        known.push(self.s.not(undefined));
        let mut values = vec![];
        for (number, operand) in start.begun {
            if !self.is_loose(operand) {
                values.push((*number, self.operand(operand)?));
            }
        }
        self.within = outer;
        self.reached[0] = Expr::FALSE;
        Ok(Begun { known: self.s.and(&known), values, read })
    }

    /// Notes what is asked for where control comes to a cut.
    pub(super) fn arrive(&mut self, start: &Start<'a>, block: usize) -> Terms<()> {
        let Some(arrival) = start.arrivals.iter().find(|arrival| arrival.block == block) else { return Ok(()) };
        let (mut values, mut settled) = (vec![], BTreeSet::new());
        for request in start.requests.iter().filter(|request| request.cut == arrival.cut) {
            let Operand { ty, text } = request.operand.clone();
            let text = arrival.names.get(&text).cloned().unwrap_or(text);
            let (operand, who) = (Operand { ty, text }, (request.who, request.part));
            values.push((who, self.carried(&operand, request.who)?));
            if self.is_settled(&operand) {
                settled.insert(who);
            }
        }
        let mut readings = vec![];
        for (n, reading) in arrival.readings.iter().enumerate() {
            if start.asked_readings.contains(&(arrival.cut, n)) {
                readings.push((n, self.is_read(reading)?));
            }
        }
        self.arrived.push(Arrived { cut: arrival.cut, reached: self.reached[block], values, settled, readings });
        Ok(())
    }

    /// A value that goes on to a cut, twice if it is computed anew.
    fn carried(&mut self, operand: &Operand, who: usize) -> Terms<Samples> {
        if !self.is_loose(operand) {
            return self.operand(operand).map(|value| [value; 2]);
        }
        let mut sample = |n: usize| {
            let outer = std::mem::replace(&mut self.within, format!("carried {who} sample {n}"));
            let value = self.operand(operand);
            self.within = outer;
            value
        };
        Ok([sample(1)?, sample(2)?])
    }
}
