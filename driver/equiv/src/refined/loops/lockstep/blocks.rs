//! Blocks of both versions that are taken for a pair.

use super::super::super::flow::Flow;
use super::{is_noticed, kind};
use rewright_llvm::body::{Block, Body, Instruction, Operand, Shape};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A body without phis that pass on one value, in which blocks that are always executed one after the other are one.
pub(super) fn simplified(body: &Body) -> Body {
    joined(&without_copies(body))
}

fn without_copies(body: &Body) -> Body {
    let mut body = body.clone();
    let mut copies = BTreeMap::new();
    for block in &mut body.blocks {
        block.instructions.retain(|i| {
            let Shape::Phi(values) = &i.shape else { return true };
            let ([(value, _)], Some(name)) = (&values[..], &i.result) else { return true };
            // With flags it may be poison where the value is not.
            if !value.is_local() || value.text == *name || !i.flags.is_empty() {
                return true;
            }
            copies.insert(name.clone(), value.text.clone());
            false
        });
    }
    let original = |name: &str| {
        let mut at = copies.get(name)?;
        // Code that nothing reaches may have copies of each other.
        for _ in 0..copies.len() {
            at = copies.get(at).unwrap_or(at);
        }
        Some(at.clone())
    };
    body.blocks.iter_mut().flat_map(|block| &mut block.instructions).for_each(|i| i.replace(original));
    body
}

fn joined(body: &Body) -> Body {
    let flow = Flow::new(body);
    let follows = |at: usize| {
        let [next] = targets(&flow, at)[..] else { return None };
        let block = &body.blocks[next];
        let is_only = block.instructions.first().is_some_and(|i| !matches!(i.shape, Shape::Phi(_)));
        let jumps = matches!(body.blocks[at].instructions.last(), Some(Instruction { shape: Shape::Jump(_), .. }));
        (jumps && is_only && next != 0 && next != at && flow.predecessors(next).count() == 1).then_some(next)
    };
    let mut blocks: Vec<_> = body.blocks.iter().cloned().map(Some).collect();
    // Where what was behind a label is now, by label.
    let mut moved = BTreeMap::new();
    for at in flow.order() {
        let Some(mut block) = blocks[*at].take() else { continue };
        let mut last = *at;
        while let Some(next) = follows(last)
            && let Some(behind) = blocks[next].take()
        {
            block.instructions.pop();
            block.instructions.extend(behind.instructions);
            moved.insert(behind.label, block.label.clone());
            last = next;
        }
        blocks[*at] = Some(block);
    }
    let mut blocks: Vec<_> = blocks.into_iter().flatten().collect();
    for i in blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if let Shape::Phi(values) = &mut i.shape {
            for (_, from) in values {
                if let Some(label) = moved.get(from) {
                    from.clone_from(label);
                }
            }
        }
    }
    Body { blocks, variables: body.variables.clone() }
}

/// Pairs of blocks, in the order of the first version. Blocks with the same accesses and calls, of which neither version has
/// another one, are pairs; from these and from the entries on, so are those to which equal branches lead, first those that
/// look alike.
///
/// By version, some blocks are `passed`: headers of loops that are no part of a pair.
pub(super) fn paired_blocks(flows: &[Flow<'_>; 2], passed: &[BTreeSet<usize>; 2]) -> Vec<(usize, usize)> {
    let noticed = flows.each_ref().map(|flow| flow.body.blocks.iter().map(noticed).collect());
    let headers = flows.each_ref().map(|flow| flow.latches().into_iter().map(|(header, _)| header).collect());
    let mut pairs = BlockPairs { flows, noticed, headers, passed, found: vec![], seen: passed.clone() };
    pairs.pair(0, 0);
    for is_accepted in [BlockPairs::alike, BlockPairs::possible] {
        let mut known = 0;
        while pairs.found.len() > known {
            known = pairs.found.len();
            pairs.pair_unique();
            pairs.follow(is_accepted);
        }
    }
    let positions: FxHashMap<usize, usize> = flows[0].order().iter().copied().zip(0..).collect();
    pairs.found.sort_by_key(|(old, _)| positions.get(old));
    pairs.found
}

/// An access or a call: its kind, and what is given to it that has one name in both versions.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Noticed {
    kind: String,
    constants: Vec<String>,
}

