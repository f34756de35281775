//! CLIF spellings and declared operations, looked up in both directions.
//!
//! A pack says `@clif("iadd")` or `@clif("icmp eq")`; [`Names::new`] reads these once and interns every type that
//! CLIF can write, so that importing a function needs no change to the universe and runs on any thread.
//!
//! **Invariant**: an instruction maps to an operation only if the operation's declared signature fits its actual
//! types, all of them types that the packs give a representation, and its declared effects cover what Cranelift
//! says of the opcode. Everything else is opaque.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstructionData, Opcode, TrapCode, Type, types};
use rewright_pipeline::signatures::Signatures;
use rewright_typeprop::{OpId, Repr, Scalar, Ty, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The name under which packs give CLIF spellings.
pub const FRONT_END: &str = "clif";

/// An opcode, with the condition that is part of its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spelling {
    /// Cranelift's opcode.
    pub opcode: Opcode,
    /// Condition code of a comparison.
    pub cond: Cond,
}

/// The condition code of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cond {
    /// Not a comparison.
    None,
    /// `icmp`
    Int(IntCC),
    /// `fcmp`
    Float(FloatCC),
}

impl Spelling {
    /// Reads `iadd`, `icmp slt`, `fcmp uno`.
    pub fn parse(text: &str) -> Option<Spelling> {
        let mut words = text.split_whitespace();
        let opcode: Opcode = words.next()?.parse().ok()?;
        let cond = match words.next() {
            None => Cond::None,
            Some(word) if opcode == Opcode::Icmp => Cond::Int(word.parse().ok()?),
            Some(word) if opcode == Opcode::Fcmp => Cond::Float(word.parse().ok()?),
            Some(_) => return None,
        };
        words.next().is_none().then_some(Spelling { opcode, cond })
    }

    /// The spelling of an instruction.
    pub fn of(data: &InstructionData) -> Spelling {
        let cond = match *data {
            InstructionData::IntCompare { cond, .. } => Cond::Int(cond),
            InstructionData::FloatCompare { cond, .. } => Cond::Float(cond),
            _ => Cond::None,
        };
        Spelling { opcode: data.opcode(), cond }
    }
}

/// Spellings and types, read once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// CLIF type -> interned type.
    to_ty: FxHashMap<Type, Ty>,
    /// Interned type -> CLIF type.
    from_ty: FxHashMap<Ty, Type>,
    signatures: Option<Signatures<Spelling>>,
    /// By `OpId`.
    spellings: Vec<Option<Spelling>>,
    /// By `OpId`: which parameters are `const`.
    constants: Vec<Vec<bool>>,
    /// Declared spellings that this version of Cranelift does not know, or that contradict what it says of the
    /// opcode's effects.
    pub unknown: Vec<(OpId, String)>,
}

impl Names {
    /// Interns CLIF's types into the universe and reads all spellings.
    pub fn new(universe: &mut Universe) -> Names {
        let mut names = Names::default();
        let mut reprs = vec![];
        for ty in all_types() {
            let interned = universe.types.named_or_opaque(&ty.to_string());
            names.to_ty.insert(ty, interned);
            names.from_ty.insert(interned, ty);
            // A representation other than CLIF's own would be a declaration that lies about the type.
            if let Some(repr) = universe.types.repr(interned)
                && repr_of(ty) == Some(repr)
            {
                reprs.push((interned, repr));
            }
        }
        let mut signatures = Signatures::new(reprs);
        let Universe { types, ops, .. } = universe;
        for (id, op) in ops.iter() {
            names.constants.push(op.params.iter().map(|p| p.constant).collect());
            let Some(text) = op.names.get(FRONT_END) else {
                names.spellings.push(None);
                continue;
            };
            let spelling = Spelling::parse(text).filter(|s| effects_agree(s.opcode, &op.effects));
            names.spellings.push(spelling);
            match spelling {
                None => names.unknown.push((id, text.clone())),
                Some(spelling) => signatures.declare(spelling, id, op, types),
            }
        }
        names.signatures = Some(signatures);
        names
    }

    /// Our type for a CLIF type.
    pub fn ty(&self, ty: Type) -> Ty {
        self.to_ty.get(&ty).copied().unwrap_or(Ty::ANY)
    }

