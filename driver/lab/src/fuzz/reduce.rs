//! Makes a function that shows a difference smaller, as long as it shows one.

use super::{Difference, Tester};
use rewright_cfg_skeleton::ir::{Function, InstKind, Terminator, verify};
use rewright_pipeline::optimiser::{Accept, Fate, Options};

/// Attempts per finding; each optimises once.
const ATTEMPTS: usize = 1_500;

/// The original, the optimised function and the difference.
type Counterexample = (Function, Function, Difference);

impl Tester<'_> {
    /// The original, the optimised function and the difference, for a smaller original of the same kind.
    pub(super) fn reduce(&mut self, mut found: Counterexample) -> Counterexample {
        let mut attempts = ATTEMPTS;
        loop {
            let mut progress = false;
            for step in 0..found.0.blocks.len() + 2 * found.0.insts.len() + found.0.results.len() {
                for variant in 0..2 {
                    let Some(smaller) = smaller(&found.0, step, variant) else { continue };
                    if attempts == 0 {
                        return found;
                    }
                    attempts -= 1;
                    if let Some(better) = self.still(smaller, &found.2) {
                        found = better;
                        progress = true;
                        break;
                    }
                }
            }
            if !progress {
                return found;
            }
        }
    }

    /// Does the smaller function show a difference of the same kind?
    fn still(&mut self, original: Function, known: &Difference) -> Option<Counterexample> {
        if !verify::verify(&original, self.universe).is_empty() {
            return None;
        }
        let options = Options { accept: Accept::Any, log: false, threads: 1, ..self.config.options.clone() };
        let batch = self.config.clif.optimiser.optimise(std::slice::from_ref(&original), self.universe, &options);
        let outcome = batch.outcomes.into_iter().next()?;
        let difference = match &outcome.fate {
            Fate::Failed(text) | Fate::PassedThrough(text) => {
                Difference { engine: "pipeline", call: known.call.clone(), text: text.clone() }
            }
            _ => self.compare(&original, &outcome.function, std::slice::from_ref(&known.call), true, false)?,
        };
        let kind = |text: &str| text.split([':', ' ']).take(3).map(str::to_string).collect::<Vec<_>>();
        let same = difference.engine == known.engine
            && (known.engine != "pipeline" || kind(&difference.text) == kind(&known.text));
        same.then_some((original, outcome.function, difference))
    }
}

/// The function with one thing less; `None` where the step does not apply.
fn smaller(function: &Function, step: usize, variant: usize) -> Option<Function> {
    let mut out = function.clone();
    let (blocks, insts) = (out.blocks.len(), out.insts.len());
    if step < blocks {
        let block = &mut out.blocks[step];
        let new = match (&block.term, variant) {
            (Terminator::Branch { then, .. }, 0) => Terminator::Jump(then.clone()),
            (Terminator::Branch { els, .. }, _) => Terminator::Jump(els.clone()),
            (Terminator::Switch { targets, .. }, 0) => Terminator::Jump(targets.first()?.clone()),
            (Terminator::Switch { default, .. }, _) => Terminator::Jump(default.clone()),
            _ => return None,
        };
        block.term = new;
        drop_unreachable(&mut out);
    } else if step < blocks + insts {
        // An instruction becomes a constant, or goes.
        let id = insts - 1 - (step - blocks);
        let inst = &mut out.insts[id];
        match inst.kind {
            InstKind::Const(_) => return None,
            _ if inst.results.len() == 1 => {
                inst.kind = InstKind::Const(variant as i64);
                inst.args.clear();
            }
            _ => {
                let before: usize = out.blocks.iter().map(|b| b.insts.len()).sum();
                out.blocks.iter_mut().for_each(|b| b.insts.retain(|i| i.index() != id));
                if before == out.blocks.iter().map(|b| b.insts.len()).sum::<usize>() {
                    return None;
                }
            }
        }
    } else if step < blocks + 2 * insts {
        // Everything that uses its result uses one of its operands of the same type.
        let inst = &out.insts[step - blocks - insts];
        let &[result] = inst.results.as_slice() else { return None };
        let by = *inst.args.iter().filter(|a| function.ty(**a) == function.ty(result)).nth(variant)?;
        let swap = |v: &mut rewright_cfg_skeleton::ir::Value| {
            if *v == result {
                *v = by;
            }
        };
        out.insts.iter_mut().flat_map(|i| &mut i.args).for_each(swap);
        for block in &mut out.blocks {
            block.term.operands_mut().iter_mut().for_each(swap);
            for edge in block.term.edges_mut() {
                for arg in &mut edge.args {
                    if let rewright_cfg_skeleton::ir::EdgeArg::Value(v) = arg {
                        swap(v);
                    }
                }
            }
        }
        let id = step - blocks - insts;
        out.blocks.iter_mut().for_each(|b| b.insts.retain(|i| i.index() != id));
    } else {
        let result = step - blocks - 2 * insts;
        if result >= out.results.len() || variant > 0 {
            return None;
        }
        out.results.remove(result);
        for block in &mut out.blocks {
            if let Terminator::Return(values) = &mut block.term {
                values.remove(result);
            }
        }
    }
    remove_unused(&mut out);
    (size(&out) < size(function)).then_some(out)
}

/// Smaller is better: instructions that are not constants weigh most.
fn size(function: &Function) -> usize {
    let insts = function.layout.iter().flat_map(|b| &function.block(*b).insts);
    let weight = |i: &rewright_cfg_skeleton::ir::InstId| match function.inst(*i).kind {
        InstKind::Const(_) => 1,
        _ => 3,
    };
    let edges: usize = function.layout.iter().map(|b| 2 + 5 * function.block(*b).term.edges().len()).sum();
    insts.map(weight).sum::<usize>() + edges + function.results.len()
}

/// Takes blocks that nothing reaches out of the layout.
fn drop_unreachable(function: &mut Function) {
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![function.entry()];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            work.extend(function.block(block).term.edges().iter().map(|e| e.target));
        }
    }
    function.layout.retain(|b| seen[b.index()]);
    for (block, seen) in function.blocks.iter_mut().zip(seen) {
        if !seen {
            block.insts.clear();
            block.term = Terminator::Trap { code: 0 };
        }
    }
}

/// Takes constants that nothing uses away.
fn remove_unused(function: &mut Function) {
    let mut used = vec![false; function.values.len()];
    for block in function.layout.clone() {
        let block = function.block(block);
        let args = block.insts.iter().flat_map(|i| &function.inst(*i).args);
        let carried = block.term.edges().into_iter().flat_map(|e| &e.args).filter_map(|arg| match arg {
            rewright_cfg_skeleton::ir::EdgeArg::Value(v) => Some(v),
            rewright_cfg_skeleton::ir::EdgeArg::Terminator(_) => None,
        });
        for value in args.chain(block.term.operands()).chain(carried) {
            used[value.index()] = true;
        }
    }
    let insts = &function.insts;
    for block in &mut function.blocks {
        block.insts.retain(|i| {
            let inst = &insts[i.index()];
            !matches!(inst.kind, InstKind::Const(_)) || inst.results.iter().any(|r| used[r.index()])
        });
    }
}
