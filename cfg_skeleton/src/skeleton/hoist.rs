//! Checks and loads that are executed earlier: once before a branch, for all of its arms, or once before a loop.
//!
//! A check goes to the end of a block *g* as a copy of its instruction. The check that follows is dominated by an equal
//! check then, and is dropped by selection. That is right if, on every path from the end of *g*,
//!
//! * an equal check is met: nothing else leaves the path before, no edge goes back, and there is no cycle that several
//!   edges enter. So each block is passed at most once, in the iteration of every loop around *g* in which *g* is;
//! * what stands before it on the path observes nothing and changes no state, and where it may trap, it traps with
//!   the same code: a trap shows its code, and memory as it is then.
//!
//! The operands of the copy are values that are defined where *g* ends, or computed there from such. It is worth it if
//! *g* is executed less often than the checks that go, counted together: no path gets slower.
//!
//! A load goes where the state that it reads is the same, too. One that cannot trap passes statements that cannot, and
//! nothing that may end the function: what it reads need not be there then.

use super::copies::{self, Copied, Values};
use super::{CheckKey, StatementKind};
use crate::Saturated;
use crate::egraph::{ClassId, InputId};
use crate::ir::{BlockId, Function, InstId, InstKind, Terminator};
use rewright_typeprop::{OpId, Ty};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// How far up the dominator tree a place is looked for.
const MAX_HEIGHT: usize = 16;

/// Blocks that are looked at for one place.
const MAX_BLOCKS: usize = 64;

/// A check that is executed earlier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hoist {
    /// The block at whose end it is executed.
    pub to: BlockId,
    /// The instruction of which a copy is.
    pub inst: InstId,
    /// The checks that need not be executed any more.
    pub replaced: Vec<InstId>,
    /// Is one of those in a loop that the block is not in?
    pub out_of_loop: bool,
    /// What is computed before it, and the check itself at last.
    copies: Vec<Copied>,
}

/// What is checked, up to the view's equalities: two checks with equal keys trap on the same inputs, with the same codes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Key {
    /// What is tested, in order. Equal values do not mean that: `0 / y` and `0 / z` are equal.
    tested: SmallVec<[ClassId; 2]>,
    /// By what is tested: the trap code.
    codes: SmallVec<[u32; 2]>,
    /// The value of the operation that may trap, if it is one.
    value: Option<ClassId>,
    /// What a load is beside that.
    load: Option<Load>,
}

/// A load: addresses are what is tested. Without a trap code it cannot trap where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Load {
    op: OpId,
    targs: SmallVec<[Ty; 2]>,
    /// What it reads.
    state: ClassId,
}

impl Key {
    /// Is it a load that cannot trap where it is executed?
    fn cannot_trap(&self) -> bool {
        self.codes.is_empty()
    }
}

/// What an instruction is for a check that passes it.
#[derive(Clone, Debug)]
enum Step {
    /// A check that may be executed elsewhere.
    Check(InstId, Key),
    /// It may trap, with one of these codes.
    Traps(SmallVec<[u32; 2]>),
    /// It changes a state, and does not end the function.
    Writes,
    /// No check passes it.
    Barrier,
}

/// Checks that are worth executing earlier; all of them may be.
pub fn hoists(given: Saturated) -> Vec<Hoist> {
    let Some(reader) = Reader::new(given) else { return vec![] };
    let mut found: Vec<(Key, Hoist)> = vec![];
    for block in given.skeleton.layout.iter().copied() {
        for (at, step) in reader.steps[block.index()].iter().enumerate() {
            let Step::Check(inst, key) = step else { continue };
            // Others with the same codes pass each other; what has another code waits until these are where they go.
            let waits = found.iter().any(|(other, _)| other == key || other.codes != key.codes);
            if !waits && !reader.is_checked(key, block, at) {
                found.extend(reader.hoist(block, *inst, key).map(|hoist| (key.clone(), hoist)));
            }
        }
    }
    found.into_iter().map(|(_, hoist)| hoist).collect()
}

/// Executes the checks where they are to be.
pub fn apply_hoists(f: &Function, hoists: &[Hoist]) -> Function {
    let mut out = f.clone();
    for hoist in hoists {
        let (insts, _) = copies::add(&mut out, &hoist.copies);
        out.blocks[hoist.to.index()].insts.extend(insts);
    }
    out
}

