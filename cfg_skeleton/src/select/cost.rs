//! What a selection costs: for everything that is executed, the frequency of its block times its own cost.
//!
//! Costs are whole numbers of quarters of a pack's unit ([`UNIT`]). A declared operation costs what its declaration
//! says; a constant costs one unit where it is materialised and nothing where it is a `const`
//! operand; a block parameter that is kept costs a move on each of its edges. Opaque statements and terminators are
//! the same in every selection and are not counted.
//!
//! Shared by everything that makes or checks a selection; [`total`] is the one definition of [`Selection::cost`].

use super::{Def, Selection, StatementChoice};
use crate::egraph::{ClassId, EGraphView, Head, Node};
use crate::ir::cfg::Cfg;
use crate::ir::{BlockId, EdgeArg, Function, InstKind, OpaqueEffects};
use crate::skeleton::{SegmentId, Skeleton, SkeletonArg, StatementKind};
use rewright_typeprop::eval::evaluate_term;
use rewright_typeprop::ops::Cost;
use rewright_typeprop::{OpId, Outcome, Term, Ty, Universe};
use std::collections::BTreeSet;

/// One unit of a pack's `cost`. The standard packs count in thirds of a simple integer instruction.
pub const UNIT: u64 = 4;

/// Prices that no declaration states, in quarters of a pack's unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CostModel {
    /// A constant, where it is materialised.
    pub constant: u64,
    /// A value moved into a block parameter.
    pub parameter: u64,
    /// A check that is executed without the operation that it belongs to.
    pub check: u64,
    /// A pure operation that no pack declares.
    pub opaque: u64,
}

impl Default for CostModel {
    fn default() -> Self {
        CostModel { constant: UNIT, parameter: UNIT / 4, check: 3 * UNIT, opaque: 3 * UNIT }
    }
}

impl CostModel {
    /// What one execution of a node costs.
    pub fn node(&self, universe: &Universe, view: &EGraphView, node: &Node<ClassId>) -> u64 {
        match node.head {
            Head::Const(_) => self.constant,
            Head::Opaque(_) => self.opaque,
            Head::Leaf(_) | Head::Token(_) | Head::Proj(_) => 0,
            Head::Op(op) => {
                let constants: Vec<Option<i64>> = node.children.iter().map(|c| view.class(*c).constant).collect();
                self.op(universe, op, &node.types, &constants)
            }
        }
    }
}

/// Are all variables of a cost expression known constants? Packs are checked: their terms are shallow.
fn knows(term: &Term, constants: &[Option<i64>]) -> bool {
    let mut work = vec![term];
    while let Some(term) = work.pop() {
        match term {
            Term::Var(i) if constants.get(*i as usize).copied().flatten().is_none() => return false,
            Term::Var(_) | Term::Lit(..) => {}
            Term::Call { args, .. } => work.extend(args),
            Term::Eval(inner) => work.push(inner),
        }
    }
    true
}

impl CostModel {
    /// What one execution of a declared operation costs, where some operands are known constants.
    fn op(&self, universe: &Universe, op: OpId, types: &[Ty], constants: &[Option<i64>]) -> u64 {
        match &universe.ops.get(op).cost {
            Cost::Fixed(n) => u64::from(*n).saturating_mul(UNIT),
            Cost::Expr(term) => {
                let vars: Vec<i64> = constants.iter().map(|c| c.unwrap_or(0)).collect();
                if !knows(term, constants) {
                    return UNIT;
                }
                match evaluate_term(universe, term, types, &vars) {
                    Outcome::Value(n) => u64::try_from(n).unwrap_or(0).saturating_mul(UNIT),
                    Outcome::Nan | Outcome::Undefined => UNIT,
                }
            }
        }
    }
}

