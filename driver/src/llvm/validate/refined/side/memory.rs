//! Addresses, and what is written to them.
//!
//! A pointer is its address, kept as a sum: addresses that have terms in common are compared by the rest.

use super::{Access, Side, Terms, Value};
use crate::llvm::body::{Instruction, Operand};
use crate::llvm::types::Type;
use crate::verify::smt::{self, Address, Expr, Sort};
use rewright_typeprop::model::MemoryAccess;

impl Side<'_> {
    /// A pointer that lies further on.
    pub(super) fn offset(
        &mut self,
        i: &Instruction,
        base: &Operand,
        source: &Type,
        indices: &[Operand],
    ) -> Terms<Value> {
        let unknown = || format!("an offset into {source}");
        let base = self.operand(base)?;
        let (mut poison, mut parts) = (vec![base.poison], vec![]);
        let (mut ty, mut first) = (source.clone(), true);
        for index in indices {
            let constant = index.text.parse::<i64>().ok();
            let (next, size) = match (&ty, first) {
                (_, true) => (ty.clone(), ty.layout(&self.file.named).ok_or_else(unknown)?.0),
                (Type::Array(_, element), _) => {
                    ((**element).clone(), element.layout(&self.file.named).ok_or_else(unknown)?.0)
                }
                (_, false) => {
                    let field = constant.and_then(|n| u64::try_from(n).ok()).ok_or_else(unknown)?;
                    let (element, offset) = ty.element(field, &self.file.named).ok_or_else(unknown)?;
                    parts.push(self.s.bits(64, offset.ok_or_else(unknown)?.into()));
                    (element, 0)
                }
            };
            if size > 0 {
                let value = self.operand(index)?;
                poison.push(value.poison);
                parts.push(match constant {
                    Some(n) => self.s.bits(64, n.wrapping_mul(size as i64) as u64 as u128),
                    None => {
                        let index = self.s.sign_extend(value.bits, 64);
                        let size = self.s.bits(64, size.into());
                        self.s.apply("bvmul", &[index, size], Sort::Bits(64))
                    }
                });
            }
            (ty, first) = (next, false);
        }
        let offset = Address::sum(self.s, &parts).term(self.s);
        for flag in &i.flags {
            if !["inbounds", "nusw", "nuw"].contains(&flag.as_str()) {
                return Err(format!("`getelementptr {flag}`"));
            }
            self.assumed.insert("where objects end");
            poison.push(self.s.unknown(&format!("leaves {flag}"), &[base.bits, offset], Sort::Bool));
        }
        parts.extend(self.parts(base.bits));
        let bits = Address::sum(self.s, &parts).term(self.s);
        self.sums.insert(bits, parts);
        Ok(Value { bits, poison: self.s.or(&poison) })
    }

    fn parts(&self, pointer: Expr) -> Vec<Expr> {
        self.sums.get(&pointer).cloned().unwrap_or_else(|| vec![pointer])
    }

    /// An address of so many bits, which is undefined where it is poison or null.
    pub(super) fn access(&mut self, pointer: &Operand, bits: u32, at: usize, writes: bool) -> Terms<(Address, u32)> {
        if !bits.is_multiple_of(8) {
            return Err(format!("{bits} bits in memory"));
        }
        if self.is_loose(pointer) {
            return Err("an address that may be `undef`".into());
        }
        let pointer = self.operand(pointer)?;
        let null = self.s.bits(64, 0);
        let is_null = self.s.equal(pointer.bits, null);
        let bad = self.s.or(&[pointer.poison, is_null]);
        self.undefined(at, bad);
        let reached = self.reached[at];
        self.accesses.push(Access { reached, address: pointer.bits, bytes: u64::from(bits / 8), writes });
        Ok((Address::sum(self.s, &self.parts(pointer.bits)), bits))
    }

    pub(super) fn write(&mut self, memory: Expr, address: &Address, bits: u32, when: Expr, value: Expr) -> Expr {
        let how = MemoryAccess { bits: Some(bits), signed: false, store: true };
        let value = match when {
            Expr::TRUE => value,
            _ => {
                let old = smt::load(self.s, memory, address, how, bits);
                self.s.choose(when, value, old)
            }
        };
        smt::store(self.s, memory, address, how, value)
    }
}
