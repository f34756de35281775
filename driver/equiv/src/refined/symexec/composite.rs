//! Instructions that look at lanes apart or together: of vectors, structures and arrays.

use super::super::lanes;
use super::super::meaning::{Operation, is_float, width};
use super::computed::Computed;
use super::{Local, SymbolicExecutor, Terms, Value};
use crate::literals::{self, Literal};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;
use rewright_smt::{Expr, Sort};
use std::ops::Range;

/// Is it an operation on two integers, the same in each lane?
fn is_lane_by_lane(opcode: &str) -> bool {
    ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr"].contains(&opcode)
}

impl<'a> SymbolicExecutor<'a> {
    /// The types of a type's lanes.
    pub(super) fn scalars(&self, ty: &Type) -> Terms<Vec<Type>> {
        lanes::scalars(&self.layout, ty)
    }

    /// What an instruction without effects makes of its operands.
    pub(super) fn of_parts(&mut self, i: &Instruction, operands: &[Operand], args: Vec<Vec<Value>>) -> Terms<Computed> {
        let from = operands.first().map_or(&i.ty, |operand| &operand.ty);
        match (i.opcode.as_str(), args.as_slice()) {
            ("extractvalue", [whole]) => {
                let part = self.part(from, &i.indices)?;
                whole.get(part).map(|part| Computed::plain(part.to_vec())).ok_or_else(|| "a part of nothing".into())
            }
            ("insertvalue", [whole, part]) => {
                let (at, mut whole) = (self.part(from, &i.indices)?, whole.clone());
                if at.len() != part.len() || at.end > whole.len() {
                    return Err("a part of nothing".into());
                }
                whole.splice(at, part.iter().copied());
                Ok(Computed::plain(whole))
            }
            ("extractelement", [lanes, index]) => self.extracted(lanes, index).map(Computed::plain),
            ("insertelement", [lanes, lane, index]) => self.inserted(lanes, lane, index).map(Computed::plain),
            ("shufflevector", [one, other, _]) => self.shuffled(one, other, &operands[2]).map(Computed::plain),
            ("bitcast", [value]) if *from != i.ty => self.recast(value, &i.ty).map(Computed::plain),
            _ => self.by_lane(i, &args, |operation, from| operation.instruction(&i.opcode, from), from),
        }
    }