/// The static cost of a function of the IR, in the same units as that of a selection for it.
pub fn function_cost(function: &Function, universe: &Universe, cfg: &Cfg) -> u64 {
    let model = CostModel::default();
    let mut constants: Vec<Option<i64>> = vec![None; function.values.len()];
    // A constant is charged if somebody wants it as a value, not only as an immediate.
    let mut wanted = vec![false; function.values.len()];
    let insts = || cfg.reverse_post_order().iter().flat_map(|b| function.block(*b).insts.iter().map(move |i| (*b, *i)));
    for (_, id) in insts() {
        let inst = function.inst(id);
        if let (InstKind::Const(n), [value]) = (&inst.kind, &inst.results[..]) {
            constants[value.index()] = Some(*n);
        }
        let params = match &inst.kind {
            InstKind::Op { op, .. } => &universe.ops.get(*op).params[..],
            _ => &[],
        };
        for (i, arg) in inst.args.iter().enumerate() {
            wanted[arg.index()] |= !params.get(i).or(params.last()).is_some_and(|p| p.constant);
        }
    }
    let mut sum = 0u64;
    let mut add = |block, cost: u64| sum = sum.saturating_add(cfg.frequency(block).saturating_mul(cost));
    for block in cfg.reverse_post_order() {
        let term = &function.block(*block).term;
        term.operands().iter().for_each(|v| wanted[v.index()] = true);
        for edge in term.edges() {
            for (arg, param) in edge.args.iter().zip(&function.block(edge.target).params) {
                if let EdgeArg::Value(v) = arg
                    && v != param
                {
                    wanted[v.index()] = true;
                    add(*block, model.parameter);
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
                let known: Vec<Option<i64>> = inst.args.iter().map(|a| constants[a.index()]).collect();
                model.op(universe, *op, targs, &known)
            }
            InstKind::Check { .. } => model.check,
            InstKind::Opaque { effects: OpaqueEffects::Pure, .. } => model.opaque,
            InstKind::Opaque { .. } => 0,
        };
        add(block, cost);
    }
    sum
}

/// What a selection costs.
pub fn total(
    model: &CostModel,
    universe: &Universe,
    view: &EGraphView,
    skeleton: &Skeleton,
    cfg: &Cfg,
    selection: &Selection,
) -> u64 {
    let mut sum = 0u64;
    let mut add = |block: BlockId, cost: u64| sum = sum.saturating_add(cfg.frequency(block).saturating_mul(cost));
    for (site, choice) in selection.statements.iter().enumerate() {
        let Some(statement) = skeleton.statements.get(site) else { continue };
        let input_cost = |input| model.node_of_input(universe, view, skeleton, input);
        let cost = match (&statement.kind, choice) {
            // What is executed at a site is a definition.
            (_, StatementChoice::Drop) | (StatementKind::Opaque { .. } | StatementKind::Call { .. }, _) => 0,
            (StatementKind::Write { out, .. }, _) => input_cost(*out),
            (StatementKind::Check { value: Some(value), .. }, StatementChoice::Keep { fused: true }) => {
                input_cost(*value)
            }
            // A licence alone is nothing.
            (StatementKind::Check { observes: false, .. }, _) => 0,
            (StatementKind::Check { .. }, _) => model.check,
        };
        add(statement.block, cost);
    }
    // A parameter may define its class in one segment only, but several classes never share a parameter.
    let mut params = BTreeSet::new();
    for ((segment, class), def) in &selection.defs {
        match def {
            Def::Node(node) => {
                if let (Some(node), Some(block)) = (view.nodes.get(node.index()), block_of(skeleton, *segment)) {
                    add(block, model.node(universe, view, node));
                }
            }
            Def::Param { block, index } => {
                if params.insert((*block, *index)) {
                    for (from, moved) in moves(skeleton, view, cfg, *block, *index, *class) {
                        add(from, if moved { model.parameter } else { 0 });
                    }
                }
            }
            Def::Result { .. } => {}
        }
    }
    sum
}

impl CostModel {
    /// The cost of an original operation with the operands that it has in the view.
    fn node_of_input(
        &self,
        universe: &Universe,
        view: &EGraphView,
        skeleton: &Skeleton,
        input: crate::egraph::InputId,
    ) -> u64 {
        let Some(node) = skeleton.input.nodes.get(input.index()) else { return 0 };
        let children = node.children.iter().map(|c| view.class_of(*c)).collect();
        self.node(universe, view, &Node { head: node.head, types: node.types.clone(), children })
    }
}

/// For each edge into a block: where it leaves from, and whether the parameter's value moves on it. It does not
/// where a back edge passes the parameter on as it is, nor where the terminator itself makes the value.
pub fn moves(
    skeleton: &Skeleton,
    view: &EGraphView,
    cfg: &Cfg,
    block: BlockId,
    index: u32,
    class: ClassId,
) -> Vec<(BlockId, bool)> {
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
