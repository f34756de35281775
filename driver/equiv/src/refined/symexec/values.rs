//! Operands: values, constants, and which objects pointers belong to.

use super::{Local, SymbolicExecutor, Terms, Value, width};
use rewright_llvm::body::{Instruction, Operand};
use rewright_llvm::constants;
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Sort};

impl SymbolicExecutor<'_> {
    /// The object of a pointer that an instruction gives. Nothing leads from an address to an object.
    pub(super) fn origin(&mut self, i: &Instruction, args: &[Value]) -> Terms<Expr> {
        match (i.opcode.as_str(), args) {
            ("select", [c, Value { origin: Some(x), .. }, Value { origin: Some(y), .. }]) => {
                let one = self.s.bits(1, 1);
                let first = self.s.equal(c.bits, one);
                Ok(self.s.choose(first, *x, *y))
            }
            ("bitcast", [Value { origin: Some(origin), .. }]) => Ok(*origin),
            ("inttoptr", [x]) => {
                let version = if self.choosing.is_first() { "before" } else { "after" };
                self.assumed.insert("what an address belongs to");
                Ok(self.s.unknown(&format!("object of an address {version}"), &[x.bits], Sort::Bits(64)))
            }
            _ => Err(format!("a pointer from `{}`", i.opcode).into()),
        }
    }

    pub(super) fn choose(&mut self, condition: Expr, x: Value, y: Value) -> Value {
        let bits = self.s.choose(condition, x.bits, y.bits);
        let poison = self.s.choose(condition, x.poison, y.poison);
        let origin = x.origin.zip(y.origin).map(|(x, y)| self.s.choose(condition, x, y));
        for value in [x.bits, y.bits] {
            // A pointer that is chosen is no sum any more.
            self.sums.entry(value).or_insert_with(|| vec![value]);
        }
        Value { bits, poison, origin }
    }

    pub(super) fn operand(&mut self, operand: &Operand) -> Terms<Value> {
        let name = operand.text.as_str();
        match self.locals.get(name) {
            Some(Local::Fixed(value)) => Ok(*value),
            Some(Local::Leaf(leaf)) => Ok(self.use_of(*leaf)),
            Some(Local::PerUse) => {
                let (i, at) = *self.made.get(name).ok_or("a value without a definition")?;
                Ok(self.meaning(i, at)?.value)
            }
            None if operand.is_local() => Err(format!("{name} is used before it is there").into()),
            None => self.constant(operand),
        }
    }

    pub(super) fn constant(&mut self, operand: &Operand) -> Terms<Value> {
        let Operand { ty, text } = operand;
        let width = width(ty)?;
        let nowhere = (*ty == Type::Ptr).then(|| self.s.bits(64, 0));
        if text == "undef" {
            let bits = if self.solid { self.s.bits(width, 0) } else { self.choice("undef", width) };
            return Ok(Value { bits, poison: Expr::FALSE, origin: nowhere });
        }
        if let (true, Type::Ptr) = (text.starts_with('@'), ty) {
            self.assumed.insert("where globals lie");
            let align = self.version.module.alignment(text).unwrap_or(1);
            let bits = self.place(text, align);
            let origin = Some(self.s.unknown(&format!("object {text}"), &[], Sort::Bits(64)));
            return Ok(Value { bits, poison: Expr::FALSE, origin });
        }
        let number = match text.as_str() {
            "poison" | "zeroinitializer" => Some(0),
            _ => text.parse::<i128>().map(|n| n as u128).ok().or_else(|| constants::read(ty, text).map(u128::from)),
        };
        let number = number.ok_or_else(|| format!("the constant {text}"))?;
        let poison = if text == "poison" { Expr::TRUE } else { Expr::FALSE };
        Ok(Value { bits: self.s.bits(width, number), poison, origin: nowhere })
    }

    /// An address that nobody knows, but that it is aligned.
    pub(super) fn place(&mut self, name: &str, align: u64) -> Expr {
        if align <= 1 || !align.is_power_of_two() {
            return self.s.unknown(name, &[], Sort::Bits(64));
        }
        let low = align.ilog2();
        let high = self.s.unknown(&format!("{name} by {align}"), &[], Sort::Bits(64 - low));
        let zeros = self.s.bits(low, 0);
        self.s.concat(&[high, zeros])
    }
}
