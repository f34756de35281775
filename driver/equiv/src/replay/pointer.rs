//! Pointers: offsets from them, and comparisons.

use super::choice::{Kind, OpResult, Stop, unsupported};
use super::integer;
use super::machine::{Frame, Machine};
use super::memory::Memory;
use super::value::{Atom, Object, Pointer, Value};
use rewright_llvm::body::{Instruction, Operand};
use rewright_llvm::types::Type;

/// What an offset adds: an index times bytes, or bytes.
enum Step {
    /// The index among the operands, and its width.
    Scaled(usize, u32, u64),
    Fixed(u64),
}

/// What flags say of an offset.
struct Promises {
    inbounds: bool,
    nusw: bool,
    nuw: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn offset(
        &mut self,
        frame: &Frame<'a>,
        instruction: &Instruction,
        base: &Operand,
        source: &Type,
        indices: &[Operand],
    ) -> Result<Value, Stop> {
        let mut promises = Promises { inbounds: false, nusw: false, nuw: false };
        for flag in &instruction.flags {
            match flag.as_str() {
                "inbounds" => promises.inbounds = true,
                "nusw" => promises.nusw = true,
                "nuw" => promises.nuw = true,
                _ => return unsupported(format!("`getelementptr {flag}`")),
            }
        }
        let mut operands = vec![self.operand(frame, base)?];
        for index in indices {
            operands.push(self.operand(frame, index)?);
        }
        let steps = self.steps(source, indices, &operands)?;
        let memory = &self.memory;
        let chooser = &mut self.chooser;
        super::instruction::by_lane(&operands, &mut |lanes| {
            chooser.lift(Kind::of_width(0), lanes, &|atoms| add(memory, &promises, &steps, atoms))
        })
    }

    fn steps(&mut self, source: &Type, indices: &[Operand], operands: &[Value]) -> Result<Vec<Step>, Stop> {
        let layout = &self.program.layout;
        let scalar = |ty: &Type| match ty {
            Type::Vector(_, element) => (**element).clone(),
            ty => ty.clone(),
        };
        let (mut steps, mut ty) = (vec![], source.clone());
        for (at, index) in indices.iter().enumerate() {
            let width = layout.width(&scalar(&index.ty))?;
            let position = at + 1;
            if at == 0 {
                steps.push(Step::Scaled(position, width, layout.size(&ty)?));
                continue;
            }
            ty = match layout.resolve(&ty)? {
                Type::Array(_, element) | Type::Vector(_, element) => {
                    steps.push(Step::Scaled(position, width, layout.size(element)?));
                    (**element).clone()
                }
                structure @ Type::Struct(_, fields) => {
                    let lane = operands[position].lanes().first().copied().cloned();
                    let Some(super::value::Lane::One(Atom::Int(n))) = lane else {
                        return unsupported("a field of a structure that is not known");
                    };
                    let n = usize::try_from(n).unwrap_or(usize::MAX);
                    let offsets = layout.offsets(structure)?;
                    let (Some(offset), Some(field)) = (offsets.get(n), fields.get(n)) else {
                        return unsupported("a field that the structure does not have");
                    };
                    steps.push(Step::Fixed(*offset));
                    field.clone()
                }
                other => return unsupported(format!("a part of {other}")),
            };
        }
        Ok(steps)
    }

    /// A comparison of pointers, or of vectors of them.
    pub(super) fn compare_pointers(
        &mut self,
        relation: &str,
        flags: &[String],
        operands: &[Value],
    ) -> Result<Value, Stop> {
        for pointer in operands.iter().flat_map(Value::lanes).flat_map(|lane| lane.values(64).unwrap_or_default()) {
            if let Atom::Pointer(pointer) = pointer
                && operands.iter().all(|operand| !is_null(operand))
            {
                self.memory.escaped.insert(pointer.object);
            }
        }
        let memory = &self.memory;
        let chooser = &mut self.chooser;
        super::instruction::by_lane(operands, &mut |lanes| {
            chooser.lift(Kind::of_width(1), lanes, &|atoms| compare(memory, relation, flags, atoms))
        })
    }
}

fn is_null(value: &Value) -> bool {
    value.lanes().iter().all(|lane| **lane == super::value::Lane::pointer(Pointer::NULL))
}

/// A value of a pointer type. `undef` may be any address.
fn pointer(atom: Atom) -> Option<Pointer> {
    match atom {
        Atom::Pointer(pointer) => Some(pointer),
        Atom::Int(address) => Some(Pointer { object: Object::None, offset: address as u64 }),
        Atom::Poison => None,
    }
}

