//! Puts the bodies of called functions in the place of their calls.
//!
//! A call ends its block; what stood behind it goes on in a new block whose parameters are the call's results. The
//! callee's entry block continues the caller's, its parameters are the operands, and its returns are jumps. Regions
//! of one name are one region. Types of operands may be more precise than those of the parameters: infer them again
//! afterwards ([`super::infer::reinfer`]).
//!
//! **Invariant**: a verified caller stays verified. Except for sizes, nothing here decides what is worth it: recursion
//! is never followed ([`super::calls::CallGraph`]).

use super::cfg::{FREQUENCY_ONE, SHARE_ONE};
use super::{Block, BlockId, Counts, Edge, EdgeArg, Function, Inst, InstId, InstKind, RegionId, Terminator, Value};
use rewright_typeprop::OpId;
use smallvec::SmallVec;

/// When a call is inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InlineLimits {
    /// A body of more instructions stays a call.
    pub body: usize,
    /// A function does not grow beyond this many instructions.
    pub function: usize,
}

impl Default for InlineLimits {
    fn default() -> Self {
        // Bodies of domain operations are a few calls each; a caller that grows a hundredfold is of no use.
        InlineLimits { body: 60, function: 4_000 }
    }
}

/// Inlines calls for which `body` gives one, within limits, in order; calls inside of bodies stay calls. Gives how
/// many were inlined.
pub fn inline<'m>(f: &mut Function, body: impl Fn(OpId) -> Option<&'m Function>, limits: InlineLimits) -> usize {
    let mut count = 0;
    let mut size: usize = f.layout.iter().map(|b| f.block(*b).insts.len()).sum();
    let mut work: Vec<BlockId> = f.layout.iter().rev().copied().collect();
    while let Some(block) = work.pop() {
        let found = f.block(block).insts.iter().enumerate().find_map(|(at, id)| {
            let InstKind::Op { op, .. } = &f.inst(*id).kind else { return None };
            let callee = body(*op)?;
            let own = instructions(callee);
            (own <= limits.body && size + own <= limits.function && is_inlinable(callee)).then_some((at, callee, own))
        });
        if let Some((at, callee, own)) = found {
            work.push(put_in_place(f, block, at, callee));
            size += own;
            count += 1;
        }
    }
    count
}

/// How many instructions a function has.
pub fn instructions(f: &Function) -> usize {
    f.layout.iter().map(|b| f.block(*b).insts.len()).sum()
}

/// A function without opaque parts: these mean something to one function's front end only, and cannot stand in another.
fn is_inlinable(f: &Function) -> bool {
    f.layout.iter().all(|b| {
        let block = f.block(*b);
        !matches!(block.term, Terminator::Opaque { .. })
            && block.insts.iter().all(|i| !matches!(f.inst(*i).kind, InstKind::Opaque { .. }))
    })
}

/// Inlines the call at a position of a block; gives the block that goes on behind it.
fn put_in_place(f: &mut Function, block: BlockId, at: usize, callee: &Function) -> BlockId {
    let call = f.blocks[block.index()].insts[at];
    let Inst { args, results, .. } = f.inst(call).clone();
    let Block { cold, counts: Counts { executions, share, .. }, .. } = *f.block(block);
    let rest = f.blocks[block.index()].insts.split_off(at + 1);
    f.blocks[block.index()].insts.pop();
    let term = std::mem::replace(&mut f.blocks[block.index()].term, Terminator::Trap { code: 0 });
    let next = BlockId(f.blocks.len() as u32);
    f.blocks.push(Block {
        params: results.to_vec(),
        insts: rest,
        term,
        cold,
        counts: Counts { trips: None, executions, share },
        must_progress: false,
    });
    let regions: Vec<RegionId> = callee
        .regions
        .iter()
        .enumerate()
        .map(|(i, name)| RegionId(if i == 0 { 0 } else { region(f, name) as u32 }))
        .collect();
    let mut copy = Copy {
        values: vec![None; callee.values.len()],
        blocks: vec![None; callee.blocks.len()],
        regions,
        executions,
        share,
        next,
        f,
        callee,
    };
    copy.all(block, &args);
    let mut layout: Vec<BlockId> = callee.layout.iter().skip(1).filter_map(|b| copy.blocks[b.index()]).collect();
    layout.push(next);
    let place = f.layout.iter().position(|b| *b == block).map_or(f.layout.len(), |at| at + 1);
    f.layout.splice(place..place, layout);
    next
}

