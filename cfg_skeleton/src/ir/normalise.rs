//! Brings control flow into the form that the skeleton and loop rules rely on:
//!
//! * no unreachable blocks, no pairs of blocks in a straight line;
//! * no critical edge (from a block with several successors to one with several predecessors);
//! * every natural loop has one preheader, one latch, and exits that are entered from the loop only;
//! * values are loop-closed: one that is defined in a loop and used outside goes through a parameter of an exit
//!   block. Constants are excepted: they vary in no loop.
//!
//! Edges of opaque terminators stay as they are, so a loop that one of them enters, closes or leaves may lack a
//! part; no pass may rely on these forms without a check. Irreducible regions stay as they are, too.
//! [`super::cleanup`] undoes what turns out not to have been needed.
//!
//! **Invariant**: a verified function stays verified and does the same; block ids stay.

mod close;

use super::cleanup::merge_blocks;
use super::{Block, BlockId, Cfg, Counts, Edge, EdgeArg, EdgeId, Function, Terminator, Value};
use smallvec::SmallVec;

/// Normalises a verified function.
pub fn normalise(function: &mut Function) {
    let mut cfg = Cfg::new(function);
    function.layout.retain(|b| cfg.is_reachable(*b));
    if merge_blocks(function) {
        cfg = Cfg::new(function);
    }
    if gather_loop_edges(function, &cfg) {
        cfg = Cfg::new(function);
    }
    if split_critical_edges(function, &cfg) {
        cfg = Cfg::new(function);
    }
    if cfg.loop_count() > 0 {
        close::close_loops(function, &cfg);
    }
}

/// Lets values that are used outside of loops in which they are defined go through parameters of exits again.
pub(crate) fn close(function: &mut Function) {
    let cfg = Cfg::new(function);
    if cfg.loop_count() > 0 {
        close::close_loops(function, &cfg);
    }
}

/// Is no value used outside a loop in which it is defined?
pub(crate) fn is_loop_closed(function: &Function, cfg: &Cfg) -> bool {
    close::is_closed(function, cfg)
}

/// New blocks, each to stand before another one.
struct Insertions {
    before: Vec<(BlockId, BlockId)>,
}

impl Insertions {
    fn apply(mut self, function: &mut Function) {
        // `add_block` has put the new ones at the end.
        function.layout.truncate(function.layout.len() - self.before.len());
        self.before.sort_by_key(|(at, new)| (*at, *new));
        let old = std::mem::take(&mut function.layout);
        for b in old {
            let start = self.before.partition_point(|(at, _)| *at < b);
            let new = self.before[start..].iter().take_while(|(at, _)| *at == b);
            function.layout.extend(new.map(|(_, new)| *new));
            function.layout.push(b);
        }
    }
}

fn is_opaque(function: &Function, edge: EdgeId) -> bool {
    matches!(function.block(edge.from).term, Terminator::Opaque { .. })
}

/// One edge into each header from outside, and one from inside: where there are several, they meet in a new block.
fn gather_loop_edges(function: &mut Function, cfg: &Cfg) -> bool {
    let mut insertions = Insertions { before: vec![] };
    for (id, l) in cfg.loops() {
        let edges = cfg.predecessors(l.header).iter().copied();
        let (inside, outside): (Vec<_>, Vec<_>) = edges.partition(|e| cfg.loop_contains(id, e.from));
        for edges in [outside, inside] {
            if edges.len() > 1 && !edges.iter().any(|e| is_opaque(function, *e)) {
                let new = function.add_block();
                gather(function, new, l.header, &edges);
                insertions.before.push((l.header, new));
            }
        }
    }
    let any = !insertions.before.is_empty();
    insertions.apply(function);
    any
}

fn gather(function: &mut Function, new: BlockId, target: BlockId, edges: &[EdgeId]) {
    let params = function.block(target).params.clone();
    let params: Vec<Value> = params.into_iter().map(|p| function.add_value(function.ty(p))).collect();
    let args = params.iter().map(|p| EdgeArg::Value(*p)).collect();
    let cold = edges.iter().all(|e| function.block(e.from).cold);
    let executions = edges.iter().map(|e| edge_executions(function, e.from, target)).sum();
    let shares = edges.iter().map(|e| edge_share(function, e.from, target, 1).map(u64::from));
    let share = shares.sum::<Option<u64>>().and_then(|sum| at_most(sum, function.block(target).counts.share));
    let counts = Counts { trips: None, executions, share };
    let term = Terminator::Jump(Edge { target, args });
    function.blocks[new.index()] = Block { params, insts: vec![], term, cold, counts, must_progress: false };
    for e in edges {
        let mut all = function.blocks[e.from.index()].term.edges_mut();
        all[e.slot as usize].target = new;
    }
}

/// How often at most control takes an edge, where that has been counted.
fn edge_executions(function: &Function, from: BlockId, to: BlockId) -> Option<u64> {
    let [from, to] = [from, to].map(|b| function.block(b).counts.executions);
    Some(from?.min(to?))
}

/// The share of this many of the edges that leave a block for another one.
fn edge_share(function: &Function, from: BlockId, to: BlockId, edges: usize) -> Option<u32> {
    let block = function.block(from);
    let (all, share) = (block.term.edges().len().max(1), u64::from(block.counts.share?));
    at_most(share * edges as u64 / all as u64, function.block(to).counts.share)
}

/// By slot: the share of all edges of a block that are equal to that one.
fn edge_shares(function: &Function, from: BlockId) -> Vec<Option<u32>> {
    let block = function.block(from);
    let edges = block.term.edges();
    let share = |edge: &&Edge| {
        block.counts.share?;
        edge_share(function, from, edge.target, edges.iter().filter(|other| *other == edge).count())
    };
    edges.iter().map(share).collect()
}

/// A share, no larger than that of the block that it is of.
fn at_most(share: u64, whole: Option<u32>) -> Option<u32> {
    whole.map(|whole| share.clamp(1, u64::from(whole)) as u32)
}

fn split_critical_edges(function: &mut Function, cfg: &Cfg) -> bool {
    let mut insertions = Insertions { before: vec![] };
    for from in cfg.reverse_post_order() {
        let block = function.block(*from);
        if matches!(block.term, Terminator::Opaque { .. }) || block.term.edges().len() < 2 {
            continue;
        }
        let from_cold = block.cold;
        let shares = edge_shares(function, *from);
        let critical = |e: &Edge| cfg.predecessors(e.target).len() > 1;
        let mut term = std::mem::replace(&mut function.blocks[from.index()].term, Terminator::Trap { code: 0 });
        // Equal edges of one switch share their block: still no other block enters it.
        let mut made: Vec<(Edge, BlockId)> = vec![];
        for (edge, share) in term.edges_mut().into_iter().zip(shares) {
            if !critical(edge) {
                continue;
            }
            let known = made.iter().find(|(e, _)| e == edge).map(|(_, b)| *b);
            let new = known.unwrap_or_else(|| {
                let new = function.add_block();
                insertions.before.push((edge.target, new));
                made.push((edge.clone(), new));
                let cold = from_cold || function.block(edge.target).cold;
                let jump = Terminator::Jump(edge.clone());
                let executions = edge_executions(function, *from, edge.target);
                let counts = Counts { trips: None, executions, share };
                let split = Block { params: vec![], insts: vec![], term: jump, cold, counts, must_progress: false };
                function.blocks[new.index()] = split;
                new
            });
            *edge = Edge { target: new, args: SmallVec::new() };
        }
        function.blocks[from.index()].term = term;
    }
    let any = !insertions.before.is_empty();
    insertions.apply(function);
    any
}

#[cfg(test)]
mod tests;
