//! Structures that C passes in memory, as values.
//!
//! A `struct` that is too large for registers is passed by its address: `byval` is a copy for the callee, `sret` is
//! where the result goes. Where packs say what the function is, the address only stands for a value. A parameter that
//! is a copy, and a stack slot that one call gives its result, *hold* one: everything that looks at them sees it. From
//! elsewhere a value is fetched before the call, and put there after it.
//!
//! **Invariant**: an address that holds a value is read, passed on as a copy, and told to live and to end; nothing
//! else. A slot is written by one call, which dominates everything that looks at it: whenever control comes to a
//! reader, what the slot has is what that call gave last, which is what its value is there. Every call that is passed
//! such an address is an operation, so that no code needs what is in memory. All places of a type have one layout.

use super::error::ImportError;
use super::{Importer, InstPosition, Read, Source};
use crate::body::{InMemory, Instruction, Operand, Role, Shape};
use crate::module::Definition;
use crate::types::Type;
use rewright_cfg_skeleton::ir::{
    BlockId, Cfg, Edge, Function, Inst, InstKind, OpaqueEffects, PayloadId, Terminator, Value,
};
use rewright_typeprop::{OpId, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// What is known of the structures of a function.
#[derive(Default)]
pub(super) struct Structures<'a> {
    /// By local name of an address: the type of the value that it holds.
    held: FxHashMap<&'a str, Ty>,
    /// Addresses within what is held, by local name.
    within: FxHashSet<&'a str>,
    /// Calls with structures that are operations.
    calls: FxHashSet<InstPosition>,
}

impl Structures<'_> {
    /// The type of the value that an address holds.
    pub(super) fn held(&self, local: &str) -> Option<Ty> {
        self.held.get(local).copied()
    }

    /// Is it the address of something that is held, or of a part of it?
    pub(super) fn leads_into(&self, local: &str) -> bool {
        self.held.contains_key(local) || self.within.contains(local)
    }

    /// Is a call with structures an operation?
    pub(super) fn is_operation(&self, place: InstPosition) -> bool {
        self.calls.contains(&place)
    }

    /// Is it about the memory of a slot that holds a value: what makes it, and when it lives and ends?
    pub(super) fn is_about_memory(&self, instruction: &Instruction) -> bool {
        match &instruction.shape {
            Shape::Alloca(_) => instruction.result.as_ref().is_some_and(|name| self.held.contains_key(name.as_str())),
            Shape::Call { .. } => lifetime(instruction).is_some_and(|local| self.held.contains_key(local)),
            _ => false,
        }
    }
}

/// The address whose life begins or ends here.
fn lifetime(instruction: &Instruction) -> Option<&str> {
    match &instruction.shape {
        Shape::Call { callee: Some(callee), args, .. } if callee.starts_with("@llvm.lifetime.") => {
            args.last().map(|address| address.text.as_str())
        }
        _ => None,
    }
}

/// How a call passes what is at an address.
fn passed_at<'i>(call: &'i Instruction, local: &str) -> impl Iterator<Item = &'i InMemory> {
    let (args, in_memory) = match &call.shape {
        Shape::Call { args, in_memory, .. } => (args.as_slice(), in_memory.as_slice()),
        _ => (&[][..], &[][..]),
    };
    in_memory.iter().filter(move |passed| args[passed.argument].text == local)
}

/// What happens to an address that may hold a value.
#[derive(Default)]
struct Uses {
    /// Calls that give their result there.
    written: Vec<InstPosition>,
    /// Instructions that read what is there, calls that take a copy among them.
    read: Vec<InstPosition>,
    /// Calls that take a copy.
    copied: Vec<InstPosition>,
}

