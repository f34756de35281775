//! Blocks of memory that one instruction sets or copies, as loops over the elements of arrays.
//!
//! An element is what loads and stores of either version access there; where none do, it is a byte. A block of a part of
//! an element is in no nest, and what is set is known of elements with several bytes where the byte is a constant.

use super::access::{Accessed, Key};
use super::scalar::{Pointer, Val};
use super::{Found, NO_LINE, NoNest, Raiser, Source, type_name};
use crate::memory_blocks::BlockOperation;
use rewright_cfg_skeleton::ir::{Definition, EdgeArg, Function, InstId, InstKind, Value, definitions};
use rewright_cfg_skeleton::nest::value::Value as Node;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, Constraint, For, Item, Load, Store, ValueId};
use rewright_typeprop::{Model, Scalar, Universe};
use rustc_hash::{FxHashMap, FxHashSet};

/// The elements of arrays, by the parameter that points there.
pub(crate) type Elements = FxHashMap<u32, Scalar>;

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockOperand {
    Value(Value),
    Number(i64),
}

impl BlockOperand {
    fn value(self) -> Option<Value> {
        match self {
            BlockOperand::Value(value) => Some(value),
            BlockOperand::Number(_) => None,
        }
    }
}

/// What an instruction sets or copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub(crate) operation: BlockOperation,
    /// The address of the block.
    pub(crate) to: Value,
    /// The byte that it is set to, or the address that it is copied from.
    pub(crate) from: BlockOperand,
    /// How many bytes it has.
    pub(crate) length: BlockOperand,
    /// What the instruction promises of its operands holds where it accesses at least this many bytes.
    pub(crate) least: i64,
}

impl Block {
    /// Values that are addresses or numbers of bytes.
    pub(super) fn counted(&self) -> impl Iterator<Item = Value> {
        let from = self.from.value().filter(|_| self.operation != BlockOperation::Set);
        [Some(self.to), from, self.length.value()].into_iter().flatten()
    }
}

/// The elements that loads and stores of a function access.
pub(crate) fn elements(function: &Function, universe: &Universe, source: &dyn Source) -> Elements {
    let definition = definitions(function);
    let mut incoming: FxHashMap<_, Vec<Value>> = FxHashMap::default();
    for edge in function.layout.iter().flat_map(|block| function.block(*block).term.edges()) {
        for (n, arg) in edge.args.iter().enumerate() {
            if let EdgeArg::Value(value) = arg {
                incoming.entry((edge.target, n)).or_default().push(*value);
            }
        }
    }
    let mut found = Elements::default();
    for inst in function.layout.iter().flat_map(|b| &function.block(*b).insts).map(|id| function.inst(*id)) {
        let InstKind::Op { op, access: Some(_), .. } = &inst.kind else { continue };
        let is_store = universe.ops.get(*op).model == Some(Model::Store);
        let accessed = if is_store { inst.args.get(1) } else { inst.results.first() };
        let Some(element) = accessed.and_then(|value| universe.types.scalar(function.ty(*value))) else { continue };
        let (mut rest, mut seen) = (inst.args.first().copied().into_iter().collect::<Vec<_>>(), FxHashSet::default());
        while let Some(value) = rest.pop() {
            if !seen.insert(value) {
                continue;
            }
            match definition[value.index()] {
                Some(Definition::Result(_, inst, _)) => {
                    let inst = function.inst(inst);
                    if matches!(inst.kind, InstKind::Op { access: None, .. }) {
                        rest.extend(&inst.args);
                    }
                }
                Some(Definition::Param(block, n)) if block == function.entry() && source.is_address(value) => {
                    found.entry(n as u32).or_insert(element);
                }
                Some(Definition::Param(block, n)) => rest.extend(incoming.get(&(block, n)).into_iter().flatten()),
                None => {}
            }
        }
    }
    found
}

