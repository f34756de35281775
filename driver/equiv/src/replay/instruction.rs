//! Instructions other than calls.

use super::choice::{Kind, OpResult, RefinementSide, Stop, undefined, unsupported};
use super::float::{self, Format};
use super::integer;
use super::machine::{Frame, Machine};
use super::value::{Atom, Doubt, Lane, Value, ones};
use rewright_llvm::body::{Instruction, Operand, Shape};
use rewright_llvm::types::Type;

/// Applies an operation on scalars to each lane; a scalar among vectors is the same for all lanes.
pub(super) fn by_lane(operands: &[Value], f: &mut dyn FnMut(&[&Lane]) -> Result<Lane, Stop>) -> Result<Value, Stop> {
    let count = operands.iter().find_map(|operand| match operand {
        Value::Parts(parts) => Some(parts.len()),
        Value::Scalar(_) => None,
    });
    let lane = |operand: &'_ Value, i: usize| -> Option<Lane> {
        match operand {
            Value::Scalar(lane) => Some(lane.clone()),
            Value::Parts(parts) => parts.get(i)?.scalar().cloned(),
        }
    };
    let mut at = |i: usize| {
        let lanes: Option<Vec<Lane>> = operands.iter().map(|operand| lane(operand, i)).collect();
        match lanes {
            Some(lanes) => f(&lanes.iter().collect::<Vec<_>>()),
            None => unsupported("an operation on an aggregate"),
        }
    };
    match count {
        None => at(0).map(Value::Scalar),
        Some(n) => Ok(Value::Parts((0..n).map(|i| at(i).map(Value::Scalar)).collect::<Result<_, _>>()?)),
    }
}

/// The type of each lane.
pub(super) fn element(ty: &Type) -> &Type {
    match ty {
        Type::Vector(_, element) => element,
        ty => ty,
    }
}

/// Bits of what all atoms are; `None` if one is poison or a pointer.
pub(super) fn numbers(atoms: &[Atom]) -> Option<Vec<u128>> {
    atoms.iter().map(|atom| if let Atom::Int(bits) = atom { Some(*bits) } else { None }).collect()
}

/// An operation that gives poison where an operand is poison.
pub(super) fn strict(atoms: &[Atom], f: impl Fn(&[u128]) -> Option<OpResult>) -> OpResult {
    if atoms.contains(&Atom::Poison) {
        return OpResult::Is(Atom::Poison);
    }
    numbers(atoms).and_then(|bits| f(&bits)).unwrap_or(OpResult::PointerAsNumber)
}

impl<'a> Machine<'a> {
    /// Executes an instruction that is no terminator: its result.
    pub(super) fn instruction(&mut self, frame: &Frame<'a>, instruction: &Instruction) -> Result<Option<Value>, Stop> {
        match &instruction.shape {
            Shape::Plain(operands) => {
                self.metadata_is_harmless(instruction)?;
                self.plain(frame, instruction, operands).map(Some)
            }
            Shape::Load(address, access) => self.load(frame, instruction, address, *access).map(Some),
            Shape::Store(value, address, access) => {
                self.store(frame, instruction, value, address, *access).map(|()| None)
            }
            Shape::Offset { base, source, indices } => {
                self.metadata_is_harmless(instruction)?;
                self.offset(frame, instruction, base, source, indices).map(Some)
            }
            Shape::Call { .. } => self.call(frame, instruction),
            Shape::Alloca(slot) => self.slot(frame, instruction, slot).map(Some),
            _ => unsupported(format!("`{}`", instruction.opcode)),
        }
    }

    fn plain(&mut self, frame: &Frame<'a>, instruction: &Instruction, operands: &[Operand]) -> Result<Value, Stop> {
        let mut values = vec![];
        for operand in operands {
            values.push(self.operand(frame, operand)?);
        }
        let opcode = instruction.opcode.as_str();
        match opcode {
            "freeze" => self.freeze(&instruction.ty, &values[0]),
            "select" => {
                let chosen = self.select(&instruction.ty, &values)?;
                self.passed_on(instruction, &instruction.ty, chosen)
            }
            "extractvalue" => {
                let part = instruction.indices.iter().try_fold(&values[0], |value, index| value.part(*index as usize));
                part.cloned().ok_or_else(|| Stop::Unsupported("a part that is not there".into()))
            }
            "insertvalue" => {
                let mut whole = values[0].clone();
                let mut place = Some(&mut whole);
                for index in &instruction.indices {
                    place = match place {
                        Some(Value::Parts(parts)) => parts.get_mut(*index as usize),
                        _ => None,
                    };
                }
                let Some(place) = place else { return unsupported("a part that is not there") };
                *place = values[1].clone();
                Ok(whole)
            }
            "extractelement" => self.extract_element(&values[0], &values[1]),
            "insertelement" => self.insert_element(&values),
            "shufflevector" => shuffle(&values),
            _ => self.scalar_operation(instruction, operands, &values),
        }
    }

