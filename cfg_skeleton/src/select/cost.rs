//! What a selection costs: for everything that is executed, the weight of its block times its own price.
//!
//! What one execution costs says the [`CostModel`]. A constant costs something where it is materialised and nothing
//! where it is a `const` operand; a block parameter that is kept costs a move on each of its edges. Opaque statements
//! and terminators are the same in every selection and are not counted; terminators are where functions with other
//! control flow are compared ([`CostModel::with_control`]).
//!
//! Sums count in sixteenths of a price ([`FREQUENCY_ONE`]), since what is rare weighs less than once per call;
//! [`reported`] is what people see: the unit in which packs declare costs.
//!
//! Arms that share the executions of their branch cost together what the branch does, so a copy in each arm costs as
//! much as one value before the branch. There programs are compared by their sizes, too: [`CostAndSize`].
//!
//! [`total`] is the definition of [`Selection::cost`]. Passes add up the same prices as they go along, and the
//! validator compares.

use super::cost_model::{COST_SCALE, CostModel};
use super::recurrence::Recurrence;
use super::selection::{Def, Selection, StatementChoice};
use super::terms::{Classes, Values};
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, InputId, Node};
use crate::ir::cfg::{Cfg, FREQUENCY_ONE};
use crate::ir::{BlockId, EdgeArg, Function, InstKind, OpaqueEffects, Terminator};
use crate::skeleton::{SegmentId, SiteId, Skeleton, SkeletonArg, StatementKind};
use rewright_typeprop::Universe;
use std::collections::BTreeSet;
use std::iter::Sum;

/// What a program costs, and how large it is. Of two programs that cost the same the smaller one is less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct CostAndSize {
    /// What is executed: prices times the weights of blocks. This is what is reported.
    pub cost: u64,
    /// What is there: the same prices, each counted once. Where all blocks weigh the same, it says what the cost says.
    pub size: u64,
}

impl CostAndSize {
    /// Of something with a price, in a block of that weight.
    pub fn of(frequency: u64, price: u64) -> Self {
        CostAndSize { cost: frequency.saturating_mul(price), size: price }
    }

    /// Of both.
    #[must_use]
    pub fn plus(self, other: CostAndSize) -> Self {
        CostAndSize { cost: self.cost.saturating_add(other.cost), size: self.size.saturating_add(other.size) }
    }

    /// Of all of a function. Where arms cost what their branch does, a copy in each costs more than one above them, and
    /// sizes are of no interest.
    #[must_use]
    pub fn in_function(self, cfg: &Cfg) -> Self {
        if cfg.arms_share() { self } else { CostAndSize { size: 0, ..self } }
    }

    /// As one number, in sixteenths of the unit of cost, in which what is there costs 1/256 of an execution. How often arms
    /// are executed is a guess: what makes a program larger is to gain more by it than next to nothing.
    pub fn weighed(self) -> u128 {
        u128::from(self.cost) * 16 + u128::from(self.size)
    }

    /// Without a part of the cost.
    #[must_use]
    pub fn less(self, cost: u64) -> Self {
        CostAndSize { cost: self.cost.saturating_sub(cost), ..self }
    }
}

impl Sum for CostAndSize {
    fn sum<I: Iterator<Item = CostAndSize>>(all: I) -> Self {
        all.fold(CostAndSize::default(), CostAndSize::plus)
    }
}

/// A sum as it is reported: in the unit of declarations (`cost 3`), in quarters of it, rounded up.
pub fn reported(sum: u64) -> f64 {
    sum.div_ceil(FREQUENCY_ONE) as f64 / COST_SCALE as f64
}

/// What one execution of each node of an e-graph costs, by node, in the cost model's units.
pub fn node_costs(model: &CostModel, universe: &Universe, view: &EGraphView) -> Vec<u64> {
    let classes = Classes::new(view);
    let nodes = view.nodes.iter().zip(&view.node_class);
    nodes.map(|(node, class)| model.definition(universe, &classes, *class, node)).collect()
}

/// The static cost of a function of the IR, in the same units as that of a selection for it.
pub fn function_cost(model: &CostModel, function: &Function, universe: &Universe) -> u64 {
    function_cost_and_size(model, function, universe).cost
}

/// The same, with the size.
pub fn function_cost_and_size(model: &CostModel, function: &Function, universe: &Universe) -> CostAndSize {
    let cfg = Cfg::new(function).weighed(model.weighing);
    let values = Values::new(function);
    // A constant is charged if it is used as a value, not only as an immediate.
    let mut wanted = vec![false; function.values.len()];
    let insts = || cfg.reverse_post_order().iter().flat_map(|b| function.block(*b).insts.iter().map(move |i| (*b, *i)));
    for (_, id) in insts() {
        let inst = function.inst(id);
        let params = match &inst.kind {
            InstKind::Op { op, .. } => &universe.ops.get(*op).params[..],
            _ => &[],
        };
        for (i, arg) in inst.args.iter().enumerate() {
            wanted[arg.index()] |= !params.get(i).is_some_and(|p| p.constant);
        }
    }
    let mut sum = CostAndSize::default();
    let mut add = |frequency: u64, price: u64| sum = sum.plus(CostAndSize::of(frequency, price));
    for block in cfg.reverse_post_order() {
        let term = &function.block(*block).term;
        term.operands().iter().for_each(|v| wanted[v.index()] = true);
        add(
            cfg.frequency(*block),
            match term {
                Terminator::Branch { .. } | Terminator::Switch { .. } => model.branch,
                Terminator::Jump(edge) if cfg.is_back_edge(*block, edge.target) => model.jump,
                _ => 0,
            },
        );
        for edge in term.edges() {
            for (arg, param) in edge.args.iter().zip(&function.block(edge.target).params) {
                if let EdgeArg::Value(v) = arg
                    && v != param
                {
                    wanted[v.index()] = true;
                    add(cfg.edge_frequency(*block, edge.target), model.parameter);
                }
            }
        }
    }
    for (block, id) in insts() {
        let inst = function.inst(id);
        let cost = match &inst.kind {
            InstKind::Const(_) => match inst.results.iter().any(|v| wanted[v.index()]) {
                true => model.constant,
                false => 0,
            },
            InstKind::Op { op, targs, .. } => {
                let price = model.operation(universe, &values, *op, targs, &inst.args);
                model.in_address(universe, &values, (*op, &inst.args, inst.results.first().copied()), price)
            }
            InstKind::Check { .. } => model.check,
            InstKind::Opaque { effects: OpaqueEffects::Pure, .. } => model.opaque,
            InstKind::Opaque { .. } => 0,
        };
        add(cfg.frequency(block), cost);
    }
    sum.in_function(&cfg)
}