struct Reader<'a> {
    given: Saturated<'a>,
    /// By block: what its statements are.
    steps: Vec<Vec<Step>>,
    values: Values<'a>,
}

impl<'a> Reader<'a> {
    /// `None` where no check may move.
    fn new(given: Saturated<'a>) -> Option<Self> {
        let skeleton = given.skeleton;
        let mut steps = vec![vec![]; skeleton.blocks.len()];
        for block in &skeleton.layout {
            steps[block.index()] = block_steps(given, *block);
        }
        if !steps.iter().flatten().any(|step| matches!(step, Step::Check(..))) {
            return None;
        }
        Some(Reader { given, steps, values: Values::new(given) })
    }

    /// Has an equal check been executed whenever this step of the block is?
    fn is_checked(&self, key: &Key, block: BlockId, at: usize) -> bool {
        let is_equal = |step: &Step| matches!(step, Step::Check(_, other) if other == key);
        self.steps[block.index()][..at].iter().any(is_equal)
            || self.above(block).any(|above| self.steps[above.index()].iter().any(is_equal))
    }

    /// What dominates a block, upwards, without it.
    fn above(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::successors(self.given.cfg.idom(block), |block| self.given.cfg.idom(*block))
    }

    /// The best place for a check, if one is better than where it is.
    fn hoist(&self, block: BlockId, inst: InstId, key: &Key) -> Option<Hoist> {
        let cfg = self.given.cfg;
        let mut best: Option<(u64, Hoist)> = None;
        for to in self.above(block).take(MAX_HEIGHT) {
            let frequency = cfg.frequency(to);
            if best.as_ref().is_some_and(|(least, _)| *least <= frequency) {
                continue;
            }
            if key.load.as_ref().is_some_and(|load| !self.ends_with(to, load.state)) {
                continue;
            }
            let Some(met) = self.met(to, key) else { continue };
            let replaced: Vec<(BlockId, InstId)> = met.into_iter().filter(|(at, _)| cfg.dominates(to, *at)).collect();
            if replaced.iter().map(|(at, _)| cfg.frequency(*at)).sum::<u64>() <= frequency {
                continue;
            }
            let copied = replaced.iter().find_map(|(_, inst)| Some((*inst, self.values.copy(*inst, to)?)));
            let Some((copied, copies)) = copied.filter(|_| replaced.iter().any(|(_, other)| *other == inst)) else {
                continue;
            };
            let out_of_loop = replaced.iter().any(|(at, _)| cfg.loops_around(*at).any(|l| !cfg.loop_contains(l, to)));
            let replaced = replaced.into_iter().map(|(_, inst)| inst).collect();
            best = Some((frequency, Hoist { to, inst: copied, replaced, out_of_loop, copies }));
        }
        best.map(|(_, hoist)| hoist)
    }

    /// Is a state one of those that a block ends with?
    fn ends_with(&self, block: BlockId, state: ClassId) -> bool {
        let Saturated { skeleton, view, .. } = self.given;
        skeleton.blocks[block.index()].end.iter().any(|end| view.class_of(*end) == state)
    }

    /// The equal checks that are met first on the paths from the end of a block; `None` if one meets none, or something
    /// that a check cannot pass.
    fn met(&self, from: BlockId, key: &Key) -> Option<BTreeSet<(BlockId, InstId)>> {
        let Saturated { function: f, cfg, .. } = self.given;
        let mut met = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            let term = &f.block(block).term;
            let edges = term.edges();
            if edges.is_empty() || matches!(term, Terminator::Opaque { .. }) || seen.len() > MAX_BLOCKS {
                return None;
            }
            for edge in edges {
                let target = edge.target;
                if cfg.is_back_edge(block, target) || cfg.is_irreducible(target) {
                    return None;
                }
                if !seen.insert(target) {
                    continue;
                }
                match self.first(from, target, key)? {
                    Some(inst) => drop(met.insert((target, inst))),
                    None => work.push(target),
                }
            }
        }
        Some(met)
    }

    /// The first equal check in a block, if there is one; `None` if something stands before it that it cannot pass on
    /// its way to the end of `to`.
    fn first(&self, to: BlockId, block: BlockId, key: &Key) -> Option<Option<InstId>> {
        for step in &self.steps[block.index()] {
            let passes = |codes: &[u32]| {
                let own = key.codes.first();
                codes.is_empty() || own.is_some_and(|own| codes.iter().chain(&key.codes).all(|code| code == own))
            };
            match step {
                Step::Check(inst, other) if other == key => return Some(Some(*inst)),
                Step::Check(_, other) if passes(&other.codes) || self.has_passed(other, to) => {}
                Step::Traps(codes) if passes(codes) => {}
                Step::Writes if key.cannot_trap() => {}
                Step::Check(..) | Step::Traps(_) | Step::Writes | Step::Barrier => return None,
            }
        }
        Some(None)
    }

    /// Has an equal check passed at the end of a block?
    fn has_passed(&self, key: &Key, block: BlockId) -> bool {
        self.is_checked(key, block, self.steps[block.index()].len())
    }
}

