//! Intrinsics.

use super::annotations;
use super::behaviour::Event;
use super::call::Called;
use super::choice::{Kind, OpResult, RefinementSide, Stop, undefined, unsupported};
use super::effects;
use super::float::{self, Format};
use super::instruction::{by_lane, element, strict};
use super::integer;
use super::machine::Machine;
use super::value::{Atom, Lane, Value};
use crate::annotations::parts;
use rewright_llvm::body::Instruction;
use rewright_llvm::types::Type;
use std::collections::BTreeMap;

/// Intrinsics on integers that are modelled.
const INTEGERS: [&str; 22] = [
    "umin",
    "umax",
    "smin",
    "smax",
    "abs",
    "ctpop",
    "ctlz",
    "cttz",
    "bitreverse",
    "bswap",
    "fshl",
    "fshr",
    "uadd.sat",
    "usub.sat",
    "sadd.sat",
    "ssub.sat",
    "ushl.sat",
    "sshl.sat",
    "ucmp",
    "scmp",
    "expect",
    "ssa.copy",
];

/// Intrinsics on floats that are modelled.
const FLOATS: [&str; 18] = [
    "fabs",
    "copysign",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "roundeven",
    "fma",
    "fmuladd",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "fptosi.sat",
    "fptoui.sat",
];

