//! Functions as Rewright's own text: all control flow that is structured, and blocks with branches.
//!
//! An `index` is an `i64`, an `i1` an `i8` that is 0 or 1. An array is its address (`i64`), followed by the extents that
//! its type does not say; elements lie in the order of their subscripts. An operation without a value in MLIR (an
//! access out of bounds, a shift by too much, a broken promise of a flag) may have one in the text; [`Lowering::doubt`]
//! says where.

mod arithmetic;
mod control;
mod memory;

pub use memory::HEAP;

use crate::map;
use crate::parallel::{self, InOrder};
use crate::syntax::{Function, Module, Op, Region, Unsupported};
use rewright_cfg_skeleton::nest::Affine;
use rewright_cfg_skeleton::nest::affine::{Atom, Var};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

type Lowered<T> = Result<T, Unsupported>;

/// A file in our own text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The functions that could be written.
    pub text: String,
    /// The others, by name, and why.
    pub left_out: Vec<(String, Unsupported)>,
    /// Functions in which something has a value that has none in MLIR, and the first such operation.
    pub doubts: Vec<(String, Unsupported)>,
    /// Functions that may trap where they are undefined in MLIR, and the first such operation.
    pub undefined: Vec<(String, Unsupported)>,
}

/// Writes the functions of a file in our own text; one that calls another that cannot be written cannot be, either.
pub(crate) fn lower(module: &Module) -> Text {
    let mut result = Text::default();
    let mut written = vec![];
    for function in &module.functions {
        let mut lowering = Lowering::new(module);
        match lowering.function(function) {
            Ok(text) => written.push((&function.name, text, lowering)),
            Err(why) => result.left_out.push((function.name.clone(), why)),
        }
    }
    loop {
        let left_out: Vec<String> = result.left_out.iter().map(|(name, _)| name.clone()).collect();
        let calls = |lowering: &Lowering<'_>| {
            let call = lowering.calls.iter().find(|(callee, _)| left_out.contains(callee))?;
            Some(Unsupported { line: call.1, what: format!("`{}`, which it calls, is left out", call.0) })
        };
        let before = written.len();
        written.retain(|(name, _, lowering)| {
            let why = calls(lowering);
            result.left_out.extend(why.clone().map(|why| ((*name).clone(), why)));
            why.is_none()
        });
        if written.len() == before {
            break;
        }
    }
    for (name, text, lowering) in written {
        result.text += &text;
        result.doubts.extend(lowering.doubt.map(|doubt| (name.clone(), doubt)));
        result.undefined.extend(lowering.undefined.map(|operation| (name.clone(), operation)));
    }
    result
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Meaning {
    /// A value and its type in MLIR.
    Value(String, String),
    /// An array: its address, its extents and the type of its elements.
    Array(String, Vec<String>, String),
}

/// What holds in a region.
#[derive(Default)]
struct Scope {
    names: FxHashMap<String, Meaning>,
    /// Addresses of arrays that are freed where the region ends.
    on_stack: Vec<String>,
}

struct Lowering<'a> {
    module: &'a Module,
    scopes: Vec<Scope>,
    out: String,
    values: u32,
    blocks: u32,
    /// Labels of the blocks of the function's region.
    labels: FxHashMap<String, String>,
    /// Whether the block that is being written is the first one of the function, or within one of its operations.
    is_first: bool,
    /// Whether the block that is being written has ended.
    ended: bool,
    /// Values that are known numbers.
    numbers: FxHashMap<String, i128>,
    /// Functions that are called, and where.
    calls: Vec<(String, u32)>,
    doubt: Option<Unsupported>,
    /// The first operation that may trap where it is undefined in MLIR.
    undefined: Option<Unsupported>,
}

impl<'a> Lowering<'a> {
    fn new(module: &'a Module) -> Self {
        let (scopes, labels, out) = (vec![Scope::default()], FxHashMap::default(), String::new());
        let numbers = FxHashMap::default();
        let (is_first, ended, calls, doubt, undefined) = (true, false, vec![], None, None);
        let (values, blocks) = (0, 0);
        Lowering { module, scopes, out, values, blocks, labels, is_first, ended, numbers, calls, doubt, undefined }
    }

