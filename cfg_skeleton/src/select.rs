//! Choosing one program from a saturated e-graph: a [`Selection`] maps (class, segment) to a definition.
//!
//! The alternatives ([`choices`](mod@choices)) are found first, with a plan of the states in memory. Then
//! passes make the program and change it, once each, in the order of one list ([`line`](fn@line)). They work on one
//! [`placement`], which knows what uses what and what all of it costs. The validator checks what comes out and shares
//! no code with the rest, and elaboration only prints it.

mod accesses;
mod address_parts;
mod available;
mod calls;
mod cheapest;
mod check_identity;
mod choices;
mod code_motion;
mod construct;
pub mod cost;
mod cost_model;
mod draft;
mod error;
mod greedy;
mod ilp;
mod keep_placement;
mod memory_plan;
mod merged_writes;
mod moves;
mod options;
mod original;
mod pass;
mod placement;
mod prefer_original;
mod pressure;
mod product;
mod recurrence;
mod releases;
mod report;
mod segments;
mod selection;
mod sink;
mod standing;
mod terms;
mod usable;
pub mod validate;
mod writes;

pub(crate) use calls::{executed, executed_at};
pub use cost_model::{COST_SCALE, CostModel, Execution, INSTRUCTION, Prices};
pub use error::SelectError;
pub use moves::{moved, relaxed};
pub use options::{Budget, Options, Registers};
pub(crate) use recurrence::Recurrence;
pub use report::{Effort, Ran, Refused, SelectionReport};
pub use rewright_extract::{Ended, Highs, Method, Solver, Status};
pub use selection::{Def, Selection, StatementChoice};
pub use validate::{Violation, validate};

use crate::Saturated;
use crate::skeleton::SiteId;
use check_identity::CheckIdentities;
use choices::Choices;
use merged_writes::Planned;
use moves::Moves;
use pass::{Pass, PassState};
use rewright_extract::clock;
use segments::SegmentTree;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use usable::Usable;

/// Chooses the cheapest program that it finds. The result has passed [`fn@validate`].
pub fn select(given: Saturated, options: &Options) -> Result<SelectionReport, SelectError> {
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
    let tree = SegmentTree::new(skeleton, cfg);
    let mut keys = CheckIdentities::new(skeleton, view, universe);
    let usable = Usable::new(view, universe, &options.unavailable);
    let sites = (0..skeleton.statements.len() as u32).map(SiteId);
    merged_writes::cheapest(sites, |merged| planned(given, options, &tree, &mut keys, &usable, merged))
}

/// The cheapest program in which these writes take the place of those before them, and the writes that could.
fn planned<'a>(
    given: Saturated<'a>,
    options: &'a Options,
    tree: &'a SegmentTree<'a>,
    keys: &mut CheckIdentities<'a>,
    usable: &Usable,
    merged: &BTreeSet<SiteId>,
) -> Result<Planned, SelectError> {
    let mut kept = vec![false; given.skeleton.statements.len()];
    let mut all_move = true;
    loop {
        let choices = choices(given, options, tree, keys, usable, &mut kept, merged);
        match checked(given, options, &choices)? {
            ControlFlow::Break(mut report) => {
                if !all_move {
                    report.selection.status = Status::Greedy;
                }
                return Ok((report, choices.plan.mergeable));
            }
            ControlFlow::Continue(sites) => {
                all_move &= !sites.iter().any(|site| choices.moves.moves(*site));
                sites.into_iter().for_each(|site| kept[site.index()] = true);
            }
        }
    }
}

/// Runs the passes, without the last ones where the validator refuses what comes out. Or says which statements are to
/// stay in their places.
fn checked(
    given: Saturated,
    options: &Options,
    choices: &Choices,
) -> Result<ControlFlow<SelectionReport, Vec<SiteId>>, SelectError> {
    let passes = line(options);
    // A violation is a bug in a pass. Those before it do not know it.
    let mut refused = None;
    for end in (1..=passes.len()).rev() {
        let report = run(choices, options, &passes[..end])?;
        let repeated = choices.moves.repeated(choices.tree, &report.selection);
        if !repeated.is_empty() {
            return Ok(ControlFlow::Continue(repeated));
        }
        let violations = validate::check(given, &options.cost, &report.selection);
        if violations.is_empty() {
            debug_assert!(refused.is_none(), "{refused:?}");
            let unreleased = releases::unreleased(given, &report.selection);
            return Ok(match unreleased.is_empty() {
                true => ControlFlow::Break(SelectionReport { refused, ..report }),
                false => ControlFlow::Continue(unreleased),
            });
        }
        refused = Some(Refused { pass: passes[end - 1].name(), violations });
    }
    Err(SelectError::Invalid(refused.map(|refused| refused.violations).unwrap_or_default()))
}

/// The passes, in the order in which they run.
fn line(options: &Options) -> Vec<&'static dyn Pass> {
    let (by_trees, solved) = match options.method {
        Method::Tree => (true, false),
        Method::Greedy => (false, false),
        Method::Ilp | Method::Auto => (false, true),
    };
    let passes: [(bool, &dyn Pass); 8] = [
        (by_trees, &greedy::Trees),
        (!by_trees, &greedy::Greedy),
        (!by_trees && options.prefer_original, &prefer_original::PreferOriginal),
        (solved, &ilp::Extract),
        (solved, &sink::Sink),
        (solved, &cheapest::Cheapest),
        (options.registers.is_some(), &pressure::Rematerialise),
        (options.keep_placement, &keep_placement::KeepPlacement),
    ];
    passes.into_iter().filter(|(wanted, _)| *wanted).map(|(_, pass)| pass).collect()
}

/// Runs passes one after the other.
fn run(choices: &Choices, options: &Options, passes: &[&dyn Pass]) -> Result<SelectionReport, SelectError> {
    let mut state = PassState::new(choices, options);
    let mut ran = vec![];
    for pass in passes {
        let start = clock::now();
        pass.run(&mut state)?;
        ran.push(Ran { pass: pass.name(), cost: state.placement.cost(), time: clock::since(start) });
    }
    Ok(SelectionReport { selection: state.selection(), effort: state.effort, passes: ran, refused: None })
}

/// How often a state plan is made again before no write is dropped at all.
const PLANS: u32 = 4;

/// Plans states and finds what there is to choose from; drops fewer writes (all but those in `kept`) until every demand
/// can be met. Statements in `kept` do not move; writes in `merged` take the place of those before them.
fn choices<'a>(
    given: Saturated<'a>,
    options: &'a Options,
    tree: &'a SegmentTree<'a>,
    keys: &mut CheckIdentities<'a>,
    usable: &Usable,
    kept: &mut [bool],
    merged: &BTreeSet<SiteId>,
) -> Choices<'a> {
    let mut round = 0;
    loop {
        let asked = memory_plan::Asked { kept, merged, usable };
        let plan = memory_plan::plan(given, tree, keys, asked);
        let found = Choices::new(given, tree, keys, &options.cost, usable, plan, Moves::new(given, kept));
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
