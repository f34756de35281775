//! Jumps past a block that only decides where to go on, from edges into it that have decided that already (jump threading).
//!
//! Such a block computes nothing but what its branch or switch looks at, and is no header of a loop. Its decision behind an edge
//! follows from what the edge carries and from what was tested on the way there ([`super::scoped_facts`]). The edge then goes
//! straight to the successor, which is in the same loop and no header either.
//!
//! The block no longer dominates the successor. So what uses its parameters behind it is dominated by a successor that had
//! no other way in, which gets parameters for them. No path executes more than before: each one that changes is
//! the old one without the block.
//!
//! **Invariant**: no block is in two of the changes that are made at once.

use super::copies::is_computed_anywhere;
use super::scoped_facts::{KnownAtEnds, Scope};
use crate::Saturated;
use crate::egraph::ClassId;
use crate::ir::uses::{Use, uses};
use crate::ir::{BlockId, Edge, EdgeArg, EdgeId, Function, InstId, InstKind, Terminator, Value};
use rewright_typeprop::Known;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Instructions that a block has at most of which edges are looked at.
const MAX_INSTS: usize = 8;

/// Edges past one block.
#[derive(Clone)]
pub struct Threads {
    /// The block.
    pub past: BlockId,
    /// The edges into it that go on elsewhere, with the position among its successors of where they go.
    pub edges: Vec<(EdgeId, u32)>,
    /// What uses its parameters behind it, with the position of the successor that dominates the use.
    uses: Vec<(Value, Use, u32)>,
}

/// Finds edges that decide what the block that they enter does. `at_ends`: of the same function.
pub fn threads(given: Saturated, at_ends: &KnownAtEnds) -> Vec<Threads> {
    let Saturated { function: f, skeleton: s, .. } = given;
    if !f.promises.is_empty() {
        return vec![];
    }
    let candidates: Vec<Candidate<'_>> = s.layout.iter().filter_map(|block| Candidate::new(given, *block)).collect();
    let mut busy: FxHashSet<BlockId> = FxHashSet::default();
    let mut found = vec![];
    for candidate in candidates {
        let Some(threads) = candidate.threads(at_ends) else { continue };
        let targets = f.block(threads.past).term.edges();
        let targets = targets.iter().map(|edge| edge.target);
        let from = threads.edges.iter().map(|(edge, _)| edge.from);
        let users = threads.uses.iter().map(|(_, place, _)| place.block());
        let own: Vec<BlockId> = from.chain(targets).chain(users).chain([threads.past]).collect();
        if own.iter().all(|block| !busy.contains(block)) {
            busy.extend(own);
            found.push(threads);
        }
    }
    found
}

/// A block that only decides where to go on.
struct Candidate<'a> {
    given: Saturated<'a>,
    block: BlockId,
    /// What it defines, constants aside.
    own: FxHashSet<Value>,
}

impl<'a> Candidate<'a> {
    fn new(given: Saturated<'a>, block: BlockId) -> Option<Self> {
        let Saturated { function: f, cfg, universe, skeleton: s, .. } = given;
        let data = f.block(block);
        let decides = matches!(data.term, Terminator::Branch { .. } | Terminator::Switch { .. });
        let silent = |inst: &InstId| is_computed_anywhere(&f.inst(*inst).kind, universe);
        let is_candidate = block != f.entry()
            && decides
            && data.insts.len() <= MAX_INSTS
            && cfg.predecessors(block).len() > 1
            && cfg.loop_with_header(block).is_none()
            && !cfg.is_irreducible(block)
            && data.insts.iter().all(silent)
            && s.sites(block).next().is_none();
        if !is_candidate {
            return None;
        }
        let computed = data.insts.iter().filter(|inst| !matches!(f.inst(**inst).kind, InstKind::Const(_)));
        let results = computed.flat_map(|inst| &f.inst(*inst).results);
        let own = data.params.iter().chain(results).copied().collect();
        Some(Candidate { given, block, own })
    }

    fn threads(&self, at_ends: &KnownAtEnds) -> Option<Threads> {
        let Saturated { function: f, cfg, .. } = self.given;
        let same_loop = |block| cfg.loop_of(block) == cfg.loop_of(self.block);
        let mut edges = vec![];
        for edge in cfg.predecessors(self.block) {
            let term = &f.block(edge.from).term;
            let args = &term.edges()[edge.slot as usize].args;
            let plain = args.iter().all(|arg| matches!(arg, EdgeArg::Value(_)));
            if matches!(term, Terminator::Opaque { .. }) || !plain || !same_loop(edge.from) {
                continue;
            }
            let Some(scope) = at_ends.on_edge(self.given, *edge) else { continue };
            let Some(slot) = self.decided(args, &scope) else { continue };
            let target = f.block(self.block).term.edges()[slot as usize];
            let is_param = |value: &Value| f.block(self.block).params.contains(value);
            let carried = target.args.iter().all(|arg| match arg {
                EdgeArg::Value(value) => is_param(value) || !self.own.contains(value),
                EdgeArg::Terminator(_) => false,
            });
            let enters = cfg.loop_with_header(target.target).is_some() || cfg.is_irreducible(target.target);
            if carried && !enters && same_loop(target.target) {
                edges.push((*edge, slot));
            }
        }
        if edges.is_empty() {
            return None;
        }
        Some(Threads { past: self.block, edges, uses: self.uses_behind()? })
    }