    /// The CLIF type behind one of ours.
    pub fn clif_type(&self, ty: Ty) -> Option<Type> {
        self.from_ty.get(&ty).copied()
    }

    /// The machine representation of one of our types, where it is of one word.
    pub fn scalar(&self, ty: Ty) -> Option<Scalar> {
        self.signatures.as_ref()?.repr(ty)?.scalar()
    }

    /// What a constant of one of our types is: the word, or what all lanes hold.
    pub fn lane(&self, ty: Ty) -> Option<Scalar> {
        self.signatures.as_ref()?.repr(ty)?.lane()
    }

    /// How CLIF spells an operation.
    pub fn spelling(&self, op: OpId) -> Option<Spelling> {
        self.spellings.get(op.0 as usize).copied().flatten()
    }

    /// Which parameters of an operation are `const`.
    pub fn constants(&self, op: OpId) -> &[bool] {
        self.constants.get(op.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The operation and type arguments that fit an instruction with these operand and result types.
    /// `constant[i]` says that operand `i` is an immediate: it must meet a `const` parameter, and only it may.
    pub fn instance(
        &self,
        spelling: Spelling,
        params: &[Ty],
        constant: &[bool],
        results: &[Ty],
        memory: bool,
    ) -> Option<(OpId, SmallVec<[Ty; 2]>)> {
        self.signatures.as_ref()?.instance(&spelling, params, constant, results, memory)
    }
}

/// Every type that CLIF can write, in a fixed order.
fn all_types() -> impl Iterator<Item = Type> {
    let lanes =
        [types::I8, types::I16, types::I32, types::I64, types::I128, types::F16, types::F32, types::F64, types::F128];
    let vectors = (1..=8).flat_map(move |log2| lanes.into_iter().filter_map(move |lane| lane.by(1 << log2)));
    let dynamic = vectors.clone().filter_map(Type::vector_to_dynamic);
    lanes.into_iter().chain(vectors).chain(dynamic)
}

/// The representation of a CLIF type that the model vocabulary has words for.
pub fn scalar_of(ty: Type) -> Option<Scalar> {
    Some(match ty {
        types::I8 => Scalar::I8,
        types::I16 => Scalar::I16,
        types::I32 => Scalar::I32,
        types::I64 => Scalar::I64,
        types::F32 => Scalar::F32,
        types::F64 => Scalar::F64,
        _ => return None,
    })
}

/// The representation of a CLIF type, of any size.
fn repr_of(ty: Type) -> Option<Repr> {
    match ty {
        types::I128 => return Some(Repr::Int128),
        types::F16 => return Some(Repr::F16),
        types::F128 => return Some(Repr::F128),
        _ => {}
    }
    let lane = scalar_of(ty.lane_type())?;
    Some(match ty {
        _ if ty.is_dynamic_vector() => return None,
        _ if ty.is_vector() => Repr::Lanes(lane, ty.lane_count()),
        _ => Repr::Scalar(lane),
    })
}

/// The number that the IR has for a trap code that a pack names: Cranelift's byte; 0 where it knows none.
pub fn trap_code(name: &str) -> u32 {
    name.parse::<TrapCode>().map_or(0, |code| code.as_raw().get().into())
}

/// Does the declaration admit everything that the opcode may do?
fn effects_agree(opcode: Opcode, effects: &rewright_typeprop::Effects) -> bool {
    !opcode.is_terminator()
        && !opcode.is_call()
        && !opcode.other_side_effects()
        && opcode.can_load() != effects.reads.is_empty()
        && opcode.can_store() != effects.writes.is_empty()
        && (!opcode.can_trap() || effects.traps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_parse() {
        assert!(Spelling::parse("iadd").is_some());
        assert_eq!(Spelling::parse("icmp slt").map(|s| s.cond), Some(Cond::Int(IntCC::SignedLessThan)));
        assert_eq!(Spelling::parse("fcmp uno").map(|s| s.cond), Some(Cond::Float(FloatCC::Unordered)));
        for wrong in ["", "frobnicate", "iadd eq", "icmp uno", "icmp eq ne"] {
            assert_eq!(Spelling::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn types_have_distinct_names() {
        let names: Vec<String> = all_types().map(|t| t.to_string()).collect();
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), distinct.len());
    }
}