    /// An operation on scalars, lane by lane.
    fn scalar_operation(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
        values: &[Value],
    ) -> Result<Value, Stop> {
        let (opcode, flags) = (instruction.opcode.as_str(), &instruction.flags);
        let (from, to) = (element(&operands[0].ty), element(&instruction.ty));
        let not_modelled = || Stop::Unsupported(format!("`{opcode}` of {from}"));
        if let Some(flag) =
            flags.iter().find(|flag| !integer::FLAGS.contains(&flag.as_str()) && !float::FLAGS.contains(&flag.as_str()))
        {
            return unsupported(format!("`{opcode} {flag}`"));
        }
        match opcode {
            "ptrtoint" | "ptrtoaddr" => return self.address_of(to, values),
            "inttoptr" => return self.pointer_to(values),
            "bitcast" => return self.bitcast(&operands[0].ty, &instruction.ty, &values[0]),
            _ => {}
        }
        if let Some(relation) = opcode.strip_prefix("icmp ")
            && *from == Type::Ptr
        {
            return self.compare_pointers(relation, flags, values);
        }
        let width = self.width(from)?;
        let result = self.width(to)?;
        let chooser = &mut self.chooser;
        if let Some(format) = Format::of(from) {
            self.program.floats.clone()?;
            let kind = Kind {
                floats: opcode != "fneg",
                total: flags.is_empty() && !opcode.starts_with("fpto"),
                nan: Format::of(to).map_or(0, Format::nan),
                ..Kind::of_width(result)
            };
            let target = Format::of(to);
            return by_lane(values, &mut |lanes| {
                if let ("fneg", [Lane::Nan]) = (opcode, lanes) {
                    return Ok(Lane::Nan);
                }
                chooser.lift(kind, lanes, &|atoms| {
                    strict(atoms, |bits| match (opcode.split_once(' '), bits, target) {
                        (Some(("fcmp", relation)), [a, b], _) => float::compare(relation, flags, format, *a, *b),
                        (None, [a, b], _) => float::binary(opcode, flags, format, *a, *b),
                        (None, [a], Some(_)) if opcode == "fneg" => float::sign(opcode, flags, format, *a, 0),
                        (None, [a], Some(to)) if matches!(opcode, "fpext" | "fptrunc") => {
                            Some(float::resize(flags, format, to, *a))
                        }
                        (None, [a], None) if matches!(opcode, "fptosi" | "fptoui") => {
                            Some(float::to_integer(opcode == "fptosi", false, format, result, *a))
                        }
                        _ => None,
                    })
                })
            })
            .map_err(|stop| named(stop, opcode));
        }
        if !matches!(from, Type::Int(_)) {
            return Err(not_modelled());
        }
        if matches!(opcode, "sitofp" | "uitofp") {
            let to = Format::of(to).ok_or_else(not_modelled)?;
            let nneg = flags.iter().any(|flag| flag == "nneg");
            return by_lane(values, &mut |lanes| {
                chooser.lift(Kind { total: !nneg, ..Kind::of_width(result) }, lanes, &|atoms| {
                    strict(atoms, |bits| {
                        let negative = integer::signed(bits[0], width) < 0;
                        Some(match nneg && negative {
                            true => OpResult::Is(Atom::Poison),
                            false => float::from_integer(opcode == "sitofp", width, to, bits[0]),
                        })
                    })
                })
            });
        }
        let kind = Kind {
            total: integer::is_total(opcode, flags),
            may_be_undefined: integer::divides(opcode),
            ..Kind::of_width(result)
        };
        by_lane(values, &mut |lanes| {
            if let Some(lane) = masked(opcode, flags, width, result, lanes) {
                return Ok(lane);
            }
            chooser.lift(kind, lanes, &|atoms| match (opcode.split_once(' '), atoms) {
                (None, [a, b]) if integer::divides(opcode) => {
                    integer::binary(opcode, flags, width, *a, *b).unwrap_or(OpResult::Unclear("a division"))
                }
                (split, _) => strict(atoms, |bits| match (split, bits) {
                    (Some(("icmp", relation)), [a, b]) => integer::compare(relation, flags, width, *a, *b),
                    (None, [a, b]) => integer::binary(opcode, flags, width, Atom::Int(*a), Atom::Int(*b)),
                    (None, [a]) => integer::cast(opcode, flags, width, result, *a),
                    _ => None,
                }),
            })
        })
        .map_err(|stop| named(stop, opcode))
    }