impl Raiser<'_> {
    /// A loop over the elements of a block.
    pub(super) fn block(&mut self, id: InstId, block: &Block, items: &mut Vec<Item>) -> Found<()> {
        let length = self.length(block)?;
        let Val::Pointer(to) = self.val(block.to)? else {
            return Err("a block of memory at an address that is no parameter and a number of bytes".into());
        };
        let from = match (block.operation, block.from) {
            (BlockOperation::Set, _) => None,
            (_, BlockOperand::Value(from)) => match self.val(from)? {
                Val::Pointer(from) => Some(from),
                _ => return Err("a block of memory is copied from an address that is no parameter".into()),
            },
            (_, BlockOperand::Number(_)) => return Err("a block of memory is copied from a constant address".into()),
        };
        let scalar = self.element(&to, from.as_ref());
        let bytes = i128::from(scalar.bits() / 8);
        let count = length.floor_div(bytes);
        if !count.times(bytes).same(&length) {
            return Err("a block of memory that ends within an element".into());
        }
        let is_downwards = match &from {
            Some(from) => self.is_downwards(block.operation, (&to, from), &length)?,
            None => false,
        };
        let set = match (block.operation, from.is_some()) {
            (BlockOperation::Set, _) => Some(self.repeated(block.from, scalar)?),
            _ => None,
        };
        let (var, mark) = (self.names.var(), self.facts.mark());
        let k = Affine::var(var);
        self.facts.assume(&[Constraint::at_least(&k, &Affine::default()), Constraint::less(&k, &count)]);
        let at = if is_downwards { count.offset(-1).plus(-1, &k) } else { k };
        let mut body = vec![];
        let value = match (set, &from) {
            (Some(value), _) => value,
            (None, Some(from)) => {
                let (array, subscript) = self.element_of_block(from, &at, scalar, &mut body)?;
                let load = self.names.load();
                body.push(Item::Load(Load { id: load, array, subscripts: vec![subscript], line: NO_LINE }));
                self.accessed(id, (from, &at), scalar, Key::Load(load));
                if !self.is_second {
                    self.copied.push(from.parameter);
                }
                self.pool.add(Node::Load(load))
            }
            (None, None) => return Err("a block of memory that nothing is written to".into()),
        };
        let (array, subscript) = self.element_of_block(&to, &at, scalar, &mut body)?;
        body.push(Item::Store(Store { array, subscripts: vec![subscript.clone()], value, line: NO_LINE }));
        self.accessed(id, (&to, &at), scalar, Key::Store(array, subscript, value));
        self.facts.back_to(mark);
        items.push(Item::For(For {
            var,
            lower: vec![Affine::default()],
            upper: vec![count],
            step: 1,
            body,
            line: NO_LINE,
        }));
        Ok(())
    }

    /// How many bytes a block has.
    fn length(&mut self, block: &Block) -> Found<Affine> {
        let (length, bits) = match block.length {
            BlockOperand::Number(n) => (Affine::constant(n.into()), 64),
            BlockOperand::Value(value) => match self.val(value)? {
                Val::Int(e, bits) => (e, bits),
                _ => return Err("a block of memory whose length is not known".into()),
            },
        };
        // No object has 2^63 bytes, so the first version does nothing there that matters.
        let may_be_large = !self.is_second && bits == 64;
        if !may_be_large && !self.facts.not_negative(&length) {
            return Err("a block of memory whose length may be negative".into());
        }
        let keeps = Constraint::at_least(&length, &Affine::constant(block.least.into()));
        if self.is_second && block.least > 0 && !self.facts.show(&keeps) {
            return Err("the second version promises more of a block of memory than that it is accessed".into());
        }
        Ok(length)
    }

    /// The type of the elements of a block.
    fn element(&self, to: &Pointer, from: Option<&Pointer>) -> Scalar {
        let known = |pointer: &Pointer| self.elements.get(&pointer.parameter).copied();
        known(to).or_else(|| from.and_then(known)).unwrap_or(Scalar::I8)
    }

    /// Whether elements are copied from the last one to the first one, because blocks may overlap.
    fn is_downwards(
        &mut self,
        operation: BlockOperation,
        (to, from): (&Pointer, &Pointer),
        length: &Affine,
    ) -> Found<bool> {
        // Where arguments may overlap, that they do not is part of the precondition; what the first version copies to a
        // block that overlaps is undefined.
        if to.parameter != from.parameter || (operation == BlockOperation::Copy && !self.is_second) {
            return Ok(false);
        }
        let (to, from) = (&to.offset, &from.offset);
        let mut is_before = |a: &Affine, b: &Affine| self.facts.show(&Constraint::at_least(b, a));
        match operation {
            BlockOperation::Move if is_before(to, from) => Ok(false),
            BlockOperation::Move if is_before(from, to) => Ok(true),
            BlockOperation::Copy if is_before(&to.plus(1, length), from) || is_before(&from.plus(1, length), to) => {
                Ok(false)
            }
            _ => Err("a block of memory is copied to one that may overlap it".into()),
        }
    }

    /// An element all of whose bytes are one.
    fn repeated(&mut self, byte: BlockOperand, scalar: Scalar) -> Found<ValueId> {
        let constant = match byte {
            BlockOperand::Number(n) => Some(n),
            BlockOperand::Value(value) => match self.env[value.index()].clone() {
                Some(Val::Int(e, _)) => e.as_constant().map(|n| n as i64),
                _ => None,
            },
        };
        match (constant, byte) {
            (Some(n), _) => {
                let repeated = u64::from(n as u8) * 0x0101_0101_0101_0101;
                Ok(self.constant(scalar, scalar.canonical(repeated)))
            }
            (None, BlockOperand::Value(value)) if scalar == Scalar::I8 => self.data(value),
            _ => Err("a block of memory is set to a byte that is no constant, and its elements have several".into()),
        }
    }

    /// The array of a block, and the subscript of an element.
    fn element_of_block(
        &mut self,
        pointer: &Pointer,
        at: &Affine,
        scalar: Scalar,
        items: &mut Vec<Item>,
    ) -> Found<(ArrayId, Affine)> {
        let array = self.array(pointer.parameter, type_name(scalar))?;
        let bytes = i128::from(scalar.bits() / 8);
        let first = pointer.offset.floor_div(bytes);
        if !first.times(bytes).same(&pointer.offset) {
            return Err(NoNest("a block of memory that begins within an element".into()));
        }
        self.note_promised(pointer, array, bytes, items)?;
        Ok((array, first.plus(1, at)))
    }

    /// Notes an access to an element of a block.
    fn accessed(&mut self, inst: InstId, (pointer, at): (&Pointer, &Affine), scalar: Scalar, key: Key) {
        let bytes = scalar.bits() / 8;
        let offset = pointer.offset.plus(bytes.into(), at);
        self.accesses.push(Accessed {
            inst,
            parameter: pointer.parameter,
            is_store: matches!(key, Key::Store(..)),
            trap: None,
            is_address: false,
            element_of_block: Some(bytes.into()),
            in_range: self.facts.fits(&offset, 64),
            is_promised: pointer.is_promised,
            is_promising: !pointer.promised.is_empty(),
            key,
        });
    }
}
