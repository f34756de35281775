//! What a saturated e-graph says about control: the one home of changes to the skeleton.
//!
//! [`changes`] reads them off a view, [`apply`] makes them in the IR function; the pipeline then builds and
//! saturates again, a bounded number of times. A branch on a constant becomes a jump, a check that always traps
//! ends its block, blocks that nothing reaches any more leave the layout, and parameters that are constant, equal to
//! one another or to a value that dominates them are replaced ([`params`]). A test that an earlier branch has decided
//! is decided ([`decided_tests`], [`super::scoped_facts`]). Unused parameters stay here: elaboration drops them.
//!
//! **Invariant**: each change leaves fewer parameters, edges, checks or operands that are no constants, so rounds end;
//! and a change is reported only where it holds for the function as it is, all others made or not.

mod decided_tests;
mod params;

use super::branch_facts::truths;
use super::scoped_facts::{Decisions, KnownAtEnds};
use super::{CheckKey, SiteId, Skeleton, SkeletonBlock, StatementKind, Test};
use crate::Saturated;
use crate::egraph::{ClassId, EGraphView, InputId};
use crate::ir::{BlockId, Cfg, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// One change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Change {
    /// The block always goes on by this successor.
    Jump {
        /// The block.
        block: BlockId,
        /// Position among its successors.
        slot: u32,
    },
    /// The instruction always traps.
    Trap {
        /// Its block.
        block: BlockId,
        /// The instruction.
        inst: InstId,
        /// The trap code, unless it is kept and traps with an earlier one.
        code: u32,
        /// It has an earlier condition that is not known, and must stay to tell the two apart.
        keep: bool,
    },
    /// The check never traps.
    Pass {
        /// Its block.
        block: BlockId,
        /// The check.
        inst: InstId,
    },
    /// A comparison, or another pure instruction, has one outcome where it is computed.
    Settle {
        /// Its block.
        block: BlockId,
        /// The instruction.
        inst: InstId,
        /// In canonical form.
        constant: i64,
    },
    /// An operand is a constant, since a branch was taken.
    Operand {
        /// Where the branch has led to.
        block: BlockId,
        /// The instruction.
        inst: InstId,
        /// Which operand.
        index: u32,
        /// In canonical form.
        constant: i64,
    },
    /// A block parameter is a constant.
    Constant {
        /// The block.
        block: BlockId,
        /// Which parameter.
        index: u32,
        /// In canonical form.
        constant: i64,
    },
    /// A block parameter equals a value that is defined wherever it is.
    Replace {
        /// The block.
        block: BlockId,
        /// Which parameter.
        index: u32,
        /// The value.
        by: Value,
    },
    /// A block parameter equals what a pure instruction would compute in its block.
    Recompute {
        /// The block.
        block: BlockId,
        /// Which parameter.
        index: u32,
        /// The instruction, somewhere before.
        inst: InstId,
    },
}

/// Reads off what can be changed; in layout order. `at_ends`: of the same function.
pub fn changes(given: Saturated, at_ends: &KnownAtEnds) -> Vec<Change> {
    let Saturated { function: f, cfg, universe, skeleton: s, view } = given;
    let mut found = vec![];
    let truths = truths(view, universe);
    let taken = vec![Taken::None; s.blocks.len()];
    let mut reader = Reader { f, cfg, universe, s, view, truths, decisions: &at_ends.decisions, taken };
    let mut work = vec![f.entry()];
    let mut reached = vec![false; s.blocks.len()];
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut reached[block.index()], true) {
            continue;
        }
        let data = &s.blocks[block.index()];
        let taken = reader.taken(block, data);
        reader.taken[block.index()] = taken;
        match taken {
            Taken::None => {}
            Taken::One(slot) => work.push(data.edges[slot as usize].target),
            Taken::All => work.extend(data.edges.iter().map(|e| e.target)),
        }
    }
    for block in s.layout.iter().filter(|b| reached[b.index()]) {
        found.extend(reader.trap(*block));
        found.extend(reader.passed(*block));
        found.extend(decided_tests::values(&reader, *block));
        if let Taken::One(slot) = reader.taken[block.index()]
            && s.blocks[block.index()].edges.len() > 1
        {
            found.push(Change::Jump { block: *block, slot });
        }
    }
    found.extend(params::replacements(&reader, cfg));
    found.extend(decided_tests::constants(&reader, cfg));
    found.sort_by_key(|change| match change {
        Change::Jump { block, .. }
        | Change::Pass { block, .. }
        | Change::Settle { block, .. }
        | Change::Operand { block, .. }
        | Change::Trap { block, .. }
        | Change::Constant { block, .. }
        | Change::Recompute { block, .. }
        | Change::Replace { block, .. } => s.blocks[block.index()].first_segment,
    });
    found
}

