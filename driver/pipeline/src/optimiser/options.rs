//! What to do with functions. Lower layers take their options as they are here: [`Options::select`] goes to
//! selection, [`Options::budget`] to the engine.

use crate::profile::BlockCounts;
use rewright_cfg_skeleton::select;
use rewright_engine::Budget;
use std::sync::Arc;

/// What to do with functions.
#[derive(Clone, Debug)]
pub struct Options {
    /// How to select. Operations that the back end cannot write are never selected, whatever this says.
    pub select: select::Options,
    /// Which rules run.
    pub rules: Rules,
    /// Budgets of one unit in the e-graph.
    pub budget: Budget,
    /// Log which rules took part.
    pub log: bool,
    /// Which changed functions go out.
    pub accept: Accept,
    /// Functions of LLVM IR are optimised as a whole, since none of LLVM's own passes follow: what they can do is not left
    /// to them. Other languages always are.
    pub standalone: bool,
    /// Try variants of functions ([`rewright_cfg_skeleton::variants`]) where a pack speaks of loops.
    pub variants: bool,
    /// How often blocks were executed, for front ends that note it.
    pub counts: Option<Arc<BlockCounts>>,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

/// Which rules run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Rules {
    /// Those of the program's usual schedule; where it has none, no rule fires.
    #[default]
    Usual,
    /// Those of the schedule with this qualified name.
    Schedule(String),
    /// None, nor laws: only equal nodes are equal, and a function gains by moving and sharing alone.
    Nothing,
}

/// Which changed functions go out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Accept {
    /// Those that became cheaper.
    #[default]
    Cheaper,
    /// All, to see what rules do.
    Any,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            select: select::Options { registers: Some(select::Registers::X86_64), ..select::Options::default() },
            rules: Rules::default(),
            budget: Budget::default(),
            log: false,
            accept: Accept::default(),
            standalone: false,
            variants: false,
            counts: None,
            threads: 1,
        }
    }
}
