//! Choosing one program from a saturated e-graph: a [`Selection`] maps (class, segment) to a definition.
//!
//! Greedy and ILP both make one, hoisting is `Selection -> Selection`, the validator checks one and shares no
//! code with the rest, and elaboration only prints it.

mod available;
mod calls;
mod choices;
mod construct;
pub mod cost;
mod greedy;
mod ilp;
mod keys;
mod original;
mod place;
mod pressure;
mod prices;
mod product;
mod restore;
mod segments;
mod states;
mod stay;
mod terms;
pub mod validate;

pub(crate) use calls::executed;
pub use ilp::Effort;
pub use pressure::Registers;
pub use prices::{CostModel, Execution, Prices, UNIT};
pub use rewright_extract::{Ended, Highs, Method, Solver, Status};
pub use validate::{Violation, validate};

use crate::Saturated;
use crate::egraph::{ClassId, NodeId};
use crate::ir::BlockId;
use crate::skeleton::{SegmentId, SiteId, StatementKind};
use rewright_typeprop::{OpId, RuleId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Def {
    /// A node, computed in that segment.
    Node(NodeId),
    /// The result of a statement, available from the segment after it.
    Result {
        /// The statement.
        site: SiteId,
        /// Which of its results.
        index: u32,
    },
    /// A block parameter, available from its block's first segment.
    Param {
        /// The block.
        block: BlockId,
        /// Which parameter.
        index: u32,
    },
}

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatementChoice {
    /// Executed. A check with a value executes the value's operation iff `fused`, else the bare check.
    Keep {
        /// Checks only.
        fused: bool,
    },
    /// Gone.
    Drop,
}

/// One program.
///
/// A use of class `c` in segment `g` takes the definition at the nearest segment that dominates `g` (or is `g`)
/// and defines `c`. Children of a node are used in the node's segment; arguments of an edge in the last segment
/// of the block that it leaves; within one segment definitions must be acyclic.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Definitions. Classes after those of the view are what is executed at the sites of `Call` statements, by
    /// `SiteId`: such a class is defined in the segment before its statement.
    pub defs: BTreeMap<(SegmentId, ClassId), Def>,
    /// By `SiteId`.
    pub statements: Vec<StatementChoice>,
    /// Sum over what is executed of frequency times cost, in the cost model's units.
    pub cost: u64,
    /// The part of the cost that is for computing again what would else have to be kept in memory, which costs more.
    pub rematerialised: u64,
    /// The part of the cost that is for leaving values where the original computes them, for later passes to move.
    pub stays: u64,
    /// How good.
    pub status: Status,
}

/// How much work the integer program may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Branch-and-bound nodes per solver run.
    pub nodes: u32,
    /// Product nodes that a part may have after presolve to be solved.
    pub model: usize,
    /// The same, for [`Method::Auto`].
    pub auto_model: usize,
    /// Parts with at most this many combinations of choices are searched, not solved.
    pub search: u64,
    /// Solver runs (each one after cutting off the cycles in the last answer).
    pub runs: u32,
    /// Units of counted work ([`rewright_extract::meter`]) that the extraction may take.
    pub work: u64,
    /// The same, for [`Method::Auto`].
    pub auto_work: u64,
    /// Processor time of the extraction; results depend on the machine then.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            nodes: 2_000,
            model: 60_000,
            auto_model: 3_000,
            search: 4_096,
            runs: 20,
            work: 100 * AUTO_WORK,
            auto_work: AUTO_WORK,
            time: None,
        }
    }
}

/// What a selection with [`Method::Auto`] may take beyond the greedy one, by default: about 20 ms.
const AUTO_WORK: u64 = 5_000_000;

impl Budget {
    /// So many times the work, in whatever way it is counted.
    #[must_use]
    pub fn times(self, effort: u32) -> Budget {
        let size = |n: usize| n.saturating_mul(effort as usize);
        Budget {
            nodes: self.nodes.saturating_mul(effort),
            model: size(self.model),
            auto_model: size(self.auto_model),
            runs: self.runs.saturating_mul(effort),
            work: self.work.saturating_mul(effort.into()),
            auto_work: self.auto_work.saturating_mul(effort.into()),
            ..self
        }
    }
}

/// What else decides a selection.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How to choose.
    pub method: Method,
    /// How hard to try.
    pub budget: Budget,
    /// Prices.
    pub cost: CostModel,
    /// What solves integer programs; `None`: [`Highs`].
    pub solver: Option<Arc<dyn Solver>>,
    /// Operations that the back end cannot execute: never selected as values.
    pub unavailable: BTreeSet<OpId>,
    /// What values are kept in; where they are too few, what is cheaper to compute again is not kept. `None`: there
    /// are as many as it takes.
    pub registers: Option<Registers>,
    /// What costs no more is to be as it was, in a greedy selection.
    pub restore: bool,
    /// What the function computes is to be computed where it does so: what follows moves and shares values itself.
    pub stay: bool,
}