/// The name of an intrinsic without the types that it ends with: `umin` of `@llvm.umin.v4i32`.
pub(crate) fn stem(callee: &str) -> &str {
    let mut stem = callee.strip_prefix("@llvm.").unwrap_or(callee);
    while let Some((rest, last)) = stem.rsplit_once('.') {
        let digits = last.trim_start_matches(['v', 'i', 'f', 'p', 'b', 'n', 'x', 's']);
        let is_type =
            last.len() > digits.len() && digits.split(['i', 'f', 'p']).all(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if !is_type || !last.bytes().any(|b| b.is_ascii_digit()) {
            break;
        }
        stem = rest;
    }
    stem
}

impl<'a> Machine<'a> {
    pub(super) fn intrinsic(&mut self, instruction: &Instruction, called: &Called<'_>) -> Result<Option<Value>, Stop> {
        let stem = stem(called.callee);
        if self.chooser.side == RefinementSide::Before {
            let open = |a: &&String| !effects::is_harmless_of_function(a) && !effects::is_about_memory(a);
            if let Some(open) = called.attributes.iter().find(open) {
                return unsupported(format!("the attribute `{open}` of a call"));
            }
        }
        let values: Vec<Value> = called.arguments.iter().map(|(_, value)| value.clone()).collect();
        match stem {
            "assume" => return self.assume(&values).map(|()| None),
            "trap" => {
                self.events.push(Event { callee: called.callee.into(), arguments: vec![], memory: BTreeMap::new() });
                return Err(Stop::Ends);
            }
            "donothing" | "experimental.noalias.scope.decl" | "pseudoprobe" | "sideeffect" => return Ok(None),
            "lifetime.start" | "lifetime.end" => return self.lifetime(stem.ends_with("start"), &values).map(|()| None),
            "memcpy" | "memmove" | "memcpy.inline" | "memset" | "memset.inline" => {
                return self.block(stem, called, &values).map(|()| None);
            }
            _ => {}
        }
        let ty = &instruction.ty;
        let not_modelled = || Stop::Unsupported(format!("it calls {}", called.callee));
        let (from, _) = called.arguments.first().ok_or_else(not_modelled)?;
        let from = element(from).clone();
        // LLVM before 12 called them experimental.
        if let Some(reduction) = stem.trim_start_matches("experimental.").strip_prefix("vector.reduce.") {
            return self.reduce(reduction, &from, &values).map(Some);
        }
        if let Some(operation) = stem.strip_suffix(".with.overflow") {
            return self.overflowing(operation, &from, &values).map(Some);
        }
        let to = element(ty).clone();
        if matches!(ty, Type::Void) || from == Type::Ptr || to == Type::Ptr {
            return Err(not_modelled());
        }
        let known = if Format::of(&from).is_some() { &FLOATS[..] } else { &INTEGERS[..] };
        if !known.contains(&stem) {
            return Err(not_modelled());
        }
        let (width, result) = (self.width(&from)?, self.width(&to)?);
        let flags = &instruction.flags;
        let chooser = &mut self.chooser;
        if let Some(format) = Format::of(&from) {
            self.program.floats.clone()?;
            let bitwise = matches!(stem, "fabs" | "copysign" | "minnum" | "maxnum" | "minimum" | "maximum");
            let kind = Kind {
                floats: !bitwise,
                total: true,
                nan: Format::of(&to).map_or(0, Format::nan),
                ..Kind::of_width(result)
            };
            let saturating = match stem {
                "fptosi.sat" => Some(true),
                "fptoui.sat" => Some(false),
                _ => None,
            };
            return by_lane(&values, &mut |lanes| {
                if let ("fabs", [Lane::Nan]) = (stem, lanes) {
                    return Ok(Lane::Nan);
                }
                chooser.lift(kind, lanes, &|atoms| {
                    strict(atoms, |bits| match saturating {
                        Some(is_signed) => Some(float::to_integer(is_signed, true, format, result, bits[0])),
                        None => float::intrinsic(stem, flags, format, bits),
                    })
                })
            })
            .map(Some)
            .map_err(|stop| renamed(stop, called.callee));
        }
        let kind = Kind::of_width(result);
        by_lane(&values, &mut |lanes| {
            chooser.lift(kind, lanes, &|atoms| {
                strict(atoms, |bits| match (stem, bits) {
                    ("ucmp" | "scmp", [a, b]) => Some(integer::three_way(stem, width, result, *a, *b)),
                    _ if width == result => integer::intrinsic(stem, width, bits),
                    _ => None,
                })
            })
        })
        .map(Some)
        .map_err(|stop| renamed(stop, called.callee))
    }

    fn assume(&mut self, values: &[Value]) -> Result<(), Stop> {
        match values.first().and_then(Value::scalar) {
            Some(Lane::One(Atom::Int(1))) => Ok(()),
            Some(Lane::Few(atoms)) if !atoms.contains(&Atom::Poison) => {
                self.chooser.perhaps_undefined("what is assumed may not hold")
            }
            Some(Lane::Unknown(_)) => self.chooser.perhaps_undefined("what is assumed may not hold"),
            _ => undefined("what is assumed does not hold"),
        }
    }

    /// At the start of its lifetime a slot is uninitialised; after the end it must not be accessed.
    fn lifetime(&mut self, starts: bool, values: &[Value]) -> Result<(), Stop> {
        let side = self.chooser.side;
        if let Some(Lane::One(Atom::Pointer(pointer))) = values.last().and_then(Value::scalar)
            && let Some(cells) = self.memory.objects.get_mut(&pointer.object)
            && !cells.visible
        {
            cells.alive = starts;
            if starts && side == RefinementSide::Before {
                cells.bytes.fill(super::memory::uninitialised(side));
            }
        }
        Ok(())
    }

    /// `memcpy` and its like.
    fn block(&mut self, stem: &str, called: &Called<'_>, values: &[Value]) -> Result<(), Stop> {
        let [to, other, size, volatile] = values else { return unsupported(format!("it calls {}", called.callee)) };
        let (Some(to), Some(other), Some(size)) = (to.scalar(), other.scalar(), size.scalar()) else {
            return unsupported(format!("it calls {}", called.callee));
        };
        if volatile.scalar() != Some(&Lane::int(0)) {
            return unsupported("an access that is volatile");
        }
        let size = match size {
            Lane::One(Atom::Int(size)) => u64::try_from(*size).unwrap_or(u64::MAX),
            Lane::One(_) => return undefined("it accesses poison many bytes"),
            _ => return unsupported("an access of unknown size"),
        };
        let align = |n: usize| {
            let said = called.promises.get(n).and_then(|said| said.iter().find(|a| parts(a).0 == "align"));
            said.map_or(1, |attribute| annotations::number(attribute))
        };
        match stem {
            "memset" | "memset.inline" => self.set(to, other, size, align(0)),
            _ => self.copy(to, other, size, [align(0), align(1)], stem == "memmove"),
        }
    }

    /// All lanes of a vector as one.
    fn reduce(&mut self, operation: &str, from: &Type, values: &[Value]) -> Result<Value, Stop> {
        let Some(opcode) = ["add", "mul", "and", "or", "xor", "smax", "smin", "umax", "umin"]
            .into_iter()
            .find(|name| *name == operation)
        else {
            return unsupported(format!("it calls llvm.vector.reduce.{operation}"));
        };
        let width = self.width(from)?;
        let [Value::Parts(parts)] = values else { return unsupported("a reduction of what is no vector") };
        let chooser = &mut self.chooser;
        let mut lanes = parts.iter().filter_map(Value::scalar);
        let Some(first) = lanes.next() else { return unsupported("a reduction of nothing") };
        let mut sum = first.clone();
        for lane in lanes {
            sum = chooser.lift(Kind::total(width), &[&sum, lane], &|atoms| {
                strict(atoms, |bits| match opcode {
                    "add" | "mul" | "and" | "or" | "xor" => {
                        integer::binary(opcode, &[], width, Atom::Int(bits[0]), Atom::Int(bits[1]))
                    }
                    _ => integer::intrinsic(opcode, width, bits),
                })
            })?;
        }
        Ok(Value::Scalar(sum))
    }

    /// A result, and whether it does not fit.
    fn overflowing(&mut self, operation: &str, from: &Type, values: &[Value]) -> Result<Value, Stop> {
        let width = self.width(from)?;
        // Both parts are about the same operands.
        let mut settled = vec![];
        for value in values {
            settled.push(value.try_map(&mut |lane| match (lane, self.chooser.side) {
                (Lane::One(_), _) | (_, RefinementSide::Before) => Ok(lane.clone()),
                _ => self.chooser.freeze(lane, width),
            })?);
        }
        let mut part = |which: usize| {
            let chooser = &mut self.chooser;
            by_lane(&settled, &mut |lanes| {
                chooser.lift(Kind::total([width, 1][which]), lanes, &|atoms| {
                    strict(atoms, |bits| {
                        let (result, over) = integer::overflowing(operation, width, bits[0], bits[1])?;
                        Some(OpResult::Is(Atom::Int([result, u128::from(over)][which])))
                    })
                })
            })
        };
        Ok(Value::Parts(vec![part(0)?, part(1)?]))
    }
}

/// Says which intrinsic is not modelled.
fn renamed(stop: Stop, callee: &str) -> Stop {
    match stop {
        Stop::PointerAsNumber => Stop::Unsupported(format!("it calls {callee}")),
        stop => stop,
    }
}
