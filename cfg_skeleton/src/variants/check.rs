//! Is every run of a variant a run of the original? Asked of the two functions and of what each block is a copy of,
//! without knowing how the variant was made.
//!
//! Control in a copy of a block stands for control in the block. The latest copy of a value is the one that was defined
//! last, on all ways to a place alike. Then the variant does what the original does if
//!
//! 1. its entry is a copy of the entry, and each copy has the instructions of its block in their order, constants aside,
//!    and ends as it does, or goes on as a branch does whose outcome earlier branches decide ([`super::decided`]);
//! 2. each edge leads to a copy of the block to which the original's leads, perhaps by way of a block that has its parameters
//!    and only chooses between such copies;
//! 3. each operand is the latest copy of the original's operand, and each further parameter gets the latest copy of what
//!    it stands for.
//!
//! That a loop must make progress may be said of one that repeats as a loop does of which the original says it.

use super::copies::{Part, Witness};
use super::decided::Decided;
use crate::ir::{BlockId, Cfg, Edge, EdgeArg, Function, Inst, InstId, InstKind, Terminator, Value};
use rewright_typeprop::Universe;

/// Why a function is no variant of another: a bug in how it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("b{} is no copy: {why}", .block.0)]
pub struct NoCopy {
    /// The block of the variant.
    pub block: BlockId,
    /// What is not the same.
    pub why: &'static str,
}

/// By value of the original: its latest copy, if that is the same on all ways.
type Latest = Vec<Option<Value>>;

struct Check<'a> {
    original: &'a Function,
    variant: &'a Function,
    universe: &'a Universe,
    witness: &'a Witness,
    cfg: &'a Cfg,
    decided: Decided<'a>,
    /// By value of each: what it is, if it is a constant.
    constants: [Vec<Option<i64>>; 2],
}

const ANOTHER_END: &str = "it ends otherwise, or by another value";

/// Checks that the variant does what the original does; both are verified.
pub(super) fn check(
    original: &Function,
    variant: &Function,
    universe: &Universe,
    witness: &Witness,
) -> Result<(), NoCopy> {
    let cfg = Cfg::new(variant);
    let constants = [original, variant].map(constants);
    let decided = Decided::new(variant, &cfg, universe);
    let check = Check { original, variant, universe, witness, cfg: &cfg, decided, constants };
    check.whole()?;
    let latest = check.latest()?;
    for block in cfg.reverse_post_order() {
        let Some(latest) = latest[block.index()].clone() else { continue };
        let checked = match check.part(*block) {
            Some(Part::Copy(of)) => check.copy(*block, of, latest),
            Some(Part::Choice(of)) => check.choice(*block, of, latest),
            None => Err("it stands for nothing"),
        };
        checked.map_err(|why| NoCopy { block: *block, why })?;
    }
    check.progress()
}

fn constants(function: &Function) -> Vec<Option<i64>> {
    let mut constants = vec![None; function.values.len()];
    for inst in function.layout.iter().flat_map(|b| &function.block(*b).insts).map(|id| function.inst(*id)) {
        if let InstKind::Const(n) = inst.kind {
            inst.results.iter().for_each(|result| constants[result.index()] = Some(n));
        }
    }
    constants
}

/// What a block executes, except for constants.
fn executed(function: &Function, block: BlockId) -> impl Iterator<Item = &Inst> {
    let insts = function.block(block).insts.iter().map(|id: &InstId| function.inst(*id));
    insts.filter(|inst| !matches!(inst.kind, InstKind::Const(_)))
}

