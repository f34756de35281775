//! Loops that do nothing, end, and of which nothing is used.
//!
//! A natural loop goes if
//!
//! 1. none of its instructions has an effect or may trap, and none of its blocks ends in an opaque terminator or
//!    lies in an irreducible region;
//! 2. nothing that is defined in it is used outside, and all its exits are the same edge (target and arguments);
//! 3. it ends, and so does every loop in it. That a program does not end can be observed, so this needs a proof
//!    ([`CountedLoops::ends`]), or the original's word that it has no meaning otherwise
//!    ([`Block::must_progress`](crate::ir::Block::must_progress)).

use super::is_droppable;
use crate::ir::Definition;
use crate::ir::trip_count::CountedLoops;
use crate::ir::{Access, BlockId, Cfg, EdgeArg, Function, InstId, InstKind, LoopId, Terminator, Value};
use rewright_typeprop::Universe;

struct Analysis<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    universe: &'a Universe,
    counted: CountedLoops<'a>,
}

/// Leads the edges that enter such loops to where the loops exit. The loops become unreachable.
pub(super) fn delete(function: &mut Function, cfg: &Cfg, universe: &Universe) -> bool {
    let analysis = Analysis::new(function, cfg, universe);
    let quiet: Vec<bool> = analysis.purposes().iter().map(Option::is_none).collect();
    if !quiet.contains(&true) {
        return false;
    }
    let escapes = analysis.escapes();
    let mut deleted = vec![false; quiet.len()];
    let mut redirections = vec![];
    for (id, l) in cfg.loops() {
        if l.parent.is_some_and(|p| deleted[p.index()]) {
            deleted[id.index()] = true;
        } else if quiet[id.index()] && !escapes[id.index()] {
            redirections.push((id, l.header));
            deleted[id.index()] = true;
        }
    }
    let definition = analysis.counted.into_definitions();
    let mut changed = false;
    for (id, header) in redirections {
        changed |= redirect(function, cfg, &definition, id, header);
    }
    changed
}

fn redirect(
    function: &mut Function,
    cfg: &Cfg,
    definition: &[Option<Definition>],
    id: LoopId,
    header: BlockId,
) -> bool {
    let inside = |arg: &EdgeArg| match arg {
        EdgeArg::Value(v) => definition[v.index()].is_none_or(|d| cfg.loop_contains(id, d.block())),
        EdgeArg::Terminator(_) => true,
    };
    let exits = cfg.loop_exits(function, id);
    let Some((first, rest)) = exits.split_first() else { return false };
    let exit = function.block(first.from).term.edges()[first.slot as usize].clone();
    let same = rest.iter().all(|e| *function.block(e.from).term.edges()[e.slot as usize] == exit);
    let entering = cfg.predecessors(header).iter().filter(|e| !cfg.loop_contains(id, e.from));
    let entering: Vec<_> = entering.collect();
    let opaque = entering.iter().any(|e| matches!(function.block(e.from).term, Terminator::Opaque { .. }));
    if !same || opaque || exit.args.iter().any(inside) {
        return false;
    }
    // The arguments are defined outside, above an exit, hence above the header.
    for e in entering {
        *function.blocks[e.from.index()].term.edges_mut()[e.slot as usize] = exit.clone();
    }
    true
}

/// Why a loop must run even if nothing of it is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Purpose {
    /// It writes memory, without trapping, and ends.
    Writes,
    /// It, or a loop in it, is not known to end.
    MayNotEnd,
    /// It has an effect, may trap, or is in no shape in which that is known.
    Effect,
}

/// By loop: why it must run, if it must.
pub(crate) fn purposes(function: &Function, cfg: &Cfg, universe: &Universe) -> Vec<Option<Purpose>> {
    Analysis::new(function, cfg, universe).purposes()
}

impl<'a> Analysis<'a> {
    fn new(function: &'a Function, cfg: &'a Cfg, universe: &'a Universe) -> Self {
        Analysis { function, cfg, universe, counted: CountedLoops::new(function, cfg, universe) }
    }

    /// By loop: no effects, and it ends.
    fn purposes(&self) -> Vec<Option<Purpose>> {
        let mut purposes = vec![None; self.cfg.loop_count()];
        for b in self.cfg.reverse_post_order() {
            if let Some(l) = self.cfg.loop_of(*b) {
                purposes[l.index()] = purposes[l.index()].max(self.purpose(*b));
            }
        }
        // Inner loops first.
        for (id, l) in self.cfg.loops().rev() {
            let ends = self.function.block(l.header).must_progress || self.counted.ends(id, l);
            let endless = (!ends).then_some(Purpose::MayNotEnd);
            purposes[id.index()] = purposes[id.index()].max(endless);
            if let Some(parent) = l.parent {
                purposes[parent.index()] = purposes[parent.index()].max(purposes[id.index()]);
            }
        }
        purposes
    }

    fn purpose(&self, b: BlockId) -> Option<Purpose> {
        let block = self.function.block(b);
        if self.cfg.is_irreducible(b) || matches!(block.term, Terminator::Opaque { .. }) {
            return Some(Purpose::Effect);
        }
        let of = |inst: &InstId| {
            let kind = &self.function.inst(*inst).kind;
            (!is_droppable(kind, self.universe)).then(|| match kind {
                InstKind::Op { op, access: Some(Access { trap: None, .. }), .. }
                    if self.universe.ops.get(*op).gives_state() =>
                {
                    Purpose::Writes
                }
                _ => Purpose::Effect,
            })
        };
        block.insts.iter().filter_map(of).max()
    }

    /// By loop: something that is defined in it is used outside.
    fn escapes(&self) -> Vec<bool> {
        let mut escapes = vec![false; self.cfg.loop_count()];
        let mut visit = |value: Value, at: BlockId| {
            let Some(home) = self.counted.definition(value) else { return };
            for l in self.cfg.loops_around(home.block()) {
                if self.cfg.loop_contains(l, at) {
                    break;
                }
                escapes[l.index()] = true;
            }
        };
        for b in self.cfg.reverse_post_order() {
            let block = self.function.block(*b);
            let edges = block.term.edges();
            let carried = edges.iter().flat_map(|e| &e.args).filter_map(|a| match a {
                EdgeArg::Value(v) => Some(v),
                EdgeArg::Terminator(_) => None,
            });
            let insts = block.insts.iter().flat_map(|i| &self.function.inst(*i).args);
            insts.chain(block.term.operands()).chain(carried).for_each(|v| visit(*v, *b));
        }
        escapes
    }
}
