//! Where a version is cut: edges that each iteration of a loop takes once.

use super::FunctionVersion;
use rewright_cfg_skeleton::ir::{
    BlockId, Cfg, EdgeId, Inst, InstId, InstKind, LoopId, OpaqueEffects, Terminator, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions of an iteration that are looked at to see what it will compute.
const MOST_AHEAD: usize = 256;

/// Where loops are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CutAt {
    /// Where an iteration begins, the first one among them.
    Header,
    /// Behind the condition of another iteration, where the header has one that may leave the loop; else as `Header`.
    Inside,
    /// Where an iteration but the first one begins.
    Again,
}

/// A place in a version, and what is known of it.
pub(super) struct Cut {
    /// The block that comes next.
    pub(super) first: BlockId,
    /// Blocks that have been executed when it is reached, in their order.
    pub(super) before: Vec<BlockId>,
    /// Values that are there and that no instruction computes from others.
    pub(super) bases: Vec<Value>,
    /// Instructions that have been executed and are functions of their operands, in their order.
    pub(super) known: Vec<InstId>,
    /// Conditions that it has been reached by, and whether they are not zero.
    pub(super) taken: Vec<(Value, bool)>,
    /// Loads that have been executed, and what they gave.
    pub(super) loads: Vec<(InstId, Value)>,
    /// Instructions of the next iteration that could be executed at once.
    pub(super) ahead: Vec<InstId>,
}

/// A version and its cuts.
pub(super) struct Cuts<'a> {
    pub(super) version: FunctionVersion<'a>,
    pub(super) all: Vec<Cut>,
    pub(super) by_edge: FxHashMap<EdgeId, usize>,
}