/// The region of a name.
fn region(f: &mut Function, name: &str) -> usize {
    if f.regions.is_empty() {
        f.regions.push(String::new());
    }
    let known = f.regions.iter().skip(1).position(|r| r == name);
    known.map_or_else(
        || {
            f.regions.push(name.to_string());
            f.regions.len() - 1
        },
        |at| at + 1,
    )
}

/// A share of a share; a missing share is all.
fn part_of(share: Option<u32>, whole: Option<u32>) -> Option<u32> {
    match (share, whole) {
        (Some(share), Some(whole)) => Some((u64::from(share) * u64::from(whole) / SHARE_ONE).max(1) as u32),
        (share, whole) => share.or(whole),
    }
}

struct Copy<'a> {
    f: &'a mut Function,
    callee: &'a Function,
    values: Vec<Option<Value>>,
    blocks: Vec<Option<BlockId>>,
    regions: Vec<RegionId>,
    /// Of the call.
    executions: Option<u64>,
    share: Option<u32>,
    /// Where returns go.
    next: BlockId,
}

impl Copy<'_> {
    fn all(&mut self, block: BlockId, args: &[Value]) {
        let callee = self.callee;
        let entry = callee.entry();
        for (param, arg) in callee.block(entry).params.iter().zip(args) {
            self.values[param.index()] = Some(*arg);
        }
        self.blocks[entry.index()] = Some(block);
        for b in callee.layout.iter().skip(1) {
            let data = callee.block(*b);
            let id = BlockId(self.f.blocks.len() as u32);
            let params = data.params.iter().map(|p| self.value(*p)).collect();
            let term = Terminator::Trap { code: 0 };
            let per_call = data.counts.executions.zip(self.executions);
            let executions = per_call.map(|(here, calls)| here.saturating_mul(calls) / FREQUENCY_ONE);
            let share = part_of(data.counts.share, self.share);
            let counts = Counts { executions, share, ..data.counts };
            let Block { cold, must_progress, .. } = *data;
            self.f.blocks.push(Block { params, insts: vec![], term, cold, counts, must_progress });
            self.blocks[b.index()] = Some(id);
        }
        for b in &callee.layout {
            let data = callee.block(*b);
            let id = self.block(*b);
            for inst in &data.insts {
                let inst = callee.inst(*inst);
                let copied = Inst {
                    kind: self.kind(&inst.kind),
                    args: inst.args.iter().map(|v| self.value(*v)).collect(),
                    results: inst.results.iter().map(|v| self.value(*v)).collect(),
                    origin: None,
                };
                let number = InstId(self.f.insts.len() as u32);
                self.f.insts.push(copied);
                self.f.blocks[id.index()].insts.push(number);
            }
            let term = self.terminator(&data.term);
            self.f.blocks[id.index()].term = term;
        }
    }

    fn block(&self, b: BlockId) -> BlockId {
        self.blocks[b.index()].expect("every block of a verified function's layout has its copy")
    }

    fn value(&mut self, v: Value) -> Value {
        if let Some(copied) = self.values[v.index()] {
            return copied;
        }
        let copied = self.f.add_value(self.callee.ty(v));
        self.values[v.index()] = Some(copied);
        copied
    }

    fn kind(&self, kind: &InstKind) -> InstKind {
        let mut kind = kind.clone();
        if let InstKind::Op { access: Some(access), .. } = &mut kind {
            access.region = self.regions[access.region.index()];
        }
        kind
    }

    fn edge(&mut self, edge: &Edge) -> Edge {
        let args = edge.args.iter().map(|arg| match arg {
            EdgeArg::Value(v) => EdgeArg::Value(self.value(*v)),
            EdgeArg::Terminator(n) => EdgeArg::Terminator(*n),
        });
        let args = args.collect();
        Edge { target: self.block(edge.target), args }
    }

    fn terminator(&mut self, term: &Terminator) -> Terminator {
        match term {
            Terminator::Jump(edge) => Terminator::Jump(self.edge(edge)),
            Terminator::Branch { cond, then, els } => {
                let cond = self.value(*cond);
                Terminator::Branch { cond, then: self.edge(then), els: self.edge(els) }
            }
            Terminator::Switch { index, targets, default } => Terminator::Switch {
                index: self.value(*index),
                targets: targets.iter().map(|e| self.edge(e)).collect(),
                default: self.edge(default),
            },
            Terminator::Return(values) => {
                let args: SmallVec<[EdgeArg; 2]> = values.iter().map(|v| EdgeArg::Value(self.value(*v))).collect();
                Terminator::Jump(Edge { target: self.next, args })
            }
            Terminator::Trap { code } => Terminator::Trap { code: *code },
            Terminator::Opaque { .. } => unreachable!("functions with opaque terminators are not inlined"),
        }
    }
}

#[cfg(test)]
mod tests;
