//! What an instruction becomes: a value, a statement, or both. Decided from its effects alone.
//!
//! Region 0 is the one of accesses that name none. A function that uses no other has one region. Beside named
//! regions it may alias all of them, so its writers are opaque, and its loads are opaque statements that observe.

use super::SkeletonBlock;
use crate::ir::{Access, BlockId, Cfg, Function, Inst, InstKind, OpaqueEffects, PayloadId, RegionId, Terminator};
use rewright_typeprop::{Op, Universe};

/// What an instruction becomes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// A constant.
    Constant(i64),
    /// A node of a declared operation.
    Value,
    /// A node of an operation that is not modelled.
    Opaque(PayloadId),
    /// A node that reads the state of a row, and a check beside it.
    Load {
        /// Of [`super::Skeleton::live`].
        row: usize,
        /// `Some(may it trap)` where its position matters.
        check: Option<bool>,
    },
    /// A node, and a check for each declared condition.
    Trapping,
    /// A statement that changes one region's state.
    Write {
        /// The region.
        region: RegionId,
        /// Its trap code, if it may trap.
        trap: Option<u32>,
    },
    /// A node, and a statement at its site.
    Call {
        /// Observes every region.
        observes: bool,
        /// Changes every region's state.
        writes: bool,
        /// Changes only this one's, and the state after it has a name.
        region: Option<RegionId>,
    },
    /// A check of its own.
    Check {
        /// The trap code.
        code: u32,
        /// Which truth value traps.
        when: bool,
    },
    /// An opaque statement.
    Pinned {
        /// Observes every region.
        observes: bool,
        /// Changes every region's state.
        writes: bool,
    },
}

/// Decides roles for one function.
pub(super) struct Roles<'a> {
    universe: &'a Universe,
    /// How many regions there are.
    pub(super) regions: usize,
    /// Some access names a region.
    named: bool,
    /// By row of states: does anything read or write it? Rows of regions come first.
    pub(super) used: Vec<bool>,
}

impl<'a> Roles<'a> {
    /// Looks at all accesses.
    pub(super) fn new(f: &Function, cfg: &Cfg, universe: &'a Universe) -> Self {
        let accesses = || {
            let blocks = cfg.reverse_post_order().iter();
            blocks.flat_map(|b| &f.block(*b).insts).filter_map(|i| match &f.inst(*i).kind {
                InstKind::Op { op, access, .. } => access.map(|a| (universe.ops.get(*op), a)),
                _ => None,
            })
        };
        let regions = accesses().map(|(_, a)| a.region.index() + 1).max().unwrap_or(0).max(f.regions.len());
        let named = accesses().any(|(_, a)| a.region.0 != 0);
        let mut roles = Roles { universe, regions, named, used: vec![] };
        for (op, access) in accesses() {
            let row = match roles.of_access(op, access) {
                Role::Load { row, .. } => row,
                Role::Write { region, .. } => region.index(),
                _ if op.parts.is_some() && !roles.is_anywhere(access) => access.region.index(),
                _ => continue,
            };
            roles.used.resize(roles.used.len().max(row + 1), false);
            roles.used[row] = true;
        }
        roles
    }

    /// Rows that statements change: those of regions. The others are what readonly accesses see.
    pub(super) fn memory_rows(&self) -> impl Iterator<Item = usize> {
        let regions = self.used.iter().take(self.regions).enumerate();
        regions.filter(|(_, used)| **used).map(|(row, _)| row)
    }