    /// The lane that an instruction takes from a vector that is computed anew: a use of this one is not a use of the
    /// others.
    pub(super) fn extracted_lane(&mut self, i: &Instruction, operands: &[Operand]) -> Terms<Option<Value>> {
        let ("extractelement", [whole, index]) = (i.opcode.as_str(), operands) else { return Ok(None) };
        match (&whole.ty, index.text.parse::<usize>()) {
            (Type::Vector(lanes, _), Ok(n)) if n < *lanes as usize && self.is_loose(whole) => {
                self.lane(whole, n).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A lane of a vector.
    fn lane(&mut self, whole: &Operand, n: usize) -> Terms<Value> {
        let missing = || format!("lane {n} of {}", whole.text);
        let (i, at) = match self.locals.get(whole.text.as_str()) {
            Some(Local::Leaf(lanes)) => {
                let leaf = *lanes.get(n).ok_or_else(missing)?;
                return Ok(self.use_of(leaf));
            }
            Some(Local::PerUse) => *self.made.get(whole.text.as_str()).ok_or_else(missing)?,
            _ => return self.lanes(whole)?.get(n).copied().ok_or_else(|| missing().into()),
        };
        let index = |operand: &Operand| operand.text.parse::<usize>().ok();
        if let Shape::Plain(operands) = &i.shape {
            match (i.opcode.as_str(), operands.as_slice()) {
                ("insertelement", [_, lane, at]) if index(at) == Some(n) => return self.operand(lane),
                ("insertelement", [others, _, at]) if index(at).is_some() => return self.lane(others, n),
                (opcode, [x, y]) if x.ty == i.ty && y.ty == i.ty && is_lane_by_lane(opcode) => {
                    self.left = self.left.checked_sub(1).ok_or("too many values that depend on `undef`")?;
                    let args = [self.lane(x, n)?, self.lane(y, n)?];
                    let types = self.scalars(&i.ty)?;
                    let ty = types.get(n).ok_or_else(missing)?;
                    let is_first = self.choosing.is_first();
                    let operation = Operation { s: self.s, flags: &i.flags, args: &args, ty, is_first };
                    return Ok(operation.instruction(&i.opcode, ty)?.value);
                }
                _ => {}
            }
        }
        self.computed(i, at)?.lanes.get(n).copied().ok_or_else(|| missing().into())
    }

    /// Which lanes a part of an aggregate has.
    fn part(&self, whole: &Type, indices: &[u64]) -> Terms<Range<usize>> {
        let (mut ty, mut start) = (whole.clone(), 0);
        for index in indices {
            let parts = self.layout.parts(&ty)?.ok_or("a part of a scalar")?;
            let at = usize::try_from(*index).ok().filter(|at| *at < parts.len()).ok_or("a part that is not there")?;
            for part in &parts[..at] {
                start += self.scalars(part)?.len();
            }
            ty = parts[at].clone();
        }
        Ok(start..start + self.scalars(&ty)?.len())
    }

    /// When an index is that of a lane.
    fn is_at(&mut self, index: Value, n: usize) -> Expr {
        let here = self.s.bits(index.bits.width(), n as u128);
        // A narrow index does not reach all lanes.
        let fits = index.bits.width() >= 64 || (n as u64) >> index.bits.width() == 0;
        if fits { self.s.equal(index.bits, here) } else { Expr::FALSE }
    }

    /// Beyond the last lane there is poison.
    fn extracted(&mut self, lanes: &[Value], index: &[Value]) -> Terms<Vec<Value>> {
        let ([index], [first, ..]) = (index, lanes) else { return Err("an element of nothing".into()) };
        let mut found = Value { poison: Expr::TRUE, ..*first };
        for (n, lane) in lanes.iter().enumerate() {
            let here = self.is_at(*index, n);
            found = self.choose(here, *lane, found);
        }
        found.poison = self.s.or(&[found.poison, index.poison]);
        Ok(vec![found])
    }

    /// Where the index is not that of a lane, all lanes are poison.
    fn inserted(&mut self, lanes: &[Value], lane: &[Value], index: &[Value]) -> Terms<Vec<Value>> {
        let ([index], [lane]) = (index, lane) else { return Err("an element of nothing".into()) };
        let here: Vec<Expr> = (0..lanes.len()).map(|n| self.is_at(*index, n)).collect();
        let somewhere = self.s.or(&here);
        let nowhere = self.s.not(somewhere);
        let mut result = vec![];
        for (old, here) in lanes.iter().zip(here) {
            let mut value = self.choose(here, *lane, *old);
            value.poison = self.s.or(&[value.poison, nowhere, index.poison]);
            result.push(value);
        }
        Ok(result)
    }

    fn shuffled(&mut self, one: &[Value], other: &[Value], mask: &Operand) -> Terms<Vec<Value>> {
        let unknown = || format!("the mask {}", mask.text);
        let Type::Vector(length, _) = mask.ty else { return Err(unknown().into()) };
        let numbers: Vec<&str> = match literals::aggregate(&mask.text) {
            Literal::Everywhere(text) => vec![text; length as usize],
            Literal::Parts(parts) => {
                { parts.iter().map(|part| part.split_once(' ').map(|(_, n)| n.trim())).collect::<Option<_>>() }
                    .ok_or_else(unknown)?
            }
            _ => return Err(unknown().into()),
        };
        let sources: Vec<Value> = one.iter().chain(other).copied().collect();
        let first = sources.first().ok_or_else(unknown)?;
        let lane = |text: &str| match text {
            "zeroinitializer" => Ok(*first),
            // An undefined index in a mask gives poison.
            "undef" | "poison" => Ok(Value { poison: Expr::TRUE, ..*first }),
            n => n.parse().ok().and_then(|n: usize| sources.get(n)).copied().ok_or_else(unknown),
        };
        Ok(numbers.into_iter().map(lane).collect::<Result<_, String>>()?)
    }

    /// The same bits in other lanes: the first lane has the lowest ones. A lane is poison if one is that it has bits of.
    fn recast(&mut self, lanes: &[Value], ty: &Type) -> Terms<Vec<Value>> {
        if lanes.iter().any(|lane| lane.origin.is_some()) {
            return Err(format!("a bitcast to {ty}").into());
        }
        let types = self.scalars(ty)?;
        let widths = types.iter().map(width).collect::<Terms<Vec<u32>>>()?;
        let whole: u32 = lanes.iter().map(|lane| lane.bits.width()).sum();
        if whole != widths.iter().sum::<u32>() || types.contains(&Type::Ptr) {
            return Err(format!("a bitcast to {ty}").into());
        }
        let bits: Vec<Expr> = lanes.iter().rev().map(|lane| lane.bits).collect();
        let bits = self.s.concat(&bits);
        let mut from = 0;
        let mut found = vec![];
        for width in widths {
            let (low, end) = (from, from + width);
            let (mut at, mut poison) = (0, vec![]);
            for lane in lanes {
                let (begins, ends) = (at, at + lane.bits.width());
                if begins < end && low < ends {
                    poison.push(lane.poison);
                }
                at = ends;
            }
            let bits = self.s.extract(bits, end - 1, low);
            found.push(Value { bits, poison: self.s.or(&poison), origin: None });
            from = end;
        }
        Ok(found)
    }

    /// What an intrinsic gives: `smax.i32`, without what all begin with.
    pub(super) fn intrinsic(
        &mut self,
        i: &Instruction,
        name: &str,
        operands: &[Operand],
        args: &[Vec<Value>],
    ) -> Terms<Computed> {
        let unknown = || format!("it calls @llvm.{name}");
        let from = operands.first().map_or(&i.ty, |operand| &operand.ty);
        if !i.flags.iter().all(|flag| flag == "noundef" || flag.starts_with("range(")) {
            return Err(format!("it calls @llvm.{name} with promises").into());
        }
        // LLVM before 12 called them experimental.
        if let Some(reduction) = name.trim_start_matches("experimental.").strip_prefix("vector.reduce.") {
            let kind = reduction.split('.').next().unwrap_or_default();
            return self.reduced(kind, args, &i.ty).and_then(|found| found.ok_or_else(|| unknown().into()));
        }
        if let Some(operation) = name.split_once(".with.overflow.").map(|(operation, _)| operation) {
            return self.overflowing(i, operation, args, from).and_then(|found| found.ok_or_else(|| unknown().into()));
        }
        if let Some(name) = name.strip_prefix("x86.") {
            let found = self.x86(name, args)?.ok_or_else(unknown)?;
            return Ok(Computed::plain(found));
        }
        if operands.iter().any(|operand| operand.ty == Type::Ptr) || i.ty == Type::Ptr {
            return Err(unknown().into());
        }
        let broadcast = args.iter().skip(1).any(|arg| arg.len() == 1) && args[0].len() > 1;
        if broadcast && !["ctlz.", "cttz.", "abs.", "is.fpclass."].iter().any(|stem| name.starts_with(stem)) {
            return Err(unknown().into());
        }
        let is_class = name.starts_with("is.fpclass.");
        let one = |operation: Operation<'_>, from: &Type| match is_class {
            true => operation.of_class(from),
            false => operation.intrinsic(name),
        };
        self.by_lane(i, args, one, from)
    }

    /// All lanes of a vector as one, in an order that does not matter.
    fn reduced(&mut self, kind: &str, args: &[Vec<Value>], ty: &Type) -> Terms<Option<Computed>> {
        let ([lanes], false) = (args, is_float(ty)) else { return Ok(None) };
        let Some((first, others)) = lanes.split_first() else { return Ok(None) };
        let mut sum = *first;
        for lane in others {
            let pair = [sum, *lane];
            let operation = Operation { s: self.s, flags: &[], args: &pair, ty, is_first: false };
            let meaning = match kind {
                "add" | "mul" | "and" | "or" | "xor" => operation.instruction(kind, ty)?,
                "smax" | "smin" | "umax" | "umin" => operation.intrinsic(kind)?,
                _ => return Ok(None),
            };
            sum = meaning.value;
        }
        Ok(Some(Computed::plain(vec![sum])))
    }

    /// Results, and behind them whether they do not fit.
    fn overflowing(
        &mut self,
        i: &Instruction,
        operation: &str,
        args: &[Vec<Value>],
        from: &Type,
    ) -> Terms<Option<Computed>> {
        let (signed, opcode) = operation.split_at(1);
        let ([xs, ys], true) = (args, ["add", "sub", "mul"].contains(&opcode)) else { return Ok(None) };
        if !i.flags.is_empty() {
            return Ok(None);
        }
        let types = self.scalars(from)?;
        let (mut results, mut overflows) = (vec![], vec![]);
        for ((x, y), ty) in xs.iter().zip(ys).zip(&types) {
            let operation = Operation { s: self.s, flags: &[], args: &[], ty, is_first: false };
            let (meaning, over) = operation.overflowing(opcode, *x, *y, signed == "s");
            let (yes, no) = (self.s.bits(1, 1), self.s.bits(1, 0));
            let bits = self.s.choose(over, yes, no);
            results.push(meaning.value);
            overflows.push(Value { bits, ..meaning.value });
        }
        results.extend(overflows);
        Ok(Some(Computed::plain(results)))
    }

    /// Bits of a lane that is chosen lane by lane.
    pub(super) fn choose_lanes(&mut self, condition: Expr, xs: &[Value], ys: &[Value]) -> Vec<Value> {
        xs.iter().zip(ys).map(|(x, y)| self.choose(condition, *x, *y)).collect()
    }

    /// A value that is poison as one that is chosen.
    pub(super) fn frozen(&mut self, value: Value) -> Value {
        if value.poison == Expr::FALSE {
            return value;
        }
        let bits = self.choice("frozen", value.bits.width());
        let origin = value.origin.map(|_| self.choice("frozen origin", 64));
        let chosen = Value { bits, poison: Expr::FALSE, origin };
        Value { poison: Expr::FALSE, ..self.choose(value.poison, chosen, value) }
    }

    /// Bits without anything else.
    pub(super) fn bits_of(&mut self, bits: Expr, from: &[Value]) -> Value {
        let poison: Vec<Expr> = from.iter().map(|value| value.poison).collect();
        Value { bits, poison: self.s.or(&poison), origin: None }
    }

    /// A relation of two lanes.
    pub(super) fn relation(&mut self, symbol: &str, x: Expr, y: Expr) -> Expr {
        self.s.apply(symbol, &[x, y], Sort::Bool)
    }
}
