//! Accesses that are volatile or atomic, and fences: other code may observe them, and change memory meanwhile.
//!
//! They are modelled as calls of unknown functions, named by what is accessed and how: both versions make the same ones
//! in the same order, with the same operands, and show the same memory. The values that they read, and the contents of
//! memory after them, may be anything. Such an access may be undefined (a pointer that is poison, an address that is
//! not aligned); the same one is then undefined in both versions, so that nothing is said of it here. A volatile access
//! may even be outside of all objects.

use super::annotated::{Said, is_defined, promises};
use super::calls::{Noticed, Returns};
use super::{Leaf, Local, SymbolicExecutor, Terms};
use rewright_llvm::body::{Instruction, MemoryAccess, Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Sort, name_part};

impl<'a> SymbolicExecutor<'a> {
    /// An access that is more than one.
    pub(super) fn ordered(&mut self, i: &'a Instruction, said: &MemoryAccess, at: usize) -> Terms<()> {
        let taken: Vec<&Operand> = match &i.shape {
            Shape::Load(from, _) => vec![from],
            Shape::Store(value, to, _) => vec![to, value],
            Shape::Atomic(operands, _) => operands.iter().collect(),
            _ => vec![],
        };
        let is_fence = taken.is_empty();
        if i.flags.is_empty() || taken.first().is_some_and(|pointer| pointer.ty != Type::Ptr) {
            return Err(format!("`{}` in an address space of its own", i.opcode).into());
        }
        self.assumed.insert("what volatile and atomic accesses see");
        let accessed = taken.last().filter(|_| !matches!(i.shape, Shape::Load(..))).map_or(&i.ty, |last| &last.ty);
        let align = match said.align {
            0 if !is_fence => self.layout.alignment(accessed)?,
            align => align,
        };
        let mut name = format!("{} {} of {} by {align}", i.opcode, i.flags.join(" "), i.ty);
        let mut told = vec![self.past[at].trace];
        for operand in taken {
            if self.scalars(&operand.ty)?.len() != 1 {
                return Err(format!("`{} {}` of {}", i.opcode, i.flags.join(" "), operand.ty).into());
            }
            name += &format!(" {}", operand.ty);
            for value in self.samples(operand, "passed")?.concat() {
                told.extend([value.bits, value.poison]);
                told.extend(value.origin);
            }
        }
        name.extend(promises(self.version, i));
        let name = name_part(&name);
        let time = self.s.unknown(&name, &told, Sort::Bits(64));
        // Execution need not go on after a volatile store.
        let is_volatile = i.flags.iter().any(|flag| flag == "volatile");
        let returns = match &i.shape {
            Shape::Load(..) => Returns::Surely,
            _ if is_volatile => Returns::Perhaps,
            _ => Returns::Surely,
        };
        self.happens(Noticed { returns, writes: true, frees: true }, (name, time), at)?;
        if i.ty != Type::Void {
            self.seen(i, time, at)?;
        }
        Ok(())
    }

    /// What is read.
    fn seen(&mut self, i: &'a Instruction, time: Expr, at: usize) -> Terms<()> {
        let mut lanes = vec![];
        for (n, ty) in self.scalars(&i.ty)?.iter().enumerate() {
            let mut leaf = self.result_lane(ty, &format!(" {n}"), &Said::default(), time, at, false)?;
            let broken = self.breaks_metadata(i, leaf.value.bits)?;
            leaf.value.poison = self.s.or(&[leaf.value.poison, broken]);
            if is_defined(i) {
                let undef = leaf.mask.map_or(Expr::FALSE, |mask| self.s.nonzero(mask));
                let bad = self.s.or(&[leaf.value.poison, undef]);
                self.undefined(at, bad);
                leaf = Leaf { mask: None, ..leaf };
            }
            lanes.push(leaf);
        }
        self.undefined_matters = true;
        self.define(i, Local::of(lanes));
        Ok(())
    }
}