/// Why there is no selection. The caller keeps the original function; all but contradictions are bugs.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SelectError {
    /// Some class holds two different constants: a rule is wrong.
    #[error("{} classes hold two different constants", .0.len())]
    Contradiction(Vec<ClassId>),
    /// The skeleton, the view and the control-flow graph do not belong together.
    #[error("the skeleton and the view do not belong together")]
    Mismatch,
    /// The selection does not pass the validator.
    #[error("the selection is wrong in {} places, first {:?}", .0.len(), .0.first())]
    Invalid(Vec<Violation>),
    /// Something that is needed can not be had where it is needed. The first few of them.
    #[error("{} needed classes are not available, first {:?}", demands.len(), demands.first())]
    Unavailable {
        /// Where, and what.
        demands: Vec<(SegmentId, ClassId)>,
    },
}

/// Chooses the cheapest program that it finds with the default budget. What comes back has passed [`fn@validate`].
pub fn select(given: Saturated, method: Method) -> Result<Selection, SelectError> {
    select_with(given, &Options { method, ..Options::default() })
}

/// Chooses the cheapest program, with all options.
pub fn select_with(given: Saturated, options: &Options) -> Result<Selection, SelectError> {
    select_measured(given, options).map(|(selection, _)| selection)
}

/// [`select_with`], and what the integer program was, if there was one.
pub fn select_measured(given: Saturated, options: &Options) -> Result<(Selection, Option<Effort>), SelectError> {
    let Saturated { cfg, universe, skeleton, view, .. } = given;
    if !view.contradictions.is_empty() {
        return Err(SelectError::Contradiction(view.contradictions.clone()));
    }
    if skeleton.layout.is_empty()
        || view.input_class.len() != skeleton.input.nodes.len()
        || view.node_class.len() != view.nodes.len()
    {
        return Err(SelectError::Mismatch);
    }
    let tree = segments::SegmentTree::new(skeleton, cfg);
    let mut keys = keys::Keys::new(skeleton, view, universe);
    let choices = choices(given, options, &tree, &mut keys);
    let originals = (options.restore || options.stay).then(|| original::Originals::new(&choices));
    // A violation here is a bug in what is put back; what was selected does not know it.
    let accepted = |selection: &Selection| {
        let violations = validate::check(given, &options.cost, selection);
        debug_assert!(violations.is_empty(), "{violations:?}");
        violations.is_empty()
    };
    let finish = |selection: Selection| {
        let selection = match &options.registers {
            Some(registers) => pressure::rematerialise(&choices, registers, selection),
            None => selection,
        };
        if let Some(originals) = originals.as_ref().filter(|_| options.stay)
            && let Some(stayed) = stay::stay(&choices, originals, &selection)
            && accepted(&stayed)
        {
            return Ok(stayed);
        }
        let violations = validate::check(given, &options.cost, &selection);
        if violations.is_empty() { Ok(selection) } else { Err(SelectError::Invalid(violations)) }
    };
    if options.method == Method::Tree {
        return Ok((finish(greedy::trees(&choices)?)?, None));
    }
    let mut greedy = greedy::select(&choices)?;
    if let Some(originals) = originals.as_ref().filter(|_| options.restore)
        && let Some(restored) = restore::restore(&choices, originals, &greedy)
        && accepted(&restored)
    {
        greedy = restored;
    }
    let (limit, work) = match options.method {
        Method::Greedy | Method::Tree => return Ok((finish(greedy)?, None)),
        Method::Ilp => (options.budget.model, options.budget.work),
        Method::Auto => (options.budget.auto_model, options.budget.auto_work),
    };
    match ilp::improve(&choices, &greedy, options, limit, work) {
        // A violation here is a bug in the product; the greedy selection does not know it.
        Some((better, effort)) => Ok((finish(better).or_else(|_| finish(greedy))?, Some(effort))),
        None => Ok((finish(greedy)?, None)),
    }
}

/// Statements that a selection leaves out because rules license it: what each is, and a rule that says so.
pub fn relaxed(given: Saturated, selection: &Selection) -> Vec<(SiteId, RuleId)> {
    let Saturated { skeleton, view, .. } = given;
    let mut out = vec![];
    for (i, (statement, choice)) in skeleton.statements.iter().zip(&selection.statements).enumerate() {
        if let (StatementKind::Call { site, .. }, StatementChoice::Drop) = (&statement.kind, choice)
            && let Some(licence) = view.licences.iter().find(|licence| licence.site == view.class_of(*site))
        {
            out.push((SiteId(i as u32), licence.rule));
        }
    }
    out
}

/// How often a state plan is made again before no write is dropped at all.
const PLANS: u32 = 4;

/// Plans states and finds what there is to choose from; drops fewer writes until every demand can be met.
fn choices<'a>(
    given: Saturated<'a>,
    options: &'a Options,
    tree: &'a segments::SegmentTree<'a>,
    keys: &mut keys::Keys<'a>,
) -> choices::Choices<'a> {
    let mut kept = vec![false; given.skeleton.statements.len()];
    let mut round = 0;
    loop {
        let plan = states::plan(given, tree, keys, &kept);
        let found = choices::Choices::new(given, tree, keys, &options.cost, &options.unavailable, plan);
        let missing = if round == PLANS { vec![] } else { found.missing() };
        if missing.is_empty() {
            return found;
        }
        round += 1;
        let blamed = found.blame(&missing);
        if blamed.is_empty() || round == PLANS {
            round = PLANS;
            kept.fill(true);
        }
        for site in blamed {
            kept[site.index()] = true;
        }
    }
}

#[cfg(test)]
mod tests;
