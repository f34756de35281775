//! What decides a selection besides the e-graph: the method, prices, the target, and how much work it may be.

use super::cost_model::{COST_SCALE, CostModel};
use rewright_extract::{Method, Solver};
use rewright_typeprop::OpId;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What decides a selection.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How to choose.
    pub method: Method,
    /// How hard to try.
    pub budget: Budget,
    /// Prices.
    pub cost: CostModel,
    /// What solves integer programs; `None`: [`Highs`](rewright_extract::Highs).
    pub solver: Option<Arc<dyn Solver>>,
    /// Operations that the back end cannot execute: never selected as values.
    pub unavailable: BTreeSet<OpId>,
    /// What values are kept in; where they are too few, what is cheaper to compute again is not kept. `None`: there
    /// are as many as it takes.
    pub registers: Option<Registers>,
    /// In a greedy selection, the original is kept where it costs no more.
    pub prefer_original: bool,
    /// The values that the function computes are to be computed where it does so: later passes move and share values
    /// themselves.
    pub keep_placement: bool,
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
    /// This many times the work, in whatever way it is counted.
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

/// What a target keeps values in, and what it costs to do without. Prices are those of a [`CostModel`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// How many hold integers and addresses.
    pub integers: usize,
    /// How many hold floats and vectors.
    pub floats: usize,
    /// What it costs to have a value back from memory, its share of the store included.
    pub reload: u64,
}

impl Registers {
    /// x86-64 without stack and frame pointer. A reload is priced at two simple instructions.
    pub const X86_64: Registers = Registers { integers: 14, floats: 16, reload: 6 * COST_SCALE };
}
