//! Natural loops, their forest, and irreducible regions.
//!
//! A natural loop is a header and everything that reaches one of its latches without passing the header, where
//! the header dominates the latch (Aho, Lam, Sethi, Ullman, "Compilers", 9.6.6). Loops that share a header are one.
//! Cycles that remain when all back edges are gone are irreducible: they are marked, and belong to no loop of
//! their own.
//!
//! **Invariant**: loops are numbered so that a parent comes before its children.

use super::dominance::{DominatorTree, Graph, Interval, number_forest};
use super::{BlockId, id};
use petgraph::graph::{DiGraph, NodeIndex};

id! {
    /// A natural loop of one function's control-flow graph.
    LoopId,
}

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that dominates all others.
    pub header: BlockId,
    /// Blocks with an edge back to the header, in reverse post-order.
    pub latches: Vec<BlockId>,
    /// The innermost loop around it.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Its part of [`LoopForest::order`].
    range: (u32, u32),
}

/// All natural loops of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopForest {
    pub(crate) loops: Vec<Loop>,
    /// Innermost loop of each block.
    pub(crate) innermost: Vec<Option<LoopId>>,
    /// Blocks in loops, such that each loop's blocks (its inner loops' among them) are contiguous.
    order: Vec<BlockId>,
    interval: Vec<Interval>,
    /// Blocks of irreducible regions.
    pub(crate) irreducible: Vec<bool>,
    /// Cycles around each block: natural loops and irreducible regions.
    pub(crate) cycles: Vec<u32>,
}

impl LoopForest {
    /// Finds the loops. `rpo` lists the reachable blocks.
    pub(crate) fn new(succs: &Graph, preds: &Graph, rpo: &[u32], dom: &DominatorTree) -> Self {
        let n = succs.succs.len();
        let found = find_natural_loops(n, preds, rpo, dom);
        let mut forest = found.into_forest(n, rpo);
        forest.mark_irreducible(succs, rpo, dom);
        forest
    }

    /// The blocks of a loop, those of its inner loops among them.
    pub(crate) fn blocks(&self, l: LoopId) -> &[BlockId] {
        let (start, end) = self.loops[l.index()].range;
        &self.order[start as usize..end as usize]
    }

    /// Is `inner` the same as `outer` or inside it?
    pub(crate) fn encloses(&self, outer: LoopId, inner: LoopId) -> bool {
        self.interval[outer.index()].encloses(self.interval[inner.index()])
    }

    fn mark_irreducible(&mut self, succs: &Graph, rpo: &[u32], dom: &DominatorTree) {
        let n = succs.succs.len();
        self.irreducible = vec![false; n];
        let depth = |l: Option<LoopId>| l.map_or(0, |l: LoopId| self.loops[l.index()].depth);
        self.cycles = self.innermost.iter().map(|l| depth(*l)).collect();
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(n, n);
        for _ in 0..n {
            graph.add_node(());
        }
        let mut position = vec![0; n];
        for (i, v) in rpo.iter().enumerate() {
            position[*v as usize] = i;
        }
        let mut retreating = false;
        for v in rpo {
            for s in &succs.succs[*v as usize] {
                if !dom.dominates(*s, *v) {
                    retreating |= position[*s as usize] <= position[*v as usize];
                    graph.add_edge(NodeIndex::new(*v as usize), NodeIndex::new(*s as usize), ());
                }
            }
        }
        if !retreating {
            return;
        }
        // Kosaraju's algorithm: petgraph's version of it does not recurse.
        let mut region_of = vec![None; n];
        for (region, scc) in petgraph::algo::kosaraju_scc(&graph).into_iter().filter(|s| s.len() > 1).enumerate() {
            for v in scc {
                region_of[v.index()] = Some(region);
            }
        }
        // A natural loop whose header lies in a region lies in that region as a whole.
        let mut around: Vec<Vec<usize>> = Vec::with_capacity(self.loops.len());
        for l in &self.loops {
            let mut regions = l.parent.map_or_else(Vec::new, |p: LoopId| around[p.index()].clone());
            regions.extend(region_of[l.header.index()].filter(|r| !regions.contains(r)));
            around.push(regions);
        }
        for v in rpo {
            let v = *v as usize;
            let outer = self.innermost[v].map_or(&[][..], |l| &around[l.index()]);
            let own = region_of[v].filter(|r| !outer.contains(r));
            let count = outer.len() + usize::from(own.is_some());
            self.irreducible[v] = count > 0;
            self.cycles[v] += count as u32;
        }
    }
}