/// Which edges of a block can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taken {
    None,
    One(u32),
    All,
}

struct Reader<'a> {
    f: &'a Function,
    cfg: &'a Cfg,
    universe: &'a Universe,
    s: &'a Skeleton,
    view: &'a EGraphView,
    /// By class of integers: the class of its truth, where some node says it.
    truths: FxHashMap<ClassId, ClassId>,
    /// What is decided by ranges, bits and the order of integers.
    decisions: &'a Decisions,
    /// By block; `None` for blocks that are not reached.
    taken: Vec<Taken>,
}

impl Reader<'_> {
    fn constant(&self, input: InputId) -> Option<i64> {
        self.view.class(self.view.class_of(input)).constant
    }

    fn taken(&self, block: BlockId, data: &SkeletonBlock) -> Taken {
        if self.trap(block).is_some() || data.edges.is_empty() {
            return Taken::None;
        }
        let constant = || self.constant(data.operands[0]);
        let slot = match &self.f.block(block).term {
            Terminator::Jump(_) => Some(0),
            Terminator::Branch { cond, .. } => {
                let value = self.s.value_input[cond.index()];
                let constant = |value| self.constant(value).map(|n| n != 0);
                let known = |value| self.known(Test::Branch(block), block, value);
                let holds = value.and_then(|value| constant(value).or_else(|| known(value)));
                let holds = holds.or_else(|| self.decisions.branches.get(&block).copied());
                holds.map(|holds| u32::from(!holds))
            }
            Terminator::Switch { index, targets, .. } => {
                let known = || self.decisions.switches.get(&block).copied();
                constant().or_else(known).and_then(|n| {
                    let index = self.universe.types.scalar(self.f.ty(*index))?.zero_extended(n);
                    Some(index.min(targets.len() as u64) as u32)
                })
            }
            Terminator::Return(_) | Terminator::Trap { .. } | Terminator::Opaque { .. } => return Taken::All,
        };
        let slot = slot.or_else(|| self.same_edges(data).then_some(0));
        slot.map_or(Taken::All, Taken::One)
    }

    /// Do all edges carry equal values to one block?
    fn same_edges(&self, data: &SkeletonBlock) -> bool {
        data.edges.windows(2).all(|pair| {
            let arg = |i: usize, j: usize| match pair[i].args[j] {
                super::SkeletonArg::Node(input) => Some(self.view.class_of(input)),
                super::SkeletonArg::Terminator(_) => None,
            };
            pair[0].target == pair[1].target
                && (0..pair[0].args.len()).all(|j| arg(0, j).is_some() && arg(0, j) == arg(1, j))
        })
    }

    /// The first check of the block that always traps.
    fn trap(&self, block: BlockId) -> Option<Change> {
        let mut unknown = None;
        for site in self.s.sites(block) {
            let statement = self.s.statement(site);
            let StatementKind::Check { key, observes: true, .. } = &statement.kind else { continue };
            let CheckKey::Condition { condition, code, .. } = key else {
                unknown = Some(statement.inst);
                continue;
            };
            let known = || self.decided(site);
            match self.constant(*condition).map(|n| n != 0).or_else(known) {
                Some(false) => {}
                None => unknown = Some(statement.inst),
                Some(true) => {
                    let inst = statement.inst;
                    let keep = unknown == Some(inst);
                    let data = self.f.block(block);
                    let done = keep && data.insts.last() == Some(&inst) && matches!(data.term, Terminator::Trap { .. });
                    return (!done).then_some(Change::Trap { block, inst, code: *code, keep });
                }
            }
        }
        None
    }
}

impl Reader<'_> {
    /// Whether a check traps, as far as earlier branches tell.
    fn decided(&self, site: SiteId) -> Option<bool> {
        let statement = self.s.statement(site);
        match &statement.kind {
            StatementKind::Check { key: CheckKey::Condition { condition, .. }, value: None, .. } => {
                let known = self.known(Test::Check(site), statement.block, *condition);
                known.or_else(|| self.decisions.checks.get(&site).copied())
            }
            _ => None,
        }
    }

    /// Checks of a block that earlier branches have settled.
    fn passed(&self, block: BlockId) -> impl Iterator<Item = Change> {
        let passed = self.s.sites(block).filter(|site| self.decided(*site) == Some(false));
        passed.map(move |site| Change::Pass { block, inst: self.s.statement(site).inst })
    }
}

