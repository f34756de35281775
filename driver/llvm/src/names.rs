//! LLVM's spellings and declared operations, looked up in both directions.
//!
//! A pack says `@llvm("add")`, `@llvm("icmp slt")`, `@llvm("llvm.ctpop")`; [`InstructionForm`] is how an operation of
//! that spelling is written. Some spellings stand for an instruction with a constant in it: `sub 0` negates, `xor -1`
//! complements. `@llvm("add nsw")` is no instruction: it is 0 where that flag of that instruction does not make poison.
//! `@llvm("@sin")`, or else `@link("libm.so.6", "sin")`, is the C function of that name, and
//! `@intrinsic("llvm.sin")` beside it the intrinsic of the same meaning, as which clang gives calls that set no
//! `errno`.
//!
//! **Invariant**: an operation here means the same as what is written for it, on all values, where nothing is
//! poison. Instructions that are narrower (shifts beyond the width, conversions out of range) are either written
//! with a mask or guard, or as another instruction that is total; see [`narrow`].

use super::grammar::{self, Form};
use super::types::Type;
use rewright_pipeline::signatures::Signatures;
use rewright_typeprop::{OpId, Scalar, Ty, TypeStore, Universe};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// The name under which packs give LLVM's spellings.
pub const FRONT_END: &str = "llvm";

/// The name under which packs say which intrinsic is a C function of theirs.
const INTRINSIC: &str = "intrinsic";

/// Spellings of operations that an instruction is taken apart into.
pub mod spelling {
    /// A pointer's address.
    pub const ADDRESS: &str = "ptrtoint";
    /// A pointer that lies a constant further.
    pub const OFFSET: &str = "getelementptr";
    /// A pointer to an element.
    pub const ELEMENT: &str = "getelementptr index";
    /// The low bits, with their sign.
    pub const WIDEN: &str = "sext";
    /// Reads memory.
    pub const LOAD: &str = "load";
    /// Writes memory.
    pub const STORE: &str = "store";
    /// The low bits.
    pub const NARROW: &str = "trunc";
    /// Bit by bit.
    pub const AND: &str = "and";
}

/// What becomes of an instruction on truth values, which are 8-bit integers that are 0 or 1 here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// Nothing: it is the same value.
    Same,
    /// The operation of this spelling.
    Operation(&'static str),
    /// The lowest bit of an integer.
    LowestBit,
    /// No operation of ours.
    Opaque,
}

/// How an instruction with an operand or a result of type `i1` is understood; `None`: like any other.
pub fn truth(opcode: &str, operands: &[Type], result: &Type) -> Option<Truth> {
    let is = |ty: &Type| *ty == Type::Int(1);
    let from = operands.iter().any(is);
    Some(match opcode {
        "and" | "or" | "xor" | "select" => return None,
        _ if opcode.contains("cmp ") && !from => return None,
        _ if !from && !is(result) => return None,
        "zext" if *result == Type::Int(8) => Truth::Same,
        "zext" => Truth::Operation("zext"),
        "uitofp" => Truth::Operation("uitofp"),
        // All ones and 0 as signed integers there.
        "sext" => Truth::Operation("sext i1"),
        "trunc" if is(result) => Truth::LowestBit,
        "icmp eq" => Truth::Operation("icmp eq"),
        "icmp ne" => Truth::Operation("icmp ne"),
        "icmp ult" => Truth::Operation("icmp ult"),
        "icmp ule" => Truth::Operation("icmp ule"),
        "icmp ugt" => Truth::Operation("icmp ugt"),
        "icmp uge" => Truth::Operation("icmp uge"),
        _ => Truth::Opaque,
    })
}

/// Is an operation on integers that are 0 or 1 the same on truth values?
pub fn keeps_truth(opcode: &str) -> bool {
    matches!(opcode, "and" | "or" | "xor")
}

/// Is a cast from an integer that is 0 or 1 the same from a truth value?
pub fn casts_truth(opcode: &str) -> bool {
    matches!(opcode, "zext" | "uitofp")
}

/// Is a comparison of integers that are 0 or 1 the same on truth values?
pub fn compares_truth(opcode: &str) -> bool {
    !opcode.starts_with("icmp s")
}

