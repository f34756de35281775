//! Executes a nest on concrete sizes and inputs.
//!
//! Contents of arrays and scalars are made from a seed, so that two nests see the same. An execution ends early where
//! its behaviour is undefined (an access out of bounds, a division by zero), or where something cannot be executed.

use super::affine::{Affine, Var};
use super::eval::{Scalar, Stop, operate};
use super::input::{Cell, Input, initial, mix};
use super::trace::{Call, Operand, Seen};
use super::value::{Number, Pool, Value, ValueId, loads_of};
use super::{ArrayId, ArrayKind, Event, For, Item, Line, LoadId, Nest, Origin};
use rustc_hash::{FxHashMap, FxHashSet};

/// A store that was executed: which one, in the order of the nest, and its loop variables.
pub(crate) type StoreInstance = u32;

/// What a cell holds.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// Its bits; `None` if they are undefined.
    pub(crate) value: Option<u128>,
    /// The line of the store that wrote it; 0 if none has.
    pub(crate) line: Line,
    /// What wrote it, if it is recorded.
    pub(crate) writer: Origins,
}

/// Where a value that is read comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origins {
    /// Nothing has written it since the function was called.
    Initial,
    /// Its contents are undefined.
    Undefined,
    /// A store.
    Store(StoreInstance),
}

/// A store in a record.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Which store, in the order of the nest.
    pub(crate) store: u32,
    /// The values of its loops' variables.
    pub(crate) at: Vec<i64>,
    /// What it has written.
    pub(crate) value: Option<u128>,
    /// What the loads in its value have read.
    pub(crate) loads: Vec<Read>,
}

/// A load in a record: which one, where the value comes from, and the value.
pub(crate) type Read = (LoadId, Origins, Option<u128>);

/// How a run ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It returns these values.
    Returned(Vec<Option<u128>>),
    /// Its behaviour is undefined, where and why.
    Undefined(Line, String),
    /// It was given up, and why.
    Unknown(String),
}

/// What is left after a run.
pub(crate) struct FinalState {
    pub(crate) end: End,
    /// The cells of each array that were touched.
    pub(crate) memory: Vec<FxHashMap<Cell, Content>>,
    /// What each argument's array must have at least in each dimension.
    pub(crate) extents: Vec<Vec<i64>>,
    /// The least subscript of each array in each dimension, or 0 if that is less.
    pub(crate) least: Vec<Vec<i64>>,
    /// The stores, if they are recorded.
    pub(crate) record: Vec<Recorded>,
    /// What the loads in returned values have read, if it is recorded.
    pub(crate) results: Vec<Read>,
    /// The calls of functions that are not seen.
    pub(crate) calls: Vec<Call>,
}

/// Runs a nest. `extents`: how large the arguments' arrays are where their types do not say; `None`: as large as
/// needed.
pub(crate) fn run(nest: &Nest, pool: &Pool, input: &Input, extents: Option<&[Vec<i64>]>, record: bool) -> FinalState {
    let mut machine = Machine::new(nest, pool, input, extents, record);
    let end = match machine.items(&nest.items) {
        Ok(()) => machine.results(),
        Err(Halt(line, Stop::Undefined(why))) => End::Undefined(line, why),
        Err(Halt(_, Stop::Unknown(why))) => End::Unknown(why),
    };
    let Machine { memory, extents, least, record, read: results, calls, .. } = machine;
    FinalState { end, memory, extents, least, record, results, calls }
}

struct Halt(Line, Stop);

struct Machine<'a> {
    nest: &'a Nest,
    pool: &'a Pool,
    input: &'a Input,
    given: Option<&'a [Vec<i64>]>,
    shapes: Vec<Vec<Option<i64>>>,
    vars: FxHashMap<Var, i128>,
    /// Variables of loops whose last iterations are executed first.
    backwards: FxHashSet<Var>,
    path: Vec<Var>,
    loads: FxHashMap<LoadId, Option<u128>>,
    origins: FxHashMap<LoadId, Origins>,
    memory: Vec<FxHashMap<Cell, Content>>,
    extents: Vec<Vec<i64>>,
    least: Vec<Vec<i64>>,
    fuel: u64,
    /// Values, and the iteration in which they were computed: in one iteration of the innermost loop nothing that a value
    /// is made from is executed twice.
    values: Vec<(u64, Option<u128>)>,
    iteration: u64,
    recording: bool,
    record: Vec<Recorded>,
    read: Vec<Read>,
    calls: Vec<Call>,
    /// Results of calls.
    called: FxHashMap<(LoadId, u32), u128>,
    /// Stores by the place of their items, numbered in the order of the nest.
    stores: FxHashMap<*const Item, (u32, Vec<LoadId>)>,
}