/// The accesses and calls of a block.
fn noticed(block: &Block) -> Vec<Noticed> {
    let of = |i: &Instruction| {
        let operands: Vec<&Operand> = match &i.shape {
            Shape::Load(address, _) => vec![address],
            Shape::Store(value, address, _) => vec![value, address],
            Shape::Call { args, .. } => args.iter().collect(),
            _ => vec![],
        };
        let constants = operands.into_iter().filter(|operand| !operand.is_local());
        Noticed { kind: kind(i), constants: constants.map(|operand| operand.text.clone()).collect() }
    };
    block.instructions.iter().filter(|i| is_noticed(i)).map(of).collect()
}

/// Which pairs are asked for around a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// None.
    Nowhere,
    /// The last ones on the paths to it.
    Before,
    /// The first ones on the paths from it.
    Behind,
    /// The last one on all paths to it.
    Above,
}

/// Blocks of a version, beyond which nothing around them is looked at: that takes time by their square.
const MOST_AROUND: usize = 400;

/// The most telling first.
const AROUND: [Around; 4] = [Around::Nowhere, Around::Before, Around::Behind, Around::Above];

impl Around {
    /// The pairs around a block, as numbers, of those that are found.
    fn pairs(self, flow: &Flow<'_>, at: usize, found: &BTreeMap<usize, usize>) -> BTreeSet<usize> {
        match self {
            Around::Nowhere => BTreeSet::new(),
            Around::Above => {
                let above = flow.order().iter().rev().filter(|above| **above != at && flow.dominates(**above, at));
                above.filter_map(|above| found.get(above).copied()).take(1).collect()
            }
            Around::Before => nearest(at, found, |at| flow.predecessors(at).collect()),
            Around::Behind => nearest(at, found, |at| flow.successors(at).collect()),
        }
    }
}

/// The pairs that are met first on the ways from a block.
fn nearest(start: usize, found: &BTreeMap<usize, usize>, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let (mut todo, mut seen, mut pairs) = (next(start), BTreeSet::from([start]), BTreeSet::new());
    while let Some(at) = todo.pop() {
        match found.get(&at) {
            Some(pair) => _ = pairs.insert(*pair),
            None if seen.insert(at) => todo.extend(next(at)),
            None => {}
        }
    }
    pairs
}

/// Pairs of blocks, as far as they are found.
struct BlockPairs<'f, 'a> {
    flows: &'f [Flow<'a>; 2],
    /// By version and block.
    noticed: [Vec<Vec<Noticed>>; 2],
    /// By version: where loops begin.
    headers: [BTreeSet<usize>; 2],
    /// By version: headers of loops that have no partner.
    passed: &'f [BTreeSet<usize>; 2],
    found: Vec<(usize, usize)>,
    /// By version: blocks that are part of a pair.
    seen: [BTreeSet<usize>; 2],
}

impl BlockPairs<'_, '_> {
    /// Makes blocks a pair, unless one of them is part of another one.
    fn pair(&mut self, old: usize, new: usize) -> bool {
        let is_new = !self.seen[0].contains(&old) && !self.seen[1].contains(&new);
        if is_new {
            self.seen[0].insert(old);
            self.seen[1].insert(new);
            self.found.push((old, new));
        }
        is_new
    }