    fn function(&mut self, function: &Function) -> Lowered<String> {
        let body = function.body.as_ref().map_err(Clone::clone)?;
        let mut parameters = vec![];
        for (name, ty) in &body.arguments {
            parameters.extend(self.parameter(name, ty, function.line)?);
            self.only_bit(name, ty);
        }
        let results = self.results(body, function.line)?;
        for block in &body.more {
            let label = self.label();
            self.labels.insert(block.label.clone(), label);
        }
        self.ops(&body.ops)?;
        self.is_first = false;
        for block in &body.more {
            let label = self.labels[&block.label].clone();
            let mut arguments = vec![];
            for (name, ty) in &block.arguments {
                arguments.extend(self.parameter(name, ty, function.line)?);
            }
            self.begin(&label, &arguments);
            self.ops(&block.ops)?;
        }
        if !self.ended {
            return Err(Unsupported { line: function.line, what: "the last block has no terminator".into() });
        }
        let name = word(&function.name).ok_or_else(|| Unsupported {
            line: function.line,
            what: format!("`{}` is no name of a function in our own text", function.name),
        })?;
        let results = if results.is_empty() { String::new() } else { format!(" -> ({})", results.join(", ")) };
        Ok(format!("func %{name}({}){results} {{\n{}}}\n", parameters.join(", "), self.out))
    }

    /// The types of what is returned.
    fn results(&self, body: &Region, line: u32) -> Lowered<Vec<String>> {
        let blocks = std::iter::once(&body.ops).chain(body.more.iter().map(|block| &block.ops));
        let mut returns = blocks.filter_map(|ops| ops.last()).filter(|op| op.name == "func.return");
        let none = || Unsupported { line, what: "it does not return".into() };
        let op = returns.next().ok_or_else(none)?;
        let mut results = vec![];
        for ty in &op.operand_types {
            if ty.starts_with("memref") {
                let (shape, _) = memory::plain(ty).map_err(|what| op.unsupported(what))?;
                let address = std::iter::once(&None);
                results.extend(address.chain(&shape).filter(|extent| extent.is_none()).map(|_| "i64".to_string()));
            } else {
                results.push(scalar(ty).ok_or_else(|| op.unsupported(format!("type `{ty}`")))?);
            }
        }
        Ok(results)
    }

    /// A parameter of a function or block, or the result of a call, with the extents of an array, and what it stands for.
    fn parameter(&mut self, name: &str, ty: &str, line: u32) -> Lowered<Vec<String>> {
        let value = self.fresh();
        if !ty.starts_with("memref") {
            let own = scalar(ty).ok_or_else(|| Unsupported { line, what: format!("type `{ty}`") })?;
            self.define(name, Meaning::Value(value.clone(), ty.to_string()));
            return Ok(vec![format!("{value}: {own}")]);
        }
        self.array_parameter(name, (value, ty), line)
    }

    /// An `i1` from outside has one bit of the `i8`, whatever the others are.
    fn only_bit(&mut self, name: &str, ty: &str) {
        let scope = self.scopes.last().and_then(|scope| scope.names.get(name));
        if let (Some(Meaning::Value(value, _)), "i1") = (scope.cloned(), ty) {
            let one = self.constant("i8", 1);
            let bit = self.compute("i8", &format!("band{{i8}} {value}, {one}"));
            self.define(name, Meaning::Value(bit, ty.to_string()));
        }
    }

    fn fresh(&mut self) -> String {
        self.values += 1;
        format!("%m{}", self.values)
    }

    fn label(&mut self) -> String {
        self.blocks += 1;
        format!("block{}", self.blocks)
    }