/// What a selection costs.
pub fn total(model: &CostModel, given: Saturated, selection: &Selection) -> u64 {
    let Saturated { cfg, universe, skeleton, view, .. } = given;
    let classes = Classes::new(view);
    let mut sum = 0u64;
    for (site, choice) in selection.statements.iter().enumerate() {
        sum = sum.saturating_add(statement(model, given, &classes, SiteId(site as u32), *choice).cost);
    }
    let mut add = |frequency: u64, cost: u64| sum = sum.saturating_add(frequency.saturating_mul(cost));
    // A parameter may define its class in one segment only, but several classes never share a parameter.
    let mut params = BTreeSet::new();
    for ((segment, class), def) in &selection.defs {
        match def {
            Def::Node(node) => {
                if let (Some(node), Some(block)) = (view.nodes.get(node.index()), block_of(skeleton, *segment)) {
                    add(cfg.frequency(block), model.definition(universe, &classes, *class, node));
                }
            }
            Def::Param { block, index } => {
                if params.insert((*block, *index)) {
                    for (from, moved) in moves(given, *block, *index, *class) {
                        add(cfg.edge_frequency(from, *block), if moved { model.parameter } else { 0 });
                    }
                }
            }
            Def::Result { .. } => {}
            Def::Recurrence(id) => {
                if let Some(r) = Recurrence::new(given, *id) {
                    add(1, recurrence(model, given, &classes, *class, &r).cost);
                }
            }
        }
    }
    sum
}

/// What a recurrence costs: a move on each of the two edges, and its step at the end of each iteration.
pub(super) fn recurrence(
    model: &CostModel,
    given: Saturated,
    classes: &Classes,
    class: ClassId,
    r: &Recurrence,
) -> CostAndSize {
    let Saturated { cfg, universe, .. } = given;
    let edge = |from| CostAndSize::of(cfg.edge_frequency(from, r.of.header), model.parameter);
    let step = model.operation(universe, classes, r.step, &r.types, &[class, r.by]);
    edge(r.of.before).plus(edge(r.of.latch)).plus(CostAndSize::of(cfg.frequency(r.of.latch), step))
}

/// What a statement costs, given what becomes of it.
pub(super) fn statement(
    model: &CostModel,
    given: Saturated,
    classes: &Classes,
    site: SiteId,
    choice: StatementChoice,
) -> CostAndSize {
    let Some(statement) = given.skeleton.statements.get(site.index()) else { return CostAndSize::default() };
    let input_cost = |input| node_of_input(model, given, classes, input);
    let cost = match (&statement.kind, choice) {
        // The operation that is executed at the site of a call or a write is a definition.
        (_, StatementChoice::Drop)
        | (StatementKind::Opaque { .. } | StatementKind::Call { .. } | StatementKind::Write { .. }, _) => 0,
        (StatementKind::Check { value: Some(value), .. }, StatementChoice::Keep { fused: true }) => input_cost(*value),
        // A removable statement alone is nothing.
        (StatementKind::Check { observes: false, .. }, _) => 0,
        (StatementKind::Check { .. }, _) => model.check,
    };
    CostAndSize::of(given.cfg.frequency(statement.block), cost)
}

/// The cost of an original operation with the operands that it has in the view.
fn node_of_input(model: &CostModel, given: Saturated, classes: &Classes, input: InputId) -> u64 {
    let Some(node) = given.skeleton.input.nodes.get(input.index()) else { return 0 };
    let children = node.children.iter().map(|c| given.view.class_of(*c)).collect();
    model.node(given.universe, classes, &Node { head: node.head, types: node.types.clone(), children })
}

/// For each edge into a block: where it leaves from, and whether the parameter's value moves on it. It does not
/// where a back edge passes the parameter on as it is, nor where the terminator itself makes the value.
pub fn moves(given: Saturated, block: BlockId, index: u32, class: ClassId) -> Vec<(BlockId, bool)> {
    let Saturated { cfg, skeleton, view, .. } = given;
    let edge = |from: BlockId, slot: u32| skeleton.blocks.get(from.index())?.edges.get(slot as usize);
    cfg.predecessors(block)
        .iter()
        .map(|id| {
            let arg = edge(id.from, id.slot).and_then(|e| e.args.get(index as usize));
            let around = |input| view.class_of(input) == class && cfg.dominates(block, id.from);
            let moved = matches!(arg, Some(SkeletonArg::Node(input)) if !around(*input));
            (id.from, moved)
        })
        .collect()
}

fn block_of(skeleton: &Skeleton, segment: SegmentId) -> Option<BlockId> {
    skeleton.segment_block.get(segment.index()).copied()
}
