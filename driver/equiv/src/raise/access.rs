//! Loads and stores: an array for each parameter that is accessed, of one dimension.

use super::scalar::{Pointer, Val};
use super::{Found, NO_LINE, NoNest, Raiser, type_name};
use rewright_cfg_skeleton::ir::{Access, Definition, EdgeArg, InstId, InstKind, Value};
use rewright_cfg_skeleton::nest::value::Value as Node;
use rewright_cfg_skeleton::nest::{
    Affine, Array, ArrayId, ArrayKind, Constraint, For, If, Item, Load, LoadId, Nest, Store, ValueId,
};
use rewright_typeprop::{Model, OpId, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of a load or store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Accessed {
    /// The instruction.
    pub(crate) inst: InstId,
    /// The parameter that is accessed.
    pub(crate) parameter: u32,
    /// It writes.
    pub(crate) is_store: bool,
    /// The code with which it may trap.
    pub(crate) trap: Option<u32>,
    /// The value that is read or written is an address.
    pub(crate) is_address: bool,
    /// It is an element, of this many bytes, of a block that the instruction sets or copies.
    pub(crate) element_of_block: Option<u64>,
    /// The offset is shown to be less than 2^63 bytes from the parameter's address.
    pub(crate) in_range: bool,
    /// All steps to the address promise to stay within the object.
    pub(crate) is_promised: bool,
    /// Some step does.
    pub(crate) is_promising: bool,
    pub(super) key: Key,
}

/// A load, or what a store writes where.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Load(LoadId),
    Store(ArrayId, Affine, ValueId),
}

/// The items with those loads that are only notes, or without them.
pub(super) fn noted(items: &[Item], notes: &FxHashSet<LoadId>, are_notes: bool) -> Vec<Item> {
    let one = |item: &Item| match item {
        Item::Load(x) => (notes.contains(&x.id) == are_notes).then(|| item.clone()),
        Item::For(x) => Some(Item::For(For { body: noted(&x.body, notes, are_notes), ..x.clone() })),
        Item::If(x) => {
            let (then, otherwise) = (noted(&x.then, notes, are_notes), noted(&x.otherwise, notes, are_notes));
            Some(Item::If(If { then, otherwise, ..x.clone() }))
        }
        _ => (!are_notes).then(|| item.clone()),
    };
    items.iter().filter_map(one).collect()
}

/// The nest with all accesses of some items, behind branches on data, too, if it is to have those.
pub(crate) fn unguarded(nest: &Nest, items: &[Item], behind_branches: bool) -> Nest {
    Nest { items: kept(items, behind_branches, &|_| true), results: vec![], ..nest.clone() }
}

/// The nest with nothing but some of its accesses, those that are chosen wherever they occur. Behind branches on data
/// there are all of them, or none.
pub(crate) fn within(
    nest: &Nest,
    accesses: &[Accessed],
    behind_branches: bool,
    chosen: &dyn Fn(&Accessed) -> bool,
) -> Nest {
    let dropped: FxHashSet<&Key> = accesses.iter().filter(|a| chosen(a) == behind_branches).map(|a| &a.key).collect();
    let known: FxHashSet<&Key> = accesses.iter().map(|a| &a.key).collect();
    // Of equal stores all are kept if one is chosen, or if all are.
    let keep = |key: &Key| known.contains(key) && (dropped.contains(key) == behind_branches);
    Nest { items: kept(&nest.items, behind_branches, &keep), results: vec![], ..nest.clone() }
}

fn kept(items: &[Item], behind_branches: bool, keep: &dyn Fn(&Key) -> bool) -> Vec<Item> {
    let one = |item: &Item| match item {
        Item::Load(x) if keep(&Key::Load(x.id)) => vec![item.clone()],
        Item::Store(x) => match &x.subscripts[..] {
            [subscript] if keep(&Key::Store(x.array, subscript.clone(), x.value)) => vec![item.clone()],
            _ => vec![],
        },
        Item::For(x) => vec![Item::For(For { body: kept(&x.body, behind_branches, keep), ..x.clone() })],
        Item::If(x) if behind_branches => [kept(&x.then, true, keep), kept(&x.otherwise, true, keep)].concat(),
        _ => vec![],
    };
    items.iter().flat_map(one).collect()
}