fn add(memory: &Memory, promises: &Promises, steps: &[Step], atoms: &[Atom]) -> OpResult {
    const POISON: OpResult = OpResult::Is(Atom::Poison);
    let Some(base) = pointer(atoms[0]) else { return POISON };
    let (mut signed, mut unsigned) = (0i128, 0u128);
    let mut wraps = [false, false];
    let fits = |n: i128| i64::try_from(n).is_ok();
    for step in steps {
        let (more, more_unsigned) = match *step {
            Step::Fixed(bytes) => (i128::from(bytes), u128::from(bytes)),
            Step::Scaled(position, width, size) => {
                let Atom::Int(bits) = atoms[position] else { return POISON };
                let index = integer::signed(bits, width);
                // A wider index is cut.
                let cut = i128::from(index as i64);
                wraps[0] |= cut != index;
                wraps[1] |= width > 64 && bits >> 64 != 0;
                let product = cut * i128::from(size);
                wraps[0] |= !fits(product);
                (product, u128::from(index as u64) * u128::from(size))
            }
        };
        signed += more;
        unsigned = unsigned.saturating_add(more_unsigned);
        wraps[0] |= !fits(signed);
        wraps[1] |= unsigned > u128::from(u64::MAX);
    }
    let result = Pointer { offset: base.offset.wrapping_add(signed as u64), ..base };
    if (promises.inbounds || promises.nusw) && wraps[0] {
        return POISON;
    }
    if promises.nuw {
        // An object does not reach the end of the address space.
        let address = memory.address(base).map(u128::from);
        match address {
            _ if wraps[1] => return POISON,
            Some(address) if address + unsigned > u128::from(u64::MAX) => return POISON,
            None if unsigned >= 1 << 62 => return OpResult::Unclear("an offset that may wrap around"),
            _ => {}
        }
    }
    if promises.inbounds && signed != 0 {
        let Some(size) = memory.size(base) else {
            return match base.object {
                Object::None => POISON,
                _ => OpResult::Unclear("an offset from what is no object"),
            };
        };
        if base.offset > size || result.offset > size {
            return POISON;
        }
    }
    if promises.nusw && !promises.inbounds && signed != 0 {
        return OpResult::Unclear("an offset that must not wrap around");
    }
    OpResult::Is(Atom::Pointer(result))
}

fn compare(memory: &Memory, relation: &str, flags: &[String], atoms: &[Atom]) -> OpResult {
    let (Some(a), Some(b)) = (pointer(atoms[0]), pointer(atoms[1])) else { return OpResult::Is(Atom::Poison) };
    let unclear = || OpResult::Unclear("a comparison of unknown addresses");
    let relate = |x: u64, y: u64| integer::compare(relation, flags, 64, x.into(), y.into()).unwrap_or_else(unclear);
    if a.object == b.object {
        // Within one object, addresses are in the order of offsets; no object lies across the middle.
        let inside = |p: Pointer| p.object == Object::None || memory.size(p).is_some_and(|size| p.offset <= size);
        return match relation {
            "eq" | "ne" => relate(a.offset, b.offset),
            _ if inside(a) && inside(b) => relate(a.offset, b.offset),
            _ => unclear(),
        };
    }
    // An object that is alive is elsewhere than others, and not at null.
    let occupied = |p: Pointer| {
        let within =
            memory.objects.get(&p.object).is_some_and(|cells| p.offset < cells.bytes.len() as u64 && cells.alive);
        within || p == Pointer::NULL
    };
    // Constants whose addresses are not significant may be merged.
    let constant = |p: Pointer| memory.objects.get(&p.object).is_some_and(|cells| cells.constant);
    let merged = constant(a) && constant(b);
    let decided = occupied(a) && occupied(b) && !merged && flags.is_empty();
    match relation {
        "eq" if decided => OpResult::Is(Atom::Int(0)),
        "ne" if decided => OpResult::Is(Atom::Int(1)),
        "ugt" | "ne" if b == Pointer::NULL && occupied(a) => OpResult::Is(Atom::Int(1)),
        "ule" | "eq" if b == Pointer::NULL && occupied(a) => OpResult::Is(Atom::Int(0)),
        "ult" if a == Pointer::NULL && occupied(b) => OpResult::Is(Atom::Int(1)),
        "uge" if a == Pointer::NULL && occupied(b) => OpResult::Is(Atom::Int(0)),
        _ => unclear(),
    }
}