impl Check<'_> {
    fn part(&self, block: BlockId) -> Option<Part> {
        self.witness.blocks.get(block.index()).copied()
    }

    fn of(&self, block: BlockId) -> Option<BlockId> {
        self.part(block).map(Part::of)
    }

    /// What belongs to no block.
    fn whole(&self) -> Result<(), NoCopy> {
        let (o, v) = (self.original, self.variant);
        let no = |why| Err(NoCopy { block: v.entry(), why });
        if self.part(v.entry()) != Some(Part::Copy(o.entry()))
            || v.block(v.entry()).params.len() != o.block(o.entry()).params.len()
        {
            return no("it is the entry");
        }
        if (&v.results, &v.regions, &v.promises) != (&o.results, &o.regions, &o.promises) {
            return no("results, regions and promises are the function's");
        }
        let defines = |b: &BlockId| {
            let results = executed(v, *b).flat_map(|inst| &inst.results);
            v.block(*b).params.iter().chain(results).copied().collect::<Vec<_>>()
        };
        let defined: Vec<(BlockId, Value)> =
            v.layout.iter().flat_map(|b| defines(b).into_iter().map(move |value| (*b, value))).collect();
        // A promise is about one execution: that of a block of which there is one copy, itself.
        for arg in v.promises.iter().flat_map(|promise| &promise.args) {
            let home = defined.iter().find(|(_, value)| value == arg).map(|(block, _)| *block);
            let copies = |home: BlockId| v.layout.iter().filter(|b| self.of(**b) == Some(home)).count();
            let is_itself = home.is_some_and(|home| self.of(home) == Some(home) && copies(home) == 1);
            if !is_itself && self.constants[1][arg.index()].is_none() {
                return no("a promise is about a value that has copies");
            }
        }
        Ok(())
    }

    /// By block: the latest copies at its beginning.
    fn latest(&self) -> Result<Vec<Option<Latest>>, NoCopy> {
        let mut at: Vec<Option<Latest>> = vec![None; self.variant.blocks.len()];
        at[self.variant.entry().index()] = Some(vec![None; self.original.values.len()]);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in self.cfg.reverse_post_order() {
                let Some(mut latest) = at[block.index()].clone() else { continue };
                self.define(*block, &mut latest).map_err(|why| NoCopy { block: *block, why })?;
                for edge in self.variant.block(*block).term.edges() {
                    changed |= meet(&mut at[edge.target.index()], &latest);
                }
            }
        }
        Ok(at)
    }

    /// What is the latest behind a block.
    fn define(&self, block: BlockId, latest: &mut Latest) -> Result<(), &'static str> {
        let Some(part) = self.part(block) else { return Ok(()) };
        self.params(block, part.of(), latest)?;
        let Part::Copy(of) = part else { return Ok(()) };
        for (ours, theirs) in executed(self.variant, block).zip(executed(self.original, of)) {
            self.results(ours, theirs, latest)?;
        }
        Ok(())
    }

    fn params(&self, block: BlockId, of: BlockId, latest: &mut Latest) -> Result<(), &'static str> {
        let (ours, theirs) = (&self.variant.block(block).params, &self.original.block(of).params);
        if ours.len() < theirs.len() {
            return Err("it lacks a parameter");
        }
        for (i, param) in ours.iter().enumerate() {
            let of =
                theirs.get(i).or_else(|| self.witness.params.get(param)).ok_or("a parameter stands for nothing")?;
            self.becomes(*param, *of, latest)?;
        }
        Ok(())
    }

    fn results(&self, ours: &Inst, theirs: &Inst, latest: &mut Latest) -> Result<(), &'static str> {
        if ours.results.len() != theirs.results.len() {
            return Err("an instruction has other results");
        }
        ours.results.iter().zip(&theirs.results).try_for_each(|(value, of)| self.becomes(*value, *of, latest))
    }

    fn becomes(&self, value: Value, of: Value, latest: &mut Latest) -> Result<(), &'static str> {
        if self.variant.ty(value) != self.original.ty(of) {
            return Err("a value has another type");
        }
        latest[of.index()] = Some(value);
        Ok(())
    }

    fn copy(&self, block: BlockId, of: BlockId, mut latest: Latest) -> Result<(), &'static str> {
        self.params(block, of, &mut latest)?;
        let (mut ours, mut theirs) = (executed(self.variant, block), executed(self.original, of));
        loop {
            let (ours, theirs) = match (ours.next(), theirs.next()) {
                (Some(ours), Some(theirs)) => (ours, theirs),
                (None, None) => break,
                _ => return Err("it executes more, or less"),
            };
            if ours.kind != theirs.kind || !self.all_are(&ours.args, &theirs.args, &latest) {
                return Err("an instruction is another, or has other operands");
            }
            self.results(ours, theirs, &mut latest)?;
        }
        let (ours, theirs) = (&self.variant.block(block).term, &self.original.block(of).term);
        if let (Terminator::Jump(ours), Terminator::Branch { cond, then, els }) = (ours, theirs) {
            let outcome = latest[cond.index()].and_then(|cond| self.decided.outcome(block, cond));
            let theirs = if outcome.ok_or(ANOTHER_END)? { then } else { els };
            return self.edge(ours, theirs, &latest);
        }
        if !ends_alike(ours, theirs) || !self.all_are(ours.operands(), theirs.operands(), &latest) {
            return Err(ANOTHER_END);
        }
        let edges = (ours.edges(), theirs.edges());
        if edges.0.len() != edges.1.len() {
            return Err("it has more edges, or fewer");
        }
        edges.0.iter().zip(&edges.1).try_for_each(|(ours, theirs)| self.edge(ours, theirs, &latest))
    }

    /// A block that only chooses: nothing that it does can be noticed, and each of its edges leads to a copy of the block
    /// that it stands for, with the same arguments.
    fn choice(&self, block: BlockId, of: BlockId, mut latest: Latest) -> Result<(), &'static str> {
        self.params(block, of, &mut latest)?;
        let data = self.variant.block(block);
        let is_silent = |id: &InstId| self.variant.inst(*id).is_silent(self.universe);
        if !matches!(data.term, Terminator::Branch { .. }) || !data.insts.iter().all(is_silent) {
            return Err("it is no copy, and does more than choose");
        }
        let args = self.original.block(of).params.iter().map(|param| EdgeArg::Value(*param)).collect();
        let theirs = Edge { target: of, args };
        data.term.edges().iter().try_for_each(|edge| match self.part(edge.target) {
            Some(Part::Copy(_)) => self.edge(edge, &theirs, &latest),
            _ => Err("it chooses something that is no copy"),
        })
    }

    fn edge(&self, ours: &Edge, theirs: &Edge, latest: &Latest) -> Result<(), &'static str> {
        let params = &self.variant.block(ours.target).params;
        if self.of(ours.target) != Some(theirs.target)
            || ours.args.len() != params.len()
            || ours.args.len() < theirs.args.len()
        {
            return Err("an edge leads elsewhere, or carries less");
        }
        for (i, (arg, param)) in ours.args.iter().zip(params).enumerate() {
            let stands_for = || self.witness.params.get(param).map(|of| EdgeArg::Value(*of));
            let is_latest = match (*arg, theirs.args.get(i).copied().or_else(stands_for)) {
                (EdgeArg::Value(value), Some(EdgeArg::Value(of))) => self.is(value, of, latest),
                (EdgeArg::Terminator(n), Some(EdgeArg::Terminator(of))) => n == of,
                _ => false,
            };
            if !is_latest {
                return Err("an edge carries something else");
            }
        }
        Ok(())
    }

    fn all_are(&self, values: &[Value], of: &[Value], latest: &Latest) -> bool {
        values.len() == of.len() && values.iter().zip(of).all(|(value, of)| self.is(*value, *of, latest))
    }

    /// Is a value the latest copy of one of the original, or the same constant?
    fn is(&self, value: Value, of: Value, latest: &Latest) -> bool {
        let [theirs, ours] = [self.constants[0][of.index()], self.constants[1][value.index()]];
        match theirs {
            Some(_) => theirs == ours && self.variant.ty(value) == self.original.ty(of),
            None => latest[of.index()] == Some(value),
        }
    }

    /// A loop whose header says that it must make progress: its blocks are copies from one loop that says so, and its
    /// header from no loop in that, so that each time round is one there.
    fn progress(&self) -> Result<(), NoCopy> {
        let theirs = Cfg::new(self.original);
        for (id, l) in self.cfg.loops().filter(|(_, l)| self.variant.block(l.header).must_progress) {
            let of = self.of(l.header).filter(|of| !theirs.is_irreducible(*of)).and_then(|of| theirs.loop_of(of));
            let says_so = |of| self.original.block(theirs.natural_loop(of).header).must_progress;
            let is_of = |of, block: &BlockId| self.of(*block).is_none_or(|block| theirs.loop_contains(of, block));
            if !of.is_some_and(|of| says_so(of) && self.cfg.loop_blocks(id).iter().all(|block| is_of(of, block))) {
                return Err(NoCopy {
                    block: l.header,
                    why: "the original does not say that this loop must make progress",
                });
            }
        }
        Ok(())
    }
}

/// Where control comes from several blocks, only what all agree on is known.
fn meet(at: &mut Option<Latest>, arriving: &Latest) -> bool {
    let Some(known) = at else {
        *at = Some(arriving.clone());
        return true;
    };
    let mut changed = false;
    for (known, arriving) in known.iter_mut().zip(arriving) {
        if known.is_some() && known != arriving {
            *known = None;
            changed = true;
        }
    }
    changed
}

/// Are two terminators the same except for values and edges?
fn ends_alike(ours: &Terminator, theirs: &Terminator) -> bool {
    match (ours, theirs) {
        (Terminator::Trap { code }, Terminator::Trap { code: other }) => code == other,
        (Terminator::Opaque { payload, .. }, Terminator::Opaque { payload: other, .. }) => payload == other,
        _ => std::mem::discriminant(ours) == std::mem::discriminant(theirs),
    }
}
