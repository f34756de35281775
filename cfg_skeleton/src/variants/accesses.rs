//! Accesses to memory in loops, and where they are in each iteration.

use super::polynomial::{Iterations, Polynomial};
use crate::ir::objects::{ObjectId, PrivateObjects};
use crate::ir::{Inst, InstKind, RegionId};
use rewright_typeprop::Repr;

/// By how much an address may move on where it is not known how often it does: each such step stays within memory, or
/// comes to a place that is none.
pub(super) const MAX_STEP: i128 = 1 << 20;

/// An access to memory that does not trap.
pub(super) struct Access {
    pub(super) writes: bool,
    /// Nothing changes what it reads.
    readonly: bool,
    region: RegionId,
    object: Option<ObjectId>,
    /// The address of its first byte, where that is known.
    pub(super) address: Option<Polynomial>,
    /// Bytes.
    pub(super) size: i64,
    /// Is it made in each iteration of the innermost loop that is looked at?
    pub(super) each_time: bool,
}

impl Access {
    /// Does the order of the two never matter?
    pub(super) fn is_apart_from(&self, other: &Access) -> bool {
        let regions = [self.region, other.region].map(|region| region.0);
        !(self.writes || other.writes)
            || self.readonly
            || other.readonly
            || (regions[0] != regions[1] && !regions.contains(&0))
            || self.object != other.object
    }
}

/// The accesses of loops that do nothing else but compute, in the order of blocks.
pub(super) fn accesses(iterations: &Iterations<'_>, objects: &PrivateObjects) -> Result<Vec<Access>, &'static str> {
    let (outermost, innermost) = (iterations.of[0], iterations.of[iterations.of.len() - 1]);
    let mut found = vec![];
    for block in outermost.blocks() {
        let cfg = innermost.cfg;
        let each_time = cfg.loop_of(*block) == Some(innermost.id) && cfg.dominates(*block, innermost.latch);
        for inst in outermost.function.block(*block).insts.iter().map(|id| outermost.function.inst(*id)) {
            if !inst.is_silent(iterations.universe) {
                let access = access(inst, iterations, objects);
                found.push(Access { each_time, ..access.ok_or("a loop may trap, or has another effect")? });
            }
        }
    }
    Ok(found)
}

fn access(inst: &Inst, iterations: &Iterations<'_>, objects: &PrivateObjects) -> Option<Access> {
    let InstKind::Op { op, targs, access: Some(access) } = &inst.kind else { return None };
    let universe = iterations.universe;
    let op = universe.ops.get(*op);
    let memory = op.model?.memory()?;
    let plain = access.trap.is_none() && !op.effects.io && !op.effects.diverges && op.effects.allocates.is_empty();
    let (address, offset) = match (memory.store, &inst.args[..]) {
        (true, [address, _, offset]) | (false, [address, offset]) => (*address, *offset),
        _ => return None,
    };
    let bits = match memory.bits {
        Some(bits) => Some(bits),
        None => targs.first().and_then(|ty| universe.types.repr(*ty)).map(Repr::total_bits),
    };
    let offset = Polynomial::constant(iterations.operations.constant(offset)?);
    let is_word =
        universe.types.scalar(iterations.of[0].function.ty(address)).is_some_and(|scalar| scalar.bits() == 64);
    plain.then_some(Access {
        writes: memory.store,
        readonly: access.readonly,
        region: access.region,
        object: objects.of(address),
        address: iterations.polynomial(address).filter(|_| is_word).map(|address| address.plus(1, &offset)),
        size: i64::from(bits?.div_ceil(8)),
        each_time: false,
    })
}

/// Are so many steps, 2 to the power of `bits` and one more, less than half of all addresses?
pub(super) fn stays_below(by: i128, bits: u32) -> bool {
    by.checked_mul((1 << bits) + 1).is_some_and(|all| all <= 1 << 63)
}