    /// What uses the block's values elsewhere, if successors with one way in dominate all of it.
    fn uses_behind(&self) -> Option<Vec<(Value, Use, u32)>> {
        let Saturated { function: f, cfg, skeleton: s, .. } = self.given;
        let successors = f.block(self.block).term.edges();
        let dominating = |at: BlockId| {
            (0u32..).zip(&successors).find_map(|(slot, edge)| {
                let alone = cfg.predecessors(edge.target).len() == 1;
                (alone && cfg.dominates(edge.target, at)).then_some(slot)
            })
        };
        let (mut found, mut covered) = (vec![], true);
        for block in s.layout.iter().filter(|block| **block != self.block) {
            uses(f, *block, |value, place| {
                if self.own.contains(&value) {
                    let slot = dominating(*block).filter(|_| f.block(self.block).params.contains(&value));
                    covered &= slot.is_some();
                    found.extend(slot.map(|slot| (value, place, slot)));
                }
            });
        }
        covered.then_some(found)
    }

    /// Where the block goes on when an edge carries these arguments, and what a scope says holds.
    fn decided(&self, args: &[EdgeArg], scope: &Scope) -> Option<u32> {
        let Saturated { function: f, universe, skeleton: s, view, .. } = self.given;
        let outside = |value: Value| settled(scope, view.class_of(s.value_input[value.index()]?));
        let data = f.block(self.block);
        let mut known: FxHashMap<Value, Option<Known>> = FxHashMap::default();
        // Values that are computed from parameters; all others are what they are before the block.
        let mut from_params: FxHashSet<Value> = data.params.iter().copied().collect();
        for (param, arg) in data.params.iter().zip(args) {
            let EdgeArg::Value(arg) = arg else { return None };
            known.insert(*param, outside(*arg));
        }
        for inst in &data.insts {
            let inst = f.inst(*inst);
            let &[result] = inst.results.as_slice() else { return None };
            let value = if inst.args.iter().any(|arg| from_params.contains(arg)) {
                from_params.insert(result);
                let model = match &inst.kind {
                    InstKind::Op { op, .. } => universe.ops.get(*op).model.filter(|model| model.memory().is_none()),
                    _ => None,
                };
                let scalar = universe.types.scalar(f.ty(result)).filter(|scalar| scalar.is_int());
                let of = |arg: &Value| known.get(arg).copied().unwrap_or_else(|| outside(*arg));
                let args: Option<SmallVec<[Known; 3]>> = inst.args.iter().map(of).collect();
                model.zip(scalar).zip(args).map(|((model, scalar), args)| model.transfer(scalar.bits(), &args))
            } else {
                outside(result)
            };
            known.insert(result, value);
        }
        let of = |value: &Value| known.get(value).copied().unwrap_or_else(|| outside(*value));
        match &data.term {
            Terminator::Branch { cond, .. } => {
                let known = of(cond)?;
                match (known.allows(0), known.single()) {
                    (false, _) => Some(0),
                    (true, single) => single.map(|_| 1),
                }
            }
            Terminator::Switch { index, targets, .. } => {
                let scalar = universe.types.scalar(f.ty(*index))?;
                let index = scalar.zero_extended(of(index)?.single()?);
                Some(index.min(targets.len() as u64) as u32)
            }
            _ => None,
        }
    }
}

/// What is known of a class, the outcome of a comparison included.
fn settled(scope: &Scope, class: ClassId) -> Option<Known> {
    let known = scope.known(class)?;
    let outcome = scope.decides(class).filter(|holds| !holds || known.unsigned().1 <= 1);
    Some(outcome.map_or(known, |holds| Known::constant(known.bits(), i64::from(holds))))
}

/// The function with these edges. Blocks that are not reachable afterwards leave the layout.
pub fn apply_threads(f: &Function, threads: &[Threads]) -> Function {
    let mut out = f.clone();
    for Threads { past, edges, uses } in threads {
        let params = f.block(*past).params.clone();
        // Constants may stand anywhere.
        let is_constant = |inst: &InstId| matches!(f.inst(*inst).kind, InstKind::Const(_));
        let (constants, rest): (Vec<_>, Vec<_>) = f.block(*past).insts.iter().copied().partition(is_constant);
        out.blocks[past.index()].insts = rest;
        out.blocks[f.entry().index()].insts.splice(0..0, constants);
        // By successor and parameter: the parameter of the successor that stands for it.
        let mut passed: FxHashMap<(u32, Value), Value> = FxHashMap::default();
        for (value, place, slot) in uses.iter().filter(|(_, _, slot)| edges.iter().any(|(_, to)| to == slot)) {
            let new = *passed.entry((*slot, *value)).or_insert_with(|| {
                let target = f.block(*past).term.edges()[*slot as usize].target;
                let new = out.add_value(f.ty(*value));
                out.blocks[target.index()].params.push(new);
                out.blocks[past.index()].term.edges_mut()[*slot as usize].args.push(EdgeArg::Value(*value));
                new
            });
            place.replace(&mut out, new);
        }
        for (edge, slot) in edges {
            let carried = f.block(edge.from).term.edges()[edge.slot as usize].args.clone();
            let Edge { target, args } = out.block(*past).term.edges()[*slot as usize].clone();
            let instead = |arg: EdgeArg| match arg {
                EdgeArg::Value(value) => params.iter().position(|param| *param == value).map_or(arg, |i| carried[i]),
                EdgeArg::Terminator(_) => arg,
            };
            let args = args.into_iter().map(instead).collect();
            *out.blocks[edge.from.index()].term.edges_mut()[edge.slot as usize] = Edge { target, args };
        }
    }
    let reached = super::changes::reachable(&out);
    out.layout.retain(|block| reached[block.index()]);
    out
}

#[cfg(test)]
mod tests;