    /// `freeze`
    pub(super) fn freeze(&mut self, ty: &Type, value: &Value) -> Result<Value, Stop> {
        if let Some(types) = self.program.layout.parts(ty)? {
            let Value::Parts(parts) = value else { return unsupported("an aggregate without parts") };
            let frozen = types.iter().zip(parts).map(|(ty, part)| self.freeze(ty, part));
            return Ok(Value::Parts(frozen.collect::<Result<_, _>>()?));
        }
        let width = if *ty == Type::Ptr { 0 } else { self.width(ty)? };
        value.try_map(&mut |lane| self.chooser.freeze(lane, width))
    }

    fn select(&mut self, ty: &Type, values: &[Value]) -> Result<Value, Stop> {
        let [condition, x, y] = values else { return unsupported("a `select` without two values") };
        if let (Value::Parts(conditions), Value::Parts(xs), Value::Parts(ys)) = (condition, x, y) {
            let mut parts = vec![];
            for ((condition, x), y) in conditions.iter().zip(xs).zip(ys) {
                parts.push(self.select(element(ty), &[condition.clone(), x.clone(), y.clone()])?);
            }
            return Ok(Value::Parts(parts));
        }
        let Some(condition) = condition.scalar() else { return unsupported("a `select` by a vector") };
        match condition {
            Lane::One(Atom::Poison) => self.everywhere(ty, "poison"),
            Lane::One(Atom::Int(bit)) => Ok(if bit & 1 == 1 { x.clone() } else { y.clone() }),
            // Each use may see either: for the second version, one of them is enough.
            _ if self.chooser.side == RefinementSide::After => match condition.values(2) {
                Some(values) => match values[self.chooser.choose(values.len())] {
                    Atom::Poison => self.everywhere(ty, "poison"),
                    Atom::Int(bit) => Ok(if bit & 1 == 1 { x.clone() } else { y.clone() }),
                    Atom::Pointer(_) => unsupported("a `select` by a pointer"),
                },
                None => unsupported("a `select` by a value that is not known"),
            },
            _ => {
                let doubt = condition.doubt();
                merged(x, y, doubt)
            }
        }
    }

    /// A value that is passed on by an instruction with fast-math flags.
    pub(super) fn passed_on(&mut self, instruction: &Instruction, ty: &Type, value: Value) -> Result<Value, Stop> {
        let flags = &instruction.flags;
        let (true, Some(format)) = (flags.iter().any(|f| float::FLAGS.contains(&f.as_str())), Format::of(element(ty)))
        else {
            return Ok(value);
        };
        let kind = Kind::of_width(format.width());
        value.try_map(&mut |lane| {
            self.chooser.lift(kind, &[lane], &|atoms| strict(atoms, |bits| Some(float::passed(flags, format, bits[0]))))
        })
    }

    /// Which part an index names; `None` where there is none.
    fn index(&mut self, lane: &Lane, count: usize) -> Result<Option<Option<usize>>, Stop> {
        let place = |bits: u128| usize::try_from(bits).ok().filter(|n| *n < count);
        Ok(match lane {
            Lane::One(Atom::Int(bits)) => Some(place(*bits)),
            Lane::One(Atom::Poison) => Some(None),
            _ if self.chooser.side == RefinementSide::Before => None,
            _ => match lane.values(256) {
                Some(values) => match values[self.chooser.choose(values.len())] {
                    Atom::Int(bits) => Some(place(bits)),
                    _ => Some(None),
                },
                // It may lie beyond.
                None => Some(None),
            },
        })
    }

    fn extract_element(&mut self, vector: &Value, index: &Value) -> Result<Value, Stop> {
        let (Value::Parts(parts), Value::Scalar(index)) = (vector, index) else {
            return unsupported("`extractelement` of what is no vector");
        };
        Ok(match self.index(index, parts.len())? {
            Some(Some(n)) => parts[n].clone(),
            Some(None) => Value::Scalar(Lane::POISON),
            None => Value::Scalar(Lane::Unknown(Doubt::Poison)),
        })
    }