impl<'a> Machine<'a> {
    fn new(nest: &'a Nest, pool: &'a Pool, input: &'a Input, given: Option<&'a [Vec<i64>]>, recording: bool) -> Self {
        let mut stores = FxHashMap::default();
        if recording {
            number_stores(pool, &nest.items, &mut stores);
        }
        let shape = |array: &super::Array| {
            let of = |var| input.sizes.get(&var).copied();
            let extent = |e: &Option<Affine>| e.as_ref().and_then(|e| e.eval(&of)).map(|e| e as i64);
            array.shape.iter().map(extent).collect::<Vec<_>>()
        };
        let parallel = nest.parallel.iter().filter(|_| input.backwards).flat_map(|loops| &loops.vars);
        Machine {
            backwards: parallel.map(|(var, _)| *var).collect(),
            nest,
            pool,
            input,
            given,
            shapes: nest.arrays.iter().map(shape).collect(),
            vars: input.sizes.clone(),
            path: vec![],
            loads: FxHashMap::default(),
            origins: FxHashMap::default(),
            memory: vec![FxHashMap::default(); nest.arrays.len()],
            extents: nest.arrays.iter().map(|a| vec![0; a.shape.len()]).collect(),
            least: nest.arrays.iter().map(|a| vec![0; a.shape.len()]).collect(),
            fuel: input.fuel,
            values: vec![(0, None); pool.len()],
            iteration: 1,
            recording,
            record: vec![],
            read: vec![],
            calls: vec![],
            called: FxHashMap::default(),
            stores,
        }
    }