/// Loops as they are found: inner before outer.
struct NaturalLoops {
    headers: Vec<u32>,
    latches: Vec<Vec<u32>>,
    parent: Vec<Option<usize>>,
    innermost: Vec<Option<usize>>,
}

fn find_natural_loops(n: usize, preds: &Graph, rpo: &[u32], dom: &DominatorTree) -> NaturalLoops {
    let mut found = NaturalLoops { headers: vec![], latches: vec![], parent: vec![], innermost: vec![None; n] };
    // The outermost loop found so far around each loop, with path halving.
    let mut outermost: Vec<usize> = vec![];
    let mut position = vec![0u32; n];
    for (i, v) in rpo.iter().enumerate() {
        position[*v as usize] = i as u32;
    }
    // A header that dominates another one comes before it in reverse post-order, so this finds inner loops first.
    for header in rpo.iter().rev() {
        let mut latches: Vec<u32> =
            preds.succs[*header as usize].iter().copied().filter(|p| dom.dominates(*header, *p)).collect();
        if latches.is_empty() {
            continue;
        }
        latches.sort_by_key(|l| position[*l as usize]);
        latches.dedup();
        let this = found.headers.len();
        found.headers.push(*header);
        found.parent.push(None);
        outermost.push(this);
        let mut work = latches.clone();
        found.latches.push(latches);
        while let Some(v) = work.pop() {
            // Everything up to the outermost loop found around `v` is inside; go on from that loop's header.
            let entered = match found.innermost[v as usize] {
                None => {
                    found.innermost[v as usize] = Some(this);
                    v
                }
                Some(inner) => {
                    let top = find(&mut outermost, inner);
                    if top == this {
                        continue;
                    }
                    outermost[top] = this;
                    found.parent[top] = Some(this);
                    found.headers[top]
                }
            };
            if entered != *header {
                work.extend_from_slice(&preds.succs[entered as usize]);
            }
        }
    }
    found
}

fn find(up: &mut [usize], mut at: usize) -> usize {
    while up[at] != at {
        up[at] = up[up[at]];
        at = up[at];
    }
    at
}

impl NaturalLoops {
    /// Turns the order round: outer loops first, in reverse post-order of their headers.
    fn into_forest(self, n: usize, rpo: &[u32]) -> LoopForest {
        let count = self.headers.len();
        let renumber = |old: usize| LoopId((count - 1 - old) as u32);
        let mut loops: Vec<Loop> = Vec::with_capacity(count);
        for old in (0..count).rev() {
            let parent = self.parent[old].map(renumber);
            let depth = parent.map_or(1, |p: LoopId| loops[p.index()].depth + 1);
            let latches = self.latches[old].iter().map(|l| BlockId(*l)).collect();
            loops.push(Loop { header: BlockId(self.headers[old]), latches, parent, depth, range: (0, 0) });
        }
        let order: Vec<u32> = (0..count as u32).collect();
        let interval = number_forest(count, &order, |l| loops[l as usize].parent.map(|p| p.0));
        let innermost: Vec<Option<LoopId>> = self.innermost.iter().map(|l| l.map(renumber)).collect();
        // Loops in pre-order make each loop's blocks contiguous; a stable sort keeps reverse post-order inside.
        let mut blocks: Vec<BlockId> =
            rpo.iter().map(|v| BlockId(*v)).filter(|b| innermost[b.index()].is_some()).collect();
        let key = |b: &BlockId| innermost[b.index()].map_or(0, |l: LoopId| interval[l.index()].enter());
        blocks.sort_by_key(key);
        for (l, interval) in loops.iter_mut().zip(&interval) {
            let start = blocks.partition_point(|b| key(b) < interval.enter());
            let end = blocks.partition_point(|b| key(b) <= interval.leave());
            l.range = (start as u32, end as u32);
        }
        debug_assert_eq!(innermost.len(), n);
        LoopForest { loops, innermost, order: blocks, interval, irreducible: vec![], cycles: vec![] }
    }
}
