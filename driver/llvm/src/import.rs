//! A body of LLVM IR to our function.
//!
//! Scalar instructions whose opcode a pack declares become operations, loads and stores with their addresses among
//! them; everything else becomes opaque, with the effects that LLVM states of it, and keeps its text. Flags that
//! make results poison are dropped: what is left has a value for all operands. [`super::poison`] finds out where
//! `export` may put them back, and where it has to freeze instead. Where every execution would have no meaning without what
//! they promise, it becomes a [`Promise`](rewright_cfg_skeleton::ir::Promise) ([`backed`]).
//!
//! * A truth value (`i1`) is an 8-bit integer that is 0 or 1.
//! * Constants that are no numbers (addresses of globals, `undef`, constant expressions) are further parameters.
//! * Elements whose index is not constant are reached step by step: a structure's field is an offset from its element.
//! * Offsets into objects with constant indices are bytes from the object that they start from; an access goes to
//!   the address of that object, and has the offset beside it.
//! * Calls of C functions that packs declare are operations ([`calls`]), on structures that C passes in memory, too
//!   ([`structures`]).
//! * Accesses of objects that have nothing in common are of different regions ([`regions`]).
//! * Loads do not see stores that metadata say they do not alias ([`aliases`]).
//! * Loops that LLVM lets go on for ever only with an effect have a header that says so ([`progress`]).
//! * A `switch` is one on the position of the case, which an opaque instruction gives: [`Source::Cases`].
//!
//! **Invariant**: every instruction but constants has as its origin its own number in the imported function.

mod aliases;
mod backed;
mod calls;
mod error;
mod memory;
mod operations;
mod progress;
mod refused;
mod regions;
mod structures;

use super::body::{Body, InMemory, Instruction, Operand, Shape, read};
use super::constants;
use super::effects;
use super::module::{Definition, File};
use super::names::{Names, Truth};
use super::types::Type;
pub use error::ImportError;
use operations::truth_of;
use rewright_cfg_skeleton::ir::{
    BlockId, Edge, EdgeArg, Function, Inst, InstId, InstKind, OpaqueEffects, PayloadId, Terminator, Value,
};
use rewright_typeprop::{Ty, Universe};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use structures::Structures;

/// Where an instruction is in a body: its block, and its place there.
pub type InstPosition = (usize, usize);

/// Where an imported instruction comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is this instruction.
    Instruction(InstPosition),
    /// It is a part of what this instruction means.
    Part(InstPosition),
    /// It finds the position of a case of this `switch`.
    Cases(InstPosition),
    /// It fetches a structure that this call takes from memory.
    Fetched(InstPosition),
    /// It puts a structure where this call puts its result.
    Put(InstPosition),
    /// A constant.
    Constant,
}

impl Source {
    /// The instruction, unless it is a constant.
    pub fn position(&self) -> Option<InstPosition> {
        match self {
            Source::Instruction(at) | Source::Part(at) | Source::Cases(at) | Source::Fetched(at) | Source::Put(at) => {
                Some(*at)
            }
            Source::Constant => None,
        }
    }
}

/// What was kept of the original.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    /// By instruction of the imported function.
    pub sources: Vec<Source>,
    /// By payload.
    pub opaque: Vec<InstPosition>,
    /// By value of the imported function: its type in LLVM.
    pub types: Vec<Type>,
    /// By local name: the value.
    pub locals: FxHashMap<String, Value>,
    /// By block of the imported function: the original's.
    pub blocks: Vec<usize>,
    /// Parameters of the entry beyond the function's own.
    pub leaves: Vec<Operand>,
    /// C functions of which packs say that they do less than LLVM knows, with what that is, by call.
    pub narrowed: Vec<String>,
    /// Calls of C functions that packs declare, and that are not taken for those.
    pub refused: Vec<Refused>,
    /// How types of structures are passed in memory.
    pub structures: Vec<(Ty, InMemory)>,
}

/// A call of a C function that packs declare, which no declaration takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// What is called.
    pub callee: String,
    /// What does not fit.
    pub because: String,
    /// The call.
    pub position: InstPosition,
}

impl Payloads {
    /// How a structure of this type is passed in memory.
    pub fn structure(&self, universe: &Universe, ty: Ty) -> Option<&InMemory> {
        let related = |other: Ty| universe.types.is_subtype(ty, other) || universe.types.is_subtype(other, ty);
        self.structures.iter().find(|(other, _)| related(*other)).map(|(_, passed)| passed)
    }
}

/// A function and what was kept of its original.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Ours.
    pub function: Function,
    /// The original.
    pub body: Body,
    /// For the way back.
    pub payloads: Payloads,
}