impl<'a> Importer<'a, '_> {
    /// Finds addresses that hold values, and the calls that are operations on them.
    pub(super) fn structures(&mut self, definition: &'a Definition, reachable: &[usize]) -> Structures<'a> {
        let body = self.body;
        let places = || reachable.iter().flat_map(|b| (0..body.blocks[*b].instructions.len()).map(|i| (*b, i)));
        let at = |place: InstPosition| &body.blocks[place.0].instructions[place.1];
        let mut calls: Vec<(InstPosition, Vec<OpId>)> = vec![];
        for place in places() {
            if let Shape::Call { callee: Some(callee), args, in_memory, bundles: false, .. } = &at(place).shape
                && !in_memory.is_empty()
            {
                let candidates = self.candidates(at(place), callee, args);
                if !candidates.is_empty() {
                    calls.push((place, candidates.to_vec()));
                }
            }
        }
        if calls.is_empty() {
            return Structures::default();
        }
        let copies = definition.parameters.iter().filter(|p| p.attributes.iter().any(|a| a.starts_with("byval(")));
        let mut uses: FxHashMap<&'a str, Uses> = copies.map(|p| (p.name.as_str(), Uses::default())).collect();
        let parameters: FxHashSet<&'a str> = uses.keys().copied().collect();
        for place in places() {
            if let (Shape::Alloca(_), Some(name)) = (&at(place).shape, &at(place).result) {
                uses.insert(name, Uses::default());
            }
        }
        // Addresses within, and where they start from.
        let mut within: FxHashMap<&'a str, &'a str> = FxHashMap::default();
        for place in places() {
            if let (Shape::Offset { base, .. }, Some(name)) = (&at(place).shape, &at(place).result) {
                let root = within.get(base.text.as_str()).copied().unwrap_or(base.text.as_str());
                if uses.contains_key(root) && base.is_local() {
                    within.insert(name, root);
                }
            }
        }
        for place in places() {
            let instruction = at(place);
            if lifetime(instruction).is_some() {
                continue;
            }
            for local in &instruction.template.holes {
                let root = within.get(local.as_str()).copied().unwrap_or(local.as_str());
                let Some(found) = uses.get_mut(root) else { continue };
                let whole = root == local;
                match role(instruction, local) {
                    Some(Looks::Within) => {}
                    Some(Looks::Reads) => found.read.push(place),
                    Some(Looks::Takes) if whole => {
                        found.read.push(place);
                        found.copied.push(place);
                    }
                    Some(Looks::Gives) if whole => found.written.push(place),
                    _ => {
                        uses.remove(root);
                    }
                }
            }
        }
        let cfg = shape(self, reachable);
        let number: FxHashMap<usize, u32> = (0..).zip(reachable).map(|(n, b)| (*b, n)).collect();
        let before = |a: InstPosition, b: InstPosition| match a.0 == b.0 {
            true => a.1 < b.1,
            false => cfg.dominates(BlockId(number[&a.0]), BlockId(number[&b.0])),
        };
        uses.retain(|local, found| match (parameters.contains(local), found.written.as_slice()) {
            (true, written) => written.is_empty() && !found.copied.is_empty(),
            (false, [write]) => found.read.iter().all(|read| before(*write, *read)),
            (false, _) => false,
        });
        for (place, candidates) in &calls {
            self.note_forms(*place, candidates);
        }
        calls.retain(|(place, candidates)| self.has_forms(*place, candidates));
        uses.retain(|local, found| {
            let mut users = found.written.iter().chain(&found.copied);
            users.all(|place| passed_at(at(*place), local).all(|passed| self.is_made_for(local, passed, definition)))
        });
        let held = self.settled(&uses, &mut calls);
        let within = within.into_iter().filter(|(_, root)| held.contains_key(root)).map(|(name, _)| name).collect();
        Structures { held, within, calls: calls.into_iter().map(|(place, _)| place).collect() }
    }

    /// What a call passes in memory: at which address, how, and what type it has by all these operations.
    fn structures_passed<'c>(
        &'c self,
        place: InstPosition,
        candidates: &'c [OpId],
    ) -> impl Iterator<Item = (&'a str, &'a InMemory, Option<Ty>)> + 'c {
        let body = self.body;
        let (args, in_memory) = match &body.blocks[place.0].instructions[place.1].shape {
            Shape::Call { args, in_memory, .. } => (args.as_slice(), in_memory.as_slice()),
            _ => (&[][..], &[][..]),
        };
        in_memory.iter().map(move |passed| {
            let ty = self.structure_type(candidates, in_memory, passed.argument);
            (args[passed.argument].text.as_str(), passed, ty)
        })
    }

    /// Notes how structures are passed: the first call says it.
    fn note_forms(&mut self, place: InstPosition, candidates: &[OpId]) {
        let passed: Vec<_> = self.structures_passed(place, candidates).collect();
        for (_, passed, ty) in passed {
            if let Some(ty) = ty
                && self.payloads.structure(&self.types.universe, ty).is_none()
            {
                self.payloads.structures.push((ty, passed.clone()));
            }
        }
    }

    /// Is all that a call passes in memory of a type, and laid out as it is elsewhere?
    fn has_forms(&self, place: InstPosition, candidates: &[OpId]) -> bool {
        self.structures_passed(place, candidates).all(|(_, passed, ty)| {
            let form = ty.and_then(|ty| self.payloads.structure(&self.types.universe, ty));
            let known = passed.align > 0 && passed.ty.layout(&self.file.named).is_some();
            known && form.is_some_and(|form| form.ty == passed.ty && form.align == passed.align)
        })
    }

    /// Is a slot or a parameter made for just what is passed there? Then one place is as good as another.
    fn is_made_for(&self, local: &str, passed: &InMemory, definition: &Definition) -> bool {
        match self.places.get(local) {
            Some(place) => {
                let slot = &self.body.blocks[place.0].instructions[place.1];
                slot.template.fill(&[]) == format!("alloca {}, align {}", passed.ty, passed.align)
            }
            None => definition.parameters.iter().find(|p| p.name == local).is_some_and(|p| {
                let has = |attribute: String| p.attributes.contains(&attribute);
                has(format!("byval({})", passed.ty)) && has(format!("align {}", passed.align))
            }),
        }
    }

    /// What addresses hold. A call that takes something else than is there is no operation, and what it looks at is
    /// memory: other calls fetch from there, so that they fit all the more.
    fn settled(
        &self,
        uses: &FxHashMap<&'a str, Uses>,
        calls: &mut Vec<(InstPosition, Vec<OpId>)>,
    ) -> FxHashMap<&'a str, Ty> {
        let mut held: FxHashMap<&'a str, Ty> = FxHashMap::default();
        for (place, candidates) in calls.iter() {
            for (local, passed, ty) in self.structures_passed(*place, candidates) {
                // The type that a call gives is that of a slot's contents; the type that it takes, that of a
                // parameter's.
                let says = uses.get(local).is_some_and(|u| passed.role == Role::Result || u.written.is_empty());
                if let Some(ty) = ty.filter(|_| says) {
                    held.entry(local).or_insert(ty);
                }
            }
        }
        calls.retain(|(place, candidates)| {
            self.structures_passed(*place, candidates).all(|(local, passed, ty)| {
                let (Some(held), Some(ty)) = (held.get(local), ty) else { return ty.is_some() };
                match passed.role {
                    Role::Result => ty == *held,
                    Role::Copy => self.types.universe.types.is_subtype(*held, ty),
                }
            })
        });
        let operations: FxHashSet<InstPosition> = calls.iter().map(|(place, _)| *place).collect();
        held.retain(|local, _| {
            let found = &uses[local];
            found.written.iter().chain(&found.copied).all(|place| operations.contains(place))
        });
        held
    }

    /// The type of the structure that all these operations take or give as this argument.
    pub(super) fn structure_type(&self, candidates: &[OpId], in_memory: &[InMemory], argument: usize) -> Option<Ty> {
        let given = in_memory.iter().find(|m| m.role == Role::Result).map(|m| m.argument);
        let universe = &self.types.universe;
        let mut found = candidates.iter().map(|op| {
            let declared = universe.ops.get(*op);
            let expr = match given {
                Some(result) if result == argument => declared.results.first()?,
                Some(result) => &declared.params.get(argument - usize::from(argument > result))?.ty,
                None => &declared.params.get(argument)?.ty,
            };
            universe.types.find_instance(expr, &[])
        });
        let first = found.next()??;
        // A type that has a form in LLVM is passed in that form.
        let structure = self.names.llvm_type(first, &universe.types).is_none();
        (structure && found.all(|other| other == Some(first))).then_some(first)
    }

    /// The value that a call gives in memory: what the address holds, or a value that is then put there.
    pub(super) fn structure_given(&mut self, ty: Option<Ty>, address: &Operand) -> Read<Value> {
        if self.structures.held(&address.text).is_some() {
            return self.local(&address.text);
        }
        Ok(self.new_typed(&Type::Ptr, ty.ok_or(ImportError::StructureGiven)?))
    }

    /// The value of a structure that a call takes: what the address holds, or what is fetched from there.
    pub(super) fn structure_taken(
        &mut self,
        block: BlockId,
        place: InstPosition,
        ty: Option<Ty>,
        address: &Operand,
    ) -> Read<Value> {
        if self.structures.held(&address.text).is_some() {
            return self.local(&address.text);
        }
        let value = self.new_typed(&Type::Ptr, ty.ok_or(ImportError::StructureTaken)?);
        let address = self.operand(block, address)?;
        let inst = self.mover(place, OpaqueEffects::Observes, smallvec![address], smallvec![value]);
        self.push(block, inst, Source::Fetched(place));
        Ok(value)
    }

    /// Appends what puts a structure where a call puts its result.
    pub(super) fn put_structure(
        &mut self,
        block: BlockId,
        place: InstPosition,
        value: Value,
        address: &Operand,
    ) -> Read<()> {
        let address = self.operand(block, address)?;
        let inst = self.mover(place, OpaqueEffects::Writes, smallvec![address, value], smallvec![]);
        self.push(block, inst, Source::Put(place));
        Ok(())
    }

    /// An instruction that moves a structure for a call.
    fn mover(
        &mut self,
        place: InstPosition,
        effects: OpaqueEffects,
        args: SmallVec<[Value; 3]>,
        results: SmallVec<[Value; 1]>,
    ) -> Inst {
        let payload = PayloadId(self.payloads.opaque.len() as u32);
        self.payloads.opaque.push(place);
        Inst { kind: InstKind::Opaque { payload, effects }, args, results, origin: None }
    }
}