/// How an operation is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstructionForm {
    /// `op T x, y`
    Binary,
    /// The same, poison where the second operand is not below the width: it is masked.
    Shift,
    /// The same, undefined for the least integer and -1 although the operation is not: the divisor is guarded.
    SignedRemainder,
    /// `op T c, x`
    With(&'static str),
    /// `op T x, y` to a truth value.
    Compare,
    /// `op T x`
    Unary,
    /// `op T x to U`
    Cast,
    /// The same from a pointer; an access wants the pointer itself.
    Address,
    /// `select i1 c, T x, T y`
    Select,
    /// A truth value to all zeros or all ones.
    Mask,
    /// `call T @op.T(T x, ...)`, with more arguments that are constants.
    Intrinsic(&'static str),
    /// The same, named after its operand's type, too.
    Conversion,
    /// The same with the first operand twice.
    Rotate,
    /// `getelementptr i8, ptr p, i64 n`
    Offset,
    /// `getelementptr [size x i8], ptr p, i64 i`
    Element,
    /// `load T, ptr p, align n`
    Load,
    /// `store T v, ptr p, align n`
    Store,
    /// `bitcast ptr p to ptr`
    Pointer,
    /// `call T @f(T x, ...)`: a C function.
    Call,
}

/// Instructions that are poison where the total operation of another spelling is not.
const NARROW: [(&str, &str); 2] = [("fptosi", "llvm.fptosi.sat"), ("fptoui", "llvm.fptoui.sat")];

/// Flags of instructions that make poison where what they promise does not hold.
const FLAGS: [&str; 5] = ["nsw", "nuw", "exact", "nneg", "disjoint"];

/// Intrinsics with a last argument that says whether some value is poison: it is not.
const TOTAL_IF_FALSE: [&str; 3] = ["llvm.abs", "llvm.ctlz", "llvm.cttz"];

/// The spelling of the total operation that an instruction of this spelling agrees with where it is not poison.
pub fn narrow(opcode: &str) -> &str {
    NARROW.iter().find(|(from, _)| *from == opcode).map_or(opcode, |(_, to)| to)
}

/// What becomes of operands that are poison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poison {
    /// The result is poison exactly if an operand is.
    Passes,
    /// The result is poison if the first operand is, or the one that it chooses.
    Chosen,
    /// Anything.
    Unknown,
}

impl InstructionForm {
    /// What becomes of operands that are poison, without flags.
    fn poison(self) -> Poison {
        match self {
            InstructionForm::Binary
            | InstructionForm::Shift
            | InstructionForm::SignedRemainder
            | InstructionForm::With(_)
            | InstructionForm::Compare
            | InstructionForm::Unary
            | InstructionForm::Cast
            | InstructionForm::Address
            | InstructionForm::Pointer
            | InstructionForm::Mask
            | InstructionForm::Intrinsic(_)
            | InstructionForm::Conversion
            | InstructionForm::Rotate
            | InstructionForm::Offset
            | InstructionForm::Element => Poison::Passes,
            InstructionForm::Select => Poison::Chosen,
            _ => Poison::Unknown,
        }
    }
    /// How something of this spelling is written.
    fn parse(spelling: &str) -> Option<(String, InstructionForm)> {
        let (opcode, rest) = spelling.split_once(' ').unwrap_or((spelling, ""));
        let written = match (opcode, rest) {
            ("sub", "0") => InstructionForm::With("0"),
            ("xor", "-1") => InstructionForm::With("-1"),
            ("sext", "i1") => InstructionForm::Mask,
            ("bitcast", "ptr") => InstructionForm::Pointer,
            ("getelementptr", "index") => InstructionForm::Element,
            ("icmp" | "fcmp", _) if !rest.is_empty() => return Some((spelling.into(), InstructionForm::Compare)),
            (_, rest) if !rest.is_empty() => return None,
            ("shl" | "lshr" | "ashr", _) => InstructionForm::Shift,
            ("srem", _) => InstructionForm::SignedRemainder,
            ("llvm.fshl" | "llvm.fshr", _) => InstructionForm::Rotate,
            ("llvm.fptosi.sat" | "llvm.fptoui.sat", _) => InstructionForm::Conversion,
            (name, _) if name.starts_with('@') => InstructionForm::Call,
            (name, _) if TOTAL_IF_FALSE.contains(&name) => InstructionForm::Intrinsic(", i1 false"),
            (name, _) if name.starts_with("llvm.") => InstructionForm::Intrinsic(""),
            (name, _) => match grammar::form(name)? {
                Form::Binary(_) => InstructionForm::Binary,
                Form::Unary => InstructionForm::Unary,
                Form::Cast if name == spelling::ADDRESS => InstructionForm::Address,
                Form::Cast => InstructionForm::Cast,
                Form::Select => InstructionForm::Select,
                Form::Offset => InstructionForm::Offset,
                Form::Load => InstructionForm::Load,
                Form::Store => InstructionForm::Store,
                _ => return None,
            },
        };
        Some((opcode.into(), written))
    }
}