/// Types of one file: those of the packs, and opaque ones for the rest.
pub struct Types<'a> {
    names: &'a Names,
    /// The packs' universe, extended.
    pub universe: Universe,
}

impl<'a> Types<'a> {
    /// Starts from the packs' universe.
    pub fn new(names: &'a Names, universe: &Universe) -> Self {
        Types { names, universe: universe.clone() }
    }

    fn ty(&mut self, ty: &Type) -> Ty {
        self.names.ty(ty).unwrap_or_else(|| self.universe.types.named_or_opaque(&format!("llvm {ty}")))
    }
}

/// Attributes of functions that are not touched: their control flow or arithmetic has rules of its own.
const UNTOUCHED: [&str; 5] = ["optnone", "naked", "strictfp", "presplitcoroutine", "returns_twice"];

/// Imports a function; the reason where it cannot be.
pub fn import(
    file: &File,
    definition: &Definition,
    names: &Names,
    types: &mut Types<'_>,
) -> Result<Imported, ImportError> {
    if !file.known_layout {
        return Err(ImportError::Layout);
    }
    if file.block_addresses.contains(&definition.name) {
        return Err(ImportError::BlockAddress);
    }
    if let Some(word) = UNTOUCHED.iter().find(|word| definition.attributes.iter().any(|a| a == *word)) {
        return Err(ImportError::Attribute(word));
    }
    if definition.attributes.iter().any(|a| a.starts_with("\"denormal-fp-math") && !a.contains("ieee,ieee")) {
        return Err(ImportError::Denormals);
    }
    let body = read(file, definition)?;
    for instruction in body.blocks.iter().flat_map(|b| &b.instructions) {
        if let Shape::Call { callee, attributes, .. } = &instruction.shape
            && effects::attributes(file, callee.as_deref(), attributes).iter().flatten().any(|a| a == "returns_twice")
        {
            return Err(ImportError::ReturnsTwice);
        }
        if let Type::Word(word) = &instruction.ty
            && matches!(word.as_str(), "token" | "label" | "metadata")
        {
            return Err(ImportError::ValueType(word.clone()));
        }
    }
    let results = match &definition.result {
        Type::Void => vec![],
        ty => vec![types.ty(ty)],
    };
    let out = Function { results, regions: vec!["any".into()], ..Function::new(definition.name.clone()) };
    let mut importer = Importer {
        file,
        names,
        types,
        body: &body,
        out,
        payloads: Payloads::default(),
        places: FxHashMap::default(),
        labels: FxHashMap::default(),
        block_ids: FxHashMap::default(),
        pointers: FxHashMap::default(),
        structures: Structures::default(),
        shared: FxHashMap::default(),
        leaves: FxHashMap::default(),
        backed: backed::backed(file, &body),
    };
    importer.function(definition)?;
    let Importer { out, payloads, .. } = importer;
    let mut imported = Imported { function: out, body, payloads };
    progress::note(file, definition, &mut imported);
    regions::assign(file, definition, &mut imported);
    aliases::note(file, &mut imported);
    Ok(imported)
}

pub(super) struct Importer<'a, 't> {
    file: &'a File,
    pub(super) names: &'a Names,
    types: &'a mut Types<'t>,
    body: &'a Body,
    out: Function,
    payloads: Payloads,
    /// Where local names are defined.
    places: FxHashMap<&'a str, InstPosition>,
    labels: FxHashMap<&'a str, usize>,
    block_ids: FxHashMap<usize, BlockId>,
    /// Local names of pointers to something that packs name.
    pointers: FxHashMap<&'a str, Ty>,
    structures: Structures<'a>,
    /// Payloads of pure opaque instructions, by text and types of operands.
    shared: FxHashMap<(Vec<String>, Vec<Ty>), PayloadId>,
    leaves: FxHashMap<Operand, Value>,
    /// Instructions whose flags are facts about their operands.
    backed: FxHashSet<InstPosition>,
}

type Read<T> = Result<T, ImportError>;

