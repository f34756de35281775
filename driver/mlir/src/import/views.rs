//! Views of arrays: `memref.subview`, `memref.reinterpret_cast`, `memref.cast`; and copies.
//!
//! A cell of a view is a cell of the array behind it. That an access is within the view is not looked at: what is within
//! the array is taken for an access of the array.

use super::types::Memref;
use super::{Imported, Importer, Meaning};
use crate::map;
use crate::syntax::Op;
use rewright_cfg_skeleton::nest::{Affine, ArrayId, For, Item, Store, Var};

/// An array, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) array: ArrayId,
    /// The array's subscripts in terms of [`subscript`].
    cell: Vec<Affine>,
    /// Extents, where they are known.
    pub(super) shape: Vec<Option<Affine>>,
}

/// The variable that stands for a subscript of a view.
fn subscript(dimension: usize) -> Var {
    Var(u32::MAX - 64 - dimension as u32)
}

impl View {
    /// The array's cell that these subscripts are.
    pub(super) fn at(&self, subscripts: &[Affine]) -> Vec<Affine> {
        let of = |var: Var| (0..subscripts.len()).find(|n| subscript(*n) == var).map(|n| subscripts[n].clone());
        self.cell.iter().map(|affine| affine.replace(&of)).collect()
    }

    /// A view of this view.
    fn of(&self, subscripts: &[Affine], shape: Vec<Option<Affine>>) -> View {
        View { array: self.array, cell: self.at(subscripts), shape }
    }
}

