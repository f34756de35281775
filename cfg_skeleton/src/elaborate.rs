//! `Selection -> Function`: prints what was chosen, decides nothing.
//!
//! Blocks keep their ids and their order. [`resolve`] finds the definition behind every use by scope, liveness goes
//! backwards from what is executed, so that definitions which only dead block parameters need disappear together
//! with the parameters, and emission walks the dominator tree, each block's definitions near the original's order
//! ([`mod@schedule`]), but after what they need.
//!
//! **Invariant**: nothing here checks that the selection means the same as the function (the validator does); but
//! a selection that is no program is an [`ElaborateError`], never a panic and never a malformed function.

mod origin;
mod resolve;
mod schedule;

use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, Head, NodeId};
use crate::ir::{Block, BlockId, Counts, EdgeArg, Function, InstKind, OpaqueEffects, Terminator, Value};
use crate::select::{Def, Recurrence, Selection};
use crate::skeleton::{SegmentId, SiteId, Skeleton};
use origin::Originals;
use resolve::{Carried, Emission, Resolution, Use};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A selection that is not a program: a bug in whatever made it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ElaborateError {
    /// A use has no definition in scope.
    #[error("class {} has no definition in scope in segment {}", .class.0, .segment.0)]
    Unavailable {
        /// What is used.
        class: ClassId,
        /// Where.
        segment: SegmentId,
    },
    /// Definitions within one segment need each other.
    #[error("definitions in segment {} need each other", .0.0)]
    Cycle(SegmentId),
    /// A leaf, a token or a state was chosen to be computed.
    #[error("node {} is not computed", .0.0)]
    NotComputed(NodeId),
    /// A result is used of a statement that does not give it.
    #[error("statement {} gives no result", .0.0)]
    NoResult(SiteId),
    /// An opaque statement was dropped, or the choice does not exist.
    #[error("no such choice for statement {}", .0.0)]
    Choice(SiteId),
    /// A check that only its operation can perform was chosen to be bare.
    #[error("check {} has no condition of its own", .0.0)]
    NoCondition(SiteId),
    /// A memory access that no access of the function licenses.
    #[error("node {} accesses memory as nothing in the function does", .0.0)]
    Unlicensed(NodeId),
    /// A node's type arguments do not give its result types.
    #[error("node {} has no type", .0.0)]
    Untyped(NodeId),
    /// A definition that names a parameter or a statement that does not exist, or another block's.
    #[error("definition of class {} in segment {} is none", .class.0, .segment.0)]
    Malformed {
        /// The class.
        class: ClassId,
        /// Where.
        segment: SegmentId,
    },
}

/// A function, and what its values are in the e-graph.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The function.
    pub function: Function,
    /// By value: what it is. Constants, and results of statements that stay, are not told.
    pub made: Vec<Option<Made>>,
}

/// What a value of an elaborated function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// The class that it computes.
    pub class: ClassId,
    /// The node that was chosen; `None` for a block parameter of the original.
    pub node: Option<NodeId>,
    /// The value of the original function that is computed by the same node.
    pub original: Option<Value>,
}

/// Writes down the chosen program.
pub fn elaborate(given: Saturated, selection: &Selection) -> Result<Function, ElaborateError> {
    elaborate_traced(given, selection).map(|traced| traced.function)
}

/// The same, and says what each value is.
pub fn elaborate_traced(given: Saturated, selection: &Selection) -> Result<Traced, ElaborateError> {
    let Saturated { function: f, cfg, universe, skeleton, view } = given;
    let resolution = Resolution::new(given, selection)?;
    let live = resolution.liveness()?;
    let empty = Block {
        params: vec![],
        insts: vec![],
        term: Terminator::Trap { code: 0 },
        cold: false,
        counts: Counts::default(),
        must_progress: false,
    };
    let out = Function {
        results: f.results.clone(),
        blocks: vec![empty; f.blocks.len()],
        layout: skeleton.layout.clone(),
        regions: f.regions.clone(),
        objects: f.objects.clone(),
        ..Function::new(f.name.clone())
    };
    let mut emitter = Emitter {
        f,
        universe,
        skeleton,
        view,
        values: vec![SmallVec::new(); resolution.defs.len()],
        state: vec![Progress::None; resolution.defs.len()],
        results: vec![SmallVec::new(); skeleton.statements.len()],
        originals: Originals::new(f, universe, skeleton, view),
        resolution,
        live,
        literals: FxHashMap::default(),
        made: vec![],
        out,
    };
    let mut work = vec![f.entry()];
    while let Some(block) = work.pop() {
        emitter.block(block)?;
        work.extend(cfg.dominator_children(block).iter().rev());
    }
    emitter.made.resize(emitter.out.values.len(), None);
    Ok(Traced { function: emitter.out, made: emitter.made })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    None,
    Open,
    Done,
}

