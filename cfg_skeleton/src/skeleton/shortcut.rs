//! A function without one of its loops, over the same e-graph: control goes from where the loop is entered to where it is
//! left, and what the loop would have left behind must be computed without it.
//!
//! No equality removes a loop. It may be gone past if
//!
//! 1. it has no effect, cannot trap, and ends, as do the loops in it: that a program does not end can be observed, so this
//!    needs a proof, or the original's word that it has no meaning otherwise. Nothing but this follows from that word: what
//!    is said of values behind loops that end is not said of those that must;
//! 2. it has one exit, to a block that nothing else enters. Parameters of that block are what the loop leaves behind.
//!    They are gone, so that a selection exists only where their classes have other members (a closed form), or they are
//!    unused.
//!
//! Members of a class are equal whenever both have a value, so equalities that were found with the loop hold without it.

use super::{Skeleton, SkeletonEdge, StatementKind};
use crate::Saturated;
use crate::ir::cleanup::{Purpose, purposes};
use crate::ir::{BlockId, Cfg, Edge, Function, LoopId, Terminator};
use smallvec::SmallVec;

/// A function that goes past a loop, taken apart: with the view that the whole one has, it is [`Saturated`], too.
#[derive(Clone, Debug)]
pub struct Shortcut {
    /// The function. Values that the loop left behind are still used, but have no definition: it is not verified.
    pub function: Function,
    /// Its control flow.
    pub cfg: Cfg,
    /// Its skeleton, with the nodes and numbers of the whole one.
    pub skeleton: Skeleton,
}

impl Shortcut {
    /// With the view of the whole function.
    pub fn saturated<'a>(&'a self, whole: Saturated<'a>) -> Saturated<'a> {
        Saturated { function: &self.function, cfg: &self.cfg, skeleton: &self.skeleton, ..whole }
    }
}

/// Why a function must not go past a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// It has an effect, or may trap.
    Effect,
    /// It, or a loop in it, is not known to end.
    MayNotEnd,
    /// It has more than one exit, or none.
    Exits(usize),
    /// Several edges enter or close it, an opaque instruction does, or another way leads to where it exits.
    Shape,
}

/// Loops that rules may speak of, by header, outer before inner ones: those that there may be a [`shortcut`] past.
pub fn simple_loops(given: Saturated) -> Vec<BlockId> {
    let mut headers: Vec<BlockId> = given.skeleton.loops.iter().map(|l| l.header).collect();
    headers.dedup();
    headers
}

/// The function without a loop that it has.
///
/// # Errors
/// Why the loop must stay.
pub fn shortcut(given: Saturated, header: BlockId) -> Result<Shortcut, Obstacle> {
    let Saturated { function, cfg, universe, skeleton, .. } = given;
    let l = skeleton.loops.iter().find(|l| l.header == header).ok_or(Obstacle::Shape)?;
    let (id, before) = (cfg.loop_with_header(header).ok_or(Obstacle::Shape)?, l.before);
    match purposes(function, cfg, universe)[id.index()] {
        Some(Purpose::Effect) => return Err(Obstacle::Effect),
        Some(Purpose::MayNotEnd) => return Err(Obstacle::MayNotEnd),
        None if !is_silent(given, id) => return Err(Obstacle::Effect),
        None => {}
    }
    let exits = cfg.loop_exits(function, id);
    let [exit] = exits[..] else { return Err(Obstacle::Exits(exits.len())) };
    let target = function.block(exit.from).term.edges()[exit.slot as usize].target;
    let has_states = |block: BlockId| !skeleton.blocks[block.index()].tokens.is_empty();
    let Terminator::Jump(_) = function.block(before).term else { return Err(Obstacle::Shape) };
    if cfg.predecessors(target).len() != 1 || has_states(header) || has_states(target) {
        return Err(Obstacle::Shape);
    }
    let mut function = function.clone();
    function.blocks[before.index()].term = Terminator::Jump(Edge { target, args: SmallVec::new() });
    function.blocks[target.index()].params.clear();
    let weighing = cfg.weighing();
    let cfg = Cfg::new(&function).weighed(weighing);
    function.layout.retain(|block| cfg.is_reachable(*block));
    let mut skeleton = skeleton.clone();
    skeleton.blocks[before.index()].edges = vec![SkeletonEdge { target, args: SmallVec::new() }];
    skeleton.blocks[target.index()].params.clear();
    skeleton.layout.retain(|block| cfg.is_reachable(*block));
    skeleton.loops.retain(|l| cfg.is_reachable(l.header));
    Ok(Shortcut { function, cfg, skeleton })
}

/// Does the loop execute nothing but checks that cannot fail?
fn is_silent(given: Saturated, id: LoopId) -> bool {
    let Saturated { cfg, skeleton, .. } = given;
    let mut sites = cfg.loop_blocks(id).iter().flat_map(|block| skeleton.sites(*block));
    sites.all(|site| matches!(skeleton.statement(site).kind, StatementKind::Check { observes: false, .. }))
}