/// How an instruction uses an address.
enum Looks {
    /// To make an address within.
    Within,
    /// It reads what is there.
    Reads,
    /// It takes a copy of what is there.
    Takes,
    /// It gives a result there.
    Gives,
}

/// `None`: in another way, or in more than one.
fn role(instruction: &Instruction, local: &str) -> Option<Looks> {
    match &instruction.shape {
        Shape::Load(address, access) if access.plain && address.text == local => Some(Looks::Reads),
        Shape::Offset { base, indices, .. } => {
            (base.text == local && indices.iter().all(|i| i.text != local)).then_some(Looks::Within)
        }
        Shape::Call { args, in_memory, .. } => {
            let mut found = None;
            for (i, arg) in args.iter().enumerate().filter(|(_, arg)| arg.text == local) {
                debug_assert!(arg.is_local());
                found = match (&found, in_memory.iter().find(|m| m.argument == i)?.role) {
                    (None | Some(Looks::Takes), Role::Copy) => Some(Looks::Takes),
                    (None, Role::Result) => Some(Looks::Gives),
                    _ => return None,
                };
            }
            found
        }
        _ => None,
    }
}

/// Blocks and edges alone.
fn shape(importer: &Importer<'_, '_>, reachable: &[usize]) -> Cfg {
    let number: FxHashMap<usize, u32> = (0..).zip(reachable).map(|(n, b)| (*b, n)).collect();
    let mut function = Function::new("");
    let edge =
        |label: &String| Edge { target: BlockId(number[&importer.labels[label.as_str()]]), args: SmallVec::new() };
    for b in reachable {
        let id = function.add_block();
        let mut edges: Vec<Edge> = importer.body.blocks[*b].targets().into_iter().map(edge).collect();
        function.blocks[id.index()].term = match edges.pop() {
            Some(default) => Terminator::Switch { index: Value(0), targets: edges, default },
            None => Terminator::Trap { code: 0 },
        };
    }
    Cfg::new(&function)
}