    /// Makes pairs of blocks that neither version has another one of, by what they access and call, and, where that is not
    /// enough, by the pairs that stand around them. Each pair may make others unique.
    fn pair_unique(&mut self) {
        let is_large = self.flows.iter().any(|flow| flow.order().len() > MOST_AROUND);
        let ways = if is_large { &AROUND[..1] } else { &AROUND };
        while ways.iter().any(|around| self.pair_unique_by(*around)) {}
    }

    /// The same, once; is there a new pair?
    fn pair_unique_by(&mut self, around: Around) -> bool {
        let partners: [BTreeMap<usize, usize>; 2] = [
            self.found.iter().enumerate().map(|(n, (old, _))| (*old, n)).collect(),
            self.found.iter().enumerate().map(|(n, (_, new))| (*new, n)).collect(),
        ];
        let blocks = [0, 1].map(|n| {
            let mut blocks: BTreeMap<(&[Noticed], BTreeSet<usize>), Vec<usize>> = BTreeMap::new();
            let is_open = |at: &&usize| !self.noticed[n][**at].is_empty() && !self.seen[n].contains(*at);
            for at in self.flows[n].order().iter().filter(is_open) {
                let pairs = around.pairs(&self.flows[n], *at, &partners[n]);
                blocks.entry((&self.noticed[n][*at], pairs)).or_default().push(*at);
            }
            blocks
        });
        let mut found = vec![];
        for (key, old) in &blocks[0] {
            if let ([old], Some([new])) = (&old[..], blocks[1].get(key).map(Vec::as_slice)) {
                found.push((*old, *new));
            }
        }
        let before = self.found.len();
        found.into_iter().for_each(|(old, new)| _ = self.pair(old, new));
        self.found.len() > before
    }

    /// Makes pairs of blocks to which pairs lead, where these are accepted.
    fn follow(&mut self, is_accepted: impl Fn(&Self, usize, usize) -> bool) {
        let mut todo: Vec<(usize, usize)> = self.found.iter().rev().flat_map(|pair| self.behind(*pair)).collect();
        let mut seen = BTreeSet::new();
        while let Some((old, new)) = todo.pop() {
            if !seen.insert((old, new)) {
                continue;
            }
            let [(old, passed_old), (new, passed_new)] =
                [(0, old), (1, new)].map(|(n, at)| behind_empty(&self.flows[n], at));
            // A block that decides on the next iteration in one version does so before a loop, and at its end, in the
            // other one.
            if self.passed[0].contains(&old) || self.passed[1].contains(&new) {
                todo.extend(self.behind((old, new)));
                continue;
            }
            // A block that only one version has on its way to a merge is empty, or not there, in the other one.
            let begin = self.headers[0].contains(&old) || self.headers[1].contains(&new);
            let merges = match self.alike(old, new) || (begin && self.have_in_common(old, new)) {
                true => [ToMerge::Apart, ToMerge::Apart],
                false => [(0, old), (1, new)].map(|(n, at)| to_merge(&self.flows[n], at)),
            };
            match merges {
                [ToMerge::At, ToMerge::Before(next)] => {
                    passed_old.map(|passed| self.pair(passed, new));
                    todo.push((old, next));
                }
                [ToMerge::Before(next), ToMerge::At] => {
                    passed_new.map(|passed| self.pair(old, passed));
                    todo.push((next, new));
                }
                // What only one version does before a loop.
                [_, ToMerge::Before(next)] if self.is_rather(1, next, (old, next), (old, new)) => {
                    todo.push((old, next))
                }
                [ToMerge::Before(next), _] if self.is_rather(0, next, (next, new), (old, new)) => {
                    todo.push((next, new))
                }
                _ if is_accepted(self, old, new) && self.pair(old, new) => todo.extend(self.behind((old, new))),
                _ => {}
            }
        }
    }

