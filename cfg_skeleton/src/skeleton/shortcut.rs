//! A function without one of its loops, over the same e-graph: control goes from where the loop is entered to where it is
//! left, and what the loop would have left behind must be computed without it.
//!
//! No equality removes a loop. It may be gone past if
//!
//! 1. it has no effect but that it writes one region of memory, cannot trap, and ends, as do the loops in it: that a program
//!    does not end can be observed, so this needs a proof, or the original's word that it has no meaning otherwise. Nothing
//!    but this follows from that word: what is said of values behind loops that end is not said of those that must;
//! 2. it has one exit, to a block that nothing else enters. Parameters of that block are what the loop leaves behind.
//!    They are gone, so that a selection exists only where their classes have other members (a closed form), or they are
//!    unused.
//!
//! A loop that writes needs a node of the state behind it over the state in which it is entered, as a rule makes
//! it: a call that does all that the loop does. That is executed in a block of its own.
//!
//! Members of a class are equal whenever both have a value, so equalities that were found with the loop hold without it.

use super::{LeftState, Skeleton, SkeletonBlock, SkeletonEdge, Statement, StatementKind};
use crate::Saturated;
use crate::ir::cleanup::{Purpose, purposes};
use crate::ir::{Block, BlockId, Cfg, Counts, Edge, Function, InstId, LoopId, RegionId, Terminator};
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
    /// It writes memory, and no rule may say what it leaves behind there, or it writes several regions.
    Writes,
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
    let writes = match purposes(function, cfg, universe)[id.index()] {
        Some(Purpose::Effect) => return Err(Obstacle::Effect),
        Some(Purpose::MayNotEnd) => return Err(Obstacle::MayNotEnd),
        Some(Purpose::Writes) => true,
        None => false,
    };
    if !is_silent(given, id) {
        return Err(Obstacle::Effect);
    }
    let exits = cfg.loop_exits(function, id);
    let [exit] = exits[..] else { return Err(Obstacle::Exits(exits.len())) };
    let target = function.block(exit.from).term.edges()[exit.slot as usize].target;
    let tokens = |block: BlockId| &skeleton.blocks[block.index()].tokens[..];
    let Terminator::Jump(_) = function.block(before).term else { return Err(Obstacle::Shape) };
    if cfg.predecessors(target).len() != 1 {
        return Err(Obstacle::Shape);
    }
    let left = match (writes, tokens(header), tokens(target)) {
        (false, [], []) => None,
        (false, ..) => return Err(Obstacle::Shape),
        (true, [_], [(region, _)]) => {
            let is_left = |left: &&LeftState| left.header == header && left.region == *region;
            Some(*skeleton.left.iter().find(is_left).ok_or(Obstacle::Writes)?)
        }
        (true, ..) => return Err(Obstacle::Writes),
    };
    let mut function = function.clone();
    function.blocks[before.index()].term = Terminator::Jump(Edge { target, args: SmallVec::new() });
    function.blocks[target.index()].params.clear();
    let mut skeleton = skeleton.clone();
    skeleton.blocks[before.index()].edges = vec![SkeletonEdge { target, args: SmallVec::new() }];
    skeleton.blocks[target.index()].params.clear();
    skeleton.blocks[target.index()].tokens.clear();
    if let Some(left) = left {
        let by = written(given, id, left.region).ok_or(Obstacle::Writes)?;
        write(&mut function, &mut skeleton, left, (before, target), by);
    }
    let weighing = cfg.weighing();
    let cfg = Cfg::new(&function).weighed(weighing);
    function.layout.retain(|block| cfg.is_reachable(*block));
    skeleton.layout.retain(|block| cfg.is_reachable(*block));
    skeleton.loops.retain(|l| cfg.is_reachable(l.header));
    skeleton.left.retain(|left| cfg.is_reachable(left.header));
    skeleton.arriving.retain(|arriving| arriving.block != target && cfg.is_reachable(arriving.block));
    Ok(Shortcut { function, cfg, skeleton })
}

/// Does the loop execute nothing but writes and checks, neither of which can fail?
fn is_silent(given: Saturated, id: LoopId) -> bool {
    let Saturated { cfg, skeleton, .. } = given;
    let mut sites = cfg.loop_blocks(id).iter().flat_map(|block| skeleton.sites(*block));
    sites.all(|site| {
        matches!(
            skeleton.statement(site).kind,
            StatementKind::Check { observes: false, .. } | StatementKind::Write { trap: None, .. }
        )
    })
}

/// An instruction of a loop that writes a region.
fn written(given: Saturated, id: LoopId, of: RegionId) -> Option<InstId> {
    let Saturated { cfg, skeleton, .. } = given;
    let mut sites = cfg.loop_blocks(id).iter().flat_map(|block| skeleton.sites(*block));
    sites.find_map(|site| match skeleton.statement(site) {
        Statement { kind: StatementKind::Write { region, .. }, inst, .. } if *region == of => Some(*inst),
        _ => None,
    })
}

/// Puts a block between two others with one statement: what writes all that a loop leaves behind. Its access is that of a
/// write of the loop.
fn write(
    function: &mut Function,
    skeleton: &mut Skeleton,
    left: LeftState,
    (before, target): (BlockId, BlockId),
    inst: InstId,
) {
    let block = BlockId(function.blocks.len() as u32);
    let Block { cold, counts: Counts { executions, share, .. }, .. } = *function.block(before);
    function.blocks.push(Block {
        params: vec![],
        insts: vec![inst],
        term: Terminator::Jump(Edge { target, args: SmallVec::new() }),
        cold,
        counts: Counts { trips: None, executions, share },
        must_progress: false,
    });
    function.blocks[before.index()].term = Terminator::Jump(Edge { target: block, args: SmallVec::new() });
    skeleton.blocks[before.index()].edges = vec![SkeletonEdge { target: block, args: SmallVec::new() }];
    let (first_segment, last) = (skeleton.segment_block.len(), skeleton.last_segment(before).index());
    skeleton.segment_block.extend([block, block]);
    skeleton.lifetimes.extend([skeleton.lifetimes[last]; 2]);
    let mut end = skeleton.blocks[before.index()].end.clone();
    for (row, state) in end.iter_mut().enumerate() {
        let entered = *state;
        if row == left.region.index() {
            *state = left.state;
        }
        skeleton.live[row].extend([entered, *state]);
    }
    let kind = StatementKind::Write { out: left.left, region: left.region, trap: None, key: SmallVec::new() };
    skeleton.blocks.push(SkeletonBlock {
        end,
        first_segment: first_segment as u32,
        first_site: skeleton.statements.len() as u32,
        sites: 1,
        edges: vec![SkeletonEdge { target, args: SmallVec::new() }],
        ..SkeletonBlock::default()
    });
    skeleton.statements.push(Statement { block, inst, kind, results: SmallVec::new() });
    for layout in [&mut function.layout, &mut skeleton.layout] {
        let place = layout.iter().position(|other| *other == before).map_or(layout.len(), |at| at + 1);
        layout.insert(place, block);
    }
}
