//! Blocks of memory that are copied or set, byte by byte, where it is known how many bytes they have.

use super::super::super::annotations::number;
use super::super::super::memory_blocks::{BlockOperation, MemoryBlock};
use super::{AccessKind, Memory, SymbolicExecutor, Terms, Value};
use rewright_llvm::body::Instruction;
use rewright_smt::{self as smt, Address, Expr, Sort};
use rewright_typeprop::model::MemoryAccess;

/// Bytes of a block.
const MOST: u64 = 64;

/// The block that an instruction copies or sets, with how many bytes it has; `None` where it does neither, or that is not
/// known.
pub(in super::super) fn of_known_length(i: &Instruction) -> Option<(MemoryBlock<'_>, u64)> {
    let block = MemoryBlock::of(i)?;
    block.bytes().filter(|bytes| *bytes <= MOST).map(|bytes| (block, bytes))
}

/// How a byte is read and written.
const READ: MemoryAccess = MemoryAccess { bits: Some(8), signed: false, store: false };
const WRITTEN: MemoryAccess = MemoryAccess { store: true, ..READ };

/// What is in a byte of each chain.
type Bytes = [[Expr; 3]; 2];

impl SymbolicExecutor<'_> {
    /// Copies a block, or sets it.
    pub(super) fn block_of_memory(&mut self, (block, bytes): (MemoryBlock<'_>, u64), at: usize) -> Terms<()> {
        let align = |n: usize| block.promises.get(n).and_then(|said| number(said, "align")).unwrap_or(1);
        let to = self.settled(block.to, at)?;
        let copied = match block.operation {
            BlockOperation::Set => {
                let place = self.accessed(to, (bytes, align(0)), at, AccessKind::Write, vec![])?;
                let value = self.samples(block.from, "stored")?;
                let (all, none) = (self.s.bits(8, u128::MAX), self.s.bits(8, 0));
                let byte = |this: &mut Self, value: &Value| [value.bits, this.s.choose(value.poison, all, none), none];
                let byte = [byte(self, &value[0][0]), byte(self, &value[1][0])];
                let loose = self.is_loose(block.from) && !self.choosing.is_first();
                let mask = if loose { all } else { none };
                (place, vec![(byte, mask); bytes as usize])
            }
            BlockOperation::Copy | BlockOperation::Move => {
                let from = self.settled(block.from, at)?;
                let source = self.accessed(from, (bytes, align(1)), at, AccessKind::Read, vec![])?;
                let place = self.accessed(to, (bytes, align(0)), at, AccessKind::Write, vec![])?;
                if block.operation == BlockOperation::Copy {
                    self.overlaps(from, to, bytes, at);
                }
                let read = (0..bytes).map(|n| self.byte(&source.plus(n))).collect();
                (place, read)
            }
        };
        let (place, all) = copied;
        for (n, (byte, mask)) in (0..).zip(all) {
            self.put(&place.plus(n), byte, mask, at);
        }
        Ok(())
    }

    /// Blocks of which one is copied to the other are the same or have nothing in common.
    fn overlaps(&mut self, from: Value, to: Value, bytes: u64, at: usize) {
        let most = self.s.bits(64, bytes.into());
        let same = self.s.equal(from.bits, to.bits);
        let other = self.s.not(same);
        for (x, y) in [(from, to), (to, from)] {
            let distance = self.s.apply("bvsub", &[x.bits, y.bits], Sort::Bits(64));
            let near = self.s.apply("bvult", &[distance, most], Sort::Bool);
            let bad = self.s.and(&[other, near]);
            self.undefined(at, bad);
        }
    }

    fn byte(&mut self, at: &Address) -> (Bytes, Expr) {
        let mut of = |memory: Memory| {
            [memory.bits, memory.poison_memory, memory.origins].map(|chain| smt::load(self.s, chain, at, READ, 8))
        };
        let bytes = [of(self.memory[0]), of(self.memory[1])];
        (bytes, smt::load(self.s, self.mask, at, READ, 8))
    }

    fn put(&mut self, address: &Address, byte: Bytes, mask: Expr, at: usize) {
        let when = self.reached[at];
        let mut write = |chain: Expr, value: Expr| smt::store_when(self.s, chain, address, WRITTEN, (when, value));
        for (memory, [bits, poison, origin]) in self.memory.iter_mut().zip(byte) {
            *memory = Memory {
                bits: write(memory.bits, bits),
                poison_memory: write(memory.poison_memory, poison),
                origins: write(memory.origins, origin),
            };
        }
        self.mask = write(self.mask, mask);
    }
}
