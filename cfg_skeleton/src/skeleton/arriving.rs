//! Loads at merge points. For a location that is read or written, the e-graph has a load in the first state of the block in
//! which paths meet, and one in the state at the end of each path. They belong to no instruction; rules that forward stores
//! to loads find the value of each.
//!
//! A location is an operation that loads, with its operands. It is looked at in the first state of a block, where its
//! operands are computed from values that are known at the block's immediate dominator: they are what they are on each
//! edge and in the block. From a load the states lead back to the block in which they meet, and from the ends of its
//! edges to further ones. Behind a loop that stores to a location, and in which nothing observes memory, the
//! exit blocks have such loads, too.

use super::SkeletonBlock;
use super::loops::Parts;
use super::nodes::Nodes;
use super::views::Views;
use crate::egraph::{Head, InputId};
use crate::ir::{BlockId, Inst, InstId, InstKind, OpaqueEffects, RegionId};
use rewright_typeprop::{Model, Op, OpId, Ty, TypeExpr};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// How deep operands are looked at.
const MAX_DEPTH: usize = 8;

/// Pairs of a location and a block in one function.
const MAX_PAIRS: usize = 256;

/// The loads of a location at the entry of a block.
#[derive(Clone, Debug)]
pub struct Arriving {
    /// The block.
    pub block: BlockId,
    /// An instruction that accesses the location.
    pub inst: InstId,
    /// The region of the location.
    pub region: RegionId,
    /// The load in the block's first state.
    pub load: InputId,
    /// The load in the state over each edge, in the order of the block's predecessors.
    pub over: SmallVec<[InputId; 2]>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Location {
    op: OpId,
    types: SmallVec<[Ty; 2]>,
    operands: SmallVec<[InputId; 3]>,
    region: RegionId,
}

/// The loads at the entries of blocks. `live` is [`super::Skeleton::live`].
pub(super) fn arriving(
    parts: &Parts<'_>,
    live: &[Vec<InputId>],
    views: &Views,
    nodes: &mut Nodes<'_>,
) -> Vec<Arriving> {
    let meets = parts.blocks.iter().any(|block| !block.tokens.is_empty());
    if !meets {
        return vec![];
    }
    let mut reader = Reader::new(parts);
    for block in parts.cfg.reverse_post_order() {
        for inst in &parts.function.block(*block).insts {
            if let Some((location, state)) = load(parts, views, nodes, parts.function.inst(*inst)) {
                reader.work.push((location, *inst, state));
            }
        }
    }
    reader.behind_loops(live, nodes);
    reader.work.reverse();
    while let Some((location, inst, state)) = reader.work.pop() {
        reader.look(&location, inst, state, nodes);
    }
    reader.found
}

/// The location that an instruction loads from, with the state that it sees.
fn load(parts: &Parts<'_>, views: &Views, nodes: &Nodes<'_>, inst: &Inst) -> Option<(Location, InputId)> {
    let InstKind::Op { op, access: Some(access), .. } = &inst.kind else { return None };
    let effects = &parts.universe.ops.get(*op).effects;
    let [result] = inst.results[..] else { return None };
    if access.readonly || !effects.is_value() || effects.reads.len() != 1 {
        return None;
    }
    let value = parts.values[result.index()]?;
    let node = nodes.node(value);
    let (own, operands) = node.children.split_last().filter(|_| node.head == Head::Op(*op))?;
    let state = views.seen(value).unwrap_or(*own);
    let operands = SmallVec::from_slice(operands);
    Some((Location { op: *op, types: node.types.clone(), operands, region: access.region }, state))
}

/// The location that an instruction stores to, where an operation loads all of what it stores.
fn store(parts: &Parts<'_>, inst: &Inst) -> Option<Location> {
    let Parts { universe, function: f, .. } = *parts;
    let InstKind::Op { op, targs, access: Some(access) } = &inst.kind else { return None };
    let ([address, value, offset], Some(Model::Store)) = (&inst.args[..], universe.ops.get(*op).model) else {
        return None;
    };
    let takes = |load: &Op| {
        let types = |expr: &TypeExpr| universe.types.find_instance(expr, targs);
        let params: Vec<Option<Ty>> = load.params.iter().map(|param| types(&param.ty)).collect();
        params == [Some(f.ty(*address)), Some(f.ty(*offset))]
            && matches!(&load.results[..], [result] if types(result) == Some(f.ty(*value)))
    };
    let is_load = |load: &Op| load.model == Some(Model::Load) && load.tparams.len() == targs.len();
    let (load, _) = universe.ops.iter().find(|(_, load)| is_load(load) && takes(load))?;
    let operands = [address, offset].map(|value| parts.values[value.index()]);
    let operands = operands.into_iter().collect::<Option<_>>()?;
    Some(Location { op: load, types: targs.clone(), operands, region: access.region })
}

struct Reader<'a, 'p> {
    parts: &'a Parts<'p>,
    /// By the state that a block begins with, where several meet.
    meets: FxHashMap<InputId, BlockId>,
    homes: FxHashMap<InputId, BlockId>,
    /// Locations in states.
    work: Vec<(Location, InstId, InputId)>,
    seen: FxHashSet<(Location, BlockId)>,
    found: Vec<Arriving>,
}

impl<'a, 'p> Reader<'a, 'p> {
    fn new(parts: &'a Parts<'p>) -> Self {
        let (mut meets, mut homes) = (FxHashMap::default(), FxHashMap::default());
        for block in parts.cfg.reverse_post_order() {
            let SkeletonBlock { tokens, .. } = &parts.blocks[block.index()];
            meets.extend(tokens.iter().map(|(_, token)| (*token, *block)));
            let data = parts.function.block(*block);
            let results = data.insts.iter().flat_map(|inst| &parts.function.inst(*inst).results);
            for input in data.params.iter().chain(results).filter_map(|value| parts.values[value.index()]) {
                homes.entry(input).or_insert(*block);
            }
        }
        Reader { parts, meets, homes, work: vec![], seen: FxHashSet::default(), found: vec![] }
    }