    fn define(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.to_string(), meaning);
        }
    }

    fn enter(&mut self, names: FxHashMap<String, Meaning>) {
        self.scopes.push(Scope { names, on_stack: vec![] });
    }

    /// Ends a region.
    fn leave(&mut self) {
        if let Some(Scope { on_stack, .. }) = self.scopes.pop() {
            self.free(&on_stack);
        }
    }

    fn define_result(&mut self, op: &Op, value: String, ty: &str) -> Lowered<()> {
        let [name] = op.results.as_slice() else { return Err(op.unsupported("one result is expected")) };
        self.define(&name.clone(), Meaning::Value(value, ty.to_string()));
        Ok(())
    }

    fn meaning(&self, op: &Op, name: &str) -> Lowered<Meaning> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.names.get(name));
        found.cloned().ok_or_else(|| op.unsupported(format!("`{name}` is not defined")))
    }

    /// A value and its type.
    fn value(&self, op: &Op, name: &str) -> Lowered<(String, String)> {
        match self.meaning(op, name)? {
            Meaning::Value(value, ty) => Ok((value, ty)),
            Meaning::Array(..) => Err(op.unsupported(format!("`{name}` is an array"))),
        }
    }

    fn values(&self, op: &Op, names: &[String]) -> Lowered<Vec<String>> {
        names.iter().map(|name| Ok(self.value(op, name)?.0)).collect()
    }

    /// What is passed to a block or function: arrays with their extents.
    fn passed(&self, op: &Op, names: &[String]) -> Lowered<Vec<String>> {
        let mut passed = vec![];
        for name in names {
            match self.meaning(op, name)? {
                Meaning::Value(value, _) => passed.push(value),
                // Extents that the type says are numbers.
                Meaning::Array(address, extents, _) => {
                    passed.push(address);
                    passed.extend(extents.into_iter().filter(|extent| extent.parse::<i128>().is_err()));
                }
            }
        }
        Ok(passed)
    }

    /// Something of which MLIR may say nothing has a value here.
    fn doubt(&mut self, op: &Op, what: &str) {
        self.doubt.get_or_insert_with(|| op.unsupported(what));
    }

    /// Computes a value: `%m1: ty = text`.
    fn compute(&mut self, ty: &str, text: &str) -> String {
        let value = self.fresh();
        let _ = writeln!(self.out, "  {value}: {ty} = {text}");
        value
    }

    fn constant(&mut self, ty: &str, number: i128) -> String {
        self.compute(ty, &format!("const {number}"))
    }

    fn begin(&mut self, label: &str, parameters: &[String]) {
        let list = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        let _ = writeln!(self.out, "{label}{list}:");
        self.ended = false;
    }

    fn end(&mut self, terminator: &str) {
        let _ = writeln!(self.out, "  {terminator}");
        self.ended = true;
    }

    fn ops(&mut self, ops: &[Op]) -> Lowered<()> {
        for op in ops {
            if self.ended {
                return Err(op.unsupported("it follows the end of its block"));
            }
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: &Op) -> Lowered<()> {
        op.check_attributes()?;
        match op.name.as_str() {
            "affine.for" | "scf.for" => self.for_(op),
            "affine.parallel" | "scf.parallel" | "scf.forall" => {
                self.doubt(op, "iterations are executed in any order");
                let InOrder { before, loops, .. } = parallel::in_order(op)?;
                self.ops(&before)?;
                self.op(&loops)
            }
            "affine.if" | "scf.if" => self.if_(op),
            "scf.while" => self.while_(op),
            "cf.br" | "cf.cond_br" | "cf.switch" => self.branch(op),
            "affine.load" | "memref.load" => self.load(op),
            "affine.store" | "memref.store" => self.store(op),
            "memref.alloc" | "memref.alloca" => self.alloc(op),
            "memref.dealloc" => self.dealloc(op),
            "memref.dim" => self.dim(op),
            "memref.cast" => self.cast(op),
            "memref.copy" => self.copy(op),
            "affine.apply" => {
                let value = self.mapped(op, "map", &op.operands)?;
                self.define_result(op, value.into_iter().next().unwrap_or_default(), "index")
            }
            "affine.min" | "affine.max" => {
                let values = self.mapped(op, "map", &op.operands)?;
                let name = if op.name == "affine.min" { "smin" } else { "smax" };
                let value = self.extremum(values, name);
                self.define_result(op, value, "index")
            }
            "func.call" => self.call(op),
            "func.return" => {
                let values = self.passed(op, &op.operands)?;
                let on_stack: Vec<String> = self.scopes.iter().flat_map(|scope| scope.on_stack.clone()).collect();
                self.free(&on_stack);
                self.end(&format!("return {}", values.join(", ")));
                Ok(())
            }
            name if name.starts_with("arith.") || name.starts_with("math.") => self.arithmetic(op),
            _ => Err(op.unsupported("our own text has no such operation")),
        }
    }

    fn call(&mut self, op: &Op) -> Lowered<()> {
        let callee = op.symbols().into_iter().next().unwrap_or_default();
        if !self.module.functions.iter().any(|f| f.name == callee) {
            return Err(op.unsupported(format!("`{callee}` is not defined in this file")));
        }
        self.calls.push((callee.clone(), op.line));
        let callee = word(&callee).ok_or_else(|| op.unsupported("the function's name"))?;
        let operands = self.passed(op, &op.operands)?.join(", ");
        let mut results = vec![];
        for (name, ty) in op.results.iter().zip(&op.result_types) {
            results.extend(self.parameter(name, ty, op.line)?);
        }
        let left = if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
        let _ = writeln!(self.out, "  {left}{callee} {operands}");
        Ok(())
    }

    fn extremum(&mut self, values: Vec<String>, name: &str) -> String {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or_default();
        values.fold(first, |sofar, next| self.compute("i64", &format!("{name}{{i64}} {sofar}, {next}")))
    }

    /// The values of an operation's map.
    fn mapped(&mut self, op: &Op, attribute: &str, operands: &[String]) -> Lowered<Vec<String>> {
        let text = op.attribute(attribute).ok_or_else(|| op.unsupported(format!("`{attribute}` is missing")))?;
        let mut known = self.values(op, operands)?;
        let vars: Vec<Affine> = (0..known.len() as u32).map(|n| Affine::var(Var(n))).collect();
        let mut quotients = vec![];
        let mut divide = |dividend: &Affine, divisor: &Affine| {
            quotients.push((dividend.clone(), divisor.clone()));
            Affine::var(Var((known.len() + quotients.len()) as u32 - 1))
        };
        let results = map::apply(text, &vars, &mut divide, &mut vec![]).map_err(|what| op.unsupported(what))?;
        if !quotients.is_empty() {
            self.doubt(op, "a division by what is no constant");
        }
        for (dividend, divisor) in quotients {
            let (a, b) = (self.affine(&dividend, &known), self.affine(&divisor, &known));
            let quotient = self.floor_quotient(&a, &b);
            known.push(quotient);
        }
        Ok(results.iter().map(|affine| self.affine(affine, &known)).collect())
    }

    /// A polynomial over known values.
    fn affine(&mut self, affine: &Affine, known: &[String]) -> String {
        let mut sum: Option<String> = None;
        let terms: Vec<(Vec<Atom>, i128)> = affine.terms().map(|(m, c)| (m.to_vec(), c)).collect();
        for (monomial, coefficient) in terms {
            let mut term: Option<String> = None;
            for atom in &monomial {
                let factor = match atom {
                    Atom::Var(var) => known[var.0 as usize].clone(),
                    Atom::Floor(inner, divisor) => {
                        let inner = self.affine(inner, known);
                        let divisor = self.constant("i64", *divisor);
                        self.floor_quotient(&inner, &divisor)
                    }
                };
                term = Some(self.combined("imul", term, factor));
            }
            let term = match term {
                Some(term) if coefficient == 1 => term,
                term => {
                    let coefficient = self.constant("i64", coefficient);
                    self.combined("imul", term, coefficient)
                }
            };
            sum = Some(self.combined("iadd", sum, term));
        }
        sum.unwrap_or_else(|| self.constant("i64", 0))
    }

    fn combined(&mut self, name: &str, left: Option<String>, right: String) -> String {
        match left {
            Some(left) => self.compute("i64", &format!("{name}{{i64}} {left}, {right}")),
            None => right,
        }
    }

    /// The quotient, rounded down.
    fn floor_quotient(&mut self, a: &str, b: &str) -> String {
        self.rounded_quotient("i64", (a, b), false)
    }
}

/// The type in our own text.
fn scalar(ty: &str) -> Option<String> {
    Some(match ty {
        "index" => "i64".to_string(),
        "i1" => "i8".to_string(),
        "i8" | "i16" | "i32" | "i64" | "f32" | "f64" => ty.to_string(),
        _ => return None,
    })
}

/// The name, where it is a word.
fn word(name: &str) -> Option<&str> {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    is_word.then_some(name)
}
