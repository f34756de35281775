//! What executing something once costs: what packs declare, unless prices of a target, a user or an embedding
//! program say otherwise.
//!
//! Costs are whole numbers of quarters of a pack's unit ([`COST_SCALE`]). The standard packs count in thirds of a
//! simple integer instruction; a profile may count in anything (cycles, bytes), since costs are compared with each
//! other only.
//!
//! A declared cost may depend on constants and shapes (`cost 2 * rows(A) * cols(A) * cols(B)`). The names in it are
//! looked up among the known constants and the nodes that there are; an unknown size counts as
//! [`CostModel::assumed`].
//!
//! **Invariant**: the same operation on operands of which the same is known costs the same wherever it is asked:
//! selection, validation and the comparison with the original all ask [`CostModel`].

use super::address_parts::Definition;
use super::terms::{Classes, ValueTable, number};
use crate::egraph::{ClassId, Head, Node};
use crate::ir::cfg::Weighing;
use rewright_typeprop::ops::Cost;
use rewright_typeprop::{OpId, Ty, Universe};
use std::fmt::Debug;
use std::sync::Arc;

/// One unit of a pack's `cost`.
pub const COST_SCALE: u64 = 4;

/// The cost of a simple integer instruction in the standard packs, in quarters of their unit.
pub const INSTRUCTION: u64 = 3 * COST_SCALE;

/// An operation that is executed, and what is known of that.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Where it is declared.
    pub universe: &'a Universe,
    /// The operation.
    pub op: OpId,
    /// One per type parameter of the operation.
    pub types: &'a [Ty],
    /// By operand: its value in canonical form, where it is a known constant; the state, if it takes one, is last.
    pub operands: &'a [Option<i64>],
}

/// Prices other than those that packs declare.
///
/// An embedding program implements this for what it knows better: a target's latencies, measurements, the sizes of
/// its library's kernels.
///
/// ```
/// use rewright_cfg_skeleton::select::{CostModel, Execution, Prices, COST_SCALE};
/// use std::sync::Arc;
///
/// /// Multiplying by a power of two is a shift for this back end.
/// #[derive(Debug)]
/// struct Multiplier;
///
/// impl Prices for Multiplier {
///     fn price(&self, execution: &Execution) -> Option<u64> {
///         let multiplies = execution.universe.ops.get(execution.op).name == "imul";
///         let by_shift = execution.operands.iter().flatten().any(|n| n.count_ones() == 1);
///         (multiplies && by_shift).then_some(3 * COST_SCALE)
///     }
/// }
///
/// let model = CostModel { prices: vec![Arc::new(Multiplier)], ..CostModel::default() };
/// assert_eq!(model.prices.len(), 1);
/// ```
///
/// Implementations must give the same answer to the same question: a selection's cost is computed again when it is
/// validated.
pub trait Prices: Debug + Send + Sync {
    /// What one execution costs, in quarters of a pack's unit; `None` where this has no price for it.
    fn price(&self, execution: &Execution) -> Option<u64>;
}

/// All prices.
#[derive(Clone, Debug)]
pub struct CostModel {
    /// A constant, where it is materialised.
    pub constant: u64,
    /// A value moved into a block parameter.
    pub parameter: u64,
    /// A check that is executed without the operation that it belongs to.
    pub check: u64,
    /// A pure operation that no pack declares.
    pub opaque: u64,
    /// A sum or a shift that is part of an address of x86-64, if that is less than its price; `None` for targets, and
    /// passes that come after, that do not compute it on the way to memory.
    pub address: Option<u64>,
    /// A branch, where programs with other branches are compared: all selections for one function have the same.
    pub branch: u64,
    /// The same: a jump back to the header of a loop. Others may lead to the next block.
    pub jump: u64,
    /// A line of a cache that is moved. Only loops that may be interchanged are compared by how many they move.
    pub line: u64,
    /// What a size that a declared cost names counts as where it is unknown.
    pub assumed: i64,
    /// How blocks weigh against each other.
    pub weighing: Weighing,
    /// Asked in this order; what none of them prices costs what its pack declares.
    pub prices: Vec<Arc<dyn Prices>>,
}

impl Default for CostModel {
    fn default() -> Self {
        CostModel {
            constant: COST_SCALE,
            parameter: COST_SCALE / 4,
            check: 3 * COST_SCALE,
            opaque: 3 * COST_SCALE,
            address: Some(COST_SCALE / 2),
            branch: 0,
            jump: 0,
            line: 0,
            assumed: 16,
            weighing: Weighing::default(),
            prices: vec![],
        }
    }
}

impl CostModel {
    /// The same prices, and those of control flow, a simple instruction's, and of lines of a cache, that of ten of them.
    #[must_use]
    pub fn with_control(self) -> Self {
        CostModel { branch: INSTRUCTION, jump: INSTRUCTION, line: 10 * INSTRUCTION, ..self }
    }

    /// What one execution of a node costs.
    pub(crate) fn node(&self, universe: &Universe, classes: &Classes, node: &Node<ClassId>) -> u64 {
        match node.head {
            Head::Const(_) => self.constant,
            Head::Opaque(_) => self.opaque,
            Head::Leaf(_) | Head::Token(_) | Head::Proj(_) | Head::Copy => 0,
            // A part stands for the whole.
            Head::Op(op) => self.operation(universe, classes, universe.ops.whole(op), &node.types, &node.children),
        }
    }

    /// The cost of one execution of a node that defines a class.
    pub(crate) fn definition(
        &self,
        universe: &Universe,
        classes: &Classes,
        class: ClassId,
        node: &Node<ClassId>,
    ) -> u64 {
        let price = self.node(universe, classes, node);
        match node.head {
            Head::Op(op) => self.in_address(universe, classes, (op, &node.children, Some(class)), price),
            _ => price,
        }
    }

    /// The price of what an operation defines, where others pay this much: less in an address.
    pub(crate) fn in_address<K: ValueTable>(
        &self,
        universe: &Universe,
        known: &K,
        definition: Definition<K::Id>,
        price: u64,
    ) -> u64 {
        match self.address {
            Some(least) if least < price && known.is_address_part(universe, definition) => least,
            _ => price,
        }
    }

    /// What one execution of a declared operation costs.
    pub(crate) fn operation<K: ValueTable>(
        &self,
        universe: &Universe,
        known: &K,
        op: OpId,
        types: &[Ty],
        operands: &[K::Id],
    ) -> u64 {
        if !self.prices.is_empty() {
            let constants: Vec<Option<i64>> = operands.iter().map(|id| known.constant(*id)).collect();
            let execution = Execution { universe, op, types, operands: &constants };
            if let Some(price) = self.prices.iter().find_map(|prices| prices.price(&execution)) {
                return price;
            }
        }
        let units = match &universe.ops.get(op).cost {
            Cost::Fixed(n) => u64::from(*n),
            // Less than nothing is nothing.
            Cost::Expr(term) => {
                u64::try_from(number(universe, known, term, types, operands, self.assumed)).unwrap_or(0)
            }
        };
        units.saturating_mul(COST_SCALE)
    }
}
