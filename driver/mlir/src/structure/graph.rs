//! Blocks as a graph: where loops begin, and where paths meet again.

use super::Structured;
use crate::syntax::{Block, Unsupported};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Graph {
    /// Where blocks lead.
    pub(super) targets: Vec<Vec<usize>>,
    /// For the heads of loops, the blocks of the loop.
    loops: FxHashMap<usize, FxHashSet<usize>>,
    /// The next block that all paths from a block lead through.
    joins: Vec<Option<usize>>,
}

impl Graph {
    pub(super) fn new(blocks: &[Block]) -> Structured<Self> {
        let numbers: FxHashMap<&str, usize> = blocks.iter().enumerate().map(|(n, b)| (b.label.as_str(), n)).collect();
        let mut targets = vec![];
        for (n, block) in blocks.iter().enumerate() {
            let successors = block.ops.last().map_or([].as_slice(), |op| &op.successors);
            let known = successors.iter().map(|(label, _)| numbers.get(label.as_str()).copied().filter(|to| *to > 0));
            let missing = || Unsupported { line: block.line, what: "it branches to a block that is not there".into() };
            targets.push(known.collect::<Option<Vec<usize>>>().ok_or_else(missing)?);
            let passed = successors.iter().zip(&targets[n]);
            if passed.into_iter().any(|((_, passed), to)| passed.len() != blocks[*to].arguments.len()) {
                return Err(Unsupported { line: block.line, what: "a block has other arguments".into() });
            }
        }
        let order = postorder(&targets, 0);
        let returns: Vec<usize> = order.iter().copied().filter(|n| targets[*n].is_empty()).collect();
        let [end] = returns.as_slice() else {
            let line = returns.get(1).map_or(0, |n| blocks[*n].line);
            return Err(Unsupported { line, what: "blocks return at several places, or at none".into() });
        };
        let above = dominators(&targets, 0);
        let mut sources = vec![vec![]; blocks.len()];
        for &n in &order {
            targets[n].iter().for_each(|to| sources[*to].push(n));
        }
        let below = dominators(&sources, *end);
        let joins = (0..blocks.len()).map(|n| below[n].filter(|join| *join != n)).collect();
        let mut loops: FxHashMap<usize, FxHashSet<usize>> = FxHashMap::default();
        let place: FxHashMap<usize, usize> = order.iter().enumerate().map(|(at, n)| (*n, at)).collect();
        for &n in &order {
            for &head in targets[n].iter().filter(|to| place[*to] >= place[&n]) {
                if !dominates(&above, head, n) {
                    let what = "blocks of a loop are entered at several places".into();
                    return Err(Unsupported { line: blocks[head].line, what });
                }
                let body = loops.entry(head).or_insert_with(|| FxHashSet::from_iter([head]));
                let mut open = vec![n];
                while let Some(block) = open.pop() {
                    if body.insert(block) {
                        open.extend(&sources[block]);
                    }
                }
            }
        }
        Ok(Graph { targets, loops, joins })
    }

    pub(super) fn is_head(&self, block: usize) -> bool {
        self.loops.contains_key(&block)
    }

    pub(super) fn join(&self, block: usize) -> Option<usize> {
        self.joins[block]
    }

    /// Of the successors of a loop's head, which one is in the loop, and which one leaves it.
    pub(super) fn loop_at(&self, head: usize) -> Result<(usize, usize), &'static str> {
        let body = &self.loops[&head];
        let leaves = |n: &usize| self.targets[*n].iter().any(|to| !body.contains(to));
        if body.iter().any(|n| *n != head && leaves(n)) {
            return Err("the loop is left elsewhere than where its iterations begin");
        }
        match self.targets[head].as_slice() {
            [a, b] if body.contains(a) && !body.contains(b) => Ok((0, 1)),
            [a, b] if body.contains(b) && !body.contains(a) => Ok((1, 0)),
            _ => Err("the loop is not left"),
        }
    }
}

/// Blocks that are reached from one, each behind those that it leads to, except for back edges.
fn postorder(targets: &[Vec<usize>], from: usize) -> Vec<usize> {
    let (mut order, mut seen) = (vec![], vec![false; targets.len()]);
    let mut open = vec![(from, 0)];
    seen[from] = true;
    while let Some((n, next)) = open.pop() {
        match targets[n].get(next) {
            Some(&to) => {
                open.push((n, next + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    open.push((to, 0));
                }
            }
            None => order.push(n),
        }
    }
    order
}

/// The nearest block that all paths from `from` to a block lead through; `from` itself for `from`.
fn dominators(targets: &[Vec<usize>], from: usize) -> Vec<Option<usize>> {
    let order = postorder(targets, from);
    let mut place = vec![0; targets.len()];
    order.iter().enumerate().for_each(|(at, n)| place[*n] = at);
    let mut sources = vec![vec![]; targets.len()];
    for &n in &order {
        targets[n].iter().for_each(|to| sources[*to].push(n));
    }
    let mut nearest: Vec<Option<usize>> = vec![None; targets.len()];
    nearest[from] = Some(from);
    loop {
        let mut changed = false;
        for &n in order.iter().rev().filter(|n| **n != from) {
            let mut known = sources[n].iter().copied().filter(|source| nearest[*source].is_some());
            let Some(mut common) = known.next() else { continue };
            for mut other in known {
                while common != other {
                    if place[common] < place[other] {
                        common = nearest[common].unwrap_or(from);
                    } else {
                        other = nearest[other].unwrap_or(from);
                    }
                }
            }
            changed |= nearest[n].replace(common) != Some(common);
        }
        if !changed {
            return nearest;
        }
    }
}

fn dominates(nearest: &[Option<usize>], above: usize, mut block: usize) -> bool {
    loop {
        match nearest[block] {
            _ if block == above => return true,
            Some(next) if next != block => block = next,
            _ => return false,
        }
    }
}