    fn insert_element(&mut self, values: &[Value]) -> Result<Value, Stop> {
        let [Value::Parts(parts), value, Value::Scalar(index)] = values else {
            return unsupported("`insertelement` into what is no vector");
        };
        let mut parts = parts.clone();
        match self.index(index, parts.len())? {
            Some(Some(n)) => parts[n] = value.clone(),
            Some(None) => parts.fill(Value::Scalar(Lane::POISON)),
            None => parts.fill(Value::Scalar(Lane::Unknown(Doubt::Poison))),
        }
        Ok(Value::Parts(parts))
    }

    /// `ptrtoint`
    fn address_of(&mut self, to: &Type, values: &[Value]) -> Result<Value, Stop> {
        let width = self.width(to)?;
        for atom in values.iter().flat_map(Value::lanes).flat_map(|lane| lane.values(64).unwrap_or_default()) {
            if let Atom::Pointer(pointer) = atom {
                self.memory.escaped.insert(pointer.object);
            }
        }
        let (memory, chooser) = (&self.memory, &mut self.chooser);
        by_lane(values, &mut |lanes| {
            chooser.lift(Kind::total(width), lanes, &|atoms| match atoms[0] {
                Atom::Poison => OpResult::Is(Atom::Poison),
                Atom::Int(bits) => OpResult::Is(Atom::Int(bits & ones(width))),
                Atom::Pointer(pointer) => match memory.address(pointer) {
                    Some(address) => OpResult::Is(Atom::Int(u128::from(address) & ones(width))),
                    None => OpResult::Unclear("the address of a stack slot as a number"),
                },
            })
        })
    }

    /// `inttoptr`: what object it points to depends on which addresses were made numbers.
    fn pointer_to(&mut self, values: &[Value]) -> Result<Value, Stop> {
        let chooser = &mut self.chooser;
        by_lane(values, &mut |lanes| {
            chooser.lift(Kind::of_width(0), lanes, &|atoms| match atoms[0] {
                Atom::Poison => OpResult::Is(Atom::Poison),
                Atom::Int(0) => OpResult::Is(Atom::Pointer(super::value::Pointer::NULL)),
                _ => OpResult::Unclear("a number as a pointer"),
            })
        })
    }

    /// `bitcast`, also between vectors of other lanes.
    fn bitcast(&mut self, from: &Type, to: &Type, value: &Value) -> Result<Value, Stop> {
        if from == to {
            return Ok(value.clone());
        }
        if *element(from) == Type::Ptr || *element(to) == Type::Ptr {
            return unsupported("a `bitcast` of pointers");
        }
        let (narrow, wide) = (self.width(element(from))?, self.width(element(to))?);
        let mut lanes: Vec<Lane> = vec![];
        for lane in value.lanes() {
            // Which NaN it is, is decided here.
            lanes.push(match lane {
                Lane::Nan => Lane::Unknown(Doubt::Fixed),
                Lane::Few(atoms) if self.chooser.side == RefinementSide::After && narrow != wide => {
                    Lane::One(atoms[self.chooser.choose(atoms.len())])
                }
                lane => lane.clone(),
            });
        }
        let lanes = if narrow == wide { lanes } else { regrouped(&lanes, narrow, wide)? };
        Ok(match to {
            Type::Vector(..) => Value::Parts(lanes.into_iter().map(Value::Scalar).collect()),
            _ => match lanes.into_iter().next() {
                Some(lane) => Value::Scalar(lane),
                None => return unsupported("a `bitcast` of nothing"),
            },
        })
    }
}

/// Says which operation is not modelled.
fn named(stop: Stop, opcode: &str) -> Stop {
    match stop {
        Stop::PointerAsNumber => Stop::Unsupported(format!("`{opcode}`")),
        stop => stop,
    }
}

/// What each use may see where a condition may be either.
fn merged(x: &Value, y: &Value, doubt: Doubt) -> Result<Value, Stop> {
    Ok(match (x, y) {
        (Value::Scalar(x), Value::Scalar(y)) if x == y && doubt != Doubt::Poison => Value::Scalar(x.clone()),
        (Value::Scalar(x), Value::Scalar(y)) => Value::Scalar(Lane::Unknown(doubt.max(x.doubt()).max(y.doubt()))),
        (Value::Parts(xs), Value::Parts(ys)) => {
            Value::Parts(xs.iter().zip(ys).map(|(x, y)| merged(x, y, doubt)).collect::<Result<_, _>>()?)
        }
        _ => return unsupported("a `select` of different things"),
    })
}