    /// Where the branches of a pair lead.
    fn behind(&self, (old, new): (usize, usize)) -> Vec<(usize, usize)> {
        let [was, is] = [(0, old), (1, new)].map(|(n, at)| arms(&self.flows[n], at));
        let decides = |n: usize, all: &[usize]| match all {
            [only] => self.behind_header(n, *only),
            _ => None,
        };
        let was = decides(0, &was).filter(|_| is.len() == 2).unwrap_or(was);
        let is = decides(1, &is).filter(|_| was.len() == 2).unwrap_or(is);
        let pairs: Vec<_> = if was.len() == is.len() {
            self.oriented(was, is)
        } else {
            // One of them has fewer ways to go: those that cannot be gone are no loss.
            let unreached = |n: usize, at: &usize| {
                let block = &self.flows[n].body.blocks[*at];
                matches!(block.instructions.as_slice(), [Instruction { shape: Shape::Unreachable, .. }])
            };
            let [was, is] = [(0, was), (1, is)].map(|(n, mut all)| {
                all.retain(|at| !unreached(n, at));
                all.dedup();
                all
            });
            if was.len() == is.len() { was.into_iter().zip(is).collect() } else { vec![] }
        };
        // A second condition may be decided in the first one's block.
        let decided = |(was, is): (usize, usize)| {
            let [only_was, only_is] = [self.behind_condition(0, old, was), self.behind_condition(1, new, is)];
            let others = [(only_was, Some(is)), (Some(was), only_is), (only_was, only_is)];
            let all = || std::iter::once((was, is)).chain(others.into_iter().filter_map(|(was, is)| was.zip(is)));
            let alike = all().find(|(was, is)| self.alike(*was, *is));
            alike.or_else(|| all().find(|(was, is)| self.have_in_common(*was, *is))).unwrap_or((was, is))
        };
        pairs.into_iter().map(decided).collect()
    }

    /// The arms of two branches as pairs, the other way round where they are more alike so: a condition may be inverted in a
    /// way that is not seen.
    fn oriented(&self, was: Vec<usize>, is: Vec<usize>) -> Vec<(usize, usize)> {
        let straight = || was.iter().copied().zip(is.iter().copied());
        let turned = || was.iter().copied().zip(is.iter().rev().copied());
        let likeness = |(old, new): (usize, usize)| {
            let [old, new] = [(0, old), (1, new)].map(|(n, at)| behind_empty(&self.flows[n], at).0);
            if self.found.contains(&(old, new)) {
                2
            } else if self.seen[0].contains(&old) || self.seen[1].contains(&new) {
                -2
            } else {
                i32::from(self.have_in_common(old, new))
            }
        };
        let is_turned = was.len() == 2 && turned().map(likeness).sum::<i32>() > straight().map(likeness).sum();
        if is_turned { turned().collect() } else { straight().collect() }
    }

    /// Where a loop's header leads that decides whether there is an iteration.
    fn behind_header(&self, version: usize, at: usize) -> Option<Vec<usize>> {
        let flow = &self.flows[version];
        let is_open = !self.seen[version].contains(&at) || self.passed[version].contains(&at);
        let is_header = self.headers[version].contains(&at) && is_open;
        let arms = arms(flow, at);
        (is_header && arms.len() == 2).then_some(arms)
    }

    /// Where a block leads that only decides whether to go somewhere else than the other arm of the branch before it.
    fn behind_condition(&self, version: usize, before: usize, at: usize) -> Option<usize> {
        let flow = &self.flows[version];
        let others = targets(flow, before);
        let only = flow.predecessors(at).count() == 1 && self.noticed[version][at].is_empty();
        match targets(flow, at)[..] {
            [one, other] if only && others.contains(&other) => Some(one),
            [one, other] if only && others.contains(&one) => Some(other),
            _ => None,
        }
    }

    /// Does a loop begin there, and has it something in common that what is before it has not?
    fn is_rather(&self, version: usize, header: usize, inside: (usize, usize), before: (usize, usize)) -> bool {
        self.headers[version].contains(&header)
            && self.have_in_common(inside.0, inside.1)
            && !self.have_in_common(before.0, before.1)
    }

