//! Where a location is known to be accessible.

use super::{Location, Planner, address_of};
use crate::Saturated;
use crate::ir::{BlockId, InstId, InstKind, Terminator, Value};
use crate::skeleton::{Statement, StatementKind};
use rewright_typeprop::Model;
use std::collections::BTreeSet;

/// Blocks that are looked at.
const MAX_BLOCKS: usize = 64;

/// What a statement is for accesses of a location.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It accesses all of it.
    Access,
    /// It may end the function, make memory inaccessible, or let others know.
    Barrier,
    Passed,
}

impl Planner<'_> {
    /// May a location be loaded at the end of a block?
    pub(super) fn is_accessible(&self, location: &Location, at: BlockId) -> bool {
        self.was_accessed(location, at, false) || self.will_be_accessed(location, at)
    }

    /// Has the location been accessed (or stored to) on all paths to the end of a block, and nothing since that could have
    /// made it inaccessible, or told others that they may look?
    pub(super) fn was_accessed(&self, location: &Location, at: BlockId, by_stores: bool) -> bool {
        let Saturated { function: f, cfg, skeleton, .. } = self.given;
        let (mut seen, mut work) = (BTreeSet::from([at]), vec![at]);
        while let Some(block) = work.pop() {
            if seen.len() > MAX_BLOCKS || matches!(f.block(block).term, Terminator::Opaque { .. }) {
                return false;
            }
            let sites = skeleton.sites(block).rev();
            let mut steps = sites.map(|site| self.before(location, skeleton.statement(site), by_stores));
            match steps.find(|step| *step != Step::Passed) {
                Some(Step::Access) => continue,
                Some(_) => return false,
                None if block == f.entry() => return false,
                None => {}
            }
            work.extend(cfg.predecessors(block).iter().map(|edge| edge.from).filter(|from| seen.insert(*from)));
        }
        true
    }

    /// What a statement is for what comes behind it.
    fn before(&self, location: &Location, statement: &Statement, by_stores: bool) -> Step {
        if self.accesses(location, statement.inst, by_stores, statement.block) {
            return Step::Access;
        }
        match statement.kind {
            StatementKind::Opaque { observes, writes, .. } if writes || observes && by_stores => Step::Barrier,
            StatementKind::Call { observes, writes, .. } if observes || writes => Step::Barrier,
            _ => Step::Passed,
        }
    }

    /// Will the location be accessed on all paths from the end of a block, before anything that may end the function? What
    /// may trap is not executed before what can be seen.
    fn will_be_accessed(&self, location: &Location, at: BlockId) -> bool {
        let Saturated { function: f, cfg, skeleton, .. } = self.given;
        let code = self.known[location].trap;
        let (mut seen, mut work) = (BTreeSet::new(), vec![at]);
        while let Some(block) = work.pop() {
            let edges = f.block(block).term.edges();
            if edges.is_empty() || matches!(f.block(block).term, Terminator::Opaque { .. }) || seen.len() > MAX_BLOCKS {
                return false;
            }
            for target in edges.iter().map(|edge| edge.target) {
                if cfg.is_back_edge(block, target) || cfg.is_irreducible(target) {
                    return false;
                }
                if !seen.insert(target) {
                    continue;
                }
                let mut steps = skeleton.sites(target).map(|site| self.after(location, skeleton.statement(site), code));
                match steps.find(|step| *step != Step::Passed) {
                    Some(Step::Access) => {}
                    Some(_) => return false,
                    None => work.push(target),
                }
            }
        }
        true
    }

    /// What a statement is for what comes before it.
    fn after(&self, location: &Location, statement: &Statement, code: Option<u32>) -> Step {
        let traps_alike = match self.given.function.inst(statement.inst).kind {
            InstKind::Op { access: Some(access), .. } => code.is_none() || access.trap.is_none() || access.trap == code,
            _ => false,
        };
        if traps_alike && self.accesses(location, statement.inst, false, statement.block) {
            return Step::Access;
        }
        let is_seen = match statement.kind {
            StatementKind::Opaque { observes, writes, .. } | StatementKind::Call { observes, writes, .. } => {
                observes || writes
            }
            StatementKind::Check { observes, .. } => observes,
            StatementKind::Write { trap, .. } => code.is_some() || trap.is_some(),
        };
        if is_seen { Step::Barrier } else { Step::Passed }
    }

    /// Does an instruction access all of a location, by a load or a store of the same type?
    pub(super) fn accesses(&self, location: &Location, inst: InstId, by_stores: bool, block: BlockId) -> bool {
        let Saturated { function: f, universe, skeleton, view, .. } = self.given;
        let InstKind::Op { op, targs, access: Some(access) } = &f.inst(inst).kind else { return false };
        let model = |op| universe.ops.get(op).model;
        let loads = !by_stores && *op == location.op;
        let stores = model(*op) == Some(Model::Store) && model(location.op) == Some(Model::Load);
        if !(loads || stores) || *targs != location.types || access.region != location.region {
            return false;
        }
        let class = |value: Value| skeleton.value_input[value.index()].map(|input| view.class_of(input));
        let operands = address_of(self.given, f.inst(inst)).map(class);
        // What is equal there is what is known there.
        operands.eq(location.operands.iter().map(|class| Some(*class))) && self.address(inst, block).is_some()
    }
}
