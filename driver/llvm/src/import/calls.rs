//! Calls of C functions that packs declare.
//!
//! A call is an operation where the packs declare a C function of this name with types that fit. It does what
//! the pack says; where that is less than LLVM knows, the call is noted, so that the user can be told.
//!
//! LLVM has one type for all pointers, and packs name types below `ptr`. A result of such a type has it, a parameter of
//! a block has what all that arrives has in common; what a call takes that is not known to be of the type becomes so
//! for such calls only, through an operation that says so. So a branch on what a pointer really is keeps its meaning.
//!
//! **Invariant**: in a file that defines a C function of the packs, that function is no operation: what a pack says of
//! a function would else be used in its own body.

use super::error::ImportError;
use super::{Importer, InstPosition, Read, Source};
use crate::body::{InMemory, Instruction, Operand, Role, Shape};
use crate::effects;
use crate::types::Type;
use rewright_cfg_skeleton::ir::{Access, BlockId, Inst, InstKind, OpaqueEffects, RegionId, Value};
use rewright_typeprop::ops::OpParam;
use rewright_typeprop::overload::{CallTypes, TypeArgs, resolve};
use rewright_typeprop::{Effects, OpId, Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

impl<'a> Importer<'a, '_> {
    /// Appends the operation that a call is, if it is one.
    pub(super) fn call(
        &mut self,
        block: BlockId,
        place: InstPosition,
        instruction: &'a Instruction,
        callee: &str,
        args: &[Operand],
        in_memory: &[InMemory],
    ) -> Read<bool> {
        let candidates = self.candidates(instruction, callee, args);
        if candidates.is_empty() || (!in_memory.is_empty() && !self.structures.is_operation(place)) {
            return Ok(false);
        }
        let mut place_of_result = None;
        let mut values: SmallVec<[Value; 3]> = smallvec![];
        for (i, arg) in args.iter().enumerate() {
            match in_memory.iter().find(|m| m.argument == i).map(|m| m.role) {
                Some(Role::Result) => place_of_result = Some((arg, self.structure_type(candidates, in_memory, i))),
                Some(Role::Copy) => {
                    let ty = self.structure_type(candidates, in_memory, i);
                    values.push(self.structure_taken(block, place, ty, arg)?);
                }
                None => values.push(self.operand(block, arg)?),
            }
        }
        let mut results = self.results(instruction)?;
        // An operation has all its results, a call's may go without a name.
        if results.is_empty() && instruction.ty != Type::Void {
            results.push(self.new_value(&instruction.ty));
        }
        if let Some((address, ty)) = place_of_result {
            results.push(self.structure_given(ty, address)?);
        }
        let given: SmallVec<[Option<Ty>; 1]> = results.iter().map(|v| Some(self.out.ty(*v))).collect();
        let Some((op, targs)) = self.resolved(candidates, &values, &given) else {
            // Its neighbours already count on it.
            return if in_memory.is_empty() { Ok(false) } else { Err(ImportError::Operands(callee.to_string())) };
        };
        for (index, value) in values.iter_mut().enumerate() {
            let Universe { types, ops, .. } = &self.types.universe;
            let wanted = types.find_instance(&ops.get(op).params[index].ty, &targs);
            *value = self.taken_for(block, place, *value, wanted);
        }
        // Of functions under one name that give pointers to different things, this one says to which.
        for (index, value) in results.iter().enumerate() {
            let Universe { types, ops, .. } = &self.types.universe;
            if let Some(declared) = types.find_instance(&ops.get(op).results[index], &targs) {
                self.out.values[value.index()] = declared;
            }
        }
        let declared = &self.types.universe.ops.get(op).effects;
        let known = effects::of(self.file, instruction);
        if weight(declared) < weight_of(known) {
            self.payloads.narrowed.push(format!("{callee}, which {}", seen_by_llvm(known)));
        }
        let access = declared.accesses_memory().then_some(Access {
            region: RegionId(0),
            trap: None,
            movable: false,
            readonly: false,
            aligned: false,
        });
        let kind = InstKind::Op { op, targs, access };
        let structure = results.first().copied();
        self.push(block, Inst { kind, args: values, results, origin: None }, Source::Instruction(place));
        if let (Some((address, _)), Some(structure)) = (place_of_result, structure)
            && self.structures.held(&address.text).is_none()
        {
            self.put_structure(block, place, structure, address)?;
        }
        Ok(true)
    }

    /// The operations that a call may be.
    pub(super) fn candidates(&self, instruction: &Instruction, callee: &str, args: &[Operand]) -> &'a [OpId] {
        let candidates = self.names.functions(callee);
        if candidates.is_empty() || (self.is_no_builtin(instruction) && self.is_of_c(candidates)) {
            return &[];
        }
        let plain = |ty: &Type| self.names.ty(ty).is_some() || *ty == Type::Void;
        let declared = self.file.declarations.get(callee).filter(|d| !d.variadic);
        let convention = |word: &String| word != "ccc" && (word.ends_with("cc") || word.starts_with("cc "));
        let fits = declared.is_some_and(|d| !d.before.iter().any(convention))
            && !instruction.flags.iter().any(convention)
            && plain(&instruction.ty)
            && args.iter().all(|arg| plain(&arg.ty));
        if fits { candidates } else { &[] }
    }

    /// Is a call told not to be one of C's own functions, as by `-fno-builtin`?
    fn is_no_builtin(&self, instruction: &Instruction) -> bool {
        let Shape::Call { attributes: own, .. } = &instruction.shape else { return false };
        let [own, _] = effects::attributes(self.file, None, own);
        own.iter().any(|attribute| attribute == "nobuiltin")
    }

    /// Are these C's own functions? Packs that ship speak of no others.
    fn is_of_c(&self, candidates: &[OpId]) -> bool {
        candidates.iter().any(|op| self.types.universe.ops.get(*op).pack.starts_with("std."))
    }

    /// The most specific operation that takes these operands; else the first that takes them once its pointers are
    /// taken for what it names.
    fn resolved(&mut self, candidates: &[OpId], values: &[Value], results: &[Option<Ty>]) -> Option<(OpId, TypeArgs)> {
        let args: Vec<Ty> = values.iter().map(|v| self.out.ty(*v)).collect();
        let universe = &mut self.types.universe;
        if let Ok((op, targs)) = resolve(universe, candidates, CallTypes { args: &args, explicit: &[], results }) {
            return gives(universe, op, &targs, results).then_some((op, targs));
        }
        self.names.pointer()?;
        let pointer = self.types.ty(&Type::Ptr);
        let universe = &self.types.universe;
        let takes = |(param, found): (&OpParam, &Ty)| {
            let types = &universe.types;
            types.find_instance(&param.ty, &[]).is_some_and(|wanted| {
                types.is_subtype(*found, wanted) || (*found == pointer && types.is_subtype(wanted, pointer))
            })
        };
        let none = TypeArgs::new();
        let fits = |op: &&OpId| {
            let declared = universe.ops.get(**op);
            declared.tparams.is_empty()
                && declared.params.len() == args.len()
                && declared.params.iter().zip(&args).all(takes)
                && gives(universe, **op, &none, results)
        };
        candidates.iter().find(fits).map(|op| (*op, none.clone()))
    }

    /// A value as one of the type that a call wants.
    fn taken_for(&mut self, block: BlockId, place: InstPosition, value: Value, wanted: Option<Ty>) -> Value {
        let types = &self.types.universe.types;
        match (self.names.pointer(), wanted) {
            (Some(op), Some(wanted)) if !types.is_subtype(self.out.ty(value), wanted) => {
                let result = self.new_typed(&Type::Ptr, wanted);
                let kind = InstKind::Op { op, targs: smallvec![wanted], access: None };
                let inst = Inst { kind, args: smallvec![value], results: smallvec![result], origin: None };
                self.push(block, inst, Source::Part(place));
                result
            }
            _ => value,
        }
    }

    /// Local names of pointers to something that packs name: what calls give, and parameters of blocks to which nothing
    /// else comes. A value that a parameter carries around a loop to itself says nothing of its type.
    pub(super) fn named_pointers(&mut self) -> FxHashMap<&'a str, Ty> {
        let pointer = self.types.ty(&Type::Ptr);
        let body = self.body;
        let mut known: FxHashMap<&'a str, Ty> = FxHashMap::default();
        let mut phis: Vec<(&'a str, &'a [(Operand, String)])> = vec![];
        for instruction in body.blocks.iter().flat_map(|b| &b.instructions).filter(|i| i.ty == Type::Ptr) {
            match (&instruction.result, &instruction.shape) {
                (Some(name), Shape::Call { callee: Some(callee), args, bundles: false, .. }) => {
                    if let Some(ty) = self.given(self.candidates(instruction, callee, args)) {
                        known.insert(name, ty);
                    }
                }
                (Some(name), Shape::Phi(incoming)) => phis.push((name, incoming)),
                _ => {}
            }
        }
        if known.is_empty() {
            return known;
        }
        let open: FxHashSet<&'a str> = phis.iter().map(|(name, _)| *name).collect();
        let types = &mut self.types.universe.types;
        loop {
            let mut changed = false;
            for (name, incoming) in &phis {
                let mut joined: Option<Ty> = None;
                for (operand, _) in *incoming {
                    let text = operand.text.as_str();
                    // A parameter of which nothing is known yet may still become anything.
                    let arriving = known.get(text).copied().or_else(|| (!open.contains(text)).then_some(pointer));
                    joined = match (joined, arriving) {
                        (Some(a), Some(b)) => Some(types.join(a, b)),
                        (one, other) => one.or(other),
                    };
                }
                changed |= joined.is_some_and(|joined| known.insert(name, joined) != Some(joined));
            }
            if !changed {
                return known;
            }
        }
    }

    /// The type below `ptr` that all these operations give.
    fn given(&mut self, candidates: &[OpId]) -> Option<Ty> {
        let pointer = self.types.ty(&Type::Ptr);
        let Universe { types, ops, .. } = &self.types.universe;
        let mut results = candidates.iter().map(|op| types.find_instance(ops.get(*op).results.first()?, &[]));
        let first = results.next()??;
        (types.is_subtype(first, pointer) && results.all(|other| other == Some(first))).then_some(first)
    }
}

