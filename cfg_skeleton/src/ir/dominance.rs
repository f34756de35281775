//! Dominator trees over plain graphs, so that dominators and post-dominators share one algorithm.
//!
//! The algorithm is Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (Rice University, 2001),
//! figure 3. Queries are O(1) by pre- and post-order numbers of the tree. Nothing here recurses.

/// A directed graph on `0..n`.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Successors in order.
    pub succs: Vec<Vec<u32>>,
}

impl Graph {
    /// `n` vertices, no edge.
    pub fn new(n: usize) -> Self {
        Graph { succs: vec![Vec::new(); n] }
    }

    /// The same with all edges turned round.
    pub fn reversed(&self) -> Graph {
        let mut out = Graph::new(self.succs.len());
        for (from, succs) in self.succs.iter().enumerate() {
            for to in succs {
                out.succs[*to as usize].push(from as u32);
            }
        }
        out
    }

    /// Reverse post-order of what `root` reaches. Of two independent successors the first comes first.
    pub fn reverse_post_order(&self, root: u32) -> Vec<u32> {
        let mut seen = vec![false; self.succs.len()];
        let mut order = Vec::new();
        let mut stack = vec![(root, self.succs[root as usize].len())];
        seen[root as usize] = true;
        while let Some((at, left)) = stack.last_mut() {
            if *left == 0 {
                order.push(*at);
                stack.pop();
                continue;
            }
            *left -= 1;
            let next = self.succs[*at as usize][*left];
            if !std::mem::replace(&mut seen[next as usize], true) {
                stack.push((next, self.succs[next as usize].len()));
            }
        }
        order.reverse();
        order
    }
}

/// A dominator tree.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    idom: Vec<Option<u32>>,
    interval: Vec<Interval>,
}

/// The pre-order numbers (from 1) of a vertex and of the last one in its subtree; both zero outside the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interval {
    enter: u32,
    leave: u32,
}

impl Interval {
    /// Pre-order number, from 1.
    pub(crate) fn enter(self) -> u32 {
        self.enter
    }

    /// The largest pre-order number of the subtree.
    pub(crate) fn leave(self) -> u32 {
        self.leave
    }

    /// Is `self`'s vertex an ancestor of, or the same as, `other`'s?
    pub(crate) fn encloses(self, other: Interval) -> bool {
        self.enter != 0 && self.enter <= other.enter && other.leave <= self.leave
    }
}

/// Numbers the vertices of a forest given by parents. `order` lists its vertices, parents before children.
pub(crate) fn number_forest(n: usize, order: &[u32], parent: impl Fn(u32) -> Option<u32>) -> Vec<Interval> {
    // Subtree sizes from the leaves up, then every child takes the next free piece of its parent's interval.
    let mut size = vec![1u32; n];
    for v in order.iter().rev() {
        if let Some(p) = parent(*v) {
            size[p as usize] += size[*v as usize];
        }
    }
    let mut interval = vec![Interval::default(); n];
    let mut free = vec![0u32; n];
    let mut next_root = 1;
    for v in order {
        let slot = match parent(*v) {
            Some(p) => &mut free[p as usize],
            None => &mut next_root,
        };
        let start = *slot;
        *slot += size[*v as usize];
        interval[*v as usize] = Interval { enter: start, leave: start + size[*v as usize] - 1 };
        free[*v as usize] = start + 1;
    }
    interval
}

impl DominatorTree {
    /// Dominators of everything that `root` reaches. `reverse_post_order` is `graph`'s from `root`.
    pub fn new(preds: &Graph, root: u32, reverse_post_order: &[u32]) -> Self {
        const NONE: u32 = u32::MAX;
        let n = preds.succs.len();
        let mut number = vec![NONE; n];
        for (i, v) in reverse_post_order.iter().enumerate() {
            number[*v as usize] = i as u32;
        }
        // By position in reverse post-order, as the paper does: a dominator has the smaller number.
        let mut idom = vec![NONE; reverse_post_order.len()];
        idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for (i, v) in reverse_post_order.iter().enumerate().skip(1) {
                let mut new = NONE;
                for p in &preds.succs[*v as usize] {
                    let p = number[*p as usize];
                    if p == NONE || idom[p as usize] == NONE {
                        continue;
                    }
                    new = if new == NONE { p } else { intersect(&idom, new, p) };
                }
                if idom[i] != new {
                    idom[i] = new;
                    changed = true;
                }
            }
        }
        let mut out = vec![None; n];
        for (i, v) in reverse_post_order.iter().enumerate().skip(1) {
            out[*v as usize] = Some(reverse_post_order[idom[i] as usize]);
        }
        debug_assert_eq!(reverse_post_order[0], root);
        let interval = number_forest(n, reverse_post_order, |v| out[v as usize]);
        DominatorTree { idom: out, interval }
    }

    /// The immediate dominator; `None` for the root and for what it does not reach.
    pub(crate) fn idom(&self, v: u32) -> Option<u32> {
        self.idom[v as usize]
    }

    /// Does every path from the root to `b` go through `a`? False when the root does not reach both.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        self.interval[a as usize].encloses(self.interval[b as usize])
    }

    /// A number that is smaller for a dominator than for what it dominates, and makes subtrees contiguous.
    pub(crate) fn preorder(&self, v: u32) -> u32 {
        self.interval[v as usize].enter
    }
}

fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}