struct Emitter<'a> {
    f: &'a Function,
    universe: &'a Universe,
    skeleton: &'a Skeleton,
    view: &'a EGraphView,
    resolution: Resolution<'a>,
    originals: Originals<'a>,
    /// By definition: is it needed?
    live: Vec<bool>,
    /// By definition: its values, once emitted (several for a tuple).
    values: Vec<SmallVec<[Value; 1]>>,
    state: Vec<Progress>,
    /// By site.
    results: Vec<SmallVec<[Value; 1]>>,
    /// Constants that the current block has.
    literals: FxHashMap<(Ty, i64), Value>,
    /// By value of the new function.
    made: Vec<Option<Made>>,
    out: Function,
}

impl Emitter<'_> {
    fn trace(&mut self, value: Value, made: Made) {
        if self.made.len() <= value.index() {
            self.made.resize(value.index() + 1, None);
        }
        self.made[value.index()] = Some(made);
    }

    fn block(&mut self, block: BlockId) -> Result<(), ElaborateError> {
        self.literals.clear();
        let (original, new) = (self.f.block(block), &mut self.out.blocks[block.index()]);
        (new.cold, new.counts, new.must_progress) = (original.cold, original.counts, original.must_progress);
        for (i, param) in self.f.block(block).params.iter().enumerate() {
            let def = self.resolution.params[block.index()][i];
            if !self.keeps(block, i) {
                continue;
            }
            let value = self.out.add_value(self.f.ty(*param));
            self.out.blocks[block.index()].params.push(value);
            let class = self.view.class_of(self.skeleton.blocks[block.index()].params[i]);
            self.trace(value, Made { class, node: None, original: Some(*param) });
            if let Some(def) = def {
                self.values[def as usize] = smallvec![value];
                self.state[def as usize] = Progress::Done;
            }
        }
        for carried in self.carried_by(block) {
            let (_, class, choice) = self.resolution.defs[carried.def as usize];
            let node = if let Def::Recurrence(id) = choice { Some(id) } else { None };
            let value = self.out.add_value(carried.recurrence.ty);
            self.out.blocks[block.index()].params.push(value);
            self.trace(value, Made { class, node, original: None });
            self.values[carried.def as usize] = smallvec![value];
            self.state[carried.def as usize] = Progress::Done;
        }
        let schedule = self.schedule(block);
        for (segment, defs) in self.skeleton.segments(block).zip(schedule) {
            for def in defs {
                self.definition(block, def)?;
            }
            if segment != self.skeleton.last_segment(block) {
                self.statement(block, self.skeleton.site_after(segment))?;
            }
        }
        self.terminator(block)
    }

    /// Recurrences that are needed and are new parameters of a block, which follow those that it has.
    fn carried_by(&self, block: BlockId) -> Vec<Carried> {
        let own = self.resolution.carried.iter();
        own.filter(|c| c.recurrence.of.header == block && self.live[c.def as usize]).cloned().collect()
    }

    /// What an edge brings to a recurrence of the loop that it enters or closes.
    fn carry(&mut self, from: BlockId, carried: &Carried) -> Result<EdgeArg, ElaborateError> {
        let (segment, class, _) = self.resolution.defs[carried.def as usize];
        let malformed = ElaborateError::Malformed { class, segment };
        let Recurrence { of, step, ref types, ty, .. } = carried.recurrence;
        let mut value = match (from == of.before, from == of.latch) {
            (true, _) => self.value(from, carried.first.ok_or(malformed)?)?,
            (false, true) => self.value(from, carried.by.ok_or(malformed)?)?,
            (false, false) => return Err(malformed),
        };
        if from == of.latch {
            let own = self.value(from, Use::Def(carried.def))?;
            let kind = InstKind::Op { op: step, targs: types.clone(), access: None };
            let inst = self.out.append(from, kind, &[own, value], &[ty]);
            value = self.out.inst(inst).results[0];
        }
        Ok(EdgeArg::Value(value))
    }

    /// Parameters of the entry are the function's.
    fn keeps(&self, block: BlockId, param: usize) -> bool {
        let def = self.resolution.params[block.index()][param];
        block == self.f.entry() || def.is_some_and(|def| self.live[def as usize])
    }

    /// Emits a definition after those that it needs.
    fn definition(&mut self, block: BlockId, root: u32) -> Result<(), ElaborateError> {
        let mut stack = vec![root];
        while let Some(def) = stack.last().copied() {
            match self.state[def as usize] {
                Progress::Done => {
                    stack.pop();
                }
                Progress::None => {
                    self.state[def as usize] = Progress::Open;
                    let operands: SmallVec<[u32; 3]> = self.operands_in(block, def).collect();
                    if operands.iter().any(|operand| self.state[*operand as usize] == Progress::Open) {
                        return Err(ElaborateError::Cycle(self.resolution.defs[def as usize].0));
                    }
                    stack.extend(operands);
                }
                Progress::Open => {
                    stack.pop();
                    self.values[def as usize] = self.emit(block, def)?;
                    self.state[def as usize] = Progress::Done;
                }
            }
        }
        Ok(())
    }

    fn emit(&mut self, block: BlockId, def: u32) -> Result<SmallVec<[Value; 1]>, ElaborateError> {
        let (segment, class, choice) = self.resolution.defs[def as usize];
        let id = match choice {
            Def::Node(id) => id,
            Def::Result { site, index } => {
                let value = self.results[site.index()].get(index as usize);
                return Ok(smallvec![*value.ok_or(ElaborateError::NoResult(site))?]);
            }
            // Emitted with the block.
            Def::Param { .. } | Def::Recurrence(_) => return Err(ElaborateError::Malformed { class, segment }),
        };
        let node = self.view.node(id);
        let uses = self.resolution.uses[def as usize].clone();
        let (kind, types): (InstKind, SmallVec<[Ty; 2]>) = match node.head {
            Head::Const(n) => return Ok(smallvec![self.literal(block, node.types[0], n)]),
            Head::Proj(index) => {
                let Some(Use::Def(tuple)) = uses.first() else { return Err(ElaborateError::NotComputed(id)) };
                let value = self.values[*tuple as usize].get(index as usize);
                return Ok(smallvec![*value.ok_or(ElaborateError::NotComputed(id))?]);
            }
            Head::Copy => return self.copy(block, id, &uses),
            Head::Opaque(payload) => {
                (InstKind::Opaque { payload, effects: OpaqueEffects::Pure }, node.types.iter().copied().collect())
            }
            Head::Op(op) if self.universe.ops.get(op).is_copy() => return self.copy(block, id, &uses),
            Head::Op(op) => {
                // At a site the state after a call stands for it.
                let op = self.universe.ops.whole(op);
                let data = self.universe.ops.get(op);
                let types = data.results.iter().map(|ty| self.universe.types.find_instance(ty, &node.types));
                let types = types.collect::<Option<_>>().ok_or(ElaborateError::Untyped(id))?;
                let access = match (data.effects.accesses_memory(), self.resolution.site_of(class)) {
                    (false, _) => None,
                    (true, None) => Some(self.originals.access(class, id).ok_or(ElaborateError::Unlicensed(id))?),
                    // In place of a statement it may do what that one did.
                    (true, Some(site)) => {
                        let statement = self.skeleton.statement(site);
                        Some(self.originals.access_at(statement, node).ok_or(ElaborateError::Unlicensed(id))?)
                    }
                };
                (InstKind::Op { op, targs: node.types.iter().copied().collect(), access }, types)
            }
            Head::Leaf(_) | Head::Token(_) => return Err(ElaborateError::NotComputed(id)),
        };
        let args: SmallVec<[Value; 3]> = uses.iter().map(|used| self.value(block, *used)).collect::<Result<_, _>>()?;
        let inst = self.out.append(block, kind, &args, &types);
        let original = self.originals.instruction(self.view.node_class[id.index()], id, block);
        // Whatever is executed in place of a statement came from it.
        self.out.insts[inst.index()].origin = match self.resolution.stands_for(class, node) {
            Some(site) => self.f.inst(self.skeleton.statement(site).inst).origin,
            None => original.and_then(|inst| inst.origin),
        };
        let original = original.and_then(|inst| inst.results.first().copied());
        for value in self.out.inst(inst).results.clone() {
            self.trace(value, Made { class, node: Some(id), original });
        }
        Ok(self.out.inst(inst).results.clone())
    }

    /// What a copy stands for.
    fn copy(&mut self, block: BlockId, id: NodeId, uses: &[Use]) -> Result<SmallVec<[Value; 1]>, ElaborateError> {
        let source = uses.first().ok_or(ElaborateError::NotComputed(id))?;
        Ok(smallvec![self.value(block, *source)?])
    }

    fn literal(&mut self, block: BlockId, ty: Ty, n: i64) -> Value {
        if let Some(value) = self.literals.get(&(ty, n)) {
            return *value;
        }
        let inst = self.out.append(block, InstKind::Const(n), &[], &[ty]);
        let value = self.out.inst(inst).results[0];
        self.literals.insert((ty, n), value);
        value
    }

    fn value(&mut self, block: BlockId, used: Use) -> Result<Value, ElaborateError> {
        match used {
            Use::Def(def) => {
                let (segment, class, _) = self.resolution.defs[def as usize];
                let value = self.values[def as usize].first();
                value.copied().ok_or(ElaborateError::Unavailable { class, segment })
            }
            Use::Literal(ty, n) => Ok(self.literal(block, ty, n)),
            Use::Missing(class, segment) => Err(ElaborateError::Unavailable { class, segment }),
        }
    }

    fn statement(&mut self, block: BlockId, site: SiteId) -> Result<(), ElaborateError> {
        let original = self.f.inst(self.skeleton.statement(site).inst);
        let uses = self.resolution.statements[site.index()].clone();
        match self.resolution.emission(site) {
            Emission::None => {}
            Emission::Chosen => {
                let Some(Use::Def(def)) = uses.first() else { return Err(ElaborateError::Choice(site)) };
                self.results[site.index()] = self.values[*def as usize].clone();
            }
            Emission::Original => {
                let args: SmallVec<[Value; 3]> =
                    uses.iter().map(|used| self.value(block, *used)).collect::<Result<_, _>>()?;
                let types: SmallVec<[Ty; 2]> = original.results.iter().map(|v| self.f.ty(*v)).collect();
                let inst = self.out.append(block, original.kind.clone(), &args, &types);
                self.out.insts[inst.index()].origin = original.origin;
                self.results[site.index()] = self.out.inst(inst).results.clone();
            }
            Emission::Check { code, when } => {
                let condition = self.value(block, uses[0])?;
                let inst = self.out.append(block, InstKind::Check { code, when }, &[condition], &[]);
                if let InstKind::Check { .. } = original.kind {
                    self.out.insts[inst.index()].origin = original.origin;
                }
            }
        }
        Ok(())
    }

    fn terminator(&mut self, block: BlockId) -> Result<(), ElaborateError> {
        let mut term = self.f.block(block).term.clone();
        let uses = self.resolution.terminators[block.index()].clone();
        for (operand, used) in term.operands_mut().iter_mut().zip(uses) {
            *operand = self.value(block, used)?;
        }
        for (slot, edge) in term.edges_mut().into_iter().enumerate() {
            let mut args = SmallVec::new();
            for (i, arg) in edge.args.iter().enumerate() {
                if !self.keeps(edge.target, i) {
                    continue;
                }
                args.push(match arg {
                    EdgeArg::Terminator(n) => EdgeArg::Terminator(*n),
                    EdgeArg::Value(_) => {
                        let used = self.resolution.edges[block.index()][slot][i];
                        let used = used.ok_or(ElaborateError::Malformed {
                            class: self.view.class_of(self.skeleton.blocks[edge.target.index()].params[i]),
                            segment: self.skeleton.last_segment(block),
                        })?;
                        EdgeArg::Value(self.value(block, used)?)
                    }
                });
            }
            for carried in self.carried_by(edge.target) {
                args.push(self.carry(block, &carried)?);
            }
            edge.args = args;
        }
        self.out.blocks[block.index()].term = term;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