impl Raiser<'_> {
    /// A load or store.
    pub(super) fn access(&mut self, id: InstId, op: OpId, access: Access, items: &mut Vec<Item>) -> Found<()> {
        let (model, name) = (self.universe.ops.get(op).model, &self.universe.ops.get(op).name);
        let is_store = match model {
            Some(Model::Load) => false,
            Some(Model::Store) => true,
            _ => return Err(NoNest(format!("`{name}` accesses a part of a value, or several"))),
        };
        let args: Vec<Value> = self.function.inst(id).args.to_vec();
        let offset = self.val(*args.last().ok_or("an access without offset")?)?;
        let (Val::Pointer(mut pointer), Val::Int(offset, _)) = (self.val(args[0])?, offset) else {
            return Err("an address is no parameter and a number of bytes that counters and sizes give".into());
        };
        pointer.offset = pointer.offset.plus(1, &offset);
        if let Some(address) = self.source.address(id) {
            // The same address, by the steps of the text.
            let Val::Pointer(of_text) = self.val(address)? else {
                return Err("an address is computed otherwise".into());
            };
            if of_text.parameter != pointer.parameter || !of_text.offset.same(&pointer.offset) {
                return Err("an address is computed otherwise".into());
            }
            pointer = of_text;
        }
        let value = if is_store { args[1] } else { self.function.inst(id).results[0] };
        let scalar = self.scalar(value)?;
        let array = self.array(pointer.parameter, type_name(scalar))?;
        let bytes = i128::from(scalar.bits() / 8);
        let subscript = pointer.offset.floor_div(bytes);
        if !subscript.times(bytes).same(&pointer.offset) {
            return Err("an address is not a number of elements from where a parameter points to".into());
        }
        self.note_promised(&pointer, array, bytes, items)?;
        let key = if is_store {
            let value = self.data(value)?;
            let (subscripts, line) = (vec![subscript.clone()], NO_LINE);
            items.push(Item::Store(Store { array, subscripts, value, line }));
            Key::Store(array, subscript, value)
        } else {
            let load = self.names.load();
            items.push(Item::Load(Load { id: load, array, subscripts: vec![subscript], line: NO_LINE }));
            let data = self.pool.add(Node::Load(load));
            self.env[value.index()] = Some(Val::Data(data));
            Key::Load(load)
        };
        self.accesses.push(Accessed {
            inst: id,
            parameter: pointer.parameter,
            is_store,
            trap: access.trap,
            is_address: self.source.is_address(value),
            element_of_block: None,
            in_range: self.facts.fits(&pointer.offset, 64),
            is_promised: pointer.is_promised,
            is_promising: !pointer.promised.is_empty(),
            key,
        });
        Ok(())
    }

    /// Notes what is promised to be within the object as loads that are none. Of the second version what lies between
    /// the parameter's address and what is accessed needs no note: both are in the object.
    pub(super) fn note_promised(
        &mut self,
        pointer: &Pointer,
        array: ArrayId,
        bytes: i128,
        items: &mut Vec<Item>,
    ) -> Found<()> {
        let (zero, end) = (Affine::default(), &pointer.offset);
        let between =
            |low: &Affine, x: &Affine, high: &Affine| [Constraint::at_least(x, low), Constraint::at_least(high, x)];
        for x in &pointer.promised {
            let is_clear = x.same(end)
                || x.same(&zero)
                || self.facts.show_all(&between(&zero, x, end))
                || self.facts.show_all(&between(end, x, &zero));
            if self.is_second && is_clear {
                continue;
            }
            let subscript = x.floor_div(bytes);
            if !subscript.times(bytes).same(x) {
                match self.is_second {
                    true => return Err("the second version promises `inbounds` of a part of an element".into()),
                    false => continue,
                }
            }
            let id = self.names.load();
            self.notes.insert(id);
            items.push(Item::Load(Load { id, array, subscripts: vec![subscript], line: NO_LINE }));
        }
        Ok(())
    }

    pub(super) fn array(&mut self, parameter: u32, element: &str) -> Found<ArrayId> {
        let id = *self.array_of.get(&parameter).ok_or("an address that no parameter is")?;
        let array = &mut self.arrays[id.0 as usize];
        if array.element.is_empty() {
            array.element = element.to_string();
        }
        if array.element == element { Ok(id) } else { Err("memory is accessed as values of several types".into()) }
    }

    /// An array that a parameter points to, whose elements no access has told yet.
    pub(super) fn argument(&mut self, parameter: u32) {
        self.array_of.insert(parameter, ArrayId(self.arrays.len() as u32));
        let (name, kind) = (self.source.name(parameter as usize), ArrayKind::Argument(parameter));
        self.arrays.push(Array {
            name,
            kind,
            element: String::new(),
            shape: vec![None],
            automatic: false,
            alignment: 1,
        });
    }

    /// A value that a loop or a branch passes on through a cell of its own.
    pub(super) fn cell(&mut self, element: &str) -> ArrayId {
        let id = ArrayId(self.arrays.len() as u32);
        let (name, element) = (format!("cell {}", id.0), element.to_string());
        self.arrays.push(Array { name, kind: ArrayKind::Cell, element, shape: vec![], automatic: false, alignment: 1 });
        id
    }

    pub(super) fn set(&mut self, cell: ArrayId, value: ValueId, items: &mut Vec<Item>) {
        items.push(Item::Store(Store { array: cell, subscripts: vec![], value, line: NO_LINE }));
    }

    pub(super) fn get(&mut self, cell: ArrayId, items: &mut Vec<Item>) -> ValueId {
        let id = self.names.load();
        items.push(Item::Load(Load { id, array: cell, subscripts: vec![], line: NO_LINE }));
        self.pool.add(Node::Load(id))
    }

    /// Which parameters point to memory: those of a type of pointers, and integers that are summands of addresses and
    /// nothing else.
    pub(super) fn pointers(&self, params: &[Value]) -> Vec<bool> {
        let (mut summands, mut factors) = (FxHashSet::default(), FxHashSet::default());
        let mut incoming: FxHashMap<(rewright_cfg_skeleton::ir::BlockId, usize), Vec<Value>> = FxHashMap::default();
        for block in &self.function.layout {
            for edge in self.function.block(*block).term.edges() {
                for (n, arg) in edge.args.iter().enumerate() {
                    if let EdgeArg::Value(value) = arg {
                        incoming.entry((edge.target, n)).or_default().push(*value);
                    }
                }
            }
        }
        let mut rest = vec![];
        for inst in self.function.layout.iter().flat_map(|b| &self.function.block(*b).insts) {
            let inst = self.function.inst(*inst);
            match &inst.kind {
                InstKind::Op { access: Some(_), .. } => rest.extend(inst.args.first().copied()),
                InstKind::Op { op, .. } if !self.is_sum(*op) => factors.extend(inst.args.iter().copied()),
                _ => {}
            }
        }
        while let Some(value) = rest.pop() {
            if !summands.insert(value) {
                continue;
            }
            match self.definition[value.index()] {
                Some(Definition::Result(_, inst, _)) => {
                    let inst = self.function.inst(inst);
                    if matches!(&inst.kind, InstKind::Op { op, access: None, .. } if self.is_sum(*op)) {
                        rest.extend(&inst.args);
                    }
                }
                Some(Definition::Param(block, n)) => rest.extend(incoming.get(&(block, n)).into_iter().flatten()),
                None => {}
            }
        }
        let is_long = |param: Value| self.universe.types.scalar(self.function.ty(param)) == Some(Scalar::I64);
        let is_pointer = |param: &Value| {
            self.source.is_address(*param) || (is_long(*param) && summands.contains(param) && !factors.contains(param))
        };
        params.iter().map(is_pointer).collect()
    }

    fn is_sum(&self, op: OpId) -> bool {
        matches!(self.universe.ops.get(op).model, Some(Model::Add | Model::Sub))
    }
}