impl<'a> Cuts<'a> {
    /// No cuts.
    pub(super) fn none(version: FunctionVersion<'a>) -> Cuts<'a> {
        Cuts { version, all: vec![], by_edge: FxHashMap::default() }
    }

    /// All loops cut in one way.
    pub(super) fn new(version: FunctionVersion<'a>, at: CutAt) -> Cuts<'a> {
        let cfg = Cfg::new(version.function);
        let mut cuts = Cuts::none(version);
        for (id, _) in cfg.loops() {
            let (first, edges, last) = cuts.place(&cfg, id, at);
            let edges: Vec<EdgeId> = edges.into_iter().filter(|edge| !cuts.by_edge.contains_key(edge)).collect();
            cuts.by_edge.extend(edges.iter().map(|edge| (*edge, cuts.all.len())));
            let cut = cuts.cut(&cfg, id, first, last);
            cuts.all.push(cut);
        }
        cuts
    }

    /// All values that a block computes, its parameters among them.
    pub(super) fn values_of(&self, block: BlockId) -> Vec<Value> {
        let block = self.version.function.block(block);
        let results = block.insts.iter().flat_map(|id| self.version.function.inst(*id).results.iter().copied());
        block.params.iter().copied().chain(results).collect()
    }

    /// Where a loop is cut: the block that comes next, the edges, and the block that has been executed before, if it is
    /// always the same.
    fn place(&self, cfg: &Cfg, id: LoopId, at: CutAt) -> (BlockId, Vec<EdgeId>, Option<BlockId>) {
        let function = self.version.function;
        let header = cfg.natural_loop(id).header;
        let inside = |edge: &EdgeId| cfg.loop_contains(id, self.target(*edge));
        let slots = function.block(header).term.edges().len();
        let leaving = (0..slots).map(|slot| EdgeId { from: header, slot: slot as u32 });
        let (stays, goes): (Vec<EdgeId>, Vec<EdgeId>) = leaving.partition(inside);
        match (at, stays.as_slice()) {
            (CutAt::Inside, [edge]) if !goes.is_empty() => {
                let first = self.target(*edge);
                let last = if first == header { cfg.idom(header) } else { Some(header) };
                (first, vec![*edge], last)
            }
            (CutAt::Again, _) => {
                let edges = cfg.predecessors(header).iter().filter(|edge| cfg.loop_contains(id, edge.from));
                (header, edges.copied().collect(), cfg.idom(header))
            }
            _ => (header, cfg.predecessors(header).to_vec(), cfg.idom(header)),
        }
    }

    fn cut(&self, cfg: &Cfg, id: LoopId, first: BlockId, last: Option<BlockId>) -> Cut {
        let function = self.version.function;
        let is_before = |block: &BlockId| last.is_some_and(|last| cfg.dominates(*block, last));
        // A block that comes next as well computes its values anew.
        let order = cfg.reverse_post_order();
        let before: Vec<BlockId> = order.iter().copied().filter(|block| is_before(block) && *block != first).collect();
        let mut cut = Cut {
            first,
            before,
            bases: function.block(first).params.clone(),
            known: vec![],
            taken: vec![],
            loads: vec![],
            ahead: vec![],
        };
        for block in &cut.before {
            // Arguments stay what they are.
            if *block != function.entry() || !cfg.predecessors(*block).is_empty() {
                cut.bases.extend(&function.block(*block).params);
            }
            for inst in &function.block(*block).insts {
                if is_computed(self.version, function.inst(*inst)) {
                    cut.known.push(*inst);
                    continue;
                }
                cut.bases.extend(&function.inst(*inst).results);
                if let (true, [result]) = (self.is_load(*inst), function.inst(*inst).results.as_slice()) {
                    cut.loads.push((*inst, *result));
                }
            }
            cut.taken.extend(self.taken(cfg, *block, &cut.before, first));
        }
        let mut there: FxHashSet<Value> = cut.before.iter().flat_map(|block| self.values_of(*block)).collect();
        there.extend(&function.block(function.entry()).params);
        there.extend(&cut.bases);
        let next = order.iter().filter(|block| cfg.loop_contains(id, **block) && !cut.before.contains(block));
        for inst in next.flat_map(|block| &function.block(*block).insts) {
            let Some((result, args)) = self.computes(*inst) else { continue };
            if cut.ahead.len() < MOST_AHEAD && args.iter().all(|arg| there.contains(arg)) && there.insert(result) {
                cut.ahead.push(*inst);
            }
        }
        cut
    }

    /// The condition by which a block has been left, if it is sure to have been left to one that has been executed.
    fn taken(&self, cfg: &Cfg, block: BlockId, before: &[BlockId], first: BlockId) -> Option<(Value, bool)> {
        let Terminator::Branch { cond, then, els } = &self.version.function.block(block).term else { return None };
        let ways = [(0, then.target, true), (1, els.target, false)];
        let taken = ways.into_iter().find(|(slot, target, _)| {
            let edge = EdgeId { from: block, slot: *slot };
            let is_only = cfg.predecessors(*target) == [edge] && (before.contains(target) || *target == first);
            is_only || self.is_cut_inside(edge, first)
        });
        taken.map(|(_, _, is_set)| (*cond, is_set))
    }

    /// Is a cut reached by this edge alone?
    fn is_cut_inside(&self, edge: EdgeId, first: BlockId) -> bool {
        let Some(cut) = self.by_edge.get(&edge) else { return false };
        let edges = self.by_edge.iter().filter(|(_, other)| *other == cut).count();
        *cut == self.all.len() && edges == 1 && self.target(edge) == first
    }

    fn target(&self, edge: EdgeId) -> BlockId {
        self.version.function.block(edge.from).term.edges()[edge.slot as usize].target
    }

    fn is_load(&self, inst: InstId) -> bool {
        let inst = self.version.function.inst(inst);
        let InstKind::Op { op, access: Some(_), .. } = inst.kind else { return false };
        let model = self.version.universe.ops.get(op).model.and_then(rewright_typeprop::Model::memory);
        model.is_some_and(|memory| !memory.store)
    }

    /// The value that an instruction computes or loads, and from what.
    fn computes(&self, inst: InstId) -> Option<(Value, &'a [Value])> {
        let function = self.version.function;
        let is_value = is_computed(self.version, function.inst(inst)) || self.is_load(inst);
        match function.inst(inst).results.as_slice() {
            [result] if is_value => Some((*result, function.inst(inst).args.as_slice())),
            _ => None,
        }
    }
}

/// Is an instruction a function of its operands, if it does not trap?
pub(super) fn is_computed(version: FunctionVersion<'_>, inst: &Inst) -> bool {
    match &inst.kind {
        InstKind::Const(_) | InstKind::Check { .. } => true,
        InstKind::Opaque { effects, .. } => *effects == OpaqueEffects::Pure,
        InstKind::Op { op, access, .. } => {
            let op = version.universe.ops.get(*op);
            let has_meaning = op.model.is_some() || op.spec.is_some();
            let is_pure = op.effects.is_pure() && op.checks.is_empty();
            access.is_none() && (is_pure || has_meaning && op.effects.is_value() && !op.takes_state())
        }
    }
}