fn shuffle(values: &[Value]) -> Result<Value, Stop> {
    let [Value::Parts(first), Value::Parts(second), Value::Parts(mask)] = values else {
        return unsupported("`shufflevector` of what are no vectors");
    };
    let all: Vec<&Value> = first.iter().chain(second).collect();
    let mut parts = vec![];
    for index in mask {
        parts.push(match index.scalar() {
            Some(Lane::One(Atom::Int(n))) => match all.get(usize::try_from(*n).unwrap_or(usize::MAX)) {
                Some(part) => (*part).clone(),
                None => return undefined("`shufflevector` takes a lane that is not there"),
            },
            Some(Lane::One(Atom::Poison) | Lane::Undef { .. }) => Value::Scalar(Lane::POISON),
            _ => return unsupported("a mask of `shufflevector`"),
        });
    }
    Ok(Value::Parts(parts))
}

/// Operations on bits of which some are `undef`, without trying all of them.
fn masked(opcode: &str, flags: &[String], width: u32, result: u32, lanes: &[&Lane]) -> Option<Lane> {
    let parts = |lane: &Lane| match lane {
        Lane::One(Atom::Int(bits)) => Some((*bits, 0)),
        Lane::Undef { bits, mask } => Some((bits & !mask, *mask)),
        _ => None,
    };
    let (a, undef) = parts(lanes[0])?;
    let b = lanes.get(1).and_then(|lane| parts(lane));
    if !flags.is_empty() || (undef == 0 && b.is_none_or(|(_, mask)| mask == 0)) {
        return None;
    }
    let (bits, mask) = match (opcode, b) {
        // A bit is known where both are, or where one decides.
        ("and", Some((b, other))) => (a & b, (undef | other) & (a | undef) & (b | other)),
        ("or", Some((b, other))) => (a | b, (undef | other) & !(a & !undef) & !(b & !other)),
        ("xor", Some((b, other))) => (a ^ b, undef | other),
        ("shl", Some((n, 0))) if n < width.into() => (a << n, undef << n),
        ("lshr", Some((n, 0))) if n < width.into() => (a >> n, undef >> n),
        ("trunc" | "zext", None) => (a, undef),
        _ => return None,
    };
    let mask = mask & ones(result);
    let bits = bits & ones(result) & !mask;
    Some(if mask == 0 { Lane::int(bits) } else { Lane::Undef { bits, mask } })
}

/// The same bits in lanes of another width, lowest first. A lane with a poison bit is poison.
fn regrouped(lanes: &[Lane], narrow: u32, wide: u32) -> Result<Vec<Lane>, Stop> {
    // Of each bit: its value, or what is known instead.
    let mut bits: Vec<Result<(bool, bool), Doubt>> = vec![];
    for lane in lanes {
        for at in 0..narrow {
            bits.push(match lane {
                Lane::One(Atom::Int(bits)) => Ok((bits >> at & 1 == 1, false)),
                Lane::Undef { bits, mask } => Ok((bits >> at & 1 == 1, mask >> at & 1 == 1)),
                Lane::One(Atom::Pointer(_)) => return unsupported("a `bitcast` of pointers"),
                lane => Err(lane.doubt()),
            });
        }
    }
    let poison = |lane: &Lane| *lane == Lane::POISON;
    let mut out = vec![];
    for (n, group) in bits.chunks(wide as usize).enumerate() {
        let first = n * wide as usize / narrow as usize;
        let last = (n * wide as usize + group.len() - 1) / narrow as usize;
        if lanes[first..=last].iter().any(poison) {
            out.push(Lane::POISON);
            continue;
        }
        if let Some(doubt) = group.iter().filter_map(|bit| bit.err()).max() {
            out.push(Lane::Unknown(doubt));
            continue;
        }
        let (mut value, mut mask) = (0u128, 0u128);
        for (at, bit) in group.iter().enumerate() {
            if let Ok((set, undef)) = bit {
                value |= u128::from(*set && !*undef) << at;
                mask |= u128::from(*undef) << at;
            }
        }
        out.push(if mask == 0 { Lane::int(value) } else { Lane::Undef { bits: value, mask } });
    }
    Ok(out)
}
