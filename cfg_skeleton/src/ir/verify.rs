//! Is a function well formed? Every stage that makes or changes a [`Function`] may ask.
//!
//! Checked: ids are in range and used once; every use is dominated by its definition (in unreachable blocks: has
//! one); operands, results and type arguments fit the operation table; edges carry what their targets take; only
//! edges of opaque terminators carry terminator results; the entry has no predecessor; constants are canonical,
//! and arguments of `const` parameters are constants.
//!
//! **Invariant**: gives a list of errors and never panics, whatever the function holds. It does not look at
//! what operations mean.

use super::cfg::Cfg;
use super::{BlockId, Edge, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::{Op, Ty, Universe};
use std::fmt;
use thiserror::Error;

/// Where an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// The function as a whole.
    Function,
    /// A block's head.
    Block(BlockId),
    /// An instruction.
    Inst(BlockId, InstId),
    /// A terminator.
    Terminator(BlockId),
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Defect {
    /// The layout is empty.
    #[error("a function has at least one block")]
    NoBlock,
    /// An id in the layout or of a target points nowhere.
    #[error("b{} is not a block of the layout", .0.0)]
    UnknownBlock(BlockId),
    /// A block is in the layout twice.
    #[error("the layout has b{} twice", .0.0)]
    RepeatedBlock(BlockId),
    /// An instruction id points nowhere.
    #[error("there is no instruction {}", .0.0)]
    UnknownInst(InstId),
    /// An instruction stands at two places.
    #[error("instruction {} stands at two places", .0.0)]
    RepeatedInst(InstId),
    /// A value id points nowhere, or nothing defines it.
    #[error("v{} has no definition", .0.0)]
    Undefined(Value),
    /// A value is defined twice.
    #[error("v{} is defined twice", .0.0)]
    Redefined(Value),
    /// A use that its definition does not dominate.
    #[error("the definition of v{} does not dominate this use", .0.0)]
    NotDominated(Value),
    /// An edge into the entry.
    #[error("b{} is the entry and cannot be the target of an edge", .0.0)]
    EntryTarget(BlockId),
    /// Wrong number of something.
    #[error("{what}: expected {expected}, found {found}")]
    Count {
        /// The quantity that was counted.
        what: &'static str,
        /// As declared.
        expected: usize,
        /// As it is.
        found: usize,
    },
    /// A value's type does not fit.
    #[error("v{} has type {found}, which is not {expected}", .value.0)]
    Type {
        /// The value.
        value: Value,
        /// What is wanted.
        expected: String,
        /// What it has.
        found: String,
    },
    /// A type argument breaks its bound.
    #[error("type argument {found} of {op} is not below {bound}")]
    Bound {
        /// The operation.
        op: String,
        /// The bound.
        bound: String,
        /// The argument.
        found: String,
    },
    /// An operation or type that the universe does not have.
    #[error("unknown {0}")]
    Unknown(&'static str),
    /// An access on an operation that touches no memory, or none on one that does.
    #[error("{0}: an access goes with exactly the operations that read or write memory")]
    Access(String),
    /// An operation that only says what a loop carries.
    #[error("{0} says what a loop carries: it is for rules, no function computes it")]
    Carried(String),
    /// A region that the function does not have.
    #[error("there is no region {0}")]
    Region(u32),
    /// The argument of a `const` parameter is not a constant.
    #[error("v{} stands for a `const` parameter and is not a constant", .0.0)]
    NotConstant(Value),
    /// A constant that is not in canonical form.
    #[error("{0} is not canonical at this type")]
    NotCanonical(i64),
    /// A terminator result on an edge of a terminator that makes none.
    #[error("only edges of opaque terminators carry results of the terminator")]
    TerminatorResult,
}

/// An error of the verifier.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}: {defect}")]
pub struct IrError {
    /// Where.
    pub place: Location,
    /// What.
    pub defect: Defect,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Function => write!(f, "function"),
            Location::Block(b) => write!(f, "b{}", b.0),
            Location::Inst(b, i) => write!(f, "b{}, instruction {}", b.0, i.0),
            Location::Terminator(b) => write!(f, "b{}, terminator", b.0),
        }
    }
}

/// All errors of a function, in layout order. Errors of shape (ids that point nowhere) hide all others.
pub fn verify(function: &Function, universe: &Universe) -> Vec<IrError> {
    let mut v = Verifier { function, universe, errors: vec![] };
    let defs = v.shape();
    if v.errors.is_empty() {
        v.types(&defs);
        v.dominance(&defs);
    }
    v.errors
}

/// Where a value is defined.
#[derive(Clone, Copy)]
enum Definition {
    Param(BlockId),
    /// Block, position in it, instruction.
    Result(BlockId, u32, InstId),
}

struct Verifier<'a> {
    function: &'a Function,
    universe: &'a Universe,
    errors: Vec<IrError>,
}