/// Makes the changes. Blocks that are not reachable afterwards leave the layout.
pub fn apply(f: &Function, changes: &[Change]) -> Function {
    let mut out = f.clone();
    // By value: what stands for it.
    let mut instead: Vec<Option<Value>> = vec![None; f.values.len()];
    let mut removed: Vec<Vec<bool>> = f.blocks.iter().map(|b| vec![false; b.params.len()]).collect();
    // By block: what its first instructions are to be.
    let mut first: Vec<Vec<InstId>> = vec![vec![]; f.blocks.len()];
    let mut known: FxHashMap<(BlockId, Ty, i64), Value> = FxHashMap::default();
    for change in changes {
        match *change {
            Change::Jump { block, slot } => {
                let term = &mut out.blocks[block.index()].term;
                let edge = term.edges()[slot as usize].clone();
                *term = Terminator::Jump(edge);
            }
            Change::Trap { block, inst, code, keep } => {
                let data = &mut out.blocks[block.index()];
                let at = data.insts.iter().position(|i| *i == inst).expect("the change is of this function");
                data.insts.truncate(at + usize::from(keep));
                data.term = Terminator::Trap { code };
            }
            Change::Pass { block, inst } => out.blocks[block.index()].insts.retain(|i| *i != inst),
            Change::Settle { inst, constant, .. } => {
                let settled = &mut out.insts[inst.index()];
                (settled.kind, settled.args) = (InstKind::Const(constant), smallvec![]);
            }
            Change::Operand { block, inst, index, constant } => {
                let ty = f.ty(f.inst(inst).args[index as usize]);
                let value = *known.entry((block, ty, constant)).or_insert_with(|| {
                    let value = out.add_value(ty);
                    first[block.index()].push(InstId(out.insts.len() as u32));
                    let kind = InstKind::Const(constant);
                    out.insts.push(Inst { kind, args: smallvec![], results: smallvec![value], origin: None });
                    value
                });
                // One that was settled has no operands any more.
                if let Some(arg) = out.insts[inst.index()].args.get_mut(index as usize) {
                    *arg = value;
                }
            }
            Change::Constant { block, index, constant } => {
                // The constant takes over the parameter's value, so no use changes.
                removed[block.index()][index as usize] = true;
                let value = f.block(block).params[index as usize];
                first[block.index()].push(InstId(out.insts.len() as u32));
                out.insts.push(Inst {
                    kind: InstKind::Const(constant),
                    args: smallvec![],
                    results: smallvec![value],
                    origin: None,
                });
            }
            Change::Recompute { block, index, inst } => {
                removed[block.index()][index as usize] = true;
                let value = f.block(block).params[index as usize];
                first[block.index()].push(InstId(out.insts.len() as u32));
                out.insts.push(Inst { results: smallvec![value], ..f.inst(inst).clone() });
            }
            Change::Replace { block, index, by } => {
                removed[block.index()][index as usize] = true;
                instead[f.block(block).params[index as usize].index()] = Some(by);
            }
        }
    }
    for (block, first) in out.blocks.iter_mut().zip(first) {
        block.insts.splice(0..0, first);
    }
    let reached = reachable(&out);
    out.layout.retain(|b| reached[b.index()]);
    let resolve = |v: &mut Value| {
        while let Some(by) = instead.get(v.index()).copied().flatten() {
            *v = by;
        }
    };
    for block in out.layout.clone() {
        let data = &mut out.blocks[block.index()];
        let mut gone = removed[block.index()].iter();
        data.params.retain(|_| !gone.next().copied().unwrap_or(false));
        data.term.operands_mut().iter_mut().for_each(resolve);
        for edge in data.term.edges_mut() {
            let args = edge.args.iter().zip(&removed[edge.target.index()]).filter(|(_, gone)| !**gone);
            let args: SmallVec<[EdgeArg; 2]> = args.map(|(arg, _)| *arg).collect();
            edge.args = args;
            for arg in &mut edge.args {
                if let EdgeArg::Value(v) = arg {
                    resolve(v);
                }
            }
        }
        for inst in &out.blocks[block.index()].insts {
            out.insts[inst.index()].args.iter_mut().for_each(resolve);
        }
    }
    out
}

pub(super) fn reachable(f: &Function) -> Vec<bool> {
    let mut reached = vec![false; f.blocks.len()];
    let mut work = vec![f.entry()];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut reached[block.index()], true) {
            work.extend(f.block(block).term.edges().iter().map(|e| e.target));
        }
    }
    reached
}

#[cfg(test)]
mod tests;
