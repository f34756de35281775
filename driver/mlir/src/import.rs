//! Trees of operations to nests.

pub(crate) mod arithmetic;
mod cases;
mod choices;
mod control;
mod memory;
pub(crate) mod types;
mod views;

use crate::map;
use crate::structure::structured;
use crate::syntax::{Function, Op, Region, Unsupported};
use cases::Case;
use rewright_cfg_skeleton::nest::value::{Operation, POSITIVE, Value};
use rewright_cfg_skeleton::nest::{
    Affine, Array, ArrayId, ArrayKind, Bind, Conjunction, Constraint, Decider, Event, Item, LoadId, Names, Nest,
    Origin, Pool, Size, ValueId, Var, guard_loops,
};
use rustc_hash::{FxHashMap, FxHashSet};
use types::Memref;
use views::View;

/// Steps of the decision procedure for a function: few cases of few numbers need few.
const STEPS: u64 = 200_000;

type Imported<T> = Result<T, Unsupported>;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Meaning {
    /// A number made from loop variables and sizes.
    Index(Affine),
    /// The smallest of several.
    Least(Vec<Affine>),
    /// The largest of several.
    Greatest(Vec<Affine>),
    /// A value with its type.
    Scalar(ValueId, String),
    /// An array.
    Array(ArrayId),
    /// A part of an array.
    View(View),
    /// An array that was deallocated at this line.
    Gone(u32),
}

/// A function as a nest, with the functions that it calls.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) nest: Nest,
    pub(crate) calls: Vec<String>,
    /// Arguments of which it is not known that each cell has a place of its own.
    pub(crate) layouts: Vec<String>,
    /// Functions that are given one array twice, and at which positions; no positions where it is not known how they are called.
    pub(crate) twice: Vec<(String, Option<[u32; 2]>)>,
}

/// Makes a nest of a function.
///
/// `defined` are the functions that some version defines: calls of others are seen from outside.
pub(crate) fn import(
    function: &Function,
    defined: &[&str],
    (pool, names): (&mut Pool, &mut Names),
) -> Imported<Lowered> {
    let body = &structured(function.body.as_ref().map_err(Clone::clone)?)?;
    let nest = Nest {
        name: function.name.clone(),
        arguments: body.arguments.iter().map(|(_, ty)| ty.clone()).collect(),
        sizes: vec![],
        arrays: vec![],
        items: vec![],
        results: vec![],
        parallel: vec![],
        lines: FxHashMap::default(),
        has_views: false,
        checked: None,
    };
    let mut importer = Importer {
        defined,
        pool,
        names,
        nest,
        scopes: vec![FxHashMap::default()],
        calls: vec![],
        strided: vec![],
        layouts: vec![],
        depth: 0,
        given: vec![],
        decider: Decider::new(STEPS),
        may_hold_poison: choices::may_hold_poison(body),
        choices: FxHashMap::default(),
        passed: FxHashSet::default(),
        binds: FxHashMap::default(),
        checks: false,
        twice: vec![],
    };
    importer.arguments(body, function.line)?;
    let mut items = vec![];
    importer.ops(body, &mut items)?;
    importer.nest.checked = importer.checks.then(|| items.clone());
    importer.nest.items = items;
    guard_loops(&mut importer.nest, importer.pool);
    importer.nest.drop_unused_bindings(importer.pool);
    let Importer { nest, calls, layouts, twice, .. } = importer;
    Ok(Lowered { nest, calls, layouts, twice })
}

/// A region of several blocks has no structure that is seen here.
fn one_block(region: &Region) -> Imported<()> {
    match region.more.first() {
        Some(block) => Err(Unsupported { line: block.line, what: "several blocks: unstructured control flow".into() }),
        None => Ok(()),
    }
}

struct Importer<'a> {
    defined: &'a [&'a str],
    pool: &'a mut Pool,
    names: &'a mut Names,
    nest: Nest,
    /// Names by region, the innermost last.
    scopes: Vec<FxHashMap<String, Meaning>>,
    calls: Vec<String>,
    /// Arrays whose rows do not follow each other.
    strided: Vec<ArrayId>,
    /// Arguments whose strides their types do not say.
    layouts: Vec<String>,
    /// Regions around.
    depth: usize,
    /// What holds of the variables of loops around.
    given: Conjunction,
    decider: Decider,
    /// Whether memory may hold what has no value.
    may_hold_poison: bool,
    /// Variables that are one of several values.
    choices: FxHashMap<Var, Vec<Case>>,
    /// Arrays that calls are given.
    passed: FxHashSet<ArrayId>,
    /// Values of variables that are data.
    binds: FxHashMap<Var, ValueId>,
    /// Whether something was divided or compared that no item shows.
    checks: bool,
    /// Functions that are given one array twice.
    twice: Vec<(String, Option<[u32; 2]>)>,
}