/// Does an operation give results of these types, or of types below them?
fn gives(universe: &Universe, op: OpId, targs: &[Ty], results: &[Option<Ty>]) -> bool {
    let expected = &universe.ops.get(op).results;
    let fits = |(expr, found): (_, &Option<Ty>)| {
        let declared = universe.types.find_instance(expr, targs);
        found.zip(declared).is_some_and(|(found, declared)| universe.types.is_subtype(declared, found))
    };
    expected.len() == results.len() && expected.iter().zip(results).all(fits)
}

/// How much an operation may do, as far as opaque instructions tell it apart.
fn weight(effects: &Effects) -> u8 {
    weight_of(match () {
        () if effects.is_pure() => OpaqueEffects::Pure,
        () if effects.writes.is_empty() && !effects.io && !effects.diverges => OpaqueEffects::Observes,
        () => OpaqueEffects::Writes,
    })
}

/// What a function may do, for the note that packs say less.
fn seen_by_llvm(effects: OpaqueEffects) -> &'static str {
    match effects {
        OpaqueEffects::Pure => "does nothing",
        OpaqueEffects::Pinned => "may be undefined on some operands",
        OpaqueEffects::Observes => "may read memory or not return",
        OpaqueEffects::Writes => "may write memory",
    }
}

fn weight_of(effects: OpaqueEffects) -> u8 {
    match effects {
        OpaqueEffects::Pure => 0,
        OpaqueEffects::Pinned => 1,
        OpaqueEffects::Observes => 2,
        OpaqueEffects::Writes => 3,
    }
}