impl Verifier<'_> {
    fn report(&mut self, place: Location, defect: Defect) {
        self.errors.push(IrError { place, defect });
    }

    /// Ids point somewhere, and definitions are unique.
    fn shape(&mut self) -> Vec<Option<Definition>> {
        let f = self.function;
        let mut defs: Vec<Option<Definition>> = vec![None; f.values.len()];
        if f.layout.is_empty() {
            self.report(Location::Function, Defect::NoBlock);
        }
        let mut in_layout = vec![false; f.blocks.len()];
        for b in &f.layout {
            match in_layout.get_mut(b.index()) {
                None => self.report(Location::Function, Defect::UnknownBlock(*b)),
                Some(true) => self.report(Location::Function, Defect::RepeatedBlock(*b)),
                Some(flag) => *flag = true,
            }
        }
        for ty in f.values.iter().chain(&f.results) {
            if !self.universe.types.contains(*ty) {
                self.report(Location::Function, Defect::Unknown("type"));
            }
        }
        if !self.errors.is_empty() {
            return defs;
        }
        let mut placed = vec![false; f.insts.len()];
        for b in &f.layout {
            let block = f.block(*b);
            for p in &block.params {
                self.define(&mut defs, *p, Definition::Param(*b), Location::Block(*b));
            }
            for (position, id) in block.insts.iter().enumerate() {
                match placed.get_mut(id.index()) {
                    None => {
                        self.report(Location::Block(*b), Defect::UnknownInst(*id));
                        continue;
                    }
                    Some(true) => self.report(Location::Block(*b), Defect::RepeatedInst(*id)),
                    Some(flag) => *flag = true,
                }
                for r in &f.inst(*id).results {
                    self.define(&mut defs, *r, Definition::Result(*b, position as u32, *id), Location::Inst(*b, *id));
                }
            }
            for edge in block.term.edges() {
                if in_layout.get(edge.target.index()) != Some(&true) {
                    self.report(Location::Terminator(*b), Defect::UnknownBlock(edge.target));
                } else if edge.target == f.entry() {
                    self.report(Location::Terminator(*b), Defect::EntryTarget(edge.target));
                }
            }
        }
        if !self.errors.is_empty() {
            return defs;
        }
        for_each_use(f, |place, value| {
            if !matches!(defs.get(value.index()), Some(Some(_))) {
                self.errors.push(IrError { place, defect: Defect::Undefined(value) });
            }
        });
        defs
    }

    fn define(&mut self, defs: &mut [Option<Definition>], value: Value, def: Definition, place: Location) {
        match defs.get_mut(value.index()) {
            None => self.report(place, Defect::Undefined(value)),
            Some(Some(_)) => self.report(place, Defect::Redefined(value)),
            Some(slot) => *slot = Some(def),
        }
    }

    fn types(&mut self, defs: &[Option<Definition>]) {
        let f = self.function;
        for b in &f.layout {
            for id in &f.block(*b).insts {
                self.inst(Location::Inst(*b, *id), f.inst(*id), defs);
            }
            self.terminator(*b);
        }
    }

    fn count(&mut self, place: Location, what: &'static str, expected: usize, found: usize) -> bool {
        if expected != found {
            self.report(place, Defect::Count { what, expected, found });
        }
        expected == found
    }

    fn expect(&mut self, place: Location, value: Value, expected: Ty) {
        let (found, types) = (self.function.ty(value), &self.universe.types);
        if !types.is_subtype(found, expected) {
            let (expected, found) = (types.display(expected), types.display(found));
            self.report(place, Defect::Type { value, expected, found });
        }
    }

    /// An integer, or a type that only the front end knows.
    fn expect_integer(&mut self, place: Location, value: Value) {
        let found = self.function.ty(value);
        if self.universe.types.scalar(found).is_some_and(|s| !s.is_int()) {
            let found = self.universe.types.display(found);
            self.report(place, Defect::Type { value, expected: "an integer".into(), found });
        }
    }

    fn inst(&mut self, place: Location, inst: &Inst, defs: &[Option<Definition>]) {
        match &inst.kind {
            InstKind::Const(n) => {
                self.count(place, "operands of a constant", 0, inst.args.len());
                if self.count(place, "results of a constant", 1, inst.results.len()) {
                    let scalar = self.universe.types.lane(self.function.ty(inst.results[0]));
                    if scalar.is_some_and(|s| s.canonical(*n as u64) != *n) {
                        self.report(place, Defect::NotCanonical(*n));
                    }
                }
            }
            InstKind::Check { .. } => {
                self.count(place, "results of a check", 0, inst.results.len());
                if self.count(place, "operands of a check", 1, inst.args.len()) {
                    self.expect_integer(place, inst.args[0]);
                }
            }
            InstKind::Opaque { .. } => {}
            InstKind::Op { op, targs, access } => {
                if op.0 as usize >= self.universe.ops.len() {
                    self.report(place, Defect::Unknown("operation"));
                    return;
                }
                let op = self.universe.ops.get(*op);
                if op.is_for_matching() {
                    self.report(place, Defect::Carried(op.unique.clone()));
                }
                if access.is_some() != op.effects.accesses_memory() {
                    self.report(place, Defect::Access(op.unique.clone()));
                }
                if let Some(access) = access
                    && access.region.index() >= self.function.regions.len().max(1)
                {
                    self.report(place, Defect::Region(access.region.0));
                }
                if targs.iter().any(|t| !self.universe.types.contains(*t)) {
                    self.report(place, Defect::Unknown("type"));
                } else if self.count(place, "type arguments", op.tparams.len(), targs.len()) {
                    self.signature(place, inst, op, targs, defs);
                }
            }
        }
    }

    fn signature(&mut self, place: Location, inst: &Inst, op: &Op, targs: &[Ty], defs: &[Option<Definition>]) {
        let types = &self.universe.types;
        for (param, found) in op.tparams.iter().zip(targs) {
            let Some(bound) = param.bound.as_ref().and_then(|b| types.find_instance(b, targs)) else { continue };
            if !types.is_subtype(*found, bound) {
                let (bound, found) = (types.display(bound), types.display(*found));
                self.report(place, Defect::Bound { op: op.unique.clone(), bound, found });
            }
        }
        self.count(place, "operands", op.params.len(), inst.args.len());
        for (param, arg) in op.params.iter().zip(&inst.args) {
            match types.find_instance(&param.ty, targs) {
                Some(expected) => self.expect(place, *arg, expected),
                None => self.report(place, Defect::Unknown("type of a parameter")),
            }
            let constant = matches!(defs[arg.index()], Some(Definition::Result(_, _, id))
                if matches!(self.function.inst(id).kind, InstKind::Const(_)));
            if param.constant && !constant {
                self.report(place, Defect::NotConstant(*arg));
            }
        }
        if self.count(place, "results", op.results.len(), inst.results.len()) {
            for (expr, result) in op.results.iter().zip(&inst.results) {
                match types.find_instance(expr, targs) {
                    Some(expected) => self.expect(place, *result, expected),
                    None => self.report(place, Defect::Unknown("type of a result")),
                }
            }
        }
    }

    fn terminator(&mut self, b: BlockId) {
        let (f, place) = (self.function, Location::Terminator(b));
        let term = &f.block(b).term;
        match term {
            Terminator::Branch { cond, .. } => self.expect_integer(place, *cond),
            Terminator::Switch { index, .. } => self.expect_integer(place, *index),
            Terminator::Return(values) => {
                if self.count(place, "returned values", f.results.len(), values.len()) {
                    for (value, ty) in values.iter().zip(&f.results) {
                        self.expect(place, *value, *ty);
                    }
                }
            }
            Terminator::Jump(_) | Terminator::Trap { .. } | Terminator::Opaque { .. } => {}
        }
        let opaque = matches!(term, Terminator::Opaque { .. });
        for edge in term.edges() {
            self.edge(place, edge, opaque);
        }
    }

    fn edge(&mut self, place: Location, edge: &Edge, opaque: bool) {
        let params = &self.function.block(edge.target).params;
        if !self.count(place, "arguments of an edge", params.len(), edge.args.len()) {
            return;
        }
        for (arg, param) in edge.args.iter().zip(params) {
            match arg {
                EdgeArg::Value(value) => self.expect(place, *value, self.function.ty(*param)),
                EdgeArg::Terminator(_) if !opaque => self.report(place, Defect::TerminatorResult),
                EdgeArg::Terminator(_) => {}
            }
        }
    }

    fn dominance(&mut self, defs: &[Option<Definition>]) {
        let f = self.function;
        let cfg = Cfg::new(f);
        let mut position = vec![u32::MAX; f.insts.len()];
        for b in &f.layout {
            for (i, inst) in f.block(*b).insts.iter().enumerate() {
                position[inst.index()] = i as u32;
            }
        }
        for_each_use(f, |place, value| {
            let (block, at) = match place {
                Location::Inst(b, inst) => (b, position[inst.index()]),
                Location::Terminator(b) | Location::Block(b) => (b, u32::MAX),
                Location::Function => return,
            };
            let fine = match defs[value.index()] {
                None => false,
                Some(Definition::Param(d)) => cfg.dominates(d, block),
                Some(Definition::Result(d, i, _)) if d == block => i < at,
                Some(Definition::Result(d, ..)) => cfg.dominates(d, block),
            };
            if !fine && cfg.is_reachable(block) {
                self.errors.push(IrError { place, defect: Defect::NotDominated(value) });
            }
        });
    }
}

/// Every use of a value, with its place, in layout order.
fn for_each_use(f: &Function, mut visit: impl FnMut(Location, Value)) {
    for b in &f.layout {
        let block = f.block(*b);
        for id in &block.insts {
            for arg in &f.inst(*id).args {
                visit(Location::Inst(*b, *id), *arg);
            }
        }
        for value in block.term.operands() {
            visit(Location::Terminator(*b), *value);
        }
        for edge in block.term.edges() {
            for arg in &edge.args {
                if let EdgeArg::Value(value) = arg {
                    visit(Location::Terminator(*b), *value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