    /// Is a value known at the end of a block, by what it is computed of?
    fn is_known(&self, nodes: &Nodes<'_>, input: InputId, at: BlockId, depth: usize) -> bool {
        if self.homes.get(&input).is_some_and(|home| self.parts.cfg.dominates(*home, at)) {
            return true;
        }
        let node = nodes.node(input);
        match node.head {
            Head::Const(_) => true,
            Head::Op(op) if depth > 0 => {
                self.parts.universe.ops.get(op).effects.is_pure()
                    && node.children.iter().all(|child| self.is_known(nodes, *child, at, depth - 1))
            }
            _ => false,
        }
    }

    /// A location in a state: what is loaded in the block where that state began.
    fn look(&mut self, location: &Location, inst: InstId, state: InputId, nodes: &mut Nodes<'_>) {
        let mut first = state;
        while let (Head::Op(_), Some(before)) = (nodes.node(first).head, nodes.node(first).children.last()) {
            first = *before;
        }
        if let Some(block) = self.meets.get(&first).copied() {
            self.enter(location, inst, block, first, nodes);
        }
    }

    /// A location in the first state of a block.
    fn enter(&mut self, location: &Location, inst: InstId, block: BlockId, state: InputId, nodes: &mut Nodes<'_>) {
        let Parts { cfg, blocks, .. } = *self.parts;
        let Some(above) = cfg.idom(block) else { return };
        let edges = cfg.predecessors(block);
        let known = |operand: &InputId| self.is_known(nodes, *operand, above, MAX_DEPTH);
        if self.found.len() >= MAX_PAIRS
            || edges.iter().any(|edge| self.parts.is_opaque(edge))
            || !location.operands.iter().all(known)
            || !self.seen.insert((location.clone(), block))
        {
            return;
        }
        let mut load = |state: InputId| {
            let children = location.operands.iter().copied().chain([state]).collect();
            nodes.add(Head::Op(location.op), location.types.clone(), children)
        };
        let ends: Vec<InputId> =
            edges.iter().map(|edge| blocks[edge.from.index()].end[location.region.index()]).collect();
        let over = ends.iter().map(|end| load(*end)).collect();
        let load = load(state);
        self.found.push(Arriving { block, inst, region: location.region, load, over });
        self.work.extend(ends.into_iter().rev().map(|end| (location.clone(), inst, end)));
    }

    /// Blocks behind loops that store to a location, where nothing in these observes memory.
    fn behind_loops(&mut self, live: &[Vec<InputId>], nodes: &mut Nodes<'_>) {
        let Parts { function: f, cfg, .. } = *self.parts;
        for (id, l) in cfg.loops() {
            let header = &self.parts.blocks[l.header.index()];
            let is_changed = |region: RegionId| header.tokens.iter().any(|(other, _)| *other == region);
            let insts = || cfg.loop_blocks(id).iter().flat_map(|block| &f.block(*block).insts);
            if insts().any(|inst| self.is_opaque(f.inst(*inst))) {
                continue;
            }
            let mut exits: Vec<BlockId> = cfg
                .loop_exits(f, id)
                .iter()
                .map(|edge| f.block(edge.from).term.edges()[edge.slot as usize].target)
                .collect();
            exits.sort_unstable();
            exits.dedup();
            for inst in insts() {
                let stored = store(self.parts, f.inst(*inst));
                // A region without a state there has none anywhere.
                let Some(location) = stored.filter(|location| is_changed(location.region)) else { continue };
                for exit in &exits {
                    let segment = self.parts.blocks[exit.index()].first_segment as usize;
                    let state = live[location.region.index()][segment];
                    self.enter(&location, *inst, *exit, state, nodes);
                }
            }
        }
    }

    /// May an instruction observe or change memory in a way that is not modelled?
    fn is_opaque(&self, inst: &Inst) -> bool {
        match &inst.kind {
            InstKind::Opaque { effects, .. } => *effects >= OpaqueEffects::Observes,
            InstKind::Op { op, access: None, .. } => !self.parts.universe.ops.get(*op).effects.is_value(),
            _ => false,
        }
    }
}
