//! Accesses of a random function: at constant offsets and at computed addresses, within the memory that it is given.
//!
//! **Invariant**: with named regions the lower half of the memory belongs to one and the upper half to the other.

use super::body::Body;
use super::{Kind, MEMORY_BYTES, OpInstance};
use rand::Rng;
use rand::seq::IndexedRandom;
use rewright_cfg_skeleton::ir::{Access, RegionId, Value};
use rewright_typeprop::{Model, Scalar};

/// Offset of the upper half.
const HALF: i64 = MEMORY_BYTES as i64 / 2;

impl Body<'_, '_> {
    /// A load or a store.
    pub(super) fn any_access(&mut self, pool: &mut Vec<Value>) {
        let g = self.g;
        let memory = |i: &&OpInstance| matches!(i.kind, Kind::Read | Kind::Write);
        let accesses: Vec<&OpInstance> = g.instances.iter().filter(memory).collect();
        if let Some(instance) = accesses.choose(&mut self.rng) {
            self.access(instance, pool);
        }
    }

    pub(super) fn access(&mut self, instance: &OpInstance, pool: &mut Vec<Value>) {
        let upper = self.rng.random_bool(0.5);
        let (base, offset) = self.address(upper, pool);
        let mut args = vec![];
        for (i, (ty, constant)) in instance.params.iter().enumerate() {
            args.push(match (i, constant) {
                (0, _) => base,
                (_, true) => self.constant(*ty, offset),
                (_, false) => self.pick(pool, Some(*ty)),
            });
        }
        let trap = self.rng.random_bool(0.3).then_some(self.g.trap_code);
        let access = Access {
            region: RegionId(if self.named_regions { 1 + u32::from(upper) } else { 0 }),
            trap,
            movable: self.rng.random_bool(0.2) && trap.is_none(),
            readonly: false,
            aligned: false,
        };
        let result = self.emit(instance, &args, Some(access));
        pool.extend(result);
    }

    /// A base and a constant offset, together within one half of the memory with eight bytes of room. Few different
    /// ones, so that accesses meet, by the same way or by another one.
    fn address(&mut self, upper: bool, pool: &mut Vec<Value>) -> (Value, i64) {
        let half = if upper { HALF } else { 0 };
        let offset = self.rng.random_range(0..4) * if self.rng.random_bool(0.8) { 8 } else { 3 };
        // The half is part of the offset or of the base.
        let (in_base, in_offset) = if self.rng.random_bool(0.5) { (half, 0) } else { (0, half) };
        let ty = self.g.ty(Scalar::I64);
        let base = match self.rng.random_range(0..5) {
            0 => {
                let distance = self.rng.random_range(0..4) * 8 + in_base;
                let distance = self.constant(ty, distance);
                self.apply(Model::Add, [self.pointer, distance])
            }
            choice @ 1..=2 => {
                // `pointer + (x & 0x18)`, or `pointer + ((x & 3) << 3)`.
                let (mask, shift) = if choice == 1 { (0x18, 0) } else { (3, 3) };
                let (mask, index) = (self.constant(ty, mask), self.pick(pool, Some(ty)));
                let mut distance = self.apply(Model::And, [index, mask]);
                if shift > 0 {
                    let shift = self.constant(ty, shift);
                    distance = self.apply(Model::Shl, [distance, shift]);
                }
                let base = self.apply(Model::Add, [self.pointer, distance]);
                let half = self.constant(ty, in_base);
                self.apply(Model::Add, [base, half])
            }
            _ => return (self.pointer, offset + half),
        };
        (base, offset + in_offset)
    }
}