    /// Do blocks look alike: in what they access and call, or where they do neither, in where they lead?
    fn alike(&self, old: usize, new: usize) -> bool {
        let [was, is] = [&self.noticed[0][old], &self.noticed[1][new]];
        let kinds = |all: &[Noticed]| all.iter().map(|one| one.kind.clone()).collect::<Vec<_>>();
        if !was.is_empty() || !is.is_empty() {
            return kinds(was) == kinds(is);
        }
        let [was, is] = [(0, old), (1, new)].map(|(n, at)| {
            let flow = &self.flows[n];
            (targets(flow, at).len(), flow.predecessors(at).nth(1).is_some())
        });
        was == is
    }

    /// Might blocks be a pair? Not where both access or call, and nothing of one kind.
    fn possible(&self, old: usize, new: usize) -> bool {
        self.noticed[0][old].is_empty() || self.noticed[1][new].is_empty() || self.have_in_common(old, new)
    }

    /// Do blocks access or call something of one kind?
    fn have_in_common(&self, old: usize, new: usize) -> bool {
        let has = |one: &Noticed| self.noticed[1][new].iter().any(|other| other.kind == one.kind);
        self.noticed[0][old].iter().any(has)
    }
}

/// Where a block leads, in the order of its text.
fn targets(flow: &Flow<'_>, at: usize) -> Vec<usize> {
    let blocks = &flow.body.blocks;
    let position = |label: &String| blocks.iter().position(|block| block.label == *label);
    blocks[at].targets().into_iter().filter_map(position).collect()
}

/// Where a block leads, first where its condition holds in the form that may be meant in both versions: `x != y` is no
/// `x == y`, and `x <= 3` as `x < 4`.
fn arms(flow: &Flow<'_>, at: usize) -> Vec<usize> {
    let mut all = targets(flow, at);
    let last = flow.body.blocks[at].instructions.last().map(|last| &last.shape);
    if let Some(Shape::Branch(condition, _)) = last
        && is_inverse(flow, &condition.text)
    {
        all.reverse();
    }
    all
}

/// Is a condition the inverse of one that is more often written?
fn is_inverse(flow: &Flow<'_>, condition: &str) -> bool {
    let Some((_, Instruction { opcode, shape: Shape::Plain(operands), .. })) = flow.definition(condition) else {
        return false;
    };
    let with_constant = operands.get(1).is_some_and(|operand| !operand.is_local());
    match opcode.strip_prefix("icmp ") {
        Some("ne") => true,
        Some("sle" | "ule") => !with_constant,
        Some("sgt" | "ugt") => with_constant,
        Some("sge" | "uge") => true,
        _ => false,
    }
}

/// The first block that does anything, from one on, and the last one before it; of a circle that does nothing, the block
/// where it began.
fn behind_empty(flow: &Flow<'_>, start: usize) -> (usize, Option<usize>) {
    let (mut at, mut passed) = (start, None);
    for _ in 0..flow.body.blocks.len() {
        let jumps = matches!(flow.body.blocks[at].instructions.as_slice(), [Instruction { shape: Shape::Jump(_), .. }]);
        match targets(flow, at).as_slice() {
            [next] if jumps && at != 0 => (at, passed) = (*next, Some(at)),
            _ => return (at, passed),
        }
    }
    (start, None)
}

/// Where a block stands to a merge of paths.
enum ToMerge {
    /// It is one.
    At,
    /// It leads to this one only.
    Before(usize),
    Apart,
}

fn to_merge(flow: &Flow<'_>, at: usize) -> ToMerge {
    let is_merge = |at: usize| flow.predecessors(at).nth(1).is_some();
    match targets(flow, at).as_slice() {
        _ if is_merge(at) => ToMerge::At,
        [next] if is_merge(*next) => ToMerge::Before(*next),
        _ => ToMerge::Apart,
    }
}