    /// The role of an instruction.
    pub(super) fn of(&self, inst: &Inst) -> Role {
        match &inst.kind {
            InstKind::Const(n) => Role::Constant(*n),
            InstKind::Check { code, when } => Role::Check { code: *code, when: *when },
            InstKind::Opaque { payload, effects } => match effects {
                OpaqueEffects::Pure => Role::Opaque(*payload),
                OpaqueEffects::Pinned => Role::Pinned { observes: false, writes: false },
                OpaqueEffects::Observes => Role::Pinned { observes: true, writes: false },
                OpaqueEffects::Writes => Role::Pinned { observes: true, writes: true },
            },
            InstKind::Op { op, access, .. } => {
                let op = self.universe.ops.get(*op);
                let effects = &op.effects;
                // Whatever it does besides allocating may end the function, or be seen from outside.
                let observes = effects.io || effects.diverges || effects.traps || effects.accesses_memory();
                match access {
                    _ if op.is_sited() && op.results.len() <= 1 => {
                        let in_one = access.filter(|a| op.parts.is_some() && !self.is_anywhere(*a));
                        let region = in_one.map(|a| a.region);
                        Role::Call { observes, writes: !effects.writes.is_empty(), region }
                    }
                    Some(access) => self.of_access(op, *access),
                    None if effects.is_pure() => Role::Value,
                    None if effects.is_value() && !op.takes_state() && !op.checks.is_empty() => Role::Trapping,
                    None => Role::Pinned { observes: true, writes: !effects.is_value() },
                }
            }
        }
    }

    /// May it be in any of several regions?
    fn is_anywhere(&self, access: Access) -> bool {
        self.named && access.region.0 == 0
    }

    fn of_access(&self, op: &Op, access: Access) -> Role {
        let effects = &op.effects;
        let anywhere = self.is_anywhere(access);
        if effects.is_value() && effects.reads.len() == 1 {
            let check = (!access.movable || access.trap.is_some()).then_some(access.trap.is_some());
            return match access.readonly {
                true => Role::Load { row: self.regions + access.region.index(), check },
                false if anywhere => Role::Pinned { observes: true, writes: false },
                false => Role::Load { row: access.region.index(), check },
            };
        }
        let only_writes = effects.writes.len() == 1 && effects.reads.iter().all(|r| *r == effects.writes[0]);
        let other = effects.io || effects.diverges || !effects.allocates.is_empty();
        if only_writes && !other && op.results.is_empty() && !anywhere {
            return Role::Write { region: access.region, trap: access.trap };
        }
        Role::Pinned { observes: true, writes: !effects.is_value() }
    }

    /// How many statements it becomes.
    pub(super) fn sites(&self, inst: &Inst) -> u32 {
        match self.of(inst) {
            Role::Constant(_) | Role::Value | Role::Opaque(_) | Role::Load { check: None, .. } => 0,
            Role::Load { .. } | Role::Write { .. } | Role::Call { .. } | Role::Check { .. } | Role::Pinned { .. } => 1,
            Role::Trapping => match &inst.kind {
                InstKind::Op { op, .. } => self.universe.ops.get(*op).checks.len() as u32,
                _ => 0,
            },
        }
    }

    /// Does the block leave the row's state changed?
    pub(super) fn changes(&self, f: &Function, block: BlockId, row: usize) -> bool {
        let block = f.block(block);
        matches!(block.term, Terminator::Opaque { .. })
            || block.insts.iter().any(|i| match self.of(f.inst(*i)) {
                Role::Write { region, .. } | Role::Call { region: Some(region), .. } => region.index() == row,
                Role::Pinned { writes, .. } | Role::Call { writes, .. } => writes,
                _ => false,
            })
    }

    /// Numbers statements and segments in layout order. Blocks that are not reachable stay empty.
    pub(super) fn number(&self, f: &Function, cfg: &Cfg) -> Numbering {
        let mut numbering = Numbering {
            blocks: vec![SkeletonBlock::default(); f.blocks.len()],
            layout: f.layout.iter().copied().filter(|b| cfg.is_reachable(*b)).collect(),
            segment_block: vec![],
            sites: 0,
        };
        for block in &numbering.layout {
            let sites = f.block(*block).insts.iter().map(|i| self.sites(f.inst(*i))).sum();
            let data = &mut numbering.blocks[block.index()];
            data.first_segment = numbering.segment_block.len() as u32;
            data.first_site = numbering.sites;
            data.sites = sites;
            numbering.sites += sites;
            numbering.segment_block.resize(numbering.segment_block.len() + sites as usize + 1, *block);
        }
        numbering
    }
}

/// Blocks with their places in the numbering of statements and segments.
pub(super) struct Numbering {
    pub(super) blocks: Vec<SkeletonBlock>,
    pub(super) layout: Vec<BlockId>,
    pub(super) segment_block: Vec<BlockId>,
    pub(super) sites: u32,
}