impl Importer<'_> {
    fn arguments(&mut self, body: &Region, line: u32) -> Imported<()> {
        for (position, (name, ty)) in body.arguments.iter().enumerate() {
            let number = position as u32;
            let meaning = if ty.starts_with("memref") {
                let read = Memref::read(ty).map_err(|e| Unsupported { line, what: e.to_string() })?;
                if !read.is_apart() {
                    self.layouts.push(name.clone());
                }
                let Memref { shape, element, strides } = read;
                let shape = shape.into_iter().map(|e| e.map(Affine::constant)).collect();
                let array = Array {
                    name: name.clone(),
                    kind: ArrayKind::Argument(number),
                    element,
                    shape,
                    automatic: false,
                    alignment: 1,
                };
                let array = self.add_array(array);
                self.strided.extend(strides.map(|_| array));
                Meaning::Array(array)
            } else if ty == "index" {
                let origin = Origin::Argument(number, None);
                Meaning::Index(Affine::var(self.size(name, number, origin)))
            } else {
                Meaning::Scalar(self.pool.add(Value::Argument(number)), ty.clone())
            };
            self.define(name, meaning);
        }
        Ok(())
    }

    /// The variable of a size; the same number gives the same one.
    fn size(&mut self, name: &str, number: u32, origin: Origin) -> Var {
        let var = Var(number);
        if !self.nest.sizes.iter().any(|s| s.var == var) {
            self.nest.sizes.push(Size { var, name: name.to_string(), origin });
        }
        var
    }

    fn add_array(&mut self, array: Array) -> ArrayId {
        self.nest.arrays.push(array);
        ArrayId(self.nest.arrays.len() as u32 - 1)
    }

    fn define(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), meaning);
        }
    }

    fn ops(&mut self, region: &Region, items: &mut Vec<Item>) -> Imported<()> {
        one_block(region)?;
        region.ops.iter().try_for_each(|op| self.op(op, items))
    }

    /// Runs `f` with names of its own.
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> Imported<T>) -> Imported<T> {
        self.scopes.push(FxHashMap::default());
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        self.scopes.pop();
        result
    }

    fn meaning(&self, op: &Op, name: &str) -> Imported<Meaning> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.cloned().ok_or_else(|| op.unsupported(format!("`{name}` is not defined")))
    }

    fn operand(&self, op: &Op, n: usize) -> Imported<Meaning> {
        let name = op.operands.get(n).ok_or_else(|| op.unsupported(format!("operand {n} is missing")))?;
        self.meaning(op, name)
    }

    fn affine(&self, op: &Op, name: &str) -> Imported<Affine> {
        match self.meaning(op, name)? {
            Meaning::Index(affine) => Ok(affine),
            _ => Err(op.unsupported(format!("`{name}` is computed from data, or is no index"))),
        }
    }

    fn affines(&self, op: &Op, names: &[String]) -> Imported<Vec<Affine>> {
        names.iter().map(|name| self.affine(op, name)).collect()
    }

    fn array(&self, op: &Op, n: usize) -> Imported<ArrayId> {
        match self.operand(op, n)? {
            Meaning::Array(array) => Ok(array),
            Meaning::Gone(line) => Err(op.unsupported(format!("the array was deallocated at line {line}"))),
            Meaning::View(_) => Err(op.unsupported("a view of an array is used as an array")),
            _ => Err(op.unsupported("expected an array")),
        }
    }

    /// A value for what takes data.
    fn value(&mut self, op: &Op, name: &str) -> Imported<ValueId> {
        match self.meaning(op, name)? {
            Meaning::Scalar(value, _) => Ok(value),
            Meaning::Index(affine) => Ok(self.pool.add(Value::Index(affine))),
            Meaning::Array(array) => {
                self.passed.insert(array);
                Ok(self.pool.add(Value::Array(array)))
            }
            Meaning::View(_) => Err(op.unsupported(format!("`{name}` is a view of an array and passed on"))),
            Meaning::Gone(line) => Err(op.unsupported(format!("the array was deallocated at line {line}"))),
            Meaning::Least(all) => Ok(self.extremum(all, "arith.minsi")),
            Meaning::Greatest(all) => Ok(self.extremum(all, "arith.maxsi")),
        }
    }

    /// The smallest or largest index as data.
    fn extremum(&mut self, all: Vec<Affine>, name: &str) -> ValueId {
        let values: Vec<ValueId> = all.into_iter().map(|a| self.pool.add(Value::Index(a))).collect();
        let first = values[0];
        values[1..].iter().fold(first, |sofar, &next| {
            let (from, ty) = ("index".to_string(), "index".to_string());
            let operands = vec![sofar, next];
            self.pool.add(Value::Op(Operation { name: name.to_string(), flags: vec![], from, ty, operands }))
        })
    }

    /// What a value that is computed from data is: an index gets a variable, which subscripts and bounds can name.
    fn computed(&mut self, value: ValueId, ty: String, line: u32, items: &mut Vec<Item>) -> Meaning {
        if ty != "index" {
            return Meaning::Scalar(value, ty);
        }
        Meaning::Index(self.bound(value, line, items))
    }

    /// A variable that is a value.
    fn bound(&mut self, value: ValueId, line: u32, items: &mut Vec<Item>) -> Affine {
        let var = self.names.var();
        items.push(Item::Bind(Bind { var, value, line }));
        self.binds.insert(var, value);
        Affine::var(var)
    }

    /// Notes what is divided or compared, or must not overflow, and may be gone from the result: it must be in range.
    fn check(&mut self, checked: &[Affine], line: u32, items: &mut Vec<Item>) {
        let is_sum = |affine: &&Affine| {
            affine.as_constant().is_none() && affine.terms().count() > 1
                || affine.terms().any(|(atoms, factor)| atoms.len() > 1 || factor != 1)
        };
        for affine in checked.iter().filter(is_sum) {
            let value = self.pool.add(Value::Index(affine.clone()));
            items.push(Item::Bind(Bind { var: self.names.var(), value, line }));
            self.checks = true;
        }
    }

    /// The values of an operation's map, applied to operands.
    fn mapped(
        &mut self,
        op: &Op,
        attribute: &str,
        operands: &[String],
        items: &mut Vec<Item>,
    ) -> Imported<Vec<Affine>> {
        let text = op.attribute(attribute).ok_or_else(|| op.unsupported(format!("`{attribute}` is missing")))?;
        let operands = self.affines(op, operands)?;
        let mut divide = |dividend: &Affine, divisor: &Affine| self.quotient(dividend, divisor, op.line, items);
        let mut checked = vec![];
        let results = map::apply(text, &operands, &mut divide, &mut checked).map_err(|what| op.unsupported(what))?;
        if ["affine.min", "affine.max"].contains(&op.name.as_str()) {
            checked.extend(results.iter().cloned());
        }
        if self.loses_poison(&operands, &results) {
            return Err(op.unsupported("an index that may be poison is gone from what its map gives"));
        }
        self.check(&checked, op.line, items);
        Ok(results)
    }

    /// A quotient in a map, rounded down, by what is no constant: an index that an operation computes. In a map, divisors are
    /// positive.
    fn quotient(&mut self, dividend: &Affine, divisor: &Affine, line: u32, items: &mut Vec<Item>) -> Affine {
        let operands = [dividend, divisor].map(|e| self.pool.add(Value::Index(e.clone()))).to_vec();
        let (name, ty) = ("arith.floordivsi".to_string(), "index".to_string());
        let operation = Operation { name, flags: vec![], from: ty.clone(), ty, operands: operands.clone() };
        let value = self.pool.add(Value::Op(operation));
        items.push(Item::Trap(value, line));
        if !self.decider.implies(&self.given, &Constraint::at_least(divisor, &Affine::constant(1))) {
            items.push(Item::Trap(self.pool.required(POSITIVE, operands[1]), line));
        }
        self.bound(value, line, items)
    }

    fn op(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        op.check_attributes()?;
        if !op.successors.is_empty() {
            return Err(op.unsupported("branches between blocks are no loops of a nest"));
        }
        match op.name.as_str() {
            "affine.for" => self.affine_for(op, items),
            "scf.for" => self.scf_for(op, items),
            "affine.parallel" | "scf.parallel" | "scf.forall" => self.parallel(op, items),
            "affine.if" => self.affine_if(op, items),
            "scf.if" => self.scf_if(op, items),
            "affine.load" | "memref.load" => self.load(op, items),
            "affine.store" | "memref.store" => self.store(op, items),
            "memref.alloc" | "memref.alloca" => self.alloc(op, items),
            "memref.dealloc" => self.dealloc(op),
            "memref.dim" => self.dim(op),
            "memref.subview" => self.subview(op),
            "memref.reinterpret_cast" => self.reinterpret(op),
            "memref.cast" => self.cast(op),
            "memref.copy" => self.copy(op, items),
            "affine.apply" => {
                let value = self.mapped(op, "map", &op.operands, items)?;
                self.define_index(op, value.into_iter().next())
            }
            "affine.min" | "affine.max" => {
                let values = self.mapped(op, "map", &op.operands, items)?;
                let least = op.name == "affine.min";
                self.define_result(op, if least { Meaning::Least(values) } else { Meaning::Greatest(values) })
            }
            "func.return" => {
                for name in &op.operands {
                    let value = self.value(op, name)?;
                    self.nest.results.push(value);
                }
                Ok(())
            }
            name if name.starts_with("arith.") || name.starts_with("math.") => self.arithmetic(op, items),
            _ => self.opaque(op, items),
        }
    }

    fn define_result(&mut self, op: &Op, meaning: Meaning) -> Imported<()> {
        let [name] = op.results.as_slice() else { return Err(op.unsupported("one result is expected")) };
        let name = name.clone();
        if let Meaning::Scalar(value, _) = &meaning {
            self.nest.lines.entry(*value).or_insert(op.line);
        }
        self.define(&name, meaning);
        Ok(())
    }

    fn define_index(&mut self, op: &Op, value: Option<Affine>) -> Imported<()> {
        let value = value.ok_or_else(|| op.unsupported("the map has no result"))?;
        if value.is_broken() || value.terms().any(|(_, c)| c.abs() >= map::LARGEST) {
            return Err(op.unsupported("numbers are too large, or the expression is"));
        }
        self.define_result(op, Meaning::Index(value))
    }

    /// An operation of which only the name is known: it may do anything.
    fn opaque(&mut self, op: &Op, items: &mut Vec<Item>) -> Imported<()> {
        if !op.regions.is_empty() {
            return Err(op.unsupported("an unknown operation with regions"));
        }
        let operands = op.operands.iter().map(|name| self.value(op, name)).collect::<Imported<Vec<_>>>()?;
        let attributes: Vec<String> = op.attributes.iter().map(|(name, text)| format!("{name} = {text}")).collect();
        let types = format!("({}) -> ({})", op.operand_types.join(", "), op.result_types.join(", "));
        let name = format!("{} {{{}}} : {types}", op.name, attributes.join(", "));
        let id: LoadId = self.names.load();
        let mut values = vec![];
        for (n, result) in op.results.iter().enumerate() {
            let ty = op.result_types.get(n).cloned().unwrap_or_default();
            if ty.starts_with("memref") {
                return Err(op.unsupported(format!("its result of type `{ty}` is not known")));
            }
            let value = self.pool.add(Value::Result(id, n as u32));
            values.push((result, value, ty));
        }
        // An operation that names a function may call it, or have it called.
        let named = op.symbols();
        let external = op.name == "func.call" && named.iter().all(|name| !self.defined.contains(&name.as_str()));
        self.note_twice(op, &named, &operands);
        self.calls.extend(named);
        let results = op.result_types.clone();
        items.push(Item::Event(Event { id, name, results, external, operands, line: op.line }));
        for (result, value, ty) in values {
            let meaning = self.computed(value, ty, op.line, items);
            self.define(result, meaning);
        }
        Ok(())
    }

    /// Notes functions that are given one array twice.
    fn note_twice(&mut self, op: &Op, named: &[String], operands: &[ValueId]) {
        let is_array = |value: &ValueId| matches!(self.pool.get(*value), Value::Array(_));
        for (n, value) in operands.iter().enumerate().filter(|(_, value)| is_array(value)) {
            for m in (n + 1..operands.len()).filter(|m| operands[*m] == *value) {
                let positions = (op.name == "func.call").then_some([n as u32, m as u32]);
                self.twice.extend(named.iter().map(|name| (name.clone(), positions)));
            }
        }
    }
}