/// The load that an instruction is, if it is one, with its operands.
fn load(given: Saturated, inst: InstId, node: InputId) -> Option<(Load, SmallVec<[ClassId; 2]>)> {
    let Saturated { function: f, universe, skeleton, view, .. } = given;
    let InstKind::Op { op, targs, access: Some(_) } = &f.inst(inst).kind else { return None };
    let effects = &universe.ops.get(*op).effects;
    if !effects.is_value() || effects.reads.len() != 1 {
        return None;
    }
    let children = &skeleton.input.nodes[node.index()].children;
    let (state, operands) = children.split_last()?;
    let operands = operands.iter().map(|operand| view.class_of(*operand)).collect();
    Some((Load { op: *op, targs: targs.clone(), state: view.class_of(*state) }, operands))
}

/// What the statements of a block are, except for those that a check passes unseen.
fn block_steps(given: Saturated, block: BlockId) -> Vec<Step> {
    let Saturated { function: f, universe, skeleton: s, view, .. } = given;
    let mut steps = vec![];
    let mut sites = s.sites(block).map(|site| s.statement(site)).peekable();
    while let Some(statement) = sites.next() {
        let step = match &statement.kind {
            StatementKind::Write { trap: None, .. } => Step::Writes,
            StatementKind::Write { .. } => Step::Barrier,
            StatementKind::Check { key: CheckKey::Operation { code }, value: Some(node), .. }
                if let Some((load, tested)) = load(given, statement.inst, *node) =>
            {
                let codes = code.iter().copied().collect();
                Step::Check(statement.inst, Key { tested, codes, value: Some(view.class_of(*node)), load: Some(load) })
            }
            StatementKind::Opaque { observes: false, writes: false, .. }
            | StatementKind::Call { observes: false, writes: false, .. }
            | StatementKind::Check { observes: false, .. } => continue,
            StatementKind::Opaque { .. } | StatementKind::Call { .. } => Step::Barrier,
            StatementKind::Check { key: CheckKey::Operation { code }, .. } => match code {
                Some(code) => Step::Traps(smallvec![*code]),
                None => Step::Barrier,
            },
            StatementKind::Check { key: CheckKey::Condition { tested, code, .. }, value, .. } => {
                let value = value.map(|value| view.class_of(value));
                let (first, code) = (view.class_of(*tested), *code);
                let mut key = Key { tested: smallvec![first], codes: smallvec![code], value, load: None };
                let mut is_whole = true;
                // Further conditions of one instruction follow.
                while let Some(next) = sites.next_if(|next| next.inst == statement.inst) {
                    match &next.kind {
                        StatementKind::Check { key: CheckKey::Condition { tested, code, .. }, .. } => {
                            key.tested.push(view.class_of(*tested));
                            key.codes.push(*code);
                        }
                        _ => is_whole = false,
                    }
                }
                if is_whole && key.tested.iter().all(|class| view.class(*class).constant == Some(0)) {
                    continue;
                }
                let is_pure = match &f.inst(statement.inst).kind {
                    InstKind::Op { op, access, .. } => {
                        access.is_none() && universe.ops.get(*op).effects.reads.is_empty()
                    }
                    kind => matches!(kind, InstKind::Check { .. }),
                };
                match is_whole {
                    true if is_pure => Step::Check(statement.inst, key),
                    true => Step::Traps(key.codes),
                    false => Step::Barrier,
                }
            }
        };
        steps.push(step);
    }
    steps
}

#[cfg(test)]
mod tests;
