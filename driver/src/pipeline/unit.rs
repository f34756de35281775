//! One function on its way through the pipeline, and what is noted of it there.
//!
//! **Invariant**: what [`Unit::finish`] gives out costs less than the original, or is the original.

use super::{Changed, Fate, Options, Outcome, Relaxed};
use rewright_cfg_skeleton::egraph::EGraphView;
use rewright_cfg_skeleton::ir::{self, Function};
use rewright_cfg_skeleton::select::{self, Status};
use rewright_typeprop::Universe;

/// How far it is.
pub(super) enum State {
    Build,
    Selected(Function),
    Done(Fate),
}

/// One function on its way.
pub(super) struct Unit {
    pub(super) current: Function,
    pub(super) state: State,
    pub(super) status: Status,
    /// What the selection spends on values that would else be kept in memory.
    pub(super) rematerialised: u64,
    nodes: usize,
    classes: usize,
    rounds: usize,
    exhausted: bool,
    rules: Vec<u32>,
    pub(super) relaxed: Vec<Relaxed>,
    pub(super) changed: Vec<Changed>,
}

impl Unit {
    pub(super) fn new(function: &Function, universe: &Universe) -> Self {
        let state = match ir::verify::verify(function, universe).first() {
            None => State::Build,
            Some(error) => State::Done(Fate::PassedThrough(format!("not a valid function: {error}"))),
        };
        Unit {
            current: function.clone(),
            state,
            status: Status::Greedy,
            rematerialised: 0,
            nodes: 0,
            classes: 0,
            rounds: 0,
            exhausted: false,
            rules: vec![],
            relaxed: vec![],
            changed: vec![],
        }
    }

    pub(super) fn note(&mut self, view: &EGraphView) {
        self.rounds += 1;
        self.nodes = view.nodes.len();
        self.classes = view.classes.len();
        self.exhausted |= view.exhausted;
        self.rules.extend(view.applications.iter().map(|a| a.rule));
        self.rules.sort_unstable();
        self.rules.dedup();
    }

    pub(super) fn finish(self, original: &Function, universe: &Universe, options: &Options) -> Outcome {
        let cost = |f: &Function| select::cost::function_cost(&options.cost, f, universe);
        let cost_before = cost(original);
        let (function, fate, cost_after) = match self.state {
            State::Selected(function) => {
                let cost_after = cost(&function);
                // The table prices no memory that is saved by computing a value again.
                let comparable = cost_after.saturating_sub(self.rematerialised);
                if comparable < cost_before || (self.rematerialised > 0 && comparable == cost_before) {
                    (function, Fate::Optimised, cost_after)
                } else if options.keep_if_not_cheaper {
                    (function, Fate::Unchanged, cost_after)
                } else {
                    (original.clone(), Fate::Unchanged, cost_before)
                }
            }
            State::Done(fate) => (original.clone(), fate, cost_before),
            State::Build => unreachable!("the last round selects or gives up"),
        };
        let goes_out = fate == Fate::Optimised || options.keep_if_not_cheaper;
        Outcome {
            function,
            cost_before,
            cost_after,
            status: self.status,
            nodes: self.nodes,
            classes: self.classes,
            rounds: self.rounds,
            exhausted: self.exhausted,
            rules: self.rules,
            relaxed: if goes_out { self.relaxed } else { vec![] },
            changed: if goes_out { self.changed } else { vec![] },
            fate,
        }
    }
}
