//! The control flow of a body: orders, dominators, loops, where values are made and needed.

use rewright_cfg_skeleton::ir::dominance::{DominatorTree, Graph};
use rewright_llvm::body::{Body, Instruction, Operand, Shape};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Control flow among the blocks that can be reached; blocks are numbers.
pub(super) struct Flow<'a> {
    pub(super) body: &'a Body,
    graph: Graph,
    preds: Graph,
    /// Reverse post-order.
    order: Vec<usize>,
    tree: DominatorTree,
    /// Where each value is made: block and position.
    made: FxHashMap<&'a str, (usize, usize)>,
}

/// The blocks of a loop.
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) blocks: BTreeSet<usize>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(body: &'a Body) -> Flow<'a> {
        let position: FxHashMap<&str, u32> = body.blocks.iter().map(|b| b.label.as_str()).zip(0..).collect();
        let mut graph = Graph::new(body.blocks.len());
        for (at, block) in body.blocks.iter().enumerate() {
            let mut targets: Vec<u32> =
                block.targets().into_iter().filter_map(|label| position.get(label.as_str()).copied()).collect();
            targets.sort_unstable();
            targets.dedup();
            graph.succs[at] = targets;
        }
        let order = graph.reverse_post_order(0);
        // Unreachable blocks lead nowhere.
        for at in 0..graph.succs.len() as u32 {
            if !order.contains(&at) {
                graph.succs[at as usize].clear();
            }
        }
        let preds = graph.reversed();
        let tree = DominatorTree::new(&preds, 0, &order);
        let places = body.blocks.iter().enumerate().flat_map(|(at, block)| {
            block.instructions.iter().enumerate().filter_map(move |(n, i)| Some((i.result.as_deref()?, (at, n))))
        });
        let made = places.collect();
        Flow { body, order: order.iter().map(|at| *at as usize).collect(), graph, preds, tree, made }
    }

    /// Blocks that can be reached, each before those that it dominates.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(super) fn successors(&self, at: usize) -> impl Iterator<Item = usize> {
        self.graph.succs[at].iter().map(|to| *to as usize)
    }

    pub(super) fn predecessors(&self, at: usize) -> impl Iterator<Item = usize> {
        self.preds.succs[at].iter().map(|from| *from as usize)
    }

    /// Does every way to `at` go through `above`, or are they one block?
    pub(super) fn dominates(&self, above: usize, at: usize) -> bool {
        self.tree.dominates(above as u32, at as u32)
    }

    /// The condition of a block's branch, and the blocks that control reaches by it alone: if it holds, or if it does not.
    pub(super) fn decides(&self, at: usize) -> Option<(&'a Operand, Vec<(usize, bool)>)> {
        let Shape::Branch(condition, [yes, no]) = &self.body.blocks[at].instructions.last()?.shape else { return None };
        let arms = self.successors(at).filter(|to| self.predecessors(*to).count() == 1);
        (yes != no).then(|| (condition, arms.map(|to| (to, self.body.blocks[to].label == *yes)).collect()))
    }

    /// Blocks from which control goes back, by where it goes: edges against the order. Every cycle has one.
    pub(super) fn latches(&self) -> Vec<(usize, Vec<usize>)> {
        let mut place = vec![usize::MAX; self.body.blocks.len()];
        for (n, at) in self.order.iter().enumerate() {
            place[*at] = n;
        }
        let back = |header: &usize| -> Vec<usize> {
            self.predecessors(*header).filter(|from| place[*from] >= place[*header]).collect()
        };
        let all = self.order.iter().map(|header| (*header, back(header)));
        all.filter(|(_, latches)| !latches.is_empty()).collect()
    }

    /// The headers of loops, with the blocks of each loop. Every cycle goes through one of them.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let mut found = vec![];
        for (header, mut todo) in self.latches() {
            let mut blocks = BTreeSet::from([header]);
            while let Some(at) = todo.pop() {
                if blocks.insert(at) {
                    todo.extend(self.predecessors(at));
                }
            }
            found.push(Loop { header, blocks });
        }
        found
    }

    /// The block in which a value is made, and the instruction; `None` of parameters.
    pub(super) fn definition(&self, name: &str) -> Option<(usize, &'a Instruction)> {
        let (at, n) = *self.made.get(name)?;
        Some((at, &self.body.blocks[at].instructions[n]))
    }

    /// A value of the body by its name.
    pub(super) fn name(&self, name: &str) -> Option<&'a str> {
        self.made.get_key_value(name).map(|(name, _)| *name)
    }

    /// The number that is added to `base` in a value, perhaps in several steps.
    pub(super) fn sum(&self, name: &str, base: &str) -> Option<i128> {
        let (mut name, mut sum) = (name, 0i128);
        // Code that nothing reaches may have sums of each other.
        for _ in 0..=self.made.len() {
            if name == base {
                return Some(sum);
            }
            let (_, i) = self.definition(name)?;
            let Shape::Plain(terms) = &i.shape else { return None };
            let [one, other] = terms.as_slice() else { return None };
            let number = |text: &str| text.parse::<i128>().ok();
            let (next, more) = match (i.opcode.as_str(), number(&one.text), number(&other.text)) {
                ("add", None, Some(n)) => (one, n),
                ("add", Some(n), None) => (other, n),
                ("sub", None, Some(n)) => (one, -n),
                _ => return None,
            };
            (name, sum) = (&next.text, sum.checked_add(more)?);
        }
        None
    }

    /// A number by which values that dominate each other are in order.
    pub(super) fn position(&self, name: &str) -> (usize, usize) {
        let (at, n) = self.made.get(name).copied().unwrap_or_default();
        (self.order.iter().position(|other| *other == at).unwrap_or_default(), n)
    }

    /// Values that are needed at the beginning of each block, results of its phis among them.
    pub(super) fn live(&self) -> Vec<BTreeSet<&'a str>> {
        self.live_with(&vec![BTreeSet::new(); self.body.blocks.len()])
    }

    /// As [`Flow::live`], where other values are needed at the beginning of some blocks, too.
    pub(super) fn live_with(&self, others: &[BTreeSet<&'a str>]) -> Vec<BTreeSet<&'a str>> {
        let blocks = &self.body.blocks;
        let mut live: Vec<BTreeSet<&'a str>> = others.to_vec();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in self.order.iter().rev() {
                let mut here = self.needed_behind(*at, &live);
                for i in blocks[*at].instructions.iter().rev() {
                    let phi = matches!(i.shape, Shape::Phi(_));
                    if let (Some(name), false) = (&i.result, phi) {
                        here.remove(name.as_str());
                    }
                    if !phi {
                        here.extend(self.uses(i));
                    }
                }
                here.extend(&others[*at]);
                // A phi of a header that only the next iteration needs is not needed here.
                if here != live[*at] {
                    live[*at] = here;
                    changed = true;
                }
            }
        }
        live
    }

    /// Values that are needed at the end of a block.
    pub(super) fn needed_behind(&self, at: usize, live: &[BTreeSet<&'a str>]) -> BTreeSet<&'a str> {
        let mut here: BTreeSet<&'a str> = BTreeSet::new();
        for to in self.successors(at) {
            here.extend(live[to].iter().filter(|name| self.made.get(**name).is_none_or(|(b, _)| *b != to)));
            here.extend(self.passed(at, to));
        }
        here
    }

    /// Values that phis of a block take from another one.
    fn passed(&self, from: usize, to: usize) -> Vec<&'a str> {
        let label = &self.body.blocks[from].label;
        let phis = self.body.blocks[to].instructions.iter().map_while(|i| match &i.shape {
            Shape::Phi(values) => Some(values),
            _ => None,
        });
        let values = phis.flatten().filter(|(_, origin)| origin == label);
        values
            .filter_map(|(operand, _)| self.made.get_key_value(operand.text.as_str()).map(|(name, _)| *name))
            .collect()
    }

    /// Values of the body, no parameters, that an instruction takes.
    pub(super) fn uses(&self, i: &Instruction) -> Vec<&'a str> {
        let known = i.template.holes.iter().filter_map(|hole| self.made.get_key_value(hole.as_str()));
        known.map(|(name, _)| *name).collect()
    }
}