    fn items(&mut self, items: &[Item]) -> Result<(), Halt> {
        items.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, item: &Item) -> Result<(), Halt> {
        let line = item.line();
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| Halt(line, Stop::Unknown("too many steps".into())))?;
        match item {
            Item::Load(x) => {
                let array = self.home(x.array);
                let cell = self.cell(array, &x.subscripts, line)?;
                let content = self.content(array, &cell, line)?;
                self.loads.insert(x.id, content.value);
                if self.recording {
                    self.origins.insert(x.id, content.writer);
                }
            }
            Item::Store(x) => {
                let value = self.statement_value(x.value, line)?;
                let array = self.home(x.array);
                let cell = self.cell(array, &x.subscripts, line)?;
                let writer = self.recorded(item, value);
                self.memory[array.0 as usize].insert(cell, Content { value, line, writer });
            }
            Item::For(x) => self.loop_(x)?,
            Item::If(x) => match self.statement_value(x.condition, line)? {
                Some(1) => self.items(&x.then)?,
                Some(_) => self.items(&x.otherwise)?,
                None => return Err(Halt(line, Stop::Undefined("a branch on an undefined value".into()))),
            },
            Item::Event(x) => self.event(x)?,
            Item::Bind(x) => {
                match self.statement_value(x.value, line)? {
                    Some(bits) => self.vars.insert(x.var, i128::from(bits as u64 as i64)),
                    // Its uses are undefined behaviour, and are not reached by runs that say anything.
                    None => self.vars.remove(&x.var),
                };
            }
            Item::Trap(value, _) => drop(self.statement_value(*value, line)?),
            Item::Alloc(array, _) => self.alloc(*array),
        }
        Ok(())
    }

    /// A call of a function that is not seen: it is recorded, changes nothing, and returns what its history says.
    fn event(&mut self, x: &Event) -> Result<(), Halt> {
        let unknown = |why: String| Halt(x.line, Stop::Unknown(why));
        if !x.external {
            return Err(unknown(format!("line {}: `{}`", x.line, x.name)));
        }
        let (mut operands, mut seen) = (vec![], vec![]);
        for (n, array) in self.nest.arrays.iter().enumerate() {
            if let ArrayKind::Argument(position) = array.kind {
                seen.push((Seen::Argument(position), n));
            }
        }
        for (n, &operand) in x.operands.iter().enumerate() {
            operands.push(match self.pool.get(operand) {
                Value::Array(array) => {
                    let name = Seen::operand(self.nest, *array, n as u32);
                    if matches!(name, Seen::Passed(_)) {
                        seen.push((name, array.0 as usize));
                    }
                    Operand::Array(name)
                }
                _ => {
                    let ty = self.pool.type_of(self.nest, operand).unwrap_or_default();
                    let scalar = Scalar::named(&ty).ok_or_else(|| unknown(format!("an operand of type `{ty}`")))?;
                    Operand::Value(scalar, self.statement_value(operand, x.line)?)
                }
            });
        }
        let mut memory = std::collections::BTreeMap::new();
        for (name, array) in seen {
            self.fuel = self.fuel.saturating_sub(self.memory[array].len() as u64);
            let first = |cell: &Cell| match name {
                Seen::Argument(position) => {
                    Scalar::named(&self.nest.arrays[array].element).map(|s| self.input.contents(position, cell, s))
                }
                Seen::Passed(_) => None,
            };
            let cells = self.memory[array].iter().filter(|(cell, content)| content.value != first(cell));
            memory.extend(cells.map(|(cell, content)| ((name, cell.clone()), content.value)));
        }
        self.calls.push(Call { name: x.name.clone(), line: x.line, operands, memory });
        for (n, ty) in x.results.iter().enumerate() {
            let scalar = Scalar::named(ty).ok_or_else(|| unknown(format!("a result of type `{ty}`")))?;
            let value = initial(mix(self.calls.len() as u64), n as u32, &[], scalar);
            self.called.insert((x.id, n as u32), value);
        }
        Ok(())
    }

    fn alloc(&mut self, array: ArrayId) {
        self.memory[array.0 as usize].clear();
        let extents: Vec<_> =
            self.nest.array(array).shape.iter().map(|e| e.as_ref().and_then(|e| self.eval(e))).collect();
        self.shapes[array.0 as usize] = extents.into_iter().map(|e| e.map(|e| e as i64)).collect();
    }

    fn loop_(&mut self, x: &For) -> Result<(), Halt> {
        let large = || Halt(x.line, Stop::Unknown("numbers are too large".into()));
        let all = |bounds: &[Affine]| bounds.iter().map(|b| self.eval(b)).collect::<Option<Vec<i128>>>();
        let lower = all(&x.lower).ok_or_else(large)?.into_iter().max().ok_or_else(large)?;
        let upper = all(&x.upper).ok_or_else(large)?.into_iter().min().ok_or_else(large)?;
        self.path.push(x.var);
        let count = (upper - lower + x.step - 1).div_euclid(x.step).max(0);
        let is_backwards = self.backwards.contains(&x.var);
        // However often nothing is done, nothing is.
        let count = if x.body.is_empty() { 0 } else { count };
        for n in 0..count {
            let n = if is_backwards { count - 1 - n } else { n };
            self.fuel = self.fuel.saturating_sub(1);
            self.vars.insert(x.var, lower + n * x.step);
            self.iteration += 1;
            self.items(&x.body)?;
        }
        self.path.pop();
        Ok(())
    }

    fn eval(&self, affine: &Affine) -> Option<i128> {
        affine.eval(&|var| self.vars.get(&var).copied())
    }

    /// The array that an array is: two arguments may be one.
    fn home(&self, array: ArrayId) -> ArrayId {
        let Some((first, second)) = self.input.one else { return array };
        let this = self.nest.array(array);
        if this.kind != ArrayKind::Argument(second) {
            return array;
        }
        let same = |other: &super::Array| {
            other.kind == ArrayKind::Argument(first) && other.element == this.element && other.shape == this.shape
        };
        self.nest.arrays.iter().position(same).map_or(array, |n| ArrayId(n as u32))
    }

    /// The cell of an access, which must exist.
    fn cell(&mut self, array: ArrayId, subscripts: &[Affine], line: Line) -> Result<Cell, Halt> {
        let at = array.0 as usize;
        let mut cell = Vec::with_capacity(subscripts.len());
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let large = || Halt(line, Stop::Unknown("numbers are too large".into()));
            let index = self.eval(subscript).and_then(|i| i64::try_from(i).ok()).ok_or_else(large)?;
            let argument = matches!(self.nest.arrays[at].kind, ArrayKind::Argument(_));
            let given = self.given.filter(|_| argument).map(|given| given[at][dimension]);
            let extent = self.shapes[at][dimension].or(given);
            let outside = index < 0 || extent.is_some_and(|extent| index >= extent);
            if outside && (self.input.in_bounds || !argument) {
                let name = &self.nest.arrays[at].name;
                let of = extent.map_or(String::new(), |e| format!(", which has {e}"));
                let why = format!("subscript {index} of dimension {dimension} of `{name}` is out of bounds{of}");
                return Err(Halt(line, Stop::Undefined(why)));
            }
            self.extents[at][dimension] = self.extents[at][dimension].max(index + 1);
            self.least[at][dimension] = self.least[at][dimension].min(index);
            cell.push(index);
        }
        Ok(cell.into())
    }

    fn content(&mut self, array: ArrayId, cell: &Cell, line: Line) -> Result<Content, Halt> {
        if let Some(content) = self.memory[array.0 as usize].get(cell) {
            return Ok(content.clone());
        }
        let ArrayKind::Argument(position) = self.nest.array(array).kind else {
            return Ok(Content { value: None, line: 0, writer: Origins::Undefined });
        };
        let element = &self.nest.array(array).element;
        let unknown = || Halt(line, Stop::Unknown(format!("elements of type `{element}`")));
        let scalar = Scalar::named(element).ok_or_else(unknown)?;
        Ok(Content { value: Some(self.input.contents(position, cell, scalar)), line: 0, writer: Origins::Initial })
    }

    fn recorded(&mut self, item: &Item, value: Option<u128>) -> Origins {
        if !self.recording {
            return Origins::Initial;
        }
        let Some((store, loads)) = self.stores.get(&std::ptr::from_ref(item)) else { return Origins::Undefined };
        let at = self.path.iter().map(|var| self.vars.get(var).map_or(0, |v| *v as i64)).collect();
        let loads = loads.iter().filter_map(|&load| self.read(load)).collect();
        self.record.push(Recorded { store: *store, at, value, loads });
        Origins::Store(self.record.len() as u32 - 1)
    }

    fn read(&self, load: LoadId) -> Option<Read> {
        Some((load, self.origins.get(&load)?.clone(), self.loads.get(&load).copied().flatten()))
    }

    fn results(&mut self) -> End {
        let mut values = vec![];
        for &result in &self.nest.results {
            if matches!(self.pool.get(result), Value::Array(_)) {
                // Its cells say what it is.
                values.push(None);
                continue;
            }
            match self.statement_value(result, 0) {
                Ok(value) => values.push(value),
                Err(Halt(line, Stop::Undefined(why))) => return End::Undefined(line, why),
                Err(Halt(_, Stop::Unknown(why))) => return End::Unknown(why),
            }
            let read: Vec<Read> = loads_of(self.pool, result).filter_map(|load| self.read(load)).collect();
            self.read.extend(read);
        }
        End::Returned(values)
    }

    fn statement_value(&mut self, value: ValueId, line: Line) -> Result<Option<u128>, Halt> {
        self.value(value).map_err(|stop| Halt(line, stop))
    }

    fn value(&mut self, id: ValueId) -> Result<Option<u128>, Stop> {
        if self.values[id.0 as usize].0 == self.iteration {
            return Ok(self.values[id.0 as usize].1);
        }
        let pool = self.pool;
        let value = match pool.get(id) {
            Value::Index(affine) => {
                let number = self.eval(affine).ok_or_else(|| Stop::Unknown("numbers are too large".into()))?;
                Some(number as u64 as u128)
            }
            Value::Load(load) => self.loads.get(load).copied().flatten(),
            Value::Argument(position) => Some(self.scalar(*position)?),
            Value::Constant(constant) => match constant.number {
                Number::Bits(bits) => Some(bits),
                Number::Text(_) => return Err(Stop::Unknown(format!("a constant of type `{}`", constant.ty))),
            },
            Value::Op(op) => {
                let operands = op.operands.iter().map(|&o| self.value(o)).collect::<Result<Vec<_>, _>>()?;
                operate(op, &operands)?
            }
            Value::Result(event, n) => {
                let known = self.called.get(&(*event, *n)).copied();
                Some(known.ok_or_else(|| Stop::Unknown("a result of an opaque operation".into()))?)
            }
            Value::Array(_) => return Err(Stop::Unknown("an array as a value".into())),
        };
        self.values[id.0 as usize] = (self.iteration, value);
        Ok(value)
    }

    /// An argument that is a size, too, has the size's value.
    fn scalar(&self, position: u32) -> Result<u128, Stop> {
        let ty = self.nest.arguments.get(position as usize).map_or("", String::as_str);
        let scalar = Scalar::named(ty).ok_or_else(|| Stop::Unknown(format!("an argument of type `{ty}`")))?;
        let size = self.nest.sizes.iter().find(|s| matches!(s.origin, Origin::Argument(n, _) if n == position));
        if let (Some(size), Scalar::Int(width)) = (size, scalar)
            && let Some(value) = self.vars.get(&size.var)
        {
            return Ok((*value as u128) & (u128::MAX >> (128 - width)));
        }
        Ok(self.input.contents(position, &[], scalar))
    }
}

fn number_stores(pool: &Pool, items: &[Item], stores: &mut FxHashMap<*const Item, (u32, Vec<LoadId>)>) {
    for item in items {
        match item {
            Item::Store(x) => {
                let number = stores.len() as u32;
                stores.insert(std::ptr::from_ref(item), (number, loads_of(pool, x.value).collect()));
            }
            Item::For(x) => number_stores(pool, &x.body, stores),
            Item::If(x) => {
                number_stores(pool, &x.then, stores);
                number_stores(pool, &x.otherwise, stores);
            }
            _ => {}
        }
    }
}