impl Importer<'_> {
    /// The array or view that an operand is.
    pub(super) fn view(&self, op: &Op, n: usize) -> Imported<View> {
        if let Meaning::View(view) = self.operand(op, n)? {
            return Ok(view);
        }
        let array = self.array(op, n)?;
        let shape = self.nest.array(array).shape.clone();
        Ok(View { array, cell: (0..shape.len()).map(|n| Affine::var(subscript(n))).collect(), shape })
    }

    /// Offsets, sizes or strides: numbers and operands.
    fn mixed(&self, op: &Op, name: &str, operands: &mut std::slice::Iter<'_, String>) -> Imported<Vec<Affine>> {
        let one = |number: i128| {
            if number != i128::from(i64::MIN) {
                return Ok(Affine::constant(number));
            }
            let operand = operands.next().ok_or_else(|| op.unsupported("operands are missing"))?;
            self.affine(op, operand)
        };
        op.integers(name)?.into_iter().map(one).collect()
    }

    fn define_view(&mut self, op: &Op, view: View) -> Imported<()> {
        if view.cell.iter().any(|e| e.is_broken() || e.terms().any(|(_, c)| c.abs() >= map::LARGEST)) {
            return Err(op.unsupported("numbers are too large, or an expression is"));
        }
        self.nest.has_views = true;
        self.define_result(op, Meaning::View(view))
    }

    pub(super) fn subview(&mut self, op: &Op) -> Imported<()> {
        let view = self.view(op, 0)?;
        let mut operands = op.operands[1.min(op.operands.len())..].iter();
        let offsets = self.mixed(op, "static_offsets", &mut operands)?;
        let sizes = self.mixed(op, "static_sizes", &mut operands)?;
        let strides = self.mixed(op, "static_strides", &mut operands)?;
        let rank = view.shape.len();
        if [&offsets, &sizes, &strides].iter().any(|all| all.len() != rank) || operands.next().is_some() {
            return Err(op.unsupported("as many offsets, sizes and strides as dimensions are expected"));
        }
        let wanted = self.result_shape(op)?;
        let (mut subscripts, mut shape) = (vec![], vec![]);
        for n in 0..rank {
            let left = wanted.len() - shape.len().min(wanted.len());
            let fits = |extent: &Option<i128>| extent.is_none() || *extent == sizes[n].as_constant();
            // A dimension with one subscript may be dropped; which of several, makes no difference.
            let is_kept = left == rank - n || (left > 0 && sizes[n].as_constant() != Some(1));
            if is_kept && !wanted.get(shape.len()).is_some_and(fits) {
                return Err(op.unsupported("the type of its result is another one"));
            }
            let index = if is_kept { Affine::var(subscript(shape.len())) } else { Affine::default() };
            subscripts.push(offsets[n].plus(1, &strides[n].product(&index)));
            if is_kept {
                shape.push(Some(sizes[n].clone()));
            } else if sizes[n].as_constant() != Some(1) {
                return Err(op.unsupported("a dimension is dropped that has several subscripts"));
            }
        }
        if shape.len() != wanted.len() {
            return Err(op.unsupported("the type of its result is another one"));
        }
        let view = view.of(&subscripts, shape);
        self.define_view(op, view)
    }

    /// Extents in the type of the result, whatever the layout.
    fn result_shape(&self, op: &Op) -> Imported<Vec<Option<i128>>> {
        let ty = op.result_types.first().ok_or_else(|| op.unsupported("the type of its result is not known"))?;
        Memref::shape(ty).map(|(shape, _)| shape).map_err(|what| op.unsupported(what))
    }

    /// Cells by their number in the order of subscripts: that is understood of whole arrays, with known rows.
    pub(super) fn reinterpret(&mut self, op: &Op) -> Imported<()> {
        let Meaning::Array(array) = self.operand(op, 0)? else {
            return Err(op.unsupported("a view is looked at as something else"));
        };
        let mut operands = op.operands[1..].iter();
        let offset = self.mixed(op, "static_offsets", &mut operands)?;
        let sizes = self.mixed(op, "static_sizes", &mut operands)?;
        let strides = self.mixed(op, "static_strides", &mut operands)?;
        if offset.len() != 1 || sizes.len() != strides.len() || operands.next().is_some() {
            return Err(op.unsupported("one offset, and as many sizes as strides are expected"));
        }
        let shape = &self.nest.array(array).shape;
        let rows = shape.iter().skip(1).map(|extent| extent.as_ref()?.as_constant().filter(|row| *row > 0));
        let Some(rows) = rows.collect::<Option<Vec<i128>>>().filter(|_| !shape.is_empty()) else {
            return Err(op.unsupported("the length of a row is no positive constant"));
        };
        if self.strided.contains(&array) {
            return Err(op.unsupported("the array has rows that do not follow each other"));
        }
        let number = strides
            .iter()
            .enumerate()
            .fold(offset[0].clone(), |sum, (n, stride)| sum.plus(1, &stride.product(&Affine::var(subscript(n)))));
        // From the last dimension on: remainders, and the quotient that is left.
        let (mut rest, mut cell) = (number, vec![]);
        for row in rows.iter().rev() {
            cell.push(rest.modulo(*row));
            rest = rest.floor_div(*row);
        }
        cell.push(rest);
        cell.reverse();
        self.define_view(op, View { array, cell, shape: sizes.into_iter().map(Some).collect() })
    }

    /// Another type of the same array, which says no more.
    pub(super) fn cast(&mut self, op: &Op) -> Imported<()> {
        let (view, wanted) = (self.view(op, 0)?, self.result_shape(op)?);
        let known = |extent: &Option<Affine>| extent.as_ref().and_then(Affine::as_constant);
        let says_no_more = view.shape.len() == wanted.len()
            && view.shape.iter().zip(&wanted).all(|(is, to)| to.is_none() || known(is) == *to);
        if !says_no_more {
            return Err(op.unsupported("what the type of its result says of extents is not known to hold"));
        }
        let types = op.result_types.first().zip(op.operand_types.first());
        let (to, from) = types.ok_or_else(|| op.unsupported("its types are not known"))?;
        if !Memref::says_no_more(to, from).map_err(|what| op.unsupported(what))? {
            return Err(op.unsupported("what the type of its result says of strides is not known to hold"));
        }
        self.define_result(op, Meaning::View(view))
    }

    /// A copy of each cell.
    pub(super) fn copy(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        let (from, to) = (self.view(op, 0)?, self.view(op, 1)?);
        if from.array == to.array {
            return Err(op.unsupported("parts of one array are copied to each other"));
        }
        if from.shape.len() != to.shape.len() || from.shape.is_empty() {
            return Err(op.unsupported("arrays of one rank are expected"));
        }
        let mut extents = vec![];
        for (axis, (a, b)) in from.shape.iter().zip(&to.shape).enumerate() {
            extents.push(match (a, b) {
                (Some(extent), _) | (None, Some(extent)) => extent.clone(),
                (None, None) => self.extent(op, from.array, axis)?,
            });
        }
        let vars: Vec<Var> = extents.iter().map(|_| self.names.var()).collect();
        let subscripts: Vec<Affine> = vars.iter().copied().map(Affine::var).collect();
        let mut body = vec![];
        let value = self.load_cell(from.array, from.at(&subscripts), op.line, &mut body);
        body.push(Item::Store(Store { array: to.array, subscripts: to.at(&subscripts), value, line: op.line }));
        for (var, extent) in vars.into_iter().zip(extents).rev() {
            let (lower, upper) = (vec![Affine::default()], vec![extent]);
            body = vec![Item::For(For { var, lower, upper, step: 1, body, line: op.line })];
        }
        items.extend(body);
        Ok(())
    }
}
