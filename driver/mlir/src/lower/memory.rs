//! Arrays as addresses.

use super::{Lowered, Lowering, Meaning};
use crate::import::types::Memref;
use crate::syntax::{Op, Region, Unsupported};
use std::fmt::Write as _;

/// An access may be to any cell, and traps as Cranelift's accesses to a heap do.
const ACCESS: &str = "@region0 trap=253";

/// The trap where there is no memory, that of accesses.
const OUT_OF_BOUNDS: u32 = 253;

/// The pack whose functions allocate and free.
pub const HEAP: &str = "std.heap";

impl Lowering<'_> {
    /// An array's address and the extents that its type does not say.
    pub(super) fn array_parameter(
        &mut self,
        name: &str,
        (value, ty): (String, &str),
        line: u32,
    ) -> Lowered<Vec<String>> {
        let (shape, element) = plain(ty).map_err(|what| Unsupported { line, what })?;
        let mut parameters = vec![format!("{value}: i64")];
        let mut extents = vec![];
        for extent in shape {
            extents.push(match extent {
                Some(extent) => extent.to_string(),
                None => {
                    let extent = self.fresh();
                    parameters.push(format!("{extent}: i64"));
                    extent
                }
            });
        }
        self.define(name, Meaning::Array(value, extents, element));
        Ok(parameters)
    }

    fn array(&self, op: &Op, n: usize) -> Lowered<(String, Vec<String>, String)> {
        let name = op.operands.get(n).ok_or_else(|| op.unsupported(format!("operand {n} is missing")))?;
        match self.meaning(op, name)? {
            Meaning::Array(address, extents, element) => Ok((address, extents, element)),
            Meaning::Value(..) => Err(op.unsupported("expected an array")),
        }
    }

    /// The address of a cell, and the type of what it holds.
    fn cell(&mut self, op: &Op, n: usize) -> Lowered<(String, String)> {
        let (address, extents, element) = self.array(op, n)?;
        let operands = &op.operands[(n + 1).min(op.operands.len())..];
        let subscripts = match op.attribute("map") {
            Some(_) => self.mapped(op, "map", operands)?,
            None => self.values(op, operands)?,
        };
        if subscripts.len() != extents.len() {
            return Err(op.unsupported("as many subscripts as dimensions are expected"));
        }
        // A cell beyond one dimension is another one of the next row here.
        self.doubt(op, "an access that may be out of bounds");
        let mut offset: Option<String> = None;
        for (subscript, extent) in subscripts.into_iter().zip(extents) {
            offset = Some(match offset {
                None => subscript,
                Some(offset) => {
                    let extent = self.extent(&extent);
                    let row = self.compute("i64", &format!("imul{{i64}} {offset}, {extent}"));
                    self.compute("i64", &format!("iadd{{i64}} {row}, {subscript}"))
                }
            });
        }
        let Some(offset) = offset else { return Ok((address, element)) };
        let bytes = self.constant("i64", size(&element).unwrap_or(1));
        let offset = self.compute("i64", &format!("imul{{i64}} {offset}, {bytes}"));
        Ok((self.compute("i64", &format!("iadd{{i64}} {address}, {offset}")), element))
    }

    pub(super) fn load(&mut self, op: &Op) -> Lowered<()> {
        let (address, element) = self.cell(op, 0)?;
        let own = super::scalar(&element).unwrap_or_default();
        let zero = self.constant("i64", 0);
        let value = self.compute(&own, &format!("load{{{own}}} {address}, {zero} {ACCESS}"));
        self.define_result(op, value, &element)
    }

    pub(super) fn store(&mut self, op: &Op) -> Lowered<()> {
        let name = op.operands.first().ok_or_else(|| op.unsupported("no operands"))?;
        let value = self.value(op, name)?.0;
        let (address, element) = self.cell(op, 1)?;
        let own = super::scalar(&element).unwrap_or_default();
        let zero = self.constant("i64", 0);
        let _ = writeln!(self.out, "  store{{{own}}} {address}, {value}, {zero} {ACCESS}");
        Ok(())
    }

    /// A new array. Its cells, which have no value in MLIR until they are written, are 0; too large an array traps.
    pub(super) fn alloc(&mut self, op: &Op) -> Lowered<()> {
        let ty = op.result_types.first().map_or("", String::as_str);
        let (shape, element) = plain(ty).map_err(|what| op.unsupported(what))?;
        let (dynamic, given) = (shape.iter().filter(|extent| extent.is_none()).count(), op.operands.len());
        if dynamic != given {
            return Err(
                op.unsupported(format!("{dynamic} operands for the extents of `{ty}` are expected, not {given}"))
            );
        }
        let mut sizes = self.values(op, &op.operands)?.into_iter();
        let extents = shape.iter().map(|extent| extent.map_or_else(|| sizes.next(), |number| Some(number.to_string())));
        let extents: Vec<String> = extents.flatten().collect();
        self.doubt(op, "cells that are read before they are written");
        let mut cells: Option<String> = None;
        for extent in &extents {
            let extent = self.extent(extent);
            if let Some(cells) = &cells {
                let beyond = self.compute("i64", &format!("umulhi{{i64}} {cells}, {extent}"));
                let _ = writeln!(self.out, "  check.trapnz {beyond}, {OUT_OF_BOUNDS}");
            }
            cells = Some(self.combined("imul", cells, extent));
        }
        let one = self.constant("i64", 1);
        // An array without cells has an address, too.
        let cells = self.combined("umax", cells, one);
        let bytes = self.constant("i64", size(&element).unwrap_or(1));
        let address = self.compute("i64", &format!("{HEAP}.calloc {cells}, {bytes}"));
        let _ = writeln!(self.out, "  check.trapz {address}, {OUT_OF_BOUNDS}");
        if op.name == "memref.alloca" {
            // Another block may be executed again before the function returns.
            let scope = self.scopes.last_mut().filter(|_| self.is_first);
            let scope = scope.ok_or_else(|| op.unsupported("only the first block has arrays on the stack"))?;
            scope.on_stack.push(address.clone());
        }
        let [name] = op.results.as_slice() else { return Err(op.unsupported("one result is expected")) };
        self.define(name, Meaning::Array(address, extents, element));
        Ok(())
    }

    pub(super) fn dealloc(&mut self, op: &Op) -> Lowered<()> {
        let (address, ..) = self.array(op, 0)?;
        if self.scopes.iter().any(|scope| scope.on_stack.contains(&address)) {
            return Err(op.unsupported("an array on the stack is deallocated"));
        }
        self.doubt(op, "an array that may be deallocated twice, or used later");
        self.free(&[address]);
        Ok(())
    }

    /// Frees arrays.
    pub(super) fn free(&mut self, addresses: &[String]) {
        for address in addresses {
            let _ = writeln!(self.out, "  {HEAP}.free {address}");
        }
    }

    /// The same array by a type that says no more of its extents.
    pub(super) fn cast(&mut self, op: &Op) -> Lowered<()> {
        let (address, extents, element) = self.array(op, 0)?;
        let ty = op.result_types.first().map_or("", String::as_str);
        let (shape, _) = Memref::shape(ty).map_err(|what| op.unsupported(what))?;
        let says_no_more = shape.len() == extents.len()
            && shape.iter().zip(&extents).all(|(to, is)| to.is_none_or(|to| to.to_string() == *is));
        let [name] = op.results.as_slice() else { return Err(op.unsupported("one result is expected")) };
        if !says_no_more {
            return Err(op.unsupported("what the type of its result says of extents is not known to hold"));
        }
        // Extents that the type does not state are passed with the address.
        let said = extents.iter().zip(shape);
        let extents = said.map(|(is, to)| if to.is_some() { is.clone() } else { self.extent(is) }).collect();
        self.define(name, Meaning::Array(address, extents, element));
        Ok(())
    }

    /// Loops that copy each cell.
    pub(super) fn copy(&mut self, op: &Op) -> Lowered<()> {
        let (_, extents, _) = self.array(op, 0)?;
        let [from, to] = op.operands.as_slice() else { return Err(op.unsupported("two arrays are expected")) };
        self.doubt(op, "both arrays may overlap, or have other extents");
        let made =
            |name: &str, operands: Vec<String>| Op { name: name.into(), operands, line: op.line, ..Op::default() };
        let vars: Vec<String> = (0..extents.len()).map(|n| format!("%copied {n}")).collect();
        let value = "%copied".to_string();
        let load =
            Op { results: vec![value.clone()], ..made("memref.load", [vec![from.clone()], vars.clone()].concat()) };
        let store = made("memref.store", [vec![value, to.clone()], vars.clone()].concat());
        let mut body = vec![load, store];
        for (name, number) in [("%copied from", 0), ("%copied by", 1)] {
            let constant = self.constant("i64", number);
            self.numbers.insert(constant.clone(), number);
            self.define(name, Meaning::Value(constant, "index".into()));
        }
        for (var, extent) in vars.iter().zip(&extents).rev() {
            let end = format!("{var} to");
            let value = self.extent(extent);
            self.define(&end, Meaning::Value(value, "index".into()));
            let region = Region { arguments: vec![(var.clone(), "index".into())], ops: body, more: vec![] };
            let bounds = vec!["%copied from".to_string(), end, "%copied by".to_string()];
            body = vec![Op { regions: vec![region], ..made("scf.for", bounds) }];
        }
        self.ops(&body)
    }

    /// An extent as a value.
    fn extent(&mut self, extent: &str) -> String {
        match extent.parse::<i128>() {
            Ok(number) => self.constant("i64", number),
            Err(_) => extent.to_string(),
        }
    }

    pub(super) fn dim(&mut self, op: &Op) -> Lowered<()> {
        let (_, extents, _) = self.array(op, 0)?;
        let axis = op.operands.get(1).map(|name| self.value(op, name)).transpose()?.map(|(value, _)| value);
        let axis = axis.and_then(|value| self.numbers.get(&value).copied()).and_then(|axis| usize::try_from(axis).ok());
        let extent = axis.and_then(|axis| extents.get(axis)).cloned();
        let extent = extent.ok_or_else(|| op.unsupported("the dimension is no constant in range"))?;
        let value = self.extent(&extent);
        self.define_result(op, value, "index")
    }
}

/// The extents of an array whose rows follow each other, and the type of its elements.
pub(super) fn plain(ty: &str) -> Result<(Vec<Option<i128>>, String), String> {
    let Memref { shape, element, strides } = Memref::read(ty).map_err(|why| why.to_string())?;
    if strides.is_some() {
        return Err(format!("our own text has no layouts: `{ty}`"));
    }
    if size(&element).is_none() {
        return Err(format!("elements of type `{element}`"));
    }
    Ok((shape, element))
}

/// Bytes of an element.
fn size(element: &str) -> Option<i128> {
    Some(match element {
        "i8" => 1,
        "i16" => 2,
        "i32" | "f32" => 4,
        "i64" | "f64" | "index" => 8,
        _ => return None,
    })
}
