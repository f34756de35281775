//! Arrays: `affine` and `memref`.

use super::types::Memref;
use super::views::View;
use super::{Imported, Importer, Meaning};
use crate::syntax::Op;
use rewright_cfg_skeleton::nest::value::Value;
use rewright_cfg_skeleton::nest::{Affine, Array, ArrayId, ArrayKind, Item, Load, Origin, Store, ValueId};

/// Variables from here on are extents; those below are arguments.
const FIRST_EXTENT: u32 = 1 << 12;

/// Arrays have fewer dimensions than this.
const MAX_RANK: u32 = 16;

impl Importer<'_> {
    /// The cell of an access: a map in `affine`, plain indices in generic `memref`.
    fn subscripts(&mut self, op: &Op, view: &View, first: usize, items: &mut Vec<Item>) -> Imported<Vec<Affine>> {
        let operands = &op.operands[first.min(op.operands.len())..];
        let subscripts = match op.attribute("map") {
            Some(_) => self.mapped(op, "map", operands, items)?,
            None => self.affines(op, operands)?,
        };
        if subscripts.len() != view.shape.len() {
            return Err(op.unsupported("as many subscripts as dimensions are expected"));
        }
        Ok(view.at(&subscripts))
    }

    pub(super) fn load(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let view = self.view(op, 0)?;
        let (array, subscripts) = (view.array, self.subscripts(op, &view, 1, items)?);
        let element = self.nest.array(array).element.clone();
        let value = self.load_cell(array, subscripts, op.line, items);
        let meaning = self.computed(value, element, op.line, items);
        self.define_result(op, meaning)
    }

    pub(super) fn load_cell(
        &mut self,
        array: ArrayId,
        subscripts: Vec<Affine>,
        line: u32,
        items: &mut Vec<Item>,
    ) -> ValueId {
        let id = self.names.load();
        items.push(Item::Load(Load { id, array, subscripts, line }));
        self.pool.add(Value::Load(id))
    }

    pub(super) fn store(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let name = op.operands.first().ok_or_else(|| op.unsupported("no operands"))?;
        let value = self.value(op, name)?;
        let view = self.view(op, 1)?;
        let (array, subscripts) = (view.array, self.subscripts(op, &view, 2, items)?);
        items.push(Item::Store(Store { array, subscripts, value, line: op.line }));
        Ok(())
    }

    pub(super) fn alloc(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let ty = op.result_types.first().map_or("", String::as_str);
        let read = Memref::read(ty).map_err(|what| op.unsupported(what))?;
        if !read.is_apart() {
            return Err(op.unsupported(format!("the layout of `{ty}` is not understood")));
        }
        let Memref { shape, element, strides } = read;
        let mut sizes = op.operands.iter();
        let mut extents = vec![];
        for extent in shape {
            extents.push(Some(match extent {
                Some(extent) => Affine::constant(extent),
                None => {
                    let name = sizes.next().ok_or_else(|| op.unsupported("an extent is missing"))?;
                    self.affine(op, name)?
                }
            }));
        }
        if sizes.next().is_some() {
            return Err(op.unsupported("more operands than extents"));
        }
        let name = op.results.first().cloned().unwrap_or_default();
        let automatic = op.name == "memref.alloca";
        let alignment = alignment(op)?;
        let array =
            self.add_array(Array { name, kind: ArrayKind::Local, element, shape: extents, automatic, alignment });
        self.strided.extend(strides.map(|_| array));
        items.push(Item::Alloc(array, op.line));
        self.define_result(op, Meaning::Array(array))
    }

    /// Later uses are errors, also of views. An array that is allocated outside of this region may be used again in
    /// another iteration, and one that a call has been given by any code that has it.
    pub(super) fn dealloc(&mut self, op: &Op) -> Imported<()> {
        let array = self.array(op, 0)?;
        if self.nest.array(array).kind != ArrayKind::Local {
            return Err(op.unsupported("an array of the caller is deallocated"));
        }
        if self.nest.array(array).automatic {
            return Err(op.unsupported("an array that ends with the function is deallocated"));
        }
        if self.passed.contains(&array) {
            return Err(op.unsupported("an array that a call has been given is deallocated"));
        }
        let is_part = |meaning: &Meaning| match meaning {
            Meaning::Array(other) => *other == array,
            Meaning::View(view) => view.array == array,
            _ => false,
        };
        let Some((scope, outer)) = self.scopes.split_last_mut() else { return Ok(()) };
        if outer.iter().flat_map(|scope| scope.values()).any(is_part) {
            return Err(op.unsupported("an array from outside of the region is deallocated"));
        }
        scope.values_mut().filter(|meaning| is_part(meaning)).for_each(|meaning| *meaning = Meaning::Gone(op.line));
        Ok(())
    }

    pub(super) fn dim(&mut self, op: &Op) -> Imported<()> {
        let view = self.view(op, 0)?;
        let axis = op.operands.get(1).map(|name| self.affine(op, name)).transpose()?.and_then(|a| a.as_constant());
        let axis = axis.and_then(|a| usize::try_from(a).ok()).filter(|a| *a < view.shape.len());
        let axis = axis.ok_or_else(|| op.unsupported("the dimension is no constant in range"))?;
        let extent = match view.shape[axis].clone() {
            Some(extent) => extent,
            None => self.extent(op, view.array, axis)?,
        };
        self.define_index(op, Some(extent))
    }

    /// The extent of an array: a size, where its type does not say it.
    pub(super) fn extent(&mut self, op: &Op, array: ArrayId, axis: usize) -> Imported<Affine> {
        if let Some(extent) = self.nest.array(array).shape[axis].clone() {
            return Ok(extent);
        }
        let ArrayKind::Argument(position) = self.nest.array(array).kind else {
            return Err(op.unsupported("the extent is not known"));
        };
        let name = format!("extent {axis} of {}", self.nest.array(array).name);
        let number = FIRST_EXTENT + position * MAX_RANK + axis as u32;
        if axis as u32 >= MAX_RANK || position >= FIRST_EXTENT {
            return Err(op.unsupported("too many dimensions or arguments"));
        }
        let extent = Affine::var(self.size(&name, number, Origin::Extent(position, axis as u32)));
        self.nest.arrays[array.0 as usize].shape[axis] = Some(extent.clone());
        Ok(extent)
    }
}

/// What divides the address of an array that is made here, in bytes.
fn alignment(op: &Op) -> Imported<u64> {
    if op.attribute("alignment").is_none() {
        return Ok(1);
    }
    let said = match op.integers("alignment")?[..] {
        [bytes] => u64::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()),
        _ => None,
    };
    said.ok_or_else(|| op.unsupported("`alignment` is no power of two"))
}