impl<'a> Importer<'a, '_> {
    fn function(&mut self, definition: &'a Definition) -> Read<()> {
        for (b, block) in self.body.blocks.iter().enumerate() {
            self.labels.insert(&block.label, b);
            for (i, instruction) in block.instructions.iter().enumerate() {
                if let Some(name) = &instruction.result {
                    self.places.insert(name, (b, i));
                }
            }
        }
        let reachable = self.reachable()?;
        self.pointers = self.named_pointers();
        self.structures = self.structures(definition, &reachable);
        for b in reachable.iter().copied() {
            let id = self.out.add_block();
            self.block_ids.insert(b, id);
            self.payloads.blocks.push(b);
        }
        let entry = self.out.entry();
        for parameter in &definition.parameters {
            let value = self.new_local(&parameter.name, &parameter.ty);
            self.payloads.locals.insert(parameter.name.clone(), value);
            self.out.blocks[entry.index()].params.push(value);
        }
        for b in reachable.iter().copied() {
            for instruction in &self.body.blocks[b].instructions {
                if let (Some(name), None) = (&instruction.result, self.same_value(instruction)) {
                    let value = self.new_local(name, &instruction.ty);
                    self.payloads.locals.insert(name.clone(), value);
                    if let Shape::Phi(_) = instruction.shape {
                        self.out.blocks[self.block_ids[&b].index()].params.push(value);
                    }
                }
            }
        }
        for b in reachable {
            self.block(b)?;
        }
        Ok(())
    }

    /// Blocks that control can reach, the entry first, in the order of the text.
    fn reachable(&self) -> Read<Vec<usize>> {
        let mut seen = vec![false; self.body.blocks.len()];
        let mut work = vec![0];
        while let Some(b) = work.pop() {
            if !std::mem::replace(&mut seen[b], true) {
                for label in self.body.blocks[b].targets() {
                    let target =
                        self.labels.get(label.as_str()).ok_or_else(|| ImportError::NoBlock(label.to_string()))?;
                    if *target == 0 {
                        return Err(ImportError::BranchToEntry);
                    }
                    work.push(*target);
                }
            }
        }
        Ok((0..seen.len()).filter(|b| seen[*b]).collect())
    }

    fn new_value(&mut self, ty: &Type) -> Value {
        let ours = self.types.ty(ty);
        self.new_typed(ty, ours)
    }

    fn new_local(&mut self, name: &str, ty: &Type) -> Value {
        match self.structures.held(name).or_else(|| self.pointers.get(name).copied()) {
            Some(ours) => self.new_typed(ty, ours),
            None => self.new_value(ty),
        }
    }

    fn new_typed(&mut self, ty: &Type, ours: Ty) -> Value {
        self.payloads.types.push(ty.clone());
        self.out.add_value(ours)
    }

    /// A truth value as an 8-bit integer is the same value of ours.
    fn same_value(&self, instruction: &'a Instruction) -> Option<&'a Operand> {
        match &instruction.shape {
            Shape::Plain(operands) if truth_of(instruction) == Some(Truth::Same) => {
                operands.first().filter(|o| o.is_local())
            }
            _ => None,
        }
    }

    pub(super) fn local(&self, name: &str) -> Read<Value> {
        let mut name = name;
        for _ in 0..=self.places.len() {
            if let Some(value) = self.payloads.locals.get(name) {
                return Ok(*value);
            }
            let place = self.places.get(name).ok_or_else(|| ImportError::Undefined(name.to_string()))?;
            match self.same_value(&self.body.blocks[place.0].instructions[place.1]) {
                Some(operand) => name = &operand.text,
                None => return Err(ImportError::Unreachable(name.to_string())),
            }
        }
        Err(ImportError::Cyclic(name.to_string()))
    }

    /// The value of an operand, for use in a block.
    fn operand(&mut self, block: BlockId, operand: &Operand) -> Read<Value> {
        if operand.is_local() {
            return self.local(&operand.text);
        }
        let ours = self.types.ty(&operand.ty);
        if let Some(number) = constants::read(&operand.ty, &operand.text)
            && let Some(scalar) = self.names.scalar(ours)
        {
            let value = self.new_value(&operand.ty);
            let kind = InstKind::Const(scalar.canonical(number));
            self.push(
                block,
                Inst { kind, args: smallvec![], results: smallvec![value], origin: None },
                Source::Constant,
            );
            return Ok(value);
        }
        if let Some(value) = self.leaves.get(operand) {
            return Ok(*value);
        }
        let value = self.new_value(&operand.ty);
        let entry = self.out.entry();
        self.out.blocks[entry.index()].params.push(value);
        self.payloads.leaves.push(operand.clone());
        self.leaves.insert(operand.clone(), value);
        Ok(value)
    }

    fn constant(&mut self, block: BlockId, ty: &Type, number: i64) -> Value {
        let value = self.new_value(ty);
        let inst = Inst { kind: InstKind::Const(number), args: smallvec![], results: smallvec![value], origin: None };
        self.push(block, inst, Source::Constant);
        value
    }

    fn push(&mut self, block: BlockId, mut inst: Inst, source: Source) {
        let id = InstId(self.out.insts.len() as u32);
        if source != Source::Constant {
            inst.origin = Some(id.0);
        }
        self.out.insts.push(inst);
        self.out.blocks[block.index()].insts.push(id);
        self.payloads.sources.push(source);
    }

    fn block(&mut self, b: usize) -> Read<()> {
        let body = self.body;
        let id = self.block_ids[&b];
        for (i, instruction) in body.blocks[b].instructions.iter().enumerate() {
            if instruction.shape.is_terminator() {
                let term = self.terminator(id, b, (b, i), &instruction.shape)?;
                self.out.blocks[id.index()].term = term;
            } else if !matches!(instruction.shape, Shape::Phi(_))
                && self.same_value(instruction).is_none()
                && !self.structures.is_about_memory(instruction)
            {
                self.instruction(id, (b, i), instruction)?;
            }
        }
        Ok(())
    }

    fn instruction(&mut self, block: BlockId, place: InstPosition, instruction: &'a Instruction) -> Read<()> {
        if self.modelled(block, place, instruction)? {
            return Ok(());
        }
        let effects = match &instruction.shape {
            // No code writes there: it is a part of a value.
            Shape::Load(address, _) if self.structures.leads_into(&address.text) => OpaqueEffects::Pure,
            _ => effects::of(self.file, instruction),
        };
        let mut args: SmallVec<[Value; 3]> = smallvec![];
        for hole in &instruction.template.holes {
            args.push(self.local(hole)?);
        }
        let payload = if effects == OpaqueEffects::Pure {
            let types = args.iter().map(|v| self.out.ty(*v)).collect();
            let next = PayloadId(self.payloads.opaque.len() as u32);
            let key = (instruction.template.pieces.clone(), types);
            let payload = *self.shared.entry(key).or_insert(next);
            if payload == next {
                self.payloads.opaque.push(place);
            }
            payload
        } else {
            self.payloads.opaque.push(place);
            PayloadId(self.payloads.opaque.len() as u32 - 1)
        };
        regions::note_object(self.file, instruction, payload, &mut self.out.objects);
        let results = self.results(instruction)?;
        self.push(
            block,
            Inst { kind: InstKind::Opaque { payload, effects }, args, results, origin: None },
            Source::Instruction(place),
        );
        Ok(())
    }

    fn results(&self, instruction: &Instruction) -> Read<SmallVec<[Value; 1]>> {
        match &instruction.result {
            // A call's result may go without a name.
            None => Ok(smallvec![]),
            Some(name) => Ok(smallvec![self.local(name)?]),
        }
    }

    fn edge(&mut self, from: BlockId, b: usize, label: &str) -> Read<Edge> {
        let target = self.labels[label];
        let here = &self.body.blocks[b].label;
        let body = self.body;
        let mut args = SmallVec::new();
        for instruction in &body.blocks[target].instructions {
            let Shape::Phi(incoming) = &instruction.shape else { break };
            let arriving = incoming.iter().find(|(_, from)| from == here);
            let missing = || ImportError::Phi { block: label.to_string(), from: here.clone() };
            let (operand, _) = arriving.ok_or_else(missing)?;
            args.push(EdgeArg::Value(self.operand(from, operand)?));
        }
        Ok(Edge { target: self.block_ids[&target], args })
    }

    fn terminator(&mut self, id: BlockId, b: usize, place: InstPosition, shape: &'a Shape) -> Read<Terminator> {
        Ok(match shape {
            Shape::Jump(label) => Terminator::Jump(self.edge(id, b, label)?),
            Shape::Branch(condition, [then, els]) => Terminator::Branch {
                cond: self.operand(id, condition)?,
                then: self.edge(id, b, then)?,
                els: self.edge(id, b, els)?,
            },
            Shape::Switch(value, default, cases) => {
                let value = self.operand(id, value)?;
                let index = self.new_value(&Type::Int(32));
                let payload = PayloadId(self.payloads.opaque.len() as u32);
                self.payloads.opaque.push(place);
                let kind = InstKind::Opaque { payload, effects: OpaqueEffects::Pinned };
                self.push(
                    id,
                    Inst { kind, args: smallvec![value], results: smallvec![index], origin: None },
                    Source::Cases(place),
                );
                let mut targets = vec![];
                for (_, label) in cases {
                    targets.push(self.edge(id, b, label)?);
                }
                Terminator::Switch { index, targets, default: self.edge(id, b, default)? }
            }
            Shape::Return(None) => Terminator::Return(smallvec![]),
            Shape::Return(Some(operand)) => Terminator::Return(smallvec![self.operand(id, operand)?]),
            _ => Terminator::Trap { code: 0 },
        })
    }
}