/// Spellings and the types that operations are declared for, read once.
#[derive(Clone, Debug)]
pub struct Names {
    scalars: Vec<(Type, Ty)>,
    signatures: Signatures<String>,
    /// By `OpId`.
    written: Vec<Option<(String, InstructionForm)>>,
    /// C functions, each with the operations that it is, in the order in which packs declare them.
    functions: FxHashMap<String, Vec<OpId>>,
    /// Intrinsics that operations are, by their spelling.
    intrinsics: FxHashMap<String, InstructionForm>,
    /// C functions that are intrinsics, too.
    also: FxHashMap<OpId, String>,
    /// What takes a pointer for one to what a function names, which is [`InstructionForm::Pointer`].
    pointer: Option<OpId>,
    /// Declared spellings that are none of LLVM's.
    pub unknown: Vec<(OpId, String)>,
}

/// Does a spelling name an instruction and a flag? Its operation is 0 where the flag does not make poison.
fn is_flag(spelling: &str) -> bool {
    let is_instruction = |opcode: &str| matches!(grammar::form(opcode), Some(Form::Binary(_) | Form::Cast));
    spelling.split_once(' ').is_some_and(|(opcode, flag)| is_instruction(opcode) && FLAGS.contains(&flag))
}

/// LLVM's scalar types, with the names that packs give them.
fn scalar_types() -> [(Type, &'static str, Scalar); 7] {
    let word = |w: &str| Type::Word(w.into());
    [
        (Type::Int(8), "i8", Scalar::I8),
        (Type::Int(16), "i16", Scalar::I16),
        (Type::Int(32), "i32", Scalar::I32),
        (Type::Int(64), "i64", Scalar::I64),
        (word("float"), "f32", Scalar::F32),
        (word("double"), "f64", Scalar::F64),
        (Type::Ptr, "ptr", Scalar::I64),
    ]
}

impl Names {
    /// Reads all spellings, and interns the types.
    pub fn new(universe: &mut Universe) -> Names {
        let mut scalars = vec![];
        let mut signatures = vec![];
        for (llvm, name, scalar) in scalar_types() {
            let ty = universe.types.named_or_opaque(name);
            scalars.push((llvm, ty));
            // A representation other than LLVM's own would be a declaration that lies about the type.
            if let Some(repr) = universe.types.repr(ty).filter(|repr| repr.scalar() == Some(scalar)) {
                signatures.push((ty, repr));
            }
        }
        let mut names = Names {
            scalars,
            signatures: Signatures::new(signatures),
            written: vec![],
            functions: FxHashMap::default(),
            intrinsics: FxHashMap::default(),
            also: FxHashMap::default(),
            pointer: None,
            unknown: vec![],
        };
        let Universe { types, ops, .. } = universe;
        for (id, op) in ops.iter() {
            let linked = op.link.as_ref().map(|link| format!("@{}", link.symbol));
            let spelling = op.names.get(FRONT_END).or(linked.as_ref());
            let written = spelling.and_then(|s| InstructionForm::parse(s));
            match (spelling, &written) {
                (Some(function), Some((_, InstructionForm::Call))) => {
                    names.functions.entry(function.clone()).or_default().push(id);
                    let intrinsic = op.names.get(INTRINSIC);
                    match intrinsic.and_then(|i| InstructionForm::parse(i)) {
                        Some((spelling, InstructionForm::Intrinsic(""))) => {
                            names.signatures.declare(spelling.clone(), id, op, types);
                            names.intrinsics.insert(spelling.clone(), InstructionForm::Intrinsic(""));
                            names.also.insert(id, spelling);
                        }
                        _ => names.unknown.extend(intrinsic.map(|i| (id, i.clone()))),
                    }
                }
                (Some(_), Some((_, InstructionForm::Pointer))) => names.pointer = Some(id),
                (Some(spelling), Some((_, written))) => {
                    if matches!(
                        written,
                        InstructionForm::Intrinsic(_) | InstructionForm::Conversion | InstructionForm::Rotate
                    ) {
                        names.intrinsics.insert(spelling.clone(), *written);
                    }
                    names.signatures.declare(spelling.clone(), id, op, types);
                }
                (Some(spelling), None) if is_flag(spelling) => {
                    names.signatures.declare(spelling.clone(), id, op, types);
                }
                (Some(spelling), None) => names.unknown.push((id, spelling.clone())),
                (None, _) => {}
            }
            names.written.push(written);
        }
        names
    }

    /// Our type for a scalar type of LLVM. A truth value is an 8-bit integer that is 0 or 1.
    pub fn ty(&self, ty: &Type) -> Option<Ty> {
        let ty = if *ty == Type::Int(1) { &Type::Int(8) } else { ty };
        self.scalars.iter().find(|(t, _)| t == ty).map(|(_, ours)| *ours)
    }

    /// The LLVM type behind one of ours. A type that packs declare below `ptr` is a pointer.
    pub fn llvm_type(&self, ty: Ty, types: &TypeStore) -> Option<&Type> {
        let exact = self.scalars.iter().find(|(_, ours)| *ours == ty);
        let found = exact.or_else(|| self.scalars.iter().find(|(t, o)| *t == Type::Ptr && types.is_subtype(ty, *o)));
        found.map(|(t, _)| t)
    }

    /// The operations that a C function is.
    pub fn functions(&self, symbol: &str) -> &[OpId] {
        self.functions.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// All C functions, each with the operations that it is, in no order.
    pub fn all_functions(&self) -> impl Iterator<Item = (&str, &[OpId])> {
        self.functions.iter().map(|(name, ops)| (name.as_str(), ops.as_slice()))
    }

    /// The intrinsic that a C function is as well.
    pub fn intrinsic_of(&self, op: OpId) -> Option<&str> {
        self.also.get(&op).map(String::as_str)
    }

    /// The same names where a C function that is an intrinsic, too, is written as a call.
    #[must_use]
    pub fn as_calls(&self) -> Names {
        Names { also: FxHashMap::default(), ..self.clone() }
    }

    /// The operation that takes a pointer for one to something.
    pub fn pointer(&self) -> Option<OpId> {
        self.pointer
    }

    /// The machine representation of one of our types.
    pub fn scalar(&self, ty: Ty) -> Option<Scalar> {
        self.signatures.repr(ty)?.scalar()
    }

    /// Operations that are the C functions of these names.
    pub fn operations<'n>(&self, symbols: impl Iterator<Item = &'n str>) -> BTreeSet<OpId> {
        symbols.flat_map(|symbol| self.functions(symbol)).copied().collect()
    }

    /// How an operation is written.
    pub fn written(&self, op: OpId) -> Option<(&str, InstructionForm)> {
        self.written.get(op.0 as usize)?.as_ref().map(|(opcode, written)| (opcode.as_str(), *written))
    }

    /// Is an operation a store?
    pub fn is_store(&self, op: OpId) -> bool {
        matches!(self.written(op), Some((_, InstructionForm::Store)))
    }

    /// What becomes of operands of an operation that are poison. That a divisor is, is worse.
    pub fn poison(&self, op: OpId) -> Poison {
        self.written(op).map_or(Poison::Unknown, |(_, written)| written.poison())
    }

    /// Operations that cannot be written: no selection may compute them.
    pub fn unwritable(&self) -> BTreeSet<OpId> {
        (0..).map(OpId).zip(&self.written).filter(|(_, w)| w.is_none()).map(|(op, _)| op).collect()
    }

    /// The operation and type arguments of an instruction with these operand and result types.
    pub fn instance(
        &self,
        spelling: &str,
        params: &[Ty],
        constant: &[bool],
        results: &[Ty],
        memory: bool,
    ) -> Option<(OpId, SmallVec<[Ty; 2]>)> {
        self.signatures.instance(&spelling.to_string(), params, constant, results, memory)
    }

    /// The spelling of an intrinsic, and how it is written: `@llvm.ctpop.i32` is `llvm.ctpop`.
    pub fn intrinsic(&self, callee: &str) -> Option<(String, InstructionForm)> {
        let mut name = callee.strip_prefix('@')?;
        while let Some((shorter, _)) = name.rsplit_once('.') {
            if shorter == FRONT_END {
                return None;
            }
            name = shorter;
            if let Some(written) = self.intrinsics.get(name) {
                return Some((name.into(), *written));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_spelling_of_the_standard_packs_is_llvms() {
        let mut universe = sample::universe();
        let names = Names::new(&mut universe);
        assert_eq!(names.unknown, []);
    }

    #[test]
    fn intrinsics_are_found_by_their_stem() {
        let mut universe = sample::universe();
        let names = Names::new(&mut universe);
        let stem = |callee: &str| names.intrinsic(callee).map(|(name, _)| name);
        for (callee, name) in [
            ("@llvm.ctpop.i32", Some("llvm.ctpop")),
            ("@llvm.uadd.sat.i8", Some("llvm.uadd.sat")),
            ("@llvm.fptosi.sat.i32.f64", Some("llvm.fptosi.sat")),
            ("@llvm.uadd.with.overflow.i32", None),
            ("@llvm.memcpy.p0.p0.i64", None),
            ("@ctpop.i32", None),
            ("@f", None),
        ] {
            assert_eq!(stem(callee).as_deref(), name, "{callee}");
        }
    }
}
