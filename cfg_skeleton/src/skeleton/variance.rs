//! In which loops a class varies.
//!
//! A value varies in a loop if it may differ from one iteration to the next. A node varies where a child does; a
//! class varies only where *all* of its nodes do, since they are equal in every iteration. Parameters, results of
//! opaque statements and states vary in all loops around the block that makes them; loads vary with their address
//! and their state; what a loop carries varies where the parameters of its header do. The answer is the greatest fixed point, so that a node that contains its own class proves
//! nothing.
//!
//! A class that does not vary in a loop *may* be computed before it; whether its operands are there, and whether
//! it may trap, is placement's question.

use super::{Skeleton, StatementKind};
use crate::egraph::{ClassId, EGraphView, Head, InputId, NodeId};
use crate::ir::{BlockId, Cfg, LoopId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Loops, sorted.
type Loops = SmallVec<[LoopId; 2]>;

/// By class: where it varies.
#[derive(Clone, Debug)]
pub struct Variance {
    /// `None`: no node of the class can be computed from leaves and constants.
    loops: Vec<Option<Loops>>,
    /// By class of what stands for a loop: where the header's parameters vary.
    carried: FxHashMap<ClassId, Loops>,
}

impl Variance {
    /// For all classes of a view.
    pub fn new(cfg: &Cfg, skeleton: &Skeleton, view: &EGraphView) -> Self {
        let around = |block: BlockId| {
            let mut loops: Loops = cfg.loops_around(block).collect();
            loops.sort_unstable();
            loops
        };
        let carried = skeleton.loops.iter().map(|l| (view.class_of(l.constant), around(l.header))).collect();
        let mut variance = Variance { loops: vec![None; view.classes.len()], carried };
        let mut parents: Vec<Vec<NodeId>> = vec![vec![]; view.classes.len()];
        let mut work = vec![];
        for (i, node) in view.nodes.iter().enumerate() {
            let id = NodeId(i as u32);
            for child in &node.children {
                parents[child.index()].push(id);
            }
            // Values from outside are constant except for the seeds below.
            if node.children.is_empty() && !matches!(node.head, Head::Leaf(_) | Head::Token(_)) {
                variance.narrow(view.node_class[i], Loops::new(), &mut work);
            }
        }
        for (input, block) in sources(skeleton) {
            let loops = block.map(around).unwrap_or_default();
            variance.narrow(view.class_of(input), loops, &mut work);
        }
        while let Some(class) = work.pop() {
            for node in &parents[class.index()] {
                if let Some(loops) = variance.of_node(view, *node) {
                    variance.narrow(view.node_class[node.index()], loops, &mut work);
                }
            }
        }
        variance
    }

    /// The loops in which a class varies, sorted; `None` if it cannot be computed at all.
    pub fn loops(&self, class: ClassId) -> Option<&[LoopId]> {
        self.loops[class.index()].as_deref()
    }

    /// May the class differ from one iteration of the loop to the next?
    pub fn varies_in(&self, class: ClassId, id: LoopId) -> bool {
        self.loops(class).is_none_or(|loops| loops.binary_search(&id).is_ok())
    }

    /// The union over the children, once all are known.
    fn of_node(&self, view: &EGraphView, node: NodeId) -> Option<Loops> {
        // What a loop carries.
        if let Some(loops) = view.node(node).children.first().and_then(|l| self.carried.get(l)) {
            return Some(loops.clone());
        }
        let mut union = Loops::new();
        for child in &view.node(node).children {
            let loops = self.loops(*child)?;
            if union.is_empty() {
                union.extend_from_slice(loops);
            } else if loops != &union[..] {
                union.extend_from_slice(loops);
                union.sort_unstable();
                union.dedup();
            }
        }
        Some(union)
    }

    /// One more node of the class is known to vary only here.
    fn narrow(&mut self, class: ClassId, loops: Loops, work: &mut Vec<ClassId>) {
        let old = &mut self.loops[class.index()];
        let new = match old {
            Some(old) => old.iter().copied().filter(|l| loops.binary_search(l).is_ok()).collect(),
            None => loops,
        };
        if old.as_ref() != Some(&new) {
            *old = Some(new);
            work.push(class);
        }
    }
}

/// Leaves and tokens with the block that makes them; `None` for the states at the function's entry.
pub(super) fn sources(s: &Skeleton) -> Vec<(InputId, Option<BlockId>)> {
    let mut sources = vec![];
    let mut made = vec![false; s.input.nodes.len()];
    let mut add = |input: InputId, block: BlockId| {
        let node = &s.input.nodes[input.index()];
        if matches!(node.head, Head::Leaf(_) | Head::Token(_)) && !std::mem::replace(&mut made[input.index()], true) {
            sources.push((input, Some(block)));
        }
    };
    for block in &s.layout {
        let data = &s.blocks[block.index()];
        data.params.iter().chain(data.tokens.iter().map(|(_, token)| token)).for_each(|input| add(*input, *block));
        for site in s.sites(*block) {
            let statement = s.statement(site);
            statement.results.iter().for_each(|(_, input)| add(*input, *block));
            match statement.kind {
                StatementKind::Call { site, .. } => add(site, *block),
                StatementKind::Check { own: Some(own), .. } => add(own.state, *block),
                _ => {}
            }
            if let StatementKind::Opaque { writes: true, .. } | StatementKind::Call { writes: true, .. } =
                statement.kind
            {
                let after = s.segment_after(site).index();
                s.live.iter().filter(|row| row[after] != row[after - 1]).for_each(|row| add(row[after], *block));
            }
        }
        let last = s.last_segment(*block).index();
        s.live.iter().zip(&data.end).filter(|(row, end)| row[last] != **end).for_each(|(_, end)| add(*end, *block));
    }
    let nodes = s.input.nodes.iter().enumerate().filter(|(i, _)| !made[*i]);
    let entry = nodes.filter(|(_, node)| matches!(node.head, Head::Token(_)));
    let entry: Vec<_> = entry.map(|(i, _)| (InputId(i as u32), None)).collect();
    sources.extend(entry);
    sources
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Value;
    use crate::skeleton::build;
    use crate::testing::{Builder, MOVABLE, trap_code, universe, view};

    #[test]
    fn classes_vary_only_where_all_their_nodes_do() {
        let u = universe();
        let mut b = Builder::new(&u, &["i64", "i64"]);
        let entry = b.function.entry();
        let (x, y) = (b.param(entry, 0), b.param(entry, 1));
        let (outer, inner, latch, exit) = (b.block(&["i64"]), b.block(&["i64"]), b.block(&[]), b.block(&[]));
        b.jump(outer, &[x]);
        b.switch_to(outer);
        let i = b.param(outer, 0);
        let fixed = b.op("iadd", "i64", &[x, y]);
        b.jump(inner, &[y]);
        b.switch_to(inner);
        let j = b.param(inner, 0);
        let both = b.op("iadd", "i64", &[i, j]);
        let only_outer = b.op("imul", "i64", &[i, fixed]);
        let loaded = b.load("i64", x, MOVABLE);
        let read_twice = b.load("i64", j, MOVABLE);
        let difference = b.op("isub", "i64", &[j, j]);
        b.branch(both, (inner, &[both]), (latch, &[]));
        b.switch_to(latch);
        b.store("i64", x, y, MOVABLE);
        b.branch(loaded, (outer, &[only_outer]), (exit, &[]));
        b.switch_to(exit);
        b.ret(&[read_twice]);
        let f = &b.function;
        let cfg = Cfg::new(f);
        let s = build(f, &cfg, &u, &trap_code);
        let input = |v: Value| s.value_input[v.index()].expect("a node");
        let view = view(&s.input, &[(input(difference), input(fixed))]);
        let variance = Variance::new(&cfg, &s, &view);
        let outer = cfg.loop_with_header(outer).expect("a loop");
        let inner = cfg.loop_with_header(inner).expect("a loop");
        let loops = |v: Value| variance.loops(view.class_of(input(v))).expect("computed from leaves").to_vec();
        assert_eq!(loops(x), []);
        assert_eq!(loops(fixed), []);
        assert_eq!(loops(difference), [], "it equals something that does not vary");
        assert_eq!(loops(i), [outer]);
        assert_eq!(loops(j), [outer, inner]);
        assert_eq!(loops(both), [outer, inner]);
        assert_eq!(loops(only_outer), [outer]);
        assert_eq!(loops(loaded), [outer], "memory changes at the outer latch");
        assert_eq!(loops(read_twice), [outer, inner]);
        assert!(variance.varies_in(view.class_of(input(j)), inner));
    }

    #[test]
    fn a_class_does_not_prove_itself_constant() {
        let u = universe();
        let mut b = Builder::new(&u, &["i32"]);
        let x = b.param(b.function.entry(), 0);
        let head = b.block(&["i32"]);
        b.jump(head, &[x]);
        b.switch_to(head);
        let i = b.param(head, 0);
        let same = b.op("iadd", "i32", &[i, x]);
        b.jump(head, &[same]);
        let f = &b.function;
        let cfg = Cfg::new(f);
        let s = build(f, &cfg, &u, &trap_code);
        let input = |v: Value| s.value_input[v.index()].expect("a node");
        // As if `x` were zero: `i + x` is `i`.
        let view = view(&s.input, &[(input(i), input(same))]);
        let variance = Variance::new(&cfg, &s, &view);
        assert_eq!(variance.loops(view.class_of(input(same))).map(<[_]>::len), Some(1));
    }
}
